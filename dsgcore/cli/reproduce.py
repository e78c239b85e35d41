"""The command ``dsg-lab reproduce``: a figure of a paper, measured on the paper's sets against its rivals."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from dsgcore.cli.ending import NO, Made, Progress
from dsgcore.comparing.reproductions import (
    NOT_RUN,
    REPRODUCED,
    carry_out_reproduction,
    how_to_get,
    kept,
    reproduction,
    reproductions,
)
from dsgcore.core.errors import DSGError
from dsgcore.studies.store import Store, default_store


def reproduce(given: argparse.Namespace) -> Made:
    """Measure a figure, or list all with their kept verdicts; the exit code is 0 if the paper's claim is reproduced, else 1."""
    if given.list:
        every = {name: kept(asked) for name, asked in reproductions().items()}
        text = "\n".join(f"{name:<26}{found.outcome:<20}  {found.size}" for name, found in every.items())
        figures = {name: {"says": found.asked.says, "outcome": found.outcome} for name, found in every.items()}
        return Made({"figures": figures}, text, is_result=True)
    if given.name is None:
        raise DSGError("name a figure, such as auc/fig1, or give --list")
    if given.data is not None and not given.data.is_dir():
        raise DSGError(f"--data must be a folder, got {given.data}")
    asked, progress = reproduction(given.name, is_quick=given.quick), Progress(is_quiet=given.quiet)
    store = Store(given.store or default_store())
    found = carry_out_reproduction(asked, given.data, store, report=lambda so_far: progress.part(*so_far))
    data = {"figure": asked.name, "says": asked.says, "quick": given.quick, "outcome": found.outcome}
    data |= {"checks": [asdict(check) | {"state": check.state} for check in found.checks]}
    data |= {"fits": found.fits.to_dict("records"), "missing": found.missing}
    lines = [f"{asked.name}: {found.outcome}. The paper: {asked.says}", asked.checked]
    lines += [f"  {check.state:<5}  {check.words}" for check in found.checks]
    lines += [f"Left out: {', '.join(found.missing)}. {how_to_get(found.missing)}"] if found.missing else []
    lines += [asked.why] if asked.why else []
    lines += [f"{asked.seeds} seeds, 95 % intervals over them; seconds are the processor's, in one thread."]
    if found.outcome == NOT_RUN:
        lines = [f"{asked.name}: not run. {how_to_get(found.missing)} The option --data names a folder with NAME.npz."]
    return Made(data, "\n".join(lines), 0 if found.outcome == REPRODUCED else NO, is_result=True)
