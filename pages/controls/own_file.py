"""A session's own file of data: what the setting's page needs to know of it. The bytes live in the session alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import streamlit as st

from dsgcore.core.kernel_widths import scale_sigma
from dsgcore.data import DATASETS, DataError, Dataset, DatasetEntry
from dsgcore.data.reading import Recipe
from dsgcore.experiments import FileStore, Setting
from dsgcore.experiments.settings import FILE, n_labeled_on
from dsgcore.settings import profile_of
from pages.controls.reading import ask_apart

TITLE = "Your own file"
_STORE = "_files"
# Numbers of labels, or of pairs, that the slider offers.
_STOPS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
# Training points are about this part of all; of them, at most so many are labeled, or in pairs, to begin with.
_TRAINING, _LABELED, _PAIRS = 0.7, 0.55, 0.2


@dataclass(frozen=True)
class OwnFile:
    """What a setting's page knows of the file that was read for it."""

    name: str
    sha256: str
    recipe: Recipe
    n: int
    d: int
    n_known: int
    n_pairs: int | None
    class_names: tuple[str, ...]
    share: float
    sigma: float
    report: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, dataset: Dataset, name: str, recipe: Recipe) -> OwnFile:
        """Describe a file by the data set that was made of it."""
        known = dataset.y[dataset.y >= 0]
        return cls(
            name=name,
            sha256=dataset.sha256,
            recipe=recipe,
            n=len(dataset.y),
            d=dataset.X.shape[1],
            n_known=len(known),
            n_pairs=None if dataset.pairs is None else int(dataset.pairs.max()) + 1,
            class_names=dataset.class_names,
            share=float(np.mean(known == 1)) if len(known) else 0.5,
            sigma=scale_sigma(dataset.X),
            report=dataset.report,
            left_out=dataset.left_out,
        )

    def facts(self) -> dict[str, Any]:
        """Return what the controls begin with, as a link says it."""
        return {name: getattr(self, name) for name in _FACTS} | {"classes": len(self.class_names)}

    @classmethod
    def from_link(cls, linked: Mapping[str, Any]) -> OwnFile | None:
        """Return a file that is not read yet by what its link says; None if the link does not say enough."""
        facts = linked.get("facts")
        if not isinstance(facts, dict) or not all(_is_good(name, facts.get(name)) for name in (*_FACTS, "classes")):
            return None
        class_names = tuple(f"class {k + 1}" for k in range(facts["classes"]))
        own = {name: facts[name] for name in _FACTS}
        return cls(linked["name"], linked["sha256"], Recipe(), **own, class_names=class_names)


# What a link says of a file, so that the controls begin there with the file's values before it is read.
_FACTS = ("n", "d", "n_known", "n_pairs", "share", "sigma")
_MOST = {"n": 10**9, "d": 10**6, "n_known": 10**9, "n_pairs": 10**9, "classes": 1000, "share": 1.0, "sigma": 1e9}


def _is_good(name: str, value: object) -> bool:
    if name == "n_pairs" and value is None:
        return True
    kinds = (int, float) if name in ("share", "sigma") else int
    return isinstance(value, kinds) and not isinstance(value, bool) and 0 <= value <= _MOST[name]


def store() -> FileStore:
    """Return the session's files."""
    files: FileStore = st.session_state.setdefault(_STORE, FileStore(ask_apart))
    return files


@dataclass
class Choosing:
    """Where a setting's page is with its file: which one, the recipe that its widgets begin with, and what was read so."""

    name: str
    sha256: str
    begun: Recipe
    is_from_link: bool = False
    instead_of: str | None = None  # the file that the link was made for
    format: Recipe | None = None  # that the roles were guessed for
    label: str | None = None
    roles: dict[str, str] | None = None  # that the editor began with
    edited: dict[str, str] | None = None
    guessed: dict[str, str] = field(default_factory=dict)  # roles by the file alone
    carried: dict[str, str] = field(default_factory=dict)  # roles that were chosen on another page
    version: int = 0
    visit: int = -1  # in which its widgets were drawn last
    own: OwnFile | None = None  # as it was read last
    suited: set[str] = field(default_factory=set)  # the pages whose controls have the values that suit it

    @property
    def chosen(self) -> dict[str, str]:
        """Return the roles that a person has chosen."""
        return {name: role for name, role in (self.edited or {}).items() if self.guessed.get(name) != role}


def choosing_key(problem: type[Setting]) -> str:
    """Return where a session keeps how far a setting's page is with its file."""
    return f"_choosing_{problem.name}"


def own_file(problem: type[Setting]) -> OwnFile | None:
    """Return the file of a setting's page: as it was read, or as the link says of it until then."""
    return read_file(problem) or st.session_state.get(linked_key(problem))


def read_file(problem: type[Setting]) -> OwnFile | None:
    """Return the file that was read for a setting's page, if there is one."""
    choosing: Choosing | None = st.session_state.get(choosing_key(problem))
    return None if choosing is None else choosing.own


def linked_key(problem: type[Setting]) -> str:
    """Return where a session keeps what a link says of a file that is not read yet."""
    return f"_linked_file_{problem.name}"


def entry_of(problem: type[Setting], name: str) -> DatasetEntry:
    """Return what a data set says of itself; the session's own file is one that suits every setting."""
    if name != FILE:
        return DATASETS[name]
    own = own_file(problem)
    return DatasetEntry(
        name=FILE,
        title=TITLE,
        sentence="A table of your own, read in this session.",
        draw=_refuse,
        options=(),
        n=own.n_known if own else 1000,
        d=own.d if own else 2,
        n_unlabeled=own.n - own.n_known if own else 0,
        source="your own file",
        licence="not stated",
        class_names=own.class_names if own else ("negative", "positive"),
        target={"pairs": "binary"}.get(problem.labels, problem.labels),
    )


def _refuse(**options: float | None) -> NoReturn:
    raise DataError("a file of one's own is read, not made")


def suited_to_own(problem: type[Setting]) -> dict[str, float]:
    """Return the values that go with the file: the kernel's sharpness, how many labels, and of pairs the share of positives."""
    own = own_file(problem)
    if own is None:
        return {}
    suited = {"sigma": own.sigma, "n_labeled": _few(problem, own)}
    share = round(min(max(own.share, 0.02), 0.98), 2)
    if problem.labels == "pairs":
        suited["prior"] = share if share != 0.5 else 0.51  # of one half, pairs say nothing
    return suited


def usual_of_own(problem: type[Setting]) -> dict[str, Any]:
    """Return what a run on the file begins with, as the estimator's."""
    own = own_file(problem)
    if own is None:
        return {}
    rarest = min(own.share, 1.0 - own.share) if len(own.class_names) == 2 else 1.0 / max(len(own.class_names), 2)
    return dict(profile_of(problem).usual(round(own.n * _TRAINING), _few(problem, own), max(rarest, 0.01)))


def _few(problem: type[Setting], own: OwnFile) -> int:
    """Return how many labels or pairs to begin with."""
    usual, k = n_labeled_on(problem, FILE), len(own.class_names)
    if problem.labels == "pairs":
        most = own.n_pairs if own.n_pairs is not None else own.n_known * _TRAINING * _PAIRS
        return max((stop for stop in _STOPS if stop <= min(usual, most)), default=1)
    most = max(own.n_known * _TRAINING * _LABELED, k)
    wanted = min(max(usual, 2 * k), most)
    return max((stop for stop in _STOPS if stop <= wanted), default=2) if wanted >= 2 * k else max(k, 2)


def file_in_link(name: str, sha256: str, recipe: Recipe | None, facts: Mapping[str, Any] | None = None) -> str:
    """Return which file it is, how it is read, and what the controls begin with, as a link says it.

    All of the recipe is there: what is left out would be as it is guessed from the file, not as it was chosen.
    """
    given = {} if recipe is None else recipe.to_dict()
    said = {"name": name, "sha256": sha256, "recipe": given} | ({} if facts is None else {"facts": dict(facts)})
    return json.dumps(said, separators=(",", ":"))


def plain(text: str) -> str:
    """Return text that a page shows as it is: names in a file must not become links, pictures or formulas."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
