"""What a table's columns become: numbers, dates, categories and text, classes of each kind, and refusals by row and column."""

import csv
import io
import pickle
import pickletools
import re
import time
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import each, some
from hostile_files import parquet
from own_tables import iris_csv, lines, own_spec, read, read_sniffed, sniff, sniff_file, table, with_pairs

from dsgcore import QSGS2AUC
from dsgcore.__main__ import main
from dsgcore.cli.predict import Fitted
from dsgcore.data import DataError, draw_pairs, hide_labels, rows_of
from dsgcore.data.converting import convert_file, describe_file
from dsgcore.data.reading import LOCAL, Features, File, Limits, Recipe, Source, features
from dsgcore.data.reading.cells import written
from dsgcore.experiments import load_split

N = 60
SMALL = {"n_iter": 4, "n_features": 8, "batch_size": 8, "random_state": 0, "tol": None}
KIND = ["wheat", "rye"] * (N // 2)


def frame(**more):
    a = np.random.default_rng(0).normal(size=N)
    return pd.DataFrame({"a": a, "b": a + np.arange(N) % 3, "label": (np.arange(N) % 3 == 0).astype(int)} | more)


def points_of(*rows, labels="classes", **given):
    file = File(Source.of_bytes(lines(*rows), "t.csv"), LOCAL)
    return file.prepared(file.recipe(labels, is_asked=True, **given), labels)[0]


def rows_of_cells(cells, delimiter=";", n=40):
    """Return a header, and rows of a price, a number and a label; the prices come again."""
    join = delimiter.join
    return [join(("price", "z", "label")), *(join((cells[i % len(cells)], str(i), "ab"[i % 2])) for i in range(n))]


def labeled(cells, name="label", delimiter=","):
    """Return a header, and rows of a number and a label."""
    return [f"x{delimiter}{name}", *(f"{i}{delimiter}{cell}" for i, cell in enumerate(cells))]


TOWNS, LETTERS = ["K\u00f6ln", "Ko\u0308ln", "Bonn"], ["\u00fc", "u\u0308", "o"]
SAID = ["\"he said 'no', so\"", "\"a 'b', c\"", "'in \"d\", it'"]
QUOTED, SPARSE = [r"'5\" pipe'", r"'it\'s 3, ok'", "plain"], ["", "1 yes, ", "1 'x, y', "]
START = ["2020-01-01", "2020-01-02"]
BELOW = [  # what is above the names of four columns, and the lines below them
    ([], "when,how many,how much,which", *[",".join(f'"{{""ImportId"":""Q{i}""}}"' for i in range(4))]),  # Qualtrics
    (["TOA5,CR1000,1234,Table1"], "TS,RN,Volts,", ",Avg,Smp,Smp"),  # Campbell, of as many cells
    (["TOA5,CR1000"], "TS,RN,Volts,", ",Avg,Smp,Smp"),
    ([], "t,c,c,d", ",,,class"),  # Orange
    ([], "time,continuous,continuous,x y", "meta,,,class"),
    ([], "numeric,n,text,categorical", ",,meta,class"),
]
DRAWN = [  # what is above the names, these, a row, and what is below the names, each row, and all
    ("Markdown", [], "| a | b | label |", "| {} | {} | {} |", "\n|---|:--:|--:|", "", []),
    ("Markdown without bars around", [], "a | b | label", "{} | {} | {}", "\n--- | --- | ---", "", []),
    (
        "MySQL",
        ["mysql> select a, b, label from t;", "+----+---+---+"],
        "| a  | b | label |",
        "| {} | {} | {} |",
        "\n+----+---+---+",
        "",
        ["+----+---+---+", "40 rows in set (0.00 sec)"],
    ),
    ("psql", [], " a  |  b  | label ", " {} | {} | {}", "\n----+-----+------", "", ["(40 rows)"]),
    (
        "reStructuredText",
        ["+----+-----+---+"],
        "| a  | b   | label |",
        "| {} | {} | {} |",
        "",
        "\n+====+=====+===+",
        [],
    ),
    ("sqlcmd", [], "a|b|label", "{}|{}|{}", "\n-|-|-----", "", ["", "(40 rows affected)"]),
]
NUMBERS = [f"{i},{'ab'[i % 2]}" for i in range(30)]
THOUSANDS = [
    (1234.56, "1.234,56", "12,5", "1.250.000,25", "7"),
    (1234.56, "1,234.56", "12.5", "1,250,000.25", "7"),
    (1234.56, "1'234.56", "12.5", "1'250'000.25", "7"),
    (123456.5, "1,23,456.5", "12.5", "12,50,000.25", "7"),
    (1234.56, "1 234,56", "12,5", "1 250 000,25", "7"),
    (1234.56, "1_234.56", "12.5", "1_250_000.25", "7"),
]
GAP = ["x,z,label", *(f"{x},{i},{'ab'[i % 2]}" for i, x in enumerate([1, 1, 2, 4, 7, ""]))]
GAPS = {50: "", 60: "NaN", 70: "NA"}  # of which Arrow's numbers hold two
NO_CELLS = [f"{GAPS.get(i % 100, f'{i}.5')},{'' if i == 250 else i},{'ab'[i % 2]}" for i in range(300)]
ODD = ["age,reason,label,x", *(
    f"{-999 if i % 5 == 0 else i % 9},{'gone' if i % 2 else ''},{['stay', 'churn'][i % 2]},{i % 4}" for i in range(60)
)]  # fmt: skip
FEW = ["s,t,u,x", *(
    f"{'cat' if i % 3 else ''},{['b', 'c', '', '', '', ''][i % 6]},{['d', 'e', '', '', '', ''][i // 2 % 6]},{i}"
    for i in range(120)
)]  # fmt: skip
SPECIES = labeled(["Gentoo", "Adelie", "Chinstrap"] * 12, "species")
COLORS = labeled(["rx", "gx", "bx"] * 12)
ORDERS = [
    ["low", "medium", "high"],
    ["never", "sometimes", "always"],
    ["<18", "18-30", "31-50", "50+"],
    ["[1,3]", "(3,5.5]", "(5.5,1e+03]"],  # by R's cut
    ["1 star", "2 stars", "10 stars"],
    ["[0, 10)", "[10, 100)", "[100, 1000)"],
    ["F", "D", "C", "B", "A"],
    ["S", "M", "L", "XL"],
    ["neg", "trace", "1+", "2+"],
    ["underweight", "normal", "overweight", "obese"],
    ["Stage 0", "Stage IA", "Stage IB", "Stage II"],
    ["ASA I", "ASA II", "ASA III"],
    ["Tis", "T1", "T2"],
    ["T1", "T1a", "T1b", "T2", "T10"],
    ["one star", "two stars", "three stars"],
    ["low risk", "mid risk", "high risk"],
    ["1st quarter", "2nd quarter", "3rd quarter"],
    ["grade-1", "grade-2", "grade-10"],
    ["2023Q2", "2023Q4", "2024Q1"],
    ["Oct 2023", "Feb 2024", "Dec 2024"],
    ["$0-$10", "$10-$20", "$20+"],
    ["under 18", "18 to 24", "65 or older"],
    ["< 1 year", "1 year", "2 years", "10+ years"],
    ["low", "med", "high", "vhigh"],
    ["2", "3", "4", "5more"],
    ["Preschool", "1st-4th", "HS-grad", "Some-college", "Assoc-voc", "Bachelors", "Doctorate"],
    ["High School", "Bachelor's", "Master's", "PhD"],
    ["Insufficient_Weight", "Normal_Weight", "Overweight_Level_I", "Obesity_Type_II"],
    ["schlecht", "mittel", "gut", "sehr gut"],
    ["Montag", "Dienstag", "Sonntag"],
    ["jamais", "parfois", "souvent", "toujours"],
    ["nunca", "a veces", "siempre"],
    ["низкий", "средний", "высокий"],
    ["小", "中", "大"],
    ["★", "★★", "★★★"],
]
NO_ORDERS = [["Level A", "Level B", "Level C"], ["spring", "summer", "autumn"], ["SD", "D", "A"], ["J", "I", "H"],
    ["1 Jan 2020", "2 Jan 2020", "31 Feb 2020"]]  # fmt: skip


DAYS = [
    ("2020Q1", "1999-q4", 18262, 10865),
    ("Jan-20", "Dec-75", 18262, 2160),
    ("January 2020", "Sept. 2020", 18262, 18506),
    ("01JAN2020", "2MAR2020", 18262, 18323),
    ("1-Jan-20", "31-DEC-1975", 18262, 2190),
    ("1/31/2020 1:30 PM", "12/31/1975 12:00:00 am", 18292.5625, 2190),
    ("2024-W05", "2023-W52-2", 19751, 19717),
    ('"Fri, 05 Jan 2024 12:00:00 +0000"', "Sun 31 Dec 2023", 19727.5, 19722),
    ("Fri Jan  5 12:00:00 2024", '"December 5, 2023 12:00"', 19727.5, 19696.5),
    ("2024-01-05T12:00:00+01:00[Europe/Berlin]", "2023-12-05 12:00:00 UTC", 19727 + 11 / 24, 19696.5),
    ("05/Jan/2024:12:00:00 +0000", "20231205T120000Z", 19727.5, 19696.5),
    ("5. Januar 2024", "31. Dezember 2023", 19727, 19722),
    ("5 de enero de 2024", "31 décembre 2023", 19727, 19722),
    ("2931-09-09", "1250-12-02", 351249, -262639),
    ("01JAN2019:12:00:00", "02JAN2019:00:00:00.00", 17897.5, 17898),
    ("2020-01-01 12:00:00.000000+00", "2020-01-01 12:00:00+06", 18262.5, 18262.25),
    ("2020/01/5 3:00:00 PM GMT+3", "2020/01/5 3:00:00 AM EET", 18266.5, 18266.125),
    ("Sun Jan 05 2020 12:00:00 GMT+0000 (UTC)", "2020-01-05 12:00 UTC+6", 18266.5, 18266.25),
    ("2019m1", "2019M12", 17897, 18231),
    ('"25/01/2020, 12:00"', '"26/01/2020, 06:00:00"', 18286.5, 18287.25),
    ('"2020-01-25, 12:00"', "2020-01-26T06:00", 18286.5, 18287.25),
    ("Fri Jan 05 12:00:00 +0000 2024", "Fri Dec 5 12:00:00 +0000 2003", 19727.5, 12391.5),
    ("2020年1月5日", "2020年01月06日 12:00", 18266, 18267.5),
]
NO_DAYS = [
    "5 Marlins 2008",
    "5 Augsburg 2008",
    "5 Main 2020",
    "Marine 5, 2008",
    "Monica 2020-01-01",
    "1500W05",
    "1700m10",
    "10 days 01:02",
    "2020-01-01 10:30 POST",
    "2020-01-01 10:30 am Start",
    "2020-01-05 (e)",
    "Jan 2020 (planned)",
    "USD-10",
]


SIXTIETHS = [
    (("10:30", "9:15", "23:59"), [10.5, 9.25, 23 + 59 / 60]),
    (("10:30:15", "00:00:36"), [10 + 30 / 60 + 15 / 3600, 0.01]),
    (("10:30 AM", "9:15 pm", "12:00 am"), [10.5, 21.25, 0]),
    (("52°31'N", "33°52'S", "13°24'E", "70°40'W"), [52 + 31 / 60, -33 - 52 / 60, 13.4, -70 - 40 / 60]),
    (("52.5°", "-48.25°"), [52.5, -48.25]),
]


def ordered(words):
    return labeled([f'"{words[i % len(words)]}"' for i in range(40)])


def with_commas(delimiter, form="{},{}"):
    """Return rows of a column whose commas may set thousands apart."""
    rows = (delimiter.join((form.format(45 + i, 100 + 7 * i), str(i), "ab"[i % 2])) for i in range(40))
    return [delimiter.join(("a", "z", "label")), *rows]


class Table(NamedTuple):
    """Rows, the features' names, the first points, words of the report and those not in it, options, and the classes."""

    rows: list
    names: tuple
    columns: list  # points of a column beside each other
    words: tuple = ()
    given: dict = {}  # noqa: RUF012
    classes: tuple | None = None
    unsaid: str = "no such words"


def stray(first, second):
    """Return rows of three columns, with these labels in the rows 5 and 15."""
    return ["a,x,k", *(f"{i},{i % 7},{ {5: first, 15: second}.get(i, 'uv'[i % 2]) }" for i in range(40))]


TABLES = {
    "quotes hold delimiters and line ends": (['"a","b, c",label', '1,"2",x', '"3","4","y\nz"', "5,6,x", '7,"8",x'],
        ("a", "b, c"), [[1, 3, 5, 7], [2, 4, 6, 8]]),
    "repeated and missing names": (["a,a,,label", *(f"{i},{i % 3},{i % 5},{'xy'[i % 2]}" for i in range(20))],
        ("a", "a (2)", "column 3"), [[0, 1, 2, 3, 4], [0, 1, 2, 0, 1], [0, 1, 2, 3, 4]], ["same name", "no name"]),
    "an empty column": (["x,empty,label", *(f"{i},,{'ab'[i % 2]}" for i in range(9))],
        ("x",), [range(9)], ["holds no value and is left out"]),
    "a name such as @relation_to": (["@relation_to,label", *NUMBERS], ("'@relation_to",), [range(30)]),
    **{f"a name such as {name}": ([f"{name},label", *NUMBERS], (name,), [range(30)])
       for name in ("[K+]", "{a}", "<x>", "[1]", "{}x", "<b")},
    **{f"thousands as in {cells[0]}": (rows_of_cells(cells), ("price", "z"), [[first, 12.5, 1250000.25, 7], range(40)],
        ["'price': numbers written like"]) for first, *cells in THOUSANDS},
    "each column with its own mark": (["german;english;plain;label", *(
        f'"{a}";"{b}";{i / 4:g};{"ab"[i % 2]}' for i, (a, b) in enumerate([("1.234,5", "1,234.5"), ("2,5", "2.5")] * 10)
    )], ("german", "english", "plain"), [[1234.5, 2.5], [1234.5, 2.5], [0, 0.25]]),
    "thousands without decimals, in a table of decimal commas": (["whole;share;label", *(
        f"{1 + i % 9}.{100 + i};0,{i + 1};{'ab'[i % 2]}" for i in range(20)
    )], ("whole", "share"), [[1100, 2101], [0.1, 0.2]]),
    "thousands without decimals, in a table of decimal points": (["whole,share,label", *(
        f'"{1 + i % 9},{100 + i}",0.{i + 1},{"ab"[i % 2]}' for i in range(20)
    )], ("whole", "share"), [[1100, 2101], [0.1, 0.2]]),
    "brackets with a mark of thousands": (rows_of_cells([f'"({1 + i % 9},{100 + i}.50)"' for i in range(40)], ","),
        ("price", "z"), [[-1100.5, -2101.5], [0, 1]]),
    "dates, truth values, thousands": (["day;price;smoker;flag;label", *(
        f"{1970 + i % 9}-01-01;{['1.850', '986'][i % 2]};{['Yes', 'no', 'YES '][i % 3]};{['T', 'FALSE'][i % 2]};"
        f"{'Yes' if i % 4 else 'no '}" for i in range(40)
    )], ("day", "price", "smoker", "flag"), [[0, 365], [1850, 986, 1850], [1, 0, 1], [1, 0]]),
    **{f"thousands with commas beside small numbers, cells separated by {mark!r}": (
        [mark.join(("price", "z", "label")), *(mark.join((["1,850", "986"][i % 2], str(i), "ab"[i % 2])) for i in range(40))],
        ("price", "z"), [[1850, 986, 1850], [0, 1]], ["'price': numbers written like 1,234.5"]) for mark in ";\t|"},
    "fractions of three places beside small numbers, in a table of decimal commas": (["a;b;label", *(
        f"{['1,850', '986,000'][i % 2]};0,{1 + i};{'ab'[i % 2]}" for i in range(40)
    )], ("a", "b"), [[1.85, 986, 1.85], [0.1, 0.2]]),
    "codes of money in front, and months without a day": (["pay;month;kind", *(
        f"{['EUR 1.250,50', 'CHF 3', '7 USD'][i % 3]};2020-0{1 + i % 3};{KIND[i]}" for i in range(40)
    )], ("pay", "month"), [[1250.5, 3, 7], [18262, 18293, 18322]]),
    **{f"{name}, which does not count": ([f"{name},x,kind", *(f"{i * 37 % 11},{i % 5},{KIND[i]}" for i in range(40))],
        (name, "x"), [[0, 4, 8], [0, 1, 2]]) for name in ("air_quality_index", "heat_index", "covID")},
    **{f"days as in {first}": (["day;b;kind", *(f"{(first, second)[i % 2]};{i};{'xy'[i % 2]}" for i in range(20))],
        ("day", "b"), [days, [0, 1]]) for first, second, *days in (
        ("25.12.2020", "01.02.2021", 18621, 18659),
        ("12/25/2020", "02/01/2021", 18621, 18659),
        ("25/12/20", "01/02/21", 18621, 18659),
        ("01.02.2021", "03.02.2021", 18659, 18661),  # that may be either has the order of its sign
        ("01/02/2021", "03/02/2021", 18629, 18688),
        ("31-12-69", "01-01-70", 36524, 0),
    )},
    **{f"a missing number, {missing}": Table(GAP, ("x", "z"), [[1, 1, 2, 4, 7, *filled], range(5 + len(filled))],
        ["1 missing number in 'x'"], {"missing": missing})
       for missing, *filled in (("mean", 3), ("median", 2), ("most frequent", 1), ("drop",))},
    **{f"cells without a number by word, {header}": Table([*header, *NO_CELLS], ("x", "z"), [[0.5, 1.5], [0, 1]],
        ["Read as missing: 4 empty cells, 3 cells 'NaN' (in 'x'), 3 cells 'NA' (in 'x')."])
       for header in (["x,z,label"], ["# by us", "x,z,label"])},  # Arrow reads one, Python the other
    "empty cells": Table(["x,z,label", *(row.replace("NaN", "").replace("NA", "") for row in NO_CELLS)], ("x", "z"),
        [[0.5, 1.5], [0, 1]], ["Read as missing: 10 empty cells."]),
    "what may be a mistake": Table(ODD, ("age", "x", "reason: gone"), [[-999, 1, 2], [0, 1, 2], [0, 1]], [
        "Does -999 mean missing in 'age'? 12 cells hold it",
        "Warning: the column 'reason' gives the label away (it is filled for 'churn' alone)",
        "'reason': 1 category, in one column; 30 rows without one have 0 in all."]),
    "what may be a mistake, beside words that mean missing": Table(["age,sex,label", *(
        f"{-999 if i % 5 == 0 else i % 9},{['m', 'f', 'NA', '?'][i % 4]},{'ab'[i // 3 % 2]}" for i in range(60))],
        ("age", "sex: f", "sex: m"), [], ["so, let it mean missing (--missing-words=-999)"]),
    "a number that means missing": Table(ODD, ("age", "x", "reason: gone"),
        [[np.mean([i % 9 for i in range(60) if i % 5]), 1], [0, 1], [0, 1]], ["12 cells '-999' (in 'age')"],
        {"missing_words": ("-999",)}, ("churn", "stay"), "Does -999"),
    "a rare number that is far from the others": Table(["age,x,label", *(
        f"{-999 if i % 250 == 7 else i % 9},{i % 4},{'ab'[i % 2]}" for i in range(1000)
    )], ("age", "x"), [[0, 1, 2], [0, 1, 2]], unsaid="mean missing"),
    "numbers of very many digits, and a gap": Table(["x,z,label", *(
        f"{'' if i == 3 else f'{i}.5' + '0' * 900},{i},{'ab'[i % 2]}" for i in range(20)
    )], ("x", "z"), [[0.5, 1.5, 2.5], [0, 1, 2]]),
    "a label that is named": Table(FEW, ("x", "s: cat", "t: b", "t: c"), [], given={"target": "u"}, classes=("d", "e")),
    "one class against the others": Table(SPECIES, ("x",), [], given={"labels": "binary", "positive": "Adelie"},
        classes=("not Adelie", "Adelie")),
    "forms of a word": Table(labeled(["no ", "Yes", "Yes", "Yes"] * 10), ("x",), [], classes=("Yes", "no")),
    "forms of a word, of which the most frequent is the name": Table(labeled(["YES", "yes", "no", "yes"] * 10), ("x",), [],
        classes=("no", "yes")),
    **{f"a class that may mean no label, {words[-1]}": Table(labeled(words * 12), ("x",), [],
        [f"The label '{words[-1]}' is taken for a class: unlabeled={words[-1]} makes its rows “not labeled”."])
       for words in (["yes", "no", "unknown"], ["a", "b", "Pending"], ["1. Yes", "2. No", ".a"], ["1", "2", "-9"],
        ["0", "1", "99"])},
    **{f"one code more, {names[-1]}": Table(labeled(names * 12), ("x",), [], classes=names, unsaid="taken for a class")
       for names in (("98", "99", "100"), ("11", "44", "66", "77", "99"), ("-9", "-3", "3", "9"), ("49", "66", "77", "88"))},
    "words of Matlab and KEEL for missing": Table(["a,b,k", *(
        f"{'<null>' if i % 5 == 0 else i},{i},{['u', 'v', '<undefined>'][i % 3]}" for i in range(60))], ("a", "b"), [],
        ["12 cells '<null>' (in 'a')", "20 cells '<undefined>' (in 'k')"], classes=("u", "v")),
    "per cent beside plain numbers": Table(["a,b,k", *(f"{['12%', '0', '13'][i % 3]},{i},{'uv'[i // 3 % 2]}" for i in range(60))],
        ("a", "b"), [[0.12, 0, 13], range(60)], ["'a': '12%' is read as 0.12, and '13' as 13."]),
    "numbers of answers": Table(["Response ID,x,k", *(f"{i + 1},{i * i % 7},{'uv'[i // 3 % 2]}" for i in range(36))], ("x",), [],
        ["'Response ID' names or numbers the rows"]),
    "bars beside times": Table([f"{i % 7} | 10:{i:02} 11:{i:02} | {'uv'[i // 3 % 2]}" for i in range(36)], ("x1",), []),
    "times behind a bar": Table([f"{i // 3 % 2} | 10:0{i % 3} 11:00 12:30" for i in range(36)], ("x1",), []),
    "three times of LIBFFM's form": Table([f"{i // 3 % 2} 10:{i:02}:30 9:20:{i:02}" for i in range(36)], ("x2", "x3"), [
        [10 + 30 / 3600], [9 + 20 / 60]], classes=("0", "1")),
    **{f"days of {first}, {second}": Table(["when,x,label", *(f"{[first, second][i % 2]},{i},{'ab'[i % 2]}" for i in range(40))],
        ("when", "x"), [[one, other], [0, 1]], ["'when': dates as the number of days since 1970"])
       for first, second, one, other in DAYS},
    **{f"hours and degrees as in {cells[0]}": Table(
        ["t;x;label", *(f"{cells[i % len(cells)]};{i};{'ab'[i // 3 % 2]}" for i in range(36))], ("t", "x"), [values, range(36)],
        [f"'t': {cells[0]!r} is read as {values[0]:g}"]) for cells, values in SIXTIETHS},
    **{f"words that are no date, as in {word}": Table(
        ["t;x;label", *(f"{[word, word.replace('0', '1')][i % 2]};{i};{'ab'[i // 3 % 2]}" for i in range(36))],
        ("x", "t: " + word, "t: " + word.replace("0", "1")), [])
        for word in NO_DAYS},
    "minutes and seconds beside hours": Table(["t;x;label", *(f"{['5:30', '1:05:30'][i % 2]};{i};{'ab'[i // 3 % 2]}" for i in range(
        36))], ("x", "t: 1:05:30", "t: 5:30"), []),
    "days in eight digits": Table(["day;x;label", *(f"202401{i % 28 + 1:02};{i};{'ab'[i // 3 % 2]}" for i in range(36))],
        ("day", "x"), [[19723, 19724], [0, 1]], ["'day': dates as the number of days since 1970"]),
    "eight digits that are no days": Table(["day;x;label", *(f"202401{i:02};{i};{'ab'[i // 3 % 2]}" for i in range(36))],
        ("day", "x"), [], unsaid="dates"),
    **{f"{yes} or {no}": Table(["t;x;label", *(f"{[yes, no][i % 2]};{i};{'ab'[i // 3 % 2]}" for i in range(36))], ("t", "x"),
        [[1, 0], [0, 1]], [f"'t': {yes!r} is read as 1"])
       for yes, no in (("Ja", "Nein"), ("oui", "non"), ("sí", "no"), ("да", "нет"), ("on", "off"), (".TRUE.", ".FALSE."))},
    **{f"few numbers and {word}": Table(["n;x;label", *(f"{['0', '1', word][i % 3]};{i};{'ab'[i % 4 // 2]}" for i in range(36))],
        ("x", "n: 0", "n: 1", f"n: {word}"), [], ["'n': 3 categories"]) for word in ("2+", "more", "<0")},
    **{f"boxes of a form, {word} or empty": Table(["t;x;label", *(f"{word * (i % 2)};{i};{'ab'[i // 3 % 2]}" for i in range(36))],
        ("x", f"t: {word}"), [range(36), [0, 1]]) for word in ("on", "yes", "✓", "No")},
    "areas of as many m2 as there are years": Table(["t;x;label", *(
        f"{[2000, 1850, 1900][i % 3]}m2;{i};{'ab'[i // 3 % 2]}" for i in range(36))], ("t", "x"),
        [[2000, 1850, 1900], range(36)], unsaid="date"),
    "durations by pandas and Python": Table(["t;x;label", *(
        f"{['0 days 06:00:00', '1 day, 12:00:00', '-1 days +12:00:00'][i % 3]};{i};{'ab'[i // 3 % 2]}" for i in range(36))],
        ("t", "x"), [[0.25, 1.5, -0.5], range(36)], ["'t': durations as days."], unsaid="since 1970"),
    "an account of a spreadsheet": Table(rows_of_cells(['" $ (1,000.00)"', '" $ 2,500.50 "', '" $ -   "'], ","),
        ("price", "z"), [[-1000, 2500.5, 0], range(40)], ["'price': '$ (1,000.00)' is read as -1000, and '$ -' as 0."]),
    "codes that begin with a currency's": Table(rows_of_cells(["EUR-1", "USD-2", "CAD-"], ","),
        ("z", "price: CAD-", "price: EUR-1", "price: USD-2"), [range(40), [0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "a minus before money and after its sign": Table(rows_of_cells(["-$1.50", "$-2.50", "€ 3"], ","),
        ("price", "z"), [[-1.5, -2.5, 3], range(40)]),
    "letters of two forms that look the same": Table(["gr\u00f6\u00dfe,ort,k", *(
        f"{i},{TOWNS[i % 3]},{LETTERS[i // 3 % 3]}" for i in range(36))],
        ("gr\u00f6\u00dfe", "ort: Bonn", "ort: K\u00f6ln"), [range(36), [0, 0, 1], [1, 1, 0]], classes=("o", "\u00fc")),
    "dates last, which are no labels": Table(["a,ok,day", *(
        f"{i * 7 % 40},{i // 3 % 2},2023-01-{1 + i % 9:02}" for i in range(60))],
        ("a", "day"), [], classes=("0", "1")),
    "empty columns after the labels": Table(["a,b,ok,,", *(f"{i % 5},{i * 7 % 40}.5,{i // 3 % 2},," for i in range(60))],
        ("a", "b"), [], classes=("0", "1")),
    **{f"{number} for missing": Table(["a,b,k", *(
        f"{number if i % 6 == 0 else i % 9},{i},{'uv'[i // 3 % 2]}" for i in range(60))], ("a", "b"), [],
        [f"Does {number} mean missing in 'a'? 10 cells hold it"]) for number in ("1e+20", "-1e+20", "-32768", "-2147483648")},
    "ids of two parts": Table(["t;x;label", *(f"{i % 2 + 1}_234;{i};{'ab'[i // 3 % 2]}" for i in range(36))],
        ("x", "t: 1_234", "t: 2_234"), [range(36), [1, 0], [0, 1]]),
    "units": Table(["a,b,label", "mm,kg,", *(f"{i}.5,{i},{'xy'[i % 2]}" for i in range(40))], ("a", "b"), [],
        ["The row below the names is left out (--below 0 if it is data): 'mm', 'kg'."]),
    **{f"{len(below)} lines below the names, {below[0]}": Table([*above, "t,a,b,label", *below, *(
        f"{START[i % 2]},{i},{i}.5,{'xy'[i % 2]}" for i in range(40))], ("t", "a", "b"), [[18262, 18263], [0, 1], [0.5, 1.5]],
        [f"{len(below)} rows below the names are left out (--below 0 if it is data): "], classes=("x", "y"))
       for above, *below in BELOW},
    "lines below the names that a person leaves out": Table(["a,label", "How old?,Who?", "in years,of two", *NUMBERS], ("a",),
        [range(30)], ["2 rows below the names are left out (--below 0 if it is data): 'How old?', 'Who?',"], {"below": 2}),
    "thousands and millions": Table(rows_of_cells(["€1.5M", "565K", "2.25B", "€900"], ","), ("price", "z"),
        [[1.5e6, 565e3, 2.25e9, 900], range(40)],
        ["'price': '€1.5M' is read as 1.5e+06, and '565K' as 565000, and '2.25B' as 2.25e+09, and '€900' as 900: if"]),
    "a letter that may be a unit as well as a factor": Table(rows_of_cells(["6M", "7M", "9M"], ","), ("price", "z"),
        [[6e6, 7e6, 9e6], range(40)], ["'price': '6M' is read as 6e+06: if it is no number, make it a category (--category)."]),
    "thousands with a fraction beside plain numbers": Table(rows_of_cells(["950", "1.2K", "15K"], ","), ("price", "z"),
        [[950, 1200, 15e3], range(40)], ["'price': '1.2K' is read as 1200: if it is no number"]),
    "millions of money": Table(rows_of_cells(["$6M", "$7.5M"], ","), ("price", "z"), [[6e6, 7.5e6], range(40)]),
    "several currencies, and per cent": Table(rows_of_cells(["$5", "€7", "12 %", "$8", "3"], ","), ("price", "z"),
        [[5, 7, 0.12, 8, 3], range(40)], ["'price': '$5' is read as 5, and '€7' as 7, and '12 %' as 0.12, and '3' as 3."]),
    **{f"digits of other scripts, {one}": Table(rows_of_cells([one, two], ","), ("price", "z"), [values, range(40)])
       for one, two, *values in (("１２．５", "－３％", 12.5, -0.03), ("١٢٫٥", "٣", 12.5, 3), ("۱۲", "۳۴", 12, 34))},
    "numbers of houses": Table(rows_of_cells(["12B", "12", "13B"], ","), ("z", "price: 12", "price: 12B", "price: 13B"), []),
    "a few numbers of houses": Table(rows_of_cells(["6B", "7", "8"], ","), ("z", "price: 6B", "price: 7", "price: 8"), []),
    **{f"a table that is drawn, {name}": Table([*above, *(row + between for i, row in enumerate(
        [names, *(form.format(f"{i:2}", f"{i % 2}.5", "xy"[i // 3 % 2]) for i in range(40))]) for row in
        [row + line * (i == 0)]), *end], ("a", "b"), [range(40), [0.5, 1.5]], ["separated by bar, names in the first line"],
        classes=("x", "y")) for name, above, names, form, line, between, end in DRAWN},
    "a table that is drawn, with letters whose bytes are blanks elsewhere": Table([" k | a ", "---+---", *(
        f" {'ÅÅà'[i % 3]} | {i}" for i in range(40))], ("a",), [range(40)], classes=("Å", "à"), given={"target": "k"}),
    "words that Orange has in its third line, below others": Table(["a,b,k", "1,2,x", ",c,class", *(
        f"{i},{'cd'[i % 2]},{'xy'[i // 3 % 2]}" for i in range(40))], ("a", "b: 2", "b: c", "b: d"), [],
        unsaid="below the names", classes=("class", "x", "y")),
    "bases and other names that are no thousands": Table(rows_of_cells(["1B", "2B", "3B", "SS"], ","), ("z", "price: 1B",
        "price: 2B", "price: 3B", "price: SS"), []),
    **{f"codes that are no numbers, {code}": Table(["code,z,label", *(
        f"{code}{1 + i % 2},{i},{'xy'[i // 3 % 2]}" for i in range(40))],
        ("z", f"code: {code}1", f"code: {code}2"), []) for code in ("1D-0", "kr-", "Rs-0")},
    "lists of words in double quotes": Table(["x,items,label", *(f"{i},\"['a, b', 'c, d', 'e{i % 2}']\",{'xy'[i // 3 % 2]}"
        for i in range(40))], ("x", "items: ['a, b', 'c, d', 'e0']", "items: ['a, b', 'c, d', 'e1']"), []),
    "a row of a label alone below units": Table(["k,a,label", "[-],mm,kg", "x,,", *(
        f"{'xy'[i // 3 % 2]},{i},{i % 2}" for i in range(40))],
        ("a", "k: x", "k: y"), [], ["The row below the names is left out"], unsaid="rows below the names", classes=("0", "1")),
    "numbers by Fortran": Table(rows_of_cells(["1.0D+01", "-2.5D-002", "3.D+00"], ","), ("price", "z"),
        [[10, -0.025, 3], range(40)], ["'price': '1.0D+01' is read as 10."]),
    "apostrophes that quote nothing": Table(rows_of_cells(["'70s, 'tis", "it's, 'so"], ";"), ("z", "price: '70s, 'tis",
        "price: it's, 'so"), []),
    **{f"lines above the names, filled up with commas, {kinds}": Table([
        "Instrument,X100,,,", "Operator,Jane,,,", "Date,2020-01-01,,,", ",,,,", "t,a,b,c,label", *(
        f"{cells},{'xy'[i // 3 % 2]}" for i in range(40) for cells in (form.format(i % 4, i % 2, i % 3, i % 5),))],
        names, [], ["names in line 5"], classes=("x", "y")) for kinds, form, names in (
        ("numbers", "{0}.5,{1},{2}.25,{3}", ("t", "a", "b", "c")),
        ("words", "u{1},v{1},w{1},z{1}", tuple(f"{n}: {w}{k}" for n, w in zip("tabc", "uvwz", strict=True) for k in (0, 1))))},
    "a line above the names, filled up with one comma": Table(["Operator,Jane,", "a,b,label", *(f"{i},{i % 7},{'xy'[i // 3 % 2]}"
        for i in range(40))], ("a", "b"), [range(40), [0, 1]], ["names in line 2"]),
    **{f"decimal commas between white space, {end}, {head}": Table([*head, *(f"  {i},5   {i % 7},25  {end.format(i // 3 % 2)}"
        for i in range(40))], ("a", "b") if head else ("x1", "x2"), [[0.5, 1.5], [0.25, 1.25]], ["cells separated by white space"])
       for end in ("{}", "{},000", "k{}") for head in ([], ["a b label"])},
    **{f"commas with blanks, {row}": Table([row.format(1 + i * 7 % 11, i % 5, "xy"[i // 3 % 2]) for i in range(40)], ("x1", "x2"),
        [], ["cells separated by comma"]) for row in ("{}, {}, {}", "{}.5, {}, {}", "{}, {}.5, {}", "{} , {} , {}",
        "{} 000, {}, {}")},
    **{f"blanks between thousands, {row}": Table([row.format(10 + i, 500 + i, i // 3 % 2) for i in range(40)], ("x1", "x2"),
        [[10500, 11501], [3200]], ["cells separated by comma"]) for row in ("{} {},3 200,{}", "{} {},3 200,k{}")},
    "pairs of numbers between commas": Table([f"{i % 4} {i % 2},{i % 3} 1,{'xy'[i // 3 % 2]}" for i in range(40)], ("x1: 0 0",
        "x1: 1 1", "x1: 2 0", "x1: 3 1", "x2: 0 1", "x2: 1 1", "x2: 2 1"), [], ["cells separated by comma"]),
    "words of Orange alone": Table(["a,b,k", "d,d,d", ",meta,class", *(f"{'pq'[i % 2]},{'rs'[i % 4 // 2]},{'xy'[i // 3 % 2]}"
        for i in range(40))], ("a: p", "a: q", "b: r", "b: s"), [], classes=("x", "y")),
    **{f"a first row with gaps, {cells}": Table([cells, *(f"{i % 3},{i},{i % 7},{i % 5},{'xy'[i // 3 % 2]}" for i in range(40))],
        ("x1", "x2", "x3", "x4"), [], unsaid="names in") for cells in ("1,,,,x", ",,,,x", "1,,,,")},
    **{f"LabVIEW's text, decimal mark {mark}": Table([row.replace(".", mark) for row in (
        "LabVIEW Measurement\t", "Separator\tTab", "***End_of_Header***\t", "\t", "Channels\t2\t\t", "Samples\t9\t9\t",
        "X0\t0.0\t0.0\t", "***End_of_Header***\t\t\t", "X_Value\tVolt\tState\tComment", *(
        f"{i}.500\t{i % 7}.25\t{i // 3 % 2}.000\t" for i in range(40)))], ("X_Value", "Volt"), [[0.5, 1.5], [0.25, 1.25]],
        ["names in line 9"], classes=("0", "1")) for mark in ".,"},
    **{f"money as in {cells[0]}": Table(rows_of_cells(cells), ("price", "z"), [[1100.5, 3], range(40)])
       for cells in (("R$ 1.100,50", "R$ 3,00"), ("US$1,100.50", "A$3"), ("Rs. 1,100.50", "Rs 3"), ("kr 1.100,50", "3,00 kr"),
        ("1 100,50 zł", "3,00 zł"))},
    "numbers by Mathematica": Table(rows_of_cells(["1.5*^-2", "2.*^2", "3."], ","), ("price", "z"), [[0.015, 200, 3], range(40)]),
    "a log whose bars are beside numbers of names": Table([f"2020-01-01 10:{i:02}:00 | cpu:{i % 3} mem:0" for i in range(40)],
        ("x1",), [], classes=("cpu:0 mem:0", "cpu:1 mem:0", "cpu:2 mem:0")),
    "words of SAS, Stata and MySQL for missing": Table(["a\tb\tk", *(
        f"{'.' if i % 5 == 0 else i}\t{(chr(92) + 'N') if i % 7 == 0 else i}\t{['u', 'v', '.'][i % 3]}" for i in range(60))],
        ("a", "b"), [], ["Read as missing: 12 cells '.' (in 'a'), 9 cells", "Read as missing labels: 20 cells '.' (in 'k')."],
        classes=("u", "v")),
    "grades with a minus": Table(["g,x,k", *(f"{['1-', '2-', '1'][i % 3]},{i},{'uv'[i // 3 % 2]}" for i in range(36))],
        ("x", "g: 1", "g: 1-", "g: 2-"), []),
    "padded numbers of rows": Table(["id,x,k", *(f"{i:05},{i * i % 7},{'uv'[i // 3 % 2]}" for i in range(36))], ("x",), [],
        unsaid="If it is a code"),
    "prices with a dash for no cents": Table(["g,x,k", *(
        f"{['1.-', '2.-', '1.50'][i % 3]},{i},{'uv'[i // 3 % 2]}" for i in range(36))], ("x", "g: 1.-", "g: 1.50", "g: 2.-"), []),
    "a minus behind its number": Table(["a;b;k", *(
        f"{i}.{i % 9}00,50{'-' * (i % 2)};{i};{'uv'[i // 3 % 2]}" for i in range(1, 41))],
        ("a", "b"), [[-1100.5, 2200.5, -3300.5], [1, 2]], ["'1.100,50-' is read as -1100.5"]),
    **{f"a name that begins as SQL, {first}": Table([f"{first};b;k", *(
        f"{i}.5;{i};{'uv'[i // 3 % 2]}" for i in range(40))], (first, "b"), [[0.5, 1.5], [0, 1]])
       for first in ("begin", "Set (mm)", "create", "drop table", "insert into the list", "create table of", "set point=3")},
    "a last column of times": Table(["a,ok,at", *(f"{i}.5,{i // 3 % 2},2023-01-{1 + i % 28:02} 10:00:{i:02}" for i in range(60))],
        ("a", "at"), [], classes=("0", "1")),
    "a name for each row, and numbers": Table(["gene,a,b", *(f"G{i},{i * i % 17}.{i},{i}.25" for i in range(20))], ("a",), [
        [0, 1.1]], ["The label 'b' was cut into 5 bins"]),
    "weights of ARFF's rows": Table(["@relation x", "@attribute a real", "@attribute k {u, v}", "@data", *(
        f"{i},{'uv'[i % 2]},{{{i}}}" for i in range(40))], ("a",), [range(40)], classes=("u", "v")),
    "words of Weka in quotes": Table(["@relation r", r"@attribute t {'5\" pipe', 'it\'s 3, ok', plain}", "@attribute 'a b' real",
        "@attribute k {u, v}", "@data", *(f"{QUOTED[i % 3]},{i},{'uv'[i // 3 % 2]}" for i in range(36))],
        ("a b", 't: 5" pipe', "t: it's 3, ok", "t: plain"), [range(36), [1, 0, 0], [0, 1, 0], [0, 0, 1]], classes=("u", "v")),
    "single quotes in double ones of ARFF": Table(["@relation r", "@attribute a real", "@attribute t string", "@attribute e {}",
        "@attribute k {u, v}", "@data", *(f"{i},{SAID[i % 3]},?,{'uv'[i // 3 % 2]}" for i in range(36))],
        ("a", "t: a 'b', c", "t: he said 'no', so", 't: in "d", it'), [range(36), [0, 1, 0], [1, 0, 0], [0, 0, 1]],
        classes=("u", "v")),
    "single quotes in double ones of sparse ARFF": Table(["@relation r", "@attribute a real", "@attribute t string",
        "@attribute e {}", "@attribute k {u, v}", "@data", *(
        f"{{0 {i}, 1 {SAID[i % 2]}, 3 {'uv'[i // 3 % 2]}}}" for i in range(36))],
        ("a", "t: a 'b', c", "t: he said 'no', so"), [range(36), [0, 1], [1, 0]], classes=("u", "v")),
    "empty cells at both ends of lines of ARFF with tabs": Table(["@relation r", "@attribute a real", "@attribute k {u, v}",
        "@attribute b real", "@data", *("\t".join((str(i) * (i != 4), "uv"[i // 3 % 2], str(i) * (i != 5))) for i in range(36))],
        ("a", "b"), [range(4), range(4)], given={"target": "k"}, classes=("u", "v")),
    "words of sparse ARFF in quotes": Table(["@relation r", "@attribute a real", "@attribute t {'no way', yes, 'x, y'}",
        "@attribute k{u,v}", "@data", *(
        f"{{{f'0 {i}.5, ' * (i % 4 > 0)}{SPARSE[i % 3]}2 {'uv'[i // 3 % 2]}}}" for i in range(36))],
        ("a", "t: no way", "t: x, y", "t: yes"), [[0, 1.5, 2.5], [1, 0, 0], [0, 0, 1], [0, 1, 0]],
        ["The file is ARFF, with 0 or the first value where a row names none."], classes=("u", "v")),
    "two lines of names": Table([",x,x,y", ",a,b,label", *(f"{i},{i}.5,{i * i % 7},{'uv'[i % 2]}" for i in range(40))],
        ("x a", "x b"), [[0.5, 1.5], [0, 1, 4]], [
        "row below the names is left out (--below 0 if it is data): 'a', 'b', 'label'. Its words are added to names that repeat or "
        "are missing: '', 'x a'"], classes=("u", "v")),
    "two lines of names and the name of an index, by pandas": Table([",x,x,y", ",a,b,", "row,,,", *(
        f"{i},{i}.5,{i * i % 7},{'uv'[i % 2]}" for i in range(40))], ("x a", "x b"), [[0.5, 1.5], [0, 1, 4]], [
        "2 rows below the names are left out", "added to names that repeat or are missing: 'row', 'x a', 'x b', 'y'"],
        classes=("u", "v")),
    "names that come again among words": Table([row for i in range(60) for row in ["hue,k"] * (i % 20 == 0) + [
        f"{['red', 'blue'][i % 3 == 0]},{'ab'[i % 2]}"]], ("hue: blue", "hue: hue", "hue: red"), [],
        ["The class 'k' is called as its column is: if the line of names comes again, delete it."]),
    **{f"a row that sums others, {word}": Table(["a,x,k", *(f"{i},{i % 7},{'uv'[i % 2]}" for i in range(30)), f"435,90,{word}"],
        ("a", "x"), [range(30), [0, 1]], [f"Row 31 holds '{word}' in 'k': delete rows that sum others."])
       for word in ("Total", "Grand total:", "Summe")},
    "rows that sum others": Table([row for i in range(30) for row in (f"{i},{i % 7},{'uv'[i % 2]}", "9,9,Sub-total")[
        : 1 + (i % 10 == 9)]], ("x1", "x2"), [range(10), [0, 1]],
        ["Row 11 holds 'Sub-total' in 'x3' (as do 2 more): delete rows that sum others."], {"header": False}),
    "stray quotes, the second one at the end of a cell": Table(stray('"u', 'v"'), ("a", "x"), [],
        ["A cell of 'k' holds 11 lines in quotes: if two stray quotes join these rows, delete both."]),
    "lines in quotes": Table(["a,k", *(f'"one\ntwo, {i % 3}, three",{"uv"[i % 2]}' for i in range(40))],
        ("a: one two, 0, three", "a: one two, 1, three", "a: one two, 2, three"), [], unsaid="lines in quotes"),
    "words that are no sums": Table(labeled(["total", "partial", "none"] * 12), ("x",), [], unsaid="sum others"),
    "a second line of names among words": Table(["hue,form,k", "colour of it,shape of it,which", *(
        f"{['red', 'blue'][i % 3 == 0]},{'vw'[i % 2]},{'ab'[i % 2]}" for i in range(40))], (
        "hue: blue", "hue: colour of it", "hue: red", "form: shape of it", "form: v", "form: w"), [],
        ["The class 'which' has the first row alone: if it is a line of names, say so (--header) or delete it."]),
    **{f"the name of the labels beside {first}": Table([f"{first},{second},Label", *(
        f"{i * 31 % 97},{i % 7},{'uv'[i % 2]}" for i in range(30))], (first, second), [[0, 31], [0, 1]])
       for first, second in (("$0", "$10"), ("100.05", "200.1"), ("-3", "-2"))},
    "the name of a target of Kaggle": Table(["Survived,Sex,Fare,Embarked", *(
        f"{i % 2},{['male', 'female'][i % 3 == 0]},{i}.5,{'SCQ'[i % 3]}" for i in range(60))],
        ("Fare", "Sex: female", "Sex: male", "Embarked: C", "Embarked: Q", "Embarked: S"), [], classes=("0", "1")),
    "several names of targets": Table(["survived,pclass,sex,fare,class", *(
        f"{i % 2},{i % 3 + 1},{['male', 'female'][i % 5 == 0]},{i}.5,{['First', 'Second', 'Third'][i % 3]}" for i in range(60))],
        ("pclass", "fare", "sex: female", "sex: male", "class: First", "class: Second", "class: Third"), [], classes=("0", "1")),
    "coordinates and a class": Table(["x,y,class", *(f"{i},{i % 7},{'uv'[i % 2]}" for i in range(30))], ("x", "y"),
        [range(30), [0, 1]], classes=("u", "v")),
    **{f"ratios and ids as in {cells[0]}": Table(["t,x,label", *(f"{cells[i % 3]},{i},{'ab'[i // 3 % 2]}" for i in range(36))],
        ("x", *(f"t: {cell}" for cell in sorted(cells))), []) for cells in (
        ("50:50", "60:40", "30:10"), ("16:10", "16:09", "4:3"), ("12:34", "45:12", "77:01"), ("set-01", "set-02", "set-30"),
        ("out 1999", "out 2000", "out 2001"), ("gen0001", "mag0002", "set0003"), ("dec-10", "mag-10", "mag-11"),
        ("may-01", "may-02", "may-30"))},
    **{f"months of two years, {words[1]}": Table(["t,x,label", *(
        f"{words[i % len(words)]}-{20 + i % 2},{i},{'ab'[i // 3 % 2]}" for i in range(36))], ("t", "x"), [[18506, 18901], [0, 1]],
        [f"dates as the number of days since 1970, such as 2020-09-01 for '{words[0]}-20'."])
       for words in (("set", "out", "dez"), ("wrz", "paź", "sty"), ("Sep", "Oct", "May"), ("sep", "okt", "mars", "mai"))},
    **{f"years of one month, {month}": Table(["t,x,label", *(f"{month}{20 + i % 3},{i},{'ab'[i // 3 % 2]}" for i in range(36))],
        ("t", "x"), [[18322, 18687], [0, 1]]) for month in ("Mar-", "mar 20")},
    **{f"times of day that end each line, {names}, {kinds}": Table(["\t".join(("k", "from", "to"))] * names + [
        f"{kinds[i % 2]}\t{8 + i % 12}:{i * 7 % 60:02}\t{9 + i % 12}:{i * 11 % 60:02}" for i in range(40)],
        ("from", "to") if names else ("x2", "x3"), [[8, 9 + 7 / 60], [9, 10 + 11 / 60]],
        ["'8:00' is read as 8: if it is no time, make it a category (--category)."], classes=tuple(sorted(kinds)))
       for names in (True, False) for kinds in (("yes", "no"), "10")},
    "white space, and a tab before the last column": Table([
        f"{18 + i * 7 % 11}.0   {8 - i % 3}   {300 + i}.5   {'?' if i == 0 else i % 7}\t\"car {i % 3}\"" for i in range(60)],
        ("x1", "x2", "x3", "x4"), [], given={"target": "x5"}, classes=("car 0", "car 1", "car 2")),
    "years as names, over remarks": Table(["geo\\time\t2020 \t2021 \t2022 ", *(
        f"{['DE', 'FR', 'PL'][i % 3]}\t{i}.5 \t{i * i % 7}.25 {'be'[i % 2]}\t{'uv'[i % 2]}" for i in range(40))],
        ("2020", "geo\\time: DE", "geo\\time: FR", "geo\\time: PL"), [], given={"target": "2022", "drop": ["2021"]},
        classes=("u", "v")),
    "codes that begin with 0": Table(["plz,x,k", *(f"0{1067 + i % 4},{i},{'uv'[i // 4 % 2]}" for i in range(40))], ("plz", "x"),
        [[1067, 1068], [0, 1]], ["'plz': 01067 is read as 1067. If it is a code, make it a category (--category)."]),
    "dates of a zone": Table(["d;x;k", *(f"Mon Apr {6 + i % 3:02} 22:19:45 PDT 2009;{i};{'uv'[i // 3 % 2]}" for i in range(40))],
        ("d", "x"), [], ["'d': dates as the number of days since 1970, such as 2009-04-06 for"]),
    "counts of LIBSVM that could be times": Table([f"{i % 2} {1 + i % 9}:{10 + i % 50}" for i in range(40)],
        tuple(f"x{j}" for j in range(1, 10)), []),
    "numbers with blanks between tabs": Table([f"{1 + i % 5} 234\t{1 + i * i % 7} 567\t{i // 3 % 2}" for i in range(40)],
        ("x1", "x2"), [[1234, 2234], [1567, 2567]], classes=("0", "1")),
    "words without names, the first one twice": Table(["red\tgo on", *(
        f"{['red', 'blue', 'green', 'black', 'white', 'grey'][i // 3]}\tsay {i % 3}" for i in range(1, 18))],
        ("x2: go on", "x2: say 0", "x2: say 1", "x2: say 2"), [], given={"target": "x1"},
        classes=("black", "blue", "green", "grey", "red", "white")),
    "words after a tab": Table([f"{['ham', 'spam'][i % 2]}\tgo {i} now {i * i} there" for i in range(60)], tuple(
        f"x2: direction {j}" for j in range(1, 51)), [], classes=("ham", "spam")),
    "minutes and seconds of a race": Table(["t,x,label", *(f"{27 + i}:{i + 10},{i % 7},{'ab'[i // 3 % 2]}" for i in range(36))],
        ("t", "x"), [[27 + 10 / 60, 28 + 11 / 60], [0, 1]]),
    "decimal commas between colons": Table(["a:b:label", *(f"{i},5:{i % 7},25:{'uv'[i % 2]}" for i in range(40))], ("a", "b"),
        [[0.5, 1.5], [0.25, 1.25]]),
    "columns that tell nothing": Table(["a,b,c,d,e,label", *(f"7,{i},{'xy'[i % 2]},{'xy'[i % 2]},{i}.0,{'uv'[i // 3 % 2]}"
        for i in range(40))], ("a", "b", "e", "c: x", "c: y", "d: x", "d: y"), [], [
        "'a': one number in all 40 rows, which tells nothing (--drop).",
        "'e' (as in 'b'), 'd' (as in 'c'): the same in each row as in another column, which tells nothing new (--drop)."]),
    "forty lines above the names": Table([*(f"Key{i}: value" for i in range(40)), "a,b,label", *(
        f"{i}.5,{i * i},{'xy'[i % 2]}" for i in range(60))], ("a", "b"), [[0.5, 1.5], [0, 1]]),
    "queries": Table([f"{i % 3} qid:{i // 9} 1:{i} 2:0.5" for i in range(40)], ("x1", "x2"), [],
        ["The ids of queries (qid) are left out"]),
    **{f"a class that means itself, {words[-1]}, {given}": Table(labeled(words * 12), ("x",), [], given=given,
        unsaid="is taken for a class") for words, given in (
        (["yes", "no", "?" * 40], {}),  # which the sentence would repeat
        (["yes", "unknown"], {}),  # of two classes it is one
        *((["yes", "no", "unknown"], given) for given in (
            {"unlabeled": "none"}, {"unlabeled": "unknown"}, {"labels": "binary", "positive": "unknown"},
            {"labels": "ordinal", "order": ("no", "unknown", "yes")})),
    )},
    **{f"a known order from {words[0]}": Table(ordered(words), ("x",), [], ["the lowest first: "], {"labels": "ordinal"},
        tuple(words)) for words in ORDERS},
    **{f"an order that is given, {order}": Table(rows, ("x",), [], ["the lowest first: "],
        {"labels": "ordinal", "order": order}, order)
       for rows, order in (*((ordered(words), (*words[1:], words[0])) for words in ORDERS), (COLORS, ("rx", "gx", "bx")))},
    **{f"commas that may set thousands apart, cells separated by {mark!r}": Table(with_commas(mark), ("a", "z"),
        [[45.1, 46.107], [0, 1]], ["'a': 45,100 and others are read as fractions. If the comma sets thousands apart, the decimal "
        "mark is the point (--decimal .)."]) for mark in ";\t|"},
    **{f"commas that set thousands apart, cells separated by {mark!r}": Table(with_commas(mark), ("a", "z"),
        [[45100, 46107], [0, 1]], ["'a': numbers written like 1,234.5, which is read as 1234.5."], {"decimal": "."})
       for mark in ";\t|"},
    **{f"commas that do not set thousands apart, {form}, {mark!r}": Table(with_commas(mark, form), ("a", "z"), [],
        unsaid="read as fractions") for form in ("{},{}0", "0,{1}", "{}.{}") for mark in ";\t|"},
}  # fmt: skip


LEFT_OUT = {
    "years as names, over remarks": ("2021",),
    "an empty column": ("empty",),
    "numbers of answers": ("Response ID",),
    **{f"LabVIEW's text, decimal mark {mark}": ("Comment",) for mark in ".,"},
    "bars beside times": ("x2",),
    "a name for each row, and numbers": ("gene",),
    "two lines of names": ("column 1",),
    "two lines of names and the name of an index, by pandas": ("row",),
    "padded numbers of rows": ("id",),
    "empty columns after the labels": ("column 4", "column 5"),
    "single quotes in double ones of ARFF": ("e",),
    "single quotes in double ones of sparse ARFF": ("e",),
}


@each("name", TABLES)
def test_a_table_becomes_points(name):
    table = Table(*TABLES[name])
    data = points_of(*table.rows, **table.given)
    assert data.feature_names == table.names
    assert data.left_out == LEFT_OUT.get(name, ())
    assert table.classes in (None, data.class_names)
    for found, column in zip(data.X.T, table.columns, strict=True) if table.columns else ():
        np.testing.assert_allclose(found[: len(column)], column, rtol=1e-6)
    if name.startswith("a missing number"):
        assert len(data.X) == len(data.y) == len(table.columns[0])
    report = " ".join(data.report)
    for word in table.words:
        assert word in report, word
    assert table.unsaid not in report


REFUSED = [
    (["n,sex,job,pay", *(f"{i * 7},{'mf'[i % 2]},{'abc'[i % 3]},{i * i}" for i in range(60))], {},
        r"taken from 'job', and 'sex' could hold them, too: say which \(--target\)"),
    *((ordered(words), {"labels": "ordinal"}, r"words without a known order.*\(--order ") for words in NO_ORDERS),
    (FEW, {}, r"taken from 't', and 'u' could hold them, too: say which \(--target\)"),
    (SPECIES, {"labels": "binary"}, r"made of 3, needs the positive one named \(--positive\): 'Adelie'"),
    *((["a,label", *NUMBERS], {"target": "label"} | given, said) for given, said in (
        ({"features": ["a", "label"]}, "'label' is the label: it can be neither a feature nor left out"),
        ({"drop": ["label"]}, "'label' is the label"),
        ({"features": ["a", "a"]}, "must name each column once, got 'a' twice"),
        ({"labels": "binary", "positive": "rose"}, "the positive label must be one of"),
    )),
    (["a,b,label", "mm,,x", *(f"{i}.5,{i},{'xy'[i % 2]}" for i in range(40))], {},
        "column 'a' must hold numbers, got 'mm' in row 1"),  # one word alone is no row of units
    (["t,v,k", *(row for i in range(60) for row in ["t,v,k"] * (i == 30) + [f"{i},{i}.5,{'ab'[i % 2]}"])], {},
        r"column 't' must hold numbers, got 't' \(its name: the line of names again, to be deleted"),
    (["Q1,Q2,k", 'How old?,"Like, it?",Who?', "id1,id2,id3", *(f"{i},{i}.5,{'ab'[i % 2]}" for i in range(60))], {},
        r"got 'How old\?' \(rows 1 to 2 are names again, to be left out: --below\) in row 1"),
    (["when,Duration (s),k", "Start date,Duration (s),Who?", *(f"2023-05-{1 + i % 28},{i},{'ab'[i % 2]}" for i in range(60))], {},
        r"got 'Duration \(s\)' \(its name: the line of names again, to be left out: --below\) in row 1"),
    (["Age,b,k", "Open answer,Product,Response", *(f"{i},{'pq'[i // 2 % 2]},{'ab'[i % 2]}" for i in range(60))], {},
        r"got 'Open answer' in row 1: correct it, leave row 1 out if it is a second line of names \(--below\), let its word"),
    ([",a,b,y", "1,n.d.,3,0", *(f"{i},{i * 7 % 11},{i % 5},{i // 3 % 2}" for i in range(2, 40))], {},
        "column 'a' must hold numbers, got 'n.d.' in row 1"),
    (["a,x,k", *(f"{i},{i % 7},{'uv'[i % 2]}" for i in range(30)), "Total,90,u"], {},
        r"got 'Total' \(a row that sums others, to be deleted\) in row 31"),
    (['"a;b;k"', *(f'"{i};{i * i % 7};{"uv"[i % 2]}"' for i in range(40))], {},
        r"the table has one column, 'a;b;k', and there must be a label and a feature: .*--delimiter"),
    (["a,k", *(f"{'-3.4028235e+38' if i % 9 == 4 else i},{'uv'[i % 2]}" for i in range(40))], {},
        r"size, got -3.40282e\+38 in row 5: correct it, let it mean missing \(--missing-words\), or leave the column out"),
    *((["t,n,k", *(form.format(i % 3, i, "uv"[i // 3 % 2]) for i in range(40))], {}, "in single quotes hold the delimiter")
      for form in ("'a {}, b',{},'{}'", "{},{},'x, {}'")),
    *((labeled("xy" * 20), {"below": 2} | given, said) for given, said in (
        ({"header": False}, r"--below counts lines below the names, and the table has no names \(--header\)"),
        ({"delimiter": "^"}, "delimiter must be one of"))),
    *((drawn, {}, "must be alone in its file, with one line of text for each row, and no bar in a cell") for drawn in (
        ["+--+--+", "| a | k |", "+--+--+", "| 1 | x |", "| | y |", "+--+--+", "| 2 | z |", "+--+--+"],
        ["| a | k |", "|---|---|", "| 1 | x |", "", "| a | k |", "|---|---|", "| 2 | y |"],
        ["| a | k |", "|---|---|", *("| u\\|v | x |", "| w\\|v | y |") * 9],
        [" a | k ", "---+---", *(" u+| x ", " v | ") * 9, "(9 rows)"])),
    (rows_of_cells(["-", "1.5", "2.5"]), {}, "column 'price' must hold numbers, got '-' in row 1"),
    *(([text], {}, "the file is a program in SQL; those that can be read are") for text in (
        "INSERT INTO `t` (`a`, `k`) VALUES\n(1, 'u'),\n(2, 'v');\n", "-- by us\n\nCREATE TABLE t (\n a int);\n",
        "SET names = 'utf8';\n")),
    (["a,k", *(f"{i},name {i}" for i in range(60))], {}, r"No column looks like labels, which repeat .*: say which \(--target\)"),
    (["a,k", *(f"{['<LOD', 'ND'][i % 2] if i % 9 == 4 else i},{'ab'[i % 2]}" for i in range(60))], {"target": "k"},
        r"got '<LOD' in row 5, the first of 7 cells that are no numbers \('<LOD', 'ND'\): correct them"),
    *(([text], {}, r'a list of records \(pandas: orient="records"\), got one record of lists')
       for text in ('{"type": "T", "features": [{"a": 1}]}', '{"columns": ["a", "k"], "data": [[1, "x"], [2, "y"]]}',
                    '{"a": [1, 2], "k": ["x", "y"]}', '{"a": {"0": 1}, "k": {"0": "x"}}', '{"data": [{"a": 1}]}')),
    *(([text], {}, "must give each name once, got 'a' twice")
       for text in ('[{"a": 1, "a": 2}]', '{"a": 1, "a": 2}', '{"a": 1, "k": "x"}\n{"a": 1, "k": "y", "a": 2}')),
    (['{"a": 1, "b": 2,}'], {}, "must hold a record of plain values on each line: .*property name"),
    (["a,k", *(f"{i},{chr(34) * (i == 500)}{'uv'[i % 2]}" for i in range(900))], {}, "a quote is opened and never closed"),
    (stray('"u', '"v'), {}, "line 17 cannot be read: .* expected after"),
    (["a,k", *(f"{i},{'uv'[i % 2]}" for i in range(30)), "End of run"], {}, "separated by comma, so delete what is no row"),
    (COLORS, {"labels": "ordinal"}, r'words without a known order, .*\(--order "bx,gx,rx"\)'),
    (labeled(["No", '"Ja, voll"', '"Ja, etwas"'] * 12), {"labels": "ordinal"},
        r"""\(--order '"Ja, etwas","Ja, voll",No'\)"""),
    (labeled(["rx", "gx", "bx", "wx"] * 9), {"labels": "ordinal"}, r'\(--order "bx,gx,rx,..."\)'),
    *((ordered(words), {"labels": "ordinal", "order": (*words[2:], words[0])}, "must name each class once") for words in ORDERS),
    (labeled(["2.5"] * 20, "price"), {"labels": "ordinal", "bins": 4, "target": "price"},
        "cut into bins, must have between 2 and"),
    *(([sign.join("xyk"), *(sign.join(("0.5", str(i), "ab"[i % 2])) for i in range(20))], {},
        r"seem to be separated by .*, and the delimiter must be one of comma, semi") for sign in "^~§¦"),
    *((["@relation r", "@attribute a real", "@attribute k {u, v}", "@data", "{0 1, 1 v}", row], {},
        r"row 2 of the ARFF file must hold numbers of attributes, 0 to 1, each with its value, between braces, got '")
      for row in ("{0 2, 7 v}", "{0 2, v}", "{0 2", "0 2", "{0 2, 9999999999 v}")),
    (["@relation r", "@attribute a real", f"@attribute k {{u, {'x' * 200_000}}}", "@data", "{0 1}"], {},
        "the ARFF file cannot be read: field larger than field limit"),
    (["@relation r", "@attribute a real", "@attribute k {u, v}", "@data", "x" * 200_000 + ",u"], {},
        "the ARFF file cannot be read: field larger than field limit"),
    *(([line.format(i=i) for i in range(60)], {}, f"line 1 must begin with one number as its label, {said}") for line, said in (
        ("1:0.5 2:{i}", "got '1:0.5', an index:value pair"),
        (" 1:0.5 2:{i}", "got '1:0.5', an index:value pair"),
        ("1,3 1:0.5 2:{i}", "got '1,3', several labels"),
        ("cat 1:0.5 2:{i}", "got 'cat': number the classes"),
    )),
    *(([line.format(i=i) for i in range(60)], {}, f"line 1 must hold index:value pairs, got {said}: write its decimal comma as a")
      for line, said in (("1 1:0,5 2:{i}", "'1:0,5'"), ("+1 3:{i},25", "'3:0,25'"))),
    *(([text], {}, f"the file is {what}; those that can be read are") for what, *texts in (
        ("a matrix of Matrix Market", "%%MatrixMarket matrix coordinate integer general\n%\n3 2 2\n1 1 5\n2 2 7\n"),
        ("JSON, but no records", "[\n  [1, 2],\n  [3, 4]\n]", "[1.5, 2, 3]", "{}"),
        ("a text of Vowpal Wabbit", "-1 |f a:0.5 b:2\n1 |f a:1 b:3", "1 0.5 'id|n:2.0 a:1 b:-2e-3 |w good film\n1 |n a:3 b:1",
            "1:0 2:1 |f a:0.5 b:2\n1:1 2:0 |f a:1 b:3"),
        ("a text of LIBFFM", "1 0:3:1 1:7:0.5\n0 0:2:1 1:8:0.25", "0 1:15:1 2:77:12\n1 1:0:1 2:3:12"),
        ("a web page or XML", "<!-- a --><html>", "<html lang='en'>\n<body>\ntext", "<rows>\n<row>1, 2</row>\n</rows>\n",
            "<rows><row>1</row></rows>", "<?xml version='1.0'?>\nx"),
    ) for text in texts),
]  # fmt: skip


@each("rows, given, said", REFUSED)
def test_a_table_that_does_not_say_what_is_needed_is_refused_in_one_sentence(rows, given, said):
    with pytest.raises(DataError, match=rf"^[^\n]*{said}[^\n]*\Z"):
        points_of(*rows, **given)


@each("of_table, of_person", [(one, other) for one in ("NFC", "NFD") for other in ("NFC", "NFD")])
def test_a_label_is_named_in_either_form_of_its_letters_and_a_column_in_its_own(of_table, of_person):
    words, said = (["groß", "mittel", "früh"], lambda word: normalize(of_person, word))
    name = normalize(of_table, "größe")
    rows = [f"{name},x", *(f"{normalize(of_table, words[i % 3])},{i}" for i in range(36))]
    ordered = points_of(*rows, labels="ordinal", target=name, order=tuple(map(said, words)))
    assert ordered.class_names == tuple(words)
    assert points_of(*rows, target=name, unlabeled=said("früh")).class_names == ("groß", "mittel")
    assert points_of(*rows, labels="binary", target=name, positive=said("früh")).class_names[1] == "früh"


@each("cell", ["10.0.{}.1", "12.05.20{}", "v1.{}", "030 123 4{}", "12-{}"])
def test_what_only_looks_like_numbers_is_left_alone(cell):
    recipe = sniff(lines(*rows_of_cells([cell.format(10 + i) for i in range(40)])), "a.csv")
    assert not recipe.role("price").startswith("number")
    rows = [f"{i},19{10 + i % 9}-{13 + i % 20},{KIND[i]}" for i in range(40)]  # nor are these months
    assert "dates" not in " ".join(points_of("x,code,kind", *rows).report)


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


WRITTEN = {
    **{"(1.5)": -1.5, "( 1.5 )": -1.5, "12 %": 0.12, "12%": 0.12, "(12 %)": -0.12, "(12) %": -0.12, "（3）": -3.0},
    **{"−3.5": -3.5, "–3": -3.0, "1e−3": 0.001, "-2": -2.0},
}


def csv_of(cells, decimal="."):
    delimiter = "," if decimal == "." else ";"
    rows = [delimiter.join((f'"{cell}"', str(i % 7), "xy"[i % 2])) for i, cell in enumerate(cells)]
    return lines(delimiter.join(("price", "b", "label")), *rows)


@each("cell", WRITTEN)
@each("decimal", [".", ","])
@each("share", some([1, 3, 20], 1))
def test_brackets_per_cent_and_unicode_minus_are_read_as_numbers(cell, decimal, share):
    cells = [cell if i % share == 0 else f"{i}.25" for i in range(40)]
    content = csv_of([one.replace(".", decimal) for one in cells], decimal)
    data = read(content, sniff(content, "t.csv"))
    assert data.feature_names == ("price", "b")
    is_adorned = cell.endswith(("%", ")", "）"))
    assert any(f"is read as {WRITTEN[cell]:g}" in sentence for sentence in data.report) == is_adorned
    expected = [WRITTEN[cell] if i % share == 0 else i + 0.25 for i in range(40)]
    np.testing.assert_allclose(data.X[:, 0], expected, rtol=1e-6)


# --- mistakes and missing cells


@each("n_bad", [1, 9, 19])
@each("word", ["#DIV/0!", "#REF!", "#WERT!", "Err:502", "unknown"])
@each("decimal", [".", ","])
def test_a_column_that_is_mostly_numbers_is_refused_with_its_mistakes(n_bad, word, decimal):
    content = csv_of([word if 2 <= i < 2 + n_bad else f"{i}{decimal}5" for i in range(40)], decimal)
    several = f", the first of {n_bad} cells that are no numbers" if n_bad > 1 else ""
    error = "" if word == "unknown" else " (a spreadsheet's error)"
    with pytest.raises(DataError) as caught:
        read(content, sniff(content, "t.csv"))
    said = f"column 'price' must hold numbers, got '{word}'{error} in row 3{several}: correct "
    assert str(caught.value).startswith(said)


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


def test_a_number_can_mean_missing_in_every_format(tmp_path):
    own = frame(b=np.where(np.arange(N) % 5 == 0, -999, np.arange(N)))
    own.to_csv(tmp_path / "t.csv", index=False)
    own.astype({"b": float}).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.svm").write_bytes(lines(*(f"{kind} 1:{a} 2:{b}" for a, b, kind in own.to_numpy())))
    for path in tmp_path.iterdir():
        column = "x2" if path.suffix == ".svm" else "b"
        described = describe_file(path, sniff_file(path, missing_words=["-999"]))
        assert described.missing[column] == 12, path.name
        assert f"Read as missing: 12 cells '-999' (in '{column}')." in described.notes, path.name


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


def test_a_file_of_a_folder_that_is_wider_than_the_training_table_is_named(tmp_path):
    for number in range(2):
        (tmp_path / f"{number}.svm").write_bytes(lines("1 1:0.5", f"-1 {number + 1}:2"))
    file = File.of_path(tmp_path)
    with pytest.raises(DataError, match=r"^1\.svm: line 2 has the index 2, and the largest of the training file is 1$"):
        file.table(replace(file.sniff(), first_index=1, n_indices=1))


@each("words", [("sí", "no"), ("ja", "nee"), ("Ja", "Nein"), ("yes", "no")])
def test_words_for_true_and_false_in_another_order_are_no_other_unit(words):
    train = pd.DataFrame({"a": list(words) * 10, "b": range(20), "kind": ["n", "n", "m", "m"] * 5})
    features = Features(File.of_frame(train, "t").recipe("classes", target="kind"), LOCAL).fit(train)
    assert list(features.unseen(train.iloc[::-1])) == []
    assert list(features.unseen(train.assign(a=[True, False] * 10))) == []
    assert "are they in one unit?" in " ".join(features.unseen(train.assign(a=[1, 0] * 10)))


def test_gaps_and_categories_that_the_training_rows_do_not_have_are_said():
    train = pd.DataFrame({"a": [1.0, 2.0, None, 4.0], "b": range(4), "c": list("xyxy"), "kind": list("nmnm")})
    recipe = File.of_frame(train, "t").recipe("classes", target="kind", is_asked=True)
    features = Features(recipe, LOCAL).fit(train)
    assert list(features.unseen(train)) == []
    assert list(features.unseen(train.assign(b=[0, 1, None, None], c=list("xyzz")))) == [
        "Missing numbers in 'b', where the training rows had none: replaced by the column's mean over the training rows.",
        "'c': 'z' were not among the training rows, and count as no category.",
    ]


# A training table, a table to predict, and the first column of its points, or what is said of it. A list of cells is column a.
HALVES, POINTS = [f"{i},5" for i in range(12)], [f"{i}.5" for i in range(12)]
WITH_KG, WORDS = [f"{i} kg" for i in range(12)], ["red", "blue"] * 6
FAR = "All numbers in 'a', 1234 to 2345, are far from those of the training rows, 0.5 to 11.5"


def in_workbook(columns):
    pd.DataFrame(columns).to_excel(to := io.BytesIO(), index=False)
    return to.getvalue()


WRITTEN_AS = {
    "thousands": (HALVES, ["1.234", "2.345"], ([1234, 2345], FAR)),
    "what may be thousands, between commas": (HALVES, 'a,b\n"1.986",2\n2.100,3\n',
        r"'1\.986' may be a fraction or thousands, .*say that of this file \(--decimal \. or --decimal ,\)"),
    "what may be thousands, between semicolons": ("a,b,kind\n" + "".join(f"{one},{i},{'xy'[i % 2]}\n"
        for i, one in enumerate(POINTS)),
        "a;b\n1,986;2\n", "'1,986' may be a fraction or thousands"),
    "thousands as a letter, alone": (["1.5K", "9K", "900"], ["5K", "7K"], [5000, 7000]),
    "thousands as a letter": (["5K", "6K"], ["5K", "7.5k"], [5000, 7500]),
    "thousands, after a tab": (HALVES, "a\tb\n1.234\t2\n2.345\t3\n", ([1234, 2345], FAR)),
    "thousands beside small numbers": (HALVES, ["1.234", "9"], [1234, 9]),
    "a point among commas": (HALVES, ["1.5", "2.25"], r"'1\.5' in row 1.*the decimal mark \(--decimal \.\)"),
    "a comma among points": (POINTS, ["1,5", "2,25"], r"'1,5' in row 1.*the decimal mark \(--decimal ,\)"),
    "a comma among per cents": ([f"{i}.5 %" for i in range(12)], "a;b\n1,5 %;2\n", r"'1,5 %' in row 1.*--decimal ,"),
    "points of another program": (HALVES, "a,b\n1.5,2\n", ([1.5], "otherwise than the training file.*decimal point")),
    "commas of another program": (POINTS, "a\tb\n1,5\t2\n", ([1.5], "otherwise than the training file.*decimal comma")),
    "one column of commas": ("a;kind\n" + "".join(f"{one};{'xy'[i % 2]}\n" for i, one in enumerate(HALVES)),
        "a\n1,5\n2,5\n", [1.5, 2.5]),
    "one column of commas without names": ("".join(f"{one};{'xy'[i % 2]}\n" for i, one in enumerate(HALVES)),
        "1,5\n2,5\n", [1.5, 2.5]),
    "dots that may set thousands apart": (range(500, 512), ["1.234", "986"], r"'1\.234' in row 1.*--decimal ,"),
    "all thousands": (range(500, 512), ["1.234", "2.345"], ([1.234, 2.345], r"'a', 1\.234 to 2\.345,.* 500 to 511:.*--decimal")),
    "a number that means missing": (POINTS, ["1.5", "-999", "-999", "2.5"], ([1.5, -999, -999, 2.5],
        "2 of 4 numbers in 'a', -999 to -999, are far from those of the training rows, 0.5 to 11.5: .*mean missing")),
    "one row with its number, as R writes it": (POINTS, "a;b\n9;1.5;2\n", ([1.5], "no name .* 'column 1'")),
    "one line alone": ("a;b;kind\n" + "".join(f"{WORDS[i]};{'uv'[i % 2]};{'xy'[i // 2 % 2]}\n" for i in range(12)), "red;u\n",
        r"no rows below its header \(--no-header: it is a row\)"),
    **{f"words of which the new table has {new[0]} alone": ("a;b;kind\n" + "".join(
        f"{words[i % 3]};{'uv'[i % 2]};{'xy'[i // 2 % 2]}\n" for i in range(12)), f"a;b\n{new[0]};u\n{new[1]};v\n", said)
       for words, new, said in ((["01", "A1", "B1"], ["01", "02"], ([1, 0], "'02' were not among the training rows")),
        (["FALSE", "TRUE", "MAYBE"], ["FALSE", "TRUE"], [1, 0]), (["False", "True", "MAYBE"], ["TRUE", "FALSE"], [0, 1]),
        (["1", "2", "3+"], ["1.0", "2.0"], [1, 0]))},
    "thousands of another program": ("a,b,kind\n" + "".join(f'"1,{100 + i}",{i},{"xy"[i % 2]}\n' for i in range(12)),
        "a;b\n1.986;0,5\n2.100;1,5\n", ([1986, 2100], "otherwise than the training file.*decimal comma")),
    **{f"thousands alone, {name}": ("a,b,kind\n" + "".join(f'"1,{100 + i}",{i},{"xy"[i % 2]}\n' for i in range(12)), new, said)
       for name, new, said in (("after a tab", "a\tb\n1,986\t5\n2,100\t6\n", "'1,986' may be a fraction or thousands"),
        ("after a comma", 'a,b\n"1,105",5\n"1,106",6\n', [1105, 1106]))},
    "no thousands in another program": ([f"1.{100 + i},5" for i in range(12)], "a,b\n1986.5,0.5\n",
        ([1986.5], "otherwise than the training file.*decimal point")),
    "no thousands in a workbook": ([f"1.{100 + i},5" for i in range(12)], in_workbook({"a": [1.125, 1986.5], "b": [1, 2]}), (
        [1.125, 1986.5], "The sheet 'Sheet1' of the workbook is read")),
    "days that may be of another order": ([f"{i + 10}.01.2020" for i in range(12)], ["2/3/2020"],
        ([18323], "'a': as in the training rows the day is first, such as 2020-03-02 for '2/3/2020'")),
    "days of the same order": ([f"{i + 10}/01/2020" for i in range(12)], ["05/01/2020"], [18266]),
    "another unit": (WITH_KG, ["1000 g", "2 g"], ([1000, 2], "'1000 g' is read as 1000.* '0 kg' is read as 0")),
    "no unit": (WITH_KG, ["1", "2"], ([1, 2], "plain.* '0 kg' is read as 0")),
    "per cent": (["0.25", "0.75"] * 6, ["50 %", "30 %"], ([0.5, 0.3], "'50 %' is read as 0.5.* plain")),
    "brackets alone": (POINTS, ["(1.5)", "2.5"], [-1.5, 2.5]),
    "truth among numbers": (POINTS, ["yes", "no"], ([1, 0], "'yes' is read as 1.* plain")),
    "the same truth": (["yes", "no"] * 6, ["no", "yes"], [0, 1]),
    "dates of another order": ([f"2020-01-{i + 10}" for i in range(12)], ["03/04/2020"], r"must hold dates \(role 'date'\)"),
    "other columns without names": ("".join(f"{i}.5;{i};{'xy'[i % 2]}\n" for i in range(12)), "1.5;2;3;4\n1.5;2;3;4\n",
        "columns without names, 'x4'"),
    "names that a file without names gets": ("".join(f"{i}.5;{i * i};{'xy'[i % 2]}\n" for i in range(12)), "x1;x2\n1.5;2\n", [1.5]),
    "these names in another order": ("".join(f"{i}.5;{i * i};{'xy'[i % 2]}\n" for i in range(12)), "x2;x1\n2;1.5\n", [1.5]),
    "no names for such names": ("x1;x2;kind\n" + "".join(f"{i}.5;{i * i};{'xy'[i % 2]}\n" for i in range(12)), "1.5;2\n", [1.5]),
    "one row of words without names": ("".join(f"{WORDS[i]};{'uv'[i % 2]};{'xy'[i // 2 % 2]}\n" for i in range(12)),
        "red;u\n", [0]),
    "a word": (POINTS, ["ND", "1.5"], r"missing \(--missing-words\), .* leave it out \(--drop\) in a new fit$"),
    "too large": (POINTS, ["1e35", "1.5"], r"leave the column out \(--drop\) in a new fit$"),
    "one record": (POINTS, '{"a": 1.5, "b": 2, "tags": ["new"]}', [1.5]),
    "a list of one record": (POINTS, '[{"a": 1.5, "b": 2, "tags": [{"new": 1}]}]', [1.5]),
    "an encoding that no guess finds": ("a;b;kind\n" + "".join(f"{i};{['Köln', 'Bonn'][i % 2]};{'xy'[i % 2]}\n" for i in range(12)),
        "a;b\n1;Köln\n", ([1], "as mac-roman, with words such as 'Köln'")),
}  # fmt: skip


def first_of(cells):
    rows = [f"{cell};{i * i}" for i, cell in enumerate(cells)]
    return "".join(f"{row};{end}\n" for row, end in zip(["a;b", *rows], ["kind", *("xy" * len(rows))], strict=False))


@each("name", WRITTEN_AS)
def test_a_file_is_read_as_the_training_file_was_or_the_difference_is_said(name, tmp_path_factory, capsys):
    (train, other, said), to = WRITTEN_AS[name], tmp_path_factory.mktemp("alike")
    options = ["--encoding", "mac-roman"] if "encoding" in name else []
    files = [to / name for name in ("train.csv", "other.csv", "model", "out")]
    for file, one in zip(files, (train, other), strict=False):
        text = one if isinstance(one, str | bytes) else first_of(one)
        file.write_bytes(text if isinstance(text, bytes) else text.encode(options[1] if options else "utf-8"))
    named = ["--header", "--target=kind"] if b"kind" in files[0].read_bytes() else ["--no-header"]
    given = [str(files[0]), "--out", str(files[2]), "--quiet", *named, *options]
    small = ["--set", "n_iter=2", "--set", "n_features=8", "--set", "sigma=1", "--scaling=none"]
    assert main(["fit", "TSGS3VM", *given, *small]) == 0
    capsys.readouterr()
    ended = main(["predict", str(files[2]), str(files[1]), "--out", str(files[3]), "--quiet"])
    told = capsys.readouterr().err
    expected, note = said if isinstance(said, tuple) else (None, said) if isinstance(said, str) else (said, None)
    assert ended == (2 if expected is None else 0), told
    assert (told == "") if note is None else re.search(note, told), told
    if expected is not None:
        fitted = Fitted.of(files[2])
        (part,) = fitted.parts(files[1], None, [], {})
        np.testing.assert_allclose(np.concatenate([*part.read()[0]])[:, 0], expected, rtol=1e-6)


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


def test_the_decimal_comma_of_per_cents_in_a_new_table_is_an_option_of_predict(tmp_path):
    files = [tmp_path / name for name in ("train.csv", "new.csv", "model")]
    files[0].write_text(first_of([f"{i}.5 %" for i in range(12)]))
    files[1].write_text("a;b\n1,5 %;2\n2,5 %;3\n")
    fit = ["fit", "TSGS3VM", str(files[0]), "--target=kind", "--out", str(files[2]), "--scaling=none", "--quiet"]
    assert main([*fit, "--set", "n_iter=2", "--set", "n_features=8", "--set", "sigma=1"]) == 0
    (part,) = Fitted.of(files[2]).parts(files[1], None, [], {"decimal": ","})
    np.testing.assert_allclose(np.concatenate([*part.read()[0]])[:, 0], [0.015, 0.025], rtol=1e-6)


# --- roles of columns


def test_roles_are_guessed():
    recipe = sniff(parquet(frame=table()), "a.parquet")
    guessed = {"id": "index", "color": "category", "when": "date", "note": "text", "key": "ignore", "kind": "label"}
    assert dict(recipe.roles) == guessed
    both = lines("u,a,v", *(f"{i % 2},{i}.5,{i % 3}" for i in range(30)))  # of two that could, the last one
    assert sniff(both, "a.csv").column("label") == "v"


def test_categories_become_columns_of_zeros_and_ones_unless_they_are_too_many():
    own = table()
    own.loc[3, "color"] = None
    dataset = read_sniffed(parquet(frame=own[["size", "color", "kind"]]))
    assert dataset.feature_names == ("size", "color: blue", "color: green", "color: red")
    expected = pd.get_dummies(own["color"])[["blue", "green", "red"]].to_numpy()
    np.testing.assert_array_equal(dataset.X[:, 1:], expected)
    assert "'color': 3 categories, a column each; 1 row without one has 0 in all." in dataset.report
    content = parquet(frame=pd.DataFrame({"x": [f"v{i}" for i in range(120)], "label": ["a", "b"] * 60}))
    recipe = Recipe(format="parquet", roles=(("label", "label"), ("x", "category")))
    with pytest.raises(DataError, match="column 'x' must have at most 50 categories, got 120"):
        read(content, recipe)
    assert read(content, recipe, limits=Limits(categories=200)).X.shape == (120, 120)


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


def test_decimals_and_truth_values_are_numbers_and_nested_columns_are_named(tmp_path, capsys):
    path, flags = tmp_path / "t.parquet", pa.array([None if i == 3 else i % 2 == 0 for i in range(N)])
    price = pa.array([Decimal(i) / 4 for i in range(N)], pa.decimal128(12, 2))
    own = {"price": price, "a": frame().a, "label": frame().label, "flag": flags, "emb": pa.array([[1.0, 2.0]] * N)}
    nested = pa.table({**own, "s": pa.array([{"u": 1}] * N), "town": ["x", "y"] * (N // 2)})
    pa.parquet.write_table(nested.drop_columns(["emb", "s", "town"]), path)
    rows, _ = rows_of(path, "label", missing="mean")
    data = read(path.read_bytes(), sniff(path.read_bytes(), path.name))
    assert rows.names == data.feature_names == ("price", "a", "flag")
    np.testing.assert_allclose(rows[:], data.X, rtol=1e-6)
    pa.parquet.write_table(nested, path)
    rows, _ = rows_of(path, "label")
    assert rows.names == ("price", "a", "flag", "town: x", "town: y")
    said = "'emb' (lists or other nested values), 's' (lists or other nested values)"
    assert said in " ".join(rows.guesses)
    assert rows_of(path, "label", drop=["emb", "s", "town"])[0].names == ("price", "a", "flag")
    given = ["--target", "label", "--out", str(tmp_path / "out"), "--quiet", "--set", "n_iter=2"]
    drop = [word for name in ("emb", "s", "town") for word in ("--drop", name)]
    assert main(["fit", "QSGS2AUC", str(path), *given, *drop]) == 0
    assert main(["data", "describe", str(path)]) == 0
    assert said in capsys.readouterr().out
    pa.parquet.write_table(nested.select(["emb", "s", "label"]), path)
    assert main(["data", "describe", str(path)]) == 2
    assert "no column of features is left: besides the label, the table has 'emb' (lists" in capsys.readouterr().err


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


def test_empty_labels_stay_unlabeled_and_are_never_used_for_testing():
    content = lines("x,z,label", *(f"{i},{i * 7 % 11},{'' if i % 3 == 0 else 'ab'[i % 2]}" for i in range(90)))
    dataset = read_sniffed(content, labels="binary")
    assert np.sum(dataset.y == -1) == 30
    assert any("30 rows have no label" in sentence for sentence in dataset.report)
    split, pairs = hide_labels(dataset, 10, 0.3, seed=0), draw_pairs(dataset, 5, 0.3, seed=0)
    without = set(np.flatnonzero(dataset.y == -1))
    assert without <= set(split.train_rows)
    assert not without & set(split.test_rows)
    assert len(split.test_rows) == 18
    for one in (split, pairs):
        assert np.sum(one.y_hidden == -1) == 30
        assert np.all(one.y_hidden[one.labeled] >= 0)


def test_a_class_that_may_mean_no_label_is_not_guessed_to_be_the_positive_one():
    content = lines(*labeled(["yes", "no", "unknown", "unknown"] * 12))
    recipe = sniff(content, "t.csv", labels="binary")
    assert recipe.positive == "no"  # the first of the most frequent others
    assert "The label 'unknown' is taken for a class" in " ".join(read(content, recipe).report)


def test_one_class_against_the_rest():
    content = iris_csv()
    recipe = sniff(content, "iris.csv", labels="binary")
    assert recipe.positive == "setosa"  # the first of the most frequent
    dataset = read(content, replace(recipe, positive="versicolor"))
    assert dataset.class_names == ("not versicolor", "versicolor")
    assert dataset.y.sum() == 50
    with pytest.raises(DataError, match="needs the positive one named"):
        read(content, replace(recipe, positive=None))


NORMAL = [f"{value:.4f}" for value in np.random.default_rng(0).normal(size=100)]
# The kind of labels, the delimiter, cells of the label, options, the names of the first bins, and their sizes.
BINS = {
    **{f"{labels}, with a missing one": (labels, ",", [*NORMAL, ""], {}, (), [100 // bins] * bins)
       for labels, bins in (("binary", 2), ("ordinal", 5), ("classes", 5))},
    "thousands": ("ordinal", ";", [f"{1 + i // 10}.{100 + 7 * i},5" for i in range(60)], {}, ("bin 1 (from 1100.5)",),
        [12] * 5),
    "a number that means no label": ("ordinal", ",", [f"{-1 if i % 4 == 0 else i + 0.5}" for i in range(100)],
        {"unlabeled": "-1"}, ("bin 1 (from 1.5)",), [15] * 5),
    "equal numbers": ("ordinal", ",", ["-2.30259"] * 60 + [str(i + 0.5) for i in range(40)], {},
        ("bin 1 (from -2.30259)", "bin 2 (from 0.5)", "bin 3 (from 20.5)"), [60, 20, 20]),
}  # fmt: skip


@each("name", BINS)
def test_a_label_of_many_numbers_is_cut_into_bins_of_equally_many_rows_and_equal_numbers_are_in_one(name):
    labels, delimiter, cells, given, names, sizes = BINS[name]
    content = lines(*labeled(cells, "price", delimiter))
    data = read(content, replace(sniff(content, "t.csv", labels=labels), **given), labels=labels)
    assert data.class_names[: len(names)] == names
    assert np.bincount(data.y[data.y >= 0]).tolist() == sizes
    assert any(f"cut into {len(sizes)} bins" in said for said in data.report)
    if name == "equal numbers":
        assert any("not 5, because equal values" in said for said in data.report)


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
    with pytest.raises(DataError, match=said):
        read_sniffed(content, labels=labels)
    if labels != "pairs":
        with pytest.raises(DataError, match=said):
            rows_of(file, name, labels=labels)
    _, y = rows_of(file, name, labels="pairs")
    assert y.max() == 19
    assert np.sum(y == -1) == 20


def test_pairs_that_the_file_gives_are_used_and_each_id_is_on_two_rows():
    content = with_pairs()
    dataset = read_sniffed(content, labels="pairs")
    assert dataset.feature_names == ("x", "z")
    assert dataset.pairs.max() == 11
    assert "Read as missing" not in " ".join(dataset.report)  # rows without an id are no gaps
    split = draw_pairs(dataset, 8, 0.3, seed=3)
    ids, counts = np.unique(split.y_train[split.y_train >= 0], return_counts=True)
    assert (ids.tolist(), set(counts)) == (list(range(8)), {2})
    for own in ids:
        assert len(set(dataset.pairs[split.train_rows[split.y_train == own]])) == 1
    assert np.all(dataset.pairs[split.test_rows] == -1)
    assert not set(split.test_rows) & set(split.train_rows)
    # The pairs that were not drawn are set aside: they are no sample of all points.
    assert len(split.train_rows) + len(split.test_rows) == 60 - 2 * 4
    with pytest.raises(DataError, match="between 1 and 12"):
        draw_pairs(dataset, 13, 0.3, seed=3)
    assert read_sniffed(content, labels="binary").pairs is None
    said = r"column 'pair_id' must hold pair ids, each on exactly two rows, got 'p00' on 4 \(rows 1, 5, 6, 9, the "
    with pytest.raises(DataError, match=said):
        read_sniffed(content.replace(b"p01", b"p00"), labels="pairs")


@each(
    "names, label", [("x,y,rare", "rare"), ("X,Y,z,kind", "kind"), ("x,y", "y"), ("x,z,y", "y"), ("x,y,label", "label")]
)
def test_a_y_beside_an_x_is_a_coordinate_unless_it_is_the_last_column(names, label):
    n = names.count(",")
    rows = [",".join([*(f"{i * 7 % 61 + k}.5" for k in range(n)), ("no", "yes")[i % 2]]) for i in range(60)]
    assert sniff(lines(names, *rows), "points.csv").label() == label


@each("classes", [("no", "yes"), (0, 1), ("a", "b", "c")])
def test_a_y_of_classes_is_no_coordinate(classes):
    rows = [f"{i * 7 % 61}.5,{classes[i % len(classes)]},{'uvw'[i // 3 % 3]}" for i in range(60)]
    assert sniff(lines("x,y,group", *rows), "points.csv").label() == "y"
