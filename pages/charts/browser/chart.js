// One chart in the page: its title, legend and note above the plot, as text that wraps, and the plot itself.
import {groupOf, make, plain, write} from "./head.js";
import {enlarge, isProjected, nameEnds, typeOf} from "./projected.js";

const CONFIG = {displayModeBar: false, displaylogo: false, responsive: false};
let library;    // promise of Plotly, one for the page
let count = 0;  // number of charts, for the names of their tooltips

/** Return Plotly, from the script in the page's head or from one that is loaded here. */
function load(path) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  let script = document.querySelector(`script[src$="${path}"]`);
  if (!script) {
    script = document.createElement("script");
    script.src = new URL(path, document.baseURI);
    document.head.append(script);
  }
  return new Promise((done, failed) => {
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", () => {
      script.remove();
      failed(Error("the chart library could not be read"));
    });
  });
}

function themed(element) {
  const style = getComputedStyle(element);
  const get = name => style.getPropertyValue("--st-" + name).trim();
  const ink = get("text-color"), line = get("border-color");
  const size = typeOf(element);
  const title = {font: {size}, standoff: 4};
  // The margins have room for the labels, so that they need not be measured at each drawing.
  const axis = {gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true, ticklabeloverflow: "allow", title};
  const bar = {outlinewidth: 0};
  return {layout: {
    font: {color: ink, family: get("font"), size},
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    colorway: get("chart-categorical-colors").split(/,(?![^(]*[)])/),
    xaxis: axis, yaxis: axis, coloraxis: {colorbar: bar},
    hoverlabel: {bgcolor: get("secondary-background-color"), bordercolor: line,
                 font: {color: ink, family: get("font")}},
    margin: {l: 48, r: 12, t: 24, b: 36}, minreducedheight: 16,  // a low chart has room for its axes' words
    // A text over lines names this item, and has the page's ground behind it.
    annotations: [{name: "on ground", visible: false, bgcolor: get("background-color")}],
  }};
}

const waiting = [];  // first drawings of charts
let isAtWork = false;

/** Wait until the browser has shown the present state. */
function aFrame() {
  return new Promise(done => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);  // a hidden page gets no frames
  });
}

/** Draw a chart for the first time: one after another, so that the browser can show each. */
function inTurn(work) {
  return new Promise((done, failed) => {
    waiting.push(() => Promise.resolve().then(work).then(done, failed));
    if (!isAtWork) workOff();
  });
}

async function workOff() {
  isAtWork = true;
  while (waiting.length) {
    await waiting.shift()();
    await aFrame();
  }
  isAtWork = false;
}

/** Return true if a drawing can wait, because its tab is closed. */
const canWait = ({isAway, isPlotted}) => isAway && isPlotted;

const sizeOf = ({clientWidth, clientHeight}) => `${clientWidth} x ${clientHeight}`;

/** Return true if the last values are at the ends of the curves: where they are depends on the height of the plot. */
const hasEnds = ({isPlain, root}) => isPlain && isProjected(root);

/** Draw the plot at the size of its box, if that has changed. Plotly does it a moment later, and not if the plot is hidden by then. */
async function fit(chart) {
  const {node} = chart, size = sizeOf(node);
  if (!node.clientWidth || size === chart.size) return;
  await window.Plotly.Plots.resize(node).catch(() => {});
  if (node.clientWidth) chart.size = size;
  chart.onDrawn();
  if (!hasEnds(chart)) return;
  chart.figure = null;
  chart.again();
}

/** Remove the tooltip of an earlier run. A finger leaves it open, and Plotly would move it to the new curves. */
function forgetTouch(node, {Fx}) {
  if (node._fullLayout) node._fullLayout._hoversubplot = null;
  Fx.unhover(node, {});
}

async function react(chart, Plotly, {figure}) {
  const template = themed(chart.root), look = JSON.stringify([template, isProjected(chart.root)]);
  // Each drawing of a page sends all of its charts, and most are unchanged.
  if (chart.isPlotted && chart.figure === figure && chart.look === look + [...chart.hidden]) return;
  chart.figure = null;  // until it is drawn
  const {data = [], layout = {}} = JSON.parse(figure);
  chart.mix({data, layout});
  if (!Object.keys(layout.template ?? {}).length) layout.template = template;
  if (layout.uirevision !== chart.revision) {
    chart.hidden.clear();
    if (chart.isPlotted) forgetTouch(chart.node, Plotly);
  }
  chart.revision = layout.uirevision;
  chart.type = typeOf(chart.root);
  if (isProjected(chart.root)) enlarge(data, chart.type);
  write(chart, data, layout);
  for (const trace of data) if (chart.hidden.has(groupOf(trace))) trace.visible = "legendonly";
  const height = chart.node._fullLayout?._size?.h ?? chart.node.clientHeight;  // within the margins, as it was drawn last
  // By the box and the asked margins, which the number of ticks does not change: by what they leave it would never rest.
  const room = chart.node.clientHeight - (layout.margin?.t ?? 24) - (layout.margin?.b ?? 36);
  const most = Math.max(2, Math.floor(room / chart.type / 1.3) + 1);
  if (layout.yaxis?.nticks) layout.yaxis.nticks = Math.min(layout.yaxis.nticks, most);
  if (hasEnds(chart)) nameEnds(data, layout, chart.type, height);
  const own = {title: undefined, showlegend: false, height: undefined, width: undefined, autosize: true};
  const hidden = [...chart.hidden];
  chart.size = sizeOf(chart.node);
  plain([data, layout]);
  await Plotly.react(chart.node, data, {...layout, ...own}, CONFIG);
  chart.isPlotted = true;
  fit(chart);  // its box may have changed meanwhile
  const isOff = hasEnds(chart) && Math.abs(chart.node._fullLayout._size.h - height) > 1;
  if (isOff) chart.newest ??= chart.drawn;  // once more, with the height that it has now
  [chart.figure, chart.look] = [isOff ? null : figure, look + hidden];
  if (!chart.hears) {
    chart.hears = true;
    chart.node.on("plotly_click", ({points}) => {
      const place = points.map(point => point.customdata).find(value => value !== undefined && value !== null);
      if (place !== undefined) chart.onClick(place);
    });
  }
}

async function draw(chart) {
  if (chart.isDrawing) return;  // the loop below draws the newest figure and skips older ones
  chart.isDrawing = true;
  try {
    const Plotly = await (library ??= load(chart.library));
    const drawNewest = () => {
      chart.drawn = chart.newest;
      chart.newest = null;
      return chart.root.isConnected ? react(chart, Plotly, chart.drawn) : null;  // it may be gone before its turn
    };
    while (chart.newest && !canWait(chart)) {
      if (chart.isPlotted) await drawNewest();
      else {
        chart.node.textContent = "";  // an error's text, see below
        await inTurn(drawNewest);
      }
    }
  } catch (error) {
    if (!window.Plotly) library = undefined;  // the next update tries again
    window.Plotly?.purge(chart.node);
    chart.isPlotted = chart.hears = false;
    chart.node.textContent = "This chart could not be drawn: " + error.message;
  } finally {
    chart.isDrawing = false;
    chart.onDrawn();
  }
}

/**
 * Create a chart inside `parent`.
 *
 * library: address of the chart library; save: name of the files that its button saves; isPlain: without explanations;
 * onClick: called with the `customdata` of a clicked point; onDrawn: called after each drawing; mix: called with each figure
 * before it is drawn, which it may change.
 */
export function createChart(parent, {
  library: path, save: name, isPlain = false, onClick = () => {}, onDrawn = () => {}, mix = () => {},
}) {
  const head = make("div", "head"), tip = make("div", "tip"), node = make("div", "plot");
  tip.id = "live-chart-tip-" + count++;
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  const root = make("div", "root", head, tip, node);
  root.classList.add("live-chart");
  root.setAttribute("role", "figure");
  parent.append(root);
  const chart = {root, head, tip, node, library: path, save: name, isPlain, onClick, onDrawn, mix,
    newest: null, drawn: null, isDrawing: false, isPlotted: false, hidden: new Set(), values: new Map(), written: null,
    again() {
      chart.newest ??= chart.drawn;
      draw(chart);
    }};
  chart.observer = new ResizeObserver(async () => {
    chart.isAway = !node.clientWidth;
    if (chart.isAway || !chart.isPlotted) return;
    if (chart.newest) await draw(chart);  // it has waited until it is visible
    if (chart.type !== typeOf(root)) chart.again();  // a window that was moved to a projector
    else fit(chart);
  });
  chart.observer.observe(node);
  return {
    root,
    node,
    /** Draw the figure again, although it is the same. */
    again() {
      chart.figure = null;
      chart.again();
    },
    /** Show a figure, as JSON, with its text for screen readers. */
    show({figure, alt}) {
      root.setAttribute("aria-label", alt);
      chart.newest = {figure};
      draw(chart);
    },
    isDrawn: () => Boolean(chart.figure),
    remove() {
      chart.observer.disconnect();
      window.Plotly?.purge(node);
      root.remove();
    },
  };
}

const charts = new WeakMap();  // the component's element -> its chart

/** Return the server's data about a chart, from the first line, and the text of the figure, from the second. */
function decoded(bytes) {
  const text = new TextDecoder().decode(bytes), end = text.indexOf("\n");
  return {...JSON.parse(text.slice(0, end)), figure: text.slice(end + 1)};
}

export default function drawChart({data: bytes, parentElement, setTriggerValue}) {
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
