"""Golden results of PS3VT's parts, of tuning and priors, of refusals, and of files of models and checkpoints."""

import io
from dataclasses import replace
from itertools import count
from unittest.mock import patch

import numpy as np
import pandas as pd
from golden_text import asked_all, check, said, text
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from test_golden_estimators import ALL, asked, kept, learned, points

from dsgcore import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, DSGSoftmax, Run, Spec, load_model, prior, save_model
from dsgcore.baselines import MPNUAUC, PNUAUC, SUSL, SVOREX, EverydayNeighbors, EverydaySVC
from dsgcore.baselines.basis import choose_centers
from dsgcore.data import rows_of
from dsgcore.estimators import classes
from dsgcore.experiments import script
from dsgcore.model_selection import SeenLabels
from dsgcore.multiclass import automatic, graph
from dsgcore.multiclass import loop as steps
from dsgcore.multiclass.problem import MultiClass
from dsgcore.problems import SemiSupervisedAUC, SimilarUnlabeled
from dsgcore.solver.stopping import Stopping
from dsgcore.solver.task import drawn_rows
from dsgcore.tuning import calibrated, folds, safe, search, suggesting

SMALL = {"n_iter": 12, "n_features": 8, "batch_size": 6, "tol": None, "random_state": 2}
SOLVED = [MultiClass(lam=0.02, tau_I=0.01, tau_S=0.05, theta=0.4, radius=2.0, batch_size=5, n_iter=15, n_neighbors=3)]
SOLVED += [replace(SOLVED[0], loss="logistic", fit_intercept=True, lam=None, tau_I=None, tau_S=None, step_size=None)]
SOLVED += [replace(SOLVED[0], feature_map="fourier", n_features=7, sigma=0.4, is_orthogonal=True, batch_size=None)]
SOLVED += [
    replace(SOLVED[0], variant="released", step_size=20.0, tau_S=0.3),
    replace(SOLVED[2], step_size=None, tau_I=None),
]
SOLVED += [replace(SOLVED[1], radius=None, lam=0.1, tau_I=0.0), replace(SOLVED[2], loss="logistic", fit_intercept=True)]


def codes_of(y):
    """Return codes of labels, -1 for None and -1."""
    own = pd.Series(np.asarray(y, dtype=object))
    return pd.Categorical(own.where(own.map(lambda one: one is not None and str(one) != "-1"))).codes.astype(int)


def test_multiclass():
    lines, rng = [], np.random.default_rng(17)
    for number, problem in enumerate(SOLVED):
        X, y, _ = points("classes", 2 * number + 1)
        X, y = np.asarray(X, dtype=float), codes_of(y)
        task = steps.make_task(problem, X, y, 5, 3 + number % 2)
        lines.append(f"{text(task.problem)} {task.X.shape} {text(task.M)} {text(task.frame)}")
        settled = steps.tail_mean(task, None, Stopping(tol=0.3, n_iter_no_change=4))
        for step in steps.descend(task):
            settled.add(step.W, lambda: "")
            if step.t in (1, 9, 15):
                lines.append(f"    {step.t} {text([step.batch, step.gradient, step.Q, step.W])} {text(step.terms)}")
        lines.append(f"    end {text([task.plain(step.W), settled.seen, settled.change])} {text(task.terms(step.W))}")
        M, scores = np.cov(rng.normal(size=(4, 9))), rng.normal(size=(9, 3))
        rows = [
            (problem.slopes, scores, np.arange(9) % 3),
            (problem.n_kept, 6, 4),
            (automatic.has_minimiser, task.problem),
        ]
        if automatic.has_minimiser(task.problem):
            rows += [(automatic.smooth_minimiser, task.problem, task.X, task.y, k, task.M) for k in (3,)]
            two = task.y < 2
            rows += [(automatic.smooth_minimiser, task.problem, task.X[two], task.y[two], 2, task.M)]
        rows += [(graph.laplacian, X[:30], k, released) for k, released in ((2, True), (40, False))]
        rows += [
            (graph.mean_distance, X),
            (graph.largest_eigenvalue, M),
            (automatic.left_out_factor, X[y >= 0], y[y >= 0], 0.3),
        ]
        rows += [(graph.largest_eigenvalue, np.cov(rng.normal(size=(70, 90)))), (steps.make_task, problem, X, y * 0, 3)]
        lines += ["    " + line for line in asked_all(rows)]
    few = ([0, 1, 0, 1], [0] * 11 + [1], [0] * 12)
    rows = [(automatic.left_out_factor, rng.normal(size=(len(y), 2)), np.array(y), 0.5) for y in few]
    rows += [(graph.laplacian, np.ones((6, 2)), 2), (graph.laplacian, np.zeros((1, 2)), 3)]
    overflowing = replace(SOLVED[0], tau_I=0.0, step_size=1e6)
    rows += [(lambda: [*steps.descend(steps.make_task(overflowing, 1e305 * X, codes_of(points("classes", 1)[1]), 0))],)]
    lines += asked_all(rows)
    linear = {"feature_map": "linear", "loss": "logistic"}
    for more, solver, data in (
        ({}, {}, {}),
        ({"variant": "softmax"}, {}, {}),
        ({"variant": "preconditioned softmax"}, {}, {}),
        (linear, {}, {}),
        (linear | {"fit_intercept": True}, {"start": "exact"}, {}),
        (linear, {"schedule": "theta/t"}, {"name": "ten_digits", "n_labeled": 12, "stratified": False}),
    ):
        plain = Spec.from_dict({"setting": "multiclass"}).to_dict()
        plain["data"] = data or plain["data"] | {"n": 120, "n_labeled": 16}
        plain["solver"] |= {"n_iter": 18, "n_features": 9, "batch_size": 6, "average": "tail"} | solver
        plain["problem"] |= more
        for features in ("fixed", "fresh")[: 1 + ("variant" in more)]:
            run = Run(Spec.from_dict({**plain, "solver": plain["solver"] | {"features": features}}))
            run.advance()
            columns = {name: run.history.column(name) for name in run.history.names if "second" not in name}
            lines += [f"run {more} {solver} {features}", *(f"    {name} {text(own)}" for name, own in columns.items())]
            said_of = [run.health, run.stop_reason, run.start_objective, ".fit(" in script(run)]
            lines += [f"    {text(said_of)} without effect: {run.spec.problem.without_effect}"]
            lines += [f"    links {said(getattr(run.engine, 'links', None), 40)}"]
            lines.append(
                f"    {text([run.result_test_values, run.engine.at(7).W, run.engine.average_at(9).W, run.result_score])}"
            )
            earlier = [(one.engine.singular_values, one.result_test_values) for one in (run.at(17), run.at(4))]
            lines.append(f"    earlier {text(earlier)} {text(run.result_test_values)}")
            lines += [f"    {text(reading)}" for reading in run.engine.gauges.readings]
    check("multiclass", lines)


def test_tuning():
    lines, clock, rng = [], count(0.0, 0.15), np.random.default_rng(18)
    X, y, _ = points("binary", 0, 90)
    X = np.asarray(X, float)
    words, of_pairs = np.where(y < 0, None, np.where(y == 1, "yes", "no")), points("ids", 1, 90)[1]
    rows = [(lambda f, own: f.folds(own), f, own) for own in (y, words, of_pairs) for f in (
        folds.LabeledFolds(4, random_state=3), folds.LabeledFolds(3, unlabeled="train", random_state=1),
        folds.PairFolds(3, random_state=4), folds.UnlabeledFolds(5, random_state=2))]  # fmt: skip
    rows += [(lambda f, own: list(f.split(X, own)), folds.UnlabeledFolds(2, random_state=2), y)]
    rows += [(folds.LabeledFolds(k, unlabeled=u, random_state=6).folds, own) for k, u, own in (
        (1, "train", y), (9, "x", y), (40, "train", y), (3, "train", [0, 0, 0, 1, -1]), (2, "train", [0, 1, 2, -1]))]  # fmt: skip
    model = PNUAUC(sigma=0.3, lam=0.1, eta=-0.3, prior=0.6).fit(X, y)
    other = TSGS3VM(**SMALL).fit(X, words)
    ordered = QS3ORAO(**SMALL).fit(X, rng.integers(0, 3, 90))
    rows += [
        (f, m, X, own)
        for f in (folds.accuracy, folds.hits, folds.auc_score)
        for m, own in ((model, y), (other, words), (other, y))
    ]
    rows += [(folds.mean_auc_score, ordered, X, rng.integers(0, k, 90)) for k in (3, 2)]
    rows += [(folds.SimilarUnlabeledRisk(p), other, X, of_pairs) for p in (0.3, 0.5, 7)]
    rows += [
        (folds.PNUAUCRisk(12, 30), model, X, y),
        *((folds.PNUAUCRisk(12, 30).weight, eta, 0.3) for eta in (0.4, -0.4)),
    ]
    rows += [(search.best_part, [*range(n)]) for n in (1, 7, 11)]
    many = {n: np.r_[np.arange(n) % 2, -np.ones(9000, int)] for n in (1024, 2000, 20_000)}
    rows += [(drawn_rows, SemiSupervisedAUC(), labels, "shuffled") for labels in many.values()]
    rows += [(drawn_rows, SemiSupervisedAUC(), many[2000], "independent")]
    rows += [(drawn_rows, SimilarUnlabeled(), np.r_[np.arange(2000) // 2, many[2000][2000:]], "shuffled")]
    own, values = np.array([0, 1]), np.array([1.0, 6.0, 2.0, 4.0])
    rows += [(classes.decision_threshold, share, own, values[:2], values) for share in (0.25, 0.5, "labels", 0.0, 1.0)]
    rows += [(classes.decision_threshold, 0.5, own, values[:2], values[:1])]
    rows += [(classes.best_threshold, own == 1, np.array(two)) for two in ([1.0, 0.0], [3.0, 3.0], [-1e30, -2e30])]
    rows += [(suggesting.suggest, asked, X, y) for asked in (object(), LinearSVC(), GridSearchCV(TSGS3VM(), {}, cv=2))]
    rows += [(suggesting.suggest, make_pipeline(StandardScaler(), LinearSVC()), X, y)]
    rows += [(suggesting.suggest, QSGS2AUC(**SMALL), X, y, {"": 1, "seconds": -1.0})]
    rows += [(suggesting.suggest, QSGS2AUC(**SMALL), X, np.where(np.arange(90) < 2, [0, 1] * 45, -1))]
    rows += [(cls.as_in_paper, n) for cls in (TSGS3VM, TSGSU, QSGS2AUC) for n in (-5, "x")]
    held = calibrated.Confidence(4).fit(rng.normal(size=40), rng.random(40) < 0.7)
    rows += [
        (held.probability, np.linspace(-2, 2, 5)),
        *(
            (calibrated.Confidence(4).fit(np.ones(6), np.arange(6) < n).probability, np.array([0.0, 1.0, 3.0]))
            for n in (0, 4, 6)
        ),
        (calibrated.Confidence(4).fit(rng.normal(size=0), np.zeros(0, bool)).probability, np.ones(2)),
    ]
    lines += asked_all(rows)
    several = [
        ("binary", QSGS2AUC(**SMALL), {"n_splits": 4, "n_neighbors": 3}),
        ("classes", PS3VT(n_iter=9, tol=None, random_state=1), {}),
    ]
    several += [
        ("ordinal", QS3ORAO(**SMALL), {"n_neighbors": 90}),
        ("classes", EverydayNeighbors(n_neighbors=3), {"n_splits": 2}),
    ]
    several += [
        ("binary", make_pipeline(StandardScaler(), TSGS3VM(**SMALL)), {"random_state": 9}),
        ("pairs", TSGSU(**SMALL, y_holds="classes", prior=0.7), {}),
    ]
    several += [("binary", QSGS2AUC(**SMALL, positive_share=0.3), {}), ("ordinal", QS3ORAO(**SMALL), {})]
    for number, (kind, inner, more) in enumerate(several):
        own_X, own_y, own_true = points(kind, 2 * number + number // 6, 80)
        for outer in (
            safe.Safe(inner, **more),
            calibrated.Calibrated(inner, n_splits=3 - number % 2, random_state=number),
            SeenLabels(inner),
        ):
            labels = pd.DataFrame({"seen": own_y, "true": own_true}) if isinstance(outer, SeenLabels) else own_y
            lines.append(f"{type(outer).__name__} {kind} {type(inner).__name__} {said(outer.fit, own_X, labels)}")
            if hasattr(outer, "classes_"):
                lines += [*learned(outer), f"    kept {said(kept, outer, own_X)}"]
                lines += (
                    [f"    score {said(outer.score, own_X, labels)}"]
                    if isinstance(outer, SeenLabels)
                    else asked(outer, own_X, own_true)
                )
    tuned = [
        (QSGS2AUC(**SMALL), y),
        (TSGS3VM(**SMALL, labeled_weight=2.0, kernel="matern"), words),
        (PS3VT(n_iter=20, random_state=4), y),
        (TSGSU(**SMALL, prior=0.7), of_pairs),
    ]
    tuned += [
        (make_pipeline(StandardScaler(), TSGS3VM(**SMALL)), y),
        (safe.Safe(QSGS2AUC(**SMALL)), y),
        (EverydaySVC(), y),
        (QSGS2AUC(**SMALL), np.where(np.arange(90) < 6, y, -1)),
        (TSGSU(**SMALL, y_holds="classes"), y),
        (PS3VT(n_iter=20, feature_map="fourier", n_features=9, sigma=500.0, random_state=4), y),
        (
            make_pipeline(
                MinMaxScaler(), make_pipeline(StandardScaler(), calibrated.Calibrated(TSGS3VM(**SMALL), random_state=5))
            ),
            words,
        ),
    ]
    with patch.object(search.time, "monotonic", lambda: next(clock)):
        for number, (model, labels) in enumerate(tuned):
            found = []
            given = model, X, labels
            lines.append(f"suggest {said(lambda *a, to=found: to.append(suggesting.suggest(*a, seconds=9.0)), *given)}")
            if found:
                own, tried = found[0], [[one.parameters, one.mean, one.n_iter] for one in found[0].tried[:6]]
                lines += [f"    {text([own.parameters, own.gain, own.score, own.reason, own.sentence])}"]
                lines += [f"    {text(own.table)}", f"    {text(tried)}"]
                told = []
                lines += [f"    on {text(found[0].go_on(3.0).table)}"] if number % 3 == 0 else []
                own.search.go_on(own.subject, 1.0, told.append)
                lines += [f"    told {text([len(told), told[:1], told[-1:]])}"]
    A, B, C = (rng.normal(size=(n, 2)) + shift for n, shift in ((70, 0.0), (50, 2.5), (60, 1.2)))
    rows = [
        (prior.mixture_proportion, np.vstack([A, B]), own, {"": 1, **more})
        for own in (A[:40], B)
        for more in ({}, {"method": "km1"}, {"max_points": 30, "seed": 3}, {"smallest": 0.6})
    ]
    rows.append((prior.mixture_proportion, np.vstack([B[:20], A[:20]]), B, {"": 1, "method": "km1"}))
    rows += [
        (prior.mixture_proportion, A, B, {"": 1, **more})
        for more in ({"method": "x"}, {"smallest": 0.9}, {"max_points": 1})
    ]
    rows += [(prior.mixture_proportion, *own) for own in ((A, B[:, :1]), (A * np.nan, B), (A * 0, B * 0))]
    rows += [
        (prior.similar_class_prior, np.vstack([B, B + 0.1]), np.vstack([A, B]), {"": 1, "smallest": s})
        for s in (0.5, 0.0)
    ]
    rows += [(prior.positive_prior, p) for p in (0.4, 0.5, 0.58, 1.0)] + [
        (prior.energy_class_prior, B, A, C, {"": 1, "alpha": a}) for a in (1.0, 0.4, 3.0)
    ]
    check("tuning", [*lines, *asked_all(rows)])


ODD = {
    "none": -np.ones(40, int), "one class": np.ones(40, int), "floats": np.linspace(0, 1, 40), "nan": np.r_[np.nan, np.ones(39)],
    "short": np.arange(9) % 2, "three": np.arange(40) % 3, "table": np.ones((40, 2)),
    "text": np.array(["a", "b", "-1", "", " nan "] * 8),
    "mixed": np.array([1, "a", None, 2.0] * 10, object), "-2": np.arange(40) % 3 - 2, "dates": pd.date_range("2020", periods=40),
    "masked": np.ma.array(np.arange(40) % 2, mask=np.arange(40) % 3 == 0),
    "large": np.array([2**63, 5] * 20, object), "path": "y.csv", "no": None,
}  # fmt: skip
LEARNERS = [
    QSGS2AUC(**SMALL),
    QS3ORAO(**SMALL),
    PS3VT(n_iter=5, random_state=1),
    TSGSU(**SMALL, prior=0.7),
    TSGSU(**SMALL, prior=0.7, y_holds="classes"),
]
LEARNERS += [
    DSGSoftmax(n_iter=3, random_state=1),
    PNUAUC(random_state=1),
    SVOREX(),
    SUSL(prior=0.7, random_state=1),
    EverydaySVC(),
    safe.Safe(QSGS2AUC(**SMALL)),
    calibrated.Calibrated(DSG(**SMALL), random_state=1),
]


def again(model, X, y):
    model.fit(X, y)
    return [model.n_features_in_, list(getattr(model, "feature_names_in_", []))]


def parts_of(model, X, y):
    return [model.partial_fit(X[k:], y[k:], [0, 1]).lam_ for k in (0, 9, 20)] + [
        model.n_iter_,
        model.decision_function(X),
    ]


def test_refusals_and_files(tmp_path):
    rng = np.random.default_rng(19)
    X, y = rng.normal(size=(40, 3)), np.where(np.arange(40) < 30, np.arange(40) % 2, -1)
    by_sentence = {}
    places = {
        "nan": np.where(X > 2, np.nan, X),
        "inf": np.where(X > 2, np.inf, X),
        "flat": X[:, 0],
        "none": X[:0],
        "huge": X * 1e80,
    }
    places |= {
        "words": X.astype(str),
        "masked": np.ma.array(X, mask=X > 2),
        "path": "a.csv",
        "far": X * 1e25,
        "more": np.c_[X, X],
        "ints": (X * 2**30).astype(int),
        "named": pd.DataFrame(X, columns=["a", "b", "c"]),
        "array for NumPy alone": type("Held", (), {"__array__": lambda self, dtype=None, copy=None: X})(),
    }
    for model in map(clone, LEARNERS):
        name = type(model).__name__ + getattr(model, "y_holds", "")[:2]
        labels = np.r_[np.arange(20) // 2, -np.ones(20, int)] if name.endswith("pa") or name == "SUSL" else y
        tries = [(f"y {kind}", model.fit, X, own) for kind, own in ODD.items()] + [
            (f"X {kind}", model.fit, own, labels) for kind, own in places.items()
        ]
        tries += [
            (f"{parameter} wrong", type(model)(**model.get_params(deep=False) | {parameter: "wrong"}).fit, X, labels)
            for parameter in model.get_params(deep=False)
            if parameter != "estimator"
        ]
        for what, fit, *given in tries:
            by_sentence.setdefault(said(fit, *given), []).append(f"{name} {what}")
        said(model.fit, X, labels)
        for what, own in places.items():
            sentence = said(lambda: model.predict(own).shape)  # noqa: B023
            by_sentence.setdefault(sentence, []).append(f"{name} predict {what}")
    for cls in ALL:
        for name in cls().get_params():
            sentence = said(cls(**{name: np.array([1.0, 2.0])}).fit, X[:20], y[:20])
            by_sentence.setdefault(sentence, []).append(f"{cls.__name__} {name} array")
        longest = max(cls().get_params(), key=len)
        by_sentence.setdefault(said(cls().set_params, **{longest[:-1]: 1}), []).append("misspelled")
    lines = [f"{sentence}\n    {', '.join(names)[:150]}" for sentence, names in by_sentence.items()]
    file, own = tmp_path / "run.npz", QSGS2AUC(**SMALL, sigma=0.3, lam=0.1, step_size=0.2)
    seen = []
    rows = [
        (own.fit, X, y, {"": 1, "checkpoint": file, "every": 5, "callback": lambda it: it.t == 8}),
        (own.fit, X, y, {"": 1, "checkpoint": file, "every": 5, "callback": lambda it: seen.append(it.t)}),
    ]
    others = [{"random_state": 5}, {"n_features": 9}, {"n_iter": 4}, {"lam": 0.5}, {"step_size": 0.25}, {"gamma": 0.25}]
    others += [{"sigma": 2.0}, {"kernel": "laplacian"}, {"batch_size": 16}, {"sampling": "independent"}, {"n_iter": 20}]
    others += [{"start": "exact"}, {"dtype": "float64"}, {"schedule": "theta/t"}]
    rows += [(clone(own).set_params(**more).fit, X, y, {"": 1, "checkpoint": file}) for more in others]
    rows += [
        (own.fit, X + 1, y, {"": 1, "checkpoint": file}),
        (own.fit, X, y, {"": 1, "checkpoint": tmp_path / "z", "every": 0}),
        (lambda: [seen, own.model_],),
    ]
    sizes, exact = [], QSGS2AUC(**SMALL, start="exact")
    exact.fit(X, y, callback=lambda it: sizes.append({name: len(rows) for name, rows in it.batch.items()}))
    rows += [(lambda: sizes[:2],)]
    rows += [(lambda: PNUAUC(lam=0.1).fit(np.ones((8, 2)), [0, 0, 0, 1, 1, -1, -1, -1]).prior_,)]
    rows += [(own.partial_fit, X, y, c) for c in (None, [0, 1], [0, 1, 2], [1, 1])] + [
        (QSGS2AUC().partial_fit, X, y),
        (parts_of, QSGS2AUC(**SMALL), X, y),
        *((choose_centers, X[:, :2], given, 3) for given in (None, 5, 39, 40, 41, X[:4, :2], X[:4])),
        *((own.partial_fit, X, np.where(y == 0, other, y)) for other in (3, -1)),
        (own.automatic_values, X, y),
        (own.most_iterations, y),
    ]
    lines += asked_all(rows)
    raw, rows = io.BytesIO(), []
    fitted = make_pipeline(StandardScaler(), safe.Safe(QSGS2AUC(**SMALL))).fit(X, y)
    save_model(fitted, raw)
    for change in ({"format": 9}, {"model": "x"}, {"name": 3}, {"more": 1}, {"libraries": {"scikit-learn": "0.1"}}):
        with np.load(io.BytesIO(raw.getvalue())) as archive:
            arrays = dict(archive)
        head = pd.io.json.ujson_loads(str(arrays["header"])) if "header" in arrays else {}
        part = io.BytesIO()
        np.savez(part, **arrays | {"header": np.array(pd.io.json.ujson_dumps(head | change))})
        rows.append((load_model, part))
    (tmp_path / "a.txt").write_text("words")
    rows += [
        (load_model, io.BytesIO(b"PK")),
        (load_model, tmp_path / "a.txt"),
        (load_model, tmp_path / "none"),
        (save_model, fitted, tmp_path / "a.txt"),
    ]
    rows += [
        (save_model, QSGS2AUC(), io.BytesIO()),
        (save_model, safe.Safe(EverydaySVC(), n_splits=2).fit(X, y), io.BytesIO()),
    ]
    pd.DataFrame(np.c_[X, y], columns=["a", "b", "c", "y"]).to_parquet(tmp_path / "d.parquet")
    of_files, labels = rows_of(tmp_path / "d.parquet", "y")
    same = QSGS2AUC(**SMALL).fit(of_files, labels)
    rows += [(lambda: learned(same)[-6:],), (same.decision_function, of_files), (same.predict, X)]
    # The same object once more: with other names, without names, and with rows of another width.
    others = [rows_of([own[:19], own[19:]])[0] for own in (X, X[:, :2], np.c_[X, X[:, 0]])]
    renamed = pd.DataFrame(X, columns=["c", "a", "b"])
    rows += [(same.decision_function, own) for own in (*others, renamed, renamed[["a", "b", "c"]])]
    rows += [(again, same, *own) for own in ((others[0], y), (others[0], y[:-1]), (renamed, y), (X, y), (others[1], y))]
    rows += [(same.decision_function, own) for own in (renamed, of_files, *others)]
    ordered = MPNUAUC(sigma=0.3, lam=0.1, eta=0.3, random_state=1).fit(X, np.arange(40) % 3)  # a class may be absent
    rows += [
        (ordered.mean_auc, X, np.maximum(np.arange(40) % k, least)) for k, least in ((3, 0), (2, 0), (3, 1), (1, 0))
    ]
    check("refusals", [line.replace(str(tmp_path), "TMP") for line in [*lines, *asked_all(rows)]])
