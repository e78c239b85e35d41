// Asks for ticks during a run while its page is visible, and writes their content into the page. Used by ticking.py.
const feeds = new WeakMap();  // the component's element -> its state
const NOTE = '[data-testid="stMetricDelta"]';
const TRY_AGAIN = 100, FIRST_WAIT = 500, LONGEST_WAIT = 8000, LONGEST_ANSWER = 30000;  // milliseconds
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

/** Replace the first text in an element that `pattern` matches, and keep streamlit's own node. */
function write(element, pattern, text) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!pattern.test(node.nodeValue)) continue;
    const said = node.nodeValue.replace(pattern, () => text);
    if (said !== node.nodeValue) node.nodeValue = said;
    return;
  }
}

/** Ask the server to draw the page. */
function redraw(feed) {
  const ask = window.dsgLab?.ask ?? ((_, work) => work());
  ask(feed.page, feed.ask);
}

/** Write the note beside a tile's number. Without a note there, the script draws it next time. */
function annotate(tile, text) {
  const note = tile.querySelector(NOTE);
  if (note) write(note, /.*\S.*/, text || "–");
}

/** Colour the note. */
function colour(tile, color, theme) {
  const note = tile.querySelector(NOTE);
  if (!note) return;
  note.style.color = theme.getPropertyValue(`--st-${color}-text-color`);
  note.style.backgroundColor = theme.getPropertyValue(`--st-${color}-background-color`);
}

/** Leave the colours to the script, which has just drawn the tiles. */
function leaveColours() {
  document.querySelectorAll(`.st-key-part-tiles ${NOTE}`).forEach(({style}) => style.color = style.backgroundColor = "");
}

/** Write the run's position and its numbers; return the tiles that have them. */
function say(said) {
  const status = document.querySelector(".st-key-status");
  if (status) write(status, /step \d+ of .*/, said.status);
  if (!window.dsgLab?.isLeaving?.()) window.dsgLab?.keep?.(said.page, said.kept);
  const part = ".st-key-part-tiles", tiles = [...document.querySelectorAll(`${part} [data-testid="stMetricValue"]`)];
  // While the script draws, a tile may appear twice, and later tiles would get a wrong number.
  if (!tiles.length || tiles.length !== said.values.length) return [];
  said.values.forEach((value, place) => write(tiles[place], /.*\S.*/, value));
  write(document.querySelectorAll(`${part} [data-testid="stMetricLabel"]`)[1], /.*\S.*/, said.scoreLabel);
  said.notes.forEach(([text], place) => annotate(tiles[place].parentElement, text));
  return tiles.map(tile => tile.parentElement);
}

function show(feed, news, figures) {
  const theme = getComputedStyle(feed.root);
  say(news).forEach((tile, place) => colour(tile, news.notes[place][1], theme));
  news.charts.forEach(({key, alt}, place) =>
    window.dsgCharts?.get(key)?.({order: news.order, alt, figure: figures[place]}));
}

/** Return an error with a sentence on why there is no tick. */
const trouble = why => Object.assign(new Error(why), {why});

/** Return the news in an answer, and its figures; throw an error if the answer is not from the app's server. */
function read(text) {
  const [head, ...figures] = text.split("\n");
  let news = null;
  try {
    news = JSON.parse(head);
  } catch {}
  const isOurs = news instanceof Object && ("isOver" in news || "isBusy" in news);
  if (!isOurs || figures.length !== (news.charts ?? []).length)
    throw trouble(text ? "something else answered instead of the app" : "the server's answer is empty");
  return {news, figures};
}

/** Ask for one tick's answer. */
async function fetched(address, token) {
  const asked = {method: "POST", body: token, signal: AbortSignal.timeout?.(LONGEST_ANSWER)};
  const answer = await fetch(window.dsgLab.resolved(address), asked)
    .catch(() => { throw trouble("the server cannot be reached"); });
  if (!answer.ok) throw trouble(`the server answered with error ${answer.status}`);
  let text;
  try {
    text = await answer.text();
  } catch {
    throw trouble("the connection was lost");
  }
  return read(text);
}

/** Show beside the step why the run does not continue. */
function complain(why, wait) {
  const status = document.querySelector(".st-key-status");
  const step = /step \d+ of \d+/.exec(status?.textContent ?? "")?.[0];
  if (step) write(status, /step \d+ of .*/, `${step} · ${why}; next try in ${Math.ceil(wait / 1000)} s`);
}

/** Ask for one tick and show it; return the least wait before the next one, or null if there is none. */
async function ticked(feed, token) {
  const {news, figures} = await fetched(feed.address, token);
  if (feed.token !== token || !feed.root.isConnected) return 0;  // another run may be active by now
  if (news.isBusy) return TRY_AGAIN;
  if (news.isLost && feed.hasTicked && location.pathname.endsWith("/" + feed.page)) {
    location.reload();  // streamlit connects again but draws nothing; the link holds the run's position
    return null;
  }
  feed.hasTicked = true;
  if (news.order > feed.order) show(feed, news, figures);
  if (news.redraw || feed.failures) redraw(feed);  // ticks do not repeat lost changes
  feed.failures = 0;
  return news.isOver ? null : 0;
}

/** Ask for one tick; after a failure show the reason, and wait longer each time. */
async function once(feed, token) {
  try {
    return await ticked(feed, token);
  } catch (error) {
    if (!error.why) console.error(error);
    const wait = Math.min(FIRST_WAIT * 2 ** feed.failures++, LONGEST_WAIT);
    if (feed.token === token && feed.root.isConnected) complain(error.why ?? "the answer cannot be shown", wait);
    return wait;
  }
}

async function go(feed) {
  if (feed.isGoing) return;
  feed.isGoing = true;
  try {
    while (feed.token && !document.hidden && feed.root.isConnected) {
      const begun = performance.now(), wait = await once(feed, feed.token);
      if (wait === null) break;
      await pause(Math.max(wait, feed.pace - (performance.now() - begun)));
    }
  } finally {
    feed.isGoing = false;
  }
}

export default function ({data, parentElement, setTriggerValue}) {
  let feed = feeds.get(parentElement);
  if (!feed) {
    feed = {root: parentElement, isGoing: false, failures: 0};
    feed.look = () => go(feed);
    document.addEventListener("visibilitychange", feed.look);
    feeds.set(parentElement, feed);
  }
  const {said, ...asked} = data, isDrawn = data.order !== feed.order;
  Object.assign(feed, asked, {ask: () => setTriggerValue("redraw", true)});
  if (isDrawn) {  // an older tick may have arrived after the script's drawing, and its words would stay
    leaveColours();
    say(said);
  }
  go(feed);
  return () => {  // also called for an update that a later one has replaced
    if (parentElement.isConnected) return;
    document.removeEventListener("visibilitychange", feed.look);
    feeds.delete(parentElement);
    feed.token = "";
  };
}
