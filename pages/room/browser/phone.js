// The page on which a class answers: the room's question, and after the reveal the answers of all and whether the own one was right.
import {CurvePad} from "./curve_pad.js";
import {MapPad, nearest} from "./map_pad.js";
import {Kept, Sending} from "./sending.js";
import {LETTERS, bars, values, verdict} from "./verdict.js";

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
const tally = () => state.isRevealed ? state.tallies[state.tallies.length - 1] : null;

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
  if (state.isRevealed) drawBars();
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
  if (state.isRevealed) drawBars();
}

function curve(parent, question) {
  const mine = lastOwn(), middle = question.shares.map(() => (question.low + question.high) / 2);
  let drawn = mine ? values(mine) : null;
  const pad = new CurvePad(parent, question, drawn ?? middle, made => { drawn = made; button.disabled = !state.isOpen; });
  const button = sender(parent, () => answer(drawn.map(value => Number(value.toPrecision(3))).join("~")), !drawn);
  if (state.isOpen) parent.append(make("p", "Draw with a finger. On a keyboard, press Tab to reach a point, and move it with the arrow keys.", {class: "key"}));
  else if (!state.isRevealed) pad.end();
  if (!state.isRevealed) return;
  pad.reveal(tally(), state.result?.value, mine !== null);
  const said = [mine && "thick coloured line: your curve", tally().n && "dotted: the median of the class; band: eight of ten curves",
    state.result?.value && "black or white line: the run"];
  parent.append(make("p", `${said.filter(Boolean).join("; ")}.`, {class: "key"}));
}

function map(parent, question) {
  const points = state.picture.points ?? [], mine = lastOwn();
  const pairs = mine ? values(mine).reduce((found, value, k) => k % 2 ? [...found.slice(0, -1), [found.at(-1)[0], value]] : [...found, [value]], []) : [];
  let chosen = pairs.map(pair => nearest(points, pair)).filter(k => k !== null);
  const count = make("p", "", {role: "status", class: "key"});
  const heard = now => {
    chosen = now;
    count.textContent = `${chosen.length} of ${question.number} chosen. Tap a point again to take it back.`;
    button.disabled = chosen.length !== question.number || !state.isOpen;
  };
  const pad = new MapPad(parent, question, points, chosen, now => heard(now));
  const button = sender(parent, () => answer(chosen.flatMap(k => points[k]).map(value => value.toFixed(3)).join("~")), true);
  if (state.isOpen) { parent.append(count); heard(chosen); } else pad.end();
  if (!state.isRevealed) return;
  pad.reveal(tally());
  parent.append(make("p", "The stronger the colour of a square, the more often the class chose it. Rings: your points.", {class: "key"}));
}

function sender(parent, send, isOff = false) {
  const button = make("button", "Send", {type: "button", class: "main"});
  button.disabled = isOff;
  button.onclick = send;
  if (state.isOpen) parent.append(button);
  return button;
}

function drawBars() {
  const box = make("div", "", {class: "bars", role: "list", "aria-label": "Answers of the class"});
  const last = state.tallies.length - 1;
  for (const row of bars(state.question, state.tallies)) row.rounds.forEach(({number, share}, k) => {
    const bar = make("i", "", {"aria-hidden": "true", class: k < last ? "earlier" : ""}), fill = make("u", "");
    fill.style.width = `${Math.round(100 * share)}%`;
    bar.append(fill);
    box.append(make("b", last && k < last ? `${row.name}, first` : row.name, {role: "listitem", "aria-label": `${row.name}, round ${k + 1}: ${number}`}), bar, make("span", String(number)));
  });
  byId("all").append(box);
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
