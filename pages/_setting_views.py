"""The Details tab: what only one setting has to show. Drawn when the page is, not while the run goes on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dsgcore.experiments import LiveRun, Run
from dsgcore.metrics import auc
from dsgcore.prior import PriorError, similar_class_prior
from dsgcore.problems.thresholds import class_measures, classify, thresholds
from pages import _charts as charts
from pages import _class_charts as class_charts
from pages._detail_charts import Mark, Sample, confusion_chart, histogram_chart
from pages._live_plotly import live_chart

HEIGHT = 300
# A prior is estimated from at most so many points of each kind: a few seconds.
MAX_POINTS_FOR_PRIOR = 400
UNLABELED = -1


def details(live: LiveRun, *, theme: str) -> None:
    """Draw the details of the run's setting."""
    run = live.run
    if not run.t:
        st.caption("There is nothing to show before the first iteration: play or step, then pause.")
        return
    if not _is_finite(run):
        st.info(
            "The scores are no longer finite, so there is nothing to draw of them. A smaller step keeps them finite."
        )
        return
    DETAILS[run.problem.name](run, theme)
    st.caption(
        f"As of step {run.model_t}. These charts stand still while the run goes on; pause it to bring them up to date."
    )


def _is_finite(run: Run) -> bool:
    """Whether all scores are: those of a run that has diverged need not be."""
    return all(np.isfinite(f).all() for f in (run.test_values, run.labeled_values, _unlabeled_values(run)))


def _unlabeled_values(run: Run) -> NDArray:
    """Return the values at the unlabeled points; at the test points where the training points are too many to carry."""
    values = run.training_values
    return run.test_values if values is None else values[run.split.y_train == UNLABELED]


def auc_details(run: Run, theme: str) -> None:
    """Draw how the scores of positives, negatives and unlabeled points lie to each other."""
    y, f = run.split.y_test, run.test_values
    samples = [
        Sample("negative (test)", f[y == 0], charts.NEGATIVE),
        Sample("positive (test)", f[y == 1], charts.POSITIVE),
        Sample("unlabeled", _unlabeled_values(run), charts.UNLABELED, is_line=True),
    ]
    figure = histogram_chart(samples, title="Scores", axis="score f", theme=theme)
    live_chart(figure, key="chart-details", alt="Histograms of the scores by class.", height=HEIGHT)
    st.markdown(
        "The AUC is the share of (positive, negative) pairs in the right order: the less the two overlap, the higher. "
        "It does not depend on where the scores lie, only on their order."
    )


def ordinal_details(run: Run, theme: str) -> None:
    """Draw the thresholds on the score axis, the sub-problems' AUC and the confusion by rank."""
    y, f, names = run.split.y_test, run.test_values, run.split.class_names
    b = _thresholds(run)
    colors = charts.ordered_colors(len(names))
    samples = [Sample(name, f[y == j], color) for j, (name, color) in enumerate(zip(names, colors, strict=True))]
    marks = [Mark(float(cut), f"b{j + 1}") for j, cut in enumerate(b)]
    title = "Scores and thresholds, test points"
    figure = histogram_chart(samples, title=title, axis="score f", theme=theme, marks=marks)
    live_chart(
        figure, key="chart-details", alt="Histograms of the scores by class, with thresholds.", height=HEIGHT + 40
    )
    left, right = st.columns(2)
    with left:
        _sub_problems(run, b)
    with right:
        figure = confusion_chart(y, classify(f, b), names, title="Classes given to the test points", theme=theme)
        live_chart(figure, key="chart-confusion", alt="Confusion of the ranks.", height=HEIGHT)


def _thresholds(run: Run) -> NDArray:
    """Return the thresholds that the labeled points give; where some coincide, the confusion shows it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return thresholds(run.split.y_train[run.labeled_rows], run.labeled_values, margin=0.0)


def _sub_problems(run: Run, b: NDArray) -> None:
    y, f, names = run.split.y_test, run.test_values, run.split.class_names
    rows = [
        {"threshold": f"b{j}", "between": f"{names[j - 1]} | {names[j]}", "at": b[j - 1], "test AUC": auc(y >= j, f)}
        for j in range(1, len(names))
    ]
    st.dataframe(pd.DataFrame(rows), width="stretch", hide_index=True)
    measures = class_measures(y, f, b)
    for place, (name, value) in zip(st.columns(2), measures.items(), strict=True):
        place.metric(f"Test {name}", f"{value:.3f}")


def s3vm_details(run: Run, theme: str) -> None:
    """Draw the scores of the unlabeled points against the margin."""
    unlabeled = _unlabeled_values(run)
    f = unlabeled + run.shift
    inside = float(np.mean(np.abs(f) < 1.0))
    samples = [Sample("unlabeled", f, charts.UNLABELED)]
    marks = [Mark(-1.0, "−1"), Mark(0.0, "boundary"), Mark(1.0, "+1")]
    title = "Scores of the unlabeled points"
    figure = histogram_chart(samples, title=title, axis="score f", theme=theme, marks=marks, band=(-1.0, 1.0))
    live_chart(figure, key="chart-details", alt="Histogram of the unlabeled points' scores.", height=HEIGHT)
    st.markdown(
        f"**{inside:.0%}** of the unlabeled points lie within the margin (shaded), where they cost: the boundary is pushed "
        "to where they are few. With C* = 0 nothing keeps them out."
    )


def similar_unlabeled_details(run: Run, theme: str) -> None:
    """Draw the two classes' estimated risks over the iterations, and the priors beside each other."""
    history, ink = run.history, charts.INK[theme]
    t = history.column("t")
    parts = {name.removeprefix("term: "): history.column(name) for name in history.names if name.startswith("term: ")}
    risks = {
        target: sum((y for name, y in parts.items() if name.endswith(f"as {target}")), np.zeros(len(t)))
        for target in ("positive", "negative")
    }
    colors = {"positive": charts.POSITIVE, "negative": charts.NEGATIVE}
    curves = [charts.Curve("zero", t, np.zeros(len(t)), ink, dash="dot", width=1.0, in_legend=False)]
    curves += [charts.Curve(f"{name} class", t, y, colors[name]) for name, y in risks.items()]
    figure = charts.line_chart(curves, title="Estimated risks", x_range=(0, run.n_iter))
    live_chart(figure, key="chart-details", alt="Estimated risks of both classes over iterations.", height=HEIGHT)
    lowest = min(float(np.min(y)) for y in risks.values())
    said = f"the lowest so far is **{lowest:.3g}**" if lowest < 0 else "neither has fallen below zero so far"
    st.markdown(
        f"Both are drawn before the correction. A risk cannot be negative, but its estimate subtracts and can: {said}."
    )
    _priors(run)


def _priors(run: Run) -> None:
    """Show the given, the true and, on request, the estimated share of positives."""
    given, true, estimated = st.columns(3)
    problem: Any = run.problem
    given.metric("Share of positives, given", f"{problem.prior:.3f}")
    hidden = run.split.y_hidden[run.split.y_train == UNLABELED]
    known = hidden[hidden != UNLABELED]  # of one's own file, some may be known to nobody
    true.metric("In the unlabeled points", f"{np.mean(known == 1):.3f}" if len(known) else "–")
    found, key = st.session_state.setdefault("_priors", {}), f"{run.spec.data}_{run.spec.seed}"
    with estimated:
        if key not in found:
            st.button(
                "Estimate it from the pairs", key="estimate", on_click=_estimate, args=(run, found, key), help=_ESTIMATE
            )
        elif isinstance(found[key], float):
            st.metric("Estimated share of the larger class", f"{found[key]:.3f}", help=_ESTIMATE)
        else:
            st.warning(found[key])


_ESTIMATE = f"""Mixture proportion estimation (KM2) from at most {MAX_POINTS_FOR_PRIOR} points of each kind. A first guess: it errs
upwards where the classes are well apart."""


def _estimate(run: Run, found: dict[str, float | str], key: str) -> None:
    X, is_unlabeled = run.split.X_train, run.split.y_train == UNLABELED
    size = MAX_POINTS_FOR_PRIOR
    try:
        value = similar_class_prior(X[~is_unlabeled], X[is_unlabeled], max_points=size, seed=run.spec.seed)
        found[key] = float(value)
    except PriorError as error:
        found[key] = str(error)


def multiclass_details(run: Run, theme: str) -> None:
    """Draw which classes are taken for which, and how the highest score leads on labeled and unlabeled points."""
    y, scores, names = run.split.y_test, run.test_values, run.split.class_names
    left, right = st.columns(2)
    with left:
        figure = confusion_chart(y, scores.argmax(axis=1), names, title="Classes given to the test points", theme=theme)
        live_chart(figure, key="chart-confusion", alt="Confusion of the classes.", height=HEIGHT + 60)
    with right:
        lead = np.diff(np.partition(scores, -2, axis=1)[:, -2:], axis=1).ravel()
        is_right = scores.argmax(axis=1) == y
        samples = [
            Sample("right", lead[is_right], class_charts.class_color(0)),
            Sample("wrong", lead[~is_right], class_charts.class_color(1)),
        ]
        title, axis = "Lead of the highest score, test points", "highest score minus the next"
        figure = histogram_chart(
            samples, title=title, axis=axis, theme=theme, marks=[Mark(1.0, "margin 1")], is_share=False
        )
        live_chart(figure, key="chart-details", alt="Histogram of the highest score's lead.", height=HEIGHT + 60)


DETAILS = {
    "auc": auc_details,
    "ordinal": ordinal_details,
    "s3vm": s3vm_details,
    "similar_unlabeled": similar_unlabeled_details,
    "multiclass": multiclass_details,
}
