"""New kinds in one file and one line: a toy of each, in a copy of the project, passes all tests that apply to it.

The problem, the kernel and the competitor are those of the page about extending. A generated data set is not even a file.

In a copy and not in this process, so that what reads the lists when it is imported, and the processes of races, are tested
as they are. The tests are those that run for whatever is registered: they are not written again for the toys.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / ".ci"))
# The tests take pages and whole runs.
pytestmark = pytest.mark.ci

# Of each: its name, the end of the list that gets it too, and the file of that list.
TOYS = [
    ("ToyProblem", "SemiSupervisedOrdinal, Supervised)", "dsgcore/problems/__init__.py"),
    ("ToyKernel", "Matern, DotProduct)", "dsgcore/kernels/__init__.py"),
    ("ToyMeans", "SAMULT, *_EVERYDAY)", "dsgcore/baselines/__init__.py"),
]
DATA_SET = '''

@_generated("Toy stripes", "Two stripes, one beside the other.")
def toy_stripes(rng: np.random.Generator, n: int, imbalance: float) -> Points:
    """Draw points of two stripes of the unit square, the right one positive."""
    y = _shuffled_classes(n, imbalance, rng)
    X = rng.uniform(size=(n, 2))
    X[:, 0] = 0.45 * X[:, 0] + 0.55 * y
    return X, y


# --- by name
'''
TESTS = {
    "test_problems.py::test_coefficients_are_the_derivatives_of_the_terms",
    "test_problems.py::test_the_mean_over_all_batches_is_the_full_gradient_and_risk",
    "test_problems.py::test_the_solver_equals_a_dull_loop",
    "test_run.py::test_same_spec_same_bits_however_it_is_advanced",
    "test_run.py::test_the_command_line_runs_a_spec",
    "test_run.py::test_the_exported_script_gives_the_history_of_the_run",
    "test_run.py::test_the_theory_says_what_it_assumes",
    "test_app.py::test_every_page_runs_at_once_and_has_its_details",
    "test_links.py::test_every_field_of_a_spec_of_every_data_set_a_file_and_the_changes_are_the_same_after_they_have_been_a_link",
    "test_kernels.py::test_random_features_are_unbiased",
    "test_kernels.py::test_sums_equal_the_product_with_the_matrix",
    "test_app.py::test_every_kernel_runs_on_its_page",
    "test_data.py::test_an_entry_describes_what_it_loads",
    "test_data.py::test_a_set_in_a_setting_starts_trains_and_is_drawn",
    "test_race.py::test_every_competitor_is_named_and_runs_with_the_runs_parameters",
    "test_race.py::test_a_race_in_a_process_of_its_own_gives_the_same_numbers",
}
# Also over the combinations of the toys with everything else: some of each are enough.
LEFT_OUT = "not wine and not iris and not breast and not ten_digits and not high_dim and not friedman and not diabetes"


def replace_once(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file} has changed: {old}"
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the project with the toys; modification times stay, so that what is compiled is not compiled again."""
    folder, walkthrough = tmp_path_factory.mktemp("house"), import_module("walkthrough")
    for name in ("dsgcore", "pages", "tests", "sample_data", ".streamlit", ".github"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, folder / name)
    for name in ("app.py", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder / name)
    for name, listed, list_file in TOYS:
        page = walkthrough.DOCS / "extending.md"
        (block,) = (one for one in walkthrough.blocks_of(page) if f"class {name}(" in one.text)
        place = re.findall(r"`(dsgcore/\w+/\w+\.py)`", block.before)[-1]
        assert f"`{list_file}`" in page.read_text(encoding="utf-8")
        (folder / place).write_text(block.text, encoding="utf-8")
        replace_once(folder / list_file, listed, f"{listed[:-1]}, {name})")
        module, lists = place.removesuffix(".py").replace("/", "."), folder / list_file
        text = lists.read_text(encoding="utf-8")
        text = text.replace("\nfrom dsgcore", f"\nfrom {module} import {name}\nfrom dsgcore", 1)
        lists.write_text(text, encoding="utf-8")
    replace_once(folder / "dsgcore/data/sets.py", "\n\n# --- by name\n", DATA_SET)
    return folder


def test_a_new_thing_is_one_file_and_its_name_in_another_and_nothing_that_knows_it_fails(house):
    files = sorted({f"tests/{test.partition('::')[0]}" for test in TESTS})
    chosen = ["-m", "not weekly", "-k", f"toy and {LEFT_OUT}"]
    command = [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", *chosen, *files]
    environment = {**os.environ, "PYTHONPATH": str(house)}
    done = subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, check=False)
    found = re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED) tests/(\S+?\.py::\w+)", done.stdout, flags=re.MULTILINE)
    said = done.stdout[-6000:] + done.stderr[-4000:]
    assert {name for outcome, name in found if outcome == "PASSED"} >= TESTS, said
    assert [name for outcome, name in found if outcome in ("FAILED", "ERROR")] == [], said
