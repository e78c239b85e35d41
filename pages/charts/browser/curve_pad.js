// Drawings by hand, on phones and on the stage: their elements, and a pad for a curve by finger, mouse or arrow keys.
const SVG = "http://www.w3.org/2000/svg";
export const SIDE = 340;

/** Append an element; an attribute that is null is left out. */
export function element(name, attributes, parent, text = "") {
  const made = document.createElementNS(name === "svg" ? SVG : parent.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** Return a pointer's place in the coordinates of a drawing of this height. */
export function place(svg, event, height) {
  const box = svg.getBoundingClientRect();
  return [(event.clientX - box.left) / box.width * SIDE, (event.clientY - box.top) / box.height * height];
}

const LEFT = 44, RIGHT = 14, TOP = 26, BOTTOM = 34, KNOT = 9;

/** Return the values after a stroke from one place to another: they follow the straight line between the two. */
export function stroke(values, xs, [x0, y0], [x1, y1]) {
  const [left, right] = [Math.min(x0, x1), Math.max(x0, x1)];
  const nearest = xs.reduce((best, x, k) => Math.abs(x - x1) < Math.abs(xs[best] - x1) ? k : best, 0);
  return values.map((value, k) => {
    if (xs[k] >= left && xs[k] <= right && x0 !== x1) return y0 + (y1 - y0) * (xs[k] - x0) / (x1 - x0);
    return k === nearest ? y1 : value;
  });
}

/** Return the values at which an axis has its grid: about five, at round steps. */
export function ticks(low, high) {
  const least = (high - low) / 5.5, power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(one => one >= least);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({length: last - first + 1}, (_, k) => Number(((first + k) * step).toPrecision(6)));
}

export class CurvePad {
  /** `heard` gets the values after each stroke and each key. */
  constructor(parent, question, values, heard, height = 300) {
    Object.assign(this, {question, values, heard, height, held: null});
    this.svg = element("svg", {viewBox: `0 0 ${SIDE} ${height}`, class: "touch"}, parent);
    this.xs = question.shares.map(share => LEFT + share * (SIDE - LEFT - RIGHT));
    this.axes();
    this.line = element("polyline", {class: "own"}, this.svg);
    this.knots = question.shares.map((share, k) => this.knot(share, k));
    this.svg.addEventListener("pointerdown", event => this.down(event));
    this.svg.addEventListener("pointermove", event => { if (this.held) this.move(event); });
    // A stroke that ends fast is a fling to the browser, which would swallow the tap that follows.
    this.svg.addEventListener("touchstart", event => { if (!this.isOver) event.preventDefault(); }, {passive: false});
    for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, () => this.up());
    this.show();
  }

  y(value) { return TOP + (this.question.high - value) / (this.question.high - this.question.low) * (this.height - TOP - BOTTOM); }

  value(y) {
    const {low, high} = this.question;
    return clamp(high - (y - TOP) / (this.height - TOP - BOTTOM) * (high - low), low, high);
  }

  axes() {
    const {low, high, words} = this.question;
    for (const value of ticks(low, high)) {
      const y = this.y(value);
      element("path", {class: "grid", d: `M${LEFT} ${y}H${SIDE - RIGHT}`}, this.svg);
      element("text", {x: LEFT - KNOT - 3, y: y + 4, "text-anchor": "end"}, this.svg, String(value).replace("-", "−"));
    }
    element("path", {class: "frame", d: `M${LEFT} ${TOP}V${this.height - BOTTOM}H${SIDE - RIGHT}`}, this.svg);
    element("text", {x: LEFT, y: this.height - 12}, this.svg, "start");
    element("text", {x: SIDE - RIGHT, y: this.height - 12, "text-anchor": "end"}, this.svg, "end of the run");
    element("text", {x: LEFT, y: TOP - 10}, this.svg, words);
  }

  knot(share, k) {
    const {words, low, high} = this.question;
    const when = share ? `after ${Math.round(share * 100)} % of the run` : "at the start";
    const knot = element("circle", {class: "own", r: KNOT, cx: this.xs[k], tabindex: 0, role: "slider", "aria-orientation": "vertical",
      "aria-label": `${words}, ${when}`, "aria-valuemin": low, "aria-valuemax": high}, this.svg);
    knot.addEventListener("keydown", event => this.pressed(event, k));
    return knot;
  }

  show() {
    this.line.setAttribute("points", this.points(this.values));
    this.knots.forEach((knot, k) => {
      knot.setAttribute("cy", this.y(this.values[k]));
      knot.setAttribute("aria-valuenow", Number(this.values[k].toPrecision(3)));
    });
  }

  points(values) { return values.map((value, k) => `${this.xs[k]},${this.y(clamp(value, this.question.low, this.question.high))}`).join(" "); }

  down(event) {
    if (this.isOver) return;
    event.preventDefault();
    this.svg.setPointerCapture(event.pointerId);
    this.held = place(this.svg, event, this.height);
    this.move(event);
  }

  move(event) {
    const there = place(this.svg, event, this.height), [from, to] = [this.held, there].map(([x, y]) => [x, this.value(y)]);
    this.values = stroke(this.values, this.xs, from, to);
    this.held = there;
    this.show();
  }

  up() {
    if (!this.held) return;
    this.held = null;
    this.heard(this.values);
  }

  pressed(event, k) {
    const step = (this.question.high - this.question.low) / 20;
    const up = {ArrowUp: step, ArrowDown: -step, PageUp: 4 * step, PageDown: -4 * step}[event.key];
    const along = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (this.isOver || (up === undefined && along === undefined)) return;
    event.preventDefault();
    event.stopPropagation();  // a page hears arrow keys, too
    if (along !== undefined) { this.knots[clamp(k + along, 0, this.knots.length - 1)].focus(); return; }
    const was = this.values[k], is = clamp(was + up, this.question.low, this.question.high);
    // Later places with the same value follow, because a curve is drawn from left to right.
    this.values = this.values.map((value, j) => j === k || (j > k && Math.abs(value - was) < 1e-9) ? is : value);
    this.show();
    this.heard(this.values);
  }

  /** Take no more changes. */
  end() {
    this.isOver = true;
    this.svg.classList.remove("touch");
    for (const knot of this.knots) { knot.setAttribute("aria-disabled", "true"); knot.setAttribute("r", 5); }
  }
}

const pads = new WeakMap(), STAGE_HEIGHT = 170;  // the component's element -> its pad

/** Draw the component of the stage: a curve that the reader draws as a guess. */
export default function drawGuess({data, parentElement, setStateValue}) {
  if (!pads.has(parentElement)) {
    const heard = values => {
      const told = values.map(value => Number(value.toPrecision(4))), ask = window.dsgLab?.ask ?? ((_, work) => work());
      ask(pad.page, () => pad.set("guess", told));
    };
    const pad = new CurvePad(parentElement.querySelector(".drawn-curve"), data, data.values, heard, STAGE_HEIGHT);
    pads.set(parentElement, pad);
  }
  Object.assign(pads.get(parentElement), {set: setStateValue, page: data.page});
}
