// The area of a plot in pixels, and the way between pixels and the plot's coordinates.

/** Return the area of a drawn plot within `around`, or null before it is drawn. */
export function frameOf(node, around) {
  const area = node.querySelector(".nsewdrag")?.getBoundingClientRect(), outside = around.getBoundingClientRect();
  const {xaxis, yaxis} = node.layout ?? {};
  if (!area?.width || !xaxis?.range || !yaxis?.range) return null;
  return frame({left: area.left - outside.left, top: area.top - outside.top, width: area.width, height: area.height},
    xaxis.range, yaxis.range);
}

/** Return an area with the functions between its pixels and coordinates with these ranges. */
export function frame(area, [left, right], [bottom, top]) {
  const {width, height} = area;
  return {
    ...area,
    scale: width / (right - left),  // pixels for one unit
    size: right - left,
    toPlot: (px, py) => [left + px / width * (right - left), top - py / height * (top - bottom)],
    toPixels: (x, y) => [(x - left) / (right - left) * width, (top - y) / (top - bottom) * height],
  };
}

/** Give an element the place of an area. */
export function place(element, {left, top, width, height}) {
  Object.assign(element.style, {left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px`});
}
