// The tools of the reader's hand on the map, and what it does, drawn above the map until the map itself shows it.
import {maker} from "../../charts/browser/head.js";
import {growthOf} from "../../charts/browser/projected.js";
import {digitOf} from "./points.js";

export const HELP = {
  label: "Click a point and choose its class. Keys: arrows choose a point, digits label it, Backspace takes the label away.",
  pair: "Click two points to make them a pair. Keys: arrows and Enter choose the points, Backspace takes a pair apart.",
  paint: "Drag to paint points. Keys: arrows move the brush, Space paints.",
  erase: "Drag over points to erase them. Keys: arrows move the eraser, Space erases.",
  move: "Drag a point. Keys: arrows choose a point, Shift with arrows moves it.",
};
const NAMES = {label: "Label", pair: "Pair", paint: "Paint", erase: "Erase", move: "Move"};

const make = maker("hand-");

function button(name, text, press) {
  const one = make("button", name, text);
  one.addEventListener("click", press);
  return one;
}

export function chip(text, color, press) {
  const dot = make("i", "dot"), one = button("chip", "", press);
  dot.style.background = color;
  one.append(dot, text);
  return one;
}

const group = (label, ...inside) => {
  const one = make("div", "group", ...inside);
  one.setAttribute("role", "group");
  one.setAttribute("aria-label", label);
  return one;
};

/** Return the brushes of a lesson, which has one list in place of tools: each class without and with a label, and an eraser. */
export const brushesOf = classes => [
  ...[false, true].flatMap(isLabeled => classes.map((name, brush) =>
    ({words: `${name}${isLabeled ? " with label" : ""}`, choice: {tool: "paint", brush, isLabeled}}))),
  {words: "eraser", choice: {tool: "erase"}},
];

/** Create the toolbar. `state` has tool, brush and size; `act` has a function for each command; `changed` follows a choice. */
export function createTools(state, act, changed) {
  const choose = (name, value) => { state[name] = value; draw(); changed(); };
  const tools = group("Tool"), brushes = group("Class of painted points"), count = make("output", "count");
  const isLabeled = make("input", "labeled"), labeled = make("label", "check", isLabeled, "with label");
  const size = make("input", "size"), sized = make("label", "check", "size", size);
  Object.assign(isLabeled, {type: "checkbox"});
  Object.assign(size, {type: "range", min: 1, max: 15, step: 1, value: state.size});
  isLabeled.addEventListener("change", () => choose("isLabeled", isLabeled.checked));
  size.addEventListener("input", () => choose("size", Number(size.value)));
  const list = make("select", "list"), listed = make("label", "check", "Brush", list);
  list.addEventListener("change", () => { Object.assign(state, brushesOf(now.classes)[list.selectedIndex].choice); draw(); changed(); });
  const all = button("all", "", () => act.all());
  const undo = button("undo", "Undo", act.undo), redo = button("redo", "Redo", act.redo);
  const reset = button("reset", "As generated", act.reset);
  const help = make("p", "help"), said = make("p", "said");
  const whole = group("Brush", brushes, labeled, sized, all);
  const root = make("div", "tools", tools, listed, whole, group("Edits", undo, redo, reset), count, help, said);
  let now = null, made = "";

  /** Make the buttons that depend on the data, if these are others. */
  function build() {
    const key = JSON.stringify([now.classes, now.colors, now.isPairs, now.canPaint, now.canErase]);
    if (key === made) return;
    made = key;
    const kinds = [now.isPairs ? "pair" : "label", ...(now.canPaint ? ["paint"] : []), ...(now.canErase ? ["erase"] : []), ...(now.canPaint ? ["move"] : [])];
    if (!kinds.includes(state.tool)) state.tool = now.canPaint && !now.rows.length ? "paint" : kinds[0];
    tools.replaceChildren(...kinds.map(kind => Object.assign(button("tool", NAMES[kind], () => choose("tool", kind)), {kind})));
    const chips = now.classes.map((name, number) =>
      Object.assign(chip(`${digitOf(number, now.classes)} ${name}`, now.isPairs ? "" : now.colors[number], () => choose("brush", number)), {kind: number}));
    const none = Object.assign(chip("no class", "", () => choose("brush", null)), {kind: null});
    brushes.replaceChildren(...chips, none);
    list.replaceChildren(...brushesOf(now.classes).map(({words}) => make("option", "option", words)));
  }

  function draw() {
    const {tool, brush} = state, isPaint = tool === "paint";
    for (const one of tools.children) one.setAttribute("aria-pressed", one.kind === tool);
    for (const one of brushes.children) one.setAttribute("aria-pressed", one.kind === brush);
    tools.hidden = now.isLesson || tools.children.length < 2;
    listed.hidden = !now.isLesson || !now.canPaint;
    list.selectedIndex = brushesOf(now.classes).findIndex(({choice}) => Object.keys(choice).every(name => choice[name] === state[name]));
    brushes.hidden = !isPaint;
    labeled.hidden = !isPaint || now.isPairs || brush === null;
    sized.hidden = !isPaint && tool !== "erase";
    reset.hidden = !now.canReset;
    all.hidden = !now.canErase || isPaint || tool === "move";
    all.textContent = {label: "Take all labels away", pair: "Take all pairs apart", erase: "Erase all points"}[tool] ?? "";
    whole.hidden = now.isLesson || all.hidden && sized.hidden && !isPaint;
    redo.hidden = now.isLesson;
    undo.disabled = !now.canUndo;
    redo.disabled = !now.canRedo;
    reset.disabled = !now.isEdited;
    count.textContent = isPaint ? `${now.count}, ${now.left} more points to paint` : now.count;
    help.textContent = HELP[tool];
    said.textContent = now.said || now.next;
    said.hidden = !said.textContent;
    said.setAttribute("role", now.said ? "alert" : "status");
  }

  return {root, show(points) { now = points; build(); draw(); }};
}

/** Draw marks on a canvas of this size in pixels: {dots, rings, brush, cross}, all in pixels. */
export function draw(canvas, {width, height}, {dots = [], rings = [], brush = null, cross = null}, ink) {
  const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d"), growth = growthOf(canvas);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    Object.assign(canvas, {width: Math.round(width * ratio), height: Math.round(height * ratio)});
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const circle = ([x, y], radius) => { context.beginPath(); context.arc(x, y, radius, 0, 7); };
  context.lineWidth = growth;
  for (const {at, color, isFilled} of dots) {
    circle(at, growth * (isFilled ? 4 : 2.5));
    context.strokeStyle = context.fillStyle = color;
    if (isFilled) context.fill(); else context.stroke();
  }
  context.strokeStyle = ink;
  context.lineWidth = 2 * growth;
  for (const at of rings) { circle(at, 9 * growth); context.stroke(); }
  context.lineWidth = 1.5;
  if (brush) { circle(brush.at, brush.radius); context.stroke(); }
  if (cross) {
    const [x, y] = cross;
    context.beginPath();
    context.moveTo(x - 7, y); context.lineTo(x + 7, y); context.moveTo(x, y - 7); context.lineTo(x, y + 7);
    context.stroke();
  }
}
