// Draws a figure in place, with its title and legend above it as text that wraps. Used by live_plotly.py.
const charts = new WeakMap();  // the component's element -> its chart
let library;                   // promise of Plotly, one for the page
let count = 0;                 // number of charts, for the names of their tooltips
const byKey = window.dsgCharts ??= new Map();  // a chart's name on the page -> function that updates it between drawings by the server

/** Return Plotly, from the script in the page's head or from one that is loaded here. */
function load(path) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  let script = document.querySelector(`script[src$="${path}"]`);
  if (!script) {
    const own = document.querySelector('script[src*="static/js/index"]');
    script = document.createElement("script");
    script.src = new URL(path, own ? new URL("../../", own.src) : document.baseURI);
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
  const size = Number(get("chart-type")) || 12;  // larger when presenting
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
    margin: {l: 48, r: 12, t: 24, b: 36},
  }};
}

// --- the head: title, legend, note, and the tooltip with the meaning of a word

function make(kind, name, ...inside) {
  const element = document.createElement(kind);
  element.className = "live-chart-" + name;
  element.append(...inside);
  return element;
}

function corners(n, turn = 0, inner = 1) {
  return Array.from({length: n}, (_, k) => {
    const angle = Math.PI * (2 * k / n - 0.5 + turn), r = 5 * (k % 2 ? inner : 1);
    return (6 + r * Math.cos(angle)).toFixed(1) + "," + (6 + r * Math.sin(angle)).toFixed(1);
  }).join(" ");
}

const PLUS = "4,1 8,1 8,4 11,4 11,8 8,8 8,11 4,11 4,8 1,8 1,4 4,4";
const MARKS = {
  "triangle-up": corners(3), "triangle-down": corners(3, 1), square: corners(4, 0.25), diamond: corners(4),
  pentagon: corners(5), hexagon: corners(6), star: corners(10, 0, 0.4), cross: PLUS, x: PLUS,
};
const DASHES = {dot: "2 2", dash: "6 4", longdash: "9 4", dashdot: "6 3 2 3"};

/** Return a small picture of how a trace is drawn. */
function swatch(trace) {
  const {line = {}, marker = {}, mode = "", type} = trace;
  const drawn = [];
  if (type === "bar" || trace.fill || trace.stackgroup) {
    const color = trace.fillcolor ?? marker.color ?? line.color;
    drawn.push(`<rect x="1" y="2" width="18" height="8" fill="${color}"/>`);
  }
  if (mode.includes("lines") && line.width !== 0)
    drawn.push(`<line x1="0" x2="20" y1="6" y2="6" stroke="${line.color ?? marker.color}"
      stroke-width="${Math.min(2, line.width ?? 2)}" stroke-dasharray="${DASHES[line.dash] ?? "none"}"/>`);
  if (mode.includes("markers")) {
    const [symbol, open] = (marker.symbol ?? "circle").split("-open");
    const paint = `fill="${open === undefined ? marker.color : "none"}" stroke="${marker.line?.color ?? "none"}"`;
    const turned = symbol === "x" ? "translate(4 0) rotate(45 6 6)" : "translate(4 0)";
    drawn.push(MARKS[symbol]
      ? `<polygon points="${MARKS[symbol]}" transform="${turned}" ${paint}/>`
      : `<circle cx="10" cy="6" r="4" ${paint}/>`);
  }
  return `<svg width="20" height="12" opacity="${trace.opacity ?? 1}" aria-hidden="true">${drawn.join("")}</svg>`;
}

const groupOf = trace => trace.legendgroup ?? trace.name;

/** Return one trace for each word of the legend. */
function legendOf(data) {
  const named = data.filter(trace => trace.name && trace.showlegend !== false && trace.type !== "heatmap");
  return [...new Map(named.map(trace => [groupOf(trace), trace])).values()];
}

/** Show a sentence while the pointer or the keyboard is on an element. */
function explain(chart, element, sentence) {
  if (!sentence) return;
  element.setAttribute("aria-describedby", chart.tip.id);
  const show = () => { chart.tip.textContent = sentence; chart.tip.hidden = false; };
  const hide = () => { chart.tip.hidden = true; };
  for (const begin of ["pointerenter", "focus"]) element.addEventListener(begin, show);
  for (const end of ["pointerleave", "blur"]) element.addEventListener(end, hide);
  element.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
}

function word(chart, trace) {
  const button = make("button", "word");
  button.type = "button";
  button.innerHTML = swatch(trace);
  button.append(trace.name);
  button.setAttribute("aria-pressed", !chart.hidden.has(groupOf(trace)));
  button.addEventListener("click", () => {
    const group = groupOf(trace), isHidden = !chart.hidden.delete(group);
    if (isHidden) chart.hidden.add(group);
    button.setAttribute("aria-pressed", !isHidden);
    chart.newest ??= chart.drawn;
    draw(chart);
  });
  explain(chart, button, trace.meta);
  return button;
}

// --- saving a chart as a file

/** Return the figure with its title and legend, as on the page. */
function whole(chart) {
  const {figure, template} = chart.drawn, {data, layout} = JSON.parse(figure);
  const margin = {...layout.margin, t: 60, r: Math.max(layout.margin?.r ?? 0, 24)};
  const paper_bgcolor = getComputedStyle(chart.root).getPropertyValue("--st-background-color").trim();
  const own = {margin, paper_bgcolor, legend: {orientation: "h", y: 1, yanchor: "bottom"}};
  if (!Object.keys(layout.template ?? {}).length) layout.template = template;
  return {data, layout: {...layout, ...own}};
}

function image(kind) {
  return chart => {
    const {clientWidth: width, clientHeight: height} = chart.root;
    return window.Plotly.toImage(whole(chart), {format: kind, width, height, scale: kind === "png" ? 2 : 1});
  };
}

const file = (text, type) => URL.createObjectURL(new Blob([text], {type: type + ";charset=utf-8"}));

/** Return a standalone page that contains the chart library. */
async function page(chart) {
  const script = document.querySelector(`script[src$="${chart.drawn.library}"]`);
  const library = await (await fetch(script.src)).text();
  const said = [whole(chart), chart.root.getAttribute("aria-label")];
  const [figure, alt] = said.map(value => JSON.stringify(value).replaceAll("<", "\\u003c"));
  return file(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>DSG Lab</title>
<style>html, body, #figure {height: 100%; margin: 0}</style><div id="figure" role="img"></div>
<script>${library.replaceAll("</script", "<\\/script")}</script>
<script>
const {data, layout} = ${figure}, node = document.getElementById("figure");
node.setAttribute("aria-label", ${alt});
document.title = layout.title?.text ?? document.title;
Plotly.newPlot(node, data, layout, {responsive: true, displaylogo: false});
</script></html>
`, "text/html");
}

const cell = value => /[",\n]/.test(value ?? "") ? `"${String(value).replaceAll('"', '""')}"` : value ?? "";

/** Return a trace's points as rows: its name, x and y, and z for a surface. */
function rowsOf(trace, number) {
  const name = trace.name || "curve " + (number + 1), {x, y, z} = trace;
  if (!z) return (y ?? []).map((value, i) => [name, x?.[i], value]);
  const at = (values, first = 0, step = 1) => i => values?.[i] ?? first + i * step;
  const [across, up] = [at(x, trace.x0, trace.dx), at(y, trace.y0, trace.dy)];
  return z.flatMap((row, j) => row.map((value, i) => [name, across(i), up(j), value]));
}

/** Return all traces as a table. */
function table(chart) {
  const {data, layout} = JSON.parse(chart.drawn.figure);
  const rows = data.flatMap(rowsOf), title = axis => cell(axis?.title?.text || undefined);
  const head = ["curve", title(layout.xaxis) || "x", title(layout.yaxis) || "y", "z"];
  const width = Math.max(3, ...rows.map(row => row.length));
  const lines = rows.map(row => Array.from({length: width}, (_, i) => cell(row[i])).join(","));
  return file([head.slice(0, width).join(","), ...lines].join("\n") + "\n", "text/csv");
}

const FILES = {png: image("png"), svg: image("svg"), html: page, csv: table};
const DOWN = '<svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path d="M6 1v6.5M3 5l3 3 3-3M1.5 10.8h9" '
  + 'fill="none" stroke="currentColor" stroke-width="1.4"/></svg>';

async function save(chart, kind) {
  const link = document.createElement("a");
  link.href = await FILES[kind](chart);
  link.download = chart.drawn.save + "." + kind;
  link.click();
  if (link.href.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Return a button that opens the choice of a file format. */
function saver(chart) {
  const menu = make("span", "menu"), button = make("button", "save"), both = make("span", "saver", button, menu);
  const open = is => { menu.hidden = !is; button.setAttribute("aria-expanded", is); };
  open(false);
  button.type = "button";
  button.innerHTML = DOWN;
  button.title = "Save this chart";
  button.setAttribute("aria-label", "Save: " + chart.root.getAttribute("aria-label").split(/[.:,]/)[0]);
  button.addEventListener("click", () => open(menu.hidden));
  menu.append(...Object.keys(FILES).map(kind => {
    const one = make("button", "kind", kind.toUpperCase());
    one.type = "button";
    one.setAttribute("aria-label", "Save as " + kind.toUpperCase());
    one.addEventListener("click", () => { open(false); button.focus(); save(chart, kind); });
    return one;
  }));
  both.addEventListener("focusout", event => both.contains(event.relatedTarget) || open(false));
  both.addEventListener("keydown", event => {
    if (event.key !== "Escape" || menu.hidden) return;
    event.stopPropagation();
    button.focus();
    open(false);
  });
  return both;
}

/** Update the head. Unchanged words keep their elements, so that they keep the focus. */
function write(chart, data, {title, meta = {}}) {
  const words = legendOf(data), text = title?.text ?? "";
  const style = ({line, marker, mode, fill, fillcolor}) => [line, marker?.color, marker?.symbol, mode, fill, fillcolor];
  const now = JSON.stringify([text, meta.help, words.map(trace => [groupOf(trace), trace.meta, style(trace)])]);
  if (now !== chart.written) {
    chart.written = now;
    chart.tip.hidden = true;
    const heading = make("span", "title", text), parts = text ? [heading] : [];
    if (meta.help) {
      const help = make("button", "help", "?");
      help.type = "button";
      help.setAttribute("aria-label", "Help for " + text);
      explain(chart, help, meta.help);
      parts.push(help);
    }
    // The title names a single curve.
    if (words.length > 1) parts.push(...words.map(trace => word(chart, trace)));
    parts.push(saver(chart));
    chart.note = make("span", "note");
    chart.head.replaceChildren(...parts, chart.note);
  }
  if (chart.note.textContent !== (meta.note ?? "")) chart.note.textContent = meta.note ?? "";
}

// --- the plot

function create(parentElement) {
  const head = make("div", "head"), tip = make("div", "tip"), node = make("div", "plot");
  tip.id = "live-chart-tip-" + count++;
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  const root = make("div", "root", head, tip, node);
  root.classList.add("live-chart");
  root.setAttribute("role", "figure");
  parentElement.append(root);
  const chart = {root, head, tip, node, newest: null, drawn: null, isDrawing: false, hidden: new Set(), written: null,
    order: 0};
  chart.observer = new ResizeObserver(async () => {
    chart.isAway = !node.clientWidth;
    if (chart.isAway || !node._fullLayout) return;
    if (chart.newest) await draw(chart);  // it has waited until it is visible
    const {clientWidth: width, clientHeight: height, _fullLayout: layout} = node;
    const isOther = (size, drawn) => Math.abs(size - drawn) >= 1;  // the size of a box is in whole pixels
    if (width && layout && (isOther(width, layout.width) || isOther(height, layout.height))) window.Plotly.Plots.resize(node);
  });
  chart.observer.observe(node);
  charts.set(parentElement, chart);
  return chart;
}

async function react(chart, Plotly, {figure, config, template}) {
  const look = JSON.stringify(template);
  // Each drawing of a page sends all of its charts, and most are unchanged.
  if (chart.node._fullLayout && chart.figure === figure && chart.look === look + [...chart.hidden]) return;
  chart.figure = null;  // until it is drawn
  const {data = [], layout = {}} = JSON.parse(figure);
  if (!Object.keys(layout.template ?? {}).length) layout.template = template;
  if (layout.uirevision !== chart.revision) chart.hidden.clear();
  chart.revision = layout.uirevision;
  write(chart, data, layout);
  for (const trace of data) if (chart.hidden.has(groupOf(trace))) trace.visible = "legendonly";
  const own = {title: undefined, showlegend: false, height: undefined, width: undefined, autosize: true};
  const hidden = [...chart.hidden];
  await Plotly.react(chart.node, data, {...layout, ...own}, {...config, responsive: false});
  [chart.figure, chart.look] = [figure, look + hidden];
  if (chart.hears !== chart.node) {
    chart.hears = chart.node;
    chart.node.on("plotly_click", ({points}) => {
      const place = points.map(point => point.customdata).find(value => value !== undefined && value !== null);
      if (place !== undefined) chart.click(place);
    });
  }
}

/** Wait until an element is visible. A page is hidden while it is built. */
function shown(node) {
  return new Promise(done => {
    const look = () => getComputedStyle(node).visibility === "hidden" ? requestAnimationFrame(look) : done();
    look();
  });
}

/** Send a message about a page, unless the reader is leaving it, because the message would bring it back. */
function tell(page, work) {
  if (window.dsgLab?.ask) window.dsgLab.ask(page, work);
  else if (location.pathname.endsWith("/" + page)) work();
}

/** Do this when the browser is idle: streamlit sends messages a moment later, and by then the reader may have left the page. */
function atRest(work) {
  window.requestIdleCallback ? requestIdleCallback(work, {timeout: 1000}) : setTimeout(work);
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

/** Draw a chart for the first time: one after another, so that the browser can show each, and first the one that the page needs. */
function inTurn(work, isWaitedFor) {
  return new Promise((done, failed) => {
    waiting[isWaitedFor ? "unshift" : "push"](() => Promise.resolve().then(work).then(done, failed));
    if (!isAtWork) workOff();
  });
}

async function workOff() {
  isAtWork = true;
  await aFrame();  // the other charts of the page have arrived by then
  while (waiting.length) {
    await waiting.shift()();
    await aFrame();
  }
  isAtWork = false;
}

/** Return true if a drawing can wait, because its tab is closed, and the server does not wait for it. */
function canWait({isAway, node, newest, occasion}) {
  return isAway && node._fullLayout && (newest.occasion?.number ?? occasion) === occasion;
}

async function draw(chart) {
  if (chart.isDrawing) return;  // the loop below draws the newest figure and skips older ones
  chart.isDrawing = true;
  try {
    const Plotly = await (library ??= load(chart.newest.library));
    const drawNewest = () => {
      chart.drawn = chart.newest;
      chart.newest = null;
      return chart.root.isConnected ? react(chart, Plotly, chart.drawn) : null;  // it may be gone before its turn
    };
    while (chart.newest && !canWait(chart)) {
      if (chart.node._fullLayout) await drawNewest();
      else {
        chart.node.textContent = "";  // an error's text, see below
        await inTurn(drawNewest, chart.newest.occasion);
      }
      const {occasion} = chart.drawn;
      if (occasion && chart.occasion !== occasion.number) {
        chart.occasion = occasion.number;
        shown(chart.node).then(() => atRest(() => tell(occasion.page, chart.report)));
      }
    }
  } catch (error) {
    if (!window.Plotly) library = undefined;  // the next update tries again
    window.Plotly?.purge(chart.node);
    chart.node.textContent = "This chart could not be drawn: " + error.message;
  } finally {
    chart.isDrawing = false;
  }
}

/** Return the server's data about a chart, from the first line, and the text of the figure, from the second. */
function decoded(bytes) {
  const text = new TextDecoder().decode(bytes), end = text.indexOf("\n");
  return {...JSON.parse(text.slice(0, end)), figure: text.slice(end + 1)};
}

export default function ({data: bytes, parentElement, setTriggerValue}) {
  const data = decoded(bytes);
  const chart = charts.get(parentElement) ?? create(parentElement);
  const show = news => {  // a figure older than the one shown is ignored
    if (news.order < chart.order) return;
    chart.order = news.order;
    chart.root.setAttribute("aria-label", news.alt);
    chart.newest = {...data, ...news, template: themed(parentElement)};
    draw(chart);
  };
  byKey.set(data.key, show);
  chart.report = () => setTriggerValue("drawn", true);
  chart.click = place => setTriggerValue("clicked", place);
  chart.root.style.setProperty("--live-chart-height", data.height + "px");
  show(data);
  return () => {  // also called for an update that a later one has replaced, so check
    if (parentElement.isConnected) return;
    chart.observer.disconnect();
    if (byKey.get(data.key) === show) byKey.delete(data.key);
    charts.delete(parentElement);
    window.Plotly?.purge(chart.node);
  };
}
