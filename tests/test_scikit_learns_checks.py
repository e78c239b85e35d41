"""scikit-learn's own checks, in full, for each public estimator and for one competitor of each shared base class."""

import warnings
from contextlib import suppress
from unittest import SkipTest

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from dsgcore import LRCMC, PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU, Safe
from dsgcore.baselines import (
    BGS3VM,
    BLS3VM,
    MSAMULT,
    SAMULT,
    SUSL,
    SVOREX,
    EverydayOrdinalSVC,
    EverydaySpreadingRBF,
    EverydaySVC,
)
from dsgcore.baselines.basis import IllPosedWarning

FAST = {"n_iter": 30, "n_features": 32, "random_state": 0}
# The checks' y holds class labels: of an estimator that learns from pair ids they say nothing.
PAIRS = {"y_holds": "classes", "prior": 0.7, "random_state": 0}
ESTIMATORS = [
    QSGS2AUC(**FAST),
    TSGSU(**FAST | PAIRS, lam=1e-3),
    TSGS3VM(**FAST),
    QS3ORAO(**FAST | {"n_iter": 60}, tol=None),
    PS3VT(n_iter=30, tol=None, random_state=0),
    # The ridge is given, which is else looked for by many logistic regressions. LinearMC and SSMC have the same shell.
    LRCMC(n_iter=30, tol=None, lam=1e-3, random_state=0),
    PS3VT(**FAST, tol=None, lam=1e-3, features="fourier"),
    Safe(TSGS3VM(**FAST)),
]
COMPETITORS = [
    SUSL(**PAIRS, lam=0.1),
    BLS3VM(),
    BGS3VM(random_state=0),
    SAMULT(random_state=0),
    MSAMULT(penalty="half rkhs", random_state=0),
    SVOREX(),
    EverydaySVC(),
    EverydaySpreadingRBF(),
    EverydayOrdinalSVC(),
]
# The check takes -1 for the name of a class; here -1 means unlabeled, as in sklearn.semi_supervised.
DEVIATION = "check_classifiers_classes"


def run(model, check):
    """Run a check; ignore checks that scikit-learn skips, and warnings about its tiny data."""
    with warnings.catch_warnings(), suppress(SkipTest):
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", IllPosedWarning)
        warnings.filterwarnings("ignore", message="thresholds coincide")
        check(model)


@pytest.mark.parametrize(
    "estimator",
    [*ESTIMATORS[:5], *(pytest.param(model, marks=pytest.mark.weekly) for model in [*ESTIMATORS[5:], *COMPETITORS])],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_check_is_met_but_one(estimator):
    names = set()
    for model, check in estimator_checks_generator(estimator, mark=None):
        name = check.func.__name__
        names.add(name)
        # This check's tolerance of 1e-7 is less than a unit in single precision's last place.
        if name == "check_methods_subset_invariance" and "dtype" in model.get_params():
            model.set_params(dtype="float64")
        if name == DEVIATION:
            with pytest.raises((AssertionError, ValueError)):
                run(model, check)
        else:
            run(model, check)
    assert DEVIATION in names
    assert len(names) > 40
