// The lecturer's second screen: notes, and the answers so far, which the class does not see yet.
const byId = id => document.getElementById(id), EVERY = 700;
let drawn = "";

function show(said) {
  const left = said.left === null || !said.isOpen ? "" : `, ${Math.ceil(said.left)} s left`;
  const state = said.isRevealed ? "revealed" : said.isOpen ? "open" : "closed";
  byId("count").textContent = `Room ${said.code}, round ${said.round}: ${said.number} answered, ${state}${left}`;
  for (const name of ["lesson", "question", "notes", "why"]) if (byId(name).textContent !== (said[name] ?? "")) byId(name).textContent = said[name] ?? "";
  const options = (said.options ?? []).map(words => Object.assign(document.createElement("li"), {textContent: words}));
  byId("options").replaceChildren(...options);
  if (drawn === said.drawing) return;
  drawn = said.drawing;
  byId("drawing").innerHTML = drawn ?? "";  // made by the server, of numbers and of the project's own words
}

async function look() {
  for (;;) {
    try {
      const reply = await fetch("notes/now"), said = await reply.json();
      if (reply.ok) show(said);
      else { byId("count").textContent = said.why; if (reply.status === 403) return; }
    } catch { byId("count").textContent = "No connection. Trying again …"; }
    await new Promise(done => setTimeout(done, EVERY));
  }
}
look();
