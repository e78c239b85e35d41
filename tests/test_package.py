"""The app as it is served: from a built package, from a container, and by two servers behind nginx."""

import asyncio
import contextlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import zipfile

import pytest
from clocks import until
from load import Visitor
from servers import NGINX, NO_NGINX, ROOT, environment, free_port, nginx, started, unpacked, wait_for, wheel_in

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
