"""Exports of a run: a script that repeats it bit for bit, and a summary."""

from __future__ import annotations

import platform
from importlib.metadata import version
from inspect import signature
from typing import Any

import numpy as np

from dsgcore import estimators
from dsgcore.core.parameters import finite
from dsgcore.experiments.run import Run, StopReason
from dsgcore.experiments.spec import FILE, Setting, Spec
from dsgcore.multiclass.problem import PRECONDITIONED

# Numbers that a run finds for itself, which its estimator would find by another rule.
AUTOMATIC = ("step_size", "tau_I")
_SCRIPT = '''"""Repeat one run of {title}: the same data, labels, batches and random features.

Writes history.csv (one row for each iteration) and model.npz. {needs}
"""
{imports}

SPEC = r"""
{spec}
"""

{run}
run.advance({iterations})
run.history.write_csv("history.csv")
run.result.save("model.npz")
last = run.history.last()
objective = last.get("objective_average", last["objective"])
print(f"{{run.t}} iterations, objective {{objective:.6g}}, test {score_name} {{run.result_score:.6g}}")
'''
_PLAIN = {
    "needs": "Needs the package dsg-lab.",
    "imports": "\nfrom dsgcore.experiments import Run, Spec",
    "run": "run = Run(Spec.from_json(SPEC))",
}
_WITH_FILE = {
    # A file's name may hold anything, so it is kept out of the docstring.
    "needs": "Needs the package dsg-lab, and beside this script the file\nthat the spec names, whose SHA-256 is checked.",
    "imports": """
from pathlib import Path

from dsgcore.core.errors import DSGError
from dsgcore.experiments import Run, Spec, load_split""",
    "run": """spec = Spec.from_json(SPEC)
try:
    split = load_split(spec, folder=Path(__file__).parent)
except (DSGError, OSError) as error:
    raise SystemExit(f"{error}. Put the spec's file of data beside {Path(__file__).name}.") from None
run = Run(spec, split)""",
}
_FIT = """

# The same run as a scikit-learn estimator. In y_train, -1 means unlabeled.
# If the function still moves at the end, fit says so in a ConvergenceWarning.
from dsgcore import {name}
from dsgcore.experiments import load_split

split = load_split(Spec.from_json(SPEC){folder})
model = {name}(
{arguments}
)
model.fit(split.X_train, split.y_train)
print(f"{name}: test {score_name} {{model.score(split.X_test, split.y_test):.6g}}")
"""


def script(run: Run) -> str:
    """Return a Python script that repeats a run so far; after a whole run that no slider changed, also as an estimator's fit.

    If the spec uses a file, the file must be beside the script, under its name. The script checks its digest.
    """
    from dsgcore.experiments.race import title  # here, because it imports the competitors

    spec = run.spec
    parts = _WITH_FILE if spec.data.name == FILE else _PLAIN
    words = {"title": title(spec, ""), "score_name": spec.problem.score_name}
    text = _SCRIPT.format(spec=spec.to_json(indent=2), iterations=run.tried, **words, **parts)
    estimator, other_names = estimator_of_run(spec)
    if estimator is None or spec.changes or run.stop_reason not in (StopReason.FINISHED, StopReason.SETTLED):
        return text
    measured = run.history.last()
    values = vars(spec.kernel) | vars(spec.solver) | vars(spec.problem)
    values |= {"kernel": type(spec.kernel).name, "random_state": spec.seed}
    values |= {name: measured[name] for name in AUTOMATIC if values.get(name) is None and name in measured}
    values |= {"is_orthogonal": False, **other_names}  # as a setting has it
    if values.get("is_full_gradient"):
        values["batch_size"] = None
    own = [name for name in signature(estimator).parameters if name in values]
    return text + _FIT.format(
        name=estimator.__name__,
        folder=", folder=Path(__file__).parent" if spec.data.name == FILE else "",
        arguments="\n".join(f"    {name}={values[name]!r}," for name in own),
        score_name=spec.problem.score_name,
    )


def estimator_of(setting: type[Setting]) -> Any:
    """Return the estimator of a setting, or None if it has none."""
    found = (getattr(estimators, name) for name in estimators.__all__)
    return next((e for e in found if getattr(getattr(e, "problem_class", None), "name", None) == setting.name), None)


def estimator_of_run(spec: Spec) -> tuple[Any, dict[str, Any]]:
    """Return the estimator that makes a spec's run, or None if none does, and what has another name in the spec."""
    problem: Any = spec.problem
    is_constant = spec.solver.schedule == "constant"
    if problem.engine_of_run != "softmax":
        own = estimator_of(type(problem))
        return (own if is_constant or own is None or "schedule" in signature(own).parameters else None), {}
    names = {"step_decay": 0.0, "is_preconditioned": problem.variant == PRECONDITIONED}
    return (estimators.DSGSoftmax if is_constant and not problem.is_full_gradient else None), names


def summary(run: Run) -> dict[str, Any]:
    """Return the result of a run as plain data: last row, stop reason, time, and versions of the software."""
    changed = [change.value for change in run.spec.changes if change.name == "step_size"]
    plain = {
        "spec_sha256": run.spec.sha256,
        "iterations": run.t,
        "model_iterations": run.model_t,
        "stop_reason": run.stop_reason.name.lower() if run.stop_reason else None,
        "message": run.stop_reason.value if run.stop_reason else "The run was not finished.",
        "automatic_step": run.engine.automatic_step if None in (run.spec.solver.step_size, *changed) else None,
        "seconds": round(run.clock[-1], 4) if run.clock else 0.0,
        "data": {
            "n_train": len(run.split.X_train),
            "n_labeled": len(run.labeled_rows),
            "n_test": len(run.split.X_test),
            "d": run.split.X_train.shape[1],
        },
        "score": run.result_score,
        "last": run.last_row(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": version("numba"),
            "scikit-learn": version("scikit-learn"),
        },
    }
    return dict(finite(plain))
