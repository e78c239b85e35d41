"""Results of a study's runs together: means over seeds, order, paired differences, prices, and a background study."""

import contextlib
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from cases import each
from clocks import until
from scipy import stats
from test_studies import SPEC

from dsgcore import studies
from dsgcore.core.metrics import Effect, paired_difference
from dsgcore.experiments import SETTINGS, Spec, default_spec
from dsgcore.experiments.cost import GIGABYTE, Budget
from dsgcore.jobs.starting import fork_server
from dsgcore.studies import Store, Study, StudyError, StudyRuns
from dsgcore.studies.carrying_out import LEFT_OUT

STEPS, WIDTHS, SEEDS = [0.1, 0.5, 2.0], [0.5, 5.0], [0, 1, 2]
STUDY = {
    "spec": SPEC,
    "axes": [{"name": "solver.step_size", "values": STEPS}, {"name": "kernel.sigma", "values": WIDTHS}],
    "seeds": SEEDS,
}


def kept(store, run, score, state="finished"):
    last = {"score_test": score, "objective": 1 - score, "error_mean": 0.1}
    row = {"spec_sha256": run.spec.sha256, "last": last, "seconds": 0.1, "stop_reason": state, "iterations": 6}
    store.put(run.spec.to_json(), row, {"t": np.arange(6.0)})


@pytest.fixture
def filled(tmp_path):
    """A study whose runs are there: the score follows the step, the seed adds to it, and the widest step diverges."""
    made, store = StudyRuns(Study.from_dict(STUDY)), Store(tmp_path / "runs.sqlite")
    for run in made.runs:
        step, width = run.values
        has_diverged = step == 2.0 and width == 5.0 and run.seed > 0
        kept(store, run, step / 4 + 0.01 * run.seed * step, "diverged" if has_diverged else "finished")
    made.refresh(store)
    return made


def test_points_have_their_mean_and_standard_error_over_seeds(filled):
    results = filled.results("score")
    assert results.points == [(step, width) for step in STEPS for width in WIDTHS]
    values = [0.1 / 4 + 0.01 * seed * 0.1 for seed in SEEDS]
    assert results.mean[0] == pytest.approx(np.mean(values))
    assert results.error[0] == pytest.approx(stats.sem(values))
    assert (results.low[0], results.high[0]) == (min(values), max(values))
    assert filled.results("error").mean[0] == pytest.approx(0.1)


def test_diverged_runs_are_counted_apart_and_come_last(filled):
    results = filled.results("score")
    assert results.n_diverged.tolist() == [0, 0, 0, 0, 0, 2]
    assert results.n.tolist() == [3, 3, 3, 3, 3, 1]
    assert results.ranking().tolist() == [4, 2, 3, 0, 1, 5]
    assert filled.results("objective").ranking().tolist() == [4, 2, 3, 0, 1, 5]


def test_a_paired_difference_is_students(filled):
    results = filled.results("score")
    difference = results.compared(0, 4)
    mine = results.values[0] - results.values[4]
    low, high = stats.t.interval(0.95, 2, mine.mean(), stats.sem(mine))
    assert (difference.mean, difference.low, difference.high) == pytest.approx((mine.mean(), low, high))
    assert difference.effect not in (None, Effect.TIE)
    assert results.compared(5, 4).n == 1
    assert np.isnan(results.compared(5, 4).low)
    assert paired_difference(np.array([np.nan]), np.array([1.0])).n == 0


def test_a_change_helps_or_hurts_where_the_interval_leaves_zero_out():
    zero = np.zeros(3)
    for change, effect in (
        ([0.2, 0.3, 0.4], Effect.HELPS),
        ([-0.2, -0.3, -0.4], Effect.HURTS),
        ([-0.1, 0.3, 0.0], Effect.TIE),
    ):
        assert paired_difference(np.array(change), zero).effect is effect
    assert paired_difference(np.ones(2), zero[:2]).effect is None


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_settings_twin_is_a_run_of_its_own(setting):
    twin = default_spec(setting).baseline()
    assert Spec.from_dict(twin.to_dict()) == twin
    assert twin.problem != default_spec(setting).problem


def test_what_is_there_is_not_asked_for_again(tmp_path):
    made, store = StudyRuns(Study.from_dict(STUDY)), Store(tmp_path / "runs.sqlite")
    made.refresh(store)
    assert made.n_there == 0
    assert not np.isfinite(made.results("score").mean).any()
    for run in made.runs[:2]:
        kept(store, run, 0.5)
    made.refresh(store, {5: "no room"})
    assert made.n_there == 3
    assert [outcome.failed for outcome in made.outcomes()][5] == "no room"


BUDGET = studies.StudyBudget(Budget(memory=GIGABYTE, seconds=1.0), runs=100, seconds=600.0)
REFUSED = [
    ({**STUDY, "seeds": list(range(40))}, "at most 100 are allowed; with 16 seeds it would fit"),
    (
        {**STUDY, "axes": [{"name": "kernel.sigma", "from": 1, "to": 2, "n": 300}]},
        "with one seed and 100 values of kernel.sigma it would fit",
    ),
    (
        {
            "spec": SPEC,
            "axes": [
                {"name": "solver.n_iter", "values": [6, 100_000]},
                {"name": "solver.n_features", "values": [65_536]},
            ],
        },
        "would fit",
    ),
    (
        {"spec": {**SPEC, "solver": {"n_iter": 20_000}}, "seeds": list(range(99))},
        "of one core, but at most 10 min is allowed; with",
    ),
]


@each("plain, words", REFUSED)
def test_what_costs_too_much_is_refused_in_one_sentence_with_what_would_fit(plain, words):
    with pytest.raises(StudyError) as caught:
        studies.check_price(Study.from_dict(plain), BUDGET)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_price_follows_the_number_of_runs():
    one, three = (studies.price_of(Study.from_dict({**STUDY, "seeds": seeds})) for seeds in ([0], [0, 1, 2]))
    assert three.runs == 3 * one.runs == 18
    assert three.seconds == pytest.approx(3 * one.seconds)
    assert three.memory == one.memory


def descendants(process):
    """Return the processes that a process has begun, and those that they have; none where the system does not say."""
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        return [*children, *(one for child in children for one in descendants(child))]
    return []


@pytest.mark.weekly
def test_a_study_in_the_background_fills_the_store_and_ends_when_it_is_cancelled(tmp_path):
    store = Store(tmp_path / "runs.sqlite")
    small = studies.begin_study(Study.from_dict({"spec": SPEC, "seeds": [0, 1]}), store, memory=GIGABYTE)
    large = studies.begin_study(Study.from_dict({"spec": SPEC, "seeds": list(range(5000))}), store, memory=GIGABYTE)
    assert small.wait(120)
    assert small.error == ""
    assert (small.result.done, small.result.new) == (2, 2)
    until(lambda: len(store) >= 5, 120)
    made_by = descendants(fork_server()._process.pid)
    assert len(made_by) > 1 or not Path("/proc").is_dir()
    large.cancel()
    assert large.wait(60)
    until(lambda: not any(Path(f"/proc/{process}").is_dir() for process in made_by))


def with_curve(store, run, scores):
    last = {"score_test": scores[-1], "objective": 0.0, "error_mean": 0.0}
    row = {"spec_sha256": run.spec.sha256, "last": last, "seconds": 2.0, "stop_reason": "finished", "iterations": 4}
    store.put(run.spec.to_json(), row, {"t": np.arange(4.0), "score_test": np.array(scores)})


def test_the_time_to_a_score_is_read_off_the_histories(tmp_path):
    made, store = (
        StudyRuns(Study.from_dict({**STUDY, "axes": STUDY["axes"][:1], "seeds": [0, 1]})),
        Store(tmp_path / "s"),
    )
    curves = [
        [0.1, 0.9, 0.2, 0.9],
        [0.1, 0.2, 0.3, 0.8],
        [0.9, 0.2, 0.3, 0.9],  # sooner than both of the first point, but alone
        [0.5, 0.5, 0.5, 0.5],
        [0.1] * 4,
        [0.1] * 4,
    ]
    for run, scores in zip(made.runs, curves, strict=True):
        with_curve(store, run, scores)
    made.refresh(store)
    assert studies.usual_target(made.results("score")) == pytest.approx(0.84)
    known = studies.ScoreCurves()
    assert not known.read(store, made.stored, seconds=0)
    assert known.read(store, made.stored)
    results = made.results(studies.time_to(0.8, known))
    # 2 s are spread evenly over four iterations; where one of two seeds never gets there it has no part in the mean.
    assert results.values.tolist()[0] == [1.0, 2.0]
    assert results.mean[1] == 0.5
    assert results.n.tolist() == [2, 1, 0]
    assert results.ranking().tolist() == [0, 1, 2]
    assert known.seconds_to(made.stored[made.hashes[0]], 0.05) == 0.5


class Making:
    """A substitute for processes, with scores by a rule, that records its calls."""

    def __init__(self, worth):
        self.worth, self.made = worth, []

    def submit(self, make, text, folder=None):
        spec = Spec.from_json(text)
        self.made.append((spec.solver.step_size, spec.seed))
        last = {"score_test": self.worth(spec), "objective": 0.0, "error_mean": 0.0}
        row = {"spec_sha256": spec.sha256, "last": last, "seconds": 0.1, "stop_reason": "finished", "iterations": 6}
        future = Future()
        future.set_result((text, row, {"t": np.arange(6.0)}))
        return future


def test_best_first_gives_further_seeds_to_the_best_third_alone_and_goes_on_where_it_was(tmp_path):
    steps = [0.1 * k for k in range(1, 10)]
    plain = {"spec": SPEC, "axes": [{"name": "solver.step_size", "values": steps}], "seeds": list(range(5))}
    study = Study.from_dict({**plain, "budget": {"best_first": True}})
    assert Study.from_dict(study.to_dict()) == study
    store, making = Store(tmp_path / "runs.sqlite"), Making(lambda spec: spec.solver.step_size)
    outcomes = studies.carry_out(study, store, making, 1)
    seeds = [sum(step == s for s, _ in making.made) for step in steps]
    assert seeds == [1] * 6 + [3, 5, 5]
    assert making.made[:9] == [(step, 0) for step in steps]
    assert {outcome.failed for outcome in outcomes if outcome.stored is None} == {LEFT_OUT}
    again = Making(making.worth)
    assert studies.table_of(study, studies.carry_out(study, store, again, 1)) == studies.table_of(study, outcomes)
    assert again.made == []
    rest = Making(making.worth)
    studies.carry_out(Study.from_dict(plain), store, rest, 1)
    assert len(rest.made) == 45 - sum(seeds)
