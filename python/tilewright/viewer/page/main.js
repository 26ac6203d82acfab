// The page: programs, sections, keys, light and dark.
const KEYS = [["click, ↑ ↓ j k", "pick a line"], ["← →", "the pane before, the pane behind"], ["1 … 9", "show or hide a pane"], ["/", "search"],
  ["[ ]", "the section before, the section behind"], ["p", "the next program"], ["t", "light or dark"], ["Esc", "pick nothing"], ["?", "these keys"]];

class App {
  constructor(data) {
    this.data = data;
    this.main = document.getElementById("main");
    this.programs = data.programs.map((program) => this.viewsOf(program));
    this.program = 0;
    this.tab = "Code";
    this.setTheme(this.storedTheme());
    document.getElementById("theme").addEventListener("click", () => this.switchTheme());
    document.getElementById("help").addEventListener("click", () => this.showKeys());
    const search = document.getElementById("search");
    search.addEventListener("input", () => { this.show("Code"); this.code().search(search.value); });
    search.addEventListener("keydown", (event) => event.key === "Escape" && (search.value = "", this.code().search(""), search.blur()));
    document.addEventListener("keydown", (event) => this.key(event));
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

  code() { return this.programs[this.program].Code; }

  draw() {
    const program = this.data.programs[this.program];
    document.getElementById("name").textContent = program.name;
    document.getElementById("target").textContent = program.target;
    const views = this.programs[this.program];
    if (!views[this.tab]) this.tab = "Code";
    const pick = (host, names, current, choose) => {
      host.replaceChildren();
      names.forEach((name, index) => {
        const button = make(host, "button", "", name);
        button.setAttribute("role", "tab");
        button.setAttribute("aria-selected", index === current);
        button.addEventListener("click", () => choose(index));
      });
    };
    const tabs = Object.keys(views);
    pick(document.getElementById("tabs"), tabs, tabs.indexOf(this.tab), (index) => this.show(tabs[index]));
    const several = this.data.programs.length > 1;
    pick(document.getElementById("programs"), several ? this.data.programs.map((each, index) => each.label || `${index + 1}`) : [], this.program,
      (index) => { this.program = index; this.draw(); });
    this.main.replaceChildren();
    views[this.tab].draw(this.main);
    if (this.tab !== "Code") this.status([]);
  }

  show(tab) {
    if (this.tab === tab) return;
    this.tab = tab;
    this.draw();
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

  status(parts) {
    const host = document.getElementById("status");
    host.replaceChildren();
    parts.forEach(([text, strong], index) => {
      if (index) host.append("  ·  ");
      host.append(text);
      if (strong) make(host, "b", "", strong);
    });
    if (!parts.length) host.textContent = "Pick a line to see where it came from and what became of it. ? shows the keys.";
  }

  storedTheme() {
    try { return localStorage.getItem("tilewright-theme"); } catch { return null; }
  }

  setTheme(theme) {
    const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  }

  switchTheme() {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    this.setTheme(theme);
    try { localStorage.setItem("tilewright-theme", theme); } catch { /* a page from a file may not keep it */ }
    this.draw();
  }

  showKeys() {
    const dialog = document.getElementById("keys");
    dialog.replaceChildren();
    make(dialog, "h2", "", "Keys");
    table(dialog, ["", ""], KEYS.map(([keys, text]) => [make(null, "kbd", "", keys), text]));
    const close = make(make(dialog, "p"), "button", "", "Close");
    close.addEventListener("click", () => dialog.close());
    dialog.showModal();
  }

  key(event) {
    const types = event.target instanceof Element && event.target.matches("input, select");
    if (types || event.ctrlKey || event.metaKey || event.altKey || document.getElementById("keys").open) return;
    const tabs = Object.keys(this.programs[this.program]);
    const turn = (by) => this.show(tabs[(tabs.indexOf(this.tab) + by + tabs.length) % tabs.length]);
    if (event.key === "/") document.getElementById("search").focus();
    else if (event.key === "?") this.showKeys();
    else if (event.key === "t") this.switchTheme();
    else if (event.key === "[") turn(-1);
    else if (event.key === "]") turn(1);
    else if (event.key === "p") { this.program = (this.program + 1) % this.programs.length; this.draw(); }
    else {
      const view = this.programs[this.program][this.tab];
      if (!view.key || !view.key(event)) return;
    }
    event.preventDefault();
  }
}

const app = new App(JSON.parse(document.getElementById("data").textContent));
window.tilewright = app;  // for tools that drive the page
