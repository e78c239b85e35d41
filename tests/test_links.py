"""The link that a page leaves in the browser asks for the same runs again; a page names what it does not know there.

And the ways from one page to the next: the menu, the doors of home, and what a run takes with it.
"""

import contextlib
import itertools
import json
import logging
import math
from dataclasses import replace
from types import SimpleNamespace

import cases
import pytest
import streamlit as st
from cases import each, some
from opened_pages import (
    APP,
    LINKS,
    OF_EACH_ENGINE,
    WRITTEN,
    checked,
    drawn_from_link,
    errors,
    left_in_browser,
    open_page,
    run_of,
    said,
)
from own_tables import iris_csv, own_spec, sniff
from small_specs import small
from streamlit.testing.v1 import AppTest
from test_explore import is_example
from test_file_on_pages import OWN as OWN_FILE
from test_file_on_pages import chosen_on_data_page, give, open_own, opened, study_of

from dsgcore.core.parameters import Choice, Flag, Integer, Text
from dsgcore.data import DATASETS
from dsgcore.experiments import SETTINGS, LiveRun, Run, Spec, SpecError, default_spec
from dsgcore.experiments.spec import DATA_PARAMETERS, FILE, DiagnosticsSpec, StopSpec, sections_of
from dsgcore.lessons import lessons_of
from dsgcore.settings import profile_of
from dsgcore.solver.task import Change
from dsgcore.studies import Study, StudyError
from pages.controls import controls
from pages.controls.control import read_controls
from pages.controls.link import names_of, with_changes
from pages.session.lesson_place import Place
from pages.session.link import KEPT
from pages.shell import page_link
from pages.shell.page_link import PageLink
from pages.studies.links import link_to_run, link_to_study

pytestmark = pytest.mark.usefixtures("store")


def unusual(setting):
    """A spec with None, words and numbers between the sliders' stops, and fields that no control says."""
    plain = small(setting, solver={"average": None, "lam": 1 / 3, "step_size": None}).to_dict()
    plain["data"] |= {"n": 151, "test_share": 0.3141, "stratified": False, "scaling": "standard"}
    plain["stop"] |= {"patience": 17, "tolerance": 3.3e-5}
    plain["diagnostics"] |= {"n_probes": 33}
    plain["seed"] = 12
    if setting == "ordinal":
        plain["data"]["stratified"] = True  # else a class may be without a label
    if setting != "multiclass":
        plain["solver"]["dtype"] = "float64"
    if setting == "s3vm":
        plain["problem"]["unlabeled_weight"] = None
    return Spec.from_dict(plain)


def spec_of(app, setting):
    assert not [notice for notice in said(app) if notice.startswith("In the link")]
    return run_of(app, setting).spec


def keys(app, place="explore"):
    return [run.key for run in app.session_state[f"_exploring_{place}"].made.runs]


@pytest.mark.parametrize("setting", OF_EACH_ENGINE)
def test_a_settings_page_leaves_a_link_to_the_same_run_with_its_changes(setting):
    changes = (Change(1, "lam", 0.25), Change(3, "step_size", 0.125), Change(5, "lam", 1 / 7))
    spec = replace(unusual(setting), changes=changes)
    app = open_page(setting, **link_to_run(spec))
    assert spec_of(app, setting) == spec
    assert spec_of(open_page(setting, **left_in_browser(app)), setting) == spec


def test_a_workbench_opens_its_link_with_the_tab_that_was_open_also_after_a_lesson_and_in_another_setting():
    app = open_page("auc", at="3", **{"solver.n_iter": "6"})
    assert "view.tab" not in left_in_browser(app)
    app.session_state["tab"] = "Code"
    link = left_in_browser(app.run())
    assert link["view.tab"] == "Code"
    app = open_page("auc", **link)
    assert checked(app).code
    assert left_in_browser(app) == link
    app.session_state["_bench_auc"].lesson.place = Place(lessons_of(SETTINGS["auc"])[0])
    assert not checked(app.run()).code
    app.session_state["_bench_auc"].lesson.place = None
    assert checked(app.run()).code
    app.selectbox(key="setting-auc").set_value("s3vm").run()
    assert left_in_browser(app)["view.tab"] == "Code"
    assert checked(app).code
    assert "view.tab" in said(open_page("auc", **{"view.tab": "Cod"}))[0]


STEPS = {"name": "solver.n_iter", "from": 13, "to": 29, "n": 3}
WIDTHS = {"name": "kernel.sigma", "from": 0.1234, "to": 3, "n": 3}
SCHEDULES = {"name": "solver.schedule", "values": ["theta/t", "constant"]}
RANDOM = {"random": True, "n": 7}
SHOWN = [
    {"axes": [STEPS, WIDTHS, SCHEDULES], "seeds": [0]},
    {"axes": [STEPS | RANDOM, WIDTHS | RANDOM], "budget": {"best_first": True}},
    {"axes": [{"name": "solver.lam", "from": 0.001, "to": 0.1}], "seeds": [0, 1, 2, 3]},
    {"axes": [WIDTHS | {"scale": "log"}, {"name": "solver.lam", "values": [0.1, 0.3]}], "seeds": [0]},
]


@pytest.mark.parametrize(
    ("spec", "more"),
    [*((small("auc"), more) for more in SHOWN), *((unusual(setting), {"axes": [STEPS]}) for setting in OF_EACH_ENGINE)],
)
def test_the_explore_page_leaves_a_link_to_the_same_runs_of_every_kind_of_axis(spec, more):
    study = Study.from_dict(Study(spec).to_dict() | {"seeds": [0, 1]} | more)
    app = open_page("explore", **link_to_study(study))
    assert keys(app) == [run.key for run in study.runs()]
    assert app.session_state["_exploring_explore"].made.study.is_best_first == study.is_best_first
    assert keys(open_page("explore", **left_in_browser(app))) == keys(app)


def test_the_convergence_page_leaves_a_link_to_the_same_runs():
    link = link_to_run(unusual("s3vm")) | {"setting": "s3vm", "steps": "as chosen at the side", "seeds": "3"}
    app = open_page("convergence", **link)
    assert not app.error
    assert app.session_state["_exploring_ways"].made.study.specs[0].diagnostics.n_probes == 33
    assert keys(open_page("convergence", **left_in_browser(app)), "ways") == keys(app, "ways")


@each(
    "more",
    [
        {"seeds": [1, 2], "axes": [STEPS]},
        {"seeds": list(range(51)), "axes": [STEPS]},
        {"axes": []},
        {"axes": [STEPS], "budget": {"seconds": 5.0}},
        {"axes": [{"name": "diagnostics.n_probes", "from": 0, "to": 10}]},
        {"axes": [{"name": "solver.lam", "values": [0.1, 0.2, 0.3]}]},
        {"axes": [WIDTHS | {"scale": "linear"}]},
        {"axes": [STEPS | {"random": True}]},
        {"axes": [STEPS | {"random": True, "n": 3}, WIDTHS]},
        {"axes": [WIDTHS | {"n": 21}]},
        {"axes": [{"name": "solver.step_size", "values": [None, 0.1]}]},
    ],
)
def test_a_study_that_the_explore_page_cannot_show_has_no_link(more):
    study = Study.from_dict(Study(small("auc")).to_dict() | {"seeds": [0]} | more)
    with pytest.raises(StudyError, match="the Explore page cannot show this study: "):
        link_to_study(study)


# --- what a page does not know, or cannot read


# Every name of a page at once, with values that nobody writes.


ODD = ("nan", "-1", "9" * 400, "[1, 2]", WRITTEN, "../../etc/passwd", "\x00%00", "true")
ODD += ("\N{ARABIC-INDIC DIGIT THREE}", "{" * 3000)
OF_DATA = [f"data.{name}" for name in ("n", "noise", "n_labeled", "test_share", "stratified")]
OF_A_STUDY = ["seeds", "vary", "solver.step_size.range", "kernel.sigma.n", "edits", *names_of(SETTINGS["auc"]).values()]
OWN = {
    "data": [*OF_DATA, "setting", "view.across", "seed"],
    "explore": ["random", "points", "measure", "view", *OF_A_STUDY],
    "convergence": ["steps", "quantity", "over", *OF_A_STUDY],
    "pinned": ["runs", "seeds", "by"],
    "take_away": ["of"],
    "how_it_works": ["screen", "at"],
    "lessons": ["lesson"],
}


@each("number, page", enumerate([*SETTINGS, *OWN]))
def test_odd_values_of_every_name_leave_every_page_whole_and_texts_are_drawn_as_they_are_written(number, page):
    names = dict.fromkeys(OWN[page] if page in OWN else [*names_of(SETTINGS[page]).values(), *KEPT])
    odd = {name: ODD[(number + k) % len(ODD)] for k, name in enumerate(names) if name != "data.name"}
    written = {**dict.fromkeys((*names, "data.name", "hide", "present", WRITTEN), WRITTEN), LINKS: LINKS}
    for link in (odd | ({"data.name": "Two moons"} if page == "data" else {}), written):
        app = open_page(page, **link)
        assert drawn_from_link(app) == []
        texts = [*said(app), *errors(app)]
        assert all(len(text) < 700 and "Traceback" not in text for text in texts)
        assert len(texts) >= (page not in ("lessons",))


TOLD = [
    {"lesson": f"unlabeled:1:{WRITTEN}"},
    {"data.name": "Your own file", "data.file": json.dumps({"name": WRITTEN, "sha256": "0" * 64, "recipe": {}})},
    {"data.name": "Two moons"} | dict.fromkeys(("data.n", "kernel.name", "changes", "edits"), WRITTEN),
]


@each("link", TOLD)
def test_the_texts_of_a_link_to_a_lesson_a_file_or_a_run_are_drawn_as_they_are_written(link):
    assert drawn_from_link(open_page("auc", **link, **{WRITTEN: WRITTEN, LINKS: LINKS})) == []


def test_the_names_in_a_file_are_drawn_as_they_are_written():
    names = [f"{WRITTEN}{LINKS}{k}" for k in range(3)]
    rows = [f"{k % 7},{k % 5},{names[k % 2]}" for k in range(60)]
    content = "\n".join([f"{names[0]},{names[1]},label {WRITTEN}", *rows]).encode()
    app = give(open_own(), f"{WRITTEN}.csv", content)
    assert run_of(app).spec.data.path == f"{WRITTEN}.csv"
    assert drawn_from_link(app) == []
    app = app.switch_page("pages/data.py")
    app.query_params["data.name"] = "Your own file"
    app = app.run()  # the session has the file
    assert any("Your own file" in words.value for words in app.markdown)
    assert drawn_from_link(app) == []


# --- a spec becomes a link, and the link the same spec again: every field of every setting


logging.getLogger("streamlit").setLevel(logging.ERROR)  # no page is being drawn
TEXTS = ("y", "a b", 'say "so", or=not', "null", "5", "ß\n", "true", "label,")


def values_for(parameter):
    """Values that a parameter allows: its ends, numbers between a slider's stops, every word, and None."""
    p = parameter
    if isinstance(p, Choice):
        found = list(p.options)
    elif isinstance(p, Flag):
        found = [False, True]
    elif isinstance(p, Text):
        found = list(TEXTS)
    elif isinstance(p, Integer):
        low, high = p.usual or (p.low, p.high)
        found = [p.low, p.high, low, high, p.low + 1, (low + high) // 2 + 1, min(high, 37)]
    else:
        low, high = p.usual or (p.low, p.high)
        found = [p.low, p.high, low, high, 0.1 + 0.2, low + (high - low) / 3, math.sqrt(2) / 10, -0.0, 1e-7]
        found = [value for value in found if p.low <= value <= p.high]
    return [*dict.fromkeys(found), *([None] if getattr(p, "optional", False) else [])]


def each_changed(spec, only=None):
    """Specs that differ from this one in one field each, of one section or all, by section, name and value."""
    sections = {
        "problem": spec.problem.parameters,
        "kernel": spec.kernel.parameters,
        "data": [p for p in DATA_PARAMETERS if p.name not in ("name", "path", "sha256", "recipe")],
        "solver": sections_of(type(spec.problem))["solver"],
        "stop": StopSpec.parameters,
        "diagnostics": DiagnosticsSpec.parameters,
    }
    plain = spec.to_dict()
    for section, parameters in sections.items():
        for p in parameters if only in (None, section) else ():
            for value in values_for(p):
                with contextlib.suppress(SpecError):  # values that do not go together
                    yield (
                        (section, p.name, value),
                        Spec.from_dict(plain | {section: plain[section] | {p.name: value}}),
                    )


def changed_by_field(spec):
    """Return lists of specs that differ from this one, a list for each field."""
    changed = [one for one in each_changed(spec) if one[1] != spec]
    return [list(own) for _, own in itertools.groupby(changed, lambda one: one[0][:2])]


def read_values(problem, link):
    """The spec that a setting's page makes of a link that no control of it refuses."""
    dataset = controls.data_picker(problem).read(link["data.name"])
    offered = controls.controls_for(problem, dataset, link.get("kernel.name"))
    assert read_controls(offered.values(), link) == []
    assert set(link) <= {*(c.name for c in offered.values()), "data.name", "data.file", "seed", "changes"}
    values = {name: control.read(link[control.name]) for name, control in offered.items() if control.name in link}
    own = None
    if dataset == FILE:
        said = json.loads(link["data.file"])
        own = {"name": FILE, "path": said["name"], "sha256": said["sha256"], "recipe": said["recipe"] or None}
    spec = controls.to_spec(problem, values, dataset, int(link.get("seed", "0")), own)
    return with_changes(spec, link.get("changes", ""))


def lost(specs):
    """The fields of specs that are not the same after they have been a link."""
    return [
        what for what, spec in specs if read_values(type(spec.problem), link_to_run(spec)).to_json() != spec.to_json()
    ]


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_field_of_a_spec_of_every_data_set_a_file_and_the_changes_are_the_same_after_they_have_been_a_link(
    setting,
):
    spec, labels = default_spec(setting), SETTINGS[setting].labels
    specs = [one for field in changed_by_field(spec) for one in (field if cases.is_more_asked else field[::-4])]
    assert {section for (section, _, _), _ in specs} == {"problem", "kernel", "data", "solver", "stop", "diagnostics"}
    # All values are tried on the setting's own data, and some on others and on a file.
    bases = [Spec.from_dict({"setting": setting, "data": {"name": name}}) for name in some(suiting(labels), 2, 4)]
    content, name = iris_csv(), "a, b=c.csv"
    bases.append(own_spec(content, sniff(content, name, labels=labels), setting, name, n_labeled=10)[0])
    for base in bases:
        specs += [(base.data.name, base), *list(each_changed(base, "data"))[::3]]
    for value in (0.1 + 0.2, None):
        changes = (Change(3, "step_size", 0.25), Change(7, "lam", 1 / 3), Change(9, "step_size", value))
        specs.append((value, Spec.from_dict(replace(spec, changes=changes).to_dict())))
    assert lost(specs) == []
    for what, one in specs:  # and after they have been a text
        again = Spec.from_json(one.to_json())
        assert (again, again.sha256) == (one, one.sha256), what


def suiting(labels):
    return [name for name, entry in DATASETS.items() if entry.suits(labels)]


def test_a_link_that_asks_only_for_a_frame_opens_a_page_as_it_was_left():
    given = {"": True, "embed": True, "hide": True, "seed": False, "data.n": False}
    assert {name: PageLink(given={name: "1"} if name else {}).is_plain for name in given} == given


def test_back_also_ends_a_visit_whose_first_drawing_is_broken_off(monkeypatch):
    mounted, own = {}, {"session_state": {}, "query_params": SimpleNamespace(to_dict=dict)}
    monkeypatch.setattr(page_link, "st", SimpleNamespace(**own, container=lambda key: contextlib.nullcontext()))
    monkeypatch.setattr(page_link, "_component", lambda: lambda **options: mounted.update(options))
    page_link.begin_link("auc")
    page_link.mount("part-state-link", {})
    for visit in (1, 2, 3):
        assert (page_link.link_now().visit, page_link.link_now().is_over) == (visit, False)
        mounted["on_back_change"]()
        page_link.begin_link("auc")


# --- the menu, and every page that a reader may look for

DOORS = ["Home", "Lessons", "Methods", "Data", "Explore", "Convergence", "Papers"]
BEHIND = ["How it works", "Glossary", "Pinned runs", "To take away"]


def test_the_menu_has_seven_doors_and_every_other_page_keeps_its_address(monkeypatch):
    given, navigation = {}, st.navigation

    def seen(pages, **options):
        given.update({page.title: page for page in pages})
        return navigation(pages, **options)

    monkeypatch.setattr(st, "navigation", seen)
    checked(AppTest.from_file(APP, default_timeout=60).run())
    assert [title for title, page in given.items() if page.visibility == "visible"] == DOORS
    methods = [profile_of(setting).short for setting in SETTINGS.values()]
    assert list(given) == [*DOORS, *methods, *BEHIND]
    assert [given[title].url_path for title in methods] == list(SETTINGS)


# --- home: every setting at work in a picture, words before names, and one place to start


def test_the_grey_points_of_home_help_and_a_right_label_more_makes_its_picture_no_worse():
    picture = run_of(checked(open_page("home")), "home")
    split, as_it_is = picture.split, LiveRun(picture.spec)
    grey = [split.train_rows[(split.y_train < 0) & (split.y_hidden == label)].tolist() for label in (0, 1)]
    runs = [as_it_is.supervised, as_it_is.run]
    for added in some([(0,), (1,), (0, 0), (1, 1)], 2):
        edits = [{"do": "label", "rows": [grey[to][40 * k]], "to": to} for k, to in enumerate(added)]
        runs.append(Run(replace(picture.spec, data=replace(picture.spec.data, edits=edits))))
    for run in runs:
        run.advance(run.n_iter)
    alone, *with_grey = (run.history.last()["score_test"] for run in runs)
    assert min(with_grey) > 0.98 > 0.9 > alone


# --- a run's data and settings on their way to Explore, Convergence and the Data page, without a browser


@pytest.mark.ci
def test_one_click_takes_a_file_with_its_recipe_labels_and_settings_to_explore():
    app = opened("auc", chosen_on_data_page(), **{"data.name": OWN_FILE})  # not everything of the file is as guessed
    app = checked(app.select_slider(key="n_labeled").set_value(50).run())
    app = checked(app.select_slider(key="gamma").set_value(0.25).run())
    spec = run_of(app).spec
    app = checked(app.button(key="to-explore").click().run())
    study = study_of(app)
    assert errors(app) == []
    for section, name in (("data", "sha256"), ("data", "recipe"), ("data", "n_labeled"), ("problem", "gamma")):
        assert getattr(getattr(study.spec, section), name) == getattr(getattr(spec, section), name)
    assert (study.spec.kernel, study.spec.solver) == (spec.kernel, spec.solver)
    assert [axis.name for axis in study.axes] == ["solver.step_size", "kernel.sigma"]


@each("page, place", [("explore", "explore"), ("convergence", "ways")])
def test_the_door_from_a_methods_page_varies_its_run_and_from_elsewhere_opens_the_example(page, place):
    app = open_page("auc", **{"solver.lam": "0.01", "data.name": "Two moons", "solver.n_features": "64"}, at="2")
    app = checked(app.switch_page(f"pages/{page}.py").run())
    spec = study_of(app, place).specs[-1]
    assert errors(app) == []
    assert (spec.data.name, spec.solver.n_features) == ("two_moons", 64)
    assert spec.solver.lam == 0.01 or page == "convergence"  # the theorem has a λ of its own
    assert not is_example(app)
    assert is_example(checked(open_page("glossary").switch_page(f"pages/{page}.py").run()))
