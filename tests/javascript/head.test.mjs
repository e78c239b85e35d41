// The head of a chart: its legend shows how a trace is drawn.
import assert from "node:assert/strict";
import test from "node:test";
import {swatch} from "../../pages/charts/browser/head.js";

const width = line => Number(/stroke-width="([\d.]+)"/.exec(swatch({mode: "lines", line}))[1]);

test("a thick curve is thick in the legend, too, but not thicker than the legend's words", () => {
  assert.equal(width({color: "black"}), 2);
  assert.equal(width({color: "black", width: 1.5}), 1.5);
  assert.equal(width({color: "black", width: 4}), 4);
  assert.equal(width({color: "black", width: 40}), 4);
});
