"""What the browser's half of streamlit leaves undone for these pages: the link of a run, the way back, keys beside a slider.

A run's link says where it is and what was changed on the way, which no control holds. Were the server to write that there
(streamlit 1.67 then sends the whole link anew), it would undo what is being moved at that moment, and make an entry of the
history each time, so that Back would lead through all of them. As a page is left, streamlit first takes the page's values
out of the link: Back would lead to the defaults. Keys of buttons are not heard while a slider has the focus, though it uses
none of them; a list stays open over what one of its buttons shows. And where a server is killed and another one takes its
place, or a session is forgotten while the wire is cut, streamlit connects anew but draws nothing: the page is read again, as
soon as there is an answer. Only what browsers and components offer in public is used; where it is missing, the pages work
without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import streamlit as st

from pages.shell import room_key
from pages.shell.ticks import ADDRESS, GONE, Ticker, are_served

__all__ = ["keep_in_link", "keep_room_key", "mind_the_browser"]

_KNOWN = "_known"


def mind_the_browser() -> None:
    """Have the browser keep an entry of the history for each page and none for its changes, and the rest that is said above."""
    _mount("part-state-browser", {"session": {"name": _session(), "address": ADDRESS}} if are_served() else {})


def _session() -> str:
    """Return a name that the server knows for as long as it keeps this session."""
    if _KNOWN not in st.session_state:
        st.session_state[_KNOWN] = Ticker(lambda: GONE)
    ticker: Ticker = st.session_state[_KNOWN]
    return ticker.token


def keep_in_link(page: str, values: Mapping[str, str], owner: str = "") -> None:
    """Have the browser keep these values in the link while it is on that page; one that is empty is left out.

    Where the page stays and its owner is suddenly another one, the server has lost the session, and streamlit has asked a new
    one for the page without these values: the browser then reads its own link once more.
    """
    _mount("part-state-link", {"page": page, "values": dict(values), "owner": owner})


def keep_room_key(ticket: str) -> None:
    """Have the browser keep the key of the lecturer's room in a cookie, which the server gives it for this ticket."""
    if are_served():
        _mount("part-state-room", {"room": {"ticket": ticket, "address": room_key.ADDRESS}})


def _mount(key: str, data: dict[str, Any]) -> None:
    component = _component()
    if component is not None:
        with st.container(key=key):
            component(key=f"{key}-component", data=data)


@cache
def _component() -> Callable[..., Any] | None:
    try:
        from streamlit.components.v2 import component
    except ImportError:
        return None
    return component("browser_manners", js=_JS, isolate_styles=False)


_JS = """
const RECENT = 500;  // milliseconds in which the server may not have heard yet of what was moved
const LEAVING = 5000;
const SERVER_AWAY = 500;
// Values kept in this page's link; names kept in any page's; when Back was pressed, until the page is there.
const lab = window.dsgLab ??= {kept: {}, names: new Set(), tickets: new Set(), poppedAt: -Infinity};

function withKept(address) {
  const url = new URL(address);
  for (const name of lab.names) url.searchParams.delete(name);
  for (const [name, text] of Object.entries(lab.kept)) if (text) url.searchParams.set(name, text);
  return url;
}

function mindHistory() {
  const push = history.pushState.bind(history), replace = lab.replace = history.replaceState.bind(history);
  const moved = new Map();  // name in the link -> its value and when a control was moved there
  let leavingSince = -Infinity, backSince = -Infinity;

  addEventListener("click", event => {
    const link = event.target.closest?.("a[href]");
    if (!link || link.target === "_blank" || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const there = new URL(link.href);
    if (there.origin === location.origin && there.pathname !== location.pathname) leavingSince = performance.now();
  }, true);
  // What is asked of the server meanwhile would call the page back.
  lab.isLeaving = () => performance.now() - Math.max(leavingSince, lab.poppedAt) < LEAVING;
  addEventListener("popstate", () => {
    lab.kept = {};
    moved.clear();
    backSince = lab.poppedAt = performance.now();
  }, true);

  history.replaceState = (state, title, url) => {
    const before = new URLSearchParams(location.search);
    replace(state, title, url);
    const after = new URLSearchParams(location.search), now = performance.now();
    for (const name of new Set([...before.keys(), ...after.keys()]))
      if (before.get(name) !== after.get(name)) moved.set(name, {value: after.get(name), at: now});
  };

  history.pushState = (state, title, url) => {
    let there = new URL(url ?? location.href, location.href);
    const now = performance.now();
    if (there.pathname !== location.pathname) {
      if (now - backSince < LEAVING && leavingSince < backSince) return;  // by the page that Back has just left
      leavingSince = -Infinity;
      lab.kept = {};
      moved.clear();
      return push(state, title, withKept(there));
    }
    if (now - leavingSince < LEAVING) return;  // the page's values being taken away: Back needs them
    if (Object.keys(lab.kept).length) there = withKept(there);
    if (there.href === location.href) return;
    if (!document.querySelector(".st-key-part-state-link")) return push(state, title, there);
    for (const [name, {value, at}] of moved) {
      if (now - at > RECENT) moved.delete(name);
      else if (value === null) there.searchParams.delete(name);
      else there.searchParams.set(name, value);
    }
    replace(state, title, there);
  };
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

/** Hear the keys of a presenter's remote control as those of the keyboard. */
function hearRemotes() {
  addEventListener("keydown", event => {
    const key = {PageDown: "next", PageUp: "back"}[event.key];
    const button = key && document.querySelector(`.st-key-present-${key} button:not([disabled])`);
    if (!button || event.target.closest?.("input, [role=slider]")) return;
    event.preventDefault();
    button.click();
  });
}

/** Close a list as soon as one of its buttons is pressed: streamlit only closes it for a click beside it, or for Escape. */
function closeChosenLists() {
  addEventListener("click", event => {
    if (!event.target.closest?.(".st-key-choices button")) return;
    setTimeout(() => document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"})));
  });
}

/** Return an address of the server, which need not be at the root of its host. */
lab.resolved = path => {
  const own = document.querySelector('script[src*="static/js/index"]');
  return new URL(path, own ? new URL("../../", own.src) : document.baseURI);
};

/** Read the page again where the server does not know its session any more; where there is none, nothing is known. */
async function readAgainIfForgotten() {
  if (!lab.session) return;
  const {address, name} = lab.session;
  try {
    const answer = await fetch(lab.resolved(address), {method: "POST", body: name});
    if (answer.ok && (await answer.json())?.isLost) location.reload();
  } catch {
    // No network, or a proxy's page: nothing is known.
  }
}

/** Show a ticket, so that the answer sets the cookie with the key of the lecturer's room; if that fails, the next drawing does. */
async function keepRoomKey({address, ticket}) {
  if (lab.tickets.has(ticket)) return;
  lab.tickets.add(ticket);
  const answer = await fetch(lab.resolved(address), {method: "POST", body: ticket}).catch(() => null);
  if (!answer?.ok) lab.tickets.delete(ticket);
}

/** Look after the page when the connection is gone, until it is there again: streamlit asks for the server ever more seldom. */
function mindReturns() {
  const app = document.querySelector("[data-test-connection-state]");
  let isAway = false;
  const seek = async () => {
    while (isAway) {
      await new Promise(done => setTimeout(done, SERVER_AWAY));
      await readAgainIfForgotten();
    }
    await readAgainIfForgotten();  // a moment ago there may have been none
  };
  const look = () => {
    const wasAway = isAway;
    isAway = app.dataset.testConnectionState !== "CONNECTED";
    if (isAway && !wasAway) seek();
  };
  if (app) new MutationObserver(look).observe(app, {attributeFilter: ["data-test-connection-state"]});
}

/**
 * Ask something of the server when it has sent all of the drawing before: where the next one is asked for as its script ends,
 * streamlit 1.67 throws away what it has not sent yet, and the next drawing has no place to stand. Not on a page that is left.
 */
lab.ask = (page, work, until = performance.now() + LEAVING) => {
  const state = document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState ?? "notRunning";
  if (!location.pathname.endsWith("/" + page) || lab.isLeaving?.()) return;
  if (state === "notRunning" || performance.now() > until) work();
  else setTimeout(lab.ask, 50, page, work, until);
};

/** Keep these values in the link while it is on that page. */
lab.keep = (page, values) => {
  if (!location.pathname.endsWith("/" + page)) return;
  lab.poppedAt = -Infinity;  // it is there
  lab.kept = values;
  for (const name of Object.keys(values)) lab.names.add(name);
  const there = withKept(location.href);
  if (there.href !== location.href) lab.replace(history.state, "", there);
};

export default function ({data}) {
  if (!lab.replace) {
    mindHistory();
    hearKeysBesideSliders();
    hearRemotes();
    closeChosenLists();
    mindReturns();
  }
  if (data.session) lab.session = data.session;
  if (data.room) keepRoomKey(data.room);
  if (!data.values) return;
  const isLost = lab.owner && lab.owner.page === data.page && lab.owner.name !== data.owner;
  if (isLost && Object.values(lab.kept).some(text => text)) {
    lab.keep(data.page, lab.kept);
    location.reload();
    return;
  }
  lab.owner = {page: data.page, name: data.owner};
  lab.keep(data.page, data.values);
}
"""
