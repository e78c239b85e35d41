// What the page shows: of two snapshots the newer, whichever way they came.
import assert from "node:assert/strict";
import {test} from "node:test";

import {Shown, read} from "../../pages/live/browser/shown.js";

const said = (order, keys, more = {}) => ({page: "auc", order, charts: [{key: "map", place: "map"}],
  figures: keys.map(key => ({key, alt: key})), ...more});

test("an older snapshot changes nothing that is newer", () => {
  const shown = new Shown();
  assert.ok(shown.take(said(2, ["map"]), ["two"]));
  assert.ok(!shown.take(said(1, ["map"]), ["one"]));
  assert.equal(shown.order, 2);
  assert.equal(shown.figures.get("map").figure, "two");
});

test("a figure that came late with an older snapshot is shown if the newer one did not bring it", () => {
  const shown = new Shown();
  shown.take(said(2, []), []);
  shown.take(said(1, ["map"]), ["one"]);
  assert.equal(shown.order, 2);
  assert.equal(shown.figures.get("map").figure, "one");
});

test("another page begins anew, also with smaller numbers", () => {
  const shown = new Shown();
  shown.take(said(9, ["map"]), ["auc"]);
  shown.take(said(1, [], {page: "s3vm"}), []);
  assert.equal(shown.order, 1);
  assert.equal(shown.figures.size, 0);
});

test("a server that was started again begins anew, also with smaller numbers", () => {
  const shown = new Shown();
  shown.take(said(9, ["map"], {owner: "a"}), ["old"]);
  assert.ok(shown.take(said(0, ["map"], {owner: "b"}), ["new"]));
  assert.equal(shown.figures.get("map").figure, "new");
});

test("each part is drawn at once and after each snapshot, until it ends", () => {
  const shown = new Shown(), drawn = [];
  const stop = shown.on(({order}) => drawn.push(order));
  assert.deepEqual(drawn, []);
  shown.take(said(1, []), []);
  const late = [];
  shown.on(({order}) => late.push(order));
  stop();
  shown.take(said(2, []), []);
  assert.deepEqual([drawn, late], [[1], [1, 2]]);
});

test("an answer whose figures are cut off is not read", () => {
  assert.throws(() => read(JSON.stringify(said(1, ["map"]))), /incomplete/);
  assert.throws(() => read("not JSON"));
});

test("a head that leaves after another has come takes nothing away", () => {
  const shown = new Shown(), [old, moved] = [{}, {}];
  shown.keeper = old;
  shown.take(said(3, []), []);
  shown.keeper = moved;
  shown.leave(old);
  assert.equal(shown.order, 3);
  shown.leave(moved);
  assert.equal(shown.head, null);
});
