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

/** Return the rows of bars: a name, and for each round a number and its share of all answers of that round. */
export function bars(question, tallies) {
  const names = question.kind === "pick" ? question.options.map((_, k) => LETTERS[k]) : binNames(question, tallies);
  return names.map((name, k) => ({name, rounds: tallies.map(tally => ({
    number: tally.counts[k], share: tally.n ? tally.counts[k] / tally.n : 0}))}));
}

function binNames(question, tallies) {
  const n = tallies[0]?.counts.length ?? 0, width = (question.high - question.low) / n;
  const said = value => Number(value.toPrecision(2)).toString();
  return Array.from({length: n}, (_, k) => `${said(question.low + k * width)} to ${said(question.low + (k + 1) * width)}`);
}
