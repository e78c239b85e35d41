// A chart as a file: PNG, SVG, standalone page, or a table of its curves.
import {groupOf, legendOf, plain} from "./head.js";

// A picture fits a slide, whatever the size of the chart on the page. A picture has no fonts of its own, so it has a common one.
const WIDTH = 960, HEIGHT = 720, FONT = "Arial, Helvetica, sans-serif";

/** Return the figure as it is drawn, with its title and its legend inside, between the title and the plot. */
function whole(chart) {
  const {figure, template} = chart.drawn, {data, layout} = JSON.parse(figure);
  chart.mix({data, layout});
  for (const trace of data) if (chart.hidden.has(groupOf(trace))) trace.visible = "legendonly";
  const style = getComputedStyle(chart.root), get = name => style.getPropertyValue("--st-" + name).trim();
  const words = legendOf(data), text = chart.head.querySelector(".live-chart-title")?.textContent || layout.title?.text || "";
  const rows = Math.ceil(words.reduce((all, {name}) => all + name.length + 9, 0) / 90);
  const title = {text, x: 0.02, xanchor: "left", y: 0.98, yanchor: "top", yref: "container", font: {size: 22}};
  const legend = {orientation: "h", x: 0, y: 1.01, yanchor: "bottom", font: {size: 15}};
  const font = {family: FONT, color: get("text-color"), size: 15};
  if (!Object.keys(layout.template ?? {}).length) layout.template = template;
  plain([data, layout]);
  const {xaxis, yaxis, width, height, ...rest} = layout, along = layout.meta?.along;
  const axis = own => ({...own, title: {...own?.title, font: {size: 17}}, tickfont: {size: 15}, automargin: true});
  if (along) Object.assign(xaxis, {showticklabels: true, title: {text: along}});
  const own = {font, legend, title, margin: marginOf(layout, 64 + 24 * rows), showlegend: words.length > 1,
    paper_bgcolor: get("background-color"), plot_bgcolor: get("background-color"), xaxis: axis(xaxis), yaxis: axis(yaxis), ...divided(chart, layout, get)};
  return {data, layout: {...rest, ...own}};
}

/** Return the margins of a picture: those of a map leave a square in its middle. */
function marginOf({yaxis}, t) {
  const b = 68;
  if (!yaxis?.scaleanchor) return {l: 80, r: 40, t, b};
  const side = (WIDTH - (HEIGHT - t - b)) / 2;
  return {l: side, r: side, t, b};
}

/** Return the line between two maps, and the name of each. */
function divided(chart, {meta, xaxis, shapes = [], annotations = []}, get) {
  const line = chart.root.querySelector(".wipe-line");
  if (!meta?.wipe || !line) return {};
  const [left, right] = xaxis.range, x = left + Number(line.value) / 100 * (right - left);
  const name = (text, xanchor) =>
    ({text, x, xanchor, xref: "x", y: 1, yref: "paper", yanchor: "top", showarrow: false, bgcolor: get("background-color"), borderpad: 3});
  const rule = {type: "line", x0: x, x1: x, xref: "x", y0: 0, y1: 1, yref: "paper", line: {width: 2, color: get("text-color")}};
  return {shapes: [...shapes, rule], annotations: [...annotations, name(meta.wipe.left, "right"), name(meta.wipe.right, "left")]};
}

const image = kind => chart =>
  window.Plotly.toImage(whole(chart), {format: kind, width: WIDTH, height: HEIGHT, scale: kind === "png" ? 2 : 1});

const file = (text, type) => URL.createObjectURL(new Blob([text], {type: type + ";charset=utf-8"}));

/** Return a standalone page that contains the chart library. */
async function page(chart) {
  const script = document.querySelector(`script[src$="${chart.library}"]`);
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
export const KINDS = Object.keys(FILES);

export async function save(chart, kind) {
  const link = document.createElement("a");
  link.href = await FILES[kind](chart);
  link.download = chart.save + "." + kind;
  link.click();
  if (link.href.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

