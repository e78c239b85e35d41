import assert from "node:assert/strict";
import {mock, test} from "node:test";
import repeat from "../../pages/shell/again.js";

mock.timers.enable({apis: ["setInterval", "setTimeout", "Date"]});
const STEP = 10;
let page = {}, isLeaving = false;
const isAt = (selector, name, value) => selector.includes(`[data-test-${name}-state="${value}"]`);
globalThis.window = {dsgLab: {isLeaving: () => isLeaving}};
globalThis.document = {
  hidden: false, querySelector: selector => Object.entries(page).every(([name, value]) => isAt(selector, name, value)) || null,
};

/** Show a part that is drawn so many milliseconds after it was asked for, or never; return it with the times at which it was. */
function shown(seconds = 0.5, delay = 10, parentElement = {}) {
  const asked = [], draw = () => { end &&= repeat(part); };
  const part = {data: {seconds}, parentElement, setTriggerValue: () => {
    asked.push(Date.now());
    if (delay !== null) setTimeout(draw, delay);
  }};
  let end = repeat(part);
  return {asked, draw, end: () => { end(); end = null; }};
}

function after(milliseconds, state = {}, leaves = false) {
  page = {script: "notRunning", connection: "CONNECTED", ...state};
  isLeaving = leaves;
  for (let i = 0; i < milliseconds; i += STEP) mock.timers.tick(STEP);  // the clock of each call is that of the end of its tick
}

test("a part is asked for again only while the page is at rest, and no more when it is gone", () => {
  const {asked, end} = shown();
  const isAsked = (count, ...how) => { after(...how); assert.equal(asked.length, count); };
  isAsked(0, 490);
  isAsked(2, 700);
  for (const state of [{script: "running"}, {script: "rerunRequested"}, {connection: "PINGING_SERVER"}]) isAsked(2, 1000, state);
  isAsked(2, 1000, {}, true);
  isAsked(3, 100);
  end();
  isAsked(3, 9000);
});

test("parts are asked for one after the other, also while each takes longer than its pause", () => {
  for (const delay of [10, 700]) {
    const both = [shown(0.5, delay), shown(0.5, delay)], [one, other] = both.map(({asked}) => asked);
    after(10000);
    assert.ok(one.length > 5 && Math.abs(one.length - other.length) < 2, `${one.length} and ${other.length}`);
    const times = [...one, ...other].sort((a, b) => a - b);
    assert.ok(times.slice(1).every((time, i) => time - times[i] >= 50), "two at the same moment");
    assert.ok(one.slice(1).every((time, i) => time - one[i] >= 500), "more often than asked");
    for (const {end} of both) end();
    after(9000);
  }
});

test("a part that is never drawn holds up no other one for ever", () => {
  const lost = shown(0.5, null), other = shown();
  after(20000);
  assert.ok(lost.asked.length > 1 && other.asked.length > 2);
  for (const {end} of [lost, other]) end();
});

test("a part that is told once more, as after a change of the theme, has one timer, which ends with it", () => {
  const {asked, draw, end} = shown();
  draw();
  after(5000);
  assert.ok(asked.length > 5 && asked.length <= 10);
  end();
  const count = asked.length;
  after(5000);
  assert.equal(asked.length, count);
});

test("while the browser is busy a part waits, because the person's own request may be under way; in the background it does not", () => {
  const {asked, end} = shown();
  after(490);
  const now = Date.now;
  Date.now = () => now() + 30;  // the next look is late
  after(20);
  assert.equal(asked.length, 0);
  after(50);
  assert.equal(asked.length, 1);
  document.hidden = true;
  Date.now = () => now() + 1030;
  after(50);
  assert.equal(asked.length, 2);
  Date.now = now;
  document.hidden = false;
  end();
});

test("a part goes on in a browser that is always busy", () => {
  const {asked, end} = shown(), now = Date.now;
  let late = 0;
  Date.now = () => now() + (late += 30);  // each look
  after(500);
  assert.equal(asked.length, 0);
  after(2000);
  assert.ok(asked.length >= 1);
  Date.now = now;
  end();
});
