// The page of programs: the panes, the launches, what they take, and how several differ.
const CODE_KEYS = [["click, ↑ ↓ j k", "pick a line"], ["← →", "previous pane, next pane"], ["1 … 9", "show or hide a pane"], ["/", "search"],
  ["[ ]", "previous section, next section"], ["p", "next program"], ["t", "light or dark"], ["Esc", "clear the selection"], ["?", "these keys"]];

class CodePage extends Frame {
  constructor(data) {
    super(data, CODE_KEYS, "Pick a line to see where it came from and what became of it. ? shows the keys.");
    this.programs = data.programs.map((program) => this.viewsOf(program));
    this.program = 0;
    this.tab = "Code";
    this.draw();
  }

  viewsOf(program) {
    const views = { Code: new CodeView(this, program) };
    if (program.launches.length) {
      views.Launch = new LaunchView(this, program);
      views.Resources = new ResourceView(this, program);
    }
    if (program.timeline) views.Timeline = new TimelineView(this, program);
    if (this.data.programs.length > 1) views.Compare = new CompareView(this, this.data);
    return views;
  }

  views() { return this.programs[this.program]; }

  code() { return this.views().Code; }

  search(text) {
    this.show("Code");
    this.code().search(text);
  }

  draw() {
    const views = this.views();
    if (!views[this.tab]) this.tab = "Code";
    this.drawHead(this.data.programs[this.program]);
    const several = this.data.programs.length > 1;
    this.choices(document.getElementById("programs"), several ? this.data.programs.map((each, index) => each.label || `${index + 1}`) : [],
      this.program, (index) => { this.program = index; this.draw(); });
    this.main.replaceChildren();
    views[this.tab].draw(this.main);
    if (this.tab !== "Code") this.status([]);
  }

  // Picks a line of a pane, which comes into sight.
  goTo(pane, line) {
    const code = this.code();
    code.shown.add(pane);
    this.tab = "Code";
    this.draw();
    code.pick(pane, line);
    code.listings.get(pane).box.scrollIntoView({ inline: "nearest", block: "nearest" });
    code.listings.get(pane).reveal(line, true);
  }

  ownKey(event) {
    if (event.key !== "p") return false;
    this.program = (this.program + 1) % this.programs.length;
    this.draw();
    return true;
  }
}
