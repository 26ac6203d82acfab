// What came from what. A pane's `origins` holds for each line a place in the program's table of origins, which says for
// panes above it the lines that it came from. Two panes are compared where their ways down meet.
class Links {
  constructor(program) {
    this.program = program;
    this.panes = new Map(program.panes.map((pane) => [pane.name, pane]));
    this.reversed = new Map();
  }

  // The panes above a pane, itself first.
  wayUp(name) {
    const way = [];
    for (let at = this.panes.get(name); at; at = this.panes.get(at.above)) way.push(at.name);
    return way;
  }

  origin(name, line) {
    const pane = this.panes.get(name);
    return this.program.origins[pane.origins[line - 1] || 0];
  }

  linesAt(name, line, above) {
    return name === above ? [line] : this.origin(name, line)[above] || [];
  }

  // Of pane `name`, by the lines of pane `above` the lines that came from them.
  below(name, above) {
    const key = name + "\n" + above;
    if (!this.reversed.has(key)) {
      const found = new Map();
      this.panes.get(name).origins.forEach((place, index) => {
        for (const line of this.program.origins[place][above] || []) {
          if (!found.has(line)) found.set(line, []);
          found.get(line).push(index + 1);
        }
      });
      this.reversed.set(key, found);
    }
    return this.reversed.get(key);
  }

  // The lines of pane `other` that belong to a line of pane `name`: {kind: "from" | "into" | "weak", lines}.
  // "weak" where the two meet only further up than their ways down do, as in one line of the user's.
  related(name, line, other) {
    const up = this.wayUp(name);
    const otherUp = this.wayUp(other);
    const meetings = up.filter((pane) => otherUp.includes(pane));
    for (let number = 0; number < meetings.length; ++number) {
      const meeting = meetings[number];
      const at = this.linesAt(name, line, meeting);
      if (!at.length) continue;
      const lines = new Set();
      if (other === meeting) at.forEach((each) => lines.add(each));
      else for (const each of at) for (const made of this.below(other, meeting).get(each) || []) lines.add(made);
      if (!lines.size) continue;
      const kind = number > 0 ? "weak" : other === meeting ? "from" : "into";
      return { kind, lines: [...lines].sort((a, b) => a - b) };
    }
    return { kind: "weak", lines: [] };
  }

  // The first line of the source that a line came from, or 0.
  sourceOf(name, line) {
    if (name === "source") return this.isUsed(line) ? line : 0;
    return (this.origin(name, line).source || [])[0] || 0;
  }

  // Whether anything came from a line of the source.
  isUsed(line) {
    this.used ||= new Set(this.program.origins.flatMap((origin) => origin.source || []));
    return this.used.has(line);
  }
}
