"""Runs of a study as trials in an Optuna storage, which optuna-dashboard shows."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dsgcore.core.parameters import quoted
from dsgcore.studies.axes import Axis, StudyError
from dsgcore.studies.spec_list import AnyStudy
from dsgcore.studies.store import DIVERGED, StoredRun
from dsgcore.studies.study import Study, StudyRun

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.storages import BaseStorage, RDBStorage
    from optuna.trial import FrozenTrial

# The attribute of a trial by which a run is found again.
KEY = "sha256"
DIGITS_OF_NAME = 12
MISSING = "trials need the package optuna: install dsg-lab[optuna]"


def optuna_name(study: Study) -> str:
    """Return the name of a study in an Optuna storage. More seeds or another budget do not change it."""
    plain = {name: part for name, part in study.to_dict().items() if name not in ("seeds", "budget")}
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
    return f"dsg-lab {study.spec.problem.name} {digest[:DIGITS_OF_NAME]}"


class OptunaTrials:
    """Writer of a study's runs to an Optuna storage. Each run is one trial, and is written once.

    A trial has the axes' values as parameters and the test score as its value, which Optuna maximises. Its user
    attributes are the seed, the objective, the seconds, the state and the digest of the spec. A run that has diverged is
    a trial that failed.

    Several writers can share a database. A storage that is not a database is for one writer at a time.

    Parameters
    ----------
    study : Study
    storage : str or optuna.storages.BaseStorage
        A URL, such as ``"sqlite:///trials.db"``, or a storage object.

    Raises
    ------
    StudyError
        If Optuna is not installed, if the storage cannot be used, or if the study is only a list of specs.
    """

    def __init__(self, study: AnyStudy, storage: str | BaseStorage) -> None:
        if not isinstance(study, Study):
            raise StudyError("an Optuna storage is for a study along axes, got a list of specs")
        self._axes = study.axes
        name = optuna_name(study)
        with _refused(storage), ExitStack() as opened:
            self._database = _database(storage, opened)
            self._trials = _study_of(name, self._database or storage)
            self._others = self._trials if self._database is None else _study_of(name, _reader(self._database, opened))
            self._known = _digests(self._trials)
            self._distributions = {axis.name: _distribution(axis) for axis in study.axes}
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Close the connections to the database."""
        self._opened.close()

    def add(self, run: StudyRun, stored: StoredRun | None) -> None:
        """Write a finished run, unless it is there already. An unfinished one (None) is not written."""
        if stored is None or stored.sha256 in self._known:
            return
        from optuna.trial import TrialState, create_trial

        has_failed = stored.state == DIVERGED or stored.score is None
        attributes = {"seed": run.seed, "objective": stored.objective, "seconds": stored.seconds, "state": stored.state}
        trial = create_trial(
            state=TrialState.FAIL if has_failed else TrialState.COMPLETE,
            value=None if has_failed else stored.score,
            params={axis.name: value for axis, value in zip(self._axes, run.values, strict=True)},
            distributions=self._distributions,
            user_attrs={**attributes, KEY: stored.sha256},
        )
        trial.datetime_start = trial.datetime_complete - timedelta(seconds=stored.seconds)
        with suppress(_WrittenError):
            self._add(trial)
        self._known.add(stored.sha256)

    def _add(self, trial: FrozenTrial) -> None:
        """Add a trial, unless another writer has added it.

        Optuna locks the study in the transaction of a new trial. A look just before the commit therefore misses nothing.
        """

        def check(session: object = None) -> None:
            if trial.user_attrs[KEY] in _digests(self._others):
                raise _WrittenError

        if self._database is None:
            check()
            self._trials.add_trial(trial)
            return
        from sqlalchemy import event

        session = self._database.scoped_session()
        event.listen(session, "before_commit", check)
        try:
            self._trials.add_trial(trial)
        finally:
            event.remove(session, "before_commit", check)


class _WrittenError(StudyError):
    """Another writer has added this trial."""


def _digests(trials: Any) -> set[str | None]:
    return {trial.user_attrs.get(KEY) for trial in trials.get_trials(deepcopy=False)}


@contextmanager
def _refused(storage: str | BaseStorage) -> Iterator[None]:
    """Raise `StudyError` if Optuna is missing, or if the storage cannot be used."""
    try:
        from optuna import exceptions
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise StudyError(MISSING) from None
    try:
        yield
    except (SQLAlchemyError, exceptions.OptunaError, ImportError) as error:
        reason = str(error).splitlines()[0]
    except ValueError:  # a port that is no number; the text may hold a part of the password
        reason = "it is not a valid URL"
    else:
        return
    shown = _without_password(storage) if isinstance(storage, str) else storage
    raise StudyError(f"the Optuna storage {quoted(shown)} cannot be used: {_without_password(reason)}")


def _without_password(text: str) -> str:
    """Return a text with asterisks for the passwords in its URLs."""
    text = re.sub(r"(://[^:/\s]*):\S*@", r"\1:***@", text)
    return re.sub(r"(?i)(\w*(?:pass|pwd|secret|token)\w*=)[^&\s'\"]*", r"\1***", text)


def _database(storage: str | BaseStorage, opened: ExitStack) -> RDBStorage | None:
    """Return the storage if it is a database, or open it if it is a URL."""
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import SQLAlchemyError

    if not isinstance(storage, str):
        return storage if isinstance(storage, RDBStorage) else None
    try:
        database = RDBStorage(storage)
    except SQLAlchemyError:  # Another writer may have created the same tables at this moment.
        database = RDBStorage(storage)
    return _closed_later(database, opened)


def _reader(database: RDBStorage, opened: ExitStack) -> RDBStorage:
    """Open a second connection: it shows what others have committed while the first one is in a transaction."""
    from optuna.storages import RDBStorage

    return _closed_later(RDBStorage(database.url, engine_kwargs=database.engine_kwargs), opened)


def _closed_later(database: RDBStorage, opened: ExitStack) -> RDBStorage:
    opened.callback(database.engine.dispose)
    opened.callback(database.remove_session)
    return database


def _study_of(name: str, storage: BaseStorage) -> Any:
    """Return the study of that name in a storage, which is created if it is not there."""
    from optuna import create_study

    return create_study(study_name=name, storage=storage, direction="maximize", load_if_exists=True)


def _distribution(axis: Axis) -> BaseDistribution:
    """Return the distribution of an axis: a range of numbers, or a choice."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    values = axis.values
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        return CategoricalDistribution(tuple(dict.fromkeys(values)))
    kind = IntDistribution if all(isinstance(value, int) for value in values) else FloatDistribution
    return kind(min(values), max(values), log=axis.said.get("scale") == "log" and min(values) > 0)
