// The words above a chart: title, legend, note, the explanation of each word, and the button that saves the chart.
import {KINDS, save} from "./saving.js";

/** Return a function that makes elements whose classes begin with a prefix. */
export const maker = prefix => (kind, name, ...inside) => {
  const element = document.createElement(kind);
  element.className = prefix + name;
  if (kind === "button") element.type = "button";
  element.append(...inside);
  return element;
};

export const make = maker("live-chart-");

/** Let a button open a part, both inside `root`. Escape closes it, and so does leaving. Return a function that opens or closes it. */
export function opener(root, button, part) {
  const open = is => { part.hidden = !is; button.setAttribute("aria-expanded", is); };
  open(false);
  button.addEventListener("click", () => open(part.hidden));
  root.addEventListener("focusout", event => root.contains(event.relatedTarget) || open(false));
  root.addEventListener("keydown", event => {
    if (event.key !== "Escape" || part.hidden) return;
    event.stopPropagation();
    button.focus();
    open(false);
  });
  return open;
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
export function swatch(trace) {
  const {line = {}, marker = {}, mode = "", type} = trace;
  const drawn = [];
  if (type === "bar" || trace.fill || trace.stackgroup) {
    const color = trace.fillcolor ?? marker.color ?? line.color;
    drawn.push(`<rect x="1" y="2" width="18" height="8" fill="${color}"/>`);
  }
  if (mode.includes("lines") && line.width !== 0)
    drawn.push(`<line x1="0" x2="20" y1="6" y2="6" stroke="${line.color ?? marker.color}"
      stroke-width="${Math.min(4, line.width ?? 2)}" stroke-dasharray="${DASHES[line.dash] ?? "none"}"/>`);
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

export const groupOf = trace => trace.legendgroup ?? trace.name;

/** Return one trace for each word of the legend. */
function legendOf(data) {
  const named = data.filter(trace => trace.name && trace.showlegend !== false && trace.type !== "heatmap");
  return [...new Map(named.map(trace => [groupOf(trace), trace])).values()];
}

/** Put an explanation right below its word, and inside of the element that holds both. */
function putBelow(tip, element) {
  const room = tip.offsetParent?.getBoundingClientRect(), word = element.getBoundingClientRect();
  if (!room) return;
  const left = Math.max(0, Math.min(word.left - room.left, room.width - tip.offsetWidth));
  Object.assign(tip.style, {left: `${left}px`, top: `${word.bottom - room.top + 4}px`});
}

/** Show a sentence, or what a function returns, while the pointer or the keyboard is on an element. */
export function explain({tip}, element, sentence) {
  if (!sentence) return;
  element.setAttribute("aria-describedby", tip.id);
  const show = () => {
    tip.textContent = sentence instanceof Function ? sentence() : sentence;
    tip.hidden = false;
    putBelow(tip, element);
  };
  const hide = () => { tip.hidden = true; };
  for (const begin of ["pointerenter", "focus"]) element.addEventListener(begin, show);
  for (const end of ["pointerleave", "blur"]) element.addEventListener(end, hide);
  element.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
}

/** Return a word of the legend. In a plain chart it only names its curve. */
function word(chart, trace) {
  const word = make(chart.isPlain ? "span" : "button", "word");
  word.innerHTML = swatch(trace);
  word.append(trace.name);
  if (!chart.isPlain) hideByClick(chart, word, trace);
  return word;
}

function hideByClick(chart, button, trace) {
  button.setAttribute("aria-pressed", !chart.hidden.has(groupOf(trace)));
  button.addEventListener("click", () => {
    const group = groupOf(trace), isHidden = !chart.hidden.delete(group);
    if (isHidden) chart.hidden.add(group);
    button.setAttribute("aria-pressed", !isHidden);
    chart.again();
  });
  explain(chart, button, trace.meta);
}

const DOWN = '<svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path d="M6 1v6.5M3 5l3 3 3-3M1.5 10.8h9" '
  + 'fill="none" stroke="currentColor" stroke-width="1.4"/></svg>';

/** Return a button that opens the choice of a file format. */
function saver(chart) {
  const menu = make("span", "menu"), button = make("button", "save"), both = make("span", "saver", button, menu);
  const open = opener(both, button, menu);
  button.innerHTML = DOWN;
  button.title = "Save this chart";
  button.setAttribute("aria-label", "Save: " + chart.root.getAttribute("aria-label").split(/[.:,]/)[0]);
  menu.append(...KINDS.map(kind => {
    const one = make("button", "kind", kind.toUpperCase());
    one.setAttribute("aria-label", "Save as " + kind.toUpperCase());
    one.addEventListener("click", () => { open(false); button.focus(); save(chart, kind); });
    return one;
  }));
  return both;
}

/** Update the head. Unchanged words keep their elements, so that they keep the focus. */
export function write(chart, data, {title, meta = {}}) {
  const words = legendOf(data), text = title?.text ?? "";
  const style = ({line, marker, mode, fill, fillcolor}) => [line, marker?.color, marker?.symbol, mode, fill, fillcolor];
  const now = JSON.stringify([text, meta.help, words.map(trace => [groupOf(trace), trace.meta, style(trace)])]);
  if (now !== chart.written) {
    chart.written = now;
    chart.tip.hidden = true;
    const heading = make("span", "title", text), parts = text ? [heading] : [];
    if (meta.help && !chart.isPlain) {
      const help = make("button", "help", "?");
      help.setAttribute("aria-label", "Help for " + text);
      explain(chart, help, meta.help);
      parts.push(help);
    }
    // The title names a single curve.
    if (words.length > 1) parts.push(...words.map(trace => word(chart, trace)));
    if (!chart.isPlain) parts.push(saver(chart));
    chart.note = make("span", "note");
    chart.head.replaceChildren(...parts, chart.note);
  }
  if (chart.note.textContent !== (meta.note ?? "")) chart.note.textContent = meta.note ?? "";
}

