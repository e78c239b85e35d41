// One screen of "How it works": sentences, panels that follow a slider, and the way to the next screen.
import {createPanel, make} from "./panels.js";

const OFF = ["both", "waves", "points", ""];  // in the link, by the switches that are on: 1 points, 2 waves
const screens = new WeakMap();                // the component's element -> its screen

function decoded(bytes) {
  const [around, screen] = new TextDecoder().decode(bytes).split("\n");
  return {...JSON.parse(around), screen: JSON.parse(screen), text: screen};
}

/** Draw the names of the screen's place: "Back", the number, and "Next", after the last screen "Try a lesson". */
function createWay(data, turn) {
  const {place: {screen: number}, n} = data, way = make("nav", "how-way");
  way.setAttribute("aria-label", "Screens");
  const button = (text, to, name) => {
    const made = make("button", name, text);
    made.type = "button";
    made.disabled = to < 1;
    made.addEventListener("click", () => turn(to));
    return made;
  };
  way.append(button("Back", number - 1, ""), make("span", "", `${number} of ${n}`), button(number < n ? "Next" : "Try a lesson", number + 1, "how-next"));
  return way;
}

function createSwitch(text, isOn, change) {
  const label = make("label", "how-switch"), box = make("input");
  Object.assign(box, {type: "checkbox", checked: isOn});
  box.addEventListener("change", () => change(box.checked));
  label.append(box, text);
  return label;
}

function createSlider({drag, stops, mark}, at) {
  const label = make("label", "how-slider"), slider = make("input"), track = make("span", "how-track");
  Object.assign(slider, {type: "range", min: 1, max: stops.length, step: 1, value: at});
  track.append(slider);
  if (mark) {
    const sign = make("span", "how-mark", "▲ " + mark.name);
    sign.style.setProperty("--at", mark.x / (stops.length - 1));
    track.append(sign);
  }
  label.append(make("span", "", drag), track);
  return {label, slider};
}

function create(data, turn) {
  const {screen, place, page} = data, state = {at: place.at || screen.start + 1, on: place.on};
  state.at = Math.min(state.at, screen.stops.length);
  const nFrames = screen.stops.length * (screen.switches.length ? 4 : 1);
  const section = make("section", "how"), panels = make("div", "how-panels"), drag = make("div", "how-drag");
  const title = make("h2", "", screen.title), said = make("output", "how-said");
  title.tabIndex = -1;
  panels.dataset.n = screen.panels.length;
  panels.setAttribute("role", "img");
  const draws = screen.panels.map(panel => createPanel(panels, panel, nFrames));
  const {label, slider} = createSlider(screen, state.at);
  const draw = () => {
    const stop = state.at - 1, text = screen.stops[stop];
    for (const one of draws) one(stop + (screen.switches.length ? state.on * screen.stops.length : 0), stop);
    said.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    panels.setAttribute("aria-label", `${screen.panels.map(panel => panel.title).join("; ")}: ${text}`);
  };
  const keep = () => window.dsgLab?.keep?.(page, {screen: String(place.screen), at: String(state.at), off: OFF[state.on]});
  slider.addEventListener("input", () => {
    state.at = Number(slider.value);
    draw();
  });
  slider.addEventListener("change", keep);
  drag.append(label, ...screen.switches.map((name, i) => createSwitch(name, Boolean(state.on & 1 << i), isOn => {
    state.on = isOn ? state.on | 1 << i : state.on & ~(1 << i);
    draw();
    keep();
  })), said);
  section.append(title, make("p", "how-text", screen.text), panels, drag, createWay(data, turn));
  return {section, draw, keep, title, text: data.text};
}

export default function ({data: bytes, parentElement, setTriggerValue}) {
  const data = decoded(bytes), before = screens.get(parentElement);
  if (before?.text === data.text) return;
  const made = create(data, to => setTriggerValue("turned", to));
  screens.set(parentElement, made);
  // Beside it is the component's style.
  if (before) before.section.replaceWith(made.section);
  else parentElement.append(made.section);
  made.draw();
  if (!before) return;
  made.keep();
  made.title.focus();  // so that a screen reader goes on there
}
