"""Runs of a study as trials in an Optuna storage, which optuna-dashboard shows."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dsgcore.core.parameters import quoted
from dsgcore.studies.store import DIVERGED, Store, StoredRun
from dsgcore.studies.study import Axis, Study, StudyError, StudyRun

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

# The attribute of a trial by which a run is found again.
KEY = "sha256"
DIGITS_OF_NAME = 12
# Trials that are written while other sweeps that use the store wait.
AT_ONCE = 500
MISSING = "trials need the package optuna: install dsg-lab[optuna]"


def optuna_name(study: Study) -> str:
    """Return the name of a study in an Optuna storage. More seeds or another budget do not change it."""
    plain = {name: part for name, part in study.to_dict().items() if name not in ("seeds", "budget")}
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
    return f"dsg-lab {study.spec.problem.name} {digest[:DIGITS_OF_NAME]}"


def to_optuna(study: Study, store: Store, storage: str | BaseStorage) -> int:
    """Write a study's finished runs as trials of an Optuna storage, each once; return the number of new ones.

    A trial has the axes' values as parameters and the test score as its value, which Optuna maximises. Its user
    attributes are the seed, the objective, the seconds, the state and the digest of the spec. A run that has diverged is
    a trial that failed.

    Parameters
    ----------
    study : Study
    store : Store
        The finished runs. Sweeps that share a store write to an Optuna storage one after another.
    storage : str or optuna.storages.BaseStorage
        A URL, such as ``"sqlite:///trials.db"``, or a storage object. The study is created there if necessary.

    Raises
    ------
    StudyError
        If Optuna is not installed, or if the storage cannot be used.
    """
    try:
        import optuna
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise StudyError(MISSING) from None
    runs = {run.key: run for run in study.runs() if run.key is not None}
    stored, opened, number = list(store.get(runs).values()), None, 0
    try:
        for first in range(0, max(len(stored), 1), AT_ONCE):
            with store.opened() as connection:
                connection.execute("BEGIN IMMEDIATE")  # others wait here
                opened = opened or (optuna.storages.RDBStorage(storage) if isinstance(storage, str) else storage)
                trials = optuna.create_study(
                    study_name=optuna_name(study), storage=opened, direction="maximize", load_if_exists=True
                )
                known = {trial.user_attrs.get(KEY) for trial in trials.get_trials(deepcopy=False)}
                new = [one for one in stored[first : first + AT_ONCE] if one.sha256 not in known]
                trials.add_trials([_trial(study.axes, runs[one.sha256], one) for one in new])
                number += len(new)
    except (SQLAlchemyError, optuna.exceptions.OptunaError, ImportError) as error:
        reason = str(error).splitlines()[0]
    except ValueError:  # a port that is no number; the text may hold a part of the password
        reason = "it is not a valid URL"
    else:
        return number
    finally:
        if isinstance(opened, optuna.storages.RDBStorage) and opened is not storage:
            opened.remove_session()
            opened.engine.dispose()
    shown = _without_password(storage) if isinstance(storage, str) else storage
    raise StudyError(f"the Optuna storage {quoted(shown)} cannot be used: {_without_password(reason)}")


def _trial(axes: tuple[Axis, ...], run: StudyRun, stored: StoredRun) -> Any:
    from optuna.trial import TrialState, create_trial

    has_failed = stored.state == DIVERGED or stored.score is None
    attributes = {name: getattr(stored, name) for name in ("objective", "seconds", "state", KEY)}
    trial = create_trial(
        state=TrialState.FAIL if has_failed else TrialState.COMPLETE,
        value=None if has_failed else stored.score,
        params={axis.name: value for axis, value in zip(axes, run.values, strict=True)},
        distributions={axis.name: _distribution(axis) for axis in axes},
        user_attrs={"seed": run.seed, **attributes},
    )
    trial.datetime_start = trial.datetime_complete - timedelta(seconds=stored.seconds)
    return trial


def _distribution(axis: Axis) -> Any:
    """Return the distribution of an axis: a range of numbers, or a choice."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    values = axis.values
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        return CategoricalDistribution(tuple(dict.fromkeys(values)))
    kind = IntDistribution if all(isinstance(value, int) for value in values) else FloatDistribution
    return kind(min(values), max(values), log=axis.said.get("scale") == "log" and min(values) > 0)


def _without_password(text: str) -> str:
    text = re.sub(r"(://[^:/\s]*):\S*@", r"\1:***@", text)
    return re.sub(r"(?i)(\w*(?:pass|pwd|secret|token)\w*=)[^&\s'\"]*", r"\1***", text)
