"""Commands on specs: ``dsg-lab run``, ``check``, ``sweep`` and ``race``."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import joblib

from dsgcore.cli.ending import NO, Made, Progress, note
from dsgcore.cli.options import PROGRAM, client_of, typed_value
from dsgcore.cli.predict import FACTS, MODEL, PREPARATION
from dsgcore.core.cost import GIGABYTE, per_cent
from dsgcore.core.errors import DSGError
from dsgcore.core.files import read_text, whole_file, whole_files
from dsgcore.core.parameters import counted, quoted
from dsgcore.diagnostics.judgement import judgement
from dsgcore.diagnostics.limits import CAUSES, limits
from dsgcore.diagnostics.references import check_possible
from dsgcore.experiments import SETTINGS, Run, StopReason, as_in_paper, load_split, read_spec, summary
from dsgcore.experiments.data_of import as_in_app, preparation_of, with_digest, with_usual, with_whole_path
from dsgcore.experiments.engine import Budget, check_cost
from dsgcore.experiments.export import estimator_of_run
from dsgcore.experiments.race import (
    FIXED_FEATURES,
    competitor,
    plain_name,
    run_heats,
    summaries,
    title,
    usual_rivals,
    usual_sizes,
)
from dsgcore.experiments.spec import SpecError
from dsgcore.experiments.verdict import decision_of
from dsgcore.jobs import JobQueue, JobState
from dsgcore.jobs.tasks import JOBS, all_cores
from dsgcore.studies.carrying_out import Outcome, carry_out
from dsgcore.studies.results import csv_of, table_of, to_optuna
from dsgcore.studies.store import Store, default_store
from dsgcore.studies.study import Study, StudyError

_RESULTS = ("history.csv", MODEL, "spec.json", "result.json", FACTS, PREPARATION)
# The progress of a check is shown in so many parts.
_PARTS = 1000


def run(given: argparse.Namespace) -> Made:
    """Run a spec, and write its history, model, spec and result, and what `predict` needs beside the model."""
    spec, limit = with_digest(read_spec(given.spec), given.spec.parent), given.memory_limit
    budget = None if limit is None else Budget(memory=bytes_of(limit))
    check_cost(spec, budget)
    earlier = _earlier(given.out)
    with whole_files(given.out, _RESULTS) as part:  # tested before anything is computed
        split = load_split(spec, folder=given.spec.parent)
        if given.as_in_paper:
            spec = as_in_paper(spec, len(split.X_train))
        check_cost(spec, budget, split.shape)
        if not earlier <= {spec.sha256}:
            there = ", ".join(name for name in _RESULTS if (given.out / name).exists())
            raise SpecError(
                f"{given.out} holds the run of another spec or file: take another folder for --out, or delete {there} there"
            )
        made, progress = Run(spec, split), Progress(is_quiet=given.quiet)
        while not made.is_finished:
            made.advance(seconds=1.0)
            row, words = made.history.last(), "the run could not make an iteration"
            if row:
                words = f"{row['t']:.0f} of {made.n_iter}: objective {row['objective']:.5g}, test score {row['score_test']:.5g}"
                words += progress.left.text(int(row["t"]), made.n_iter)
            progress.show(words)
        history, model, own_spec, result, facts_of_model, preparation = (part / name for name in _RESULTS)
        made.history.write_csv(history)
        made.result.save(model)
        own_spec.write_text(made.spec.to_json(indent=2) + "\n", encoding="utf-8")
        facts = summary(made)
        result.write_text(json.dumps(facts, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        features = preparation_of(spec, split, given.spec.parent)
        joblib.dump(features, preparation)
        own = {"spec_sha256": made.spec.sha256, "features": list(features.columns), "classes": list(split.class_names)}
        own |= decision_of(made) if made.t else {}
        facts_of_model.write_text(json.dumps(own, indent=2) + "\n", encoding="utf-8")
    facts["out"] = given.out
    if made.stop_reason is StopReason.DIVERGED:
        note(
            f"{PROGRAM}: the run has diverged after iteration {made.t} of {made.n_iter}: its values are no longer finite. "
            f"Choose a smaller step size; {given.out} holds the model of iteration {made.model_t}, from before f grew"
        )
        return Made(facts, code=NO)
    ended = made.stop_reason.value if made.stop_reason else ""
    instead = ", in place of those of the same spec" if earlier else ""
    return Made(facts, f"{ended} {', '.join(_RESULTS)} are in {given.out}{instead}.".strip())


def _earlier(folder: Path) -> set[str]:
    """Return the SHA-256 of the spec whose run is in a folder, as each file there that names it says; empty if none does."""
    found = set[str]()
    for name in ("result.json", FACTS):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found.add(str(json.loads((folder / name).read_text(encoding="utf-8"))["spec_sha256"]))
    return found


def bytes_of(memory_limit: float) -> int:
    """Return a limit in gigabytes as bytes; raise `SpecError` if it is none."""
    if not 0 < memory_limit < float("inf"):
        raise SpecError(f"memory_limit must be a number of gigabytes above 0, got {memory_limit:g}")
    return round(memory_limit * GIGABYTE)


def check(given: argparse.Namespace) -> Made:
    """Say what limits a run, with the app's judgement and remedy; the exit code is 0 if it has converged, else 1."""
    spec = read_spec(given.spec)
    check_possible(spec)
    check_cost(spec)
    progress = Progress(is_quiet=given.quiet)

    def tell(share: float) -> None:
        progress.part(round(_PARTS * share), _PARTS, per_cent(share))

    split = load_split(spec, folder=given.spec.parent)
    found, run = limits(spec, given.seeds, split=split, callback=tell), Run(spec, split)
    run.advance()
    said = judgement(run, limits=found)
    data = found.to_dict() | {
        "cause": said.cause.value,
        "sentence": said.sentence,
        "remedy": said.remedy,
        "changes": said.changes,
    }
    seeds = f"Seeds: {', '.join(map(str, found.seeds))}." if found.subsample is None else found.subsample.sentence()
    advice = f"{said.sentence} {said.remedy}".rstrip()
    state = "has converged" if found.converged else "has not converged"
    optimum = "the optimum f*" if found.runs[0].is_exact else "the point that it would reach without noise, f*"
    lines = [f"The run {state}: at the end it is {found.parts['together']:.3g} ||f*|| away from {optimum}."]
    for name in CAUSES:
        lines.append(
            f"  {name:<13}{found.parts[name]:8.3g} ||f*||, {per_cent(found.shares[name], 1):>8} of the squared distance"
        )
    lines.append(f"  {'remainder':<13}{'':8}         {per_cent(found.shares['remainder'], 1):>8}")
    lines.append(f"Leading: {found.leading}. {advice}")
    slopes = f"|f - h|^2 {found.slopes['error']:+.2f}, |f - f*|^2 {found.slopes['distance']:+.2f}."
    lines.append(f"Slopes over the second half: {slopes}")
    if found.has_grown:
        lines = [f"The run diverges. {advice}"]
    return Made(data, "\n".join([*lines, seeds]), 0 if found.converged else NO, is_result=True)


def sweep(given: argparse.Namespace) -> Made:
    """Make the runs of a study and write its table; the exit code is 0, or 1 if no run has a result."""
    study = asked_study(given.study, given.axis, given.seeds)
    (study, folder), jobs = in_app(study), JOBS.check(given.jobs) or all_cores()
    client = client_of(given.dask) if given.dask else nullcontext()
    store = Store(given.store or default_store())  # made when all else is checked
    progress, counts = Progress(is_quiet=given.quiet), Counter({"runs": 0, "new": 0, "failed": 0})

    def said() -> str:
        failed = f", {counts['failed']} failed" if counts["failed"] else ""
        return f"{counts['runs']} of {counted(len(study), 'run')}, {counts['new']} new{failed}"

    def tell(outcome: Outcome) -> None:
        counts.update(runs=1, new=outcome.is_new, failed=outcome.stored is None)
        progress.part(counts["runs"], len(study), said(), is_new=counts["new"] > 0)

    if given.optuna_storage is not None:
        with suppress(ImportError):  # refused in a sentence by `to_optuna`
            from optuna import logging

            logging.set_verbosity(logging.WARNING)  # its messages do not belong into the progress line
        to_optuna(study, store, given.optuna_storage)  # so a storage that cannot be used is refused before any run
    try:
        with client as at:
            outcomes = carry_out(study, store, jobs, client=at, callback=tell, folder=folder)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"finished runs are kept in {store.file}. Run the same command to continue") from None
    if given.optuna_storage is not None:
        to_optuna(study, store, given.optuna_storage)
    table = table_of(study, outcomes)
    if given.csv is not None:
        with whole_file(given.csv) as to:
            to.write(csv_of(table))
    has_result = any(outcome.stored is not None for outcome in outcomes)
    if not has_result:
        note(f"{PROGRAM}: no run has a result: {outcomes[0].failed}")
    data = {**counts, **{"store": store.file, "csv": given.csv, "table": table.to_dict("records")}}
    text = csv_of(table).rstrip("\n") if given.csv is None else f"{said()}. The table is in {given.csv}."
    return Made(data, text, 0 if has_result else NO, is_result=given.csv is None)


def asked_study(study: Path, axis: Sequence[str], seeds: int | None) -> Study:
    """Return the study of a file or of a setting's name, with the axes and the number of seeds of the command line."""
    is_name = str(study) in SETTINGS and not study.exists()
    base = Study.from_dict({"spec": {"setting": str(study)}, "seeds": [0]}) if is_name else read_study(study)
    plain = base.to_dict()
    if axis:
        plain["axes"] = [axis_of(text) for text in axis]
    if seeds is not None:
        plain["seeds"] = list(range(seeds))
    return Study.from_dict(plain)


def in_app(study: Study, *, needs_file: bool = True) -> tuple[Study, str | None]:
    """Return a study as the app has it, so that both share its runs, and the folder of its own file, if its data are one.

    If it only has to be shown, the file may be missing from a study that names it by its digest and its recipe.
    """
    data = study.spec.data
    if not needs_file and data.sha256 is not None and data.recipe is not None and not Path(str(data.path)).exists():
        return replace(study, spec=as_in_app(study.spec, has_recipe=False)[0]), None
    has_recipe = not {f"data.{name}" for name in ("target", "positive", "convert")} & {axis.name for axis in study.axes}
    spec, folder = as_in_app(study.spec, has_recipe=has_recipe)
    return replace(study, spec=spec), folder


def axis_of(text: str) -> dict[str, Any]:
    """Return the plain data of an axis: NAME=FROM:TO:N, NAME=FROM:TO:N:log, or NAME=VALUE,VALUE,..."""
    name, _, said = text.partition("=")
    parts = said.split(":")
    try:
        if len(parts) in (3, 4):
            scale = {"scale": parts[3]} if len(parts) == 4 else {}
            return {"name": name, "from": float(parts[0]), "to": float(parts[1]), "n": int(parts[2]), **scale}
    except ValueError:
        parts = []
    if not said or len(parts) != 1:
        raise StudyError(
            f"--axis must be NAME=FROM:TO:N, NAME=FROM:TO:N:log or NAME=VALUE,VALUE,..., got {quoted(text)}"
        )
    return {"name": name, "values": [typed_value(word) for word in said.split(",")]}


def read_study(file: Path) -> Study:
    """Read a study's file, with its spec as `read_spec` reads one.

    A data file that the spec names without a folder is also looked for beside the study.
    """
    text = read_text(file, "a study in JSON")
    try:
        study = Study.from_json(text)
        said = json.loads(text)
        if study.others or study.data_seed is not None:
            raise StudyError("a study in a file has scores of one spec: leave out others and data_seed")
        spec = with_usual(study.spec, said.get("spec", said), file.parent)
    except SpecError as error:
        raise type(error)(f"{error} (in {file})") from None
    return replace(study, spec=with_whole_path(spec, file.parent))


def race(given: argparse.Namespace) -> Made:
    """Race, and print the median score and time of each method at each size, and why a method has none."""
    spec, progress = with_whole_path(read_spec(given.spec), given.spec.parent), Progress(is_quiet=given.quiet)
    setting, limit = spec.problem.name, bytes_of(given.memory_limit)
    rivals, sizes = given.rivals or usual_rivals(setting), given.sizes or usual_sizes(load_split(spec))
    job = JobQueue(1).submit(run_heats, spec, rivals, sizes, given.seeds, memory_limit=limit)
    while not job.is_over:
        job.wait(0.2)
        if job.progress is not None:
            done, total, so_far = job.progress
            progress.part(done, total, f"{so_far[-1].method}, {so_far[-1].n_unlabeled:,} unlabeled points")
    if job.state is not JobState.DONE:
        raise DSGError(job.error)
    # A table of commands has the names that commands take.
    called = {title(spec, name): plain_name(competitor(setting, name)) for name in rivals if name != FIXED_FEATURES}
    if (own := estimator_of_run(spec)[0]) is not None:
        runs = [title(spec, name) for name in ("", FIXED_FEATURES) if name in ("", *rivals)]
        called |= {run: run.replace(runs[0], own.__name__) for run in runs}
    heats = [replace(heat, method=called.get(heat.method, heat.method)) for heat in job.result]
    width = max(24, *(len(heat.method) + 1 for heat in heats))
    lines = [f"{'method':<{width}}{'unlabeled':>10}{'seconds':>10}  {spec.problem.score_name}"]
    lines += [
        f"{one.method:<{width}}{one.n_unlabeled:>10,}{one.seconds:>10.3g}  {one.score:.4f} ({one.low:.4f} to {one.high:.4f})"
        for one in summaries(heats).itertuples()
    ]
    notes = dict.fromkeys(f"{heat.method} at {heat.n_unlabeled:,}: {heat.note}." for heat in heats if heat.note)
    return Made({"heats": [asdict(heat) for heat in heats]}, "\n".join([*lines, *notes]), is_result=True)
