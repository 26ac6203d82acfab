// Figures, drawn as SVG from the program's numbers.
const SVG = "http://www.w3.org/2000/svg";

function draw(parent, tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function short(number, digits = 3) {
  const units = ["", "k", "M", "G", "T", "P"];
  let place = 0;
  while (Math.abs(number) >= 1000 && place < units.length - 1) { number /= 1000; ++place; }
  return Number(number.toPrecision(digits)) + (units[place] ? " " + units[place] : "");
}

const bytes = (number) => (number >= 1024 ? `${Number((number / 1024).toPrecision(4))} KiB` : `${number} B`);

function figure(parent, caption, width, height) {
  const box = make(parent, "figure");
  make(box, "figcaption", "", caption);
  return draw(box, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": caption });
}

// Operations a second over operations a byte, on logarithmic axes, with the machine's two roofs.
function roofline(parent, work) {
  const machine = work.machine;
  const [width, height, left, bottom] = [900, 260, 64, 34];
  const svg = figure(parent, `Roofline of ${machine.name} with ${machine.unit}: what it can do at ${short(work.intensity)} operations a byte`, width, height);
  const peak = machine.operations_per_second, ridge = peak / machine.bytes_per_second;
  const low = Math.min(work.intensity, ridge) / 16, high = Math.max(work.intensity, ridge) * 16;
  const top = peak * 2, least = low * machine.bytes_per_second;
  const x = (value) => left + ((width - left - 16) * Math.log(value / low)) / Math.log(high / low);
  const y = (value) => height - bottom - ((height - bottom - 16) * Math.log(value / least)) / Math.log(top / least);
  for (let power = Math.ceil(Math.log10(low)); power <= Math.log10(high); ++power) {
    draw(svg, "path", { class: "axis", d: `M${x(10 ** power)} 8V${height - bottom}` });
    draw(svg, "text", { x: x(10 ** power), y: height - bottom + 15, "text-anchor": "middle" }, short(10 ** power));
  }
  for (let power = Math.ceil(Math.log10(least)); power <= Math.log10(top); ++power) {
    draw(svg, "path", { class: "axis", d: `M${left} ${y(10 ** power)}H${width - 16}` });
    draw(svg, "text", { x: left - 8, y: y(10 ** power) + 4, "text-anchor": "end" }, short(10 ** power));
  }
  draw(svg, "path", { d: `M${x(low)} ${y(least)}L${x(ridge)} ${y(peak)}H${x(high)}`, fill: "none", stroke: "var(--series)", "stroke-width": 2 });
  const reach = Math.min(peak, work.intensity * machine.bytes_per_second);
  draw(svg, "path", { d: `M${x(work.intensity)} ${height - bottom}V${y(reach)}`, stroke: "var(--number)", "stroke-dasharray": "4 4" });
  draw(svg, "circle", { cx: x(work.intensity), cy: y(reach), r: 5, fill: "var(--number)" });
  draw(svg, "text", { class: "ink", x: x(work.intensity) + 9, y: y(reach) + 18 }, `bound by ${machine.bound}, no less than ${short(1e6 * machine.floor_seconds)} µs`);
  draw(svg, "text", { x: width - 16, y: height - 4, "text-anchor": "end" }, "operations a byte");
  draw(svg, "text", { x: 4, y: 12 }, "operations a second");
}

// How many registers live along the instructions. A click picks the instruction.
function registers(parent, counts, allotted, onPick) {
  const places = counts.map((count, index) => [index, count]).filter(([, count]) => count > 0);
  if (!places.length) return;
  const [width, height, left, bottom] = [900, 200, 44, 24];
  const svg = figure(parent, "Live registers of a thread along the instructions (SASS). A click goes to the instruction.", width, height);
  const most = Math.max(allotted || 0, ...counts) * 1.08;
  const x = (place) => left + ((width - left - 12) * place) / Math.max(1, places.length - 1);
  const y = (count) => height - bottom - ((height - bottom - 10) * count) / most;
  const unit = most > 160 ? 64 : most > 60 ? 32 : most > 24 ? 16 : 8;
  for (let mark = 0; mark <= most; mark += unit) {
    draw(svg, "path", { class: "axis", d: `M${left} ${y(mark)}H${width - 12}` });
    draw(svg, "text", { x: left - 8, y: y(mark) + 4, "text-anchor": "end" }, mark);
  }
  let line = `M${x(0)} ${y(places[0][1])}`;
  places.forEach(([, count], place) => (line += `H${x(place)}V${y(count)}`));
  draw(svg, "path", { d: `${line}V${y(0)}H${x(0)}Z`, fill: "var(--area)" });
  draw(svg, "path", { d: line, fill: "none", stroke: "var(--series)", "stroke-width": 1.5 });
  if (allotted) {
    draw(svg, "path", { d: `M${left} ${y(allotted)}H${width - 12}`, stroke: "var(--number)", "stroke-dasharray": "5 4" });
    draw(svg, "text", { class: "ink", x: width - 14, y: y(allotted) - 4, "text-anchor": "end" }, `${allotted} allotted`);
  }
  draw(svg, "text", { x: width - 12, y: height - 6, "text-anchor": "end" }, `${places.length} instructions`);
  const cursor = draw(svg, "path", { stroke: "var(--accent)", d: "" });
  const told = draw(svg, "text", { class: "ink", y: 10 });
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    const place = Math.round((((event.clientX - box.left) / box.width) * width - left) / (width - left - 12) * (places.length - 1));
    return Math.min(places.length - 1, Math.max(0, place));
  };
  svg.addEventListener("pointermove", (event) => {
    const place = at(event);
    cursor.setAttribute("d", `M${x(place)} 4V${height - bottom}`);
    told.setAttribute("x", Math.min(x(place) + 6, width - 90));
    told.textContent = `${places[place][1]} registers`;
  });
  svg.addEventListener("click", (event) => onPick(places[at(event)][0] + 1));
}

// Where buffers lie in shared memory, from their first use to their last along the lines of the gpu stage.
function sharedMemory(parent, buffers, total, lineCount, onPick) {
  const [width, height, left, bottom] = [900, 40 + 44 * Math.min(6, buffers.length), 84, 24];
  const svg = figure(parent, "Shared memory: each buffer at its offset, from the first line of the gpu stage that uses it to the last.", width, height);
  const x = (line) => left + ((width - left - 12) * line) / lineCount;
  const y = (offset) => 8 + ((height - bottom - 8) * offset) / Math.max(1, total);
  draw(svg, "path", { class: "axis", d: `M${left} 8V${height - bottom}H${width - 12}` });
  draw(svg, "text", { x: left - 8, y: 14, "text-anchor": "end" }, "0");
  draw(svg, "text", { x: left - 8, y: height - bottom, "text-anchor": "end" }, bytes(total));
  draw(svg, "text", { x: width - 12, y: height - 6, "text-anchor": "end" }, `${lineCount} lines of the gpu stage`);
  buffers.forEach((buffer, index) => {
    const from = buffer.first_line || 1, to = buffer.last_line || lineCount;
    const slot = (y(buffer.offset + buffer.bytes) - y(buffer.offset)) / buffer.places;
    const colour = `hsl(${hueOf(index + 3)} 55% var(--tint))`;
    for (let place = 0; place < buffer.places; ++place) {
      const shape = draw(svg, "rect", { x: x(from), y: y(buffer.offset) + place * slot + 0.5, width: Math.max(3, x(to) - x(from)),
        height: Math.max(2, slot - 1), rx: 3, fill: colour, "fill-opacity": 0.55, stroke: colour });
      draw(shape, "title", {}, `${buffer.name}: ${bytes(buffer.bytes)} at ${buffer.offset}`);
      shape.style.cursor = "pointer";
      shape.addEventListener("click", () => onPick(from));
    }
    const label = `${buffer.name}, ${bytes(buffer.bytes)}${buffer.places > 1 ? ` in ${buffer.places} slots` : ""}`;
    draw(svg, "text", { class: "ink", x: x(from) + 6, y: (y(buffer.offset) + y(buffer.offset + buffer.bytes)) / 2 + 4 }, label);
  });
}
