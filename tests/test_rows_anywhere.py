"""Out-of-core rows: the model is bit-for-bit that of the array in memory, however the rows are cut."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow
import pytest
from cases import each, some
from four_estimators import FOUR, SMALL, make
from four_estimators import same as same_model
from pyarrow import parquet
from stranger_files import folder_of, piece

from dsgcore import QS3ORAO, QSGS2AUC, TSGSU
from dsgcore.data import DataError, rows_of
from dsgcore.data import rows as rows_module
from dsgcore.data.reading import File
from dsgcore.data.rows import PartedTable
from dsgcore.prior import MAX_POINTS, drawn_rows
from dsgcore.problems.similar_unlabeled import SimilarUnlabeled
from dsgcore.solver.loop import solve, training_points
from dsgcore.solver.model import Expansion

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


def as_maps(folder, X, y, edges):
    files = []
    for number, own in enumerate(np.split(X, edges)):
        np.save(folder / f"{number}.npy", own)
        files.append(np.load(folder / f"{number}.npy", mmap_mode="r" if len(own) else None))
    return files, y


def as_parquet(folder, X, y, edges):
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(label=y.astype(np.int8))
    for number, own in enumerate(np.split(np.arange(N), edges)):
        table.iloc[own].to_parquet(folder / f"part-{number:03}.parquet", row_group_size=700)
    return folder, "label"


def as_dask_array(folder, X, y, edges):
    array = pytest.importorskip("dask.array")
    sizes = tuple(len(own) for own in np.split(y, edges))
    return array.from_array(X, chunks=(sizes, (1, D - 1))), array.from_array(y, chunks=(sizes,))


def as_dask_table(folder, X, y, edges):
    frames = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(label=y)
    parts = [frames.from_pandas(table.iloc[own], npartitions=1) for own in np.split(np.arange(N), edges) if len(own)]
    return frames.concat(parts), "label"


def same(one, other):
    same_model(one.model_, other.model_)
    for name in ("threshold_", "thresholds_", "shift_", "step_size_", "lam_", "prior_"):
        assert np.array_equal(getattr(one, name, 0.0), getattr(other, name, 0.0))


@pytest.mark.parametrize("place", [as_maps, as_parquet, as_dask_array, as_dask_table])
def test_a_model_of_rows_anywhere_is_that_of_the_array(points, tmp_path_factory, place):
    for number, cls in enumerate(FOUR):
        for dtype in ("float32", "float64") if place is as_maps else ("float32",):
            X, y = points[0].astype(np.float64 if place is as_maps else np.float32), points[1]
            of_array = make(cls, dtype=dtype).fit(X, y)
            for edges in CUTS if place is as_maps else (CUTS[number % 3],):
                rows = place(tmp_path_factory.mktemp("parts"), X, y, edges)
                same(make(cls, dtype=dtype).fit(*rows), of_array)


def test_pair_ids_are_labels_as_well_and_the_prior_is_estimated_from_the_same_points(points, tmp_path, monkeypatch):
    X, ids, looked_at = points[0], np.full(N, -1), []
    ids[np.random.default_rng(0).choice(N, 2400, replace=False)] = np.arange(2400) // 2

    def estimate(similar, unlabeled, seed):
        looked_at.append((similar, unlabeled))
        return 0.7

    monkeypatch.setattr("dsgcore.estimators.similar_unlabeled.similar_class_prior", estimate)
    of_array = TSGSU(**SMALL).fit(X, ids)
    same(TSGSU(**SMALL).fit(*as_maps(tmp_path, X, ids, CUTS[2])), of_array)
    words = np.where(ids < 0, None, np.char.add("pair ", ids.astype(str)))
    pd.DataFrame(X, columns=list("abc")).assign(pair=words).to_parquet(tmp_path / "words.parquet")
    same(TSGSU(**SMALL).fit(tmp_path / "words.parquet", "pair"), of_array)
    rows, names = SimilarUnlabeled().rows(ids), ("component", "mixture")
    whole = [X[own][drawn_rows(len(own), MAX_POINTS, 0, name)] for own, name in zip(rows.values(), names, strict=True)]
    for own in looked_at:
        assert [len(one) for one in own] == [MAX_POINTS, MAX_POINTS]
        assert all(np.array_equal(one, other) for one, other in zip(own, whole, strict=True))


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
    monkeypatch.setattr("dsgcore.data.parts.SAMPLE", 100)
    monkeypatch.setattr("dsgcore.estimators.inputs.SAMPLE", 100)
    for module in ("dsgcore.estimators.inputs", cls.__module__):
        monkeypatch.setattr(f"{module}.POINTS_CUT", 50)
    arrays = [own.view(Watched) for own in np.split(points[0], CUTS[1])]
    for array in arrays:
        array.asked = []
    told = []
    rows, y = rows_of(arrays, points[1], callback=lambda *said: told.append(said))
    make(cls, n_iter=5, batch_size=4, sigma=0.5).fit(rows, y)
    assert [len(array.asked) for array in arrays] == [1, 1, 0, 1]
    assert 0 < sum(len(own) for array in arrays for own in array.asked) < N / 2
    assert [said[1:] for said in told] == [(1, 3), (2, 3), (3, 3)]


def test_a_part_that_cannot_be_used_is_named_in_one_sentence(points, tmp_path):
    X, y = points[0].copy(), points[1]
    X[2100, 1] = np.nan
    folder, label = as_parquet(tmp_path, X, y, CUTS[1])
    said = r"part 6 of 8 \(part-003.parquet, row group 0\) holds NaN.* row 52, column 'x1'"
    with pytest.raises(DataError, match=said):
        rows_of(folder, label, missing=None, sample=7)[0][:]
    with pytest.raises(DataError, match="numbers are missing, the first in row 2101, column 'x1'"):
        rows_of(folder, label, missing=None)
    words = [b"no", b"yes"] * (N // 2)
    words[2100] = b"\xff"  # no UTF-8, and not in the sample
    table = pyarrow.table({"x0": X[:, 0], "label": pyarrow.array(words).view("string")})
    parquet.write_table(table, one := tmp_path / "one.parquet", row_group_size=700)
    (folder / "part-002.parquet").write_bytes(b"no such thing")
    for use, said in (
        (
            lambda: rows_of(one, "label", sample=7),
            r"the labels of part 4 of 6 \(one.parquet, row group 3\) cannot be read: ",
        ),
        (lambda: rows_of(one, "label"), "the sample of part 4 of 6 .* cannot be read: "),
        (lambda: make(QSGS2AUC).fit(folder, label), "part-002.parquet cannot be read: "),
        (lambda: rows_of([X, X[:, :2]]), "array 2 must have 3 columns"),
        (lambda: make(QSGS2AUC).fit(tmp_path / "nothing", "label"), "there is no file or folder"),
    ):
        with pytest.raises(DataError, match=f"^{said}[^\n]*$"):
            use()


def test_a_category_outside_the_sample_is_found_in_its_part_and_has_a_column(tmp_path):
    table = piece(0, 200, town=["far" if row == 7 else "near" if row == 151 else "x" for row in range(200)])
    table.to_parquet(tmp_path / "t.parquet", row_group_size=50, index=False)
    file, sample = File.of_path(tmp_path / "t.parquet"), PartedTable.of(tmp_path / "t.parquet")
    made, whole = sample.prepared("classes", sample=20, target="t"), file.recipe("classes", target="t")
    assert (
        made.features.names == file.prepared(whole, "classes")[1].names == ("a", "town: far", "town: near", "town: x")
    )
    np.testing.assert_array_equal(made.rows[[7, 151, 152]][:, 1:], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_a_column_of_too_many_categories_is_not_looked_at_in_every_part(tmp_path, monkeypatch):
    rng, looked_at, own = np.random.default_rng(0), [], rows_module.labels_of
    frame = pd.DataFrame({"town": [f"town {i}" for i in rng.integers(0, 400, 900)], "a": rng.random(900)})
    frame.assign(label=np.arange(900) % 2).to_parquet(tmp_path / "one.parquet", row_group_size=100)
    monkeypatch.setattr(rows_module, "labels_of", lambda *given: looked_at.append(given) or own(*given))
    with pytest.raises(DataError, match="at most 50 "):
        PartedTable.of(tmp_path).prepared("classes", sample=60, target="label", roles={"town": "category"})
    assert len(looked_at) == 1  # the sample's


@each("missing", ["mean", "median", "most frequent"])
def test_missing_numbers_and_scales_are_learned_from_a_sample(points, missing):
    X, y = points[0].astype(np.float32).copy(), points[1]
    X[::7, 1] = np.nan
    present = X[:, 1][~np.isnan(X[:, 1])]
    values, counts = np.unique(present, return_counts=True)
    mean, most_frequent = np.mean(present, dtype=float), values[np.argmax(counts)]
    fill = {"mean": mean, "median": np.median(present), "most frequent": most_frequent}
    full = np.where(np.isnan(X), np.float32(fill[missing]), X)
    rows, _ = rows_of([X], y, missing=missing, scaling="unit")
    low, high = full.min(axis=0), full.max(axis=0)
    np.testing.assert_allclose(rows[:], (full - low) / (high - low), rtol=1e-5, atol=1e-6)
    assert rows[3:9].dtype == np.float32
    with pytest.raises(DataError, match="numbers are missing"):
        rows_of([X], y, scaling="standard")
    with pytest.raises(ValueError, match="missing must be one of"):
        rows_of([X], y, missing="drop")


def test_rows_are_indexed_as_an_array_is(points):
    X, n = points[0], N
    rows, _ = rows_of(np.split(X, CUTS[2]))
    last = np.array([-1, n - 1, -n], dtype=np.int32)
    slices = slice(3, 900, 7), slice(None), slice(0, 0), slice(-3, None), slice(None, None, -1000)
    numbers = np.array([5, 5, 3999, 0]), [-1], last, -1, 0, [], [[1, -2], [3, 4]], np.uint8([7])
    for key in (*slices, *numbers, X[:, 0] > 0.5):
        assert np.array_equal(rows[key], X[key])
    for key in (np.zeros(0, bool), np.array([], dtype=str)):
        assert rows[key].shape == (0, D)
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


# --- Dask, as people make its collections


def dask_tables(folder, table):
    """Return the same rows as collections that people make, by the way that made them."""
    frames, delayed = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask").delayed
    pieces = [own for own in np.split(np.arange(len(table)), range(40, len(table), 40)) if len(own)]
    for number, own in enumerate(pieces):
        table.iloc[own].to_parquet(folder / f"{number:02}.parquet", index=False)
        table.iloc[own].to_csv(folder / f"{number:02}.csv", index=False)
    none = table.iloc[:0]
    read = frames.read_parquet(str(folder / "*.parquet"))
    return {
        "read_parquet": read,
        "read_csv": frames.read_csv(str(folder / "*.csv"), dtype={"g": "Int64", "t": "Int64"}),
        "from_pandas": frames.from_pandas(table, npartitions=3),
        "from_delayed": frames.from_delayed([delayed(table.iloc[own]) for own in pieces], meta=none),
        "fewer partitions": read.repartition(npartitions=2),
        "more partitions": frames.from_pandas(table, npartitions=2).repartition(npartitions=9),
        "empty partitions": frames.from_delayed(
            [delayed(one) for one in (none, table.iloc[:100], none, table.iloc[100:], none)], meta=none
        ),
        "filtered": frames.concat([read, read[read.a > 1e9]]),
        "index": frames.from_pandas(table.set_index(np.arange(len(table)) + 7), npartitions=4),
        "columns in another order": read[list(reversed(table.columns))][list(table.columns)],
    }


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask calls what pandas has deprecated
def test_a_dask_table_is_trained_on_however_it_was_made(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(320, 3))
    table = pd.DataFrame(X, columns=list("abc"))
    table["g"] = pd.array(np.where(np.arange(320) % 9 == 0, None, rng.integers(0, 5, 320)), dtype="Int64")
    table["t"] = pd.array(np.where(np.arange(320) % 4 == 0, (X[:, 0] > 0).astype(int), -1), dtype="Int64")
    table.loc[table["t"] == -1, "t"] = pd.NA
    kinds = dask_tables(tmp_path, table)
    plain, filled = table[list("abc")].to_numpy(), table["g"].fillna(1).to_numpy(dtype=float)
    codes = table["t"].fillna(-1).to_numpy(dtype=int)
    sizes = {"n_iter": 4, "batch_size": 8}
    here = make(**sizes).fit(table[list("abc")], codes)
    fill = np.column_stack([plain, np.where(table["g"].isna(), table["g"].mean(), filled)])
    prepared = make(**sizes).fit(fill, codes)
    for way, frame in some(kinds.items(), 3, 5):
        same(make(**sizes).fit(frame[["a", "b", "c", "t"]], "t"), here)
        rows, y = rows_of(frame, "t", missing="mean")
        np.testing.assert_allclose(rows[:], fill, err_msg=way)
        same(make(**sizes).fit(rows, y), prepared) if way != "read_csv" else None
        same(make(**sizes).fit(frame, "t"), prepared) if way != "read_csv" else None
        values = here.decision_function(frame[["a", "b", "c"]])
        np.testing.assert_allclose(values.compute(), here.decision_function(table[["a", "b", "c"]]), atol=1e-5)
        assert len(here.predict(frame[["a", "b", "c"]]).compute()) == 320


# --- folders of Parquet files, as programs write them


def test_an_id_of_several_rows_stays_a_feature_in_rows_that_are_far_apart(tmp_path):
    own = pd.DataFrame({"user_id": np.arange(2000) // 10 * 7, "a": np.arange(2000) % 9, "label": np.arange(2000) % 2})
    own.to_parquet(tmp_path / "t.parquet", row_group_size=300, index=False)
    file = File.of_path(tmp_path / "t.parquet")
    made = PartedTable.of(tmp_path / "t.parquet").prepared("classes", sample=60)
    assert made.features.names == file.prepared(file.recipe("classes"), "classes")[1].names == ("user_id", "a")


def test_the_name_of_a_folder_is_no_guess_of_the_labels(tmp_path):
    folder_of(folder := tmp_path / "t", {"year=2020/x.parquet": piece(0), "year=2021/x.parquet": piece(20)})
    assert File.of_path(folder).recipe("classes").column("label") == "t"
    large = PartedTable.of(folder).prepared("classes")
    assert large.features.recipe.column("label") == "t"


# --- training from a memory map: no more of the file is read than the batches' rows, and no more is in memory


MANY, WIDE = 20_000, 30


@pytest.fixture
def stored(tmp_path):
    X = np.random.default_rng(2).normal(size=(MANY, WIDE)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy", X


@pytest.fixture
def task_of(make_task):
    def make(X, **plan):
        y = np.full(MANY, -1)
        y[:50], y[50:100] = 1, 0
        return replace(make_task(X=np.zeros((MANY, 1)), y=y, dtype="float32", **plan), X=X)

    return make


class WatchedMap(np.memmap):
    """A memory map that notes the rows that are read."""

    def __getitem__(self, index):
        if getattr(self, "asked", None) is not None:
            self.asked.update(np.atleast_1d(np.arange(len(self))[index]).tolist())
        return np.asarray(super().__getitem__(index))


def trained(task):
    model = task.new_model()
    for _ in solve(task, model):
        pass
    return model


def test_only_the_visited_rows_are_read_and_the_bits_are_those_of_memory(stored, task_of, monkeypatch):
    monkeypatch.setattr("dsgcore.solver.loop.ROWS_READ_AT_ONCE", 7)
    file, X = stored
    mapped = np.load(file, mmap_mode="r").view(WatchedMap)
    mapped.asked = set()
    task = task_of(mapped)
    blocks = trained(task).blocks
    visited = (task.batch(t).values() for t in range(1, task.plan.n_iter + 1))
    assert mapped.asked == {int(row) for batch in visited for rows in batch for row in rows}
    assert all((a == b).all() for a, b in zip(blocks, trained(replace(task, X=X)).blocks, strict=True))


def peak_of(use, *given):
    """Return the memory that a call takes, and its result."""
    tracemalloc.start()
    try:
        found = use(*given)
        return tracemalloc.get_traced_memory()[1], found
    finally:
        tracemalloc.stop()


@each("as_view", [False, True])
def test_the_file_is_never_copied(stored, task_of, as_view):
    file, X = stored
    mapped = np.load(file, mmap_mode="r")
    task = task_of(np.asarray(mapped)[:] if as_view else mapped)
    trained(replace(task, plan=replace(task.plan, n_iter=1)))  # what is loaded at first is not counted
    # Row numbers of every source are drawn from, but not copied; the points are some 2.4 MB.
    assert peak_of(trained, task)[0] < X.nbytes / 4


@pytest.mark.parametrize("n_iter", [6, 10**6])
def test_all_points_of_a_memory_map_are_never_carried(stored, task_of, monkeypatch, n_iter):
    monkeypatch.setattr("dsgcore.solver.loop.VisitedPoints", lambda task, model, **how: "visited")
    file, X = stored
    task = task_of(np.load(file, mmap_mode="r"), n_iter=n_iter)
    assert training_points(task, task.new_model()) == "visited"
    monkeypatch.setattr("dsgcore.solver.loop.AllPoints", lambda task, model: "all")
    if n_iter > 6:
        assert training_points(replace(task, X=X), task.new_model()) == "all"


def test_prediction_takes_a_memory_map_a_piece_at_a_time(stored, make_task, monkeypatch):
    monkeypatch.setattr("dsgcore.solver.model.POINTS_AT_A_TIME", 999)
    file, X = stored
    model = Expansion(make_task().kernel, 1, WIDE)
    for _ in range(3):
        model.blocks.append(np.random.default_rng(0).random((2, 20), dtype=np.float32))
        model.decays.append(0.9)
    mapped = np.load(file, mmap_mode="r")
    model.evaluate(mapped[:5])
    peak, values = peak_of(model.evaluate, mapped)
    assert peak < X.nbytes / 4
    monkeypatch.undo()
    # Tiles begin elsewhere, so a product may be summed in another order: of each cosine's argument, 2 pi z with |z| some
    # units, the last place is uncertain, and the amplitudes say how much of that is seen.
    amplitudes = sum(float(block[0].sum()) for block in model.blocks)
    eps = float(np.finfo(np.float32).eps)
    np.testing.assert_allclose(values, model.evaluate(X), rtol=0, atol=2 * np.pi * eps * amplitudes)
