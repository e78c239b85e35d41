// The page on which a class answers: the room's question, and after the reveal the answers of all and whether the own one was right.
import {element} from "../../charts/browser/curve_pad.js";
import {Answers} from "./answers.js";
import {inputs, pairsIn, values, verdict} from "./question.js";

const byId = id => document.getElementById(id);
const code = location.pathname.split("/").pop().toUpperCase().replace(/[^0-9A-Z]/g, "").slice(0, 8);
const AGAIN = 1200, SLOWER = 5000, LONGEST = 40_000, SAVED = "Your answer is saved.", OFFLINE = "No connection. Trying again …";
let state = null, shown = "", endsAt = NaN, looking = null;

const rest = milliseconds => new Promise(done => setTimeout(done, milliseconds * (0.6 + 0.8 * Math.random())));
const say = text => { if (byId("said").textContent !== text) byId("said").textContent = text; };

const answers = new Answers(() => localStorage, code, {
  now: () => Date.now(),
  post: body => fetch("room/answer", {method: "POST", body, signal: AbortSignal.timeout?.(10_000)}),
  pause: tries => rest(Math.min(SLOWER, AGAIN * (1 + tries / 4))),
  failed: () => say("Not sent yet. Trying again …"),
  done: (_guess, why) => say(why || `${SAVED} You can change it while the question is open.`),
});

/** The own guess in this round; the last one is that of the round before, if there is none in this one. */
const current = () => answers.of(state.name, state.round);
const last = () => current() ?? answers.of(state.name, state.round - 1);

// --- the question

function draw() {
  const {name, round, isOpen, isRevealed, question, result} = state;
  const now = JSON.stringify([name, round, isOpen, isRevealed, result]);
  byId("code").textContent = `Room ${code.slice(0, 4)} ${code.slice(4)}${round > 1 ? `, round ${round}` : ""}`;
  if (now === shown) return;
  shown = now;
  byId("title").textContent = question?.text ?? "Wait for the question";
  for (const id of ["verdict", "asked", "all"]) byId(id).replaceChildren();
  const [headline, reason] = isRevealed ? verdict(question, last(), result) : ["", ""];
  if (headline) element("b", {}, byId("verdict"), headline);
  byId("verdict").append(reason);
  if (question) pose(byId("asked"), question);
  if (isRevealed) drawAll(state);
  say(!question ? "The question appears here by itself." : isRevealed && !isOpen ? "" : standing());
}

/** Say how it stands with the own answer before the reveal. */
function standing() {
  if (!state.isOpen) return `${current() === null ? "The time for answers is over." : SAVED} Look at the screen.`;
  if (current() !== null) return `${SAVED} You can change it while the question is open.`;
  return state.round > 1 ? "Talk to your neighbour, then answer again." : "";
}

/** Draw the inputs of a question. A choice is sent at once, and other answers with a button. */
function pose(parent, {kind, ...question}) {
  const {name, round, isOpen, isRevealed, picture} = state, isChoice = kind === "pick";
  if (isRevealed && (kind === "curve" || kind === "map")) return;  // it is in the drawing of all
  const send = Object.assign(document.createElement("button"), {textContent: "Send", className: "main", disabled: true});
  const answer = guess => { say("Sending …"); answers.put(name, round, guess); };
  const heard = guess => { send.disabled = guess === null; send.onclick = () => answer(guess); if (isChoice) answer(guess); };
  inputs[kind](parent, question, {heard, isOpen, mine: isChoice && isOpen ? current() : last(), points: picture.points ?? []});
  if (isOpen && !isChoice) parent.append(send);
}

/** Show the answers of all as the lecturer's page shows them, and in them the own curve or points. */
function drawAll({question, drawing}) {
  byId("all").innerHTML = drawing;  // made by the server; all text in it is escaped
  const svg = [...byId("all").querySelectorAll("svg")].at(-1), mine = last(), isMap = question.kind === "map";
  if (!svg || !mine) return;
  const [left, right, top, bottom] = svg.dataset.box.split(" ").map(Number), {low, high, shares} = question;
  const at = ([x, y]) => [left + x * (right - left), bottom + y * (top - bottom)];
  if (isMap) for (const [cx, cy] of pairsIn(mine).map(at)) element("circle", {class: "own", r: 9, cx, cy}, svg);
  else element("polyline", {class: "own", points: values(mine).map((value, k) => at([shares[k], (value - low) / (high - low)])).join(" ")}, svg);
  element("p", {class: "key"}, byId("all"), isMap ? "Rings: your points." : "Thick coloured line: your curve.");
}

// --- the news of the room

async function look() {
  for (;;) {
    looking = new AbortController();
    const limit = setTimeout(() => looking.abort(), LONGEST);
    try {
      const given = new URLSearchParams({code, since: state?.version ?? ""});
      const reply = await fetch(`room/asked?${given}`, {signal: looking.signal});
      if (reply.status === 404) return gone();
      if (reply.status === 200) take(await reply.json());
      else if (reply.status !== 204) { say((await reply.json()).why ?? "Trying again …"); await rest(SLOWER); }
      else if (byId("said").textContent === OFFLINE) { shown = ""; draw(); }
    } catch { if (!looking.isOurs) { say(OFFLINE); await rest(AGAIN); } }
    clearTimeout(limit);
  }
}

function take(news) {
  state = news;
  endsAt = news.isOpen ? performance.now() + 1000 * news.left : NaN;  // NaN without a timer
  draw();
  tick();
}

function tick() {
  const left = Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
  byId("time").textContent = isNaN(left) || !state ? "" : `${left} s`;
}
setInterval(tick, 500);

// A phone that wakes up, or finds its network again, asks at once.
function ask() { if (looking) { looking.isOurs = true; looking.abort(); } answers.send(); }
addEventListener("online", ask);
document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });

function gone() {
  const wasIn = state !== null;
  state = null;  // nothing counts on
  for (const id of ["verdict", "asked", "all", "code", "time"]) byId(id).replaceChildren();
  enter(wasIn ? "This room is closed. Thank you." : "There is no such room. Look at the code again.");
}

function enter(title) {
  byId("title").textContent = title;
  say("");
  const form = byId("enter");
  form.hidden = false;
  form.onsubmit = event => { event.preventDefault(); location.href = encodeURIComponent(form.code.value.replace(/\s/g, "").toUpperCase() || "-"); };
}

if (code) { byId("title").textContent = "Entering …"; look(); answers.send(); } else enter("Which room?");
