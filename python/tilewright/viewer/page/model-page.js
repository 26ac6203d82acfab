// The page of a model: its groups, the arena, the profile of a call, and its IR.
const MODEL_KEYS = [["click, ↑ ↓ j k", "pick a group, a result in the arena"], ["Home End", "the first group, the last"], ["Enter", "open the group of what is picked"],
  ["s", "in the profile: slowest first, or as they run"], ["/", "search groups, nodes and operators"], ["[ ]", "previous section, next section"],
  ["t", "light or dark"], ["?", "these keys"]];

// The IR of the model before and after fusion, side by side.
class IRView {
  constructor(app, data) { Object.assign(this, { app, data }); }

  draw(main) {
    const host = make(main, "div", "panes");
    for (const [stage, lines] of Object.entries(this.data.ir)) {
      const box = make(host, "section", "pane");
      make(make(box, "h3", "", stage), "span", "faint", `${lines.length} lines`);
      new Listing(box, { lines, language: "mlir", label: stage, marks: () => "" });
    }
    this.app.status([]);
  }
}

class ModelPage extends Frame {
  constructor(data) {
    super(data, MODEL_KEYS, "Pick a group to see its nodes, why it ends, and its kernels. ? shows the keys.");
    const search = document.getElementById("search");
    search.setAttribute("aria-label", "Search groups, nodes and operators");
    this.sections = { Groups: new GroupsView(this, data), Arena: new ArenaView(this, data) };
    if (data.profile) this.sections.Profile = new ProfileView(this, data);
    this.sections.IR = new IRView(this, data);
    this.tab = "Groups";
    this.draw();
  }

  views() { return this.sections; }

  search(text) {
    this.show("Groups");
    this.sections.Groups.search(text);
  }

  draw() {
    const { data } = this;
    this.drawHead(data);
    const said = (each) => each.map((one) => `${one.name}: ${one.type}`).join(", ");
    document.getElementById("target").title = `${said(data.inputs)} → ${said(data.outputs)}`;
    this.main.replaceChildren();
    this.sections[this.tab].draw(this.main);
  }

  // Opens a group.
  goTo(index) {
    this.show("Groups");
    this.sections.Groups.pick(index);
  }

  ownKey() { return false; }
}
