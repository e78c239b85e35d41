"""Golden histories: a spec gives the same numbers as before, for each setting and kernel, with changes during the run.

Another processor rounds differently: single precision keeps five digits, and an error, which is a difference, keeps three.
"""

import numpy as np
import pytest
from cases import each

from dsgcore import Run, Spec

STEP_SIZES = {"s3vm": 0.05, "multiclass": 1.0}
SECTIONS = {
    "auc": {
        "problem": {"gamma": 0.5, "pairing": "triplets"},
        "data": {"name": "two_moons", "n": 200, "noise": 0.2, "imbalance": 0.5, "n_labeled": 40},
        "solver": {"lam": 0.01},
    },
    "s3vm": {
        "problem": {"C": 10.0, "C_star": 10.0, "loss": "symmetric hinge", "is_balanced": False},
        "data": {"name": "two_moons", "n": 200, "noise": 0.1, "imbalance": 0.5, "n_labeled": 10},
        "solver": {"lam": 1.0},
    },
    "similar_unlabeled": {
        "problem": {"prior": 0.7, "loss": "squared", "correction": "ReLU"},
        "data": {"name": "gaussian_mixture", "n": 200, "noise": 0.3, "imbalance": 0.7, "n_labeled": 25},
        "solver": {"lam": 0.01},
    },
    "ordinal": {
        "problem": {"gamma": 0.5, "pairing": "paired"},
        "data": {"name": "ordinal_rings", "n": 200, "noise": 0.1, "n_labeled": 20},
        "solver": {"lam": 0.1},
    },
    "multiclass": {
        "problem": {"tau_I": 0.001, "tau_S": 0.05, "theta": 0.5, "radius": 10.0, "features": "fourier"},
        "data": {"name": "spirals", "n": 300, "noise": 0.03, "n_labeled": 20},
        "solver": {"lam": 1e-6, "dtype": "float64"},
    },
}
KERNELS = {
    "similar_unlabeled": {"sigma": 20.0},
    "auc": {"sigma": 0.5},
    "s3vm": {"sigma": 30.0},
    "ordinal": {"sigma": 2.0},
    "multiclass": {"sigma": 30.0},
    "orthogonal_gaussian": {"sigma": 1.0},
    "laplacian": {"sigma": 1.0},
    "matern": {"length": 1.0, "nu": "3/2"},
    "dot_product": {"sigma": 0.3, "power": "3"},
}
# Setting, kernel, objective and |f - h|^2 after 1, 6 and 12 iterations, and the sum of |f| over the test points at the end.
GIVEN = [
    (
        "similar_unlabeled",
        "gaussian",
        [0.189233427, 0.107185446, 0.093950838],
        [0.00082076, 0.00205308, 0.00216629],
        14.4863853,
    ),
    ("auc", "gaussian", [0.8643098, 0.447052373, 0.448731885], [2.05462e-05, 0.000783312, 0.000451375], 21.450716),
    ("s3vm", "gaussian", [18.98878318, 11.632343333, 5.076346661], [0.000671748, 0.00245155, 0.00646137], 38.9933052),
    ("ordinal", "gaussian", [1.127236554, 1.005734433, 0.913973545], [5.68843e-05, 0.00185197, 0.00226797], 29.4151268),
    ("multiclass", "gaussian", [0.957990147, 0.7082697, 0.694389007], [0.00662737, 0.0332304, 0.0549087], 61.3026386),
    (
        "auc",
        "orthogonal_gaussian",
        [0.669107949, 0.413799954, 0.425839084],
        [9.49484e-05, 0.000434226, 0.000504836],
        23.3282833,
    ),
    ("auc", "laplacian", [0.764384589, 0.371082379, 0.348803198], [0.006747, 0.0182373, 0.0185867], 23.9471264),
    ("auc", "matern", [0.727065458, 0.414618686, 0.418895534], [0.000671279, 0.00148524, 0.00132729], 23.5875683),
    ("auc", "dot_product", [1.238722954, 1.19306259, 1.160594943], [5.83849e-08, 5.95032e-06, 3.58781e-06], 1.4600848),
]


def spec(setting, kernel):
    step_size, sections = STEP_SIZES.get(setting, 0.5), SECTIONS[setting]
    shape = {"step_size": step_size, "schedule": "constant", "n_features": 32, "batch_size": 16, "n_iter": 12}
    plain = {
        "setting": setting,
        **sections,
        "kernel": {"name": kernel, **KERNELS.get(kernel, KERNELS.get(setting, {}))},
        "solver": shape | sections["solver"],
        "diagnostics": {"n_probes": 20},
        "changes": [{"t": 5, "name": "step_size", "value": step_size / 2}, {"t": 8, "name": "lam", "value": 0.03}],
    }
    return Spec.from_dict(plain)


@each("setting, kernel, objective, error, total", GIVEN)
def test_a_spec_gives_the_numbers_that_it_gave(setting, kernel, objective, error, total):
    run = Run(spec(setting, kernel))
    run.advance()
    rows = [0, 5, 11]
    np.testing.assert_allclose(run.history.column("objective")[rows], objective, rtol=1e-5)
    np.testing.assert_allclose(run.history.column("error_mean")[rows], error, rtol=1e-3)
    assert np.abs(run.test_values).sum() == pytest.approx(total, rel=1e-5)
