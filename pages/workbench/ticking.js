// Asks for ticks while a run goes on and its page is seen, and puts what they bring into the page. Used by ticking.py.
const feeds = new WeakMap();  // the component's element -> what it asks for
const NOTE = '[data-testid="stMetricDelta"]';
const TRY_AGAIN = 100, FIRST_WAIT = 500, LONGEST_WAIT = 8000, LONGEST_ANSWER = 30000;  // milliseconds
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

/** Give the first text of an element that `pattern` fits another one; streamlit's own stays where it is. */
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

/** Have the server draw the page. */
function redraw(feed) {
  const ask = window.dsgLab?.ask ?? ((_, work) => work());
  ask(feed.page, feed.ask);
}

/** Write what stands beside a tile's number; where the script drew nothing there, it does so next time. */
function annotate(tile, text) {
  const note = tile.querySelector(NOTE);
  if (note) write(note, /.*\S.*/, text || "–");
}

/** Colour it. */
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

/** Write where the run is, and its numbers; return the tiles that have them. */
function say(said) {
  const status = document.querySelector(".st-key-status");
  if (status) write(status, /step \d+ of .*/, said.status);
  if (!window.dsgLab?.isLeaving?.()) window.dsgLab?.keep?.(said.page, said.kept);
  const part = ".st-key-part-tiles", tiles = [...document.querySelectorAll(`${part} [data-testid="stMetricValue"]`)];
  // While the script draws, a tile may stand there twice: what follows it would be told another one's number.
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

/** Make an error that says in words why there is no tick. */
const trouble = why => Object.assign(new Error(why), {why});

/** Return what an answer says, and its figures; throw an error if the app's server cannot have sent it. */
function read(text) {
  const [head, ...figures] = text.split("\n");
  let news = null;
  try {
    news = JSON.parse(head);
  } catch {}
  const isOurs = news instanceof Object && ("isOver" in news || "isBusy" in news);
  if (!isOurs || figures.length !== (news.charts ?? []).length)
    throw trouble(text ? "something else answers in place of the app" : "the server's answer is empty");
  return {news, figures};
}

/** Ask for one tick's answer. */
async function fetched(address, token) {
  const asked = {method: "POST", body: token, signal: AbortSignal.timeout?.(LONGEST_ANSWER)};
  const answer = await fetch(window.dsgLab.resolved(address), asked)
    .catch(() => { throw trouble("the server cannot be reached"); });
  if (!answer.ok) throw trouble(`the server answers with error ${answer.status}`);
  return read(await answer.text().catch(() => { throw trouble("the connection has broken off"); }));
}

/** Say beside the step why nothing goes on. */
function complain(why, wait) {
  const status = document.querySelector(".st-key-status");
  const step = /step \d+ of \d+/.exec(status?.textContent ?? "")?.[0];
  if (step) write(status, /step \d+ of .*/, `${step} · ${why}; next try in ${Math.ceil(wait / 1000)} s`);
}

/** Ask for one tick and show it; return how long to wait at least before the next, or null if there is to be none. */
async function ticked(feed, token) {
  const {news, figures} = await fetched(feed.address, token);
  if (feed.token !== token || !feed.root.isConnected) return 0;  // another run's tick may be asked for by now
  if (news.isBusy) return TRY_AGAIN;
  if (news.isLost && feed.hasTicked && location.pathname.endsWith("/" + feed.page)) {
    location.reload();  // streamlit connects anew but draws nothing; the link says where the run was
    return null;
  }
  feed.hasTicked = true;
  if (news.order > feed.order) show(feed, news, figures);
  if (news.redraw || feed.failures) redraw(feed);  // what has been lost on the way does not come again by ticks
  feed.failures = 0;
  return news.isOver ? null : 0;
}

/** Do that; if it fails, say why, and wait longer each time. */
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
  if (isDrawn) {  // an older tick may have come in between what the script has drawn and this: its words would stay
    leaveColours();
    say(said);
  }
  go(feed);
  return () => {  // also called for an update that another one overtook
    if (parentElement.isConnected) return;
    document.removeEventListener("visibilitychange", feed.look);
    feeds.delete(parentElement);
    feed.token = "";
  };
}
