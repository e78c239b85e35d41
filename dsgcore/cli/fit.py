"""Command ``dsg-lab fit METHOD DATA --target COLUMN --out DIR``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from dsgcore.cli.sweep import INTERRUPTED, bar, client_of
from dsgcore.cluster import ClusterError
from dsgcore.core.old_names import new_names
from dsgcore.core.parameters import Choice, ParameterError, quoted
from dsgcore.core.whole_files import whole_files
from dsgcore.data.out_of_core import Preparation, rows_of
from dsgcore.data.reading.names import listed_names
from dsgcore.data.reading.recipe import MISSING_WORDS
from dsgcore.estimators.auc import QSGS2AUC
from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.estimators.s3vm import TSGS3VM
from dsgcore.estimators.similar_unlabeled import TSGSU
from dsgcore.solver.model_files import ModelError

METHODS = {cls.__name__: cls for cls in (QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU)}
_METHOD = Choice("METHOD", None, options=tuple(METHODS))
RESULTS = ("model.npz", "fit.json")
# Checkpoint file of a stopped run, and its seed if none is given. With another seed it would be another run.
CHECKPOINT, SEED = "checkpoint.npz", 0
# The model's file holds the method alone, without a linear model beside it.
ALONE = {"safe": False}
_LEARNED = ("n_iter_", "step_size_", "lam_", "classes_", "threshold_", "thresholds_", "shift_", "prior_")


def fit(given: argparse.Namespace) -> int:
    """Train a method on the rows of Parquet files, and write its model; return the exit code."""
    estimator = METHODS[_METHOD.check(given.method)](**_parameters(given.method, given.set or ()))
    given.out.mkdir(parents=True, exist_ok=True)  # fail before any computation if the folder is not writable
    _check_finished(estimator, given)
    checkpoint, progress = given.out / CHECKPOINT, _Progress(estimator.n_iter, is_quiet=given.quiet)
    kept = f"the iterations so far are in {checkpoint}, and the same command continues from them"
    try:
        preparation = _train(estimator, given, checkpoint, progress)
    except KeyboardInterrupt:
        print(f"\ndsg-lab: stopped; {kept}", file=sys.stderr)
        return INTERRUPTED
    except ClusterError as error:
        progress.end()
        raise ClusterError(f"{error}; {kept}" if checkpoint.exists() else str(error)) from None
    with whole_files(given.out, RESULTS) as part:
        estimator.model_.save(part / RESULTS[0])
        (part / RESULTS[1]).write_text(
            json.dumps(_said(estimator, given, preparation), indent=2) + "\n", encoding="utf-8"
        )
    checkpoint.unlink(missing_ok=True)
    progress.end()
    return 0


def _check_finished(estimator: FunctionalGradientEstimator, given: argparse.Namespace) -> None:
    """Raise if the folder holds the finished model of another command; the same command may replace its own model."""
    try:
        then = json.loads((given.out / RESULTS[1]).read_text(encoding="utf-8"))
        then |= new_names(type(estimator), then.pop("parameters"))
        then |= {"scaling": (then["preparation"] or {"scaling": "none"})["scaling"]}
        then.setdefault("target", then.get("label"))  # its name in files of version 0.1.0
    except (OSError, ValueError, KeyError, TypeError):
        return  # not written by fit
    now = {"method": given.method, "data": str(given.data), "target": given.target, "scaling": given.scaling}
    if "unlabeled" in then:
        now["unlabeled"] = given.unlabeled
    if given.features is not None:
        now["features"] = given.features.split(",")
    now |= json.loads(json.dumps(estimator.get_params()))
    said = [
        f"{name} was {quoted(then.get(name))} and is {quoted(value)}"
        for name, value in now.items()
        if then.get(name, value) != value
    ]
    if said:
        raise ModelError(
            f"{given.out} holds the model of another run: {', '.join(said)}; "
            f"take another folder for --out, or delete {RESULTS[0]} and {RESULTS[1]} there"
        )


def _parameters(method: str, said: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of NAME=VALUE. A value is JSON, or text otherwise."""
    known = METHODS[method]().get_params()
    old: Mapping[str, str] = getattr(METHODS[method], "old_names", {})
    found: dict[str, Any] = {"random_state": SEED} | {name: ALONE[name] for name in ALONE if name in known}
    for one in said:
        name, is_given, value = one.partition("=")
        name = old.get(name, name)
        if not is_given or name not in known:
            raise ParameterError(f"--set must be NAME=VALUE, of {', '.join(known)}, got {one!r}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _train(
    estimator: FunctionalGradientEstimator, given: argparse.Namespace, checkpoint: Path, progress: _Progress
) -> Preparation | None:
    """Train, here or on a cluster, from the checkpoint's iterations on; return the steps applied to every row."""
    features = listed_names(given.features)
    words = MISSING_WORDS if given.missing_words is None else listed_names(given.missing_words)
    with nullcontext() if given.dask is None else client_of(given.dask) as client:
        done = {"missing": given.missing, "scaling": given.scaling, "tell": progress.read}
        chosen = {"features": features, "drop": given.drop, "missing_words": words, "unlabeled": given.unlabeled}
        rows, labels = rows_of(given.data, given.target, **chosen, **done)
        progress.say(rows.notes)
        estimator.fit(rows, labels, client=client, checkpoint=checkpoint, every=given.every, tell=progress.made)
    return rows.preparation


def _said(
    estimator: FunctionalGradientEstimator, given: argparse.Namespace, preparation: Preparation | None
) -> dict[str, Any]:
    """Return facts about a model that its file does not hold: its training, and its decision thresholds."""
    learned = {name.strip("_"): getattr(estimator, name) for name in _LEARNED if hasattr(estimator, name)}
    return {
        "method": given.method,
        "data": str(given.data),
        "target": given.target,
        "unlabeled": given.unlabeled,
        "features": list(getattr(estimator, "feature_names_in_", ())),
        "preparation": None if preparation is None else preparation.to_dict(),
        "parameters": estimator.get_params(),
        **{name: np.asarray(value).tolist() for name, value in learned.items()},
    }


class _Progress:
    """Progress bar on the error stream: parts that have been read, then iterations."""

    def __init__(self, n_iter: int, *, is_quiet: bool) -> None:
        self.n_iter, self.is_quiet = n_iter, is_quiet
        self.notes: tuple[str, ...] = ()  # printed only once the first iteration shows that the input is usable

    def read(self, name: str, done: int, of: int) -> None:
        """Report that a part has been read, for its labels or its points."""
        self._show(f"{bar(done, of)} read {done} of {of}: {name}")

    def made(self, t: int) -> None:
        """Report an iteration. Before the first one, print the notes about the training data."""
        self._print_notes()
        self._show(f"{bar(t, self.n_iter)} {t} of at most {self.n_iter} iterations")

    def say(self, notes: Sequence[str]) -> None:
        """Keep the notes about the training data. They are printed even with --quiet."""
        self.notes = tuple(notes)

    def _print_notes(self) -> None:
        if self.notes:
            self.end()
            print(*self.notes, sep="\n", file=sys.stderr)
        self.notes = ()

    def _show(self, text: str) -> None:
        if not self.is_quiet:
            print(f"\r{text:<78}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the bar's line."""
        if not self.is_quiet:
            print(file=sys.stderr)
