// A pane of which only the lines in sight are in the document.
const LINE = 18;
const AHEAD = 12;

class Listing {
  constructor(host, { lines, language, marks, stripe, onPick, label, numbers }) {
    Object.assign(this, { lines, language, marks, stripe, onPick, numbers });
    this.scroller = make(host, "div", "code");
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "listbox");
    this.scroller.setAttribute("aria-label", label);
    this.spacer = make(this.scroller, "div");
    this.spacer.style.height = lines.length * LINE + "px";
    this.rows = make(this.scroller, "div", "rows");
    this.map = make(host, "canvas", "map");
    this.first = this.last = -1;
    let due = false;
    this.scroller.addEventListener("scroll", () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => { due = false; this.draw(); });
    }, { passive: true });
    this.rows.addEventListener("mousedown", (event) => {
      const row = event.target.closest(".row");
      if (row && this.onPick) this.onPick(Number(row.dataset.line));
    });
    new ResizeObserver(() => { this.draw(true); this.drawMap(); }).observe(this.scroller);
  }

  draw(anew) {
    const top = this.scroller.scrollTop;
    const first = Math.max(0, Math.floor(top / LINE) - AHEAD);
    const last = Math.min(this.lines.length, Math.ceil((top + this.scroller.clientHeight) / LINE) + AHEAD);
    if (!anew && first >= this.first && last <= this.last && first - this.first < AHEAD) return;
    if (!anew && first === this.first && last === this.last) return;
    this.first = first;
    this.last = last;
    const made = document.createDocumentFragment();
    for (let index = first; index < last; ++index) made.append(this.row(index + 1));
    this.rows.style.transform = `translateY(${first * LINE}px)`;
    this.rows.replaceChildren(made);
  }

  row(line) {
    const row = document.createElement("div");
    row.className = "row " + (this.marks(line) || "");
    row.dataset.line = line;
    row.setAttribute("role", "option");
    const number = make(row, "span", "no");
    number.textContent = this.numbers ? this.numbers(line) : line;
    const hue = this.stripe && this.stripe(line);
    if (hue) number.style.borderLeftColor = `hsl(${hueOf(hue)} 62% var(--tint))`;
    paintWords(make(row, "span", "tx"), this.lines[line - 1], this.language);
    return row;
  }

  refresh() {
    this.draw(true);
    this.drawMap();
  }

  // A line comes into sight, a third from the top, unless it is in sight already.
  reveal(line, always) {
    const at = (line - 1) * LINE;
    const { scrollTop, clientHeight } = this.scroller;
    if (always || at < scrollTop + LINE || at > scrollTop + clientHeight - 3 * LINE)
      this.scroller.scrollTop = Math.max(0, at - clientHeight / 3);
  }

  // Where the marked lines are in the whole text, along the edge.
  drawMap() {
    const height = this.scroller.clientHeight;
    const scale = devicePixelRatio || 1;
    this.map.width = 10 * scale;
    this.map.height = height * scale;
    this.map.style.height = height + "px";
    const context = this.map.getContext("2d");
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const colours = { picked: "--accent", from: "--number", into: "--good", weak: "--rule", found: "--bad", gone: "--bad", new: "--good" };
    for (const name of Object.keys(colours)) colours[name] = style.getPropertyValue(colours[name]);
    const step = Math.min(LINE, height / this.lines.length);  // those of a short text are beside their lines
    for (let line = 1; line <= this.lines.length; ++line) {
      const colour = colours[this.marks(line)];
      if (!colour) continue;
      context.fillStyle = colour;
      context.fillRect(3, (line - 1) * step, 7, Math.max(2, step));
    }
  }
}

function make(parent, tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}
