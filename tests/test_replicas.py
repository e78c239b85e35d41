"""Two servers behind nginx, as `.github/nginx.conf` says: a browser stays with one, and goes on at the other where that ends."""

import asyncio
import contextlib
import time
import urllib.request

import pytest
from load_client import Visitor
from proxies import needs_nginx, nginx
from servers import started, wait_for

LONG = 90.0  # seconds after which a test gives up

pytestmark = [pytest.mark.weekly, needs_nginx]


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
    _, port = replicas
    # A run that goes to an iteration goes on by ticks, although no browser says that it has drawn the first curve.
    visitor = Ticking("auc", "data.n=500&solver.n_iter=100000&at=100000")
    asyncio.run(opened(visitor, port, answer_of(port), lambda v: v.ticks > 2))
    assert visitor.exceptions == 0


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
