// The charts of the live view as a component: the map, the curves, and what is below them.
import {createChart} from "../../charts/browser/chart.js";
import {shown} from "./shown.js";

const mounts = new WeakMap();  // the component's element -> its charts

function create(parent, {library, config}) {
  const root = document.createElement("div"), charts = new Map();
  root.className = "live-charts";
  for (const place of ["map", "curves", "below"]) {
    const part = document.createElement("div");
    part.dataset.place = place;
    root.append(part);
  }
  parent.append(root);

  const isDrawn = () => {
    if (shown.hasCurve) return;
    shown.hasCurve = true;
    for (const part of shown.parts) part(shown);  // the ticks begin
  };

  const add = ({key, place}) => {
    const box = document.createElement("div");
    box.id = key;
    root.querySelector(`[data-place="${place}"]`).append(box);
    const save = key.replace("chart-", "");
    charts.set(key, {box, chart: createChart(box, {library, save, config, onDrawn: isDrawn})});
  };

  const draw = ({places, figures}) => {
    const keys = new Set(places.map(({key}) => key)), now = new Set(places.map(({place}) => place));
    for (const [key, {box, chart}] of charts) if (!keys.has(key)) {
      chart.remove();
      box.remove();
      charts.delete(key);
    }
    for (const one of places) if (!charts.has(one.key) && figures.has(one.key)) add(one);
    root.dataset.places = [...now].join(" ");
    for (const [key, one] of charts) {
      const {figure, alt, order} = figures.get(key);
      if (order === one.order) continue;
      one.order = order;
      one.chart.show({figure, alt});
    }
  };

  const stop = shown.on(draw);
  return {
    end() {
      stop();
      for (const {chart} of charts.values()) chart.remove();
      shown.hasCurve = false;
    },
  };
}

export default function ({data, parentElement}) {
  if (!mounts.has(parentElement)) mounts.set(parentElement, create(parentElement, data));
  return () => {
    if (parentElement.isConnected) return;
    mounts.get(parentElement)?.end();
    mounts.delete(parentElement);
  };
}
