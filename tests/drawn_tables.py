"""Small tables with columns of every kind, drawn by chance, as files of every format, and unusual options for them."""

import bz2
import gzip
import io
import lzma
import re
from functools import partial

import numpy as np
import pandas as pd

WORDS = "old new odd house hill river stone cold warm night road green small town"
FORMS = """plain={v:.2f} whole={v:.0f} exponent={k:.2e} percent={v:.1f}% thousands={k:,.1f} german={german}
money=${a:,.2f} euro={v:.2f}~€ unit={v:.1f}~kg factor={a:.1f}K account={account} minus={minus} comma={comma}
clock={hour}:{minute:02} angle={day}°{minute}'N truth={truth} date={date} european={day:02}.{month:02}.2019
american={month}/{day}/2021 words={day}~Mar~2020 stamp=2020-01-{month:02}T12:30:00 category={color} code=0{hour}
constant=7 ranked={rank} mixed={mixed} sentinel={sentinel} dash={dash} doubt={doubt}"""
MARKS = """two=no,yes case=Yes,no,YES,No three=ash,elm,oak bits=0,1 signs=-1,1 zero=-1,0,1 masked=-1,0,1,2
scale=low,medium,high unlike=disagree,neutral,agree sizes=S,M,L,XL ranges=0-9,10-19,20-29,30+ grades=A,B,C
months=Jan,Feb,Mar gaps=,a,b,c word=unlabeled,a,b question=?,up,down unknown=unknown,cat,dog dates=2020-01-02,2021-03-01
few=a,a,a,a,a,a,a,a,b one=a numbers= counts= stars=1*,2*,3* floats=1.0,2.0,3.5 own=ugly,plain,pretty"""
NUMBERS, LABELS = (dict(one.split("=") for one in text.split()) for text in (FORMS, MARKS))


def cell(form, v):
    """Return a number as a text of some form."""
    a, k, swap = abs(v), v * 5e3, str.maketrans(",.", ".,")
    return form.format(
        **{"v": v, "a": a, "k": k, "german": f"{k:,.2f}".translate(swap), "comma": f"{v:.2f}".translate(swap)},
        **{"account": f"({a:.2f})" if v < 0 else f"{v:.2f}", "minus": f"{v:.1f}".replace("-", "\N{MINUS SIGN}")},
        **{
            "hour": int(a * 7) % 24,
            "minute": int(a * 99) % 60,
            "day": int(a * 9) % 28 + 1,
            "month": int(a * 7) % 12 + 1,
        },
        **{"truth": "yes" if v > 0 else "no", "date": np.datetime64("2020-03-01") + np.timedelta64(int(v * 90), "D")},
        **{"color": ("red", "green", "blue", "grey")[int(a * 3) % 4], "rank": ("low", "medium", "high")[int(a) % 3]},
        **{"mixed": f"{v:.1f}" if v > -6 else "broken", "sentinel": "-999" if v > 6 else f"{v:.1f}"},
        **{"dash": "-" if v > 5 else f"{v:.0f}", "doubt": "unknown" if v > 5 else "ab"[v > 0]},
    ).replace("~", " ")


def table(chance, n, kinds=tuple(NUMBERS), of=tuple(LABELS)):
    """Return a table of text, its kinds of columns, and the name of its label."""
    values = np.random.default_rng(chance.randrange(2**32)).normal(0.0, 4.0, (n, 6))
    chosen, kind = chance.sample(kinds, chance.randint(2, 5)), chance.choice(of)
    columns = {
        f"{name} {i}" if i else name: [cell(NUMBERS[name], v) for v in values[:, i].tolist()]
        for i, name in enumerate(chosen)
    }
    if chance.random() < 0.3:
        columns["text"] = [" ".join(chance.choices(WORDS.split(), k=chance.randint(4, 9))) for _ in range(n)]
    if chance.random() < 0.35:
        columns = {chance.choice(["id", "row", "key", "Unnamed: 0", "year"]): [str(i + 1) for i in range(n)]} | columns
    if chance.random() < 0.25:
        ids = [f"p{i // 2}" for i in range(n // 3 * 2)] + [""] * (n - n // 3 * 2)
        columns[chance.choice(["pair", "pair_id"])] = chance.sample(ids, n)
    words, name = LABELS[kind].split(","), chance.choice(["class", "target", "y", "grade", "outcome"])
    scores = values[:, 0] + values[:, 5] / 3
    made = [f"{v:.3f}" if kind == "numbers" else f"{abs(v) * 9:.0f}" for v in scores]
    made = made if words == [""] else [words[k] for k in np.argsort(np.argsort(scores)) * len(words) // n]
    columns[name] = chance.sample(made, n) if chance.random() < 0.2 else made
    frame = pd.DataFrame(columns)
    for column in chance.sample(list(frame), chance.randint(0, 3)):
        rows = chance.sample(range(n), chance.randint(1, n // 6))
        frame.loc[rows, column] = chance.choice(["", "NA", "?", "NULL", "n.a.", "-9", "missing", "#N/A"])
    if chance.random() < 0.15:
        frame.iloc[chance.sample(range(n), 2)] = ""
    if chance.random() < 0.2:
        frame = frame.rename(columns={frame.columns[0]: chance.choice(["", frame.columns[-1], " a  b ", "größe"])})
    order = chance.sample(range(frame.shape[1]), frame.shape[1]) if chance.random() < 0.3 else range(frame.shape[1])
    return frame.iloc[:, list(order)], f"{', '.join(chosen)}; {kind}", name


def typed(frame):
    """Return the table with numbers as numbers, and other text as it is."""
    cells = {
        name: (own.replace("", None), pd.to_numeric(own.replace("", None), errors="coerce"))
        for name, own in frame.items()
    }
    return pd.DataFrame(
        {name: numbers if numbers.notna().mean() > 0.6 else own for name, (own, numbers) in cells.items()}
    )


DIALECTS = [(",", "."), (";", ","), ("\t", "."), ("|", "."), (";", "."), (" ", "."), (":", ".")]
ODDITIES = ("title", "units", "comment", "end", "blank", "spaces", "crlf", "sep", "index")
ENCODINGS = ["utf-8", "utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"]
PACKERS = {"": bytes, "gz": partial(gzip.compress, mtime=0), "bz2": bz2.compress, "xz": lzma.compress}


def csv_text(frame, chance):
    """Return a table as a text of some dialect, and what is unusual about it."""
    delimiter, decimal = chance.choice(DIALECTS)
    header, quotes = chance.random() < 0.85, chance.choice(["all", "needed", "needed", "single"])
    rows = [list(frame.columns)] * header + frame.to_numpy().tolist()
    if decimal == ",":
        rows = [[re.sub(r"\A-?\d+\.\d+\Z", lambda m: m[0].replace(".", ","), cell) for cell in row] for row in rows]
    mark = "'" if quotes == "single" else '"'
    must = {delimiter, mark} | ({" "} if delimiter == " " else set())

    def quoted(cell):
        is_quoted = quotes == "all" or must & set(cell) or (delimiter == " " and not cell)
        return f"{mark}{cell}{mark}" if is_quoted else cell

    lines = [delimiter.join(map(quoted, row)) for row in rows]
    more = [name for name in ODDITIES if chance.random() < 0.1]
    units = delimiter.join(chance.choice(["kg", "m", "EUR", ""]) for _ in rows[0])
    if header and "units" in more:
        lines.insert(1, units)
    if "index" in more:
        lines = [f"{i if i or not header else ''}{delimiter}{line}" for i, line in enumerate(lines)]
    above = {
        "title": ["Measured by us in 2020", ""],
        "comment": ["# made: 2020", "# by us"],
        "sep": [f"sep={delimiter}"],
    }
    lines[:0] = [line for name, own in above.items() if name in more for line in own]
    if "spaces" in more and delimiter in ",;|":
        lines = [line.replace(delimiter, f"{delimiter} ") for line in lines]
    lines += [delimiter.join(["Total", *rows[-1][1:]])] * ("end" in more) + ["", ""] * ("blank" in more)
    text = ("\r\n" if "crlf" in more else "\n").join(lines) + "\n"
    encoding, pack = chance.choice(ENCODINGS), chance.choice(["", "", "", "", "gz", "bz2", "xz"])
    names = "" if header else " no names"
    said = f"csv {delimiter!r} {decimal} {quotes} {encoding} {pack} {' '.join(more)}{names}".replace("  ", " ")
    return PACKERS[pack](text.encode(encoding, "replace")), said


def arff(frame):
    names = {name: sorted(set(own) - {"", "?"}) for name, own in frame.items()}
    kinds = {
        n: "numeric" if typed(frame)[n].dtype.kind in "if" else "{" + ",".join(f"'{v}'" for v in names[n]) + "}"
        for n in frame
    }
    rows = [
        ",".join("?" if v in ("", "?") else v if kinds[n] == "numeric" else f"'{v}'" for n, v in row.items())
        for row in frame.to_dict("records")
    ]
    return "\n".join(
        ["% made by us", "@relation us", *(f"@attribute '{n}' {kind}" for n, kind in kinds.items()), "@data", *rows]
    ).encode()


SIGNS = [("+1", "-1"), ("+1", "-1", "0"), ("1", "2", "3"), ("0.5", "1.5", "2.75"), ("-1", "0", "1", "2")]


def sparse(frame, chance):
    X = np.nan_to_num(typed(frame).select_dtypes("number").to_numpy(dtype=float)[:, :6])
    y, first = chance.choice(SIGNS), chance.choice([0, 1])
    more, lines = chance.choice(["", "", " qid:{i}", " # row {i}"]), []
    for i, row in enumerate(X):
        words, own = " ".join(f"{j + first}:{v:g}" for j, v in enumerate(row) if v), more.format(i=i)
        lines.append(f"{y[i % len(y)]}{own * ('qid' in more)} {words}{own * ('#' in more)}")
    return ("\n".join(lines) + "\n").encode()


def arrays(frame, chance):
    X, to = typed(frame).select_dtypes("number").to_numpy(dtype=chance.choice(["f4", "f8"])), io.BytesIO()
    y = np.resize(chance.choice([[0, 1], [-1, 0, 1], [1.5, 2.5, 3.5], ["a", "b", "c"]]), len(X))
    np.savez(
        to,
        X=X if X.size else np.ones((len(frame), 2)),
        **{
            chance.choice(["y", "y", "labels"]): y,
            chance.choice(["note", "when"]): np.arange(chance.choice([len(X), 3])),
        },
    )
    return to.getvalue()


def packed(write):
    to = io.BytesIO()
    write(to)
    return to.getvalue()


WRITERS = {
    "arff": lambda frame, _: arff(frame),
    "svm": sparse,
    "npz": arrays,
    "xlsx": lambda frame, chance: packed(partial(typed(frame).to_excel, index=chance.random() < 0.5)),
    "parquet": lambda frame, chance: packed(partial(typed(frame).to_parquet, index=chance.random() < 0.5)),
    "orc": lambda frame, _: packed(partial(typed(frame).to_orc, index=False)),
    "feather": lambda frame, _: packed(typed(frame).to_feather),
    "json": lambda frame, chance: typed(frame).to_json(orient="records", lines=chance.random() < 0.5).encode(),
}
TEXT_ROLES = ("category", "text", "index", "ignore", "date", "date d/m/y", "number 1.234,5", "number 1,234.5")
TEXT_ROLES += ("label", "pair")


def asked(frame, chance, label):
    """Return unusual options of a recipe."""
    names = [*frame.columns]
    labels = [*map(str, frame.iloc[:, names.index(label)])] if label in names else ["a"]
    other, different = [name for name in names if name != label] or names, sorted(set(labels))
    every = {
        "target": label,
        "features": chance.sample(other, max(1, len(other) - 1)),
        "drop": [chance.choice(other)],
        "missing": chance.choice(["median", "most frequent", "drop"]),
        "bins": chance.choice([2, 3, 7]),
        "positive": chance.choice(labels),
        "order": tuple(chance.sample(different, len(different))) if len(different) < 9 else ("x",),
        "unlabeled": chance.choice(["none", "auto", *labels[:3]]),
        "missing_words": chance.choice([("-9", "n.a."), ("missing", "red"), ("0",)]),
        "text_dimensions": chance.choice([1, 3, 7]),
        "roles": {chance.choice(other): chance.choice(TEXT_ROLES)},
        "is_asked": True,
    }
    return {name: value for name, value in every.items() if chance.random() < (0.5 if name == "target" else 0.13)}
