"""Data from NumPy archives: accepted and refused contents."""

from __future__ import annotations

import contextlib
import hashlib
import io
import pickle
import zipfile

import numpy as np
import pytest
from cases import each
from data_makers import assert_well_formed, few_examples
from hostile_files import npz
from hypothesis import given
from hypothesis import strategies as st

from dsgcore.data import DataError, load_npz, parse_npz


def points(n: int = 6, d: int = 2) -> np.ndarray:
    return np.arange(n * d, dtype=np.float64).reshape(n, d)


def test_a_file_is_read_with_its_digest(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, X=points(), y=np.array([-1, 1, 1, -1, 1, -1], dtype=np.int8), other=np.ones(3))
    data = load_npz(path)
    assert_well_formed(data)
    assert data.name == "mine"
    assert data.class_names == ("-1", "1")
    np.testing.assert_array_equal(data.y, [0, 1, 1, 0, 1, 0])
    assert data.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert str(tmp_path) not in data.source


@each(
    "labels, positive, codes, names",
    [
        ([0, 1, 2, 0, 1, 2], 1, [0, 1, 0, 0, 1, 0], ("not 1", "1")),
        ([0, 1, 2, 0, 1, 2], "1", [0, 1, 0, 0, 1, 0], ("not 1", "1")),
        ([0.0, 1.0, 2.0, 0.0, 1.0, 2.0], 2.0, [0, 0, 1, 0, 0, 1], ("not 2", "2")),
        (["no", "yes", "no", "yes", "no", "no"], None, [0, 1, 0, 1, 0, 0], ("no", "yes")),
        (["no", "yes", "no", "yes", "no", "no"], "no", [1, 0, 1, 0, 1, 1], ("yes", "no")),
        ([True, False, True, True, True, True], True, [1, 0, 1, 1, 1, 1], ("0", "1")),
        ([3, 7, 3, 3, 3, 3], 3, [1, 0, 1, 1, 1, 1], ("7", "3")),
    ],
)
def test_the_positive_label_can_be_chosen(labels, positive, codes, names):
    data = parse_npz(npz(X=points(), y=np.array(labels)), name="f", positive=positive)
    np.testing.assert_array_equal(data.y, codes)
    assert data.class_names == names


def test_several_classes_and_another_target_are_read():
    content = npz(X=points(), y=np.linspace(0, 1, 6), y5=np.array([5, 1, 3, 3, 1, 5], dtype=np.uint8))
    data = parse_npz(content, name="f", is_binary=False, target="y5")
    np.testing.assert_array_equal(data.y, [2, 0, 1, 1, 0, 2])
    assert data.class_names == ("1", "3", "5")


def with_value(value: float) -> np.ndarray:
    X = points()
    X[4, 1] = value
    return X


Y = np.array([0, 1, 0, 1, 0, 1])
BROKEN = {
    "no X": ({"Z": points(), "y": Y}, {}, "must hold an array 'X', and it holds 'Z', 'y'"),
    "no y": ({"X": points()}, {}, "must hold an array 'y'"),
    "no rows": ({"X": np.ones((0, 2)), "y": Y[:0]}, {}, r"X must have shape.*got \(0, 2\)"),
    "no columns": ({"X": np.ones((6, 0)), "y": Y}, {}, r"X must have shape.*got \(6, 0\)"),
    "text in X": ({"X": np.full((6, 2), "a"), "y": Y}, {}, "X must hold real numbers"),
    "square y": ({"X": points(), "y": Y.reshape(6, 1)}, {}, r"y must have shape \(6,\).*got \(6, 1\)"),
    "dates in y": ({"X": points(), "y": Y.astype("M8[D]")}, {}, "y must hold whole numbers or text"),
    "targets in y": ({"X": points(), "y": Y + 0.5}, {}, "y must hold whole numbers or text, got 0.5 in row 1"),
    "NaN in y": ({"X": points(), "y": np.where(Y, np.nan, 1)}, {}, "got nan in row 2"),
    "NaN in X": ({"X": with_value(np.nan), "y": Y}, {}, "X must be finite.*got nan in row 5, column 2"),
    "infinite X": ({"X": with_value(-np.inf), "y": Y}, {}, "got -inf in row 5, column 2"),
    "huge X": ({"X": with_value(1e300), "y": Y}, {}, "got 1e.300 in row 5, column 2"),
    "one class": ({"X": points(), "y": Y * 0}, {}, "label 'y' must have between 2 and 1000 classes, got '0' alone"),
    "1001 classes": ({"X": points(1001), "y": np.arange(1001)}, {"is_binary": False}, "1000 classes, got 1001"),
    "3 classes": ({"X": points(), "y": Y + (Y.cumsum() > 2)}, {}, "made of 3, .* positive one named: '0', '1', '2'"),
    "unknown label": ({"X": points(), "y": Y}, {"positive": 2}, "positive label must be one of '0', '1', got '2'"),
    "blank label": ({"X": points(), "y": np.where(Y, "a", " ")}, {}, "printable labels"),
    "surrogate": ({"X": points(), "y": np.where(Y, "a", "\ud800")}, {}, "printable labels"),
    "beyond Unicode": (
        {"X": points(), "y": np.array([97, 2**31 - 1] * 3, dtype=np.uint32).view("U1")},
        {},
        "not valid Unicode",
    ),
}


@each("case", BROKEN)
def test_a_broken_file_ends_in_one_sentence(case):
    arrays, options, message = BROKEN[case]
    with pytest.raises(DataError, match=rf"^[^\n]*{message}[^\n]*$"):
        parse_npz(npz(**arrays), name="f", **options)


class Trap:
    """Raises when unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_a_pickle_is_refused_and_never_loaded(tmp_path):
    path = tmp_path / "trap.npz"
    np.savez(path, X=np.array([[Trap()], [Trap()]], dtype=object), y=np.array([0, 1]))
    with pytest.raises(DataError, match="never loaded"):
        load_npz(path)
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(DataError, match="not a zip archive"):
        load_npz(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", pickle.dumps(Trap()))
        archive.writestr("y.npy", pickle.dumps(Trap()))
    with pytest.raises(DataError, match="'X'"):
        load_npz(path)


def test_what_is_not_an_archive_of_arrays_is_refused(tmp_path):
    single = io.BytesIO()
    np.save(single, points())
    for content in (b"", b"X,y\n1,2\n", single.getvalue()):
        with pytest.raises(DataError, match="not a zip archive"):
            parse_npz(content, name="f")
    with pytest.raises(DataError, match=r"cannot read 'none\.npz': there is no such file"):
        load_npz(tmp_path / "none.npz")
    with pytest.raises(DataError, match="holds no files of data"):
        load_npz(tmp_path)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("X", "hello")
        archive.writestr("y", "hello")
    with pytest.raises(DataError, match="'X' must be a NumPy array"):
        parse_npz(buffer.getvalue(), name="f")
    with pytest.raises(DataError, match="must unpack to at most 50 bytes"):
        parse_npz(npz(X=points(), y=Y), name="f", max_bytes=50)


@few_examples
@given(data=st.data())
def test_damaged_bytes_give_a_data_error_or_a_data_set(data):
    content = bytearray(npz(X=points(), y=Y))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))]
    with contextlib.suppress(DataError):
        assert_well_formed(parse_npz(bytes(content), name="f"))


@each("labels", [None, Y[:5], Y + 0.5, Y * 0, b"junk"])
def test_no_message_repeats_a_long_name(labels):
    name = "q" * 20_000
    arrays = {"X": points()} if labels is None or isinstance(labels, bytes) else {"X": points(), name: labels}
    buffer = io.BytesIO(npz(**arrays))
    if isinstance(labels, bytes):
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr(name, labels)
    with pytest.raises(DataError) as refused:
        parse_npz(buffer.getvalue(), name="f", target=name)
    assert len(str(refused.value)) < 400
