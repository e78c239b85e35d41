"""Model files of every kind: one function reads them all, and refuses whatever is none; weights, and checkpoints of other data."""

import io
import json
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
from saved_models import KINDS, MODELS, assert_refused, edited, make_model, make_weights, packed, parts, saved
from sklearn.exceptions import NotFittedError
from test_kernels import DOT_PRODUCT, INSTANCES, SHIFT_INVARIANT

from dsgcore import QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, Expansion, ModelError, load_model, save_model
from dsgcore.__main__ import main
from dsgcore.baselines import EverydayLogisticRegression
from dsgcore.kernels import Gaussian
from dsgcore.multiclass import features as weights
from dsgcore.multiclass.features import Weights
from dsgcore.solver.checkpoint import Checkpoint
from dsgcore.solver.model_files import MAX_HEADER_CHARACTERS

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
    assert (scores.shape, model.evaluate(points[:0]).shape) == ((50, 4), (0, 4))
    np.testing.assert_array_equal(model.evaluate(points.tolist()), scores)
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


def edits(model):
    """Give damaged members of any model's file, with the words that refuse them."""
    arrays = parts(model)
    own = arrays["header"]
    for name in (None, "svm", 3, [], "Weights"):
        yield {"header": own | {"model": name}}, f"model must be one of expansion, weights, estimator, got {name!r}"
    for number in (0, 1, 3, 1.5, None, "one"):
        header = own | {"format": number}
        yield {"header": header}, f"the model file has format {number!r}, this program reads format 2"
    for text in ("", "{", "hello", "[1, 2]", "3", "null", "[" * 4000, "[" * 100_000, '"x"', 3.5, [""]):
        yield {"header": text}, "its header is damaged"
    for code in (0x110000, 2**31 - 1, 2**32 - 1):  # these are no characters
        yield {"header": np.array([code] * 3, dtype=np.uint32).view("U3").reshape(())}, "not a model file"
    long = {"kernel": {"name": "x" * MAX_HEADER_CHARACTERS}}
    yield {"header": own | long}, f"it must be text of at most {MAX_HEADER_CHARACTERS} characters"
    yield {"header": own | {"x" * 99: 1}}, "its header has the unknown field 'xxx"
    for name in set(own) - {"format", "model"}:
        yield {"header": {k: v for k, v in own.items() if k != name}}, f"its header has no field {name!r}"
    if own["model"] == "estimator":
        yield from texts(arrays["text"].tobytes().decode())
        return
    yield {"header": own | {"model": "weights" if "kernel" in own else "expansion"}}, "its header has no field"
    for name in arrays:
        yield {name: None}, f"it has no array {name!r}"
    yield {"extra": np.zeros(3)}, "it has the unknown array 'extra'"
    for field, values in (OF_EXPANSION if "kernel" in own else OF_WEIGHTS).items():
        for value in values:
            yield {"header": own | {field: value}}, "its header is damaged"
    if "kernel" in own:
        yield from ((changed, "its arrays do not fit together") for changed in NO_EXPANSIONS)
        numbers = {"coefficients": "coefficients and decays", "decays": "coefficients and decays"}
    else:
        words = f"W must have shape ({len(model.W)}, K), of float64 and with K of at least 2, got "
        yield from (({"W": wrong}, words) for wrong in no_weights(len(model.W)))
        numbers = {"W": "its weights"}
    for (name, words), value in product(numbers.items(), (np.nan, np.inf, -np.inf)):
        array = arrays[name].copy()
        array.flat[3] = value
        yield {name: array}, f"{words} must be finite numbers"


def texts(text):
    """Give texts of an estimator that name classes, fields or arrays that are not its own, or are no such text."""
    for then, now in (
        ("dsgcore.estimators.ps3vt:PS3VT", "os:system"),
        ("dsgcore.estimators.ps3vt:PS3VT", "sklearn.nothing:Nothing"),
        ('"fields"', '"field"'),
        ('"array 0"', '"array 99"'),
        (text, "[" * 20),
        (text, '{"number": 1}'),
        (text, "7"),
    ):
        # before it imports the module
        words = "it names the class os:system" if now == "os:system" else "not a model file"
        yield {"text": np.frombuffer(text.replace(then, now).encode(), dtype=np.uint8)}, words


def no_weights(n):
    """Return arrays that are no weights of `n` features."""
    W = np.zeros((n, 4))
    of_other_kinds = (W.astype(kind) for kind in (np.float32, complex, int, str))
    shapes = (W[:0], W[1:], np.zeros((n + 1, 4)), W[:, :1], W[:, :0], W[:, 0], np.array(1.0), W[:, :, None], W.T)
    return *shapes, *of_other_kinds, W.astype(int).astype("M8[s]"), np.zeros((n, 4), dtype=[("a", "f8")])


OF_WEIGHTS = {
    "kind": ("cosine", None, ["linear"]),
    "sigma": ("1", float("nan"), float("inf"), -1.0),
    "n_features": (0, 2.5, 2**40, True),
    "seed": (-1, 2**32, None),
    "d": (0, 2**31, {}),
}
OF_EXPANSION = {
    "kernel": (
        *(None, {}, "gaussian", [1], {"name": ["gaussian"]}, {"name": "sinc"}),
        *({"name": "gaussian", "sigma": -1.0}, {"name": "gaussian", "width": 1.0}),
    ),
    "seed": (-1, 2**32, "0"),
    "d": (0, 2.5, None),
    "dtype": ("float16", "object", 4),
}
NO_EXPANSIONS = [
    *({"sizes": np.array(s)} for s in ([7, 1, 20, 7, 63], [7, 1, 20, 71], [8, 0, 20, 7, 64], [9, -1, 20, 7, 64])),
    *({"sizes": np.array(s)} for s in ([7.0, 1.0, 20.0, 7.0, 64.0], 99, [2**62] * 3 + [2**62 - 1, 100])),
    *({"decays": np.array(a)} for a in (np.ones(4), np.ones((5, 1)), ["1"] * 5)),
    *({"coefficients": np.zeros(shape)} for shape in ((2, 98), 99, (3, 99))),
    *({"coefficients": np.zeros((2, 99), dtype=dtype)} for dtype in (np.float32, complex)),
    {"sizes": np.array(0), "decays": np.array(0.0), "coefficients": np.array(0.0)},
]


@every_kind
def test_whatever_is_no_model_or_has_numbers_of_none_is_refused_in_one_sentence(kind):
    model = KINDS[kind]()
    for file, words in files(model):
        assert_refused(file, words)
    for members, words in edits(model):
        assert_refused(edited(model, **members), words)


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


def test_a_cut_off_file_of_an_estimator_is_not_taken_for_the_model_inside_it():
    file = io.BytesIO()
    save_model(small().fit(X, np.resize([0, 1, -1], 300)), file)
    whole = file.getvalue()
    for size in range(0, len(whole), 97):
        assert_refused(io.BytesIO(whole[:size]), "not a model file")
        assert_refused(io.BytesIO(whole[len(whole) - size :]), "not a model file")


def test_what_is_no_archive_of_a_model_is_refused(tmp_path):
    single = io.BytesIO()
    np.save(single, np.zeros(3))
    for content in (b"", b"hello", b"\x80\x04K\x01.", b"PK\x03\x04", b"\x93NUMPY\x01\x00", single.getvalue()):
        assert_refused(io.BytesIO(content), "not a model file")
    assert_refused(tmp_path / "none.npz", "none.npz does not exist")
    assert_refused(tmp_path, "not a model file")
    (tmp_path / "m.npz").write_bytes(saved(make_model()).getvalue()[:-1])
    assert_refused(tmp_path / "m.npz", "not a model file")
    for name in ("header.npy", "header"):
        assert_refused(archive_of(**{name: "hello"}), "'header' is not an array")
    for file in (archive_of(), packed(X=np.zeros((3, 2)), y=np.zeros(3)), packed(W=np.zeros((3, 2)))):
        assert_refused(file, "it has no array 'header'")


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
    assert message.endswith("; choose another file, or delete it")
    assert "\n" not in message
    return message


@pytest.fixture
def file(tmp_path):
    make().fit(POINTS, LABELS, checkpoint=tmp_path / "run.npz", every=5)
    return tmp_path / "run.npz"


@each("cls", FOUR)
def test_other_labels_other_points_and_negative_intervals_are_refused(tmp_path_factory, cls):
    with pytest.raises(ValueError, match=r"^every must be a whole number between 1 and 2147483647, got -5$"):
        make(cls).fit(POINTS, LABELS, every=-5)  # even if there is no file
    file = tmp_path_factory.mktemp("run") / "run.npz"
    make(cls).fit(POINTS, LABELS, checkpoint=file, every=5)
    said = "the visited points differ" if cls is TSGSU else "the labels differ"  # from these it draws its pairs
    message = refused(make(cls), POINTS, np.where(LABELS < 0, LABELS, 1 - LABELS), file, said)
    assert cls is TSGSU or "points" not in message  # they are the same
    other = np.where(np.arange(600) % 4 == 0, (POINTS[:, 1] > 0).astype(int), -1)
    refused(make(cls), POINTS, other, file, "the labels differ")
    for points_then in (POINTS[:, ::-1], 2 * POINTS):
        refused(make(cls), points_then, LABELS, file, "the visited points differ")


def test_the_same_data_in_another_container_and_a_longer_run_go_on_and_the_file_must_say_its_data(
    file, tmp_path, capsys
):
    whole, table = make().fit(POINTS, LABELS), pd.DataFrame(POINTS, columns=list("abc"))
    table.assign(label=LABELS).to_parquet(tmp_path / "table.parquet", row_group_size=70)
    parquet = tmp_path / "table.parquet", "label"
    for X, y in ((POINTS.copy(), LABELS), (table, LABELS), ([POINTS[:100], POINTS[100:]], LABELS), parquet):
        same_models(make().fit(X, y, checkpoint=file, every=5).iterate_, whole.iterate_)
    longer = make(n_iter=50, verbose=1).fit(POINTS, LABELS, checkpoint=file, every=5)
    for again in (longer, longer.fit(POINTS, LABELS, checkpoint=file, every=5)):
        assert again.n_iter_ == 50
    printed = capsys.readouterr().out
    for said in ("iteration 50: batch objective", "iteration 50: from the checkpoint, change"):
        assert printed.count(said) == 1  # iterations of the file have no objective
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
    ("options", "label", "goes_on", "replaces"),
    [
        ((), "other", "the labels differ", "target was 'label' and is 'other'"),
        (("--features", "a,c"), "label", "the visited points differ", "features was ['a', 'b', 'c'] and is ['a', 'c']"),
        (("--scaling", "none"), "label", "the visited points differ", "scaling was"),
        (("--set", "gamma=0.2"), "label", "gamma was 0.9 and is 0.2", "gamma was 0.9 and is 0.2"),
    ],
)
def test_the_command_goes_on_from_its_own_run_and_replaces_its_own_model_alone(
    tmp_path, monkeypatch, capsys, options, label, goes_on, replaces
):
    out, table = tmp_path / "model", pd.DataFrame(POINTS, columns=list("abc")).assign(label=LABELS)
    table["other"] = np.where(LABELS < 0, -1, (POINTS[:, 1] > 0).astype(int))
    table.to_parquet(tmp_path / "all.parquet", row_group_size=70)

    def fit(*options, label="label"):
        given = f"{tmp_path / 'all.parquet'} --target {label} --features a,b,c --out {out} --quiet --every 5"
        sizes = (
            word for size in ("n_iter=20", "n_features=16", "batch_size=8", "tol=null") for word in ("--set", size)
        )
        return main(["fit", "QSGS2AUC", *given.split(), *sizes, *options])

    def refused_as(said, *more, keeps):
        before = keeps.read_bytes()
        assert fit(*options, label=label) == 2
        printed = capsys.readouterr().err.splitlines()[-1]
        assert [part for part in (said, *more) if part not in printed] == []
        assert keeps.read_bytes() == before

    with monkeypatch.context() as patch:  # stopped after ten iterations
        interrupt_after(patch, Checkpoint, 10)
        assert fit() == 130
    refused_as("checkpoint.npz belongs to another run: ", goes_on, keeps=out / "checkpoint.npz")
    assert fit() == 0
    assert len(load_model(out / "model.npz")) == 20
    finished = (out / "model.npz").read_bytes()
    refused_as(
        *(f"{out} holds the model of another run: ", replaces, "take another folder for --out, or delete"),
        keeps=out / "model.npz",
    )
    assert fit() == 0
    assert (out / "model.npz").read_bytes() == finished
    assert json.loads((out / "fit.json").read_text())["target"] == "label"
