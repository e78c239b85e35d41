"""What a run of the four stochastic settings costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsgcore.core.cost import Cost, Sizes, seconds_of_features

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec

# A batch from each of at most so many sources: labeled points of two classes and unlabeled ones; ordinal classes have more.
SOURCES = 3
# Bytes for each visit that is known in advance: the row's number, its place, and what sorting them takes.
BYTES_A_VISIT = 32
# The run and its supervised twin.
RUNS = 2


def stochastic_cost(spec: Spec, sizes: Sizes, most_for_whole_sample: int) -> Cost:
    """Return what a run costs besides its data; up to `most_for_whole_sample` training points, all are carried."""
    rows = SOURCES * sizes.batch_size
    is_whole = sizes.n_train <= most_for_whole_sample
    visits = 0 if is_whole else rows * sizes.n_iter
    carried = sizes.n_train if is_whole else min(sizes.n_train, visits) + min(sizes.n_labeled, sizes.n_train)
    points = carried + sizes.n_test
    block = 2 * sizes.n_features * sizes.itemsize
    frequencies = sizes.d * sizes.n_features * (8 + sizes.itemsize)
    return Cost(
        RUNS * (sizes.n_iter * block + visits * BYTES_A_VISIT + points * (sizes.d + 4) * sizes.itemsize) + frequencies,
        seconds_of_features(points + 2 * rows, sizes.d, sizes.n_features, sizes.itemsize)
        + seconds_of_features(rows, sizes.d, sizes.n_probes, sizes.itemsize),
    )
