// A map on which points are chosen by tapping, or with arrow keys and space. Used by phone.js.
import {SIDE, element, place} from "../../charts/browser/drawing.js";

const EDGE = 10;
const at = share => EDGE + share * (SIDE - 2 * EDGE);
const NEAR = 40;  // units around a point in which a tap chooses it

/** Return the number of the point that is nearest to a place, or null if none is near. */
export function nearest(points, [x, y], limit = Infinity) {
  let best = null, least = limit;
  points.forEach(([px, py], k) => {
    const distance = Math.hypot(px - x, py - y);
    if (distance < least) [best, least] = [k, distance];
  });
  return best;
}

/** Return the point to go to with an arrow key: the nearest one within a quarter turn of its direction. */
export function neighbour(points, from, [dx, dy]) {
  const [x, y] = points[from];
  let best = from, least = Infinity;
  points.forEach(([px, py], k) => {
    const along = (px - x) * dx + (py - y) * dy, across = Math.abs((px - x) * dy - (py - y) * dx);
    const distance = along + 2 * across;
    if (k !== from && along > 0 && across <= along && distance < least) [best, least] = [k, distance];
  });
  return best;
}

export class MapPad {
  /** `chosen` holds numbers of points; `heard` gets it after each change. */
  constructor(parent, question, points, chosen, heard) {
    Object.assign(this, {question, heard, chosen: [...chosen], here: chosen[0] ?? 0});
    // The y axis of a map points upwards.
    this.places = points.map(([x, y]) => [at(x), SIDE - at(y)]);
    this.svg = element("svg", {viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group", "aria-label": question.text}, parent);
    element("rect", {class: "frame", x: 1, y: 1, width: SIDE - 2, height: SIDE - 2}, this.svg);
    this.marks = this.places.map(([cx, cy], k) => element("circle", {class: "point", r: 5, cx, cy, role: "checkbox",
      tabindex: k === this.here ? 0 : -1, "aria-label": `point at ${points[k][0].toFixed(2)}, ${points[k][1].toFixed(2)}`}, this.svg));
    this.svg.addEventListener("click", event => this.toggle(nearest(this.places, place(this.svg, event, SIDE), NEAR)));
    this.svg.addEventListener("keydown", event => this.pressed(event));
    this.show();
  }

  show() {
    this.marks.forEach((mark, k) => {
      const isChosen = this.chosen.includes(k);
      mark.setAttribute("aria-checked", String(isChosen));
      mark.setAttribute("r", isChosen ? 9 : 5);
    });
  }

  toggle(k) {
    if (k === null || this.isOver) return;
    const others = this.chosen.filter(one => one !== k);
    // The first choice gives way to one too many.
    this.chosen = others.length < this.chosen.length ? others : [...others, k].slice(-this.question.number);
    this.show();
    this.heard(this.chosen);
  }

  pressed(event) {
    const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (way) this.go(neighbour(this.places, this.here, way));
    else if (event.key === " " || event.key === "Enter") this.toggle(this.here);
    else return;
    event.preventDefault();
  }

  go(k) {
    this.marks[this.here].setAttribute("tabindex", -1);
    this.here = k;
    this.marks[k].setAttribute("tabindex", 0);
    this.marks[k].focus();
  }

  end() {
    this.isOver = true;
    for (const mark of this.marks) mark.setAttribute("aria-disabled", "true");
  }
}
