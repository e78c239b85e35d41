// One screen of "How it works": sentences, charts that follow a slider, and the way to the next screen.
import {createChart} from "../../charts/browser/chart.js";
import {maker} from "../../charts/browser/head.js";

const OFF = ["both", "waves", "points", ""];  // in the link, by the switches that are on: 1 points, 2 waves
const LARGEST = 127;                          // size of a packed value
const screens = new WeakMap();                // the component's element -> its screen
const make = maker("how-");

/** Return the numbers of a text of signed bytes, in rows of a width if there is one. */
export function unpacked({packed, width}) {
  const values = Array.from(atob(packed), letter => Number(((letter.charCodeAt(0) << 24 >> 24) / LARGEST).toFixed(3)));
  return width ? Array.from({length: values.length / width}, (_, row) => values.slice(row * width, (row + 1) * width)) : values;
}

/** Return a chart's figure at one of its frames, which replaces parts of its traces. */
export const figureAt = ({figure: {data, layout}, frames}, frame) =>
  JSON.stringify({data: data.map((trace, i) => ({...trace, ...frames[frame][i]})), layout});

function decoded(bytes) {
  const [around, text] = new TextDecoder().decode(bytes).split("\n");
  return {...JSON.parse(around), screen: JSON.parse(text, (_, value) => value?.packed ? unpacked(value) : value), text};
}

/** Draw the names of the screen's place: "Back", the number, and "Next", after the last screen "Try a lesson". */
function createWay({place: {screen: number}, n}, turn) {
  const button = (text, to, name) => {
    const one = make("button", name, text);
    one.disabled = to < 1;
    one.addEventListener("click", () => turn(to));
    return one;
  };
  const way = make("nav", "way", button("Back", number - 1, "back"), `${number} of ${n}`,
    button(number < n ? "Next" : "Try a lesson", number + 1, "next"));
  way.setAttribute("aria-label", "Screens");
  return way;
}

function createSwitch(text, isOn, change) {
  const box = make("input", "box");
  Object.assign(box, {type: "checkbox", checked: isOn});
  box.addEventListener("change", () => change(box.checked));
  return make("label", "switch", box, text);
}

function createSlider({drag, stops, mark}, at) {
  const slider = make("input", "stops"), track = make("span", "track", slider);
  Object.assign(slider, {type: "range", min: 1, max: stops.length, step: 1, value: at});
  if (mark) {
    const sign = make("span", "mark", "▲ " + mark.name);
    sign.style.setProperty("--at", mark.x / (stops.length - 1));
    track.append(sign);
  }
  return {label: make("label", "slider", drag, track), slider};
}

function create(data, turn) {
  const {screen, place, page, library} = data, n = screen.stops.length;
  const state = {at: Math.min(place.at || screen.start + 1, n), on: place.on};
  const panels = make("div", "panels"), title = make("h2", "title", screen.title), said = make("output", "said");
  title.tabIndex = -1;
  panels.dataset.n = screen.panels.length;
  const charts = screen.panels.map(panel => {
    const box = make("div", "panel");
    panels.append(box);
    return createChart(box, {library, isPlain: true, save: panel.figure.layout.title.text});
  });
  const {label, slider} = createSlider(screen, state.at);
  const draw = () => {
    const stop = state.at - 1, frame = stop + (screen.switches.length ? state.on * n : 0), text = screen.stops[stop];
    screen.panels.forEach((panel, i) =>
      charts[i].show({figure: figureAt(panel, frame), alt: `${panel.figure.layout.title.text}: ${text}`}));
    said.textContent = text;
    slider.setAttribute("aria-valuetext", text);
  };
  const keep = () => window.dsgLab?.keep?.(page, {screen: String(place.screen), at: String(state.at), off: OFF[state.on]});
  slider.addEventListener("input", () => {
    state.at = Number(slider.value);
    draw();
  });
  slider.addEventListener("change", keep);
  const switches = screen.switches.map((name, i) => createSwitch(name, Boolean(state.on & 1 << i), isOn => {
    state.on = isOn ? state.on | 1 << i : state.on & ~(1 << i);
    draw();
    keep();
  }));
  const section = make("section", "screen", title, make("p", "text", screen.text), panels,
    make("div", "drag", label, ...switches, said), createWay(data, turn));
  return {section, draw, keep, title, text: data.text, end() { for (const chart of charts) chart.remove(); }};
}

export default function ({data: bytes, parentElement, setTriggerValue}) {
  const data = decoded(bytes), before = screens.get(parentElement);
  if (before?.text === data.text) return;
  const now = create(data, to => setTriggerValue("turned", to));
  screens.set(parentElement, now);
  // Beside it is the component's style.
  if (before) before.section.replaceWith(now.section);
  else parentElement.append(now.section);
  before?.end();
  now.draw();
  if (!before) return;
  now.keep();
  now.title.focus();  // so that a screen reader goes on there
}
