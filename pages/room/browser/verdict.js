// What a phone says of its owner's answer after the reveal. Used by phone.js.
export const LETTERS = "ABCDEFGH";

/** Return the values of an answer as it is sent: numbers between "~". */
export const values = guess => guess.split("~").map(Number);

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
  const answer = `The answer: ${question.kind === "pick" && Number.isInteger(result.right) ? `${LETTERS[result.right]}. ` : ""}${result.answer}`;
  const headline = right === null ? "" : right ? "✓ Right." : "✗ Not this time.";
  return [headline, `${right === true && question.kind === "pick" ? "" : `${ended(answer)} `}${result.why}`];
}

const ended = text => /[.?!]$/.test(text) ? text : `${text}.`;
