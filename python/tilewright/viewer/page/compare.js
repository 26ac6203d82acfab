// Two programs beside each other: their numbers, and one pane of each with what differs.
class CompareView {
  constructor(app, data) {
    Object.assign(this, { app, data, name: null, pair: 0 });
  }

  draw(main) {
    const { comparisons, programs } = this.data;
    const comparison = comparisons[this.pair];
    const [left, right] = comparison.programs.map((number) => programs[number]);
    if (!this.name || !comparison.panes[this.name]) this.name = ["nest", "loops", "te"].find((name) => comparison.panes[name]) || Object.keys(comparison.panes)[0];
    const chips = make(main, "div", "chips");
    if (comparisons.length > 1)
      comparisons.forEach((each, index) => {
        const chip = make(chips, "button", "", each.programs.map((number) => programs[number].label).join(" / "));
        chip.setAttribute("aria-pressed", index === this.pair);
        chip.addEventListener("click", () => { this.pair = index; this.app.draw(); });
      });
    for (const name of Object.keys(comparison.panes)) {
      const changed = comparison.panes[name].filter(([tag]) => tag !== "equal").length;
      const chip = make(chips, "button", "", left.panes.find((pane) => pane.name === name).title + (changed ? ` · ${changed}` : ""));
      chip.title = changed ? `${changed} places differ` : "no difference";
      chip.setAttribute("aria-pressed", name === this.name);
      chip.addEventListener("click", () => { this.name = name; this.app.draw(); });
    }
    const numbers = make(main, "div", "numbers");
    this.numbers(numbers, left, right);
    this.texts(make(main, "div", "diff"), left, right, comparison.panes[this.name]);
  }

  numbers(host, left, right) {
    const total = (program, take) => program.launches.reduce((sum, launch) => sum + (take(launch) || 0), 0);
    const most = (program, take) => Math.max(0, ...program.launches.map((launch) => take(launch) || 0));
    const lines = (program, name) => (program.panes.find((pane) => pane.name === name) || { lines: [] }).lines.length;
    const rows = [
      ["kernels", (program) => program.launches.length],
      ["registers a thread", (program) => most(program, (launch) => launch.registers)],
      ["spilled bytes", (program) => total(program, (launch) => launch.spilled_bytes)],
      ["shared memory, bytes", (program) => most(program, (launch) => launch.shared_bytes)],
      ["warps on an SM", (program) => most(program, (launch) => launch.occupancy && launch.occupancy.warps)],
      ["lines of PTX", (program) => lines(program, "ptx")],
      ["lines of SASS", (program) => lines(program, "sass")],
    ];
    const cards = make(host, "div", "cards");
    cards.style.margin = "8px 14px";
    for (const [text, take] of rows) {
      const [before, after] = [take(left), take(right)];
      const box = make(cards, "div", "card");
      make(box, "b", "", [...new Set([before, after])].map((each) => each.toLocaleString("en")).join(" → "));
      make(box, "span", "", text);
    }
  }

  // Both texts in rows of the same height: what one lacks is left empty.
  texts(host, left, right, changes) {
    const sides = [[], []];
    for (const [tag, i1, i2, j1, j2] of changes) {
      const count = Math.max(i2 - i1, j2 - j1);
      for (let at = 0; at < count; ++at) {
        sides[0].push(i1 + at < i2 ? [i1 + at + 1, tag === "equal" ? "" : "gone"] : [0, "none"]);
        sides[1].push(j1 + at < j2 ? [j1 + at + 1, tag === "equal" ? "" : "new"] : [0, "none"]);
      }
    }
    const listings = [left, right].map((program, side) => {
      const pane = program.panes.find((each) => each.name === this.name);
      const box = make(host, "section", "pane");
      const head = make(box, "h3", "", program.label);
      make(head, "span", "faint", pane.title);
      const rows = sides[side];
      return new Listing(box, {
        lines: rows.map(([line]) => (line ? pane.lines[line - 1] : "")), language: pane.language, label: `${program.label}: ${pane.title}`,
        marks: (row) => rows[row - 1][1], numbers: (row) => rows[row - 1][0] || "",
      });
    });
    for (const [from, to] of [[0, 1], [1, 0]])
      listings[from].scroller.addEventListener("scroll", () => {
        const { scrollTop, scrollLeft } = listings[from].scroller;
        if (listings[to].scroller.scrollTop !== scrollTop) listings[to].scroller.scrollTop = scrollTop;
        if (listings[to].scroller.scrollLeft !== scrollLeft) listings[to].scroller.scrollLeft = scrollLeft;
      }, { passive: true });
    this.listings = listings;
    this.places = sides[0].map((each, row) => row + 1).filter((row) => (sides[0][row - 1][1] || sides[1][row - 1][1]) &&
      !(row > 1 && (sides[0][row - 2][1] || sides[1][row - 2][1])));
    if (this.places.length) listings[0].reveal(this.places[0]);
    const told = this.places.length === 1 ? "1 place differs" : `${this.places.length} places differ`;
    this.app.status([["", this.places.length ? told : "no difference"], ["n and N go from one to the next", ""]]);
  }

  key(event) {
    if (!["n", "N"].includes(event.key) || !this.places.length) return false;
    const top = this.listings[0].scroller.scrollTop / LINE + this.listings[0].scroller.clientHeight / LINE / 3 + 1;
    const ahead = this.places.filter((row) => row > top + 0.5), behind = this.places.filter((row) => row < top - 0.5);
    const next = event.key === "n" ? ahead[0] : behind[behind.length - 1];
    if (next) this.listings[0].reveal(next, true);
    return true;
  }
}
