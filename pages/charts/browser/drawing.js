// Elements of a page and of its drawings. Used by curve_pad.js and the phones of a class.
const SVG = "http://www.w3.org/2000/svg";
export const SIDE = 340;

/** Append an element; an attribute that is null is left out. */
export function element(name, attributes, parent, text = "") {
  const made = document.createElementNS(name === "svg" ? SVG : parent.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** Return a pointer's place in the coordinates of a drawing of this height. */
export function place(svg, event, height) {
  const box = svg.getBoundingClientRect();
  return [(event.clientX - box.left) / box.width * SIDE, (event.clientY - box.top) / box.height * height];
}
