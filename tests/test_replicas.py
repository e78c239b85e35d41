"""Two servers behind nginx, as `--replicas 2` starts them: a browser stays with one, and goes on at the other where that ends."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from clocks import until
from installed import ROOT, started
from installed import wait_for as wait_for_server
from load_client import Visitor
from proxies import needs_nginx

LONG = 90.0  # seconds after which a test gives up

pytestmark = [pytest.mark.ci, pytest.mark.compiled, needs_nginx]


@pytest.fixture(scope="module")
def replicas(tmp_path_factory):
    """The command, nginx's port and its configuration, when both servers answer; tests end one of them, and then all."""
    folder = tmp_path_factory.mktemp("replicas")
    command, address = started(ROOT, folder, "--replicas", "2")
    try:
        until(lambda: "configuration: " in (folder / "log").read_text(), LONG)
        configured = Path(re.search(r"configuration: (\S+)", (folder / "log").read_text())[1])
        for port in ports_of(configured):
            wait_for_server(f"http://127.0.0.1:{port}/_stcore/health", command)
        wait_for_server(f"{address}/_stcore/health", command)
        yield command, int(address.rpartition(":")[2]), configured
    finally:
        command.terminate()
        command.wait(30)


def ports_of(configured):
    return list(dict.fromkeys(re.findall(r"server 127.0.0.1:(\d+)", configured.read_text())))


def kill_server_at(port):
    """Kill the server that listens at a port, as its command says it."""
    processes = subprocess.run(["ps", "-wweo", "pid,args"], capture_output=True, text=True, check=True).stdout
    (line,) = [line for line in processes.splitlines() if f"-m dsgcore app --no-browser --port {port}" in line]
    os.kill(int(line.split()[0]), signal.SIGKILL)


def answer_of(port, cookie=""):
    """Return which server nginx says that it is, where one answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/_stcore/health", headers={"Cookie": cookie})
    with contextlib.suppress(OSError), urllib.request.urlopen(request, timeout=5) as answer:
        cookies = [given.split(";")[0] for given in answer.headers.get_all("Set-Cookie")]
        return next(cookie for cookie in cookies if cookie.startswith("dsglab_server="))
    return None


async def opened(visitor, port, cookie, until):
    """Open a page, and leave when it is as wanted."""
    task = asyncio.create_task(visitor.visit(port, cookie))
    deadline = time.monotonic() + LONG
    while not until(visitor):
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


def test_ticks_are_answered_by_the_server_of_their_page(replicas):
    _, port, _ = replicas
    # A run that goes to an iteration goes on by ticks, although no browser says that it has drawn the first curve.
    visitor = Ticking("auc", "n=500&n_iter=100000&at=100000")
    asyncio.run(opened(visitor, port, answer_of(port), lambda v: v.ticks > 2))
    assert visitor.exceptions == 0


def test_a_browser_stays_with_one_server_and_goes_on_at_the_other_where_that_ends(replicas):
    _, port, configured = replicas
    cookie = answer_of(port)
    assert cookie in ("dsglab_server=a", "dsglab_server=b")
    assert {answer_of(port, cookie) for _ in range(20)} == {cookie}
    assert {answer_of(port) for _ in range(60)} == {"dsglab_server=a", "dsglab_server=b"}
    visitor = Visitor("auc", "n=500&n_iter=60&at=40")
    asyncio.run(opened(visitor, port, cookie, lambda v: v.shown == 40))
    kill_server_at(ports_of(configured)[0 if cookie.endswith("a") else 1])
    again = Visitor("auc", "n=500&n_iter=60&at=40")
    asyncio.run(opened(again, port, cookie, lambda v: v.shown == 40))
    assert again.exceptions == 0


def test_all_end_with_the_command(replicas):
    command, _, configured = replicas
    servers = ports_of(configured)
    assert len(servers) == 2
    command.terminate()
    assert command.wait(30) == 0
    assert not configured.exists()
    for port in servers:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", int(port)), timeout=5)
