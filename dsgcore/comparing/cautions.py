"""What may make a comparison or given labels worse than they look, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from dsgcore.core.metrics import auc, auc_half_width
from dsgcore.core.sampling import evenly_spread
from dsgcore.data.reading import LOCAL, Features, Recipe
from dsgcore.data.reading.cells import listed
from dsgcore.data.reading.columns import leaks
from dsgcore.data.reading.labels import known_order
from dsgcore.solver.problem import UNLABELED

# A class with fewer labels is warned of, and so are unlabeled rows that a forest tells from labeled ones better than this.
FEW_OF_CLASS, APART = 5, 0.6
# Most labeled and unlabeled rows of that check, and fewest, its folds, trees of the forest, and its seed.
MOST_CHECKED, FEWEST_CHECKED, FOLDS_OF_CHECK, TREES, SEED = 1000, 10, 3, 50, 0


def about_labels(
    y: NDArray,
    names: Sequence[str],
    frame: pd.DataFrame | None = None,
    recipe: Recipe | None = None,
    *,
    is_ordered: bool = False,
) -> Iterator[str]:
    """Return warnings about class codes y (n,), -1 without a label: rare classes, an order that is not used, and leaks."""
    counts = np.bincount(y[y != UNLABELED], minlength=len(names))
    if few := [name for name, n in zip(names, counts, strict=True) if n < FEW_OF_CLASS]:
        yield f"Warning: fewer than {FEW_OF_CLASS} labels of {listed(few)}: label more of them."
    if frame is None or recipe is None:
        return
    is_of_letters = all(len(name) == 1 for name in names)  # a, b and c may be grades, or just names
    order = recipe.order or (None if is_of_letters else known_order(names))
    if order and len(names) > 2 and not is_ordered:
        yield f"Warning: the classes have an order that is not used, {' < '.join(map(str, order))}: say so (--ordered)."
    features = Features(recipe, LOCAL)
    features.choose(frame)
    yield from leaks(frame, y, features.columns, names)


def about_shift(X: NDArray, codes: NDArray) -> Iterator[str]:
    """Return a warning if the unlabeled points look different from the labeled ones, by the AUC of a forest between them."""
    labeled, others = np.flatnonzero(codes != UNLABELED), np.flatnonzero(codes == UNLABELED)
    rows = np.concatenate([each[evenly_spread(len(each), MOST_CHECKED)] for each in (labeled, others)])
    is_labeled = (codes[rows] != UNLABELED).astype(int)
    if min(np.bincount(is_labeled, minlength=2)) < FEWEST_CHECKED:
        return
    forest = RandomForestClassifier(TREES, min_samples_leaf=5, class_weight="balanced", random_state=SEED)
    order = np.random.default_rng(SEED).permutation(len(rows))
    X, y = X[rows[order]], is_labeled[order]
    f = cross_val_predict(forest, X, y, cv=FOLDS_OF_CHECK, method="predict_proba")[:, 1]
    area, reach = auc(y, f), auc_half_width(y, f, np.zeros(len(f)))
    if area - reach > 0.5 and area > APART:
        yield (
            f"Warning: the unlabeled rows look different from the labeled ones: a forest tells them apart with an AUC of "
            f"{area:.2f} (95 % {area - reach:.2f} to {min(area + reach, 1.0):.2f}; 0.50 if they are alike). What held-out labels "
            "say may not hold for them: label some rows drawn at random."
        )
