// A simulated call: a row for each warp with what it does and whom it waits for, and one for each slot of a ring.
const ROW = 18, LEFT = 150, TOP = 22;
const SHADES = { runs: "--rule", waits: "--bad", arrives: "--good", loads: "--number", stores: "--keyword", multiplies: "--series" };
const SAYS = { runs: "runs", waits: "waits", arrives: "arrives", loads: "TMA load", stores: "TMA store", multiplies: "wgmma" };

class TimelineView {
  constructor(app, program) {
    Object.assign(this, { app, program, launch: 0, cluster: null });
    const data = program.timeline;
    this.texts = data.texts;
    this.events = data.events.map((row) => Object.fromEntries(data.columns.map((name, index) => [name, row[index]])));
    this.launches = [...new Set(this.events.map((event) => event.launch))].sort((a, b) => a - b);
  }

  draw(main) {
    const data = this.program.timeline;
    if (!this.launches.includes(this.launch)) this.launch = this.launches[0] || 0;
    const clusters = [...new Set(this.events.filter((event) => event.launch === this.launch).map((event) => event.cluster))].sort((a, b) => a - b);
    if (!clusters.includes(this.cluster)) this.cluster = clusters[0];
    const bar = make(main, "div", "chips");
    const choose = (label, values, current, names, set) => {
      const box = make(make(bar, "label", "", label + " "), "select");
      for (const value of values) {
        const option = make(box, "option", "", names(value));
        option.value = value;
        option.selected = value === current;
      }
      box.addEventListener("change", () => { set(Number(box.value)); this.app.draw(); });
    };
    choose("launch", this.launches, this.launch, (value) => data.kernels[value] || String(value), (value) => (this.launch = value));
    choose("cluster", clusters, this.cluster, String, (value) => (this.cluster = value));
    const legend = make(bar, "span", "legend");
    for (const [kind, shade] of Object.entries(SHADES)) {
      const entry = make(legend, "span");
      make(entry, "i").style.background = `var(${shade})`;
      entry.append(SAYS[kind]);
    }
    const sheet = make(make(main, "div", "sheet"), "div");
    make(sheet, "p", "faint", "A step is a memory access, a TMA copy, a wgmma or an arrival at a barrier. A warp that waits continues after the last step that it waits for. Wheel: zoom. Drag: move. Click: the line.");
    if (data.dropped) make(sheet, "p", "worse", `${data.dropped.toLocaleString("en")} more events had no room.`);
    this.lay();
    const box = make(sheet, "figure");
    this.canvas = make(box, "canvas", "time");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `Timeline of ${this.rows.length} rows over ${this.steps} steps`);
    this.listen();
    new ResizeObserver(() => this.paint()).observe(this.canvas);
    if (data.waited.length) {
      make(sheet, "h2", "", "Where the warps waited most");
      table(sheet, ["steps", "at"], data.waited.map(([what, steps]) => [steps, code(what)]));
    }
  }

  // Rows: warps, then slots of rings with their states.
  lay() {
    const own = this.events.filter((event) => event.launch === this.launch && event.cluster === this.cluster);
    this.steps = own.reduce((most, event) => Math.max(most, event.end), 1);
    const rows = new Map();
    const severalBlocks = own.some((event) => event.block > 0);
    for (const event of own) {
      const key = `${String(event.block).padStart(4)} ${String(event.warp).padStart(4)}`;
      if (!rows.has(key)) rows.set(key, { label: (severalBlocks ? `block ${event.block}, ` : "") + `warp ${event.warp}`, bars: [] });
      rows.get(key).bars.push(event);
    }
    this.rows = [...rows].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([, row]) => row);
    const order = Object.keys(SHADES);
    for (const row of this.rows) row.bars.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || a.begin - b.begin);
    this.rows.push(...this.slots(own));
    this.from = 0;
    this.to = this.steps;
  }

  // Of each slot of a ring: filled from the first load of a phase on, in use from the first wait to the last release.
  slots(events) {
    const slots = new Map();
    for (const event of events) {
      const ring = this.program.timeline.rings[event.barrier];
      if (!ring || event.phase < 0) continue;
      const [name, slot, side] = ring;
      const key = `${event.block}\n${name}\n${String(slot).padStart(3)}`;
      if (!slots.has(key)) slots.set(key, { name, slot, block: event.block, phases: new Map() });
      const phases = slots.get(key).phases;
      if (!phases.has(event.phase)) phases.set(event.phase, { filled: Infinity, full: Infinity, released: -Infinity, line: event.line });
      const phase = phases.get(event.phase);
      if (side === "full" && event.kind === "loads") phase.filled = Math.min(phase.filled, event.begin);
      if (side === "full" && event.kind === "waits") phase.full = Math.min(phase.full, event.end);
      if (side === "empty" && event.kind === "arrives") phase.released = Math.max(phase.released, event.end);
    }
    return [...slots].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([, { name, slot, phases }]) => {
      const bars = [];
      for (const [number, { filled, full, released, line }] of phases) {
        const what = `slot ${slot} of ${name}, phase ${number}`;
        if (full < Infinity && filled < full) bars.push({ kind: "loads", begin: filled, end: full, says: `${what}: filled`, line });
        if (full < Infinity && released > full) bars.push({ kind: "multiplies", begin: full, end: released, says: `${what}: in use`, line });
      }
      return { label: `${name} [${slot}]`, bars };
    });
  }

  paint() {
    const canvas = this.canvas, scale = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = TOP + this.rows.length * ROW + 6;
    canvas.style.height = height + "px";
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const colours = Object.fromEntries(Object.entries(SHADES).map(([kind, shade]) => [kind, style.getPropertyValue(shade)]));
    const ink = style.getPropertyValue("--ink"), faint = style.getPropertyValue("--faint");
    context.font = "11px system-ui, sans-serif";
    const x = (step) => LEFT + ((width - LEFT - 8) * (step - this.from)) / (this.to - this.from);
    const unit = 10 ** Math.floor(Math.log10((this.to - this.from) / 4 || 1));
    context.fillStyle = faint;
    for (let mark = Math.ceil(this.from / unit) * unit; mark <= this.to; mark += unit * ((this.to - this.from) / unit > 12 ? 4 : 1)) {
      context.fillRect(x(mark), TOP - 6, 1, 4);
      context.fillText(mark.toLocaleString("en"), x(mark) + 2, TOP - 9);
    }
    this.rows.forEach((row, index) => {
      const y = TOP + index * ROW;
      context.fillStyle = ink;
      context.fillText(row.label, 4, y + 12, LEFT - 10);
      let edge = -1, kindBefore = "";
      for (const bar of row.bars) {
        if (bar.end < this.from || bar.begin > this.to) continue;
        const left = Math.max(LEFT, x(bar.begin)), right = Math.min(width - 8, x(bar.end));
        // Of bars that fall on one pixel one is drawn.
        if (right - left < 0.7 && Math.floor(left) === edge && bar.kind === kindBefore) continue;
        edge = Math.floor(left);
        kindBefore = bar.kind;
        context.fillStyle = colours[bar.kind];
        const thin = bar.kind === "runs" ? 5 : bar.kind === "arrives" ? 0 : 2;
        context.fillRect(left, y + thin, Math.max(1, right - left), ROW - 4 - 2 * thin);
      }
    });
    this.x = x;
    this.width = width;
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const step = this.from + ((event.clientX - box.left - LEFT) / (this.width - LEFT - 8)) * (this.to - this.from);
    const row = this.rows[Math.floor((event.clientY - box.top - TOP) / ROW)];
    const slack = (2 * (this.to - this.from)) / this.width;
    const found = row && row.bars.filter((bar) => bar.begin - slack <= step && step <= bar.end + slack);
    return { step, bar: found && found[found.length - 1] };
  }

  say(bar) {
    if (bar.says) return bar.says;
    const barrier = this.texts[bar.barrier];
    return `${SAYS[bar.kind]}${bar.kind === "waits" ? " for" : ""} ${barrier || (bar.kind === "runs" ? "" : this.texts[bar.name])}${bar.phase >= 0 ? `, phase ${bar.phase}` : ""}`;
  }

  zoom(middle, by) {
    const from = middle - (middle - this.from) * by, to = middle + (this.to - middle) * by;
    if (to - from < 8) return;
    [this.from, this.to] = [Math.max(0, from), Math.min(this.steps, to)];
    this.paint();
  }

  move(by) {
    const width = this.to - this.from;
    this.from = Math.min(this.steps - width, Math.max(0, this.from + by));
    this.to = this.from + width;
    this.paint();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(this.at(event).step, event.deltaY > 0 ? 1.25 : 0.8); }, { passive: false });
    let dragged = null;
    canvas.addEventListener("pointerdown", (event) => { dragged = { x: event.clientX, moved: false }; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      if (dragged) {
        const by = ((dragged.x - event.clientX) / (this.width - LEFT - 8)) * (this.to - this.from);
        if (Math.abs(dragged.x - event.clientX) > 2) { dragged = { x: event.clientX, moved: true }; this.move(by); }
        return;
      }
      const { bar } = this.at(event);
      this.app.status(bar ? [["", this.say(bar)], ["steps ", `${bar.begin} to ${bar.end}`], ["at ", this.texts[bar.line] || "no line"]] : []);
    });
    canvas.addEventListener("pointerup", (event) => {
      const { bar } = this.at(event);
      const line = dragged && !dragged.moved && bar && this.program.timeline.source[bar.line];
      dragged = null;
      if (line) this.app.goTo("source", line);
    });
  }

  key(event) {
    const middle = (this.from + this.to) / 2, width = this.to - this.from;
    if (event.key === "+" || event.key === "=") this.zoom(middle, 0.6);
    else if (event.key === "-") this.zoom(middle, 1.6);
    else if (event.key === "ArrowLeft") this.move(-width / 4);
    else if (event.key === "ArrowRight") this.move(width / 4);
    else return false;
    return true;
  }
}
