// A chart as a file: PNG, SVG, standalone page, or a table of its curves.
import {groupOf, legendOf} from "./head.js";
import {plain} from "./plain.js";

// A picture fits a slide, whatever the size of the chart on the page.
const WIDTH = 960, HEIGHT = 720;

/** Return the figure as it is drawn, with its title and its legend inside, between the title and the plot. */
function whole(chart) {
  const {figure, template} = chart.drawn, {data, layout} = JSON.parse(figure);
  chart.mix({data, layout});
  for (const trace of data) if (chart.hidden.has(groupOf(trace))) trace.visible = "legendonly";
  const style = getComputedStyle(chart.root), get = name => style.getPropertyValue("--st-" + name).trim();
  const legend = {orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: {size: 15}};
  const text = chart.head.querySelector(".live-chart-title")?.textContent || layout.title?.text || "";
  const title = {text, x: 0.02, xanchor: "left", y: 0.98, yanchor: "top", yref: "container", font: {size: 22}, automargin: false};
  if (!Object.keys(layout.template ?? {}).length) layout.template = template;
  const font = {family: get("font"), color: get("text-color"), size: 15};
  const rows = Math.ceil(legendOf(data).reduce((all, {name}) => all + name.length + 8, 0) / 95);
  const margin = {l: 80, r: 40, t: 64 + 24 * rows, b: 64};
  const axis = own => ({...own, title: {...own?.title, font: {size: 17}}, tickfont: {size: 15}, automargin: true});
  plain([data, layout]);
  const {xaxis, yaxis, width, height, meta, ...rest} = layout;
  const own = {font, legend, title, margin, paper_bgcolor: get("background-color"), showlegend: legendOf(data).length > 1};
  return {data, layout: {...rest, ...own, xaxis: axis(xaxis), yaxis: axis(yaxis)}};
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

