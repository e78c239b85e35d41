// The panels of a screen: maps of points over a coloured field, and charts of curves. They draw one of their frames.

const SVG = "http://www.w3.org/2000/svg";
const BLUE = [0, 114, 178], ORANGE = [213, 94, 0], STRONGEST = 0.8, LARGEST = 127;

export const make = (tag, name = "", text = "") => Object.assign(document.createElement(tag), {className: name, textContent: text});

function shape(tag, values) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
  return element;
}

/** Return signed bytes from base 64. */
export function unpacked(text) {
  return Int8Array.from(atob(text), letter => letter.charCodeAt(0) << 24 >> 24);
}

/** Return the colour of a value: orange below 0, blue above, and clearer near 0. */
export function colorOf(value) {
  return [...(value < 0 ? ORANGE : BLUE), Math.abs(value) / LARGEST * STRONGEST];
}

/** Fill the picture of a field's frame, whose rows begin at the lower left. */
export function paint(pixels, field, frame, size) {
  const start = frame * size * size;
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) {
      const [red, green, blue, share] = colorOf(field[start + row * size + column]);
      pixels.set([red, green, blue, share * 255], 4 * ((size - 1 - row) * size + column));
    }
}

const MARKS = {
  positive: "m-1.4 0a1.4 1.4 0 1 0 2.8 0a1.4 1.4 0 1 0 -2.8 0z",
  negative: "m0 -1.8l1.7 3h-3.4z",
  unlabeled: "m-.8 0a.8 .8 0 1 0 1.6 0a.8 .8 0 1 0 -1.6 0z",
};

/** Return an entry of a legend: a sample and a name. */
function entryOf(name, view, d, style) {
  const entry = make("span"), sample = shape("svg", {...view, "aria-hidden": "true"});
  sample.append(shape("path", {class: "how-" + style, d}));
  entry.append(sample, name);
  return entry;
}

function createMap(box, {title, marks, cross, picked, field, values}, nFrames) {
  const square = make("div", "how-square"), legend = make("p", "how-legend");
  for (const kind of values ? [] : ["positive", "negative", "unlabeled"])
    legend.append(entryOf(kind, {viewBox: "-2 -2 4 4", class: "how-kind"}, `M0 0${MARKS[kind]}`, kind));
  box.append(make("h3", "", title), legend, square);
  const canvas = make("canvas"), bytes = field && unpacked(field), own = values && unpacked(values);
  const size = bytes ? Math.round(Math.sqrt(bytes.length / nFrames)) : 1;
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d"), picture = context.createImageData(size, size);
  const svg = shape("svg", {viewBox: "0 0 100 100", "aria-hidden": "true"});
  const drawn = marks.map(([x, y, kind]) => shape("path", {class: own ? "how-value" : "how-" + kind,
    d: `M${(100 * x).toFixed(1)} ${(100 - 100 * y).toFixed(1)}${MARKS[own ? "positive" : kind]}`}));
  svg.append(...drawn);
  if (cross) svg.append(shape("path", {class: "how-cross", d: `M${100 * cross[0]} ${100 - 100 * cross[1]}m-3 0h6m-3 -3v6`}));
  square.append(canvas, svg);
  return (frame, stop) => {
    if (bytes) {
      paint(picture.data, bytes, frame, size);
      context.putImageData(picture, 0, 0);
    }
    if (own) drawn.forEach((mark, i) => {
      const [red, green, blue, share] = colorOf(own[frame * drawn.length + i]);
      mark.style.fill = `rgba(${red},${green},${blue},${share + 0.2})`;
    });
    const now = new Set(picked[stop]);
    if (picked.length) drawn.forEach((mark, i) => mark.classList.toggle("how-picked", now.has(i)));
  };
}

/** Return the function from values to pixels of an axis. */
export function scaleOf({low, high, log}, start, end) {
  const f = log ? Math.log : value => value;
  return value => start + (f(value) - f(low)) / (f(high) - f(low)) * (end - start);
}

/** Return the path of a curve; it ends where the chart does, and has gaps where there is no value. */
export function pathOf({x, y, style}, toX, toY, axes) {
  const parts = [];
  let isOpen = false;
  for (const [i, value] of y.entries()) {
    const isInside = value !== null && value <= axes.y.high * 1.001 && x[i] >= axes.x.low && x[i] <= axes.x.high;
    const place = isInside && `${toX(x[i]).toFixed(1)} ${toY(Math.max(value, axes.y.low)).toFixed(1)}`;
    if (isInside) parts.push(style === "dots" ? `M${place}h0` : `${isOpen ? "L" : "M"}${place}`);
    isOpen = isInside;
  }
  return parts.join("");
}

const LEFT = 46, RIGHT = 12, TOP = 6, BOTTOM = 34;

function drawAxes(svg, axes, width, height, toX, toY) {
  svg.append(shape("path", {class: "how-axis", d: `M${LEFT} ${TOP}V${height - BOTTOM}H${width - RIGHT}`}));
  const write = (x, y, text, anchor) => {
    const label = shape("text", {x, y, "text-anchor": anchor});
    label.textContent = text;
    svg.append(label);
  };
  for (const tick of axes.x.ticks) write(toX(tick), height - BOTTOM + 15, tick, "middle");
  for (const tick of axes.y.ticks) {
    svg.append(shape("path", {class: "how-grid", d: `M${LEFT} ${toY(tick)}H${width - RIGHT}`}));
    write(LEFT - 5, toY(tick) + 4, tick, "end");
  }
  write((LEFT + width - RIGHT) / 2, height - 3, axes.x.title, "middle");
}

function createChart(box, {title, x, y, still, moving}) {
  const head = make("h3", "", title), legend = make("p", "how-legend"), plot = make("div", "how-plot");
  for (const {name, style} of [...still, ...moving[0]].filter(({name}) => name))
    legend.append(entryOf(name, {viewBox: "0 0 24 8"}, style === "dots" ? "M12 4h0" : "M1 4h22", style));
  const svg = shape("svg", {"aria-hidden": "true"});
  plot.append(svg);
  box.append(head, legend, plot);
  let last = 0;
  const draw = frame => {
    last = frame;
    const {clientWidth: width, clientHeight: height} = plot;
    if (!width || !height) return;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    const toX = scaleOf(x, LEFT, width - RIGHT), toY = scaleOf(y, height - BOTTOM, TOP);
    drawAxes(svg, {x, y}, width, height, toX, toY);
    for (const curve of [...still, ...moving[frame]])
      svg.append(shape("path", {class: "how-" + curve.style, d: pathOf(curve, toX, toY, {x, y})}));
  };
  new ResizeObserver(() => draw(last)).observe(plot);  // ends with the plot
  return draw;
}

/** Create a panel inside `parent`; return the function that draws it at a frame and a stop of the slider. */
export function createPanel(parent, panel, nFrames) {
  const box = make("div", "how-panel how-" + panel.kind);
  parent.append(box);
  return panel.kind === "map" ? createMap(box, panel, nFrames) : createChart(box, panel);
}
