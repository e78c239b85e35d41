// The feed of a run: what it asks for, when, and what it does with the answers.
import assert from "node:assert/strict";
import {test} from "node:test";

import {Feed, trouble, understood} from "../../pages/live/browser/feed.js";

const snapshot = more => JSON.stringify({page: "auc", order: 1, charts: [], figures: [], isOver: false, redraw: false, ...more});

/** A world that answers with these texts, one after another, and records what happens. */
function world(answers, more = {}) {
  const log = {asked: [], taken: [], redrawn: 0, complaints: [], reloads: 0, pauses: []};
  const own = {
    ask: async body => {
      log.asked.push(body);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer ?? snapshot({isOver: true});
    },
    take: said => log.taken.push(said),
    redraw: () => { log.redrawn += 1; },
    complain: (why, wait) => log.complaints.push([why, wait]),
    reload: () => { log.reloads += 1; },
    isSeen: () => true,
    isThere: () => true,
    pause: async milliseconds => { log.pauses.push(milliseconds); },
  };
  return {log, world: {...own, ...more}};
}

const rested = async feed => { while (feed.isGoing) await new Promise(done => setTimeout(done)); };

async function run(answers, more, begin = feed => feed.follow({token: "t", pace: 0, isOver: false})) {
  const {log, world: own} = world(answers, more), feed = new Feed(own);
  begin(feed);
  await rested(feed);
  return {log, feed};
}

test("it asks until the run is over, one request after another", async () => {
  const {log} = await run([snapshot(), snapshot(), snapshot({isOver: true, redraw: true})]);
  assert.deepEqual(log.asked, ["t", "t", "t"]);
  assert.equal(log.taken.length, 3);
  assert.equal(log.redrawn, 1);
});

test("it asks for nothing while the page is hidden or was left", async () => {
  for (const more of [{isSeen: () => false}, {isThere: () => false}]) {
    const {log} = await run([snapshot()], more);
    assert.deepEqual(log.asked, []);
  }
});

test("a busy server is asked again soon, also for what the reader asked", async () => {
  const busy = JSON.stringify({isBusy: true});
  const {log} = await run([busy, snapshot({isOver: true})], {}, feed => {
    feed.follow({token: "t", pace: 0, isOver: true});
    feed.want("look 5");
  });
  assert.deepEqual(log.asked, ["t look 5", "t look 5"]);
  assert.equal(log.taken.length, 1);
  assert.ok(log.pauses.every(wait => wait >= 90));
});

test("only the newest wish is asked for", async () => {
  const {log} = await run([snapshot({isOver: true}), snapshot({isOver: true})], {}, feed => {
    feed.follow({token: "t", pace: 0, isOver: true});
    feed.want("look 1");
    feed.want("look 2");
    feed.want("look 3");
  });
  assert.deepEqual(log.asked, ["t look 1", "t look 3"]);
});

test("after a failure it says why, waits longer each time, and has the page drawn once the server answers", async () => {
  const lost = trouble("the server cannot be reached");
  const {log} = await run([lost, lost, lost, snapshot({isOver: true})]);
  assert.deepEqual(log.complaints.map(([why]) => why), Array(3).fill("the server cannot be reached"));
  assert.deepEqual(log.complaints.map(([, wait]) => wait), [500, 1000, 2000]);
  assert.equal(log.redrawn, 1);
});

test("a page whose session the server has forgotten is loaded again, but not before its first tick", async () => {
  const lost = JSON.stringify({isOver: true, isLost: true});
  assert.equal((await run([snapshot(), lost])).log.reloads, 1);
  assert.equal((await run([lost])).log.reloads, 0);
});

test("an answer for another run is not shown", async () => {
  const {log, world: own} = world([]), feed = new Feed({...own, ask: async () => {
    feed.token = "other";
    feed.isOver = true;
    return snapshot();
  }});
  feed.follow({token: "t", pace: 0, isOver: false});
  await rested(feed);
  assert.equal(log.taken.length, 0);
});

test("what is not the app's answer is trouble with a sentence", () => {
  for (const [text, why] of [["", /empty/], ["<html>", /something else/], ["{}", /something else/], ["3", /something else/],
    ['{"isOver": false, "charts": [{}]}', /something else/]])
    assert.throws(() => understood(text), error => why.test(error.why));
  assert.throws(() => understood(snapshot({figures: [{key: "a"}]})), /something else/);
});
