"""Data sets: generated, shipped with scikit-learn, or or read from files; and where labels are hidden."""

from dsgcore.data.bundled import breast_cancer, digits_even_odd
from dsgcore.data.datasets import DataError, Dataset
from dsgcore.data.files import load_npz, parse_npz
from dsgcore.data.registry import DATASETS, DEFAULT_DATASET, DatasetEntry, DatasetOption, load
from dsgcore.data.splits import Scaling, Split, hide_labels
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
    "breast_cancer",
    "circles",
    "digits_even_odd",
    "gaussian_mixture",
    "hide_labels",
    "load",
    "load_npz",
    "parse_npz",
    "two_moons",
    "xor",
]
