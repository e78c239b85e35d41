// Additions to Streamlit's browser part, by public interfaces of browsers and components only.
//
// The browser writes what a page says into its link: written by the server, each change would be an entry of the history. A page that
// another one opens gets two entries from Streamlit; the `navigate` event announces each, its listener cancels it and writes the right
// one. Streamlit does not hear keys of buttons while a slider has the focus, keeps a list open over the result of its button, does not
// draw a page again for another theme, loses a chosen file when the page is loaded anew, and draws nothing after the server was restarted
// or after it lost a part of a drawing.
const LEAVING = 5000;
const SERVER_AWAY = 500;
const LEAST_BETWEEN_CRASHES = 10000;  // a page that cannot be drawn is not loaded again and again
// The buttons of a lesson that these keys press: arrow keys, those of a presenter's remote control, and Escape.
const PRESENTED = ".st-key-stage:has(.st-key-stage-notes)", SHOW = `${PRESENTED} .st-key-lesson-show button:enabled`;
const ON = `.st-key-lesson-on button[kind=primary]:enabled, .st-key-lesson-on a[href$=lessons], ${SHOW}`;
const BACK = ".st-key-lesson-back button:enabled", LEAVE = ".st-key-lesson-leave button:enabled";
const RETURN = ".st-key-lesson-return button", OF_LESSON = ":is([class*=st-key-lesson-], [class*=st-key-guided-]) button";
// In How it works a clicked slider keeps the arrow keys.
const NEXT = ".how-next:enabled", PREVIOUS = ".how-back:enabled";
const MOVES = {ArrowRight: ON, PageDown: `${ON}, ${NEXT}`, ArrowLeft: BACK, PageUp: `${BACK}, ${PREVIOUS}`, Escape: LEAVE};
const TYPED = "textarea, input:not([type=range], [type=radio], [type=checkbox], [role=combobox]), [contenteditable=true]";
const SLIDERS = "input[type=range], [role=slider]", MAP = ".hand-area";  // with keys of their own
// Escape closes these, and leaves the lesson only if none is open.
const OPEN_LIST = "[data-testid=stPopoverBody], [role=listbox]", TIP = ".live-chart-tip:not([hidden]), .stage-term:focus";
const OPEN_PART = ".hand-box:not([hidden]), .live-chart-menu:not([hidden]), .live-popup:not([hidden])";
const DRAWER = 640, CLOSES = "[data-testid=stSidebarCollapseButton] button";  // on a window as narrow as a phone's, in pixels
// Values in this page's link, without which there are none; the time at which Back was pressed, until the page is there.
const lab = window.dsgLab ??= {kept: {}, frame: [], tickets: new Set(), poppedAt: -Infinity, isWriting: false};

/** Return the page's address with the values that it keeps, and with those of the frame around it, which another may add. */
function withKept(other = location) {
  const url = new URL(location.href), given = [...url.searchParams, ...new URL(other.href).searchParams];
  url.search = "";
  for (const [name, text] of given)
    if (lab.frame.includes(name) && !url.searchParams.getAll(name).includes(text)) url.searchParams.append(name, text);
  for (const [name, text] of Object.entries(lab.kept)) if (text) url.searchParams.set(name, text);
  return url;
}

/** Write an address into the history, unseen by `mindHistory`. */
function write(method, address) {
  lab.isWriting = true;
  try {
    history[method](history.state, "", address);
  } finally {
    lab.isWriting = false;
  }
}

/** Close the drawer of a phone: it would cover the page to which one goes. */
function closeDrawer() {
  if (innerWidth <= DRAWER) document.querySelector(".stSidebar:not([data-collapsed=true])")?.querySelector(CLOSES)?.click();
}

function mindHistory() {
  let leavingSince = -Infinity, backSince = -Infinity;
  lab.hasActed = false;  // on this page, since it was opened: else its link is only corrected, which is no entry
  for (const type of ["pointerdown", "keydown"]) addEventListener(type, () => { lab.hasActed = true; }, true);

  addEventListener("click", event => {
    const link = event.target.closest?.("a[href]");
    if (!link || link.target === "_blank" || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const there = new URL(link.href);
    if (there.origin !== location.origin || there.pathname === location.pathname) return;
    leavingSince = performance.now();
    closeDrawer();
  }, true);
  // Another setting opens its page, too.
  const chooses = () => document.activeElement?.closest('[class*="st-key-setting-"]');
  addEventListener("click", event => {
    if (chooses() && event.target.closest?.("[role=option]")) leavingSince = performance.now();
  }, true);
  addEventListener("keydown", event => {
    if (event.key === "Enter" && chooses()) leavingSince = performance.now();
  }, true);
  // A request to the server meanwhile would bring the old page back.
  lab.isLeaving = () => performance.now() - Math.max(leavingSince, lab.poppedAt) < LEAVING;
  addEventListener("popstate", () => {
    lab.kept = {};
    lab.hasActed = false;
    backSince = lab.poppedAt = performance.now();
    closeDrawer();
  }, true);

  /** Write an entry that streamlit is about to add: for another page as a new entry, for this page in place of its entry. */
  const add = there => {
    // Before it opens another page, streamlit says of this one what that one begins with: Back needs this one's own values.
    if (there.pathname === location.pathname)
      return write("replaceState", Object.keys(lab.kept).length ? withKept(there) : there);
    const now = performance.now();
    if (now - backSince < LEAVING && leavingSince < backSince) return;  // from the page that Back has just left
    leavingSince = -Infinity;
    lab.kept = {};
    lab.hasActed = false;
    [lab.step, lab.path] = ["", there.pathname];
    write("pushState", there);
  };

  window.navigation?.addEventListener("navigate", event => {
    if (lab.isWriting || !event.destination.sameDocument || event.hashChange || !event.cancelable) return;
    if (event.navigationType !== "push") return;
    event.preventDefault();
    add(new URL(event.destination.url));
  });
}

function hearKeysBesideSliders() {
  addEventListener("keydown", event => {
    const isSlider = event.target.matches?.("input[type=range]");
    if (!isSlider || event.key.length > 1 || event.key === " " || event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopImmediatePropagation();
    for (const type of ["keydown", "keyup"])
      document.body.dispatchEvent(new KeyboardEvent(type, {
        key: event.key, code: event.code, keyCode: event.keyCode, which: event.which, shiftKey: event.shiftKey,
        bubbles: true, cancelable: true}));
  }, true);
}

/** Press a button. While the page is being drawn it may be that of the step before, whose click would be lost: then wait. */
function press(selector, tries = 30) {
  const button = document.querySelector(selector);
  if (button && (!tries || !button.closest("[data-stale=true]"))) button.click();
  else if (tries) setTimeout(press, 100, selector, tries - 1);
}

/** Go on and back with arrow keys and a presenter's remote control, also after a click on an answer; leave the lesson with Escape.
    What was reached by Tab and has keys of its own keeps them, except before a class: there only a field of text does. */
function hearKeysOfLessons() {
  let isByTab = false;
  const isIn = (event, selector) => event.target.closest?.(selector);
  const isPresented = () => document.querySelector(PRESENTED);
  const hasOwnKeys = event => isIn(event, TYPED) || (isByTab && isIn(event, `${MAP}, ${SLIDERS}`) && !isPresented());
  const isTaken = event => event.key === "Escape" ? document.querySelector(OPEN_PART) : hasOwnKeys(event);
  const isListOpen = event => document.querySelector(event.key !== "Escape" && isPresented() ? "[role=listbox]" : OPEN_LIST);
  addEventListener("pointerdown", () => { isByTab = false; }, true);
  addEventListener("keydown", event => {
    if (event.key === "Tab") isByTab = true;
    const selector = MOVES[event.key], button = selector && document.querySelector(selector);
    const isShortcut = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (!button || isShortcut || isListOpen(event) || isTaken(event)) return;
    const tip = event.key === "Escape" && document.querySelector(TIP);
    if (tip) tip.matches(".stage-term") ? tip.blur() : tip.hidden = true;
    else if (!event.repeat) press(selector);
    event.preventDefault();
    event.stopImmediatePropagation();  // streamlit hears the arrow keys of buttons, and an answer its own
  }, true);  // before the list closes
}

/** Put the focus on a lesson's text if what had it goes with a press of a button, so that a screen reader goes on there. It says the
    verdict when that comes. After the lesson the focus is on the button that leads back. */
function mindFocusOfLessons() {
  addEventListener("click", event => {
    const answer = document.querySelector(".st-key-stage-answer");
    if (answer) answer.ariaLive = "polite";
    const had = document.activeElement, until = performance.now() + LEAVING, button = event.target.closest?.(OF_LESSON);
    const isLeft = button?.matches(LEAVE);
    if (!button || (had === document.body && !isLeft)) return;
    const look = () => {
      const now = document.activeElement, next = document.querySelector(isLeft ? RETURN : ".st-key-stage-text");
      if (now !== had && now !== document.body) return;
      if (!next || (now === had && !isLeft)) return performance.now() < until && setTimeout(look, 50);
      if (!isLeft) next.tabIndex = -1;
      next.focus({preventScroll: true});
    };
    setTimeout(look, 50);
  }, true);
}

/** Let the zoom of the browser enlarge the stage, whose type follows the size of the window and so would stay as it is. */
function mindZoom() {
  const look = () => {
    const root = document.documentElement, zoom = Math.min(devicePixelRatio, outerWidth / innerWidth);  // tools are no zoom
    root.style.setProperty("--zoom", zoom > 1.05 ? zoom.toFixed(2) : "1");
    root.toggleAttribute("data-zoomed", zoom > 1.05);
  };
  addEventListener("resize", look);
  look();
}

/** Have the page drawn again in another theme: its charts have the colours of the theme in which they were drawn. */
function mindTheme() {
  const app = document.querySelector(".stApp");
  const look = () => {
    if (getComputedStyle(app).colorScheme !== lab.theme && !lab.isLeaving()) lab.redraw();
  };
  if (app) new MutationObserver(look).observe(app, {attributeFilter: ["class"]});
}

/** Return the full address of a path that is relative to the page. */
const resolved = path => new URL(path, document.baseURI);

/** Load the page again if the server no longer knows its session. Without an answer, do nothing. */
async function readAgainIfForgotten() {
  if (!lab.session) return;
  const {address, name} = lab.session;
  try {
    const answer = await fetch(resolved(address), {method: "POST", body: name});
    if (answer.ok && (await answer.json())?.isLost) location.reload();
  } catch {
    // There is no network, or a proxy answered.
  }
}

/** Send a ticket as a tick; the answer sets the cookie with the key of the lecturer's room. After a failure the next drawing tries again. */
async function keepRoomKey({address, ticket}) {
  if (lab.tickets.has(ticket)) return;
  lab.tickets.add(ticket);
  const answer = await fetch(resolved(address), {method: "POST", body: `${ticket} key`}).catch(() => null);
  if (!answer?.ok) lab.tickets.delete(ticket);
}

const MARKS = "dsglab-lessons";
/** Return how many steps of each lesson are done; nothing if the browser keeps nothing, as in a private window. */
function marks() {
  try { return JSON.parse(localStorage.getItem(MARKS)) ?? {}; } catch { return {}; }
}

/** Keep how many steps of a lesson are done, and which one the notes in another window follow. */
function keepMark({lesson, done, here}) {
  const kept = marks();
  try {
    localStorage.setItem("dsglab-here", here);
    if ((kept[lesson] ?? 0) < done) localStorage.setItem(MARKS, JSON.stringify({...kept, [lesson]: done}));
  } catch {}
}

const UPLOAD = "[data-testid=stFileUploader]", CHOOSER = `${UPLOAD} input[type=file]`;
const REMOVES = `${UPLOAD} [data-testid=stFileChipDeleteBtn]`;
const LARGEST = 5e7, AN_HOUR = 3.6e6;  // bytes and milliseconds of a file that is kept
/** Return what a request to the store of chosen files gives; it has one entry for each tab. */
async function ofFiles(mode, request) {
  const result = asked => new Promise((done, failed) => { asked.onsuccess = () => done(asked.result); asked.onerror = failed; });
  const opened = indexedDB.open("dsg-lab", 1);
  opened.onupgradeneeded = () => opened.result.createObjectStore("files");
  return result(request((await result(opened)).transaction("files", mode).objectStore("files")));
}
const tab = () => sessionStorage.dsgLabTab ??= Date.now() + "-" + Math.random();

/** Keep the file that this tab chooses, for a reload: the server's session ends with it, and the session alone has the file. */
function mindFiles() {
  const keep = file => ofFiles("readwrite", kept =>
    file?.size <= LARGEST ? kept.put({file, at: Date.now()}, tab()) : kept.delete(tab())).catch(() => {});
  addEventListener("change", event => event.target.matches?.(CHOOSER) && keep(event.target.files[0]), true);
  addEventListener("drop", event => event.target.closest?.(UPLOAD) && keep(event.dataTransfer.files[0]), true);
  addEventListener("click", event => event.target.closest?.(REMOVES) && keep(null), true);
  ofFiles("readwrite", kept => {
    kept.openCursor().onsuccess = ({target: {result: one}}) => {
      if (one?.value.at < Date.now() - AN_HOUR) one.delete();
      one?.continue();
    };
    return kept.count();
  }).catch(() => {});
}

/** Choose the kept file of this name again, once. Streamlit loads its chooser apart from the page, so that may come later. */
async function bringBack(name) {
  if (lab.hasBroughtBack) return;
  lab.hasBroughtBack = true;
  const kept = await ofFiles("readonly", all => all.get(tab())).catch(() => null), page = location.pathname;
  if (kept?.file.name !== name) return;
  let chooser = null;
  while (!(chooser = document.querySelector(CHOOSER))) {
    if (location.pathname !== page) return;
    await new Promise(done => setTimeout(done, 50));
  }
  const chosen = new DataTransfer();
  chosen.items.add(kept.file);
  chooser.files = chosen.files;
  chooser.dispatchEvent(new Event("change", {bubbles: true}));
}

/** Load the page again if streamlit has removed it: a request that comes while a drawing ends can cost messages of that drawing, and
    it then finds no place for the next ones. */
function mindCrashes() {
  addEventListener("error", () => setTimeout(() => {
    const before = Number(sessionStorage.dsgLabCrashed ?? -Infinity);
    if (document.querySelector(".stApp") || Date.now() - before < LEAST_BETWEEN_CRASHES) return;
    sessionStorage.dsgLabCrashed = Date.now();
    location.reload();
  }));
}

/** Ask for the server while the connection is lost, because streamlit asks less and less often. */
function mindReturns() {
  const app = document.querySelector("[data-test-connection-state]");
  let isAway = false;
  const seek = async () => {
    while (isAway) {
      await new Promise(done => setTimeout(done, SERVER_AWAY));
      await readAgainIfForgotten();
    }
    await readAgainIfForgotten();  // a moment ago the server may not have answered
  };
  const look = () => {
    const wasAway = isAway;
    isAway = app.dataset.testConnectionState !== "CONNECTED";
    if (isAway && !wasAway) seek();
  };
  if (app) new MutationObserver(look).observe(app, {attributeFilter: ["data-test-connection-state"]});
}

/** Send a request to the server, unless the reader is leaving the page that it is about: it would bring that page back. */
lab.ask = (page, work) => {
  if (location.pathname.endsWith("/" + page) && !lab.isLeaving?.()) work();
};

/** Return a link's lesson and step, as one text. */
function stepOf(query) {
  const text = query.get("lesson");
  if (!text) return "";
  const [lesson, step] = text.split(":");
  return `${lesson}:${step || 1}`;
}

/** Return what makes a link an entry of its own in the history. */
const entryOf = ({search}) => {
  const query = new URLSearchParams(search);
  return lab.entry === "lesson" ? stepOf(query) : query.get(lab.entry) ?? "";
};

/** Follow Back and Forward between entries of one page: the steps of a lesson, or what the page's link says. */
function mindEntries() {
  addEventListener("popstate", () => {
    if (location.pathname !== lab.path) {  // streamlit opens another page, which may keep nothing
      [lab.step, lab.path] = ["", location.pathname];
      return;
    }
    const [lesson, step] = stepOf(new URLSearchParams(location.search)).split(":"), [now, number] = (lab.step ?? "").split(":");
    if (!now) return lab.goBack();
    if (lesson === now && step === number) return;
    const button = lesson === now && Number(step) === Number(number) - 1 && document.querySelector(BACK);
    if (button) button.click(); else location.reload();
  }, true);
}

/** Keep these values in the link of that page. Another value of `lab.entry` is a new entry: Back leads to the one before. */
lab.keep = (page, values) => {
  if (!location.pathname.endsWith("/" + page)) return;
  lab.poppedAt = -Infinity;  // the page is there
  lab.kept = values;
  const there = withKept(), from = entryOf(location), to = entryOf(there);
  const isEntry = from !== to && (lab.entry === "lesson" ? from && to : lab.hasActed);
  if (there.href !== location.href) write(isEntry ? "pushState" : "replaceState", there);
  [lab.step, lab.path] = [stepOf(there.searchParams), location.pathname];
};

export default function ({data, parentElement, setStateValue, setTriggerValue}) {
  lab.redraw = () => setTriggerValue("theme", true);
  lab.goBack = () => setTriggerValue("back", true);
  if (!lab.isMinded) {
    lab.isMinded = true;
    mindHistory();
    hearKeysBesideSliders();
    hearKeysOfLessons();
    mindFocusOfLessons();
    mindEntries();
    mindReturns();
    mindCrashes();
    mindTheme();
    mindFiles();
    mindZoom();
  }
  if (data.theme) lab.theme = data.theme;  // in which the page is drawn
  if (data.frame) lab.frame = data.frame;
  if (data.session) lab.session = data.session;
  if (data.room) keepRoomKey(data.room);
  if (data.file) bringBack(data.file);
  if (data.mark) keepMark(data.mark);
  if (data.asksMarks) {
    const kept = marks(), said = JSON.stringify(kept);
    if (said !== "{}" && parentElement.dataset.said !== said) setStateValue("marks", kept);
    parentElement.dataset.said = said;
  }
  if (!data.values) return;
  const isLost = lab.owner && lab.owner.page === data.page && lab.owner.name !== data.owner;
  if (isLost && Object.values(lab.kept).some(text => text)) {
    lab.keep(data.page, lab.kept);
    location.reload();
    return;
  }
  lab.owner = {page: data.page, name: data.owner};
  lab.entry = data.entry;
  lab.keep(data.page, data.values);
}
