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
from dsgcore.solver.model_files import MAX_HEADER_CHARACTERS

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


WRONG = (None, {}, [], [1], -1, 0, 2.5, 2**32, 2**40, "x", "1", float("nan"), float("inf"), True)
WRONG_KERNELS = (
    *({"name": ["gaussian"]}, {"name": "sinc"}, {"name": "gaussian", "sigma": -1.0}),
    {"name": "gaussian", "width": 1.0},
)
WRONG_HEADERS = ("", "{", "[1, 2]", "3", "null", "[" * 100_000, '"x"', 3.5, [""])


def changed_members(model):
    """Give files of a model whose header or arrays are replaced, one at a time, each with the change's name."""
    arrays = parts(model)
    own = arrays.pop("header")
    for field in own:
        yield f"no {field}", edited(model, header={name: value for name, value in own.items() if name != field})
        for value in (*WRONG, *WRONG_KERNELS):
            yield f"{field} {value}", edited(model, header=own | {field: value})
    yield "another kind", edited(model, header=own | {"model": "weights" if "kernel" in own else "expansion"})
    yield "a field more", edited(model, header=own | {"x" * 99: 1})
    yield "a long header", edited(model, header=own | {"kernel": {"name": "x" * MAX_HEADER_CHARACTERS}})
    for text in WRONG_HEADERS:
        yield f"header {str(text)[:9]}", edited(model, header=text)
    for code in (0x110000, 2**32 - 1):  # these are no characters
        no_text = np.array([code] * 3, dtype=np.uint32).view("U3").reshape(())
        yield f"characters {code}", edited(model, header=no_text)
    yield "an array more", edited(model, extra=np.zeros(3))
    for name, array in arrays.items():
        yield f"no {name}", edited(model, **{name: None})
        if own["model"] != "estimator":
            for change, wrong in wrong_arrays(array).items():
                yield f"{name} {change}", edited(model, **{name: wrong})
    text = arrays.get("text", np.zeros(0, np.uint8)).tobytes().decode()
    for now in (
        "[" * 20,
        '{"number": 1}',
        "7",
        text.replace('"fields"', '"field"'),
        text.replace("array 0", "array 99"),
    ):
        if text:
            yield f"text {now[:9]}", edited(model, text=np.frombuffer(now.encode(), dtype=np.uint8))


def wrong_arrays(array):
    """Return arrays that are no part of a model in place of one that is, by their names."""
    n = len(array)
    made = {f"as {kind.__name__}": array.astype(kind) for kind in (np.float32, float, complex, int, str)}
    made |= {"empty": array[:0], "shorter": array[1:], "one more": np.resize(array, (n + 1, *array.shape[1:]))}
    made |= {
        "turned": array.T,
        "deeper": array[..., None],
        "a number": array.flat[0].reshape(()),
        "flat": array.ravel(),
    }
    if array.dtype.kind == "i":
        made |= {"zero": np.zeros_like(array), "huge": np.full_like(array, 2**62), "negative": -array}
    made |= {"dates": array.astype(int).astype("M8[s]"), "records": np.zeros(array.shape, dtype=[("a", "f8")])}
    for bad in (np.nan, np.inf, -np.inf):
        made[str(bad)] = np.where(np.arange(array.size).reshape(array.shape) == 3, bad, array)
    return made
