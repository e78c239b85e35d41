// A question to a class, on a phone and in a lesson's file: the inputs of a guess, and what is said of it after the reveal.
import {CurvePad, SIDE, element, place} from "../../charts/browser/curve_pad.js";
import {direction, nearest, next} from "../../live/browser/points.js";

const LETTERS = "ABCDEFGH", EDGE = 10, INNER = SIDE - 2 * EDGE;
const NEAR = 40 / INNER;  // share of a map around a point in which a tap chooses it

/** Return the values of an answer as it is sent: numbers between "~". */
export const values = guess => guess.split("~").map(Number);

/** Return the points of an answer. */
export const pairsIn = guess => values(guess).reduce((found, value, k, all) => k % 2 ? [...found, [all[k - 1], value]] : found, []);

const isWhole = ({low, high}) => high - low > 20 && [low, high].every(Number.isInteger);

/** Return a number as text: whole on a long scale between whole numbers, such as years, else to a hundredth of its scale; never off it. */
export function short(value, {low, high}) {
  const digits = isWhole({low, high}) ? 0 : Math.min(20, Math.max(0, Math.ceil(2 - Math.log10(high - low))));
  return String(Math.min(high, Math.max(low, Number(value.toFixed(digits)))));
}

/** By kind of question: draw its inputs. `mine` is the guess so far; `heard` gets each later one, and null if it is not whole. */
export const inputs = {
  pick(parent, {options}, {mine, heard, isOpen}) {
    const buttons = options.map((words, k) => {
      const button = element("button", {type: "button", disabled: isOpen ? null : ""}, parent);
      element("b", {}, button, LETTERS[k]);
      button.append(` ${words}`);
      button.onclick = () => { press(String(k)); heard(String(k)); };
      return button;
    });
    const press = chosen => buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(chosen === String(k))));
    press(mine);
  },

  number(parent, question, {mine, heard, isOpen}) {
    const {low, high, words} = question, step = isWhole(question) && high - low < 200 ? 1 : (high - low) / 100;
    const output = element("output", {class: "number"}, parent, mine ?? short((low + high) / 2, question));
    const slider = element("input", {type: "range", min: low, max: high, step, "aria-label": words, disabled: isOpen ? null : ""}, parent);
    slider.value = output.textContent;
    slider.oninput = () => { output.textContent = short(slider.valueAsNumber, question); heard(output.textContent); };
    heard(output.textContent);
  },

  curve(parent, question, {mine, heard, isOpen}) {
    const middle = question.shares.map(() => (question.low + question.high) / 2);
    const pad = new CurvePad(parent, question, mine ? values(mine) : middle, drawn => heard(drawn.map(value => short(value, question)).join("~")));
    if (mine) heard(mine);
    if (!isOpen) return pad.end();
    element("p", {class: "key"}, parent, "Draw with a finger. On a keyboard, press Tab to reach a point, and move it with the arrow keys.");
  },

  map(parent, question, {mine, heard, isOpen, points}) {
    const at = {x: points.map(([x]) => x), y: points.map(([, y]) => y)};
    let chosen = (mine ? pairsIn(mine) : []).map(pair => nearest(at, pair, Infinity)).filter(k => k >= 0), here = chosen[0] ?? 0;
    const svg = element("svg", {viewBox: `0 0 ${SIDE} ${SIDE}`, role: "group", "aria-label": question.text}, parent);
    element("rect", {class: "frame", x: 1, y: 1, width: SIDE - 2, height: SIDE - 2}, svg);
    const marks = points.map(([x, y]) => element("circle", {class: "point", cx: EDGE + x * INNER, cy: SIDE - EDGE - y * INNER, role: "checkbox",
      "aria-disabled": !isOpen, "aria-label": `point at ${x.toFixed(2)}, ${y.toFixed(2)}`}, svg));
    const count = element("p", {role: "status", class: "key", hidden: isOpen ? null : ""}, parent);
    const show = () => {
      for (const [k, mark] of marks.entries()) {
        const isChosen = chosen.includes(k), shown = {"aria-checked": isChosen, r: isChosen ? 9 : 5, tabindex: k === here ? 0 : -1};
        for (const [name, value] of Object.entries(shown)) mark.setAttribute(name, value);
      }
      count.textContent = `${chosen.length} of ${question.number} chosen. Tap a point again to take it back.`;
      heard(chosen.length === question.number ? chosen.flatMap(k => points[k]).map(value => value.toFixed(3)).join("~") : null);
    };
    show();
    if (!isOpen) return;
    const toggle = k => {
      const others = chosen.filter(one => one !== k);
      if (k >= 0) chosen = others.length < chosen.length ? others : [...others, k].slice(-question.number);  // the first gives way to one too many
      show();
    };
    svg.onclick = event => {
      const [x, y] = place(svg, event, SIDE);
      toggle(nearest(at, [(x - EDGE) / INNER, (SIDE - EDGE - y) / INNER], NEAR));
    };
    svg.onkeydown = event => {
      const way = direction(event.key);
      if (!way && event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      if (!way) return toggle(here);
      here = next(at, here, way);
      show();
      marks[here].focus();
    };
  },
};

/** Return true if an answer is right, false if it is not, and null if the run says neither. */
export function isRight(question, guess, result) {
  if (guess === null) return null;
  if (question.kind === "pick") return Number.isInteger(result.right) ? Number(guess) === result.right : null;
  if (question.kind === "map" || result.value === null || result.value === undefined) return null;
  const came = [result.value].flat(), own = values(guess);
  return came.reduce((sum, value, k) => sum + Math.abs(value - own[k]), 0) / came.length <= result.near;
}

/** Return the headline and the sentence with the reason. */
export function verdict(question, guess, result) {
  if (result?.why === undefined) return ["", ""];
  const right = isRight(question, guess, result);
  const answer = `The answer: ${question.kind === "pick" && Number.isInteger(result.right) ? `${LETTERS[result.right]}. ` : ""}${result.answer} `;
  return [right === null ? "" : right ? "✓ Right." : "✗ Not this time.", `${right === true && question.kind === "pick" ? "" : answer}${result.why}`];
}
