// A phone's answers: none is lost on the way, curves follow the finger, and the verdict follows the run.
import assert from "node:assert/strict";
import {test} from "node:test";

import {stroke, ticks} from "../../pages/charts/browser/curve_pad.js";
import {isRight, verdict} from "../../pages/room/browser/question.js";
import {Kept, Sending, WAITING} from "../../pages/room/browser/sending.js";

const storage = () => { const own = {}; return {getItem: name => own[name] ?? null, setItem: (name, text) => { own[name] = text; }}; };
const reply = (status, body = {}) => ({status, json: async () => body});

function world(replies) {
  const log = {sent: [], done: [], failed: 0};
  let now = 1000;
  return {log, now: () => now, pause: async () => { now += 60_000; }, failed: () => { log.failed += 1; }, done: (one, why) => log.done.push([one.guess, why]),
    post: async body => {
      log.sent.push(JSON.parse(body));
      const next = replies.shift() ?? reply(200);
      if (next instanceof Error) throw next;
      return next;
    }};
}

const given = (guess, name = "a/b/0", round = 1) => ({code: "ABCDEF", entry: "e", client: "c", name, round, guess});

test("an answer is sent again until the server has it, with the seconds since it was given", async () => {
  const own = world([new Error("offline"), reply(503), reply(429), reply(200)]), kept = new Kept(storage());
  await new Sending(kept, own).put(given("1"));
  assert.deepEqual(own.log.sent.map(one => one.age), [0, 60, 120, 180]);
  assert.deepEqual(own.log.done, [["1", ""]]);
  assert.equal(own.log.failed, 3);
  assert.deepEqual(kept.list(WAITING), []);
});

test("a later answer takes the place of the one that waits, and answers to other questions stay", async () => {
  const own = world([new Error("offline")]), kept = new Kept(storage());
  const sending = new Sending(kept, own);
  own.pause = async () => { await sending.put(given("2")); await sending.put(given("0", "a/b/1")); };
  await sending.put(given("1"));
  assert.deepEqual(own.log.done.map(([guess]) => guess), ["2", "0"]);
});

test("an answer that is refused is not sent again", async () => {
  const own = world([reply(409, {why: "The time for answers is over."})]), kept = new Kept(storage());
  await new Sending(kept, own).put(given("1"));
  assert.deepEqual(own.log.done, [["1", "The time for answers is over."]]);
  assert.deepEqual(kept.list(WAITING), []);
});

test("a page that is loaded again sends what waits, also if its storage holds nonsense or may not be used", async () => {
  const own = world([]), store = storage();
  store.setItem(WAITING, JSON.stringify([{...given("1"), at: 0}]));
  await new Sending(new Kept(store), own).send();
  assert.deepEqual(own.log.done, [["1", ""]]);
  store.setItem(WAITING, "<b>");
  await new Sending(new Kept(store), own).send();
  await new Sending(new Kept(null), own).put(given("2"));
  assert.equal(own.log.done.length, 2);
});

test("a stroke changes the points that it passes, along a straight line", () => {
  const xs = [0, 10, 25, 50, 75, 100];
  assert.deepEqual(stroke([0, 0, 0, 0, 0, 0], xs, [5, 0.5], [55, 1.0]).map(v => Number(v.toFixed(2))), [0, 0.55, 0.7, 0.95, 0, 0]);
  assert.deepEqual(stroke([0, 0, 0, 0, 0, 0], xs, [50, 0.4], [50, 0.4]), [0, 0, 0, 0.4, 0, 0]);
});

const pick = {kind: "pick", options: ["up", "down"], text: "?"};
const curve = {kind: "curve", low: 0, high: 1};

test("the verdict says right, wrong or neither, with the answer and the reason", () => {
  const result = {right: 1, answer: "down.", why: "It falls."};
  assert.deepEqual(verdict(pick, "1", result), ["✓ Right.", "It falls."]);
  assert.deepEqual(verdict(pick, "0", result), ["✗ Not this time.", "The answer: B. down. It falls."]);
  assert.deepEqual(verdict(pick, null, result), ["", "The answer: B. down. It falls."]);
  assert.deepEqual(verdict(pick, "0", {}), ["", ""]);
  assert.equal(isRight(curve, "0.1~0.3", {value: [0.2, 0.2], near: 0.1}), true);
  assert.equal(isRight(curve, "0.1~0.9", {value: [0.2, 0.2], near: 0.1}), false);
  assert.equal(isRight({kind: "number"}, "0.5", {value: 0.52, near: 0.05}), true);
  assert.equal(isRight({kind: "number"}, "0.5", {value: null, near: 0.05}), null);
  assert.equal(isRight({kind: "map"}, "0.5~0.5", {}), null);
});

test("the axis of a curve has about five values at round steps, and all of them lie on it", () => {
  assert.deepEqual(ticks(0.5, 1), [0.5, 0.6, 0.7, 0.8, 0.9, 1]);
  assert.deepEqual(ticks(-1, 0.5), [-1, -0.5, 0, 0.5]);
  for (const [low, high] of [[0, 0.2], [-4, 1], [0.25, 1], [0.4, 1], [0, 300]]) {
    const found = ticks(low, high);
    assert.ok(found.length >= 4 && found.length <= 7 && found[0] >= low && found.at(-1) <= high, found.join());
  }
});
