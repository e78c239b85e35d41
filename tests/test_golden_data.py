"""Results of data that are kept: tables of every kind, sets, splits, edits, and rows in parts."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from drawn_tables import WRITERS, asked, csv_text, table, typed
from golden_files import FOLDER, keep, shown, summary
from hostile_files import REFUSED
from stranger_files import FILES, FOLDERS, HELD, TYPES, folder_of
from stranger_files import frame as with_labels

from dsgcore.__main__ import main
from dsgcore.cli.predict import Fitted
from dsgcore.core.errors import DSGError
from dsgcore.data import DATASETS, edited, load, read_edits, rows_of
from dsgcore.data.datasets import LABELS, CountError, convert
from dsgcore.data.edits import check_complete
from dsgcore.data.inspection import class_balance, column_summary, coverage, leaks, pair_consistency
from dsgcore.data.reading import LOCAL, File, Limits, Recipe, Source
from dsgcore.data.reading.recipe import MISSING_WORDS
from dsgcore.data.splits import broken, draw_pairs, hide_labels
from dsgcore.experiments import Run, Spec
from pages.controls.hand import LONGEST_TEXT, edits_in

SHARES = (0.2, 0.35, 0.7)
ARRAYS = (
    *(("none", None, [0, 1] * 20), ("unit", "median", None), ("standard", "mean", [-1, 1, 2, -2] * 10)),
    *(("none", "auto", ["a", "", "b", "a"] * 10), ("unit", "most frequent", [0.5, 1, 2, 3] * 9)),
)
CODES = {"missing_words": (*MISSING_WORDS, *["missing", "n.a.", "-", "broken", "Total", "EUR", "kg", "m", "-9"])}


def lines_of(work):
    """Yield lines, and the refusal that ends them."""
    try:
        yield from (line for line in work if line)
    except DSGError as error:
        nearest = f"; nearest {error.nearest}" if isinstance(error, CountError) else ""
        yield f"  refused: {type(error).__name__}: {error}{nearest}"


def shown_recipe(recipe):
    usual = Recipe().to_dict()
    return ", ".join(f"{name} {value}" for name, value in recipe.to_dict().items() if value != usual[name])


def read(file, kind, given, chance):
    """Yield lines about a table: its recipe, the notes of its reading, its labels and its points."""
    recipe = file.recipe(kind, **given)
    yield f"  recipe {shown_recipe(recipe)}; options {' '.join(recipe.options(file.sniff()))}"
    scaling, rows = chance.choice(["none", "unit", "standard"]), chance.choice([None, np.arange(5, 15)])
    if recipe.column("label") and chance.random() < 0.5:
        look = file.look(kind)
        yield f"  look {look.asks} {look.alone} {look.classes}"
    data, features = file.prepared(recipe, kind, rows, scaling)
    yield from (f"  - {note}" for note in data.report)
    yield f"  y {' '.join(map(str, np.unique(data.y, return_counts=True)[1]))} {data.class_names} {summary(data.y)}"
    yield f"  pairs {summary(data.pairs)}" if data.pairs is not None else ""
    yield f"  X {scaling} {'some' if rows is not None else ''} {features.names} {summary(data.X)} out {data.left_out}"


def test_tables_of_every_kind():
    lines = []
    for number in range(60):
        chance = random.Random(number)
        n = chance.choice([24, 30, 41, 60])
        frame, kinds, target = table(chance, n)
        writer = chance.choice([*WRITERS, *["csv"] * 12, *["frame"] * 2])
        name, kind = f"table.{writer}", chance.choice(["binary", "pairs", "ordinal", "classes", "classes"])
        limits = Limits(columns=6, categories=3, words=9, rows=50) if chance.random() < 0.1 else Limits()
        if writer == "csv":
            content, writer = csv_text(frame, chance)
        try:
            if writer == "frame":
                file = File.of_table(typed(frame))
            else:
                content = content if writer.startswith("csv") else WRITERS[writer](frame, chance)
                file = File(Source.of_bytes(content, name), limits)
        except DSGError as error:
            lines.append(f"{number} refused {error}")
            continue
        except ValueError:  # two columns of one name
            continue
        given = asked(frame, chance, target)
        found = [*lines_of(read(file, kind, given, chance))]
        if "refused" in found[-1]:  # once more, with less that is in the way
            file = File(file.packed, Limits()) if writer != "frame" else file
            less = {name: given[name] for name in ("missing", "unlabeled", "text_dimensions") if name in given}
            found += lines_of(read(file, "classes", less | CODES, chance))
        lines += [f"{number} {writer}; {kinds}; n {n} {kind}; {given}", *found]
    keep("data_tables", lines)


def tables_of(name):
    """Return names, options and texts of the tables in a file: each begins with a line === NAME === OPTIONS."""
    text = (FOLDER / "tables" / f"{name}.txt").read_text(encoding="utf-8")
    found = re.findall(r"^=== (.*) ===(.*)\n((?:(?!=== ).*\n)*)", text, re.MULTILINE)
    return [(name, json.loads(options or "{}"), table) for name, options, table in found]


def points(data):
    """Yield the first values and the sum of each column, exact ones but those of text."""
    for name, column in zip(data.feature_names[:16], data.X.T, strict=False):
        exact = f"{' '.join(f'#{value:.6g}' for value in column[:4])} sum {shown(column.sum(dtype=float))}"
        yield f"  {name!r} {shown(column[:4]) if ': direction' in name else exact}"


def of_stranger(file, labels="classes", is_asked=True, **given):
    """Yield lines about a table that a person gives: the roles of columns, the report, classes and points."""
    recipe = file.recipe(labels, is_asked=is_asked, **{k: tuple(v) if type(v) is list else v for k, v in given.items()})
    yield f"  {shown_recipe(recipe)}".replace(str([*MISSING_WORDS]), "USUAL")
    data = file.prepared(recipe, labels)[0]
    yield from (f"  - {note}" for note in data.report)
    yield f"  y {np.bincount(data.y + 1)[1:].tolist()} {data.class_names} {summary(data.y)} out {data.left_out}"
    yield f"  pairs {data.pairs.tolist()}" if data.pairs is not None else ""
    yield from points(data)


def test_tables_of_strangers():
    lines = []
    for name, options, text in tables_of("columns"):
        source = Source.of_bytes(text.encode(options.pop("written", "utf-8")), "t.csv")
        file = File(source, replace(LOCAL, **options.pop("limits", {})))
        lines += [f"{name}; {options}", *lines_of(of_stranger(file, **options))]
    keep("data_columns", lines)


def of_path(path, labels):
    yield from of_stranger(File.of_path(path), labels)


def as_rows(path, label="label"):
    """Yield lines about a file or a folder whose rows are read in parts."""
    rows, y = rows_of(path, label)
    names, counts = np.unique(np.ma.filled(y, -1).astype(str), return_counts=True)
    last = " ".join(f"#{value:.6g}" for value in rows[len(rows) - 1])
    yield f"  rows {rows.names} {summary(rows[:])} last {last} y {dict(zip(names.tolist(), counts.tolist(), strict=True))}"
    yield from (f"  - {note}" for note in (*rows.notes, *rows.guesses))


def test_files_of_strangers(tmp_path, monkeypatch):
    lines = []
    monkeypatch.chdir(tmp_path)  # a sentence cuts a long path
    for number, (name, write) in enumerate(FILES.items()):
        (folder := Path(f"{number}")).mkdir()
        write(folder)
        path = next(folder.iterdir()) if [one.is_file() for one in folder.iterdir()] == [True] else folder
        labels = "pairs" if "pair" in name else "classes"
        lines += [name, *lines_of(of_path(path, labels))]
        lines += lines_of(as_rows(path))
    for name, column in HELD.items():
        lines += [name, *lines_of(of_stranger(File.of_table(with_labels(c=column)), drop=["c"]))]
    for name, column in TYPES.items():
        lines += [name, *lines_of(of_stranger(File.of_table(with_labels(c=column)), target="label"))]
    for number, (name, tables) in enumerate(FOLDERS.items()):
        (folder := Path(f"folder {number}")).mkdir()
        folder_of(folder, tables)
        lines += [name, *lines_of(as_rows(folder, "t"))]
    keep("data_files", lines)


def of_model(capsys, train, new, fit=None, encoding=None, reading=None, workbook=False):
    """Yield lines about a new table for the model of another one: what predict says and ends with, and the points."""
    Path("train.csv").write_text(train, encoding=encoding or "utf-8")
    Path("new.csv").write_text(new, encoding=encoding or "utf-8")
    if workbook:
        pd.read_csv("new.csv").to_excel("new.xlsx", index=False)
    other = "new.xlsx" if workbook else "new.csv"
    named = ["--header", "--target=kind"] if "kind" in train else ["--no-header"]
    given = [*(named if fit is None else fit), *([f"--encoding={encoding}"] if encoding else [])]
    small = [
        "--out=model",
        "--quiet",
        "--scaling=none",
        "--set",
        "n_iter=2",
        "--set",
        "n_features=8",
        "--set",
        "sigma=1",
    ]
    yield f"  fit {main(['fit', 'TSGS3VM', 'train.csv', *small, *given])}"
    yield from (f"  ! {line}" for line in capsys.readouterr().err.splitlines())
    words = [f"--{name.replace('_', '-')}={','.join(value)}" for name, value in (reading or {}).items()]
    ended = main(["predict", "model", other, "--out", "scores", "--quiet", *words])
    yield f"  predict {ended}"
    yield from (f"  ! {line}" for line in capsys.readouterr().err.splitlines())
    for part in Fitted.of(Path("model")).parts(Path(other), None, [], reading or {}) if ended == 0 else ():
        for column in np.concatenate([*part.read()[0]]).T:
            yield "  " + " ".join(f"#{value:.6g}" for value in column)


def test_new_tables_for_a_model(tmp_path, monkeypatch, capsys):
    lines = []
    for number, (name, options, text) in enumerate(tables_of("alike")):
        (folder := tmp_path / f"{number}").mkdir()
        monkeypatch.chdir(folder)
        lines += [f"{name}; {options}", *lines_of(of_model(capsys, *text.split("===\n"), **options))]
    keep("data_alike", lines)


def test_hostile_files():
    lines = []
    for name, (file_name, content) in REFUSED.items():
        lines += [name, *lines_of(of_stranger(File(Source.of_bytes(content, file_name), Limits()), "binary"))]
    keep("data_hostile", lines)


def shown_split(split):
    """Yield lines about a split, and what inspection says of it."""
    parts = {
        name: getattr(split, name)
        for name in ("X_train", "y_train", "y_hidden", "X_test", "y_test", "train_rows", "test_rows")
    }
    yield from (f"  {name} {summary(value)}" for name, value in parts.items())
    yield f"  {split.scaling.kind} {summary(split.scaling.offset)} {summary(split.scaling.width)} {split.shape}"
    near, twice = coverage(split), leaks(split)
    yield f"  balance {class_balance(split).to_dict('list')} {split.n_rows} {split.class_names}"
    yield f"  near {summary(near.to_labeled)} {summary(near.to_any)} {near.n_right} of {near.n_known}"
    yield f"  twice {summary(twice.test_rows)} {summary(twice.train_rows)} {twice.contradicting} {twice.within_training}"


def drawn_edits(chance, split, labels):
    """Return edits of every kind, some of which cannot be."""
    rows, k, n = split.train_rows.tolist(), len(split.class_names), split.n_rows
    near = [round(float(v), 3) for v in split.X_train[: chance.randint(1, 9), :2].ravel() + 0.01]
    to = {"to": chance.randrange(k)}
    good = [
        {"do": "label", "rows": chance.sample(rows, 5), **(to if labels != "pairs" else {})},
        {"do": "label", "rows": chance.sample(rows, 9)},
        {"do": "label", "rows": "all"},
        {"do": "paint", "at": near, **to},
        {"do": "paint", "at": near, **to, "is_labeled": labels != "pairs"},
        {"do": "paint", "at": near[:2]},
        {"do": "erase", "rows": chance.sample(rows, 7)},
        {"do": "move", "rows": [chance.choice(split.test_rows.tolist())], "at": near[:2]},
        {"do": "pair", "rows": chance.sample(rows, 2)},
    ]
    bad = [
        {"do": "erase", "rows": [n + 1]},
        {"do": "label", "rows": chance.sample(range(n + 4), 1), "to": k},
        {"do": "move", "rows": rows[:1], "at": [99.0, -3.0]},
        {"do": "pair", "rows": rows[:1] * 2},
        *({"do": "paint", "at": [1.0]}, {"do": "blur"}, {"do": "erase"}),
    ]
    is_good = chance.random() < 0.75
    return chance.sample(good, chance.randint(2, 7)) if is_good else [chance.choice(good), chance.choice(bad)]


def of_set(chance, entry, number):
    """Yield lines about a set with unusual options, its conversion, a split, faults put into it, and edits."""
    special = {"n": [40, 60, 90], "n_irrelevant": [3, 7], "n_classes": [3, 7]}
    values = {
        o.name: o.check(
            chance.choice(special.get(o.name) or [round(o.low + x * (min(o.high, 1.0) - o.low), 3) for x in SHARES])
        )
        for o in entry.options
        if chance.random() < 0.8
    }
    kind, seed = chance.choice([one for one in LABELS if entry.suits(one)]), chance.randrange(1, 2**32)
    yield f"{number} {entry.name} {kind} {values}"
    if number < len(DATASETS):
        yield f"  {entry.sentence} {entry.shape(values.get('n'), values.get('n_irrelevant'))} " + "; ".join(
            f"{one} {entry.conversions_for(one)} {entry.is_made_for(one)} {entry.why_not(one)} {entry.usual_options(one)}"
            for one in LABELS
        )
    data = entry(**values, seed=seed)
    yield f"  X {summary(data.X)} y {summary(data.y)} {data.class_names} {data.feature_names[:3]} {data.source} {data.licence}"
    columns = column_summary(data).iloc[:2]
    yield f"  columns {columns['histogram'].tolist()} {columns['distinct'].tolist()}"
    yield f"  columns {summary(columns.iloc[:, 2:6].to_numpy(dtype=float))}"
    given = chance.choice(entry.conversions_for(kind)), chance.choice([None, 1, 2])
    gaps = replace(data, y=np.where(np.arange(len(data.y)) % 7 == 3, -1, data.y))
    data, gaps = (convert(one, *given) for one in (data, gaps))
    if chance.random() < 0.3:
        data = replace(data, y=np.where(np.arange(len(data.y)) % 5 == 3, -1, data.y))
    if kind == "pairs" and chance.random() < 0.4:
        data = replace(data, pairs=np.where(np.arange(len(data.y)) < 24, np.arange(len(data.y)) // 2, -1))
    how = {
        "test_share": chance.choice([0.2, 0.45]),
        "seed": seed,
        "stratified": chance.random() < 0.6,
        "scaling": chance.choice(["unit", "standard", "none"]),
    }
    yield f"  converted {data.class_names} {summary(data.y)} {summary(gaps.y)} {how}"
    split = (
        draw_pairs(data, chance.choice([3, 8, 40]), **how)
        if kind == "pairs"
        else hide_labels(data, chance.choice([7, 13, 25, 500]), **how)
    )
    if kind == "pairs":
        yield f"  {pair_consistency(split)}".replace("PairConsistency", "pairs")
    yield from shown_split(split)
    bad = {"label_noise": chance.choice([0.0, 0.3, 0.6]), "prior_shift": chance.choice([0.0, 0.5, -0.7])}
    yield f"  broken {bad}"
    split = broken(split, **bad, seed=seed + 1, is_pairs=kind == "pairs")
    yield from [*shown_split(split)][1:3]
    edits = read_edits(drawn_edits(chance, split, kind))
    yield f"  edits {[(edit.do, edit.to, len(edit.at)) for edit in edits]}"
    changed = edited(split, edits, labels=kind, test_share=chance.choice([0.3, 0.5]))
    yield from shown_split(changed)
    check_complete(changed, labels=kind)


def test_sets_splits_and_edits():
    lines = []
    for number in range(26):
        chance = random.Random(number)
        lines += lines_of(of_set(chance, list(DATASETS.values())[number % len(DATASETS)], number))
    for number in range(8):  # an empty sheet
        split, chance = hide_labels(load("two_moons", n=40), 10, 0.3, number), random.Random(number)
        labels = chance.choice(["binary", "pairs"])
        paint = [
            {"do": "paint", "at": [chance.random() for _ in range(2 * chance.randint(1, 5))], "to": i % 2}
            | {"is_labeled": labels == "binary" and chance.random() < 0.6}
            for i in range(chance.randint(1, 9))
        ]
        pair = [{"do": "pair", "rows": [40, 41]}] * (labels == "pairs")
        edits = read_edits([{"do": "erase", "rows": "all"}, *paint, *pair])
        changed = edited(split, edits, labels=labels, test_share=0.4)
        lines += [f"sheet {number} {labels}", *lines_of(shown_split(changed)), *lines_of(complete(changed, labels))]
    keep("data_sets", lines)


def complete(split, labels):
    check_complete(split, labels=labels)
    yield "  complete"


def of_spec(plain):
    """Yield that a spec, or the edits in a link, are taken: else the error is a refusal."""
    edits = edits_in(plain["link"]) if "link" in plain else None
    run = Run(Spec.from_dict(plain if edits is None else {"setting": "auc", "data": {"edits": edits}}))
    yield f"  taken: {run.spec.sha256 == Spec.from_json(run.spec.to_json()).sha256} {len(run.split.labeled)}"


def test_specs_and_edits_that_are_refused():
    many = (
        [{"do": "label", "rows": "all"}] * 5_001,
        [{"do": "paint", "at": [0.5] * 2_000_000}],
        [{"do": "paint", "at": [0.5] * 5_002}] * 2,
        [{"do": "erase", "rows": [*range(50_001)]}],
        [{"do": "paint", "at": [0.25, 0.75] * 10, "to": to, "is_labeled": True} for to in (0, 1)]
        + [{"do": "erase", "rows": [*range(700)]}, {"do": "paint", "at": [0.5] * 4_000, "to": 1}],
    )
    lines = []
    for line in (FOLDER / "tables" / "specs.txt").read_text(encoding="utf-8").splitlines():
        lines += [line[:200], *lines_of(of_spec(json.loads(line)))]
    for edits in many:
        lines += lines_of(of_spec({"setting": "auc", "data": {"edits": edits}}))
    keep("data_specs", [*lines, *lines_of(of_spec({"link": "x" * (LONGEST_TEXT + 1)}))])


def in_parts(chance, folder, number):
    """Yield lines about a table in parts: what its rows are, and what is said of it."""
    n = chance.choice([50, 90])
    frame, kinds, target = table(chance, n)
    frame = typed(frame.loc[:, ~frame.columns.duplicated()])
    place, cuts = folder / f"{number}", sorted(chance.sample(range(5, n - 5), 2))
    parts = [frame.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
    for i, part in enumerate(parts):
        own = place / (f"site={'abc'[i]}" if number % 3 == 0 else "")
        own.mkdir(parents=True, exist_ok=True)
        if number % 4 == 2:  # of text, the second of which has an empty row, and the last one names alone
            part = part.astype(object)
            part.iloc[3 * i : 3 * i + (i == 1)] = None
            part.iloc[: 0 if i == 2 else None].to_csv(own / f"{i}.csv", index=False)
        else:
            part.to_parquet(own / f"{i}.parquet", row_group_size=20, index=number % 4 == 1)
    if number % 5 == 0:
        (place / "notes.txt").write_text("by us")
    kind = chance.choice(["classes", "classes", "pairs"])
    given = asked(frame, chance, target) | {
        "labels": kind,
        "scaling": chance.choice(["none", "unit", "standard"]),
        "sample": chance.choice([12, 40, 999]),
        "y": chance.choice([target, target, None]),
    }
    given = {name: value for name, value in given.items() if name not in ("target", "is_asked", "positive", "order")}
    told = []
    yield f"{number} {kinds}; n {n} {cuts}; {given}"
    rows, y = rows_of(place, callback=lambda *so_far: told.append(so_far), **given)
    yield from (f"  - {note}" for note in rows.notes)
    yield f"  guesses {rows.guesses}; told {len(told)} {told[:2]} {told[-1:]}"
    yield f"  {rows.names} {rows.shape} {summary(rows[:])} sample {summary(rows.sample())}"
    yield f"  some {summary(rows[[len(rows) // 2, 3, 1, 3]])} {summary(rows[3:40:7])}"
    yield f"  taken {summary(rows.taken(np.array([4, 2])).astype('f8')[:])}"
    pieces = [len(piece) for piece in rows.pieces(np.arange(7, min(47, len(rows))), 16)]
    yield f"  pieces {pieces} y {'' if y is None else summary(y)}"
    yield f"  last {summary(rows[-1])}"


def test_rows_in_parts(tmp_path):
    lines = []
    for number in range(16):
        lines += lines_of(in_parts(random.Random(number), tmp_path, number))
    rng = np.random.default_rng(1)
    for number, (scaling, missing, y) in enumerate(ARRAYS):
        Xs = [rng.normal(size=(n, 3)).round(1) for n in (11, 29)]
        Xs[1][4, 1] = np.nan if number != 3 else 1.0
        lines += [f"arrays {scaling} {missing}", *lines_of(of_arrays(Xs, y, scaling=scaling, missing=missing))]
    mapped = np.memmap(tmp_path / "held.dat", "f4", "w+", shape=(9, 3))
    several = {
        "types": [mapped, Xs[1] * 1e9],
        "of another width": [mapped, *Xs, Xs[0][:, :2]],
        "held": [np.ones((4, 3)), mapped],
    }
    mapped[:] = np.where(np.arange(27).reshape(9, 3) == 7, np.nan, 0.1)
    for name, own in several.items():
        lines += [f"arrays {name}", *lines_of(of_arrays(own, None)), *lines_of(of_arrays(own, None, missing="mean"))]
    keep("data_rows", [line.replace(str(tmp_path), "TMP") for line in lines])


def of_arrays(Xs, y, **how):
    rows, y = rows_of(Xs, y, **how)
    yield f"  {rows.shape} {rows.dtype} {summary(rows[:])} {'' if y is None else summary(y)} {type(y).__name__}"
