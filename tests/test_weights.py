"""The multi-class setting's model: scores of several classes, written and read."""

import numpy as np
import pytest
from cases import each
from saved_models import assert_refused, edited, make_weights, parts, saved

from dsgcore import load_model
from dsgcore.kernels import Gaussian
from dsgcore.multiclass import weights

KINDS = ("linear", "fourier")
every_kind = each("kind", KINDS)


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(50, 3))


@every_kind
def test_scores_are_products_of_features_and_weights(X, kind):
    model = make_weights(kind)
    np.testing.assert_array_equal(model.evaluate(X), model.features(X) @ model.W)
    assert model.evaluate(X).shape == (50, 4)
    assert model.evaluate(X[:0]).shape == (0, 4)
    np.testing.assert_array_equal(model.evaluate(X.tolist()), model.evaluate(X))


@every_kind
def test_scores_of_many_points_are_made_in_pieces(X, kind, monkeypatch):
    model = make_weights(kind)
    expected = model.evaluate(X)
    monkeypatch.setattr(weights, "MAX_VALUES", 7 * len(model.W))
    # Products of seven rows and of fifty are summed in another order: rounding of scores of order 1.
    np.testing.assert_allclose(model.evaluate(X), expected, rtol=0, atol=1e-14)


@each("order", ["C", "F"])
@each(
    "settings",
    [
        {"kind": "linear"},
        {"kind": "linear", "d": 1, "n_classes": 2},
        {"kind": "fourier"},
        {"kind": "fourier", "sigma": 1 / 3, "seed": 2**32 - 1, "n_features": 1, "d": 40},
    ],
)
def test_save_and_load_give_back_every_bit(settings, order):
    made = make_weights(**settings)
    model = weights.Weights(made.features, np.asarray(made.W, order=order), made.d)
    again = load_model(saved(model))
    assert (again.features, again.d) == (model.features, model.d)
    assert again.W.flags.f_contiguous == model.W.flags.f_contiguous
    X = np.random.default_rng(2).normal(size=(300, model.d))
    assert again.evaluate(X).tobytes() == model.evaluate(X).tobytes()


def test_the_header_says_what_the_features_are():
    header = parts(make_weights("linear"))["header"]
    fields = {"kind": "linear", "sigma": 0.7, "n_features": 9, "seed": 6, "d": 3, "fingerprint": ""}
    assert header == {"format": 2, "model": "weights", **fields}
    assert len(parts(make_weights())["header"]["fingerprint"]) == 64


@every_kind
@each(
    "field, value",
    [
        ("kind", "cosine"),
        ("kind", None),
        ("kind", ["linear"]),
        ("sigma", "1"),
        ("sigma", float("nan")),
        ("sigma", float("inf")),
        ("sigma", -1.0),
        ("n_features", 0),
        ("n_features", 2.5),
        ("n_features", 2**40),
        ("n_features", True),
        ("seed", -1),
        ("seed", 2**32),
        ("seed", None),
        ("d", 0),
        ("d", 2**31),
        ("d", {}),
    ],
)
def test_a_header_with_impossible_values_is_refused(kind, field, value):
    assert_refused(edited(make_weights(kind), header=lambda h: {**h, field: value}), "its header is damaged")


def wrong_weights(n):
    """Arrays that are no weights of `n` features."""
    W = np.zeros((n, 4))
    return {
        "no rows": W[:0],
        "a row too few": W[1:],
        "a row too many": np.zeros((n + 1, 4)),
        "one class": W[:, :1],
        "no classes": W[:, :0],
        "flat": W[:, 0],
        "one number": np.array(1.0),
        "three dimensions": W[:, :, None],
        "transposed": W.T,
        "float32": W.astype(np.float32),
        "complex": W.astype(complex),
        "whole numbers": W.astype(int),
        "text": W.astype(str),
        "dates": W.astype(int).astype("M8[s]"),
        "records": np.zeros((n, 4), dtype=[("a", "f8")]),
    }


@every_kind
@each("case", wrong_weights(3))
def test_weights_that_do_not_fit_the_features_are_refused(kind, case):
    n = {"linear": 3, "fourier": 18}[kind]
    file = edited(make_weights(kind), W=wrong_weights(n)[case])
    assert_refused(file, f"W must have shape ({n}, K), of float64 and with K of at least 2, got ")


@every_kind
@each("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused(kind, value):
    W = make_weights(kind).W.copy()
    W[2, 1] = value
    assert_refused(edited(make_weights(kind), W=W), "its weights must be finite numbers")


def test_other_random_numbers_are_refused(monkeypatch):
    linear, fourier = saved(make_weights("linear")), saved(make_weights())

    def shifted(self, rng, d, m):
        return rng.standard_normal((d, m), dtype=np.float32) + np.float32(1e-6)

    monkeypatch.setattr(Gaussian, "frequencies", shifted)
    assert_refused(fourier, "the model cannot be reproduced here")
    assert load_model(linear).W.shape == (3, 4)  # has none


@each(
    "change",
    [{"seed": 7}, {"sigma": 0.8}, {"d": 4}, {"fingerprint": "0" * 64}, {"fingerprint": ""}, {"fingerprint": 3}],
)
def test_a_changed_fingerprint_is_refused(change):
    file = edited(make_weights(), header=lambda h: {**h, **change})
    assert_refused(file, "the model cannot be reproduced here")


def test_linear_weights_have_no_fingerprint():
    file = edited(make_weights("linear"), header=lambda h: {**h, "fingerprint": "0" * 64})
    assert_refused(file, "the model cannot be reproduced here")
