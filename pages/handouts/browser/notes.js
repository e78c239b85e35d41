// The lecturer's own screen: notes that follow the lesson, and with a room the answers so far, which the class does not see yet.
const byId = id => document.getElementById(id), EVERY = 700, HERE = "dsglab-here";
const room = new URLSearchParams(location.search).get("room");
let drawn = "";

/** Mark the step that the lesson shows in another window of this browser. */
function follow(place) {
  const step = place && byId(place);
  if (!step || "here" in step.dataset) return;
  for (const other of document.querySelectorAll("[data-here]")) delete other.dataset.here;
  step.dataset.here = "";
  step.scrollIntoView({block: "center"});
}

function show(said) {
  const left = said.left === null || !said.isOpen ? "" : `, ${Math.ceil(said.left)} s left`;
  const state = said.isRevealed ? "revealed" : said.isOpen ? "open" : "closed";
  byId("count").textContent = said.question ? `Room ${said.code}, round ${said.round}: ${said.number} answered, ${state}${left}` : `Room ${said.code}`;
  byId("question").textContent = said.question;
  if (drawn !== said.drawing) byId("drawing").innerHTML = drawn = said.drawing;  // made by the server, all text in it is escaped
}

async function look() {
  for (;;) {
    try {
      const reply = await fetch(`r/${encodeURIComponent(room)}/notes/now`), said = await reply.json();
      if (reply.ok) show(said);
      else { byId("count").textContent = said.why; if (reply.status === 403) return; }
    } catch { byId("count").textContent = "No connection. Trying again …"; }
    await new Promise(done => setTimeout(done, EVERY));
  }
}

addEventListener("storage", event => { if (event.key === HERE) follow(event.newValue); });
try { follow(localStorage.getItem(HERE)); } catch {}  // a private window may keep nothing
if (room) { byId("live").hidden = false; look(); }
