"""Golden results of studies, comparisons, and rooms of a class, from many unusual inputs."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import product

import golden_files
import numpy as np
import pandas as pd
import pytest
from clocks import Clock
from golden_files import lines_of, tried
from room_phones import CURVE, MAP, NUMBER, PICK
from small_specs import OWN_LESSON

from dsgcore.cli.runs import axis_of
from dsgcore.comparing import Comparison, Fit, FitRequest, Sample, html_of, rounds
from dsgcore.comparing.label import label
from dsgcore.comparing.methods import METHODS, SCORES, chosen_methods
from dsgcore.comparing.report import text_of
from dsgcore.comparing.reproductions import archive_of, read_set, reproduction
from dsgcore.comparing.samples import about_labels, about_shift, fit
from dsgcore.data.reading import File
from dsgcore.diagnostics import check_possible, convergence, four_runs, limits, references
from dsgcore.experiments import SETTINGS, FileStore, Spec, load_split
from dsgcore.experiments.engine import Budget
from dsgcore.experiments.verdict import choice_measures
from dsgcore.explained import (
    example,
    first_steps,
    largest_step,
    noises,
    objectives,
    rolled,
    single_waves,
    sums_of_waves,
)
from dsgcore.jobs.tasks import CUT_OFF, NOT_BEGUN, Finished, ThisProcess, finished
from dsgcore.lessons import Library, lessons_of
from dsgcore.model_selection import compare
from dsgcore.rooms.questions import Asked, choice_of, plain_question, plain_text, question_in
from dsgcore.rooms.rooms import Rooms, results_csv, spaced
from dsgcore.settings import Curve, Estimate
from dsgcore.studies import Store, Study, StudyRuns, importance, response
from dsgcore.studies import runs as runs_of_studies
from dsgcore.studies.carrying_out import carry_out
from dsgcore.studies.examples import example_study, example_trajectories
from dsgcore.studies.importance import encoded
from dsgcore.studies.results import (
    BY,
    ScoreCurves,
    _trial,
    convergences,
    csv_of,
    curves_of,
    table_of,
    time_to,
    usual_target,
    x_values,
)
from dsgcore.studies.store import packed, unpacked
from dsgcore.studies.study import StudyBudget, check_price, price_of

# --- comparisons of given scores: kind, score, methods, seeds, labels, test points, overlap, is going, is complete
NOTES = ("", "", "learns from 40 of 90 unlabeled points, to be fast enough")
WHY = ("it needs more memory than 3 GB", CUT_OFF, "a score is not a finite number")
COMPARED = [
    (kind, score, n, seeds, labels, tested, overlap, going, complete)
    for (kind, score), (n, seeds), (labels, tested), (overlap, going, complete) in zip(
        [
            ("binary", "accuracy"),
            ("binary", "auc"),
            ("classes", "accuracy"),
            ("ordinal", "mean_auc"),
            ("ordinal", "mean_absolute_error"),
        ]
        * 4,
        [(6, 10), (4, 6), (2, 3), (5, 1), (3, 2), (7, 12), (8, 3)] * 3,
        [(30, 15), (64, 200), (150, 40), (1200, 3000)] * 5,
        [(0.0, False, True), (0.33, False, True), (0.0, True, True), (0.2, False, False)] * 5,
        strict=False,
    )
]


def drawn_fits(number, kind, methods, seeds, labels):
    """Return fits with scores drawn at random: some fail, some methods lack seeds, some scores tie."""
    rng, fits = np.random.default_rng(number), []
    spread, apart = rng.choice([0.004, 0.03, 0.1]), rng.choice([0.0, 0.02, 0.15])
    level, of_seed = rng.uniform(0.6, 0.9), rng.normal(0, spread, seeds)
    for place, name in enumerate(methods):
        own = level + apart * rng.normal()
        there = seeds if place < 2 or rng.random() < 0.6 else rng.integers(0, seeds + 1)
        for seed, n in product(range(seeds), {labels, labels // 2, labels // 5} if number % 3 == 0 else {labels}):
            value = round(
                float(np.clip(own + of_seed[seed] + rng.normal(0, spread / 2) - 0.1 * (n < labels), 0.02, 0.99)), 2
            )
            found = {
                name: value if name != "mean_absolute_error" else 2.0 * (1.0 - value)
                for name in SCORES
                if kind in SCORES[name].kinds
            }
            found = {key: SCORES[key].factor * one for key, one in found.items()}
            chance = {key: SCORES[key].factor * 0.5 for key in found}
            request = FitRequest(name, seed, n)
            if seed < there:
                fits.append(Fit(request, found, 0.5 + place, 20.0 + place, NOTES[(place + number) % 3], chance))
            elif rng.random() < 0.5:
                fits.append(Fit(request, note=WHY[number % 3]))
    return fits


def of_comparison(number, case):
    kind, score, n, seeds, labels, tested, overlap, going, complete = case
    rng = np.random.default_rng([1, number])
    known = [method.name for method in chosen_methods(None, kind)]
    methods = tuple(known[i] for i in sorted(rng.permutation(len(known))[:n]))
    made = Comparison(
        tuple(drawn_fits(number, kind, methods, seeds, labels)),
        methods,
        score,
        labels,
        labels + 77,
        tested,
        overlaps={labels: overlap},
        n_classes=2 if kind == "binary" else 4,
        n_known=(labels + tested) * (number % 4 > 0),
        order=("low", "mid", "high", "top") * (kind == "ordinal"),
        warnings=("Class b has 3 labels.",) * (number % 2),
        seconds=4.5,
        is_complete=complete,
        is_going=going,
        name=f"<b>table</b> {number}",
    )
    yield repr(made)
    yield from lines_of("verdict", made.verdict.to_dict())
    yield from text_of(made).split("\n")
    yield from made.to_csv().split("\n")[:3]
    yield from lines_of("curves", made.curves)
    if number in (0, 3):
        html = html_of(made)
        yield from lines_of("rows", [made._repr_html_().count(part) for part in ("<tr", "&lt;", made.verdict.sentence)])
        yield from lines_of("asks for", [word for word in ("src=", "href=", "<script", "@import") if word in html])
        yield from (
            line
            for text in html.partition("</style>")[2].split("\n")
            for line in cut(text)
            if not line.lstrip().startswith(("<t", "</t", "<footer"))
        )
    plain = made.to_dict()
    yield from lines_of(
        "plain", {name: value for name, value in plain.items() if name not in ("verdict", "table", "curves")}
    )
    for name in made.methods[:3]:
        yield from lines_of(name, (made.gain_of_labels(name, 40), made.scores(name)))


def cut(text, width=380):
    return [text[first : first + width] for first in range(0, len(text), width)]


# --- verdicts: scores by method, and what is otherwise than usual
EIGHTY, LINEAR, LOSS = [80, 81, 82], "LogisticRegression", {"score": "mean_absolute_error"}
HARD = np.random.default_rng(0).normal(size=10)
WIDE = {"PS3VT": 80.5 + 4 * (HARD - HARD.mean()), "SVC": 80.0 + 0 * HARD}
FEW, ERRORS = {"SVC": [75, 77, 79], "PS3VT": [80, 82, 84]}, {"OrdinalSVC": [0.8, 0.9, 1.0], "QS3ORAO": [0.7, 0.8, 0.9]}
LUCKY = [50.0 + 0.82 + side for side in (-1.0, 1.0) * 5]  # 2.5 standard errors above one answer
FAILED = tuple(Fit(FitRequest(name, 0, 20), note="the step is too large") for name in ("SVC", LINEAR))
SCORED = (
    ({"SVC": EIGHTY, "PS3VT": [85, 86.1, 87]}, {}),
    ({"SVC": EIGHTY, "PS3VT": [79, 80.1, 81]}, {}),
    ({"SVC": EIGHTY, "PS3VT": [80.1, 80.9, 82]}, {}),
    ({"SVC": EIGHTY, "PS3VT": [79, 83, 84]}, {}),  # better by chance
    ({LINEAR: EIGHTY, "SVC": [80.1, 81.12, 82.08], "PS3VT": [79, 80, 81.1]}, {}),
    ({"SVC": EIGHTY, LINEAR: [79, 79, 81]}, {}),  # better by more than one standard error, but not with 95 %
    ({"SVC": [78, 81, 82], LINEAR: [79, 79, 81]}, {}),
    ({"SVC": EIGHTY, LINEAR: [78, 79.1, 80]}, {}),
    ({LINEAR: [80, 81, 81], "PS3VT": [81, 82.5, 84.5]}, {}),
    ({"SVC": EIGHTY, LINEAR: [70, 84, 75], "PS3VT": [85, 86.1, 87]}, {}),
    ({LINEAR: [90, 70, 80, 85], "PS3VT": [91, 71, 81.5, None]}, {}),
    ({LINEAR: [90, 70, 80], "SVC": [89, None, None], "PS3VT": [91, 71, 81]}, {}),  # the second seed is harder
    ({"SVC": [80, 81, 82], "PS3VT": [79, 80.5, 81], "Nystroem": [99, None, None]}, {}),
    ({"SVC": [80, 81], "PS3VT": [79, 80.5], "Nystroem": [99, None]}, {}),
    ({"SVC": [80, 81, 82], "PS3VT": [79, 80.5, 81], "Nystroem": [None, None, 83, 84, 85]}, {}),  # few shared seeds
    ({"SVC": [80], "Nystroem": [99]}, {}),
    ({"SVC": EIGHTY, "PS3VT": []}, {}),
    ({"SVC": [], "PS3VT": []}, {"is_going": True}),
    ({"SVC": [80], LINEAR: [70, 71]}, {"is_complete": False}),
    ({"SVC": EIGHTY, LINEAR: [70, 71, 73]}, {"is_going": True, "is_complete": False}),
    ({"SVC": [], LINEAR: []}, {"fits": FAILED}),
    ({"SVC": [80, 90, 84], LINEAR: [80, 90, 84]}, {}),
    ({"SVC": [80.1, 80.2, 80.3], "PS3VT": [80.3, 80.1, 80.2]}, {}),
    ({"SVC": [80, 81, 82], "PS3VT": [79.99, 80.98, 82]}, {}),
    ({"OrdinalSVC": [0.8, 0.9, 1.0], "QS3ORAO": [0.5, 0.59, 0.72]}, LOSS | {"chance": 1.5}),
    *((FEW, {"chance": chance}) for chance in (70.0, 81.0)),
    *((ERRORS, LOSS | {"chance": chance}) for chance in (1.2, 0.81)),
    ({"TSGS3VM": [70, 100, 100], "SVC": [70, 100, 100]}, {"chance": 60.0}),
    ({"QS3ORAO": [0.7, 0.8, 0.9], "OrdinalSVC": [0.7, 0.8, 0.9]}, LOSS | {"chance": 0.9}),
    ({"SVC": LUCKY, "PS3VT": [value - 9.0 for value in LUCKY]}, {"chance": 50.0}),
    ({name: [60.0 + i, 75, 84 - i] for i, name in enumerate([*METHODS][:13])}, {"chance": 20.0, "overlap": 1 / 3}),
    *((WIDE, {"overlap": overlap, "n_known": n}) for overlap, n in ((1 / 3, 100), (0.0, 100), (1 / 3, 0))),
)


def of_scores(scores, *, score="accuracy", chance=np.nan, overlap=0.0, **more):
    fits = [
        Fit(FitRequest(name, seed, 20), {score: float(value)}, 0.5, 10.0, chance={score: chance})
        for name, values in scores.items()
        for seed, value in enumerate(values)
        if value is not None
    ]
    made = replace(Comparison(tuple(fits), tuple(scores), score, 20, 100, 50, {20: overlap}), **more)
    verdict, said = made.verdict, text_of(made).rstrip().split("\n")
    yield from lines_of("said", (verdict.recommended, verdict.help, verdict.is_clear, verdict.sentence))
    yield from [line for line in said[said.index("") :] if line.strip() and not line.startswith("Each seed draws")]


def test_comparisons_of_given_scores():
    found = [line for number, case in enumerate(COMPARED[:10]) for line in of_comparison(number, case)]
    golden_files.check("comparisons", [*found, *(line for given, more in SCORED for line in of_scores(given, **more))])


# --- samples, fits, and a comparison in this process


def odd_table(kind, n=120):
    rng, k = np.random.default_rng(len(kind)), {"binary": 2, "classes": 3, "ordinal": 4}[kind]
    y = rng.integers(0, k, n)
    near, far = y + rng.normal(0, 0.7, n), 1e3 * rng.exponential(size=n)
    X = np.stack([near, far, np.full(n, 2.0), rng.integers(0, 2, n) - y / 9, np.arange(n)], axis=1)
    y[rng.permutation(n)[: n // 3]] = -1
    y[n // 2 :] = np.where(rng.random(n - n // 2) < 0.5, -1, y[n // 2 :])
    return X, y


FITTED = (
    "LogisticRegression",
    "SVC",
    "SpreadingKNN",
    "PS3VT",
    "TSGS3VM",
    "OrdinalSVC",
    "QS3ORAO",
    "SafeQSGS2AUC-labels",
)


def test_samples_fits_and_rounds(monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr(rounds, "queue_of", lambda *given: nullcontext(ThisProcess()))
    for kind in ("binary", "classes", "ordinal"):
        X, y = odd_table(kind)
        sample = Sample.of(X, y, n_labeled=15, is_ordered=kind == "ordinal")
        names = ("n_known", "n_test", "test_share", "most_labels", "classes", "kind", "lone")
        found += lines_of(kind, [getattr(sample, name) for name in names] + [sample.curve(), sample.sha256[:9]])
        found += lines_of("overlap", [sample.overlap_at(n) for n in (4, 10, 20, 30)])
        for split in (sample.split(2, 9), sample.split(3, 15)):
            arrays = split.X_train, split.y_train, split.y_hidden, split.X_test, split.y_test, split.train_rows
            found += lines_of("split", (*arrays, split.class_names))
        some = np.where(np.arange(len(y)) < 3, y, np.where(y == 0, -1, y))
        found += [*about_labels(some, sample.classes, is_ordered=False), *about_shift(X, y)]
        for method in chosen_methods(None, kind):
            found += lines_of(method.name, (vars(method), " ".join(repr(method.make(0)).split())))
            if method.name in FITTED:
                found += lines_of("  fit", fit(FitRequest(method.name, 4, 15), split, kind))
    X, y = odd_table("classes")
    rng = np.random.default_rng(2)
    for n, apart in ((9, 9.0), (10, 9.0), (40, 0.6), (40, 1.2), (40, 9.0), (1500, 0.3), (1500, 0.6)):
        places, codes = rng.normal(size=(3 * n, 2)), np.where(np.arange(3 * n) < n, 0, -1)
        found += lines_of(f"shift {n} {apart}", about_shift(places + apart * (codes < 0)[:, None], codes))
    methods, seen = ["LogisticRegression", "SVC", "SpreadingKNN"], []
    made = compare(
        X, y, n_labeled=12, seeds=4, seconds=None, methods=methods, store=None, callback=seen.append, name="odd"
    )
    found += [
        repr(made),
        *lines_of("seen", [(len(one.fits), one.is_going) for one in seen]),
        *lines_of("curves", made.curves),
    ]
    found += lines_of(
        "plain", {name: value for name, value in made.to_dict().items() if name not in ("table", "curves")}
    )
    found += of_own_table()
    X, y = odd_table("classes")
    y[np.flatnonzero(y == 1)[1:]] = -1  # of a class with one label every split learns, and none is tested on it
    sample = Sample.of(X, y, n_labeled=None, is_ordered=False)
    rows = [
        (split.labeled, split.test_rows, split.y_test) for split in map(sample.split, (0, 1), (sample.n_labeled, 5))
    ]
    found += lines_of("one label", (sample.lone, rows))
    three = ["SVC", "Neighbors", "SelfTraining"]
    made = compare(X, y, n_labeled=3, seeds=3, seconds=None, methods=three, store=None, curves=False)
    found += [*made.warnings, made.verdict.sentence, *lines_of("notes", made.table["note"].tolist())]
    requests = [FitRequest(name, seed, n) for name in METHODS for seed in (0, 1) for n in (20, 30)]
    samples = sample, Sample.of(X + np.eye(*X.shape), y, n_labeled=None, is_ordered=False)
    found += of_rounds(Sample.of(*odd_table("binary"), n_labeled=15, is_ordered=False), tmp_path)
    found += lines_of("keys", len({request.key(one) for request in requests for one in samples}) / len(requests))
    golden_files.check("comparing_fits", found)


# Number of seeds, accuracy of each method, how it spreads over seeds, which methods fail, and from which seed the time is over.
ROUNDS = (
    (
        None,
        {"SVC": 0.8, "LogisticRegression": 0.79, "PS3VT": 0.9, "SpreadingKNN": 0.6, "Neighbors": 0.86},
        0.02,
        (),
        99,
    ),
    (None, {"SVC": 0.8, "LogisticRegression": 0.8, "PS3VT": 0.8, "Neighbors": 0.3}, 0.004, (), 99),
    (7, {"SVC": 0.8, "LogisticRegression": 0.7, "PS3VT": 0.75, "TSGS3VM": 0.78}, 0.04, ("LogisticRegression",), 99),
    (4, {"SVC": 0.8, "LogisticRegression": 0.78, "PS3VT": 0.81, "Nystroem": 0.5}, 0.03, (), 2),
    (2, {"SVC": 0.8, "PS3VT": 0.7}, 0.0, ("SVC", "PS3VT"), 99),
)


def of_rounds(sample, folder):
    """Yield which fits comparisons of given scores ask for, in their order, twice: the store then has what is finished."""
    for number, (seeds, levels, spread, failing, end) in enumerate(ROUNDS):
        store = Store(folder / f"fits{number}.sqlite")
        for curves in (True, False)[: 1 + (number in (2, 3))]:
            asked, seen = [], []

            def make(requests, _end, levels=levels, spread=spread, failing=failing, end=end, asked=asked):
                asked.append(
                    [f"{one.method} {one.seed}{f' of {one.n_labeled}' * (one.n_labeled != 15)}" for one in requests]
                )
                for one in requests:
                    place = [*levels].index(one.method)
                    rng = np.random.default_rng([place, one.seed, one.n_labeled])
                    score = levels[one.method] + spread * rng.normal() - 0.05 * (one.n_labeled < sample.n_labeled)
                    made = Fit(one, {"accuracy": 100 * score}, 3.0 - place / 9, 20.0, chance={"accuracy": 50.0})
                    if one.seed >= end:
                        yield Finished(one, error=(CUT_OFF, NOT_BEGUN)[one.seed > end or place > 1])
                    elif one.method in failing:
                        yield Finished(one, error="the step is too large")
                    else:
                        yield Finished(one, made)

            own = rounds._Rounds(sample, [*levels], "accuracy", seeds, None, f"{number}", store, make, seen.append, 0.0)
            made = own.carry_out(curves=curves)
            yield from [
                f"rounds {number} {len(seen)} {made.is_complete} {own.is_decided}",
                *(" ".join(one) for one in asked if one),
            ]
            yield from [*made.warnings, made.verdict.sentence]
            yield from lines_of("table", made.table.drop(columns=["seconds", "megabytes"], errors="ignore"))


def of_own_table():
    """Yield lines about a person's table whose columns may mislead: one is the label, classes are ordered, rows differ."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    kind = np.array(["low", "medium", "high"])[np.digitize(x[:, 0] + rng.normal(size=200), [-1.0, 1.0])]
    kind[:3] = "high"
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(kind=kind, told=kind, age=40.0)
    frame["kind"] = frame["kind"].where(x[:, 1] > 0.0)
    frame.loc[::7, "a"] = None
    for name in ("classes", "ordinal"):
        file = File.of_frame(frame, "own")
        recipe = file.recipe(name, target="kind", is_asked=True)
        data, is_ordered = file.labels(recipe, name), name == "ordinal"
        given = {"n_labeled": None, "recipe": recipe, "class_names": data.class_names}
        split = Sample.of(file.kept(recipe), data.y, is_ordered=is_ordered, **given).split(1, 30)
        yield from lines_of(f"own {name}", (split.X_train, split.X_test, split.y_test, split.class_names))
        given |= {"seeds": 2, "methods": ["SVR", "OrdinalSVC"] if is_ordered else ["SVC", "LogisticRegression"]}
        made = compare(file.kept(recipe), data.y, ordered=is_ordered, curves=is_ordered, store=None, **given)
        yield from [repr(made), *made.warnings, *lines_of("curves", made.curves[["method", "labels", "score"]])]
    for names in ("class_0 class_1 class_2", "a b c", "grade_1 grade_2 grade_3"):
        names, y = names.split(), np.arange(30) % 3
        file = File.of_frame(pd.DataFrame({"x": rng.normal(size=30), "y": np.array(names)[y]}), "own")
        recipe = file.recipe("classes", target="y", is_asked=True)
        yield from lines_of("order", about_labels(y, names, file.kept(recipe), recipe))


# --- studies

SMALL = {"n_iter": 6, "n_features": 8, "batch_size": 7, "step_size": 0.3}
SPEC = {"setting": "auc", "data": {"name": "two_moons", "n": 80, "n_labeled": 8, "noise": 0.2}, "solver": SMALL}
S3VM = {"setting": "s3vm", "data": SPEC["data"], "solver": {**SMALL, "average": "tail"}, "seed": 4}
RANDOM = {"name": "solver.lam", "from": 1e-3, "to": 1.0, "n": 11, "random": True}
RANGE = {"n": 5, "scale": "log"}
STUDIES = {
    "many": {
        "axes": [
            RANGE | {"name": "kernel.sigma", "from": 1, "to": 200},
            RANGE | {"name": "solver.lam", "from": 0.01, "to": 1},
        ]
    },
    "grid": {
        "axes": [
            {"name": "solver.step_size", "values": [0.1, 0.4, 1e5]},
            {"name": "kernel.sigma", "from": 2, "to": 20, "n": 4},
        ]
    },
    "random": {
        "axes": [RANDOM, RANDOM | {"name": "solver.n_features", "from": 2, "to": 16, "scale": "linear"}],
        "seeds": [5],
    },
    "best first": {
        "axes": [{"name": "problem.gamma", "from": 0, "to": 1, "n": 9}],
        "budget": {"best_first": True},
        "seeds": [*range(4)],
    },
    "words": {
        "axes": [
            {"name": "problem.pairing", "values": ["all", "triplets"]},
            {"name": "data.n_labeled", "values": [6, 8, 99]},
        ]
    },
    "several": {
        "spec": S3VM,
        "others": [SPEC],
        "seeds": [1, 6],
        "axes": [{"name": "solver.lam", "values": [0.1, 0.01]}],
    },
    "trajectories": {"others": [SPEC | {"solver": SMALL | {"lam": 0.2}}], "seeds": [2, 3, 7], "data_seed": 9},
    "twins": {
        "spec": SPEC | {"kernel": {"sigma": 3.7}},
        "others": [SPEC | {"kernel": {"sigma": 3.7}}],
        "seeds": [0, 2],
    },
    "zero": {"axes": [{"name": "problem.gamma", "values": [0, 0.5], "scale": "log"}], "seeds": [1]},
    "diverging": {"spec": SPEC | {"solver": SMALL | {"step_size": 1e6}}, "seeds": [2], "data_seed": 9},
    "data": {
        "axes": [{"name": "data.name", "values": ["xor", "digits", "friedman"]}],
        "seeds": [0],
        "budget": {"seconds": 1e6},
    },
}
BUDGETS = (
    StudyBudget(Budget(10**12), 3, 1e9),
    StudyBudget(Budget(10**12), 9, 0.07),
    StudyBudget(Budget(9000), 999, 1e9),
)


def of_study(study, store):
    outcomes = carry_out(study, store)
    again = carry_out(study, store)
    yield from lines_of(
        "outcomes", [(one.is_new, two.is_new, one.failed) for one, two in zip(outcomes, again, strict=True)]
    )
    price = price_of(study)
    yield from lines_of(
        "price", (len(study), price.runs, price.memory, float(price.seconds), Study.from_dict(study.to_dict()) == study)
    )
    for budget in BUDGETS:
        yield from tried("refused", lambda: check_price(study, budget).runs)  # noqa: B023
    yield from csv_of(table_of(study, again).drop(columns=["sha256", "seconds"])[:9]).split()
    runs = StudyRuns(study)
    runs.refresh(store)
    keys = [key for key in runs.hashes if key in runs.stored]
    early = StudyRuns(study)
    found = []
    for failed in ({0: "killed", len(study) - 1: "late"}, {0: "killed again"}, None):
        early.refresh(Store(store.file.with_name("none.sqlite")), failed)
        found.append((early.failed, early.n_there))
    early.refresh(store)
    yield from lines_of("failed, and made elsewhere", (*found, early.failed, early.n_there, len(early.outcomes())))
    if study.data_seed is not None:
        for made in convergences(study, runs.hashes, store):
            yield from lines_of(
                "trajectory",
                (
                    made.spec.solver.lam,
                    made.seeds,
                    made.t,
                    dict(sorted({n: c for n, c in made.columns.items() if n != "seconds"}.items())),
                ),
            )
        return
    for measure in ("score", "objective", "error"):
        results = runs.results(measure)
        yield repr(results)
        parts = (
            results.points[:4],
            results.values,
            results.n,
            results.n_diverged,
            results.mean,
            results.error,
            results.low,
            results.high,
        )
        yield from lines_of(
            measure, (*parts, results.step_limit, results.ranking(), results.are_equal, usual_target(results))
        )
        yield from lines_of("difference", results.compared(0, len(results.points) - 1))
        if len(study.axes) > 1 and measure == "objective":
            yield from tried("importance", importance, results)
            yield from tried("response", response, results, 1, 0)
            yield from lines_of("encoded", encoded(results))
    curves, scores, stored = curves_of(store, keys), ScoreCurves(), [runs.stored[key] for key in keys]
    scores.read(store, keys)
    target = usual_target(runs.results("score")) - 0.05
    reached = [time_to(target, scores).of(replace(run, seconds=float(run.iterations))) for run in stored]
    yield from lines_of("curves", (curves.t, curves.middle, curves.low, curves.high, reached))
    same = [replace(run, seconds=3.0) for run in stored]
    yield from lines_of("x", [x_values(by, curves.t, study.spec, same) for by in BY])
    yield from lines_of("stored", stored[0])
    for run in [run for run in runs.runs if run.key in runs.stored and not study.others][:2]:
        trial = _trial(study.axes, run, runs.stored[run.key])
        said = {name: value for name, value in trial.user_attrs.items() if name not in ("seconds", "sha256")}
        yield from lines_of(
            "trial",
            (trial.state.name, trial.value, trial.params, {n: repr(d) for n, d in trial.distributions.items()}, said),
        )


@dataclass(eq=False)
class GivenJob:
    cancel: Callable[[], None]
    error: str = ""
    is_over: bool = True

    def wait(self, _seconds): ...


class GivenQueue:
    """A queue whose jobs do their tasks when they are asked whether they are over; a task below zero kills its job."""

    n_at_a_time = 2

    def __init__(self):
        self.said = []

    def submit(self, function, *given, on_report, memory_limit):
        tasks = [*given[-1]]
        job = GivenJob(lambda: self.said.append(f"cancelled {tasks}"))
        self.said.append(f"{given} {memory_limit}")
        for task in tasks:
            if task < 0 or task > 90:
                job.error, job.is_over = ("killed" if task < 0 else ""), task < 99
                break
            on_report(function(task))
        return job


def of_tasks():
    """Yield what becomes of tasks: those that kill their jobs, or end them early, and those that the time is over for."""
    for lists, options in product(
        ([[1, 2, 3], [4], [], [5, 6]], [[1, -2, 3, 4], [-5], [6, -7]], [[91, 1], [2, 92, 3], [4]], [[1], [99, 2], [3]]),
        ({}, {"tries": 2, "memory_limit": 7}, {"end": -1.0}, {"is_cut": False, "tries": 3}),
    ):
        queue, looks = GivenQueue(), []

        def check(looks=looks):
            looks.append(0)
            if len(looks) > 12:
                raise KeyboardInterrupt

        made = []
        try:
            for one in finished(queue, (10).__mul__, ("shared",), lists, check=check, **options):
                made.append(tuple(one))
        except KeyboardInterrupt:
            made.append("stopped")
        yield from lines_of(f"tasks {lists} {options}", (made, queue.said))


class KillingQueue:
    """A queue that makes the runs of a study, but for some of its jobs, which are killed."""

    n_at_a_time = 1

    def __init__(self, killed):
        self.killed, self.n = killed, 0

    def submit(self, function, *given, on_report, memory_limit):
        self.n += 1
        if self.n in self.killed:
            return GivenJob(lambda: None, "crashed")
        function(*given, report=on_report)
        return GivenJob(lambda: None)


@pytest.mark.filterwarnings("ignore")
def test_studies(tmp_path, monkeypatch):
    store, found = Store(tmp_path / "runs.sqlite"), []
    for name, said in STUDIES.items():
        found += [f"# {name}", *of_study(Study.from_dict({"spec": SPEC, "seeds": [0, 2], **said}), store)]
    monkeypatch.setattr(references, "MAX_POINTS", 30)  # each seed draws its own points
    long = SPEC | {"solver": SMALL | {"step_size": 60.0, "n_iter": 40}}
    for spec, seed in product((long, SPEC), (0, 1)):
        runs_of_studies._reference.cache_clear()
        _, said, columns = runs_of_studies.make_trajectory(json.dumps({"spec": spec | {"seed": seed}, "way_on": 3}))
        found += lines_of("on some points", (said, {name: one for name, one in columns.items() if name != "seconds"}))
    runs_of_studies._reference.cache_clear()
    found += of_tasks()
    few = Study.from_dict({"spec": SPEC | {"solver": SMALL | {"n_iter": 1}}, "seeds": [*range(10)]})
    for number, killed in enumerate(({2, 11}, {*range(1, 7), 11, 12, 13, 15, 16}, {*range(1, 30)})):
        queue, seen = KillingQueue(killed), []
        options = {"jobs": queue, "callback": seen.append}
        said = tried(
            "killed", lambda of, **more: len(carry_out(of, **more)), few, store=Store(tmp_path / f"{number}"), **options
        )
        found += [*said, *lines_of("  jobs, runs", (queue.n, [(one.run.seed, one.is_new, one.failed) for one in seen]))]
    found += lines_of("unpacked", unpacked(packed({"a": np.arange(5.0), "b": np.array([1.5, np.nan])})))
    golden_files.check("studies", found)


# --- rooms, lessons, and the idea in numbers

TYPED = (
    "Who?|I do|I *do* not",
    "How many?|-2.5 to 100",
    "Where?|map",
    "a|b",
    "",
    "x|y|y",
    "n|5 to 2",
    "q|1|2|3|4|5|6|7",
    "two\nline a\nline b",
    *(" | a | b", "Just a question?", "? | a | ", "? | a | b | c | d | e | f | g", "?\na\na ", "? | a | " + "b" * 201),
    *("? | 3 to 3", f"? | 0 to {'9' * 380}", "Which <b>one</b>? | a | b<i> |  | c "),
)
SAID = {
    PICK: ["1", "1", "0", "2", "9"],
    NUMBER: ["0.2", "0.25", "0.7", "7"],
    CURVE: ["0.5~0.6~0.7~0.8~0.9~1", "0.4~0.4~0.5~0.6~0.7~1"],
}
OWN_GUESSES = (  # of a lecturer's own questions
    ("Is P(A | B) *large*?\nyes\n no \n\nperhaps", ["1", "2", "x"]),
    ("How many live there? | 0 to 1999999", ["1999999", "7.5", "-1"]),  # 2e+06 would be off the scale
    ("Where?\nmap", ["0.500~0.250", "0.5"]),
)
SAID |= {
    **{Asked("auc", "unlabeled", 0, f"own{2 + i}", text): guesses for i, (text, guesses) in enumerate(OWN_GUESSES)},
    MAP: ["~".join(["0.500", "0.25"] * 5), "~".join(["0.1", "0.9"] * 5)],
    Asked("auc", "unlabeled", 0, "own1", TYPED[0]): ["0", "1", "1"],
}
OUTCOME = {name: 0.6 for name in ("score", "gain", "verdict", "growth", "error_share", "unrest")} | {
    f"score_test@{x:g}": 0.5 + x / 3 for x in (0, 0.1, 0.25, 0.5, 0.75, 1)
}


def test_rooms_lessons_and_the_idea_in_numbers(tmp_path):
    clock, found = Clock(), [*(line for text in TYPED for line in tried(repr(text), question_in, text))]
    found += lines_of("codes", (spaced("ABCDEFGH"), plain_text("a **b** *c* f* C\\* d")))
    rooms = Rooms(Store(tmp_path / "rooms.sqlite"), clock)
    key = rooms.open()

    def states():
        looks = (vars(rooms.state(key.code)), vars(rooms.look(key)), rooms.look(key).count, rooms.look(key).result)
        return lines_of("  seen, looked, count, result", looks)

    for number, (asked, guesses) in enumerate(SAID.items()):
        rooms.ask(key, asked, {"points": [number]})
        found += lines_of(asked.name, (plain_question(asked.question), asked.step, asked.kind))
        read = [one for one in map(asked.question.read, guesses) if one is not None]
        found += lines_of("  read", (read, [asked.question.say(one) for one in read], choice_of(asked.question, read)))
        for turn in (1, 2):
            for who, guess in enumerate(guesses[turn - 1 :]):
                found += tried("  answer", rooms.answer, key.code, f"phone number {who:06d}", asked.name, turn, guess)
            found += states()
            rooms.end(key, 20.0 * turn)
            clock.now += 15.0
            found += tried(
                "  late", rooms.answer, key.code, "phone number 000077", asked.name, turn, guesses[0], 9.0 * turn
            )
            clock.now += 30.0
            found += tried("  over", rooms.answer, key.code, "phone number 000078", asked.name, turn, guesses[0], 9.0)
            rooms.again(key)
        rooms.reveal(key)
        found += results_csv(rooms.questions(key)).split("\n") if number == 1 else []  # before there is a result
        rooms.tell(key, OUTCOME)
        rooms.shut(key, number > 2)
        found += states()
    found += results_csv(rooms.questions(key)).split("\n")
    rooms.close(key)
    found += tried("closed", rooms.state, key.code)
    for setting in SETTINGS:
        for lesson in lessons_of(setting):
            for place, step in enumerate(lesson.steps):
                asks = step.asks
                said = (
                    None
                    if asks is None
                    else (
                        asks.measures,
                        asks.answer(OUTCOME),
                        asks.is_right(
                            0.6 if isinstance(asks, Estimate) else [0.6] * 6 if isinstance(asks, Curve) else 0, OUTCOME
                        ),
                    )
                )
                goal = step.goal and step.goal.is_reached(OUTCOME)
                found += lines_of(f"{setting}/{lesson.name} {place}", (said, goal, lesson.solved_at(place), step.chart))
    shown_one = example(n_iter=5, n_features=9, batch_size=6, dtype="float64")
    found += lines_of("waves", (single_waves(shown_one, 3), list(sums_of_waves(shown_one, (2, 9))), shown_one.centre))
    found += lines_of("steps", [vars(one) for one in first_steps(shown_one)])
    found += lines_of("ball", (largest_step(shown_one), rolled(3.0, 0.2, 5), objectives(shown_one, 0.4, 6)))
    for name, own in vars(noises(shown_one, (1, 4))).items():
        found += lines_of(name, {str(at): value for at, value in own.items()} if isinstance(own, dict) else own)
    golden_files.check("rooms", found)


# --- what is refused

BAD_LESSONS = (
    "title = ",
    "title = 3",
    'title = "t"\nparts = []',
    'title = "t"\nparts = ["a|b|c"]',
    OWN_LESSON.replace("n_iter = 20", "n_iter = -1"),
)
BAD_LESSONS += (OWN_LESSON, OWN_LESSON.replace("pick.text", "pick.txt"), OWN_LESSON.replace("low = 20", "lowest = 20"))
BAD_STUDIES = (
    {"seeds": []},
    {"seeds": [1, 1]},
    {"axes": [{"name": "solver.lam"}]},
    {"axes": [{"name": "no", "values": [1]}]},
    {"x": 1},
)
SIGMA = {"name": "kernel.sigma"}
BAD_STUDIES += tuple(
    {"axes": axes}
    for axes in (
        *(
            [{"name": "solver.eta", "values": [1]}],
            [{"name": "sigma", "values": [1]}],
            [SIGMA],
            [SIGMA | {"values": [1], "from": 1}],
        ),
        *([{"name": "solver.step_size", "values": [-1]}], [{"name": "solver.schedule", "from": 1, "to": 2}]),
        *([SIGMA | {"from": 2, "to": 1}], [SIGMA | {"from": 1, "to": 2, "n": 10**9}], [SIGMA | {"values": [1]}] * 5),
        *([RANDOM, RANDOM | {"n": 4, "name": "solver.step_size"}], [{"name": "data.n", "values": ["x"]}]),
        *([{"name": "data.n", "from": "x"}], [{"name": "data.n", "values": "x"}]),
    )
)
BAD_STUDIES += (
    *({"spec": {"setting": "nothing"}}, {"seeds": [-1]}, {"seeds": list(range(20_000)) * 6}, {"budget": {"runs": 3}}),
    *({"seeds": list(range(99_999)), "axes": [SIGMA | RANGE | {"from": 1, "to": 2}]}, {"spec": []}),
    *({"seeds": list(range(9)), "axes": [SIGMA | RANGE | {"from": 1, "to": 2}]},),
    {"axes": [RANDOM, RANDOM]},
    {"axes": [RANDOM | {"from": 2.0}]},
    {"budget": {"seconds": -1}},
    {"axes": [RANDOM | {"from": 0, "scale": "log"}]},
)
SOFTMAX = {"setting": "multiclass", "problem": {"variant": "softmax"}}


def test_what_is_refused(tmp_path):
    found, files, X, y = [], FileStore(), *odd_table("binary")
    for text in BAD_LESSONS:
        (tmp_path / "auc").mkdir(exist_ok=True)
        (tmp_path / "auc" / "own.toml").write_text(text)
        library = Library()
        library.add(tmp_path / "auc" / "own.toml")
        found += lines_of("lesson", (library.faults, list(library.lectures), list(library.lessons["auc"])))
    for said in BAD_STUDIES:
        found += tried("study", lambda given: len(Study.from_dict({"spec": SPEC, **given})), said)
    found += tried("figure", reproduction, "auc/fig9")
    rng, files_of_sets = np.random.default_rng(5), {}
    for name, codes in (("two", [3, 7]), ("three", [0, 1, 2, 2]), ("five", range(5))):
        files_of_sets[name] = tmp_path / f"{name}.npz"
        own = {"X": rng.normal(size=(60, 3)) * [1, 9, 0], "y": np.resize(codes, 60)}
        np.savez(files_of_sets[name], **own, **{"y5": own["y"]} if name == "five" else {})
    files_of_sets["text"] = tmp_path / "text.libsvm"
    files_of_sets["text"].write_text("".join(f"{k * k % 17 / 4} 1:{k} 3:{k % 5 - 2}\n" for k in range(50)))
    for (name, file), labels in product(files_of_sets.items(), ("binary", "pairs", "ordinal", "classes")):
        found += tried(f"set {name} {labels}", read_set, file, labels)
    names = ("codrna", "poker25k", "mnist10k", "higgs7500", "HIGGS", "webspam", "wine", "letter", "none")
    found += lines_of("archives", {name: (one := archive_of(name)) and (one.name, one.archive) for name in names})
    few = ([0.2, 0.4, 0.4, 0.9], [0.5], np.linspace(0.0, 1.0, 21))
    for choices, score in product(few, (0.4, 0.95, 0.0)):
        found += lines_of(f"choices {score}", choice_measures(np.array(choices), score))
    found += of_labeled_rows()
    for given in ({"axes": []}, [], "{"):
        found += tried("study", Study.from_dict, given)
    for text in (
        "=0.1:10:8:log",
        "=0:1:3",
        "=0,0.5",
        "=all,x",
        "=5",
        "",
        "=",
        "=1:2",
        "=a:2:3",
        "=1:2:3.5",
        "=1:2:3:log:4",
    ):
        found += tried(f"axis {text}", axis_of, f"kernel.sigma{text}")
    of_file = Study.from_dict({"spec": {"setting": "auc", "data": {"name": "file", "path": "a.csv"}}})
    for shape in ((100, 4), (100_000_000, 100)):
        found += tried("price", lambda given: check_price(of_file, BUDGETS[2], given).runs, shape)
    for n in (2000, 20_000):
        large = Spec.from_dict({**SPEC, "data": SPEC["data"] | {"n": n}})
        found += lines_of("trajectory's memory", price_of(Study(large, data_seed=0)).memory)
    for find, seeds in product((limits, convergence, four_runs), (0, -1, 2.5, True, "3", [], [-1], [0.5], [2**70])):
        found += tried(find.__name__, find, Spec.from_dict(SPEC), seeds)
    for plain in (SOFTMAX, {"setting": "multiclass"}, SPEC):
        found += tried("possible", check_possible, Spec.from_dict(plain))
    for names in (["SVC", "SVC"], ["SVC"], [], ["SVC", "x"], ["SVC", "LogisticRegression"]):
        found += tried("methods", lambda own: [one.name for one in chosen_methods(own, "binary")], names)
    for change in (
        *({"X": given} for given in (X[:9], X[:, 0], [["a"]] * len(X))),
        *({"X": np.where(X > 1e3, given, X)} for given in (np.nan, 1e39)),
        *({"y": given} for given in (y * 0, np.where(np.arange(len(y)) < 3, y, -1))),
        *({"n_labeled": given} for given in (1, 999, True)),
        *({"class_names": ["a"]}, {"class_names": ["a", "b"], "y": np.array(["a", "b"])[y]}, {"score": "x"}),
        *({"seeds": 0}, {"seconds": 0.0}, {"jobs": 0}, {"methods": ["SVC"]}, {"methods": ["SVC", "PS3VTs"]}),
    ):
        found += tried(
            "compare", lambda given: repr(compare(**{"X": X, "y": y, "seeds": 1, "store": None, **given})), change
        )
    content = odd_csv()
    digests = [files.add(content), files.add(b"a,b\n1,2\n1\n")]
    spec = {"setting": "auc", "data": {"name": "file", "path": "t.csv", "n_labeled": 9}}
    for digest in (*digests, *digests, "0" * 64):
        one = Spec.from_dict(spec | {"data": spec["data"] | {"sha256": digest}})
        found += tried("file", lambda given: load_split(given, files=files).shape, one)
        found += lines_of("  size", files.size)
    for setting in SETTINGS:
        made, ways = example_study(setting), example_trajectories(setting)
        if made is not None:
            found += lines_of(
                f"{setting} study", (repr(made.results("score")), made.results("score").mean, made.n_there)
            )
        for one in () if ways is None else ways[1]:
            found += lines_of("  trajectory", (one.seeds, one.quantities, one.t, one.slope("error"), one.n_diverged))
    golden_files.check("refusals", [line.replace(str(tmp_path), "FOLDER") for line in found])


def of_labeled_rows():
    """Yield what labeling the rows of a table says: by a given method, the verdict's, and the usual one without a verdict."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": np.arange(90) % 4, "id": [f"r{k}" for k in range(90)]})
    of_a = np.digitize(frame["a"] + 0.4 * rng.normal(size=90), [-0.4, 0.4])
    for classes, n_known, options in (
        (("low", "mid", "top"), 60, {"method": "SVC", "ask": 4, "keep": ["id"]}),
        (
            ("low", "mid", "top"),
            60,
            {"ordered": True, "order": ["mid", "low", "top"], "method": "OrdinalSVC", "ask": 1},
        ),
        (("no", "yes"), 60, {"method": "LogisticRegression", "ask": 200}),
        (("no", "yes"), 4, {"ask": 3}),
        (("no", "yes"), 60, {"method": "OrdinalSVC"}),
        (("no", "yes"), 60, {"keep": ["x"]}),
        (("no", "yes"), 60, {"method": "SVC", "keep": ["row"]}),
    ):
        y = pd.Series([classes[min(k, len(classes) - 1)] for k in of_a]).where(np.arange(90) < n_known)
        if n_known < 9:
            y[1:n_known] = y[0]
            y[n_known - 1] = "yes" if y[0] == "no" else "no"
        table = frame.assign(kind=y, row=1)
        yield from tried(f"label {classes} {n_known} {options}", label, table, "kind", seconds=30.0, **options)


def odd_csv():
    return ("a,b,y\n" + "\n".join(f"{i % 5},{i * i % 7},{i % 2}" for i in range(50))).encode()
