"""What a run needs, memory and time, and links to runs that need too much; and what each parameter allows."""

import json
import re
import tracemalloc
from functools import partial

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from opened_pages import bench_of, errors, open_page, said

from dsgcore.__main__ import main
from dsgcore.core.cost import GIGABYTE
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import (
    Choice,
    Flag,
    Integer,
    ParameterError,
    Real,
    Text,
    check_all,
    grid,
    parameters_of,
    quoted,
)
from dsgcore.data import DATASETS, DataError, Edit, load, sets
from dsgcore.diagnostics import convergence, limits
from dsgcore.experiments import FileStore, LiveRun, Run, Spec, SpecError, data_of, engine, load_dataset, load_split
from dsgcore.experiments.data_of import with_choice
from dsgcore.experiments.engine import Budget, check_cost, cost_of
from dsgcore.experiments.spec import SETTINGS, DataSpec, DiagnosticsSpec, StopSpec
from dsgcore.kernels import KERNELS
from dsgcore.solver.parameters import SolverParameters
from dsgcore.solver.stopping import Stopping
from dsgcore.solver.task import Plan
from dsgcore.studies.runs import make_run
from pages.controls.hand import edits_to_text
from pages.session import bench as benches

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


# --- parameters: what each kind allows, the lists of all records, and the values of every iteration


KINDS = (
    *(Real("lam", 0.5, low=0.0, high=2.0), Real("x", 0.0), Integer("n_iter", 5, low=1, high=10)),
    *(Choice("schedule", "constant", options=("constant", "theta/t")), Flag("stratified", True), Text("path", "a")),
)


@given(st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(), st.lists(st.integers())))
def test_any_value_is_allowed_in_the_type_of_the_default_or_refused_in_one_sentence(value):
    for parameter in KINDS:
        try:
            checked = parameter.check(value)
        except ParameterError as error:
            said = str(error)
        else:
            assert type(checked) is type(parameter.default)
            assert parameter.check(json.loads(json.dumps(checked))) == checked == value
            continue
        assert said == f"{parameter.name} must be {parameter.allowed()}, got {quoted(value)}"
        assert "\n" not in said


# --- records check their parameters when they are made; scikit-learn's estimators do not, as is their rule


RECORDS = [*KERNELS.values(), *SETTINGS.values(), SolverParameters, DataSpec, StopSpec, DiagnosticsSpec, Stopping]


@each("record", RECORDS)
def test_every_parameter_of_every_record_is_checked_and_has_its_words_and_default(record):
    parameters, needed = parameters_of(record), {"name": "two_moons"} if record is DataSpec else {}
    assert check_all(parameters, {}, "it") == {p.name: p.default for p in parameters}
    for parameter in parameters:
        assert record is Stopping or (parameter.label and parameter.sentence.endswith(".")), parameter.name
        for bad in (object(), float("nan"), "no such word", -7, [], 10**400):
            try:
                parameter.check(bad)
            except DSGError as error:
                said = str(error)
            else:
                continue
            with pytest.raises(DSGError) as raised:
                record(**{parameter.name: bad})
            assert str(raised.value) == said
        if isinstance(parameter, Real | Integer):
            for value in (parameter.low, parameter.high):
                assert getattr(record(**needed, **{parameter.name: value}), parameter.name) == value


@each("record", [record for record in RECORDS if record is not Stopping])
def test_a_slider_offers_allowed_values_in_order_with_the_default_among_them(record):
    for parameter in parameters_of(record):
        if isinstance(parameter, Real | Integer) and parameter.name != "positive":  # a label, which has no slider
            values = grid(parameter)
            assert list(values) == sorted(set(values))
            assert [parameter.check(value) for value in values] == list(values)
            assert parameter.default is None or parameter.default in values
            assert 5 <= len(values) <= 60


# --- the parameters of every iteration: schedules, and changes on the way


def test_steps_follow_their_schedule():
    steps = {"constant": 2.0, "theta/t": 2.0 / 4, "theta/sqrt(T)": 2.0 / 4, "theta/T^(3/4)": 2.0 / 8}
    for schedule, expected in steps.items():
        setting = Plan(schedule, step_size=2.0, lam=0.3, n_features=7, n_iter=16).at(4)
        assert setting.size == pytest.approx(expected, rel=1e-15)
        assert (setting.lam, setting.n_features) == (0.3, 7)
        assert setting.decay == pytest.approx(1 - expected * 0.3, rel=1e-15)
