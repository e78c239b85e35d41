import warnings

import numpy as np
import oracle_files
import pytest
from cases import each
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from dsgcore.baselines.design import IllPosedWarning
from dsgcore.baselines.ordinal_auc import MPNUAUC, MSAMULT
from dsgcore.baselines.pair_risk import PairRisk, pnu_risk, samult_risk
from dsgcore.baselines.pnu_auc import PNUAUC, SAMULT
from dsgcore.kernels import Gaussian
from dsgcore.model_selection import PNUAUCRisk
from dsgcore.prior import energy_class_prior
from dsgcore.problems.auc import SemiSupervisedAUC
from dsgcore.solver.diagnostics import exact_optimum

BINARY = (PNUAUC, SAMULT)
ORDINAL = (MPNUAUC, MSAMULT)


def sample(n=200, n_labeled=40, seed=0):
    """Points of two overlapping classes, 60 % positive, and their labels, most of them hidden."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.6).astype(int)
    y[:2] = 0, 1
    return rng.normal(size=(n, 2)) + 1.5 * y[:, None], y, np.where(np.arange(n) < n_labeled, y, -1)


def rings(n=240, n_labeled=60, seed=0):
    """Points in three rings, from the centre outwards, and their labels, most of them hidden."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    y = np.digitize(np.linalg.norm(X, axis=1), [0.5, 0.9])
    return X, y, np.where(np.arange(n) < n_labeled, y, -1)


def codes(y):
    """Labels 1, -1 and 0 for unlabeled become 1, 0, -1."""
    return np.where(y == 0, -1, (y == 1).astype(int))


def kernel_of(d):
    if d.get("kernel", "gauss") == "gauss":
        return {"kernel": "gaussian", "sigma": 1.0 / (2.0 * d["sigma"] ** 2), "centers": d["centers"]}
    return {"kernel": "lm"} if d["kernel"] == "lm" else {"kernel": "linear", "centers": d["centers"]}


CLOSED_FORMS = [path for prefix in ("pnu_auc_g", "pnu_auc_l", "samult_comp") for path in oracle_files.files(prefix)]


@pytest.mark.parametrize("path", CLOSED_FORMS)
def test_pnu_auc_equals_its_authors_program(path, record_property):
    d = oracle_files.load(path)
    model = PNUAUC(eta=d["eta"], prior=d["prior"], lam=d["lam"], **kernel_of(d)).fit(d["x"], codes(d["y"]))
    f = model.model_.evaluate(d["x_test"])
    residuals = {
        "f_test": np.abs(f - d["f_test"]).max(),
        "f_train": np.abs(model.model_.evaluate(d["x"]) - d["f_train"]).max(),
        "theta": np.abs(model.model_.coef - d["theta"]).max() / np.abs(d["theta"]).max(),
        "auc": abs(roc_auc_score(d["y_test"] == 1, f) - d["auc_test"]),
    }
    oracle_files.report(record_property, path, **residuals, condition=model.condition_)
    assert max(residuals.values()) < 1e-8


@pytest.mark.parametrize("path", oracle_files.files("pnu_auc_cv_"))
def test_pnu_auc_is_chosen_as_by_its_authors_program(path, record_property):
    d = oracle_files.load(path)
    folds = np.concatenate([d["fold_p"], d["fold_n"], d["fold_u"]]).astype(int)
    y = codes(d["y"])
    # sigma runs fastest, and the first of equal risks counts
    grid = {"eta": d["eta_list"], "lam": d["lambda_list"], "sigma": 1.0 / (2.0 * d["sigma_list"] ** 2)}
    search = GridSearchCV(
        PNUAUC(prior=d["prior"], centers=d["centers"]),
        grid,
        scoring=PNUAUCRisk(int((y == 1).sum()), int((y == 0).sum())),
        cv=PredefinedSplit(folds),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IllPosedWarning)
        search.fit(d["x"], y)
    risks = -search.cv_results_["mean_test_score"].reshape([len(values) for values in grid.values()]).transpose(2, 1, 0)
    f = search.best_estimator_.model_.evaluate(d["x_test"])
    residuals = {"table": np.abs(risks - d["score_table"]).max(), "f_test": np.abs(f - d["f_test"]).max()}
    oracle_files.report(record_property, path, **residuals)
    assert max(residuals.values()) < 1e-8
    eta, lam, sigma = np.unravel_index(search.best_index_, risks.T.shape)
    assert (sigma, lam, eta) == tuple(d["selected"])


@pytest.mark.parametrize("path", oracle_files.files("samult_derived_"))
def test_samult_equals_the_closed_form_in_each_norm(path, record_property):
    d = oracle_files.load(path)
    wanted = {"euclidean": "f_test", "half euclidean": "f_test_lam_half", "half rkhs": "f_test_rkhs_half"}
    models, residuals = {}, {}
    for penalty, name in wanted.items():
        model = SAMULT(gamma=d["gamma"], lam=d["lam"], penalty=penalty, **kernel_of(d)).fit(d["x"], codes(d["y"]))
        models[penalty], residuals[penalty] = model, np.abs(model.model_.evaluate(d["x_test"]) - d[name]).max()
    residuals["objective"] = abs(models["euclidean"].objective_ - d["objective"])
    residuals["objective_rkhs_half"] = abs(models["half rkhs"].objective_ - d["objective_rkhs_half"])
    oracle_files.report(record_property, path, **residuals)
    assert residuals.pop("half rkhs") < 1e-6
    assert max(residuals.values()) < 1e-8


# --- Each by a second route.


def risk_by_pairs(weights, constant, f):
    """The sum over all pairs, one by one."""
    losses = {(A, B): np.mean([(1.0 - (a - b)) ** 2 for a in f[A] for b in f[B]]) for A, B in weights}
    return constant + sum(w * losses[pair] for pair, w in weights.items())


@each("risk", [pnu_risk(0.4, 0.3), pnu_risk(-0.7, 0.3), pnu_risk(0.0, 0.5), samult_risk(0.3)])
def test_the_pairwise_risks_are_sums_over_pairs(risk):
    rng = np.random.default_rng(0)
    f = {name: rng.normal(size=n) for name, n in (("positive", 3), ("negative", 4), ("unlabeled", 5))}
    assert risk.value(f) == pytest.approx(risk_by_pairs(risk.weights, risk.constant, f), rel=1e-12)
    assert risk.value({name: 0.0 * values for name, values in f.items()}) == pytest.approx(risk.at_zero())
    assert isinstance(risk, PairRisk)


def objective(model, risk, X, few, theta):
    phi = model.model_.basis.features(X)
    sets = {"positive": few == 1, "negative": few == 0, "unlabeled": few == -1}
    factor = {"euclidean": 1.0, "half euclidean": 0.5}[model.penalty]
    return risk.value({name: phi[own] @ theta for name, own in sets.items()}) + model.lam * factor * theta @ theta


@each("penalty", ["euclidean", "half euclidean"])
@each(
    "model, risk",
    [
        (SAMULT(gamma=0.3), samult_risk(0.3)),
        (SAMULT("lm", gamma=1.0), samult_risk(1.0)),
        (PNUAUC("linear", eta=0.6, prior=0.6), pnu_risk(0.6, 0.6)),
        (PNUAUC(eta=-0.6, prior=0.6), pnu_risk(-0.6, 0.6)),
    ],
)
def test_there_is_no_gradient_at_the_solution(model, risk, penalty):
    X, _, few = sample()
    model.set_params(penalty=penalty, sigma=0.5, lam=0.5, centers=30, random_state=0).fit(X, few)
    theta = model.model_.coef
    at_solution = objective(model, risk, X, few, theta)
    assert model.objective_ == pytest.approx(at_solution, rel=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction = 1e-2 * rng.normal(size=len(theta))
        above, below = (objective(model, risk, X, few, theta + sign * direction) for sign in (1.0, -1.0))
        # J is quadratic: central differences are exact, except for rounding.
        assert abs(above - below) < 1e-10
        assert min(above, below) > at_solution


def test_samult_in_the_kernels_norm_is_where_qsg_s2auc_goes():
    X, _, few = sample()
    problem = SemiSupervisedAUC(gamma=0.4).bind(few)
    Q, l = problem.quadratic(problem.rows(few), len(X))
    K = Gaussian(0.5).matrix(X, X)
    f = K @ exact_optimum(K, Q, l, 0.05)
    model = SAMULT(gamma=0.4, sigma=0.5, lam=0.05, penalty="half rkhs").fit(X, few)
    # The kernel matrix is factored up to a share of 1e-14, whose root shows in f.
    np.testing.assert_allclose(model.model_.evaluate(X), f, rtol=0, atol=1e-6 * np.abs(f).max())
    subset = SAMULT(gamma=0.4, sigma=0.5, lam=0.05, penalty="half rkhs", centers=X).fit(X[::-1], few[::-1])
    np.testing.assert_allclose(subset.model_.evaluate(X), f, rtol=0, atol=1e-6 * np.abs(f).max())


def test_the_models_of_ordered_classes_are_the_binary_ones():
    X, _, few = rings()
    settings = {"sigma": 2.0, "lam": 0.1, "random_state": 0}
    cuts = [np.where(few == -1, -1, (few >= j).astype(int)) for j in (1, 2)]
    ordinal = MSAMULT(gamma=[0.2, 0.7], **settings).fit(X, few)
    binary = [SAMULT(gamma=gamma, **settings).fit(X, cut) for gamma, cut in zip((0.2, 0.7), cuts, strict=True)]
    f = np.column_stack([model.model_.evaluate(X) for model in binary])
    np.testing.assert_allclose(ordinal.cut_functions(X), f, rtol=1e-9)
    np.testing.assert_allclose(ordinal.ranking_function(X), f.mean(axis=1), rtol=1e-9)
    np.testing.assert_allclose(ordinal.objectives_, [model.objective_ for model in binary])
    ordinal = MPNUAUC(eta=-0.3, **settings).fit(X, few)
    binary = [PNUAUC(eta=-0.3, **settings).fit(X, cut) for cut in cuts]
    np.testing.assert_allclose(ordinal.priors_, [model.prior_ for model in binary])
    f = np.column_stack([model.model_.evaluate(X) for model in binary])
    np.testing.assert_allclose(ordinal.cut_functions(X), f, rtol=1e-9)


@each("cls", BINARY)
def test_ranks_well(cls):
    X, y, few = sample()
    model = cls(sigma=0.1, lam=0.1).fit(X, few)
    assert roc_auc_score(y, model.decision_function(X)) > 0.88  # the best possible is 0.93
    assert model.score(X, y) > 0.8
    everything = cls(sigma=0.1, lam=0.1).fit(X, y)  # labeled points serve as the unlabeled sample
    assert roc_auc_score(y, everything.decision_function(X)) > 0.9


@each("cls", ORDINAL)
def test_ordered_classes_are_ranked_and_cut(cls):
    X, y, few = rings()
    model = cls(sigma=2.0, lam=0.01).fit(X, few)
    assert model.mean_auc(X, y) > 0.9
    assert model.score(X, y) > 0.6  # the largest class has 45 %
    assert (np.diff(model.thresholds_) > 0).all()
    assert model.decision_function(X).argmax(axis=1).tolist() == model.predict(X).tolist()


def test_pnu_auc_estimates_the_prior_by_energy_distance():
    X, y, few = sample(n=600, n_labeled=100)
    model = PNUAUC(lam=0.1).fit(X, few)
    assert model.prior_ == energy_class_prior(X[few == 1], X[few == 0], X[few == -1])
    assert abs(model.prior_ - y.mean()) < 0.1
    same = PNUAUC(lam=0.1).fit(np.zeros((8, 2)) + 1.0, [0, 0, 0, 1, 1, -1, -1, -1])  # no distance: the labels' share
    assert same.prior_ == 0.4


def test_an_indefinite_system_is_solved_as_it_stands_with_a_warning():
    X, _, few = sample()
    said_of_it = r"^PNUAUC: the system is indefinite: .* no minimum; a larger lam helps$"
    with pytest.warns(IllPosedWarning, match=said_of_it) as said:
        model = PNUAUC(eta=1.0, prior=0.9, sigma=20.0, lam=1e-4).fit(X, few)
    assert said[0].filename == __file__  # where fit is called
    theta, risk = model.model_.coef, pnu_risk(1.0, 0.9)
    direction = 1e-2 * np.random.default_rng(1).normal(size=len(theta))
    above, below = (objective(model, risk, X, few, theta + sign * direction) for sign in (1.0, -1.0))
    assert abs(above - below) < 1e-8


def test_a_singular_system_is_solved_by_least_squares_with_a_warning():
    X, y, few = sample()
    X = np.column_stack([X, X[:, 0]])  # one column twice
    said = r"^SAMULT: the system is singular \(condition .*\) and was solved by least .*$"
    with pytest.warns(IllPosedWarning, match=said):
        model = SAMULT("lm", lam=0.0).fit(X, few)
    assert roc_auc_score(y, model.decision_function(X)) > 0.9
    assert model.model_.coef[0] == pytest.approx(model.model_.coef[2])  # the shortest solution shares the weight


@each(
    "model, said",
    [
        (PNUAUC(prior=1.0, eta=0.5), "prior must be below 1 with eta = 0.5, got 1"),
        (PNUAUC(prior=0.0, eta=-0.5), "prior must be above 0 with eta = -0.5, got 0"),
        (MSAMULT(gamma=[0.1, 0.2]), "gamma must be one number or 1, one less than there are classes, got 2"),
        (MSAMULT(gamma=[0.1, 2.0]), "gamma must be a number between 0 and 1, or a list of such numbers, got 2.0"),
        (MPNUAUC(prior="guess"), "prior must be a number between 0 and 1, or a list .*, or 'estimate', got 'guess'"),
    ],
)
def test_bad_parameters_get_one_sentence(model, said):
    X, _, few = sample()
    with pytest.raises(ValueError, match=f"^{said}$"):
        model.fit(X, few)


# --- PNU-AUC's own choice.


def test_the_score_of_pnu_auc_is_its_zero_one_risk():
    X, _, few = sample()
    model = PNUAUC(eta=0.5, prior=0.6, sigma=0.3, lam=0.1).fit(X, few)
    score = PNUAUCRisk(20, 10)
    assert score.weight(0.1, 0.6) == pytest.approx(0.16 * 19 / (0.16 * 19 + 0.36 * 10))
    assert score.weight(-0.1, 0.6) == pytest.approx(-0.36 * 9 / (0.16 * 20 + 0.36 * 9))
    # On points of known class the part of R_PU that pairs of positives make is subtracted: what is left is R_PN.
    held_out, hidden = sample(n=4000, n_labeled=500, seed=1)[::2]
    loss = 1.0 - roc_auc_score(sample(n=4000, seed=1)[1], model.decision_function(held_out))
    assert -score(model, held_out, hidden) == pytest.approx(loss, abs=0.05)
    model.set_params(eta=-0.5)
    assert -score(model, held_out, hidden) == pytest.approx(loss, abs=0.05)
