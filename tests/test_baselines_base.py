"""Common properties of all comparison methods. Each method has a file of its own besides."""

import inspect
import itertools
import math
import pickle
import warnings
from dataclasses import FrozenInstanceError
from functools import cache

import numpy as np
import pytest
from cases import each
from four_estimators import moons_with_few_labels
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import dsgcore
from dsgcore.baselines import (
    BLS3VM,
    COMPETITORS,
    QNS3VM,
    Baseline,
    EverydayLogistic,
    Progress,
)
from dsgcore.baselines.basis import Basis, BasisModel, Linear, choose_centers
from dsgcore.baselines.cuu import CUU
from dsgcore.baselines.design import IllPosedWarning, make_design, solve_symmetric
from dsgcore.baselines.ordinal_auc import MPNUAUC, MSAMULT
from dsgcore.baselines.parameters import CENTERS
from dsgcore.baselines.pnu_auc import PNUAUC, SAMULT
from dsgcore.baselines.sudh import SUDH
from dsgcore.baselines.susl import SUSL
from dsgcore.baselines.svorex import SVOREX
from dsgcore.core.parameters import Parameter, ParameterError
from dsgcore.experiments.settings import SETTINGS
from dsgcore.kernels import KERNELS, Gaussian

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
    assert list(COMPETITORS) == list(SETTINGS)
    assert [len(classes) for classes in COMPETITORS.values()] == [3, 2 + 6, 5 + 6, 3 + 2, 3 + 6]
    assert len(SETTING) == 16 + 6 + 2
    with pytest.raises(KeyError):
        COMPETITORS["clustering"]


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
    (EverydayLogistic(max_iter=1), "scikit-learn's limit .*"),
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


@each("cls", OWN)
def test_same_seed_same_bits(cls):
    X, y = data(SETTING[cls])
    models = [fit(make(cls, centers=10, random_state=seed), X, y) for seed in (1, 1, 2)]
    first, again, other = (model.decision_function(X) for model in models)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@each("cls", COMPETITORS["multiclass"][:3])
def test_the_methods_of_ps3vts_family_are_the_estimators_with_progress(cls):
    X, y = data("multiclass")
    seen = []
    model = make(cls).fit(X, y, callback=seen.append)
    same = getattr(dsgcore, cls.__name__)(n_iter=30, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert len(seen) == seen[0].total == 31  # an iteration each, and the objective of the end


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
    design = make_design(kernel, centers, "half rkhs", has_bias=True)
    v = rng.normal(size=design.basis.size)
    model = design.model(v)
    scale = np.abs(v).sum()
    np.testing.assert_allclose(model.evaluate(X), design.features(X) @ v, atol=1e-6 * scale)
    a, kept = model.coef[:-1], design.basis.centers
    assert a @ kernel.matrix(kept, kept) @ a == pytest.approx(v[:-1] @ v[:-1], rel=1e-3)  # of a flat kernel a is huge
    # Centres that add nothing are left out: most of them, if the kernel is flat or linear.
    K, P = kernel.matrix(centers, centers), design.features(centers)[:, :-1]
    np.testing.assert_allclose(P @ P.T, K, atol=1e-12 * len(K) * K.max())
    assert len(kept) <= 40
    if isinstance(kernel, Linear):
        assert len(kept) == 2


def test_systems_are_solved_whatever_their_sign():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    b = rng.normal(size=6)
    for eigenvalues, is_definite in (([1, 2, 3, 4, 5, 100.0], True), ([-1, 2, -3, 4, 5, 100.0], False)):
        A = Q * eigenvalues @ Q.T
        A = (A + A.T) / 2
        solution = solve_symmetric(A.copy(), b)
        np.testing.assert_allclose(A @ solution.x, b, atol=1e-10)
        assert (solution.is_definite, solution.is_singular) == (is_definite, False)
        # LAPACK's estimate, in the 1-norm, is below and by a factor of three at most as a rule.
        assert np.linalg.cond(A, 1) / 3.0 < solution.condition < np.linalg.cond(A, 1) * 1.001
    for A in (Q * [0, 0, 1, 2, 3, 4.0] @ Q.T, np.zeros((6, 6))):
        A = (A + A.T) / 2
        solution = solve_symmetric(A.copy(), b)
        np.testing.assert_allclose(solution.x, np.linalg.pinv(A, rcond=1e-12) @ b, atol=1e-10)
        assert solution.is_singular
        assert solution.condition > 1e15
        with pytest.warns(IllPosedWarning, match=r"^NAME: the system is singular \(condition .*\)"):
            solution.warn("NAME")
