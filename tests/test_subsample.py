"""Diagnoses of more training points than a kernel matrix can hold: they use a random part, and say so."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from own_tables import own_spec, sniff

from dsgcore.__main__ import main
from dsgcore.cli.run import words
from dsgcore.diagnostics import convergence, four_runs, limits
from dsgcore.diagnostics.references import MAX_POINTS, on_some_points, settled_task
from dsgcore.experiments import Spec, load_split

SETS = {
    "auc": {"name": "two_moons", "n_labeled": 20},
    "s3vm": {"name": "two_moons", "n_labeled": 20},
    "ordinal": {"name": "ordinal_rings", "n_labeled": 20},
    "similar_unlabeled": {"name": "two_moons", "n_labeled": 20, "imbalance": 0.7},
}


def spec_of(setting, n=300, **data):
    solver = {"n_iter": 12, "n_features": 8, "batch_size": 8}
    return Spec.from_dict({"setting": setting, "data": SETS[setting] | {"n": n} | data, "solver": solver})


@pytest.fixture
def few(monkeypatch):
    """Let a diagnosis use 100 points at most."""
    monkeypatch.setattr("dsgcore.diagnostics.references.MAX_POINTS", 100)


def task_of(spec):
    return settled_task(spec, load_split(spec))


@pytest.mark.parametrize("setting", SETS)
def test_the_part_is_random_by_the_seed_and_keeps_every_labeled_point(setting, few):
    task = task_of(spec_of(setting))
    own, again, other = (on_some_points(replace(task, seed=seed)) for seed in (3, 3, 4))
    assert len(own.X) == 100
    assert np.array_equal(own.X, again.X)
    assert not np.array_equal(own.X, other.X)
    labeled = [source for source in task.rows if source != "unlabeled"]
    for source in labeled:
        assert np.array_equal(own.X[own.rows[source]], task.X[task.rows[source]])
    assert sum(map(len, own.rows.values())) == 100
    assert own.problem == task.problem  # weights that depend on how many points there are stay those of the run
    assert own.plan.automatic_step == task.plan.automatic_step


def test_where_no_point_is_unlabeled_the_whole_part_is_the_third_source(few):
    task = task_of(spec_of("auc", n_labeled=210))
    own = on_some_points(task)
    assert len(own.X) == len(own.rows["unlabeled"]) == 100
    assert len(own.rows["positive"]) + len(own.rows["negative"]) == 100


def test_few_enough_points_are_all_used():
    task = task_of(spec_of("auc"))
    assert on_some_points(task) is task
    assert limits(spec_of("auc"), seeds=1).subsample is None
    assert limits(spec_of("auc"), seeds=1).to_dict()["subsample"] is None
    assert convergence(spec_of("auc"), 1).subsample is None


@pytest.mark.parametrize("setting", SETS)
def test_what_limits_a_run_on_many_points_is_found_and_says_on_which(setting, few):
    told = []
    found = limits(spec_of(setting), seeds=2, callback=told.append)
    assert found.to_dict()["subsample"] == {
        "points": 100,
        "of": len(load_split(spec_of(setting)).X_train),
        "seeds": [0, 1],
    }
    assert "Measured on 100 of the" in words(found)
    assert "Each seed (0, 1) draws its own points." in words(found)
    assert np.isfinite(found.parts["together"])
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)


def test_each_seed_has_its_own_part_so_that_the_spread_includes_the_choice(few):
    spec = spec_of("auc")
    scales = [run.scale for run in limits(spec, seeds=3).runs]
    assert len(set(scales)) == 3
    found = convergence(spec, 3)
    assert found.columns["scale"][:, -1] == pytest.approx(scales)
    assert found.columns["distance"][:, -1] == pytest.approx([four_runs(spec, s).together[-1] for s in range(3)])
    assert found.subsample.seeds == (0, 1, 2)
    assert (found.subsample.points, found.subsample.of) == (100, 210)


def test_a_part_tells_about_what_all_points_tell(monkeypatch):
    spec = spec_of("auc", n=1200)
    whole = limits(spec, seeds=3)
    monkeypatch.setattr("dsgcore.diagnostics.references.MAX_POINTS", 420)
    part = limits(spec, seeds=3)
    assert part.leading == whole.leading
    assert part.parts["together"] == pytest.approx(whole.parts["together"], rel=0.25)


def big_file():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 2))
    rows = (
        f"{a:.4f},{b:.4f},{'yes' if a * b + 0.3 * c > 0 else 'no'}"
        for (a, b), c in zip(X, rng.normal(size=10_000), strict=True)
    )
    return "\n".join(["a,b,label", *rows]).encode()


def test_a_file_of_10000_rows_is_checked_and_no_advice_is_given_that_a_file_cannot_follow(tmp_path, capsys):
    content = big_file()
    (tmp_path / "table.csv").write_bytes(content)
    spec, _ = own_spec(content, sniff(content, "table.csv", labels="binary"), setting="s3vm")
    spec = replace(spec, solver=replace(spec.solver, n_iter=2))
    (tmp_path / "spec.json").write_text(spec.to_json())
    code = main(["check", str(tmp_path / "spec.json"), "--seeds", "1", "--json", str(tmp_path / "out.json")])
    said = capsys.readouterr()
    assert code in (0, 1), said.err
    assert f"Measured on {MAX_POINTS:,} of the 7,500 training points, drawn at random with seed 0." in said.out
    assert json.loads((tmp_path / "out.json").read_text())["subsample"] == {"points": 4000, "of": 7500, "seeds": [0]}


def test_the_table_of_ways_says_how_many_points_were_used(few):
    from types import SimpleNamespace

    from pages.studies.trajectory_showing import table_of_ways

    spec = spec_of("auc")
    one = SimpleNamespace(name="the run", found=convergence(spec, 1), case=SimpleNamespace(spec=spec))
    first = next(csv.DictReader(table_of_ways([one]).splitlines()))
    assert (float(first["points"]), float(first["of_points"])) == (100, 210)
