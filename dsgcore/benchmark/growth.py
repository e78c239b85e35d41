"""How a run's time grows with its length and its other sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from dsgcore.benchmark.rows import Row
from dsgcore.benchmark.runs import paper_task, train
from dsgcore.benchmark.settings import Sizes
from dsgcore.benchmark.timing import interleaved, repeated

ROUNDS = 2


def measure(sizes: Sizes) -> Iterator[Row]:
    """Measure the papers' setting with one size at a time made larger, and the others' time beside it."""
    s = sizes
    base = {"n": s.n, "d": s.d, "m": max(1, s.m // 4), "n_iter": s.n_iter, "batch_size": s.batch_size}
    changed = {"T": "n_iter", "N": "n", "m": "m", "d": "d"}
    factors = {"T": s.growth, "N": 2, "m": 2, "d": 2}
    calls: dict[str, Callable[[], object]] = {"base": repeated(partial(train, paper_task(**base)), s.growth)}
    for letter, name in changed.items():
        calls[letter] = partial(train, paper_task(**{**base, name: base[name] * factors[letter]}))
    times = interleaved(ROUNDS, calls)
    times["base"] /= s.growth
    yield Row(
        f"growth at m = {base['m']}: time(T = {s.growth * s.n_iter}) / time(T = {s.n_iter}); papers: {s.growth**2}",
        times["T"] / times["base"],
        "x",
        1.1 * s.growth,
        is_most=True,
    )
    for letter in ("N", "m", "d"):
        old = base[changed[letter]]
        yield Row(f"growth: time({letter} = {2 * old}) / time({letter} = {old})", times[letter] / times["base"], "x")
