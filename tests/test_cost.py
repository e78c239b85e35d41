"""What a run needs: memory and time, links to runs that need too much, and how shares are written."""

import json
import re
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cases import each
from opened_pages import bench_of, errors, open_page, said

from dsgcore.__main__ import main
from dsgcore.core.cost import GIGABYTE, per_cent
from dsgcore.data import DATASETS, DataError, Edit, load, sets
from dsgcore.diagnostics import convergence, limits
from dsgcore.experiments import FileStore, LiveRun, Run, Spec, SpecError, data_of, engine, load_dataset, load_split
from dsgcore.experiments.data_of import with_choice
from dsgcore.experiments.engine import Budget, check_cost, cost_of
from dsgcore.experiments.spec import SETTINGS
from dsgcore.studies.runs import make_run
from pages.controls.hand import edits_to_text
from pages.session import bench as benches

ROOT = Path(__file__).parents[1]
SERVER = Budget(GIGABYTE, 1.0)
MAP, BLOBS, INVERSE = {"feature_map": "fourier"}, {"name": "blobs", "n": 40_000}, {"variant": "preconditioned softmax"}
# For each: the spec, and the parameters that a user can reduce.
TOO_MUCH = [
    ({"setting": "auc", "solver": {"n_features": 65536, "batch_size": 65536, "n_iter": 100_000}}, "n_features"),
    ({"setting": "auc", "data": {"name": "high_dimensional", "n": 1_000_000, "n_irrelevant": 2000}}, "n"),
    ({"setting": "multiclass", "problem": MAP, "data": BLOBS, "solver": {"n_features": 16_384}}, "n_features"),
    ({"setting": "s3vm", "data": {"name": "two_moons", "n": 10**6}, "solver": {"n_features": 65_536}}, "n_features"),
    (
        {"setting": "multiclass", "problem": {"variant": "softmax"}, "data": BLOBS, "solver": {"n_features": 8192}},
        "n_features",
    ),
    ({"setting": "multiclass", "problem": INVERSE, "solver": {"n_features": 16_384}}, "n_features"),
]


@each("given, smaller", TOO_MUCH)
def test_what_costs_too_much_is_refused_before_anything_is_made_and_what_is_said_to_fit_does(given, smaller):
    spec = Spec.from_dict(given)
    tracemalloc.start()
    try:
        said = rf"but at most 1 (GB|s) is allowed; with {smaller} \d+ it would fit$"
        with pytest.raises(SpecError, match=said) as caught:
            check_cost(spec, SERVER)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()
    section, value = "data" if smaller == "n" else "solver", int(str(caught.value).split()[-4])
    check_cost(Spec.from_dict(given | {section: given.get(section, {}) | {smaller: value}}), SERVER)


@each("setting", SETTINGS)
def test_what_a_setting_begins_with_fits_many_times(setting):
    check_cost(Spec.from_dict({"setting": setting}), Budget(GIGABYTE // 4, 0.05))


def test_a_change_in_mid_run_counts_and_a_files_size_once_it_is_read():
    given = {"setting": "auc", "data": {"name": "two_moons", "n": 20_000}}
    given["solver"] = {"n_iter": 100_000, "n_features": 16}
    check_cost(Spec.from_dict(given), SERVER)
    given["changes"] = [{"t": 5, "name": "n_features", "value": 65_536}]
    with pytest.raises(SpecError, match="memory"):
        check_cost(Spec.from_dict(given), SERVER)
    spec = Spec.from_dict({"setting": "auc", "data": {"name": "file", "path": "a.csv"}})
    check_cost(spec, SERVER)
    check_cost(spec, SERVER, (1000, 10))
    with pytest.raises(SpecError, match="smaller data set"):
        check_cost(spec, SERVER, (100_000_000, 100))


def test_a_preconditioner_costs_its_matrix_and_a_system_in_each_iteration():
    solver, width = {"n_features": 2000, "n_iter": 10}, 2 * 2000
    plain, inverse = (
        cost_of(Spec.from_dict({"setting": "multiclass", "problem": {"variant": variant}, "solver": solver}))
        for variant in ("softmax", INVERSE["variant"])
    )
    assert inverse.memory - plain.memory >= 8 * width**2
    assert inverse.seconds > plain.seconds


def test_the_shape_follows_from_the_options():
    spec = Spec.from_dict({"setting": "auc", "data": {"name": "high_dimensional", "n": 300, "n_irrelevant": 30}})
    split = load_split(spec)
    shape = len(split.X_train) + len(split.X_test), split.X_train.shape[1]
    assert DATASETS["high_dimensional"].shape(300, 30) == shape
    assert cost_of(spec) == cost_of(spec, shape)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("setting", "given"),
    [
        ("auc", {"data": {"name": "high_dimensional", "n": 5000, "n_irrelevant": 500}}),
        ("s3vm", {"data": {"name": "two_moons", "n": 30_000}, "solver": {"n_features": 64, "batch_size": 512}}),
        ("ordinal", {"solver": {"n_features": 4096, "n_iter": 400}}),
        ("multiclass", {"problem": MAP | {"tau_I": 1e-3}, "data": BLOBS | {"n": 3000}, "solver": {"n_features": 700}}),
        ("multiclass", {"problem": MAP | {"tau_I": 0.0}, "data": BLOBS | {"n": 3000}, "solver": {"n_features": 700}}),
        ("multiclass", {"problem": {"variant": "softmax"}, "data": BLOBS | {"n": 3000}, "solver": {"n_features": 700}}),
        pytest.param(
            *("multiclass", {"problem": INVERSE, "data": BLOBS | {"n": 300}, "solver": {"n_features": 2000}}),
            marks=pytest.mark.weekly,
        ),
    ],
    ids=["wide", "long", "many features", "multi-class", "no graph", "features of each iteration", "preconditioner"],
)
def test_announced_memory_is_about_what_a_run_takes(setting, given):
    spec = Spec.from_dict({"setting": setting, **given})
    Run(Spec.from_dict({"setting": setting})).advance(1)  # imports, compiled loops
    tracemalloc.start()
    run = Run(spec)
    run.advance(5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The blocks of the iterations still to come, and the twin that a page has beside the run, are announced too.
    assert peak <= 1.5 * cost_of(spec).memory
    made = np.sum([array.nbytes for array in (run.split.X_train, run.split.X_test)])
    assert cost_of(spec).memory <= 4 * peak + 200 * made + 60_000_000


BIG = {"setting": "auc", "data": {"name": "high_dimensional", "n": 200_000, "n_irrelevant": 500}}


def test_batches_of_more_classes_and_a_product_of_more_projections_take_longer():
    classes = ({"name": "ordinal_ramp", "n_classes": k} for k in (3, 20))
    few, many = (cost_of(Spec.from_dict({"setting": "ordinal", "data": data})) for data in classes)
    assert many.seconds > 2 * few.seconds
    kernels = [{"name": "dot_product", "power": power} for power in ("1", "5")]
    wide = {"data": {"name": "high_dimensional"}, "solver": {"n_features": 4096, "n_iter": 10}}
    one, five = (cost_of(Spec.from_dict({"setting": "auc", "kernel": kernel, **wide})) for kernel in kernels)
    assert five.seconds > 1.5 * one.seconds
    assert five.memory > one.memory + 4 * 100 * 4096 * 4


@pytest.fixture
def nothing_large(monkeypatch):
    """Fail where large data are made."""

    def load_small(name, **options):
        assert options.get("n") not in (BIG["data"]["n"], BLOBS["n"]), "made before its cost was checked"
        return load(name, **options)

    monkeypatch.setattr(data_of, "DATASETS", {name: partial(load_small, name) for name in DATASETS})


WAYS_IN = {
    "a run": lambda: Run(Spec.from_dict(BIG)),
    "a live run": lambda: LiveRun(Spec.from_dict(BIG)),
    "points": lambda: load_dataset(Spec.from_dict(BIG)),
    "points of a session": lambda: load_split(Spec.from_dict(BIG), files=FileStore(budget=Budget(GIGABYTE // 2))),
    "four runs": lambda: limits(Spec.from_dict(BIG)),
    "convergence": lambda: convergence(Spec.from_dict(BIG), seeds=(0,)),
    "a study's run, also by command and on other machines": lambda: make_run(json.dumps(BIG)),
    "a choice of labels": lambda: with_choice(Spec.from_dict(BIG), "centres"),
}


@each("way, go", WAYS_IN.items())
def test_every_way_in_is_checked_before_anything_is_allocated(nothing_large, monkeypatch, way, go):
    monkeypatch.setattr(engine, "OF_MACHINE", GIGABYTE)
    said = r"about [12]\.\d+ GB of memory, but at most (1|0\.5) GB is allowed; with n \d+ it would fit"
    with pytest.raises(SpecError, match=said):
        go()


@each("words", [("run", "{file}", "--out", "{out}"), ("check", "{file}")])
def test_every_command_is_checked_before_anything_is_allocated(nothing_large, monkeypatch, tmp_path, capsys, words):
    monkeypatch.setattr(engine, "OF_MACHINE", GIGABYTE)
    (file := tmp_path / "spec.json").write_text(json.dumps(BIG), encoding="utf-8")
    assert main([word.format(file=file, out=tmp_path / "out") for word in words]) != 0
    assert "GB is allowed; with n" in capsys.readouterr().err


@each("name", [name for name, entry in DATASETS.items() if entry.is_generated])
def test_data_in_python_are_checked_before_anything_is_allocated(monkeypatch, name):
    monkeypatch.setattr(sets, "OF_MACHINE", GIGABYTE // 20)
    tracemalloc.start()
    try:
        for make in (DATASETS[name], lambda **options: load(name, **options)):
            said = rf"^{name} with these options needs about [\d.]+ GB .* has 0.05 GB: take fewer"
            with pytest.raises(DataError, match=said):
                make(n=1_000_000)
            if any(option.name == "n_irrelevant" for option in DATASETS[name].options):
                with pytest.raises(DataError, match=said):
                    make(n=20_000, n_irrelevant=500)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()
    assert len(load(name, n=1000).X) == 1000


def test_a_lesson_chooses_no_more_labels_than_it_can_search_for():
    spec = Spec.from_dict({"setting": "auc", "data": {"name": "two_moons", "n": 2000, "n_labeled": 500}})
    with pytest.raises(DataError, match="n_labeled must be a whole number between 2 and 50"):
        with_choice(spec, "centres")


# --- on a page


EDITED = {"edits": edits_to_text([Edit("label", (3,), 1)])}
MANY = {"data.name": "Many irrelevant features", "data.n": "200000", "data.n_irrelevant": "500"}
FEATURES = {"data.name": "Blobs", "data.n": "40000", "solver.n_features": "16384", "solver.feature_map": "fourier"}


@each(
    "page, link",
    [
        ("multiclass", FEATURES),
        *((page, MANY) for page in ("data", "auc")),
        *((page, MANY | EDITED) for page in ("auc", "explore", "convergence")),
        *(("auc", MANY | {"lesson": lesson}) for lesson in ("one-wrong-label", "five-labels:3", "unlabeled")),
    ],
)
def test_every_link_is_checked_before_anything_is_allocated(nothing_large, page, link):
    app = open_page(page, **link)
    assert not app.exception
    told = [*errors(app), *said(app)]
    # Beside a control, by its label.
    fitting = re.compile(r"GB is allowed; with (n|the number of random features) \d+ it would f")
    assert any(map(fitting.search, told)), told
    if page == "multiclass":
        assert len(app.error) == 1
        assert bench_of(app, page).live is None


@pytest.mark.ci
def test_a_slider_that_asks_for_too_much_leaves_the_run_as_it_is():
    app = open_page("auc", **{"solver.n_iter": "100000"}, at="3", **{"data.name": "Two moons"})
    before = bench_of(app, "auc").live
    app.select_slider(key="n_features").set_value(4096).run()
    assert "it would fit" in app.error[0].value
    assert bench_of(app, "auc").live is before


def test_pause_ends_the_way_to_a_late_iteration(monkeypatch):
    monkeypatch.setattr(benches, "LONGEST_GO", 0.0)
    app = open_page("auc", **{"solver.n_iter": "40"}, at="20")
    app.button(key="play").click().run()
    bench = bench_of(app, "auc")
    assert not bench.link.going_to
    assert not bench.is_playing
    reached = bench.live.run.t
    app.run()
    assert bench.live.run.t == reached < 20


def test_shares_are_written_in_one_way():
    assert [per_cent(share) for share in (0.333, 12.5, -0.001)] == ["33 %", "1,250 %", "0 %"]
    own = [path for folder in ("dsgcore", "pages") for path in (ROOT / folder).rglob("*.py")]
    assert len(own) > 100
    assert [path.name for path in own if re.search(r"\.\d%|:%\}", path.read_text(encoding="utf-8"))] == []
