"""The app's modules for the browser, tested by node's own test runner."""

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = sorted((Path(__file__).parent / "javascript").glob("*.test.mjs"))
NODE = shutil.which("node")


@pytest.mark.skipif(
    NODE is None, reason="node is not installed, so the browser modules are tested in browser tests only"
)
@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.name)
def test_modules_for_the_browser(file):
    assert NODE is not None
    ran = subprocess.run([NODE, "--test", str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "# pass 0" not in ran.stdout
