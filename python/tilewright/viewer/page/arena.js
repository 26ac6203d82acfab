// The arena of a model: each result of a group at its offset, from the group that makes it to the last that reads it.
class ArenaView {
  constructor(app, data) { Object.assign(this, { app, data, picked: 0 }); }

  draw(main) {
    const sheet = make(make(main, "div", "sheet"), "div");
    const { arena_bytes: total, buffers } = this.data.plan;
    make(sheet, "h2", "", "Where each result lies in the arena, and how long");
    const sum = buffers.reduce((all, buffer) => all + buffer.bytes, 0);
    const cards = make(sheet, "div", "cards");
    card(cards, bytes(total), "the arena");
    card(cards, bytes(sum), "the results in it together");
    card(cards, buffers.length, "results");
    const count = this.data.groups.length;
    const [width, height, left, bottom] = [900, 380, 84, 28];
    const svg = figure(sheet, "Each bar is a result: down the offset, to the right the groups in their order. Arrows pick one, Enter opens its group.", width, height);
    const x = (group) => left + ((width - left - 12) * group) / count;
    const y = (offset) => 8 + ((height - bottom - 8) * offset) / Math.max(1, total);
    draw(svg, "path", { class: "axis", d: `M${left} 8V${height - bottom}H${width - 12}` });
    draw(svg, "text", { x: left - 8, y: 14, "text-anchor": "end" }, "0");
    draw(svg, "text", { x: left - 8, y: height - bottom, "text-anchor": "end" }, bytes(total));
    for (let mark = 0; mark < count; mark += Math.max(1, Math.ceil(count / 16)))
      draw(svg, "text", { x: x(mark + 0.5), y: height - bottom + 14, "text-anchor": "middle" }, mark);
    draw(svg, "text", { x: width - 12, y: height - 2, "text-anchor": "end" }, "groups");
    this.bars = buffers.map((buffer, index) => {
      const colour = `hsl(${hueOf(index + 3)} 55% var(--tint))`;
      const [wide, tall] = [x(buffer.last + 1) - x(buffer.first), y(buffer.offset + buffer.bytes) - y(buffer.offset)];
      const bar = draw(svg, "rect", { x: x(buffer.first), y: y(buffer.offset), width: Math.max(2, wide - 1), height: Math.max(1, tall - 1), rx: 2,
        fill: colour, "fill-opacity": 0.55, stroke: colour, class: "bar-of-time" });
      draw(bar, "title", {}, this.said(buffer).map(([text, strong]) => text + strong).join(", "));
      bar.addEventListener("click", () => this.pick(index));
      bar.addEventListener("dblclick", () => this.app.goTo(buffer.first));
      if (tall > 14 && wide > 7 * buffer.name.length + 12) draw(svg, "text", { class: "ink label", x: x(buffer.first) + 6, y: y(buffer.offset) + tall / 2 + 4 }, buffer.name);
      return bar;
    });
    if (!buffers.length) make(sheet, "p", "faint", "No result lies in the arena: all are outputs, or their sizes are known only in a call.");
    this.list = make(sheet, "div");
    table(this.list, ["group", "type", "offset", "bytes", "from group", "to group"], buffers.map((buffer) => {
      const link = make(null, "button", "link", buffer.name);
      link.addEventListener("click", () => this.app.goTo(buffer.first));
      return [link, code(buffer.type), buffer.offset, buffer.bytes, buffer.first, buffer.last];
    }));
    if (buffers.length) this.pick(Math.min(this.picked, buffers.length - 1));
  }

  said(buffer) {
    return [["", buffer.name], ["", buffer.type], ["", `${bytes(buffer.bytes)} at ${buffer.offset}`], ["groups ", `${buffer.first} to ${buffer.last}`]];
  }

  pick(index) {
    this.picked = index;
    this.bars.forEach((bar, at) => bar.classList.toggle("picked", at === index));
    this.app.status(this.said(this.data.plan.buffers[index]));
  }

  key(event) {
    const { buffers } = this.data.plan;
    const steps = { ArrowDown: 1, ArrowRight: 1, j: 1, ArrowUp: -1, ArrowLeft: -1, k: -1 };
    if (!buffers.length) return false;
    if (event.key === "Enter") this.app.goTo(buffers[this.picked].first);
    else if (event.key in steps) this.pick(Math.min(buffers.length - 1, Math.max(0, this.picked + steps[event.key])));
    else return false;
    return true;
  }
}
