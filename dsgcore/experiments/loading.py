"""A spec from its file, and its data: loaded by name or from a file, with labels hidden as it says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from numpy.typing import NDArray

from dsgcore.core.kernel_widths import usual_width
from dsgcore.data import OPTION_NAMES, Dataset, Split, broken, convert, draw_pairs, hide_labels, load
from dsgcore.data.conversions import AS_IS
from dsgcore.experiments.file_data import FileStore, read_file
from dsgcore.experiments.settings import FILE
from dsgcore.experiments.spec import Spec
from dsgcore.experiments.widths import usual_width_of


def read_spec(file: Path) -> Spec:
    """Return the spec that a JSON file holds; a width that it leaves out suits the points of its own file of data.

    Parameters
    ----------
    file : path
        A file of data named without a folder is looked for beside it.

    Raises
    ------
    SpecError
        As `Spec.from_json`.
    DataError
        When the data must be read for the width, and cannot be.
    """
    text = file.read_text(encoding="utf-8")
    spec = Spec.from_json(text)
    said = json.loads(text).get("kernel", {})
    if spec.data.name != FILE or said.keys() & usual_width_of(type(spec.problem), FILE, spec.kernel.name).keys():
        return spec
    width = usual_width(spec.kernel.name, load_dataset(spec, folder=file.parent).X)
    return replace(spec, kernel=replace(spec.kernel, **width))  # type: ignore[type-var]


def load_split(spec: Spec, *, files: FileStore | None = None, folder: Path | None = None) -> Split:
    """Load a spec's data and hide labels as it says.

    Parameters
    ----------
    spec : Spec
    files : FileStore, optional
        Contents of files. Where it is given, a spec's file is looked for here and never on the disk.
    folder : path, optional
        Where a file named without a folder is looked for if it is not in the working folder.

    Returns
    -------
    Split

    Raises
    ------
    DataError
        When the file is missing, another one than the spec's, or cannot be read; or labels cannot be hidden so.
    """
    data = spec.data
    if data.name == FILE:
        make = read_file(data, _read_as(spec), files=files, folder=folder)
        dataset = make()
        split = _split(spec, dataset)
        return _split(spec, make(fitted_rows=split.train_rows)) if dataset.depends_on_rows else split
    return _split(spec, load_dataset(spec))


def load_dataset(
    spec: Spec, *, files: FileStore | None = None, folder: Path | None = None, fitted_rows: NDArray | None = None
) -> Dataset:
    """Load a spec's data with every label, before they are scaled or read as other classes.

    Parameters
    ----------
    spec, files, folder
        As in `load_split`.
    fitted_rows : ndarray of int, optional
        Of a file: the rows that missing values and words are fitted on, as the training rows are in `load_split`.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        When the file is missing, another one than the spec's, or cannot be read.
    """
    data = spec.data
    if data.name != FILE:
        options = {name: getattr(data, name) for name in OPTION_NAMES}
        return load(data.name, seed=spec.seed, **{k: v for k, v in options.items() if v is not None})
    return read_file(data, _read_as(spec), files=files, folder=folder)(fitted_rows=fitted_rows)


def _read_as(spec: Spec) -> str:
    """Return the kind of labels that a file is read with: a conversion makes two classes of several."""
    return spec.problem.labels if spec.data.convert is None else "classes"


def _split(spec: Spec, dataset: Dataset) -> Split:
    """Hide a data set's labels as the spec says."""
    data, labels = spec.data, spec.problem.labels
    dataset = convert(dataset, data.convert or AS_IS, data.positive)
    hide = draw_pairs if labels == "pairs" else hide_labels
    split = hide(dataset, data.n_labeled, data.test_share, spec.seed, data.stratified, scaling=data.scaling)
    noise, shift, is_pairs = data.label_noise, data.prior_shift, labels == "pairs"
    return broken(split, label_noise=noise, prior_shift=shift, seed=spec.seed, is_pairs=is_pairs)
