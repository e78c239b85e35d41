"""Model files of every kind: one function reads them all, and refuses whatever is none."""

from __future__ import annotations

import io
import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_models import KINDS, assert_refused, edited, make_model, make_weights, packed, parts, saved

from dsgcore import Expansion, ModelError, load_model
from dsgcore.core.kernels import KERNELS
from dsgcore.core.model_files import MAX_HEADER_CHARACTERS
from dsgcore.multiclass.weights import Weights

every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(300, 3))


def way_to(place, tmp_path):
    return {"path": tmp_path / "m.npz", "text path": str(tmp_path / "m.npz"), "buffer": io.BytesIO()}[place]


@every_kind
@pytest.mark.parametrize("place", ["path", "text path", "buffer"])
def test_every_model_is_read_by_one_function_to_the_bit(tmp_path, X, kind, place):
    model, file = KINDS[kind](), way_to(place, tmp_path)
    model.save(file)
    again = load_model(file)
    assert type(again) is (Expansion if kind == "expansion" else Weights)
    assert again.evaluate(X).tobytes() == model.evaluate(X).tobytes()
    assert saved(again).getvalue() == saved(model).getvalue()


@pytest.mark.parametrize("name", KERNELS)
def test_expansions_of_every_kernel_are_read(X, name):
    kernel = KERNELS[name](0.37)
    model = Expansion(kernel, 3, 3)
    for m in (6, 11):
        block = np.random.default_rng(m).normal(size=(kernel.feature_map.BLOCK_ROWS, m))
        model.append(block.astype(np.float32), 0.9)
    again = load_model(saved(model))
    assert again.kernel == kernel
    assert again.evaluate(X).tobytes() == model.evaluate(X).tobytes()


@every_kind
def test_nothing_in_the_file_is_pickled(kind):
    with np.load(saved(KINDS[kind]()), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    assert set(arrays) == {"header", *({"sizes", "coefficients", "decays"} if kind == "expansion" else {"W"})}
    assert not any(array.dtype.hasobject for array in arrays.values())
    assert json.loads(str(arrays["header"]))["format"] == 2


@every_kind
def test_points_of_another_dimension_get_one_sentence(kind):
    model = load_model(saved(KINDS[kind]()))
    for points in (np.zeros((5, 2)), np.zeros((5, 4)), np.zeros(3), np.zeros((1, 5, 3))):
        with pytest.raises(ModelError, match=r"points must have shape \(n, 3\), got \("):
            model.evaluate(points)


@every_kind
def test_a_missing_array_is_refused(kind):
    for name in parts(KINDS[kind]()):
        assert_refused(edited(KINDS[kind](), **{name: None}), f"it has no array {name!r}")


@every_kind
def test_a_foreign_array_is_refused(kind):
    file = edited(KINDS[kind](), extra=np.zeros(3))
    assert_refused(file, "it has the unknown array 'extra'")


@every_kind
def test_missing_and_foreign_fields_of_the_header_are_refused(kind):
    model = KINDS[kind]()
    for name in set(parts(model)["header"]) - {"format", "model"}:
        file = edited(model, header=lambda h, name=name: {k: v for k, v in h.items() if k != name})
        assert_refused(file, f"its header has no field {name!r}")
    assert_refused(edited(model, header=lambda h: {**h, "x" * 99: 1}), "its header has the unknown field 'xxx")


@every_kind
@pytest.mark.parametrize("model", [None, "svm", 3, [], "Weights"])
def test_an_unknown_kind_of_model_is_refused(kind, model):
    file = edited(KINDS[kind](), header=lambda h: {**h, "model": model})
    assert_refused(file, f"model must be one of expansion, weights, got {model!r}")


def test_one_kinds_arrays_under_the_others_name_are_refused():
    assert_refused(edited(make_model(), header=lambda h: {**h, "model": "weights"}), "its header has no field")
    assert_refused(edited(make_weights(), header=lambda h: {**h, "model": "expansion"}), "its header has no field")


@every_kind
@pytest.mark.parametrize("number", [0, 1, 3, 1.5, None, "one"])
def test_another_format_is_refused_by_its_number(kind, number):
    file = edited(KINDS[kind](), header=lambda h: {**h, "format": number})
    assert_refused(file, f"the model file has format {number!r}, this program reads format 2")


@every_kind
@pytest.mark.parametrize("text", ["", "{", "hello", "[1, 2]", "3", "null", "[" * 4000, "[" * 100_000, '"x"', 3.5, [""]])
def test_a_damaged_header_is_refused(kind, text):
    assert_refused(edited(KINDS[kind](), header=text), "its header is damaged")


@pytest.mark.parametrize("code", [0x110000, 2**31 - 1, 2**32 - 1])
def test_a_header_of_code_points_that_are_no_characters_is_refused(code):
    text = np.array([code] * 3, dtype=np.uint32).view("U3").reshape(())
    assert_refused(edited(make_model(), header=text), "not a model file")


def test_a_long_header_is_not_read():
    file = edited(make_model(), header=lambda h: {**h, "kernel": {"name": "x" * MAX_HEADER_CHARACTERS}})
    assert_refused(file, f"it must be text of at most {MAX_HEADER_CHARACTERS} characters")


@every_kind
def test_numbers_in_another_byte_order_are_the_same_model(X, kind):
    model = KINDS[kind]()
    arrays = {name: a for name, a in parts(model).items() if name != "header"}
    again = load_model(edited(model, **{name: a.astype(a.dtype.newbyteorder()) for name, a in arrays.items()}))
    assert again.evaluate(X).tobytes() == model.evaluate(X).tobytes()


@every_kind
def test_other_numbers_than_those_saved_are_refused(kind):
    """A flipped sign makes a good model of other values."""
    model = KINDS[kind]()
    with np.load(saved(model), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    largest = max((name for name in arrays if name != "header"), key=lambda name: arrays[name].nbytes)
    arrays[largest] = -arrays[largest]
    assert_refused(packed(**arrays), "its numbers are not those that were saved")


@every_kind
def test_a_file_of_before_has_no_digest_and_is_read(X, kind):
    model = KINDS[kind]()
    assert load_model(edited(model)).evaluate(X).tobytes() == model.evaluate(X).tobytes()


def test_orthogonal_frequencies_are_drawn_again(X):
    model = make_weights(is_orthogonal=True)
    again = load_model(saved(model))
    assert again.features == model.features
    assert again.evaluate(X).tobytes() == model.evaluate(X).tobytes()
    assert (make_weights().evaluate(X) != model.evaluate(X)).any()


CONTENTS = {
    "expansion": saved(make_model((3, 2), d=2)).getvalue(),
    "linear weights": saved(make_weights("linear", d=2)).getvalue(),
    "Fourier weights": saved(make_weights(n_features=2, d=2)).getvalue(),
}


@every_kind
@settings(max_examples=150)
@given(data=st.data())
def test_whatever_is_damaged_the_model_is_the_same_or_refused(kind, data):
    good = CONTENTS[kind]
    content = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(good)))
    for damaged in (bytes(content), bytes(content[:cut])):
        model = None
        with suppress(ModelError):
            model = load_model(io.BytesIO(damaged))
        # Where nothing but the archive's own book-keeping is hit, a model may come out: then it is the one saved.
        assert model is None or saved(model).getvalue() == good
