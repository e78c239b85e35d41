"""The API reference of two packages: it builds without a warning, and each public class and function has a page."""

import subprocess
import sys
from pathlib import Path

import pytest

import dsgcore

pytest.importorskip("pdoc", reason="pdoc is not installed: python -m pip install -e '.[docs]'")
pytestmark = [pytest.mark.ci, pytest.mark.compiled]
SCRIPT = Path(__file__).parents[1] / ".ci" / "reference.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("reference")
    done = subprocess.run([sys.executable, SCRIPT, made, "dsgcore", "dsgcore.kernels"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr  # a warning is an error there
    return made


def test_each_public_name_has_a_page_that_the_first_page_leads_to(folder):
    first = (folder / "dsgcore.html").read_text(encoding="utf-8")
    for name in dsgcore.__all__:
        assert (folder / "dsgcore" / f"{name}.html").is_file()
        assert f"dsgcore/{name}.html" in first


def test_the_page_of_an_estimator_has_its_parameters_and_inherited_methods(folder):
    page = (folder / "dsgcore" / "QSGS2AUC.html").read_text(encoding="utf-8")
    for shown in ("<strong>sigma</strong>", 'id="QSGS2AUC.fit"', 'id="QSGS2AUC.partial_fit"', "numpy"):
        assert shown in page
    assert "set_fit_request" not in page  # scikit-learn's


def test_a_dot_product_in_a_docstring_is_no_html(folder):
    page = (folder / "dsgcore" / "kernels" / "DotProduct.html").read_text(encoding="utf-8")
    assert "⟨x, x'⟩" in page.replace("&#39;", "'")
