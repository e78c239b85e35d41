// The head of the live view as a component: it takes snapshots, asks for ticks, and draws a run's step and what limits it.
import {maker, opener} from "../../charts/browser/head.js";
import {Feed, trouble} from "./feed.js";
import {read, shown} from "./shown.js";

let count = 0;  // for the names of popups

const make = maker("live-");

/** Write a text if it has changed: an unchanged node keeps the reader's selection. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Show an element, and fill it, if there is something to show. */
function fill(element, said, work) {
  element.hidden = !said;
  if (said) work(said);
}

// --- what limits the run

/** Return the part with the one sentence, its remedy, and a button that opens the figures behind it. */
function judgement(press) {
  const said = make("span", "said"), remedy = make("button", "remedy"), why = make("button", "why", "Why?"), reason = make("dl", "popup");
  const root = make("div", "judgement", said, make("span", "answers", remedy, why), reason);
  reason.id = "live-reason-" + count++;
  why.setAttribute("aria-controls", reason.id);
  opener(root, why, reason);
  remedy.addEventListener("click", press);
  root.fill = ({said: sentence, remedy: change, reason: figures, tone}) => {
    write(said, sentence);
    root.dataset.tone = tone;
    write(remedy, change);
    remedy.hidden = !change;
    why.hidden = !figures.length;
    const now = JSON.stringify(figures);
    if (now === root.figures) return;
    root.figures = now;
    reason.replaceChildren(...figures.flatMap(({cause, value, sentence: meaning}) =>
      [make("dt", "cause", `${cause} ${value}`), make("dd", "meaning", meaning)]));
  };
  return root;
}

// --- the whole

/** Create the head inside `parent`; `press` has a function for each thing that the reader can do. */
function createSummary(parent, press) {
  const light = make("i", "light"), position = make("span", "position"), status = make("p", "status", light, position);
  const watch = make("button", "watch"), slider = make("input", "slider"), step = make("output", "step");
  const scrubber = make("div", "scrubber", watch, slider, step);
  Object.assign(slider, {type: "range", min: 1, step: 1});
  slider.setAttribute("aria-label", "Shown step");
  watch.addEventListener("click", press.watch);
  slider.addEventListener("input", () => { write(step, slider.value); press.look(slider.value); });
  const limits = judgement(press.remedy), root = make("div", "head", make("div", "line", status, scrubber), limits);
  parent.append(root);

  return {
    root,
    fill(head) {
      // A screen reader says how a run has ended and what limits it, and not each step.
      for (const said of [status, limits]) said.ariaLive = head.isOver ? "polite" : "off";
      fill(status, head.status, ({text, light: tone, help}) => {
        write(position, text);
        status.title = help;
        light.dataset.tone = tone;
      });
      fill(scrubber, head.scrubber, ({last, shown, is_moving: isMoving, help}) => {
        Object.assign(slider, {max: last, title: help});
        if (document.activeElement !== slider || isMoving) slider.value = shown;
        write(step, String(shown));
        write(watch, isMoving ? "Stop" : "Watch again");
      });
      fill(limits, head.judgement, limits.fill);
    },
    /** Show beside the step why the run does not continue. */
    complain(why, wait) {
      const at = /^step \d+ of \d+/.exec(position.textContent)?.[0];
      if (at) write(position, `${at} · ${why}; next try in ${Math.ceil(wait / 1000)} s`);
    },
  };
}

const LONGEST_ANSWER = 30000;  // milliseconds
const heads = new WeakMap();   // the component's element -> its head

const AGAIN = 50;              // milliseconds
const APP = "[data-test-script-state]";

/** Return true while the script draws the page, as far as the browser knows. */
const isDrawing = () => document.querySelector(APP)?.dataset.testScriptState === "running";

const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

/** Ask the server at an address relative to the page; return the answer's text. */
async function asked(address, body) {
  const request = {method: "POST", body, signal: AbortSignal.timeout?.(LONGEST_ANSWER)};
  const answer = await fetch(new URL(address, document.baseURI), request)
    .catch(() => { throw trouble("the server cannot be reached"); });
  if (!answer.ok) throw trouble(`the server answered with error ${answer.status}`);
  return answer.text().catch(() => { throw trouble("the connection was lost"); });
}

function create(root) {
  // A request to draw the page is a state: as a trigger it would replace a press on the remedy that the server has not answered.
  const head = shown.keeper = {triggers: () => {}, state: () => {}};
  const page = () => window.dsgLab ?? {};
  const trigger = name => value => head.triggers(name, value);
  const feed = head.feed = new Feed({
    pause,
    ask: body => asked(head.address, body),
    take: (said, figures) => shown.take(said, figures),
    redraw: async () => {
      // What a click has asked for goes first: a request sends the values as shown now. So does the way to another page, which
      // the reader may give up.
      while (isDrawing() || page().isLeaving?.()) await pause(AGAIN);
      (page().ask ?? ((_, work) => work()))(shown.page, () => head.state("redraw", Date.now()));
    },
    complain: (why, wait) => summary.complain(why, wait),
    reload: () => { if (location.pathname.endsWith("/" + shown.page)) location.reload(); },
    isSeen: () => !document.hidden && (shown.seen.size || !shown.places.length),
    isThere: () => root.isConnected,
  });
  const summary = createSummary(root, {
    watch: () => feed.want("watch"),
    look: t => feed.want("look " + t),
    remedy: () => trigger("remedy")(true),
  });
  head.look = () => feed.go();
  document.addEventListener("visibilitychange", head.look);
  const stop = shown.on(({head: said}) => {
    summary.fill(said);
    if (said.kept && !page().isLeaving?.()) page().keep?.(said.page, said.kept);
    feed.go();
  });
  head.end = () => {
    document.removeEventListener("visibilitychange", head.look);
    stop();
    feed.token = "";
    shown.leave(head);
  };
  return head;
}

export default function ({data, parentElement, setStateValue, setTriggerValue}) {
  let head = heads.get(parentElement);
  if (!head) heads.set(parentElement, head = create(parentElement));
  const {said, figures} = read(new TextDecoder().decode(data));
  Object.assign(head, {triggers: setTriggerValue, state: setStateValue});
  head.address = said.address;
  if (shown.take(said, figures)) head.feed.follow(said);
  return () => {  // also called for an update that a later one has replaced
    if (parentElement.isConnected) return;
    heads.delete(parentElement);
    head.end();
  };
}
