// In a lesson on a phone: a button that turns between the map and the chart, where there is no room for both.
const WORDS = {map: "Show the map", curves: "Show the chart"};

/** Create the button inside the root of the charts. `first` is the picture to begin with; a new `step` begins again. */
export function createSwitch(root, {first, step, canTurn}) {
  const button = document.createElement("button"), other = () => root.dataset.picture === "map" ? "curves" : "map";
  let shownStep = step, mayTurn = canTurn, pictures = new Set();
  button.className = "live-switch";
  button.type = "button";
  root.classList.add("live-lesson");
  root.append(button);
  const show = picture => {
    root.dataset.picture = picture;
    button.textContent = WORDS[other()];
  };
  /** Offer the button if there are two pictures: one alone needs none, and before the run the chart is empty. */
  const offer = () => { button.hidden = !mayTurn || pictures.size < 2; };
  button.addEventListener("click", () => show(other()));
  show(first);
  return {
    /** Take what the script says of the step. */
    update(lesson) {
      if (!lesson) return;
      mayTurn = lesson.canTurn;
      offer();
      if (lesson.step === shownStep) return;
      shownStep = lesson.step;
      show(lesson.first);
    },
    /** Take which pictures are there. */
    offer(places) {
      pictures = places;
      offer();
      if (places.size && !places.has(root.dataset.picture)) show([...places][0]);
    },
  };
}
