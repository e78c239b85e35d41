"""A demo run with all the app's measurements, and eight of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from dsgcore.experiments import Plane, Run, Spec, Surface, load_split
from performance.machine import Row, interleaved
from performance.measuring import Sizes

THREADS = 8
GRID = 64
DEMO = {"setting": "auc", "data": {"name": "two_moons", "n": 2000}, "diagnostics": {"n_probes": 512}}


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the demo with everything recorded at every iteration, and a surface at the end."""
    solver = {"n_iter": sizes.demo_iter, "n_features": 256, "batch_size": 128}
    spec = Spec.from_dict({**DEMO, "solver": solver})
    split = load_split(spec)

    def advanced() -> Run:
        run = Run(spec, split)
        run.advance()
        return run

    def demo() -> None:
        model = advanced().model
        Surface(Plane.through(split.X_train).grid(GRID), model).values(model)

    times = interleaved(sizes.repeats, {"all": demo, "run": advanced})
    name = f"demo run, T = {sizes.demo_iter}, with everything recorded, {GRID}x{GRID} surface"
    yield Row(name, times["all"], "s", 0.5, is_most=True)
    yield Row("  of this without the surface", times["run"], "s")
    with ThreadPoolExecutor(THREADS) as pool:
        made = [run.t for run in pool.map(lambda _: advanced(), range(THREADS))]
    yield Row(f"  {THREADS} threads at once: iterations made by the slowest", min(made), "", sizes.demo_iter)
