// Points to edit: near, next, below a brush, and in words.
import assert from "node:assert/strict";
import {test} from "node:test";

import {frame} from "../../pages/live/browser/points.js";
import {Outbox} from "../../pages/live/browser/points.js";
import {along, classOf, digitOf, direction, nearest, next, rounded, spoken, sprayed, within} from "../../pages/live/browser/points.js";
import {wiped} from "../../pages/live/browser/charts.js";

const points = {x: [0, 1, 2, 1], y: [0, 0, 0, 1], labels: [-1, 0, 1, -1], classes: ["negative", "positive"], isPairs: false};

test("the nearest point is within reach", () => {
  assert.equal(nearest(points, [0.9, 0.1], 0.5), 1);
  assert.equal(nearest(points, [5, 5], 0.5), -1);
});

test("arrows walk to the next point in their direction and stay at the last one", () => {
  assert.equal(next(points, 0, direction("ArrowRight")), 1);
  assert.equal(next(points, 1, direction("ArrowUp")), 3);
  assert.equal(next(points, 2, direction("ArrowRight")), 2);
  assert.equal(direction("a"), undefined);
});

test("a brush covers a disc and paints along its way", () => {
  assert.deepEqual(within(points, [1, 0], 1), [0, 1, 2, 3]);
  assert.equal(along([0, 0], [1, 0], 0.3).length, 10);
  assert.deepEqual(along([0, 0], [0.01, 0], 0.3), []);
  const [x, y] = sprayed([2, 3], 0.5);
  assert.ok(Math.hypot(x - 2, y - 3) <= 0.5);
});

test("digits name classes by their place, or by names that are digits", () => {
  assert.equal(classOf("2", points.classes), 1);
  assert.equal(classOf("9", points.classes), -1);
  assert.equal(classOf("0", ["0", "1"]), 0);
  assert.equal(digitOf(1, ["low", "high"]), "2");
});

test("a point is said with its number, its place and its label", () => {
  assert.equal(spoken(points, 1), "point 2 of 4, x 1, y 0, labeled negative");
  assert.equal(spoken(points, 0), "point 1 of 4, x 0, y 0, unlabeled");
  assert.equal(spoken({...points, isPairs: true}, 1), "point 2 of 4, x 1, y 0, in pair 1");
  assert.equal(spoken(points, -1), "no point");
});

test("coordinates are rounded to a thousandth of the map's width", () => {
  assert.equal(rounded(0.123456, 1), 0.123);
  assert.equal(rounded(1234.56, 5000), 1235);
});

test("pixels and coordinates are two names of one place", () => {
  const at = frame({left: 5, top: 7, width: 200, height: 100}, [-1, 1], [0, 1]);
  assert.deepEqual(at.toPlot(100, 100), [0, 0]);
  assert.deepEqual(at.toPixels(...at.toPlot(30, 40)).map(Math.round), [30, 40]);
});

test("a line mixes two maps", () => {
  const left = [[1, 1, 1, 1]], right = [[2, 2, 2, 2]];
  assert.deepEqual(wiped(left, right, 0.5), [[1, 1, 2, 2]]);
  assert.deepEqual(wiped(left, right, 0), right);
  assert.deepEqual(wiped(left, right, 1), left);
});

test("edits that were not taken are sent again, and those that were are not", () => {
  const sent = [], later = [], box = new Outbox(one => sent.push(one), work => later.push(work));
  box.add({do: "undo"});
  box.add({do: "redo"});
  assert.deepEqual(sent[1].edits, [[1, {do: "undo"}], [2, {do: "redo"}]]);
  box.taken("another mount", 9);
  box.taken(box.mount, 1);
  later.at(-1)();
  assert.deepEqual(sent[2].edits, [[2, {do: "redo"}]]);
  box.taken(box.mount, 2);
  later.at(-1)();
  assert.equal(sent.length, 3);
});
