// The groups of a model as a list, with what flows between them drawn beside it, and one of them opened.
const GROUP_ROW = 30;
const LANE_WIDTH = 7;
const MOST_LANES = 16;

class GroupsView {
  constructor(app, data) {
    Object.assign(this, { app, data, picked: 0, wanted: "" });
    this.hits = data.groups.map((_, index) => index);
  }

  draw(main) {
    const split = make(main, "div", "split");
    this.list = make(split, "div", "groups");
    this.list.tabIndex = 0;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "Groups in the order in which they run");
    this.detail = make(split, "div", "sheet");
    const width = this.drawEdges();
    this.rows = this.data.groups.map((group, index) => {
      const row = make(this.list, "div", "group");
      row.setAttribute("role", "option");
      row.style.paddingLeft = `${width + 8}px`;
      make(row, "span", "no", index);
      make(row, "span", "name", group.name);
      make(row, "span", "faint", group.nodes.join(", "));
      const time = this.data.profile && this.data.profile.groups[index].seconds;
      if (time) make(row, "span", "share", `${Math.round((100 * time) / this.data.profile.seconds)} %`);
      row.addEventListener("click", () => this.pick(index));
      return row;
    });
    this.mark();
    this.open();
  }

  // Each edge runs down a lane of its own from the group that makes a result to the one that reads it.
  edges() {
    const found = [];
    this.data.groups.forEach((group, to) => {
      for (const from of new Set(group.inputs.map((input) => input.group))) if (from !== null) found.push([from, to]);
    });
    return found.sort((a, b) => a[1] - a[0] - (b[1] - b[0]));
  }

  drawEdges() {
    const lanes = [];
    const paths = this.edges().map(([from, to]) => {
      let lane = 0;
      if (to - from > 1) {
        lane = 1;
        while ((lanes[lane] || []).some(([begin, end]) => begin < to && from < end)) ++lane;
        (lanes[lane] ||= []).push([from, to]);
      }
      return [from, to, lane];
    });
    const used = Math.min(MOST_LANES, lanes.length || 1);
    const width = 18 + used * LANE_WIDTH, x = (lane) => width - 10 - Math.min(lane, MOST_LANES) * LANE_WIDTH, y = (index) => index * GROUP_ROW + GROUP_ROW / 2;
    const height = this.data.groups.length * GROUP_ROW;
    const svg = draw(this.list, "svg", { class: "edges", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    this.lines = paths.map(([from, to, lane]) => {
      const [x0, x1] = [x(0), x(lane)];
      const d = lane ? `M${x0} ${y(from)}Q${x1} ${y(from)} ${x1} ${y(from) + 12}V${y(to) - 12}Q${x1} ${y(to)} ${x0} ${y(to)}` : `M${x0} ${y(from)}V${y(to)}`;
      return [from, to, draw(svg, "path", { d, class: "edge" })];
    });
    this.data.groups.forEach((group, index) => draw(svg, "circle", { cx: x(0), cy: y(index), r: 4, class: "knot" }));
    return width;
  }

  mark() {
    const hit = new Set(this.hits);
    this.rows.forEach((row, index) => {
      row.classList.toggle("picked", index === this.picked);
      row.classList.toggle("missed", !hit.has(index));
      row.setAttribute("aria-selected", index === this.picked);
    });
    for (const [from, to, line] of this.lines) line.setAttribute("class", "edge" + (to === this.picked ? " from" : from === this.picked ? " into" : ""));
  }

  pick(index) {
    this.picked = index;
    this.mark();
    this.rows[index].scrollIntoView({ block: "nearest" });
    this.open();
  }

  search(text) {
    this.wanted = text.toLowerCase();
    const holds = (group) => [group.name, ...group.nodes, ...group.operators].some((each) => each.toLowerCase().includes(this.wanted));
    this.hits = this.data.groups.map((_, index) => index).filter((index) => holds(this.data.groups[index]));
    if (this.hits.length && !this.hits.includes(this.picked)) this.pick(this.hits[0]);
    else this.mark();
    this.app.status([[`${this.hits.length} of ${this.data.groups.length} groups`, ""]]);
  }

  link(index) {
    const link = make(null, "button", "link", `${index} ${this.data.groups[index].name}`);
    link.addEventListener("click", () => this.pick(index));
    return link;
  }

  open() {
    const group = this.data.groups[this.picked];
    this.detail.replaceChildren();
    if (!group) return void make(this.detail, "p", "", "This model has no group: its outputs are its inputs or weights.");
    const sheet = make(this.detail, "div");
    make(sheet, "h2", "", `${this.picked} ${group.name}`);
    make(sheet, "p", "", `Operators ${group.operators.join(", ")}, of ${group.nodes.length === 1 ? "node" : "nodes"} `).append(
      ...group.nodes.flatMap((node, at) => [at ? ", " : "", code(node)]));
    this.times(sheet);
    make(sheet, "h3", "", "Inputs");
    table(sheet, ["type", "from"], group.inputs.map((input) => [code(input.type), input.group === null ? input.name || "a constant" : this.link(input.group)]));
    make(sheet, "h3", "", "Results, and why the group ends there");
    const readers = this.data.groups.flatMap((other, index) => (other.inputs.some((input) => input.group === this.picked) ? [index] : []));
    table(sheet, ["type", "in the arena at", "ends", "output"], group.results.map((result) => [code(result.type), result.offset === null ? "apart" : result.offset,
      result.ends, result.outputs.join(", ")]));
    if (readers.length) make(sheet, "p", "faint", "Read by ").append(...readers.flatMap((index, at) => [at ? ", " : "", this.link(index)]));
    const program = this.data.programs[group.program];
    const shared = this.data.groups.flatMap((other, index) => (other.program === group.program && index !== this.picked ? [index] : []));
    if (shared.length) make(sheet, "p", "faint", "Same program as ").append(...shared.flatMap((index, at) => [at ? ", " : "", this.link(index)]));
    for (const launch of program.launches) {
      make(sheet, "h3", "", launch.name);
      table(sheet, ["number", "value", "formula", "from"],
        launch.numbers.map((number) => [code(number.name), number.value, code(number.formula || ""), number.origin || ""]));
    }
    this.text(sheet, "Loop nest", program.nest, "nest");
    this.text(sheet, "te and schedule", program.te, "mlir");
    this.app.status([["group ", `${this.picked} ${group.name}`], ["ends: ", group.results.map((result) => result.ends).join("; ")]]);
  }

  times(sheet) {
    const time = this.data.profile && this.data.profile.groups[this.picked];
    if (!time) return;
    const cards = make(sheet, "div", "cards");
    card(cards, short(1e6 * time.seconds) + " µs", `${Math.round((100 * time.seconds) / this.data.profile.seconds)} % of the call`);
    card(cards, short(time.bytes) + "B", "read and written");
    card(cards, short(time.operations), "operations");
  }

  text(sheet, title, lines, language) {
    if (!lines.length) return;
    make(sheet, "h3", "", title);
    const box = make(sheet, "div", "pane text");
    box.style.height = `${Math.min(lines.length, 24) * LINE + 20}px`;
    new Listing(box, { lines, language, label: title, marks: () => "" });
  }

  key(event) {
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
    const at = this.hits.indexOf(this.picked);
    if (event.key === "Home" && this.hits.length) this.pick(this.hits[0]);
    else if (event.key === "End" && this.hits.length) this.pick(this.hits[this.hits.length - 1]);
    else if (event.key in steps && this.hits.length) this.pick(this.hits[Math.min(this.hits.length - 1, Math.max(0, at + steps[event.key]))]);
    else return false;
    return true;
  }
}
