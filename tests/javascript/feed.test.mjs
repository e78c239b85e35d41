// A run in the browser: what its feed asks for and when, and which of two snapshots the page shows.
import assert from "node:assert/strict";
import {test} from "node:test";

import {Feed, trouble, understood} from "../../pages/live/browser/feed.js";
import {Shown, read} from "../../pages/live/browser/shown.js";

const snapshot = more => JSON.stringify({page: "auc", order: 1, charts: [], figures: [], isOver: false, redraw: false, ...more});
const last = snapshot({isOver: true});
const going = feed => feed.follow({token: "t", pace: 0, isOver: false});
const over = (...wishes) => feed => {
  feed.follow({token: "t", pace: 0, isOver: true});
  for (const wish of wishes) feed.want(wish);
};

/** Follow a run in a world that answers with these texts, one after another; return the record of what happens. */
async function run(answers, begin = going, more = {}) {
  const log = {asked: [], taken: [], redrawn: 0, complaints: [], reloads: 0, pauses: []};
  const feed = new Feed({
    ask: async body => {
      log.asked.push(body);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return (typeof answer === "function" ? answer(feed) : answer) ?? last;
    },
    take: said => log.taken.push(said),
    redraw: () => { log.redrawn += 1; },
    complain: (why, wait) => log.complaints.push([why, wait]),
    reload: () => { log.reloads += 1; },
    isSeen: () => true,
    isThere: () => true,
    pause: async milliseconds => { log.pauses.push(milliseconds); },
    ...more,
  });
  begin(feed);
  while (feed.isGoing) await new Promise(done => setTimeout(done));
  return log;
}

test("it asks until the run is over, one request after another", async () => {
  const {asked, taken, redrawn} = await run([snapshot(), snapshot(), snapshot({isOver: true, redraw: true})]);
  assert.deepEqual([asked, taken.length, redrawn], [["t", "t", "t"], 3, 1]);
});

test("it asks for nothing while the page is hidden or was left", async () => {
  for (const more of [{isSeen: () => false}, {isThere: () => false}])
    assert.deepEqual((await run([snapshot()], going, more)).asked, []);
});

test("a busy server is asked again soon, also for what the reader asked", async () => {
  const {asked, taken, pauses} = await run([JSON.stringify({isBusy: true}), last], over("look 5"));
  assert.deepEqual([asked, taken.length], [["t look 5", "t look 5"], 1]);
  assert.ok(pauses.every(wait => wait >= 90));
});

test("only the newest wish is asked for", async () => {
  assert.deepEqual((await run([last, last], over("look 1", "look 2", "look 3"))).asked, ["t look 1", "t look 3"]);
});

test("after a failure it says why, waits longer each time, and has the page drawn once the server answers", async () => {
  const why = "the server cannot be reached", lost = trouble(why);
  const {complaints, redrawn} = await run([lost, lost, lost, last]);
  assert.deepEqual(complaints, [500, 1000, 2000].map(wait => [why, wait]));
  assert.equal(redrawn, 1);
});

test("a page whose session the server has forgotten is loaded again, but not before its first tick", async () => {
  const lost = JSON.stringify({isOver: true, isLost: true});
  assert.equal((await run([snapshot(), lost])).reloads, 1);
  assert.equal((await run([lost])).reloads, 0);
});

test("an answer for another run is not shown", async () => {
  const {taken} = await run([feed => { Object.assign(feed, {token: "other", isOver: true}); return snapshot(); }]);
  assert.equal(taken.length, 0);
});

test("what is not the app's answer is trouble with a sentence", () => {
  const wrong = ["<html>", "{}", "3", '{"isOver": false, "charts": [{}]}', snapshot({figures: [{key: "a"}]})];
  for (const [text, why] of [["", /empty/], ...wrong.map(text => [text, /something else/])])
    assert.throws(() => understood(text), error => why.test(error.why));
});

const said = (order, keys, more = {}) => ({page: "auc", order, charts: [{key: "map", place: "map"}],
  figures: keys.map(key => ({key, alt: key})), ...more});

/** What is shown after these snapshots: the order, the map, and which of them were taken. */
function shownAfter(...snapshots) {
  const shown = new Shown(), taken = snapshots.map(one => shown.take(one, one.figures.map(() => one)));
  return [shown.order, shown.figures.get("map")?.figure, taken];
}

test("an older snapshot changes nothing that is newer, and shows a figure that the newer one did not bring", () => {
  const [older, newer, bare] = [said(1, ["map"]), said(2, ["map"]), said(2, [])];
  assert.deepEqual(shownAfter(newer, older), [2, newer, [true, false]]);
  assert.deepEqual(shownAfter(bare, older).slice(0, 2), [2, older]);
});

test("another page, or a server that was started again, begins anew, also with smaller numbers", () => {
  assert.deepEqual(shownAfter(said(9, ["map"]), said(1, [], {page: "s3vm"})).slice(0, 2), [1, undefined]);
  const anew = said(0, ["map"], {owner: "b"});
  assert.deepEqual(shownAfter(said(9, ["map"], {owner: "a"}), anew), [0, anew, [true, true]]);
});

test("each part is drawn at once and after each snapshot, until it ends", () => {
  const shown = new Shown(), drawn = [], late = [];
  const stop = shown.on(({order}) => drawn.push(order));
  assert.deepEqual(drawn, []);
  shown.take(said(1, []), []);
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
