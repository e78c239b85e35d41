"""Model files of every kind: one function reads them all, and refuses whatever is none; weights, and checkpoints of other data."""

import io
import json
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from cases import each
from clocks import interrupt_after
from four_estimators import FOUR
from four_estimators import make as small
from four_estimators import same as same_models
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_models import KINDS, assert_refused, edited, make_model, make_weights, packed, parts, saved

from dsgcore import QS3ORAO, QSGS2AUC, TSGSU, Expansion, ModelError, load_model
from dsgcore.__main__ import main
from dsgcore.kernels import KERNELS, Gaussian
from dsgcore.multiclass import features as weights
from dsgcore.multiclass.features import Weights
from dsgcore.solver.model_files import MAX_HEADER_CHARACTERS

every_kind = each("kind", KINDS)
X = np.random.default_rng(1).normal(size=(300, 3))


def same(model, again):
    assert type(again) is type(model)
    return again.evaluate(X).tobytes() == model.evaluate(X).tobytes()


# --- good files


@every_kind
def test_every_model_is_read_by_one_function_bit_for_bit(tmp_path, kind):
    model = KINDS[kind]()
    for file in (tmp_path / "m.npz", str(tmp_path / "m.npz"), io.BytesIO()):
        model.save(file)
        again = load_model(file)
        assert same(model, again)
        assert saved(again).getvalue() == saved(model).getvalue()
    # Numbers may be in another byte order.
    arrays = {name: a for name, a in parts(model).items() if name != "header"}
    assert same(model, load_model(edited(model, **{n: a.astype(a.dtype.newbyteorder()) for n, a in arrays.items()})))
    if isinstance(model, Weights):  # products of the other order differ in their last bits
        other = Weights(model.features, np.asfortranarray(model.W), model.d)
        assert load_model(saved(other)).W.flags.f_contiguous
        assert same(other, load_model(saved(other)))


@each("name", KERNELS)
def test_expansions_of_every_kernel_are_read(name):
    kernel = KERNELS[name](0.37)
    model = Expansion(kernel, 3, 3)
    for m in (6, 11):
        block = np.random.default_rng(m).normal(size=(kernel.feature_map.BLOCK_ROWS, m))
        model.blocks.append(block.astype(np.float32))
        model.decays.append(0.9)
    again = load_model(saved(model))
    assert again.kernel == kernel
    assert same(model, again)


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


def test_orthogonal_frequencies_are_drawn_again():
    model = make_weights(is_orthogonal=True)
    again = load_model(saved(model))
    assert again.features == model.features
    assert same(model, again)
    assert not same(model, make_weights())


# --- headers and arrays that are not those of a model


@every_kind
def test_a_missing_or_foreign_part_is_refused_by_its_name(kind):
    model = KINDS[kind]()
    for name in parts(model):
        assert_refused(edited(model, **{name: None}), f"it has no array {name!r}")
    assert_refused(edited(model, extra=np.zeros(3)), "it has the unknown array 'extra'")
    for name in set(parts(model)["header"]) - {"format", "model"}:
        file = edited(model, header=lambda h, name=name: {k: v for k, v in h.items() if k != name})
        assert_refused(file, f"its header has no field {name!r}")
    assert_refused(edited(model, header=lambda h: {**h, "x" * 99: 1}), "its header has the unknown field 'xxx")
    other = "weights" if kind == "expansion" else "expansion"
    assert_refused(edited(model, header=lambda h: {**h, "model": other}), "its header has no field")


@every_kind
def test_another_kind_or_format_is_refused(kind):
    model = KINDS[kind]()
    for name in (None, "svm", 3, [], "Weights"):
        file = edited(model, header=lambda h, name=name: {**h, "model": name})
        assert_refused(file, f"model must be one of expansion, weights, estimator, got {name!r}")
    for number in (0, 1, 3, 1.5, None, "one"):
        file = edited(model, header=lambda h, number=number: {**h, "format": number})
        assert_refused(file, f"the model file has format {number!r}, this program reads format 2")


@every_kind
def test_a_damaged_header_is_refused(kind):
    model = KINDS[kind]()
    for text in ("", "{", "hello", "[1, 2]", "3", "null", "[" * 4000, "[" * 100_000, '"x"', 3.5, [""]):
        assert_refused(edited(model, header=text), "its header is damaged")
    for code in (0x110000, 2**31 - 1, 2**32 - 1):  # these are no characters
        text = np.array([code] * 3, dtype=np.uint32).view("U3").reshape(())
        assert_refused(edited(model, header=text), "not a model file")
    file = edited(model, header=lambda h: {**h, "kernel": {"name": "x" * MAX_HEADER_CHARACTERS}})
    assert_refused(file, f"it must be text of at most {MAX_HEADER_CHARACTERS} characters")


CONTENTS = {
    "expansion": saved(make_model((3, 2), d=2)).getvalue(),
    "linear weights": saved(make_weights("linear", d=2)).getvalue(),
    "Fourier weights": saved(make_weights(n_features=2, d=2)).getvalue(),
}


@pytest.mark.parametrize("kind", KINDS)
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
        # If only the archive's own book-keeping is hit, a model may come out: then it is the one saved.
        assert model is None or saved(model).getvalue() == good


# --- archives that are none, or of something else


def archive_of(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file


@every_kind
def test_a_truncated_file_is_refused(tmp_path, kind):
    whole = saved(KINDS[kind]()).getvalue()
    for kept in (0, 1, 100, len(whole) // 2, -1):
        (tmp_path / "m.npz").write_bytes(whole[:kept])
        assert_refused(tmp_path / "m.npz", "not a model file")
        assert_refused(io.BytesIO(whole[:kept]), "not a model file")


def test_what_is_no_archive_of_a_model_is_refused(tmp_path):
    single = io.BytesIO()
    np.save(single, np.zeros(3))
    for content in (b"", b"hello", b"\x80\x04K\x01.", b"PK\x03\x04", b"\x93NUMPY\x01\x00", single.getvalue()):
        assert_refused(io.BytesIO(content), "not a model file")
    assert_refused(tmp_path / "none.npz", "none.npz does not exist")
    assert_refused(tmp_path, "not a model file")
    for name in ("header.npy", "header"):
        assert_refused(archive_of(**{name: "hello"}), "'header' is not an array")
    for file in (archive_of(), packed(X=np.zeros((3, 2)), y=np.zeros(3)), packed(W=np.zeros((3, 2)))):
        assert_refused(file, "it has no array 'header'")


def test_an_archive_that_python_does_not_read_is_refused():
    # Encrypted, of an unknown compression, of a later version: places in the local and the central record, and a value.
    for places, value in (((6, 8), b"\x01\x00"), ((8, 10), b"\x63\x00"), ((4, 6), b"\xc8\x00")):
        content = saved(make_model()).getvalue()
        for record, place in zip((b"PK\x03\x04", b"PK\x01\x02"), places, strict=True):
            start = content.index(record) + place
            content = content[:start] + value + content[start + 2 :]
        assert_refused(io.BytesIO(content), "not a model file")


class Trap:
    """Raises when unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


@every_kind
def test_a_pickled_member_is_refused_and_not_run(kind):
    for name in parts(KINDS[kind]()):
        trap = np.array([Trap()], dtype=object)
        file = packed(**parts(KINDS[kind]()) | {"header": None} | {name: trap})
        assert_refused(file, "Object arrays cannot be loaded")


# --- files that would fill memory


def test_an_archive_that_unpacks_to_more_than_itself_is_refused():
    model = Weights(make_weights("linear").features, np.zeros((3, 100_000)), 3)
    assert_refused(packed(np.savez_compressed, **parts(model)), "its arrays are larger than the file")


def with_member(kind, name, content):
    """The file of a model in which one array's file is replaced."""
    with zipfile.ZipFile(saved(KINDS[kind]())) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    return archive_of(**contents | {f"{name}.npy": content})


HUGE = [(10**6, 10**6), (2**30, 2**30), (2**62,), (2**63,), (10**30,), (10**30, 0), (-1,), (-5, -5)]


@every_kind
@each("shape", HUGE)
def test_an_array_that_claims_a_huge_shape_is_refused(kind, shape):
    for name in set(parts(KINDS[kind]())) - {"header"}:
        for dtype in ("<f8", "<i8", "<U1000000"):
            claim = io.BytesIO()
            np.lib.format.write_array_header_1_0(claim, {"descr": dtype, "fortran_order": False, "shape": shape})
            assert_refused(with_member(kind, name, claim.getvalue() + bytes(64)), "not a model file")


def test_the_dimension_in_the_header_is_checked_without_drawing_as_much():
    for kind in ("expansion", "Fourier weights"):
        file = edited(KINDS[kind](), header=lambda h: {**h, "d": 2**31 - 1})
        assert_refused(file, "the model cannot be reproduced here")
    model = make_weights(d=600, n_features=2**11)
    assert load_model(saved(model)).d == 600
    assert_refused(edited(model, header=lambda h: {**h, "d": 601}), "the model cannot be reproduced here")


NO_LITERALS = [b"{'descr': (", b"[" * 5000, b"__import__('os')", b"\x00", b"{}", b"{'descr': 'O'}", b"  x", b"'" * 3]


@every_kind
@each("text", [*NO_LITERALS, b"3L\n  x\n y", b"x" * 20_000])
def test_array_headers_that_are_no_literals_are_refused(kind, text):
    name = next(name for name in parts(KINDS[kind]()) if name != "header")
    header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    assert_refused(with_member(kind, name, header), "not a model file")


def test_numpys_advice_to_load_pickles_is_not_passed_on():
    with pytest.raises(ModelError, match=r"Header info length \(20000\)") as caught:
        load_model(archive_of(**{"header.npy": b"\x93NUMPY\x01\x00" + (20_000).to_bytes(2, "little") + b"x" * 20_000}))
    assert "allow_pickle" not in str(caught.value)


# --- weights


WEIGHTS_KINDS = ("linear", "fourier")
every_kind_of_weights = each("kind", WEIGHTS_KINDS)


@pytest.fixture
def WEIGHTS_X():
    return np.random.default_rng(1).normal(size=(50, 3))


@every_kind_of_weights
def test_scores_are_products_of_features_and_weights(WEIGHTS_X, kind):
    model = make_weights(kind)
    np.testing.assert_array_equal(model.evaluate(WEIGHTS_X), model.features(WEIGHTS_X) @ model.W)
    assert model.evaluate(WEIGHTS_X).shape == (50, 4)
    assert model.evaluate(WEIGHTS_X[:0]).shape == (0, 4)
    np.testing.assert_array_equal(model.evaluate(WEIGHTS_X.tolist()), model.evaluate(WEIGHTS_X))


@every_kind_of_weights
def test_scores_of_many_points_are_made_in_pieces(WEIGHTS_X, kind, monkeypatch):
    model = make_weights(kind)
    expected = model.evaluate(WEIGHTS_X)
    monkeypatch.setattr(weights, "MAX_VALUES", 7 * len(model.W))
    # Products of seven rows and of fifty are summed in another order: rounding of scores of order 1.
    np.testing.assert_allclose(model.evaluate(WEIGHTS_X), expected, rtol=0, atol=1e-14)


def test_the_header_says_what_the_features_are():
    header = parts(make_weights("linear"))["header"]
    fields = {"kind": "linear", "sigma": 0.7, "n_features": 9, "seed": 6, "d": 3, "fingerprint": ""}
    assert header == {"format": 2, "model": "weights", **fields}
    assert len(parts(make_weights())["header"]["fingerprint"]) == 64


KERNELS_WITH_WRONG_FIELDS = ({"name": "gaussian", "sigma": -1.0}, {"name": "gaussian", "width": 1.0})
EXPANSION = {
    "kernel": (None, {}, "gaussian", [1], {"name": ["gaussian"]}, {"name": "sinc"}, *KERNELS_WITH_WRONG_FIELDS),
    "seed": (-1, 2**32, "0"),
    "d": (0, 2.5, None),
    "dtype": ("float16", "object", 4),
}


@each("field, value", [(field, value) for field, wrong in EXPANSION.items() for value in wrong])
def test_a_header_of_an_expansion_with_impossible_values_is_refused(field, value):
    assert_refused(edited(make_model(), header=lambda h: {**h, field: value}), "its header is damaged")


@every_kind_of_weights
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


@every_kind_of_weights
@each("case", wrong_weights(3))
def test_weights_that_do_not_fit_the_features_are_refused(kind, case):
    n = {"linear": 3, "fourier": 18}[kind]
    file = edited(make_weights(kind), W=wrong_weights(n)[case])
    assert_refused(file, f"W must have shape ({n}, K), of float64 and with K of at least 2, got ")


@every_kind_of_weights
@each("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite_are_refused(kind, value):
    W = make_weights(kind).W.copy()
    W[2, 1] = value
    assert_refused(edited(make_weights(kind), W=W), "its weights must be finite numbers")


NOT_FITTING = [
    {"sizes": np.array([7, 1, 20, 7, 63])},
    {"sizes": np.array([7, 1, 20, 71])},
    {"sizes": np.array([8, 0, 20, 7, 64])},
    {"sizes": np.array([9, -1, 20, 7, 64])},
    {"sizes": np.array([7.0, 1.0, 20.0, 7.0, 64.0])},
    {"sizes": np.array(99)},
    {"decays": np.ones(4)},
    {"decays": np.ones((5, 1))},
    {"decays": np.array(["1"] * 5)},
    {"coefficients": np.zeros((2, 98))},
    {"coefficients": np.zeros(99)},
    {"coefficients": np.zeros((3, 99))},
    {"coefficients": np.zeros((2, 99), dtype=np.float32)},
    {"coefficients": np.zeros((2, 99), dtype=complex)},
    {"sizes": np.array([2**62, 2**62, 2**62, 2**62 - 1, 100])},
    {"sizes": np.array(0), "decays": np.array(0.0), "coefficients": np.array(0.0)},
]


@each("members", NOT_FITTING)
def test_arrays_of_an_expansion_that_do_not_fit_together_are_refused(members):
    assert_refused(edited(make_model(), **members), "its arrays do not fit together")


@each("name", ["coefficients", "decays"])
@each("value", [np.nan, np.inf, -np.inf])
def test_numbers_of_an_expansion_that_are_not_finite_are_refused(name, value):
    array = parts(make_model())[name].copy()
    array[..., 3] = value
    assert_refused(edited(make_model(), **{name: array}), "coefficients and decays must be finite numbers")


CANNOT = "the model cannot be reproduced here"


def test_other_random_numbers_are_refused(monkeypatch):
    linear, *drawn = saved(make_weights("linear")), saved(make_weights()), saved(make_model())

    def shifted(self, rng, d, m):
        return rng.standard_normal((d, m), dtype=np.float32) + np.float32(1e-6)

    monkeypatch.setattr(Gaussian, "frequencies", shifted)
    for file in drawn:
        assert_refused(file, CANNOT)
    assert load_model(linear).W.shape == (3, 4)  # has none


@each(
    "model, change",
    [
        *((make_weights(), one) for one in ({"seed": 7}, {"sigma": 0.8}, {"d": 4})),
        *((make_weights(), {"fingerprint": one}) for one in ("0" * 64, "", 3)),
        (make_weights("linear"), {"fingerprint": "0" * 64}),  # it has none
        *((make_model(), one) for one in ({"seed": 7}, {"fingerprint": "0" * 64}, {"fingerprint": None}, {"d": 4})),
    ],
)
def test_a_changed_fingerprint_is_refused(model, change):
    assert_refused(edited(model, header=lambda h: {**h, **change}), CANNOT)


def test_a_loaded_model_can_be_gone_on_with():
    for dtype in ("float32", "float64"):
        for sizes in ((), (1,), (7, 1, 20)):
            model = make_model(sizes, dtype, kernel=Gaussian(1 / 3), seed=2**32 - 1)
            again = load_model(saved(model))
            assert same(model, again)
            assert all(one.flags.carray and one.dtype == dtype for one in again.blocks)
            again.blocks.append(np.ones((2, 4), dtype=again.dtype))
            again.decays.append(1.0)
            assert len(again) == len(again.decays) == len(sizes) + 1


# --- checkpoints of other data


N, D = 600, 3


def make(cls=QSGS2AUC, **parameters):
    return small(cls, **{"n_iter": 20, "batch_size": 8, **parameters})


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    return X, np.where(np.arange(N) % 3 == 0, (X[:, 0] > 0).astype(int), -1)


def refused(model, X, y, file, said):
    with pytest.raises(ModelError) as error:
        model.fit(X, y, checkpoint=file, every=5)
    message = str(error.value)
    assert message.startswith(f"{file} belongs to another run: ")
    assert said in message
    assert message.endswith("; choose another file, or delete it")
    assert "\n" not in message
    return message


@pytest.fixture
def file(points, tmp_path):
    make().fit(*points, checkpoint=tmp_path / "run.npz", every=5)
    return tmp_path / "run.npz"


@each("cls", FOUR)
@each("name", ["run.npz", None])
def test_checkpoints_are_an_iteration_or_more_apart_even_if_there_is_no_file(points, tmp_path, cls, name):
    with pytest.raises(ValueError, match=r"^every must be a whole number between 1 and 2147483647, got -5$"):
        make(cls).fit(*points, checkpoint=name and tmp_path / name, every=-5)


@each("cls", FOUR)
def test_other_labels_and_other_points_are_refused(points, tmp_path_factory, cls):
    X, y = points
    file = tmp_path_factory.mktemp("run") / "run.npz"
    make(cls).fit(X, y, checkpoint=file, every=5)
    said = "the visited points differ" if cls is TSGSU else "the labels differ"  # from these it draws its pairs
    message = refused(make(cls), X, np.where(y < 0, y, 1 - y), file, said)
    assert cls is TSGSU or "points" not in message  # they are the same
    other = np.where(np.arange(N) % 4 == 0, (X[:, 1] > 0).astype(int), -1)
    refused(make(cls), X, other, file, "the labels differ")
    for points_then in (X[:, ::-1], 2 * X):
        refused(make(cls), points_then, y, file, "the visited points differ")


def test_one_visited_row_that_differs_is_enough(points, file):
    X, y = points
    changed = X.copy()
    changed[np.flatnonzero(y >= 0)[::2]] += 1e-3
    refused(make(sigma=0.5), changed, y, file, "the visited points differ")


@each(
    "parameters, said",
    [
        ({"random_state": 3}, "seed was 0 and is 3"),
        ({"lam": 0.5}, "and is 0.5"),
        ({"step_size": 0.25}, "and is 0.25"),
        ({"gamma": 0.25}, "gamma was 0.9 and is 0.25"),
        ({"sigma": 2.0}, "and is 2.0"),
        ({"kernel": "laplacian"}, "kernel was gaussian and is laplacian"),
        ({"batch_size": 16}, "batch_size was 8 and is 16"),
        ({"dtype": "float64"}, "dtype was float32 and is float64"),
        ({"schedule": "theta/t"}, "schedule was constant and is theta/t"),
        ({"n_features": 32}, "n_features was 16 and is 32"),
        ({"n_iter": 12}, "n_iter is 12"),
    ],
)
def test_other_parameters_are_refused_by_name(points, file, parameters, said):
    assert "points" not in refused(make(**parameters), *points, file, said)


def test_the_same_data_in_another_container_go_on(points, file, tmp_path):
    X, y = points
    whole, table = make().fit(X, y), pd.DataFrame(X, columns=list("abc"))
    table.assign(label=y).to_parquet(tmp_path / "table.parquet", row_group_size=70)
    parquet = tmp_path / "table.parquet", "label"
    for held in ((X.copy(), y), (table, y), ([X[:100], X[100:]], y), parquet):
        same_models(make().fit(*held, checkpoint=file, every=5).iterate_, whole.iterate_)


def test_a_longer_run_goes_on_where_its_steps_are_the_same(points, file):
    assert make(n_iter=30).fit(*points, checkpoint=file, every=5).n_iter_ == 30
    changed = 2 * points[0], points[1]
    refused(make(n_iter=40, sigma=0.5), *changed, file, "the visited points differ")


def test_a_file_that_does_not_say_its_data_is_refused(points, tmp_path):
    make().fit(*points).iterate_.save(tmp_path / "old.npz")
    with pytest.raises(
        ModelError,
        match=r"old.npz has no record of its data.*choose another file, or delete it$",
    ):
        make().fit(*points, checkpoint=tmp_path / "old.npz")


@pytest.mark.ci
def test_many_weights_do_not_make_the_file_unreadable(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(2400, 2)), np.arange(2400) % 300
    gamma = tuple(np.random.default_rng(0).random(299))
    given = {"gamma": gamma, "n_iter": 4, "batch_size": 2, "lam": 0.1, "step_size": 0.01}
    make(QS3ORAO, **given).fit(X, y, checkpoint=tmp_path / "run.npz", every=2)
    assert make(QS3ORAO, **given).fit(X, y, checkpoint=tmp_path / "run.npz", every=2).n_iter_ == 4
    refused(make(QS3ORAO, **{**given, "gamma": gamma[::-1]}), X, y, tmp_path / "run.npz", "gamma")


@pytest.fixture(scope="module")
def data(points, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    table = pd.DataFrame(points[0], columns=list("abc")).assign(label=points[1])
    table["other"] = np.where(points[1] < 0, -1, (points[0][:, 1] > 0).astype(int))
    table.to_parquet(folder / "all.parquet", row_group_size=70)
    return folder


def command(data, out, *options, label="label", n_iter=20):
    size = ["--set", f"n_iter={n_iter}", "--set", "n_features=16", "--set", "batch_size=8", "--set", "tol=null"]
    given = [data, "--target", label, "--features", "a,b,c", "--out", out, "--quiet", "--every", 5, *size, *options]
    return ["fit", "QSGS2AUC", *map(str, given)]


@pytest.fixture
def stopped(data, tmp_path, monkeypatch):
    """A folder in which the command was stopped after ten iterations."""
    from dsgcore.solver.checkpoint import Checkpoint

    with monkeypatch.context() as patch:
        interrupt_after(patch, Checkpoint, 10)
        assert main(command(data, tmp_path / "out")) == 130
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("options", "label", "said"),
    [
        ((), "other", "the labels differ"),
        (("--scaling", "none"), "label", "the visited points differ"),
        (("--features", "a,c"), "label", "the visited points differ"),
    ],
)
def test_the_command_does_not_go_on_from_another_run(data, stopped, capsys, options, label, said):
    before = (stopped / "checkpoint.npz").read_bytes()
    assert main(command(data, stopped, *options, label=label)) == 2
    printed = capsys.readouterr().err.splitlines()[-1]
    assert "checkpoint.npz belongs to another run: " in printed
    assert said in printed
    assert (stopped / "checkpoint.npz").read_bytes() == before
    assert main(command(data, stopped)) == 0
    assert len(load_model(stopped / "model.npz")) == 20


@pytest.mark.parametrize(
    ("options", "label", "said"),
    [
        ((), "other", "target was 'label' and is 'other'"),
        (("--features", "a,c"), "label", "features was ['a', 'b', 'c'] and is ['a', 'c']"),
        (("--set", "gamma=0.2"), "label", "gamma was 0.9 and is 0.2"),
    ],
)
def test_a_finished_model_is_replaced_by_the_same_command_alone(data, tmp_path, capsys, options, label, said):
    out = tmp_path / "out"
    assert main(command(data, out)) == 0
    before = (out / "model.npz").read_bytes()
    assert main(command(data, out, *options, label=label)) == 2
    printed = capsys.readouterr().err.splitlines()[-1]
    assert f"{out} holds the model of another run: " in printed
    assert said in printed
    assert "take another folder for --out, or delete" in printed
    assert (out / "model.npz").read_bytes() == before
    assert main(command(data, out)) == 0
    assert (out / "model.npz").read_bytes() == before
    assert json.loads((out / "fit.json").read_text())["target"] == "label"


def test_iterations_of_the_file_are_printed_without_an_objective(points, tmp_path, capsys):
    file = tmp_path / "run.npz"
    make(n_iter=50, verbose=1).fit(*points, checkpoint=file, every=5)
    assert "iteration 50: batch objective" in capsys.readouterr().out
    make(n_iter=50, verbose=1).fit(*points, checkpoint=file, every=5)
    assert "iteration 50: from the checkpoint, change" in capsys.readouterr().out
