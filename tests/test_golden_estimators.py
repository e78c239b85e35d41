"""Golden results of all estimators and competitors: what fits learn, answer and refuse, whatever their numbers and sentences are.

Parameters take unusual values, each in turn with others. `golden_files.py` says how to write the texts anew.
"""

import io
import zlib

import numpy as np
import pandas as pd
from golden_text import check, said, text
from sklearn.base import clone

from dsgcore import estimators, load_model, save_model
from dsgcore.baselines import COMPETITORS
from dsgcore.core.parameters import Choice, ParameterError, parameters_of
from dsgcore.kernels import KERNELS

ESTIMATORS = [getattr(estimators, name) for name in estimators.__all__]
ALL = [*ESTIMATORS, *dict.fromkeys(cls for several in COMPETITORS.values() for cls in several)]
# Values of each parameter; a `Choice` has all of its options, too. Long fits and defaults that are slow are left out.
POOL = {
    **{"sigma": (0.3, "scale", 1.7), "length": (1.3, "scale", 0.6), "power": (1, 3), "n_features": (9, 4, 17)},
    **{"lam": (0.02, 0.3, 0.005), "n_iter": (11, 7, 24), "batch_size": (5, 16, 3), "step_size": (0.3, 0.05, 0.11)},
    **{"average": ("tail", None), "start": (None, "exact"), "tol": (None, 0.3, 1e-3), "n_iter_no_change": (3, 5)},
    **{
        "random_state": (3, 8, 0),
        "gamma": (0.7, 0.2, 1.0, 0.0),
        "is_pooled": (False, True),
        "margin": (0.7, None, 0.2),
    },
    **{
        "positive_share": (0.4, None, "estimate", "labels"),
        "C": (2.5, 0.3, 9.0),
        "C_star": (0.2, None, 0.7),
        "s": (-0.6, -0.1),
    },
    **{"labeled_weight": (3.0, None, 20.0), "unlabeled_weight": (None, 0.7), "verbose": (0,), "leak": (0.3, 0.9)},
    **{
        "prior": (0.7, 0.62, "estimate"),
        "tau_I": (0.01, 0.2, "auto", 0.0),
        "tau_S": (0.02, 0.0, "auto"),
        "theta": (0.3, 0.8, 0.0),
    },
    **{
        "n_neighbors": (3, 6),
        "radius": (None, 0.5, 3.0),
        "step_decay": (0.1, 0.0),
        "centers": (7, None, 20),
        "eta": (0.3, -0.4, 0.8),
    },
    **{"max_iter": (40, 7, 200), "budget_labeled": (6, 100), "budget_unlabeled": (9, None), "n_passes": (2, 1, 3)},
    **{"balance_target": (None, 0.2, -0.4), "lam_u": (0.5, 2.0), "jitter": (0.01, 0.1), "epsilon": (0.3, 0.05)},
    **{
        "nu": ("1/2", "5/2", "3/2"),
        "y_holds": ("classes", "pairs"),
        "n_estimators": (4, 9),
        "threshold": (0.9, 0.6),
        "alpha": (0.5, 0.1),
    },
}
SIZES = {"n_iter": 9, "n_features": 8, "batch_size": 6, "random_state": 3}
NAMES = {
    2: ((0, 1), ("no", "yes"), (9, 3), (True, False)),
    3: ((0, 1, 2), ("a", "b", "c"), (7, 3, 20), (2.0, 0.0, 1.0)),
}


def values_of(cls, number):
    """Return parameters of a class: those of its pools in a random order, so that each value has its turn."""
    kind, found = {p.name: p for p in parameters_of(cls)}, {}
    for name, default in cls().get_params().items():
        pool = POOL.get(name, ())
        if isinstance(kind.get(name), Choice):
            pool = [*dict.fromkeys((*pool, *kind[name].options))]
        elif isinstance(default, bool):
            pool = (False, True)
        pool = (getattr(cls, "kernels", ()) or tuple(KERNELS)) if name == "kernel" else pool
        pool = [value for value in pool if name not in kind or is_allowed(kind[name], value)]
        if pool:
            turn, place = divmod(number, len(pool))
            found[name] = pool[
                np.random.default_rng([zlib.crc32(f"{cls.__name__} {name}".encode()), turn]).permutation(len(pool))[
                    place
                ]
            ]
    if "C" in found and found.get("labeled_weight") is not None:  # which replaces it
        del found["C"], found["C_star"]
    return found


def is_allowed(parameter, value):
    try:
        parameter.check(value)
    except ParameterError:
        return False
    return True


def points(kind, number, n=64):
    """Return points, labels with -1 or None for unlabeled ones, and true labels, of two to seven coordinates."""
    rng, d = np.random.default_rng(100 + number), (2, 5, 1, 7, 3)[number % 5]
    k = 2 if kind in ("pairs", "binary") else 3
    codes = (rng.random(n) < 0.65).astype(int) if k == 2 else rng.integers(0, k, n)
    X = rng.normal(size=(n, d)) + 1.5 * codes[:, None] * rng.choice([1.0, 0.2, -0.6], d)
    if kind == "ids":
        return X, np.where(np.arange(n) < 24, np.arange(n) // 2 * 3, -1), codes
    true = (
        np.array(NAMES[k][number % 4])[codes]
        if kind != "ordinal"
        else np.array(NAMES[3][0 if number % 4 < 2 else 2])[codes]
    )
    y = true.astype(object if number % 4 in (1, 3) else int)
    y[rng.permutation(n)[: n // 2]] = None if number % 4 in (1, 3) else -1
    if kind == "ordinal" and number % 2:
        y = pd.Categorical(
            [None if one in (None, -1) else one for one in y],
            categories=list(dict.fromkeys(NAMES[3][2 if number % 4 > 1 else 0])),
            ordered=True,
        )
    table = pd.DataFrame(X, columns=[f"c{i}" for i in range(d)])
    return (X, X.astype(np.float32), table)[number % 3], y, true


ORDERED = ("QS3ORAO", "SVOREX", "MPNUAUC", "MSAMULT", "EverydaySVR")
SEVERAL = ("PS3VT", "LinearMC", "LRCMC", "SSMC", "DSGSoftmax", "EverydayLogisticRegression", "EverydaySpreadingKNN")
SEVERAL += ("EverydayNystroem", "EverydaySelfTraining", "EverydayNeighbors", "EverydayRandomForest")
ASKED = ("decision_function", "predict", "predict_proba", "ranking_function", "cut_functions")


def learned(model):
    """Return lines of what a fitted estimator has learned."""
    own = {name: value for name, value in sorted(vars(model).items()) if name.endswith("_") or name == "_scale"}
    if own.get("iterate_") is own.get("model_", 0):
        del own["iterate_"]
    return [f"    {name} {text(value)}" for name, value in own.items()]


def asked(model, X, true):
    """Return lines of what a fitted estimator answers."""
    lines = [f"    {name} {said(getattr(model, name), X)}" for name in ASKED if hasattr(model, name)]
    weights, some = np.linspace(0.0, 2.0, len(true)), np.where(np.arange(len(true)) % 3, true, None)
    scores = [said(model.score, X, true), said(model.score, X, some, weights[::-1])]
    if hasattr(model, "mean_auc"):
        scores.append(said(model.mean_auc, X, some))
    return [*lines, f"    scores {' | '.join(scores)}"]


def kept(model, X):
    """Return whether a saved estimator is the same when it is loaded."""
    file = io.BytesIO()
    save_model(model, file)
    file.seek(0)
    again = load_model(file)
    return (
        asked(again, X, np.zeros(0)) == asked(model, X, np.zeros(0)),
        str(again.get_params()) == str(model.get_params()),
    )


def fitted(cls, number):
    """Return lines of one fit: parameters, of -1 the defaults but for sizes; steps, learned numbers and answers."""
    parameters = values_of(cls, number) if number >= 0 else {k: v for k, v in SIZES.items() if k in cls().get_params()}
    of_pairs = {"pairs": "ids", "classes": "pairs"}.get(parameters.get("y_holds"), "binary")
    is_ordered = cls.__name__ in ORDERED or "Ordinal" in cls.__name__
    kind = "ordinal" if is_ordered else "classes" if cls.__name__ in SEVERAL else of_pairs
    (X, y, true), steps, model = points(kind, number), [], cls(**parameters)
    given = (
        {"callback": steps.append}
        if hasattr(cls, "problem_class") or (hasattr(cls, "citation") and not cls.is_everyday)
        else {}
    )
    lines = [
        f"{cls.__name__} {number} {kind} {X.shape} {text(parameters)}",
        f"    fit {said(model.fit, X, y, **given)}",
    ]
    if not hasattr(model, "classes_"):
        return lines
    for step in [*steps[:1], *steps[1:][-1:]]:
        names = ("t", "step", "total", "objective", "terms", "rows", "averages", "weights")
        lines.append(
            f"    of {len(steps)} {text({name: getattr(step, name) for name in names if hasattr(step, name)})}"
        )
    lines += learned(model) + asked(model, X, true)
    if cls in ESTIMATORS:
        lines.append(f"    kept {said(kept, model, X)}")
    if hasattr(model, "partial_fit"):
        part = clone(model).set_params(n_iter=4)
        lines.append(f"    part {said(part.partial_fit, X, y, None if kind == 'ids' else model.classes_)}")
        lines.append(f"    more {said(part.set_params(n_iter=3, step_size=0.07, lam=0.1).partial_fit, X, y)}")
        lines += [line for line in learned(part) if "iterate_" in line or "n_iter_" in line or "lam_" in line]
    return lines


def test_fits():
    for cls in ALL:
        is_slow = "Boosting" in cls.__name__ or "Forest" in cls.__name__
        n = 2 if is_slow else 3 if getattr(cls, "is_everyday", False) else 4
        lines = [line for number in (*range(n), -1) for line in fitted(cls, number)]
        check(cls.__name__, [f"defaults {text(cls().get_params())}", *lines])
