"""Module that the fork server imports, so that everything a study's runs need is imported, and compiled or loaded.

The server has one thread, and this module starts no other: a fork would not inherit it.
"""

from __future__ import annotations

from dsgcore.core.threads import set_workers
from dsgcore.experiments import Spec
from dsgcore.studies.runs import make_run

_FEW = {"name": "two_moons", "n": 40, "n_labeled": 4}
_SHORT = {"n_iter": 2, "n_features": 4, "batch_size": 4}

set_workers(1)
make_run(Spec.from_dict({"setting": "auc", "data": _FEW, "solver": _SHORT}).to_json())
