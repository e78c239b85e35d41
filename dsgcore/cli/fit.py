"""Command ``dsg-lab fit METHOD DATA --target COLUMN --out DIR``."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from dsgcore.baselines import COMPETITORS
from dsgcore.cli.ending import Line, Made, bar, note
from dsgcore.cli.options import reading_of
from dsgcore.cli.places import check_files, check_folder, holds_fields, json_file
from dsgcore.cli.scores import FACTS, MACHINE, MODEL, PREPARATION
from dsgcore.cli.sweep import typed_value
from dsgcore.core.durations import TimeLeft
from dsgcore.core.files import whole_files
from dsgcore.core.parameters import Choice, ParameterError, quoted
from dsgcore.data.reading import LOCAL, Features, File, Recipe
from dsgcore.data.reading.binary import is_large
from dsgcore.data.reading.file import is_whole, training_labels
from dsgcore.data.reading.labels import pair_ids
from dsgcore.data.rows import PartedTable
from dsgcore.estimators.auc import QSGS2AUC
from dsgcore.estimators.base import FunctionalGradientEstimator
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.estimators.ps3vt import PS3VT
from dsgcore.estimators.s3vm import TSGS3VM
from dsgcore.estimators.similar_unlabeled import TSGSU
from dsgcore.models import load_model
from dsgcore.solver.loop import Iterate
from dsgcore.solver.model_files import ModelError

METHODS = {cls.__name__: cls for cls in (QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU)}
# Methods that need all rows in memory.
IN_MEMORY = {"PS3VT": PS3VT} | {
    cls.__name__: cls for setting, own in COMPETITORS.items() if setting != "similar_unlabeled" for cls in own
}
_METHOD = Choice("METHOD", None, options=(*METHODS, *IN_MEMORY))
RESULTS = (MODEL, FACTS, PREPARATION)
# Checkpoint file of a stopped run, and its seed if none is given. With another seed it would be another run.
CHECKPOINT, SEED = "checkpoint.npz", 0
_LEARNED = ("n_iter_", "step_size_", "lam_", "classes_", "threshold_", "thresholds_", "shift_", "prior_")


def fit(given: argparse.Namespace) -> Made:
    """Train a method on the rows of a file or a folder, and write its model."""
    kind = _kind_of(given.method)
    estimator = kind(**_parameters(kind, given.set or ()))
    check_folder(given.out, RESULTS, [given.data], _is_own)
    check_files(json_file(given), [given.data])
    _check_finished(estimator, given)
    given.out.mkdir(parents=True, exist_ok=True)  # fail before any computation if the folder is not writable
    if given.method in IN_MEMORY:
        return _fit_in_memory(estimator, given)
    checkpoint, progress = given.out / CHECKPOINT, _Progress(estimator.n_iter, is_quiet=given.quiet)
    kept = f"the iterations so far are in {checkpoint}, and the same command continues from them"
    try:
        training = _train(estimator, given, checkpoint, progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(kept if checkpoint.exists() else "nothing is kept") from None
    with whole_files(given.out, RESULTS) as part:
        estimator.model_.save(part / RESULTS[0])
        facts = _write_facts(part, estimator, given, training)
    checkpoint.unlink(missing_ok=True)
    progress.line.end()
    return _made(estimator, given, facts)


def _check_finished(estimator: Any, given: argparse.Namespace) -> None:
    """Raise if the folder holds the finished model of another command; the same command may replace its own model."""
    try:
        facts = json.loads((given.out / RESULTS[1]).read_text(encoding="utf-8"))
        then = {name: facts[name] for name in ("method", "data")}
        earlier = [then, facts["options"], facts["parameters"]]
    except (OSError, ValueError, KeyError, TypeError):
        return  # not written by fit
    now = {"method": given.method, "data": str(given.data)}
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
    """Return the options that decide what the table means, as plain data."""
    plain: dict[str, Any] = json.loads(json.dumps(reading_of(given) | {"scaling": given.scaling}))
    return plain | {"drop": sorted(set(given.drop))}


def _kind_of(method: str) -> type[Any]:
    name = str(_METHOD.check(method))
    return METHODS.get(name) or IN_MEMORY[name]


def _fit_in_memory(estimator: Any, given: argparse.Namespace) -> Made:
    """Train a method that needs all rows in memory; write its model, or the whole estimator."""
    progress = _Progress(0, is_quiet=given.quiet)
    training = _training(given, estimator, progress.read)
    progress.notes = training.notes
    progress.print_notes()
    progress.line.show(f"training {given.method} on {len(training.X):,} rows")
    estimator.fit(training.X[:], training.y)
    is_model = hasattr(estimator, "model_") and hasattr(estimator.model_, "save")
    files = (MODEL if is_model else MACHINE, *RESULTS[1:])
    with whole_files(given.out, files) as part:
        if is_model:
            estimator.model_.save(part / MODEL)
        else:
            joblib.dump(estimator, part / MACHINE)
        facts = _write_facts(part, estimator, given, training)
    progress.line.end()
    return _made(estimator, given, facts)


def _parameters(kind: type[Any], said: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of NAME=VALUE."""
    known = kind().get_params()
    found: dict[str, Any] = {"random_state": SEED} if "random_state" in known else {}
    for one in said:
        name, is_given, value = one.partition("=")
        if not is_given or name not in known:
            raise ParameterError(f"--set must be NAME=VALUE, of {', '.join(known)}, got {one!r}")
        found[name] = typed_value(value)
    return found


def _train(
    estimator: FunctionalGradientEstimator, given: argparse.Namespace, checkpoint: Path, progress: _Progress
) -> Training:
    """Train from the checkpoint's iterations on; return what the estimator was trained on."""
    training = _training(given, estimator, progress.read)
    progress.say(training.notes)
    estimator.fit(training.X, training.y, checkpoint=checkpoint, every=given.every, callback=progress.made)
    return training


@dataclass(frozen=True)
class Training:
    """Points and labels of a table, and the preparation that made them."""

    X: Any
    y: Any
    notes: tuple[str, ...]
    features: tuple[str, ...]  # columns of the table
    recipe: Recipe
    preparation: Features
    classes: list[Any] | None = None  # in the order of the estimator's codes, if these are its labels


def _training(given: argparse.Namespace, estimator: Any, tell: Any) -> Training:
    """Read the command's table: in memory if it fits, else only the rows that are needed."""
    if is_large(given.data):
        return _large(given, labels_of(estimator), tell)
    file, labels = File.of_path(given.data), labels_of(estimator)
    recipe = file.recipe("classes" if labels == "pairs" else labels, is_asked=True, **reading_of(given))
    if labels == "pairs":
        table = file.table(recipe)
        features = Features(recipe, LOCAL, given.scaling).fit(table.frame)
        y = pair_ids(table.frame[recipe.label()], recipe)
        notes, X, classes = (*table.notes[1:], *features.sentences("all rows")), features.transform(table.frame), None
    else:
        data, features = file.prepared(recipe, labels, scaling=given.scaling)
        found = training_labels(data.y, data.class_names, is_ordered=labels == "ordinal")
        notes, X, (y, classes) = data.report[1:], data.X, found
    if recipe.format == "svmlight":
        recipe = replace(recipe, **file.table(recipe).frame.attrs)
    features.recipe = recipe
    return Training(X, y, tuple(notes), features.columns, recipe, features, classes)


def labels_of(estimator: Any) -> str:
    """Return the kind of labels that a method learns from."""
    kind = type(estimator)
    if kind is TSGSU and estimator.y_holds == "pairs":
        return "pairs"
    return "ordinal" if getattr(kind, "is_ordered", False) else "binary" if kind in METHODS.values() else "classes"


def _large(given: argparse.Namespace, labels: str, tell: Any) -> Training:
    """Return rows that are read when they are needed, with the same options as those in memory."""
    table = PartedTable.of_path(given.data, tell).prepared(labels, given.scaling, **reading_of(given))
    names, features = table.classes, table.features
    found = None if labels == "pairs" else [int(name) if is_whole(names) else name for name in names]
    return Training(table.rows, table.y, tuple(table.notes), features.columns, features.recipe, features, found)


def _facts(estimator: Any, given: argparse.Namespace, training: Training) -> dict[str, Any]:
    """Return facts about a model that its file does not hold: its training, and its decision thresholds."""
    learned = {name.strip("_"): getattr(estimator, name) for name in _LEARNED if hasattr(estimator, name)}
    facts = {
        "method": given.method,
        "data": str(given.data),
        "target": training.recipe.label(),
        "unlabeled": given.unlabeled,
        "options": _options(given),
        "features": list(training.features),
        "recipe": training.recipe.to_dict(),
        "parameters": estimator.get_params(),
        **{name: np.asarray(value).tolist() for name, value in learned.items()},
    }
    return facts if training.classes is None else facts | {"classes": training.classes, "has_codes": True}


def _write_facts(folder: Path, estimator: Any, given: argparse.Namespace, training: Training) -> dict[str, Any]:
    facts = _facts(estimator, given, training)
    (folder / RESULTS[1]).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    joblib.dump(training.preparation, folder / PREPARATION)
    return facts


def _made(estimator: Any, given: argparse.Namespace, facts: dict[str, Any]) -> Made:
    """Return the iterations of a fit, and the folder of its files."""
    said = f"{given.method} is trained"
    if hasattr(estimator, "n_iter_") and hasattr(estimator, "n_iter"):
        t = estimator.n_iter_
        state = "and has settled" if t < estimator.n_iter else "which are all of n_iter"
        said += f" in {t} iterations, {state}"
    return Made(facts | {"out": given.out}, f"{said}. The model is in {given.out}.")


class _Progress:
    """Progress of a fit: parts that have been read, then iterations."""

    def __init__(self, n_iter: int, *, is_quiet: bool) -> None:
        self.n_iter, self.line = n_iter, Line(is_quiet=is_quiet)
        self.left: TimeLeft | None = None  # of the iterations, from the first one on
        self.notes: tuple[str, ...] = ()  # printed only once the first iteration shows that the input is usable

    def read(self, name: str, done: int, of: int) -> None:
        """Report that a part has been read, for its labels or its points."""
        self.line.show(f"{bar(done, of)} read {done} of {of}: {name}")

    def made(self, iterate: Iterate) -> None:
        """Report an iteration. Before the first one, print the notes about the training data."""
        self.print_notes()
        t = iterate.t
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
