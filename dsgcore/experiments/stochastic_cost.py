"""What a run of the four stochastic settings costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from dsgcore.core.cost import Cost, Sizes, seconds_of_features
from dsgcore.core.problem import Problem
from dsgcore.data.options import N_CLASSES

if TYPE_CHECKING:
    from dsgcore.experiments.spec import Spec

# Bytes for each visit that is known in advance: the row's number, its place, and what sorting them takes.
BYTES_A_VISIT = 32
# The run and its supervised twin.
RUNS = 2


def stochastic_cost(spec: Spec, sizes: Sizes, most_for_whole_sample: int) -> Cost:
    """Return what a run costs besides its data; up to `most_for_whole_sample` training points, all are carried."""
    problem, kernel = cast(Problem, spec.problem), spec.kernel
    rows = problem.most_sources(spec.data.n_classes or N_CLASSES.default) * sizes.batch_size
    is_whole = sizes.n_train <= most_for_whole_sample
    visits = 0 if is_whole else rows * sizes.n_iter
    carried = sizes.n_train if is_whole else min(sizes.n_train, visits) + min(sizes.n_labeled, sizes.n_train)
    points = carried + sizes.n_test
    block = 2 * sizes.n_features * sizes.itemsize
    frequencies = kernel.factors * sizes.d * sizes.n_features * (8 + sizes.itemsize)
    return Cost(
        RUNS * (sizes.n_iter * block + visits * BYTES_A_VISIT + points * (sizes.d + 4) * sizes.itemsize) + frequencies,
        kernel.factors * seconds_of_features(points + 2 * rows, sizes.d, sizes.n_features, sizes.itemsize)
        + kernel.seconds_of_sums(rows * sizes.n_probes, sizes.d, sizes.itemsize),
    )
