// A phone's answers: none is lost on the way, curves follow the finger, and the verdict follows the run.
import assert from "node:assert/strict";
import {test} from "node:test";

import {stroke, ticks} from "../../pages/charts/browser/curve_pad.js";
import {Answers} from "../../pages/room/browser/answers.js";
import {isRight, verdict} from "../../pages/room/browser/question.js";

const storage = () => { const own = {}; return {getItem: name => own[name] ?? null, setItem: (name, text) => { own[name] = text; }}; };
const reply = (status, body = {}) => ({status, json: async () => body});

function world(replies) {
  const log = {sent: [], done: [], failed: 0};
  let now = 1000;
  return {log, now: () => now, pause: async () => { now += 60_000; }, failed: () => { log.failed += 1; }, done: (guess, why) => log.done.push([guess, why]),
    post: async body => {
      log.sent.push(JSON.parse(body));
      const next = replies.shift() ?? reply(200);
      if (next instanceof Error) throw next;
      return next;
    }};
}

test("an answer is sent again until the server has it, with the seconds since it was given", async () => {
  const own = world([new Error("offline"), reply(503), reply(429), reply(200)]), kept = storage();
  const answers = new Answers(() => kept, "ABCDEF", own);
  await answers.put("a/b/0", 1, "1");
  assert.deepEqual(own.log.sent.map(one => one.age), [0, 60, 120, 180]);
  assert.deepEqual(own.log.done, [["1", ""]]);
  assert.equal(own.log.failed, 3);
  const [{client, ...sent}] = own.log.sent;
  assert.deepEqual(sent, {code: "ABCDEF", name: "a/b/0", round: 1, guess: "1", age: 0});
  assert.match(client, /^[0-9a-f]{32}$/);
  await new Answers(() => kept, "ABCDEF", own).send();
  assert.equal(own.log.sent.length, 4);  // nothing waits any more
});

test("a later answer takes the place of the one that waits, and answers to other questions stay", async () => {
  const own = world([new Error("offline")]), answers = new Answers(storage, "ABCDEF", own);
  own.pause = async () => { await answers.put("a/b/0", 1, "2"); await answers.put("a/b/1", 1, "0"); };
  await answers.put("a/b/0", 1, "1");
  assert.deepEqual(own.log.done.map(([guess]) => guess), ["2", "0"]);
  assert.deepEqual([answers.of("a/b/0", 1), answers.of("a/b/1", 1), answers.of("a/b/1", 2)], ["2", "0", null]);
});

test("an answer that was changed while it was sent is sent as it is now", async () => {
  const own = world([]), answers = new Answers(storage, "ABCDEF", own), post = own.post;
  own.post = async body => { if (own.log.sent.length === 0) answers.put("a/b/0", 1, "2"); return post(body); };
  await answers.put("a/b/0", 1, "1");
  assert.deepEqual(own.log.sent.map(one => one.guess), ["1", "2"]);
  assert.deepEqual(own.log.done, [["2", ""]]);
});

test("an answer that is refused is not sent again", async () => {
  const own = world([reply(409, {why: "The time for answers is over."})]), answers = new Answers(storage, "ABCDEF", own);
  await answers.put("a/b/0", 1, "1");
  await answers.send();
  assert.deepEqual(own.log.done, [["1", "The time for answers is over."]]);
  assert.equal(own.log.sent.length, 1);
  assert.equal(answers.of("a/b/0", 1), null);
});

test("a page that is loaded again sends what waits, also if its storage holds nonsense or may not be used", async () => {
  const kept = storage(), offline = world([new Error("offline")]), own = world([]);
  offline.pause = () => new Promise(() => {});  // the page is closed meanwhile
  const before = new Answers(() => kept, "ABCDEF", offline);
  before.put("a/b/0", 1, "1");
  await new Answers(() => kept, "ABCDEF", own).send();
  assert.deepEqual(own.log.done, [["1", ""]]);
  assert.deepEqual(own.log.sent.map(({client}) => client), [before.kept.client]);
  kept.setItem("dsgLab.ABCDEF", "<b>");
  await new Answers(() => kept, "ABCDEF", own).send();
  await new Answers(() => { throw new Error("barred"); }, "ABCDEF", own).put("a/b/0", 1, "2");
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
