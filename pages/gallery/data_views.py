"""Views of a data set and of its hidden labels, for the Data page and for the workbench's Data tab."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.core.cost import per_cent
from dsgcore.core.metrics import FEWEST_POINTS
from dsgcore.core.parameters import Choice
from dsgcore.data import DATASETS, DataError, Dataset, Split
from dsgcore.data import inspection as inspect
from dsgcore.experiments import Plane, Spec, load_dataset
from dsgcore.experiments.plane import PRINCIPAL_AXES as AXES
from dsgcore.problems import UNLABELED
from dsgcore.settings import panels
from pages.charts.live_chart import live_chart
from pages.controls.control import Control, draw, key_of
from pages.controls.own_file import store
from pages.controls.view import COLUMNS, FEATURE, view_control
from pages.gallery.data_charts import balance_chart, class_colors, plane_chart, spread_chart
from pages.shell.plain_text import plain

HEIGHT, CLASS_HEIGHT = 320, 24
MAX_ROWS, MAX_COLUMNS, MAX_LISTED = 1000, 100, 20
# If the nearest labeled point has the right class this often, the labels alone are almost enough.
GOOD_COVERAGE = 0.95


@dataclass(frozen=True, eq=False)
class Look:
    """Facts about a split that need no learning, computed once for each split."""

    balance: pd.DataFrame
    coverage: inspect.Coverage
    leaks: inspect.Leaks
    pairs: inspect.PairConsistency | None


_looks: weakref.WeakKeyDictionary[Split, Look] = weakref.WeakKeyDictionary()
_datasets: weakref.WeakKeyDictionary[Split, Dataset] = weakref.WeakKeyDictionary()


def look_at(split: Split, labels: str) -> Look:
    """Return the facts about a split. They are computed at the first call, and dropped together with the split."""
    if split not in _looks:
        pairs = inspect.pair_consistency(split) if labels == "pairs" else None
        _looks[split] = Look(inspect.class_balance(split), inspect.coverage(split), inspect.leaks(split), pairs)
    return _looks[split]


def colors_of(spec: Spec, split: Split) -> list[str]:
    """Return a colour for each class of a spec's data."""
    labels, known = spec.problem.labels, DATASETS.get(spec.data.name)
    return class_colors(labels if known is None or labels == "ordinal" else known.target, len(split.class_names))


def split_views(split: Split, labels: str, theme: str, *, key: str) -> None:
    """Draw class balance, coverage, pairs and leaks of a split; `key` is the prefix of the charts' keys."""
    look, is_pairs = look_at(split, labels), labels == "pairs"
    left, right = st.columns(2, gap="medium")
    with left:
        figure = balance_chart(look.balance, theme=theme, labeled="in pairs" if is_pairs else "labeled")
        said = (f"{name}: {', '.join(f'{row[c]} {c}' for c in look.balance)}" for name, row in look.balance.iterrows())
        alt, height = "Points of each class. " + "; ".join(said), CLASS_HEIGHT * len(look.balance) + 90
        live_chart(figure, key=f"{key}-balance", alt=alt, height=max(HEIGHT, height))
    with right:
        _coverage(look.coverage, theme, key, is_pairs=is_pairs)
    if look.pairs is not None:
        _pairs(look.pairs, split.class_names)
    _leaks(split, look.leaks)


def _coverage(found: inspect.Coverage, theme: str, key: str, *, is_pairs: bool) -> None:
    if not len(found.to_labeled):
        st.info("Every training point has a label.", icon=":material/done_all:")
        return
    known = "point in a pair" if is_pairs else "labeled point"
    to_labeled = panels.Values(f"to the nearest {known}", found.to_labeled, panels.INK)
    to_any = panels.Values("to the nearest point", found.to_any, panels.UNLABELED, is_faint=True)
    axis, alt = (
        "distance from unlabeled points, in scaled features",
        f"Distances of unlabeled points to the nearest {known}.",
    )
    panel = panels.Histogram("Coverage", axis, [to_labeled, to_any], alt)
    live_chart(spread_chart(panel, theme=theme), key=f"{key}-coverage", alt=alt, height=HEIGHT)
    st.markdown(agreement(found, is_pairs=is_pairs))


def agreement(found: inspect.Coverage, *, is_pairs: bool) -> str:
    """Return a sentence on how often the nearest label is right."""
    n, known = found.n_known, "point in a pair" if is_pairs else "labeled point"
    if not n:
        return (
            "The source gives no classes for the unlabeled points. It is therefore unknown how often the nearest "
            "label is right."
        )
    tried = f"{n:,} unlabeled points" + ("" if n == len(found.to_labeled) else " whose class the source gives")
    if n < FEWEST_POINTS:
        return (
            f"For {found.n_right} of {tried}, the nearest {known} has the same class: too few points for a conclusion."
        )
    share = found.n_right / n
    said = f"For **{per_cent(share)}** of {tried}, the nearest {known} has the same class"
    if is_pairs:
        return f"{said}."
    if share >= GOOD_COVERAGE:
        return f"{said}: the labels alone are almost enough."
    return f"{said}: the unlabeled points have to fill the gaps."


def _pairs(found: inspect.PairConsistency, names: Sequence[str]) -> None:
    st.markdown("## Similar pairs")
    negative, positive = map(plain, names)
    mixed = "Pairs whose members have different classes. The method treats them as similar."
    for place, (name, n, about) in zip(
        st.columns(3),
        (
            (f"Both {positive}", found.both_positive, f"Pairs whose members are both {positive}."),
            (f"Both {negative}", found.both_negative, f"Pairs whose members are both {negative}."),
            ("Mixed", found.mixed, mixed),
        ),
        strict=True,
    ):
        place.metric(name, f"{n:,}", help=about)
    known = found.both_positive + found.both_negative + found.mixed
    same = known - found.mixed
    unknown = f"; for {found.unknown:,} more this is unknown" if found.unknown else ""
    st.markdown(f"{same:,} of {known:,} pairs share a class{unknown}.")
    if same and np.isfinite(found.expected_positive):
        share = per_cent(found.both_positive / same) if same >= FEWEST_POINTS else f"{found.both_positive} of {same}"
        st.markdown(
            f"Of the pairs that share a class, {share} are {positive}. The expected share is "
            f"π₊² / (π₊² + π₋²) = {per_cent(found.expected_positive)}, with the class shares of the unlabeled points."
        )


def _leaks(split: Split, found: inspect.Leaks) -> None:
    st.markdown("## Leaks")
    n = len(found.test_rows)
    if not n:
        within = f" Within the training points, {found.within_training:,} repeat an earlier one."
        st.markdown(f":green[●] No test point equals a training point.{within * bool(found.within_training)}")
        return
    share = n / max(1, len(split.y_test))
    st.warning(
        f"{n:,} of {len(split.y_test):,} test points ({per_cent(share, 1)}) equal a training point, "
        f"{found.contradicting:,} of them with another class: on these, the test score measures memorisation.",
        icon=":material/content_copy:",
    )
    rows = {"test row": found.test_rows[:MAX_LISTED] + 1, "training row": found.train_rows[:MAX_LISTED] + 1}
    st.dataframe(pd.DataFrame(rows), hide_index=True, width="content")
    if n > MAX_LISTED:
        st.caption(f"The first {MAX_LISTED} of {n:,}. Row 1 is the first row of the set.")


def columns_and_table(spec: Spec, split: Split, theme: str) -> None:
    """Show the columns of a run's data and the table, if the reader has asked for them."""
    problem = type(spec.problem)
    if not draw(view_control(problem, COLUMNS)):
        return
    try:
        if split not in _datasets:
            _datasets[split] = load_dataset(spec, files=store(), fitted_rows=split.train_rows)
        dataset = _datasets[split]
    except DataError as error:
        st.error(plain(str(error)))
        return
    column_views(dataset, split, colors_of(spec, split), theme, key=key_of(problem, FEATURE))
    table_view(dataset, split)


def plane_view(dataset: Dataset, split: Split, colors: list[str], theme: str) -> None:
    """Draw the training points on two features or principal axes, which the reader chooses."""
    names, is_plane = dataset.feature_names, len(dataset.feature_names) == 2
    usual = (1, 2) if is_plane else (0, 0)
    with st.container(horizontal=True):
        across = _column("Across", "across", (AXES[0], *names), usual[0])
        up = _column("Up", "up", (AXES[1], *names), usual[1])

    def coordinate(name: str) -> NDArray:
        if name in AXES:
            return Plane.through(split.X_train).project(split.X_train)[:, AXES.index(name)]
        return dataset.X[split.train_rows, names.index(name)]

    xy, is_equal = np.stack([coordinate(across), coordinate(up)], axis=1), is_plane and across != up
    figure = plane_chart(xy, split, colors=colors, axes=(across, up), theme=theme, is_equal=is_equal)
    live_chart(figure, key="chart-plane", alt=f"Training points: {across} and {up}.", height=HEIGHT + 130)


def _column(label: str, key: str, options: tuple[str, ...], usual: int, name: str = "") -> str:
    """Draw the choice of a column, which the link keeps under its name; by default that is the key."""
    choice = Choice(name or key, options[usual], label=label, options=options)
    return str(draw(Control(key, "view", choice), is_plain=True))


def column_views(dataset: Dataset, split: Split, colors: list[str], theme: str, *, key: str) -> None:
    """Show a summary of each column, and one column by class."""
    st.markdown("## Columns")
    summary = inspect.column_summary(dataset)
    histogram = st.column_config.BarChartColumn("distribution", help="Counts in 20 equally wide bins.")
    digits = dict.fromkeys(("minimum", "mean", "maximum", "deviation"), st.column_config.NumberColumn(format="%.6g"))
    height = min(HEIGHT, 35 * (len(summary) + 1) + 3)
    st.dataframe(summary, hide_index=True, height=height, column_config={"histogram": histogram, **digits})
    left, right = st.columns([1, 3], gap="medium")
    with left:
        usual = int(np.argmax(split.X_train.var(axis=0)))  # a feature that is not constant, if there is one
        name = _column("Feature", key, dataset.feature_names, usual, FEATURE)
    values = dataset.X[split.train_rows, dataset.feature_names.index(name)]
    named = enumerate(split.class_names)
    samples = [panels.Values(label, values[split.y_hidden == code], panels.INK) for code, label in named]
    panel = panels.Histogram(f"{name}, by class", name, samples, f"Distribution of {name} by class.")
    with right:
        figure = spread_chart(panel, theme=theme, colors=colors)
        live_chart(figure, key="chart-feature", alt=panel.alt, height=HEIGHT)


def as_written(X: NDArray) -> NDArray:
    """Return points (n, d) of single precision with seven digits, as many as it keeps: 0.1 in a file is no 0.100000001."""
    if X.dtype != np.float32:
        return X
    exact = X.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # at zero and missing numbers, which stay
        power = 10.0 ** (6.0 - np.floor(np.log10(np.abs(exact))))
        rounded = np.rint(exact * power) / power
    return np.where(np.isfinite(rounded) & (exact != np.rint(exact)), rounded, exact)


def table_view(dataset: Dataset, split: Split) -> None:
    """Show the first rows of the set, with their class and their use."""
    st.markdown("## Table")
    n, d = len(dataset.y), len(dataset.feature_names)
    use, classes = np.full(n, "left out", dtype=object), np.full(n, "", dtype=object)
    use[split.train_rows] = np.where(split.y_train == UNLABELED, "unlabeled", "labeled")
    use[split.test_rows] = "test"
    for places, y in ((split.train_rows, split.y_hidden), (split.test_rows, split.y_test)):
        classes[places] = np.array([*split.class_names, ""], dtype=object)[y]
    rows, columns = min(n, MAX_ROWS), min(d, MAX_COLUMNS)
    frame = pd.DataFrame(as_written(dataset.X[:rows, :columns]), columns=list(dataset.feature_names[:columns]))
    table = pd.DataFrame({"class": classes[:rows], "used as": use[:rows]})
    st.dataframe(pd.concat([table, frame], axis=1), height=HEIGHT)
    if (rows, columns) != (n, d):
        st.caption(f"The first {rows:,} of {n:,} rows and {columns} of {d:,} features.")
