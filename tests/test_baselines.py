"""The papers' competitors and everyday peers: rules of all, then each against its authors' program or a second route."""

import inspect
import itertools
import math
import pickle
import re
import warnings
from dataclasses import FrozenInstanceError
from functools import cache, partial

import numpy as np
import oracle_files
import pytest
from cases import each, some
from data_makers import similar_pairs
from four_estimators import moons_with_few_labels
from naive_problems import exact_optimum, quadratic
from scipy.optimize import lsq_linear, minimize
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, SVR

from dsgcore.baselines import (
    BGS3VM,
    BLS3VM,
    COMPETITORS,
    CUU,
    FRS3VM,
    MPNUAUC,
    MSAMULT,
    PNUAUC,
    QNS3VM,
    SAMULT,
    SUDH,
    SUSL,
    SVOREX,
    Baseline,
    EverydayBoosting,
    EverydayLogisticRegression,
    EverydayNeighbors,
    EverydayNystroem,
    EverydayOrdinalBoosting,
    EverydayOrdinalForest,
    EverydayOrdinalSVC,
    EverydayRandomForest,
    EverydaySelfTraining,
    EverydaySpreadingKNN,
    EverydaySpreadingRBF,
    EverydaySVC,
    EverydaySVR,
    Progress,
    S3VMLight,
)
from dsgcore.baselines.basis import (
    CENTERS,
    Basis,
    BasisModel,
    IllPosedWarning,
    Linear,
    choose_centers,
    make_basis,
    solve_symmetric,
)
from dsgcore.baselines.pair_risk import pnu_risk, samult_risk
from dsgcore.baselines.svorex import middle
from dsgcore.core.parameters import Parameter, ParameterError
from dsgcore.experiments import default_spec, load_split
from dsgcore.experiments.rivals import free_parameters
from dsgcore.experiments.settings import SETTINGS
from dsgcore.kernels import KERNELS, Gaussian
from dsgcore.model_selection import PNUAUCRisk
from dsgcore.prior import energy_class_prior
from dsgcore.problems.auc import SemiSupervisedAUC
from dsgcore.problems.similar_unlabeled import CORRECTIONS, LOSSES, SimilarUnlabeled

ALL = [(setting, cls) for setting, classes in COMPETITORS.items() for cls in classes]
OWN = (SUSL, SUDH, CUU, PNUAUC, SAMULT, MPNUAUC, MSAMULT)
SETTING = {cls: setting for setting, cls in ALL}  # the last one of those that learn in several settings
EACH = each("cls, setting", SETTING.items())


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
    if setting == "similar_unlabeled":
        return X, np.where(np.arange(n) < n // 2, np.arange(n) // 2, -1)
    return X, np.where(np.arange(n) < n // 2, y, -1)


def fit(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IllPosedWarning)
        warnings.filterwarnings("ignore", message="thresholds coincide")
        return model.fit(X, y, **more)


def test_every_setting_has_competitors():
    assert set(COMPETITORS) == set(SETTINGS)
    assert [len(COMPETITORS[setting]) for setting in SETTINGS] == [3, 2 + 9, 5 + 9, 3 + 4, 9, 3 + 9]
    assert len(SETTING) == 16 + 9 + 4
    for setting, classes in COMPETITORS.items():  # from pairs nobody who needs labels can learn
        everyday = {"similar_unlabeled": [], "ordinal": list(EVERYDAY_ORDINAL)}.get(setting, list(CLASSIFIERS))
        assert [cls for cls in classes if cls.is_everyday] == everyday == list(classes[len(classes) - len(everyday) :])


@EACH
def test_each_says_what_it_is(setting, cls):
    assert issubclass(cls, Baseline)
    assert all(isinstance(text, str) and text for text in (cls.title, cls.citation, cls.sentence))
    own = inspect.signature(cls).parameters
    assert all(isinstance(p, Parameter) and p.label and p.sentence for p in cls.parameters)
    assert {p.name for p in cls.parameters} <= set(own)


@cache
def fitted(cls):
    """A model that no test changes, and the reports of its progress."""
    seen = []
    return fit(make(cls), *data(SETTING[cls]), callback=seen.append), seen  # it returns None: the fit goes on


@pytest.mark.ci
@EACH
def test_each_can_be_cloned_and_pickled_and_the_names_of_classes_make_no_difference(cls, setting):
    (X, y), (model, _) = data(setting), fitted(cls)
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    if setting != "similar_unlabeled":  # it learns from pair ids
        names = np.array(["low", "mid", "top", -1], dtype=object)
        named = fit(make(cls), X, names[y])
        assert named.classes_.tolist() == names[: len(named.classes_)].tolist()
        np.testing.assert_array_equal(named.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(named.predict(X), names[model.predict(X)])


NOT_CONVERGED = [
    (EverydayLogisticRegression(max_iter=1), "scikit-learn's limit .*"),
    (BLS3VM(sigma=2.0, C=10.0, s=0.0, max_iter=1), ".* 1 convex steps; try a larger max_iter"),
    (QNS3VM(max_iter=2), "it stopped after 2 iterations with lam_u = 0, .*; try a larger max_iter or tol"),
    (SVOREX(max_iter=1), "thresholds still move by .* after 1 steps; try a larger max_iter or a smaller tol"),
    (SUDH(prior=0.7, lam=1e-4, max_iter=3), r"its duality gap is \S+ after 3 iterations; .*"),
]


@each("model, said", NOT_CONVERGED)
def test_a_fit_that_has_not_converged_says_so_once_in_one_sentence(model, said):
    X, y = moons_with_few_labels(160, 0.2, 30)[::2] if isinstance(model, BLS3VM) else data(SETTING[type(model)])
    with pytest.warns(ConvergenceWarning, match=rf"^{type(model).__name__} has not converged: {said}$") as warned:
        model.fit(X, y)
    assert len(warned) == 1
    assert not model.converged_


@EACH
def test_each_refuses_a_bad_value_of_any_parameter_in_one_sentence(setting, cls):
    X, y = data(setting)
    for name in (p.name for p in cls.parameters):
        with pytest.raises(ValueError, match=rf"^(is_)?{name} must .*got") as refused:
            make(cls, **{name: {}}).fit(X, y)
        assert "\n" not in str(refused.value)


@EACH
def test_each_reports_progress(cls, setting):
    (X, y), (model, seen) = data(setting), fitted(cls)
    np.testing.assert_array_equal(model.decision_function(X), fit(make(cls), X, y).decision_function(X))
    assert [p.step for p in seen] == list(range(1, len(seen) + 1))
    assert all(isinstance(p, Progress) and p.step <= p.total for p in seen)
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(seen))
    known = [p.objective for p in seen if not math.isnan(p.objective)]
    np.testing.assert_array_equal(model.objectives_, known)
    assert np.isfinite(model.objectives_).all()
    assert isinstance(model.converged_, bool)
    with pytest.raises(FrozenInstanceError):
        seen[0].step = 2


@each("name", ["linear", "lm", *KERNELS])
@each("cls", OWN)
def test_every_kernel_works_with_its_own_scale(cls, name):
    assert name in cls.kernels
    X, y = data(SETTING[cls])
    f = fit(make(cls, kernel=name, lam=0.5), X, y).decision_function(X)
    assert np.isfinite(f).all()
    assert np.std(f) > 0
    if name in ("gaussian", "laplacian", "matern"):  # "scale" follows the units of the points
        model = fit(make(cls, kernel=name, lam=0.5), 8.0 * X, y)
        np.testing.assert_allclose(model.decision_function(8.0 * X), f, rtol=1e-5)


def test_centers_are_all_points_some_of_them_or_those_that_are_given():
    X = np.arange(20.0).reshape(10, 2)
    assert choose_centers(X, None, 0) is X
    assert choose_centers(X, 10, 0) is X
    some = choose_centers(X, 4, 0)
    assert len(np.unique(some, axis=0)) == 4
    assert {tuple(row) for row in some} <= {tuple(row) for row in X}
    np.testing.assert_array_equal(choose_centers(X, 4, 0), some)
    np.testing.assert_array_equal(choose_centers(X, some, 0), some)
    np.testing.assert_array_equal(CENTERS.check([[1, 2]]), [[1.0, 2.0]])
    for wrong in (0, 2.5, "all", [1, 2]):
        with pytest.raises(ParameterError, match=r"^centers must be a whole number of 1 or more, None"):
            CENTERS.check(wrong)


@each("has_bias", [True, False])
@each("kernel", [Gaussian(0.5), Linear(), None])
def test_models_are_evaluated_in_pieces(kernel, has_bias):
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(50, 3)), rng.normal(size=(7, 3))
    basis = Basis(kernel, centers, has_bias)
    coef = rng.normal(size=(basis.size, 2))
    K = X if kernel is None else kernel.matrix(X, centers)
    wanted = np.hstack([K, np.ones((50, 1))][: 1 + has_bias]) @ coef
    np.testing.assert_allclose(BasisModel(basis, coef).evaluate(X), wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dsgcore.baselines.basis.MAX_VALUES", 20)
        np.testing.assert_allclose(BasisModel(basis, coef[:, 0]).evaluate(X), wanted[:, 0])


@each("kernel", [Gaussian(0.5), Gaussian(1e-4), Linear()])
def test_the_kernels_norm_is_the_length_of_the_designs_weights(kernel):
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(30, 2)), rng.normal(size=(40, 2))
    basis = make_basis(kernel, centers, "half rkhs", has_bias=True)
    v = rng.normal(size=basis.size)
    model = basis.model(v)
    scale = np.abs(v).sum()
    np.testing.assert_allclose(model.evaluate(X), basis.penalised(X) @ v, atol=1e-6 * scale)
    a, kept = model.coef[:-1], basis.centers
    assert a @ kernel.matrix(kept, kept) @ a == pytest.approx(v[:-1] @ v[:-1], rel=1e-3)  # of a flat kernel a is huge
    # Centres that add nothing are left out: most of them, if the kernel is flat or linear.
    K, P = kernel.matrix(centers, centers), basis.penalised(centers)[:, :-1]
    np.testing.assert_allclose(P @ P.T, K, atol=1e-12 * len(K) * K.max())
    assert len(kept) <= 40
    if isinstance(kernel, Linear):
        assert len(kept) == 2


@each(
    "eigenvalues, said",
    [
        ([1, 2, 3, 4, 5, 100.0], None),
        ([-1, 2, -3, 4, 5, 100.0], "indefinite: at its solution the gradient is zero, .*"),
        ([0, 0, 1, 2, 3, 4.0], "singular and was solved by least squares; .*"),
        ([0.0] * 6, "singular and was solved by least squares; .*"),
    ],
)
def test_systems_are_solved_whatever_their_sign(eigenvalues, said):
    rng = np.random.default_rng(0)
    Q, b = np.linalg.qr(rng.normal(size=(6, 6)))[0], rng.normal(size=6)
    A = Q * eigenvalues @ Q.T
    A = (A + A.T) / 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = solve_symmetric(A, b, "NAME")
    np.testing.assert_allclose(x, np.linalg.pinv(A, rcond=1e-12) @ b, atol=1e-10)
    assert [w.category for w in caught] == ([] if said is None else [IllPosedWarning])
    assert said is None or re.fullmatch(f"NAME: the system is {said}", str(caught[0].message))


# scikit-learn's own methods

CLASSIFIERS = (
    *(
        EverydayLogisticRegression,
        EverydaySVC,
        EverydayNeighbors,
        EverydayNystroem,
        EverydayRandomForest,
        EverydayBoosting,
    ),
    *(EverydaySelfTraining, EverydaySpreadingKNN, EverydaySpreadingRBF),
)
EVERYDAY_ORDINAL = (EverydaySVR, EverydayOrdinalSVC, EverydayOrdinalForest, EverydayOrdinalBoosting)


def clusters(k, n=150, d=3, n_labeled=60, seed=0):
    """Points of k classes, their codes, and the codes with -1 for most."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.2 * y
    return X, y, np.where(np.arange(n) < n_labeled, y, -1)


def theirs(cls, X):
    """The estimator that people would write, and whether it gets the labeled points alone."""
    scale = 1.0 / (X.shape[1] * X.var())
    return {
        EverydaySVC: (SVC(break_ties=True), True),
        EverydayLogisticRegression: (LogisticRegression(), True),
        EverydayNystroem: (make_pipeline(Nystroem(gamma=scale, n_components=60, random_state=0), LogisticRegression()), True),
        EverydaySelfTraining: (SelfTrainingClassifier(CalibratedClassifierCV(SVC(), ensemble=False)), False),
        EverydaySpreadingKNN: (LabelSpreading(kernel="knn"), False),
        EverydaySpreadingRBF: (LabelSpreading(), False),
        EverydayNeighbors: (KNeighborsClassifier(), True),
        EverydayRandomForest: (RandomForestClassifier(random_state=0), True),
        EverydayBoosting: (HistGradientBoostingClassifier(min_samples_leaf=12, random_state=0), True),  # 60 labels
        EverydaySVR: (SVR(), True),
        EverydayOrdinalSVC: (SVC(), True),
    }[cls]  # fmt: skip


def test_boosted_trees_of_few_labels_split():
    X, y, few = clusters(2, n_labeled=30)
    model = fit(EverydayBoosting(random_state=0), X, few)
    assert np.ptp(model.decision_function(X)) > 0.5  # with leaves of 20 points all values are equal
    assert np.mean(model.predict(X) == y) > 0.6


@each("k", some([4, 2], 1, 2))
@each("cls", CLASSIFIERS)
def test_with_nothing_said_each_predicts_as_scikit_learns_own(cls, k):
    X, _, few = clusters(k)
    labeled = few >= 0
    machine, is_alone = theirs(cls, X[labeled])
    fit(machine, *((X[labeled], few[labeled]) if is_alone else (X, few)))
    model = fit(cls(**({"random_state": 0} if "random_state" in inspect.signature(cls).parameters else {})), X, few)
    other = np.random.default_rng(1).normal(size=(200, 3)) + 1.0
    np.testing.assert_array_equal(model.predict(other), machine.predict(other))
    values = model.decision_function(other)
    assert values.shape == ((200,) if k == 2 else (200, k))
    if hasattr(machine, "decision_function") and cls is not EverydaySelfTraining:
        np.testing.assert_allclose(values, machine.decision_function(other))


def test_the_regression_on_the_classes_is_scikit_learns_and_cut_in_the_middles():
    X, _, few = clusters(4)
    model, machine = EverydaySVR().fit(X, few), SVR().fit(X[few >= 0], few[few >= 0])
    np.testing.assert_allclose(model.ranking_function(X), machine.predict(X))
    np.testing.assert_array_equal(model.thresholds_, [0.5, 1.5, 2.5])
    np.testing.assert_array_equal(model.predict(X), np.clip(np.floor(machine.predict(X) + 0.5), 0, 3))


@each("cls", EVERYDAY_ORDINAL[2:])
def test_trees_learn_the_number_of_the_class(cls):
    X, y, few = clusters(4)
    model = cls(random_state=0).fit(X, few)
    assert model.mean_auc(X, y) > 0.7
    np.testing.assert_array_equal(model.thresholds_, [0.5, 1.5, 2.5])


def test_the_sum_of_the_duels_ranks_later_classes_higher():
    for k in (2, 3, 5):
        X, y, few = clusters(k)
        model = EverydayOrdinalSVC().fit(X, few)
        assert model.mean_auc(X, y) > 0.75
        assert (np.diff(model.thresholds_) > 0).all()


def test_points_that_nothing_reaches_get_the_labels_shares():
    X, y, _ = clusters(3)
    few = np.where(np.arange(len(y)) < 30, np.where(y == 2, 1, y), -1)  # twice as many of the second class
    far = np.full((2, 3), 1e6)
    model = fit(EverydaySpreadingRBF(sigma=20.0), X, few)
    np.testing.assert_allclose(model.decision_function(far), 1 / 3)
    np.testing.assert_array_equal(model.predict(far), [1, 1])


def test_self_training_wants_two_labels_of_each_class():
    X, y, few = clusters(2)
    few[few == 1] = -1
    few[1] = 1
    with pytest.raises(ValueError, match=r"^EverydaySelfTraining needs at least two labels of each class, but one"):
        EverydaySelfTraining().fit(X, few)
    few[3] = 1
    assert EverydaySelfTraining().fit(X, few).score(X, y) > 0.5


def test_a_cost_for_the_mean_of_the_labels_becomes_one_for_each_label():
    """scikit-learn's C weighs a sum, the run's a mean: by the same name it would be another number."""
    spec = default_spec("s3vm")
    split = load_split(spec)
    used = {p.name: p.default for p in free_parameters(spec, split, EverydaySVC)}
    labels = int((split.y_train >= 0).sum())
    sum_of_all = {p.name: p.default for p in free_parameters(spec, split, COMPETITORS["s3vm"][0])}
    assert used["C"] == sum_of_all["C"]
    assert labels > 1


# Similar pairs

pairs_sample = partial(similar_pairs, n_pairs=60, n_unlabeled=150)


THREE = (SUSL, SUDH, CUU)


def relative(got, wanted):
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


def fit_oracle(cls, d, **parameters):
    is_linear = np.isnan(d["gamma"])
    kernel = {"kernel": "lm"} if is_linear else {"kernel": "gaussian", "sigma": d["gamma"]}
    model = cls(prior=d["prior"], lam=d["lam"], **kernel, **parameters)
    return model.fit(d["x_u"], pairs=d["x_pairs"].reshape(-1, 2, d["x_u"].shape[1]))


@pytest.mark.parametrize("path", oracle_files.files("su_sl_"))
def test_su_sl_equals_its_authors_program(path, record_property):
    d = oracle_files.load(path)
    model = fit_oracle(SUSL, d)
    f = {name: model.decision_function(d[f"x_{name}"]) for name in ("test", "u")}
    f["s"] = model.decision_function(d["x_pairs"].reshape(-1, d["x_u"].shape[1]))
    residuals = {f"f_{name}": relative(values, d[f"f_{name}"]) for name, values in f.items()}
    residuals["objective"] = abs(model.objective_ - d["objective"]) / abs(d["objective"])
    oracle_files.report(record_property, path, **residuals)
    # The worst conditioned of them is su_sl_gauss_b.
    assert max(residuals.values()) < (1e-6 if path.stem == "su_sl_gauss_b" else 1e-8)
    np.testing.assert_allclose(model.model_.coef, d["coef"], rtol=0, atol=1e-6 * np.abs(d["coef"]).max())
    np.testing.assert_array_equal(np.where(model.predict(d["x_test"]) == 1, 1, -1), d["pred_test"])
    # The program's score is 1 minus twice the zero-one risk, 0 where that is below 0.
    p = d["prior"]
    risk = uu_risk(zero_one, p**2 / (p**2 + (1 - p) ** 2), p, p, f["s"], f["u"])
    assert max(0.0, 1.0 - 2.0 * risk) == pytest.approx(d["cv_score_on_train"], abs=1e-12)


@pytest.mark.parametrize("path", oracle_files.files("su_dh_"))
def test_su_dh_solves_the_papers_quadratic_program(path, record_property):
    d = oracle_files.load(path)
    model = fit_oracle(SUDH, d, tol=1e-8)
    residuals = {
        "f_test": relative(model.decision_function(d["x_test"]), d["exact_f_test"]),
        "f_u": relative(model.decision_function(d["x_u"]), d["exact_f_u"]),
        "objective": abs(model.objective_ - d["exact_objective"]) / abs(d["exact_objective"]),
    }
    oracle_files.report(record_property, path, **residuals, gap=model.gap_)
    assert max(residuals["f_test"], residuals["f_u"]) < 1e-3
    assert residuals["objective"] < 1e-6
    assert model.objective_ < d["released_objective"]  # which is of no minimum


def zero_one(z):
    return (1.0 - np.sign(z)) / 2.0


def uu_risk(loss, theta1, theta2, p, f1, f2):
    """The risk of two unlabeled sets with shares theta1 and theta2 of positives, from its definition."""
    D = theta1 - theta2
    positive = p * (1 - theta2) / D * loss(f1).mean() - p * (1 - theta1) / D * loss(f2).mean()
    return positive + (1 - p) * theta1 / D * loss(-f2).mean() - (1 - p) * theta2 / D * loss(-f1).mean()


@pytest.mark.parametrize("path", oracle_files.files("uu_risk_"))
def test_the_similar_unlabeled_risk_is_the_uu_risk_of_its_authors_program(path, record_property):
    d = oracle_files.load(path)
    errors = {"risk": 0.0, "zero_one": 0.0, "similar": 0.0, "gradient": 0.0}
    for i, mode in enumerate(d["mode"]):
        f, one = d["f"][i], d["y_set"][i] == 1
        theta1, theta2, p = (d[name][i] for name in ("theta1", "theta2", "prior"))
        shares = (1.0, 0.0) if mode == 2 else (theta1, theta2)  # labels are the case of two pure sets
        loss = (lambda z: expit(-z), lambda z: np.logaddexp(0.0, -z))[int(d["loss"][i])]
        if mode != 1 or d["loss"][i] == 0:  # mode 1 is a form for losses with l(z) + l(-z) = 1
            errors["risk"] = max(errors["risk"], abs(uu_risk(loss, *shares, p, f[one], f[~one]) - d["risk"][i]))
        own = uu_risk(zero_one, *shares, p, f[one], f[~one])
        errors["zero_one"] = max(errors["zero_one"], abs(own - d["zero_one_risk"][i]))
        if (
            mode == 0
            and d["loss"][i] == 1
            and np.isclose(p, theta2)
            and np.isclose(theta1, p**2 / (p**2 + (1 - p) ** 2))
        ):
            problem = SimilarUnlabeled(float(p), "logistic", "identity")
            values = {"similar": f[one], "unlabeled": f[~one]}
            errors["similar"] = max(errors["similar"], abs(sum(problem.terms(values).values()) - d["risk"][i]))
            gradient = np.concatenate(list(problem.coefficients(values).values()))
            wanted = np.concatenate([d["grad"][i][one], d["grad"][i][~one]])
            errors["gradient"] = max(errors["gradient"], np.abs(gradient - wanted).max())
    oracle_files.report(record_property, path, **errors)
    # The program rounds the risk to single precision; its largest is some 5.
    assert max(errors.values()) < 1e-6


# --- Each by a second route.


def phi_of(model, X):
    return model.model_.basis.features(X)


def risk_of(model, X, pairs, w, loss):
    """J by the definition of the risk, without the ridge."""
    p = model.prior_
    f_s, f_u = (phi_of(model, points) @ w for points in (pairs.reshape(-1, X.shape[1]), X))
    value = LOSSES[loss].value
    similar_share = p**2 + (1 - p) ** 2
    of_similar = similar_share * np.mean(value(f_s) - value(-f_s))
    return (of_similar + np.mean(p * value(-f_u) - (1 - p) * value(f_u))) / (2 * p - 1)


@each("prior", [0.7, 0.3])
@each("kernel", ["gaussian", "lm", "linear"])
def test_su_sl_has_no_gradient_at_its_solution(prior, kernel):
    X, _, pairs = pairs_sample(prior)
    model = SUSL(kernel, prior=prior, sigma=0.5, lam=0.05, centers=40, random_state=0).fit(X, pairs=pairs)
    w = model.model_.coef

    def J(w):
        return risk_of(model, X, pairs, w, "squared") + 0.025 * w @ w

    assert model.objective_ == pytest.approx(J(w), rel=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction = rng.normal(size=len(w)) * 1e-2
        # J is quadratic: central differences are exact, except for rounding.
        assert abs(J(w + direction) - J(w - direction)) < 1e-9
        assert J(w + direction) > J(w)


def test_su_sl_in_the_kernels_norm_is_the_exact_optimum_of_the_problem():
    X, _, pairs = pairs_sample(0.7)
    members = pairs.reshape(-1, 2)
    points, ids = np.concatenate([members, X]), np.concatenate([np.arange(120) // 2, np.full(150, -1)])
    problem = SimilarUnlabeled(0.7, "squared", "identity")
    Q, l = quadratic(problem, problem.rows(ids), len(points))
    K = Gaussian(0.5).matrix(points, points) + 1.0  # a bias that is punished is a constant in the kernel
    f = K @ exact_optimum(K, Q, l, 0.01)
    model = SUSL(prior=0.7, sigma=0.5, lam=0.01, penalty="half rkhs").fit(points, ids)
    # The kernel matrix is factored up to a share of 1e-14, whose root shows in f.
    np.testing.assert_allclose(model.decision_function(points), f, rtol=0, atol=1e-6 * np.abs(f).max())


@each("penalty", ["half euclidean", "half rkhs"])
@each("prior", [0.7, 0.35])
def test_su_dh_is_certified_by_its_dual_and_no_step_leads_down(prior, penalty):
    X, _, pairs = pairs_sample(prior, n_pairs=20, n_unlabeled=50)
    model = SUDH(prior=prior, sigma=0.5, lam=0.1, penalty=penalty, tol=1e-9).fit(X, pairs=pairs)
    w = model.model_.coef
    penalties = np.eye(len(w))
    if penalty == "half rkhs":
        centers = model.model_.basis.centers
        penalties[:-1, :-1] = Gaussian(0.5).matrix(centers, centers)

    def J(w):
        return risk_of(model, X, pairs, w, "double hinge") + 0.05 * w @ penalties @ w

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
    np.testing.assert_allclose(model.dual_coef_[is_smooth], slope[is_smooth], atol=1e-4)


@each("loss", LOSSES)
@each("correction", CORRECTIONS)
@each("prior", [0.8, 0.4])
def test_the_risk_of_pairs_and_unlabeled_points_is_that_of_two_unlabeled_sets(loss, correction, prior):
    rng = np.random.default_rng(0)
    problem, shares = SimilarUnlabeled(prior, loss, correction), (prior**2 / (prior**2 + (1 - prior) ** 2), prior)
    below = {"absolute value": -1.0, "ReLU": 0.0, "leaky ReLU": -0.5, "identity": 1.0}[correction]
    for shift in (0.0, 2.0):  # of which one makes a class's risk negative
        f = {"similar": rng.normal(size=6) - 2.0 * shift, "unlabeled": rng.normal(size=9) + shift}
        value = LOSSES[loss].value
        assert sum(problem.risks(f).values()) == pytest.approx(uu_risk(value, *shares, prior, *f.values()), rel=1e-10)
        wanted = sum(risk if risk >= 0 else below * risk for risk in problem.risks(f).values())
        assert sum(problem.terms(f).values()) == pytest.approx(wanted, rel=1e-10, abs=1e-12)


def test_cuu_without_correction_goes_where_su_sl_is():
    X, _, pairs = pairs_sample(0.7)
    settings = {"prior": 0.7, "sigma": 0.2, "lam": 0.3, "centers": 30, "random_state": 0}
    exact = SUSL(**settings).fit(X, pairs=pairs)
    model = CUU(correction="identity", batch_size=4000, n_iter=250, **settings).fit(X, pairs=pairs)
    w = model.model_.coef

    def J(w):
        return risk_of(model, X, pairs, w, "squared") + 0.15 * w @ w

    assert J(exact.model_.coef) == pytest.approx(exact.objective_)
    at_zero = J(0.0 * w)
    # Mini-batches leave some noise; without them it would be a thousandth.
    assert exact.objective_ <= J(w) < exact.objective_ + 0.02 * (at_zero - exact.objective_)
    assert len(model.objectives_) == 250
    assert model.objectives_[0] == pytest.approx(0.25)


@each("cls", THREE)
def test_pair_ids_and_pairs_are_the_same_and_labels_draw_pairs(cls):
    X, y, pairs = pairs_sample(0.7)
    members = pairs.reshape(-1, 2)
    ids = np.concatenate([np.full(150, -1), np.arange(120) // 2])  # members last: the order does not matter
    settings = {"prior": 0.7, "sigma": 0.3, "lam": 0.1, "random_state": 0, "centers": 50}
    f = cls(**settings).fit(X, pairs=pairs).decision_function(X)
    np.testing.assert_array_equal(cls(**settings).fit(np.concatenate([X, members]), ids).decision_function(X), f)
    names = np.where(y == 1, "b", "a")
    model = cls(y_holds="classes", sigma=0.1, lam=0.3, centers=50, random_state=0).fit(X, names)
    assert model.prior_ == np.mean(y)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.score(X, names) > 0.85


def test_what_only_one_has_is_checked_too():
    X, _, pairs = pairs_sample(0.7)
    with pytest.raises(ValueError, match=r"^CUU diverged at iteration \d+: step_size 10000 is too big for this .*$"):
        CUU(prior=0.7, step_size=1e4).fit(X, pairs=pairs)
    with pytest.raises(ValueError, match=r"^give either y or pairs, got both; .*$"):
        SUSL(prior=0.7).fit(X, np.full(150, -1), pairs=pairs)
    with pytest.raises(ValueError, match=f"^{re.escape('pair id 1 must occur exactly twice, but occurs 1 times')}$"):
        SUSL(prior=0.7).fit(X[:4], [0, 0, 1, -1])


def test_the_prior_is_estimated_where_none_is_given():
    X, y, pairs = pairs_sample(0.9, n_pairs=100, n_unlabeled=200)
    model = SUSL(sigma=0.1, lam=0.1, random_state=0).fit(X, pairs=pairs)
    assert 0.7 < model.prior_ < 1.0
    assert model.score(X, y) > 0.9


# Pairwise risks


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
    oracle_files.report(record_property, path, **residuals)
    assert max(residuals.values()) < 1e-8


@pytest.mark.weekly
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


def pair_objective(model, risk, X, few, theta):
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
    at_solution = pair_objective(model, risk, X, few, theta)
    assert model.objective_ == pytest.approx(at_solution, rel=1e-9)
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction = 1e-2 * rng.normal(size=len(theta))
        above, below = (pair_objective(model, risk, X, few, theta + sign * direction) for sign in (1.0, -1.0))
        # J is quadratic: central differences are exact, except for rounding.
        assert abs(above - below) < 1e-10
        assert min(above, below) > at_solution


def test_samult_in_the_kernels_norm_is_where_qsg_s2auc_goes():
    X, _, few = sample()
    problem = SemiSupervisedAUC(gamma=0.4).bind(few)
    Q, l = quadratic(problem, problem.rows(few), len(X))
    K = Gaussian(0.5).matrix(X, X)
    f = K @ exact_optimum(K, Q, l, 0.05)
    model = SAMULT(gamma=0.4, sigma=0.5, lam=0.05, penalty="half rkhs").fit(X, few)
    # The kernel matrix is factored up to a share of 1e-14, whose root shows in f.
    np.testing.assert_allclose(model.model_.evaluate(X), f, rtol=0, atol=1e-6 * np.abs(f).max())
    subset = SAMULT(gamma=0.4, sigma=0.5, lam=0.05, penalty="half rkhs", centers=X).fit(X[::-1], few[::-1])
    np.testing.assert_allclose(subset.model_.evaluate(X), f, rtol=0, atol=1e-6 * np.abs(f).max())


def test_the_models_of_ordered_classes_are_the_binary_ones():
    X, _, few = three_rings()
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
    above, below = (pair_objective(model, risk, X, few, theta + sign * direction) for sign in (1.0, -1.0))
    assert abs(above - below) < 1e-8


def test_a_singular_system_is_solved_by_least_squares_with_a_warning():
    X, y, few = sample()
    X = np.column_stack([X, X[:, 0]])  # one column twice
    said = r"^SAMULT: the system is singular and was solved by least .*$"
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
        (
            MPNUAUC(prior="guess"),
            "prior must be a number between 0 and 1 or 'estimate', or a list of such numbers, got 'guess'",
        ),
    ],
)
def test_bad_parameters_get_one_sentence(model, said):
    X, _, few = sample()
    with pytest.raises(ValueError, match=f"^{said}$"):
        model.fit(X, few)


# --- PNU-AUC's own choice.


def test_the_score_of_pnu_auc_is_its_zero_one_risk():
    X, _, few = sample()
    score = PNUAUCRisk(20, 10)
    assert score.weight(0.1, 0.6) == pytest.approx(0.16 * 19 / (0.16 * 19 + 0.36 * 10))
    assert score.weight(-0.1, 0.6) == pytest.approx(-0.36 * 9 / (0.16 * 20 + 0.36 * 9))
    # On points of known class the part of R_PU that pairs of positives make is subtracted: what is left is R_PN.
    held_out, hidden = sample(n=4000, n_labeled=500, seed=1)[::2]
    for eta in (0.5, -0.5):
        model = PNUAUC(eta=eta, prior=0.6, sigma=0.3, lam=0.1).fit(X, few)
        loss = 1.0 - roc_auc_score(sample(n=4000, seed=1)[1], model.decision_function(held_out))
        assert -score(model, held_out, hidden) == pytest.approx(loss, abs=0.05)


# SVOREX

KERNEL_OF_ORACLE = {0: "gaussian", 1: "linear"}


def four_rings():
    """Points in rings with blurred edges, from the centre outwards, and their labels, a third of them hidden."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 2))
    y = np.digitize(np.linalg.norm(X, axis=1) + 0.05 * rng.normal(size=150), [0.5, 0.8, 1.0])
    return X, y, np.where(np.arange(150) < 100, y, -1)


@pytest.fixture(scope="module")
def rings():
    return four_rings()[:2]


def ordinal_objective(K, y, coef, b, C):
    """The paper's, with thresholds b between neighbouring classes 0 .. k - 1."""
    f = K @ coef
    errors = sum(
        np.maximum(0, 1 + f[y == j] - b[j]).sum() + np.maximum(0, 1 - f[y == j + 1] + b[j]).sum() for j in range(len(b))
    )
    return 0.5 * coef @ f + C * errors


@pytest.mark.parametrize("path", oracle_files.files("svorex_"))
def test_svorex_equals_the_original_program(path, record_property):
    o = oracle_files.load(path)
    model = SVOREX(KERNEL_OF_ORACLE[o["linear"]], sigma=o["kappa"], C=o["C"], jitter=o["ridge"]).fit(o["X"], o["y"])
    residual = np.abs(model.ranking_function(o["X_test"]) - o["f_test"]).max()
    X, codes = o["X"], o["y"].astype(int) - 1
    K = X @ X.T / X.shape[1] if o["linear"] else np.exp(-o["kappa"] * cdist(X, X, "sqeuclidean"))
    K += o["ridge"] * np.eye(len(X))
    theirs = ordinal_objective(K, codes, o["alpha"], o["thresholds"], o["C"])
    ours = ordinal_objective(K, codes, model.dual_coef_, model.thresholds_, o["C"])
    cuts = np.abs(model.thresholds_ - o["thresholds"]).max()
    same = np.mean(model.predict(o["X_test"]) == o["pred_test"])
    oracle_files.report(record_property, path, f=residual, objective=ours / theirs - 1, thresholds=cuts, predicted=same)
    assert residual < 3e-3  # the program stops at 1e-3
    assert abs(ours / theirs - 1) < 1e-3
    assert cuts < 0.01  # in the middle of flat stretches, as the program's
    assert same == 1.0


@each("kernel, C", [("gaussian", 0.1), ("gaussian", 5.0), ("linear", 0.1)])
def test_the_dual_says_that_the_objective_is_the_lowest(rings, kernel, C):
    X, y = rings
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
    to_rows = np.zeros((len(y), len(rows)))
    to_rows[rows, np.arange(len(rows))] = signs
    to_cuts = np.zeros((n_cuts, len(rows)))
    to_cuts[cuts, np.arange(len(rows))] = signs

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
    y = np.concatenate([np.zeros(20), np.full(20, 2), [1, 1]]).astype(int)
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


def test_unlabeled_points_are_left_out(rings):
    X, y = rings
    few = np.where(np.arange(150) < 60, y, -1)
    model, same = SVOREX(sigma=2.0).fit(X, few), SVOREX(sigma=2.0).fit(X[:60], y[:60])
    np.testing.assert_array_equal(model.ranking_function(X), same.ranking_function(X))
    assert model.dual_coef_.shape == (60,)


LEARN = [
    # Always to say the larger class is right for 70 %; the classes' means are 4.2 standard deviations apart.
    *(
        (cls(prior=prior, sigma=0.1, lam=0.1, centers=100, random_state=0), "pairs", prior, 0.9)
        for cls in THREE
        for prior in (0.7, 0.3)
    ),
    *((cls(sigma=0.1, lam=0.1), "two classes", 0.88, 0.8) for cls in (PNUAUC, SAMULT)),  # the best AUC is 0.93
    *((cls(sigma=2.0, lam=0.01), "rings", 0.9, 0.6) for cls in (MPNUAUC, MSAMULT)),  # the largest class has 45 %
    (SVOREX(sigma=2.0, C=10.0), "four rings", 0.95, 0.7),
    *((cls(sigma=2.0), "moons", 0.0, 0.85) for cls in (S3VMLight, BLS3VM, BGS3VM, FRS3VM, QNS3VM)),
]


@each("model, points, wanted, least", LEARN)
def test_each_learns_what_it_is_for(model, points, wanted, least):
    if points == "pairs":
        X, y, pairs = pairs_sample(wanted, n_pairs=150, n_unlabeled=400)
        assert model.fit(X, pairs=pairs).score(X, y) > least
        return
    X, y, few = {
        "two classes": sample,
        "rings": three_rings,
        "four rings": four_rings,
        "moons": lambda: moons_with_few_labels(160, 0.2, 30),
    }[points]()
    hidden = few == -1
    assert model.fit(X, few).score(X[hidden], y[hidden]) > least
    if points == "two classes":
        assert roc_auc_score(y, model.decision_function(X)) > wanted
        assert (
            roc_auc_score(y, model.fit(X, y).decision_function(X)) > 0.9
        )  # labeled points serve as the unlabeled sample
    elif points.endswith("rings"):
        assert model.mean_auc(X[hidden], y[hidden]) > wanted
        assert (np.diff(model.thresholds_) > 0).all()
        np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))


def test_points_of_a_huge_scale_get_one_sentence():
    X = np.array([-1e9, -1e8, -1e-3, 1e-3, 1e8, 1e9])[:, None]
    with pytest.raises(ValueError, match=r"^SVOREX needs points of a smaller scale: f reaches "):
        SVOREX("linear", C=1e6).fit(X, [0, 0, 0, 1, 1, 1])
