"""Compile all loops of some types before two processes of the tests would: ``python .ci/compile.py float32 float64``."""

import sys

import numpy as np

from dsgcore import PS3VT, TSGS3VM
from dsgcore.experiments import Run, Spec
from dsgcore.kernels.features import warm_up

dtypes = sys.argv[1:] or ["float32", "float64"]
warm_up()
for dtype in dtypes:
    run = Run(Spec.from_dict({"setting": "auc", "solver": {"n_iter": 2, "n_features": 8, "dtype": dtype}}))
    run.advance()
    run.exact_values(run.split.X_test)

X, y = np.random.default_rng(0).normal(size=(60, 7)), np.resize([0, 1, 2, -1], 60)
PS3VT(n_iter=2, tol=None).fit(X, y)  # the loops of held-out labels
for dtype in dtypes:
    TSGS3VM(n_iter=2, tol=None, dtype=dtype).fit(X[y < 2], y[y < 2])
