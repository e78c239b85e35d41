import assert from "node:assert/strict";
import {mock, test} from "node:test";
import repeat from "../../pages/shell/again.js";

test("a part is asked for again only while the page is at rest, and no more when it is gone", () => {
  mock.timers.enable({apis: ["setInterval"]});
  let page = {script: "notRunning", connection: "CONNECTED"}, isLeaving = false, asked = 0;
  const isAt = (selector, name, value) => selector.includes(`[data-test-${name}-state="${value}"]`);
  globalThis.window = {dsgLab: {isLeaving: () => isLeaving}};
  globalThis.document = {querySelector: selector => Object.entries(page).every(([name, value]) => isAt(selector, name, value)) || null};
  const end = repeat({data: {seconds: 0.5}, setTriggerValue: () => { asked += 1; }});
  const after = (milliseconds, state = {}, leaves = false) => {
    page = {script: "notRunning", connection: "CONNECTED", ...state};
    isLeaving = leaves;
    mock.timers.tick(milliseconds);
    return asked;
  };
  assert.equal(after(499), 0);
  assert.equal(after(501), 2);
  for (const state of [{script: "running"}, {script: "rerunRequested"}, {connection: "PINGING_SERVER"}]) assert.equal(after(1000, state), 2);
  assert.equal(after(1000, {}, true), 2);
  assert.equal(after(500), 3);
  end();
  assert.equal(after(5000), 3);
});
