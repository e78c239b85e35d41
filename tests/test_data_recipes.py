"""One's own table in a spec: recipes, and which file it is."""

import csv
import runpy
from dataclasses import replace

import numpy as np
import pytest
from cases import each
from hostile_files import GOOD, parquet
from own_tables import iris_csv, own_spec, read, sniff, table

from dsgcore.data import DataError
from dsgcore.data.reading import Recipe
from dsgcore.experiments import FileStore, Run, Spec, SpecError, load_split, script
from dsgcore.experiments.settings import SETTINGS


@each("setting", SETTINGS)
def test_a_spec_with_a_recipe_repeats_the_run(setting):
    content = iris_csv()
    recipe = sniff(content, "iris.csv", labels=SETTINGS[setting].labels)
    if setting == "ordinal":
        recipe = replace(recipe, order=("setosa", "versicolor", "virginica"))
    spec, files = own_spec(content, recipe, setting, "iris.csv", n_labeled=12 if setting != "similar_unlabeled" else 4)
    again = Spec.from_json(spec.to_json())
    assert again == spec
    assert again.sha256 == spec.sha256
    first, second = (Run(s, load_split(s, files=files)) for s in (spec, again))
    first.advance()
    second.advance()
    for name in first.history.names:
        np.testing.assert_array_equal(first.history.column(name), second.history.column(name))


def test_the_script_reads_the_file_beside_it_and_gives_the_same_numbers(tmp_path, monkeypatch):
    frame = table()
    frame.loc[::7, "size"] = np.nan
    content = parquet(frame=frame)
    spec, files = own_spec(content, sniff(content, "my table.parquet"), name="my table.parquet")
    run = Run(spec, load_split(spec, files=files))
    run.advance()
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    own.mkdir()
    elsewhere.mkdir()
    (own / "my table.parquet").write_bytes(content)
    (own / "repeat_run.py").write_text(script(run.spec, run.t), encoding="utf-8")
    monkeypatch.chdir(elsewhere)
    runpy.run_path(str(own / "repeat_run.py"), run_name="__main__")
    with (elsewhere / "history.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    written = np.array([[float(cell or "nan") for cell in row] for row in rows])
    here = np.stack([run.history.column(name) for name in header], axis=1)
    np.testing.assert_allclose(written, here, rtol=1e-12, atol=0)
    (own / "my table.parquet").write_bytes(content + b" ")
    with pytest.raises(SystemExit, match="differs from the spec's file"):
        runpy.run_path(str(own / "repeat_run.py"), run_name="__main__")


def test_a_name_cannot_get_out_of_the_script():
    spec, _ = own_spec(GOOD, sniff(GOOD, "a.csv"), name='a"""\nimport os; os.abort()\nb"""\\.csv')
    compiled = compile(script(spec, 1), "repeat_run.py", "exec")
    assert "abort" not in compiled.co_names
    recipe = replace(sniff(GOOD, "a.csv"), positive='"""\nabort()\n"""')
    assert "abort" not in compile(script(own_spec(GOOD, recipe)[0], 1), "repeat_run.py", "exec").co_names


def test_a_spec_wants_its_own_file_and_a_session_one_of_its_own(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(GOOD)
    spec, _ = own_spec(GOOD, sniff(GOOD, "table.csv"), name=str(path))
    load_split(spec)
    plain = spec.to_dict()
    plain["data"]["sha256"] = None
    for asked in (spec, Spec.from_dict(plain)):
        with pytest.raises(DataError, match=r"this session does not have the file 'table\.csv'"):
            load_split(asked, files=FileStore())
    path.write_bytes(GOOD + b"1,2,yes\n")
    with pytest.raises(DataError, match=r"the file 'table\.csv' differs from the spec's file"):
        load_split(spec)


def test_a_session_keeps_its_last_files():
    files = FileStore()
    digests = [files.add(b"%d" % i) for i in range(5)]
    assert [digest in files for digest in digests] == [False, False, True, True, True]


def test_a_spec_without_a_recipe_reads_any_file_as_it_is_sniffed(tmp_path):
    (tmp_path / "iris.csv").write_bytes(iris_csv())
    data = {"name": "file", "path": str(tmp_path / "iris.csv"), "n_labeled": 12}
    split = load_split(Spec.from_dict({"setting": "multiclass", "data": data}))
    assert split.class_names == ("setosa", "versicolor", "virginica")
    data |= {"target": "sepal width", "recipe": None}
    split = load_split(Spec.from_dict({"setting": "ordinal", "data": data}))
    assert split.X_train.shape[1] == 6  # three lengths, and three species


@each(
    "change, said",
    [
        ({"recipe": {"format": "csv"}}, "format must be one of"),
        ({"recipe": {"format": "delimited", "bogus": 1}}, "no field 'bogus'"),
        ({"recipe": {"format": "delimited", "roles": {"a": "king"}}}, "the role of 'a' must be one of"),
        ({"recipe": {"format": "npz", "roles": {"a": "label", "b": "label"}}}, "only one column can be the label"),
        ({"recipe": {"format": "delimited", "roles": [1]}}, "roles must be an object"),
        ({"recipe": {"format": "delimited", "order": "abc"}}, "order must be a list"),
        ({"recipe": {"format": "delimited", "bins": 1}}, "bins must be a whole number"),
        ({"recipe": {"format": "delimited", "encoding": "rot13"}}, "encoding must be one of"),
        ({"recipe": {"format": "delimited"}, "positive": 3}, "the recipe must name"),
        ({"recipe": 7}, "recipe must be a recipe or null"),
        ({"sha256": 7}, "sha256 must be text"),
        ({"name": "digits", "path": None, "sha256": "abc"}, "sha256 goes with the data's name 'file'"),
    ],
)
def test_a_bad_recipe_gets_one_sentence(change, said):
    with pytest.raises(SpecError, match=rf"^[^\n]*{said}[^\n]*$"):
        Spec.from_dict({"setting": "auc", "data": {"name": "file", "path": "a.csv"} | change})


def test_a_recipe_for_another_format_is_refused():
    with pytest.raises(DataError, match="the recipe is for the format parquet, and the file is text"):
        read(GOOD, Recipe(format="parquet"))
    with pytest.raises(DataError, match="the recipe is for the format delimited, and the file is parquet"):
        read(parquet(), Recipe())
