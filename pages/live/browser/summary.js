// The words and numbers of a run above its charts: status, scrubber, trouble, tiles and gauges.
import {explain, maker, opener} from "../../charts/browser/head.js";

const MARKS = {unknown: "…", good: "✓", open: "↗", limits: "▲"};
let count = 0;  // for the names of explanations

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

/** Return a list of elements, made by `create`, that has one for each item. */
function sized(parent, items, create) {
  while (parent.children.length > items.length) parent.lastChild.remove();
  while (parent.children.length < items.length) parent.append(create());
  return [...parent.children];
}

// --- tiles

function tile(tip) {
  const label = make("span", "label"), help = make("button", "help", "?"), value = make("div", "value"), note = make("span", "note"), more = make("div", "more");
  const root = make("div", "tile", make("div", "name", label, help), make("div", "number", value, note), more);
  explain({tip}, help, () => root.help);
  root.fill = said => {
    root.help = said.help;
    write(label, said.label);
    help.setAttribute("aria-label", "Help for " + said.label.split(",")[0]);
    write(value, said.value);
    write(note, said.note);
    note.hidden = !said.note;
    write(more, said.more);
    note.dataset.tone = said.tone;
  };
  return root;
}

// --- gauges

function remedyButton(press) {
  const button = make("button", "remedy");
  button.addEventListener("click", () => press(button.gauge));
  button.fill = ({name, remedy, sentence}) => {
    button.gauge = name;
    write(button, remedy);
    button.title = sentence;
    button.hidden = !remedy;
  };
  return button;
}

/** Return a gauge: a button with its light and value, which opens its sentence and its remedy. */
function gauge(press) {
  const mark = make("span", "mark"), words = make("span", "words"), button = make("button", "reading", mark, " ", words);
  const state = make("strong", "state"), sentence = make("span", "sentence"), remedy = remedyButton(press);
  const popup = make("div", "popup", state, " ", sentence, remedy), root = make("div", "gauge", button, popup);
  popup.id = "live-gauge-" + count++;
  button.setAttribute("aria-controls", popup.id);
  opener(root, button, popup);
  root.fill = said => {
    root.dataset.gauge = said.name;
    mark.dataset.light = said.light;
    write(mark, MARKS[said.light]);
    write(words, `${said.name} ${said.value}`);
    write(state, `${said.name}: ${said.state}.`);
    write(sentence, said.sentence);
    remedy.fill(said);
  };
  return root;
}

function fillGauges({gauges: list, said, remedy, press}, {gauges, leading, is_urgent: isUrgent, said: sentence}) {
  sized(list, gauges, () => gauge(press)).forEach((one, number) => one.fill(gauges[number]));
  write(said, sentence);
  const first = gauges.find(({name}) => name === leading) ?? {name: "", remedy: "", sentence: ""};
  remedy.fill(first);
  remedy.classList.toggle("live-primary", isUrgent);
}

// --- the whole

/** Create the head inside `parent`; `press` has a function for each thing that the reader can do. */
export function createSummary(parent, press) {
  const tip = make("div", "tip"), light = make("i", "light"), position = make("span", "position");
  tip.id = "live-tip-" + count++;
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  const status = make("p", "status", light, position);
  const watch = make("button", "watch"), slider = make("input", "slider"), step = make("output", "step");
  const scrubber = make("div", "scrubber", watch, slider, step);
  Object.assign(slider, {type: "range", min: 1, step: 1});
  slider.setAttribute("aria-label", "Shown step");
  watch.addEventListener("click", press.watch);
  slider.addEventListener("input", () => { write(step, slider.value); press.look(slider.value); });
  const words = make("span", "warning"), smaller = make("button", "smaller");
  smaller.addEventListener("click", () => press.remedy("Step"));
  const trouble = make("div", "trouble", words, smaller);
  trouble.setAttribute("role", "alert");
  const tiles = make("div", "tiles"), list = make("div", "list"), said = make("span", "said"), remedy = remedyButton(press.remedy);
  const gauges = make("div", "gauges", list, said, remedy);
  const root = make("div", "head", make("div", "line", status, trouble, scrubber), tip, tiles, gauges);
  parent.append(root);

  return {
    root,
    fill(head) {
      fill(status, head.status, ({text, light: tone, help}) => {
        write(position, text);
        status.title = help;
        light.dataset.tone = tone;
      });
      fill(trouble, head.trouble, ({text, help, remedy: change}) => {
        write(words, text);
        trouble.title = help;
        write(smaller, change);
        smaller.hidden = !change;
      });
      fill(scrubber, head.scrubber, ({last, shown, is_moving: isMoving, help}) => {
        Object.assign(slider, {max: last, title: help});
        if (document.activeElement !== slider || isMoving) slider.value = shown;
        write(step, String(shown));
        write(watch, isMoving ? "Stop" : "Watch again");
      });
      fill(tiles, head.tiles, all => sized(tiles, all, () => tile(tip)).forEach((one, number) => one.fill(all[number])));
      fill(gauges, head.gauges, found => fillGauges({gauges: list, said, remedy, press: press.remedy}, found));
    },
    /** Show beside the step why the run does not continue. */
    complain(why, wait) {
      const at = /^step \d+ of \d+/.exec(position.textContent)?.[0];
      if (at) write(position, `${at} · ${why}; next try in ${Math.ceil(wait / 1000)} s`);
    },
  };
}
