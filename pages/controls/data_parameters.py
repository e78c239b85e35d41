"""The parameters of a data set in a setting: their ranges and defaults, and the values that suit the set."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from dsgcore.core.parameters import Choice, Parameter
from dsgcore.data import DATASETS, OPTION_NAMES, DatasetEntry, convert, load
from dsgcore.data.datasets import ONE_REST
from dsgcore.experiments import Setting
from dsgcore.experiments.settings import DATA_PARAMETERS, FILE, DataSpec, is_first_set, n_labeled_on
from dsgcore.settings import profile_of
from dsgcore.settings.profile import short
from pages.controls.own_file import entry_of, suited_to_own

# The weights of unlabeled points and of the graph depend on the data. These defaults replace unsuitable ones.
SUITED: dict[str, dict[str, float]] = {
    "high_dimensional": {"unlabeled_weight": 1.0, "tau_I": 1e-4, "tau_S": 1e-3},
    "digits": {"unlabeled_weight": 1.0, "tau_I": 1e-4, "tau_S": 1e-3},
    "breast_cancer": {"unlabeled_weight": 1.0},
    "diabetes": {"unlabeled_weight": 1.0},
    "friedman": {"unlabeled_weight": 1.0},
    "ten_digits": {"unlabeled_weight": 1.0, "tau_I": 1e-4, "tau_S": 1e-3},
}
# The largest size that the app offers: a run on it still answers while the reader watches.
MAX_POINTS = 20_000
# By default at most these shares of the training points are labeled or in pairs; beyond them, the share is FEW.
SHARE_LABELED, SHARE_IN_PAIRS, FEW = 0.55, 0.2, 0.2
TEST_SHARE = 0.3
PAIRS = "Number of pairs of points that are known to share a class."
POSITIVE = "The class that counts as positive. All other classes together are negative."


def suited_values(problem: type[Setting], dataset: str, *, for_lesson: bool = False) -> dict[str, Any]:
    """Return the values that suit a data set, by name; for pairs, also the share of positives."""
    if dataset == FILE:
        return {**elsewhere_values(problem, dataset), **suited_to_own(problem)}
    suited = {**elsewhere_values(problem, dataset), **SUITED.get(dataset, {})}
    suited.pop("n_labeled", None)  # it depends on the size of the set
    if not (for_lesson or DATASETS[dataset].is_generated or is_first_set(problem, dataset)):
        entry = entry_of(problem, dataset)
        n_labeled = _few(n_labeled_on(problem, dataset), entry, problem.labels)
        n = round(entry.n * (1 - TEST_SHARE))
        usual = profile_of(problem).usual(n, n_labeled, rarest_share(dataset, problem.labels))
        suited |= {name: short(value) if isinstance(value, float) else value for name, value in usual.items()}
    if problem.labels != "pairs":
        return suited
    share = share_of_positives(dataset, DATASETS[dataset].conversions_for("pairs")[0], 0)
    return {**suited, "prior": share} if share is not None else suited


def elsewhere_values(problem: type[Setting], dataset: str) -> dict[str, Any]:
    """Return the setting's defaults for all data sets except its first, by name; for the first set, return nothing."""
    if is_first_set(problem, dataset):
        return {}
    return {name: v for own in problem.other_sets.values() for name, v in own.items()}


@cache
def rarest_share(dataset: str, labels: str) -> float:
    """Return the share of a set's rarest class, after the default conversion for such labels."""
    entry = DATASETS[dataset]
    made = convert(load(dataset, **entry.usual_options(labels)), entry.conversions_for(labels)[0], 0)
    return float(np.min(np.unique(made.y[made.y >= 0], return_counts=True)[1]) / np.sum(made.y >= 0))


@cache
def share_of_positives(dataset: str, conversion: str, positive: int) -> float | None:
    """Return the share of positives after a conversion, in hundredths, or None for one half, about which pairs say nothing."""
    made = convert(load(dataset, **DATASETS[dataset].usual_options("pairs")), conversion, positive)
    share = round(float(np.mean(made.y == 1)), 2)
    return None if share == 0.5 else share


def data_parameters(problem: type[Setting], dataset: str, default: DataSpec) -> list[Parameter]:
    """Return the data parameters of this set, with its own ranges and defaults: one that it does not have is left out."""
    entry, labels = entry_of(problem, dataset), problem.labels
    own = {option.name: option.default for option in entry.options} | entry.usual_options(labels)
    if default.name == dataset:
        own |= {name: value for name in own if (value := getattr(default, name)) is not None}
    options, conversions, made = {o.name: o for o in entry.options}, entry.conversions_for(labels), list[Parameter]()
    for p in DATA_PARAMETERS:
        match p.name:
            case "convert":
                if len(conversions) > 1:
                    made.append(replace(p, default=conversions[0], options=conversions, optional=False))  # type: ignore[call-arg]
            case "positive":
                if ONE_REST in conversions:
                    names = entry.class_names
                    made.append(Choice(p.name, names[0], label="Positive class", sentence=POSITIVE, options=names))
            case "n" if "n" in options:
                high = int(min(options["n"].high, MAX_POINTS))
                made.append(replace(options["n"], default=own["n"] or high, usual=(100, high)))
            case name if name in OPTION_NAMES:
                made += [replace(options[name], default=own[name])] if name in options else []
            case "n_labeled":
                usual = n_labeled_on(problem, dataset)
                usual = usual if default.name == dataset else _few(usual, entry, labels)
                own_words = p.called("Similar pairs", PAIRS) if labels == "pairs" else p
                made.append(replace(own_words, default=usual))
            case "name" | "path" | "sha256" | "recipe" | "target":
                pass
            case _:
                made.append(p)
    return made


def _few(usual: int, entry: DatasetEntry, labels: str) -> int:
    """Return the default number of labels or pairs: the setting's, or fewer if the set is small."""
    n_train = entry.n * (1 - TEST_SHARE)
    if usual <= n_train * (SHARE_IN_PAIRS if labels == "pairs" else SHARE_LABELED):
        return usual
    return max(stop for stop in (10, 20, 50, 100, 200) if stop <= max(n_train * FEW, 10))
