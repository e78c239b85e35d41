"""Command ``dsg-lab fit METHOD DATA --target COLUMN --out DIR``."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np

from dsgcore.baselines import COMPETITORS
from dsgcore.cli.ending import Made, Progress, bar, note
from dsgcore.cli.options import reading_of, typed_value
from dsgcore.cli.predict import FACTS, MACHINE, MODEL, PREPARATION
from dsgcore.comparing.methods import METHODS as COMPARED
from dsgcore.comparing.methods import Method
from dsgcore.core.files import whole_files
from dsgcore.core.parameters import Choice, ParameterError, check_names, quoted
from dsgcore.data.reading import LOCAL, Features, File
from dsgcore.data.reading.binary import is_large
from dsgcore.data.reading.cells import as_label
from dsgcore.data.reading.file import is_whole, training_labels
from dsgcore.data.reading.labels import pair_ids
from dsgcore.data.reading.unlabeled import labels_given
from dsgcore.data.rows import PartedTable
from dsgcore.estimators.auc import QSGS2AUC
from dsgcore.estimators.dsg import DSG, DSGSoftmax
from dsgcore.estimators.ordinal import QS3ORAO
from dsgcore.estimators.s3vm import TSGS3VM
from dsgcore.estimators.similar_unlabeled import TSGSU
from dsgcore.models import save_model
from dsgcore.solver.loop import Iterate
from dsgcore.solver.model_files import ModelError
from dsgcore.tuning.safe import Safe

# Methods that visit the rows a few at a time. All others need the rows in memory.
STREAMED = {cls.__name__: cls for cls in (QSGS2AUC, TSGS3VM, QS3ORAO, TSGSU, DSG)}
# The methods of `compare` by their names there, and those that it leaves out by their classes.
_RIVALS = [kind for setting, own in COMPETITORS.items() if setting != "similar_unlabeled" for kind in own]
_OTHERS = [TSGSU, DSG, DSGSoftmax, *(kind for kind in _RIVALS if not kind.is_everyday)]
METHODS = {**COMPARED, **{cls.__name__: Method(cls.__name__, (), True, 0, cls) for cls in _OTHERS}}
_METHOD = Choice("METHOD", None, options=tuple(METHODS))
# Checkpoint file of a stopped run, and its seed if none is given. With another seed it would be another run.
CHECKPOINT, SEED = "checkpoint.npz", 0
_LEARNED = ("n_iter_", "step_size_", "lam_", "classes_", "threshold_", "thresholds_", "shift_", "prior_")


def fit(given: argparse.Namespace) -> Made:
    """Train a method on the rows of a file or a folder, and write its model."""
    estimator = estimator_of(given.method, given.set or ())
    is_there = _check_finished(estimator, given)
    given.out.mkdir(parents=True, exist_ok=True)  # fail before any computation if the folder is not writable
    checkpoint, progress = given.out / CHECKPOINT, Progress(is_quiet=given.quiet)
    try:
        training = _training(
            given, labels_of(estimator), lambda name, n, of: progress.show(f"{bar(n, of)} read {n} of {of}: {name}")
        )
        _learn(estimator, training, given, progress)
    except KeyboardInterrupt:
        kept = f"the iterations so far are in {checkpoint}, and the same command continues from them"
        raise KeyboardInterrupt(kept if checkpoint.exists() else "nothing is kept") from None
    facts = _facts(estimator, given, training)
    model = getattr(estimator, "model_", None)
    is_model = isinstance(estimator, Safe) or hasattr(model, "save")
    with whole_files(given.out, (MODEL if is_model else MACHINE, FACTS, PREPARATION)) as part:
        if isinstance(estimator, Safe):
            save_model(estimator, part / MODEL)
        elif model is not None and is_model:
            model.save(part / MODEL)
        else:
            joblib.dump(estimator, part / MACHINE)
        (part / FACTS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
        joblib.dump(training.features, part / PREPARATION)
    checkpoint.unlink(missing_ok=True)
    said = f"{given.method} is trained"
    if hasattr(estimator, "n_iter_") and hasattr(estimator, "n_iter"):
        state = "and has settled" if estimator.n_iter_ < _most(estimator, training.y) else "which are all of n_iter"
        said += f" in {estimator.n_iter_} iterations, {state}"
    instead = ", in place of that of the same command" * is_there
    return Made(facts | {"out": given.out}, f"{said}. The model is in {given.out}{instead}.")


def _learn(estimator: Any, training: Training, given: argparse.Namespace, progress: Progress) -> None:
    """Train on the rows that the method learns from; a method that takes few at a time goes on from its checkpoint.

    The notes about the training data are printed once the first iteration, or the fit, shows that the data are usable.
    """
    X, y, waiting, most = training.X, training.y, ["\n".join(training.notes)], _most(estimator, training.y)

    def made(iterate: Iterate | None = None) -> None:
        is_new = not waiting
        if not is_new and (notes := waiting.pop()):
            note(notes)
        if iterate is not None:
            progress.part(iterate.t, most, f"{iterate.t} of at most {most} iterations", is_new=is_new)

    if given.method in STREAMED:
        estimator.fit(X, y, checkpoint=given.out / CHECKPOINT, every=given.every, callback=made)
    else:
        progress.show(f"training {given.method} on {len(X):,} rows")
        rows = slice(None) if METHODS[given.method].uses_unlabeled else np.flatnonzero(labels_given(y).is_labeled)
        estimator.fit(X[rows], y[rows])
    made()


def _most(estimator: Any, y: Any) -> int:
    """Return the largest number of iterations of a fit; 0 if the method has none."""
    return estimator.most_iterations(y) if hasattr(estimator, "most_iterations") else getattr(estimator, "n_iter", 0)


def _check_finished(estimator: Any, given: argparse.Namespace) -> bool:
    """Return True if the folder holds the finished model of the same command, which may replace it; raise if of another one."""
    try:
        facts = json.loads((given.out / FACTS).read_text(encoding="utf-8"))
        then = {name: facts[name] for name in ("method", "data")}
        earlier = [then, facts["options"], facts["parameters"]]
    except (OSError, ValueError, KeyError, TypeError):
        return False  # not written by fit
    now = {"method": given.method, "data": str(given.data)}
    if os.path.realpath(str(then["data"])) == os.path.realpath(given.data):
        now["data"] = then["data"]
    asked = [now, _options(given), json.loads(json.dumps(own_of(estimator).get_params()))]
    said = [
        f"{name} was {quoted(then.get(name))} and is {quoted(value)}"
        for then, now in zip(earlier, asked, strict=True)
        for name, value in now.items()
        if then.get(name) != value
    ]
    if said:
        there = [name for name in (MODEL, MACHINE, FACTS, PREPARATION) if (given.out / name).exists()]
        raise ModelError(
            f"{given.out} holds the model of another run: {', '.join(said)}; "
            f"take another folder for --out, or delete {', '.join(there)} there"
        )
    return True


def _options(given: argparse.Namespace) -> dict[str, Any]:
    """Return the options that decide what the table means, as plain data."""
    own = {"missing_words": given.missing_words, "scaling": given.scaling}
    plain: dict[str, Any] = json.loads(json.dumps(reading_of(given) | own))
    return plain | {"drop": sorted(set(given.drop))}


def estimator_of(method: str, said: Sequence[str]) -> Any:
    """Return the unfitted method of a name, with the parameters of NAME=VALUE."""
    estimator = METHODS[str(_METHOD.check(method))].make(SEED)
    own, found = own_of(estimator), {}
    for one in said:
        name, is_given, value = one.partition("=")
        if not is_given:
            raise ParameterError(f"--set must be NAME=VALUE, got {one!r}")
        check_names([name], own.get_params(), method, "parameter")
        found[name] = typed_value(value)
    own.set_params(**found)
    return estimator


def own_of(estimator: Any) -> Any:
    """Return the method itself, also of one that is averaged with simple models."""
    return estimator.estimator if isinstance(estimator, Safe) else estimator


@dataclass(frozen=True)
class Training:
    """Points and labels of a table, and the preparation that made them, which has the names of its columns and its recipe."""

    X: Any
    y: Any
    notes: Sequence[str]
    features: Features
    classes: list[Any] | None  # in the order of the estimator's codes, if these are its labels


def _training(given: argparse.Namespace, labels: str, tell: Any) -> Training:
    """Read the command's table: in memory if it fits, else only the rows that are needed."""
    if is_large(given.data):
        large = PartedTable.of(given.data, tell).prepared(labels, given.scaling, **reading_of(given))
        names = large.classes
        found = None if labels == "pairs" else [int(name) if is_whole(names) else as_label(name) for name in names]
        return Training(large.rows, large.y, large.notes, large.features, found)
    file = File.of_path(given.data)
    recipe = file.recipe("classes" if labels == "pairs" else labels, is_asked=True, **reading_of(given))
    classes: list[Any] | None = None
    notes: Sequence[str]
    if labels == "pairs":
        table = file.table(recipe)
        features = Features(recipe, LOCAL, given.scaling).fit(table.frame)
        frame = table.frame[features.is_kept(table.frame)]
        y, X = pair_ids(frame[recipe.label()]), features.transform(frame)
        notes = (*table.notes[1:], *features.sentences("all rows"))
    else:
        data, features = file.prepared(recipe, labels, scaling=given.scaling)
        notes, X = data.report[1:], data.X
        y, classes = training_labels(data.y, data.class_names, is_ordered=labels == "ordinal")
    if recipe.format == "svmlight":
        recipe = replace(recipe, **file.table(recipe).frame.attrs)
    features.recipe = recipe
    return Training(X, y, notes, features, classes)


def labels_of(estimator: Any) -> str:
    """Return the kind of labels that a method learns from."""
    kind = type(own_of(estimator))
    if kind is TSGSU and estimator.y_holds == "pairs":
        return "pairs"
    return "ordinal" if getattr(kind, "is_ordered", False) else "binary" if kind in STREAMED.values() else "classes"


def _facts(estimator: Any, given: argparse.Namespace, training: Training) -> dict[str, Any]:
    """Return facts about a model that its file does not hold: its training, and its decision thresholds."""
    learned = {name.strip("_"): getattr(estimator, name) for name in _LEARNED if hasattr(estimator, name)}
    facts = {
        "method": given.method,
        "data": str(given.data),
        "target": training.features.recipe.label(),
        "unlabeled": given.unlabeled,
        "options": _options(given),
        "features": list(training.features.columns),
        "recipe": training.features.recipe.to_dict(),
        "parameters": own_of(estimator).get_params(),
        **{name: np.asarray(value).tolist() for name, value in learned.items()},
    }
    return facts if training.classes is None else facts | {"classes": training.classes, "has_codes": True}
