// The marks of finished lessons in the browser's storage: a lesson's page writes its own, the list of lessons reads all.
const STORE = "dsglab-lessons";

/** Return all marks; none if the browser keeps nothing. */
function read() {
  try {
    return JSON.parse(localStorage.getItem(STORE)) ?? {};
  } catch {
    return {};
  }
}

function write(lesson, done) {
  const marks = read();
  if ((marks[lesson] ?? 0) >= done) return;
  try {
    localStorage.setItem(STORE, JSON.stringify({...marks, [lesson]: done}));
  } catch {}  // a private window may keep nothing
}

export default function ({data, setStateValue, parentElement}) {
  if (data.lesson) {
    try { localStorage.setItem("dsglab-here", data.here); } catch {}  // the notes in another window follow it
    return write(data.lesson, data.done);
  }
  const marks = read(), said = JSON.stringify(marks);
  if (parentElement.dataset.said === said || said === "{}") return;
  parentElement.dataset.said = said;
  setStateValue("marks", marks);
}
