"""The built package: what is in it, that it builds the same everywhere, and that it leaves nothing beside itself."""

import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import zipfile
from contextlib import suppress
from unittest.mock import Mock

import pytest
from proxies import free_port
from servers import ROOT, environment, started, unpacked, wait_for, wheel_in

from dsgcore.__main__ import _with_command, main

APP = "dsgcore/_app"


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


def test_control_c_ends_the_app_without_a_word_before_it_serves(monkeypatch, capsys):
    monkeypatch.setattr("dsgcore.cli.app._usable_port", Mock(side_effect=KeyboardInterrupt))
    assert main(["app"]) == 0
    assert capsys.readouterr() == ("", "")


def test_without_a_command_the_arguments_are_those_of_app():
    assert _with_command([]) == ["app"]
    assert _with_command(["--port", "8600"]) == ["app", "--port", "8600"]
    assert _with_command(["run", "spec.json"]) == ["run", "spec.json"]
    assert _with_command(["--help"]) == ["--help"]


def test_a_port_that_cannot_be_used_is_named(capsys):
    assert main(["--port", "99999"]) == 2
    assert capsys.readouterr().err == "dsg-lab: port 99999 of 127.0.0.1 cannot be used: name a free one with --port\n"


# --- the container: what its files say everywhere, and, where docker runs, a container that answers with nothing to write to


FOLDER = ROOT / ".github"
LONG = 600.0


def docker_answers():
    command = [shutil.which("docker") or "docker", "version"]
    with suppress(OSError):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return False


@pytest.mark.ci
@pytest.mark.skipif(not docker_answers(), reason="no docker engine answers")
def test_a_container_answers_with_a_file_system_that_cannot_be_written(tmp_path):
    build = ["docker", "build", "--file", str(FOLDER / "Dockerfile"), "--iidfile", str(tmp_path / "id"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=LONG)
    port, image = free_port(), (tmp_path / "id").read_text()
    start = ["docker", "run", "--detach", "--rm", "--read-only", "--tmpfs", "/tmp", "--tmpfs", "/data:mode=1777"]
    started = subprocess.run([*start, "--publish", f"127.0.0.1:{port}:8501", image], check=True, capture_output=True)
    container = started.stdout.decode().strip()
    try:
        assert answers(f"http://127.0.0.1:{port}/_stcore/health")
        user = subprocess.run(["docker", "exec", container, "id", "-u"], check=True, capture_output=True)
        assert user.stdout.strip() == b"10001"
    finally:
        subprocess.run(["docker", "kill", container], check=False, capture_output=True)


def answers(address):
    deadline = time.monotonic() + LONG
    while time.monotonic() < deadline:
        with suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return True
    return False
