// The charts of the live view as a component: the map with its divider, the curves, and what is below them.
import {frameOf} from "./points.js";
import {createChart} from "../../charts/browser/chart.js";
import {createHand} from "./hand.js";
import {shown} from "./shown.js";

/** Return the rows of a map: the columns before `share` of them from `left`, the others from `right`. */
export function wiped(left, right, share) {
  const cut = Math.round(share * (right[0]?.length ?? 0));
  return right.map((row, number) => [...left[number].slice(0, cut), ...row.slice(cut)]);
}

/** Create the line over a chart's plot; `moved` is called after each move. */
function createWipe({root, node}, moved) {
  const line = document.createElement("input"), rule = document.createElement("div");
  const left = document.createElement("span"), right = document.createElement("span");
  Object.assign(line, {type: "range", min: 0, max: 100, step: 1, value: 50, className: "wipe-line"});
  rule.className = "wipe-rule";
  left.className = "wipe-left";
  right.className = "wipe-right";
  rule.append(left, right);
  root.append(rule, line);
  const wipe = {
    share: 0.5,
    /** Show the names of both sides, or hide the line. */
    show(said) {
      line.hidden = rule.hidden = !said;
      if (!said) return;
      [left.textContent, right.textContent] = [said.left, said.right];
      line.setAttribute("aria-label", `Line between ${said.left} and ${said.right}`);
      wipe.fit();
    },
    fit() {
      const at = frameOf(node, root);
      if (!at) return;
      for (const [name, share] of [[left, wipe.share], [right, 1 - wipe.share]]) {
        const room = share * at.width - 8;
        name.hidden = room < 24;
        name.style.maxWidth = `${Math.max(room, 0)}px`;
      }
      Object.assign(rule.style, {left: `${at.left + wipe.share * at.width}px`, top: `${at.top}px`, height: `${at.height}px`});
      Object.assign(line.style, {left: `${at.left - 8}px`, width: `${at.width + 16}px`, top: `${at.top + at.height - 24}px`});
    },
  };
  line.addEventListener("input", () => {
    wipe.share = Number(line.value) / 100;
    wipe.fit();
    moved();
  });
  wipe.show(null);
  return wipe;
}

const WORDS = {map: "Show the map", curves: "Show the chart"};

/** Create the button inside the root of the charts. `first` is the picture to begin with; a new `step` begins again. */
export function createSwitch(root, {first, step, canTurn}) {
  const button = document.createElement("button"), other = () => root.dataset.picture === "map" ? "curves" : "map";
  let shownStep = step, mayTurn = canTurn, pictures = new Set();
  button.className = "live-switch";
  button.type = "button";
  root.classList.add("live-lesson");
  root.append(button);
  const show = picture => {
    root.dataset.picture = picture;
    button.textContent = WORDS[other()];
  };
  /** Offer the button if there are two pictures: one alone needs none, and before the run the chart is empty. */
  const offer = () => { button.hidden = !mayTurn || pictures.size < 2; };
  button.addEventListener("click", () => show(other()));
  show(first);
  return {
    /** Take what the script says of the step. */
    update(lesson) {
      if (!lesson) return;
      mayTurn = lesson.canTurn;
      offer();
      if (lesson.step === shownStep) return;
      shownStep = lesson.step;
      show(lesson.first);
    },
    /** Take which pictures are there. */
    offer(places) {
      pictures = places;
      offer();
      if (places.size && !places.has(root.dataset.picture)) show([...places][0]);
    },
  };
}

const mounts = new WeakMap();  // the component's element -> its charts

const PHONE = 640;  // pixels
const MAP = "chart-map", HAND = "hand";

/** Return the map's own parts: the line between two maps, and the editor of its points. */
function createMap(chart, send) {
  let hand = null;
  const wipe = createWipe(chart, () => chart.again());
  return {
    /** Change a figure before it is drawn: mix both maps at the line, and leave out what a phone has no room for. */
    mix({data, layout}) {
      const said = layout.meta?.wipe;
      if (innerWidth <= PHONE) {
        Object.assign(data[0], {showscale: false});
        for (const axis of [layout.xaxis, layout.yaxis]) axis.title = {text: ""};
        Object.assign(layout.margin, {l: Math.min(layout.margin.l, 36), b: Math.min(layout.margin.b, 22)});
      }
      wipe.show(said);
      if (said) data[0].z = wiped(said.z, data[0].z, wipe.share);
    },
    fit() {
      wipe.fit();
      hand?.fit();
    },
    /** Show the points to edit, or close the editor. */
    edit(points) {
      if (points) (hand ??= createHand(chart, send)).show(points);
      else hand = hand?.end();
    },
  };
}

function create(parent, {library, lesson}) {
  const root = document.createElement("div"), charts = new Map(), own = {triggers: () => {}};
  root.className = "live-charts";
  for (const place of ["map", "curves", "below"]) {
    const part = document.createElement("div");
    part.dataset.place = place;
    root.append(part);
  }
  parent.append(root);
  const pictures = lesson ? createSwitch(root, lesson) : null;

  let isWatched = false, isEnded = false;
  /** Let the ticks begin with the first frame that shows a chart. A page is hidden until all of it is there. */
  const isDrawn = () => {
    if (!isWatched) watch();
    isWatched = true;
  };
  const watch = () => requestAnimationFrame(() => {
    if (isEnded) return;
    if (getComputedStyle(root).visibility !== "visible") return watch();
    shown.seen.add(own);
    for (const part of shown.parts) part(shown);
  });

  const add = ({key, place}) => {
    const box = document.createElement("div");
    box.id = key;
    root.querySelector(`[data-place="${place}"]`).append(box);
    const save = key.replace("chart-", ""), one = {box};
    const parts = key === MAP && {mix: figure => one.map.mix(figure), onDrawn() { one.map.fit(); isDrawn(); }};
    one.chart = createChart(box, {library, save, isPlain: Boolean(lesson), onDrawn: isDrawn, ...parts});
    if (key === MAP) {
      one.map = createMap(one.chart, edits => own.triggers("edit", edits));
      own.order = undefined;
    }
    charts.set(key, one);
  };

  const draw = ({places: all, figures}) => {
    const places = all.filter(({key}) => key !== HAND), canEdit = places.length < all.length;
    const keys = new Set(places.map(({key}) => key)), now = new Set(places.map(({place}) => place));
    for (const [key, {box, chart}] of charts) if (!keys.has(key)) {
      chart.remove();
      box.remove();
      charts.delete(key);
    }
    for (const one of places) if (!charts.has(one.key) && figures.has(one.key)) add(one);
    root.dataset.places = [...now].join(" ");
    root.toggleAttribute("data-edit", canEdit);
    pictures?.offer(now);
    for (const [key, one] of charts) {
      const {figure, alt, order} = figures.get(key);
      if (order === one.order) continue;
      one.order = order;
      one.chart.show({figure, alt});
    }
    edit(charts.get(MAP)?.map, canEdit ? figures.get(HAND) : null);
  };

  const edit = (map, points) => {
    if (!map || points?.order === own.order) return;
    own.order = points?.order;
    map.edit(points?.figure);
  };

  const stop = shown.on(draw);
  return {
    own,
    isOfALesson: Boolean(lesson),
    update: next => pictures?.update(next.lesson),
    end() {
      isEnded = true;
      stop();
      for (const {chart} of charts.values()) chart.remove();
      shown.seen.delete(own);
    },
  };
}

export default function ({data, parentElement, setTriggerValue}) {
  if (mounts.get(parentElement)?.isOfALesson === !data.lesson) {  // the reader has left a lesson, or begun one
    mounts.get(parentElement).end();
    parentElement.replaceChildren();
    mounts.delete(parentElement);
  }
  if (!mounts.has(parentElement)) mounts.set(parentElement, create(parentElement, data));
  mounts.get(parentElement).own.triggers = setTriggerValue;
  mounts.get(parentElement).update(data);
  return () => {
    if (parentElement.isConnected) return;
    mounts.get(parentElement)?.end();
    mounts.delete(parentElement);
  };
}
