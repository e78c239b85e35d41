"""Five small example files of the folder sample_data/, to open in another program or to upload."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from dsgcore.data.bundled import breast_cancer, diabetes, iris, ten_digits, wine

LABEL = "class"
_FILES = {"digits": ten_digits, "breast_cancer": breast_cancer, "wine": wine, "iris": iris, "diabetes": diabetes}


def write_samples(folder: str | os.PathLike[str]) -> list[Path]:
    """Write the sets as CSV files, with the features' names and exact values, and the class as the last column.

    The folder is created if it does not exist. Existing files of these names are replaced.

    Returns
    -------
    list of path
        The written files.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    files = []
    for name, entry in _FILES.items():
        data = entry()
        X = data.X.astype(int) if name == "digits" else data.X  # grey levels
        labels = [data.class_names[code].removeprefix("bin ") for code in data.y]
        table = pd.DataFrame(X, columns=list(data.feature_names)).assign(**{LABEL: labels})
        files.append(place / f"{name}.csv")
        table.to_csv(files[-1], index=False, lineterminator="\n")
    return files
