"""The fields of a spec and the columns of a history as Markdown: ``python .ci/fields.py > .github/docs/spec.md``.

Everything is read from the code, so a test can tell whether the page is up to date.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import MISSING, fields
from inspect import getdoc, signature
from typing import Any

from dsgcore.core.parameters import Parameter
from dsgcore.data import Edit
from dsgcore.data.reading import Recipe
from dsgcore.experiments import SETTINGS, default_spec
from dsgcore.experiments.export import estimator_of
from dsgcore.experiments.history import COLUMNS
from dsgcore.experiments.settings import DATA_PARAMETERS, DiagnosticsSpec, StopSpec, defaults_of, solver_parameters
from dsgcore.kernels import KERNELS
from dsgcore.settings import profile_of

HEAD = """# Fields of a spec, columns of a history

A *spec* is one experiment as JSON: the setting, the data, the parameters and the seed.
The tab **Code** shows the spec of the run on the page, `dsg-lab run SPEC.json` carries one out, and a study varies one.
A field that is left out has its default, so this is a whole spec, `spec.json`:

```json
{example}
```

A *history* is the record of a run, one row for each iteration: `history.csv`, or `run.history.to_frame()` in Python.

This page is made from the code by `python .ci/fields.py`.
"""


def table(names: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [list(names), ["---"] * len(list(names)), *map(list, rows)]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(value: Any) -> str:
    """Return a value as JSON in code type."""
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def described(parameters: Iterable[Parameter], section: str) -> str:
    """Return the table of a section's parameters. Defaults of single settings stand at the end of the meaning."""
    rows = []
    for parameter in parameters:
        shown = " ".join(filter(None, (parameter.label, parameter.symbol)))
        own = {s.name: defaults_of(s).get(section, {}).get(parameter.name, MISSING) for s in SETTINGS.values()}
        by_setting = [f"{name} {code(value)}" for name, value in own.items() if value is not MISSING]
        rest = f" On the first set of a setting: {', '.join(by_setting)}." if by_setting else ""
        rows.append(
            [f"`{parameter.name}`", shown, parameter.allowed(), code(parameter.default), parameter.sentence + rest]
        )
    return table(["field", "in the app", "allowed", "default", "meaning"], rows)


def documented(kind: type, names: Iterable[str]) -> str:
    """Return the table of a class's fields, from the part of its docstring that describes them."""
    entries = re.split(r"\n(?=\S)", getdoc(kind).split("----\n", 1)[1])  # type: ignore[union-attr]
    rows = []
    for entry in entries:
        named, _, allowed = entry.partition("\n")[0].partition(" : ")
        if set(named.split(", ")) <= set(names):
            meaning = " ".join(line.strip() for line in entry.splitlines()[1:] if line.strip())
            rows.append([", ".join(f"`{name}`" for name in named.split(", ")), allowed, meaning])
    return table(["field", "allowed", "meaning"], rows)


def settings() -> str:
    """Return the tables of the settings: their names everywhere, and the defaults of the page beside the estimator's."""
    profiles = {name: profile_of(setting) for name, setting in SETTINGS.items()}
    estimators = {name: estimator_of(setting) for name, setting in SETTINGS.items()}
    names = [
        [
            profiles[n].short,
            f"`/{n}`",
            f"`{n}`",
            f"`{profiles[n].prefix}`" if profiles[n].prefix else "nothing",
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
    columns = ["page", "address", "`setting` in a spec", "names in a link begin with", "class", "score"]
    return f"""{table(columns, names)}

A page opens with values that suit its first data set, and the estimator has values for any data.
With your own file a page has the estimator's values, so both give the same model.

{table(["setting", "defaults of", *(f"`{key}`" for key in shown)], rows)}"""


def page() -> str:
    """Return the whole page."""
    example = {"version": default_spec("auc").to_dict()["version"], "setting": "auc", "seed": 3}
    problems = "\n\n".join(
        f"### `problem` of `{name}`\n\n{described(setting.parameters, 'problem')}" for name, setting in SETTINGS.items()
    )
    kernels = table(
        ["kernel", "field", "allowed", "default", "meaning"],
        [
            [f"`{name}`", f"`{p.name}`", p.allowed(), code(p.default), p.sentence]
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

{documented(Edit, [f.name for f in fields(Edit)])}

`recipe` says how a file is read. All fields may be left out:

{documented(Recipe, [f.name for f in fields(Recipe)])}

## `kernel`

`name` is the kernel, and the other fields are its own:

{kernels}

## `problem`

{problems}

## `solver`

{described(solver_parameters(SETTINGS["auc"]), "solver")}

## `stop`

{described(StopSpec.parameters, "stop")}

## `diagnostics`

{described(DiagnosticsSpec.parameters, "diagnostics")}

## `changes` and `seed`

`changes` is a list of moved sliders: `{{"t": 100, "name": "step_size", "value": 0.1}}` holds after iteration 100.
`seed` is a whole number from 0. It sets the data, the hidden labels, the batches and the random features.

## Columns of a history

{table(["column", "meaning"], [[f"`{name}`", meaning] for name, meaning in COLUMNS.items()])}
"""


if __name__ == "__main__":
    sys.stdout.write(page())
