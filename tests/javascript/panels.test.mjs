// The panels of "How it works": colours of values, rows of a field, and paths of curves.
import assert from "node:assert/strict";
import {test} from "node:test";

import {colorOf, paint, pathOf, scaleOf, unpacked} from "../../pages/explained/browser/panels.js";

test("bytes keep their sign", () => {
  assert.deepEqual([...unpacked(Buffer.from([129, 0, 127]).toString("base64"))], [-127, 0, 127]);
});

test("values below 0 are orange, values above 0 blue, and 0 is clear", () => {
  assert.deepEqual(colorOf(0)[3], 0);
  assert.ok(colorOf(-127)[0] > colorOf(-127)[2]);
  assert.ok(colorOf(127)[2] > colorOf(127)[0]);
});

test("a field's first row is at the bottom of the picture", () => {
  const pixels = new Uint8ClampedArray(16);
  paint(pixels, Int8Array.of(0, 0, 0, 0, 127, 0, 0, 0), 1, 2);
  assert.deepEqual([3, 7, 11, 15].map(i => pixels[i] > 0), [false, false, true, false]);
});

test("a logarithmic axis has its ends at the ends", () => {
  const scale = scaleOf({low: 1, high: 100, log: true}, 0, 10);
  assert.deepEqual([1, 10, 100].map(scale).map(Math.round), [0, 5, 10]);
});

test("a curve has gaps where there is no value or the chart ends", () => {
  const axes = {x: {low: 0, high: 4}, y: {low: 0, high: 1}}, same = value => value;
  const path = pathOf({x: [0, 1, 2, 3, 4], y: [0, null, 0.5, 9, 1], style: "strong"}, same, same, axes);
  assert.equal(path, "M0.0 0.0M2.0 0.5M4.0 1.0");
});
