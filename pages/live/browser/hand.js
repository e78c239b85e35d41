// Hands on the data: the reader labels, pairs, paints, erases and moves points in the map, by mouse, touch or keys.
import {chip, createTools, draw} from "./hand_tools.js";
import {Outbox, UNLABELED, along, classOf, digitOf, direction, frameOf, nearest, next, place, rounded, spoken, sprayed, within}
  from "./points.js";

const REACH = 16;       // pixels around a click in which a point is hit
const DABS = 3;         // points that one dab paints
const KEY_STEP = 1 / 40;  // of the map's width, for keys

/** Create the editor of a chart's points; `send` gets the edits that the server has not taken yet. */
export function createHand({root, node}, send) {
  const state = {tool: "", brush: 0, isLabeled: false, size: 5};
  const outbox = new Outbox(send), area = document.createElement("div"), canvas = document.createElement("canvas");
  const box = document.createElement("div"), live = document.createElement("div");
  area.className = "hand-area";
  box.className = "hand-box";
  live.className = "hand-live";
  live.setAttribute("aria-live", "polite");
  Object.assign(area, {tabIndex: 0});
  area.setAttribute("role", "application");
  area.setAttribute("aria-label", "Points of the map. Arrow keys walk from point to point.");
  area.append(canvas, live);
  let points = null, late = null, at = null, now = -1, chosen = -1, cross = null, stroke = null, shift = null, brush = null;

  const act = edit => { outbox.add(edit); close(); };
  const tools = createTools(state, {
    undo: () => act({do: "undo"}),
    redo: () => act({do: "redo"}),
    reset: () => act({do: "reset"}),
    all: () => act(state.tool === "erase" ? {do: "erase", rows: "all"} : {do: "label", rows: "all"}),
  }, () => { close(); chosen = -1; brush = null; area.dataset.tool = state.tool; redraw(); });
  root.insertBefore(tools.root, node);
  root.append(area, box);
  box.hidden = true;

  const radius = () => at.size * state.size / 100;
  const say = text => { live.textContent = text; };
  const colorOf = to => (to === null || points.isPairs ? "" : points.colors[to]) || "#8A949E";
  const pixels = i => at.toPixels(points.x[i], points.y[i]);
  const here = event => {
    const {left, top} = area.getBoundingClientRect();
    return at.toPlot(event.clientX - left, event.clientY - top);
  };
  const hit = spot => nearest(points, spot, REACH / at.scale);

  function redraw() {
    if (!at || !points) return;
    const dots = [...outbox.waiting.map(({edit}) => edit), ...(stroke?.edit ? [stroke.edit] : [])].flatMap(dotsOf);
    const rings = [now, chosen, shift?.i ?? -1].filter(i => i >= 0 && i < points.x.length).map(pixels);
    const isBrush = state.tool === "paint" || state.tool === "erase";
    draw(canvas, at, {dots, rings: isBrush ? [] : rings, cross: isBrush && cross ? at.toPixels(...cross) : null,
      brush: isBrush && (brush ?? cross) ? {at: at.toPixels(...(brush ?? cross)), radius: radius() * at.scale} : null},
    getComputedStyle(area).color);
  }

  /** Return the marks of an edit that the map does not show yet. */
  function dotsOf({do: kind, rows, to = null, at: spots = [], is_labeled: isFilled}) {
    if (kind === "label" && rows !== "all") return rows.map(row => ({at: pixels(points.rows.indexOf(row)), color: colorOf(to), isFilled: to !== null}));
    if (kind === "pair") return rows.map(row => ({at: pixels(points.rows.indexOf(row)), color: points.colors[0], isFilled: true}));
    const dots = [];
    for (let i = 0; i < spots.length; i += 2) dots.push({at: at.toPixels(spots[i], spots[i + 1]), color: colorOf(to), isFilled});
    return dots;
  }

  // --- labels and pairs

  function label(i, to) {
    if (i < 0 || (points.isPairs && to !== null)) return;
    points.labels[i] = to ?? UNLABELED;
    act({do: "label", rows: [points.rows[i]], ...(to === null ? {} : {to})});
    say(spoken(points, i));
    redraw();
  }

  function choose(i) {
    if (i < 0) { chosen = -1; close(); redraw(); return; }
    now = i;
    if (points.isPairs) {
      if (chosen >= 0 && chosen !== i) {
        act({do: "pair", rows: [points.rows[chosen], points.rows[i]]});
        chosen = -1;
        say("paired with " + spoken(points, i));
      } else {
        chosen = i;
        open(i, "Click the second point of the pair.");
      }
    } else open(i, "");
    redraw();
  }

  function open(i, text) {
    const isKnown = points.labels[i] !== UNLABELED;
    const options = points.isPairs ? [] : points.classes.map((name, number) =>
      chip(`${digitOf(number, points.classes)} ${name}`, points.colors[number], () => { label(i, number); area.focus(); }));
    if (isKnown) options.push(chip(points.isPairs ? "Take the pair apart" : "No label", "", () => { chosen = -1; label(i, null); area.focus(); }));
    box.replaceChildren(text, ...options);
    const [x, y] = pixels(i);
    box.hidden = false;
    const left = Math.min(at.left + x + 12, root.clientWidth - box.offsetWidth - 4);
    Object.assign(box.style, {left: `${Math.max(0, left)}px`, top: `${at.top + Math.min(y + 12, at.height - box.offsetHeight)}px`});
  }

  function close() { box.hidden = true; }

  // --- strokes

  function paint(spot, count = 1) {
    const left = points.left - stroke.edit.at.length / 2;
    for (let i = 0; i < Math.min(count, left); i++) {
      const [x, y] = at.toPixels(...sprayed(spot, radius()));
      const inside = at.toPlot(Math.min(Math.max(x, 0), at.width), Math.min(Math.max(y, 0), at.height));
      stroke.edit.at.push(...inside.map(value => rounded(value, at.size)));
    }
  }

  function erase(spot) { for (const i of within(points, spot, radius())) stroke.found.add(i); }

  function begin(spot) {
    const {brush: to, isLabeled} = state;
    if (state.tool === "paint") {
      const isSeen = isLabeled && to !== null && !points.isPairs;
      stroke = {last: spot, edit: {do: "paint", at: [], ...(to === null ? {} : {to}), ...(isSeen ? {is_labeled: true} : {})}};
      paint(spot, DABS);
    } else if (state.tool === "erase") {
      stroke = {last: spot, found: new Set()};
      erase(spot);
    } else if (state.tool === "move") {
      const i = hit(spot);
      stroke = i < 0 ? null : {i, last: spot};
      if (stroke) now = i;
    }
  }

  function go(spot) {
    if (state.tool === "move") [points.x[stroke.i], points.y[stroke.i]] = spot;
    else {
      const places = along(stroke.last, spot, radius());
      if (!places.length) return;
      for (const one of places) if (stroke.edit) paint(one); else erase(one);
    }
    stroke.last = spot;
  }

  function finish() {
    const {edit, found, i} = stroke;
    stroke = null;
    if (edit?.at.length) act(edit);
    else if (found?.size) act({do: "erase", rows: [...found].map(one => points.rows[one])});
    else if (i !== undefined) moved(i);
    if (edit) say(`${edit.at.length / 2} points painted`);
    if (found) say(`${found.size} points erased`);
  }

  const moved = i => {
    act({do: "move", rows: [points.rows[i]], at: [points.x[i], points.y[i]].map(value => rounded(value, at.size))});
    say(spoken(points, i));
  };

  // --- mouse and touch

  const isStroke = () => ["paint", "erase", "move"].includes(state.tool);
  area.addEventListener("pointerdown", event => {
    if (!points || !at || event.button !== 0) return;
    if (isStroke()) {
      event.preventDefault();
      area.setPointerCapture(event.pointerId);
      begin(here(event));
    }
    redraw();
  });
  // A stroke that ends fast is a fling to the browser, which would swallow the tap that follows.
  area.addEventListener("touchstart", event => { if (isStroke()) event.preventDefault(); }, {passive: false});
  area.addEventListener("pointermove", event => {
    if (!points || !at) return;
    brush = here(event);
    if (stroke) go(brush);
    if (isStroke()) redraw();
  });
  area.addEventListener("pointerup", () => { if (stroke) finish(); settle(); });
  area.addEventListener("pointercancel", () => { stroke = null; settle(); });
  area.addEventListener("pointerleave", () => { brush = null; redraw(); });
  area.addEventListener("click", event => { if (points && at && !isStroke()) choose(hit(here(event))); });
  area.addEventListener("contextmenu", event => {
    if (!points || !at || state.tool !== "label") return;
    event.preventDefault();
    const i = hit(here(event)), to = i < 0 ? null : points.labels[i] + 1;
    if (i >= 0) { now = i; label(i, to < points.classes.length ? to : null); }
  });

  // --- keys

  function walk(way) {
    now = now < 0 || now >= points.x.length ? nearest(points, at.toPlot(at.width / 2, at.height / 2), Infinity) : next(points, now, way);
    say(spoken(points, now));
  }

  function moveBy(way) {
    shift = {i: now};
    points.x[now] += way[0] * at.size * KEY_STEP;
    points.y[now] += way[1] * at.size * KEY_STEP;
  }

  function arrow(way, isShift) {
    if (state.tool === "paint" || state.tool === "erase") {
      brush = null;
      const [x, y] = cross ?? at.toPlot(at.width / 2, at.height / 2);
      cross = [x + way[0] * at.size * KEY_STEP, y + way[1] * at.size * KEY_STEP];
      say(`brush at x ${Number(cross[0].toPrecision(3))}, y ${Number(cross[1].toPrecision(3))}`);
    } else if (isShift && state.tool === "move" && now >= 0) moveBy(way);
    else walk(way);
  }

  function pressed(key) {
    const to = classOf(key, points.classes);
    if ((key === " " || key === "Enter") && (state.tool === "paint" || state.tool === "erase")) {
      cross ??= at.toPlot(at.width / 2, at.height / 2);
      begin(cross);
      finish();
    } else if (key === " " || key === "Enter") choose(now);
    else if (key === "Backspace" || key === "Delete") {
      if (state.tool === "erase") act({do: "erase", rows: [points.rows[now]]}); else label(now, null);
    } else if (to >= 0 && state.tool === "paint") state.brush = to, tools.show(points);
    else if (to >= 0 && now >= 0 && !points.isPairs) label(now, to);
    else return false;
    return true;
  }

  area.addEventListener("keydown", event => {
    if (!points || !at) return;
    const way = direction(event.key), isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && /^[zy]$/i.test(event.key)) act({do: event.key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo"});
    else if (isCommand || event.altKey) return;
    else if (way) arrow(way, event.shiftKey);
    else if (!pressed(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    redraw();
  });
  area.addEventListener("keyup", event => {
    if (event.key !== "Shift" || !shift) return;
    moved(shift.i);
    shift = null;
    settle();
  });
  const closeByKey = event => {
    if (event.key !== "Escape" || box.hidden) return;
    chosen = -1;
    close();
    area.focus();
    redraw();
  };
  document.addEventListener("keydown", closeByKey, true);  // wherever the focus is

  const settle = () => { if (late) hand.show(late); else redraw(); };

  const hand = {
    /** Show the points of a snapshot, as JSON. */
    show(text) {
      late = stroke || shift ? text : null;  // a stroke goes on with the points that it began with
      if (late) return;
      points = JSON.parse(text);
      outbox.taken(...points.taken);
      tools.show(points);
      area.dataset.tool = state.tool;
      this.fit();
    },
    /** Follow the plot's area, after each of its drawings. */
    fit() {
      at = frameOf(node, root);
      if (at) place(area, at);
      redraw();
    },
    end() {
      outbox.end();
      document.removeEventListener("keydown", closeByKey, true);
      for (const part of [tools.root, area, box]) part.remove();
    },
  };
  return hand;
}
