from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import naive
import naive_problems
import numpy as np
import pytest
from cases import each
from sklearn.metrics import roc_auc_score

from dsgcore.problems import PROBLEMS, ProblemError, SemiSupervisedAUC, objective
from dsgcore.solver.loop import solve
from dsgcore.solver.problem import joined

# Facts about a problem for the tests; add an entry to test a new problem.


@dataclass(frozen=True)
class Case:
    """Settings to test, a tiny labeled sample, how a batch may be shaped, and a dull twin of the risk."""

    settings: tuple[dict, ...]
    labels: tuple[int, ...]
    naive_risk: Callable
    is_biased: Callable = lambda problem: False  # the mean batch gradient is not the full one
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
    return p.C * labeled + p.C_star * unlabeled


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
        has_fully_labeled=False,
    ),
    "s3vm": Case(
        settings=tuple(
            {"loss": loss, "C": 2.0, "is_balanced": is_balanced}
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
    ),
}


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
    for batch in itertools.product(*(list(draws) for draws in of_a_source)):
        yield dict(zip(rows, map(list, batch), strict=True))


def test_every_registered_problem_is_tested_and_says_what_it_is():
    assert set(CASES) <= set(PROBLEMS)
    for name, problem in PROBLEMS.items():
        assert problem.name == name
        assert all((problem.title, problem.score_name, problem.sentence, problem.citation))
        assert problem(**{p.name: p.default for p in problem.parameters}) == problem()


@every_problem
@each("size", [1, 2, 7])
def test_coefficients_are_the_derivatives_of_the_terms(problem, size):
    f = values(problem, size)
    c = problem.coefficients(f)
    assert list(c) == list(f)
    for source in problem.sources:
        expected = gradient(lambda v, s=source: objective(problem.terms({**f, s: v})), f[source])
        np.testing.assert_allclose(c[source], expected, rtol=1e-6, atol=1e-9)


RANKING = [
    make(*given)
    for given in (
        ("auc", {"pairing": "all"}),
        ("auc", {"pairing": "all", "is_pooled": True}),
        ("ordinal", {"pairing": "all"}),
    )
]


@each("problem", RANKING)
def test_sources_of_different_sizes_have_their_derivatives_too(problem):
    f = values(problem, *range(3, 3 + len(problem.sources)))
    c = problem.coefficients(f)
    assert list(c) == list(f)
    for source in problem.sources:
        expected = gradient(lambda v, s=source: objective(problem.terms({**f, s: v})), f[source])
        np.testing.assert_allclose(c[source], expected, rtol=1e-6, atol=1e-9)


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
        if form := problem.quadratic(rows, n):
            Q, linear = form
            np.testing.assert_allclose(mean, Q @ f + linear, rtol=1e-10, atol=1e-12)
        expected = problem.risk_terms({source: f[index] for source, index in rows.items()})
        assert {name: total / n_batches for name, total in terms.items()} == pytest.approx(expected, rel=1e-10)


@every_problem
def test_the_quadratic_form_is_the_risk_but_for_a_constant(problem):
    for rows, n in samples(problem):
        form = problem.quadratic(rows, n)
        if form is None:
            pytest.skip("the risk is not quadratic")
        Q, linear = form
        f = np.random.default_rng(2).normal(size=(4, n))
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
                assert not np.isfinite(joined(problem.coefficients(f), problem.sources)).all(), (source, bad)


@every_problem
def test_rows_are_a_partition_of_the_labels_by_source(problem):
    labels = np.array(case(problem).labels)
    rows = problem.rows(labels)
    assert tuple(rows) == problem.sources
    used = sorted(np.concatenate(list(rows.values())))
    assert used == [i for i in range(len(labels)) if labels[i] != -1 or "unlabeled" in problem.sources]
    assert {tuple(r) for r in problem.rows(labels.tolist()).values()} == {tuple(r) for r in rows.values()}


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


# The semi-supervised AUC.


def test_auc_rows_are_positives_negatives_and_unlabeled():
    rows = SemiSupervisedAUC().rows(np.array([1, 0, -1, 1, -1]))
    assert {source: index.tolist() for source, index in rows.items()} == {
        "positive": [0, 3],
        "negative": [1],
        "unlabeled": [2, 4],
    }


def test_fully_labeled_points_serve_as_the_unlabeled_ones_too():
    rows = SemiSupervisedAUC().rows(np.array([1, 0, 1]))
    assert rows["unlabeled"].tolist() == [0, 1, 2]


@each("labels, missing", [([1, 1, -1], "negative"), ([0, -1], "positive"), ([-1, -1], "positive"), ([], "positive")])
def test_a_missing_class_is_refused(labels, missing):
    with pytest.raises(ProblemError) as caught:
        SemiSupervisedAUC().rows(np.array(labels))
    assert str(caught.value) == f"AUC needs at least one labeled positive and one labeled negative, got no {missing}"


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


def test_a_pooled_problem_wants_labels_first():
    with pytest.raises(ProblemError, match=r"^this problem must be bound to labels first, with bind\(y\)$"):
        SemiSupervisedAUC(is_pooled=True).coefficients(values(SemiSupervisedAUC(), 2))


def test_the_score_is_the_auc():
    rng = np.random.default_rng(3)
    y, f = rng.integers(0, 2, 50), rng.normal(size=50)
    assert SemiSupervisedAUC().score(y, f) == pytest.approx(roc_auc_score(y, f), rel=1e-12)


def test_problems_are_values_that_cannot_be_changed():
    problem = SemiSupervisedAUC(0.2)
    assert hash(problem) == hash(replace(problem))
    with pytest.raises(AttributeError):
        problem.gamma = 0.5
