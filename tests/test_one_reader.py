"""One reader: a table means the same however it is written, and by whichever way it comes in."""

import csv
import gzip
import io
import json
import lzma
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from own_tables import lines

from dsgcore import QSGS2AUC
from dsgcore.__main__ import main
from dsgcore.data import DataError, rows_of
from dsgcore.data.converting import describe_file
from dsgcore.data.reading import DELIMITERS, LOCAL, Features, File, Source

N = 40
KIND = ["wheat", "rye"] * (N // 2)


def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"size": rng.normal(5, 1, N).round(2), "count": np.arange(N) % 7 + 0.5, "kind": KIND})


def text(sep=",", decimal=".", header=True, encoding="utf-8", **options):
    return table().to_csv(index=False, sep=sep, decimal=decimal, header=header, **options).encode(encoding)


def packed(write):
    content = io.BytesIO()
    write(content)
    return content.getvalue()


def in_zip(content, name="t.csv"):
    with io.BytesIO() as to:
        with zipfile.ZipFile(to, "w") as archive:
            archive.writestr(name, content)
        return to.getvalue()


ROWS = [f"{a},{b},{c}" for a, b, c in table().itertuples(index=False)]
WRITTEN = {
    "comma": text(),
    "decimal comma": text(";", ","),
    "tab": text("\t"),
    "bar, UTF-16": text("|", encoding="utf-16"),
    "white space": text(" "),
    "sep=": b"sep=;\r\n" + text(";"),
    "title": b"Harvest of 2020\n\n" + text(),
    "title of a sheet": b"Harvest of 2020,,\n,,\n" + text(),
    "title and a name in two lines": lines("Harvest of 2020", 'size,count,"kind', '"', *ROWS),
    "title and units": lines("Harvest of 2020", "size,count,kind", "[mm],,", *ROWS),
    "units": lines("size,count,kind", "mm,kg,", *ROWS),
    "comments": lines("# by us", "# twice", "size,count,kind", *ROWS, "# end"),
    "savetxt": lines("# size count kind", *(row.replace(",", " ") for row in ROWS)),
    "blanks before quotes": lines(
        '"size", "count", "note", "kind"',
        *(f'{a}, "{b}", "", "{c}"' for a, b, c in table().itertuples(index=False)),
    ),
    "blanks in names": lines("size , count , kind ", *ROWS),
    "R": lines('"size" "count" "kind"', *(f'"{i + 1}" {row.replace(",", " ")}' for i, row in enumerate(ROWS))),
    "trailing commas": lines("size,count,kind", *(f"{row}," for row in ROWS)),
    "empty rows": text() + b",,\n" * 50,
    "units in cells": lines("size,count,kind", *(f"{a} kg,${b},{c}" for a, b, c in table().itertuples(index=False))),
    "gzip": gzip.compress(text()),
    "xz": lzma.compress(text()),
    "zstd": pa.compress(text(), "zstd", asbytes=True),
    "zip": in_zip(text()),
    "zip in a folder": in_zip(text(), "data/t.csv"),
    "JSON lines": table().to_json(orient="records", lines=True).encode(),
    "JSON": table().to_json(orient="records").encode(),
    "ARFF": lines(
        "@relation x", "@attribute size real", "@attribute count real", "@attribute kind {rye, wheat}", "@data", *ROWS
    ),
    "Feather": packed(table().to_feather),
    "ORC": packed(table().to_orc),
    "Parquet": packed(table().to_parquet),
}


@each("name", WRITTEN)
def test_a_table_is_the_same_however_it_is_written(name):
    file = File(Source.of_bytes(WRITTEN[name], "t"), LOCAL)
    data = file.points(file.recipe("classes", is_asked=True), "classes")
    assert data.feature_names == ("size", "count")
    np.testing.assert_allclose(data.X, table()[["size", "count"]], rtol=1e-6)
    assert [data.class_names[code] for code in data.y] == KIND


def by_polars(to):
    polars = pytest.importorskip("polars")
    own = polars.from_pandas(table())
    own.with_columns(own["kind"].cast(polars.Enum(["rye", "wheat"]))).write_ipc(to)


def by_excel(to, above=0, **options):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(to) as book:
        table().to_excel(book, startrow=above, index=False, **options)
        if above:
            book.sheets["Sheet1"]["A1"] = "Harvest of 2020"
        table().head(3).to_excel(book, sheet_name="notes")


def in_zip_by_excel(to):
    with zipfile.ZipFile(to, "w") as archive:
        archive.writestr("t.xlsx", packed(by_excel))


BY_EXTRAS = {
    "Arrow by polars": by_polars,
    "Excel in a zip": in_zip_by_excel,
    "Excel": by_excel,
    "Excel with a title": lambda to: by_excel(to, 3),
    "Excel from the third column on": lambda to: by_excel(to, 2, startcol=2),
}


@each("name", BY_EXTRAS)
def test_a_table_is_the_same_when_another_package_writes_it(name):
    file = File(Source.of_bytes(packed(BY_EXTRAS[name]), "t"), LOCAL)
    data = file.points(file.recipe("classes", is_asked=True), "classes")
    assert data.feature_names == ("size", "count")
    np.testing.assert_allclose(data.X, table()[["size", "count"]], rtol=1e-6)
    assert [data.class_names[code] for code in data.y] == KIND


WORDS = ["plain", "two words", 'a "quoted" one', "semi;colon", "comma, and bar|", "grün", "déjà vu"]


@settings(max_examples=80, deadline=None)
@given(data=st.data(), delimiter=st.sampled_from(list(DELIMITERS)))
def test_a_table_written_in_any_dialect_is_read_back_equal(data, delimiter):
    n = data.draw(st.integers(12, 30))
    decimal = "." if delimiter in (",", " ") else data.draw(st.sampled_from([".", ","]))
    missing = data.draw(st.sampled_from(["NA", "?", "null"] if delimiter == " " else ["", "NA", "?", "null"]))
    sizes = data.draw(st.lists(st.integers(-99_999, 99_999), min_size=n, max_size=n))
    is_missing = data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda given: sum(given) < n / 2))
    words = data.draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n))
    has_names = data.draw(st.booleans())
    rows = [["size", "count", "note", "kind"]] if has_names else []
    for i in range(n):
        size = missing if is_missing[i] else f"{sizes[i] / 100:.2f}".replace(".", decimal)
        rows.append([size, i % 7, words[i], KIND[i]])
    written = io.StringIO(newline="")
    how = data.draw(st.sampled_from([{}, {"quoting": csv.QUOTE_ALL}, {"escapechar": "\\", "doublequote": False}]))
    newline = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    csv.writer(written, delimiter=delimiter, lineterminator=newline, **how).writerows(rows)
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"]))
    file = File(Source.of_bytes(written.getvalue().encode(encoding), "t"), LOCAL)
    known = (
        {"delimiter": ":"} if delimiter == ":" else {}
    )  # which may also stand inside cells, so it is not guessed there
    recipe = file.recipe("classes", target="kind" if has_names else "x4", **known)
    frame = file.table(recipe).frame
    assert recipe.header == has_names
    assert list(frame.columns) == (rows[0] if has_names else ["x1", "x2", "x3", "x4"])
    size, count, note, kind = (frame[name] for name in frame.columns)
    np.testing.assert_allclose(size, np.where(is_missing, np.nan, np.array(sizes) / 100))
    assert count.tolist() == [i % 7 for i in range(n)]
    assert (note.tolist(), kind.tolist()) == (words, KIND[:n])


def by_description(path, out):
    described = describe_file(path)
    return described.features.names, tuple(described.class_sizes)


def by_file(path, out):
    file = File.of_path(path)
    data = file.points(file.recipe("classes"), "classes")
    return data.feature_names, data.class_names


def by_rows(path, out):
    rows, labels = rows_of(path, "kind")
    return rows.names, tuple(sorted(set(labels.tolist())))


def by_estimator(path, out):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of what is left out
        model = QSGS2AUC(n_iter=4, n_features=8, random_state=0).fit(path, "kind")
    return tuple(model.feature_names_in_), tuple(model.classes_)


def by_command(path, out):
    given = ["--out", str(out), "--quiet", "--set", "n_iter=4", "--set", "n_features=8"]
    assert main(["fit", "QSGS2AUC", str(path), *given]) == 0
    facts = json.loads((out / "fit.json").read_text())
    assert main(["predict", str(out), str(path), "--out", str(out) + "-scores", "--quiet"]) == 0
    return tuple(facts["features"]), tuple(facts["classes"])


@each("way", [by_description, by_file, by_rows, by_estimator, by_command])
def test_a_table_is_the_same_by_every_way_in(way, tmp_path_factory, capsys):
    for name in ("decimal comma", "title and units", "R", "zip", "Feather", "Parquet"):
        folder = tmp_path_factory.mktemp("way")
        (folder / "table").write_bytes(WRITTEN[name])
        assert way(folder / "table", folder / "out") == (("size", "count"), ("rye", "wheat")), name


@each(
    "first, has_names",
    [
        ("1100,1102,class", True),
        ("1990,1991,class", True),
        ("0.31,0.42,wheat", False),
        ("a,b,c", True),
    ],
)
def test_numbers_may_name_columns_and_a_person_may_say_so(first, has_names):
    rows = [f"{0.3 + i / 100:.2f},{0.4 + i / 90:.2f},{KIND[i]}" for i in range(N)]
    file = File(Source.of_bytes(lines(first, *rows), "t.csv"))
    assert file.sniff().header == has_names
    for said in (True, False):
        assert len(file.table(file.recipe("classes", header=said)).frame) == N + (not said)


@each(
    "encoding, words",
    [
        ("cp1251", ["мужчина", "женщина"]),
        ("gbk", ["男人", "女人"]),
        ("shift_jis", ["おとこ", "おんな"]),
        ("latin-1", ["junge", "mädchen"]),
    ],
)
def test_words_of_other_languages_are_read(encoding, words):
    content = lines("x,label", *(f"{i % 9},{words[i % 2]}" for i in range(N)), encoding=encoding)
    file = File(Source.of_bytes(content, "t.csv"))
    assert set(file.points(file.recipe("classes"), "classes").class_names) == set(words)


@each(
    "words",
    [
        ["low", "medium", "high"],
        ["never", "sometimes", "always"],
        ["<18", "18-30", "31-50", "50+"],
        ["1 star", "2 stars", "10 stars"],
        ["[0, 10)", "[10, 100)", "[100, 1000)"],
        ["F", "D", "C", "B", "A"],
        ["S", "M", "L", "XL"],
    ],
)
def test_known_orders_are_kept_and_others_asked_for(words):
    cells = [f'"{words[i % len(words)]}"' for i in range(N)]
    file = File(Source.of_bytes(lines("x,label", *(f"{i % 9},{one}" for i, one in enumerate(cells))), "t.csv"))
    data = file.points(file.recipe("ordinal"), "ordinal")
    assert data.class_names == tuple(words)
    assert any("the lowest first: " in sentence for sentence in data.report)
    colors = File(Source.of_bytes(lines("x,label", *(f"{i % 9},{'rgb'[i % 3]}x" for i in range(N))), "t.csv"))
    with pytest.raises(DataError, match=r"words without a known order, .*--order"):
        colors.points(colors.recipe("ordinal"), "ordinal")
    assert colors.points(colors.recipe("ordinal", order=("rx", "gx", "bx")), "ordinal").class_names == (
        "rx",
        "gx",
        "bx",
    )


def test_gaps_and_categories_that_the_training_rows_do_not_have_are_said():
    train = pd.DataFrame({"a": [1.0, 2.0, None, 4.0], "b": range(4), "c": list("xyxy"), "kind": list("nmnm")})
    recipe = File.of_frame(train, "t").recipe("classes", target="kind", is_asked=True)
    features = Features(recipe, LOCAL).fit(train)
    assert list(features.unseen(train)) == []
    assert list(features.unseen(train.assign(b=[0, 1, None, None], c=list("xyzz")))) == [
        "Missing numbers in 'b', where the training rows had none: replaced by the column's mean over the training rows.",
        "'c': 'z' were not among the training rows, and count as no category.",
    ]


def test_a_model_of_libsvm_text_knows_its_first_and_its_last_index(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X, fit = rng.normal(size=(N, 3)).round(3), ["--quiet", "--set", "n_iter=10", "--set", "n_features=16"]
    for name, start, columns in (("train", 0, (0, 1, 2)), ("test", 0, (1, 2)), ("one", 1, (0, 1, 2))):
        rows = (" ".join([str(i % 2), *(f"{j + start}:{X[i, j]}" for j in columns)]) for i in range(N))
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    (tmp_path / "zero").write_text("1 0:1 1:2\n")
    (tmp_path / "beyond").write_text("1 1:1 4:2\n")
    for name in ("train", "one"):
        assert main(["fit", "TSGS3VM", str(tmp_path / name), "--out", str(tmp_path / f"m-{name}"), *fit]) == 0
    assert (
        main(["predict", str(tmp_path / "m-train"), str(tmp_path / "test"), "--out", str(tmp_path / "s"), "--quiet"])
        == 0
    )
    for name, said in (
        ("zero", "has the index 0, and the first index"),
        ("beyond", "has the index 4, and the largest"),
    ):
        capsys.readouterr()
        assert main(["predict", str(tmp_path / "m-one"), str(tmp_path / name), "--out", str(tmp_path / name[:1])]) == 2
        assert f"line 1 {said} of the training file is" in capsys.readouterr().err


def points_of(*rows, labels="classes", **given):
    file = File(Source.of_bytes(lines(*rows), "t.csv"), LOCAL)
    return file.points(file.recipe(labels, is_asked=True, **given), labels)


def test_what_a_table_does_not_say_is_asked_for():
    sparse = [
        f"{'cat' if i % 3 else ''},{['b', 'c', '', '', '', ''][i % 6]},{['d', 'e', '', '', '', ''][i // 2 % 6]},{i}"
        for i in range(120)
    ]
    with pytest.raises(
        DataError, match=r"labels are taken from 't', and 'u' could hold them, too: say which \(--target\)"
    ):
        points_of("s,t,u,x", *sparse)
    assert points_of("s,t,u,x", *sparse, target="u").class_names == ("d", "e")
    three = [f"{i % 7},{['Gentoo', 'Adelie', 'Chinstrap'][i % 3]}" for i in range(N)]
    with pytest.raises(DataError, match="made of 3, needs the positive one named"):
        points_of("x,species", *three, labels="binary")
    assert points_of("x,species", *three, labels="binary", positive="Adelie").class_names[1] == "Adelie"


def test_what_may_be_a_mistake_is_said():
    rows = [
        f"{-999 if i % 5 == 0 else i % 9},{'gone' if i % 2 else ''},{['stay', 'churn'][i % 2]},{i % 4}"
        for i in range(60)
    ]
    report = " ".join(points_of("age,reason,label,x", *rows).report)
    assert "Does -999 mean missing in 'age'? 12 cells hold it" in report
    assert "Warning: the column 'reason' gives the label away (it is filled for 'churn' alone)" in report
    known = points_of("age,reason,label,x", *rows, missing_words=("-999",))
    assert "12 cells '-999' (in 'age')" in " ".join(known.report)
    assert known.X[0, 0] > 0


@each(
    "first, second, days",
    [
        ("25.12.2020", "01.02.2021", (18621, 18659)),
        ("12/25/2020", "02/01/2021", (18621, 18659)),
        ("25/12/20", "01/02/21", (18621, 18659)),
        ("01.02.2021", "03.02.2021", (18659, 18661)),  # that may be either has the order of its sign
        ("01/02/2021", "03/02/2021", (18629, 18688)),
        ("31-12-69", "01-01-70", (36524, 0)),
    ],
)
def test_day_and_month_are_told_by_what_is_above_twelve_and_else_by_their_sign(first, second, days):
    rows = [f"{(first, second)[i % 2]};{i};{'xy'[i % 2]}" for i in range(20)]
    np.testing.assert_array_equal(points_of("day;b;kind", *rows).X[:2, 0], days)


def test_dates_truths_thousands_and_forms_of_words_are_what_they_look_like():
    truths = [f"{['Yes', 'no', 'YES '][i % 3]};{['T', 'FALSE'][i % 2]};{'Yes' if i % 4 else 'no '}" for i in range(N)]
    rows = [f"{1970 + i % 9}-01-01;{['1.850', '986'][i % 2]};{words}" for i, words in enumerate(truths)]
    data = points_of("day;price;smoker;flag;label", *rows)
    assert data.feature_names == ("day", "price", "smoker", "flag")
    np.testing.assert_array_equal(data.X[1], [365, 986, 0, 0])
    np.testing.assert_array_equal(data.X[:3, 1], [1850, 986, 1850])
    assert data.class_names == ("Yes", "no")


def test_a_code_of_money_in_front_and_a_month_without_a_day_are_read():
    rows = [f"{['EUR 1.250,50', 'CHF 3', '7 USD'][i % 3]};2020-0{1 + i % 3};{KIND[i]}" for i in range(N)]
    np.testing.assert_array_equal(points_of("pay;month;kind", *rows).X[:3], [[1250.5, 18262], [3, 18293], [7, 18322]])
    rows = [f"{i},19{10 + i % 9}-{13 + i % 20},{KIND[i]}" for i in range(N)]
    assert "dates" not in " ".join(points_of("x,code,kind", *rows).report)


@each("name", ["air_quality_index", "heat_index", "covID"])
def test_a_column_is_an_index_only_if_it_counts(name):
    rows = [f"{i * 37 % 11},{i % 5},{KIND[i]}" for i in range(N)]
    assert points_of(f"{name},x,kind", *rows).feature_names == (name, "x")
