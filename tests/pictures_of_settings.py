"""The moving pictures of the settings on the home page: what the first lesson of each setting learns, at a few iterations.

`python tests/pictures_of_settings.py` draws them again.
"""

from __future__ import annotations

import numpy as np
from run_picture import Sheet, learned, points, svg

from dsgcore.experiments import SETTINGS, Plane, Run, Spec, default_spec
from dsgcore.settings import profile_of
from pages.pictures.kept import file_of

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


def picture(setting: str) -> str:
    """Run a setting's first lesson, and draw what it has learned at some iterations, one after the other."""
    run = Run(first_lesson(setting))
    run.advance(run.n_iter)
    plane, share = Plane.through(run.split.X_train), 100 / FRAMES
    parts = [f"<style>{MOVING % (FRAMES * SECONDS, share, share + 0.01)}</style>"]
    for number, t in enumerate(np.geomspace(1, run.t, FRAMES).round().astype(int).tolist()):
        frame = learned(run.at(t), plane, CARD)
        parts += [f'<g style="animation-delay:{number * SECONDS:g}s">', *frame, "</g>"]
    return svg([*parts, *points(run, plane, CARD)], CARD)


if __name__ == "__main__":
    for setting in SETTINGS:
        file_of(setting).write_text(picture(setting), encoding="utf-8")
