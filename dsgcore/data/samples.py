"""The five small sets of the folder sample_data/, written from scikit-learn's own copies.

The package reads these sets from scikit-learn, wherever it is installed; the files hold the same rows, to be opened in
another program, or uploaded to try how one's own table would do.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from dsgcore.data.conversions import equal_frequency_bins

LABEL = "class"
N_BINS = 5


def sample_tables() -> dict[str, pd.DataFrame]:
    """Return the tables by name: the features under their own names, and last the column `class`.

    Returns
    -------
    dict of str to DataFrame
        digits (the digit itself), breast_cancer, wine, iris (the class's name), diabetes (bin 1 to 5 of the progression).
    """
    named = {"breast_cancer": load_breast_cancer(), "wine": load_wine(), "iris": load_iris()}
    digits, diabetes = load_digits(), load_diabetes(scaled=False)
    return {
        "digits": _table(digits, digits.target).astype(int),
        **{name: _table(bunch, bunch.target_names[bunch.target]) for name, bunch in named.items()},
        "diabetes": _table(diabetes, equal_frequency_bins(diabetes.target, N_BINS) + 1),
    }


def _table(bunch: dict, labels: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(bunch["data"], columns=[str(name) for name in bunch["feature_names"]]).assign(**{LABEL: labels})


def write_samples(folder: str | os.PathLike[str]) -> list[Path]:
    """Write the tables as CSV files, numbers with as many digits as read back exactly.

    Parameters
    ----------
    folder : path
        Made where it does not exist; files of these names are replaced.

    Returns
    -------
    list of Path
        The files.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    files = {place / f"{name}.csv": table for name, table in sample_tables().items()}
    for file, table in files.items():
        table.to_csv(file, index=False, lineterminator="\n")
    return list(files)
