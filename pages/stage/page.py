"""The page of a setting: a lesson on the stage, or the workbench. Both show the same run, under the same link."""

from __future__ import annotations

from dsgcore.experiments import SETTINGS
from pages.stage.stage import stage
from pages.workbench.opening import bench_of, hold_of
from pages.workbench.page import workbench


def setting_page(name: str) -> None:
    """Draw the page of the setting `name`."""
    with hold_of(name).taken():
        problem = SETTINGS[name]
        bench = bench_of(problem)
        draw = workbench if bench.lesson.place is None else stage
        draw(problem, bench)
