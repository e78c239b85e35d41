// Asks for ticks while a run goes on and its page is seen, and puts what they bring into the page. Used by ticking.py.
const feeds = new WeakMap();  // the component's element -> what it asks for
const TRY_AGAIN = 100, SERVER_AWAY = 1000;  // milliseconds
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

/** Return an address of the server, which need not be at the root of its host. */
function resolved(path) {
  const own = document.querySelector('script[src*="static/js/index"]');
  return new URL(path, own ? new URL("../../", own.src) : document.baseURI);
}

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

function show(news, figures) {
  const status = document.querySelector(".st-key-status");
  if (status) write(status, /step \d+ of .*/, news.status);
  const part = ".st-key-part-tiles", tiles = document.querySelectorAll(`${part} [data-testid="stMetricValue"]`);
  // While the script draws, a tile may stand there twice: what follows it would be told another one's number.
  if (tiles.length && tiles.length === news.values.length) {
    news.values.forEach((value, place) => write(tiles[place], /.*\S.*/, value));
    const labels = document.querySelectorAll(`${part} [data-testid="stMetricLabel"]`);
    write(labels[1], /.*\S.*/, news.scoreLabel);
  }
  news.charts.forEach(({key, alt}, place) =>
    window.dsgCharts?.get(key)?.({order: news.order, alt, figure: figures[place]}));
  if (!window.dsgLab?.isLeaving?.()) window.dsgLab?.keep?.(news.page, news.kept);
}

/** Ask for one tick; return how long to wait at least before the next, and nothing where there is to be none. */
async function once(feed, token) {
  let text;
  try {
    const answer = await fetch(resolved(feed.address), {method: "POST", body: token});
    if (!answer.ok) return SERVER_AWAY;
    text = await answer.text();
  } catch {
    return SERVER_AWAY;
  }
  const [head, ...figures] = text.split("\n"), news = JSON.parse(head);
  if (feed.token !== token || !feed.root.isConnected) return null;
  if (news.isBusy) return TRY_AGAIN;
  if (news.isLost && feed.hasTicked && location.pathname.endsWith("/" + feed.page)) {
    location.reload();  // streamlit connects anew but draws nothing; the link says where the run was
    return null;
  }
  feed.hasTicked = true;
  if (news.order > feed.order) show(news, figures);
  if (news.redraw) redraw(feed);
  return news.isOver ? null : 0;
}

/** Read the page's link again where the server that is there again is one that does not know the page. */
async function readAgainIfLost(feed) {
  if (feed.isGoing || !feed.known) return;  // who asks for ticks is told
  const answer = await fetch(resolved(feed.address), {method: "POST", body: feed.known});
  if (answer.ok && JSON.parse((await answer.text()).split("\n")[0]).isLost && location.pathname.endsWith("/" + feed.page))
    location.reload();
}

/** Look after the page each time the connection is there again: streamlit draws nothing then. */
function mindReturns(feed) {
  const app = document.querySelector("[data-test-connection-state]");
  const returns = new MutationObserver(() => {
    const isAway = app.dataset.testConnectionState !== "CONNECTED";
    if (feed.wasAway && !isAway) readAgainIfLost(feed);
    feed.wasAway = isAway;
  });
  if (app) returns.observe(app, {attributeFilter: ["data-test-connection-state"]});
  return returns;
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
    feed.returns = mindReturns(feed);
    feeds.set(parentElement, feed);
  }
  Object.assign(feed, data, {ask: () => setTriggerValue("redraw", true)});
  go(feed);
  return () => {  // also called for an update that another one overtook
    if (parentElement.isConnected) return;
    document.removeEventListener("visibilitychange", feed.look);
    feed.returns.disconnect();
    feeds.delete(parentElement);
    feed.token = "";
  };
}
