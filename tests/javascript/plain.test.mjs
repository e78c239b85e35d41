// Texts of a figure: the tags in the names of a file are no links and no styles.
import assert from "node:assert/strict";
import {test} from "node:test";

import {plain} from "../../pages/charts/browser/head.js";

test("tags are shown as they are written, except the app's own", () => {
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
