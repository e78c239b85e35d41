// Points of the map that the reader edits: where they are, which are near, and the edits that the server has not taken yet.

/** Return the area of a drawn plot within `around`, or null before it is drawn. */
export function frameOf(node, around) {
  const area = node.querySelector(".nsewdrag")?.getBoundingClientRect(), outside = around.getBoundingClientRect();
  const {xaxis, yaxis} = node.layout ?? {};
  if (!area?.width || !xaxis?.range || !yaxis?.range) return null;
  return frame({left: area.left - outside.left, top: area.top - outside.top, width: area.width, height: area.height},
    xaxis.range, yaxis.range);
}

/** Return an area with the functions between its pixels and coordinates with these ranges. */
export function frame(area, [left, right], [bottom, top]) {
  const {width, height} = area;
  return {
    ...area,
    scale: width / (right - left),  // pixels for one unit
    size: right - left,
    toPlot: (px, py) => [left + px / width * (right - left), top - py / height * (top - bottom)],
    toPixels: (x, y) => [(x - left) / (right - left) * width, (top - y) / (top - bottom) * height],
  };
}

/** Give an element the place of an area. */
export function place(element, {left, top, width, height}) {
  Object.assign(element.style, {left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px`});
}

const DIRECTIONS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
export const UNLABELED = -1;

/** Return the direction of an arrow key, or nothing. */
export const direction = key => DIRECTIONS[key];

/** Return the number of the point that is nearest to a place, or -1 if none is within `reach`. */
export function nearest({x, y}, [px, py], reach) {
  let best = -1, least = reach * reach;
  for (let i = 0; i < x.length; i++) {
    const distance = (x[i] - px) ** 2 + (y[i] - py) ** 2;
    if (distance <= least) [best, least] = [i, distance];
  }
  return best;
}

/** Return the next point from point `from` in a direction: near, and not far to the side; `from` itself if there is none. */
export function next({x, y}, from, [dx, dy]) {
  let best = from, least = Infinity;
  for (let i = 0; i < x.length; i++) {
    const along = (x[i] - x[from]) * dx + (y[i] - y[from]) * dy;
    const aside = Math.abs((x[i] - x[from]) * dy) + Math.abs((y[i] - y[from]) * dx);
    if (along <= 0 || aside > along) continue;
    const cost = along + 2 * aside;
    if (cost < least) [best, least] = [i, cost];
  }
  return best;
}

/** Return the numbers of the points within a radius of a place. */
export function within({x, y}, [px, py], radius) {
  const found = [];
  for (let i = 0; i < x.length; i++) if ((x[i] - px) ** 2 + (y[i] - py) ** 2 <= radius * radius) found.push(i);
  return found;
}

/** Return a random place in a disc. */
export function sprayed([x, y], radius, random = Math.random) {
  const angle = 2 * Math.PI * random(), far = radius * Math.sqrt(random());
  return [x + far * Math.cos(angle), y + far * Math.sin(angle)];
}

/** Return the places at which a brush paints on its way: one after each third of its radius. */
export function along([fromX, fromY], [toX, toY], radius) {
  const steps = Math.floor(Math.hypot(toX - fromX, toY - fromY) / (radius / 3)), places = [];
  for (let i = 1; i <= steps; i++) places.push([fromX + (toX - fromX) * i / steps, fromY + (toY - fromY) * i / steps]);
  return places;
}

/** Return the digit of a class: its name if all names are digits, else its place from 1. */
export function digitOf(number, classes) {
  return classes.every(name => /^\d$/.test(name)) ? classes[number] : String(number + 1);
}

/** Return the class of a digit key, or -1. */
export const classOf = (key, classes) => classes.findIndex((_, number) => digitOf(number, classes) === key);

/** Round a coordinate to a thousandth of the map's width, as a short number. */
export function rounded(value, width) {
  return Number(value.toFixed(Math.min(12, Math.max(0, 3 - Math.floor(Math.log10(width))))));
}

/** Return the label of a point in words. */
export function labelOf({labels, classes, isPairs}, i) {
  if (labels[i] === UNLABELED) return isPairs ? "in no pair" : "unlabeled";
  return isPairs ? `in pair ${labels[i] + 1}` : `labeled ${classes[labels[i]]}`;
}

/** Return a point in words: its number, its place and its label. */
export function spoken(points, i) {
  if (i < 0) return "no point";
  const {x, y} = points;
  return `point ${i + 1} of ${x.length}, x ${Number(x[i].toPrecision(3))}, y ${Number(y[i].toPrecision(3))}, ${labelOf(points, i)}`;
}

const AGAIN = 1500;  // milliseconds

export class Outbox {
  /** `send` gets {mount, edits}, with a number for each edit; `later` is setTimeout. */
  constructor(send, later = (work, wait) => setTimeout(work, wait)) {
    Object.assign(this, {send, later, mount: Math.random().toString(36).slice(2), waiting: [], count: 0, isOver: false});
  }

  add(edit) {
    this.waiting.push({number: ++this.count, edit});
    this.post();
  }

  post() {
    if (this.isOver || !this.waiting.length) return;
    this.send({mount: this.mount, edits: this.waiting.map(({number, edit}) => [number, edit])});
    const {count} = this;
    this.later(() => { if (this.count === count) this.post(); }, AGAIN);
  }

  /** Note the last edit that the server has taken. */
  taken(mount, number) {
    if (mount === this.mount) this.waiting = this.waiting.filter(one => one.number > number);
  }

  end() { this.isOver = true; }
}
