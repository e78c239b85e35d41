// A curve that the reader draws as a guess, by mouse, finger, or arrow keys. Used by drawn_curve.py.
const W = 340, H = 170, LEFT = 46, RIGHT = 10, TOP = 10, BOTTOM = 26;
const drawings = new WeakMap();  // the component's element -> its drawing
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, parent, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

function create(parent, data) {
  const root = parent.querySelector(".drawn-curve"), svg = element("svg", {viewBox: `0 0 ${W} ${H}`}, root);
  const drawing = {data, values: [...data.values], touched: false, held: null};
  drawing.x = share => LEFT + share * (W - LEFT - RIGHT);
  drawing.y = value => TOP + (data.high - value) / (data.high - data.low) * (H - TOP - BOTTOM);
  element("path", {class: "frame", d: `M${LEFT} ${TOP}V${H - BOTTOM}H${W - RIGHT}`}, svg);
  for (const [value, said] of [[data.low, data.lowest], [data.high, data.highest]])
    element("text", {x: LEFT - 6, y: drawing.y(value) + 4, "text-anchor": "end"}, svg, said);
  element("text", {x: W - RIGHT, y: H - 8, "text-anchor": "end"}, svg, "iterations");
  element("text", {x: LEFT, y: H - 8}, svg, "start");
  drawing.line = element("polyline", {class: "guess"}, svg);
  drawing.knots = data.shares.map((share, place) => {
    const knot = element("circle", {r: 7, cx: drawing.x(share), tabindex: 0, role: "slider",
      "aria-label": `${data.words}, ${data.places[place]}`, "aria-orientation": "vertical",
      "aria-valuemin": data.low, "aria-valuemax": data.high}, svg);
    knot.addEventListener("keydown", event => pressed(drawing, place, event));
    return knot;
  });
  svg.addEventListener("pointerdown", event => { svg.setPointerCapture(event.pointerId); drag(drawing, svg, event, true); });
  // A stroke that ends fast is a fling to the browser, which would swallow the tap that follows.
  svg.addEventListener("touchstart", event => event.preventDefault(), {passive: false});
  svg.addEventListener("pointermove", event => { if (drawing.held !== null) drag(drawing, svg, event, false); });
  for (const name of ["pointerup", "pointercancel"])
    svg.addEventListener(name, () => { if (drawing.held !== null) { drawing.held = null; tell(drawing); } });
  drawings.set(parent, drawing);
  return drawing;
}

function show(drawing) {
  const {values, data} = drawing;
  drawing.line.setAttribute("points", values.map((v, k) => `${drawing.x(data.shares[k])},${drawing.y(v)}`).join(" "));
  drawing.knots.forEach((knot, k) => {
    knot.setAttribute("cy", drawing.y(values[k]));
    knot.setAttribute("aria-valuenow", values[k].toFixed(3));
  });
}

/** Set the value at all places that the pointer passes. */
function drag(drawing, svg, event, begins) {
  event.preventDefault();
  const box = svg.getBoundingClientRect(), {data} = drawing;
  const x = (event.clientX - box.left) / box.width * W, y = (event.clientY - box.top) / box.height * H;
  const distances = data.shares.map(share => Math.abs(drawing.x(share) - x));
  const nearest = distances.indexOf(Math.min(...distances));
  const value = data.high - (y - TOP) / (H - TOP - BOTTOM) * (data.high - data.low);
  const from = begins || drawing.held === null ? nearest : drawing.held;
  for (let k = Math.min(from, nearest); k <= Math.max(from, nearest); k++) drawing.values[k] = clamp(value, data.low, data.high);
  drawing.held = nearest;
  show(drawing);
}

function pressed(drawing, place, event) {
  const {data, values, knots} = drawing, step = (data.high - data.low) / 20;
  const up = {ArrowUp: step, ArrowDown: -step, PageUp: 4 * step, PageDown: -4 * step}[event.key];
  const along = {ArrowLeft: -1, ArrowRight: 1}[event.key];
  if (up === undefined && along === undefined) return;
  event.preventDefault();
  event.stopPropagation();  // the page hears arrow keys, too
  if (along !== undefined) { knots[clamp(place + along, 0, knots.length - 1)].focus(); return; }
  const was = values[place];
  values[place] = clamp(was + up, data.low, data.high);
  // Later places with the same value follow, because a curve is drawn from left to right.
  for (let k = place + 1; k < values.length && Math.abs(values[k] - was) < 1e-9; k++) values[k] = values[place];
  show(drawing);
  tell(drawing);
}

function tell(drawing) {
  const told = drawing.values.map(value => Number(value.toPrecision(4)));
  const ask = window.dsgLab?.ask ?? ((_, work) => work());
  ask(drawing.data.page, () => drawing.set("guess", told));
}

export default function ({data, parentElement, setStateValue}) {
  const drawing = drawings.get(parentElement) ?? create(parentElement, data);
  drawing.set = setStateValue;
  show(drawing);
}
