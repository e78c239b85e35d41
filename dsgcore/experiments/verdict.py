"""Result of a run: predicted classes, comparison with its twin and with other choices of labels, and the lessons' measures."""

from __future__ import annotations

import math
import threading
import warnings
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import percentileofscore

from dsgcore.core.metrics import Difference, Effect, Z, accuracy_half_width, auc_half_width, hits_of_one_class
from dsgcore.core.sampling import evenly_spread
from dsgcore.core.threads import single_threaded_blas
from dsgcore.data import Split
from dsgcore.data.datasets import keyed_generator
from dsgcore.estimators.classes import decision_threshold
from dsgcore.estimators.inputs import POINTS_CUT
from dsgcore.experiments.engine import learned_score
from dsgcore.experiments.live import LiveRun
from dsgcore.experiments.run import Health, Run
from dsgcore.experiments.spec import Spec
from dsgcore.problems.thresholds import classify, cuts_of, thresholds
from dsgcore.solver.measures import Reference
from dsgcore.solver.problem import UNLABELED
from dsgcore.solver.task import Task

# Columns of the history that are measures under their own name, if a run has them.
OF_THE_LAST_ROW = ("objective", "rank", "score_labeled", "score_unlabeled", "score_average", "objective_average")
# Measures that need the exact minimiser: computed only on request, and for few enough training points.
OF_THE_MINIMISER, MOST_POINTS = frozenset({"distance", "overstated"}), 1000
# Values whose range is this small a share of their size are the same.
SAME = 1e-6
# Measures that need many short runs.
OF_THE_CHOICES = frozenset({"choice_rank", "choices_band", "choices_best"})


def gain_over_twin(run: Run, twin: Run) -> Difference | None:
    """Return a run's test score less its twin's at the same iteration; None if either has no score there.

    Notes
    -----
    The interval accounts for other test points only. Other labels, batches and features need other seeds.
    """
    if run.t != twin.t or not run.t:
        return None
    scores = run.result_score, twin.result_score
    if scores[0] is None or scores[1] is None or not math.isfinite(scores[0] - scores[1]):
        return None
    difference = scores[0] - scores[1]
    if Health.DIVERGED in (run.health, twin.health):
        return Difference(difference, reason="There is no verdict, because the run has diverged.")
    if Health.GROWING in (run.health, twin.health):
        return Difference(difference, reason="There is no verdict while an objective is above that of f = 0.")
    problem: Any = run.problem
    y = run.split.y_test
    f, g = (one.result_test_values + one.result_shift for one in (run, twin))
    is_by_hits = problem.is_scored_by_hits  # right or wrong point by point, else an AUC
    half_width = accuracy_half_width(problem.hits(y, f), problem.hits(y, g)) if is_by_hits else auc_half_width(y, f, g)
    if difference > half_width and (said := at_chance(run)):
        return Difference(difference, reason=f"There is no verdict: {said}")
    few = "" if math.isfinite(half_width) else "There are too few test points for a verdict."
    return Difference.around(difference, half_width, len(y), "test points", few)


def at_chance(run: Run) -> str:
    """Return why a run's test score is no better than chance, as a clause; empty if it is better, or not known.

    It is if all points get the same class or value, or if the 95 % interval of the score holds that of chance: an AUC of
    one half, or the share that one class for all points has right.
    """
    score = run.result_score
    if score is None or not math.isfinite(score):
        return ""
    problem: Any = run.problem
    if is_constant(run):
        return f"all test points get the same {'class' if problem.is_scored_by_hits else 'value'}."
    y, f = run.split.y_test, run.result_test_values + run.result_shift
    if problem.is_scored_by_hits:
        labels = run.split.y_train[run.labeled_rows]
        is_commonest = hits_of_one_class(y, labels[:0] if problem.labels == "pairs" else labels)
        chance, half_width = float(is_commonest.mean()), accuracy_half_width(problem.hits(y, f), is_commonest)
        said = f"always the most frequent class ({chance:.3f})"
    else:
        chance, half_width, said = 0.5, auc_half_width(y, f, np.zeros(len(y))), "chance (0.5)"
    if score - chance > np.nan_to_num(half_width):
        return ""
    return f"the {problem.score_name} of {score:.3f} is no better than {said}."


def is_constant(run: Run) -> bool:
    """Return True if a run's result gives all test points the same class, or the same value if only their order counts."""
    if cast(Any, run.problem).is_scored_by_hits:
        return len(np.unique(predicted_classes(run, run.result_test_values))) == 1
    f = run.result_test_values
    return bool(np.ptp(f) <= SAME * np.abs(f).max())


def score_half_width(run: Run, score: float) -> float:
    """Return half of the 95 % interval of a test score of a run, over test points; NaN for too few."""
    y, f = run.split.y_test, run.result_test_values + run.result_shift
    if cast(Any, run.problem).is_scored_by_hits:
        return Z * math.sqrt(score * (1.0 - score) / len(y))
    return auc_half_width(y, f, np.zeros(len(y)))


def best_score(run: Run) -> tuple[float, int]:
    """Return a run's highest test score, as a mean over a twentieth of the iterations, and the iteration where that ends."""
    scores = run.history.column("score_test")
    window = max(1, len(scores) // 20)
    # Means that are exact for equal scores: by rounding 1 would seem to be above 1.
    means = np.lib.stride_tricks.sliding_window_view(scores, window).mean(axis=1)
    return float(means.max()), int(means.argmax()) + window


def fallen(run: Run) -> tuple[float, float] | None:
    """Return a run's highest test score and its last one if that is clearly below, else None.

    Each is a mean over a twentieth of the iterations. The interval is that of two independent scores, so it is rather too wide.
    """
    if not run.t or run.health is Health.DIVERGED:
        return None
    best, last = best_score(run)[0], run.history.column("score_test")[-max(1, run.t // 20) :]
    now = float(np.mean(last)) if run.spec.solver.average is None else run.result_score or 0.0
    return (best, now) if best - now > math.sqrt(2.0) * score_half_width(run, (best + now) / 2.0) else None


# Values of an outcome's measure "verdict".
SIGNS = {Effect.HELPS: 1.0, Effect.HURTS: -1.0, Effect.TIE: 0.0}


def outcome_of(live: LiveRun, asked: Collection[str] = ()) -> dict[str, float]:
    """Return the measures of a run that has made at least one iteration.

    Parameters
    ----------
    asked : collection of str, optional
        Names of measures; those of the exact minimiser are computed only if they are named here.

    Returns
    -------
    dict
        Measures that this run has, by name:

        - score, objective, rank, and those of the average: columns of the history
        - gain: the score less the twin's
        - verdict: 1 better than the twin, -1 worse, 0 a tie
        - growth: the highest objective over that of f = 0, infinite if the run has diverged
        - unrest: mean change of the objective between iterations over the second half, relative to its mean
        - error_share: |f - h|^2 over |h|^2
        - lag: the score of h less that of f
        - right: share of test points whose class is predicted; near: the same within one class
        - commonest: share of the most frequent class; positive_share: share that is called positive
        - averaging: the last iterate's objective less the average's
        - batch: points per source and iteration
        - matrix_share: the model's numbers over those of a kernel matrix of the training points
        - distance: |f - f*|^2 over |f*|^2 at the training points
        - overstated: |f - h|^2 over |f - f*|^2 there
        - labels: number of labeled points
        - choice_rank: share of random choices of the labels that the score beats; choices_band: width of the band that
          holds most of them; choices_best: the best one's score. Computed only if they are named
        - column@share: a column's value at this share of the run
        - steered parameters: their values at the end
    """
    run, spec, row, has_diverged = live.run, live.run.spec, live.run.history.last(), live.run.health is Health.DIVERGED
    objective = run.history.column("objective")
    late = objective[run.t // 2 :]
    measures = {
        "score": row["score_test"],
        **{name: row[name] for name in OF_THE_LAST_ROW if name in row},
        "growth": math.inf if has_diverged else float(np.max(objective)) / run.start_objective,
        "unrest": float(np.abs(np.diff(late)).mean() / np.abs(late).mean()) if len(late) > 1 else math.nan,
        "batch": float(spec.solver.batch_size),
        "labels": float(len(run.split.labeled)),
        **({"averaging": row["objective"] - row["objective_average"]} if "objective_average" in row else {}),
        **{name: value for name, value in spec.values_at(run.t).items() if isinstance(value, int | float)},
    }
    if spec.baseline() == spec and run.health is Health.GOOD:
        measures |= {"gain": 0.0, "verdict": SIGNS[Effect.TIE]}
    elif live.supervised is not None:
        gain = gain_over_twin(run, live.supervised)
        if gain is not None and gain.effect is not None:
            measures |= {"gain": gain.mean, "verdict": SIGNS[gain.effect]}
    for name in (name for name in asked if "@" in name):  # values of columns during the run
        column, share = name.split("@", 1)
        if column in row:
            measures[name] = float(run.history.column(column)[round(float(share) * (run.t - 1))])
    if OF_THE_CHOICES & set(asked) and run.result_score is not None:
        measures |= choice_measures(random_choices(spec, run.split), run.result_score)
    if not has_diverged:
        measures |= _of_model(run, row)
        measures |= _of_minimiser(run) if OF_THE_MINIMISER & set(asked) else {}
    return measures


def _of_model(run: Run, row: dict[str, float]) -> dict[str, float]:
    """Return measures of the model's size, of the classes that it gives to the test points, and of its values beside h."""
    y, given = run.split.y_test, predicted_classes(run, run.result_test_values)
    measures = {
        "right": float(np.mean(given == y)),
        "near": float(np.mean(np.abs(given - y) <= 1)),
        "commonest": float(np.bincount(y).max() / len(y)),
    }
    if len(run.split.class_names) == 2:
        measures["positive_share"] = float(np.mean(given == 1))
    if len(blocks := getattr(run.model, "blocks", ())):
        measures["matrix_share"] = sum(block.size for block in blocks) / len(run.split.X_train) ** 2
    if row.get("h_squared", 0.0) > 0.0:
        f, h = run.test_values, run.exact_values(run.split.X_test)
        measures["lag"] = run.problem.score(y, h + run.shift) - run.problem.score(y, f + run.shift)
        measures["error_share"] = row["error_mean"] / row["h_squared"]
    return measures


def _of_minimiser(run: Run) -> dict[str, float]:
    """Return distances to the exact minimiser; empty if the risk is not quadratic, or the points are too many."""
    task = getattr(run.engine, "task", None)
    if len(run.split.X_train) > MOST_POINTS or run.training_values is None or not isinstance(task, Task):
        return {}
    with single_threaded_blas():
        reference = Reference.of(task)
        if reference.optimum is None:
            return {}
        best = reference.K @ reference.optimum
    f, h = run.training_values.astype(np.float64), run.exact_values(run.split.X_train)
    squared = float(np.sum((f - best) ** 2))
    return {"distance": squared / float(np.sum(best**2)), "overstated": float(np.sum((f - h) ** 2)) / squared}


def predicted_classes(run: Run, values: NDArray) -> NDArray[np.int64]:
    """Return the code of the predicted class, int64 (n,), for these values (n,) or (n, K) of the result of a run that has begun.

    The estimators use the same rules:

    - Classes without an order: the class with the highest score.
    - Ordered classes: the thresholds from the labeled points.
    - AUC: a threshold that gives the training points the share of positives among the labeled points.
    - Other settings: positive above 0, after the run's shift.
    """
    return values.argmax(axis=1) if run.problem.decision == "highest" else classify(values, cuts_of(decision_of(run)))


def decision_of(run: Run) -> dict[str, Any]:
    """Return the number or list that makes classes of a run's values: "thresholds", a "threshold" or a "shift", if it needs any."""
    decision = run.problem.decision
    if decision not in ("ranks", "cut"):
        return {} if decision == "highest" else {"shift": float(run.result_shift)}
    y, f = run.split.y_train[run.labeled_rows], run.result_labeled_values
    if decision == "ranks":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for thresholds that coincide: the map shows this
            return {"thresholds": thresholds(y, f, margin=0.0).tolist()}
    if run.spec.solver.average is not None:  # so that of points like future ones as many are positive
        X = run.split.X_train
        some = run.result_at(X[evenly_spread(len(X), POINTS_CUT)])
    else:
        every = run.test_values if run.training_values is None else run.training_values
        some = every[evenly_spread(len(every), POINTS_CUT)]
    return {"threshold": decision_threshold(float(np.mean(y)), y, f, some)}


def right_test_points(run: Run) -> NDArray[np.bool_]:
    """Return True for each test point whose predicted class is its true class; `run` has begun."""
    right: NDArray[np.bool_] = predicted_classes(run, run.result_test_values) == run.split.y_test
    return right


N_CHOICES = 200
BAND = (0.1, 0.9)  # the quantiles of the band
MOST_KEPT = 64
MOST_DRAWS = 100  # of all labels, until each class has one
_computing = threading.Lock()
_kept: OrderedDict[tuple[int, str], NDArray] = OrderedDict()


def choice_measures(choices: NDArray, score: float) -> dict[str, float]:
    """Return how a score compares with those of random choices, and how far apart these are; to equal one is to beat half."""
    low, high = np.quantile(choices, BAND)
    rank = percentileofscore(choices, score, kind="mean") / 100.0
    return {"choice_rank": float(rank), "choices_band": float(high - low), "choices_best": float(choices[-1])}


def random_choices(spec: Spec, split: Split, *, n: int = N_CHOICES) -> NDArray:
    """Return the test scores of whole runs with labels at random points, (n,), in increasing order.

    They are kept, because they depend on the data as generated only: edits are left out. Each choice has the spec's
    `n_labeled` labels, at least one of each class. The first choices are the same for each `n`.
    """
    base, spec = split.before or split, replace(spec, data=replace(spec.data, edits=()), changes=())
    key = n, spec.sha256
    with _computing:  # a class that asks at the same time waits for one computation
        found = _kept.pop(key, None)
        _kept[key] = np.sort([_score(spec, base, number) for number in range(n)]) if found is None else found
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
        return _kept[key]


def known_choices(spec: Spec) -> NDArray | None:
    """Return the same scores if they were computed before, else None."""
    return _kept.get((N_CHOICES, replace(spec, data=replace(spec.data, edits=()), changes=()).sha256))


def _score(spec: Spec, split: Split, number: int) -> float:
    chosen = chosen_rows(split.y_hidden, spec.data.n_labeled, keyed_generator(spec.seed, f"choices/{number}"))
    y = np.full(len(split.y_train), UNLABELED)
    y[chosen] = split.y_hidden[chosen]
    return learned_score(spec, replace(split, y_train=y))


def chosen_rows(y: NDArray, n: int, rng: np.random.Generator) -> NDArray:
    """Return n random rows with each class among them, unless there are fewer labels than classes."""
    known = np.flatnonzero(y != UNLABELED)
    classes = np.unique(y[known])
    for _ in range(MOST_DRAWS):
        chosen = rng.choice(known, n, replace=False)
        if len(np.unique(y[chosen])) == min(n, len(classes)):
            return chosen
    # A class is so rare that a draw seldom has it.
    first = [rng.choice(np.flatnonzero(y == code)) for code in rng.permutation(classes)[:n]]
    return np.concatenate([first, rng.choice(np.setdiff1d(known, first), n - len(first), replace=False)]).astype(
        np.intp
    )
