"""The pictures that are kept as SVG: of the settings on the home page, of glossary terms, and of the page on parameters.

`python .ci/pictures.py settings terms parameters` draws them again, or some of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.core.sampling import batches
from dsgcore.experiments import SETTINGS, Plane, Run, Spec, Surface, default_spec
from dsgcore.glossary import TOPICS
from dsgcore.kernels import Gaussian, block_frequencies
from dsgcore.kernels.features import Cosines
from dsgcore.problems.thresholds import thresholds
from dsgcore.settings import profile_of
from dsgcore.solver.problem import Problem
from pages.charts import figures as charts
from pages.charts import run_map
from pages.charts.figures import INK, NEGATIVE, POSITIVE, UNLABELED, ordered_colors
from pages.charts.run_map import class_color
from pages.gallery.gallery import CURRENT_COLOR, file_of

# --- a small picture of a run: its points, its labels, and the learned regions

MAX_UNLABELED, MAX_LABELED, MAX_PAIRS = 260, 60, 16
SHADES = 5  # on each side of a boundary
DEEPEST = 0.55
GRID = 96


@dataclass(frozen=True)
class Sheet:
    """The size of a picture and of its cells, in pixels."""

    width: int
    height: int
    cell: int = 3  # side of a cell of the learned regions


def svg(parts: Sequence[str], width: int, height: int, more: str = "") -> str:
    """Return a picture of these parts, with more attributes."""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"{more}'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "\n".join(parts) + "\n</svg>\n"


def learned(run: Run, plane: Plane, sheet: Sheet) -> list[str]:
    """Return the learned regions: a path for each shade, with its cells row by row."""
    cells, shades = _shades(run, plane, sheet)
    paths, side = [""] * len(shades), sheet.cell
    for row, values in enumerate(cells):
        x = 0
        for shade, same in groupby(values.tolist()):
            width = side * len(list(same))
            paths[shade] += f"M{x} {side * row}h{width}v{side}h-{width}z"
            x += width
    drawn = zip(paths, shades, strict=True)
    return [f'<path d="{path}" fill="{color}" opacity="{depth:.2f}"/>' for path, (color, depth) in drawn if path]


def _shades(run: Run, plane: Plane, sheet: Sheet) -> tuple[NDArray, list[tuple[str, float]]]:
    """Return the number of each cell's shade, from the upper left, and each shade's colour and opacity."""
    labels, k = run.problem.labels, len(run.split.class_names)
    if labels == "classes":
        winner = run.model.evaluate(plane.grid(GRID)).argmax(axis=-1)
        return _cells(winner, sheet), [(run_map.class_color(label, k), 0.35) for label in range(k)]
    f = Surface(plane.grid(GRID), run.model).values(run.model).astype(float)
    if labels == "ordinal":
        shares = np.cumsum(np.bincount(run.split.y_hidden, minlength=k))[:-1] / len(run.split.y_hidden)
        cuts = np.quantile(run.test_values, shares)
        return _cells(np.searchsorted(cuts, f), sheet), [(color, 0.4) for color in charts.ordered_colors(k)]
    f -= 0.0 if run.problem.decision == "sign" else float(np.median(run.test_values))
    steps = np.clip(np.floor(f / np.quantile(np.abs(f), 0.9) * SHADES), -SHADES, SHADES - 1).astype(int)
    depth = [DEEPEST * (i + 1) / SHADES for i in range(SHADES)]
    shades = [(charts.NEGATIVE, d) for d in reversed(depth)] + [(charts.POSITIVE, d) for d in depth]
    return _cells(steps + SHADES, sheet), shades


def _cells(values: NDArray, sheet: Sheet) -> NDArray:
    """Return the values of a square grid at the picture's cells, row by row from the top."""
    rows, columns = sheet.height // sheet.cell, sheet.width // sheet.cell
    grid = values.reshape(GRID, GRID)[::-1]
    return grid[np.linspace(0, GRID - 1, rows).round().astype(int)][
        :, np.linspace(0, GRID - 1, columns).round().astype(int)
    ]


def points(run: Run, plane: Plane, sheet: Sheet) -> list[str]:
    """Return the unlabeled points as small grey dots, and the labels: classes, or pairs joined by a line."""
    xy, y = plane.project(run.split.X_train), run.split.y_train
    placed = (xy - plane.low) / (plane.high - plane.low) * [sheet.width, -sheet.height] + [0, sheet.height]
    grey = placed[y < 0][:MAX_UNLABELED]
    path = "".join(f"M{a:.0f} {b:.0f}h0" for a, b in grey)
    dots = f'<path d="{path}" stroke="{charts.UNLABELED}" stroke-width="3" stroke-linecap="round" opacity="0.75"/>'
    told: list[str] = (_pairs if run.problem.labels == "pairs" else _classes)(run, placed, y)
    return [dots, *told]


def _pairs(run: Run, xy: NDArray, y: NDArray) -> list[str]:
    members = np.flatnonzero(y >= 0)
    pairs = members[np.argsort(y[members], kind="stable")].reshape(-1, 2)
    pairs = pairs[:: -(-len(pairs) // MAX_PAIRS)]
    path = "".join(f"M{a:.0f} {b:.0f}L{c:.0f} {d:.0f}" for a, b, c, d in xy[pairs].reshape(-1, 4))
    line = f'<path d="{path}" stroke="{charts.PREDICTED}" stroke-width="1.2"/>'
    return [line, *(_mark("diamond", a, b, charts.PREDICTED) for a, b in xy[pairs.ravel()])]


def _classes(run: Run, xy: NDArray, y: NDArray) -> list[str]:
    k = len(run.split.class_names)
    ranks: Any = charts.ordered_colors(k) if run.problem.labels == "ordinal" else None
    labeled = np.flatnonzero(y >= 0)[:MAX_LABELED]
    return [
        _mark(run_map.class_symbol(label, k), a, b, ranks[label] if ranks else run_map.class_color(label, k))
        for (a, b), label in zip(xy[labeled], y[labeled].tolist(), strict=True)
    ]


_OUTLINES = {
    "circle": "M{x} {y}m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
    "triangle-up": "M{x} {y}m0 -5.5l5 9h-10z",
    "square": "M{x} {y}m-4 -4h8v8h-8z",
    "diamond": "M{x} {y}m0 -5l5 5l-5 5l-5 -5z",
}


def _mark(symbol: str, x: float, y: float, color: str) -> str:
    outline = _OUTLINES.get(symbol, _OUTLINES["circle"]).format(x=f"{x:.0f}", y=f"{y:.0f}")
    return f'<path d="{outline}" fill="{color}" stroke="#FFFFFF" stroke-width="1"/>'


# --- of the settings: what the first lesson of each learns, at a few iterations

CARD = Sheet(360, 330, cell=5)
FRAMES, SECONDS = 6, 1.2
MOVING = """
g {opacity: 0; animation: shown %gs infinite}
@keyframes shown {0%%, %g%% {opacity: 1} %g%%, 100%% {opacity: 0}}
"""


def first_lesson(setting: str) -> Spec:
    """Return the spec of a setting's first lesson."""
    plain = default_spec(setting).to_dict()
    values = dict(lessons[0].values) if (lessons := profile_of(SETTINGS[setting]).lessons) else {}
    if "data" in values:  # another set has its own options
        kept = values.keys() & plain["data"].keys()
        plain["data"] = {"name": values.pop("data"), **{name: values.pop(name) for name in kept}}
    for name, value in values.items():
        next(section for section in plain.values() if isinstance(section, dict) and name in section)[name] = value
    return Spec.from_dict(plain)


def of_setting(setting: str) -> str:
    """Run a setting's first lesson, and draw what it has learned at some iterations, one after the other."""
    run = Run(first_lesson(setting))
    run.advance(run.n_iter)
    plane, share = Plane.through(run.split.X_train), 100 / FRAMES
    parts = [f"<style>{MOVING % (FRAMES * SECONDS, share, share + 0.01)}</style>"]
    for number, t in enumerate(np.geomspace(1, run.t, FRAMES).round().astype(int).tolist()):
        frame = learned(run.at(t), plane, CARD)
        parts += [f'<g style="animation-delay:{number * SECONDS:g}s">', *frame, "</g>"]
    return svg([*parts, *points(run, plane, CARD)], CARD.width, CARD.height)


# --- of glossary terms, from kernels and short runs

SIZE, MARGIN = (280, 96), 10
LINE = np.linspace(-3.0, 3.0, 121)
STYLES = ((POSITIVE, "none"), (NEGATIVE, "7 3"), (UNLABELED, "2 3"))


def _place(x: ArrayLike, y: ArrayLike, low: ArrayLike, high: ArrayLike) -> NDArray:
    """Return the places (n, 2) of values in a picture, in pixels; `low` and `high` are its smallest and largest x and y."""
    share = (np.stack(np.broadcast_arrays(x, y), axis=-1) - low) / np.subtract(high, low)
    return MARGIN + np.stack([share[..., 0], 1 - share[..., 1]], axis=-1) * (np.array(SIZE) - 2 * MARGIN)


def _curve(places: NDArray, color: str, dash: str = "none") -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>'


def _dots(places: NDArray, color: str, size: int, opacity: float = 1.0) -> str:
    path = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in places.reshape(-1, 2))
    return f'<path d="{path}" stroke="{color}" stroke-width="{size}" stroke-linecap="round" opacity="{opacity}"/>'


def _text(x: float, y: float, said: str, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="12" text-anchor="{anchor}" fill="{CURRENT_COLOR}">{escape(said)}</text>'


@cache
def _run(setting: str) -> Run:
    run = Run(default_spec(setting))
    run.advance(run.n_iter)
    return run


def _bump(sigma: float) -> NDArray:
    return _place(LINE, Gaussian(sigma).matrix(LINE[:, None], np.zeros((1, 1)))[:, 0], (-3, 0), (3, 1))


def _kernel() -> list[str]:
    words = [_text(174, 24, "similarity to x"), _text(148, 80, "x")]
    return [_curve(_bump(1.0), POSITIVE), _dots(np.array([140, 86]), CURRENT_COLOR, 7), *words]


def _bandwidths() -> list[str]:
    curves = [_curve(_bump(sigma), *style) for sigma, style in zip((0.2, 1.0, 6.0), STYLES, strict=True)]
    # Each number stands within its bump.
    return [*curves, *(_text(x, 80, said, "middle") for x, said in ((140, "σ = 6"), (181, "1"), (236, "0.2")))]


def _waves() -> list[str]:
    W = block_frequencies(Gaussian(1.0), 1, 1, 1, len(STYLES), np.dtype(np.float32))
    X, parts = LINE[:, None].astype(np.float32), []
    for number, style in enumerate(STYLES):
        block, wave = np.array([[1], [0.25 * number]], np.float32), np.zeros(len(X), np.float32)
        Cosines().evaluate(X, np.ascontiguousarray(W[:, number : number + 1]), block, 0.0, wave)
        parts.append(_curve(_place(LINE, wave, (-3, -1), (3, 1)), *style))
    return parts


def _points(rows: dict[str, NDArray], size: int) -> list[str]:
    """Return the points of a run in grey, and larger ones in these rows, by colour."""
    X = _run("auc").split.X_train
    ends = X.min(axis=0), X.max(axis=0)
    marked = [_dots(_place(X[one, 0], X[one, 1], *ends), color, size) for color, one in rows.items()]
    return [_dots(_place(X[::2, 0], X[::2, 1], *ends), UNLABELED, 4, 0.7), *marked]


def _unlabeled() -> list[str]:
    y = _run("auc").split.y_train
    return _points({NEGATIVE: np.flatnonzero(y == 0), POSITIVE: np.flatnonzero(y == 1)}, 9)


def _mini_batch() -> list[str]:
    run = _run("auc")
    rows = cast(Problem, run.problem).rows(run.split.y_train)
    drawn = batches(run.spec.seed, 1, rows, 6)
    return _points({CURRENT_COLOR: np.concatenate(list(drawn.values()))}, 8)


def _auc() -> list[str]:
    f, y, said = _run("auc").test_values, _run("auc").split.y_test, f"AUC {_run('auc').result_score:.2f}"
    ends = (f.min(), -0.4), (f.max(), 2.2)
    lines = [_dots(_place(f[y == k], k, *ends), color, 7) for k, color in enumerate((NEGATIVE, POSITIVE))]
    return [*lines, _text(MARGIN, 20, said), _text(SIZE[0] - MARGIN, 94, "score", "end")]


def _thresholds() -> list[str]:
    split, f, k = _run("ordinal").split, _run("ordinal").test_values, len(_run("ordinal").split.class_names)
    ends = (f.min(), -0.6), (f.max(), k + 0.2)
    parts = [_dots(_place(f[split.y_test == c], c, *ends), color, 6) for c, color in enumerate(ordered_colors(k))]
    cuts = thresholds(split.y_train[split.y_train >= 0], _run("ordinal").labeled_values, margin=0.0)
    for j, cut in enumerate(cuts, start=1):
        line = _place(cut, [-0.6, k - 0.4], *ends)
        parts += [_curve(line, CURRENT_COLOR, "4 3"), _text(line[1, 0], line[1, 1] - 3, f"b{j}", "middle")]
    return parts


def _margin() -> list[str]:
    ranked = np.sort(_run("multiclass").test_values, axis=1)[:, ::-1]
    row = np.argsort(ranked[:, 0] - ranked[:, 1])[len(ranked) // 3]
    ends, parts = (ranked[row].min(), 0), []
    best = np.argsort(_run("multiclass").test_values[row])[::-1][:3]
    high = (ranked[row, 0], 3)
    for place, c in enumerate(best.tolist()):
        (x0, y), (x1, _) = _place([ends[0], ranked[row, place]], 2.5 - place, ends, high)
        parts.append(f'<path d="M{x0:.0f} {y:.0f}H{x1:.0f}" stroke="{class_color(c)}" stroke-width="18"/>')
    gap = _place(ranked[row, [1, 0]], 1.5, ends, high)
    return [*parts, _curve(gap, CURRENT_COLOR), _text(gap[:, 0].mean(), gap[0, 1] + 18, "margin", "middle")]


PICTURES = {
    "unlabeled": (_unlabeled, "A few points with a label in colour, among many grey points without."),
    "mini-batch": (_mini_batch, "All points in grey, and the few points of a random mini-batch in bold."),
    "kernel": (_kernel, "A bump: the similarity to a point x is 1 at x and fades with distance."),
    "inverse bandwidth": (_bandwidths, "Three bumps: the larger the inverse bandwidth, the narrower the bump."),
    "random feature": (_waves, "Three random features: waves with random frequencies."),
    "AUC": (_auc, "Scores of negative test points on one line, and of positive ones on another."),
    "threshold": (
        _thresholds,
        "Scores of ordered classes, a line for each class, and the thresholds between neighbours.",
    ),
    "margin": (_margin, "Bars for the three highest scores of a point. The margin is the gap between the first two."),
}


def of_term(name: str) -> str:
    """Draw the picture of a term. The page sets the colour of its text."""
    draw, alt = PICTURES[name]
    return svg(draw(), *SIZE, f' role="img" aria-label="{escape(alt)}"')


# --- of parameters: the same run with three values of one parameter, side by side

FOLDER = Path(__file__).parents[1] / ".github" / "docs" / "pictures"
MAP, GAP, LINE_OF_TEXT = Sheet(260, 200, cell=4), 12, 24
MOONS = {"setting": "s3vm", "data": {"name": "two_moons", "n_labeled": 6, "noise": 0.1}}
NOISY = {
    "setting": "supervised",
    "data": {"name": "two_moons", "n_labeled": 60, "noise": 0.2, "label_noise": 0.2},
    "kernel": {"sigma": 20.0},
    "solver": {"step_size": "auto", "n_iter": 1000},
}
RINGS = {"setting": "auc", "data": {"name": "circles", "n_labeled": 10}}
# A spec, the section and the name of a parameter, its sign, and three values.
PARAMETERS: dict[str, tuple[dict[str, Any], str, str, str, tuple[float, float, float]]] = {
    "bandwidth": (MOONS, "kernel", "sigma", "σ", (1.0, 50.0, 2000.0)),
    "features": ({**MOONS, "solver": {"n_iter": 30}}, "solver", "n_features", "m", (1, 16, 256)),
    "regularisation": (NOISY, "solver", "lam", "λ", (1e-6, 0.01, 1.0)),
    "gamma": (RINGS, "problem", "gamma", "γ", (0.0, 0.5, 1.0)),
}


def runs(name: str) -> list[tuple[str, Run]]:
    """Carry out a parameter's three runs; return each with the words above its map."""
    plain, section, field, sign, values = PARAMETERS[name]
    made = []
    for value in values:
        run = Run(Spec.from_dict({**plain, section: {**plain.get(section, {}), field: value}}))
        run.advance()
        made.append((f"{sign} = {value:g}: {run.problem.score_name} {run.result_score:.2f}", run))
    return made


def of_parameter(name: str) -> str:
    """Draw the maps of a parameter's runs side by side."""
    width, height = 3 * MAP.width + 2 * GAP, MAP.height + LINE_OF_TEXT
    parts = [f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>']
    for number, (said, run) in enumerate(runs(name)):
        x, plane = number * (MAP.width + GAP), Plane.through(run.split.X_train)
        own = svg([*learned(run, plane, MAP), *points(run, plane, MAP)], MAP.width, MAP.height)
        text = f'font-family="sans-serif" font-size="14" fill="{INK["light"]}"'
        parts += [
            f'<text x="{x}" y="16" {text}>{escape(said)}</text>',
            own.replace("<svg ", f'<svg x="{x}" y="{LINE_OF_TEXT}" ', 1),
        ]
    return svg(parts, width, height)


def main() -> None:
    """Draw the pictures that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["settings", "terms", "parameters"])
    asked = parser.parse_args().what
    if "settings" in asked:
        for setting in SETTINGS:
            file_of(setting).write_text(of_setting(setting), encoding="utf-8")
    if "terms" in asked:
        for term in (term for topic in TOPICS for term in topic.terms if term.name in PICTURES):
            file_of(f"term-{term.anchor}").write_text(of_term(term.name), encoding="utf-8")
    if "parameters" in asked:
        for name in PARAMETERS:
            (FOLDER / f"{name}.svg").write_text(of_parameter(name), encoding="utf-8")


if __name__ == "__main__":
    main()
