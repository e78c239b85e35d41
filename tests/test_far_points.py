"""Points far away: a model's value there is right, or refused in one sentence; never is it NaN with a class beside it."""

import inspect

import numpy as np
import pandas as pd
import pytest
from cases import each
from sklearn.base import clone

from dsgcore import LRCMC, PS3VT, QS3ORAO, QSGS2AUC, SSMC, TSGS3VM, TSGSU, LinearMC, load_model
from dsgcore.baselines import COMPETITORS
from dsgcore.core.errors import DSGError
from dsgcore.kernels import KERNELS

pytestmark = [pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]
X = np.random.default_rng(0).normal(size=(120, 2))
Y = np.where(np.arange(120) % 3 == 0, (X[:, 0] > 0).astype(int), -1)
SMALL = {"n_iter": 20, "n_features": 16, "random_state": 0}
FAR = (1e20, 3e38, 1e39, 1e155, 1.7e308)
STOCHASTIC = [
    *(QSGS2AUC(kernel=kernel, dtype=dtype, **SMALL) for kernel in KERNELS for dtype in ("float32", "float64")),
    *(cls(dtype=dtype, **SMALL) for cls in (TSGS3VM, QS3ORAO) for dtype in ("float32", "float64")),
    TSGSU(y_holds="classes", prior=0.7, **SMALL),
]
OF_CLASSES = [cls(features=kind, **SMALL) for cls in (PS3VT, SSMC, LRCMC, LinearMC) for kind in ("linear", "fourier")]


def baselines():
    made = {}
    for setting, classes in COMPETITORS.items():
        for cls in classes:
            known = inspect.signature(cls).parameters
            own = {"random_state": 0, "n_iter": 20}
            own |= {"prior": 0.7, "y_holds": "classes"} if setting == "similar_unlabeled" else {}
            for kernel in cls.kernels if "kernel" in known else (None,):
                given = {name: value for name, value in {**own, "kernel": kernel}.items() if name in known}
                made[cls.__name__, kernel] = cls(**given)
    return list(made.values())


def values(model, points):
    of = model.ranking_function if hasattr(model, "ranking_function") else model.decision_function
    return of(points)


def refused(call):
    """Whether a call is refused in one sentence; else its result."""
    try:
        return call(), False
    except DSGError as error:
        said = str(error)
    assert "\n" not in said
    assert "scale" in said or "diverged" in said
    return None, True


@pytest.mark.ci
@each("model", [*STOCHASTIC, *OF_CLASSES, *baselines()])
def test_a_class_is_predicted_only_where_there_is_a_value(model):
    model = clone(model).fit(X, Y)
    near = values(model, X)
    for size in FAR:
        points = np.array([[0.5, 0.5], [size, -size], [size, 0.5]])
        found, is_refused = refused(lambda points=points: values(model, points))
        assert is_refused or np.isfinite(found).all()
        assert refused(lambda points=points: model.predict(points))[1] == is_refused
    assert np.array_equal(values(model, X), near)


@each("dtype", ["float32", "float64"])
@each("kernel", [name for name in KERNELS if name != "dot_product"])
def test_no_precision_has_a_value_of_a_bounded_kernel_at_1e39_or_beyond(kernel, dtype):
    model = QSGS2AUC(kernel=kernel, dtype=dtype, **SMALL).fit(X, Y)
    for size in (1e39, 1e300):
        said = r"^X\[1, 0\] must be of size .* at most for this .* kernel, got .*: scale the points$"
        with pytest.raises(DSGError, match=said):
            model.predict([[0.0, 0.0], [size, 0.0]])


@each("power", ["1", "3"])
def test_the_dot_product_kernel_is_right_as_far_as_numbers_go(power):
    models = [QSGS2AUC(kernel="dot_product", power=power, dtype=d, **SMALL).fit(X, Y) for d in ("float32", "float64")]
    points = 1e6 * X
    single, double = (model.decision_function(points) + model.threshold_ for model in models)
    assert np.allclose(single, double, rtol=0.02, atol=0.02 * np.abs(double).max())


@each("size", [1e37, 1e155, 1e300])
@each("model", [*STOCHASTIC, *OF_CLASSES])
def test_a_fit_on_far_points_is_right_or_refused(model, size):
    is_linear = isinstance(model, PS3VT | SSMC | LRCMC | LinearMC) and model.features == "linear"
    for sigma in ("scale", 1.0):
        model = clone(model).set_params(sigma=sigma)
        fitted, is_refused = refused(lambda model=model: model.fit(X / np.abs(X).max() * size, Y))
        assert is_refused or is_linear
        if fitted is not None:
            assert fitted.score(X * size, X[:, 0] > 0) > 0.9


@each("size", [1e155, 1e300])
@each("model", baselines())
def test_a_baselines_fit_on_far_points_is_refused(model, size):
    with pytest.raises(DSGError, match=r"^X\[\d+, \d\] must be of size 1e\+70 at most.*scale the points$"):
        clone(model).fit(X * size, Y)


@each("number", [1e39, 1e300])
def test_partial_fit_refuses_far_points_and_leaves_the_model(number):
    for dtype in ("float32", "float64"):
        model = QSGS2AUC(dtype=dtype, **SMALL).partial_fit(X, Y, classes=[0, 1])
        before = model.decision_function(X)
        assert refused(lambda model=model: model.partial_fit(X * number, Y))[1] or dtype == "float32"
        assert np.array_equal(model.decision_function(X), before)


def test_the_models_own_evaluate_refuses_them_too(tmp_path):
    QSGS2AUC(**SMALL).fit(X, Y).model_.save(tmp_path / "model.npz")
    with pytest.raises(DSGError, match=r"^X\[2, 1\] must be of size "):
        load_model(tmp_path / "model.npz").evaluate(np.array([[0, 0], [1, 1], [0, 1e39]]))


def test_files_with_far_points_get_no_scores(tmp_path):
    from dsgcore.cli.predict import write_scores

    for dtype in ("float32", "float64"):
        QSGS2AUC(dtype=dtype, **SMALL).fit(X, Y).model_.save(tmp_path / "model.npz")
        for size in (1e30, 1e39, 1e300):
            far = tmp_path / f"{dtype} {size}.parquet"
            pd.DataFrame(np.vstack([X, [[size, 0.0]]]), columns=["a", "b"]).to_parquet(far)
            with pytest.raises(DSGError):
                write_scores(tmp_path / "model.npz", far, tmp_path / "scores")
            assert not list((tmp_path / "scores").glob("*.parquet"))


def test_dask_says_it_when_the_values_are_computed():
    dask = pytest.importorskip("dask.array")
    model = QSGS2AUC(**SMALL).fit(X, Y)
    lazy = model.predict(dask.from_array(np.vstack([X, [[1e39, 0.0]]]), chunks=(40, 2)))
    with pytest.raises(DSGError, match="must be of size"):
        lazy.compute()
