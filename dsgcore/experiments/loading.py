"""Loaders of a spec from its file, and of its data, with labels hidden as the spec says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dsgcore.core.files import read_text
from dsgcore.core.parameters import Real
from dsgcore.data import (
    OPTION_NAMES,
    Dataset,
    Split,
    broken,
    check_complete,
    convert,
    draw_pairs,
    edited,
    hide_labels,
    load,
)
from dsgcore.data.datasets import AS_IS, N_LABELED
from dsgcore.data.edits import CHOICES
from dsgcore.estimators.kernel import width
from dsgcore.experiments.cost import check_data, machine_budget
from dsgcore.experiments.file_data import FileData, FileStore, path_of, read_file
from dsgcore.experiments.kernel_words import usual_width_of
from dsgcore.experiments.own_values import found_on, usual_on
from dsgcore.experiments.settings import FILE, DataSpec, solver_parameters
from dsgcore.experiments.spec import Spec, named_in_errors
from dsgcore.solver.parameters import OF_A_FIT


def read_spec(file: Path) -> Spec:
    """Return the spec of a JSON file. On a data file, what the spec does not say is as the estimator takes it by default.

    A data file named without a folder is looked for beside the spec.

    Raises
    ------
    TextFileError
        If the file cannot be read.
    SpecError
        If the spec is not valid; the message names the file.
    DataError
        If the data must be read for these values, and cannot be.
    """
    text = read_text(file, "a spec in JSON")
    with named_in_errors(file):
        spec = Spec.from_json(text)
        return spec if spec.data.name != FILE else _with_usual(spec, json.loads(text), file.parent)


def _with_usual(spec: Spec, said: dict[str, Any], folder: Path) -> Spec:
    """Return a spec on a file with the estimator's values for all that its plain data do not say."""
    setting = type(spec.problem)
    sections = {"problem": setting.parameters, "solver": solver_parameters(setting), "data": (N_LABELED,)}
    own = {name: dict(said.get(name, {})) for name in sections}
    # Plain data of a whole spec name all fields but those of a fit that have their defaults.
    lacking = {
        name: parameters
        for name, parameters in sections.items()
        if any(p.name not in own[name] for p in parameters if p.name not in OF_A_FIT)
    }
    has_width = said.get("kernel", {}).keys() & usual_width_of(setting, FILE, spec.kernel.name).keys()
    if has_width and not lacking:
        return spec
    made = _data_of(spec, None, folder)
    assert isinstance(made, FileData)
    usual = usual_on(setting, made.labels())

    def filled(values: Mapping[str, Any]) -> Spec:
        usual_of = {n: {p.name: values[p.name] for p in known if p.name in values} for n, known in lacking.items()}
        return Spec.from_dict({**said, **{name: {**usual_of[name], **own[name]} for name in lacking}})

    split = load_split(filled(usual), folder=folder)
    found = found_on(setting, split, usual.get("prior", 0.5), own["problem"])
    spec = filled({**usual, **found})
    if has_width:
        return spec
    kernel, X = spec.kernel, split.X_train
    scale = {p.name: width(p, "scale", X, kernel.name) for p in kernel.parameters if isinstance(p, Real)}
    return replace(spec, kernel=replace(kernel, **scale))  # type: ignore[type-var]


def load_split(
    spec: Spec, *, files: FileStore | None = None, folder: Path | None = None, may_lack: bool = False
) -> Split:
    """Load a spec's data, hide labels as it says, and edit them.

    Parameters
    ----------
    spec : Spec
    files : FileStore, optional
        Contents of files. If given, a spec's file is looked for only here, never on the disk.
    folder : path, optional
        Second folder in which to look for a file named without a folder, after the working folder.
    may_lack : bool, default False
        True if edited data may lack labels or test points that a run needs, so that they can be shown.

    Raises
    ------
    DataError
        If the file is missing, is not the spec's or cannot be read, if labels cannot be hidden as the spec says, or if
        an edit does not suit the data.
    SpecError
        If generated data would need more memory than `files` allow, or than the machine has. Nothing is allocated then.
    """
    made = _data_of(spec, files, folder)
    if isinstance(made, FileData):
        split = _split(spec, made.labels(), "none")
        split = split.with_points(made.points(split.train_rows, spec.data.scaling))
    else:
        split = _split(spec, made, spec.data.scaling)
    return edited_split(spec, split, may_lack=may_lack)


def edited_split(spec: Spec, split: Split, *, may_lack: bool = False) -> Split:
    """Return a split after the spec's edits; parameters and errors as in `load_split`."""
    labels = spec.problem.labels
    made = edited(split, spec.data.edits, labels=labels, test_share=spec.data.test_share)
    if spec.data.edits and not may_lack:
        check_complete(made, labels=labels)
    return made


def with_choice(spec: Spec, choice: str, *, files: FileStore | None = None) -> Spec:
    """Return a spec with the edits that a lesson names, made for its data; one of `CHOICES`."""
    plain = replace(spec, data=replace(spec.data, edits=()))
    edits = CHOICES[choice](load_split(plain, files=files), spec.data.n_labeled)
    return replace(spec, data=replace(spec.data, edits=edits))


def load_dataset(
    spec: Spec, *, files: FileStore | None = None, folder: Path | None = None, fitted_rows: NDArray | None = None
) -> Dataset:
    """Load a spec's data with every label, before they are scaled or their classes converted.

    Parameters
    ----------
    spec, files, folder
        As in `load_split`, with the same errors.
    fitted_rows : ndarray of int, optional
        For a file: the rows that missing values and words are fitted on. `load_split` takes the training rows.

    Returns
    -------
    Dataset
    """
    made = _data_of(spec, files, folder)
    return made.points(fitted_rows) if isinstance(made, FileData) else made


def _data_of(spec: Spec, files: FileStore | None, folder: Path | None) -> FileData | Dataset:
    """Return a spec's file or its data set; a file keeps all its classes if a conversion makes two of them."""
    data = spec.data
    check_data(spec, machine_budget() if files is None or files.budget is None else files.budget)
    if data.name == FILE:
        labels = spec.problem.labels if data.convert is None else "classes"
        if files is not None:
            return read_file(data, labels, files=files)
        path = path_of(data, folder)
        version = path.stat().st_mtime_ns if path.exists() else None
        own = {name: getattr(data, name) for name in ("name", "path", "sha256", "recipe", "target", "positive")}
        return _parsed(DataSpec(**own), labels, folder, version)
    options = {name: getattr(data, name) for name in OPTION_NAMES if getattr(data, name) is not None}
    return load(data.name, seed=spec.seed, **options)


@lru_cache(maxsize=2)  # a table each
def _parsed(data: DataSpec, labels: str, folder: Path | None, version: int | None) -> FileData:
    """Return a file on the disk. The runs of a study parse its present version once."""
    return read_file(data, labels, folder=folder)


def _split(spec: Spec, dataset: Dataset, scaling: str) -> Split:
    """Hide a data set's labels as the spec says."""
    data, labels = spec.data, spec.problem.labels
    dataset = convert(dataset, data.convert or AS_IS, data.positive)
    hide = draw_pairs if labels == "pairs" else hide_labels
    split = hide(dataset, data.n_labeled, data.test_share, spec.seed, data.stratified, scaling=scaling)
    noise, shift, is_pairs = data.label_noise, data.prior_shift, labels == "pairs"
    return broken(split, label_noise=noise, prior_shift=shift, seed=spec.seed, is_pairs=is_pairs)
