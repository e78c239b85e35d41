"""Data sets, files, and the split that hides labels."""

from __future__ import annotations

import contextlib
import hashlib
import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits

from dsgcore.data import (
    DataError,
    Dataset,
    breast_cancer,
    circles,
    digits_even_odd,
    draw_pairs,
    gaussian_mixture,
    hide_labels,
    load,
    load_npz,
    misleading_gap,
    parse_npz,
    two_moons,
    xor,
)

GENERATED = [two_moons, circles, xor, gaussian_mixture, misleading_gap]
BUNDLED = [digits_even_odd, breast_cancer]
seeds = st.integers(0, 2**32 - 1)
few_examples = settings(max_examples=25, deadline=None)  # the machine may be busy


def assert_well_formed(data: Dataset) -> None:
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    assert data.y.dtype == np.int64
    assert data.X.shape == (len(data.y), len(data.feature_names))
    assert set(np.unique(data.y)) == set(range(len(data.class_names)))
    assert np.isfinite(data.X).all()


def labeled_data(counts: list[int], d: int = 3, seed: int = 0) -> Dataset:
    """Return random points with given class counts, sorted by class."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    X = (rng.standard_normal((len(y), d)) * 50 + 7).astype(np.float32)
    names = tuple(f"x{j}" for j in range(d))
    return Dataset("made", X, y, names, tuple("abcdefgh"[: len(counts)]), "test", "none")


# Generated and bundled data


@few_examples
@given(
    make=st.sampled_from(GENERATED),
    n=st.integers(20, 400),
    noise=st.floats(0, 2),
    imbalance=st.floats(0.001, 0.999),
    seed=seeds,
)
def test_generated_data_have_the_asked_size_and_share_and_repeat_bit_by_bit(make, n, noise, imbalance, seed):
    data = make(n=n, noise=noise, imbalance=imbalance, seed=seed)
    assert_well_formed(data)
    assert data.y.sum() == min(max(round(n * imbalance), 1), n - 1)
    again = make(n=n, noise=noise, imbalance=imbalance, seed=seed)
    assert data.X.tobytes() == again.X.tobytes()
    assert data.y.tobytes() == again.y.tobytes()


@pytest.mark.parametrize("make", GENERATED)
def test_noise_is_the_standard_deviation_of_what_is_added(make):
    clean, noisy = (make(n=20_000, noise=noise, seed=3) for noise in (0.0, 0.7))
    np.testing.assert_array_equal(clean.y, noisy.y)
    added = noisy.X.astype(np.float64) - clean.X
    # The standard deviation of 20,000 draws has a relative standard error of 1/sqrt(40,000) = 0.5 %; allow 4.
    np.testing.assert_allclose(added.std(axis=0), 0.7, rtol=0.02)


@pytest.mark.parametrize("make", GENERATED)
def test_seeds_and_generators_differ_and_rows_are_shuffled(make):
    assert not np.array_equal(make(seed=1).X, make(seed=2).X)
    y = make(n=1000, seed=1).y
    assert 400 < np.abs(np.diff(y)).sum() < 600  # 499.5 changes are expected, standard deviation 16


def test_clean_shapes_are_what_they_say():
    radius = np.linalg.norm(circles(noise=0).X, axis=1)
    np.testing.assert_allclose(radius, np.where(circles(noise=0).y == 1, 0.5, 1.0), rtol=1e-6)
    square = xor(noise=0, imbalance=0.2)
    np.testing.assert_array_equal(square.X.prod(axis=1) > 0, square.y == 1)
    mixture = gaussian_mixture(noise=0)
    assert len(np.unique(mixture.X, axis=0)) == 6
    assert len(np.unique(mixture.X[mixture.y == 1], axis=0)) == 3


@pytest.mark.parametrize("make", GENERATED)
@pytest.mark.parametrize(
    "options",
    [
        {"n": 19},
        {"n": 1_000_001},
        {"n": 30.5},
        {"n": True},
        {"noise": -0.1},
        {"noise": float("nan")},
        {"noise": float("inf")},
        {"noise": 10**400},
        {"noise": "0.1"},
        {"imbalance": 0.0},
        {"imbalance": 1.0},
        {"imbalance": float("nan")},
        {"seed": -1},
        {"seed": 2**32},
        {"seed": "one"},
    ],
)
def test_generators_refuse_bad_options_naming_them(make, options):
    (name,) = options
    with pytest.raises(DataError, match=f"^{name} must be"):
        make(**options)


def test_bundled_data_are_whole_by_default():
    digits, cancer = digits_even_odd(), breast_cancer()
    assert_well_formed(digits)
    assert_well_formed(cancer)
    np.testing.assert_array_equal(digits.X, load_digits().data)
    np.testing.assert_array_equal(digits.y, load_digits().target % 2 == 0)
    # Malignant is positive here and 0 in scikit-learn.
    np.testing.assert_array_equal(cancer.y, load_breast_cancer().target == 0)
    assert cancer.class_names == ("benign", "malignant")


@few_examples
@given(make=st.sampled_from(BUNDLED), n=st.integers(20, 500), seed=seeds)
def test_bundled_subsamples_keep_the_class_shares(make, n, seed):
    data, everything = make(n=n, seed=seed), make()
    assert_well_formed(data)
    assert len(data.y) == n
    assert abs(data.y.sum() - n * everything.y.mean()) <= 0.5
    assert data.X.tobytes() == make(n=n, seed=seed).X.tobytes()


@few_examples
@given(make=st.sampled_from(BUNDLED), imbalance=st.floats(0.02, 0.98), seed=seeds)
def test_bundled_imbalance_drops_rows_of_one_class_only(make, imbalance, seed):
    before, after = (np.bincount(make(imbalance=i, seed=seed).y) for i in (None, imbalance))
    assert (before == after).any()
    assert (after <= before).all()
    # Rounding the dropped class by half a row moves the share by less than half a row's weight.
    assert abs(after[1] / after.sum() - imbalance) <= 0.5 / after.sum()


def test_bundled_noise_is_in_units_of_each_feature_and_of_the_row():
    clean, noisy = breast_cancer(), breast_cancer(noise=0.5, seed=4)
    ratio = (noisy.X - clean.X).std(axis=0) / clean.X.std(axis=0)
    # 569 draws: relative standard error 1/sqrt(1138) = 3 %; allow five over 30 features.
    np.testing.assert_allclose(ratio, 0.5, rtol=0.15)
    constant = np.ptp(digits_even_odd().X, axis=0) == 0
    assert constant.any()
    assert (np.ptp(digits_even_odd(noise=2.0).X, axis=0)[constant] == 0).all()
    few = breast_cancer(n=50, noise=0.5, seed=4)
    assert set(map(bytes, few.X)) <= set(map(bytes, noisy.X))


@pytest.mark.parametrize("make", BUNDLED)
@pytest.mark.parametrize(
    "options",
    [{"n": 19}, {"n": 2000}, {"noise": -1}, {"imbalance": 0}, {"imbalance": 1.5}, {"seed": -1}],
)
def test_bundled_data_refuse_bad_options_naming_them(make, options):
    (name,) = options
    with pytest.raises(DataError, match=f"^{name} must be"):
        make(**options)


def test_a_subsample_larger_than_what_the_imbalance_leaves_says_how_many_are_left():
    with pytest.raises(DataError, match=r"between 20 and 446 \(the rows left\), got 500"):
        breast_cancer(n=500, imbalance=0.2)


# Files


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


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


@pytest.mark.parametrize(
    ("labels", "positive", "codes", "names"),
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
    "no X": ({"Z": points(), "y": Y}, {}, "must hold an array 'X', and it holds Z, y"),
    "no y": ({"X": points()}, {}, "must hold an array 'y'"),
    "no arrays": ({}, {}, "must hold an array 'X', and it holds nothing"),
    "flat X": ({"X": np.ones(6), "y": Y}, {}, r"X must have shape \(n, d\).*got \(6,\)"),
    "no rows": ({"X": np.ones((0, 2)), "y": Y[:0]}, {}, r"X must have shape.*got \(0, 2\)"),
    "no columns": ({"X": np.ones((6, 0)), "y": Y}, {}, r"X must have shape.*got \(6, 0\)"),
    "text in X": ({"X": np.full((6, 2), "a"), "y": Y}, {}, "X must hold real numbers"),
    "complex X": ({"X": points() * 1j, "y": Y}, {}, "X must hold real numbers"),
    "short y": ({"X": points(), "y": Y[:5]}, {}, r"y must have shape \(6,\).*got \(5,\)"),
    "square y": ({"X": points(), "y": Y.reshape(6, 1)}, {}, r"y must have shape \(6,\).*got \(6, 1\)"),
    "dates in y": ({"X": points(), "y": Y.astype("M8[D]")}, {}, "y must hold whole numbers or text"),
    "targets in y": (
        {"X": points(), "y": Y + 0.5},
        {},
        "y must hold whole numbers or text, got 0.5 in row 0",
    ),
    "NaN in y": ({"X": points(), "y": np.where(Y, np.nan, 1)}, {}, "got nan in row 1"),
    "NaN in X": ({"X": with_value(np.nan), "y": Y}, {}, "X must be finite.*got nan in row 4, column 1"),
    "infinite X": ({"X": with_value(-np.inf), "y": Y}, {}, "got -inf in row 4, column 1"),
    "huge X": ({"X": with_value(1e300), "y": Y}, {}, "got 1e.300 in row 4, column 1"),
    "one class": ({"X": points(), "y": Y * 0}, {}, "between 2 and 1000 classes, got 1"),
    "1001 classes": (
        {"X": points(1001), "y": np.arange(1001)},
        {"is_binary": False},
        "1000 classes, got 1001",
    ),
    "3 classes": (
        {"X": points(), "y": Y + (Y.cumsum() > 2)},
        {},
        "3 classes needs the positive one named: 0, 1, 2",
    ),
    "unknown label": (
        {"X": points(), "y": Y},
        {"positive": 2},
        "positive must be one of the labels 0, 1, got 2",
    ),
    "blank label": ({"X": points(), "y": np.where(Y, "a", " ")}, {}, "printable labels"),
    "surrogate": ({"X": points(), "y": np.where(Y, "a", "\ud800")}, {}, "printable labels"),
    "beyond Unicode": (
        {"X": points(), "y": np.array([97, 2**31 - 1] * 3, dtype=np.uint32).view("U1")},
        {},
        "not valid Unicode",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_ends_in_one_sentence(case):
    arrays, options, message = BROKEN[case]
    with pytest.raises(DataError, match=message) as caught:
        parse_npz(npz(**arrays), name="f", **options)
    assert "\n" not in str(caught.value)


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
    with pytest.raises(DataError, match=r"cannot read 'none\.npz': there is no such file"):
        load_npz(tmp_path / "none.npz")
    with pytest.raises(DataError, match="not a readable file"):
        load_npz(tmp_path)
    for content in (b"", b"X,y\n1,2\n"):
        with pytest.raises(DataError, match="not a zip archive"):
            parse_npz(content, name="f")
    single = io.BytesIO()
    np.save(single, points())
    with pytest.raises(DataError, match="not a zip archive"):
        parse_npz(single.getvalue(), name="f")


def test_members_that_are_no_arrays_or_unpack_to_too_much_are_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("X", "hello")
        archive.writestr("y", "hello")
    with pytest.raises(DataError, match="'X' must be a NumPy array"):
        parse_npz(buffer.getvalue(), name="f")
    with pytest.raises(DataError, match="must unpack to at most 50 bytes"):
        parse_npz(npz(X=points(), y=Y), name="f", max_bytes=50)


def test_a_header_that_promises_more_than_there_is_is_refused():
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("X.npy", header.getvalue())
        archive.writestr("y.npy", header.getvalue())
    with pytest.raises(DataError, match="damaged"):
        parse_npz(buffer.getvalue(), name="f")


@few_examples
@given(data=st.data())
def test_damaged_bytes_give_a_data_error_or_a_data_set(data):
    content = bytearray(npz(X=points(), y=Y))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))]
    with contextlib.suppress(DataError):
        assert_well_formed(parse_npz(bytes(content), name="f"))


# Splits


@st.composite
def askable(draw):
    """Class counts, and a split that they allow."""
    counts = draw(st.lists(st.integers(2, 60), min_size=2, max_size=5))
    n, k = sum(counts), len(counts)
    n_test = draw(st.integers(k, min(n - k, int(0.9 * n)))) if min(n - k, int(0.9 * n)) >= k else None
    if n_test is None or n - n_test < 2:
        counts, n, n_test = [20] * k, 20 * k, 5 * k
    return counts, n_test, draw(st.integers(k, n - n_test))


@few_examples
@given(asked=askable(), seed=seeds, stratified=st.booleans())
def test_a_split_is_a_partition_with_the_asked_numbers(asked, seed, stratified):
    counts, n_test, n_labeled = asked
    data = labeled_data(counts)
    n = len(data.y)
    split = hide_labels(data, n_labeled, n_test / n, seed, stratified)
    np.testing.assert_array_equal(np.sort(np.r_[split.train_rows, split.test_rows]), np.arange(n))
    assert len(split.y_test) == len(split.X_test) == n_test
    np.testing.assert_array_equal(split.y_hidden, data.y[split.train_rows])
    np.testing.assert_array_equal(split.y_test, data.y[split.test_rows])
    np.testing.assert_array_equal(split.labeled, np.flatnonzero(split.y_train != -1))
    np.testing.assert_array_equal(split.y_train[split.labeled], split.y_hidden[split.labeled])
    assert len(split.labeled) == n_labeled
    if stratified:
        every_class = set(range(len(counts)))
        assert set(split.y_test) == set(split.y_hidden) == set(split.y_train) - {-1} == every_class


@few_examples
@given(asked=askable(), seed=seeds, scaling=st.sampled_from(["unit", "standard", "none"]))
def test_the_same_seed_gives_the_same_bits(asked, seed, scaling):
    counts, n_test, n_labeled = asked
    data = labeled_data(counts)
    first, second = (hide_labels(data, n_labeled, n_test / len(data.y), seed, scaling=scaling) for _ in "ab")
    for name in ("X_train", "y_train", "y_hidden", "X_test", "y_test", "labeled", "train_rows", "test_rows"):
        a, b = getattr(first, name), getattr(second, name)
        assert a.dtype == b.dtype == (np.float32 if name.startswith("X") else np.int64)
        assert a.flags.c_contiguous
        assert a.tobytes() == b.tobytes()


@few_examples
@given(seed=seeds, size=st.floats(1e-20, 1e20))
def test_training_rows_fill_the_unit_interval_exactly_and_test_rows_are_not_clipped(seed, size):
    data = labeled_data([40, 60], d=5)
    data.X[:] *= np.float32(size)
    split = hide_labels(data, 10, 0.5, seed)
    np.testing.assert_array_equal(split.X_train.min(axis=0), 0)
    np.testing.assert_array_equal(split.X_train.max(axis=0), 1)
    raw = data.X[split.test_rows].astype(np.float64)
    expected = (raw - split.scaling.offset) / split.scaling.width
    # float32: half a unit in the last place for the difference and for the quotient; values are of order 1.
    np.testing.assert_allclose(split.X_test, expected, rtol=3e-7, atol=3e-7)
    np.testing.assert_array_equal(split.scaling.apply(data.X[split.test_rows]), split.X_test)


def test_some_test_rows_leave_the_unit_interval():
    split = hide_labels(labeled_data([500, 500], d=5), 10, 0.5, seed=0)
    assert split.X_test.min() < 0
    assert split.X_test.max() > 1


def test_standard_scaling_gives_mean_zero_and_deviation_one_on_training_rows():
    split = hide_labels(labeled_data([400, 600], d=70), 10, 0.3, 1, scaling="standard")
    # float32 means of 700 values of order 1: rounding errors below 1e-6.
    np.testing.assert_allclose(split.X_train.mean(axis=0, dtype=np.float64), 0, atol=1e-6)
    np.testing.assert_allclose(split.X_train.std(axis=0, dtype=np.float64), 1, atol=1e-6)


def test_no_scaling_leaves_the_points_alone():
    data = labeled_data([40, 60])
    split = hide_labels(data, 10, 0.3, 1, scaling="none")
    assert split.X_train.tobytes() == data.X[split.train_rows].tobytes()
    assert split.X_test.tobytes() == data.X[split.test_rows].tobytes()


@pytest.mark.parametrize("scaling", ["unit", "standard"])
def test_features_that_are_constant_on_the_training_rows_become_zero(scaling):
    data = labeled_data([40, 60])
    rows = hide_labels(data, 10, 0.3, 1).test_rows
    data.X[:, 0] = 0.1
    data.X[rows[0], 0] = 9.0
    split = hide_labels(data, 10, 0.3, 1, scaling=scaling)
    assert (split.X_train[:, 0] == 0).all()
    assert (split.X_test[:, 0] == 0).all()
    assert split.scaling.width[0] == 0


def test_splitting_leaves_the_data_set_as_it_was():
    data = labeled_data([40, 60])
    before = data.X.copy(), data.y.copy()
    split = hide_labels(data, 10, 0.3, 1, scaling="none")
    split.X_train[:] = 0
    split.y_train[:] = 0
    np.testing.assert_array_equal(data.X, before[0])
    np.testing.assert_array_equal(data.y, before[1])


@few_examples
@given(seed=seeds, n_labeled=st.integers(4, 300))
def test_labeled_counts_follow_the_prior_but_reach_every_class(seed, n_labeled):
    split = hide_labels(labeled_data([10, 90, 300, 600]), n_labeled, 0.3, seed)
    np.testing.assert_array_equal(np.bincount(split.y_hidden), [7, 63, 210, 420])
    labeled = np.bincount(split.y_train[split.labeled], minlength=4)
    ideal = n_labeled * np.array([0.01, 0.09, 0.3, 0.6])
    assert (labeled >= 1).all()
    # Rounding moves a count by one half, making the sum right by one more; the two rarest may be raised to 1.
    assert (labeled - ideal <= 1.5).all()
    assert (ideal - labeled <= 2.5).all()


def test_every_row_is_as_likely_to_be_labeled_as_another_of_its_class():
    data = labeled_data([20, 20])
    drawn = np.zeros(40)
    for seed in range(2000):
        split = hide_labels(data, 8, 0.5, seed)
        drawn[split.train_rows[split.labeled]] += 1
    # Binomial with mean 2000 * 8/40 = 400 and standard deviation 18; allow five.
    assert np.abs(drawn - 400).max() < 90


def test_more_labels_with_the_same_seed_keep_the_test_rows():
    data = labeled_data([100, 100])
    few, many = (hide_labels(data, n_labeled, 0.3, 5) for n_labeled in (10, 50))
    np.testing.assert_array_equal(few.X_test, many.X_test)
    assert set(few.labeled) < set(many.labeled)


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        ([50, 50], {"n_labeled": 71}, r"between 2 and 70 \(the number of training rows\), got 71"),
        ([50, 50], {"n_labeled": 1}, "^n_labeled must be a whole number between 2 and 70"),
        ([50, 50], {"n_labeled": 2.5}, "^n_labeled must be a whole number"),
        ([50, 50], {"test_share": 0}, "^test_share must be greater than 0 and at most 0.9, got 0$"),
        ([50, 50], {"test_share": 0.91}, "^test_share must be greater than 0"),
        ([50, 50], {"test_share": float("nan")}, "^test_share must be greater than 0"),
        ([50, 50], {"seed": -1}, "^seed must be a whole number"),
        ([50, 50], {"scaling": "log"}, "^scaling must be one of unit, standard, none, got 'log'$"),
        ([50, 1], {}, "^each class must have at least 2 rows, got 1 of 'b'$"),
        ([50, 0, 50], {}, "^each class must have at least 2 rows, got 0 of 'b'$"),
        ([50, 50, 50], {"n_labeled": 2}, "^n_labeled must be at least 3, one for each class, got 2$"),
        ([10, 10], {"test_share": 0.05}, "^the number of test rows must be at least 2"),
        ([6, 7, 7], {"test_share": 0.9, "n_labeled": 2}, "must be at least 3"),
        ([2, 2], {"test_share": 0.9, "n_labeled": 2}, "^at least 2 training rows must be left, got 0 of 4"),
    ],
)
def test_a_split_that_cannot_be_made_is_refused_with_one_sentence(counts, options, message):
    with pytest.raises(DataError, match=message):
        hide_labels(labeled_data(counts), **({"n_labeled": 10, "test_share": 0.3, "seed": 0} | options))


def test_all_training_rows_may_keep_their_labels():
    split = hide_labels(labeled_data([50, 50]), 70, 0.3, 0)
    np.testing.assert_array_equal(split.y_train, split.y_hidden)


def test_pairs_share_a_class_and_leave_the_shares_of_the_others():
    data = load("gaussian_mixture", n=2000, imbalance=0.7)
    split = draw_pairs(data, 200, 0.3, seed=1)
    ids = split.y_train[split.labeled]
    assert np.bincount(ids).tolist() == [2] * 200
    for pair in range(200):
        assert len(set(split.y_hidden[split.y_train == pair])) == 1
    # pi^2 / (pi^2 + (1 - pi)^2) = 0.845 of the pairs are positive, give or take three standard errors of 0.026.
    assert np.mean(split.y_hidden[split.labeled]) == pytest.approx(0.845, abs=0.08)
    assert np.mean(split.y_hidden[split.y_train == -1]) == pytest.approx(0.7, abs=0.01)
    again = draw_pairs(data, 200, 0.3, seed=1)
    assert again.X_train.tobytes() == split.X_train.tobytes()
    assert again.y_train.tolist() == split.y_train.tolist()


@pytest.mark.parametrize("n_pairs", [0, -1, 1.5, 400, 10**6])
def test_more_pairs_than_the_rows_allow_get_one_sentence(n_pairs):
    with pytest.raises(DataError, match="similar pairs") as caught:
        draw_pairs(load("two_moons", n=1000, imbalance=0.7), n_pairs, 0.3, seed=0)
    assert "\n" not in str(caught.value)
