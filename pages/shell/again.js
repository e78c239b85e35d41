// Asks for parts of the page again and again, while the page is at rest: one at a time, since of two that are asked for at the same
// moment Streamlit draws one only, and of a part and the whole page the part only.
const AT_REST = '[data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]';
const LOOK = 50, LATE = 20;  // milliseconds between two looks; a look that is so late comes beside what a person has just done
const OVERDUE = 1000;  // milliseconds after which a part is asked for nevertheless: a busy browser may always be late
const LONGEST = 5000;  // milliseconds for the answer, which may be lost with the connection
const parts = new Map();
let timer = null, expected = 0, awaited = null, awaitedUntil = 0;

function look() {
  const now = Date.now(), isLate = now - expected > LATE && !document.hidden;  // in the background all timers are late
  expected = now + LOOK;
  const [next] = [...parts].filter(([, {due}]) => due <= now).sort(([, one], [, other]) => one.due - other.due);
  if (!next || (isLate && now - next[1].due < OVERDUE) || (awaited && now < awaitedUntil)) return;
  if (!document.querySelector(AT_REST) || window.dsgLab?.isLeaving?.()) return;
  const [place, part] = next;
  [awaited, awaitedUntil, part.due] = [place, now + LONGEST, now + part.pause];
  part.ask();
}

/** Called when the part is there, each time it has been drawn, and when the theme changes. */
export default function ({data, parentElement, setTriggerValue}) {
  const pause = 1000 * data.seconds, due = parts.get(parentElement)?.due ?? Date.now() + pause;
  parts.set(parentElement, {pause, due, ask: () => setTriggerValue("again", true)});
  if (awaited === parentElement) awaited = null;
  timer ??= setInterval(look, LOOK);
  if (document.hidden) setTimeout(look, LOOK);  // there the browser may let an interval wait for a minute
  return () => {
    parts.delete(parentElement);
    if (awaited === parentElement) awaited = null;
    if (parts.size) return;
    clearInterval(timer);
    timer = null;
  };
}
