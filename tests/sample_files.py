"""The five example files of the folder sample_data/, to open in another program or to upload.

    python tests/sample_files.py

writes them again.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dsgcore.data.sets import breast_cancer, diabetes, iris, ten_digits, wine

FOLDER = Path(__file__).parents[1] / "sample_data"
SETS = {"digits": ten_digits, "breast_cancer": breast_cancer, "wine": wine, "iris": iris, "diabetes": diabetes}


def write_samples(folder: Path) -> list[Path]:
    """Write the sets as CSV files, with the features' names and exact values, and the class as the last column."""
    files = []
    for name, entry in SETS.items():
        data = entry()
        X = data.X.astype(int) if name == "digits" else data.X  # grey levels
        labels = [data.class_names[code].removeprefix("bin ") for code in data.y]
        table = pd.DataFrame(X, columns=list(data.feature_names)).assign(**{"class": labels})
        files.append(folder / f"{name}.csv")
        table.to_csv(files[-1], index=False, lineterminator="\n")
    return files


if __name__ == "__main__":
    write_samples(FOLDER)
