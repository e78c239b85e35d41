// The page on which a class answers: the room's question, and after the reveal the answers of all and whether the own one was right.
import {CurvePad} from "../../charts/browser/curve_pad.js";
import {element} from "../../charts/browser/drawing.js";
import {MapPad, nearest} from "./map_pad.js";
import {Kept, Sending} from "./sending.js";
import {LETTERS, values, verdict} from "./verdict.js";

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

function make(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
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
  if (question) ({pick, number, curve, map})[question.kind](byId("asked"), question);
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
  byId("verdict").replaceChildren(...(headline ? [make("b", headline)] : []), reason);
}

const lastOwn = () => current() ?? (state.round > 1 ? own(state.round - 1) : null);

function pick(parent, question) {
  const buttons = question.options.map((words, k) => {
    const button = make("button", "", {type: "button", ...(state.isOpen ? {} : {disabled: ""})});
    button.append(make("b", LETTERS[k]), ` ${words}`);
    button.onclick = () => { answer(String(k)); press(); };
    return button;
  });
  const press = () => buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(lastShown() === String(k))));
  press();
  parent.append(...buttons);
}

const lastShown = () => state.isOpen ? current() : lastOwn();

function number(parent, question) {
  const mine = lastOwn(), middle = (question.low + question.high) / 2;
  const output = make("output", mine ?? String(middle), {class: "number"});
  const slider = make("input", "", {type: "range", min: question.low, max: question.high, step: (question.high - question.low) / 100,
    "aria-label": question.words, ...(state.isOpen ? {} : {disabled: ""})});
  slider.value = mine ?? middle;
  slider.oninput = () => { output.textContent = String(Number(Number(slider.value).toPrecision(3))); };
  parent.append(output, slider);
  sender(parent, () => answer(output.textContent));
}

function curve(parent, question) {
  if (state.isRevealed) return;
  const mine = lastOwn(), middle = question.shares.map(() => (question.low + question.high) / 2);
  let drawn = mine ? values(mine) : null;
  const pad = new CurvePad(parent, question, drawn ?? middle, made => { drawn = made; button.disabled = !state.isOpen; });
  const button = sender(parent, () => answer(drawn.map(value => Number(value.toPrecision(3))).join("~")), !drawn);
  if (state.isOpen) parent.append(make("p", "Draw with a finger. On a keyboard, press Tab to reach a point, and move it with the arrow keys.", {class: "key"}));
  else pad.end();
}

const pairsIn = guess => values(guess).reduce((found, value, k, all) => k % 2 ? [...found, [all[k - 1], value]] : found, []);

function map(parent, question) {
  if (state.isRevealed) return;
  const points = state.picture.points ?? [], mine = lastOwn();
  let chosen = (mine ? pairsIn(mine) : []).map(pair => nearest(points, pair)).filter(k => k !== null);
  const count = make("p", "", {role: "status", class: "key"});
  const heard = now => {
    chosen = now;
    count.textContent = `${chosen.length} of ${question.number} chosen. Tap a point again to take it back.`;
    button.disabled = chosen.length !== question.number || !state.isOpen;
  };
  const pad = new MapPad(parent, question, points, chosen, now => heard(now));
  const button = sender(parent, () => answer(chosen.flatMap(k => points[k]).map(value => value.toFixed(3)).join("~")), true);
  if (state.isOpen) { parent.append(count); heard(chosen); } else pad.end();
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
  byId("all").append(make("p", question.kind === "map" ? "Rings: your points." : "Thick coloured line: your curve.", {class: "key"}));
}

function sender(parent, send, isOff = false) {
  const button = make("button", "Send", {type: "button", class: "main"});
  button.disabled = isOff;
  button.onclick = send;
  if (state.isOpen) parent.append(button);
  return button;
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
  const form = make("form", ""), label = make("label", "The room's code");
  const input = make("input", "", {name: "code", maxlength: "6", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", required: ""});
  label.append(input);
  form.append(label, make("button", "Enter", {class: "main"}));
  form.onsubmit = event => { event.preventDefault(); location.href = encodeURIComponent(input.value.trim().toUpperCase() || "-"); };
  byId("asked").replaceChildren(form);
}

if (code) { byId("title").textContent = "Entering …"; look(); sending.send(); } else enter("Which room?");
