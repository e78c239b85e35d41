"""Cost of a run of PS3VT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsgcore.core.cost import Cost, Sizes, seconds_of_features
from dsgcore.multiclass.cache import MAX_KEPT_FEATURES
from dsgcore.multiclass.features import KEPT_FREQUENCIES
from dsgcore.multiclass.setting import uses_graph
from dsgcore.multiclass.twin import MAX_POINTS

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec

# Weights are kept at multiples of this number of iterations. The others are recomputed from these.
ITERATIONS_BETWEEN_WEIGHTS = 25
FLOAT = 8
MOST_CLASSES = 20
SECONDS_A_PRODUCT = 3e-10
# Approximate number of neighbours of a point, and of numbers kept for each link of the graph.
NUMBERS_A_LINK = 6
# If singular values are shrunk, an iteration decomposes the weights.
PRODUCTS_A_DECOMPOSITION = 10
# Fitted to runs (.github/docs/notes/explore.md): share of the upper estimate that an iteration takes, and the number of
# iterations that the features and the graph are worth.
SHARE, SETUP_ITERATIONS = 0.5, 30


def multiclass_cost(spec: Spec, sizes: Sizes) -> Cost:
    """Return the cost of a run besides its data: its features, the graph's matrix, and the weights it keeps."""
    is_linear = spec.problem.features == "linear"  # type: ignore[attr-defined]
    width = sizes.d if is_linear else 2 * sizes.n_features
    points = [sizes.n_train, sizes.n_test, sizes.n_labeled]
    kept = sum(n * width for n in points if n * width <= MAX_KEPT_FEATURES)
    made_anew = 0 if is_linear else sum(n for n in points if n * width > MAX_KEPT_FEATURES)
    weights = width * MOST_CLASSES
    # The graph's matrix is computed from the features of all training points at once.
    pull = 2 * width * width + 2 * sizes.n_train * width if uses_graph(spec) else 0
    links = sizes.n_train * spec.problem.n_neighbors * NUMBERS_A_LINK  # type: ignore[attr-defined]
    n_kept = sizes.n_iter / ITERATIONS_BETWEEN_WEIGHTS + 4
    frequencies = 0 if is_linear else KEPT_FREQUENCIES * sizes.d * sizes.n_features
    has_twin = not is_linear and sizes.n_train <= MAX_POINTS
    twin = sizes.n_probes * (sizes.n_train + sizes.n_labeled + width) if has_twin else 0
    numbers = twin + sum(points) * sizes.d + kept + weights * n_kept + pull + links + frequencies
    products = (
        sum(points) * weights + PRODUCTS_A_DECOMPOSITION * weights * MOST_CLASSES + (width * weights if pull else 0)
    )
    seconds = products * SECONDS_A_PRODUCT + seconds_of_features(made_anew, sizes.d, sizes.n_features, FLOAT)
    return Cost(int(FLOAT * numbers), seconds, SHARE * seconds * (sizes.n_iter + SETUP_ITERATIONS))
