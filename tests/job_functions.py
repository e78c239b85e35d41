"""Functions that the tests of background jobs run in other processes; this module imports little."""

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np

from dsgcore.core.errors import DSGError


def double(x, *, report):
    return 2 * x


def parent_id(*, report):
    return os.getppid()


def tell_and_wait(file, *, report):
    """Write the process's number to a file, so that a test knows it, and wait until killed."""
    Path(f"{file}.part").write_text(str(os.getpid()))
    Path(f"{file}.part").rename(file)
    report(os.getpid())
    threading.Event().wait()


def report_one_and_wait(tasks, *, report):
    """Report the first task's result at once, and the others a minute later."""
    report(tasks[0].upper())
    threading.Event().wait(60)
    for task in tasks[1:]:
        report(task.upper())


def hold_the_interpreter(*, report):
    """Compute without ever letting another thread of this process run."""
    report(os.getpid())
    return 3 ** (10**9)


def do(code, *, report):
    """Carry out statements of Python, and return what they call `result`."""
    names = {"np": np, "os": os, "signal": signal, "DSGError": DSGError}
    exec(code, names)
    return names.get("result")


def say(text, *, report):
    print(text, flush=True)
    return text


def write_runs(file, spec, seeds, *, report):
    """Write a run of each seed into a store, as if they were made."""
    from dsgcore.experiments import Spec
    from dsgcore.studies import Store

    store = Store(file)
    for seed in seeds:
        own = Spec.from_dict(spec | {"seed": seed})
        made = {"seconds": 0.1, "stop_reason": "finished", "iterations": 6}
        made["last"] = {"score_test": 0.5, "objective": 1.0}
        store.put(own.to_json(), made | {"spec_sha256": own.sha256}, {"t": np.arange(6.0)})


def make_runs_and_be_killed_once(file, *shared, report):
    """Make runs; after the first one that is reported by any process, kill the own process, and leave `file` as a mark."""
    from dsgcore.studies.runs import make_runs

    def told(made):
        report(made)
        with suppress(FileExistsError):
            file.touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)

    make_runs(*shared, report=told)
