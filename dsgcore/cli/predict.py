"""The command ``dsg-lab predict MODEL DATA --out DIR``."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext

from dsgcore.cli.sweep import INTERRUPTED, bar, on_cluster
from dsgcore.data.reading.names import listed_names
from dsgcore.scoring.parquet import score_parquet


def predict(given: argparse.Namespace) -> int:
    """Write a model's values at the points of Parquet files; return the exit code."""
    features = listed_names(given.features)
    tell = (lambda done, of, new: None) if given.quiet else _show
    try:
        with nullcontext() if given.dask is None else on_cluster(given.dask) as cluster:
            executor = None if cluster is None else cluster[0]
            score_parquet(given.model, given.data, given.out, features=features, executor=executor, tell=tell)
    except KeyboardInterrupt:
        print(f"\ndsg-lab: stopped; the files in {given.out} are kept, and the same command continues", file=sys.stderr)
        return INTERRUPTED
    if not given.quiet:
        print(file=sys.stderr)
    return 0


def _show(done: int, of: int, new: int) -> None:
    print(f"\r{bar(done, of)} {done} of {of} parts, {new} new", end="", file=sys.stderr, flush=True)
