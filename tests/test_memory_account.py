"""Memory limits of all runs on a server together, and of one run on the command line."""

import gc

import pytest

from dsgcore.__main__ import main
from dsgcore.experiments import FileStore, Spec, SpecError
from pages.session import bench as benches
from pages.session.bench import Bench, begin
from pages.shell import memory
from pages.shell.memory import Account, Claim


def test_runs_of_all_pages_are_added_up():
    account, claims = Account(10**9), [Claim() for _ in range(3)]
    account.take(claims[0], 6 * 10**8)
    account.take(claims[1], 3 * 10**8)
    with pytest.raises(
        SpecError, match=r"about 0.2 GB of memory, but the other runs on this server leave 0.1 GB of 1 GB"
    ):
        account.take(claims[2], 2 * 10**8)
    account.take(claims[0], 5 * 10**8)  # another run of the same page takes the place of the one before
    account.take(claims[2], 2 * 10**8)
    assert account.taken == 10**9


def test_what_a_closed_session_had_is_free():
    account, claim = Account(10**9), Claim()
    account.take(claim, 10**9)
    del claim
    gc.collect()
    assert account.taken == 0


def spec_of(n):
    return Spec.from_dict({"setting": "auc", "data": {"name": "two_moons", "n": n}})


def test_a_page_whose_run_does_not_fit_keeps_the_one_before(monkeypatch):
    account = Account(10**8)
    monkeypatch.setattr(benches, "account", account)
    bench, other = Bench(FileStore()), Bench(FileStore())
    begin(bench, spec_of(500))
    begin(other, spec_of(500))
    first = bench.live
    account.limit = account.taken
    with pytest.raises(SpecError, match="the other runs on this server leave"):
        begin(bench, spec_of(20_000))
    assert bench.live is first
    begin(bench, spec_of(400))


def test_a_run_that_fails_to_begin_gives_its_memory_back(monkeypatch):
    account = Account(10**9)
    monkeypatch.setattr(benches, "account", account)
    bench = Bench(FileStore())
    begin(bench, spec_of(500))
    before = account.taken

    def fail(*_arguments):
        raise MemoryError

    monkeypatch.setattr(benches, "LiveRun", fail)
    with pytest.raises(MemoryError):
        begin(bench, spec_of(20_000))
    assert account.taken == before


@pytest.mark.parametrize(
    ("text", "expected"), [("2.5", 25 * 10**8), ("", None), ("x", None), ("-1", None), ("inf", None)]
)
def test_the_servers_memory_can_be_named(monkeypatch, text, expected):
    monkeypatch.setenv(memory.VARIABLE, text)
    assert memory._account().limit == (expected or round(memory.SHARE * memory.of_machine()))


def test_the_command_line_may_take_what_is_named(tmp_path, capsys):
    (tmp_path / "spec.json").write_text(spec_of(2000).to_json())
    asked = ["run", str(tmp_path / "spec.json"), "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*asked, "--memory-limit", "0.001"]) == 2
    assert "of memory, but at most 0.001 GB is allowed" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert main([*asked, "--memory-limit", "-1"]) == 2
    assert "above 0" in capsys.readouterr().err
