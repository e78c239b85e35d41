// The head of the live view as a component: it takes snapshots from the script, asks for ticks, and draws words and numbers.
import {Feed, trouble} from "./feed.js";
import {read, shown} from "./shown.js";
import {createSummary} from "./summary.js";

const LONGEST_ANSWER = 30000;  // milliseconds
const heads = new WeakMap();   // the component's element -> its head

const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

/** Ask the server at an address relative to the page; return the answer's text. */
async function asked(address, body) {
  const request = {method: "POST", body, signal: AbortSignal.timeout?.(LONGEST_ANSWER)};
  const answer = await fetch(new URL(address, document.baseURI), request)
    .catch(() => { throw trouble("the server cannot be reached"); });
  if (!answer.ok) throw trouble(`the server answered with error ${answer.status}`);
  return answer.text().catch(() => { throw trouble("the connection was lost"); });
}

function create(root) {
  const head = {triggers: () => {}};
  const page = () => window.dsgLab ?? {};
  const trigger = name => value => head.triggers(name, value);
  const feed = head.feed = new Feed({
    pause,
    ask: body => asked(head.address, body),
    take: (said, figures) => shown.take(said, figures),
    redraw: () => (page().ask ?? ((_, work) => work()))(shown.page, () => trigger("redraw")(true)),
    complain: (why, wait) => summary.complain(why, wait),
    reload: () => { if (location.pathname.endsWith("/" + shown.page)) location.reload(); },
    isSeen: () => !document.hidden && (shown.hasCurve || !shown.places.length),
    isThere: () => root.isConnected,
  });
  const summary = createSummary(root, {
    watch: () => feed.want("watch"),
    look: t => feed.want("look " + t),
    remedy: name => trigger("remedy")(name),
  });
  head.look = () => feed.go();
  document.addEventListener("visibilitychange", head.look);
  const stop = shown.on(({head: said}) => {
    summary.fill(said);
    if (said.kept && !page().isLeaving?.()) page().keep?.(said.page, said.kept);
    feed.go();
  });
  head.end = () => {
    document.removeEventListener("visibilitychange", head.look);
    stop();
    feed.token = "";
    shown.reset();
  };
  return head;
}

export default function ({data, parentElement, setTriggerValue}) {
  let head = heads.get(parentElement);
  if (!head) heads.set(parentElement, head = create(parentElement));
  const {said, figures} = read(new TextDecoder().decode(data));
  head.triggers = setTriggerValue;
  head.address = said.address;
  if (shown.take(said, figures)) head.feed.follow(said);
  return () => {  // also called for an update that a later one has replaced
    if (parentElement.isConnected) return;
    heads.delete(parentElement);
    head.end();
  };
}
