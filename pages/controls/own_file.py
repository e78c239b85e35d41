"""A session's uploaded file, as a setting's page knows it, read in a process apart. Only the session holds the bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NoReturn

import streamlit as st

from dsgcore.core.cost import GIGABYTE
from dsgcore.core.errors import DSGError
from dsgcore.data import DATASETS, DataError, Dataset, DatasetEntry
from dsgcore.data.datasets import OF_OWN
from dsgcore.data.reading import Recipe, Step
from dsgcore.experiments import FileStore, Setting, Spec, load_split
from dsgcore.experiments.data_of import SECONDS, begin_reading, facts_of, found_on, results_of, usual_of
from dsgcore.experiments.engine import Budget
from dsgcore.experiments.spec import FILE
from dsgcore.jobs import Job, JobState
from pages.shell.plain_text import plain

_GOING = "_reading"
SECONDS_BEFORE_A_WORD = 0.5
TICK_SECONDS = 0.2
_numbers = count()  # of the buttons, each of which is for one job alone


def take_steps_apart(content: bytes, name: str, step: Step) -> list[tuple[Step, Any]]:
    """Take a step of a file's reading, and the usual next ones, as `take_steps` does.

    A click that arrives meanwhile ends this drawing of the page. The next drawing waits for the same process.
    """
    going: dict[tuple[bytes, Step], Job] = st.session_state.setdefault(_GOING, {})
    wanted = content, step
    for other in going.keys() - {wanted}:
        going.pop(other).cancel()
    if wanted not in going:
        going[wanted] = begin_reading(content, name, step)
    job = going[wanted]
    if not job.wait(SECONDS_BEFORE_A_WORD):
        # Show the progress until the job is over, with a button to cancel it.
        place = st.empty()
        with place.container():
            bar = st.progress(0.0, text="Reading the file")
            st.button("Cancel", key=f"cancel-reading-{next(_numbers)}", icon=":material/close:", on_click=job.cancel)
        while not job.wait(TICK_SECONDS):
            said = f"{job.progress or 'getting ready'} · {job.seconds:.0f} s, at most about {SECONDS:.0f}"
            said = "waiting for other files" if job.state is JobState.WAITING else said
            bar.progress(min(1.0, job.seconds / SECONDS), text=f"Reading the file: {said}")
        place.empty()
    del going[wanted]
    return results_of(job, step)


TITLE = "Your own file"
_STORE = "_files"
# The largest data that a page loads, because many sessions share the server.
DATA_BUDGET = Budget(memory=GIGABYTE // 2)
LAST = "_last_file"  # the state of the file that the session used last


@dataclass(frozen=True)
class OwnFile:
    """The facts about an uploaded file that a setting's page needs."""

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
    found: Mapping[str, float] = field(default_factory=dict)  # numbers that the estimator finds on the training points
    report: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, dataset: Dataset, name: str, recipe: Recipe) -> OwnFile:
        """Return the description of a file, from the data set that was made of it."""
        return cls(
            name=name,
            sha256=dataset.sha256,
            recipe=recipe,
            d=dataset.X.shape[1],
            class_names=dataset.class_names,
            sigma=1.0 / dataset.X.shape[1],  # of standardised columns, until `with_numbers` has the training points
            report=dataset.report,
            left_out=dataset.left_out,
            **facts_of(dataset),
        )

    def facts(self) -> dict[str, Any]:
        """Return the facts from which the controls start, for the link."""
        return {name: getattr(self, name) for name in _FACTS} | {"classes": len(self.class_names)}

    @classmethod
    def from_link(cls, linked: Mapping[str, Any]) -> OwnFile | None:
        """Return a file that is not read yet, from the facts in its link, or None if the link lacks some."""
        facts = linked.get("facts")
        if not isinstance(facts, dict) or not all(_is_good(name, facts.get(name)) for name in (*_FACTS, "classes")):
            return None
        class_names = tuple(f"class {k + 1}" for k in range(facts["classes"]))
        own: dict[str, Any] = {name: facts.get(name) for name in _FACTS} | {"found": facts.get("found") or {}}
        return cls(linked["name"], linked["sha256"], Recipe(), **own, class_names=class_names)


# The facts in a link, so that the controls can start from the file's values before it is read.
_FACTS = ("n", "d", "n_known", "n_pairs", "share", "sigma", "found")
_MOST = {
    **{"n": 10**9, "d": 10**6, "n_known": 10**9, "n_pairs": 10**9, "classes": 1000},
    **{"share": 1.0, "sigma": 1e9, "lam": 1e3, "tau_I": 1e3, "tau_S": 1e3, "step_size": 1e6, "radius": 1e6},
}


def _is_good(name: str, value: object) -> bool:
    if name == "found":
        return value is None or (
            isinstance(value, dict) and all(own in _MOST and _is_good(own, one) for own, one in value.items())
        )
    if name == "n_pairs" and value is None:
        return True
    kinds = int if name in ("n", "d", "n_known", "n_pairs", "classes") else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and 0 <= value <= _MOST[name]


def store() -> FileStore:
    files: FileStore = st.session_state.setdefault(_STORE, FileStore(take_steps_apart, DATA_BUDGET))
    return files


@dataclass
class Choosing:
    """The state of a setting's page with its file: which file, the recipe that its widgets started from, and the result."""

    name: str
    sha256: str
    begun: Recipe
    is_from_link: bool = False
    instead_of: str | None = None  # the file that the link was made for
    format: Recipe | None = None  # for which the roles were guessed
    label: str | None = None
    roles: dict[str, str] | None = None  # that the editor started with
    edited: dict[str, str] | None = None
    version: int = 0
    visit: int = -1  # the visit in which its widgets were last drawn
    own: OwnFile | None = None  # the result of the last reading
    suited: set[str] = field(default_factory=set)  # pages whose controls have values that suit the file


def choosing_key(problem: type[Setting]) -> str:
    """Return the key of a setting's `Choosing` in the session's state."""
    return f"_choosing_{problem.name}"


def own_file(problem: type[Setting]) -> OwnFile | None:
    """Return the file of a setting's page: the result of reading it, or until then the facts from the link."""
    return read_file(problem) or st.session_state.get(linked_key(problem))


def read_file(problem: type[Setting]) -> OwnFile | None:
    """Return the file that was read for a setting's page, or None."""
    choosing: Choosing | None = st.session_state.get(choosing_key(problem))
    return None if choosing is None else choosing.own


def linked_key(problem: type[Setting]) -> str:
    """Return the key, in the session's state, of the facts from a link about a file that is not read yet."""
    return f"_linked_file_{problem.name}"


def entry_of(problem: type[Setting], name: str) -> DatasetEntry:
    """Return the entry of a data set. The entry of the session's own file suits every setting."""
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
    raise DataError("an uploaded file is read, it cannot be generated")


def suited_to_own(problem: type[Setting]) -> dict[str, Any]:
    """Return the values that suit the file: those of the estimator, as it takes them by default."""
    own = own_file(problem)
    if own is None:
        return {}
    return {"sigma": own.sigma, **_usual(problem, own), **own.found}


def _usual(problem: type[Setting], own: OwnFile) -> dict[str, Any]:
    facts = {name: getattr(own, name) for name in ("n", "n_known", "n_pairs", "share")}
    return usual_of(problem, **facts, n_classes=len(own.class_names))


def with_numbers(problem: type[Setting], own: OwnFile) -> OwnFile:
    """Return a file's facts with the numbers that the estimator finds for its training points, if they can be split."""
    usual = _usual(problem, own)
    data = {"name": FILE, "path": own.name, "sha256": own.sha256, "recipe": own.recipe.to_dict(), **OF_OWN}
    try:
        spec = Spec.from_dict({"setting": problem.name, "data": data | {"n_labeled": usual["n_labeled"]}})
        found = found_on(problem, load_split(spec, files=store()), usual)
    except DSGError:  # the run will say what is wrong
        return own
    return replace(own, sigma=found.pop("sigma", own.sigma), found=found)


def offer_own(key: str, dataset: str, on_use: Callable[[], object]) -> None:
    """Draw a button that goes back to the session's file, if a page shows another set; `key` is that of its picker."""
    last: Choosing | None = st.session_state.get(LAST)
    if dataset == FILE or last is None or last.sha256 not in store():
        return

    def use() -> None:
        st.session_state[key] = FILE
        on_use()

    st.button(f"Use {plain(last.name)}", icon=":material/upload_file:", type="tertiary", key=f"own-{key}", on_click=use)


def file_in_link(name: str, sha256: str, recipe: Recipe | None, facts: Mapping[str, Any] | None = None) -> str:
    """Return the file's name, its recipe, and the facts from which the controls start, as text for the link.

    The recipe is complete, because a missing entry would be guessed from the file again.
    """
    given = {} if recipe is None else recipe.to_dict()
    said = {"name": name, "sha256": sha256, "recipe": given} | ({} if facts is None else {"facts": dict(facts)})
    return json.dumps(said, separators=(",", ":"))
