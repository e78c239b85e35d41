// A recorded step of a lesson: both sliders and the button choose what the charts show. It follows the charts' own modules.
{
  const recorded = JSON.parse(document.getElementById("recorded").textContent);
  const [value, time, play, status] = ["value", "time", "play", "status"].map(id => document.getElementById(id));
  const {runs, figures, n_iter: end, name, words, task} = recorded, SECONDS = 6, FIRST = Number(value.value);
  let frame = null, isFirst = true, guess = null;

  const chartOf = id => createChart(document.getElementById(id), {library: "", isPlain: true});
  const map = figures.map && chartOf("map"), curve = chartOf("curve");
  if (!map) document.getElementById("map").remove();

  function curveAt(run, t) {
    const {data: [line, ...others], layout} = figures.curve, n = run.t.filter(own => own <= t).length;
    return {data: [{...line, x: run.t.slice(0, n), y: run.y.slice(0, n)}, ...others], layout};
  }

  function mapAt({surfaces}, t) {
    const {data: [heat, ...points], layout} = figures.map;
    const at = surfaces.filter(own => own.t <= t).at(-1), learned = at?.trace ?? {};
    return {data: [{...heat, ...learned}, ...points], layout: {...layout, meta: {note: `step ${at?.t ?? 0}`}}};
  }

  // --- the task: a guess before the run, or a goal

  const place = document.getElementById("guess"), button = element("button", {disabled: ""}, place, "Guess and play");
  const heard = now => { guess = now; button.disabled = false; };
  if (task.kind in inputs) {
    inputs[task.kind](place, task, {heard, isOpen: true, mine: null});
    place.append(button);
  }
  document.getElementById("task").addEventListener("submit", event => {
    event.preventDefault();
    value.value = FIRST;
    time.value = 0;
    button.disabled = true;
    if (frame === null) begin();
  });

  /** After a run has ended: compare the guess with what the step's run gave, or say whether this run reaches the goal. */
  function judge() {
    const said = document.getElementById("verdict"), why = document.getElementById("why");
    if (task.kind === "goal") said.textContent = task.reached[value.value] ? "✓ Goal reached." : "Not yet. Move the slider.";
    else if (guess !== null && Number(value.value) === FIRST) {
      const [headline] = verdict(task, guess, task.result);
      said.textContent = `${headline} The run gave: ${task.result.answer}`.trim();
      why.open = true;
    }
    if (task.kind === "goal" && task.reached[value.value]) why.open = true;
  }

  function draw() {
    const run = runs[value.value], t = Number(time.value), y = run.y[run.t.filter(own => own <= t).length - 1];
    const said = y === undefined ? `${name}: no iteration yet` : `${name} ${y.toPrecision(3)} after iteration ${t} of ${end}`;
    document.getElementById("said-value").textContent = run.words;
    document.getElementById("said-time").textContent = t;
    value.setAttribute("aria-valuetext", run.words);
    curve.show({figure: JSON.stringify(curveAt(run, t)), alt: said + "."});
    map?.show({figure: JSON.stringify(mapAt(run, t)), alt: `${words}, after iteration ${t}.`});
    if (frame === null && t >= end) judge();
    if (frame === null) status.textContent = said + "." + (run.ending && t >= run.t.at(-1) ? " " + run.ending : "");
  }

  function stop() {
    cancelAnimationFrame(frame);
    frame = null;
    play.textContent = "Play";
    draw();
  }

  function begin() {
    const from = Number(time.value) < end ? Number(time.value) : 0, start = performance.now();
    play.textContent = "Pause";
    const step = now => {
      time.value = Math.min(end, from + Math.round((now - start) / 1000 / SECONDS * end));
      if (Number(time.value) >= end) return stop();
      frame = requestAnimationFrame(step);
      draw();
    };
    frame = requestAnimationFrame(step);
  }

  play.addEventListener("click", () => frame === null ? begin() : stop());
  time.addEventListener("input", () => frame === null ? draw() : stop());
  value.addEventListener("input", () => {
    if (isFirst) time.value = end;  // the reader compares the ends of the runs
    isFirst = false;
    draw();
  });
  draw();
}
