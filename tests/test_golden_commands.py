"""Results of the commands that are kept: the lines of tests/golden/data_commands.txt that begin with $ are the commands."""

import io
import json
import re
import time
from contextlib import redirect_stderr

import golden_files
import joblib
import numpy as np
import pandas as pd
import pytest
from golden_files import keep, summary
from golden_text import said, text
from sklearn.datasets import load_iris
from small_specs import OWN_LESSON
from test_cli import contents as files_of
from test_cli import write_person
from test_label import moons

from dsgcore import label
from dsgcore.__main__ import main
from dsgcore.comparing import samples
from dsgcore.data.reading.recipe import MISSING_WORDS

NOISE = 1e-12
SHOWN = (".csv", ".html", ".json", ".npz", ".parquet")


class Terminal(io.StringIO):
    """A stream of errors on which progress is shown."""

    def isatty(self):
        return True


# What a line of a command's output does not keep: names of folders, times, digests, versions.
CHANGING = {
    r"[0-9a-f]{64}": "HASH",
    r"\b(?=\d*[a-f])[0-9a-f]{8}\b": "DIGEST",
    r"DSG Lab \d[\w.+]*": "DSG Lab VERSION",
    r"(,? (about |at most )?[\d.,]*\d (s|ms|min|h|seconds?|minutes?|hours?))( \d+ (s|min))?( left)?\b": " TIME",
    r"(?<=seconds\": )[\d.e-]+": "TIME",
    r"\"versions\": \{[^}]*\}": "VERSIONS",
}


def _short(found):
    value = float(found[0])
    return f"{value:.4g}" if abs(value) > NOISE else "0"


def plain(text, folder):
    usual = ",\\s+".join(re.escape(json.dumps(word)) for word in MISSING_WORDS)
    text = re.sub(
        rf"\[\s*{usual}\s*\]", "USUAL", text.replace(str(folder), "TMP").replace(str([*MISSING_WORDS]), "USUAL")
    )
    for form, word in CHANGING.items():
        text = re.sub(form, word, text)
    return re.sub(r"(?<![\w.])-?\d+\.\d{4,}(e[-+]?\d+)?", _short, text)


def contents(file, folder):
    """Yield lines about a file that a command has written."""
    yield f"  file {file.relative_to(folder)}"
    if file.suffix == ".npz":
        with np.load(file, allow_pickle=False) as made:
            yield from (f"    {name} {summary(made[name])}" for name in sorted(made) if made[name].dtype.kind in "fiub")
    elif file.suffix == ".parquet":
        yield from (f"    {line}" for line in pd.read_parquet(file).round(4).iloc[:6].to_csv().splitlines())
        yield f"    {pd.read_parquet(file).dtypes.astype(str).to_dict()} {len(pd.read_parquet(file))}"
    elif file.suffix == ".joblib":
        yield f"    {type(joblib.load(file)).__name__}"
    elif file.suffix in (".csv", ".json", ".html"):
        text = plain(file.read_text(encoding="utf-8"), folder)
        if file.suffix == ".html":
            text = re.sub(r"<(style|script).*?</\1>|<svg.*?</svg>|<[^>]+>", " ", text, flags=re.DOTALL)
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        yield from (f"    {line}" for line in (lines[:8] if file.suffix == ".csv" else [" ".join(lines)[:1500]]))


def person(folder):
    """Write a person's files: tables, a folder of Parquet files, specs and a study."""
    rng, n = np.random.default_rng(3), 80
    table = pd.DataFrame(rng.normal(size=(n, 3)).round(3), columns=["a", "b", "c"]).assign(
        town=np.resize(["bonn", "ulm", "köln", "jena"], n),
        day=[str(day) for day in np.arange("2020-01-05", n, dtype="datetime64[D]")],
    )
    table["grade"] = np.array(["low", "medium", "high"])[np.digitize(table["a"], [-0.5, 0.5])]
    table["class"] = np.where(table["a"] + table["b"] / 2 > 0, "yes", "no")
    table["three"] = table["grade"].map({"low": "ash", "medium": "elm", "high": "oak"})
    table["size"] = (table["a"] * 1000 + 4000).map("{:,.1f}".format)
    table["pair"] = [f"p{i // 2}" if i < 40 else "" for i in range(n)]
    table.to_csv(folder / "data.csv", index=False)
    half = table.assign(**{name: table[name].where(np.arange(n) % 2 == 0, "") for name in ("class", "grade", "three")})
    half.drop(columns="pair").to_csv(folder / "half.csv", index=False)
    half[["a", "b", "town", "class"]].to_csv(
        folder / "german.csv", index=False, sep=";", decimal=",", encoding="cp1252"
    )
    table[["b", "a", "c", "class"]].iloc[:20].replace({"a": {table["a"][3]: "n.a."}}).to_csv(
        folder / "new.csv", index=False, sep="\t"
    )
    rows = [f"{'+1' if a > 0 else '-1'} 1:{a} 3:{c}" for a, c in zip(table["a"], table["c"], strict=True)]
    (folder / "sparse.txt").write_text("\n".join(rows))
    for i, own in enumerate(("north", "south")):
        (folder / "rows" / f"land={own}").mkdir(parents=True)
        table.iloc[i * 50 : i * 50 + 50].to_parquet(folder / "rows" / f"land={own}" / "0.parquet", row_group_size=20)
    data = {
        "name": "file",
        "path": "data.csv",
        "n_labeled": 16,
        "test_share": 0.4,
        "scaling": "unit",
        "label_noise": 0.1,
    }
    solver = {"n_iter": 7, "n_features": 8, "batch_size": 4, "step_size": 0.2, "lam": 0.05, "dtype": "float64"}
    xor, rings, iris = ({"name": name, "n": 80, "n_labeled": 14} for name in ("xor", "ordinal_rings", "iris"))
    axes = [{"name": "kernel.sigma", "values": [0.5, 2.0]}]
    specs = {
        "spec": {"setting": "auc", "data": data, "solver": solver, "seed": 4},
        "many": {"setting": "multiclass", "data": iris | {"noise": 0.1}},
        "ordinal": {"setting": "ordinal", "data": rings, "solver": solver | {"average": "tail"}},
        "study": {"spec": {"setting": "s3vm", "data": xor, "solver": solver}, "axes": axes, "seeds": [1, 3]},
    }
    for name in ("deep", "mine", "o/folder.csv"):
        (folder / name).mkdir()
    for name, spec in (specs | {"deep/spec": specs["spec"]}).items():
        (folder / f"{name}.json").write_text(json.dumps(spec))
    table.iloc[::2].to_csv(folder / "deep" / "data.csv", index=False)
    table[["a", "class"]].to_csv(folder / "digits", index=False)
    (folder / "mine" / "part-00000.parquet").write_text("by hand")
    (folder / "lesson.toml").write_text(OWN_LESSON, encoding="utf-8")


@pytest.fixture
def commands(tmp_path, monkeypatch, jobs_here, capsys):
    """Return a function that runs the commands which a kept text names, and keeps what they say, end with and write."""
    monkeypatch.chdir(tmp_path)
    for clock in ("perf_counter", "process_time", "thread_time"):
        monkeypatch.setattr(time, clock, lambda: 0.0)
    for name in ("peak", "forget_peak"):
        monkeypatch.setattr(samples, name, lambda: 0)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("DSGLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "o").mkdir()

    def kept(name):
        text = (golden_files.FOLDER / f"{name}.txt").read_text(encoding="utf-8")
        lines, known = [], {}
        for line in [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]:
            errors = Terminal()
            with redirect_stderr(errors):
                try:
                    code = main([word.replace("+", " ") if word == "most+frequent" else word for word in line.split()])
                except SystemExit as end:
                    code = end.code
            lines += [f"$ {line}", *(f"  {text}" for text in plain(capsys.readouterr().out, tmp_path).splitlines())]
            told = re.split("[\r\n]+", plain(errors.getvalue(), tmp_path))
            lines += [f"  ! {text.replace(' TIME', '').rstrip()}" for text in told if text.strip()] + [
                f"  ended {code}"
            ]
            for file in sorted(file for file in (tmp_path / "o").rglob("*") if file.is_file()):
                content = file.read_bytes()
                if file not in known or (known[file] != content and file.suffix in SHOWN):
                    lines += [plain(one, tmp_path) for one in contents(file, tmp_path)]
                known[file] = content
        assert not (tmp_path / "-").exists()
        keep(name, lines)

    return kept


def test_commands_that_the_kept_text_names(commands, tmp_path):
    person(tmp_path)
    commands("data_commands")


def test_commands_that_are_refused_or_say_little(commands, tmp_path):
    write_person(tmp_path)
    before = files_of(tmp_path)
    commands("commands_refused")
    assert {file: one for file, one in files_of(tmp_path).items() if file in before} == before


def labeled(table, target="kind", **options):
    found = label(table, target, **{"method": "LogisticRegression"} | options)
    return "\n".join([found.report, text(found.table), *found.notes])


def test_labels_of_tables_that_are_given_in_python(monkeypatch):
    monkeypatch.setattr(samples, "MOST_OF_SLOW", 50)
    (table, kind), two = moons(300, 100), {"drop": ["id", "where"]}
    known, iris = table["kind"].notna(), load_iris(as_frame=True).frame.set_axis([*"abcd", "kind"], axis=1)
    of_a_side = table["kind"].where((table["a"] > 0.3) & (np.arange(300) % 4 > 0))
    mixed = np.random.default_rng(0).permutation(table["kind"].to_numpy())
    is_rare = table["a"] > table["a"][known].nlargest(4).iloc[-1]  # of three labels, which "a" tells
    levels = pd.Series(np.array(["low", "medium", "high"])[np.digitize(table["a"], [-0.3, 1.0])]).where(known)
    odd = table.assign(nested=[[1, 2]] * 300, wave=table["a"] + 1j, told=[{"a": 1}] * 300)
    ordered = {"method": "SVR", "drop": ["id"]}
    rows = {
        "kept columns": (table, {"keep": ["id"], "ask": 5}),
        "missing numbers left out": (table, {"missing": "drop", "drop": ["id"]}),
        "a column that tells": (table.assign(answer=np.where(kind == "yes", 1.0, 0.0)), two),
        "labels of one side": (table.assign(kind=of_a_side), two),
        "labels by chance": (table.assign(kind=mixed), two),
        "a rare class": (table.assign(kind=np.where(known, np.where(is_rare, "yes", "no"), None)), two),
        "a slow method": (table, {"method": "SelfTraining", "drop": ["id"]}),
        "an order": (table.assign(kind=levels), {"ordered": True, **ordered}),
        "words without an order": (table.assign(kind=levels.replace("high", "blue")), {"ordered": True, **ordered}),
        "an order that is given": (table.assign(kind=levels), {"order": ("high", "low", "medium"), **ordered}),
        "whole numbers": (iris.assign(kind=iris["kind"].where(np.arange(150) % 3 == 0, -1)), {}),
        "odd columns": (odd, {"drop": ["id"]}),
        "types of Arrow": (table.convert_dtypes(dtype_backend="pyarrow"), {"drop": ["id"]}),
        "numbers as names": (table.set_axis(range(5), axis=1), {"target": 4, "drop": ["0"], "keep": "0"}),
        "lists that are kept": (odd, {"keep": ["nested"]}),
        "no label is missing": (table.assign(kind=kind), {}),
        "one class": (table.assign(kind="a"), {}),
    }
    kept = [line for name, (own, how) in rows.items() for line in (name, *said(labeled, own, **how).splitlines())]
    keep("labels", kept)
