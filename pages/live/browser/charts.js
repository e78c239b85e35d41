// The charts of the live view as a component: the map, the curves, and what is below them.
import {createChart} from "../../charts/browser/chart.js";
import {createHand} from "./hand.js";
import {createSwitch} from "./picture_switch.js";
import {shown} from "./shown.js";
import {createWipe, wiped} from "./wipe.js";

const mounts = new WeakMap();  // the component's element -> its charts

const MAP = "chart-map", HAND = "hand";

/** Return the map's own parts: the line between two maps, and the editor of its points. */
function createMap(chart, send) {
  let hand = null;
  const wipe = createWipe(chart, () => chart.again());
  return {
    /** Change a figure before it is drawn: mix both maps at the line. */
    mix({data, layout}) {
      const said = layout.meta?.wipe;
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

function create(parent, {library, config, lesson}) {
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
    shown.hasCurve = true;
    for (const part of shown.parts) part(shown);
  });

  const add = ({key, place}) => {
    const box = document.createElement("div");
    box.id = key;
    root.querySelector(`[data-place="${place}"]`).append(box);
    const save = key.replace("chart-", ""), one = {box};
    const parts = key === MAP && {mix: figure => one.map.mix(figure), onDrawn() { one.map.fit(); isDrawn(); }};
    one.chart = createChart(box, {library, save, config, isPlain: Boolean(lesson), onDrawn: isDrawn, ...parts});
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
      shown.hasCurve = false;
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
