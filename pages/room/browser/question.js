// A question to a class, on a phone and in a lesson's file: the inputs of a guess, and what is said of it after the reveal.
import {CurvePad} from "../../charts/browser/curve_pad.js";
import {MapPad} from "./map_pad.js";

const LETTERS = "ABCDEFGH";

export function tag(name, text, attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** Return the values of an answer as it is sent: numbers between "~". */
export const values = guess => guess.split("~").map(Number);

/** Return the points of an answer. */
export const pairsIn = guess => values(guess).reduce((found, value, k, all) => k % 2 ? [...found, [all[k - 1], value]] : found, []);

const short = value => String(Number(value.toPrecision(3)));

/** By kind of question: draw its inputs. `mine` is the guess so far; `heard` gets each later one, and null if it is not whole. */
export const inputs = {
  pick(parent, {options}, {mine, heard, isOpen}) {
    const buttons = options.map((words, k) => {
      const button = tag("button", "", {type: "button", ...(isOpen ? {} : {disabled: ""})});
      button.append(tag("b", LETTERS[k]), ` ${words}`);
      button.onclick = () => { press(String(k)); heard(String(k)); };
      return button;
    });
    const press = chosen => buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(chosen === String(k))));
    press(mine);
    parent.append(...buttons);
  },

  number(parent, {low, high, words}, {mine, heard, isOpen}) {
    const output = tag("output", mine ?? short((low + high) / 2), {class: "number"});
    const slider = tag("input", "", {type: "range", min: low, max: high, step: (high - low) / 100, "aria-label": words, ...(isOpen ? {} : {disabled: ""})});
    slider.value = output.textContent;
    slider.oninput = () => { output.textContent = short(slider.valueAsNumber); heard(output.textContent); };
    parent.append(output, slider);
    heard(output.textContent);
  },

  curve(parent, question, {mine, heard, isOpen}) {
    const middle = question.shares.map(() => (question.low + question.high) / 2);
    const pad = new CurvePad(parent, question, mine ? values(mine) : middle, drawn => heard(drawn.map(short).join("~")));
    if (mine) heard(mine);
    if (!isOpen) return pad.end();
    parent.append(tag("p", "Draw with a finger. On a keyboard, press Tab to reach a point, and move it with the arrow keys.", {class: "key"}));
  },

  map(parent, question, {mine, heard, isOpen, points}) {
    const count = tag("p", "", {role: "status", class: "key"});
    const said = chosen => {
      count.textContent = `${chosen.length} of ${question.number} chosen. Tap a point again to take it back.`;
      heard(chosen.length === question.number ? chosen.flatMap(k => points[k]).map(value => value.toFixed(3)).join("~") : null);
    };
    const pad = new MapPad(parent, question, points, mine ? pairsIn(mine) : [], said);
    if (!isOpen) return pad.end();
    parent.append(count);
    said(pad.chosen);
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
