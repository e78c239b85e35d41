"""Golden results of functions of the core, the kernels and the solver, called directly with odd arguments."""

import io
import re
from dataclasses import replace
from itertools import product
from unittest.mock import patch

import numpy as np
import pandas as pd
from golden_text import asked_all, check, said, text
from saved_models import KINDS, changed_members
from sklearn.semi_supervised import LabelSpreading
from test_golden_estimators import ALL, ORDERED, SIZES, points

from dsgcore import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, Safe, load_model
from dsgcore.comparing import reproductions
from dsgcore.core import cost, metrics, parameters, sampling, threads
from dsgcore.core.files import check_place, read_text, whole_files
from dsgcore.experiments import Spec, default_spec
from dsgcore.experiments.engine import Budget, check_cost, cost_of
from dsgcore.kernels import KERNELS, features, kernels, loops, widths
from dsgcore.problems import as_in_paper, thresholds
from dsgcore.problems.auc import SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.problems.supervised import Supervised
from dsgcore.solver import checkpoint, measures, model_files, task
from dsgcore.solver.automatic_step import step_sizes
from dsgcore.solver.loop import AllPoints, Carried, DrawnPoints, VisitedPoints, solve, training_points
from dsgcore.solver.model import restore
from dsgcore.solver.start import plan_start
from dsgcore.solver.stopping import Stopping, ValuesMean
from dsgcore.studies import Study

RNG = np.random.default_rng(7)
F, G, H = RNG.normal(size=(3, 60))
Y2, Y3 = (RNG.random(60) < 0.3).astype(int), RNG.integers(0, 3, 60)
FEW, HITS = np.array([0.2, np.nan, 0.9, 0.4, 0.7]), RNG.random((2, 60)) < [[0.8], [0.6]]
PARTS = [parameters.Real("r", 0.3, low=-2.0, high=50.0, scale="log", usual=(0.1, 9.0), words=("auto",), optional=True)]
PARTS += [parameters.Real("many", 1.0, low=0.0, many=True), parameters.Integer("n", 3, low=2, high=90, usual=(2, 9))]
PARTS += [parameters.Choice("c", "a", options=("a", "b")), parameters.Flag("f", True), parameters.Text("t", "x")]
PARTS += [parameters.Items("i", (), item=parameters.Integer("n", 3, low=2), least=1, most=3)]
WRONG = ("a", "", -3, 2, 7.0, 0.25, np.nan, None, True, [4, 5.0], [], (0.5, -1), {"a": 1})


def needs(spec, *shape):
    """Return what a run needs, and whether a server of one gigabyte lets it run."""
    return cost_of(spec, *shape), said(check_cost, spec, Budget(cost.GIGABYTE, 1.0), *shape)


def test_core(tmp_path):
    clock = iter(np.arange(0.0, 900.0, 40.0))
    left = cost.TimeLeft(lambda: next(clock))
    rows = [
        (metrics.paired_difference, F[:n], G[:n], {"": 1, **more})
        for n, more in (
            *((5, {}), (2, {}), (9, {"overlap": 0.3, "unit": "folds"}), (9, {"at_once": 4, "most": 0.2})),
            (0, {}),
        )
    ]
    rows += [
        (metrics.paired_difference, FEW, FEW[::-1], {"": 1}),
        (metrics.paired_difference, FEW + 1, FEW, {"": 1, "step": 0.1}),
    ]
    rows += [(f, n, k) for f in (metrics.student,) for n, k in ((3, 1), (9, 4))] + [(metrics.normal, k) for k in (1, 6)]
    rows += [(metrics.mean_half_width, F[:n], o, k) for n, o, k in ((1, 0.0, 1), (6, 0.25, 3))]
    rows += [(f, Y3[:20], Y3[20:]) for f in (metrics.hits_of_one_class, metrics.scores_of_chance)]
    rows += [(metrics.accuracy_half_width, *(hit[:n] for hit in HITS), k) for n, k in ((29, 1), (60, 1), (60, 5))]
    rows += [(metrics.share_interval, s, n, k) for s, n, k in ((0.0, 7, 1), (0.93, 12.5, 1), (0.6, 40, 3), (1.0, 3, 1))]
    rows += [
        (f, y, F, G)
        for f in (metrics.auc_half_width, metrics.auc_error)
        for y in (Y2, Y3, np.minimum(Y2, 0), np.arange(60) % 30)
    ]
    rows += [(f, y, np.round(F, 1)) for f in (metrics.contributions, thresholds.mean_auc) for y in (Y2, Y3, Y3 * 2)]
    rows += [
        (metrics.auc, Y2, np.round(F, 1)),
        (metrics.auc, Y2 * 0, F),
        (metrics.auc, Y2, F * np.nan),
        (metrics.auc, Y2, np.where(np.abs(F) > 1.0, np.sign(F) * np.inf, F)),
        (metrics.known, Y3 - 1, F),
    ]
    rows += [
        (thresholds.thresholds, y, f, {"": 1, **more})
        for y, f in ((Y3, F), (Y3, F / 9), (Y2, F), (Y3 + 1, F), (Y2 * 0, F))
        for more in ({}, {"loss": "squared", "margin": 0.3}, {"margin": 0.0}, {"margin": -1.0})
    ]
    rows += [
        (thresholds.thresholds, np.repeat([0, 1, 2, 3][: len(sizes)], sizes), np.full(sum(sizes), 5.0))
        for sizes in ((1, 1, 4), (1, 1, 1, 6))
    ]
    rows += [(thresholds.classify, np.array([-3, -1, 0, 0.5, 0.6, 9]), np.array([-1, 0.5, 0.5, 2]))]
    rows += [
        (thresholds.class_measures, Y3, F, np.array([-0.2, 0.6])),
        (thresholds.cuts_of, {"threshold": 0.3, "shift": 0.1}),
    ]
    rows += [(cost.duration_text, s) for s in (0.4, 89.6, 90, 5399, 5401, 1e6)] + [
        (cost.per_cent, s, n) for s, n in ((0.1234, 1), (-0.001, 0), (12.5, 2))
    ]
    two = {"setting": "auc", "data": {"name": "two_moons", "n": 20_000}}
    long = {**two, "solver": {"n_iter": 100_000, "n_features": 16}}
    variants = ("softmax", "preconditioned softmax", "released")
    specs = [
        *({"setting": "ordinal", "data": {"name": "ordinal_ramp", "n_classes": k}} for k in (3, 20)),
        *({**two, "kernel": {"name": "dot_product", "power": power}} for power in ("1", "5")),
        *({"setting": "multiclass", "problem": {"variant": variant}} for variant in variants),
        *(long, {**long, "changes": [{"t": 5, "name": "n_features", "value": 65_536}]}),
        {"setting": "auc", "data": {"name": "high_dimensional", "n": 300, "n_irrelevant": 30}},
    ]
    own_file = Spec.from_dict({"setting": "auc", "data": {"name": "file", "path": "a.csv"}})
    rows += [(needs, Spec.from_dict(given)) for given in specs]
    rows += [(needs, own_file, shape) for shape in ((1000, 10), (10**8, 100))]
    rows += [
        (cost.memory_of_data, 300, 7),
        (cost.seconds_of_features, 300, 7, 65, 8),
        (lambda: cost.Cost(3, 0.5, 9.0) + cost.Cost(4, 0.25, 1.0),),
    ]
    rows += [
        (left.text, 1, 9),
        (left.text, 0, 9),
        (left.text, 1, 99),
        (left.skip, 3),
        (left.text, 5, 9),
        (left.text, 9, 9),
    ]
    rows += [
        (lambda d: [-d, d.half_width, d.effect], metrics.Difference.around(m, 0.3, 4, "folds", "so"))
        for m in (0.2, 0.4, -0.4, np.nan)
    ]
    rows += [(part.check, wrong) for part in PARTS for wrong in WRONG] + [(part.allowed,) for part in PARTS]
    rows += [(parameters.grid, part) for part in (PARTS[0], PARTS[2], parameters.Real("x", 1.0, low=0.0, high=1.0))]
    rows += [(parameters.counted, n, "class") for n in (0, 1, 5)] + [
        (parameters.quoted, w) for w in (*WRONG, "x" * 200)
    ]
    spec = default_spec("auc")
    wrong_seeds = (-3, 2**32, 0.5, "1", None, True)
    wrong_changes = (task.Change(0, "step_size", 1.0), task.Change(3, "step_size", -1.0), task.Change(3, "seed", 1.0))
    rows += [(replace, spec, {"": 1, "seed": seed}) for seed in wrong_seeds]
    rows += [(replace, spec, {"": 1, "changes": (change,)}) for change in wrong_changes]
    rows += [(Study, spec, {"": 1, "seeds": seeds}) for seeds in ((), (1, 1), *((0, seed) for seed in wrong_seeds))]
    rows += [(Study, spec, {"": 1, **one}) for one in ({"seconds": -1.0}, {"is_best_first": "yes"})]
    rows += [(lambda: parameters.quoted([10**5000]),)]
    rows += [(parameters.known, given, PARTS, "the part") for given in ({"r": 1, "q": 2}, 5, {})]
    rows += [
        (parameters.check_all, PARTS, given, "it", {"n": 7})
        for given in ({"r": "auto", "c": "b"}, {"n": "x"}, {"zz": 1}, [1])
    ]
    rows += [
        (parameters.read, SemiSupervisedAUC, given, "the problem")
        for given in ({"gamma": 0.1}, {"gamma": 7}, {"q": 1}, "x")
    ]
    rows += [
        (parameters.finite, {"a": [1.5, np.nan, (np.inf, 2)], 3: None}),
        (parameters.json_text, {"b": [1, 2.5], "a": {"x": "y"}}, {"": 1, "indent": 2}),
    ]
    rows += [
        (sampling.batch_rows, 3, s, t, np.arange(50, 50 + n), b, {"": 1, "is_shuffled": is_shuffled})
        for s, n, b, is_shuffled in (
            ("u", 11, 7, True),
            ("v", 11, 30, True),
            ("u", 40, 5, False),
            ("w", 2**17 + 1, 4, True),
        )
        for t in (1, 64, 65, 130)
    ]
    rows += [(sampling.places_around, 3, "u", t, 11, b) for t, b in ((64, 5), (65, 5), (9, 300), (3, 2**15))]
    rows += [
        (sampling.batches, 5, 3, {"a": np.arange(9), "b": np.arange(9)}, 4),
        (sampling.evenly_spread, 10, 4),
        (sampling.evenly_spread, 3, 9),
    ]
    with patch.object(threads._workers, "count", 3):
        rows += [
            (threads.pieces, n, tile, work)
            for n, tile, work in ((1000, 96, 10**6), (50, 96, 10**9), (0, 5, 9), (10**5, 10, 10**9), (997, 7, 600_000))
        ]
        lines = asked_all([*rows, (threads.set_workers, 0)])
    place = tmp_path / "x" / "a.txt"
    rows = [
        (read_text, tmp_path, "a spec"),
        (read_text, place, "a spec"),
        (check_place, place, "--out"),
        (check_place, tmp_path, "--out"),
    ]
    lines += asked_all(rows)
    with whole_files(place.parent, ["a.txt", "b.txt"]) as part:
        [
            (part / name).write_bytes(own)
            for name, own in (("a.txt", "é\r\nx".encode("utf-16")), ("b.txt", b"\xff\x00 \n"))
        ]
    lines += [
        *asked_all([(read_text, place.parent / name, "words") for name in ("a.txt", "b.txt")]),
        text(sorted(p.name for p in place.parent.iterdir())),
    ]
    check("core", [line.replace(str(tmp_path), "TMP") for line in lines])


def test_kernels():
    lines, rng = [], np.random.default_rng(5)
    own = [
        kind(**given)
        for kind in KERNELS.values()
        for given in (
            {"length": 0.7, "nu": "1/2"},
            {"length": 2.0, "nu": "5/2"},
            {"sigma": 0.6, "power": "3"},
            {"sigma": 0.4},
            {"sigma": 1.9, "power": "1"},
        )
        if given.keys() == {p.name for p in kind.parameters}
    ]
    for kernel, d, dtype in product(own, (1, 2, 7), ("float32", "float64")):
        if (d == 2) == (dtype == "float64"):
            continue
        X, Z, c = (rng.normal(size=size).astype(dtype) for size in ((301, d), (45, d), 301))
        W, maps = kernels.block_frequencies(kernel, 9, 4, d, 2 * d + 3, np.dtype(dtype)), kernel.feature_map
        block, out, out2 = maps.accumulate(X, c, W, 0.3), Z[:, 0].copy(), Z[:, 0].copy()
        maps.evaluate(Z, W, block, 0.7, out)
        kernel.sums(X, c / 300, Z, 0.4, out2)
        alone, alpha = maps.alone(W, block, 2), maps.coefficients(block)
        sizes = [kernel.width, kernel.factors, kernel.bound, kernel.feature_bound, kernel.like_gaussian(0.8, d)]
        lines.append(f"{text(kernel)} {d} {dtype} {text(sizes)}")
        lines += [
            f"    {text(each)}"
            for each in (
                kernel.matrix(X[:9], Z[:4]),
                [W, block],
                [out, out2],
                [*maps.evaluate_with_squares(Z, W, block)],
                [*alone],
                [alpha, maps.block_of(alpha) if d > 1 else 0],
            )
        ]
        lines += [f"    {text(features.explicit(Z, W))}" for W in [W] if W.ndim == 2]
        far = np.where(np.arange(45)[:, None] == 7, Z * 1e30, Z)
        rows = [
            (kernels.too_far, far, kernel, 5),
            (kernels.too_far, far, kernel, {"": 1, "dtype": np.dtype("float32")}),
            (kernels.overflowing, far, np.where(np.abs(far[:, 0]) > 1e9, np.inf, out), kernel),
        ]
        rows += [
            (kernels.rounded_columns, Z * 1e6, kernel, np.dtype("float32"), names)
            for names in (None, [f"c{i}" for i in range(d)])
        ]
        lines += (
            asked_all([*rows, (kernels.warn_of_rounding, Z * 1e15, kernel, np.dtype("float64"))])
            if dtype == "float32"
            else []
        )
    rows = [
        (kernels.check_values, np.array([1.0, np.nan])),
        (kernels.check_unmasked, np.ma.array([[1.0, 2.0]], mask=[[0, 1]])),
        (kernels.check_unmasked, np.ma.array([1], mask=[1]), "pairs"),
    ]
    rows += [
        (kernels.check_sizes, np.array([[1.0, -2e80]]), "Z"),
        (widths.usual_sigma, np.ones((5, 2))),
        *((widths.usual_sigma, X) for X in (rng.normal(size=(400, 3)), rng.random((30, 40)) ** 9)),
    ]
    rows += [
        (f, name, s, d)
        for f in (widths.like_gaussian, widths.like_scale)
        for name in KERNELS
        for s, d in ((0.3, 2), (7.0, 30))
    ]
    K = kernels.Gaussian(0.5).matrix(X[:40], X[:40])
    rows += [
        (loops.hinge_weights, K, np.sign(F[:40]), np.abs(G[:40]), tol, most)
        for tol, most in ((1e-4, 9000), (0.3, 9000), (1e-4, 5))
    ]
    wide, out = rng.normal(size=(100, 600)).astype("float32"), np.zeros(100, "float32")
    block = features.Cosines().accumulate(wide, wide[:, 0].copy(), wide.T[:, :99].repeat(9, 1).copy(), 0.1)
    features.Cosines().evaluate(wide, wide.T[:, :99].repeat(9, 1).copy(), block, 0.0, out)
    check("kernels", [*lines, *asked_all(rows), text([block, out])])


PROBLEMS = [
    SemiSupervisedAUC(gamma, pairing, is_pooled=pool)
    for gamma, pairing, pool in ((0.7, "triplets", False), (0.3, "all", True), (1.0, "all", False))
]
PROBLEMS += [SemiSupervisedOrdinal(gamma=(0.2, 0.9), pairing="all"), SemiSupervisedOrdinal(gamma=0.6)]
PROBLEMS += [
    SemiSupervisedSVM(labeled_weight=2.0, unlabeled_weight=u, loss=loss, s=-0.4, is_balanced=b)
    for u, loss, b in ((0.5, "symmetric hinge", True), (None, "ramp", False), (0.7, "square", False))
    if loss in SemiSupervisedSVM.parameters[2].options
]
PROBLEMS += [
    SimilarUnlabeled(prior=p, loss=loss, correction=c, leak=0.2)
    for p, loss, c in (
        (0.7, "squared", "identity"),
        (0.2, "double hinge", "absolute value"),
        (0.8, "logistic", "leaky ReLU"),
        (0.35, "squared", "ReLU"),
    )
]
PROBLEMS += [Supervised(loss) for loss in ("logistic", "hinge", "squared")]

SOLVED = (
    kernels.Gaussian(0.6),
    kernels.OrthogonalGaussian(0.3),
    kernels.Laplacian(0.5),
    kernels.Matern(1.2, "5/2"),
    kernels.DotProduct(0.1, "3"),
)


def solved(number, problem):
    """Return lines of one run of the solver, and of all that is measured on its way."""
    kind = {"similar_unlabeled": "ids", "ordinal": "ordinal"}.get(problem.name, "binary")
    X, y, true = points(kind, 3 * number)
    codes = np.where(
        [one in (None, -1) for one in np.asarray(y, dtype=object)] if kind != "ids" else y < 0,
        -1,
        y if kind == "ids" else np.unique(true.astype(str), return_inverse=True)[1],
    )
    kernel, dtype = SOLVED[number % 5], np.dtype(("float32", "float64")[number % 2])
    problem = problem.bind(codes)
    plan = task.Plan(
        [*task.SCHEDULES][number % 4],
        None if number % 3 or number % 5 == 4 else 0.2,
        (0.05, 0.3)[number % 2],
        7 + number % 3,
        21,
        average_after=(None, 6)[number % 4 > 0],
    )
    own = task.Task(
        problem,
        kernel,
        np.ascontiguousarray(X, dtype),
        problem.rows(codes),
        plan,
        3 + number % 4,
        11,
        dtype,
        ("shuffled", "independent")[number % 3 == 0],
        (task.FRESH, task.FIXED)[number % 4 == 2],
    )
    f = {s: np.round(F[i * 9 : i * 9 + 9], 2) for i, s in enumerate(own.rows)}
    sizes = [(s, len(r)) for s, r in own.rows.items()]
    lines = [
        f"{text(problem)} {text(kernel)} {text(plan)} {sizes} {own.sampling} {own.features}",
        f"    steps {said(step_sizes, own)} later {said(step_sizes, own, 5)}",
    ]
    asked_of = [(getattr(problem, name), f) for name in ("terms", "risk_terms", "coefficients")] + [
        (problem.usual_ridge, own.rows),
        (problem.near_risk,),
        (problem.baseline,),
    ]
    asked_of += [
        (problem.shift, F),
        (problem.score, true_codes(codes), np.resize(F, len(codes))),
        (lambda p: [p.largest_slope, p.is_shifted, p.is_scored_by_hits, p.sources], problem),
    ]
    lines += ["    " + line for line in asked_all(asked_of)]
    plan.automatic_step = min(0.15, step_sizes(own).automatic)
    plan.changes.extend(
        [
            task.Change(8, "step_size", 0.7 * plan.automatic_step),
            task.Change(12, "lam", 0.02),
            task.Change(15, "n_features", 5.0),
        ][: number % 4 * (own.features != task.FIXED)]
    )
    has_start = plan_start(own, "exact" if number % 2 else None)
    model = own.new_model()
    training = (AllPoints if number % 3 == 1 else DrawnPoints if own.features == task.FIXED else VisitedPoints)(
        own, model
    )
    probes = Carried(own.X[::6], model, with_variance=True, average_after=plan.average_after)
    twin, norm, mean_norm, dual = (
        measures.ExactTwin(kernel, own.X[::6]),
        measures.SquaredNorm(),
        measures.AverageNorm(6),
        measures.DualCoefficients(len(X)),
    )
    gauges, spread, seen = (
        measures.Gauges(11),
        measures.BatchSpread(kernel, own.X[::6]),
        ValuesMean(own, model, training, Stopping(tol=0.2, n_iter_no_change=3), [1, 5]),
    )
    for it in solve(own, model, training=training, carried=[probes, *seen.carried]):
        decay = model.decays[-1]
        twin.advance(it.points, it.weights, it.weighed_with if has_start and it.t == 1 else it.step.size, decay)
        dual.advance(it.rows, it.weights, it.step.size, decay)
        if len(it.values) == len(it.weights) and len(it.block) == 2:
            norm.advance(it.values, it.weights, it.block, it.step.size, decay)
            mean_norm.advance(it.averages, it.weights, it.step.size, decay, norm.value)
        gauges.advance(
            it.t,
            it.step.size,
            decay,
            own.batch_size,
            lambda it=it: (probes.values, float(probes.variance.mean()), lambda: spread.each(it)),
        )
        seen.take(it)
        if it.t == 1 + 15 * (number % 5 > 0):
            numbers = [it.rows, it.averages, it.weights, it.block, it.terms]
            lines.append(f"    {it.t} {text([it.step, *numbers, [seen.change, seen.is_settled]])}")
    lines += [f"    model {text(model)} probes {text([probes.values, probes.variance, probes.average])}"]
    compared = [twin.compare(probes.values, probes.variance), norm.value, mean_norm.value, dual.values]
    lines += [f"    twin {text(compared)}"]
    lines += [f"    reading {text(reading)}" for reading in gauges.readings[-1:]]
    whole = measures.Reference.of(own)
    exact = [whole.optimum, whole.K, whole.whole.slopes(F[:64].repeat(2)[:64])]
    lines += [f"    reference {text(exact)} {said(whole.whole.at, dual.values, 0.1)}"]
    rows = [(model.evaluate, own.X[:9], t) for t in (5, 22)] + [
        (lambda n: model.tail_average(n).evaluate(own.X[:9]), n) for n in (7, 0)
    ]
    rows += [(lambda: model.joined(),)] * model.is_fixed + [
        (model.evaluate, np.ones((2, 99))),
        (model.evaluate, own.X[:2] * dtype.type(1e30)),
    ]
    rows += [(again, model, {"a": [1, 2.5]} if number % 2 else None)]
    origin = checkpoint.origin_of(own, 9)
    others = [
        {"seed": 5},
        {"points": "x", "sigma": 3},
        {"labels": "x", "points": "y"},
        {"lam": 9.0, "columns": "q"},
        {"kernel": "k", "n_iter": 3},
    ]
    rows += [(lambda o: checkpoint.difference(origin | o, origin), o) for o in others[: 9 * (number == 2)]]
    lines += ["    " + line for line in asked_all(rows)]
    return lines


def again(model, run):
    """Return what is read of a model's file."""
    model.save(file := io.BytesIO(), run=run)
    file.seek(0)
    held = model_files.read(file)
    return [held.header.get("run"), restore(held)]


def large_task(problem, n, n_drawn, batch_size, n_iter):
    """Return a task on n points at the origin whose sources draw from n_drawn of them in all."""
    codes, plan = np.arange(n) % 2, task.Plan("constant", None, 0.0, 8, n_iter)
    problem = problem.bind(codes)
    rows = {source: np.arange(n_drawn // 3 + 1) for source in problem.sources}
    return task.Task(problem, kernels.Gaussian(1.0), np.zeros((n, 2)), rows, plan, batch_size, 0, np.dtype(float))


def step_of(problem, n, batch_size):
    """Return the automatic step of a problem with n labeled points."""
    return step_sizes(large_task(problem, n, 3 * n - 3, batch_size, 10))


def looked_ahead(n, n_drawn):
    """Return how far a fit that may end early looks ahead each time, and which points a run of each length carries."""
    own = large_task(SemiSupervisedAUC(), n, n_drawn, 2, 3200)
    points = VisitedPoints(own, own.new_model(), is_staged=True)
    found = [points.stop]
    while points.stop < 3200:
        points.batch(points.stop + 1)
        found.append(points.stop)
    kinds = [large_task(SemiSupervisedAUC(), n, n_drawn, 2, n_iter) for n_iter in (3, 1000, 9000)]
    return found, [type(training_points(one, one.new_model())).__name__ for one in kinds], points.needed_after


def own_values(cls, n):
    """Return the parameters of a paper that differ from the defaults."""
    usual = cls().get_params()
    return {name: value for name, value in cls.as_in_paper(n).get_params().items() if value != usual[name]}


def test_solver():
    lines = [line for number, problem in enumerate(PROBLEMS) for line in solved(number, problem)]
    f = {"positive": F[:5], "negative": F[5:10], "unlabeled": F[10:15]}
    rows = [
        (PROBLEMS[i].rows if i >= 0 else PROBLEMS[3].bind, np.array(y))
        for i in (0, 5, -1, 8, 12)
        for y in ([1, 0, -1, 3], [1, 1, -1], [0, 0, 1], [0, 2, -1], [-1, -1], [4, 4, 4, -1], [-2, -2, -1], [7, 7])
    ]
    rows += [
        (getattr(PROBLEMS[i], name), {source: (1e25 * values).astype(kind) for source, values in f.items()})
        for i, name, kind in product((0, 2), ("terms", "risk_terms"), ("float32", "float64"))
    ]
    rows += [(task.by_labels, n) for n in (2, 1024, 1025, 4096, 16_384, 10**6)]
    rows += [(SimilarUnlabeled, p) for p in (0.5, 0.4995)] + [(PROBLEMS[0].coefficients, f)]
    rows += [
        (task.by_labels, n, share, {"": 1, "is_ranking": r})
        for n, share, r in ((900, 0.5, False), (3000, 0.1, True), (50_000, 0.3, False), (10**6, 0.5, True))
    ]
    rows += [
        (measures.slope, [1, 2, 4, 0], [3.0, 1.5, np.nan, 2.0]),
        (measures.slope, [1, 2, 4, 9], [3.0, 1.0, 0.4, 0.2]),
        (measures.slope, [1], [1]),
    ]
    rows += [(as_in_paper.paper_grid, name) for name in ("auc", "s3vm_step", "pnu_auc", "x")] + [
        (as_in_paper.paper_grid, "auc", {"": 1, "names": n, "prefix": "p__"}) for n in (("gamma",), ("C",))
    ]
    svm = SemiSupervisedSVM(unlabeled_weight=0.0)
    rows += [
        (step_of, problem, n, batch_size)
        for problem in (svm, SemiSupervisedAUC())
        for n, batch_size in ((100, 128), (2048, 256), (51_200, 1024))
    ]
    rows += [(looked_ahead, n, n_drawn) for n, n_drawn in ((10**4, 15), (10**4, 500), (10**4, 700), (40, 39))]
    rows += [(own_values, c, n) for c in (QSGS2AUC, TSGS3VM, QS3ORAO, PS3VT, TSGSU, DSG) for n in (None, 777)]
    check("solver", [*lines, *asked_all(rows)])


def test_few_labels():
    """All methods learn from six or twelve labels, and from points that no label reaches."""
    lines, rng = [], np.random.default_rng(29)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 100.0])
    for cls in ALL:
        kind = {"pairs": np.arange(60) // 2}.get(
            cls().get_params().get("y_holds"), np.arange(60) % (2 + (cls.__name__ in ORDERED))
        )
        known = cls().get_params()
        model = cls(**{name: value for name, value in (SIZES | {"prior": 0.7, "lam": 0.1}).items() if name in known})
        for n in (6, 12):
            lines.append(f"{cls.__name__} {n} {said(model.fit, X, np.where(np.arange(60) < n, kind, -1))}")
            lines.append(f"    {said(model.decision_function, X)}")
        times = pd.DataFrame({"size": X[:, 0], "time": X[:, 1] + 1.7e9})  # float32 rounds these coarsely
        warned = said(model.decision_function, times.to_numpy()[:1]).partition(" !! ")[2]
        lines.append(f"    of times {warned}")
        model.set_params(**{"sigma": 0.5} if "sigma" in known else {})
        lines.append(f"    {said(model.fit, times, np.where(np.arange(60) < 12, kind, -1))}")
    own, y = LabelSpreading(kernel="knn"), np.where(np.arange(60) < 9, np.arange(60) % 3, -1)
    for model, labels in ((own, y), (own, np.minimum(y, 1)), (TSGS3VM(**SIZES), np.minimum(y, 1))):
        model = Safe(model)
        lines.append(f"Safe {type(model.estimator).__name__} {said(model.fit, X, labels)}")
        lines += [f"    {said(model.decision_function, own)}" for own in (X[:30], X[30:], X + 1e3)]
    check("few_labels", lines)


def true_codes(codes):
    return np.maximum(codes, 0)


def reproduced(asked, *scores, chance=0.5, seconds=(1.0, 1.0, 1.0)):
    """Return the outcome of made-up fits on three draws, and each check; a rival's fit takes a second."""
    rows = [
        ("one", name, 9, seed, seconds[seed] if name == "QSG-S2AUC" else 1.0, score, chance)
        for name, own in zip(("QSG-S2AUC", "SAMULT", "PNU-AUC"), scores, strict=False)
        for seed, score in enumerate(own if isinstance(own, tuple) else (own, own + 0.01, own + 0.02))
    ]
    found = reproductions.Reproduced(asked, pd.DataFrame(rows, columns=reproductions.COLUMNS))
    checks = [(one.claim, one.state, one.words, one.difference, one.low, one.high) for one in found.checks]
    return found.outcome, asked.checked, checks


def test_reproductions(tmp_path):
    """Outcomes of the papers' figures, from the scores and seconds of their fits."""
    figure = replace(reproductions.reproductions()["auc/fig2"], within=0.01)
    both = replace(figure, rivals=({"of": "SAMULT", "claims": ["faster", "better"]}, *figure.rivals[1:]))
    better, faster = (replace(figure, claim=claim, within=0.0) for claim in ("better", "faster"))
    rows = [
        *((figure, 0.8, *rivals) for rivals in ((0.7, 0.805), (0.7, 0.9), (0.9,), ((0.7, 0.9, 0.8), 0.81))),
        (figure, (0.7, 0.9, 0.8), (0.81, 0.81, 0.81)),
        *((figure, 0.8, 0.79, 0.6, {"chance": chance}) for chance in (0.77, 0.78)),
        (figure, 0.8, 0.9, {"chance": 0.85}),
        *((both, 0.8, *rivals, {"chance": chance}) for rivals, chance in (((0.805, 0.8), 0.5), ((0.7,), 0.9))),
        *((better, 0.8, *rivals) for rivals in ((0.8, (0.8002, 0.8101, 0.82)), ((0.79, 0.81, 0.8),))),
        (better, (0.8, 0.812), (0.8, 0.81)),
        (better, (0.8, 0.81, 0.82), (0.80002, 0.81001, 0.82)),
        *((better, 0.8, 0.7, {"chance": chance}) for chance in (0.78, 0.8)),
        *(
            (faster, 0.8, 0.9, {"chance": chance, "seconds": seconds})
            for seconds in ((0.5, 0.6, 0.7), (9.0, 8.0, 7.0), (0.0008, 0.04, 0.001))
            for chance in (0.7, 0.8)
        ),
        (faster, 0.8, 0.7, {"chance": 0.75, "seconds": (0.5, 0.6, 0.7)}),
    ]
    lines = asked_all(
        [
            (reproduced, *row[:-1], {"": 1, **row[-1]}) if isinstance(row[-1], dict) else (reproduced, *row)
            for row in rows
        ]
    )
    y, few = np.repeat([0, 1], [196, 4]), np.arange(200) % 20
    rows = [(reproductions.how_to_get, names) for names in (["codrna", "baby"], ["svhn", "pet"], ["higgs7500"])]
    rows += [(reproductions.drawn_split, np.arange(400.0).reshape(200, 2), own, 10, 50, 3) for own in (y, few)]
    rows += [
        (lambda name: reproductions.read_set(reproductions.find_set(name, tmp_path), "classes"), name)
        for name in ("iris", "wine", "sgemm")
    ]
    (tmp_path / "sgemm.npz").write_bytes(b"no archive")
    given = ((TSGS3VM, {}), (QSGS2AUC, {"lam": 2.0}), (QSGS2AUC, {"step_size": 0.1}), (QSGS2AUC, {"nonsense": 1}))
    rows += [(lambda cls, own: cls.as_in_paper(**own).get_params(), cls, own) for cls, own in given]
    rows += [(QS3ORAO.as_in_paper, {"": 1, "gamma": (0.1, 0.9)}), (as_in_paper.AS_IN_PAPER["multiclass"].at, None)]
    check("reproductions", [line.replace(str(tmp_path), "TMP") for line in (*lines, *asked_all(rows))])


def test_model_files():
    """The sentences that refuse model files with a changed member."""
    lines = []
    for kind, make in KINDS.items():
        found = [re.split(", got |has format ", said(load_model, file))[0] for _, file in changed_members(make())]
        lines += [f"{kind}: {sentence}" for sentence in sorted({*found})]
    check("model_files", lines)
