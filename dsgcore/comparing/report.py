"""A comparison as one HTML file, which needs no other file and no network, and as a table of text."""

from __future__ import annotations

import math
from html import escape

import pandas as pd

from dsgcore import __version__
from dsgcore.comparing.curve_figure import curve_figure
from dsgcore.comparing.methods import Score
from dsgcore.comparing.result import Comparison

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; font-size: .9rem }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
td:nth-child(2), th:nth-child(2), td:last-child, th:last-child { text-align: left }
.verdict { font-size: 1.25rem; border-left: .3rem solid #0072b2; padding-left: 1rem } .wide { overflow-x: auto }
"""


def html_of(comparison: Comparison) -> str:
    """Return the report as the text of one HTML file."""
    title = f"Which method suits {comparison.name}?"
    figure = curve_figure(comparison.curves, _axis(comparison), comparison.most)
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>',
        f"<h1>{escape(title)}</h1>",
        f'<p class="verdict">{escape(comparison.verdict.sentence)}</p>',
        f"<h2>Ranked methods</h2><p>{escape(setting_of(comparison))}</p>",
        f'<div class="wide">{_table(shown_table(comparison))}</div>',
        f"<p>{escape(explanation_of(comparison))}</p>",
        *([f"<h2>How many labels would you need?</h2>{figure}", f"<p>{escape(BANDS)}</p>"] if figure else []),
        f"<footer><p>Made by DSG Lab {__version__}.</p></footer></body></html>\n",
    ]
    return "\n".join(parts)


BANDS = (
    "The bands are 95 % intervals of the mean over the seeds. A method without a band has fewer than three seeds there."
)


def _axis(comparison: Comparison) -> str:
    percent = ", %" if comparison.score.unit == "points" else ""
    return f"{comparison.score.title}{percent}"


def setting_of(comparison: Comparison) -> str:
    """Return a sentence with the sizes of the training and test sets."""
    c = comparison
    return (
        f"Each seed draws {c.n_labeled:,} labels and {c.n_train - c.n_labeled:,} unlabeled points to learn from, and "
        f"{c.n_test:,} other points for testing. All methods get the same points and their default parameters."
    )


def explanation_of(comparison: Comparison) -> str:
    """Return the meaning of the table's columns."""
    c, n = comparison, len(comparison.seeds)
    over = f"the {n} seeds that all ranked methods share" if n > 1 else "one seed"
    cut = "" if c.is_complete or c.is_going else " The time was over before all seeds were done."
    few = (
        " A method with too few seeds has no rank, and its difference is over the seeds that it has."
        if c.unranked
        else ""
    )
    return (
        f"Scores are means over {over}.{few} The difference is to the best method, in {c.score.unit}, with its 95 % interval. "
        f"{c.interval_sentence} Wins, ties and losses count seeds against the best method. "
        f"Time and memory are those of one fit on one core.{cut}"
    )


def shown_table(comparison: Comparison) -> pd.DataFrame:
    """Return the ranked table as text that is ready to print."""
    rows = [_row(row, comparison.score) for _, row in comparison.table.iterrows()]
    return pd.DataFrame(rows, columns=["", "method", "unlabeled", _axis(comparison), *_COLUMNS])


_COLUMNS = ("difference", "95 % interval", "won / tied / lost", "seeds", "seconds", "MB", "note")


def _row(row: pd.Series, score: Score) -> list[str]:
    if not row["seeds"]:
        return ["", row["method"], *[""] * 5, "0", "", "", row["note"]]
    is_ranked = not pd.isna(row["rank"])
    is_best, digits = is_ranked and row["rank"] == 1, 1 if score.unit == "points" else 3
    return [
        str(row["rank"]) if is_ranked else "",
        row["method"],
        row["unlabeled"],
        f"{row['score']:.{digits}f}" if is_ranked else "",
        "" if is_best or math.isnan(row["difference"]) else score.signed(row["difference"]),
        "" if math.isnan(row["low"]) else f"{score.signed(row['low'])} to {score.signed(row['high'])}",
        "" if is_best else f"{row['wins']:.0f} / {row['ties']:.0f} / {row['losses']:.0f}",
        str(row["seeds"]),
        f"{row['seconds']:.2g}",
        f"{row['megabytes']:.0f}",
        row["note"],
    ]


def _table(frame: pd.DataFrame) -> str:
    return frame.to_html(index=False, border=0, escape=True, justify="inherit")


def text_of(comparison: Comparison) -> str:
    """Return the verdict, and the ranked table in plain text."""
    c = comparison
    table = shown_table(c).to_string(index=False, justify="left")
    return "\n".join([c.verdict.sentence, "", setting_of(c), "", table, "", explanation_of(c)])
