// Adding many sources at once: files, folders, text and addresses, chosen, dropped or pasted. Without
// this script the form still sends its files by itself.
"use strict";

(() => {
  const form = document.querySelector("#add-files");
  const input = form.querySelector("input[type=file]");
  const list = document.querySelector("#uploads");
  const folder = document.querySelector("[data-folder]");
  const mode = document.querySelector("select[name=pdf_capture]");
  const words = form.dataset;
  const AT_ONCE = 3;
  const SOUND = /\.(mp3|wav|m4a|mp4|aac|ogg|oga|opus|flac|webm)$/i;
  const HIDDEN = /^(\.|~\$)|^(Thumbs\.db|desktop\.ini)$/i;
  const waiting = [];
  let running = 0;

  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const size = (bytes, digits = 1) => {
    if (bytes < 1e6) return `${Math.ceil(bytes / 1000)} KB`;
    const shown = (bytes / 1e6).toFixed(digits).replace(/\.?0+$/, "");
    return `${words.language === "de" ? shown.replace(".", ",") : shown} MB`;
  };
  // With the digits that show it is more.
  const sizeAbove = (bytes, most) =>
    size(bytes, [1, 2, 3, 4, 5, 6].find((digits) => size(bytes, digits) !== size(most, digits)));
  const make = (tag, parent, name, text = "") => {
    const made = parent.appendChild(document.createElement(tag));
    made.className = name;
    made.textContent = text;
    return made;
  };

  // A line of the list: what is sent, how far it is, and a button that ends it.
  class Line {
    constructor(name) {
      this.item = make("li", list, "upload");
      make("span", this.item, "upload-name", name).title = name;
      this.button = make("button", this.item, "quiet", words.cancel);
      this.button.type = "button";
      this.button.setAttribute("aria-label", `${words.cancel}: ${name}`);
      this.state = make("span", this.item, "small muted", words.waiting);
      this.bar = make("progress", this.item, "");
      this.bar.value = 0;
    }
    show(text, done) {
      this.state.textContent = text;
      if (done === undefined) this.bar.removeAttribute("value");
      else this.bar.value = done;
    }
    end(problem) {
      if (!problem) return this.item.remove();
      this.item.classList.add("failed");
      this.state.className = "small";
      this.state.textContent = problem;
      this.bar.remove();
      this.button.textContent = words.dismiss;
      this.button.setAttribute("aria-label", words.dismiss);
      this.button.onclick = () => this.item.remove();
    }
  }

  function say(problem) {
    new Line("").end(problem);
  }

  // One request a source: each has its own progress, its own end, its own error.
  function send({ line, fields, bytes }) {
    const body = new FormData();
    body.append("pdf_capture", mode.value);
    for (const [name, ...value] of fields) body.append(name, ...value);
    const request = new XMLHttpRequest();
    const done = (problem) => {
      line.end(problem);
      running -= 1;
      next();
    };
    request.open("POST", form.getAttribute("action"));
    request.setRequestHeader("X-CSRF-Token", words.csrf);
    request.setRequestHeader("Accept", "application/json");
    request.upload.onprogress = ({ loaded, total }) => {
      const sent = Math.min(loaded, bytes);
      if (loaded < total) line.show(fill(words.sending, { sent: size(sent), size: size(bytes) }), loaded / total);
      else line.show(words.checking);
    };
    request.onload = () => {
      let problems = null;
      try {
        problems = JSON.parse(request.responseText).problems;
      } catch {
        // not the answer of a form that was taken
      }
      done(problems ? problems.join(" ") : fill(words.failed, { status: request.status }));
    };
    request.onerror = () => done(words.offline);
    request.onabort = () => done(words.cancelled);
    line.button.onclick = () => request.abort();
    line.show(fill(words.sending, { sent: size(0), size: size(bytes) }), 0);
    request.send(body);
  }

  function next() {
    while (running < AT_ONCE && waiting.length) {
      running += 1;
      send(waiting.shift());
    }
  }

  function queue(name, fields, bytes) {
    const entry = { line: new Line(name), fields, bytes };
    entry.line.button.onclick = () => {
      waiting.splice(waiting.indexOf(entry), 1);
      entry.line.end(words.cancelled);
    };
    waiting.push(entry);
    next();
  }

  function addFile(file, path = "") {
    const name = path || file.webkitRelativePath || file.name;
    const isSound = file.type.startsWith("audio/") || SOUND.test(file.name);
    const most = Number(isSound ? words.maxAudio : words.max);
    if (file.size > most) {
      new Line(name).end(fill(words.tooLarge, { size: sizeAbove(file.size, most), most: size(most) }));
    } else {
      queue(name, [["file", file, file.name]], file.size);
    }
  }

  function addText(text) {
    const trimmed = text.trim();
    if (!trimmed) return;
    const isAddress = /^https?:\/\/\S+$/i.test(trimmed);
    const name = isAddress ? trimmed : `${words.pasted}: ${trimmed.slice(0, 60)}`;
    queue(name, [["text", trimmed]], new Blob([trimmed]).size);
  }

  // Files of folders, hidden ones left out and counted.
  function addFiles(files) {
    let hidden = 0;
    for (const [file, path] of files) {
      if (path.includes("/") && path.split("/").some((part) => HIDDEN.test(part))) hidden += 1;
      else addFile(file, path);
    }
    if (hidden) say(fill(words.hidden, { n: hidden }));
  }

  const withPaths = (files) => [...files].map((file) => [file, file.webkitRelativePath || ""]);

  async function filesOf(entry, path = "") {
    if (entry.isFile) {
      const file = await new Promise((took, failed) => entry.file(took, failed));
      return [[file, path && path + entry.name]];
    }
    const reader = entry.createReader();
    const found = [];
    for (;;) {
      const some = await new Promise((took, failed) => reader.readEntries(took, failed)); // 100 at most
      if (!some.length) return found;
      for (const each of some) found.push(...(await filesOf(each, `${path}${entry.name}/`)));
    }
  }

  async function addTransfer(transfer) {
    // Taken out at once: the transfer is empty after this turn.
    const entries = [...transfer.items].filter((item) => item.kind === "file").map((item) => item.webkitGetAsEntry?.());
    const plain = [...transfer.files];
    const text = transfer.getData("text/uri-list").split("\n").find((line) => /^https?:/.test(line)) || transfer.getData("text/plain");
    if (!plain.length && !entries.length) return addText(text);
    if (!entries.some((entry) => entry?.isDirectory)) return addFiles(withPaths(plain));
    for (const entry of entries) {
      try {
        addFiles(await filesOf(entry));
      } catch {
        new Line(entry.name).end(words.unreadable);
      }
    }
  }

  input.addEventListener("change", () => {
    addFiles(withPaths(input.files));
    input.value = "";
  });
  folder.hidden = false;
  folder.addEventListener("click", () => {
    const chooser = document.createElement("input");
    chooser.type = "file";
    chooser.webkitdirectory = true;
    chooser.addEventListener("change", () => addFiles(withPaths(chooser.files)));
    chooser.click();
  });

  // What is dropped anywhere on the page is added; text that is dropped on a field stays its own.
  const isField = (target) => target.closest?.("input:not([type=file], [type=checkbox]), textarea, select, [contenteditable]");
  const takes = (event) => {
    const types = event.dataTransfer?.types ?? [];
    if (types.includes("Files")) return true;
    return !isField(event.target) && (types.includes("text/uri-list") || types.includes("text/plain"));
  };
  let own = false;
  document.addEventListener("dragstart", () => (own = true));
  document.addEventListener("dragend", () => (own = false));
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      if (own || !takes(event)) return;
      event.preventDefault();
      const leaves = kind === "drop" || (kind === "dragleave" && !event.relatedTarget);
      document.body.classList.toggle("dropping", !leaves);
      if (kind === "drop") addTransfer(event.dataTransfer);
    });
  }
  document.addEventListener("paste", (event) => {
    const files = event.clipboardData?.files ?? [];
    if (isField(event.target) && !(files.length && !event.clipboardData.types.includes("text/plain"))) return;
    event.preventDefault();
    addTransfer(event.clipboardData);
  });
  // Leaving the page would end what is being sent.
  addEventListener("beforeunload", (event) => running && event.preventDefault());
})();
