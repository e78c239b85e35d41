// A chart for the last row of a room.
import assert from "node:assert/strict";
import test from "node:test";

import {apart, enlarge, nameEnds, valueAtEnd} from "../../pages/charts/browser/projected.js";

test("a value at a curve's end is short", () => {
  assert.deepEqual([0.8, -0.25, 0, 0.0012, 12345, 1e-12].map(valueAtEnd), ["0.80", "−0.25", "0.00", "1.2e−3", "1.2e4", "1.0e−12"]);
});

test("texts keep their order and none covers another", () => {
  assert.deepEqual(apart([10, 12, 100], 26), [10, 36, 100]);
  assert.deepEqual(apart([12, 10], 26), [36, 10]);
});

test("lines are thick enough, points grow, and what has no line gets none", () => {
  const data = [{line: {width: 0.7}}, {line: {width: 0}}, {marker: {size: 5, line: {width: 0.8}}}, {}];
  enlarge(data, 26);
  assert.deepEqual(data.map(({line, marker}) => line?.width ?? marker?.size), [3, 0, 10, undefined]);
});

test("each named line gets its last value, but no points and no line without a finite value", () => {
  const line = (name, y) => ({name, x: [0, 1], y, mode: "lines", line: {color: "#000"}}), layout = {yaxis: {range: [0, 1]}};
  nameEnds([line("a", [0, 0.5]), line("b", [0, NaN]), {...line("c", [0, 1]), mode: "markers"}, line("", [0, 1])], layout, 26, 200);
  assert.deepEqual(layout.annotations.map(({text, x, y}) => [text, x, y]), [["0.50", 1, 0.5]]);
});
