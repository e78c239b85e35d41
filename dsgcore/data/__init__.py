"""Data sets: generated, shipped with scikit-learn, or read from files; and where labels are hidden."""

from dsgcore.data.bundled import breast_cancer, digits_even_odd
from dsgcore.data.classes import blobs, iris, spirals, ten_digits, wine
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.files import load_npz, parse_npz
from dsgcore.data.ordinal import diabetes, equal_frequency_bins, ordinal_ramp, ordinal_rings
from dsgcore.data.registry import DATASETS, DEFAULT_DATASET, DatasetEntry, DatasetOption, load
from dsgcore.data.splits import Scaling, Split, draw_pairs, hide_labels
from dsgcore.data.synthetic import circles, gaussian_mixture, two_moons, xor

__all__ = [
    "DATASETS",
    "DEFAULT_DATASET",
    "DataError",
    "Dataset",
    "DatasetEntry",
    "DatasetOption",
    "Scaling",
    "Split",
    "blobs",
    "breast_cancer",
    "circles",
    "diabetes",
    "digits_even_odd",
    "draw_pairs",
    "equal_frequency_bins",
    "gaussian_mixture",
    "hide_labels",
    "iris",
    "load",
    "load_npz",
    "ordinal_ramp",
    "ordinal_rings",
    "parse_npz",
    "spirals",
    "ten_digits",
    "two_moons",
    "wine",
    "xor",
]
