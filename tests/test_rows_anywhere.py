"""Out-of-core rows: the model is bit-for-bit that of the array in memory, however the rows are cut."""

import numpy as np
import pandas as pd
import pytest
from cases import each
from four_estimators import FOUR, SMALL, make
from four_estimators import same as same_model

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.data import DataError, rows_of
from dsgcore.prior import MAX_POINTS
from dsgcore.prior.samples import at_most
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled

N, D = 4000, 3
# Three ways to cut the rows; the last one has a part without rows, and a part without a label.
CUTS = ([], [1, 2048, 2049], [500, 500, 1300, 2000])


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    y = np.where(rng.random(N) < 0.1, (X[:, 0] > 0).astype(int), -1)
    y[500:1300] = -1
    return X, y


def cut(values, edges):
    return np.split(values, edges)


def as_maps(folder, X, y, edges):
    files = []
    for number, own in enumerate(cut(X, edges)):
        np.save(folder / f"{number}.npy", own)
        files.append(np.load(folder / f"{number}.npy", mmap_mode="r" if len(own) else None))
    return files, y


def as_parquet(folder, X, y, edges):
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(label=y.astype(np.int8))
    for number, own in enumerate(np.split(np.arange(N), edges)):
        table.iloc[own].to_parquet(folder / f"part-{number:03}.parquet", row_group_size=700)
    return folder, "label"


def as_dask_array(folder, X, y, edges):
    array = pytest.importorskip("dask.array", reason="dask is not installed: pip install dsg-lab[dask]")
    sizes = tuple(len(own) for own in cut(y, edges))
    return array.from_array(X, chunks=(sizes, (1, D - 1))), array.from_array(y, chunks=(sizes,))


def as_dask_table(folder, X, y, edges):
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed: pip install dsg-lab[dask]")
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(label=y)
    parts = [frames.from_pandas(table.iloc[own], npartitions=1) for own in np.split(np.arange(N), edges) if len(own)]
    return frames.concat(parts), "label"


def same(one, other):
    same_model(one.model_, other.model_)
    for name in ("threshold_", "thresholds_", "shift_", "step_size_", "lam_", "prior_"):
        assert np.array_equal(getattr(one, name, 0.0), getattr(other, name, 0.0))


@each("cls", FOUR)
@each("dtype", ["float32", "float64"])
def test_a_model_of_memory_maps_is_that_of_the_array(points, tmp_path_factory, cls, dtype):
    of_array = make(cls, dtype=dtype).fit(*points)
    for edges in CUTS:
        same(make(cls, dtype=dtype).fit(*as_maps(tmp_path_factory.mktemp("maps"), *points, edges)), of_array)


@pytest.mark.parametrize("place", [as_parquet, as_dask_array, as_dask_table])
def test_so_are_those_of_parquet_files_and_of_dask(points, tmp_path_factory, place):
    X, y = points[0].astype(np.float32), points[1]
    for cls in FOUR:
        of_array = make(cls).fit(X, y)
        for edges in CUTS:
            same(make(cls).fit(*place(tmp_path_factory.mktemp("parts"), X, y, edges)), of_array)


def test_a_small_set_that_is_carried_whole_is_the_same_too(points):
    X, y = points[0][-60:], np.where(np.arange(60) < 20, np.arange(60) % 2, -1)
    dense = {"batch_size": 512, "n_iter": 20}
    same(make(QSGS2AUC, **dense).fit([X[:7], X[7:]], y), make(QSGS2AUC, **dense).fit(X, y))


def test_pair_ids_are_labels_as_well_and_the_prior_is_estimated_from_the_same_points(points, tmp_path, monkeypatch):
    X, ids, looked_at = points[0], np.full(N, -1), []
    ids[np.random.default_rng(0).choice(N, 2400, replace=False)] = np.arange(2400) // 2

    def estimate(similar, unlabeled, seed):
        looked_at.append((similar, unlabeled))
        return 0.7

    monkeypatch.setattr("dsgcore.estimators.similar_unlabeled.similar_class_prior", estimate)
    of_array = TSGSU(**SMALL).fit(X, ids)
    same(TSGSU(**SMALL).fit(*as_maps(tmp_path, X, ids, CUTS[1])), of_array)
    rows, names = SimilarUnlabeled().rows(ids), ("component", "mixture")
    whole = [at_most(MAX_POINTS, X[own], 0, name) for own, name in zip(rows.values(), names, strict=True)]
    for own in looked_at:
        assert [len(one) for one in own] == [MAX_POINTS, MAX_POINTS]
        assert all(np.array_equal(one, other) for one, other in zip(own, whole, strict=True))


def test_more_rows_than_are_kept_are_evaluated_in_one_more_pass(points, monkeypatch):
    monkeypatch.setattr("dsgcore.solver.model.POINTS_AT_A_TIME", 999)
    for place in ("data.out_of_core.rows", "estimators.out_of_core"):
        monkeypatch.setattr(f"dsgcore.{place}.SAMPLE", 100)
    rows, y = rows_of(cut(points[0], CUTS[1]), points[1])
    same(make(TSGS3VM, sigma=0.5).fit(rows, y), make(TSGS3VM, sigma=0.5).fit(*points))
    assert rows.parts_read <= 2 * 4


def test_a_run_goes_on_with_rows_of_another_place(points, tmp_path):
    X, y = points
    one, other = make(QSGS2AUC), make(QSGS2AUC)
    for part in (slice(0, 2000), slice(2000, N)):
        one.partial_fit(X[part], y[part], classes=[0, 1])
        other.partial_fit([X[part][:3], X[part][3:]], y[part], classes=[0, 1])
    same(other, one)
    with pytest.raises(ValueError, match="X must have 3 columns as at the first call, got 2"):
        other.partial_fit([X[:, :2]], y)


class Watched(np.ndarray):
    """An array that records the rows that are read."""

    def __getitem__(self, key):
        if isinstance(key, np.ndarray):
            self.asked.append(key)
        return np.asarray(self).__getitem__(key)


@pytest.mark.parametrize("cls", [QSGS2AUC, QS3ORAO])
def test_all_that_a_run_needs_is_read_in_one_pass_and_nothing_else(points, monkeypatch, cls):
    monkeypatch.setattr("dsgcore.data.out_of_core.rows.SAMPLE", 100)
    monkeypatch.setattr("dsgcore.estimators.out_of_core.SAMPLE", 100)
    for room in ("neighbours", "out_of_core"):
        monkeypatch.setattr(f"dsgcore.estimators.{room}.MOST_POINTS", 100)
    monkeypatch.setattr("dsgcore.estimators.neighbours.POINTS_CUT", 50)
    arrays = [own.view(Watched) for own in cut(points[0], CUTS[1])]
    for array in arrays:
        array.asked = []
    told = []
    rows, y = rows_of(arrays, points[1], tell=lambda *said: told.append(said))
    make(cls, n_iter=5, batch_size=4, sigma=0.5).fit(rows, y)
    assert [len(array.asked) for array in arrays] == [1, 1, 0, 1]
    assert 0 < sum(len(own) for array in arrays for own in array.asked) < N / 2
    assert rows.parts_read == 3
    assert [said[1:] for said in told] == [(1, 3), (2, 3), (3, 3)]


def test_who_is_told_can_end_it_and_the_estimator_is_as_it_was(points):
    X, y = points
    model = make(QSGS2AUC).fit(X, y)
    before, seen = model.model_, []

    def end(name, done, of):
        seen.append(done)
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(*rows_of(cut(X, CUTS[1]), y, tell=end))
    assert seen == [1, 2]
    assert model.model_ is before


def test_a_part_that_cannot_be_used_is_named_in_one_sentence(points, tmp_path):
    X, y = points[0].copy(), points[1]
    folder, label = as_parquet(tmp_path, X, y, CUTS[1])
    with pytest.raises(DataError, match="no column 'height'"):
        rows_of(folder, label, features=["height"])
    X[2100, 1] = np.nan
    as_parquet(tmp_path, X, y, CUTS[1])
    said = r"part 6 of 8 \(part-003.parquet, row group 0\) holds NaN.* row 52, column 'x1'"
    with pytest.raises(DataError, match=said):
        make(QSGS2AUC, batch_size=512).fit(folder, label)
    (folder / "part-002.parquet").write_bytes(b"no such thing")
    with pytest.raises(DataError, match=r"^part-002.parquet cannot be read: [^\n]*$"):
        make(QSGS2AUC).fit(folder, label)
    with pytest.raises(DataError, match="array 2 must have 3 columns"):
        rows_of([X, X[:, :2]])
    with pytest.raises(DataError, match="a label for each of 4000 rows"):
        rows_of([X], y[:-1])
    with pytest.raises(DataError, match="there is no file or folder"):
        make(QSGS2AUC).fit(tmp_path / "nothing", "label")


def test_a_column_of_text_is_no_feature_unless_it_is_left_out(points, tmp_path):
    frame = pd.DataFrame(points[0], columns=list("abc")).assign(town="x", label=points[1].astype(object))
    frame.loc[frame.label == -1, "label"] = None  # a label that is missing
    frame.astype({"label": "Int8"}).to_parquet(tmp_path / "one.parquet", row_group_size=1000)
    with pytest.raises(DataError, match="column 'town' holds no numbers"):
        make(QSGS2AUC).fit(tmp_path, "label")
    rows, y = rows_of(tmp_path, "label", features=["a", "b", "c"])
    same(make(QSGS2AUC).fit(rows, y), make(QSGS2AUC).fit(*points))


@each("missing", ["mean", "median", "most frequent"])
def test_missing_numbers_and_scales_are_learned_from_a_sample(points, missing):
    X, y = points[0].astype(np.float32).copy(), points[1]
    X[::7, 1] = np.nan
    present = X[:, 1][~np.isnan(X[:, 1])]
    values, counts = np.unique(present, return_counts=True)
    mean, most_frequent = np.mean(present, dtype=float), values[np.argmax(counts)]
    fill = {"mean": mean, "median": np.median(present), "most frequent": most_frequent}
    full = np.where(np.isnan(X), np.float32(fill[missing]), X)
    rows, _ = rows_of(cut(X, CUTS[0]), y, missing=missing, scaling="unit")
    low, high = full.min(axis=0), full.max(axis=0)
    assert np.array_equal(rows[:], (full - low) / (high - low))
    assert rows[3:9].dtype == np.float32
    with pytest.raises(DataError, match="numbers are missing"):
        rows_of(cut(X, CUTS[0]), y, scaling="standard")
    with pytest.raises(ValueError, match="missing must be one of"):
        rows_of(cut(X, CUTS[0]), y, missing="drop")


def test_rows_are_indexed_as_an_array_is(points):
    X, n = points[0], N
    rows, _ = rows_of(cut(X, CUTS[2]))
    last = np.array([-1, n - 1, -n], dtype=np.int32)
    slices = slice(3, 900, 7), slice(None), slice(0, 0), slice(-3, None), slice(None, None, -1000)
    numbers = np.array([5, 5, 3999, 0]), [-1], last, -1, 0, [], [[1, -2], [3, 4]], np.uint8([7])
    for key in (*slices, *numbers, X[:, 0] > 0.5):
        assert np.array_equal(rows[key], X[key])
    some = np.array([9, -4, 4, 4, 700])
    assert np.array_equal(rows.taken(some)[1:], X[some][1:])
    assert np.array_equal(rows.taken(some)[[-1, -3]], X[some][[-1, -3]])
    rows.read_ahead(last)
    for key in ([n], [-n - 1], n, np.array([0, 2 * n]), X[:-1, 0] > 0, [0.5], (0, 1), None, np.array(["0"])):
        for held in (rows, rows.astype("float32"), rows.taken(np.arange(n))):
            with pytest.raises(IndexError):
                held[key]
    assert np.array_equal(np.asarray(rows.astype("float32")), X.astype(np.float32))
    with pytest.raises(ValueError, match="X must hold numbers of size"):
        rows_of([X * 1e300])[0].astype("float32")[:3]
