"""The command ``dsg-lab race``: a spec's run and several competitors at growing sizes, over seeds."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace

from dsgcore.cli.ending import Made, Progress
from dsgcore.cli.options import names
from dsgcore.cli.places import check_files, inputs_of, json_file
from dsgcore.core.errors import DSGError
from dsgcore.experiments import load_split, read_spec
from dsgcore.experiments.cost import machine_budget
from dsgcore.experiments.data_of import with_whole_path
from dsgcore.experiments.export import estimator_of_run
from dsgcore.experiments.race import FIXED_FEATURES, Heat, run_heats, summaries, title, usual_sizes
from dsgcore.experiments.rivals import competitor, competitors, plain_name
from dsgcore.jobs import JobQueue, JobState


def race(given: argparse.Namespace) -> Made:
    """Race, and print the median score and time of each method at each size."""
    spec = with_whole_path(read_spec(given.spec), given.spec.parent)
    check_files(json_file(given), inputs_of(given.spec, spec))
    progress = Progress(is_quiet=given.quiet)
    split = load_split(spec)
    sizes = usual_sizes(split) if given.sizes is None else tuple(map(_size, _some(given.sizes, "--sizes")))
    rivals = _papers(spec.problem.name) if given.rivals is None else _some(given.rivals, "--with")
    limit = machine_budget(given.memory_limit).memory
    job = JobQueue(1).submit(run_heats, spec.to_json(), rivals, sizes, given.seeds, memory_limit=limit)
    while not job.is_over:
        job.wait(0.2)
        if job.progress is not None:
            done, total, so_far = job.progress
            progress.part(done, total, f"{so_far[-1].method}, {so_far[-1].n_unlabeled:,} unlabeled points")
    if job.state is not JobState.DONE:
        raise DSGError(job.error)
    kinds = [competitor(spec.problem.name, name) for name in rivals if name != FIXED_FEATURES]
    called = {kind.title: plain_name(kind) for kind in kinds}
    if (own := estimator_of_run(spec)[0]) is not None:
        called[title(spec, "")] = own.__name__
    heats = tuple(replace(heat, method=called.get(heat.method, heat.method)) for heat in job.result)
    return Made({"heats": [asdict(heat) for heat in heats]}, said(heats, spec.problem.score_name), is_result=True)


def said(heats: tuple[Heat, ...], score: str) -> str:
    """Return a table of medians over the seeds with the range of the scores, and why a method has none."""
    lines = [f"{'method':<24}{'unlabeled':>10}{'seconds':>10}  {score}"]
    lines += [
        f"{one.method:<24}{one.n_unlabeled:>10,}{one.seconds:>10.3g}  {one.score:.4f} ({one.low:.4f} to {one.high:.4f})"
        for one in summaries(heats).itertuples()
    ]
    notes = dict.fromkeys(f"{heat.method} at {heat.n_unlabeled:,}: {heat.note}." for heat in heats if heat.note)
    return "\n".join([*lines, *notes])


def _papers(setting: str) -> list[str]:
    """Return the papers' own competitors, or without any the first two everyday ones."""
    kinds = competitors(setting)
    return [plain_name(kind) for kind in [kind for kind in kinds if not kind.is_everyday] or kinds[:2]]


def _some(text: str, option: str) -> list[str]:
    if not (found := names(text)):
        raise DSGError(f"{option} must be a list such as A,B, got {text!r}")
    return found


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise DSGError(f"--sizes must be whole numbers of unlabeled points, such as 500,5000, got {text!r}")
    return int(text)
