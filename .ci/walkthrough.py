"""Every command of the documentation, run as it is written: ``python .ci/walkthrough.py [PAGE ...]``.

A page whose first command installs gets an empty environment. All others begin with the README's install command, and share
what it has made unless they install more.
Each page has a fresh clone. Its blocks are carried out from top to bottom, and a server must answer at its address.
The last lines are a table of all commands with their seconds and exit codes; the exit code is 1 if one has failed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / ".github" / "docs"
README, CONTRIBUTING = ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md"
PAGES = [README, CONTRIBUTING, *sorted(DOCS.glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = "python -m pip install"
# Commands that serve until they are stopped, and where they answer.
SERVERS = {
    r"streamlit run": "http://127.0.0.1:8501",
    r"dsg-lab( app)?( --class.*)?$": "http://127.0.0.1:8501",
    r"dsg-lab app --port 8501": "http://127.0.0.1:8501",
    r"dsg-lab app --port 8502": "http://127.0.0.1:8502",
    r"optuna-dashboard": "http://127.0.0.1:8080",
    r"nginx": "http://127.0.0.1:8080",
    r"python -m jupyter lab": "http://127.0.0.1:8888",
    r"docker run": "http://127.0.0.1:8501",
    r"docker compose .* up": "http://127.0.0.1:8080",
}
ELSEWHERE = {r".*python -m pytest|\.ci/run": "the tests have their own jobs", r"python \.ci/walkthrough": "this is it"}
SECONDS = 1800.0
PAUSE = 0.5
TOO_LONG, IN_USE = 124, 98  # exit codes
# Carries out blocks of Python one after another, as a person does in one session.
SESSION = """
import json, sys
names = {"__name__": "__main__"}
for line in sys.stdin:
    exec(compile(json.loads(line), "<block>", "exec"), names)
    sys.stdout.flush()
    print("done", file=sys.stderr, flush=True)
"""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page: its language, its text and the text before it."""

    language: str
    text: str
    before: str

    @property
    def commands(self) -> list[str]:
        """The commands of a block for the shell."""
        return [line for line in self.text.splitlines() if line and not line.startswith("#")]

    @property
    def file(self) -> Path:
        """The file in which a reader saves a block of JSON or TOML: the one named last before it."""
        return Path(re.findall(rf"`(\S+\.{self.language})`", self.before)[-1])


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text[: m.start()]) for m in FENCE.finditer(text)]


@dataclass
class Result:
    """A command of a page, with its seconds and its exit code, or why it was not carried out."""

    page: str
    command: str
    code: int | str
    seconds: float = 0.0

    @property
    def has_failed(self) -> bool:
        """True if the command ended with another exit code than 0; `check` may say that a run has not converged."""
        return isinstance(self.code, int) and self.code > int(self.command.startswith("dsg-lab check "))


@dataclass
class Reader:
    """A reader of one page: a clone, an environment, and what still runs."""

    page: Path
    clone: Path
    environment: Path
    log: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    session: subprocess.Popen[str] | None = None

    def read(self) -> Iterator[Result]:
        """Carry out the blocks of the page; yield the results."""
        for block in blocks_of(self.page):
            if block.language == "sh":
                yield from (self.carry_out(command) for command in block.commands)
            elif block.language == "python":
                yield self.type_in(block.text)
            elif block.language in ("json", "toml"):
                file = self.clone / block.file
                file.parent.mkdir(exist_ok=True)
                file.write_text(block.text, encoding="utf-8")

    def carry_out(self, command: str) -> Result:
        """Carry out one command in the shell; of a server wait until it answers, and stop it unless it is to stay."""
        for pattern, reason in ELSEWHERE.items():
            if re.match(pattern, command):
                return Result(self.page.stem, command, reason)
        if not has_program(command.split()[0]):
            return Result(self.page.stem, command, f"no {command.split()[0]} here, or none that answers")
        address = next((to for pattern, to in SERVERS.items() if re.search(rf"(^|&& ){pattern}", command)), None)
        if address and answers(address):
            return Result(self.page.stem, command, IN_USE)
        began = time.monotonic()
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                ["bash", "-c", command.removesuffix(" &")],
                **self.place(),
                stdin=subprocess.DEVNULL if "uninstall" not in command else subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.running.append(process)
        if process.stdin:  # a question that a reader answers
            process.stdin.write(b"y\n")
            process.stdin.close()
        code: int | str | None = None
        while code is None and time.monotonic() - began < SECONDS:
            code = process.poll()
            if code is None and address and answers(address):
                code = "answers"
            time.sleep(PAUSE)
        if not command.endswith(" &"):
            stop(process)
        return Result(self.page.stem, command, TOO_LONG if code is None else code, time.monotonic() - began)

    def type_in(self, text: str) -> Result:
        """Carry out a block of Python in the page's session."""
        began = time.monotonic()
        if self.session is None:
            program = [str(self.environment / "bin" / "python"), "-c", SESSION]
            with self.log.open("ab") as log:
                self.session = subprocess.Popen(
                    program, **self.place(), stdin=subprocess.PIPE, stdout=log, stderr=subprocess.PIPE, text=True
                )
        assert self.session.stdin
        assert self.session.stderr
        with suppress(BrokenPipeError):
            self.session.stdin.write(json.dumps(text) + "\n")
            self.session.stdin.flush()
        said = []
        for line in self.session.stderr:
            if line == "done\n":
                return Result(self.page.stem, f"{last_line(text)} ...", 0, time.monotonic() - began)
            said.append(line)
        print("".join(said))
        return Result(self.page.stem, f"{last_line(text)} ...", self.session.wait(), time.monotonic() - began)

    def place(self) -> dict[str, object]:
        """Return the folder and the variables of the page's commands: a home of its own, and nothing of ours."""
        ours = ("PYTHON", "DSGLAB", "NUMBA", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        home = self.clone.with_name(f"{self.clone.name}-home")
        home.mkdir(exist_ok=True)
        if os.geteuid() == 0:  # Jupyter asks root for more than people type
            (home / ".jupyter").mkdir(exist_ok=True)
            (home / ".jupyter" / "jupyter_server_config.json").write_text('{"ServerApp": {"allow_root": true}}')
        cache = kept.get("PIP_CACHE_DIR", str(Path("~/.cache/pip").expanduser()))
        path = f"{self.environment / 'bin'}{os.pathsep}{kept['PATH']}{os.pathsep}/usr/sbin"
        own = {"HOME": str(home), "PATH": path, "PIP_CACHE_DIR": cache, "PIP_PROGRESS_BAR": "off"}
        return {"cwd": self.clone, "env": kept | own}

    def leave(self) -> None:
        """Stop all that still runs."""
        for process in self.running:
            stop(process)
        if self.session:
            self.session.kill()


def last_line(text: str) -> str:
    """Return the last line of a block's code that does something, as its name in the table."""
    return [line for line in text.splitlines() if line.strip()][-1].strip()


def has_program(name: str) -> bool:
    """Return whether a program that pip does not install is there; docker needs its server, too."""
    if name == "docker":
        return bool(shutil.which(name)) and subprocess.run([name, "info"], capture_output=True).returncode == 0
    return name != "nginx" or shutil.which(name, path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin") is not None


def answers(address: str) -> bool:
    """Return whether a server answers at an address."""
    with suppress(OSError), urllib.request.urlopen(address, timeout=10) as answer:
        return answer.status == 200
    return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process with its children as Ctrl+C does, and the hard way after a minute."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def cloned(folder: Path) -> Path:
    """Return a fresh clone of the repository in a folder."""
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(folder)], check=True)
    return folder


def installs(page: Path) -> list[bool]:
    """Return whether each command and each block of Python of a page installs something."""
    blocks = [block for block in blocks_of(page) if block.language in ("sh", "python")]
    steps = [step for block in blocks for step in (block.commands if block.language == "sh" else [block.text])]
    return [step.startswith(INSTALL) for step in steps]


def new_environment(folder: Path, log: Path | None = None) -> Path:
    """Return a virtual environment in a folder: with what the README installs if there is a log, else an empty one."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    if log is not None:
        clone = cloned(folder.with_name(f"{folder.name}-clone"))
        install = blocks_of(README)[0].commands[0].split(" && ")[0]
        assert not Reader(README, clone, folder, log).carry_out(install).has_failed, install
    return folder


def read_all(pages: list[Path], workspace: Path) -> Iterator[Result]:
    """Read pages as newcomers do; yield the results of their commands."""
    shared = None
    for page in pages:
        if not installs(page):  # it has neither commands nor Python
            continue
        log, clone = workspace / f"{page.stem}.log", cloned(workspace / page.stem)
        own = any(installs(page))
        if own:
            is_first = installs(page)[0]
            environment = new_environment(workspace / f"{page.stem}-environment", None if is_first else log)
        else:
            environment = shared = shared or new_environment(workspace / "environment", log)
        reader = Reader(page, clone, environment, log)
        try:
            for result in reader.read():
                print(f"{result.page}: {result.command}: {result.code}", flush=True)
                if result.has_failed:
                    print("\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:]))
                yield result
        finally:
            reader.leave()
            if own:
                shutil.rmtree(environment)


def main(names: list[str]) -> int:
    """Read the pages of these names, or all; print the table, and return the exit code."""
    with tempfile.TemporaryDirectory() as workspace:
        results = list(read_all([page for page in PAGES if not names or page.stem in names], Path(workspace)))
    print("\n| page | command | seconds | exit code |\n|---|---|---|---|")
    for result in results:
        print(f"| {result.page} | `{result.command}` | {result.seconds:.0f} | {result.code} |")
    return int(any(result.has_failed for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
