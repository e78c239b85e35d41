from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsgcore import expansion
from dsgcore.expansion import Expansion, ModelError, load
from dsgcore.features import coefficients
from dsgcore.kernels import KERNELS, Gaussian

SIZES = (7, 1, 20, 7, 64)
DECAYS = (1.0, 0.9, 0.75, -0.5, 0.99)


def make_model(sizes=SIZES, dtype="float64", d=3, seed=6, kernel=None):
    rng = np.random.default_rng(0)
    model = Expansion(kernel or Gaussian(0.7), seed, d, np.dtype(dtype))
    for m, decay in zip(sizes, DECAYS, strict=False):
        model.append(np.stack([rng.random(m), rng.uniform(-0.5, 0.5, m)]).astype(dtype), decay)
    return model


def explicit(model, X, t):
    """f_t(x) = sum_i (prod_{i < j <= t} decay_j) alpha_i' phi_i(x)."""
    f = np.zeros(len(X))
    for i in range(1, t + 1):
        alpha = coefficients(model.blocks[i - 1])
        z = 2 * np.pi * X @ model.frequencies(i, len(alpha) // 2)
        phi = np.hstack([np.cos(z), np.sin(z)]) / np.sqrt(len(alpha) // 2)
        f += np.prod(model.decays[i:t]) * phi @ alpha
    return f


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(300, 3))


def saved(model):
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    return file


@pytest.mark.parametrize("t", [0, 1, 3, 5, None])
@pytest.mark.parametrize("n", [0, 1, 256, 257, 300])
def test_evaluate_sums_the_blocks_each_shrunk_by_every_later_step(X, t, n):
    model = make_model()
    expected = explicit(model, X[:n], len(model) if t is None else t)
    np.testing.assert_allclose(model.evaluate(X[:n], t), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("t", range(6))
def test_a_prefix_is_the_model_at_that_iteration(X, t):
    model = make_model()
    prefix = model.prefix(t)
    assert len(prefix) == len(prefix.decays) == t
    assert (prefix.evaluate(X) == model.evaluate(X, t)).all()
    prefix.append(np.ones((2, 3)), 0.5)
    assert len(model) == 5, "going on with a prefix must leave the model as it is"


@pytest.mark.parametrize(("start", "stop"), [(0, 5), (2, 5), (0, 3), (2, 4), (3, 3)])
def test_update_goes_on_from_earlier_values(X, start, stop):
    model = make_model()
    values = model.evaluate(X, start)
    model.update(values, X, start, stop)
    np.testing.assert_allclose(values, model.evaluate(X, stop), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("given", ["lists", "float32", "not contiguous", "read-only"])
def test_points_of_any_layout_are_taken(X, given):
    model, expected = make_model(), make_model().evaluate(X.astype(np.float32).astype(float))
    points = X.astype(np.float32)
    if given == "lists":
        points = points.tolist()
    elif given == "not contiguous":
        points = np.asfortranarray(points)
    elif given == "read-only":
        points.setflags(write=False)
    np.testing.assert_allclose(model.evaluate(points), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 1e-5)])
def test_one_point_at_a_time_gives_the_values_of_all_at_once(X, dtype, tolerance):
    # A product's summation order depends on its shape, so this is rounding: of sums of amplitudes of about 40 in all.
    model = make_model(dtype=dtype)
    together = model.evaluate(X)
    single = np.concatenate([model.evaluate(x[None]) for x in X])
    assert together.dtype == single.dtype == dtype
    np.testing.assert_allclose(single, together, rtol=0, atol=tolerance)


def test_frequencies_of_single_and_double_precision_are_the_same():
    assert (make_model(dtype="float32").frequencies(2, 9) == make_model().frequencies(2, 9)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [(), (1,), (9,), SIZES])
@pytest.mark.parametrize("way", ["path", "text path", "buffer"])
def test_save_and_load_give_back_every_bit(tmp_path, X, dtype, sizes, way):
    model = make_model(sizes, dtype, kernel=Gaussian(1 / 3), seed=2**32 - 1)
    file = {"path": tmp_path / "m.npz", "text path": str(tmp_path / "m.npz"), "buffer": io.BytesIO()}[way]
    model.save(file)
    again = load(file)
    assert (again.kernel, again.seed, again.d, again.dtype) == (
        model.kernel,
        model.seed,
        model.d,
        model.dtype,
    )
    assert again.decays == model.decays
    assert len(again) == len(sizes)
    for one, other in zip(again.blocks, model.blocks, strict=True):
        assert one.dtype == dtype
        assert one.flags.carray
        assert one.tobytes() == other.tobytes()
    assert again.evaluate(X).tobytes() == model.evaluate(X).tobytes()


def test_a_loaded_model_can_be_gone_on_with():
    model = load(saved(make_model(())))
    model.append(np.ones((2, 4), dtype=model.dtype), 1.0)
    assert len(model) == len(model.decays) == 1


def test_nothing_in_the_file_is_pickled():
    with np.load(saved(make_model()), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    assert set(arrays) == {"header", "sizes", "coefficients", "decays"}
    assert not any(array.dtype.hasobject for array in arrays.values())
    assert json.loads(str(arrays["header"]))["kernel"] == {"name": "gaussian", "sigma": 0.7}


def test_frequencies_are_not_stored():
    # Amplitude and phase of every feature, and a header that does not grow with the model.
    few, many = (len(saved(make_model((m,), d=1000)).getvalue()) for m in (10, 1010))
    assert many - few == 1000 * 2 * 8


# Files that are no models, or not this program's.


def edited(model, **members):
    """The saved file with some members replaced, or left out where None; `header` is a function of its fields."""
    with np.load(saved(model)) as archive:
        arrays = {name: archive[name] for name in archive.files}
    change = members.pop("header", None)
    if callable(change):
        members["header"] = np.array(json.dumps(change(json.loads(str(arrays["header"])))))
    elif change is not None:
        members["header"] = np.array(change)
    arrays |= members
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    return file


def assert_refused(file, words):
    with pytest.raises(ModelError) as caught:
        load(file)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, -1])
def test_a_truncated_file_is_refused(tmp_path, kept):
    content = saved(make_model()).getvalue()
    content = content[: int(kept * len(content)) if isinstance(kept, float) else kept]
    (tmp_path / "m.npz").write_bytes(content)
    assert_refused(tmp_path / "m.npz", "not a model file")
    assert_refused(io.BytesIO(content), "not a model file")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x04K\x01.", b"PK\x03\x04", b"\x93NUMPY\x01\x00"])
def test_what_is_no_archive_is_refused(content):
    assert_refused(io.BytesIO(content), "not a model file")


def test_a_single_array_is_refused():
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    assert_refused(file, "not a model file")


def test_an_archive_of_other_things_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.npy", "hello")
    assert_refused(file, "not a model file")


# Fields of a zip archive's local and central records, as places in the record, and what they say there.
STRANGE_ARCHIVES = {
    "encrypted": ((6, 8), b"\x01\x00"),
    "of an unknown compression": ((8, 10), b"\x63\x00"),
    "of a later version": ((4, 6), b"\xc8\x00"),
}


@pytest.mark.parametrize(("places", "value"), STRANGE_ARCHIVES.values(), ids=STRANGE_ARCHIVES)
def test_an_archive_that_python_does_not_read_is_refused(places, value):
    content = saved(make_model()).getvalue()
    for record, place in zip((b"PK\x03\x04", b"PK\x01\x02"), places, strict=True):
        start = content.index(record) + place
        content = content[:start] + value + content[start + 2 :]
    assert_refused(io.BytesIO(content), "not a model file")


def test_a_pickled_member_is_refused_and_not_run():
    file = io.BytesIO()
    np.savez(file, header=np.array([print], dtype=object), allow_pickle=True)
    assert_refused(file, "not a model file")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert_refused(tmp_path / "none.npz", "No such file")


@pytest.mark.parametrize("member", ["header", "sizes", "coefficients", "decays"])
def test_a_missing_member_is_refused(member):
    with np.load(saved(make_model())) as archive:
        arrays = {name: archive[name] for name in archive.files if name != member}
    file = io.BytesIO()
    np.savez(file, **arrays)
    assert_refused(file, member)


@pytest.mark.parametrize("number", [0, 2, 1.5, None, "one"])
def test_another_format_is_refused_by_its_number(number):
    file = edited(make_model(), header=lambda h: {**h, "format": number})
    assert_refused(file, f"the model file has format {number!r}, this program reads format 1")


@pytest.mark.parametrize("text", ["", "{", "hello", "[1, 2]", "3", "null", "[" * 100_000, '{"format": 1}', '"x"'])
def test_a_damaged_header_is_refused(text):
    assert_refused(edited(make_model(), header=text), "its header is damaged")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kernel", None),
        ("kernel", {}),
        ("kernel", "gaussian"),
        ("kernel", {"name": "gaussian", "sigma": "1"}),
        ("kernel", {"name": "gaussian", "sigma": float("nan")}),
        ("kernel", {"name": "gaussian", "sigma": -1.0}),
        ("kernel", {"name": "gaussian", "width": 1.0}),
        ("seed", -1),
        ("seed", 2**32),
        ("seed", "0"),
        ("d", 0),
        ("d", 2.5),
        ("d", None),
        ("dtype", "float16"),
        ("dtype", "object"),
        ("dtype", 4),
    ],
)
def test_a_header_with_impossible_values_is_refused(field, value):
    assert_refused(edited(make_model(), header=lambda h: {**h, field: value}), "its header is damaged")


def test_an_unknown_kernel_is_refused_by_its_name():
    file = edited(make_model(), header=lambda h: {**h, "kernel": {"name": "sinc"}})
    assert_refused(file, f"kernel must be one of {', '.join(KERNELS)}, got 'sinc'")


NOT_FITTING = {
    "too few in all": {"sizes": np.array([7, 1, 20, 7, 63])},
    "too few sizes": {"sizes": np.array([7, 1, 20, 71])},
    "no features": {"sizes": np.array([8, 0, 20, 7, 64])},
    "negative": {"sizes": np.array([9, -1, 20, 7, 64])},
    "sizes of floats": {"sizes": np.array([7.0, 1.0, 20.0, 7.0, 64.0])},
    "one size": {"sizes": np.array(99)},
    "too few decays": {"decays": np.ones(4)},
    "decays of two dimensions": {"decays": np.ones((5, 1))},
    "decays of text": {"decays": np.array(["1"] * 5)},
    "too few coefficients": {"coefficients": np.zeros((2, 98))},
    "one row": {"coefficients": np.zeros(99)},
    "three rows": {"coefficients": np.zeros((3, 99))},
    "other precision": {"coefficients": np.zeros((2, 99), dtype=np.float32)},
    "complex": {"coefficients": np.zeros((2, 99), dtype=complex)},
}


@pytest.mark.parametrize("members", NOT_FITTING.values(), ids=NOT_FITTING)
def test_arrays_that_do_not_fit_together_are_refused(members):
    assert_refused(edited(make_model(), **members), "its arrays do not fit together")


def test_other_random_numbers_are_refused(monkeypatch):
    file = saved(make_model())

    def shifted(self, rng, d, m):
        return rng.standard_normal((d, m), dtype=np.float32) + np.float32(1e-6)

    monkeypatch.setattr(Gaussian, "frequencies", shifted)
    assert_refused(file, "the model cannot be reproduced here")


@pytest.mark.parametrize("change", [{"seed": 7}, {"fingerprint": "0" * 64}, {"fingerprint": None}, {"d": 4}])
def test_a_changed_fingerprint_is_refused(change):
    file = edited(make_model(), header=lambda h: {**h, **change})
    assert_refused(file, "the model cannot be reproduced here")


CONTENT = saved(make_model((3, 2), d=2)).getvalue()
DAMAGE = st.lists(st.tuples(st.integers(0, len(CONTENT) - 1), st.integers(0, 255)), min_size=1, max_size=4)


@settings(max_examples=400)
@given(DAMAGE, st.integers(0, len(CONTENT)))
def test_whatever_is_damaged_the_model_is_the_same_or_refused(damage, cut):
    content = bytearray(CONTENT)
    for place, value in damage:
        content[place] = value
    for damaged in (bytes(content), bytes(content[:cut])):
        model = None
        with suppress(ModelError):
            model = load(io.BytesIO(damaged))
        # Where nothing but the archive's own book-keeping is hit, a model may come out: then it is the one saved.
        assert model is None or saved(model).getvalue() == CONTENT


# The cache of frequencies.


def test_the_cache_stays_within_its_bytes_and_keeps_what_was_used_last(X):
    cache = expansion._FrequencyCache(max_bytes=3 * 2 * 100 * 4)
    kernel, dtype = Gaussian(1.0), np.dtype(np.float32)
    for t in range(1, 20):
        W = cache.get(kernel, 0, t, 2, 100, dtype)
        assert cache.get(kernel, 0, t, 2, 100, dtype) is W
        assert cache.used == sum(block.nbytes for block in cache.blocks.values()) <= cache.max_bytes
    assert [key[2] for key in cache.blocks] == [17, 18, 19]
    cache.get(kernel, 0, 17, 2, 100, dtype)
    cache.get(kernel, 0, 20, 2, 100, dtype)
    assert [key[2] for key in cache.blocks] == [19, 17, 20]


def test_frequencies_bigger_than_the_cache_are_drawn_and_not_kept():
    cache = expansion._FrequencyCache(max_bytes=1000)
    W = cache.get(Gaussian(1.0), 0, 1, 10, 100, np.dtype(np.float32))
    assert W.shape == (10, 100)
    assert (cache.used, len(cache.blocks)) == (0, 0)


def test_evaluating_few_points_keeps_to_the_budget(monkeypatch, X):
    cache = expansion._FrequencyCache(max_bytes=2 * 3 * 64 * 8)
    monkeypatch.setattr(expansion, "_frequency_cache", cache)
    model = make_model((64,) * 5)
    first = model.evaluate(X[:10])
    assert (model.evaluate(X[:10]) == first).all()
    assert 0 < cache.used <= cache.max_bytes


def test_cached_frequencies_are_not_mixed_up_between_models(X):
    settings = [
        {},
        {"seed": 7},
        {"kernel": Gaussian(0.8)},
        {"dtype": "float32"},
        {"sizes": (8, 1, 20, 7, 64)},
    ]
    for given_settings in settings * 2:
        model = make_model(**given_settings)
        expected, tolerance = explicit(model, X, 5), 1e-5 if model.dtype == "float32" else 1e-12
        np.testing.assert_allclose(model.evaluate(X), expected, rtol=0, atol=tolerance)
        np.testing.assert_allclose(model.evaluate(X[:5]), expected[:5], rtol=0, atol=tolerance)  # from the cache
