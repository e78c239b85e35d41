"""The container: what its files say everywhere, and, where docker runs, a container that answers with nothing to write to."""

import shutil
import subprocess
import time
import urllib.request
from contextlib import suppress

import pytest
from installed import ROOT
from proxies import CONFIGURED, free_port

FOLDER = ROOT / ".github"
LONG = 600.0


def docker_answers():
    command = [shutil.which("docker") or "docker", "version"]
    with suppress(OSError):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return False


def test_nginx_of_the_containers_is_configured_as_on_one_machine():
    on_one = CONFIGURED.read_text().replace("127.0.0.1:8501", "app-a:8501").replace("127.0.0.1:8502", "app-b:8501")
    assert (FOLDER / "compose-nginx.conf").read_text().partition("\n\n")[2] == on_one.partition("\n\n")[2]


def test_the_builder_gets_each_file_that_the_wheel_needs():
    admitted = {line[1:] for line in (FOLDER / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert all((ROOT / name).exists() for name in admitted)
    needed = {"pyproject.toml", "README.md", "LICENSE", "app.py", "dsgcore", "pages", "sample_data", ".streamlit"}
    assert needed <= admitted


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed")
def test_the_dockerfile_follows_the_usual_rules():
    found = subprocess.run(["hadolint", str(FOLDER / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


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
