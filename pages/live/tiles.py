"""The numbers of a run to watch, and its position and state, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dsgcore.core.metrics import Difference, Effect
from dsgcore.experiments import Health, LiveRun, Run, StopReason, gain_over_twin
from dsgcore.experiments.verdict import fallen_from
from dsgcore.glossary import meaning
from pages.charts import words
from pages.live import class_views
from pages.live.curves import is_multiclass
from pages.live.looking_back import last_step
from pages.live.points_view import points_right

Tone = Literal["green", "red", "orange", "gray"]
BESIDE_TWIN = {Effect.HELPS: "better than", Effect.HURTS: "worse than", Effect.TIE: "tie with"}
VERDICT_TONES: dict[Effect | None, Tone] = {
    Effect.HELPS: "green",
    Effect.HURTS: "red",
    Effect.TIE: "gray",
    None: "gray",
}
VERDICT_HELP = (
    "The number after ± is half of the 95 % interval: other test points would change the difference "
    "by about this much. If the interval covers zero, it is a tie. Other labels change it as well: try another "
    "seed."
)
_LIGHTS: dict[Health, Tone] = {
    Health.GOOD: "green",
    Health.STARTING: "gray",
    Health.GROWING: "orange",
    Health.DIVERGED: "red",
}


@dataclass(frozen=True)
class Status:
    """The run's position and state, with a light and its meaning."""

    text: str
    light: Tone
    help: str


@dataclass(frozen=True)
class Tile:
    """A number to watch, with a note beside it."""

    label: str
    value: str
    note: str
    tone: Tone
    help: str
    more: str = ""  # a sentence below the number


def status_of(live: LiveRun, *, is_playing: bool, going_to: int = 0, is_short: bool = False) -> Status:
    """Return the run's position and state; the short ones fit beside the buttons of a phone."""
    health = live.run.health
    said = _position(live, is_playing=is_playing, going_to=going_to)
    short = f"step {live.run.t} · diverged" if "diverged" in said else said
    return Status(short if is_short else said, _LIGHTS[health], health.value)


def _position(live: LiveRun, *, is_playing: bool, going_to: int) -> str:
    run = live.run
    state = f"going to step {going_to}" if going_to else "running" if is_playing else "paused"
    if run.stop_reason is not None:
        last = last_step(run)
        diverged = "diverged, last finite step shown" if last == run.t else f"diverged, step {last} shown"
        ends = {StopReason.FINISHED: "done", StopReason.SETTLED: "settled", StopReason.PLATEAU: "stopped early"}
        state = ends.get(run.stop_reason, diverged)
    changes = len([change for change in run.spec.changes if change.t <= run.t])
    recorded = f" · {changes} change{'s' * (changes != 1)} recorded" if changes else ""
    return f"step {run.t} of {run.n_iter} · {state}{recorded}"


def tiles_of(live: LiveRun) -> tuple[Tile, Tile, Tile]:
    """Return the three numbers to watch: the objective, the score, and the error or the rank."""
    run, row = live.run, live.run.history.last()
    objective = _number(row.get("objective", run.start_objective()))
    score = f"{row['score_test']:.3f}" if row else "–"
    said, tone = _comparison(live)
    return (
        Tile("Objective", objective, "", "gray", meaning("objective")),
        Tile(_score_label(live), score, said, tone, _score_help(live, is_compared=bool(said)), points_right(live)),
        _rank(run) if is_multiclass(run) else _error(run),
    )


def _error(run: Run) -> Tile:
    row = run.history.last()
    note = f"at {words.probes(run)}" if row else ""
    help_ = f"{words.measured(run)} {words.F} {words.H}"
    return Tile("|f − h|²", _number(row.get("error_mean")), note, "gray", help_)


def _rank(run: Run) -> Tile:
    return Tile("Rank of W", class_views.rank(run), class_views.tail(run), "gray", meaning("rank"))


def _score_label(live: LiveRun) -> str:
    """Return the label of the score's tile, with the average's score in the second half of the run."""
    run, name = live.run, live.run.problem.score_name
    averaged = run.history.last().get("score_average") if run.t > run.averaged_after else None
    return f"Test {name}" if averaged is None else f"Test {name}, average {averaged:.3f}"


def _comparison(live: LiveRun) -> tuple[str, Tone]:
    """Return the comparison of the score with the twin's, if there is one."""
    made = gain_over_twin(live.run, live.supervised) if live.supervised is not None else None
    if made is None:
        return "", "gray"
    twin, best = live.run.problem.baseline_name, fallen_from(live.run)
    if "no better than chance" in made.reason:  # the reason in full would take a second line
        return "no better than chance", VERDICT_TONES[None]
    if made.effect is Effect.HELPS and best is not None:
        return f"fallen from {best:.3f}, still above “{twin}” ({made.mean:+.3f} ± {made.half_width:.3f})", "gray"
    return comparison_words(made, twin), VERDICT_TONES[made.effect]


def comparison_words(made: Difference, twin: str) -> str:
    """Return the comparison of the score with the twin's, with a verdict if the test points allow one."""
    if made.effect is None:
        return made.reason
    return f"{BESIDE_TWIN[made.effect]} “{twin}” ({round(made.mean, 3) + 0.0:+.3f} ± {made.half_width:.3f})"


def _score_help(live: LiveRun, *, is_compared: bool) -> str:
    problem = live.run.problem
    said = f"{meaning(problem.score_name)} Measured on held-out points, and compared with “{problem.baseline_name}”."
    return f"{said} {VERDICT_HELP}" if is_compared else said


def _number(value: float | None) -> str:
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.1e}"
