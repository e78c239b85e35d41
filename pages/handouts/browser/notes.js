// The lecturer's own screen: notes that follow the lesson, and with a room the answers so far, which the class does not see yet.
const byId = id => document.getElementById(id), EVERY = 700, HERE = "dsglab-here";
let drawn = "", room = "";

/** Enter a room, which may be opened after the notes. */
function enter(code) {
  byId("live").hidden = !code;
  if (!code || room === code) return;
  if (!room) look();
  room = code;
}

/** Mark the step that the lesson shows in another window of this browser, and enter its room. */
function follow(here) {
  const [place, code] = (here ?? "").split(" "), step = place && byId(place);
  if (!step) return;
  enter(code);
  if ("here" in step.dataset) return;
  for (const other of document.querySelectorAll("[data-here]")) delete other.dataset.here;
  step.dataset.here = "";
  step.scrollIntoView({block: "center"});
}

function show({said, question, drawing}) {
  byId("question").textContent = question;
  if (drawn === said + drawing) return;
  drawn = said + drawing;
  byId("count").innerHTML = said;  // made by the server, all text in it is escaped
  byId("drawing").innerHTML = drawing;
}

async function look() {
  for (;;) {
    await new Promise(done => setTimeout(done, EVERY));
    try {
      const reply = await fetch(`r/${encodeURIComponent(room)}/notes/now`), said = await reply.json();
      if (reply.ok) show(said);
      else if (reply.status === 403) { enter(""); room = ""; return; }  // it is closed, or another browser's
      else byId("count").textContent = said.why;
    } catch { byId("count").textContent = "No connection. Trying again …"; }
  }
}

addEventListener("storage", event => { if (event.key === HERE) follow(event.newValue); });
try { follow(localStorage.getItem(HERE)); } catch {}  // a private window may keep nothing
const given = new URLSearchParams(location.search).get("room");
if (given) enter(given);
