// A phone's answers: none is lost on the way, curves follow the finger, and the verdict follows the run.
import assert from "node:assert/strict";
import {test} from "node:test";

import {stroke, ticks} from "../../pages/charts/browser/curve_pad.js";
import {Answers} from "../../pages/room/browser/answers.js";
import {isRight, short, verdict} from "../../pages/room/browser/question.js";

const storage = () => { const own = {}; return {getItem: name => own[name] ?? null, setItem: (name, text) => { own[name] = text; }}; };
const reply = (status, body = {}) => ({status, json: async () => body});
const offline = () => new Error("offline");

/** A phone in a world that replies so, and its record; `kept` is its browser's storage. */
function phone(replies, kept = storage()) {
  const log = {sent: [], done: [], failed: 0};
  let now = 1000;
  const own = {log, now: () => now, pause: async () => { now += 60_000; }, failed: () => { log.failed += 1; },
    done: (guess, why) => log.done.push([guess, why]),
    post: async body => {
      log.sent.push(JSON.parse(body));
      const next = replies.shift() ?? reply(200);
      if (next instanceof Error) throw next;
      return next;
    }};
  return {own, log, kept, answers: new Answers(typeof kept === "function" ? kept : () => kept, "ABCDEF", own)};
}

test("an answer is sent again until the server has it, with the seconds since it was given", async () => {
  const {own, log, kept, answers} = phone([offline(), reply(503), reply(429), reply(200)]);
  await answers.put("a/b/0", 1, "1");
  assert.deepEqual(log.sent.map(one => one.age), [0, 60, 120, 180]);
  assert.deepEqual([log.done, log.failed], [[["1", ""]], 3]);
  const [{client, ...sent}] = log.sent;
  assert.deepEqual(sent, {code: "ABCDEF", name: "a/b/0", round: 1, guess: "1", age: 0});
  assert.match(client, /^[0-9a-f]{32}$/);
  await new Answers(() => kept, "ABCDEF", own).send();
  assert.equal(log.sent.length, 4);  // nothing waits any more
});

test("a later answer takes the place of the one that waits, and answers to other questions stay", async () => {
  const {own, log, answers} = phone([offline()]);
  own.pause = async () => { await answers.put("a/b/0", 1, "2"); await answers.put("a/b/1", 1, "0"); };
  await answers.put("a/b/0", 1, "1");
  assert.deepEqual(log.done.map(([guess]) => guess), ["2", "0"]);
  assert.deepEqual([answers.of("a/b/0", 1), answers.of("a/b/1", 1), answers.of("a/b/1", 2)], ["2", "0", null]);
});

test("an answer that was changed while it was sent is sent as it is now", async () => {
  const {own, log, answers} = phone([]), post = own.post;
  own.post = async body => { if (log.sent.length === 0) answers.put("a/b/0", 1, "2"); return post(body); };
  await answers.put("a/b/0", 1, "1");
  assert.deepEqual(log.sent.map(one => one.guess), ["1", "2"]);
  assert.deepEqual(log.done, [["2", ""]]);
});

test("an answer that is refused is not sent again", async () => {
  const {log, answers} = phone([reply(409, {why: "The time for answers is over."})]);
  await answers.put("a/b/0", 1, "1");
  await answers.send();
  assert.deepEqual(log.done, [["1", "The time for answers is over."]]);
  assert.deepEqual([log.sent.length, answers.of("a/b/0", 1)], [1, null]);
});

test("a page that is loaded again sends what waits, also if its storage holds nonsense or may not be used", async () => {
  const before = phone([offline()]), now = phone([], before.kept);
  before.own.pause = () => new Promise(() => {});  // the page is closed meanwhile
  before.answers.put("a/b/0", 1, "1");
  await new Answers(() => before.kept, "ABCDEF", now.own).send();
  assert.deepEqual(now.log.done, [["1", ""]]);
  assert.deepEqual(now.log.sent.map(({client}) => client), [before.answers.kept.client]);
  before.kept.setItem("dsgLab.ABCDEF", "<b>");
  await new Answers(() => before.kept, "ABCDEF", now.own).send();
  const barred = phone([], () => { throw new Error("barred"); });
  await barred.answers.put("a/b/0", 1, "2");
  assert.deepEqual([now.log.done.length, barred.log.done.length], [1, 1]);
});

test("a stroke changes the points that it passes, along a straight line", () => {
  const drawn = (from, to) => stroke([0, 0, 0, 0, 0, 0], [0, 10, 25, 50, 75, 100], from, to).map(v => Number(v.toFixed(2)));
  assert.deepEqual(drawn([5, 0.5], [55, 1.0]), [0, 0.55, 0.7, 0.95, 0, 0]);
  assert.deepEqual(drawn([50, 0.4], [50, 0.4]), [0, 0, 0, 0.4, 0, 0]);
});

test("the axis of a curve has about five values at round steps, and all of them lie on it", () => {
  assert.deepEqual(ticks(0.5, 1), [0.5, 0.6, 0.7, 0.8, 0.9, 1]);
  assert.deepEqual(ticks(-1, 0.5), [-1, -0.5, 0, 0.5]);
  for (const [low, high] of [[0, 0.2], [-4, 1], [0.25, 1], [0.4, 1], [0, 300]]) {
    const found = ticks(low, high);
    assert.ok(found.length >= 4 && found.length <= 7 && found[0] >= low && found.at(-1) <= high, found.join());
  }
});

test("a number is as exact as its scale, whole for years, and never off the scale", () => {
  for (const [value, low, high, text] of [
    [1999999, 0, 1999999, "1999999"], [1952, 1952, 2024, "1952"], [1988.2, 1952, 2024, "1988"], [7.46, 0, 10, "7.5"],
    [0.3751, 0, 1, "0.38"], [0.51234, 0.5, 0.7, "0.512"], [-0.1234, -0.1234, 0.1, "-0.123"], [0.0999, -0.2, 0.0999, "0.0999"],
  ]) assert.equal(short(value, {low, high}), text);
});

test("the verdict says right, wrong or neither, with the answer and the reason", () => {
  const pick = {kind: "pick", options: ["up", "down"], text: "?"}, result = {right: 1, answer: "down.", why: "It falls."};
  const answer = "The answer: B. down. It falls.";
  assert.deepEqual(verdict(pick, "1", result), ["✓ Right.", "It falls."]);
  assert.deepEqual(verdict(pick, "0", result), ["✗ Not this time.", answer]);
  assert.deepEqual([verdict(pick, null, result), verdict(pick, "0", {})], [["", answer], ["", ""]]);
  for (const [question, guess, result, right] of [
    [{kind: "curve", low: 0, high: 1}, "0.1~0.3", {value: [0.2, 0.2], near: 0.1}, true],
    [{kind: "curve", low: 0, high: 1}, "0.1~0.9", {value: [0.2, 0.2], near: 0.1}, false],
    [{kind: "number"}, "0.5", {value: 0.52, near: 0.05}, true],
    [{kind: "number"}, "0.5", {value: null, near: 0.05}, null],
    [{kind: "map"}, "0.5~0.5", {}, null],
  ]) assert.equal(isRight(question, guess, result), right);
});
