// Points to edit: near, next, below a brush, in words, and on their way to the server; and the divider between two maps.
import assert from "node:assert/strict";
import {test} from "node:test";

import {wiped} from "../../pages/live/browser/charts.js";
import {
  along, classOf, digitOf, direction, frame, nearest, next, Outbox, rounded, spoken, sprayed, within,
} from "../../pages/live/browser/points.js";

const points = {x: [0, 1, 2, 1], y: [0, 0, 0, 1], labels: [-1, 0, 1, -1], classes: ["negative", "positive"], isPairs: false};

test("the nearest point is within reach, and arrows walk to the next one in their direction and stay at the last", () => {
  assert.deepEqual([[0.9, 0.1], [5, 5]].map(place => nearest(points, place, 0.5)), [1, -1]);
  const walks = [[0, "ArrowRight"], [1, "ArrowUp"], [2, "ArrowRight"]];
  assert.deepEqual(walks.map(([from, key]) => next(points, from, direction(key))), [1, 3, 2]);
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
  assert.deepEqual([classOf("2", points.classes), classOf("9", points.classes), classOf("0", ["0", "1"])], [1, -1, 0]);
  assert.equal(digitOf(1, ["low", "high"]), "2");
});

test("a point is said with its number, its place and its label", () => {
  assert.equal(spoken(points, 1), "point 2 of 4, x 1, y 0, labeled negative");
  assert.equal(spoken(points, 0), "point 1 of 4, x 0, y 0, unlabeled");
  assert.equal(spoken({...points, isPairs: true}, 1), "point 2 of 4, x 1, y 0, in pair 1");
  assert.equal(spoken(points, -1), "no point");
});

test("pixels and coordinates are two names of one place, rounded to a thousandth of the map's width", () => {
  const at = frame({left: 5, top: 7, width: 200, height: 100}, [-1, 1], [0, 1]);
  assert.deepEqual(at.toPlot(100, 100), [0, 0]);
  assert.deepEqual(at.toPixels(...at.toPlot(30, 40)).map(Math.round), [30, 40]);
  assert.deepEqual([rounded(0.123456, 1), rounded(1234.56, 5000)], [0.123, 1235]);
});

test("a line mixes two maps", () => {
  const left = [[1, 1, 1, 1]], right = [[2, 2, 2, 2]];
  assert.deepEqual([0, 0.5, 1].map(place => wiped(left, right, place)), [right, [[1, 1, 2, 2]], left]);
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
