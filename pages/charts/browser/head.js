// The words above a chart: title, legend with the curves' present values, note, and a menu that hides curves and saves the chart.
import {KINDS, save} from "./saving.js";

const TAG = /<(?!(br|extra|\/extra)>)/g;  // the app's own tags stay

/** Write the tags in all texts of a part of a figure as they are, in place: plotly would make links and styles of those in a file's names. */
export function plain(part) {
  for (const [key, value] of Object.entries(part)) {
    if (typeof value === "string") {
      if (value.includes("<")) part[key] = value.replace(TAG, "&lt;");
    } else if (value instanceof Object && typeof value[0] !== "number") {  // numbers are many, and no text
      plain(value);
    }
  }
}

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
export function legendOf(data) {
  const named = data.filter(trace => trace.name && trace.showlegend !== false && trace.type !== "heatmap");
  return [...new Map(named.map(trace => [groupOf(trace), trace])).values()];
}

/** Show an explanation right below its word, and inside of the element that holds both. */
function showTip({tip}, element, ...said) {
  tip.replaceChildren(...said);
  tip.hidden = false;
  const room = tip.offsetParent?.getBoundingClientRect(), word = element.getBoundingClientRect();
  if (!room) return;
  const left = Math.max(0, Math.min(word.left - room.left, room.width - tip.offsetWidth));
  Object.assign(tip.style, {left: `${left}px`, top: `${word.bottom - room.top + 4}px`});
}

/** Return the way to a word's entry; there is none in a file apart from the app. */
function wayToGlossary(name) {
  if (!document.querySelector(".stApp")) return [];
  const link = make("a", "entry", "Glossary"), words = name.replace(/\(.*\)/, "").trim();
  link.href = new URL("glossary?" + new URLSearchParams({find: words}), document.baseURI);
  link.target = "_blank";  // in this tab the run would be lost
  return [" ", link];
}

/** Explain a word under the pointer; after a click or a tap on it until the next press elsewhere, with the way to its entry. */
function explainWord(chart, element, name, sentence) {
  if (chart.isPlain || !sentence) return;
  const {tip} = chart, isKept = () => tip.dataset.word === name;
  const hide = () => { tip.hidden = true; delete tip.dataset.word; };
  element.classList.add("live-chart-explained");
  element.addEventListener("pointerenter", () => isKept() || showTip(chart, element, sentence));
  element.addEventListener("pointerleave", () => isKept() || hide());
  element.addEventListener("click", () => {
    tip.dataset.word = name;
    showTip(chart, element, sentence, ...wayToGlossary(name));
    addEventListener("pointerdown", function elsewhere(event) {
      if (tip.contains(event.target)) return;
      removeEventListener("pointerdown", elsewhere, true);
      hide();
    }, true);
  });
}

/** Show a sentence while the pointer or the keyboard is on an element, until a click on it. */
function explain({tip}, element, sentence) {
  if (!sentence) return;
  element.setAttribute("aria-describedby", tip.id);
  const hide = () => { tip.hidden = true; };
  for (const begin of ["pointerenter", "focus"]) element.addEventListener(begin, () => showTip({tip}, element, sentence));
  for (const end of ["pointerleave", "blur", "click"]) element.addEventListener(end, hide);
  element.addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
}

/** Return a word of the legend: how its curve is drawn, its name, and the place of its present value. */
function word(chart, trace) {
  const word = make("span", "word");
  word.innerHTML = swatch(trace);
  word.append(trace.name, valueOf(chart, trace));
  explainWord(chart, word, trace.name, trace.meta);
  return word;
}

/** Return the place of a curve's present value. */
function valueOf(chart, trace) {
  const value = make("b", "value");
  chart.values.set(groupOf(trace), value);
  return value;
}

/** Return a button that hides a curve and shows it again. */
function hider(chart, trace) {
  const button = make("button", "curve");
  button.innerHTML = swatch(trace);
  button.append(trace.name);
  const mark = () => button.setAttribute("aria-pressed", !chart.hidden.has(groupOf(trace)));
  mark();
  button.addEventListener("click", () => {
    const group = groupOf(trace);
    if (!chart.hidden.delete(group)) chart.hidden.add(group);
    mark();
    chart.again();
  });
  return button;
}

const DOTS = '<svg width="14" height="12" viewBox="0 0 14 12" aria-hidden="true"><g fill="currentColor"><circle cx="2" cy="6" r="1.4"/>'
  + '<circle cx="7" cy="6" r="1.4"/><circle cx="12" cy="6" r="1.4"/></g></svg>';

/** Return a button that explains a chart, and opens a menu: the explanation, the curves, to hide them, and the formats of files. */
function helper(chart, title, {help, about}, words) {
  const menu = make("span", "menu"), button = make("button", "help"), both = make("span", "helper", button, menu);
  const open = opener(both, button, menu), named = words.filter(trace => words.length > 1 && trace.meta);
  const said = chart.isPlain ? "" : [help, ...named.map(trace => `${trace.name}: ${trace.meta}`)].filter(Boolean).join("\n");
  button.innerHTML = DOTS;
  button.setAttribute("aria-label", ["Help for " + (title || "this chart"), about].filter(Boolean).join(", "));
  explain(chart, button, said);
  if (said) menu.append(make("span", "said", said));
  if (words.length > 1) menu.append(...words.map(trace => hider(chart, trace)));
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
  const now = JSON.stringify([text, meta.help, meta.about, words.map(trace => [groupOf(trace), trace.meta, style(trace)])]);
  if (now !== chart.written) {
    chart.written = now;
    chart.tip.hidden = true;
    delete chart.tip.dataset.word;
    chart.values = new Map();
    const heading = make("span", "title", text), parts = text ? [heading] : [];
    explainWord(chart, heading, text, meta.help);
    if (words.length === 1) parts.push(valueOf(chart, words[0]));  // the title names a single curve
    if (words.length > 1) parts.push(...words.map(trace => word(chart, trace)));
    chart.note = make("span", "note");
    chart.head.replaceChildren(...parts, chart.note, helper(chart, text, meta, words));
  }
  for (const [name, place] of chart.values) {
    const value = meta.values?.[name] ?? "";
    if (place.textContent !== value) place.textContent = value;
  }
  if (chart.note.textContent !== (meta.note ?? "")) chart.note.textContent = meta.note ?? "";
}
