// In a lesson on a phone: two buttons that show the map or the chart, where there is no room for both.
const NAMES = {map: "Map", curves: "Chart"};

/** Create the buttons inside the root of the charts. `first` is the picture to begin with; a new `step` begins again. */
export function createSwitch(root, {first, step}) {
  const bar = document.createElement("div"), buttons = new Map();
  let shownStep = step;
  bar.className = "live-switch";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Picture");
  root.classList.add("live-lesson");
  root.append(bar);
  const show = picture => {
    root.dataset.picture = picture;
    for (const [name, button] of buttons) button.setAttribute("aria-pressed", name === picture);
  };
  for (const [name, words] of Object.entries(NAMES)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", () => show(name));
    buttons.set(name, button);
    bar.append(button);
  }
  show(first);
  return {
    /** Take what the script says of the step. */
    update(lesson) {
      if (!lesson || lesson.step === shownStep) return;
      shownStep = lesson.step;
      show(lesson.first);
    },
    /** Offer the pictures that are there; one alone needs no buttons. */
    offer(places) {
      bar.hidden = places.size < 2;
      if (places.size && !places.has(root.dataset.picture)) show([...places][0]);
    },
  };
}
