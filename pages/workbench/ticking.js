// Asks for ticks while a run goes on and its page is seen, and puts what they bring into the page. Used by ticking.py.
const feeds = new WeakMap();  // the component's element -> what it asks for
const NOTE = '[data-testid="stMetricDelta"]';
const TRY_AGAIN = 100, SERVER_AWAY = 500;  // milliseconds
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

/** Ask for one tick; return how long to wait at least before the next, and nothing where there is to be none. */
async function once(feed, token) {
  let text;
  try {
    const answer = await fetch(window.dsgLab.resolved(feed.address), {method: "POST", body: token});
    if (!answer.ok) return SERVER_AWAY;
    text = await answer.text();
  } catch {
    return SERVER_AWAY;
  }
  const [head, ...figures] = text.split("\n"), news = JSON.parse(head);
  if (feed.token !== token || !feed.root.isConnected) return 0;  // another run's tick may be asked for by now
  if (news.isBusy) return TRY_AGAIN;
  if (news.isLost && feed.hasTicked && location.pathname.endsWith("/" + feed.page)) {
    location.reload();  // streamlit connects anew but draws nothing; the link says where the run was
    return null;
  }
  feed.hasTicked = true;
  if (news.order > feed.order) show(feed, news, figures);
  if (news.redraw) redraw(feed);
  return news.isOver ? null : 0;
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
    feed = {root: parentElement, isGoing: false};
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
