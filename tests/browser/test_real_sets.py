"""The first run on real sets brought as tables, no control touched, beside what people install on the same labels."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import expect
from sklearn.svm import SVC, SVR

from .test_file_to_verdict import give

sys.path.insert(0, str(Path(__file__).parents[1]))
from real_sets import as_csv

from dsgcore import Spec
from dsgcore.experiments import load_split
from dsgcore.experiments.data_of import FileStore

ROWS = 1000
SCORE = r"""() => {
    const words = document.querySelectorAll('#chart-score .live-chart-word');
    const said = [...words].map(word => /average\s*(\d\.\d+)/.exec(word.textContent)).find(Boolean);
    return said ? Number(said[1]) : null;
}"""
AT_LEAST = f"least => {{ const score = ({SCORE})(); return score !== null && score >= least; }}"
SETS = {"s3vm": ("codrna", "y"), "multiclass": ("pendigits", "y"), "ordinal": ("kin40k", "y5")}


def split_of(setting, name, content, n_labeled):
    """Return the labels that the page hides: its seed and shares are the defaults."""
    files = FileStore()
    data = {"name": "file", "path": name, "sha256": files.add(content), "target": "label", "n_labeled": n_labeled}
    spec = Spec.from_dict({"setting": setting, "data": data})
    return spec.problem, load_split(spec, files=files)


def score_of_peer(setting, split, problem):
    """The score of SVC, or for ordered classes of SVR, with its defaults on the labeled points alone."""
    X, y = split.X_train[split.labeled], split.y_train[split.labeled]
    if setting == "ordinal":
        return problem.score(split.y_test, SVR().fit(X, y).predict(split.X_test))
    return SVC().fit(X, y).score(split.X_test, split.y_test)


def first_run(page, name, content):
    """Give the page a file, wait for the run's end, and return the number of labels that the page says."""
    give(page, name, content)
    expect(page.get_by_test_id("stMain")).to_contain_text(name, timeout=60_000)
    expect(page.locator(".live-status")).to_contain_text(re.compile("done|settled"), timeout=240_000)
    expect(page.locator(".st-key-play")).not_to_contain_text("Pause", timeout=60_000)  # the script has drawn the end
    said = page.get_by_text(re.compile(r"Here: [\d,]+ labels, [\d,]+ unlabeled points")).first.text_content()
    return int(re.search(r"Here: ([\d,]+) labels", said)[1].replace(",", ""))


@pytest.mark.weekly
@pytest.mark.parametrize("setting", SETS)
def test_the_first_run_on_a_real_set_is_at_least_as_good_as_svc(setting, open_page, page_health):
    name, label = SETS[setting]
    content = as_csv(name, rows=ROWS, label=label)
    page = open_page(f"{setting}?data.name=file&view.speed=instant")
    n_labeled = first_run(page, f"{name}.csv", content)
    problem, split = split_of(setting, f"{name}.csv", content, n_labeled)
    theirs = score_of_peer(setting, split, problem)
    # The script draws the tile's heading, and ticks draw its number: the heading can be a moment late.
    page.wait_for_function(AT_LEAST, arg=round(theirs, 3), timeout=30_000)
    page_health.assert_clean()
