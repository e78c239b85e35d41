// The page on which a class answers: the room's question, and after the reveal the answers of all and whether the own one was right.
import {element} from "../../charts/browser/drawing.js";
import {inputs, pairsIn, tag, values, verdict} from "./question.js";
import {Kept, Sending} from "./sending.js";

const byId = id => document.getElementById(id);
const code = location.pathname.split("/").pop().toUpperCase().replace(/[^0-9A-Z]/g, "").slice(0, 6);
const kept = new Kept((() => { try { return localStorage; } catch { return null; } })());
const AGAIN = 1200, SLOWER = 5000, LONGEST = 40_000;
let state = null, shown = "", endsAt = null, looking = null;

const rest = milliseconds => new Promise(done => setTimeout(done, milliseconds * (0.6 + 0.8 * Math.random())));
const say = text => { if (byId("said").textContent !== text) byId("said").textContent = text; };

function token() {
  let mine = kept.get("dsgLab.client");
  if (!mine) {
    mine = Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, "0")).join("");
    kept.set("dsgLab.client", mine);
  }
  return mine;
}

// --- the own answer

const place = (name, round) => `dsgLab.${code}.${name}.${round}`;
const own = round => kept.get(place(state.name, round)) || null;
const current = () => own(state.round);

const sending = new Sending(kept, {
  now: () => Date.now(),
  post: body => fetch("room/answer", {method: "POST", body, signal: AbortSignal.timeout?.(10_000)}),
  pause: tries => rest(Math.min(SLOWER, AGAIN * (1 + tries / 4))),
  failed: () => say("Not sent yet. Trying again …"),
  done: (answer, why) => {
    if (why) kept.set(place(answer.name, answer.round), "");
    say(why || "Your answer is saved. You can change it while the question is open.");
  },
});

function answer(guess) {
  kept.set(place(state.name, state.round), guess);
  say("Sending …");
  sending.put({code, entry: state.entry, client: token(), name: state.name, round: state.round, guess});
}

// --- the question

function draw() {
  const {name, round, isOpen, isRevealed, question, result} = state;
  const now = JSON.stringify([name, round, isOpen, isRevealed, result]);
  byId("code").textContent = `Room ${code}${round > 1 ? `, round ${round}` : ""}`;
  if (now === shown) return;
  shown = now;
  byId("title").textContent = question?.text ?? "Wait for the question";
  byId("asked").replaceChildren();
  byId("all").replaceChildren();
  tellVerdict();
  if (question) pose(byId("asked"), question);
  if (isRevealed) drawAll(state);
  say(!question ? "The question appears here by itself." : isOpen ? ifOpen() : isRevealed ? "" : ifClosed());
}

function ifOpen() {
  if (current() !== null) return "Your answer is saved. You can change it while the question is open.";
  return state.round > 1 ? "Talk to your neighbour, then answer again." : "";
}

const ifClosed = () => current() === null ? "The time for answers is over. Look at the screen." : "Your answer is saved. Look at the screen.";

/** Say whether the last answer was right; if there was none in this round, that of the round before counts. */
function tellVerdict() {
  const [headline, reason] = state.isRevealed ? verdict(state.question, lastOwn(), state.result) : ["", ""];
  byId("verdict").replaceChildren(...(headline ? [tag("b", headline)] : []), reason);
}

const lastOwn = () => current() ?? (state.round > 1 ? own(state.round - 1) : null);

/** Draw the inputs of a question. A choice is sent at once, and other answers with a button. */
function pose(parent, {kind, ...question}) {
  const {isOpen, isRevealed, picture} = state, isChoice = kind === "pick", send = tag("button", "Send", {type: "button", class: "main", disabled: ""});
  if (isRevealed && (kind === "curve" || kind === "map")) return;  // it is in the drawing of all
  let guess = null;
  send.onclick = () => answer(guess);
  const heard = now => { guess = now; send.disabled = now === null; if (isChoice) answer(now); };
  inputs[kind](parent, question, {heard, isOpen, mine: isChoice && isOpen ? current() : lastOwn(), points: picture.points ?? []});
  if (isOpen && !isChoice) parent.append(send);
}

/** Show the answers of all as the lecturer's page shows them, and in them the own curve or points. */
function drawAll({question, drawing}) {
  byId("all").innerHTML = drawing;  // made by the server; all text in it is escaped
  const svg = [...byId("all").querySelectorAll("svg")].at(-1), mine = lastOwn();
  if (!svg || !mine) return;
  const [left, right, top, bottom] = svg.dataset.box.split(" ").map(Number);
  const at = ([x, y]) => [left + x * (right - left), bottom + y * (top - bottom)];
  if (question.kind === "map") for (const [cx, cy] of pairsIn(mine).map(at)) element("circle", {class: "own", r: 9, cx, cy}, svg);
  else element("polyline", {class: "own", points: values(mine).map((value, k) =>
    at([question.shares[k], (value - question.low) / (question.high - question.low)])).join(" ")}, svg);
  byId("all").append(tag("p", question.kind === "map" ? "Rings: your points." : "Thick coloured line: your curve.", {class: "key"}));
}

// --- the news of the room

async function look() {
  for (;;) {
    looking = new AbortController();
    const limit = setTimeout(() => looking.abort(), LONGEST);
    try {
      const given = new URLSearchParams({code, entry: kept.get(`dsgLab.entry.${code}`) ?? "", since: state?.version ?? ""});
      const reply = await fetch(`room/asked?${given}`, {signal: looking.signal});
      if (reply.status === 404) return gone();
      if (reply.status === 200) take(await reply.json());
      else if (reply.status !== 204) { say((await reply.json()).why ?? "Trying again …"); await rest(SLOWER); }
      else if (byId("said").textContent.startsWith("No connection")) { shown = ""; draw(); }
    } catch { if (!looking.isOurs) { say("No connection. Trying again …"); await rest(AGAIN); } }
    clearTimeout(limit);
  }
}

function take(news) {
  state = news;
  endsAt = news.left === undefined || !news.isOpen ? null : performance.now() + 1000 * news.left;
  kept.set(`dsgLab.entry.${code}`, news.entry);
  draw();
  tick();
}

function tick() {
  const left = endsAt === null ? null : Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
  byId("time").textContent = left === null ? "" : `${left} s`;
}
setInterval(tick, 500);

// A phone that wakes up, or finds its network again, asks at once.
function ask() { if (looking) { looking.isOurs = true; looking.abort(); } sending.send(); }
addEventListener("online", ask);
document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });

function gone() {
  const wasIn = state !== null;
  state = endsAt = null;  // nothing counts on
  for (const id of ["verdict", "all", "code", "time"]) byId(id).replaceChildren();
  enter(wasIn ? "This room is closed. Thank you." : "There is no such room. Look at the code again.");
}

function enter(title) {
  byId("title").textContent = title;
  say("");
  const form = tag("form", ""), label = tag("label", "The room's code");
  const input = tag("input", "", {name: "code", maxlength: "6", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", required: ""});
  label.append(input);
  form.append(label, tag("button", "Enter", {class: "main"}));
  form.onsubmit = event => { event.preventDefault(); location.href = encodeURIComponent(input.value.trim().toUpperCase() || "-"); };
  byId("asked").replaceChildren(form);
}

if (code) { byId("title").textContent = "Entering …"; look(); sending.send(); } else enter("Which room?");
