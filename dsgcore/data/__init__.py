"""Data sets: generated, shipped with scikit-learn, or read from files; and where labels are hidden."""

from dsgcore.data.assumptions import broken
from dsgcore.data.bundled import breast_cancer, diabetes, digits_even_odd, iris, ten_digits, wine
from dsgcore.data.conversions import CONVERSIONS, convert, equal_frequency_bins
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.entries import DatasetEntry
from dsgcore.data.files import load_npz, parse_npz
from dsgcore.data.generated import (
    blobs,
    circles,
    friedman,
    gaussian_mixture,
    high_dimensional,
    misleading_gap,
    ordinal_ramp,
    ordinal_rings,
    spirals,
    two_gaussians,
    two_moons,
    xor,
)
from dsgcore.data.options import OPTION_NAMES
from dsgcore.data.registry import DATASETS, load
from dsgcore.data.splits import Scaling, Split, draw_pairs, hide_labels

__all__ = [
    "CONVERSIONS",
    "DATASETS",
    "OPTION_NAMES",
    "DataError",
    "Dataset",
    "DatasetEntry",
    "Scaling",
    "Split",
    "blobs",
    "breast_cancer",
    "broken",
    "circles",
    "convert",
    "diabetes",
    "digits_even_odd",
    "draw_pairs",
    "equal_frequency_bins",
    "friedman",
    "gaussian_mixture",
    "hide_labels",
    "high_dimensional",
    "iris",
    "load",
    "load_npz",
    "misleading_gap",
    "ordinal_ramp",
    "ordinal_rings",
    "parse_npz",
    "spirals",
    "ten_digits",
    "two_gaussians",
    "two_moons",
    "wine",
    "xor",
]
