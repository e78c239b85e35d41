"""Edits of the data by hand go along with every link from a run; where they would meet other points, one sentence refuses."""

import numpy as np
import pytest
from cases import each
from opened_pages import checked, errors, open_page, run_of, said
from test_file_on_pages import opened, study_of

from dsgcore import Spec
from dsgcore.data import Edit
from dsgcore.experiments import Run, load_split
from dsgcore.studies import SpecList, Study, StudyError
from pages.controls.hand import edits_to_text
from pages.studies.links import link_to_run
from pages.studies.onward import to_explore
from pages.studies.study_links import link_to_study

pytestmark = pytest.mark.usefixtures("store")
SHEET = (
    Edit("erase", "all"),
    *(
        Edit(
            "paint",
            at=tuple(np.linspace(0.1 + 0.5 * to, 0.4 + 0.5 * to, 40).round(3).tolist()),
            to=to,
            is_labeled=known,
        )
        for to in (0, 1)
        for known in (True, False)
    ),
)
LABELS = (Edit("label", (3,), 1), Edit("paint", at=(0.3, 0.4), to=0), Edit("move", (7,), at=(0.5, 0.5)))


def edited(edits=LABELS, seed=3, setting="auc", **more):
    """Return a spec whose edits suit its data: the labeled point is a training point without a label."""
    plain = {"setting": setting, "seed": seed, "data": {"n": 200, "n_labeled": 8}, "solver": {"n_iter": 20}, **more}
    split = load_split(Spec.from_dict(plain))
    free = int(split.train_rows[split.y_train < 0][0])
    own = [Edit(edit.do, (free,), edit.to, edit.at) if edit.do in ("label", "move") else edit for edit in edits]
    return Spec.from_dict({**plain, "data": {**plain["data"], "edits": [edit.to_dict() for edit in own]}})


def workbench(spec):
    app = open_page(spec.problem.name, **link_to_run(spec))
    assert run_of(app, spec.problem.name).spec == spec
    return app


def test_a_link_to_a_run_holds_its_edits():  # `workbench` shows it for auc
    workbench(edited(setting="multiclass"))


@each("page, place", {"explore": "explore", "convergence": "ways"}.items())
def test_one_click_takes_the_edits_of_a_run_to_a_question(page, place):
    spec = edited()
    app = checked(workbench(spec).button(key=f"to-{page}").click().run())
    study = study_of(app, place)
    assert errors(app) == said(app) == []
    assert [(one.data, one.seed) for one in study.specs] == [(spec.data, 3)] * len(study.specs)
    assert all(run.spec.data.edits == spec.data.edits for run in study.runs())
    assert page != "explore" or study.seeds == (3,)
    assert page != "convergence" or (len(study.seeds), study.data_seed) == (8, 3)
    assert any("your edits of the data by hand" in one.value for one in app.caption)


def test_a_drawn_data_set_is_explored_with_every_seed():
    app = checked(workbench(edited(SHEET)).button(key="to-explore").click().run())
    study = study_of(app)
    assert (study.spec.data.edits, study.seeds) == (SHEET, (0, 1, 2))


def test_other_data_come_without_the_edits_and_the_first_data_bring_them_back():
    spec = edited()
    app = opened("explore", **to_explore(spec))
    assert study_of(app).spec.data == spec.data
    app = checked(app.select_slider(key="x_n_labeled").set_value(50).run())
    assert (study_of(app).spec.data.edits, study_of(app).seeds) == ((), (0, 1, 2))
    app = checked(app.select_slider(key="x_n_labeled").set_value(8).run())
    assert study_of(app).spec.data == spec.data


def test_a_point_of_the_study_opens_with_the_edits():
    spec = edited()
    study = Study.from_dict({"spec": spec.to_dict(), "axes": [{"name": "problem.gamma", "values": [0.25, 0.5]}]})
    for run in study.runs():
        workbench(run.spec)


def test_a_link_to_a_study_holds_its_edits():
    study = Study.from_dict(
        {"spec": edited().to_dict(), "axes": [{"name": "solver.lam", "from": 0.01, "to": 0.1, "n": 2}]}
    )
    app = opened("explore", **link_to_study(study))
    assert list(study_of(app).runs()) == list(study.runs())


@each(
    "sentence, text",
    [
        ("text that this app has written", "0:!!!"),
        ("seed must be", f"x:{edits_to_text(LABELS)}"),
        ("seed must be", f"1e400:{edits_to_text(LABELS)}"),
        ("near the data", f"0:{edits_to_text((Edit('paint', at=(1e30, 0.0)),))}"),
        ("points that are there, got row 99999", f"0:{edits_to_text((Edit('label', (99_999,), 1),))}"),
        ("none of", f"0:{edits_to_text((Edit('label', 'all'),))}"),
    ],
)
def test_hostile_edits_in_the_link_of_a_question_get_one_sentence(sentence, text):
    app = opened("explore", x_edits=text)
    (own,) = (one.replace("\\", "") for one in said(app))
    assert sentence in own
    assert own.startswith("In the link, ")
    assert own.endswith("all edits are left out.")
    assert study_of(app).spec.data.edits == ()


def test_the_comparison_of_methods_is_not_offered_for_edited_data():
    assert not workbench(edited(())).button(key="to-data").disabled
    assert workbench(edited()).button(key="to-data").disabled


def test_pinned_runs_with_edits_are_compared_on_the_seed_of_their_data():
    spec = edited()
    app = workbench(spec)
    app = checked(app.button(key="pin-auc").click().run())
    app.session_state["_pins"][edited(()).sha256] = edited(())
    app = checked(app.switch_page("pages/pinned.py").run())
    study = study_of(app, "pinned")
    assert (study.seeds, study.specs[0]) == ((3,), spec)
    assert any("seed 3 alone" in one.value for one in app.caption)
    app.session_state["_pins"][edited(seed=4).sha256] = edited(seed=4)
    app = checked(app.run())
    (sentence,) = errors(app)
    assert "name points of the data of seed 3" in sentence
    assert app.button(key=f"unpin-{spec.sha256[:12]}")


def test_the_edits_of_a_run_are_not_replayed_on_other_points():
    spec = edited()
    for refused in (
        lambda: Study(spec, seeds=(3, 4)),
        lambda: SpecList((edited(()), spec), (0,)),
        lambda: Study.from_dict({"spec": spec.to_dict(), "axes": [{"name": "data.n_labeled", "values": [8, 9]}]}),
        lambda: Study.from_dict(
            {"spec": spec.to_dict(), "axes": [{"name": "data.name", "values": ["two_moons", "xor"]}]}
        ),
    ):
        with pytest.raises(StudyError, match="edits by hand") as caught:
            refused()
        assert "\n" not in str(caught.value)
    (run,) = Study(spec, seeds=(3,)).runs()
    np.testing.assert_array_equal(load_split(run.spec).X_train, Run(spec).split.X_train)
    assert len(Study(edited(SHEET), seeds=(0, 1))) == 2


def test_ten_seeds_are_not_offered_for_edits_that_name_points():
    app = workbench(edited())
    assert any("edits by hand name points of the data of seed 3" in one.value for one in app.caption)
