// The profile of a call: the time of each group, and how near each comes to the machine's roofs.
class ProfileView {
  constructor(app, data) { Object.assign(this, { app, data, byTime: true, picked: 0 }); }

  order() {
    const times = this.data.profile.groups;
    const order = times.map((_, index) => index);
    return this.byTime ? order.sort((a, b) => times[b].seconds - times[a].seconds) : order;
  }

  draw(main) {
    const sheet = make(make(main, "div", "sheet"), "div");
    const { profile, groups } = this.data;
    make(sheet, "h2", "", "What each group takes in a call");
    const cards = make(sheet, "div", "cards");
    const sum = (take) => profile.groups.reduce((all, time) => all + take(time), 0);
    card(cards, short(1e6 * profile.seconds) + " µs", `in ${groups.length} groups`);
    card(cards, short(sum((time) => time.bytes)) + "B", "read and written");
    card(cards, short(sum((time) => time.operations)), "operations");
    if (this.data.target.startsWith("sim")) make(sheet, "p", "worse", "These are times of the simulator. They say nothing of a GPU.");
    this.roofs(sheet);
    const bar = make(sheet, "p", "bar");
    const sort = make(bar, "button", "", this.byTime ? "In the order of the call (s)" : "Slowest first (s)");
    sort.addEventListener("click", () => this.sort());
    const most = Math.max(...profile.groups.map((time) => time.seconds));
    this.shown = this.order();
    const rates = (amount) => this.decimals((time) => (time.seconds ? amount(time) / time.seconds / 1e9 : NaN));
    const micro = this.decimals((time) => 1e6 * time.seconds);
    const [bytes, operations] = [rates((time) => time.bytes), rates((time) => time.operations)];
    const made = table(sheet, ["group", "µs", "", "bytes", "GB/s", "operations", "Gop/s", "of the memory's roof"], this.shown.map((index) => {
      const time = profile.groups[index];
      const link = make(null, "button", "link", `${index} ${groups[index].name}`);
      link.addEventListener("click", () => this.app.goTo(index));
      const share = make(null, "i", "share");
      share.style.width = `${(120 * time.seconds) / most}px`;
      return [link, micro.get(index), share, time.bytes, bytes.get(index), time.operations, operations.get(index),
        time.least_seconds && time.seconds ? `${Math.round((100 * time.least_seconds) / time.seconds)} %` : ""];
    }));
    this.rows = [...made.querySelectorAll("tbody tr")];
    this.pick(Math.min(this.picked, this.rows.length - 1));
  }

  // A column of numbers: all have as many decimals as the largest needs.
  decimals(take) {
    const values = this.data.profile.groups.map(take), most = Math.max(...values.filter(Number.isFinite));
    const digits = most >= 1000 ? 0 : most >= 100 ? 1 : 2, options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return new Map(values.map((value, index) => [index, Number.isFinite(value) ? value.toLocaleString("en", options) : ""]));
  }

  // Operations a second over operations a byte, a point for each group; the roofs where the machine's are known.
  roofs(sheet) {
    const { profile, groups } = this.data;
    const points = profile.groups.map((time, index) => [index, time.operations / time.bytes, time.operations / time.seconds])
      .filter(([, across, up]) => across > 0 && up > 0 && Number.isFinite(across) && Number.isFinite(up));
    this.points = new Map();
    if (!points.length) return void make(sheet, "p", "faint", "The operations of the groups are not known, so there is no roofline.");
    const machine = profile.machine, [width, height, left, bottom] = [900, 300, 64, 34];
    const svg = figure(sheet, machine ? `Roofline of ${machine.name}: each point is a group` : "Each point is a group. The rates of this machine are not known, so no roof is drawn.", width, height);
    const low = Math.min(...points.map(([, across]) => across)) / 4;
    const peak = machine ? Math.max(...machine.roofs.map((roof) => roof.operations_per_second)) : 0;
    const high = Math.max(...points.map(([, across]) => across), machine ? peak / machine.bytes_per_second : 0) * 4;
    const least = Math.min(...points.map(([, , up]) => up)) / 4, top = Math.max(peak, ...points.map(([, , up]) => up)) * 3;
    const x = (value) => left + ((width - left - 16) * Math.log(value / low)) / Math.log(high / low);
    const y = (value) => height - bottom - ((height - bottom - 12) * Math.log(value / least)) / Math.log(top / least);
    const marks = (from, to, place) => {
      const step = Math.max(1, Math.ceil(Math.log10(to / from) / 8));
      for (let power = Math.ceil(Math.log10(from)); power <= Math.log10(to); power += step) place(10 ** power);
    };
    marks(low, high, (value) => {
      draw(svg, "path", { class: "axis", d: `M${x(value)} 8V${height - bottom}` });
      draw(svg, "text", { x: x(value), y: height - bottom + 15, "text-anchor": "middle" }, value < 1 ? String(Number(value.toPrecision(1))) : short(value));
    });
    marks(least, top, (value) => {
      draw(svg, "path", { class: "axis", d: `M${left} ${y(value)}H${width - 16}` });
      draw(svg, "text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, short(value));
    });
    let label = width - 18, above = Infinity;
    for (const roof of machine ? machine.roofs : []) {
      const ridge = roof.operations_per_second / machine.bytes_per_second, from = Math.max(low, least / machine.bytes_per_second);
      draw(svg, "path", { d: `M${x(from)} ${y(from * machine.bytes_per_second)}L${x(ridge)} ${y(roof.operations_per_second)}H${x(high)}`, fill: "none",
        stroke: "var(--series)", "stroke-width": 1.5 });
      label = above - y(roof.operations_per_second) < 15 ? label - 6.5 * roof.name.length : width - 18;  // beside the label below
      above = y(roof.operations_per_second);
      draw(svg, "text", { class: "ink", x: label, y: above - 4, "text-anchor": "end" }, roof.name);
    }
    for (const [index, across, up] of points) {
      const share = profile.groups[index].seconds / profile.seconds;
      const point = draw(svg, "circle", { cx: x(across), cy: y(up), r: 4 + 10 * Math.sqrt(share), class: "point" });
      draw(point, "title", {}, `${index} ${groups[index].name}: ${short(up)} operations a second, ${short(across)} a byte`);
      point.addEventListener("click", () => this.app.goTo(index));
      this.points.set(index, point);
    }
    draw(svg, "text", { x: width - 16, y: height - 4, "text-anchor": "end" }, "operations a byte");
    draw(svg, "text", { x: 4, y: 8 }, "operations a second");
  }

  sort() {
    this.byTime = !this.byTime;
    this.app.draw();
  }

  pick(row) {
    this.picked = row;
    this.rows.forEach((each, at) => each.classList.toggle("picked", at === row));
    const index = this.shown[row];
    for (const [each, point] of this.points) point.classList.toggle("picked", each === index);
    if (row >= 0) this.app.status([["", `${index} ${this.data.groups[index].name}`], ["", short(1e6 * this.data.profile.groups[index].seconds) + " µs"]]);
  }

  key(event) {
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
    if (event.key === "s") this.sort();
    else if (event.key === "Enter" && this.rows.length) this.app.goTo(this.shown[this.picked]);
    else if (event.key in steps && this.rows.length) {
      this.pick(Math.min(this.rows.length - 1, Math.max(0, this.picked + steps[event.key])));
      this.rows[this.picked].scrollIntoView({ block: "nearest" });
    } else return false;
    return true;
  }
}
