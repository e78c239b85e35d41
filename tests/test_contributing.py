"""Claims of CONTRIBUTING: files, tests and recipes that it names exist, and skipped tests are reported."""

import re
import tomllib
from pathlib import Path

from cases import each
from test_toys import TOYS

import dsgcore

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ROOTS = ("dsgcore/", "pages/", "tests/", ".github/", ".streamlit/", "app.py", "pyproject.toml")
NAMED = sorted({word for word in re.findall(r"`([^`\s]+)`", TEXT) if word.startswith(ROOTS) and "<" not in word})


@each("path", NAMED)
def test_what_contributors_are_pointed_to_is_there(path):
    assert (ROOT / path).exists()


def test_every_room_is_in_the_picture():
    picture = TEXT.split("```")[3]
    rooms = [folder.name for folder in (ROOT / "dsgcore").iterdir() if (folder / "__init__.py").exists()]
    rooms += [folder.name for folder in (ROOT / "pages").iterdir() if folder.is_dir() and list(folder.glob("*.py"))]
    assert [room for room in rooms if f"{room}/" not in picture] == []


@each("kind", TOYS)
def test_a_recipe_names_the_files_that_its_toy_touches(kind):
    recipe = next(line for line in TEXT.split("\n- ") if line.lower().startswith(f"**a {kind}"))
    place = Path(TOYS[kind].place)
    assert f"`{TOYS[kind].list_file or place.as_posix()}`" in recipe
    assert place.parent.as_posix() + "/" in recipe


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "dsgcore" / "py.typed").is_file()


def test_the_citation_is_of_this_version():
    citation = (ROOT / ".github" / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {PROJECT['project']['version']}\n" in citation
    assert citation.count("- type: ") == 6


def test_the_version_is_the_same_everywhere():
    version = PROJECT["project"]["version"]
    newest = re.search(r"^## \[(\d\S*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert (dsgcore.__version__, newest[1]) == (version, version)
    assert f"date-released: {newest[2]}\n" in (ROOT / ".github" / "CITATION.cff").read_text(encoding="utf-8")


def test_the_changelog_has_short_lines_under_the_usual_headings():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= {"Added", "Changed", "Fixed", "Removed"}
    assert [line for line in text.splitlines() if line.startswith("- ") and len(line.split()) > 21] == []
