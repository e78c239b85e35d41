import naive_problems
import numpy as np
import pytest
from cases import each
from test_solver import assert_equals, draws, run

from dsgcore.core.parameters import ParameterError
from dsgcore.problems.similar_unlabeled import CORRECTIONS, LOSSES, SimilarUnlabeled
from dsgcore.solver.problem import ProblemError, objective

PRIORS = (0.7, 0.2)


def draw(seed=0, n_s=5, n_u=7, scale=1.5):
    rng = np.random.default_rng(seed)
    return {"similar": scale * rng.normal(size=n_s), "unlabeled": scale * rng.normal(size=n_u)}


def negative_risk(prior, which):
    """Values at which A_1 (which = 0) or A_2 (1) is below zero."""
    for seed in range(1000):
        f = draw(seed)
        if list(SimilarUnlabeled(prior).risks(f).values())[which] < -0.05:
            return f
    raise AssertionError("no such values among these draws")


def all_points(prior):
    return [draw(), negative_risk(prior, 0), negative_risk(prior, 1)]


@pytest.fixture
def pairs():
    """Thirty points: five similar pairs and twenty unlabeled."""
    y = np.full(30, -1)
    y[3:13] = np.repeat([4, 0, 7, 2, 9], 2)
    return np.random.default_rng(5).normal(size=(30, 3)), y


@each("prior", PRIORS)
@each("correction", CORRECTIONS)
@each("loss", LOSSES)
def test_equals_the_papers_algorithm(make_task, pairs, loss, correction, prior):
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
@each("loss", LOSSES)
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


@each("prior", PRIORS)
@each("correction", CORRECTIONS)
@each("loss", LOSSES)
def test_coefficients_are_derivatives_of_the_terms(loss, correction, prior):
    problem = SimilarUnlabeled(prior, loss, correction)
    for f in all_points(prior):
        c = problem.coefficients(f)
        for source, values in f.items():
            assert c[source].shape == values.shape
            for i in range(len(values)):
                step = np.zeros(len(values))
                step[i] = 1e-6
                up, down = ({**f, source: values + sign * step} for sign in (1, -1))
                slope = (objective(problem.terms(up)) - objective(problem.terms(down))) / 2e-6
                # Central differences of step h: error h^2, and rounding 1e-16 / h.
                assert c[source][i] == pytest.approx(slope, abs=1e-8)


def full_gradient(problem, f):
    return np.concatenate(list(problem.coefficients(f).values()))


@pytest.mark.parametrize("correction", [c for c in CORRECTIONS if c != "identity"])
def test_the_corrections_bias_shrinks_with_the_batch(correction):
    problem = SimilarUnlabeled(0.7, "squared", correction)
    f = {"similar": np.array([0.0, 0.45, -0.45]), "unlabeled": np.array([-1.35, -0.75])}
    bias = [
        np.linalg.norm(naive_problems.mean_gradient(problem, f, size) - full_gradient(problem, f)) for size in (1, 2, 4)
    ]
    assert bias[0] > 0.2
    assert bias[1] < 0.3 * bias[0]
    assert bias[2] < 0.1 * bias[0]


@each("prior", PRIORS)
@each("loss", LOSSES)
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


@pytest.mark.parametrize("problem", [SimilarUnlabeled(0.7), SimilarUnlabeled(0.7, "logistic", "identity")])
def test_there_is_no_quadratic_form_but_of_the_squared_loss_without_correction(problem, pairs):
    assert problem.quadratic(problem.rows(pairs[1]), 30) is None


def test_members_of_pairs_and_unlabeled_points_are_found(pairs):
    rows = SimilarUnlabeled().rows(pairs[1])
    assert rows["similar"].tolist() == list(range(3, 13))
    assert rows["unlabeled"].tolist() == [0, 1, 2, *range(13, 30)]


@each(
    "y, message",
    [
        ([3, 3, 3, -1], "pair id 3 must occur exactly twice, but occurs 3 times"),
        ([3, 3, 5, -1], "pair id 5 must occur exactly twice, but occurs 1 times"),
        ([3, 3, -2, -2, -1], "a pair id must be 0 or more, and -1 marks unlabeled points, got -2"),
        ([-1, -1], "similar-unlabeled learning needs at least one similar pair, got none"),
        ([0, 0, 1, 1], "similar-unlabeled learning needs at least one unlabeled point, got none"),
    ],
)
def test_wrong_pairs_are_refused(y, message):
    with pytest.raises(ProblemError, match=f"^{message}$"):
        SimilarUnlabeled().rows(np.array(y))


@each("prior", [0.5, 0.4995, 0.5009])
def test_a_prior_of_one_half_is_refused_with_the_reason(prior):
    with pytest.raises(ParameterError, match=f"^prior must differ from 1/2 by at least 0.001, got {prior}: .*divides"):
        SimilarUnlabeled(prior)


def test_accuracy_is_of_the_sign():
    score = SimilarUnlabeled().score
    assert score(np.array([1, 1, 0, 0]), np.array([0.2, -0.1, -3.0, 0.0])) == 0.5
    assert np.isnan(score(np.array([1, 0]), np.array([np.nan, 0.0])))
    assert np.isnan(score(np.array([]), np.array([])))


def test_the_twin_is_without_correction():
    assert SimilarUnlabeled(0.3, "logistic").baseline() == SimilarUnlabeled(0.3, "logistic", "identity")
    assert SimilarUnlabeled().bind(np.array([0, 0, -1])) == SimilarUnlabeled()
