"""A spec from its file, and its data: made or read, also in a limited process, with labels hidden as the spec says."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsgcore.core.cost import GIGABYTE
from dsgcore.core.errors import DSGError
from dsgcore.core.files import read_text
from dsgcore.core.parameters import Flag, Real, parameter_like, quoted
from dsgcore.data import (
    DATASETS,
    OPTION_NAMES,
    DataError,
    Dataset,
    Split,
    broken,
    check_complete,
    convert,
    draw_pairs,
    edited,
    hide_labels,
)
from dsgcore.data.datasets import AS_IS, N_LABELED, OF_OWN
from dsgcore.data.edits import CHOICES
from dsgcore.data.reading import LOCAL, Features, File, Limits, Recipe, Source, Step, take_steps
from dsgcore.data.reading.labels import BINARY, has_known_order
from dsgcore.estimators import DSG, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM
from dsgcore.estimators.inputs import width
from dsgcore.experiments.engine import Budget, check_cost
from dsgcore.experiments.spec import (
    FILE,
    DataSpec,
    Setting,
    Spec,
    SpecError,
    n_labeled_on,
    plain_of,
    sections_of,
    usual_width_of,
)
from dsgcore.jobs import Job, JobState, shared_queue
from dsgcore.kernels import Gaussian
from dsgcore.settings import profile_of
from dsgcore.solver.parameters import SILENT

SHOWN = 12  # characters of a digest
# Most files and results of a session: of steps that give points or a table, and of each other step.
MOST_FILES, MOST_OTHERS, MOST = 3, 12, {"points": 2, "kept": 1}
# A user's file is read in a process with limits on memory and time, so that no file can stop the server.
MEMORY_LIMIT, SECONDS, AT_A_TIME = GIGABYTE, 20.0, 2
CANCELLED = "reading the file was cancelled: choose it again"
# Estimators that find numbers on the training points, by setting.
_ESTIMATORS = {"supervised": DSG, "auc": QSGS2AUC, "s3vm": TSGS3VM, "ordinal": QS3ORAO, "multiclass": PS3VT}
# Numbers of pairs at the slider's stops, and the largest default share of training points in pairs.
_STOPS, _PAIRS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000), 0.2


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
    try:
        plain = plain_of(text, "the spec")
        spec = Spec.from_dict(plain)
        return spec if spec.data.name != FILE else with_usual(spec, plain, file.parent)
    except SpecError as error:
        raise SpecError(f"{error} (in {file})") from None


def with_whole_path(spec: Spec, folder: Path) -> Spec:
    """Return a spec whose own file, also looked for in a folder, other processes find from any working folder."""
    if spec.data.name != FILE:
        return spec
    return replace(spec, data=replace(spec.data, path=str(path_of(spec.data, folder).resolve())))


def as_in_app(spec: Spec, *, has_recipe: bool) -> tuple[Spec, str | None]:
    """Return a spec that names its own file as the app does, by name, digest and whole recipe; and the folder of the file.

    Its run then has one digest, wherever the file is and whoever began the run. Without `has_recipe` the spec keeps its own.
    """
    data = spec.data
    if data.name != FILE:
        return spec, None
    path = path_of(data, None).resolve()
    if data.sha256 is not None and not has_recipe:
        return replace(spec, data=replace(data, path=path.name)), str(path.parent)
    made = _data_of(spec, None, None)
    assert isinstance(made, FileData)
    own, recipe = replace(data, path=path.name, sha256=made.sha256), made.recipe
    if has_recipe and data.convert is None and recipe.bins is None:  # what a page shows as chosen
        names = made.labels().class_names
        if spec.problem.labels in BINARY:
            recipe = replace(recipe, positive=names[-1])
        elif spec.problem.labels == "ordinal" and not recipe.order and not has_known_order(names):
            recipe = replace(recipe, order=names)
    if has_recipe:
        own = replace(own, recipe=recipe, target=DataSpec.target, positive=None)
    return replace(spec, data=own), str(path.parent)


def with_digest(spec: Spec, folder: Path | None = None) -> Spec:
    """Return a spec that names its own file, also looked for in a folder, by its digest, too, if the file is there.

    A changed file is another one.
    """
    if spec.data.name != FILE or spec.data.sha256 is not None or not path_of(spec.data, folder).is_file():
        return spec
    return replace(spec, data=replace(spec.data, sha256=digest_of(content_of(spec.data, None, folder))))


def with_usual(spec: Spec, said: Mapping[str, Any], folder: Path) -> Spec:
    """Return a spec with the estimator's values for all that its plain data do not say, if its data are a file."""
    if spec.data.name != FILE:
        return spec
    setting = type(spec.problem)
    sections = {**{name: sections_of(setting)[name] for name in ("problem", "solver")}, "data": (N_LABELED,)}
    own = {name: dict(said.get(name, {})) for name in sections}
    # Plain data of a whole spec name all fields but those that a spec leaves out as they are usual.
    lacking = {
        name: parameters
        for name, parameters in sections.items()
        if any(p.name not in own[name] for p in parameters if p.name not in SILENT)
    }
    has_width = said.get("kernel", {}).keys() & usual_width_of(setting, FILE, spec.kernel.name).keys()
    if has_width and not lacking:
        return spec
    made = _data_of(spec, None, folder)
    assert isinstance(made, FileData)
    dataset = made.labels()
    usual = usual_of(setting, **facts_of(dataset), n_classes=len(dataset.class_names))

    def filled(values: Mapping[str, Any]) -> Spec:
        found = {n: {p.name: values[p.name] for p in known if p.name in values} for n, known in lacking.items()}
        return Spec.from_dict({**said, **{name: {**found[name], **own[name]} for name in lacking}})

    split = load_split(filled(usual), folder=folder)
    found = found_on(setting, split, usual, own["problem"])
    spec = filled({**usual, **found})
    if has_width:
        return spec
    kernel, X = spec.kernel, split.X_train
    scale = {p.name: width(p, "scale", X, kernel.name) for p in kernel.parameters if isinstance(p, Real)}
    if isinstance(kernel, Gaussian) and "sigma" in found:  # many labels have a narrower kernel
        scale["sigma"] = found["sigma"]
    return replace(spec, kernel=replace(kernel, **scale))  # type: ignore[type-var]


def usual_of(
    setting: type[Setting], *, n: int, n_known: int, n_pairs: int | None, n_classes: int, share: float
) -> dict[str, Any]:
    """Return the estimator's defaults, by name, for a file with `n` rows, `n_known` labels and this share of positives.

    All labels but those held out for testing are learned from; of pairs those of the file, else a few.
    """
    n_tested = max(round(OF_OWN["test_share"] * n_known), 1)
    n_labeled, of_pairs = max(n_known - n_tested, 2), dict[str, float]()
    if setting.labels == "pairs":
        most = min(n_labeled_on(setting, FILE), (n_known - n_tested) * _PAIRS)
        few = max((stop for stop in _STOPS if stop <= most), default=1)
        n_labeled, prior = few if n_pairs is None else max(n_pairs, 1), round(min(max(share, 0.02), 0.98), 2)
        of_pairs["prior"] = prior if prior != 0.5 else 0.51  # about one half pairs say nothing
    rarest = min(share, 1.0 - share) if n_classes == 2 else 1.0 / max(n_classes, 2)
    # A profile's flags suit the set on which its page begins, the problem's own are those of the estimator.
    flags = {p.name: p.default for p in setting.parameters if isinstance(p, Flag)}
    profile = profile_of(setting)
    run = profile.usual(n - n_tested, n_labeled, max(rarest, 1e-6))
    return {**OF_OWN, **flags, **run, **profile.fitted(n_labeled), "n_labeled": n_labeled, **of_pairs}


def facts_of(dataset: Dataset) -> dict[str, Any]:
    """Return the numbers of rows, labels and pairs, and the share of positives among the labels."""
    known = dataset.y[dataset.y >= 0]
    return {
        "n": len(dataset.y),
        "n_known": len(known),
        "n_pairs": None if dataset.pairs is None else int(dataset.pairs.max()) + 1,
        "share": float(np.mean(known == 1)) if len(known) else 0.5,
    }


def found_on(
    setting: type[Setting], split: Split, usual: Mapping[str, Any], given: Mapping[str, Any] | None = None
) -> dict[str, float]:
    """Return the numbers that the estimator finds on the training points, by name; none if it finds none there.

    `usual` are its defaults, and `given` parameters of the setting, by name, that have other values.
    """
    try:
        sigma = width(parameter_like(Gaussian, "sigma"), "scale", split.X_train)
        if setting.labels != "pairs":
            estimator = _ESTIMATORS[setting.name]()
            known = estimator.get_params()
            estimator.set_params(**{name: value for name, value in (given or {}).items() if name in known})
            return {"sigma": sigma, **estimator.automatic_values(split.X_train, split.y_train)}
        problem: Any = setting(prior=usual["prior"])  # type: ignore[call-arg]
        return {"sigma": sigma, "lam": problem.usual_ridge(problem.rows(split.y_train))}
    except DSGError:  # the run will say what is wrong
        return {}


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
    made: Any = _data_of(spec, files, folder)
    data, labels = spec.data, spec.problem.labels
    is_file, is_pairs = isinstance(made, FileData), labels == "pairs"
    dataset = convert(made.labels() if is_file else made, data.convert or AS_IS, data.positive)
    scaling = "none" if is_file else data.scaling  # a file's points are prepared as its training rows say
    hide = draw_pairs if is_pairs else hide_labels
    split = hide(dataset, data.n_labeled, data.test_share, spec.seed, data.stratified, scaling=scaling)
    if (noise := data.label_noise) or data.prior_shift:
        split = broken(split, label_noise=noise, prior_shift=data.prior_shift, seed=spec.seed, is_pairs=is_pairs)
    if is_file:
        split = split.with_points(made.points(split.train_rows, data.scaling))
    return edited_split(spec, split, may_lack=may_lack) if data.edits else split


def preparation_of(spec: Spec, split: Split, folder: Path | None = None) -> Features:
    """Return the preparation of a run's points, for other tables with the columns of its data."""
    made, rows = _data_of(spec, None, folder), (split.before or split).train_rows
    if isinstance(made, FileData):
        assert made.features is not None
        return made.features(rows, spec.data.scaling)
    frame = pd.DataFrame(made.X, columns=list(made.feature_names))
    return Features(Recipe(), LOCAL, spec.data.scaling).fit(frame, np.sort(rows))


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
    check_cost(spec, None if files is None else files.budget, of_data=True)
    if data.name == FILE:
        labels = spec.problem.labels if data.convert is None else "classes"
        if files is not None:
            return read_file(data, labels, files=files)
        path = path_of(data, folder)
        version = path.stat().st_mtime_ns if path.exists() else None
        own = {name: getattr(data, name) for name in ("name", "path", "sha256", "recipe", "target", "positive")}
        return _parsed(DataSpec(**own), labels, folder, version)
    options = {name: getattr(data, name) for name in OPTION_NAMES if getattr(data, name) is not None}
    return DATASETS[data.name](seed=spec.seed, **options)


@lru_cache(maxsize=2)  # a table each
def _parsed(data: DataSpec, labels: str, folder: Path | None, version: int | None) -> FileData:
    """Return a file on the disk. The runs of a study parse its present version once."""
    return read_file(data, labels, folder=folder)


class FileStore:
    """The last few files of a session by their SHA-256, with the last results of reading each.

    `take` takes the steps of a file's reading. By default it is `take_steps`, in this process. `budget` limits all data that
    are loaded for the session; by default only the machine does.
    """

    def __init__(
        self, take: Callable[[bytes, str, Step], list[tuple[Step, Any]]] = take_steps, budget: Budget | None = None
    ) -> None:
        self._take, self.budget = take, budget
        self._contents: dict[str, bytes] = {}
        self._results: dict[tuple[str, Step], Any] = {}

    def add(self, content: bytes) -> str:
        """Store a file's bytes; return their digest. If the file could not be read before, the next step tries again."""
        digest = digest_of(content)
        refused = [key for key, result in self._results.items() if key[0] == digest and isinstance(result, DataError)]
        for key in refused:
            del self._results[key]
        self._contents[digest] = self._contents.pop(digest, content)
        while len(self._contents) > MOST_FILES:
            self._contents.pop(next(iter(self._contents)))
        return digest

    def __contains__(self, digest: object) -> bool:
        return digest in self._contents

    def __getitem__(self, digest: str) -> bytes:
        return self._contents[digest]

    @property
    def size(self) -> int:
        """Bytes that the files and the points made of them take."""
        points = (result.X.nbytes for result in self._results.values() if isinstance(result, Dataset))
        tables = (result.memory_usage().sum() for result in self._results.values() if isinstance(result, pd.DataFrame))
        return sum(map(len, self._contents.values())) + sum(points) + int(sum(tables))

    def result(self, digest: str, name: str, step: Step) -> Any:
        """Return the result of a step of a file's reading, taken once; raise `DataError` if it cannot be taken."""
        if (digest, step) not in self._results:
            for taken, result in self._take(self[digest], name, step):
                self._keep((digest, taken), result)
        found = self._results[digest, step]
        if isinstance(found, DataError):
            raise DataError(str(found))
        return found

    def _keep(self, key: tuple[str, Step], result: Any) -> None:
        """Store a result, and drop old ones. Points and tables take much memory."""
        self._results.pop(key, None)
        self._results[key] = result
        kind = key[1].name if key[1].name in MOST else ""
        alike = [known for known in self._results if (known[1].name if known[1].name in MOST else "") == kind]
        for known in alike[: -MOST.get(kind, MOST_OTHERS)]:
            del self._results[known]


@dataclass(frozen=True)
class FileData:
    """A spec's file, found and parsed: `labels` returns its data set, possibly without the points."""

    recipe: Recipe
    sha256: str
    labels: Callable[[], Dataset]
    _prepared: Callable[[bytes | None, str], Dataset]
    features: Callable[[NDArray[np.int64], str], Features] | None = None  # None for a file of a store

    def points(self, fitted_rows: NDArray[np.int64] | None = None, scaling: str = "none") -> Dataset:
        """Return the data set. Its points are prepared as those rows of the table say (default: all)."""
        return self._prepared(None if fitted_rows is None else _bytes_of(fitted_rows), scaling)


def _bytes_of(rows: NDArray[np.int64]) -> bytes:
    return np.sort(rows).astype(np.int64).tobytes()


def read_file(data: DataSpec, labels: str, *, files: FileStore | None = None, folder: Path | None = None) -> FileData:
    """Find and read a spec's file with labels "binary", "pairs", "ordinal" or "classes"; the rest as in `load_split`."""
    content, recipe = content_of(data, files, folder), data.recipe
    packed, digest = Source.of_bytes(content, file_name(str(data.path))), data.sha256 or digest_of(content)
    if recipe is not None and files is not None:  # the store's worker reads it
        take = partial(files.result, digest, packed.name)
        steps = partial(Step, "points", labels, recipe)
        return FileData(recipe, digest, lambda: take(steps(None, "none")), lambda rows, kind: take(steps(rows, kind)))
    file = File(packed, LOCAL if files is None else Limits())
    if recipe is None:  # guessed, but for the spec's own settings for labels
        names = file.table(file.sniff()).frame.columns
        positive = None if data.positive is None else str(data.positive)
        # Only the usual name may be missing: then the column is guessed.
        target = None if data.target == DataSpec.target and data.target not in names else data.target
        recipe = file.recipe(labels, target=target, positive=positive)

    @lru_cache(maxsize=2)  # all rows, and the training rows of a study's runs
    def prepared(rows: bytes | None, scaling: str) -> tuple[Dataset, Features]:
        return file.prepared(recipe, labels, None if rows is None else np.frombuffer(rows, np.int64), scaling)

    def features(rows: NDArray[np.int64], scaling: str) -> Features:
        own = prepared(_bytes_of(rows), scaling)[1]
        if recipe.format == "svmlight":
            own.recipe = replace(recipe, **file.table(recipe).frame.attrs)
        return own

    return FileData(
        recipe, digest, partial(file.labels, recipe, labels), lambda rows, kind: prepared(rows, kind)[0], features
    )


def file_name(path: str) -> str:
    """Return a file's name without folders, for paths of any operating system."""
    return PureWindowsPath(path).name or path


def place_of(data: DataSpec, folder: Path) -> Path:
    """Return the place of a spec's file in a folder of several files: two files can have the same name."""
    return folder / str(data.sha256)[:SHOWN] / file_name(str(data.path))


def path_of(data: DataSpec, folder: Path | None) -> Path:
    """Return the path of a spec's file: in a folder, if it is there, else as the spec says; of several the one with its digest."""
    path = Path(str(data.path))
    places = [] if folder is None else [place_of(data, folder), path, folder / path, folder / file_name(str(path))]
    there = [place for place in places if place.exists()]
    if data.sha256 is not None and len(there) > 1:
        there.sort(key=lambda place: not place.is_file() or digest_of(place.read_bytes()) != data.sha256)
    return there[0] if there else path


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a file's bytes, as a spec has it."""
    return hashlib.sha256(content).hexdigest()


def content_of(data: DataSpec, files: FileStore | None, folder: Path | None) -> bytes:
    """Return the file's bytes if they have the spec's digest; raise `DataError` otherwise."""
    name = file_name(str(data.path))
    digest = f" (SHA-256 {data.sha256[:SHOWN]}…)" if data.sha256 else ""
    if files is not None:
        if data.sha256 is None or data.sha256 not in files:
            raise DataError(f"this session does not have the file {quoted(name)}{digest}: choose it as your own file")
        return files[data.sha256]
    path = path_of(data, folder)
    if not path.exists():
        raise DataError(f"the file {quoted(name)}{digest} is needed, and is not beside the spec or study that names it")
    LOCAL.check_size(Source.of_path(path).size)
    content = path.read_bytes()
    digest = digest_of(content)
    if data.sha256 is not None and digest != data.sha256:
        raise DataError(
            f"the file {quoted(name)} differs from the spec's file: its SHA-256 begins with {digest[:SHOWN]}, not with "
            f"{data.sha256[:SHOWN]}"
        )
    return content


def begin_reading(content: bytes, name: str, step: Step) -> Job:
    """Begin to take a step of a file's reading, and the usual next ones; the progress names the current one."""
    queue = shared_queue("readers", AT_A_TIME)  # races and other long jobs have another queue
    return queue.submit(take_steps, content, name, step, memory_limit=MEMORY_LIMIT, time_limit=SECONDS)


def results_of(job: Job, step: Step) -> list[tuple[Step, Any]]:
    """Return the results of a job that is over, or the error that ended it."""
    if job.state is JobState.DONE:
        found: list[tuple[Step, Any]] = job.result
        return found
    said = f"the file cannot be read: {job.error[:1].lower()}{job.error[1:].rstrip('.')}"
    return [(step, DataError(CANCELLED if job.state is JobState.CANCELLED else said))]
