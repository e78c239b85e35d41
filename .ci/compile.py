"""All loops compiled for the tests, before two of their processes would compile each of them twice."""

from dsgcore.experiments import Run, Spec
from dsgcore.kernels.features import warm_up

warm_up()
for name in ("gaussian", "orthogonal_gaussian"):
    for dtype in ("float32", "float64"):
        solver = {"n_iter": 2, "n_features": 8, "dtype": dtype}
        run = Run(Spec.from_dict({"setting": "auc", "kernel": {"name": name}, "solver": solver}))
        run.advance()
        run.exact_values(run.split.X_test)
