"""A comparison as one HTML file, which needs no other file and no network, with its curves, and as a table of text."""

from __future__ import annotations

import math
from html import escape

import pandas as pd

from dsgcore import __version__
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
    c, title = comparison, f"Which method suits {comparison.name}?"
    figure = curve_figure(c.curves, _axis(c), c.most)
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>',
        f"<h1>{escape(title)}</h1>",
        f'<p class="verdict">{escape(c.verdict.sentence)}</p>',
        *(f"<p>{escape(sentence)}</p>" for sentence in c.warnings),
        f"<h2>Ranked methods</h2><p>{escape(setting_of(c))}</p>",
        f'<div class="wide">{shown_table(c).to_html(index=False, border=0, justify="inherit")}</div>',
        f"<p>{escape(explanation_of(c))}</p>",
        *([f"<h2>How many labels would you need?</h2>{figure}", f"<p>{escape(BANDS)}</p>"] if figure else []),
        f"<footer><p>Made by DSG Lab {__version__}.</p></footer></body></html>\n",
    ]
    return "\n".join(parts)


BANDS = (
    "The bands are 95 % intervals of the mean over the seeds, at each number of labels for all methods at once. A method "
    "without a band has fewer than three seeds there."
)
_COLUMNS = ("its 95 % interval", "difference", "95 % interval", "won / tied / lost", "seeds", "seconds", "MB", "note")


def _axis(comparison: Comparison) -> str:
    return f"{comparison.score.title}{', %' if comparison.score.unit == 'points' else ''}"


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
    if not c.ranking:
        return "No method has a rank yet." if c.is_going else "No method has a rank."
    means = f"means over the {n} seeds that all ranked methods share, each with its own 95 % interval"
    means, interval = (means, ", with its 95 % interval") if n > 1 else ("those of one seed", "")
    cut = "" if c.is_complete or c.is_going else " The time was over before all seeds were done."
    few = (
        " A method with too few seeds has no rank, and its difference is over the seeds that it has."
        if c.unranked
        else ""
    )
    return (
        f"Scores are {means}.{few} The difference is to the best method, in "
        f"{c.score.unit}{interval}. {c.interval_sentence} Wins, ties and losses count seeds against the best "
        f"method. Time and memory are those of one fit on one core.{cut}"
    )


def shown_table(comparison: Comparison) -> pd.DataFrame:
    """Return the ranked table as text that is ready to print."""
    rows, plain, signed = list[list[str]](), comparison.score.plain, comparison.score.signed
    for _, row in comparison.table.iterrows():
        if not row["seeds"]:
            rows.append(["", row["method"], *[""] * 6, "0", "", "", row["note"]])
            continue
        rank = "" if pd.isna(row["rank"]) else str(row["rank"])
        own = "" if math.isnan(row["score_low"]) else f"{plain(row['score_low'])} to {plain(row['score_high'])}"
        gain = "" if rank == "1" or math.isnan(row["difference"]) else signed(row["difference"])
        interval = "" if math.isnan(row["low"]) else f"{signed(row['low'])} to {signed(row['high'])}"
        counts = "" if rank == "1" else f"{row['wins']:.0f} / {row['ties']:.0f} / {row['losses']:.0f}"
        took = str(row["seeds"]), f"{row['seconds']:.2g}", f"{row['megabytes']:.0f}", row["note"]
        score = plain(row["score"]) if rank else ""
        rows.append([rank, row["method"], row["unlabeled"], score, own, gain, interval, counts, *took])
    return pd.DataFrame(rows, columns=["", "method", "unlabeled", _axis(comparison), *_COLUMNS])


def text_of(comparison: Comparison) -> str:
    """Return the verdict, and the ranked table in plain text."""
    c, table = comparison, shown_table(comparison).to_string(index=False, justify="left")
    return "\n".join([c.verdict.sentence, *c.warnings, "", setting_of(c), "", table, "", explanation_of(c)])


# Colours that colour-blind readers can tell apart (Okabe and Ito), and a dash for each line.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 380, 64, 540, 16, 334


def curve_figure(curves: pd.DataFrame, score: str, most: float = math.inf) -> str:
    """Return an SVG of the methods that have scores at several numbers of labels; an empty text without such methods.

    `curves` are `Comparison.curves`, and `score` is the title of the vertical axis, which ends at the highest possible score.
    """
    lines = [(name, rows) for name, rows in curves.groupby("method", sort=False) if len(rows) > 1][: len(COLOURS)]
    if not lines:
        return ""
    data = pd.concat([rows for _, rows in lines])
    # Wide bands of few seeds would flatten the curves, so the bands may leave the frame.
    low, high = float(data["score"].min()), float(data["score"].max())
    margin = 0.15 * (high - low) or 1.0
    low, high = max(low - margin, 0.0), min(high + margin, most)
    fewest, widest = math.log(data["labels"].min()), math.log(data["labels"].max())
    step = 10.0 ** math.floor(math.log10((high - low) / 2.0))  # some three to eight round numbers
    step *= next((times for times in (5.0, 2.0) if (high - low) / (step * times) >= 3.0), 1.0)
    ticks = [round(i * step, 10) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]

    def x(labels: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (math.log(labels) - fewest) / (widest - fewest), 1)

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low), 1)

    def points(rows: pd.DataFrame, column: str) -> list[str]:
        pairs = zip(rows["labels"], rows[column], strict=True)
        return [f"{x(n)},{min(max(y(value), TOP), BOTTOM)}" for n, value in pairs]

    def text(x: float, y: float, said: str, anchor: str = "middle") -> str:
        return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(said)}</text>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" '
        f'role="img" aria-label="{escape(score)} over the number of labels">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *(text(x(n), BOTTOM + 18, f"{n:,}") for n in sorted(set(data["labels"]))),
        *(text(LEFT - 8, y(value) + 4, f"{value:g}", "end") for value in ticks),
        *(f'<path d="M{LEFT},{y(value)}H{RIGHT}" stroke="#ddd"/>' for value in ticks),
        text((LEFT + RIGHT) / 2, HEIGHT - 8, "labels"),
        f'<g transform="translate(14 {(TOP + BOTTOM) / 2}) rotate(-90)">{text(0, 0, score)}</g>',
    ]
    for place, ((name, rows), colour, dash) in enumerate(zip(lines, COLOURS, DASHES, strict=False)):
        style, top = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"', TOP + 12 + 22 * place
        band = rows[rows["low"].notna()]
        if len(band) > 1:
            corners = " ".join([*points(band, "high"), *points(band, "low")[::-1]])
            parts.append(f'<polygon points="{corners}" fill="{colour}" opacity="0.12"/>')
        parts.append(f'<polyline points="{" ".join(points(rows, "score"))}" fill="none" {style}/>')
        parts.append(f'<path d="M{RIGHT + 14},{top}h30" {style}/>{text(RIGHT + 50, top + 4, str(name), "start")}')
    return "\n".join([*parts, "</svg>"])
