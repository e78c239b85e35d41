"""Fork server: a process that imports what jobs need, has one thread, and forks a worker for each job.

`dsgcore.jobs.starting` starts it and sends the requests. If the client ends, the server kills all workers.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import socket
import struct
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from dsgcore.jobs import worker

# A request holds the client's module path, and the modules to import.
# It may bring a worker's standard input and output, and the socket of its control.
LONGEST_REQUEST, HANDED_OVER = 2**16, 3
CODE = struct.Struct("i")
SECONDS_IN_WAITING = 600.0  # an idle server takes a quarter of a gigabyte
Workers = dict[socket.socket, BaseProcess]  # by the socket that asks for a worker's end, and is told its exit code


def serve(channel: socket.socket, seconds_in_waiting: float = SECONDS_IN_WAITING) -> None:
    """Fork and kill on request. Return when the client has ended, or when no request has come for a while."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client gets it, too, and closes the channel
    workers: Workers = {}
    is_idle = False
    while workers or not is_idle:
        ends = {process.sentinel: control for control, process in workers.items()}
        watched: list[Any] = [*workers, *ends, *([] if is_idle else [channel])]
        ready = wait(watched, None if workers else seconds_in_waiting)
        if not ready:
            is_idle = True
            channel.shutdown(socket.SHUT_RD)  # the client's next request fails, and it starts another server
            _take_request(channel, workers)  # perhaps one has come just now
        for each in ready:
            if each in ends:
                _report_end(ends[each], workers)
            elif each in workers:
                each.recv(1)
                workers[each].kill()
            elif each is channel and not _take_request(channel, workers):
                return _kill(workers)


def _take_request(channel: socket.socket, workers: Workers) -> bool:
    """Import the modules that a request names, and fork a worker if it asks for one; return False if there is none."""
    request, handed, _, _ = socket.recv_fds(channel, LONGEST_REQUEST, HANDED_OVER)
    if request:
        sys.path[:], modules = pickle.loads(request)
        _import(modules)
    if handed:
        inbox, outbox, control = handed
        _fork(inbox, outbox, socket.socket(fileno=control), channel, workers)
    return bool(request)


def _fork(inbox: int, outbox: int, control: socket.socket, channel: socket.socket, workers: Workers) -> None:
    kept_by_server = [channel, control, *workers]
    forks = multiprocessing.get_context("fork")
    process = forks.Process(target=_become_worker, args=(inbox, outbox, kept_by_server))
    try:
        process.start()
        workers[control] = process
    except OSError:  # no room for another process, which the client sees by the end of the socket
        control.close()
    os.close(inbox)
    os.close(outbox)


def _import(modules: list[str]) -> None:
    new = [module for module in modules if module not in sys.modules]
    for module in new:
        with suppress(Exception):  # the worker tries again, and reports the error
            import_module(module)
    if new:
        gc.collect()
        gc.freeze()  # the collector ignores existing objects, so forks continue to share their memory


def _become_worker(inbox: int, outbox: int, kept_by_server: list[socket.socket]) -> None:
    """Release the resources of the fork server, and do the job."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for one in kept_by_server:
        one.close()
    for own, standard in ((inbox, 0), (outbox, 1)):
        os.dup2(own, standard)
        os.close(own)
    worker.is_a_fork = True
    worker.main()


def _report_end(control: socket.socket, workers: Workers) -> None:
    process = workers.pop(control)
    process.join()
    with control, suppress(OSError):
        control.send(CODE.pack(process.exitcode))


def _kill(workers: Workers) -> None:
    for process in workers.values():
        process.kill()
