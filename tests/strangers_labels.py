"""Labels as strangers write them, the files that hold them, and the estimators that take them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.baselines import LRCMC, PNUAUC, SSMC, EverydayLogisticRegression, EverydayOrdinalSVC, LinearMC

polars = pytest.importorskip("polars")
N, BIG, LARGE = 60, 2**53, 2**63
SMALL = {"n_iter": 12, "n_features": 16, "batch_size": 16, "tol": None, "random_state": 0}


@dataclass(frozen=True)
class Case:
    """Labels of rows in order, with the classes as written, and the number of rows without a label."""

    labels: tuple[Any, ...]
    classes: tuple[str, ...]
    unlabeled: int  # of so many labels
    kind: str | None = None  # pandas' type


CASES = {
    "-1 beside two": Case((-1, 0, 1), ("0", "1"), 1),
    "-1 and one other": Case((-1, 1), ("-1", "1"), 0),
    "-1, one other, and missing": Case((-1, 1, None), ("-1", "1"), 1, "Int64"),
    "-1 beside text": Case(("ham", "-1", "spam"), ("ham", "spam"), 1),
    "text and missing": Case(("ham", None, "spam"), ("ham", "spam"), 1),
    "-1, missing and two": Case((0, 1, -1, None), ("0", "1"), 2, "Int64"),
    "floats and missing": Case((0.0, 1.0, None), ("0", "1"), 1, "Float64"),
    "large and missing": Case((BIG, BIG + 1, None), (str(BIG), str(BIG + 1)), 1, "Int64"),
    "large and -1": Case((BIG, BIG + 1, -1), (str(BIG), str(BIG + 1)), 1),
    "beyond int64 and missing": Case((LARGE, LARGE + 1, None), (str(LARGE), str(LARGE + 1)), 1, "UInt64"),
    "truth values and missing": Case((True, False, None), ("False", "True"), 1, "boolean"),
    "truth values": Case((True, False), ("False", "True"), 0),
    "another negative class": Case((-2, -1, -2), ("-1", "-2"), 0),
}
CASES |= {
    "text with white space": Case((" spam", "spam", "two\nlines", "two  lines"), ("spam", "two lines"), 0),
    "dates": Case((date(2020, 1, 1), date(2021, 1, 1), None), ("2020-01-01", "2021-01-01"), 1),
}
IN_PARQUET = {
    "times of a zone": Case((pd.Timestamp(0, tz="UTC"), pd.Timestamp(9**9, tz="UTC"), None),
        ("1970-01-01 00:00:00+00:00", "1970-01-01 00:00:00.387420489+00:00"), 1),
    "durations": Case((pd.Timedelta("1D"), pd.Timedelta("2D"), None), ("1 days 00:00:00", "2 days 00:00:00"), 1),
    "bytes that are no text": Case((b"\xff", b"\xfe", None), ("\\xfe", "\\xff"), 1),
}  # fmt: skip


def frame_of(case):
    X = np.random.default_rng(0).normal(size=(N, 2))
    labels = [case.labels[i % len(case.labels)] for i in range(N)]
    return pd.DataFrame(X, columns=["a", "b"]).assign(label=pd.array(labels, dtype=case.kind))


def as_pandas(frame, path):
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path, index=False)


def as_arrow(frame, path):
    from pyarrow import csv, parquet

    table = pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    csv.write_csv(table, path) if path.suffix == ".csv" else parquet.write_table(table, path, row_group_size=17)


def as_polars(frame, path):
    table = polars.from_arrow(pyarrow.Table.from_pandas(frame, preserve_index=False))
    table.write_csv(path) if path.suffix == ".csv" else table.write_parquet(path)


WRITERS = {"pandas": as_pandas, "pyarrow": as_arrow, "polars": as_polars}


def written(frame, tmp_path, writer, ending):
    path = tmp_path / f"table.{ending}"
    WRITERS[writer](frame, path)
    return path


def names(classes):
    return tuple(sorted(str(int(one)) if isinstance(one, float) else str(one) for one in np.asarray(classes).tolist()))


ESTIMATORS = [
    QSGS2AUC(**SMALL),
    TSGS3VM(**SMALL),
    QS3ORAO(**SMALL),
    TSGSU(y_holds="classes", prior=0.7, **SMALL),
    *(cls(n_iter=20, tol=None, random_state=0) for cls in (PS3VT, LinearMC, LRCMC, SSMC)),
    PNUAUC(random_state=0),
    EverydayLogisticRegression(),
    EverydayOrdinalSVC(),
]
