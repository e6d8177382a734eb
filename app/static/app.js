// What htmx cannot do: keys, scrolling, the clipboard, the count of what is selected.
"use strict";

const narrow = matchMedia("(max-width: 999px)");
const find = (selector, from = document) => from.querySelector(selector);
let cameFrom = null;

// The question box: Enter sends, Shift+Enter begins a line; it grows with its text.
document.addEventListener("keydown", (event) => {
  const box = event.target;
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing && box.matches?.("[data-enter-sends]")) {
    event.preventDefault();
    if (!find("button", box.form).disabled && box.value.trim()) box.form.requestSubmit();
  }
  if (event.key === "Escape") {
    const menu = box.closest?.("details.menu[open]");
    if (menu) {
      menu.open = false;
      find("summary", menu).focus();
    } else if (box.closest?.("#viewer") && cameFrom?.isConnected) {
      if (!cameFrom.checkVisibility()) location.hash = cameFrom.closest(".pane").id;
      cameFrom.focus();
    }
  }
});
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-enter-sends]") || CSS.supports("field-sizing", "content")) return;
  event.target.style.height = "auto";
  event.target.style.height = `${event.target.scrollHeight}px`;
});

// What the next answer, and the next document, is drawn from.
const all = find("[data-pick-all]");
function count() {
  if (all) {
    const picks = [...document.querySelectorAll("[data-pick]")];
    all.checked = picks.every((pick) => pick.checked);
    all.indeterminate = !all.checked && picks.some((pick) => pick.checked);
    all.parentElement.hidden = picks.length < 2;
  }
  for (const line of document.querySelectorAll("[data-selection]")) {
    const only = line.dataset.selection === "uploads" ? "[data-upload]" : "";
    const picks = [...document.querySelectorAll(`[data-pick]${only}`)];
    const chosen = picks.filter((pick) => pick.checked).length;
    const kind = !picks.length ? "empty" : !chosen ? "none" : chosen === picks.length ? "all" : "some";
    const text = line.dataset[kind].replace("{n}", chosen).replace("{total}", picks.length);
    if (line.textContent !== text) line.textContent = text;
    line.className = `selection small is-${kind}`;
  }
}
document.addEventListener("change", (event) => {
  if (event.target === all) {
    for (const pick of document.querySelectorAll("[data-pick]")) pick.checked = all.checked;
  }
  if (event.target.matches("[data-pick], [data-pick-all]")) count();
});

// Other sources, other first questions.
const list = find("#source-list");
const ready = () => [...list.querySelectorAll(".source.ready")].map((row) => row.id).join();
let known = list && ready();
if (list) {
  new MutationObserver(() => {
    if (ready() === known) return;
    known = ready();
    document.body.dispatchEvent(new Event("sources-changed"));
  }).observe(list, { childList: true, subtree: true });
}

// The newest words stay in sight while somebody reads at the end, until their question is at the
// top: an answer is read from its beginning. Whoever goes on to its end follows it there.
const log = find("#log");
let atEnd = true;
if (log) {
  log.addEventListener("scroll", () => {
    atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  });
  const follow = () => {
    if (!atEnd) return;
    const turn = find("#turns > .turn:last-of-type");
    const end = log.scrollHeight - log.clientHeight;
    const above = turn ? turn.getBoundingClientRect().top - log.getBoundingClientRect().top : 0;
    const start = turn ? log.scrollTop + above - 12 : end;
    log.scrollTop = log.scrollTop > start + 1 ? end : Math.min(start, end);
  };
  new MutationObserver(follow).observe(log, { childList: true, subtree: true });
  new ResizeObserver(follow).observe(log);
  follow();
}

// Which pane is shown is seen at its tab; it is told there, too.
function tell() {
  for (const tab of document.querySelectorAll("nav:is(.tabs, .aside-tabs) a")) {
    tab.setAttribute("aria-current", find(tab.hash).checkVisibility());
  }
}
addEventListener("hashchange", tell);
narrow.addEventListener("change", tell);

// The viewer shows the quote, and takes the focus.
function reveal(viewer) {
  const mark = find("[data-mark]", viewer);
  const image = find("img", viewer);
  const show = () => mark?.scrollIntoView({ block: "center" });
  if (image && !image.complete) image.addEventListener("load", show, { once: true });
  show();
}
document.addEventListener("htmx:after:swap", (event) => {
  const target = event.detail.ctx?.target;
  const source = event.detail.ctx?.sourceElement;
  count();
  if (target?.closest?.("#source-list")) document.body.dispatchEvent(new Event("sources-changed"));
  if (source?.matches?.("[data-to-chat]")) {
    source.closest("details").open = false;
    if (narrow.matches) location.hash = "chat";
    find("#question").focus();
  }
  if (target?.id === "viewer") {
    if (location.hash !== "#viewer") location.hash = "viewer";
    find("h2", target)?.focus({ preventScroll: true });
    reveal(target);
  } else if (source?.matches?.("[data-reset]") && event.detail.ctx.response?.raw.ok) {
    source.reset();
    source.closest("details").open = false;
    find("summary", source.closest("details")).focus();
    count();
  } else if (target?.id === "turns" && log) {
    atEnd = true;
    log.scrollTop = log.scrollHeight;
  }
});
// A request that no answer came to: the server's own problems come as fragments.
document.addEventListener("htmx:error", (event) => {
  const problems = find("#problems");
  if (!event.detail.ctx || event.detail.ctx.response) return;
  const problem = problems.appendChild(document.createElement("div"));
  problem.className = "problem";
  problem.textContent = problems.dataset.offline;
  setTimeout(() => problem.remove(), 8000);
});

// What is unfolded at the end of a pane would stand below its edge.
document.addEventListener("toggle", (event) => {
  if (!event.target.matches?.(".retrieved[open], .menu[open]")) return;
  (find(".sheet", event.target) ?? event.target).scrollIntoView({ block: "nearest" });
}, true);

// What went wrong before is over once something else is tried.
document.addEventListener("submit", () => find("#problems").replaceChildren());

document.addEventListener("click", (event) => {
  const button = event.target.closest("button, a, summary");
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  if (!button) return;
  if (button.matches("[hx-target='#viewer']") && !button.closest("#viewer")) cameFrom = button;
  if (button.matches("[data-dismiss]")) button.parentElement.remove();
  if (button.matches("[data-copy]")) {
    event.preventDefault();
    copy(button, () => navigator.clipboard.write([answer(button)]));
  } else if (button.matches("[data-copy-text]")) {
    copy(button, () => navigator.clipboard.writeText(find(button.dataset.copyText).textContent));
  }
});

// An answer with its citations: Markdown as text; formatted as HTML with the Markdown beside it.
function answer(link) {
  const get = async (form) => (await fetch(`${link.href}?form=${form}`)).text();
  const blob = (type, form) => get(form).then((text) => new Blob([text], { type }));
  const items = { "text/plain": blob("text/plain", "markdown") };
  if (link.dataset.copy === "html") items["text/html"] = blob("text/html", "html");
  return new ClipboardItem(items);
}
// Copying says how it went in the place of the button's own words.
async function copy(button, write) {
  let said = button.dataset.done;
  try {
    await write();
  } catch {
    said = button.dataset.failed;
  }
  button.dataset.label ??= button.textContent;  // a second click must not take the word for it
  button.textContent = said;
  setTimeout(() => (button.textContent = button.dataset.label), 1600);
}

count();
tell();
find(".admin-nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
if (find(".reading #viewer")) reveal(find("#viewer"));
