// A recorded step of a lesson: both sliders and the button choose what the charts show. It follows the charts' own modules.
{
  const recorded = JSON.parse(document.getElementById("recorded").textContent);
  const [value, time, play, status] = ["value", "time", "play", "status"].map(id => document.getElementById(id));
  const {runs, figures, n_iter: end, name, words} = recorded, SECONDS = 6;
  let frame = null, isFirst = true;

  const bytesOf = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const numbersOf = text => [...new Float32Array(bytesOf(text).buffer)];

  /** Return a surface as rows; 255 means that there is no number. */
  function surfaceOf({low, high, z}) {
    const all = bytesOf(z), size = Math.sqrt(all.length);
    const numbers = [...all].map(byte => byte === 255 ? null : low + (high - low) * byte / 254);
    return Array.from({length: size}, (_, row) => numbers.slice(row * size, (row + 1) * size));
  }

  for (const run of runs) [run.t, run.y] = [numbersOf(run.t), numbersOf(run.y)];

  const chartOf = id => createChart(document.getElementById(id), {library: "", isPlain: true, config: {displayModeBar: false}});
  const map = figures.map && chartOf("map"), curve = chartOf("curve");
  if (!map) document.getElementById("map").remove();

  function curveAt(run, t) {
    const {data: [line, ...others], layout} = figures.curve, n = run.t.filter(own => own <= t).length;
    return {data: [{...line, x: run.t.slice(0, n), y: run.y.slice(0, n)}, ...others], layout};
  }

  function mapAt({surfaces}, t) {
    const {data: [heat, ...points], layout} = figures.map;
    const at = surfaces.filter(own => own.t <= t).at(-1), learned = at ? {...at.trace, z: surfaceOf(at)} : {};
    return {data: [{...heat, ...learned}, ...points], layout: {...layout, meta: {note: `step ${at?.t ?? 0}`}}};
  }

  function draw() {
    const run = runs[value.value], t = Number(time.value), y = run.y[run.t.filter(own => own <= t).length - 1];
    const said = y === undefined ? `${name}: no iteration yet` : `${name} ${y.toPrecision(3)} after iteration ${t} of ${end}`;
    document.getElementById("said-value").textContent = run.words;
    document.getElementById("said-time").textContent = t;
    value.setAttribute("aria-valuetext", run.words);
    curve.show({figure: JSON.stringify(curveAt(run, t)), alt: said + "."});
    map?.show({figure: JSON.stringify(mapAt(run, t)), alt: `${words}, after iteration ${t}.`});
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
