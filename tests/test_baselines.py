"""The papers' competitors and everyday peers: rules of all, then each by a second route."""

import inspect
import warnings
from functools import partial

import numpy as np
import pytest
from cases import each, some
from four_estimators import moons_with_few_labels, similar_pairs
from naive_problems import exact_optimum, quadratic
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear, minimize
from scipy.spatial.distance import cdist
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, SVR

from dsgcore.baselines import COMPETITORS, CUU, MPNUAUC, MSAMULT, PNUAUC, SAMULT, SUDH, SUSL, SVOREX, everyday
from dsgcore.baselines.basis import Basis, IllPosedWarning, Linear
from dsgcore.baselines.centred_s3vm import BLS3VM, QNS3VM
from dsgcore.baselines.gradient_s3vm import BGS3VM, FRS3VM
from dsgcore.baselines.pair_risk import pnu_risk, samult_risk
from dsgcore.baselines.s3vm import S3VMLight
from dsgcore.baselines.svorex import middle
from dsgcore.kernels import Gaussian
from dsgcore.model_selection import PNUAUCRisk
from dsgcore.problems.auc import SemiSupervisedAUC
from dsgcore.problems.similar_unlabeled import LOSSES, SimilarUnlabeled

THREE = (SUSL, SUDH, CUU)
# The last setting of those that learn in several ones.
SETTING = {cls: setting for setting, classes in COMPETITORS.items() for cls in classes}


def make(cls, **parameters):
    """Make an estimator; what is not said is small and fixed, where it is a parameter of the method's."""
    known = inspect.signature(cls).parameters
    small = {"random_state": 0, "n_iter": 30} | ({"prior": 0.7} if SETTING[cls] == "similar_unlabeled" else {})
    return cls(**{**{name: value for name, value in small.items() if name in known}, **parameters})


def data(setting, n=80, seed=0):
    """Return points and labels for the setting's methods: pair ids, or two or three classes and -1."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % (3 if setting in ("ordinal", "multiclass") else 2)
    X = rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    return X, np.where(np.arange(n) < n // 2, np.arange(n) // 2 if setting == "similar_unlabeled" else y, -1)


def fit(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IllPosedWarning)
        warnings.filterwarnings("ignore", message="thresholds coincide")
        return model.fit(X, y, **more)


# --- every one


@each("cls", [cls for cls in SETTING if cls.is_supervised])
def test_those_that_learn_from_labels_alone_leave_unlabeled_points_out(cls):
    X, y = data(SETTING[cls])
    few, alone = (fit(make(cls), *given).decision_function(X) for given in ((X, y), (X[y != -1], y[y != -1])))
    assert_array_equal(few, alone)


SMALL_PAIRS = {"sigma": 0.1, "lam": 0.1, "centers": 100, "random_state": 0}
LEARN = [
    # Always to say the larger class is right for 70 %; the classes' means are 4.2 standard deviations apart.
    *((cls(prior=p, **SMALL_PAIRS), "pairs", p, 0.9) for cls in THREE for p in (0.7, 0.3)),
    (SUSL(**SMALL_PAIRS), "pairs", 0.9, 0.9),  # which estimates the prior
    *((cls(sigma=0.1, lam=0.1), "two classes", 0.88, 0.8) for cls in (PNUAUC, SAMULT)),  # the best AUC is 0.93
    *((cls(sigma=2.0, lam=0.01), "rings", 0.9, 0.6) for cls in (MPNUAUC, MSAMULT)),  # the largest class has 45 %
    (SVOREX(sigma=2.0, C=10.0), "four rings", 0.95, 0.7),
    *((make(cls, sigma=2.0), "moons", 0.0, 0.85) for cls in (S3VMLight, BLS3VM, BGS3VM, FRS3VM, QNS3VM)),
]


@each("model, points, wanted, least", LEARN)
def test_each_learns_what_it_is_for(model, points, wanted, least):
    if points == "pairs":
        X, y, pairs = pairs_sample(wanted, n_pairs=150, n_unlabeled=400)
        assert model.fit(X, pairs=pairs).score(X, y) > least
        assert model.prior_ == pytest.approx(wanted, abs=0.2)
        return
    samples = {"two classes": sample, "rings": three_rings, "four rings": four_rings}
    X, y, few = samples[points]() if points in samples else moons_with_few_labels(160, 0.2, 30)
    hidden = few == -1
    assert model.fit(X, few).score(X[hidden], y[hidden]) > least
    if points == "two classes":
        assert roc_auc_score(y, model.decision_function(X)) > wanted
        model.fit(X, y)  # labeled points serve as the unlabeled sample
        assert roc_auc_score(y, model.decision_function(X)) > 0.9
    elif points.endswith("rings"):
        assert model.mean_auc(X[hidden], y[hidden]) > wanted
        assert (np.diff(model.thresholds_) > 0).all()
        assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


# --- models that are linear in kernels at centres


@each("has_bias", [True, False])
@each("kernel", [Gaussian(0.5), Linear(), None])
def test_models_are_evaluated_in_pieces(kernel, has_bias):
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(50, 3)), rng.normal(size=(7, 3))
    basis = Basis(kernel, centers, has_bias)
    coef = rng.normal(size=(basis.size, 2))
    K = X if kernel is None else kernel.matrix(X, centers)
    wanted = np.hstack([K, np.ones((50, 1))][: 1 + has_bias]) @ coef
    assert_allclose(basis.model(coef).evaluate(X), wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dsgcore.baselines.basis.MAX_VALUES", 20)
        assert_allclose(basis.model(coef[:, 0]).evaluate(X), wanted[:, 0])


# --- scikit-learn's own methods


def clusters(k, n=150, d=3, n_labeled=60, seed=0):
    """Points of k classes, their codes, and the codes with -1 for most."""
    y = np.arange(n) % k
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[:, 0] += 1.2 * y
    return X, y, np.where(np.arange(n) < n_labeled, y, -1)


def theirs(name, X):
    """The estimator that people would write, and whether it gets the labeled points alone."""
    centers = Nystroem(gamma=1.0 / (X.shape[1] * X.var()), n_components=60, random_state=0)
    return {
        "SVC": (SVC(break_ties=True), True),
        "LogisticRegression": (LogisticRegression(), True),
        "Nystroem": (make_pipeline(centers, LogisticRegression()), True),
        "SelfTraining": (SelfTrainingClassifier(CalibratedClassifierCV(SVC(), ensemble=False)), False),
        "SpreadingKNN": (LabelSpreading(kernel="knn"), False),
        "SpreadingRBF": (LabelSpreading(), False),
        "Neighbors": (KNeighborsClassifier(), True),
        "RandomForest": (RandomForestClassifier(random_state=0), True),
        "Boosting": (HistGradientBoostingClassifier(min_samples_leaf=12, random_state=0), True),  # 60 labels
    }[name]


CLASSIFIERS = [cls for cls in COMPETITORS["s3vm"] if cls.is_everyday]
EVERYDAY_ORDINAL = [cls for cls in COMPETITORS["ordinal"] if cls.is_everyday]


@each("k", some([4, 2], 1, 2))
@each("cls", CLASSIFIERS)
def test_with_nothing_said_each_predicts_as_scikit_learns_own(cls, k):
    X, _, few = clusters(k)
    labeled, name = few >= 0, cls.__name__.removeprefix("Everyday")
    machine, is_alone = theirs(name, X[labeled])
    fit(machine, *((X[labeled], few[labeled]) if is_alone else (X, few)))
    model = fit(cls(**({"random_state": 0} if "random_state" in inspect.signature(cls).parameters else {})), X, few)
    other = np.random.default_rng(1).normal(size=(200, 3)) + 1.0
    assert_array_equal(model.predict(other), machine.predict(other))
    values = model.decision_function(other)
    assert values.shape == ((200,) if k == 2 else (200, k))
    if hasattr(machine, "decision_function") and name != "SelfTraining":
        assert_allclose(values, machine.decision_function(other))


def test_the_regression_on_the_classes_is_scikit_learns_and_cut_in_the_middles():
    X, _, few = clusters(4)
    model, machine = everyday.EverydaySVR().fit(X, few), SVR().fit(X[few >= 0], few[few >= 0])
    assert_allclose(model.ranking_function(X), machine.predict(X))
    assert_array_equal(model.thresholds_, [0.5, 1.5, 2.5])
    assert_array_equal(model.predict(X), np.clip(np.floor(machine.predict(X) + 0.5), 0, 3))


@each("cls", EVERYDAY_ORDINAL)
@each("k", [2, 3, 5])
def test_an_everyday_peer_of_ordered_classes_ranks_later_ones_higher(cls, k):
    X, y, few = clusters(k)
    model = make(cls).fit(X, few)
    assert model.mean_auc(X, y) > 0.7
    assert (np.diff(model.thresholds_) > 0).all()
    assert cls is everyday.EverydayOrdinalSVC or model.thresholds_.tolist() == [i + 0.5 for i in range(k - 1)]


# --- similar pairs

pairs_sample = partial(similar_pairs, n_pairs=60, n_unlabeled=150)


def test_points_that_nothing_reaches_get_the_labels_shares():
    X, y, _ = clusters(3)
    few = np.where(np.arange(len(y)) < 30, np.where(y == 2, 1, y), -1)  # twice as many of the second class
    model = fit(everyday.EverydaySpreadingRBF(sigma=20.0), X, few)
    assert_allclose(model.decision_function(np.full((2, 3), 1e6)), 1 / 3)
    assert_array_equal(model.predict(np.full((2, 3), 1e6)), [1, 1])


def su_objective(model, X, pairs, loss, penalties=1.0):
    """J by the definition of the risk, with half a ridge, as a function of the weights."""
    p, value = model.prior_, LOSSES[loss].value
    phi_s, phi_u = (model.model_.basis.features(points) for points in (pairs.reshape(-1, X.shape[1]), X))

    def J(w):
        f_s, f_u = phi_s @ w, phi_u @ w
        of_similar = (p**2 + (1 - p) ** 2) * np.mean(value(f_s) - value(-f_s))
        risk = (of_similar + np.mean(p * value(-f_u) - (1 - p) * value(f_u))) / (2 * p - 1)
        return risk + 0.5 * model.lam * w @ (penalties * w if np.ndim(penalties) < 2 else penalties @ w)

    return J


def assert_flat(J, w, *, atol=1e-9):
    """Fail unless J, which is quadratic, has its minimum at w: then central differences are exact, except for rounding."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        step = 1e-2 * rng.normal(size=len(w))
        assert abs(J(w + step) - J(w - step)) < atol
        assert J(w + step) > J(w)


@each("prior", [0.7, 0.3])
@each("kernel", ["gaussian", "lm", "linear"])
def test_su_sl_has_no_gradient_at_its_solution(prior, kernel):
    X, _, pairs = pairs_sample(prior)
    model = SUSL(kernel, prior=prior, sigma=0.5, lam=0.05, centers=40, random_state=0).fit(X, pairs=pairs)
    J = su_objective(model, X, pairs, "squared")
    assert model.objective_ == pytest.approx(J(model.model_.coef), rel=1e-9)
    assert_flat(J, model.model_.coef)


@each("penalty", ["half euclidean", "half rkhs"])
@each("prior", [0.7, 0.35])
def test_su_dh_is_certified_by_its_dual_and_no_step_leads_down(prior, penalty):
    X, _, pairs = pairs_sample(prior, n_pairs=20, n_unlabeled=50)
    model = SUDH(prior=prior, sigma=0.5, lam=0.1, penalty=penalty, tol=1e-9).fit(X, pairs=pairs)
    w, centers = model.model_.coef, model.model_.basis.centers
    penalties = np.eye(len(w))
    if penalty == "half rkhs":
        penalties[:-1, :-1] = Gaussian(0.5).matrix(centers, centers)
    J = su_objective(model, X, pairs, "double hinge", penalties)
    assert model.objective_ == pytest.approx(J(w), rel=1e-6)
    assert 0.0 <= model.gap_ + 1e-12 < 1e-8
    assert model.converged_
    assert model.objectives_[-1] == pytest.approx(model.objective_)
    assert ((model.dual_coef_ >= 0.0) & (model.dual_coef_ <= 1.0)).all()
    rng = np.random.default_rng(1)
    assert all(J(w + step) >= J(w) - 1e-8 for size in (1e-1, 1e-3) for step in size * rng.normal(size=(20, len(w))))
    # The slopes equal those of the loss at all points with a single slope.
    f = model.decision_function(X)
    slope = np.where(f < -1.0, 0.0, np.where(f < 1.0, 0.5, 1.0))
    is_smooth = np.minimum(np.abs(f - 1.0), np.abs(f + 1.0)) > 1e-2
    assert_allclose(model.dual_coef_[is_smooth], slope[is_smooth], atol=1e-4)


def test_cuu_without_correction_goes_where_su_sl_is():
    X, _, pairs = pairs_sample(0.7)
    settings = {"prior": 0.7, "sigma": 0.2, "lam": 0.3, "centers": 30, "random_state": 0}
    exact = SUSL(**settings).fit(X, pairs=pairs)
    model = CUU(correction="identity", batch_size=4000, n_iter=250, **settings).fit(X, pairs=pairs)
    w, J = model.model_.coef, su_objective(exact, X, pairs, "squared")
    # Mini-batches leave some noise; without them it would be a thousandth.
    assert exact.objective_ <= J(w) < exact.objective_ + 0.02 * (J(0.0 * w) - exact.objective_)
    assert len(model.objectives_) == 250
    assert model.objectives_[0] == pytest.approx(0.25)


# --- pairwise risks


def sample(n=200, n_labeled=40, seed=0):
    """Points of two overlapping classes, 60 % positive, and their labels, most of them hidden."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.6).astype(int)
    y[:2] = 0, 1
    return rng.normal(size=(n, 2)) + 1.5 * y[:, None], y, np.where(np.arange(n) < n_labeled, y, -1)


def three_rings(n=240, n_labeled=60, seed=0):
    """Points in three rings, from the centre outwards, and their labels, most of them hidden."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 2))
    y = np.digitize(np.linalg.norm(X, axis=1), [0.5, 0.9])
    return X, y, np.where(np.arange(n) < n_labeled, y, -1)


def pair_objective(model, risk, X, few):
    """J as a function of the weights."""
    phi = model.model_.basis.features(X)
    sets = {"positive": few == 1, "negative": few == 0, "unlabeled": few == -1}
    lam = model.lam * {"euclidean": 1.0, "half euclidean": 0.5}[model.penalty]

    def objective(theta):
        f = {name: phi[own] @ theta for name, own in sets.items()}
        losses = (w * np.mean((1.0 - (f[a][:, None] - f[b])) ** 2) for (a, b), w in risk.weights.items())
        return risk.constant + sum(losses) + lam * theta @ theta

    return objective


CLOSED_FORMS = [
    (SAMULT(gamma=0.3), samult_risk(0.3)),
    (SAMULT("lm", gamma=1.0), samult_risk(1.0)),
    (PNUAUC("linear", eta=0.6, prior=0.6), pnu_risk(0.6, 0.6)),
    (PNUAUC(eta=0.0, prior=0.5), pnu_risk(0.0, 0.5)),
    (PNUAUC(eta=-0.6, prior=0.6), pnu_risk(-0.6, 0.6)),
]


@each("penalty", ["euclidean", "half euclidean"])
@each("model, risk", CLOSED_FORMS)
def test_there_is_no_gradient_at_the_solution(model, risk, penalty):
    X, _, few = sample()
    model.set_params(penalty=penalty, sigma=0.5, lam=0.5, centers=30, random_state=0).fit(X, few)
    J = pair_objective(model, risk, X, few)
    assert model.objective_ == pytest.approx(J(model.model_.coef), rel=1e-9)
    assert_flat(J, model.model_.coef, atol=1e-10)


def of_pairs_and_points():
    X, _, pairs = pairs_sample(0.7)
    return np.concatenate([pairs.reshape(-1, 2), X]), np.concatenate([np.arange(120) // 2, np.full(150, -1)])


POINTS, _, SEEN = sample()
OF_PAIRS = {"gamma": 0.4, "sigma": 0.5, "lam": 0.05}
IN_THE_KERNELS_NORM = [
    # A bias that is punished is a constant in the kernel.
    (SUSL(prior=0.7, sigma=0.5, lam=0.01), SimilarUnlabeled(0.7, "squared", "identity"), *of_pairs_and_points(), 1.0),
    (SAMULT(**OF_PAIRS), SemiSupervisedAUC(gamma=0.4), POINTS, SEEN, 0.0),
    (SAMULT(**OF_PAIRS, centers=POINTS[::-1]), SemiSupervisedAUC(gamma=0.4), POINTS, SEEN, 0.0),
]


@each("model, problem, X, y, constant", IN_THE_KERNELS_NORM)
def test_in_the_kernels_norm_a_closed_form_is_the_exact_optimum_of_the_papers_problem(model, problem, X, y, constant):
    problem = problem.bind(y)
    Q, l = quadratic(problem, problem.rows(y), len(X))
    K = Gaussian(0.5).matrix(X, X) + constant
    f = K @ exact_optimum(K, Q, l, model.lam)
    model.set_params(penalty="half rkhs").fit(X, y)
    # The kernel matrix is factored up to a share of 1e-14, whose root shows in f.
    assert_allclose(model.model_.evaluate(X), f, rtol=0, atol=1e-6 * np.abs(f).max())


def test_the_models_of_ordered_classes_are_the_binary_ones():
    X, _, few = three_rings()
    settings = {"sigma": 2.0, "lam": 0.1, "random_state": 0}
    cuts = [np.where(few == -1, -1, (few >= j).astype(int)) for j in (1, 2)]
    samult = [SAMULT(gamma=gamma, **settings).fit(X, cut) for gamma, cut in zip((0.2, 0.7), cuts, strict=True)]
    pnu_auc = [PNUAUC(eta=-0.3, **settings).fit(X, cut) for cut in cuts]
    first, second = MSAMULT(gamma=[0.2, 0.7], **settings).fit(X, few), MPNUAUC(eta=-0.3, **settings).fit(X, few)
    for ordinal, binary in ((first, samult), (second, pnu_auc)):
        f = np.column_stack([model.model_.evaluate(X) for model in binary])
        assert_allclose(ordinal.cut_functions(X), f, rtol=1e-9)
        assert_allclose(ordinal.ranking_function(X), f.mean(axis=1), rtol=1e-9)
        assert_allclose(ordinal.objectives_, [model.objective_ for model in binary])
    assert_allclose(second.priors_, [model.prior_ for model in pnu_auc])


def test_the_score_of_pnu_auc_is_its_zero_one_risk():
    X, _, few = sample()
    score = PNUAUCRisk(20, 10)
    assert score.weight(0.1, 0.6) == pytest.approx(0.16 * 19 / (0.16 * 19 + 0.36 * 10))
    assert score.weight(-0.1, 0.6) == pytest.approx(-0.36 * 9 / (0.16 * 20 + 0.36 * 9))
    # On points of known class the part of R_PU that pairs of positives make is subtracted: what is left is R_PN.
    held_out, y, hidden = sample(n=4000, n_labeled=500, seed=1)
    for eta in (0.5, -0.5):
        model = PNUAUC(eta=eta, prior=0.6, sigma=0.3, lam=0.1).fit(X, few)
        loss = 1.0 - roc_auc_score(y, model.decision_function(held_out))
        assert -score(model, held_out, hidden) == pytest.approx(loss, abs=0.05)


# --- SVOREX


def four_rings():
    """Points in rings with blurred edges, from the centre outwards, and their labels, a third of them hidden."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 2))
    y = np.digitize(np.linalg.norm(X, axis=1) + 0.05 * rng.normal(size=150), [0.5, 0.8, 1.0])
    return X, y, np.where(np.arange(150) < 100, y, -1)


def ordinal_objective(K, y, coef, b, C):
    """The paper's, with thresholds b between neighbouring classes 0 .. k - 1."""
    f = K @ coef
    below = [np.maximum(0, 1 + f[y == j] - b[j]).sum() for j in range(len(b))]
    above = [np.maximum(0, 1 - f[y == j + 1] + b[j]).sum() for j in range(len(b))]
    return 0.5 * coef @ f + C * (sum(below) + sum(above))


@each("kernel, C", [("gaussian", 0.1), ("gaussian", 5.0), ("linear", 0.1)])
def test_the_dual_says_that_the_objective_is_the_lowest(kernel, C):
    X, y, _ = four_rings()
    model = SVOREX(kernel, sigma=2.0, C=C, tol=1e-6).fit(X, y)
    K = X @ X.T / 2 if kernel == "linear" else np.exp(-2.0 * cdist(X, X, "sqeuclidean"))
    K += 1e-3 * np.eye(len(X))
    primal = ordinal_objective(K, y, model.dual_coef_, model.thresholds_, C)
    assert model.objectives_[-1] == pytest.approx(primal, rel=1e-5)
    # The dual bounds it from below: max sum(alpha) - gamma'K gamma / 2 with a balance at each threshold.
    assert primal - dual_bound(K, y, model, C) < 2e-4 * primal
    assert (np.diff(model.thresholds_) >= 0).all()
    assert model.converged_


def dual_bound(K, y, model, C):
    """The dual's value at multipliers that have the model's coefficients, made feasible, and are best otherwise."""
    f, b, n_cuts = K @ model.dual_coef_, model.thresholds_, len(model.thresholds_)
    pairs = [(i, j, sign) for j in range(n_cuts) for sign, c in ((-1, j), (1, j + 1)) for i in np.flatnonzero(y == c)]
    rows, cuts, signs = (np.array(part) for part in zip(*pairs, strict=True))
    margin = signs * (f[rows] - b[cuts])
    low, high = np.where(margin < 1 - 1e-3, C, 0.0), np.where(margin > 1 + 1e-3, 0.0, C)
    is_free = low < high
    to_rows, to_cuts = np.zeros((len(y), len(rows))), np.zeros((n_cuts, len(rows)))
    to_rows[rows, np.arange(len(rows))] = to_cuts[cuts, np.arange(len(rows))] = signs
    # Free multipliers by bounded least squares: the coefficients, and a balance at every threshold.
    alpha = np.where(is_free, 0.0, low)
    A, wanted = np.vstack([to_rows, 10.0 * to_cuts]), np.concatenate([model.dual_coef_, np.zeros(n_cuts)])
    alpha[is_free] = lsq_linear(A[:, is_free], wanted - A @ alpha, bounds=(0.0, C), method="bvls").x
    unbalanced = np.abs(to_cuts @ alpha)
    assert unbalanced.max() < 1e-3 * C
    gamma = to_rows @ alpha
    # The remaining imbalance lets thresholds of at most this size lower the objective by as much.
    return alpha.sum() - 0.5 * gamma @ K @ gamma - unbalanced @ np.abs(b)


@each("C", [0.1, 1.0])
def test_thresholds_out_of_order_are_held_together(C):
    # Of the middle class there are two points, and they lie where the order says they should not.
    X = np.concatenate([np.linspace(0, 1, 20), np.linspace(1, 2, 20), [2.5, -0.5]])[:, None]
    y = np.repeat([0, 2, 1], [20, 20, 2])
    model = SVOREX("linear", C=C, jitter=0.0, tol=1e-6).fit(X, y)
    f = model.ranking_function(X)
    assert middle(f[y == 0], f[y == 1]) > middle(f[y == 1], f[y == 2])  # where they would stand without each other
    assert model.thresholds_[0] == pytest.approx(model.thresholds_[1], abs=1e-3)
    assert model.thresholds_[0] <= model.thresholds_[1]

    def of_three_numbers(z):  # the linear function's slope, a threshold, and how far the other is above it
        return ordinal_objective(X @ X.T, y, z[0] * X[:, 0] / (X[:, 0] @ X[:, 0]), z[1] + np.array([0.0, abs(z[2])]), C)

    starts = [(w, w, gap) for w in (0.5, 2.0) for gap in (0.0, 0.5)]
    best = min(minimize(of_three_numbers, start, method="Nelder-Mead", options={"xatol": 1e-7}).fun for start in starts)
    ours = ordinal_objective(X @ X.T, y, model.dual_coef_, model.thresholds_, C)
    assert ours == pytest.approx(best, rel=1e-4)
