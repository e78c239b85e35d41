"""The fields of a spec and the columns of a history as Markdown: ``python .ci/fields.py > .github/docs/spec.md``.

Everything is read from the code, so a test can tell whether the page is up to date.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from inspect import cleandoc, getdoc, signature
from textwrap import indent
from typing import Any

from dsgcore.core.parameters import Choice, Parameter
from dsgcore.data import Edit
from dsgcore.data.reading import Recipe
from dsgcore.experiments import SETTINGS, default_spec
from dsgcore.experiments.export import estimator_of
from dsgcore.experiments.spec import DATA_PARAMETERS, DiagnosticsSpec, StopSpec, defaults_of, sections_of
from dsgcore.kernels import KERNELS
from dsgcore.settings import profile_of

# More choices than these are not in a cell of a table, and a longer default is left out.
MOST_CHOICES, LONGEST_DEFAULT = 8, 20

HEAD = """# Fields of a spec, columns of a history

A *spec* is one experiment as JSON: the setting, the data, the parameters and the seed.
The tab **Code** shows the spec of the run on the page, `dsg-lab run SPEC.json` carries one out, and a study varies one.
All other fields have defaults, so this is a whole spec, `spec.json`:

```json
{example}
```

A *history* is the record of a run, one row for each iteration: `history.csv`, or `run.history.to_frame()` in Python.

This page is made from the code by `python .ci/fields.py`.
"""
# What the columns of a run's history hold. "…" stands for a name or a number.
COLUMNS = {
    "t": "Iteration, from 1.",
    "step_size": "Step size η of this iteration.",
    "lam": "Regularisation λ of this iteration.",
    "n_features": "Random features m of this iteration.",
    "tau_I": "Trust in the graph τ_I of this iteration (Many classes).",
    "tau_S": "Pull to low rank τ_S of this iteration (Many classes).",
    "objective": "Objective of f on the training points.",
    "objective_batch": "Objective on the iteration's own mini-batch, before the step.",
    "term: …": "One part of the objective. The parts add up to it.",
    "objective_average": "Objective of the average of the iterates, with `average`.",
    "score_average": "Test score of the average, with `average`.",
    "score_test": "Score of f on the test points: accuracy, AUC or mean AUC.",
    "score_labeled": "Score of f on the labeled training points.",
    "score_unlabeled": "Score of f on the unlabeled training points, from their hidden labels.",
    "gradient_norm": "Norm of the gradient (Many classes).",
    "rank": "Number of singular values of the weights above 1e-9 of the largest one (Many classes).",
    "tail_sum": "Sum of the singular values that the pull to low rank makes smaller (Many classes).",
    "singular value …": "The largest singular values of the weights, at most twelve (Many classes).",
    "error_mean": "Mean of |f − h|² over the probe points, where h is the same run with the exact kernel.",
    "error_max": "Largest |f − h|² at a probe point.",
    "h_squared": "Mean of |h|² over the probe points: the size to compare the error with.",
    "bound": "Bound of Lemma 1 on |f − h|².",
    "band": "Expected |f − h|² of this run's coefficients, from the variance of the random features.",
}


def table(names: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [list(names), ["---"] * len(list(names)), *map(list, rows)]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(value: Any) -> str:
    """Return a value as JSON in code type."""
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def described(parameters: Sequence[Parameter], section: str, settings: Iterable[str] = SETTINGS) -> str:
    """Return the table of a section's parameters, the longest choices, and what differs on the first set of some settings."""
    rows, long, own = [], "", {name: defaults_of(SETTINGS[name]).get(section, {}) for name in settings}
    for parameter in parameters:
        shown = " ".join(filter(None, (parameter.label, parameter.symbol))).replace("*", "\\*")
        allowed = parameter.allowed().replace("or None", "or null")
        if isinstance(parameter, Choice):
            allowed = ", ".join(map(code, parameter.options)) + " or `null`" * parameter.optional
            if len(parameter.options) > MOST_CHOICES:
                long, allowed = f"{long}\n\n`{parameter.name}` is one of {allowed}.", "see below"
        rows.append([f"`{parameter.name}`", f"**{shown}**: {parameter.sentence}", allowed, code(parameter.default)])
    differ = [p.name for p in parameters if any(p.name in values for values in own.values())]
    apart = table(
        ["on the first set of", *(f"`{name}`" for name in differ)],
        [
            [profile_of(SETTINGS[name]).short, *(code(values[field]) if field in values else "" for field in differ)]
            for name, values in own.items()
            if values
        ],
    )
    return table(["field", "meaning", "allowed", "default"], rows) + long + f"\n\n{apart}" * bool(differ)


def documented(kind: type, parameters: Sequence[Parameter] = ()) -> str:
    """Return the list of a class's fields, from the part of its docstring that describes them."""
    defaults = {parameter.name: code(parameter.default) for parameter in parameters}
    entries = []
    for entry in re.split(r"\n(?=\S)", getdoc(kind).split("----\n", 1)[1]):  # type: ignore[union-attr]
        head, _, meaning = entry.partition("\n")
        named, _, allowed = head.partition(" : ")
        names = named.split(", ")
        default = ", ".join(
            defaults[name] for name in names if len(defaults.get(name, "")) <= LONGEST_DEFAULT and name in defaults
        )
        shown = ", ".join(f"`{name}`" for name in names)
        entries.append(
            f"- {shown} ({allowed}{f'; default {default}' if default else ''}):\n{indent(cleandoc(meaning), '  ')}"
        )
    return "\n".join(entries)


def settings() -> str:
    """Return the tables of the settings: their names everywhere, and the defaults of the page beside the estimator's."""
    profiles = {name: profile_of(setting) for name, setting in SETTINGS.items()}
    estimators = {name: estimator_of(setting) for name, setting in SETTINGS.items()}
    names = [
        [
            profiles[n].short,
            f"`/{n}`",
            f"`{n}`",
            f"`{e.__name__}`",
            SETTINGS[n].score_name,
        ]
        for n, e in estimators.items()
    ]
    shown = ("sigma", "lam", "step_size", "n_features", "batch_size", "n_iter", "average", "scaling")
    rows = []
    for name, estimator in estimators.items():
        spec = default_spec(name).to_dict()
        page = spec["kernel"] | spec["data"] | spec["problem"] | spec["solver"]
        own = {key: p.default for key, p in signature(estimator).parameters.items()}
        rows += [
            [profiles[name].short, "page"] + [code(page[key]) if key in page else "" for key in shown],
            [profiles[name].short, f"`{estimator.__name__}`"]
            + [code(own[key]) if key in own else "" for key in shown[:-1]]
            + ["yours"],
        ]
    columns = ["page", "address", "`setting` in a spec", "class", "score"]
    return f"""{table(columns, names)}

A page opens with values that suit its first data set, and the estimator has values for any data.
On your own file a page has the estimator's values, so both give the same model.

{table(["setting", "defaults of", *(f"`{key}`" for key in shown)], rows)}"""


def page() -> str:
    """Return the whole page."""
    example = {"version": default_spec("auc").to_dict()["version"], "setting": "auc", "seed": 3}
    problems = "\n\n".join(
        f"### `problem` of `{name}`\n\n{described(setting.parameters, 'problem', [name])}"
        for name, setting in SETTINGS.items()
    )
    kernels = table(
        ["kernel", "field", "meaning", "allowed", "default"],
        [
            [f"`{name}`", f"`{p.name}`", p.sentence, p.allowed().replace("or None", "or null"), code(p.default)]
            for name, kernel in KERNELS.items()
            for p in kernel.parameters
        ],
    )
    return f"""{HEAD.format(example=json.dumps(example, indent=2))}
## The settings and their names

{settings()}

## `data`

{described(DATA_PARAMETERS, "data")}

`edits` is a list of edits by hand:

{documented(Edit)}

`recipe` says how a file is read. Only `format` must be named:

{documented(Recipe, Recipe.parameters)}

## `kernel`

`name` is the kernel, and the other fields are its own:

{kernels}

## `problem`

{problems}

### Weights of points and of means

A name means the same in a spec, a link, the app and every class:

- `labeled_weight` and `unlabeled_weight` weigh *mean* losses. They are C and C* of the paper.
- `C` and `C_star` of a class weigh *each point's* loss, as in scikit-learn's `SVC`, so that one value suits any number.

`TSGS3VM` takes either. For n_l labeled and n_u unlabeled points these are the same:

| a weight of a mean | `TSGS3VM` with weights of points |
| --- | --- |
| `labeled_weight` | `C` = `labeled_weight` / n_l |
| `unlabeled_weight` | `C_star` = `unlabeled_weight` / n_u |
| no `unlabeled_weight` | `C_star` = `labeled_weight` n_l / n_u², as in the paper |

`TSGS3VM()` alone gives all unlabeled points together a tenth of the labels' weight, which is more.

## `solver`

{described(sections_of(SETTINGS["auc"])["solver"], "solver")}

## `stop`

{described(StopSpec.parameters, "stop")}

## `diagnostics`

{described(DiagnosticsSpec.parameters, "diagnostics")}

## The other fields

`version` is the version of this format, and `setting` a word of the first table.
`changes` is a list of moved sliders: `{{"t": 100, "name": "step_size", "value": 0.1}}` holds after iteration 100.
`seed` is a whole number from 0. It sets the data, the hidden labels, the batches and the random features.

## Columns of a history

{table(["column", "meaning"], [[f"`{name}`", meaning] for name, meaning in COLUMNS.items()])}
"""


if __name__ == "__main__":
    sys.stdout.write(page())
