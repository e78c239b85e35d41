"""README, documentation, CONTRIBUTING and help pages: code blocks run, commands are carried out, and what they name is there."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import json
import re
import shlex
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from cases import each

import dsgcore
from dsgcore.__main__ import main
from dsgcore.baselines import COMPETITORS
from dsgcore.cli.options import PROGRAM, command_parser

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / ".ci"))
walkthrough = import_module("walkthrough")
DOCS, PAGES = walkthrough.DOCS, walkthrough.PAGES
NOTES = sorted((DOCS / "notes").glob("*.md"))
LIBRARY, PARSER = "dsg-lab ", command_parser()
# They need a network, take minutes or serve the app: they are parsed and not carried out.
PARSED_ONLY = ("data fetch", "app", "export-lesson")
# Each of the other commands that a page may show begins with one of these words.
KNOWN = ("dsg-lab", "docker", "python", "streamlit", "nginx", "optuna-dashboard", "ruff", ".ci/run")
KNOWN += ("NUMBA_DISABLE_JIT=1", "DSGLAB_SESSIONS=32")


def prose_of(page):
    """Return a page without its fenced blocks."""
    return walkthrough.FENCE.sub("", page.read_text(encoding="utf-8"))


# The longest take as long as all others.
MARKED = {"comparing": pytest.mark.weekly, "command-line": pytest.mark.ci, "optuna": pytest.mark.weekly}


@pytest.mark.ci
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask calls what pandas has deprecated
@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem, marks=MARKED.get(page.stem, ())) for page in PAGES])
def test_a_page_read_from_top_to_bottom_does_what_it_says(page, tmp_path, monkeypatch):
    if page.stem == "optuna":
        pytest.importorskip("optuna", reason="optuna is not installed: install dsg-lab[optuna]")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DSGLAB_STORE", str(tmp_path / "store.sqlite"))
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    names: dict[str, object] = {"__name__": "__main__"}
    printed = None
    for block in walkthrough.blocks_of(page):
        if block.language == "python":
            printed = printed_by(block.text, names, page)
        elif block.language in ("json", "toml"):
            block.file.parent.mkdir(exist_ok=True)
            block.file.write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            for command in block.commands:
                carry_out(command)
        elif block.language == "text":
            assert printed == block.text
            printed = None
        else:
            assert not block.language or block.language == "nginx", f"a block of {block.language!r} is not checked"


def printed_by(source, names, page):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(source, str(page), "exec"), names)
    return output.getvalue()


def carry_out(command):
    """Carry out a command of the library; of any other one look at its first word and at the files that it names."""
    if not command.startswith(LIBRARY):
        assert command.split()[0] in KNOWN, command
        for word in re.findall(r"[\w./]+\.(?:py|conf)\b", command.replace("$PWD/", "")):
            assert (ROOT / word).exists(), word
        return
    arguments = shlex.split(command.removeprefix(LIBRARY).removesuffix(" &"))
    is_pattern = any(re.fullmatch(r"[A-Z]{3,}(\.\w+)?", word) for word in arguments)
    if is_pattern or command.removeprefix(LIBRARY).startswith(PARSED_ONLY):
        PARSER.parse_args(arguments)
        return
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        code = main(arguments)
    allowed = (0, 1) if arguments[0] == "check" else (0,)
    assert code in allowed, errors.getvalue()


NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.mark.weekly
@pytest.mark.filterwarnings("default")  # they are read as people run them
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_stands_in_it(notebook, monkeypatch, tmp_path):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: the notebooks draw with it")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        printed = printed_by("".join(cell["source"]), names, notebook)
        said = "".join("".join(o["text"]) for o in cell["outputs"] if o.get("name") == "stdout")
        assert without_seconds(printed) == without_seconds(said)


def without_seconds(text):
    return re.sub(r"\d+\.\d s$", "", text, flags=re.MULTILINE).rstrip()


# Options of other programs.
OTHERS = {"--only", "--long"}


@each("page", PAGES)
def test_a_command_and_an_option_within_a_sentence_are_some_that_there_are(page):
    for words in re.findall(r"`((?:dsg-lab |--)[^`]*)`", prose_of(page)):
        named = [word for word in words.removeprefix(LIBRARY).split() if not word.startswith("--")]
        is_command = words.startswith(LIBRARY) and words.split()[1] in named[:1] and not named[0].isupper()
        assert not is_command or named[0] in commands_of(PARSER), words
        parser = parser_of(PARSER, named) if words.startswith(LIBRARY) else PARSER
        assert set(re.findall(r"(?<!\S)--[\w.-]+", words)) <= options_of(parser) | OTHERS, words


def parser_of(parser, named):
    """Return the parser of a command that begins with these words."""
    commands = commands_of(parser)
    return parser_of(commands[named[0]], named[1:]) if named and named[0] in commands else parser


def commands_of(parser):
    return next((action.choices for action in parser._actions if action.nargs == "A..."), {})


def options_of(parser):
    """Return the options of a parser and of those of its commands."""
    own = {option for action in parser._actions for option in action.option_strings}
    return own.union(*map(options_of, commands_of(parser).values()))


def helped(parser, words=()):
    """Yield the words of each command, and its parser."""
    yield words, parser
    for name, own in commands_of(parser).items():
        yield from helped(own, (*words, name))


@each("words, parser", helped(PARSER))
def test_each_help_page_explains_its_options_and_ends_with_an_example_that_parses(words, parser, capsys):
    assert parser.description.endswith(".")
    assert [a.dest for a in parser._actions if not a.help and a.nargs != "A..."] == []
    with pytest.raises(SystemExit) as end:
        main([*words, "--help"])
    assert end.value.code == 0
    example = capsys.readouterr().out.split("\nexample:\n", 1)[1].strip()
    assert example.startswith(PROGRAM)
    typed = shlex.split(example.removeprefix(PROGRAM))
    assert tuple(typed[: len(words)]) == words
    assert not typed or PARSER.parse_args(typed).command == typed[0]


@each("page", [*PAGES, *NOTES])
def test_every_link_leads_to_a_file_and_a_heading(page):
    prose = prose_of(page)
    links = re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(r'(?:src|href)="([^"]+)"', prose)
    for link in (link for link in links if not link.startswith(("http://", "https://"))):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:  # as GitHub makes it of a heading
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w\- ]", "", one.strip().lower()).replace(" ", "-") for one in headings], link


def test_the_fields_of_a_spec_and_the_columns_of_a_history_are_those_of_the_code():
    from fields import page

    assert (DOCS / "spec.md").read_text(encoding="utf-8") == page()  # else: python .ci/fields.py > .github/docs/spec.md


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    newest = re.search(r"^## \[(\d\S*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert (dsgcore.__version__, newest[1]) == (version, version)
    assert f"date-released: {newest[2]}\n" in (ROOT / ".github" / "CITATION.cff").read_text(encoding="utf-8")


# --- docstrings: their examples print what they show, and each names all that its class takes


MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "dsgcore").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.ci
@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_show(name):
    results = doctest.testmod(import_module(name))
    assert results.attempted > 0
    assert results.failed == 0


@each("cls", [cls for classes in COMPETITORS.values() for cls in classes if ".baselines." in cls.__module__])
def test_a_competitors_docstring_names_everything_that_it_takes(cls):
    section = re.search(r"^ *Parameters\n *-{10}\n(.*?)(?=\n *\w+\n *-{3}|\Z)", cls.__doc__, re.MULTILINE | re.DOTALL)
    named = re.findall(r"^ *([\w, ]+?) *(?: :|$)", section[1], re.MULTILINE)
    assert set(inspect.signature(cls).parameters) <= {name.strip() for line in named for name in line.split(",")}


@each("cls", [getattr(dsgcore.estimators, name) for name in dsgcore.estimators.__all__])
def test_an_estimators_docstring_names_everything_that_it_takes_and_explains_auto_where_its_parameter_takes_it(cls):
    section = cls.__doc__.split("Parameters\n----------\n")[1].split("\n\nAttributes\n")[0]
    entries = re.findall(r"^(\w+) : (.+), default=(.*(?:\n(?: .*)?)*)", section, re.MULTILINE)
    assert [name for name, _, _ in entries] == list(inspect.signature(cls).parameters)
    for name, allowed, text in entries:
        assert text.partition("\n")[2].strip(), name
        assert bool(re.search("['“]auto['”]", text.partition("\n")[2])) == bool(re.search(r"\bauto\b", allowed)), name
