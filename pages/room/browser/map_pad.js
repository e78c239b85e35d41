// A map on which points are chosen by tapping, or with arrow keys and space. Used by question.js, on phones alone.
import {SIDE, element, place} from "../../charts/browser/drawing.js";
import {direction, nearest, next} from "../../live/browser/points.js";

const EDGE = 10, WIDTH = SIDE - 2 * EDGE;
const NEAR = 40 / WIDTH;  // share of the map around a point in which a tap chooses it

export class MapPad {
  /** `chosen` holds places of points; `heard` gets the numbers of those that are chosen after each change. */
  constructor(parent, question, points, chosen, heard) {
    this.points = {x: points.map(([x]) => x), y: points.map(([, y]) => y)};
    this.chosen = chosen.map(pair => nearest(this.points, pair, Infinity)).filter(k => k >= 0);
    Object.assign(this, {question, heard, here: this.chosen[0] ?? 0});
    this.svg = element("svg", {viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group", "aria-label": question.text}, parent);
    element("rect", {class: "frame", x: 1, y: 1, width: SIDE - 2, height: SIDE - 2}, this.svg);
    this.marks = points.map(([x, y], k) => element("circle", {class: "point", r: 5, cx: EDGE + x * WIDTH, cy: SIDE - EDGE - y * WIDTH, role: "checkbox",
      tabindex: k === this.here ? 0 : -1, "aria-label": `point at ${x.toFixed(2)}, ${y.toFixed(2)}`}, this.svg));
    this.svg.addEventListener("click", event => {
      const [x, y] = place(this.svg, event, SIDE);
      this.toggle(nearest(this.points, [(x - EDGE) / WIDTH, (SIDE - EDGE - y) / WIDTH], NEAR));
    });
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
    if (k < 0 || this.isOver) return;
    const others = this.chosen.filter(one => one !== k);
    // The first choice gives way to one too many.
    this.chosen = others.length < this.chosen.length ? others : [...others, k].slice(-this.question.number);
    this.show();
    this.heard(this.chosen);
  }

  pressed(event) {
    const way = direction(event.key);
    if (way) this.go(next(this.points, this.here, way));
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
