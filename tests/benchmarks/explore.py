"""Load on Explore and its store: a study of 320 runs beside another session, a killed server, many kept runs.

    python tests/benchmarks/explore.py filling killed views --markdown tests/benchmarks/explore.md

- filling: 8 x 8 points and 5 seeds of Explore's first run. The page's server makes them for a websocket client, 20 s
  after the page was opened. Another session watches a run meanwhile (n = 2000, 256 features, "slow").
- killed: the same in a new store. The server is killed (SIGKILL) when half of the runs are there, and another one
  continues. Stored rows must stay the same, also their seconds: no run is made twice.
- estimates: the seconds that the page announces for studies of all settings, beside the CPU seconds of their runs in
  two processes, and the time on the clock. The first study of each setting only loads the compiled loops.
- views: 2,000 stored runs in each view, by Streamlit's test client; the ranking of 50,000.

Seconds are wall-clock seconds. The load of the machine, which others use, is given beside them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from app_server import ROOT, Server, served
from load_client import Visitor
from reporting import command_line, show, table
from streamlit.testing.v1 import AppTest

from dsgcore.experiments import Run, Spec
from dsgcore.experiments.export import summary
from dsgcore.studies import Store, Study, StudyRuns, carry_out, local_processes, price_of
from dsgcore.studies.processes import make_run

SIDE, SEEDS = 8, 5
N_RUNS = SIDE * SIDE * SEEDS
STUDY = f"x_step_size_n={SIDE}&x_sigma_n={SIDE}&x_seeds={SEEDS}"
WATCHED = "n=2000&n_features=256&n_iter=3000&speed=slow"
THERE = re.compile(r"([\d,]+) (?:done|of them)")
MOST_SECONDS = 1200.0
SECONDS_TO_LOOK = 20.0  # that a person looks at the question before the click
SPEC = {"setting": "auc", "data": {"name": "two_moons", "n": 200, "n_labeled": 20}, "solver": {"n_iter": 50}}


Row = tuple[str, str, str]  # measurement, target and result


@dataclass
class Explorer(Visitor):
    """A visitor of Explore: how many runs the page says are there, and when it said so."""

    n_there: int = 0
    said: int = 0
    is_done: bool = False

    def _look(self, delta) -> None:
        super()._look(delta)
        element = delta.new_element
        kind = element.WhichOneof("type")
        text = element.progress.text if kind == "progress" else element.markdown.body if kind == "markdown" else ""
        if found := THERE.search(text):
            now = int(found[1].replace(",", ""))
            self.said += now != self.n_there
            self.n_there = now
        self.is_done = self.is_done or "All runs are done" in text


async def until(is_so: Callable[[], bool], seconds: float = MOST_SECONDS) -> float:
    """Wait until something is so; return the seconds."""
    begun = time.monotonic()
    while not is_so():
        if time.monotonic() - begun > seconds:
            raise TimeoutError("it took too long")
        await asyncio.sleep(0.02)
    return time.monotonic() - begun


@contextlib.asynccontextmanager
async def come_in(visitor: Visitor, port: int):
    """Let a visitor in for the block."""
    stay = asyncio.create_task(visitor.visit(port))
    try:
        yield visitor
    finally:
        stay.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await stay


async def begin(explorer: Explorer) -> None:
    """Wait for the button, and click it."""
    await until(lambda: "start" in getattr(explorer, "_buttons", {}), 120)
    await explorer.click("start")


async def fill(server: Server) -> list[Row]:
    """Make the study beside a watcher."""
    async with come_in(Visitor("auc", WATCHED), server.port) as watcher:
        await until(lambda: watcher.updates > 5, 120)
        async with come_in(Explorer("explore", STUDY), server.port) as explorer:
            await until(lambda: "start" in getattr(explorer, "_buttons", {}), 120)
            await asyncio.sleep(SECONDS_TO_LOOK)
            begun, updates = time.monotonic(), watcher.updates
            await begin(explorer)
            first = await until(lambda: explorer.n_there > 0)
            await until(lambda: explorer.is_done)
            seconds = time.monotonic() - begun
            return [
                ("first cells", "2 s", f"{first:.1f} s"),
                (f"all {N_RUNS} runs", "120 s", f"{seconds:.0f} s"),
                ("the page meanwhile: its number of runs changed", "3/s", f"{explorer.said / seconds:.1f}/s"),
                ("another session's run meanwhile", "2 updates/s", f"{(watcher.updates - updates) / seconds:.1f}/s"),
                ("exceptions shown", "0", f"{explorer.exceptions + watcher.exceptions}"),
            ]


def kept(store: Path) -> dict[str, tuple]:
    """Return the rows of a store by their hashes."""
    with contextlib.closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT sha256, score, objective, seconds, state, finished FROM runs")
        return {sha: tuple(others) for sha, *others in rows}


def checked(store: Path) -> str:
    """Return what SQLite says of a store."""
    with contextlib.closing(sqlite3.connect(store)) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


async def fill_to(server: Server, n: int) -> Explorer:
    """Begin the study, or go on with it, until so many runs are there."""
    async with come_in(Explorer("explore", STUDY), server.port) as explorer:
        await begin(explorer)
        await until(lambda: explorer.n_there >= n or explorer.is_done)
        return explorer


def filling(folder: Path) -> list[Row]:
    """Measure the study beside a watcher."""
    with serving(folder / "filled.sqlite") as server:
        return asyncio.run(fill(server))


@contextlib.contextmanager
def serving(store: Path) -> Iterator[Server]:
    """Serve the app with a separate store."""
    os.environ["DSGLAB_STORE"] = str(store)
    with served() as server:
        yield server


def killed(folder: Path) -> list[Row]:
    """Kill the server at half, and go on with another one."""
    store = folder / "killed.sqlite"
    with serving(store) as server:
        asyncio.run(fill_to(server, N_RUNS // 2))
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    time.sleep(1.0)
    before = kept(store)
    with serving(store) as server:
        asyncio.run(fill_to(server, N_RUNS + 1))
    after = kept(store)
    changed = sum(after.get(sha) != values for sha, values in before.items())
    return [
        ("killed at half: kept by then", f"{N_RUNS // 2}", f"{len(before)}"),
        ("after going on", f"{N_RUNS}", f"{len(after)}"),
        ("rows of before that are others now (made twice)", "0", f"{changed}"),
        ("integrity_check", "ok", checked(store)),
    ]


# Many kept runs.


def filled(store: Path, study: Study) -> None:
    """Keep a row for each run of a study, all with one run's history and scores drawn at random."""
    run = Run(Spec.from_dict(SPEC))
    run.advance(50)
    said, drawn = summary(run), np.random.default_rng(0)
    Store(store).put(run.spec.to_json(), said, {name: run.history.column(name) for name in run.history.names})
    others = "objective, seconds, state, iterations, machine"
    with contextlib.closing(sqlite3.connect(store)) as connection, connection:
        connection.executemany(
            f"INSERT OR IGNORE INTO runs (sha256, score, {others}) SELECT ?, ?, {others} FROM runs WHERE sha256 = ?",
            [(made.key, drawn.random(), said["spec_sha256"]) for made in study.runs()],
        )
        connection.executemany(
            "INSERT OR IGNORE INTO histories SELECT ?, spec, columns FROM histories WHERE sha256 = ?",
            [(made.key, said["spec_sha256"]) for made in study.runs()],
        )


VIEWS = {
    "heat map": {},
    "slices": {"x_view": "One by one"},
    "heat map of the time to a score (read before)": {"x_measure": "time to score"},
}
POINTS_AT_RANDOM = {
    "x_vary": ["Step size", "Regularisation", "Inverse bandwidth"],
    "x_random": "true",
    "x_points": "400",
}
LINES = {"x_vary": ["Step size"], "x_step_size_n": "20", "x_seeds": "50"}
# Nothing is run here, but what would cost too much is refused.
CHEAP = {"x_n_iter": "16", "x_n_features": "16", "x_batch_size": "16"}
CROSSED = {"x_step_size_n": "20", "x_sigma_n": "20", "x_seeds": "5"}
ASKED = (
    *((name, {**CROSSED, **link}) for name, link in VIEWS.items()),
    ("parallel axes", {**POINTS_AT_RANDOM, "x_seeds": "5"}),
    ("lines with a band (1,000 runs, the most of one axis)", LINES),
)


def opened(link: dict) -> AppTest:
    """Open Explore with a link, by streamlit's test client."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    from pages.shell import warm_up

    warm_up.warm_up().thread.join()
    return app.switch_page("pages/explore.py").run()


def views(folder: Path) -> list[Row]:
    """Look at 2,000 kept runs in each view, and rank 50,000."""
    store, rows = folder / "views.sqlite", []
    os.environ["DSGLAB_STORE"] = str(store)
    for name, link in ASKED:
        app = opened({**link, **CHEAP})
        study = app.session_state["_exploring_explore"].made.study
        filled(store, study)
        app.run()  # what is there is read now
        clock, cpu = time.monotonic(), time.process_time()
        app.run()
        seconds, own = time.monotonic() - clock, time.process_time() - cpu
        assert not app.exception
        rows.append((f"{len(study):,} kept runs: {name}, redrawn", "1 s", f"{seconds:.2f} s ({own:.2f} s of CPU)"))
    return [*rows, ranking(folder / "many.sqlite")]


def ranking(store: Path) -> Row:
    """Rank 50,000 kept runs."""
    axes = [{"name": f"solver.{name}", "from": 0.01, "to": 1.0, "n": 100} for name in ("step_size", "lam")]
    study = Study.from_dict({"spec": SPEC, "axes": axes, "seeds": list(range(5))})
    filled(store, study)
    made = StudyRuns(study)
    clock, cpu = time.monotonic(), time.process_time()
    made.refresh(Store(store))
    made.results("score").ranking()
    seconds, own = time.monotonic() - clock, time.process_time() - cpu
    return f"{len(study):,} kept runs: read and ranked", "2 s", f"{seconds:.2f} s ({own:.2f} s of CPU)"


class Timed(Study):
    """A study whose runs store their CPU seconds."""

    @staticmethod
    def make(text: str, folder: str | None = None) -> tuple:
        """Make a run; return its parts with its CPU seconds, set-up included."""
        begun = time.process_time()
        spec, said, columns = make_run(text, folder)
        return spec, said | {"seconds": time.process_time() - begun}, columns


def small(setting: str, axis: str, **parts: dict) -> dict:
    """Return a study of two values and three seeds."""
    spec = {"setting": setting, **parts}
    return {"spec": spec, "axes": [{"name": axis, "values": [0.1, 1.0]}], "seeds": [0, 1, 2]}


WIDTH, RIDGE = "kernel.sigma", "solver.lam"
ESTIMATED = {
    "auc, the page's first": small("auc", WIDTH),
    "s3vm, the page's first": small("s3vm", WIDTH),
    "ordinal, the page's first": small("ordinal", WIDTH),
    "similar_unlabeled, the page's first": small("similar_unlabeled", WIDTH),
    "multiclass, the page's first": small("multiclass", RIDGE),
    "auc, 16 iterations": small("auc", WIDTH, solver={"n_iter": 16}),
    "s3vm, 4,000 points and 1,024 features": small(
        "s3vm", WIDTH, data={"name": "two_moons", "n": 4000}, solver={"n_iter": 64, "n_features": 1024}
    ),
    "auc, breast cancer": small("auc", WIDTH, data={"name": "breast_cancer"}, solver={"n_iter": 100}),
    "multiclass, digits": small("multiclass", RIDGE, data={"name": "digits"}, solver={"n_iter": 40}),
}


def estimates(folder: Path) -> list[Row]:
    """Measure estimated and actual seconds of studies."""
    rows, warm = [], Store(folder / "warm.sqlite")
    with local_processes(2) as executor:
        for name, plain in ESTIMATED.items():
            study = Timed.from_dict(plain)
            first = replace(study, seeds=(100, 101, 102))
            carry_out(Timed(**vars(first)), warm, executor, 2)
            study, begun = Timed(**vars(study)), time.monotonic()
            outcomes = carry_out(study, Store(folder / "estimates.sqlite"), executor, 2)
            clock, price = time.monotonic() - begun, price_of(study).seconds
            actual = sum(outcome.stored.seconds for outcome in outcomes)
            said = f"{price:.2f} s estimated, {actual:.2f} s of CPU (clock {clock:.2f} s)"
            rows.append((f"estimate: {name}", "0.67 to 1.5", f"{actual / price:.2f}: {said}"))
    return rows


PARTS = {"estimates": estimates, "filling": filling, "killed": killed, "views": views}


def main() -> None:
    """Measure the parts that the command line names."""
    asked, rows = command_line(__doc__, PARTS, markdown=Path), []
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.what:
            print(f"load before {name}: {os.getloadavg()[0]:.0f}")
            rows += PARTS[name](Path(folder))
            show(table(("what", "target", "seen"), rows), asked.markdown)


if __name__ == "__main__":
    main()
