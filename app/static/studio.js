// What htmx cannot do in the studio: players that outlive their links, and where the focus goes.
"use strict";

// The link behind a player ends after ten minutes. Then it asks for a new one, and goes on from
// where it was; a recording that does not come even so is not asked for again at once.
const RENEWED_S = 10;
document.addEventListener("error", (event) => {
  const player = event.target;
  const now = performance.now() / 1000;
  if (!player.matches?.("audio[data-renews]") || now - (player.dataset.renewed ?? -RENEWED_S) < RENEWED_S) return;
  const { currentTime, paused } = player;
  player.dataset.renewed = now;
  player.load();
  player.currentTime = currentTime;
  if (!paused) player.play();
}, true);

// One plays at a time.
document.addEventListener("play", (event) => {
  for (const player of document.querySelectorAll("audio")) {
    if (player !== event.target) player.pause();
  }
}, true);

// Whoever renames something goes on where it is; whoever deletes it, or sees it go, at the title.
let last = null;
document.addEventListener("focusin", (event) => {
  last = event.target.closest("#studio") && event.target;
});
document.addEventListener("htmx:after:swap", (event) => {
  const menu = event.detail.ctx?.sourceElement?.closest?.("#documents .menu");
  if (menu?.open) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  if (last && !last.isConnected && document.activeElement === document.body) {
    document.querySelector("#studio-title").focus();
  }
});
