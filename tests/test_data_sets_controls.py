"""The note beside the picker of the data set: which controls a choice of data has set."""

from opened_pages import open_page

from dsgcore.data import DATASETS


def notes(app):
    """Return the notes of the sidebar that say what the data have set."""
    assert not app.exception
    titles = tuple(f"{entry.title} set " for entry in DATASETS.values())
    return [caption.value for caption in app.sidebar.caption if caption.value.startswith(titles)]


def test_a_change_of_data_says_which_controls_it_set_and_to_what():
    app = open_page("auc", sigma="3", lam="0.01")
    assert notes(app) == []  # the link's values
    app = app.selectbox(key="data").select("two_moons").run()
    assert app.session_state["sigma"] == 10.0
    assert notes(app) == ["Two moons set labeled points to 200, noise to 0.15 and inverse bandwidth to 10."]
    app = app.selectbox(key="data").select("breast_cancer").run()
    (note,) = notes(app)
    assert note.startswith("Breast cancer set step size to auto, ")  # the sliders that come first
    assert note.endswith(" more controls.")
    (every,) = [caption.help for caption in app.sidebar.caption if caption.value == note]
    for label, name in (("regularisation", "lam"), ("step size", "step_size"), ("trust in the labels", "gamma")):
        value = app.session_state[name]
        assert f"{label} to {'auto' if value is None else format(value, 'g')}" in every


def test_values_that_stay_are_not_named():
    app = open_page("auc", sigma="10", noise="0.15", lam="0.01")
    (note,) = notes(app.selectbox(key="data").select("two_moons").run())
    assert note == "Two moons set labeled points to 200."


def test_the_note_names_no_control_that_the_reader_has_moved_since():
    app = open_page("auc", sigma="3", lam="0.01")
    app = app.selectbox(key="data").select("two_moons").run()
    app = app.select_slider(key="sigma").set_value(1.0).run()
    assert notes(app) == ["Two moons set labeled points to 200 and noise to 0.15."]


def test_data_chosen_on_another_page_say_it_too():
    app = open_page("auc", sigma="3", lam="0.01")
    app.session_state["data"] = "two_moons"  # as a link of the data page does
    assert notes(app.run())[0].startswith("Two moons set ")
