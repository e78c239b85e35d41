"""Small pictures of glossary terms, as SVG from kernels and short runs. The page sets the colour of the text.

They are files, like the pictures of the settings. `python tests/pictures_of_terms.py` draws them again.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsgcore.core.sampling import batches
from dsgcore.experiments import Run, default_spec
from dsgcore.glossary import TOPICS
from dsgcore.kernels import Gaussian, block_frequencies
from dsgcore.kernels.features import evaluate
from dsgcore.problems.thresholds import thresholds
from dsgcore.solver.problem import Problem
from pages.charts.figures import NEGATIVE, POSITIVE, UNLABELED, ordered_colors
from pages.charts.run_map import class_color
from pages.pictures.kept import CURRENT_COLOR, file_of

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
        evaluate(X, np.ascontiguousarray(W[:, number : number + 1]), block, 0.0, wave)
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


def drawn(name: str) -> str:
    """Draw the picture of a term, as SVG."""
    draw, alt = PICTURES[name]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE[0]}" height="{SIZE[1]}" viewBox="0 0 {SIZE[0]} {SIZE[1]}"'
    return f'{head} role="img" aria-label="{escape(alt)}">\n' + "\n".join(draw()) + "\n</svg>\n"


if __name__ == "__main__":
    for term in (term for topic in TOPICS for term in topic.terms if term.name in PICTURES):
        file_of(f"term-{term.anchor}").write_text(drawn(term.name), encoding="utf-8")
