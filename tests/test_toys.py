"""New kinds in one file and one line: a toy of each, in a copy of the project, passes all tests that apply to it.

A generated data set is not even a file: a function in the file of all of them.

In a copy and not in this process, so that what reads the lists when it is imported, and the processes of races, are tested
as they are. The tests are those that run for whatever is registered: they are not written again for the toys.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# The tests take pages and whole runs.
pytestmark = pytest.mark.ci


@dataclass(frozen=True)
class Toy:
    """A file, its place (in an existing file before a line, or else at its end), its list, and the tests that it must pass."""

    file: str
    place: str
    list_file: str
    line: tuple[str, str]  # text, and its replacement
    imported: str
    tests: str
    before: str = ""


TOYS = {
    "problem": Toy(
        "problem.py",
        "dsgcore/problems/toy_problem.py",
        "dsgcore/problems/__init__.py",
        ("SemiSupervisedOrdinal, Supervised)", "SemiSupervisedOrdinal, Supervised, ToyProblem)"),
        "from dsgcore.problems.toy_problem import ToyProblem\n",
        """
        test_problems.py::test_coefficients_are_the_derivatives_of_the_terms
        test_problems.py::test_the_mean_over_all_batches_is_the_full_gradient_and_risk
        test_problems.py::test_the_solver_equals_a_dull_loop
        test_settings.py::test_same_spec_same_bits_however_it_is_advanced
        test_settings.py::test_the_command_line_runs_a_spec
        test_settings.py::test_the_exported_script_gives_the_history_of_the_run
        test_settings.py::test_the_theory_says_what_it_assumes
        test_app.py::test_every_page_runs_at_once_and_has_its_details
        test_app.py::test_a_link_of_every_control_gives_its_spec
        """,
    ),
    "kernel": Toy(
        "kernel.py",
        "dsgcore/kernels/toy.py",
        "dsgcore/kernels/__init__.py",
        ("Matern, DotProduct)", "Matern, DotProduct, ToyKernel)"),
        "from dsgcore.kernels.toy import ToyKernel\n",
        """
        test_kernels.py::test_random_features_are_unbiased
        test_kernels.py::test_sums_equal_the_product_with_the_matrix
        test_kernel_controls.py::test_every_kernel_runs_on_its_page
        """,
    ),
    "data set": Toy(
        "data_set.txt",
        "dsgcore/data/sets.py",
        "",
        ("", ""),
        "",
        """
        test_data.py::test_an_entry_describes_what_it_loads
        test_data_recipes.py::test_a_set_in_a_setting_starts_trains_and_is_drawn
        """,
        before="\n\n# --- by name\n",
    ),
    "competitor": Toy(
        "competitor.py",
        "dsgcore/baselines/toy.py",
        "dsgcore/baselines/__init__.py",
        ("SAMULT, *_EVERYDAY", "SAMULT, *_EVERYDAY, ToyMeans"),
        "from dsgcore.baselines.toy import ToyMeans\n",
        """
        test_race.py::test_every_competitor_is_named_and_runs_with_the_runs_parameters
        test_race.py::test_a_race_in_a_process_of_its_own_gives_the_same_numbers
        """,
    ),
}
# Also over the combinations of the toys with everything else: some of each are enough.
LEFT_OUT = "not wine and not iris and not breast and not ten_digits and not high_dim and not friedman and not diabetes"


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the project with the toys; modification times stay, so that what is compiled is not compiled again."""
    folder = tmp_path_factory.mktemp("house")
    for name in ("dsgcore", "pages", "tests", "sample_data", ".streamlit", ".github"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, folder / name)
    for name in ("app.py", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder / name)
    for toy in TOYS.values():
        place, text = folder / toy.place, (ROOT / "tests" / "toys" / toy.file).read_text(encoding="utf-8")
        there = place.read_text(encoding="utf-8") if place.exists() else ""
        before, line, after = there.partition(toy.before) if toy.before else (there, "", "")
        assert line == toy.before, f"{toy.place} has changed: {toy.before}"
        place.write_text(before + text + line + after, encoding="utf-8")
        if toy.list_file:
            (found, written), listed = toy.line, folder / toy.list_file
            text = listed.read_text(encoding="utf-8")
            assert text.count(found) == 1, f"{toy.list_file} has changed: {found}"
            text = text.replace(found, written).replace("\nfrom dsgcore", f"\n{toy.imported}from dsgcore", 1)
            listed.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def met(house):
    """The tests that were run for the toys, each with how it ended."""
    files = sorted({f"tests/{test.split('::')[0]}" for toy in TOYS.values() for test in toy.tests.split()})
    chosen = ["-m", "not weekly", "-k", f"toy and {LEFT_OUT}"]
    command = [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", *chosen, *files]
    environment = {**os.environ, "PYTHONPATH": str(house)}
    done = subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, check=False)
    found = re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED) tests/(\S+?\.py::\w+)", done.stdout, flags=re.MULTILINE)
    assert found, done.stdout[-4000:] + done.stderr[-4000:]
    return found, done.stdout


def test_a_new_thing_is_one_file_and_its_name_in_another_and_nothing_that_knows_it_fails(met):
    found, output = met
    passed = {name for outcome, name in found if outcome == "PASSED"}
    assert {test for toy in TOYS.values() for test in toy.tests.split()} <= passed, output[-6000:]
    assert [name for outcome, name in found if outcome in ("FAILED", "ERROR")] == [], output[-6000:]
