"""Golden histories: a spec gives the same numbers as before, for each setting and kernel, with changes during the run.

Another processor rounds differently: single precision keeps five digits, and an error, which is a difference, keeps three.
"""

import numpy as np
import pytest
from cases import each
from small_specs import finished

from dsgcore import Spec

STEP_SIZES = {"s3vm": 0.05, "multiclass": 1.0}
SECTIONS = {
    "auc": {
        "problem": {"gamma": 0.5, "pairing": "triplets"},
        "data": {"name": "two_moons", "n": 200, "noise": 0.2, "imbalance": 0.5, "n_labeled": 40},
        "solver": {"lam": 0.01},
    },
    "s3vm": {
        "problem": {"labeled_weight": 10.0, "unlabeled_weight": 10.0, "loss": "symmetric hinge", "is_balanced": False},
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
        "problem": {"tau_I": 0.001, "tau_S": 0.05, "theta": 0.5, "radius": 10.0, "feature_map": "fourier"},
        "data": {"name": "spirals", "n": 300, "noise": 0.03, "n_labeled": 20},
        "solver": {"lam": 1e-6, "dtype": "float64"},
    },
}
SIGMAS = {"similar_unlabeled": 20.0, "auc": 0.5, "s3vm": 30.0, "ordinal": 2.0, "multiclass": 30.0}
KERNELS = {
    "orthogonal_gaussian": {"sigma": 1.0},
    "laplacian": {"sigma": 1.0},
    "matern": {"length": 1.0, "nu": "3/2"},
    "dot_product": {"sigma": 0.3, "power": "3"},
}
# Setting, kernel, objective and |f - h|^2 after 1, 6 and 12 iterations, and the sum of |f| over the test points at the end.
GIVEN = """
similar_unlabeled gaussian 0.256845418 0.186907315 0.121466156 0.000264865 0.00195407 0.00231082 11.457819
auc gaussian 0.77518999 0.440828493 0.447825635 2.71307e-05 0.00102424 0.000697547 21.8128719
s3vm gaussian 19.113998522 11.866254773 5.387075625 0.000901618 0.00236597 0.00519147 40.0479622
ordinal gaussian 1.113263961 0.996221944 0.903712986 8.92967e-05 0.00146989 0.00234954 30.2295933
multiclass gaussian 0.955346707 0.723407867 0.705048137 0.00386805 0.051503 0.0655527 61.6088051
auc orthogonal_gaussian 0.562916785 0.416421971 0.425217492 0.000165001 0.000314008 0.000387397 23.4870243
auc laplacian 0.6693186 0.363480349 0.352946385 0.00859885 0.0213562 0.0166728 25.3524551
auc matern 0.628405254 0.403221709 0.415792995 0.000903688 0.00202173 0.00144441 23.6346874
auc dot_product 1.230431084 1.18764776 1.156928266 1.94445e-07 3.79496e-06 1.64552e-06 1.55186749
"""


def spec(setting, kernel):
    step_size, sections = STEP_SIZES.get(setting, 0.5), SECTIONS[setting]
    shape = {"step_size": step_size, "schedule": "constant", "n_features": 32, "batch_size": 16, "n_iter": 12}
    plain = {
        "setting": setting,
        **sections,
        "kernel": {"name": kernel, **KERNELS.get(kernel, {"sigma": SIGMAS[setting]})},
        "solver": shape | sections["solver"],
        "diagnostics": {"n_probes": 20},
        "changes": [{"t": 5, "name": "step_size", "value": step_size / 2}, {"t": 8, "name": "lam", "value": 0.03}],
    }
    return Spec.from_dict(plain)


@each("line", GIVEN.strip().splitlines())
def test_a_spec_gives_the_numbers_that_it_gave(line):
    setting, kernel, *numbers = line.split()
    objective, error, (total,) = np.split(np.array(numbers, dtype=float), [3, 6])
    run, rows = finished(spec(setting, kernel)), [0, 5, 11]
    np.testing.assert_allclose(run.history.column("objective")[rows], objective, rtol=1e-5)
    np.testing.assert_allclose(run.history.column("error_mean")[rows], error, rtol=1e-3)
    assert np.abs(run.test_values).sum() == pytest.approx(total, rel=1e-5)
