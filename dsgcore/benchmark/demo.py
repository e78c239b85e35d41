"""A demo as the app runs it, and eight of them at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from dsgcore.benchmark.rows import Row
from dsgcore.benchmark.settings import Sizes
from dsgcore.benchmark.timing import interleaved

if TYPE_CHECKING:
    from dsgcore.experiments import Spec

THREADS = 8
GRID = 64


def demo_spec(n_iter: int) -> Spec:
    """Return the demo: 2000 points in two dimensions, 256 features, batches of 128, 512 probes."""
    from dsgcore.experiments import Spec

    plain = {
        "setting": "auc",
        "data": {"name": "two_moons", "n": 2000},
        "solver": {"n_iter": n_iter, "n_features": 256, "batch_size": 128},
        "diagnostics": {"n_probes": 512},
    }
    return Spec.from_json(json.dumps(plain))


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the demo with everything recorded at every iteration, and a surface at the end."""
    from dsgcore.experiments import Plane, Run, Surface, load_split

    spec = demo_spec(sizes.demo_iter)
    split = load_split(spec)

    def advanced() -> Run:
        run = Run(spec, split)
        run.advance()
        return run

    def demo() -> None:
        model = advanced().model
        Surface(Plane.through(split.X_train).grid(GRID), model).values(model)

    times = interleaved(sizes.repeats, {"all": demo, "run": advanced})
    yield Row(
        f"demo run, T = {sizes.demo_iter}, with everything recorded, {GRID}x{GRID} surface",
        times["all"],
        "s",
        0.5,
        True,
    )
    yield Row("  of this without the surface", times["run"], "s")
    with ThreadPoolExecutor(THREADS) as pool:
        made = [run.t for run in pool.map(lambda _: advanced(), range(THREADS))]
    yield Row(f"  {THREADS} threads at once: iterations made by the slowest", min(made), "", sizes.demo_iter)
