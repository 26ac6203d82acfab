// The launches with the formula of each number, and what the kernels take.
// A column in which no row has anything is left out. Numbers, and what is over them, stand at the right.
function table(parent, heads, rows) {
  const isEmpty = (cell) => cell === "" || cell === null || cell === undefined;
  const isNumber = (cell) => typeof cell === "number" || /^[\d.,]+( %)?$/.test(cell);
  const kept = heads.map((_, at) => at).filter((at) => !rows.length || rows.some((cells) => !isEmpty(cells[at])));
  const made = make(parent, "table");
  const head = make(make(made, "thead"), "tr");
  for (const at of kept) make(head, "th", rows.length && rows.every((cells) => isEmpty(cells[at]) || isNumber(cells[at])) ? "num" : "", heads[at]);
  const body = make(made, "tbody");
  for (const cells of rows) {
    const row = make(body, "tr");
    for (const cell of kept.map((at) => cells[at])) {
      const td = make(row, "td", isNumber(cell) ? "num" : "");
      if (cell instanceof Node) td.append(cell);
      else td.textContent = cell === null || cell === undefined ? "" : typeof cell === "number" ? cell.toLocaleString("en") : cell;
    }
  }
  return made;
}

function code(text) {
  const element = make(null, "code");
  element.textContent = text;
  return element;
}

function card(parent, value, text) {
  const box = make(parent, "div", "card");
  make(box, "b", "", value);
  make(box, "span", "", text);
}

class LaunchView {
  constructor(app, program) { Object.assign(this, { app, program }); }

  draw(main) {
    const sheet = make(make(main, "div", "sheet"), "div");
    make(sheet, "h2", "", "How the kernels are launched, and where each number comes from");
    const source = this.program.panes.find((pane) => pane.name === "source");
    for (const launch of this.program.launches) {
      make(sheet, "h3", "", launch.name);
      const cells = launch.numbers.map((number) => {
        let origin = number.origin || "";
        if (number.line) {
          const link = make(null, "button", "link", origin);
          link.title = source.lines[number.line - 1].trim();
          link.addEventListener("click", () => this.app.goTo("source", number.line));
          origin = link;
        }
        const said = number.line ? code(source.lines[number.line - 1].trim()) : "";
        return [code(number.name), number.value, code(number.formula || ""), origin, said];
      });
      table(sheet, ["number", "value", "formula", "from", "your line"], cells);
      const more = [launch.cluster && launch.cluster.some((size) => size > 1) && `clusters of ${launch.cluster.join(" × ")} blocks`,
        launch.dependent && "launched while the kernel before it ends", launch.cooperative && "all blocks at once"].filter(Boolean);
      if (more.length) make(sheet, "p", "faint", more.join(", "));
    }
    if (!this.program.launches.length) make(sheet, "p", "", "This program launches no kernel.");
  }
}

class ResourceView {
  constructor(app, program) { Object.assign(this, { app, program }); }

  draw(main) {
    const sheet = make(make(main, "div", "sheet"), "div");
    const { work, launches } = this.program;
    make(sheet, "h2", "", "What the program has to do");
    if (work) {
      const cards = make(sheet, "div", "cards");
      card(cards, short(work.operations), "operations");
      card(cards, short(work.bytes) + "B", "to be read and written at the least");
      card(cards, short(work.intensity), "operations a byte");
      if (work.machine) roofline(sheet, work);
      else make(sheet, "p", "faint", "The rates of the GPU are not known here, so there is no roofline.");
    } else make(sheet, "p", "faint", "It depends on the extents of the arguments: give arrays to see it.");
    for (const launch of launches) this.kernel(sheet, launch);
  }

  kernel(sheet, launch) {
    make(sheet, "h2", "", launch.name);
    if (launch.registers === undefined) return;
    const cards = make(sheet, "div", "cards");
    card(cards, launch.registers, "registers a thread");
    card(cards, launch.spilled_bytes + " B", "spilled");
    card(cards, bytes(launch.shared_bytes), "shared memory a block" + (launch.stages ? `, ${launch.stages} stages` : ""));
    const occupancy = launch.occupancy;
    if (occupancy) {
      card(cards, `${occupancy.warps} of ${occupancy.most_warps}`, `warps on an SM, ${occupancy.blocks} ${occupancy.blocks === 1 ? "block" : "blocks"}`);
      card(cards, Math.round((100 * occupancy.warps) / occupancy.most_warps) + " %", `occupancy, limited by ${occupancy.limit}`);
    }
    for (const note of launch.notes) make(sheet, "p", "worse", note);
    const sass = this.program.panes.find((pane) => pane.name === "sass");
    const live = this.program.live_registers.GPR;
    if (sass && live) {
      const [first, last] = this.linesOf(sass, launch.name);
      const own = live.map((count, index) => (index >= first && index < last ? count : 0));
      registers(sheet, own, launch.registers, (line) => this.app.goTo("sass", line));
    }
    const buffers = (this.program.shared_memory || {})[launch.name] || [];
    const gpu = this.program.panes.find((pane) => pane.name === "gpu");
    if (buffers.length && gpu) sharedMemory(sheet, buffers, launch.shared_bytes, gpu.lines.length, (line) => this.app.goTo("gpu", line));
    make(sheet, "h3", "", "Instructions: meant, in PTX and in SASS");
    table(sheet, ["instruction", "ops", "PTX", "SASS"], launch.instructions.map((each) => [each.kind, each.ops, each.ptx, each.sass]));
  }

  linesOf(sass, name) {
    const first = sass.lines.indexOf(`.text.${name}:`);
    const next = sass.lines.findIndex((line, index) => index > first && line.startsWith(".text."));
    return [Math.max(0, first), next < 0 ? sass.lines.length : next];
  }
}
