import naive_problems
import numpy as np
import pytest
from cases import each
from sklearn.metrics import roc_auc_score
from test_solver import assert_equals, draws, run

from dsgcore.core.parameters import ParameterError, check_all
from dsgcore.problems import SemiSupervisedAUC
from dsgcore.problems.ordinal import SemiSupervisedOrdinal
from dsgcore.problems.thresholds import class_measures, classify, mean_auc, thresholds
from dsgcore.solver.problem import ProblemError

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
def test_equals_the_papers_algorithm(make_task, classes, pairing, gamma):
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


def test_a_problem_not_bound_to_labels_says_so():
    with pytest.raises(ProblemError, match="must be bound to labels first"):
        _ = SemiSupervisedOrdinal().sources


@each(
    "y, message",
    [
        ([0, 0, -1], "ordinal regression needs labeled points of at least two classes, got 1"),
        ([-1, -1], "ordinal regression needs labeled points of at least two classes, got 0"),
        ([0, 2, -1], "classes must have .* 0 .. k - 1 with .*, got none of code 1 but one of code 2"),
        ([1, 2, 3], "classes must have .* 0 .. k - 1 with .*, got none of code 0 but one of code 1"),
        ([0, 0.5, 1], "classes must have .* 0 .. k - 1 with .*, got none of code 1 but one of code 0.5"),
        ([-2, 0, 1], "classes must have .* 0 .. k - 1 with .*, got none of code 0 but one of code -2"),
    ],
)
def test_wrong_classes_are_refused(y, message):
    for use in (SemiSupervisedOrdinal().bind, SemiSupervisedOrdinal().rows):
        with pytest.raises(ProblemError, match=f"^{message}$"):
            use(np.array(y))


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


def test_the_mean_auc_is_that_of_the_sub_problems():
    rng = np.random.default_rng(0)
    for _ in range(20):
        y = rng.integers(0, 5, 30)
        f = np.round(rng.normal(size=30) + 0.3 * y, 1)  # with ties
        assert mean_auc(y, f) == pytest.approx(naive_problems.mean_auc(y.tolist(), f.tolist()))
        sklearn = [roc_auc_score(y >= j, f) for j in range(1, 5) if 0 < (y >= j).sum() < 30]
        assert SemiSupervisedOrdinal().score(y, f) == pytest.approx(np.mean(sklearn))


def test_the_mean_auc_leaves_out_sub_problems_without_points():
    assert mean_auc(np.array([0, 0, 3]), np.array([0.0, 1.0, 2.0])) == 1.0
    assert np.isnan(mean_auc(np.array([2, 2]), np.array([0.0, 1.0])))
    assert np.isnan(mean_auc(np.array([0, 1]), np.array([0.0, np.nan])))
