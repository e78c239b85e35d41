"""Files that are no models: no archives, archives of something else, or made to fill memory or to run code."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from saved_models import KINDS, assert_refused, edited, make_model, make_weights, packed, parts, saved

from dsgcore import ModelError, load_model
from dsgcore.multiclass.weights import Weights

every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, -1])
def test_a_truncated_file_is_refused(tmp_path, kind, kept):
    content = saved(KINDS[kind]()).getvalue()
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


def archive_of(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file


def test_an_archive_of_other_things_is_refused():
    assert_refused(archive_of(**{"header.npy": "hello"}), "'header' is not an array")
    assert_refused(archive_of(header="hello"), "'header' is not an array")
    assert_refused(archive_of(), "it has no array 'header'")


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


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert_refused(tmp_path / "none.npz", "No such file")
    assert_refused(tmp_path, "not a model file")


def test_data_and_models_of_earlier_formats_are_refused():
    assert_refused(packed(X=np.zeros((3, 2)), y=np.zeros(3)), "it has no array 'header'")
    assert_refused(packed(W=np.zeros((3, 2)), features=np.array("linear")), "it has no array 'header'")


# Files that would fill memory.


def test_an_archive_that_unpacks_to_more_than_itself_is_refused():
    model = Weights(make_weights("linear").features, np.zeros((3, 100_000)), 3)
    assert_refused(packed(np.savez_compressed, **parts(model)), "its arrays are larger than the file")


def claiming(shape, dtype="<f8"):
    """An array's file whose header claims this shape, with 64 bytes of numbers."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(64)


HUGE = [(10**6, 10**6), (2**30, 2**30), (2**62,), (2**63,), (10**30,), (10**30, 0), (-1,), (-5, -5)]


@pytest.mark.parametrize("shape", HUGE, ids=str)
@every_kind
def test_an_array_that_claims_a_huge_shape_is_refused(kind, shape):
    names = [name for name in parts(KINDS[kind]()) if name != "header"]
    with zipfile.ZipFile(saved(KINDS[kind]())) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    for name in names:
        for dtype in ("<f8", "<i8", "<U1000000"):
            file = archive_of(**contents | {f"{name}.npy": claiming(shape, dtype)})
            assert_refused(file, "not a model file")


@pytest.mark.parametrize("kind", ["expansion", "Fourier weights"])
def test_a_huge_dimension_in_the_header_is_refused_without_drawing_as_much(kind):
    assert_refused(edited(KINDS[kind](), header=lambda h: {**h, "d": 2**31 - 1}), "the model cannot be reproduced here")


def test_the_number_of_coordinates_is_told_even_where_there_are_many():
    model = make_weights(d=600, n_features=2**11)
    assert load_model(saved(model)).d == 600
    assert_refused(edited(model, header=lambda h: {**h, "d": 601}), "the model cannot be reproduced here")


@every_kind
def test_array_headers_that_are_no_literals_are_refused(kind):
    name = next(name for name in parts(KINDS[kind]()) if name != "header")
    with zipfile.ZipFile(saved(KINDS[kind]())) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    for text in (
        b"{'descr': (",
        b"[" * 5000,
        b"__import__('os')",
        b"\x00",
        b"{}",
        b"{'descr': 'O'}",
        b"  x",
        b"'" * 3,
        b"3L\n  x\n y",
        b"x" * 20_000,
    ):
        header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
        assert_refused(archive_of(**contents | {f"{name}.npy": header}), "not a model file")


def test_numpys_advice_to_load_pickles_is_not_passed_on():
    with pytest.raises(ModelError) as caught:
        load_model(archive_of(**{"header.npy": b"\x93NUMPY\x01\x00" + (20_000).to_bytes(2, "little") + b"x" * 20_000}))
    assert "Header info length (20000)" in str(caught.value)
    assert "allow_pickle" not in str(caught.value)
