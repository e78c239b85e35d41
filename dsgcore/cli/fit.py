"""Command ``dsg-lab fit METHOD DATA --target COLUMN --out DIR``."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
import numpy as np

from dsgcore.baselines import COMPETITORS
from dsgcore.cli.ending import note
from dsgcore.cli.places import check_folder, holds_fields
from dsgcore.cli.progress import Line, bar
from dsgcore.cli.scores import FACTS, MACHINE, MODEL
from dsgcore.cli.sweep import typed_value
from dsgcore.core.durations import TimeLeft
from dsgcore.core.parameters import Choice, ParameterError, quoted
from dsgcore.core.whole_files import whole_files
from dsgcore.data.reading.names import listed_names
from dsgcore.data.reading.recipe import MISSING_WORDS
from dsgcore.data.rows import Rows, rows_of
from dsgcore.data.tables import NAMELESS, TARGET, as_parquet
from dsgcore.estimators.auc import QSGS2AUC
from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.estimators.ps3vt import PS3VT
from dsgcore.estimators.s3vm import TSGS3VM
from dsgcore.estimators.similar_unlabeled import TSGSU
from dsgcore.models import load_model
from dsgcore.solver.model_files import ModelError

METHODS = {cls.__name__: cls for cls in (QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU)}
# Methods that need all rows in memory.
IN_MEMORY = {"PS3VT": PS3VT} | {
    cls.__name__: cls for setting, own in COMPETITORS.items() if setting != "similar_unlabeled" for cls in own
}
_METHOD = Choice("METHOD", None, options=(*METHODS, *IN_MEMORY))
RESULTS = (MODEL, FACTS)
# Checkpoint file of a stopped run, and its seed if none is given. With another seed it would be another run.
CHECKPOINT, SEED = "checkpoint.npz", 0
# The model's file holds the method alone, without a linear model beside it.
ALONE = {"safe": False}
_LEARNED = ("n_iter_", "step_size_", "lam_", "classes_", "threshold_", "thresholds_", "shift_", "prior_")


def fit(given: argparse.Namespace) -> int:
    """Train a method on the rows of a file or a folder, and write its model; return the exit code."""
    kind = _kind_of(given.method)
    given.target = given.target or _usual_target(given.data)
    estimator = kind(**_parameters(kind, given.set or ()))
    check_folder(given.out, RESULTS, [given.data], _is_own)
    _check_finished(estimator, given)
    given.out.mkdir(parents=True, exist_ok=True)  # fail before any computation if the folder is not writable
    if given.method in IN_MEMORY:
        return _fit_in_memory(estimator, given)
    checkpoint, progress = given.out / CHECKPOINT, _Progress(estimator.n_iter, is_quiet=given.quiet)
    kept = f"the iterations so far are in {checkpoint}, and the same command continues from them"
    try:
        rows = _train(estimator, given, checkpoint, progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(kept if checkpoint.exists() else "nothing is kept") from None
    with whole_files(given.out, RESULTS) as part:
        estimator.model_.save(part / RESULTS[0])
        _write_facts(part, estimator, given, rows)
    checkpoint.unlink(missing_ok=True)
    progress.line.end()
    _say_what_was_made(estimator, given)
    return 0


def _check_finished(estimator: Any, given: argparse.Namespace) -> None:
    """Raise if the folder holds the finished model of another command; the same command may replace its own model."""
    try:
        facts = json.loads((given.out / RESULTS[1]).read_text(encoding="utf-8"))
        then = {name: facts[name] for name in ("method", "data", "target", "unlabeled")}
        earlier = [then, facts["options"], facts["parameters"]]
    except (OSError, ValueError, KeyError, TypeError):
        return  # not written by fit
    now = {"method": given.method, "data": str(given.data), "target": given.target, "unlabeled": given.unlabeled}
    if os.path.realpath(str(then["data"])) == os.path.realpath(given.data):
        now["data"] = then["data"]
    asked = [now, _options(given), json.loads(json.dumps(estimator.get_params()))]
    said = [
        f"{name} was {quoted(then.get(name))} and is {quoted(value)}"
        for then, now in zip(earlier, asked, strict=True)
        for name, value in now.items()
        if then.get(name) != value
    ]
    if said:
        raise ModelError(
            f"{given.out} holds the model of another run: {', '.join(said)}; "
            f"take another folder for --out, or delete {RESULTS[0]} and {RESULTS[1]} there"
        )


def _is_own(file: Path) -> bool:
    """Return True for a file that only this command writes: its facts, or the checkpoint of a stopped run."""
    if file.name == CHECKPOINT:
        with suppress(ModelError):
            return bool(load_model(file))
    return holds_fields(file, RESULTS[1], {"method", "parameters"})


def _options(given: argparse.Namespace) -> dict[str, Any]:
    """Return the options that decide how features are made of the columns."""
    return {
        "features": _plain(listed_names(given.features)),
        "drop": sorted(set(given.drop)),
        "missing_words": _plain(listed_names(given.missing_words)),
        "missing": given.missing,
        "scaling": given.scaling,
    }


def _plain(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)


def _kind_of(method: str) -> type[Any]:
    name = str(_METHOD.check(method))
    return METHODS.get(name) or IN_MEMORY[name]


def _usual_target(data: Path) -> str:
    """Return the column of the labels in a file whose columns have no names."""
    if data.suffix.lower() in NAMELESS:
        return TARGET
    raise ParameterError("--target must name the column of the labels, got none")


def _fit_in_memory(estimator: Any, given: argparse.Namespace) -> int:
    """Train a method that needs all rows in memory; write its model, or the whole estimator."""
    progress = _Progress(0, is_quiet=given.quiet)
    with TemporaryDirectory(prefix="dsgcore-rows-") as folder:
        rows, labels = _rows(given, Path(folder), progress.read)
        progress.notes = rows.notes
        progress.print_notes()
        progress.line.show(f"training {given.method} on {len(rows):,} rows")
        estimator.fit(rows[:], labels)
    is_model = hasattr(estimator, "model_") and hasattr(estimator.model_, "save")
    files = (MODEL if is_model else MACHINE, RESULTS[1])
    with whole_files(given.out, files) as part:
        if is_model:
            estimator.model_.save(part / MODEL)
        else:
            joblib.dump(estimator, part / MACHINE)
        _write_facts(part, estimator, given, rows)
    progress.line.end()
    _say_what_was_made(estimator, given)
    return 0


def _parameters(kind: type[Any], said: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of NAME=VALUE."""
    known = kind().get_params()
    usual = {"random_state": SEED, **ALONE}
    found: dict[str, Any] = {name: usual[name] for name in usual if name in known}
    for one in said:
        name, is_given, value = one.partition("=")
        if not is_given or name not in known:
            raise ParameterError(f"--set must be NAME=VALUE, of {', '.join(known)}, got {one!r}")
        found[name] = typed_value(value)
    for name, alone in ALONE.items():
        if found.get(name, alone) is not alone:
            raise ParameterError(
                f"--set {name} must be left out: `fit` trains {kind.__name__} alone, and `predict` scores it alone; "
                f"in Python {kind.__name__}({name}=True) averages it with simpler models"
            )
    return found


def _train(
    estimator: FunctionalGradientEstimator, given: argparse.Namespace, checkpoint: Path, progress: _Progress
) -> Rows:
    """Train from the checkpoint's iterations on; return the rows."""
    with TemporaryDirectory(prefix="dsgcore-rows-") as folder:
        rows, labels = _rows(given, Path(folder), progress.read)
        progress.say(rows.notes)
        estimator.fit(rows, labels, checkpoint=checkpoint, every=given.every, tell=progress.made)
    return rows


def _rows(given: argparse.Namespace, folder: Path, tell: Any) -> tuple[Rows, Any]:
    """Return the command's rows and labels; `folder` is for a copy of a file that is no Parquet file."""
    features = listed_names(given.features)
    words = MISSING_WORDS if given.missing_words is None else listed_names(given.missing_words)
    done = {"missing": given.missing, "scaling": given.scaling, "tell": tell}
    chosen = {"features": features, "drop": given.drop, "missing_words": words, "unlabeled": given.unlabeled}
    return rows_of(as_parquet(given.data, folder), given.target, **chosen, **done)


def _said(estimator: Any, given: argparse.Namespace, rows: Rows) -> dict[str, Any]:
    """Return facts about a model that its file does not hold: its training, and its decision thresholds."""
    learned = {name.strip("_"): getattr(estimator, name) for name in _LEARNED if hasattr(estimator, name)}
    return {
        "method": given.method,
        "data": str(given.data),
        "target": given.target,
        "unlabeled": given.unlabeled,
        "options": _options(given),
        "features": list(rows.names or ()),
        "preparation": None if rows.preparation is None else rows.preparation.to_dict(),
        "parameters": estimator.get_params(),
        **{name: np.asarray(value).tolist() for name, value in learned.items()},
    }


def _write_facts(folder: Path, estimator: Any, given: argparse.Namespace, rows: Rows) -> None:
    text = json.dumps(_said(estimator, given, rows), indent=2) + "\n"
    (folder / RESULTS[1]).write_text(text, encoding="utf-8")


def _say_what_was_made(estimator: Any, given: argparse.Namespace) -> None:
    """Print the iterations of a fit, what its model leaves out, and the folder of its files."""
    if given.quiet:
        return
    said = f"{given.method} is trained"
    if (t := getattr(estimator, "n_iter_", None)) is not None:
        state = "and has settled" if t < estimator.n_iter else "which are all of n_iter"
        said += f" in {t} iterations, {state}"
    if "safe" in estimator.get_params():
        said += f"; it is the method alone, as {given.method}(safe=False) in Python"
    print(f"{said}. The model is in {given.out}.")


class _Progress:
    """Progress of a fit: parts that have been read, then iterations."""

    def __init__(self, n_iter: int, *, is_quiet: bool) -> None:
        self.n_iter, self.line = n_iter, Line(is_quiet=is_quiet)
        self.left: TimeLeft | None = None  # of the iterations, from the first one on
        self.notes: tuple[str, ...] = ()  # printed only once the first iteration shows that the input is usable

    def read(self, name: str, done: int, of: int) -> None:
        """Report that a part has been read, for its labels or its points."""
        self.line.show(f"{bar(done, of)} read {done} of {of}: {name}")

    def made(self, t: int) -> None:
        """Report an iteration. Before the first one, print the notes about the training data."""
        self.print_notes()
        if self.left is None:
            self.left = TimeLeft()
            self.left.skip(t)
        self.line.show(f"{bar(t, self.n_iter)} {t} of at most {self.n_iter} iterations{self.left.text(t, self.n_iter)}")

    def say(self, notes: Sequence[str]) -> None:
        """Keep the notes about the training data. They are printed even with --quiet."""
        self.notes = tuple(notes)

    def print_notes(self) -> None:
        """Print the notes about the training data, once."""
        if self.notes:
            self.line.end()
            note("\n".join(self.notes))
        self.notes = ()
