"""The problems: rules of all, then each paper's numbers against its dull twin."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import naive
import naive_problems
import numpy as np
import pytest
from cases import each
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score
from test_solver import assert_equals, draws, run

from dsgcore.core.parameters import ParameterError, check_all
from dsgcore.problems import PROBLEMS, ProblemError, SemiSupervisedAUC, objective
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.s3vm import LOSSES, SemiSupervisedSVM
from dsgcore.problems.similar_unlabeled import CORRECTIONS, SimilarUnlabeled
from dsgcore.problems.similar_unlabeled import LOSSES as PAIR_LOSSES
from dsgcore.problems.supervised import Supervised
from dsgcore.problems.thresholds import class_measures, classify, mean_auc, thresholds
from dsgcore.solver.loop import solve
from dsgcore.solver.start import SourceQuadratic, shares

# Facts about a problem for the tests; add an entry to test a new problem.


@dataclass(frozen=True)
class Case:
    """Settings to test, a tiny labeled sample, how a batch may be shaped, and a dull twin of the risk."""

    settings: tuple[dict, ...]
    labels: tuple[int, ...]
    naive_risk: Callable
    is_biased: Callable = lambda problem: False  # the mean batch gradient is not the full one
    is_quadratic: Callable = lambda problem: False
    has_fully_labeled: bool = True  # without unlabeled points, the labeled ones serve as such


def naive_auc_risk(problem, f):
    """Return gamma R_PN + (1 - gamma)(R_PU + R_UN - 1/2), pair by pair, plus the pooled spreads."""

    def mean_loss(upper, lower):
        return sum((1 - u + v) ** 2 for u in f[upper] for v in f[lower]) / (len(f[upper]) * len(f[lower]))

    with_unlabeled = mean_loss("positive", "unlabeled") + mean_loss("unlabeled", "negative") - 0.5
    more = 1 - 2 * problem.positive_share if problem.is_pooled else 0.0
    pooling = more * (np.var(f["negative"]) - np.var(f["positive"]))
    return problem.gamma * mean_loss("positive", "negative") + (1 - problem.gamma) * with_unlabeled + pooling


def naive_s3vm_risk(p, f):
    """C times the mean hinge over all labeled points, each class with its share, and C* times the mean of u."""
    shift = 2 * p.positive_share - 1 - sum(f["unlabeled"]) / len(f["unlabeled"]) if p.is_balanced else 0.0

    def mean_hinge(source, label):
        return sum(naive_problems.hinge(v + shift, label)[0] for v in f[source]) / len(f[source])

    labeled = p.positive_share * mean_hinge("positive", 1) + (1 - p.positive_share) * mean_hinge("negative", -1)
    unlabeled = sum(naive_problems.u(p.loss, v + shift, p.s)[0] for v in f["unlabeled"]) / len(f["unlabeled"])
    return p.labeled_weight * labeled + p.unlabeled_weight * unlabeled


def naive_ordinal_risk(p, f):
    """The risk of class means, each class with its share."""
    total, k = 0.0, len(p.shares)

    def mean_loss(upper, lower):
        return sum((1 - u + v) ** 2 for u in f[upper] for v in f[lower]) / (len(f[upper]) * len(f[lower]))

    for j in range(1, k):
        gamma = p.gamma[j - 1] if isinstance(p.gamma, tuple) else p.gamma
        above = {f"class {i + 1}": p.shares[i] / sum(p.shares[j:]) for i in range(j, k)}
        below = {f"class {i + 1}": p.shares[i] / sum(p.shares[:j]) for i in range(j)}
        pn = sum(w * v * mean_loss(a, b) for a, w in above.items() for b, v in below.items())
        pu = sum(w * mean_loss(a, "unlabeled") for a, w in above.items())
        un = sum(w * mean_loss("unlabeled", b) for b, w in below.items())
        total += gamma * pn + (1 - gamma) * (pu + un - 0.5)
    return total / (k - 1)


CASES = {
    "auc": Case(
        settings=(
            *({"gamma": g, "pairing": p} for g in (0.0, 0.3, 1.0) for p in ("triplets", "all")),
            *({"gamma": 0.3, "pairing": p, "is_pooled": True} for p in ("triplets", "all")),
        ),
        labels=(1, 0, -1, 1, -1, -1, 0, 1, -1),
        naive_risk=naive_auc_risk,
        is_quadratic=lambda p: True,
    ),
    "similar_unlabeled": Case(
        settings=tuple(
            {"loss": loss, "correction": correction, "prior": prior}
            for loss in ("squared", "double hinge", "logistic")
            for correction, prior in (
                ("identity", 0.7),
                ("identity", 0.2),
                ("absolute value", 0.7),
                ("leaky ReLU", 0.7),
            )
        ),
        labels=(3, -1, 3, -1, 0, 0, -1),
        naive_risk=lambda p, f: naive_problems.su_risk(
            f["similar"], f["unlabeled"], p.prior, p.loss, p.correction, p.leak
        ),
        is_biased=lambda p: p.correction != "identity",
        is_quadratic=lambda p: p.loss == "squared" and p.correction == "identity",
        has_fully_labeled=False,
    ),
    "s3vm": Case(
        settings=tuple(
            {"loss": loss, "labeled_weight": 2.0, "is_balanced": is_balanced}
            for loss in ("symmetric hinge", "squared symmetric hinge", "ramp", "exponential")
            for is_balanced in (False, True)
        ),
        is_biased=lambda p: p.is_balanced,
        labels=(1, 0, -1, 1, -1, -1, 0, -1),
        naive_risk=naive_s3vm_risk,
    ),
    "ordinal": Case(
        settings=tuple({"gamma": g, "pairing": p} for g in (0.0, (0.2, 0.9), 1.0) for p in ("paired", "all")),
        labels=(2, 0, -1, 1, 1, -1, -1),
        naive_risk=naive_ordinal_risk,
        is_quadratic=lambda p: True,
    ),
}


def naive_supervised_risk(p, f):
    """The mean loss over all labeled points, each class with its share."""
    losses = {
        "logistic": lambda m: math.log(1 + math.exp(-m)),
        "hinge": lambda m: max(0.0, 1 - m),
        "squared": lambda m: (1 - m) ** 2 / 2,
    }
    own = {
        s: sum(losses[p.loss](sign * v) for v in f[s]) / len(f[s]) for s, sign in (("positive", 1), ("negative", -1))
    }
    return p.positive_share * own["positive"] + (1 - p.positive_share) * own["negative"]


CASES["supervised"] = Case(
    settings=tuple({"loss": loss} for loss in ("logistic", "hinge", "squared")),
    labels=(1, 0, -1, 1, -1, 0, 1, -1),
    naive_risk=naive_supervised_risk,
    is_quadratic=lambda p: p.loss == "squared",
)
# A problem without an entry is tested with its defaults, on points with its kind of labels.
LABELS = {"binary": (1, 0, -1, 1, -1, -1, 0), "pairs": (3, -1, 3, -1, 0, 0, -1), "ordinal": (2, 0, -1, 1, 1, -1, -1)}


def case_of(name):
    plain = Case(settings=({},), labels=LABELS[PROBLEMS[name].labels], naive_risk=None, has_fully_labeled=False)
    return CASES.get(name, plain)


def make(name, given):
    """The problem with these settings; bound to the sample's labels, where it takes something from them."""
    problem = PROBLEMS[name](**given)
    return problem.bind(np.array(case_of(name).labels))


INSTANCES = [make(name, given) for name in PROBLEMS for given in case_of(name).settings]
every_problem = pytest.mark.parametrize("problem", INSTANCES, ids=repr)


def case(problem):
    return case_of(problem.name)


def values(problem, *sizes, seed=0, dtype="float64"):
    """Made-up values of f, source -> (B,)."""
    rng = np.random.default_rng(seed)
    sizes = sizes * len(problem.sources) if len(sizes) == 1 else sizes
    return {s: rng.normal(size=n).astype(dtype) for s, n in zip(problem.sources, sizes, strict=True)}


def gradient(function, x, step=1e-4):
    """Central differences; of a quadratic function they are exact but for rounding."""
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in step * np.eye(len(x))])


def risk(problem, rows, f):
    return objective(problem.risk_terms({source: f[index] for source, index in rows.items()}))


def samples(problem):
    """The tiny sample as it is, and fully labeled, where the unlabeled source is all points."""
    labels = np.array(case(problem).labels)
    yield problem.rows(labels), len(labels)
    if case(problem).has_fully_labeled:
        yield problem.rows(labels[labels != -1]), int((labels != -1).sum())


def all_batches(rows, size):
    """Every batch that can be drawn, all equally likely: `size` points of each source, with replacement."""
    of_a_source = [itertools.product(index, repeat=size) for index in rows.values()]
    for batch in itertools.product(*(list(drawn) for drawn in of_a_source)):
        yield dict(zip(rows, map(list, batch), strict=True))


def test_every_registered_problem_is_tested_and_says_what_it_is():
    assert set(CASES) <= set(PROBLEMS)
    for name, problem in PROBLEMS.items():
        assert problem.name == name
        assert all((problem.title, problem.score_name, problem.sentence, problem.citation))
        assert problem(**{p.name: p.default for p in problem.parameters}) == problem()


@every_problem
def test_coefficients_are_the_derivatives_of_the_terms(problem):
    n = len(problem.sources)
    for sizes in (
        [1] * n,
        [2] * n,
        [7] * n,
        *([range(3, 3 + n)] if getattr(problem, "pairing", "all") == "all" else []),
    ):
        f = values(problem, *sizes)
        c = problem.coefficients(f)
        assert list(c) == list(f)
        for source in problem.sources:
            expected = gradient(lambda v, s=source, f=f: objective(problem.terms({**f, s: v})), f[source])
            np.testing.assert_allclose(c[source], expected, rtol=1e-6, atol=1e-9)


RANKING = [make(name, {"pairing": "all"}) for name in ("auc", "ordinal")]


@each("name, pairing", [("auc", "triplets"), ("ordinal", "paired")])
def test_paired_sources_of_different_sizes_are_refused(name, pairing):
    problem = make(name, {"pairing": pairing})
    f = values(problem, *range(3, 3 + len(problem.sources)))
    with pytest.raises(ProblemError, match=r"the same number of values, got \[3, 4, 5"):
        problem.coefficients(f)


@each("problem", RANKING)
@each("dtype, is_finite", [("float32", False), ("float64", True)])
def test_the_risk_of_values_that_their_precision_cannot_square_is_infinite(problem, dtype, is_finite):
    f = {source: (1e25 * v).astype(dtype) for source, v in values(problem, 5).items()}
    for terms in (problem.terms(f), problem.risk_terms(f)):
        assert np.isfinite(objective(terms)) == is_finite


@pytest.mark.parametrize("problem", [one for one in INSTANCES if not case_of(one.name).is_biased(one)], ids=repr)
def test_the_mean_over_all_batches_is_the_full_gradient_and_risk(problem):
    for size, (rows, n) in itertools.product((1, 2), samples(problem)):
        if size == 1 and getattr(problem, "is_pooled", False):
            continue  # of one point there is no spread
        f = np.random.default_rng(1).normal(size=n)
        mean, terms, n_batches = np.zeros(n), dict.fromkeys(problem.terms(values(problem, size)), 0.0), 0
        for batch in all_batches(rows, size):
            at_batch = {source: f[index] for source, index in batch.items()}
            for source, c in problem.coefficients(at_batch).items():
                np.add.at(mean, batch[source], c)
            for name, value in problem.terms(at_batch).items():
                terms[name] += value
            n_batches += 1
        mean /= n_batches
        np.testing.assert_allclose(mean, gradient(lambda v, r=rows: risk(problem, r, v), f), rtol=1e-6, atol=1e-9)
        if form := naive_problems.quadratic(problem, rows, n):
            Q, linear = form
            np.testing.assert_allclose(mean, Q @ f + linear, rtol=1e-10, atol=1e-12)
        expected = problem.risk_terms({source: f[index] for source, index in rows.items()})
        assert {name: total / n_batches for name, total in terms.items()} == pytest.approx(expected, rel=1e-10)


@every_problem
def test_the_quadratic_form_is_the_risk_but_for_a_constant(problem):
    for rows, n in samples(problem):
        form = naive_problems.quadratic(problem, rows, n)
        assert (form is not None) == case(problem).is_quadratic(problem)
        if form is None:
            continue
        Q, linear = form
        f = np.random.default_rng(2).normal(size=(4, n))
        slopes = [problem.near_risk().slopes(shares(rows.values(), n), v) for v in f]
        np.testing.assert_allclose(slopes, f @ Q + linear, rtol=1e-10, atol=1e-12)
        constants = [risk(problem, rows, v) - (v @ Q @ v / 2 + linear @ v) for v in f]
        np.testing.assert_allclose(constants, constants[0], rtol=1e-10)
        np.testing.assert_allclose(Q, Q.T, rtol=0, atol=1e-15)
        assert np.linalg.eigvalsh(Q).min() > -1e-12, "the risk is convex"


@every_problem
def test_the_risk_equals_that_of_the_pairs_one_by_one(problem):
    if case(problem).naive_risk is None:
        pytest.skip("the problem has no dull twin of its risk")
    f = values(problem, *range(3, 3 + len(problem.sources)))
    assert objective(problem.risk_terms(f)) == pytest.approx(case(problem).naive_risk(problem, f), rel=1e-12)


@every_problem
def test_batch_and_risk_have_the_same_terms(problem):
    f = values(problem, 3)
    assert list(problem.terms(f)) == list(problem.risk_terms(f))
    assert all(type(value) is float for value in problem.terms(f).values())
    assert all(type(value) is float for value in problem.risk_terms(f).values())


@every_problem
def test_single_precision_stays_single_and_values_are_left_alone(problem):
    f = values(problem, 5, dtype="float32")
    before = {source: v.copy() for source, v in f.items()}
    c, other = problem.coefficients(f), problem.coefficients(dict(reversed(f.items())))
    problem.terms(f)
    assert all(v.dtype == np.float32 and (v == other[source]).all() for source, v in c.items())
    assert all((f[source] == before[source]).all() for source in f)
    exact = problem.coefficients({source: v.astype(float) for source, v in f.items()})
    for source, v in c.items():
        np.testing.assert_allclose(v, exact[source], rtol=0, atol=1e-5)


@every_problem
def test_a_value_that_is_not_finite_is_seen_in_the_coefficients(problem):
    # The solver stops a run by this.
    for source in problem.sources:
        for bad in (np.inf, -np.inf, np.nan):
            f = values(problem, 4)
            f[source][1] = bad
            with np.errstate(invalid="ignore"):
                slopes = problem.coefficients(f).values()
                assert not np.isfinite(np.concatenate(list(slopes))).all(), (source, bad)


@every_problem
def test_rows_are_a_partition_of_the_labels_by_source(problem):
    labels = np.array(case(problem).labels)
    rows = problem.rows(labels)
    assert tuple(rows) == problem.sources
    used = sorted(np.concatenate(list(rows.values())))
    assert used == [i for i in range(len(labels)) if labels[i] != -1 or "unlabeled" in problem.sources]
    assert {tuple(r) for r in problem.rows(labels.tolist()).values()} == {tuple(r) for r in rows.values()}


@each(
    "problem, labels, rows",
    [
        (SemiSupervisedAUC(), [1, 0, -1, 1, -1], {"positive": [0, 3], "negative": [1], "unlabeled": [2, 4]}),
        (SemiSupervisedAUC(), [1, 0, 1], {"positive": [0, 2], "negative": [1], "unlabeled": [0, 1, 2]}),
        (SimilarUnlabeled(), [-1, 3, 0, 3, 0, -1], {"similar": [1, 2, 3, 4], "unlabeled": [0, 5]}),
    ],
)
def test_the_rows_of_a_source_are_those_with_its_label(problem, labels, rows):
    assert {source: own.tolist() for source, own in problem.rows(np.array(labels)).items()} == rows


@every_problem
def test_the_solver_equals_a_dull_loop(problem, make_task):
    """f_t(x) = sum_i alpha_i' phi_i(x), alpha_t = -eta c' phi_t at the batch, and all before it times 1 - eta lam."""
    y = np.array(case(problem).labels)
    X = np.random.default_rng(3).normal(size=(len(y), 2))
    task = make_task(problem=problem, X=X, y=y, batch_size=2, n_iter=3, n_features=5)
    model = task.new_model()
    iterates = list(solve(task, model))
    alphas, frequencies = [], []
    for t, iterate in enumerate(iterates, start=1):
        f = {source: [naive.predict(X[i], alphas, frequencies) for i in rows] for source, rows in iterate.batch.items()}
        c = problem.coefficients({source: np.array(v, dtype=float) for source, v in f.items()})
        W = 2 * np.pi * model.frequencies(t, 5)
        step = sum(
            c[s][b] * naive.feature_map(W, X[i]) for s, rows in iterate.batch.items() for b, i in enumerate(rows)
        )
        alphas = [(1 - 0.3 * 0.2) * alpha for alpha in alphas] + [-0.3 * step]
        frequencies.append(W)
    expected = [naive.predict(x, alphas, frequencies) for x in X]
    np.testing.assert_allclose(model.evaluate(X), expected, rtol=1e-9, atol=1e-12)


# What each problem has of its own.


TWO = "needs at least one labeled positive and one labeled negative, got no"
CODES = r"classes must have .* 0 .. k - 1 with .*, got none of code"


@each(
    "problem, y, said",
    [
        *((SemiSupervisedAUC(), y, f"Semi-supervised AUC {TWO} negative") for y in ([1, 1, -1],)),
        *((SemiSupervisedAUC(), y, f"Semi-supervised AUC {TWO} positive") for y in ([0, -1], [-1, -1], [])),
        (SemiSupervisedSVM(), [1, 1, -1], f"Semi-supervised SVM {TWO} negative"),
        (SemiSupervisedSVM(), [1, 0, 2], "a label must be 1, 0, or -1 for unlabeled, got 2"),
        (Supervised(), [-1, -1], f"Supervised classification {TWO} positive"),
        (SemiSupervisedOrdinal(), [0, 0, -1], "ordinal regression needs labeled points of at least two classes, got 1"),
        (SemiSupervisedOrdinal(), [-1, -1], "ordinal regression needs labeled points of at least two classes, got 0"),
        (SemiSupervisedOrdinal(), [0, 2, -1], f"{CODES} 1 but one of code 2"),
        (SemiSupervisedOrdinal(), [1, 2, 3], f"{CODES} 0 but one of code 1"),
        (SemiSupervisedOrdinal(), [0, 0.5, 1], f"{CODES} 1 but one of code 0.5"),
        (SemiSupervisedOrdinal(), [-2, 0, 1], f"{CODES} 0 but one of code -2"),
        (SimilarUnlabeled(), [3, 3, 3, -1], "pair id 3 must occur exactly twice, but occurs 3 times"),
        (SimilarUnlabeled(), [3, 3, 5, -1], "pair id 5 must occur exactly twice, but occurs 1 times"),
        (SimilarUnlabeled(), [3, 3, -2, -2, -1], "a pair id must be 0 or more, and -1 marks unlabeled points, got -2"),
        (SimilarUnlabeled(), [-1, -1], "similar-unlabeled learning needs at least one similar pair, got none"),
        (SimilarUnlabeled(), [0, 0, 1, 1], "similar-unlabeled learning needs at least one unlabeled point, got none"),
    ],
)
def test_labels_that_do_not_suit_a_problem_are_refused(problem, y, said):
    for use in (problem.rows,) if isinstance(problem, SimilarUnlabeled) else (problem.rows, problem.bind):
        if not (isinstance(problem, SemiSupervisedAUC) and use == problem.bind):  # which takes nothing from them
            with pytest.raises(ProblemError, match=f"^{said}$"):
                use(np.array(y))


@each(
    "use",
    [
        lambda: SemiSupervisedAUC(is_pooled=True).coefficients(values(SemiSupervisedAUC(), 2)),
        lambda: SemiSupervisedSVM().terms(draw()),
        lambda: SemiSupervisedSVM(is_balanced=True).shift(np.zeros(2)),
        lambda: SemiSupervisedOrdinal().sources,
    ],
)
def test_a_problem_not_bound_to_labels_says_so(use):
    with pytest.raises(ProblemError, match=r"^this problem must be bound to labels first, with bind\(y\)$"):
        use()


def test_scores_are_auc_mean_auc_and_accuracy_of_the_sign():
    rng = np.random.default_rng(3)
    y, f = rng.integers(0, 2, 50), rng.normal(size=50)
    assert SemiSupervisedAUC().score(y, f) == pytest.approx(roc_auc_score(y, f), rel=1e-12)
    for _ in range(20):
        y = rng.integers(0, 5, 30)
        f = np.round(rng.normal(size=30) + 0.3 * y, 1)  # with ties
        assert mean_auc(y, f) == pytest.approx(naive_problems.mean_auc(y.tolist(), f.tolist()))
        sklearn = [roc_auc_score(y >= j, f) for j in range(1, 5) if 0 < (y >= j).sum() < 30]
        assert SemiSupervisedOrdinal().score(y, f) == pytest.approx(np.mean(sklearn))
    assert mean_auc(np.array([0, 0, 3]), np.array([0.0, 1.0, 2.0])) == 1.0  # sub-problems without points are left out
    y, f = np.array([1, 1, 0, 0]), np.array([0.2, -0.1, -3.0, 0.0])
    for problem in (SimilarUnlabeled(), SemiSupervisedSVM(), bound(is_balanced=True)):  # points shift nothing
        assert problem.score(y, f) == 0.5
        assert np.isnan(problem.score(y[1:3], np.array([np.nan, 0.0])))
        assert np.isnan(problem.score(np.array([]), np.array([])))
    for y, f in (([2, 2], [0.0, 1.0]), ([0, 1], [0.0, np.nan])):
        assert np.isnan(mean_auc(np.array(y), np.array(f)))


@each("pairing", ["triplets", "all"])
def test_the_supervised_problem_has_no_part_of_the_unlabeled(pairing):
    problem = SemiSupervisedAUC(0.3, pairing).baseline()
    assert problem == SemiSupervisedAUC(1.0, pairing)
    f = values(problem, 4)
    assert (problem.coefficients(f)["unlabeled"] == 0).all()
    other = {**f, "unlabeled": f["unlabeled"] + 5.0}
    assert problem.terms(other) == pytest.approx(problem.terms(f))
    for source in ("positive", "negative"):
        assert (problem.coefficients(other)[source] == problem.coefficients(f)[source]).all()
    assert problem.terms(f)["positive over unlabeled"] == problem.terms(f)["constant"] == 0.0


def test_problems_are_values_that_cannot_be_changed():
    problem = SemiSupervisedAUC(0.2)
    assert hash(problem) == hash(replace(problem))
    with pytest.raises(AttributeError):
        problem.gamma = 0.5


# --- TSGS3VM


BALANCE = (False, True)


def draw(seed=0, sizes=(3, 4, 6), scale=1.5):
    rng = np.random.default_rng(seed)
    names = ("positive", "negative", "unlabeled")
    return {name: scale * rng.normal(size=size) for name, size in zip(names, sizes, strict=True)}


def bound(**parameters):
    return SemiSupervisedSVM(**{"labeled_weight": 2.0, "unlabeled_weight": 0.7, "positive_share": 0.3, **parameters})


@each("is_balanced", BALANCE)
@each("loss", LOSSES)
def test_equals_the_papers_algorithm(make_task, labeled_points, loss, is_balanced):
    X, y = labeled_points
    problem = SemiSupervisedSVM(labeled_weight=3.0, loss=loss, is_balanced=is_balanced).bind(y)
    task = make_task(problem=problem, batch_size=4, lam=1.0, step_size=2.0, schedule="theta/T^(3/4)")
    model, _ = run(task)
    batches, frequencies, *_ = draws(task, model)
    alphas = naive_problems.tsgs3vm(
        X,
        batches,
        frequencies,
        [2.0 / 6**0.75] * 6,
        [1.0] * 6,
        C=3.0,
        C_star=3.0 * 18 / 22,
        share=8 / 18,
        loss=loss,
        s=-0.3,
        balanced=is_balanced,
    )
    assert_equals(model, X, alphas, frequencies)


def test_other_ridges_are_the_papers_problem_with_other_weights(make_task, labeled_points):
    """(C, C*, step, lam) here are the paper's (C / lam, C* / lam, step lam, 1)."""
    X, y = labeled_points
    lam, step = 0.05, 0.4
    models = []
    for scale, plan in ((1.0, {"lam": lam, "step_size": step}), (1 / lam, {"lam": 1.0, "step_size": step * lam})):
        task = make_task(problem=SemiSupervisedSVM(labeled_weight=2.0 * scale).bind(y), schedule="constant", **plan)
        models.append(task.new_model())
        for _ in solve(task, models[-1]):
            pass
    np.testing.assert_allclose(models[0].evaluate(X), models[1].evaluate(X), rtol=1e-10, atol=1e-12)


@each("s", [-0.999, -0.3, 0.0])
@each("loss", LOSSES)
def test_losses_are_the_papers(loss, s):
    r = np.linspace(-2.3, 2.3, 47)  # no kink among them
    expected = np.array([naive_problems.u(loss, x, s) for x in r])
    np.testing.assert_allclose(LOSSES[loss].value(r, s), expected[:, 0], atol=1e-14)
    np.testing.assert_allclose(LOSSES[loss].slope(r, s), expected[:, 1], atol=1e-14)


def test_the_balances_bias_shrinks_with_the_batch():
    f = {"positive": np.array([0.5]), "negative": np.array([0.2]), "unlabeled": np.array([1.6, -0.9])}
    problem = bound(is_balanced=True, loss="exponential")
    full = np.concatenate(list(problem.coefficients(f).values()))
    bias = [np.linalg.norm(naive_problems.mean_gradient(problem, f, size) - full) for size in (1, 3, 9)]
    assert bias[0] > 0.1
    assert bias[2] < bias[1] < bias[0]
    assert bias[2] < 0.5 * bias[0]


def test_a_balanced_problem_looks_at_differences_only():
    problem, f = bound(is_balanced=True), draw()
    higher = {source: values + 3.0 for source, values in f.items()}
    assert objective(problem.terms(higher)) == pytest.approx(objective(problem.terms(f)))
    assert sum(c.sum() for c in problem.coefficients(f).values()) == pytest.approx(0.0, abs=1e-13)
    shifted = f["unlabeled"] + problem.shift(f["unlabeled"])
    assert shifted.mean() == pytest.approx(2 * 0.3 - 1)


def dual_svm(K, t, weight):
    """Values of the SVM without a bias, minimising |f|^2 / 2 + sum_i weight_i max(0, 1 - t_i f_i), by its dual."""
    G = K * np.outer(t, t)
    result = minimize(
        lambda a: (a @ G @ a / 2 - a.sum(), G @ a - 1.0),
        np.zeros(len(t)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, w) for w in weight],
        options={"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-10},
    )
    return K @ (result.x * t)


@pytest.mark.ci
def test_without_unlabeled_points_the_svms_optimum_is_reached(make_task, labeled_points):
    X, y = labeled_points
    problem = SemiSupervisedSVM(labeled_weight=4.0).bind(y).baseline()
    task = make_task(
        problem=problem, lam=1.0, step_size=1.5, schedule="theta/t", n_features=50, n_iter=3000, batch_size=16
    )
    model = task.new_model()
    for _ in solve(task, model):
        pass
    labeled = y != -1
    K = task.kernel.matrix(X[labeled], X[labeled])
    optimum = dual_svm(K, 2.0 * y[labeled] - 1, np.full(18, 4.0 / 18))
    error = np.sqrt(np.mean((model.evaluate(X[labeled]) - optimum) ** 2))
    assert error < 0.1 * np.sqrt(np.mean(optimum**2))


def test_bind_takes_the_share_and_the_weight_from_the_labels():
    y = np.array([1, 0, 0, -1, -1, -1, -1, -1, -1])
    assert SemiSupervisedSVM(labeled_weight=2.0).bind(y) == SemiSupervisedSVM(
        labeled_weight=2.0, unlabeled_weight=1.0, positive_share=1 / 3
    )
    assert SemiSupervisedSVM(labeled_weight=2.0, unlabeled_weight=0.0).bind(y).unlabeled_weight == 0.0
    fully_labeled = SemiSupervisedSVM().bind(np.array([1, 0, 0]))
    assert (fully_labeled.unlabeled_weight, fully_labeled.positive_share) == (1.0, 1 / 3)
    assert SemiSupervisedSVM().rows(np.array([1, 0, 0]))["unlabeled"].tolist() == [0, 1, 2]


def test_there_is_no_quadratic_form_and_the_twin_has_labels_only(labeled_points):
    problem = SemiSupervisedSVM(is_balanced=True)
    assert not isinstance(problem.bind(labeled_points[1]).near_risk(), SourceQuadratic)
    assert problem.baseline() == SemiSupervisedSVM(unlabeled_weight=0.0)
    assert objective(bound().baseline().terms(draw())) == pytest.approx(
        objective({k: v for k, v in bound().terms(draw()).items() if k != "unlabeled"})
    )


# --- QS3ORAO


PAIRINGS = ("paired", "all")


@pytest.fixture
def classes():
    """Forty points in three dimensions: 3, 6, 4 and 5 of the classes, the rest unlabeled."""
    y = np.full(40, -1)
    y[2:20] = np.repeat([3, 0, 2, 1], [5, 3, 4, 6])
    return np.random.default_rng(5).normal(size=(40, 3)), y


def batch_of(problem, size, seed=0):
    rng = np.random.default_rng(seed)
    return {source: rng.normal(size=size) for source in problem.sources}


@pytest.mark.parametrize("gamma", [0.4, (0.1, 0.9, 0.5)])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_equals_the_papers_algorithm_of_ordinal(make_task, classes, pairing, gamma):
    X, y = classes
    problem = SemiSupervisedOrdinal(gamma, pairing).bind(y)
    task = make_task(problem=problem, X=X, y=y, batch_size=3, n_iter=5, schedule="theta/t")
    model, _ = run(task)
    batches, frequencies, *_ = draws(task, model)
    alphas = naive_problems.qs3orao(
        X,
        batches,
        frequencies,
        [0.3 / t for t in range(1, 6)],
        [0.2] * 5,
        np.broadcast_to(gamma, 3),
        [3, 6, 4, 5],
        all_pairs=pairing == "all",
    )
    assert_equals(model, X, alphas, frequencies)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_two_classes_are_the_binary_problem(labeled_points, pairing):
    _, y = labeled_points
    binary = SemiSupervisedAUC(0.3, "triplets" if pairing == "paired" else "all")
    ordinal = SemiSupervisedOrdinal(0.3, pairing).bind(y)
    f = batch_of(ordinal, 5)
    renamed = {"positive": f["class 2"], "negative": f["class 1"], "unlabeled": f["unlabeled"]}
    c, expected = ordinal.coefficients(f), binary.coefficients(renamed)
    for source, name in zip(("class 2", "class 1", "unlabeled"), expected, strict=True):
        np.testing.assert_allclose(c[source], expected[name], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(list(ordinal.terms(f).values()), list(binary.terms(renamed).values()), rtol=1e-13)
    np.testing.assert_allclose(
        list(ordinal.risk_terms(f).values()), list(binary.risk_terms(renamed).values()), rtol=1e-13
    )


def test_bind_takes_the_classes_and_their_shares_from_the_labels(classes):
    problem = SemiSupervisedOrdinal().bind(classes[1])
    assert problem.sources == ("class 1", "class 2", "class 3", "class 4", "unlabeled")
    assert problem.n_classes == 4
    np.testing.assert_allclose(problem.shares, np.array([3, 6, 4, 5]) / 18)
    rows = problem.rows(classes[1])
    assert tuple(rows) == problem.sources
    assert [len(index) for index in rows.values()] == [3, 6, 4, 5, 22]
    assert problem.bind(np.array([0, 1])).shares == (0.5, 0.5)
    assert SemiSupervisedOrdinal().rows(np.array([1, 0]))["unlabeled"].tolist() == [0, 1]


def test_lists_of_gammas_and_labels_that_do_not_fit_are_refused():
    y = np.array([0, 1, 2])
    with pytest.raises(ProblemError, match=r"^gamma must be one number or 2, one for each .* 3 classes .*, got 3$"):
        SemiSupervisedOrdinal((0.1, 0.2, 0.3)).bind(y)
    with pytest.raises(ProblemError, match=r"^this problem is bound to 3 classes, got 2$"):
        SemiSupervisedOrdinal().bind(y).rows(np.array([0, 1]))


@each("gamma", [1.5, [0.1, 2.0], [], "x", [[0.1]], [True]])
def test_wrong_gammas_are_refused(gamma):
    with pytest.raises(ParameterError, match=r"^gamma must be .* 0 and 1, or a list of such numbers, got"):
        check_all(SemiSupervisedOrdinal.parameters, {"gamma": gamma}, "problem")


def test_gammas_may_be_one_or_several():
    assert check_all(SemiSupervisedOrdinal.parameters, {"gamma": [0, 0.5]}, "problem")["gamma"] == (0.0, 0.5)
    assert check_all(SemiSupervisedOrdinal.parameters, {"gamma": 1}, "problem")["gamma"] == 1.0


def test_the_twin_trusts_the_labels_alone(classes):
    problem = SemiSupervisedOrdinal((0.1, 0.9, 0.5)).bind(classes[1])
    c = problem.baseline().coefficients(batch_of(problem, 3))
    assert (c["unlabeled"] == 0).all()
    assert problem.baseline().bind(classes[1]) == problem.baseline()


@pytest.mark.parametrize(("loss", "margin"), [("hinge", 1.0), ("hinge", 0.2), ("hinge", 0.0), ("squared", 1.0)])
def test_thresholds_against_brute_force(loss, margin):
    rng = np.random.default_rng(0)
    for _ in range(4):
        y = np.concatenate([[0, 1, 2, 3], rng.integers(0, 4, 16)])
        f = rng.normal(size=20) + rng.choice([0.1, 1.0, 3.0]) * y
        b = thresholds(y, f, loss=loss, margin=margin)
        assert (np.diff(b) >= 0).all()
        grid = np.linspace(f.min() - 2, f.max() + 2, 2001)
        for j in range(1, 4):
            losses = np.array([naive_problems.threshold_loss(g, j, y, f, loss, margin) for g in (b[j - 1], *grid)])
            assert losses[0] <= losses.min() + 1e-9
            if loss == "hinge":  # the middle of all that are best
                best = grid[losses[1:] <= losses[0] + 1e-9]
                if len(best):
                    assert b[j - 1] == pytest.approx((best[0] + best[-1]) / 2, abs=grid[1] - grid[0])


def test_without_a_margin_the_values_are_cut_where_the_classes_shares_do():
    """Values that spread by much less than 1: the hinge's margin of 1 leaves their order no say."""
    y = np.repeat([0, 1, 2], 20)
    f = 0.01 * (y + np.linspace(0.0, 0.9, 60) % 0.9)
    assert class_measures(y, f, thresholds(y, f, margin=0.0))["accuracy"] == 1.0
    assert class_measures(y, f, thresholds(y, f))["accuracy"] < 0.6


def test_a_negative_margin_is_refused():
    with pytest.raises(ProblemError, match=r"^the margin must be 0 or more, got -1$"):
        thresholds(np.array([0, 1]), np.zeros(2), margin=-1)


def test_tied_thresholds_are_merged_with_a_warning():
    """Equal values: each threshold goes to the side of the more numerous classes, here twice to the same."""
    with pytest.warns(UserWarning, match="^thresholds coincide: no point can get the class of code 1$"):
        b = thresholds(np.repeat([0, 1, 2], [1, 1, 4]), np.zeros(6))
    assert b.tolist() == [-1.0, -1.0]
    with pytest.warns(UserWarning, match="^thresholds coincide: no point can get the class of code 1, 2$"):
        b = thresholds(np.repeat([0, 1, 2, 3], [1, 1, 1, 6]), np.full(9, 5.0) + 1e-13 * np.arange(9))
    assert len(set(b.tolist())) == 1


@each(
    "y, f, message",
    [
        ([0, 0], [0.0, 1.0], "at least two classes, got 1"),
        ([0, 2], [0.0, 1.0], "got none of code 1"),
        ([0, 1], [0.0, np.nan], "thresholds need values that are finite"),
    ],
)
def test_thresholds_of_bad_input_are_refused(y, f, message):
    with pytest.raises(ProblemError, match=message):
        thresholds(np.array(y), np.array(f))


def test_classes_follow_from_the_thresholds():
    b = np.array([-1.0, 0.5, 0.5, 2.0])
    assert classify(np.array([-3.0, -1.0, 0.0, 0.5, 0.6, 9.0]), b).tolist() == [0, 0, 1, 1, 3, 4]
    measures = class_measures(np.array([0, 1, 1, 0]), np.array([-3.0, 0.0, 0.6, 9.0]), b)
    assert measures == {"mean absolute error": (0 + 0 + 2 + 4) / 4, "accuracy": 0.5}


# --- TSGSU


PRIORS = (0.7, 0.2)


def draw_pairs(seed=0, n_s=5, n_u=7, scale=1.5):
    rng = np.random.default_rng(seed)
    return {"similar": scale * rng.normal(size=n_s), "unlabeled": scale * rng.normal(size=n_u)}


def negative_risk(prior, which):
    """Values at which A_1 (which = 0) or A_2 (1) is below zero."""
    for seed in range(1000):
        f = draw_pairs(seed)
        if list(SimilarUnlabeled(prior).risks(f).values())[which] < -0.05:
            return f
    raise AssertionError("no such values among these draws")


def all_points(prior):
    return [draw_pairs(), negative_risk(prior, 0), negative_risk(prior, 1)]


@pytest.fixture
def pairs():
    """Thirty points: five similar pairs and twenty unlabeled."""
    y = np.full(30, -1)
    y[3:13] = np.repeat([4, 0, 7, 2, 9], 2)
    return np.random.default_rng(5).normal(size=(30, 3)), y


@each("prior", PRIORS)
@each("correction", CORRECTIONS)
@each("loss", PAIR_LOSSES)
def test_equals_the_papers_algorithm_of_similar_unlabeled(make_task, pairs, loss, correction, prior):
    X, y = pairs
    task = make_task(problem=SimilarUnlabeled(prior, loss, correction), X=X, y=y, batch_size=4, n_iter=5)
    model, _ = run(task)
    batches, frequencies, *_ = draws(task, model)
    alphas = naive_problems.tsgsu(
        X,
        batches,
        frequencies,
        [0.3] * 5,
        [0.2] * 5,
        prior,
        loss,
        correction,
        0.5,
    )
    assert_equals(model, X, alphas, frequencies)


@each("prior", PRIORS)
@each("correction", CORRECTIONS)
@each("loss", PAIR_LOSSES)
def test_terms_add_up_to_the_corrected_risk(loss, correction, prior):
    problem = SimilarUnlabeled(prior, loss, correction, leak=0.3)
    for f in all_points(prior):
        expected = naive_problems.su_risk(f["similar"], f["unlabeled"], prior, loss, correction, 0.3)
        assert objective(problem.terms(f)) == pytest.approx(expected, rel=1e-12, abs=1e-13)
        assert problem.risk_terms(f) == problem.terms(f)
        risks = naive_problems.su_inner(f["similar"], f["unlabeled"], prior, loss)
        np.testing.assert_allclose(list(problem.risks(f).values()), risks, rtol=1e-11, atol=1e-13)


def test_a_negative_risk_and_what_the_correction_adds_can_be_seen():
    f = negative_risk(0.7, 0)
    problem = SimilarUnlabeled(0.7)
    risk = problem.risks(f)["positive class"]
    assert risk < 0
    assert problem.terms(f)["correction"] == pytest.approx(-2 * risk)
    assert SimilarUnlabeled(0.7, correction="identity").terms(f)["correction"] == 0
    assert SimilarUnlabeled(0.7, correction="ReLU").terms(f)["correction"] == pytest.approx(-risk)


@pytest.mark.ci
@pytest.mark.parametrize("correction", [c for c in CORRECTIONS if c != "identity"])
def test_the_corrections_bias_shrinks_with_the_batch(correction):
    problem = SimilarUnlabeled(0.7, "squared", correction)
    f = {"similar": np.array([0.0, 0.45, -0.45]), "unlabeled": np.array([-1.35, -0.75])}
    full = np.concatenate(list(problem.coefficients(f).values()))
    bias = [np.linalg.norm(naive_problems.mean_gradient(problem, f, size) - full) for size in (1, 2, 4)]
    assert bias[0] > 0.2
    assert bias[1] < 0.3 * bias[0]
    assert bias[2] < 0.1 * bias[0]


@pytest.mark.ci
@each("prior", PRIORS)
@each("loss", PAIR_LOSSES)
def test_the_risk_of_large_samples_is_the_supervised_one(loss, prior):
    """Similar points drawn as in Eq. (5): A_1 estimates prior E_+ l(f, +1), A_2 (1 - prior) E_- l(f, -1)."""
    rng = np.random.default_rng(1)
    n = 400_000
    similar_prior = prior**2 + (1 - prior) ** 2

    def values(share):
        return np.where(rng.random(n) < share, 1.0, -0.5) + rng.normal(size=n)

    f = {"similar": values(prior**2 / similar_prior), "unlabeled": values(prior)}
    risks = SimilarUnlabeled(prior, loss).risks(f)
    positive, negative = 1.0 + rng.normal(size=n // 10), -0.5 + rng.normal(size=n // 10)
    value = np.vectorize(lambda z, t: naive_problems.su_loss(loss, z, t)[0])
    # Standard errors are about 5e-3: means of 4e5 values of spread 1, divided by |2 prior - 1|, and of 4e4.
    assert risks["positive class"] == pytest.approx(prior * value(positive, 1).mean(), abs=0.02)
    assert risks["negative class"] == pytest.approx((1 - prior) * value(negative, -1).mean(), abs=0.02)


@each("prior", [0.5, 0.4995, 0.5009])
def test_a_prior_of_one_half_is_refused_with_the_reason(prior):
    with pytest.raises(ParameterError, match=f"^prior must differ from 1/2 by at least 0.001, got {prior}: .*divides"):
        SimilarUnlabeled(prior)


def test_the_twin_is_without_correction():
    assert SimilarUnlabeled(0.3, "logistic").baseline() == SimilarUnlabeled(0.3, "logistic", "identity")
    assert SimilarUnlabeled().bind(np.array([0, 0, -1])) == SimilarUnlabeled()
