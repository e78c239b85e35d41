// Charts in the browser: what a legend shows, texts that are no markup, and a chart for the last row of a room.
import assert from "node:assert/strict";
import {test} from "node:test";

import {plain, swatch} from "../../pages/charts/browser/head.js";
import {apart, enlarge, nameEnds, valueAtEnd} from "../../pages/charts/browser/projected.js";

test("a thick curve is thick in the legend, too, but not thicker than the legend's words", () => {
  const width = line => Number(/stroke-width="([\d.]+)"/.exec(swatch({mode: "lines", line}))[1]);
  const lines = [{color: "black"}, ...[1.5, 4, 40].map(width => ({color: "black", width}))];
  assert.deepEqual(lines.map(width), [2, 1.5, 4, 4]);
});

test("tags in the names of a file are shown as they are written, except the app's own", () => {
  const link = "<a href='https://a.test'>x</a>";
  const data = [{name: "<b>x", x: [1, 2], y: ["<i>a", "b"], text: ["1<br>2"], hovertemplate: `${link}, %{x}<extra></extra>`}];
  const layout = {title: {text: link}, xaxis: {title: {text: "a < b"}, ticktext: [link]}, annotations: [{text: link}]};
  plain([data, layout]);
  const written = "&lt;a href='https://a.test'>x&lt;/a>";
  assert.deepEqual(data, [{name: "&lt;b>x", x: [1, 2], y: ["&lt;i>a", "b"], text: ["1<br>2"],
    hovertemplate: `${written}, %{x}<extra></extra>`}]);
  assert.deepEqual(layout, {title: {text: written}, xaxis: {title: {text: "a &lt; b"}, ticktext: [written]},
    annotations: [{text: written}]});
});

test("lines are thick enough, points grow, and what has no line gets none", () => {
  const data = [{line: {width: 0.7}}, {line: {width: 0}}, {marker: {size: 5, line: {width: 0.8}}}, {}];
  enlarge(data, 26);
  assert.deepEqual(data.map(({line, marker}) => line?.width ?? marker?.size), [3, 0, 10, undefined]);
});

test("each named line gets its last value in short, below one another, but no points and no line without a finite value", () => {
  const line = (name, y) => ({name, x: [0, 1], y, mode: "lines", line: {color: "#000"}}), layout = {yaxis: {range: [0, 1]}};
  nameEnds([line("a", [0, 0.5]), line("b", [0, NaN]), {...line("c", [0, 1]), mode: "markers"}, line("", [0, 1])], layout, 26, 200);
  assert.deepEqual(layout.annotations.map(({text, x, y}) => [text, x, y]), [["0.50", 1, 0.5]]);
  assert.deepEqual([0.8, -0.25, 0, 0.0012, 12345, 1e-12].map(valueAtEnd), ["0.80", "−0.25", "0.00", "1.2e−3", "1.2e4", "1.0e−12"]);
  assert.deepEqual(apart([10, 12, 100], 26), [10, 36, 100]);
  assert.deepEqual(apart([12, 10], 26), [36, 10]);
});
