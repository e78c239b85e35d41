"""Class-prior estimation from similar pairs and unlabeled points, or from a few labels and unlabeled points."""

from dsgcore.prior.energy import ROWS_AT_A_TIME, energy_class_prior
from dsgcore.prior.proportion import MAX_POINTS, HullDistance, mixture_proportion, positive_prior, similar_class_prior
from dsgcore.prior.samples import PriorError, drawn_rows

__all__ = [
    "MAX_POINTS",
    "ROWS_AT_A_TIME",
    "HullDistance",
    "PriorError",
    "drawn_rows",
    "energy_class_prior",
    "mixture_proportion",
    "positive_prior",
    "similar_class_prior",
]
