// One chart as a component of its own. Used by live_chart.py.
import {createChart} from "./chart.js";

const charts = new WeakMap();  // the component's element -> its chart

/** Return the server's data about a chart, from the first line, and the text of the figure, from the second. */
function decoded(bytes) {
  const text = new TextDecoder().decode(bytes), end = text.indexOf("\n");
  return {...JSON.parse(text.slice(0, end)), figure: text.slice(end + 1)};
}

export default function ({data: bytes, parentElement, setTriggerValue}) {
  const data = decoded(bytes);
  let chart = charts.get(parentElement);
  if (!chart) {
    chart = createChart(parentElement, {...data, onClick: place => chart.click(place)});
    charts.set(parentElement, chart);
  }
  chart.click = place => setTriggerValue("clicked", place);
  chart.root.style.setProperty("--live-chart-height", data.height + "px");
  chart.show(data);
  return () => {  // also called for an update that a later one has replaced
    if (parentElement.isConnected) return;
    charts.delete(parentElement);
    chart.remove();
  };
}
