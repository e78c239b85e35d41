"""Imported by a server of forks: what the runs of a study need is there then, imported, and compiled or loaded.

It has one thread, and nothing here begins another: a fork would not have it.
"""

from __future__ import annotations

from dsgcore.core._threads import set_workers
from dsgcore.experiments import Spec
from dsgcore.studies.work import make_run

_FEW = {"name": "two_moons", "n": 40, "n_labeled": 4}
_SHORT = {"n_iter": 2, "n_features": 4, "batch_size": 4}

set_workers(1)
make_run(Spec.from_dict({"setting": "auc", "data": _FEW, "solver": _SHORT}).to_json())
