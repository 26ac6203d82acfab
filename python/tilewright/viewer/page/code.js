// The panes side by side: one line is picked, and all panes show what belongs to it.
const FIRST_SHOWN = ["source", "nest", "gpu", "ptx", "sass"];

class CodeView {
  constructor(app, program) {
    this.app = app;
    this.program = program;
    this.links = new Links(program);
    this.names = program.panes.map((pane) => pane.name);
    const first = this.names.filter((name) => FIRST_SHOWN.includes(name));
    this.shown = new Set(first.length > 1 ? first : this.names.slice(0, 4));
    this.widths = {};
    this.picked = null;
    this.marks = {};
    this.found = new Map();
  }

  draw(main) {
    const chips = make(main, "div", "chips");
    chips.setAttribute("role", "group");
    chips.setAttribute("aria-label", "Panes");
    this.names.forEach((name, index) => {
      const chip = make(chips, "button", "", this.links.panes.get(name).title);
      chip.title = index < 9 ? `Show or hide (${index + 1})` : "Show or hide";
      chip.setAttribute("aria-pressed", this.shown.has(name));
      chip.addEventListener("click", () => this.toggle(name));
    });
    const legend = make(chips, "span", "legend");
    for (const [colour, text] of [["picked", "picked"], ["from", "came from"], ["into", "became"], ["weak", "same line of the source"]]) {
      const entry = make(legend, "span");
      make(entry, "i").style.background = `var(--${colour})`;
      entry.append(text);
    }
    this.host = make(main, "div", "panes");
    this.listings = new Map();
    for (const name of this.names) if (this.shown.has(name)) this.addPane(name);
    this.refresh();
    const source = this.listings.get("source");
    const first = source && !this.picked && source.lines.findIndex((text, index) => this.links.isUsed(index + 1)) + 1;
    if (first) requestAnimationFrame(() => source.reveal(first));
  }

  addPane(name) {
    const pane = this.links.panes.get(name);
    const box = make(this.host, "section", "pane");
    box.dataset.pane = name;
    if (this.widths[name]) box.style.flex = `0 0 ${this.widths[name]}px`;
    const head = make(box, "h3", "", pane.title);
    make(head, "span", "faint", `${pane.lines.length} lines`);
    const listing = new Listing(box, {
      lines: pane.lines, language: pane.language, label: pane.title,
      marks: (line) => this.markOf(name, line),
      stripe: (line) => this.links.sourceOf(name, line),
      onPick: (line) => this.pick(name, line),
    });
    listing.box = box;
    listing.scroller.addEventListener("focus", () => this.setCurrent(name));
    const grip = make(box, "div", "grip");
    grip.addEventListener("pointerdown", (event) => this.resize(event, grip, box, name));
    this.listings.set(name, listing);
  }

  resize(event, grip, box, name) {
    grip.setPointerCapture(event.pointerId);
    const begin = event.clientX - box.offsetWidth;
    grip.onpointermove = (move) => {
      this.widths[name] = Math.max(160, move.clientX - begin);
      box.style.flex = `0 0 ${this.widths[name]}px`;
    };
    grip.onpointerup = () => (grip.onpointermove = null);
  }

  toggle(name) {
    if (this.shown.has(name) && this.shown.size > 1) this.shown.delete(name);
    else this.shown.add(name);
    this.app.draw();
  }

  markOf(name, line) {
    if (this.picked && this.picked.name === name && this.picked.line === line) return "picked";
    const marks = this.marks[name];
    if (marks && marks.lines.has(line)) return marks.kind;
    return this.found.has(name) && this.found.get(name).has(line) ? "found" : "";
  }

  pick(name, line) {
    this.picked = { name, line };
    this.marks = {};
    for (const other of this.names) {
      if (other === name) continue;
      const { kind, lines } = this.links.related(name, line, other);
      this.marks[other] = { kind, lines: new Set(lines), first: lines[0] };
    }
    this.refresh(name);
    this.tell();
  }

  refresh(unmoved) {
    for (const [name, listing] of this.listings) {
      const marks = this.marks[name];
      if (this.picked && this.picked.name === name) listing.reveal(this.picked.line);
      else if (marks && marks.first && name !== unmoved && ![...marks.lines].some((line) => this.inSight(listing, line)))
        listing.reveal(marks.first);
      listing.refresh();
    }
  }

  inSight(listing, line) {
    const at = (line - 1) * LINE;
    return at >= listing.scroller.scrollTop && at < listing.scroller.scrollTop + listing.scroller.clientHeight - LINE;
  }

  tell() {
    const { name, line } = this.picked;
    const origin = this.links.origin(name, line);
    const parts = [[this.links.panes.get(name).title + " ", `line ${line}`]];
    const source = this.links.sourceOf(name, line);
    if (source && name !== "source") parts.push(["from ", this.links.panes.get("source").lines[source - 1].trim()]);
    if (origin.pass) parts.push(["made by ", origin.pass.join(", ")]);
    const made = this.names.filter((other) => this.marks[other] && this.marks[other].kind === "into" && this.marks[other].lines.size);
    if (made.length) parts.push(["became ", made.map((other) => `${this.marks[other].lines.size} × ${this.links.panes.get(other).title}`).join(", ")]);
    if (parts.length === 1) parts.push(["", name === "source" ? "nothing came from it alone" : "nothing is known of where it came from"]);
    this.app.status(parts);
  }

  clear() {
    this.picked = null;
    this.marks = {};
    this.found = new Map();
    this.refresh();
    this.app.status([]);
  }

  search(text) {
    this.found = new Map();
    const wanted = text.toLowerCase();
    let count = 0;
    for (const name of text ? this.names : []) {
      const lines = new Set();
      this.links.panes.get(name).lines.forEach((line, index) => line.toLowerCase().includes(wanted) && lines.add(index + 1));
      if (lines.size) this.found.set(name, lines);
      count += lines.size;
    }
    for (const [name, listing] of this.listings) {
      if (this.found.has(name)) listing.reveal([...this.found.get(name)][0]);
      listing.refresh();
    }
    const where = [...this.found].map(([name, lines]) => `${lines.size} × ${this.links.panes.get(name).title}`).join(", ");
    this.app.status(text ? [[`${count} lines have `, text], ["", where]] : []);
  }

  setCurrent(name) {
    for (const [other, listing] of this.listings) listing.box.classList.toggle("current", other === name);
    this.current = name;
  }

  // The keys of the panes; whether one was meant.
  key(event) {
    const shown = this.names.filter((name) => this.listings.has(name));
    const current = this.listings.has(this.current) ? this.current : this.picked && this.listings.has(this.picked.name) ? this.picked.name : shown[0];
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 24, PageUp: -24, Home: -1e9, End: 1e9 }[event.key];
    if (step) {
      const own = this.picked && this.picked.name === current ? this.picked.line : ([...((this.marks[current] || {}).lines || [])][0] || 1) - step;
      const last = this.links.panes.get(current).lines.length;
      this.pick(current, Math.min(last, Math.max(1, own + step)));
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const next = shown[shown.indexOf(current) + (event.key === "ArrowLeft" ? -1 : 1)];
      if (next) this.listings.get(next).scroller.focus({ preventScroll: true });
      if (next) this.listings.get(next).box.scrollIntoView({ inline: "nearest", block: "nearest" });
    } else if (event.key >= "1" && event.key <= "9" && this.names[event.key - 1]) this.toggle(this.names[event.key - 1]);
    else if (event.key === "Escape") this.clear();
    else return false;
    return true;
  }
}
