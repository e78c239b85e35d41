"""Hostile links: a websocket client on this machine opens each once and measures the app's server.

    python tests/benchmarks/hostile_links.py --links 2500 --markdown tests/benchmarks/hostile_links.md

A link has one to six parameters of a setting, of its data set and of its kernel. Each is at an end of its range,
beyond it, or text that is not a number. Half of the links combine the largest sizes. The measurements are the seconds
to the page's whole answer, with the server's CPU seconds beside them because others may use the machine, the
exceptions on the page, and the server's memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from app_server import Server, served
from load_client import Visitor
from reporting import command_line, show, table

from dsgcore.core.parameters import Integer, Parameter, Real
from dsgcore.data import DATASETS
from dsgcore.experiments import SETTINGS
from pages.controls import controls
from pages.controls.control import Control, key_of
from pages.controls.kernel_parameters import kernel_choices, kernel_title

NONSENSE = (
    "",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-1",
    "0",
    "9" * 5000,
    "auto",
    "<b>x</b>",
    "[a](b)",
    "\x00",
    "💥",
    "1;2",
    "None",
)
SIZES = ("n", "n_features", "mc_n_features", "batch_size", "n_iter", "n_irrelevant", "n_labeled", "n_classes")
BESIDE = (
    "seed",
    "at",
    "look",
    "map",
    "hide",
    "log_objective",
    "graph",
    "speed",
    "lesson",
    "changes",
    "columns",
    "tabs",
)
LONGEST = 60.0  # seconds until a page that does not answer counts as one that does not


@dataclass
class Seen:
    """Outcome of one link."""

    link: str
    seconds: float
    cpu: float
    exceptions: int
    has_answered: bool


def links(n: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield pages and their queries: settings in turn, data sets and kernels by chance."""
    rng = random.Random(seed)
    names = list(SETTINGS)
    for i in range(n):
        yield names[i % len(names)], urlencode(_query(SETTINGS[names[i % len(names)]], rng))


def _query(problem, rng: random.Random) -> dict[str, str]:
    choice = controls.dataset_choice(problem)
    dataset = rng.choice([name for name in choice.options if name in DATASETS])
    kernel = rng.choice([name for one in kernel_choices(problem) for name in one.options] or [None])
    offered = list(controls.controls_for(problem, dataset, kernel).values())
    query = {key_of(problem, "data"): DATASETS[dataset].title}
    if kernel is not None:
        query[key_of(problem, "kernel")] = kernel_title(kernel)
    if rng.random() < 0.5:
        query |= {one.key: str(_end(one.parameter, high=True)) for one in offered if one.parameter.name in SIZES}
    query |= {one.key: _value(one, rng) for one in rng.sample(offered, rng.randint(1, 6))}
    for name in rng.sample(BESIDE, rng.choice([0, 0, 1, 2])):
        query[key_of(problem, name)] = rng.choice((*NONSENSE, "1", "100000", "map,curves"))
    return query


def _end(parameter: Parameter, *, high: bool) -> object:
    return (parameter.high if high else parameter.low) if isinstance(parameter, Integer | Real) else parameter.default


def _value(control: Control, rng: random.Random) -> str:
    parameter = control.parameter
    if rng.random() < 0.3:
        return rng.choice(NONSENSE)
    if not isinstance(parameter, Integer | Real):
        return control.say(rng.choice(control.options))
    high = rng.random() < 0.7
    end = _end(parameter, high=high)
    return str(end) if rng.random() < 0.7 else str(end * 10 + 1 if high else -end)


async def _open(server: Server, page: str, query: str) -> Seen:
    visitor, begun, cpu = Visitor(page, query), time.perf_counter(), server.cpu()
    task = asyncio.create_task(visitor.visit(server.port))
    while not hasattr(visitor, "_answered") and not task.done():
        await asyncio.sleep(0)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(visitor._answered.wait(), LONGEST)
    seconds, spent, has_answered = time.perf_counter() - begun, server.cpu() - cpu, visitor._answered.is_set()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return Seen(f"{page}?{query}", seconds, spent, visitor.exceptions, has_answered)


async def _open_all(server: Server, asked: list[tuple[str, str]]) -> tuple[list[Seen], list[float]]:
    await _open(server, "auc", "")  # what the first page of all waits for is no link's
    seen, memory = [], [server.held()[0]]
    for i, (page, query) in enumerate(asked, start=1):
        seen.append(await _open(server, page, query))
        memory.append(server.held()[0])
        one = seen[-1]
        if one.exceptions or not one.has_answered or one.cpu > 2 or memory[-1] > memory[-2] + 300:
            print(
                f"{one.seconds:.2f} s, {one.cpu:.2f} CPU s, {memory[-1]:.0f} MB, {one.exceptions} exceptions: {one.link[:300]}"
            )
        if i % 100 == 0:
            print(f"{i} links, {memory[-1]:.0f} MB", flush=True)
    return seen, memory


def said(seen: list[Seen], memory: list[float]) -> str:
    """Return what became of all of them."""
    seconds, cpu = (np.array([getattr(one, name) for one in seen]) for name in ("seconds", "cpu"))
    three = [" / ".join(f"{v:.2f}" for v in np.quantile(values, [0.5, 0.99, 1])) for values in (seconds, cpu)]
    held = f"{memory[0]:.0f} / {max(memory):.0f} / {memory[-1]:.0f}"
    rows = [
        ("links", len(seen)),
        ("exceptions", sum(one.exceptions for one in seen)),
        ("without an answer", sum(not one.has_answered for one in seen)),
        ("seconds to the answer, median / p99 / most", three[0]),
        ("CPU seconds, median / p99 / most", three[1]),
        ("more than 2 s to the answer", int((seconds > 2).sum())),
        ("MB that one link added, most", f"{max(np.diff(memory)):.0f}"),
        ("MB before / most / last, of all sessions that are still held", held),
    ]
    return table(("of the links", ""), rows)


def main() -> None:
    """Open them one after another, and print what became of them, or write it into a file."""
    asked = command_line(__doc__, links=2500, seed=0, markdown=Path)
    logging.disable(logging.CRITICAL)  # streamlit misses its server
    with served() as server:
        show(said(*asyncio.run(_open_all(server, list(links(asked.links, asked.seed))))), asked.markdown)


if __name__ == "__main__":
    main()
