"""Model files of every kind: one function reads them all, and refuses whatever is none, fills memory or runs code."""

import io
import json
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_models import KINDS, assert_refused, edited, make_model, make_weights, packed, parts, saved

from dsgcore import Expansion, ModelError, load_model
from dsgcore.kernels import KERNELS
from dsgcore.multiclass.weights import Weights
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


@each("name", KERNELS)
def test_expansions_of_every_kernel_are_read(name):
    kernel = KERNELS[name](0.37)
    model = Expansion(kernel, 3, 3)
    for m in (6, 11):
        block = np.random.default_rng(m).normal(size=(kernel.feature_map.BLOCK_ROWS, m))
        model.append(block.astype(np.float32), 0.9)
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
