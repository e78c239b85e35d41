"""python tests/benchmarks/average.py: how much nearer to the minimiser the mean of the second half is than the last iterate.

Runs of the three convex settings with the estimators' step, features and batches, over seeds. Writes `average.svg` (medians, on
logarithmic axes) beside this file, and prints the table of `average.md`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dsgcore import Spec
from dsgcore.diagnostics.way import AVERAGE, DISTANCE, ground_of, way
from dsgcore.experiments import default_spec
from dsgcore.experiments.loading import load_split

SETTINGS = {"auc": "AUC", "ordinal": "Ordinal", "similar_unlabeled": "Similar and unlabeled"}
N_ITER, SEEDS, AT = 2000, range(5), (50, 100, 200, 400, 800, 2000)
LINES = {DISTANCE: ("last iterate", "#c2410c", 1.5), AVERAGE: ("mean of the second half", "#1d4ed8", 3.0)}
PANEL, GAP, TOP, DECADES = 250, 60, 60, 6


def usual(setting: str) -> Spec:
    """Return a setting's first spec with the estimators' step and sizes; without corrections, which are not convex."""
    plain = default_spec(setting).to_dict()
    plain["solver"] |= {"step_size": None, "n_features": 64, "batch_size": 64, "n_iter": N_ITER, "lam": 0.01}
    plain["problem"] |= {"correction": "identity"} if "correction" in plain["problem"] else {}
    return Spec.from_dict(plain)


def ways(setting: str) -> dict[str, NDArray]:
    """Return the medians over the seeds of both squared distances, as parts of the mean of f*^2, and t."""
    spec = usual(setting)
    split = load_split(spec)
    ground = ground_of(spec, split)
    each = [way(replace(spec, seed=seed), split, ground) for seed in SEEDS]
    return {"t": each[0]["t"], **{name: np.median([w[name] / w["scale"] for w in each], axis=0) for name in LINES}}


def panel(title: str, found: dict[str, NDArray], place: int) -> list[str]:
    """Return one setting's axes and lines: a decade of t is a third of the width, one of the distance a sixth of the height."""
    left = GAP + place * (PANEL + GAP)

    def x(t: NDArray | float) -> NDArray:
        return left + np.log10(t) / np.log10(N_ITER) * PANEL

    def y(part: NDArray | float) -> NDArray:
        return TOP - np.log10(part) / DECADES * PANEL

    lines = [f'<text x="{left}" y="{TOP - 12}" font-weight="bold">{title}</text>']
    for decade in range(DECADES + 1):
        level = float(y(10.0**-decade))
        lines.append(f'<line x1="{left}" x2="{left + PANEL}" y1="{level:.1f}" y2="{level:.1f}" stroke="#ddd"/>')
        lines.append(
            f'<text x="{left - 6}" y="{level + 4:.1f}" text-anchor="end" font-size="11">{10.0**-decade:g}</text>'
        )
    for t in (1, 10, 100, 1000):
        lines.append(f'<text x="{x(t):.1f}" y="{TOP + PANEL + 16}" text-anchor="middle" font-size="11">{t:,}</text>')
    for name, (_, color, width) in LINES.items():
        points = " ".join(
            f"{a:.1f},{b:.1f}" for a, b in zip(x(found["t"]), y(np.clip(found[name], 10.0**-DECADES, 1.0)), strict=True)
        )
        lines.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="{width}"/>')
    return lines


def drawing(found: dict[str, dict[str, NDArray]]) -> str:
    """Return the figure as SVG."""
    width, height = GAP + len(found) * (PANEL + GAP), TOP + PANEL + 50
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{GAP}" y="20">Mean squared distance to f*, in parts of the mean of f*², by iteration (log. axes): ',
    ]
    lines += [f'<tspan fill="{color}"> ▬ {words}</tspan>' for words, color, _ in LINES.values()] + ["</text>"]
    for place, (setting, ways_found) in enumerate(found.items()):
        lines += panel(SETTINGS[setting], ways_found, place)
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    """Draw, and print the table."""
    found = {setting: ways(setting) for setting in SETTINGS}
    Path(__file__).with_suffix(".svg").write_text(drawing(found), encoding="utf-8")
    print(f"| setting | {' | '.join(f't = {t:,}' for t in AT)} |\n{'|---' * (len(AT) + 1)}|")
    for setting, of in found.items():
        nearest = [int(np.argmin(np.abs(np.log(of["t"] / t)))) for t in AT]
        cells = [f"{of[DISTANCE][i]:.2g} / {of[AVERAGE][i]:.2g}" for i in nearest]
        print(f"| {SETTINGS[setting]} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
