"""Background jobs in real processes: results, one sentence for whatever goes wrong, and nothing left behind."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, Future
from contextlib import closing
from importlib import import_module
from pathlib import Path

import job_functions as functions
import pytest
from cases import each
from clocks import until

from dsgcore.jobs import JobError, JobQueue, JobState, ThreadJob, memory, tasks, worker
from dsgcore.jobs.tasks import ClusterJob
from dsgcore.jobs.worker import ForkServer, fork_server
from pages.shell.warm_up import NEEDED

PATIENCE = 60  # seconds, on a busy machine
MEGABYTE = 2**20


@pytest.fixture
def queue():
    with JobQueue(2) as queue:
        yield queue


def is_alive(process):
    """Whether a process of this number exists, be it a zombie."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def done(job):
    assert job.wait(PATIENCE)
    return job


def begun(queue, tmp_path, **options):
    """Submit a job that waits for ever, and return it with the number of its process."""
    file = tmp_path / f"pid-{len(list(tmp_path.iterdir()))}"
    job = queue.submit(functions.tell_and_wait, str(file), **options)

    def has_begun():
        job.keep()  # a busy machine takes a while, in which it is wanted
        return file.exists()

    until(has_begun)
    return job, int(file.read_text())


def test_a_job_returns_what_its_function_returns_and_what_it_prints_does_not_mix_with_its_messages(queue, capfd):
    job = done(queue.submit(functions.double, 21))
    assert (job.state, job.result, job.error) == (JobState.DONE, 42, "")
    assert job.seconds > 0
    fork_server().close()  # the next one writes where this test does
    assert done(queue.submit(functions.say, "a word")).result == "a word"
    fork_server().close()
    assert "a word" in capfd.readouterr().err


ENDS = {
    'raise DSGError("sigma must be positive, got -1")': "sigma must be positive, got -1",
    "np.zeros(3).reshape(2, 2)": "The process met an unexpected error, ValueError: cannot reshape",
    '{}["sigma"]': "The process met an unexpected error, KeyError: 'sigma'",
    "os.kill(os.getpid(), signal.SIGKILL)": "The background process was killed, probably because memory ran out",
    "os.kill(os.getpid(), signal.SIGSEGV)": "The background process crashed with signal 11 before it had a result. Start it again.",
    'open("/gone/own.csv")': "The file /gone/own.csv is gone. Put it back, or choose it again.",
    "os._exit(3)": "The background process ended with code 3 before it had a result",
    "result = lambda x: x": "The process met an unexpected error",
}


@pytest.mark.parametrize("code", ENDS)
def test_whatever_goes_wrong_is_one_sentence(queue, code):
    job = done(queue.submit(functions.do, code))
    assert job.state is JobState.FAILED
    assert job.error.startswith(ENDS[code])
    assert "\n" not in job.error
    assert job.result is None


def test_where_no_worker_can_be_started_it_is_said_and_the_next_job_runs(monkeypatch, queue):
    with monkeypatch.context() as patch:
        patch.setattr(ForkServer, "start_worker", lambda *_: Path("/dev/null/none").read_bytes())
        job = done(queue.submit(functions.double, 1))
    assert job.state is JobState.FAILED
    assert job.error.startswith("The background process could not be started (")
    assert done(queue.submit(functions.double, 1)).result == 2


def test_a_job_that_takes_more_memory_than_its_limit_is_told_so_and_the_peak_is_measured_and_forgotten(queue):
    for code in ("np.ones(2**30, dtype=np.uint8)", "bytearray(2**30)"):
        job = done(queue.submit(functions.do, code, memory_limit=256 * MEGABYTE))
        assert job.state is JobState.FAILED
        assert job.error == "This needs more memory than its limit of 0.268435 GB."
    before = memory.forget_peak()
    held = bytearray(os.urandom(1)) * (256 * MEGABYTE)
    del held  # the peak stays
    assert memory.peak() - before > 200 * MEGABYTE


def test_a_cancelled_job_is_gone_also_while_it_starts_or_holds_its_interpreter(queue, tmp_path):
    waits, holds = begun(queue, tmp_path)[0], queue.submit(functions.hold_the_interpreter)
    for job in (waits, holds):
        until(lambda job=job: job.progress is not None)
        for _ in range(2):  # once more does nothing
            job.cancel()
            assert done(job).state is JobState.CANCELLED
        assert not is_alive(job.progress)
    for _ in range(5):
        job = queue.submit(functions.double, 1)
        job.cancel()
        assert done(job).state in (JobState.CANCELLED, JobState.DONE)
        assert (job.result is None) == (job.state is JobState.CANCELLED)


def test_a_job_that_uses_no_processor_is_killed_after_three_times_its_limit(queue, tmp_path):
    job = done(queue.submit(functions.tell_and_wait, str(tmp_path / "pid"), time_limit=0.2))
    assert (job.state, job.error) == (JobState.FAILED, "This takes longer than its limit of 0.2 s.")
    assert job._ended_at - job._ready_at >= 3 * 0.2


def test_no_more_jobs_run_at_a_time_than_allowed_and_they_begin_in_order(queue, tmp_path):
    (first, _), (second, _) = begun(queue, tmp_path), begun(queue, tmp_path)
    third, fourth = queue.submit(functions.double, 3), queue.submit(functions.double, 4)
    assert not third.wait(0.3)
    assert third.state is fourth.state is JobState.WAITING
    assert third.seconds == 0.0
    third.cancel()
    assert third.wait(60.0)  # without a turn
    first.cancel()
    assert done(fourth).result == 8
    assert second.state is JobState.RUNNING


def test_a_job_that_nobody_asks_for_any_more_is_cancelled_and_closing_the_queue_ends_all_jobs(queue, tmp_path):
    left, process = begun(queue, tmp_path, lease=0.5)
    assert done(left).state is JobState.CANCELLED
    assert not is_alive(process)
    jobs = [begun(queue, tmp_path), begun(queue, tmp_path)]
    waiting = queue.submit(functions.double, 1)
    queue.close()
    assert {job.state for job in (waiting, *(job for job, _ in jobs))} == {JobState.CANCELLED}
    assert not any(is_alive(process) for _, process in jobs)
    with pytest.raises(JobError, match="closed"):
        queue.submit(functions.double, 1)


def test_jobs_end_with_the_process_that_asked_for_them_however_it_ends(tmp_path):
    file = tmp_path / "pid"
    program = (
        "import sys, threading; sys.path.insert(0, sys.argv[1])\n"
        "import job_functions\n"
        "from dsgcore.jobs import shared_queue\n"
        "shared_queue().submit(job_functions.tell_and_wait, sys.argv[2])\n"
        "threading.Event().wait()\n"
    )
    command = [sys.executable, "-c", program, str(Path(__file__).parent), str(file)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[1]) as asking:
        until(file.exists)
        process = int(file.read_text())
        asking.send_signal(signal.SIGKILL)
    until(lambda: not is_alive(process))


def test_jobs_leave_no_threads_and_no_open_files(tmp_path):
    fork_server().get_ready()  # which stays
    threads = set(threading.enumerate())
    folder = Path(f"/proc/{os.getpid()}/fd")
    files = len(list(folder.iterdir())) if folder.is_dir() else 0
    with JobQueue(2) as queue:
        for job in [queue.submit(functions.double, i, lease=60.0) for i in range(4)]:
            done(job)
        cancelled, _ = begun(queue, tmp_path)
        cancelled.cancel()
        done(cancelled)
    until(lambda: set(threading.enumerate()) <= threads)
    assert (len(list(folder.iterdir())) if folder.is_dir() else 0) == files


@pytest.mark.skipif(not worker.CAN_FORK, reason="the system has no forks")
def test_the_fork_server_ends_when_nobody_has_needed_it_for_a_while(monkeypatch):
    serve = "serve(socket.socket(fileno=int(sys.argv[1])), 0.2)"
    monkeypatch.setattr(worker, "FORKS", f"import socket, sys; from dsgcore.jobs.worker import serve; {serve}")
    with closing(ForkServer()) as own:
        forks = [own.start_worker("os"), own.start_worker("os")]
        there = own._process
        for fork in forks:
            with pytest.raises(subprocess.TimeoutExpired):
                there.wait(0.3)  # as long as it has forks
            fork.stdin.close()
            assert fork.wait() == 1
            fork.stdout.close()
        assert there.wait(PATIENCE) == 0
        own.get_ready()
        assert own._process is not there
        assert own._process.wait(PATIENCE) == 0


def test_where_the_system_has_no_forks_a_job_is_a_new_interpreter(monkeypatch, queue):
    monkeypatch.setattr(worker, "CAN_FORK", False)
    fork_server().get_ready()
    assert done(queue.submit(functions.double, 2)).result == 4
    assert done(queue.submit(functions.parent_id)).result == os.getpid()
    killed = done(queue.submit(functions.do, "os.kill(os.getpid(), signal.SIGKILL)"))
    assert killed.error.startswith("The background process was killed")


def test_an_error_after_the_result_does_not_stop_the_queue(queue, capfd):
    def fail(result):
        raise KeyError(result)

    assert [done(queue.submit(functions.double, i, on_done=fail)).result for i in range(3)] == [0, 2, 4]
    assert capfd.readouterr().err.count("raise KeyError") == 3


def test_work_in_a_thread_that_fails_as_nobody_expected_says_so(capfd):
    def work(check):
        raise sqlite3.OperationalError("database or disk is full")

    job = done(ThreadJob(work, lease=60.0))
    said = "The process met an unexpected error, OperationalError: database or disk is full"
    assert (job.state, job.error) == (JobState.FAILED, said)
    assert "in work" in capfd.readouterr().err
    assert job.seconds == job.seconds > 0.0  # it no longer grows


def test_a_cancelled_job_on_a_cluster_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(tasks, "wait", lambda *_: pytest.fail("it waits"))
    job = ClusterJob(Future(), print, "runs")
    job.cancel()
    job.wait(10.0)
    assert job.is_over
    assert job.error == ""


@each("error", [CancelledError(), AttributeError("'NoneType' object has no attribute 'with_traceback'")])
def test_a_cluster_that_stops_is_no_error_of_the_job(error):
    future = Future()
    future.set_exception(error)
    with pytest.raises(JobError, match=r"^the cluster has stopped\. Finished runs are kept$"):
        _ = ClusterJob(future, print, "runs").is_over


def test_every_module_that_the_app_imports_beforehand_exists():
    for module in NEEDED:
        import_module(module)
