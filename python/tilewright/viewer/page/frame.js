// What every page has: sections, the footer, keys, light and dark. A page says what its sections are.
class Frame {
  constructor(data, keys, hint) {
    Object.assign(this, { data, keys, hint });
    this.main = document.getElementById("main");
    this.setTheme(this.storedTheme());
    document.getElementById("theme").addEventListener("click", () => this.switchTheme());
    document.getElementById("help").addEventListener("click", () => this.showKeys());
    const search = document.getElementById("search");
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("keydown", (event) => event.key === "Escape" && (search.value = "", this.search(""), search.blur()));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // Buttons of which one is chosen.
  choices(host, names, current, choose) {
    host.replaceChildren();
    names.forEach((name, index) => {
      const button = make(host, "button", "", name);
      button.setAttribute("role", "tab");
      button.setAttribute("aria-selected", index === current);
      button.addEventListener("click", () => choose(index));
    });
  }

  drawHead(subject) {
    document.getElementById("name").textContent = subject.name;
    document.getElementById("target").textContent = subject.target;
    const tabs = Object.keys(this.views());
    this.choices(document.getElementById("tabs"), tabs, tabs.indexOf(this.tab), (index) => this.show(tabs[index]));
  }

  show(tab) {
    if (this.tab === tab) return;
    this.tab = tab;
    this.draw();
  }

  status(parts) {
    const host = document.getElementById("status");
    host.replaceChildren();
    parts.forEach(([text, strong], index) => {
      if (index) host.append("  ·  ");
      host.append(text);
      if (strong) make(host, "b", "", strong);
    });
    if (!parts.length) host.textContent = this.hint;
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
    table(dialog, ["", ""], this.keys.map(([keys, text]) => [make(null, "kbd", "", keys), text]));
    const close = make(make(dialog, "p"), "button", "", "Close");
    close.addEventListener("click", () => dialog.close());
    dialog.showModal();
  }

  key(event) {
    const types = event.target instanceof Element && event.target.matches("input, select");
    if (types || event.ctrlKey || event.metaKey || event.altKey || document.getElementById("keys").open) return;
    if (event.key === "Enter" && event.target instanceof Element && event.target.matches("button")) return;  // it is clicked
    const tabs = Object.keys(this.views());
    const turn = (by) => this.show(tabs[(tabs.indexOf(this.tab) + by + tabs.length) % tabs.length]);
    if (event.key === "/") document.getElementById("search").focus();
    else if (event.key === "?") this.showKeys();
    else if (event.key === "t") this.switchTheme();
    else if (event.key === "[") turn(-1);
    else if (event.key === "]") turn(1);
    else if (!this.ownKey(event)) {
      const view = this.views()[this.tab];
      if (!view.key || !view.key(event)) return;
    }
    event.preventDefault();
  }
}
