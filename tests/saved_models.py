"""Small models of every kind, and their files: as saved, and with something in them changed."""

import io
import json
from functools import cache

import numpy as np
import pytest

from dsgcore import PS3VT, ModelError, load_model, save_model
from dsgcore.kernels import Gaussian
from dsgcore.multiclass.features import FixedFeatures, Weights
from dsgcore.solver.model import Expansion

SIZES = (7, 1, 20, 7, 64)
DECAYS = (1.0, 0.9, 0.75, -0.5, 0.99)


def make_model(sizes=SIZES, dtype="float64", d=3, seed=6, kernel=None):
    rng = np.random.default_rng(0)
    model = Expansion(kernel or Gaussian(0.7), seed, d, np.dtype(dtype))
    for m, decay in zip(sizes, DECAYS, strict=False):
        model.blocks.append(np.stack([rng.random(m), rng.uniform(-0.5, 0.5, m)]).astype(dtype))
        model.decays.append(decay)
    return model


def make_weights(kind="fourier", d=3, n_classes=4, n_features=9, sigma=0.7, seed=6, is_orthogonal=False):
    features = FixedFeatures(kind, sigma, n_features, seed, is_orthogonal=is_orthogonal)
    n_rows = d if kind == "linear" else 2 * n_features
    return Weights(features, np.random.default_rng(0).normal(size=(n_rows, n_classes)), d)


@cache
def make_estimator():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return PS3VT(n_iter=5, tol=None, random_state=0).fit(X, np.arange(30) % 4)


MODELS = {"expansion": make_model, "linear weights": lambda: make_weights("linear"), "Fourier weights": make_weights}
KINDS = {**MODELS, "estimator": make_estimator}


def saved(model):
    file = io.BytesIO()
    if isinstance(model, PS3VT):
        save_model(model, file)
    else:
        model.save(file)
    file.seek(0)
    return file


def parts(model):
    """The arrays of a saved model, the header's fields among them."""
    with np.load(saved(model), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return {**arrays, "header": json.loads(str(arrays["header"]))}


def packed(save=np.savez, **members):
    """An archive of these arrays, of those that are not None; a header's fields become its text."""
    header = members.get("header")
    if header is not None:
        members["header"] = np.array(json.dumps(header) if isinstance(header, dict) else header)
    file = io.BytesIO()
    save(file, **{name: array for name, array in members.items() if array is not None})
    return file


def edited(model, **members):
    """The saved file with some members replaced, or left out where None; `header` may be a function of its fields."""
    given = parts(model)
    if callable(members.get("header")):
        members["header"] = members["header"](given["header"])
    return packed(**given | members)


def assert_refused(file, words):
    with pytest.raises(ModelError) as caught:
        load_model(file)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert "allow_pickle=True" not in message, "NumPy's advice to load pickles is not passed on"
    assert len(message) < 500
