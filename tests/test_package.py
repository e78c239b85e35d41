"""The app as it is started and served: what its commands give to Streamlit, where phones find it, a built package, containers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile

import numpy as np
import pandas as pd
import pytest
from cases import each
from clocks import until
from commands import refusal
from load import Visitor
from servers import NGINX, NO_NGINX, ROOT, environment, free_port, nginx, started, unpacked, wait_for, wheel_in

from dsgcore.__main__ import main
from dsgcore.cli import app, network
from dsgcore.cli.runs import in_app
from dsgcore.lessons import FOLDER
from dsgcore.studies import Study

APP = "dsgcore/_app"


@pytest.fixture
def machine(monkeypatch):
    """Give this machine an address, and keep Streamlit from starting; return the arguments that it would have been given."""
    started = []
    monkeypatch.setenv(network.VARIABLE, "")
    monkeypatch.setattr(app, "addresses", lambda: ["192.168.1.20"])
    monkeypatch.setattr("runpy.run_module", lambda name, **_: started.append((name, sys.argv)))
    monkeypatch.setattr(sys, "argv", [])
    return started


@each("words, host", [
    *((words, "0.0.0.0") for words in (["app", "--class"], ["class"], ["--class"])),
    *((words, "127.0.0.1") for words in ([], ["app"], ["--address", "127.0.0.1"])),
])  # fmt: skip
def test_what_is_typed_reaches_streamlit_and_only_a_class_is_let_in(machine, capsys, words, host):
    port = str(free_port())
    assert main([*words, "--port", port, "--base-path", "lab", "--no-browser"]) == 0
    (program, argv) = machine.pop()
    options = dict(word.removeprefix("--server.").split("=") for word in argv if word.startswith("--server."))
    assert program == "streamlit"
    assert options == {"address": host, "port": port, "baseUrlPath": "lab"}
    printed = capsys.readouterr().out
    assert (f"http://192.168.1.20:{port}/lab/r" in printed) is ("phones" in printed) is (host == "0.0.0.0")


def test_control_c_ends_the_app_without_a_word_before_it_serves(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "_usable_port", interrupt)
    assert main(["app"]) == 0
    assert capsys.readouterr() == ("", "")


@each("data, said", [
    ({"name": "two_moons", "n": 400, "n_labeled": 20}, "data.name=two_moons"),
    ({"name": "file", "path": "data.csv", "n_labeled": 10}, "data.csv"),
])  # fmt: skip
def test_a_study_opens_in_the_app(machine, data, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    a = np.random.default_rng(0).normal(size=80)
    pd.DataFrame({"a": a, "b": a[::-1], "class": np.where(a > 0, "yes", "no")}).to_csv("data.csv", index=False)
    axis, file = {"name": "kernel.sigma", "from": 0.1, "to": 10, "n": 3, "scale": "log"}, tmp_path / "study.json"
    study = Study.from_dict({"spec": {"setting": "auc", "data": data}, "axes": [axis], "seeds": [0, 1]})
    file.write_text(json.dumps(study.to_dict()), encoding="utf-8")  # as Explore writes it
    assert main(["study", "open", str(file), "--no-browser", "--base-path", "lab", "--port", "8599"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The study is at http://127.0.0.1:8599/lab/explore?setting=auc&")
    assert said in printed
    assert (" The page asks for " in printed) is (data["name"] == "file")
    assert [program for program, _ in machine] == ["streamlit"]
    machine.clear()
    other = {"name": "file", "path": "data.csv", "sha256": "0" * 64, "n_labeled": 10}
    for plain, why in (
        (
            {"spec": {"setting": "auc", "data": other}, "axes": [axis]},
            "the file 'data.csv' differs from the spec's file",
        ),
        (
            study.to_dict() | {"budget": {"seconds": 5.0}},
            "cannot show this study: it must have an axis and no time limit",
        ),
    ):
        file.write_text(json.dumps(plain), encoding="utf-8")
        assert why in refusal(capsys, ["study", "open", file])


def test_a_study_of_the_app_opens_without_its_file_which_the_page_asks_for_and_a_sweep_names_it(
    machine, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    a, file = np.random.default_rng(0).normal(size=80), tmp_path / "study.json"
    pd.DataFrame({"a": a, "b": a[::-1], "class": np.where(a > 0, "yes", "no")}).to_csv("data.csv", index=False)
    axis = {"name": "kernel.sigma", "from": 0.1, "to": 10, "n": 3, "scale": "log"}
    plain = {"setting": "auc", "data": {"name": "file", "path": "data.csv", "n_labeled": 10}}
    study = in_app(Study.from_dict({"spec": plain, "axes": [axis], "seeds": [0, 1]}))[0]
    file.write_text(json.dumps(study.to_dict()), encoding="utf-8")
    (tmp_path / "data.csv").unlink()
    assert main(["study", "open", str(file), "--no-browser"]) == 0
    digest = str(study.spec.data.sha256)[:12]
    printed = capsys.readouterr().out
    assert f"The page asks for the file 'data.csv', whose SHA-256 begins with {digest}." in printed
    assert f"%22sha256%22%3A%22{digest}" in printed
    data = study.to_dict()["spec"]["data"] | {"path": "\x1b[2J\ngone.csv"}
    hostile = study.to_dict() | {"spec": study.to_dict()["spec"] | {"data": data}}
    (tmp_path / "hostile.json").write_text(json.dumps(hostile), encoding="utf-8")
    assert main(["study", "open", str(tmp_path / "hostile.json"), "--no-browser"]) == 0
    assert r"The page asks for the file '\x1b[2J\ngone.csv', whose" in capsys.readouterr().out
    said = f"the file 'data.csv' (SHA-256 {digest}…) is needed, and is not beside the spec or study that names it"
    assert said in refusal(capsys, ["sweep", file])


# --- where phones find the server


def test_a_browser_is_opened_once_the_server_answers_at_this_machines_address(monkeypatch):
    opened = []
    monkeypatch.setattr(app.webbrowser, "open", opened.append)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        app._open_browser("0.0.0.0", port, "http://there")
    assert opened == ["http://there"]
    monkeypatch.setattr(app, "_SECONDS_TO_START", 0.05)
    app._open_browser("127.0.0.1", port, "http://nowhere")
    assert opened == ["http://there"]


def test_a_folder_of_lessons_is_the_apps_and_one_that_is_none_is_refused(machine, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(FOLDER, "")
    (tmp_path / "broken.toml").write_text("title =")
    assert main(["app", "--no-browser", "--lessons", str(tmp_path)]) == 0
    assert os.environ[FOLDER] == str(tmp_path.resolve())
    assert f"Left out: {tmp_path.name}/broken.toml is not valid TOML" in capsys.readouterr().err
    for none in (tmp_path / "none", tmp_path / "broken.toml"):
        said = refusal(capsys, ["app", "--lessons", none])
        assert f"--lessons must be a folder with lessons in TOML, got {none}" in said


# --- a built package


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheel_in(tmp_path_factory.mktemp("built") / "wheel")


def test_a_wheel_holds_each_file_that_the_app_reads(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [file for file in (ROOT / "pages").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    assert {f"{APP}/{file.relative_to(ROOT).as_posix()}" for file in files} <= names
    assert {f"{APP}/app.py", f"{APP}/.streamlit/config.toml", f"{APP}/.github/icon.svg", "dsgcore/py.typed"} <= names
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"dsgcore", "dsg_lab"}
    assert any(name.endswith("licenses/pages/charts/library/LICENSE") for name in names)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".nbi", ".nbc", ".sqlite3"))]


@pytest.mark.ci
def test_an_installed_app_runs_from_any_folder_ends_at_control_c_and_writes_nothing_beside_itself(wheel, tmp_path):
    site = unpacked(wheel, tmp_path / "site-packages")
    before = sorted(site.rglob("*"))
    server, address = started(tmp_path, site=site, NUMBA_DISABLE_JIT="1")  # one loop is compiled below
    try:
        wait_for(server, address)
        with urllib.request.urlopen(f"{address}/auc", timeout=60) as answer:
            assert b"<title>DSG Lab</title>" in answer.read()
        if sys.platform != "win32":  # no process can send another one Ctrl+C there
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 0
            assert (tmp_path / "log").read_text().split("\n")[-3:] == [f"  URL: {address}", "", ""]
    finally:
        server.kill()
        server.wait()
    first = "from dsgcore.kernels import features; next(iter(features.warm_up_steps().values()))()"
    subprocess.run([sys.executable, "-c", first], env=environment(site, tmp_path), cwd=tmp_path / "empty", check=True)
    assert sorted(site.rglob("*")) == before
    assert list((tmp_path / "dsglab_cache" / "compiled").rglob("*.nbi"))
    assert not list((tmp_path / "empty").iterdir())


# --- the container, where docker runs


def docker_answers():
    command = [shutil.which("docker") or "docker", "version"]
    with contextlib.suppress(OSError):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return False


def answers(address):
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
        return True
    return False


@pytest.mark.ci
@pytest.mark.skipif(not docker_answers(), reason="no docker engine answers")
def test_a_container_answers_with_a_file_system_that_cannot_be_written(tmp_path):
    dockerfile, ident = ROOT / ".github" / "Dockerfile", tmp_path / "id"
    build = ["docker", "build", "--file", str(dockerfile), "--iidfile", str(ident), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=600)
    port, image = free_port(), ident.read_text()
    start = ["docker", "run", "--detach", "--rm", "--read-only", "--tmpfs", "/tmp", "--tmpfs", "/data:mode=1777"]
    started = subprocess.run([*start, "--publish", f"127.0.0.1:{port}:8501", image], check=True, capture_output=True)
    container = started.stdout.decode().strip()
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/_stcore/health"), seconds=600, every=0.1)
        user = subprocess.run(["docker", "exec", container, "id", "-u"], check=True, capture_output=True)
        assert user.stdout.strip() == b"10001"
    finally:
        subprocess.run(["docker", "kill", container], check=False, capture_output=True)


# --- two servers behind nginx, as `.github/nginx.conf` says: a browser stays with one, and goes on at the other where that ends


LONG = 90.0  # seconds after which a test gives up
needs_nginx = pytest.mark.skipif(NGINX is None, reason=NO_NGINX)


@pytest.fixture(scope="module")
def replicas(tmp_path_factory):
    """The two servers by their letters, and nginx's port, when all answer; a test ends one of them."""
    folders = [tmp_path_factory.mktemp(f"server {letter}") for letter in "ab"]
    servers = [started(folder) for folder in folders]
    try:
        for server, address in servers:
            wait_for(server, address)
        ports = tuple(int(address.rpartition(":")[2]) for _, address in servers)
        with nginx(tmp_path_factory.mktemp("nginx"), ports) as port:
            yield dict(zip("ab", [server for server, _ in servers], strict=True)), port
    finally:
        for server, _ in servers:
            server.kill()
            server.wait(30)


def answer_of(port, cookie=""):
    """Return which server nginx says that it is, where one answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/_stcore/health", headers={"Cookie": cookie})
    with contextlib.suppress(OSError), urllib.request.urlopen(request, timeout=5) as answer:
        cookies = [given.split(";")[0] for given in answer.headers.get_all("Set-Cookie")]
        return next(cookie for cookie in cookies if cookie.startswith("dsglab_server="))
    return None


async def opened(visitor, port, cookie, is_done):
    """Open a page, and leave when it is as wanted."""
    task = asyncio.create_task(visitor.visit(port, cookie))
    deadline = time.monotonic() + LONG
    while not is_done(visitor):
        assert not task.done(), task
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


class Ticking(Visitor):
    """Counts the ticks that brought news of the run."""

    ticks = 0

    async def _news(self, reader):
        news = await super()._news(reader)
        self.ticks += "status" in news
        return news


@pytest.mark.weekly
@needs_nginx
def test_ticks_are_answered_by_the_server_of_their_page(replicas):
    _, port = replicas
    # A run that goes to an iteration goes on by ticks, although no browser says that it has drawn the first curve.
    visitor = Ticking("auc", "data.n=500&solver.n_iter=100000&at=100000")
    asyncio.run(opened(visitor, port, answer_of(port), lambda v: v.ticks > 2))
    assert visitor.exceptions == 0


@pytest.mark.weekly
@needs_nginx
def test_a_browser_stays_with_one_server_and_goes_on_at_the_other_where_that_ends(replicas):
    servers, port = replicas
    cookie = answer_of(port)
    assert cookie in ("dsglab_server=a", "dsglab_server=b")
    assert {answer_of(port, cookie) for _ in range(20)} == {cookie}
    assert {answer_of(port) for _ in range(60)} == {"dsglab_server=a", "dsglab_server=b"}
    visitor = Visitor("auc", "data.n=500&solver.n_iter=60&at=40")
    asyncio.run(opened(visitor, port, cookie, lambda v: v.shown == 40))
    servers[cookie[-1]].kill()
    again = Visitor("auc", "data.n=500&solver.n_iter=60&at=40")
    asyncio.run(opened(again, port, cookie, lambda v: v.shown == 40))
    assert again.exceptions == 0
