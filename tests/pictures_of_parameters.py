"""The pictures of the page about parameters: the same run with three values of one parameter, side by side.

`python tests/pictures_of_parameters.py` draws them again, into `.github/docs/pictures/`.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from run_picture import Sheet, picture_of

from dsgcore.experiments import Run, Spec
from pages.charts.figures import INK

FOLDER = Path(__file__).parents[1] / ".github" / "docs" / "pictures"
MAP, GAP, LINE = Sheet(260, 200, cell=4), 12, 24
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


def drawn(name: str) -> str:
    """Draw the maps of a parameter's runs side by side."""
    width, height = 3 * MAP.width + 2 * GAP, MAP.height + LINE
    parts = [f'<rect width="{width}" height="{height}" fill="#FFFFFF"/>']
    for number, (said, run) in enumerate(runs(name)):
        x = number * (MAP.width + GAP)
        parts += [
            f'<text x="{x}" y="16" font-family="sans-serif" font-size="14" fill="{INK["light"]}">{escape(said)}</text>',
            picture_of(run, MAP).replace("<svg ", f'<svg x="{x}" y="{LINE}" ', 1),
        ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    return "\n".join([head, *parts, "</svg>", ""])


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in PARAMETERS:
        (FOLDER / f"{name}.svg").write_text(drawn(name), encoding="utf-8")
