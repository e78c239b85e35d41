// A chart that is read from the last row of a room: thick lines, large points, and the last value of a curve at its end.
export const LEAST_LINE = 3;  // pixels
const DESK = 13;  // type of a chart beside a desk
const DIGIT = 0.55;  // of a digit, as a share of the type

/** Return the size of a chart's type in pixels, which is larger on a stage. */
export const typeOf = element => Number(getComputedStyle(element).getPropertyValue("--st-chart-type")) || 12;

/** Return true if the chart is shown to a class. */
export const isProjected = element => getComputedStyle(element).getPropertyValue("--st-chart-projected").trim() === "1";

/** Return how much larger points and lines are before a class. */
export const growthOf = element => isProjected(element) ? Math.max(1, typeOf(element) / DESK) : 1;

const isLine = ({type, mode = "lines"}) => (type ?? "scatter") === "scatter" && mode === "lines";

/** Return a value with two digits behind the point, or with its power of ten. */
export function valueAtEnd(value) {
  const size = Math.abs(value), text = size >= 1000 || (size && size < 0.01) ? value.toExponential(1) : value.toFixed(2);
  return text.replace("e+", "e").replaceAll("-", "−");
}

/** Return the places of texts along an axis, in pixels from its top, moved so far that none covers another. */
export function apart(places, least) {
  const order = places.map((_, k) => k).sort((a, b) => places[a] - places[b]), moved = [...places];
  order.forEach((k, n) => { if (n) moved[k] = Math.max(moved[k], moved[order[n - 1]] + least); });
  return moved;
}

/** Make the lines and points of a figure larger, for a type of this size in pixels. */
export function enlarge(data, type) {
  const factor = Math.max(1, type / DESK);
  for (const trace of data) {
    if (trace.line && trace.line.width !== 0) trace.line.width = Math.max(LEAST_LINE, (trace.line.width ?? 2) * factor);
    const {marker} = trace;
    if (!marker) continue;
    if (typeof marker.size === "number") marker.size *= factor;
    if (marker.line?.width) marker.line.width = Math.max(LEAST_LINE * 0.6, marker.line.width * factor);
  }
}

/** Write the last value of each named curve at its end; `height` of the plot is in pixels. */
export function nameEnds(data, layout, type, height) {
  const {range, type: kind} = layout.yaxis ?? {}, isLog = kind === "log";
  const named = data.filter(trace => isLine(trace) && trace.name && trace.visible !== "legendonly" && trace.x?.length > 1);
  const ends = named.map(trace => ({x: trace.x.at(-1), y: trace.y.at(-1), color: trace.line?.color, name: trace.name}))
    .filter(({y}) => Number.isFinite(y) && (!isLog || y > 0));
  if (!ends.length) return;
  const at = ({y}) => isLog ? Math.log10(y) : y, all = ends.map(at), scaled = isLog ? Math.log10 : y => y;
  const [low, high] = range ?? [Math.min(...data.flatMap(({y = []}) => y).filter(Number.isFinite).map(scaled)), Math.max(...all)];
  const places = all.map(y => (high - y) / (high - low || 1) * height), moved = apart(places, type);
  layout.annotations = [...(layout.annotations ?? []), ...ends.map((end, k) => ({
    x: end.x, y: all[k], text: valueAtEnd(end.y), showarrow: false, xanchor: "left", xshift: 6, yshift: places[k] - moved[k],
    font: {size: type, color: end.color}}))];
  const longest = Math.max(...ends.map(({y}) => valueAtEnd(y).length));
  layout.margin = {...layout.margin, r: Math.max(layout.margin?.r ?? 12, longest * type * DIGIT + 10)};
}
