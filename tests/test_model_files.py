"""Model files of every kind: one function reads them all, and refuses whatever is none; weights, and checkpoints of other data."""

import io
import zipfile
from contextlib import suppress
from itertools import product

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
from saved_models import (
    KINDS,
    MODELS,
    assert_refused,
    changed_members,
    edited,
    make_model,
    make_weights,
    packed,
    parts,
    saved,
)
from sklearn.exceptions import NotFittedError
from test_kernels import DOT_PRODUCT, INSTANCES, SHIFT_INVARIANT

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, Expansion, ModelError, load_model, save_model
from dsgcore.__main__ import main
from dsgcore.baselines import EverydayLogisticRegression
from dsgcore.kernels import Gaussian
from dsgcore.multiclass import features as weights
from dsgcore.multiclass.features import Weights
from dsgcore.solver.checkpoint import Checkpoint

every_kind = each("kind", KINDS)
X = np.random.default_rng(1).normal(size=(300, 3))


# --- good files


def model_of(kernel):
    model = Expansion(kernel, 3, 3)
    for m in (6, 11):
        block = np.random.default_rng(m).normal(size=(kernel.feature_map.block_rows, m))
        model.blocks.append(block.astype(np.float32))
        model.decays.append(0.9)
    return model


def in_columns(model):
    """The same weights, whose products in the other order differ in their last bits."""
    return Weights(model.features, np.asfortranarray(model.W), model.d)


READ = [
    *(make() for make in MODELS.values()),
    *(make_model(sizes, dtype, seed=2**32 - 1) for sizes in ((), (1,)) for dtype in ("float32", "float64")),
    *map(model_of, [*INSTANCES, *SHIFT_INVARIANT, *DOT_PRODUCT]),
    *(in_columns(make_weights(kind)) for kind in ("linear", "fourier")),
    make_weights(is_orthogonal=True),
]


@each("model", READ)
def test_every_model_is_read_by_one_function_bit_for_bit(tmp_path, model):
    values = model.evaluate(X)
    for file in (tmp_path / "m.npz", str(tmp_path / "m.npz"), io.BytesIO()):
        model.save(file)
        again = load_model(file)
        assert type(again) is type(model)
        assert again.evaluate(X).tobytes() == values.tobytes()
        assert saved(again).getvalue() == saved(model).getvalue()
    arrays = {name: a.astype(a.dtype.newbyteorder()) for name, a in parts(model).items() if name != "header"}
    assert load_model(edited(model, **arrays)).evaluate(X).tobytes() == values.tobytes()  # in another byte order
    for points in (np.zeros((5, 2)), np.zeros((5, 4)), np.zeros(3), np.zeros((1, 5, 3))):
        with pytest.raises(ModelError, match=r"points must have shape \(n, 3\), got \("):
            again.evaluate(points)
    if isinstance(model, Expansion):  # it can be gone on with
        assert again.kernel == model.kernel
        assert all(one.flags.carray and one.dtype == model.dtype for one in again.blocks)
        again.blocks.append(np.ones((2, 4), dtype=again.dtype))
        again.decays.append(1.0)
        assert len(again) == len(again.decays) == len(model) + 1


@each("kind", ["linear", "fourier"])
def test_scores_are_products_of_features_and_weights_made_in_pieces(kind, monkeypatch):
    model, points = make_weights(kind), X[:50]
    scores = model.evaluate(points)
    np.testing.assert_array_equal(scores, model.features(points) @ model.W)
    with monkeypatch.context() as patch:
        patch.setattr(weights, "MAX_VALUES", 7 * len(model.W))
        # Products of seven rows and of fifty are summed in another order: rounding of scores of order 1.
        np.testing.assert_allclose(model.evaluate(points), scores, rtol=0, atol=1e-14)


def test_what_cannot_be_saved_is_refused_and_a_persons_file_stays(tmp_path):
    file, model = tmp_path / "model.npz", KINDS["estimator"]()
    with pytest.raises(NotFittedError):
        save_model(TSGS3VM(), file)
    with pytest.raises(ModelError, match=r"without pickle: save the estimator with joblib"):
        save_model(EverydayLogisticRegression().fit(X, np.arange(300) % 2), file)
    assert not file.exists()
    for _ in range(2):  # a model's own file is replaced
        save_model(model, file)
    assert (load_model(str(file)).predict(X) == model.predict(X)).all()
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    with pytest.raises(ModelError, match=r"notes\.txt is not replaced: not a model file"):
        save_model(model, other)
    with pytest.raises(ModelError, match=r"notes\.txt holds no run: not a model file.*choose another file, or delete"):
        small().fit(X, np.resize([0, 1, -1], 300), checkpoint=other)
    assert other.read_text() == "mine"


# --- files that are none, are damaged, or would fill memory or run code


class Trap:
    """Raises when unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def archive_of(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file


def with_member(model, name, content):
    """The file of a model in which one array's file is replaced."""
    with zipfile.ZipFile(saved(model)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    return archive_of(**contents | {f"{name}.npy": content})


HUGE = [(10**6, 10**6), (2**30, 2**30), (2**62,), (2**63,), (10**30,), (10**30, 0), (-1,), (-5, -5)]
NO_LITERALS = [b"{'descr': (", b"[" * 5000, b"__import__('os')", b"\x00", b"{}", b"{'descr': 'O'}", b"  x", b"'" * 3]
NO_LITERALS += [b"3L\n  x\n y", b"x" * 20_000]


def files(model):
    """Give files that are no model, with the words that refuse them: nothing in them is allocated or run."""
    arrays, whole = parts(model), saved(model).getvalue()
    for name in arrays:
        trap = np.array([Trap()], dtype=object)
        yield packed(**arrays | {"header": None} | {name: trap}), "Object arrays cannot be loaded"
    for name, shape, dtype in product(set(arrays) - {"header"}, HUGE, ("<f8", "<i8", "<U1000000")):
        claim = io.BytesIO()
        np.lib.format.write_array_header_1_0(claim, {"descr": dtype, "fortran_order": False, "shape": shape})
        yield with_member(model, name, claim.getvalue() + bytes(64)), "not a model file"
    for name, text in product(arrays, NO_LITERALS):
        content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
        yield with_member(model, name, content), "not a model file"
    yield packed(np.savez_compressed, **arrays, more=np.zeros((3, 100_000))), "its arrays are larger than the file"
    for kept in (0, 1, 100, len(whole) // 2, -1):
        yield io.BytesIO(whole[:kept]), "not a model file"
    # Encrypted, of an unknown compression, of a later version: places in the local and the central record, and a value.
    for places, value in (((6, 8), b"\x01\x00"), ((8, 10), b"\x63\x00"), ((4, 6), b"\xc8\x00")):
        content = whole
        for record, place in zip((b"PK\x03\x04", b"PK\x01\x02"), places, strict=True):
            start = content.index(record) + place
            content = content[:start] + value + content[start + 2 :]
        yield io.BytesIO(content), "not a model file"


@every_kind
def test_whatever_is_no_model_is_refused_in_one_sentence_and_a_changed_member_is_refused_or_changes_no_value(kind):
    """Kept text has the sentence for each changed member."""
    model = KINDS[kind]()
    for file, words in files(model):
        assert_refused(file, words)
    for name, file in changed_members(model):
        with suppress(ModelError):
            assert values_of(load_model(file)).tobytes() == values_of(model).tobytes(), name
    trap = np.array(["dsgcore.estimators.ps3vt:PS3VT", "os:system"])
    if kind == "estimator":
        text = parts(model)["text"].tobytes().decode().replace(*trap).encode()
        assert_refused(edited(model, text=np.frombuffer(text, dtype=np.uint8)), "it names the class os:system")


def values_of(model):
    return (model.evaluate if hasattr(model, "evaluate") else model.decision_function)(X)


SMALLEST = {
    "expansion": saved(make_model((3, 2), d=2)).getvalue(),
    "linear weights": saved(make_weights("linear", d=2)).getvalue(),
    "Fourier weights": saved(make_weights(n_features=2, d=2)).getvalue(),
    "estimator": saved(KINDS["estimator"]()).getvalue(),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150)
@given(data=st.data())
def test_whatever_is_damaged_the_model_is_the_same_or_refused(kind, data):
    good = SMALLEST[kind]
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


def test_what_is_no_archive_of_a_model_or_is_cut_off_is_refused(tmp_path):
    single, estimator = io.BytesIO(), io.BytesIO()
    np.save(single, np.zeros(3))
    for content in (b"", b"hello", b"\x80\x04K\x01.", b"PK\x03\x04", b"\x93NUMPY\x01\x00", single.getvalue()):
        assert_refused(io.BytesIO(content), "not a model file")
    assert_refused(tmp_path / "none.npz", "none.npz does not exist")
    assert_refused(tmp_path, "not a model file")
    for name in ("header.npy", "header"):
        assert_refused(archive_of(**{name: "hello"}), "'header' is not an array")
    for file in (archive_of(), packed(X=np.zeros((3, 2)), y=np.zeros(3)), packed(W=np.zeros((3, 2)))):
        assert_refused(file, "it has no array 'header'")
    save_model(small().fit(X, np.resize([0, 1, -1], 300)), estimator)
    whole = estimator.getvalue()
    for size in range(0, len(whole), 97):  # nor is it taken for the model inside it
        for part in (whole[:size], whole[len(whole) - size :]):
            assert_refused(io.BytesIO(part), "not a model file")


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
        *((make_weights(), one) for one in ({"seed": 7}, {"sigma": 0.8}, {"d": 4}, {"d": 2**31 - 1})),
        *((make_weights(), {"fingerprint": one}) for one in ("0" * 64, "", 3)),
        (make_weights("linear"), {"fingerprint": "0" * 64}),  # it has none
        *((make_model(), one) for one in ({"seed": 7}, {"fingerprint": "0" * 64}, {"fingerprint": None}, {"d": 4})),
        (make_model(), {"d": 2**31 - 1}),  # it is not drawn whole
        (make_weights(d=600, n_features=2**11), {"d": 601}),
    ],
)
def test_a_changed_fingerprint_or_dimension_is_refused(model, change):
    assert load_model(saved(model)).d == model.d
    assert_refused(edited(model, header=lambda h: {**h, **change}), CANNOT)


# --- checkpoints of other data


POINTS = np.random.default_rng(3).normal(size=(600, 3))
LABELS = np.where(np.arange(600) % 3 == 0, (POINTS[:, 0] > 0).astype(int), -1)


def make(cls=QSGS2AUC, **parameters):
    return small(cls, **{"n_iter": 20, "batch_size": 8, **parameters})


def refused(model, X, y, file, said):
    with pytest.raises(ModelError) as error:
        model.fit(X, y, checkpoint=file, every=5)
    message = str(error.value)
    assert message.startswith(f"{file} belongs to another run: ")
    assert said in message


@pytest.fixture
def file(tmp_path):
    make().fit(POINTS, LABELS, checkpoint=tmp_path / "run.npz", every=5)
    return tmp_path / "run.npz"


@each("cls", FOUR)
def test_other_labels_and_other_points_are_refused(tmp_path_factory, cls):
    file = tmp_path_factory.mktemp("run") / "run.npz"
    make(cls).fit(POINTS, LABELS, checkpoint=file, every=5)
    flipped = np.where(LABELS < 0, LABELS, 1 - LABELS)
    other = np.where(np.arange(600) % 4 == 0, (POINTS[:, 1] > 0).astype(int), -1)
    from_labels = "the visited points differ" if cls is TSGSU else "the labels differ"  # from these it draws its pairs
    refused(make(cls), POINTS, flipped, file, from_labels)
    refused(make(cls), POINTS, other, file, "the labels differ")
    for points_then in (POINTS[:, ::-1], 2 * POINTS):
        refused(make(cls), points_then, LABELS, file, "the visited points differ")


def test_the_same_data_in_another_container_and_a_longer_run_go_on_and_the_file_must_say_its_data(file, tmp_path):
    whole, table = make().fit(POINTS, LABELS), pd.DataFrame(POINTS, columns=list("abc"))
    table.assign(label=LABELS).to_parquet(tmp_path / "table.parquet", row_group_size=70)
    parquet = tmp_path / "table.parquet", "label"
    for X, y in ((POINTS.copy(), LABELS), (table, LABELS), ([POINTS[:100], POINTS[100:]], LABELS), parquet):
        same_models(make().fit(X, y, checkpoint=file, every=5).iterate_, whole.iterate_)
    longer = make(n_iter=50).fit(POINTS, LABELS, checkpoint=file, every=5)
    assert longer.fit(POINTS, LABELS, checkpoint=file, every=5).n_iter_ == 50
    changed = POINTS.copy()
    changed[np.flatnonzero(LABELS >= 0)[::2]] += 1e-3  # one visited row that differs is enough
    refused(make(n_iter=60, sigma=0.5), changed, LABELS, file, "the visited points differ")
    whole.iterate_.save(tmp_path / "old.npz")
    with pytest.raises(ModelError, match=r"old.npz has no record of its data.*choose another file, or delete it$"):
        make().fit(POINTS, LABELS, checkpoint=tmp_path / "old.npz")


@pytest.mark.ci
def test_many_weights_do_not_make_the_file_unreadable(tmp_path):
    points, y = np.random.default_rng(0).normal(size=(2400, 2)), np.arange(2400) % 300
    gamma = tuple(np.random.default_rng(0).random(299))
    given = {"gamma": gamma, "n_iter": 4, "batch_size": 2, "lam": 0.1, "step_size": 0.01}
    make(QS3ORAO, **given).fit(points, y, checkpoint=tmp_path / "run.npz", every=2)
    assert make(QS3ORAO, **given).fit(points, y, checkpoint=tmp_path / "run.npz", every=2).n_iter_ == 4
    refused(make(QS3ORAO, **{**given, "gamma": gamma[::-1]}), points, y, tmp_path / "run.npz", "gamma")


@pytest.mark.parametrize(
    ("options", "goes_on", "replaces"),
    [
        ("--target other", "the labels differ", "target was 'label' and is 'other'"),
        ("--features a,c", "the visited points differ", "features was ['a', 'b', 'c'] and is ['a', 'c']"),
        ("--scaling none", "the visited points differ", "scaling was"),
        ("--set gamma=0.2", "gamma was 0.9 and is 0.2", "gamma was 0.9 and is 0.2"),
    ],
)
def test_the_command_goes_on_from_its_own_run_and_replaces_its_own_model_alone(
    tmp_path, monkeypatch, capsys, options, goes_on, replaces
):
    out, table = tmp_path / "model", pd.DataFrame(POINTS, columns=list("abc")).assign(label=LABELS)
    table["other"] = np.where(LABELS < 0, -1, (POINTS[:, 1] > 0).astype(int))
    table.to_parquet(tmp_path / "all.parquet", row_group_size=70)

    def fit(more=""):
        given = f"{tmp_path / 'all.parquet'} --target label --features a,b,c --out {out} --quiet --every 5"
        sizes = "--set n_iter=20 --set n_features=16 --set batch_size=8 --set tol=null"
        return main(f"fit QSGS2AUC {given} {sizes} {more}".split())

    def refused_as(said, file):
        before = file.read_bytes()
        assert fit(options) == 2
        assert said in capsys.readouterr().err.splitlines()[-1]
        assert file.read_bytes() == before

    with monkeypatch.context() as patch:  # stopped after ten iterations
        interrupt_after(patch, Checkpoint, 10)
        assert fit() == 130
    refused_as(f"checkpoint.npz belongs to another run: {goes_on}", out / "checkpoint.npz")
    assert fit() == 0
    finished = (out / "model.npz").read_bytes()
    assert len(load_model(out / "model.npz")) == 20
    refused_as(f"{out} holds the model of another run: {replaces}", out / "model.npz")
    assert fit() == 0
    assert (out / "model.npz").read_bytes() == finished
