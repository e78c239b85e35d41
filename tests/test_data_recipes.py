"""One's own table in a spec: recipes, and which file it is."""

import csv
import logging
import runpy
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
from cases import each, is_everything_asked, some, tiers
from hostile_files import GOOD, parquet
from own_tables import own_spec, sniff, table
from real_sets import content_of

from dsgcore.data import DATASETS, DataError, convert
from dsgcore.experiments import FileStore, LiveRun, Plane, Run, Spec, load_dataset, load_split, script
from dsgcore.experiments.data_of import with_choice
from dsgcore.experiments.spec import SETTINGS
from pages.charts.run_map import decision_heats, run_map
from pages.controls import controls
from pages.gallery import data_charts, data_views
from pages.gallery.data_charts import class_colors
from pages.live import curves, map_view
from pages.live.curves import is_multiclass
from pages.session.bench import View


def test_the_script_reads_the_file_beside_it_and_gives_the_same_numbers(tmp_path, monkeypatch):
    frame = table()
    frame.loc[::7, "size"] = np.nan
    content = parquet(frame=frame)
    spec, files = own_spec(content, sniff(content, "my table.parquet"), name="my table.parquet")
    run = Run(spec, load_split(spec, files=files))
    run.advance()
    (own := tmp_path / "own").mkdir()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (own / "my table.parquet").write_bytes(content)
    (own / "repeat_run.py").write_text(script(run), encoding="utf-8")
    monkeypatch.chdir(elsewhere)
    runpy.run_path(str(own / "repeat_run.py"), run_name="__main__")
    with (elsewhere / "history.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    written = np.array([[float(cell or "nan") for cell in row] for row in rows])
    here = np.stack([run.history.column(name) for name in header], axis=1)
    np.testing.assert_allclose(written, here, rtol=1e-12, atol=0)
    (own / "my table.parquet").write_bytes(content + b" ")
    with pytest.raises(SystemExit, match="differs from the spec's file"):
        runpy.run_path(str(own / "repeat_run.py"), run_name="__main__")


def test_a_name_cannot_get_out_of_the_script():
    spec, files = own_spec(GOOD, sniff(GOOD, "a.csv"), name='a"""\nimport os; os.abort()\nb"""\\.csv')
    split = load_split(spec, files=files)
    of_label = own_spec(GOOD, replace(sniff(GOOD, "a.csv"), positive='"""\nabort()\n"""'))[0]
    for named in (spec, of_label):
        assert "abort" not in compile(script(Run(named, split)), "repeat_run.py", "exec").co_names


def test_a_choice_of_labels_is_made_for_the_file_that_a_session_has():
    spec, files = own_spec(GOOD, sniff(GOOD, "a.csv"))
    chosen = with_choice(spec, "one wrong", files=files)
    assert load_split(chosen, files=files).y_train.tolist() != load_split(spec, files=files).y_train.tolist()


def test_a_spec_wants_its_own_file_whatever_the_case_of_its_digest_and_a_session_one_of_its_own(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(GOOD)
    spec, files = own_spec(GOOD, sniff(GOOD, "table.csv"), name=str(path))
    loud, plain = (
        Spec.from_dict(spec.to_dict() | {"data": spec.data.to_dict() | {"sha256": sha256}})
        for sha256 in (spec.data.sha256.upper(), None)
    )
    assert loud == spec
    for where in ({"files": files}, {}):
        np.testing.assert_array_equal(load_split(loud, **where).X_train, load_split(spec, **where).X_train)
    for asked in (spec, plain):
        with pytest.raises(DataError, match=r"this session does not have the file 'table\.csv'"):
            load_split(asked, files=FileStore())
    path.write_bytes(GOOD + b"1,2,yes\n")
    with pytest.raises(DataError, match=r"the file 'table\.csv' differs from the spec's file"):
        load_split(spec)


# --- the papers' own data through the same door as anyone's file; they are no part of the project, and are skipped without it


# Setting: rows and columns of the sets that its paper uses.
SETS = {
    "auc": {"codrna": (59_535, 8), "skin_nonskin": (245_057, 3), "covtype20k": (20_000, 54), "higgs7500": (7_500, 28)},
    "s3vm": {"w6a": (49_749, 300), "dota2": (10_294, 116)},
    "ordinal": {"sgemm": (241_600, 14), "kin40k": (40_000, 8)},
    "multiclass": {"glass": (214, 9), "svmguide2": (391, 20), "vowel": (990, 10), "dna": (3_186, 180),
        "segment": (2_310, 19), "pendigits": (10_992, 16), "usps": (9_298, 256), "shuttle": (58_000, 9),
        "letter": (20_000, 16), "poker25k": (25_010, 10)},
    "similar_unlabeled": {"mnist10k": (10_000, 784)},
}  # fmt: skip
READ = [
    (name, setting, n, d)
    for setting, own in SETS.items()
    for name, (n, d) in own.items()
    if n < 10_000 or is_everything_asked
]


@each("name, setting, n, d", some(READ, 3, 6))
def test_a_real_set_is_read_and_runs_in_its_setting(name, setting, n, d):
    content = content_of(name)
    labels = SETTINGS[setting].labels
    recipe = sniff(content, f"{name}.npz", labels=labels)
    assert recipe.column("label") == "y"
    files = FileStore()
    data = {"name": "file", "path": f"{name}.npz", "sha256": files.add(content), "n_labeled": 100}
    data["recipe"] = recipe.to_dict()
    small = {"n_iter": 3, "n_features": 16, "batch_size": 32}
    plain = {"setting": setting, "data": data, "solver": small, "diagnostics": {"n_probes": 8}}
    if setting == "multiclass":
        plain["data"]["stratified"] = name != "shuttle"  # ten rows of one class: too few for a stratified draw
        plain["problem"] = {"feature_map": "linear"}
    spec = Spec.from_dict(plain)
    split = load_split(spec, files=files)
    assert split.X_train.shape[1] == d
    if labels != "pairs":
        assert len(split.X_train) + len(split.X_test) == n
    if setting == "multiclass" and n > 3000:
        return  # its graph of all points takes long; reading it is what this is about
    run = Run(spec, split)
    run.advance()
    assert np.isfinite(run.history.last()["objective"])


# --- every data set in every setting that it suits: the run starts, trains, and is drawn


logging.getLogger("streamlit").setLevel(logging.ERROR)  # figures are made without a page here


def asked(setting, dataset, conversion, **more):
    """The spec that the page's controls ask for, made small."""
    problem = SETTINGS[setting]
    values = {name: c.parameter.default for name, c in controls.controls_for(problem, dataset).items()}
    values |= {"convert": conversion, "n": 150, "n_labeled": 20, "n_iter": 3, "n_features": 16, "batch_size": 8, **more}
    if problem.labels == "pairs":
        values["n_labeled"] = 8
    plain = controls.to_spec(problem, values, dataset, seed=1).to_dict()
    plain["diagnostics"]["n_probes"] = 8
    return Spec.from_dict(plain)


def drawn(figure):
    """Have plotly check a figure's every property; return its traces."""
    return go.Figure(figure).data


# The first one is always tried: it is the toy where test_toys.py adds one.
@pytest.mark.parametrize("dataset", tiers(sorted(DATASETS, key=lambda name: not name.startswith("toy")), 4, 7))
def test_a_set_in_a_setting_starts_trains_and_is_drawn(dataset):
    for setting, problem in SETTINGS.items():
        for conversion in DATASETS[dataset].conversions_for(problem.labels):
            check_combination(setting, dataset, conversion)


def check_combination(setting, dataset, conversion):
    spec = asked(setting, dataset, conversion)
    assert spec.data.convert == conversion
    live = LiveRun(spec)
    live.advance()
    run = live.run
    assert run.t == 3
    assert all(np.isfinite(value) for name, value in run.history.last().items() if name != "|f - f*|")
    assert 0 <= run.history.last()["score_test"] <= 1
    assert set(np.unique(run.split.y_hidden)) == set(range(len(run.split.class_names)))
    theme = ("light", "dark")[len(dataset) % 2]
    assert drawn(map_figure(run, theme))
    third = curves.spectrum_figure if is_multiclass(run) else curves.error_figure
    for figure in (curves.objective_figure, curves.score_figure, third):
        assert drawn(figure(live, View(theme), "1"))
    data, split = load_dataset(spec), run.split
    made = convert(data, spec.data.convert, spec.data.positive)
    np.testing.assert_array_equal(made.y[split.train_rows], split.y_hidden)
    look = data_views.look_at(split, spec.problem.labels)
    assert (look.pairs is not None) == (spec.problem.labels == "pairs")
    assert drawn(data_charts.balance_chart(look.balance, theme=theme))
    colors = class_colors(DATASETS[dataset].target, len(split.class_names))
    xy = Plane.through(split.X_train).project(split.X_train)
    plane = data_charts.plane_chart(xy, split, colors=colors, axes=data_views.AXES, theme=theme)
    assert sum(len(trace.x) for trace in drawn(plane)) == len(split.y_train)


def map_figure(run, theme):
    state = map_view._new_map(run, (None, None))
    shown = "classes" if is_multiclass(run) else "f"
    state.values = map_view._values(run, state, shown)
    heats = decision_heats(run, state.plane, [state.values], shown=map_view.KINDS[shown], theme=theme)
    return run_map(run, state.plane, heats[0], title=shown, theme=theme, revision="1")
