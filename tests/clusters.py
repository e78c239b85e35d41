"""Clusters of processes: forks of one that has imported what these do, which takes a process longer than its part of a test."""

import logging
import multiprocessing

import pytest

pytest.importorskip("distributed", reason="distributed is not installed: pip install dsg-lab[dask]")

import dask
import distributed
from distributed.utils import get_mp_context

method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
dask.config.set({"distributed.worker.multiprocessing-method": method})
get_mp_context()  # lists its own imports at its first call, and never again
if method == "forkserver":
    multiprocessing.get_context(method).set_forkserver_preload(["distributed", "dsgcore.studies.preloaded"])


def cluster_of(n_workers):
    """Return a cluster of so many processes, of one thread each, which no limit of memory ends."""
    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL, "memory_limit": 0}
    return distributed.LocalCluster(n_workers=n_workers, processes=True, **options)
