"""Edits of the data by hand: replayed to the bit, in the link and in the run, undone, and refused with one sentence."""

import json
import runpy

import numpy as np
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from live_page import figures
from opened_pages import bench_of, checked, errors, open_page, run_of, said
from test_file_on_pages import opened, study_of

from dsgcore import Spec
from dsgcore.__main__ import main
from dsgcore.data import Edit, edited, read_edits
from dsgcore.experiments import SETTINGS, Run, default_spec, load_split, script
from dsgcore.studies import Study, StudyError
from pages.controls.hand import Hand, edits_to_text
from pages.live.tick import tick
from pages.studies.links import link_to_run

PAIRS = "similar_unlabeled"
DATA = {"name": "two_moons", "n": 200, "n_labeled": 6}
SMALL = {"setting": "auc", "data": DATA, "solver": {"n_iter": 5, "n_features": 16}}


def with_edits(plain, *edits):
    return Spec.from_dict(plain | {"data": plain.get("data", {}) | {"edits": list(edits)}})


def label(rows, to=None):
    return {"do": "label", "rows": rows, **({} if to is None else {"to": to})}


def erase(rows="all"):
    return {"do": "erase", "rows": rows}


def move(rows, *at):
    return {"do": "move", "rows": rows, "at": list(at)}


def paint(*at, to=None, **more):
    return {"do": "paint", "at": list(at), **({} if to is None else {"to": to}), **more}


def test_the_exported_script_and_the_command_give_the_numbers_of_an_edited_run(tmp_path, monkeypatch):
    known = load_split(Spec.from_dict(SMALL)).train_rows[:9].tolist()
    edits = [label(known[:1], 1), paint(0.2, 0.3, 0.4, 0.5, to=0), paint(0.9, 0.1), move(known[3:4], 0.5, 0.25)]
    spec = with_edits(SMALL, *edits, label(known[1:2]), erase(known[4:]))
    own, plain = Run(spec), Run(Spec.from_dict(SMALL))
    for run, name in ((own, "own.csv"), (plain, "plain.csv")):
        run.advance(5)
        run.history.write_csv(tmp_path / name)
    (tmp_path / "repeat.py").write_text(script(own), encoding="utf-8")
    (tmp_path / "spec.json").write_text(spec.to_json(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("repeat.py", run_name="__main__")
    assert main(["run", "spec.json", "--out", "out", "--quiet"]) == 0
    of_edits, *written, without = (
        (tmp_path / name).read_bytes() for name in ("own.csv", "history.csv", "out/history.csv", "plain.csv")
    )
    assert written == [of_edits] * 2
    assert without != of_edits


# --- a dull twin: a dictionary of points, changed by one edit after another


@st.composite
def random_edits(draw, split, is_pairs):
    """Draw edits of points that are there, as the page makes them."""
    free, gone, made = [int(row) for row in split.train_rows], set(), []
    number = st.floats(0, 1, width=16)
    for _ in range(draw(st.integers(1, 8))):
        row, other = draw(st.lists(st.sampled_from(free), min_size=2, max_size=2, unique=True))
        kind = draw(
            st.sampled_from(["pair" if is_pairs else "label", "unlabel", "unlabel all", "paint", "move", "erase"])
        )
        if gone & {row, other}:
            continue
        to = draw(st.sampled_from([None, 0, 1]))
        made.append(
            {
                "label": label([row, other], 1),
                "pair": {"do": "pair", "rows": [row, other], "to": to},
                "unlabel": label([row]),
                "unlabel all": label("all"),
                "paint": paint(*draw(st.lists(number, min_size=6, max_size=6)), to=to),
                "move": move([row], draw(number), draw(number)),
                "erase": erase([row, other]),
            }[kind]
        )
        gone |= {row, other} if kind == "erase" else set()
    return read_edits(made)


def naive_edited(split, edits, *, is_pairs, test_share):
    """Return rows -> (position, label that the method sees, hidden label, is a test point), in the split's order."""
    train = zip(split.train_rows, split.X_train, split.y_train, split.y_hidden, strict=True)
    points = {int(r): [x, int(s), int(h), False] for r, x, s, h in train}
    points |= {
        int(r): [x, -1, int(h), True] for r, x, h in zip(split.test_rows, split.X_test, split.y_test, strict=True)
    }
    next_row, painted = split.n_rows, {}
    for edit in edits:
        for row in list(points) if edit.rows == "all" else edit.rows:
            if edit.do == "erase":
                del points[row]
            elif edit.do == "move":
                points[row][0] = np.array(edit.at, dtype=np.float32)
            elif edit.do == "pair" or (is_pairs and edit.do == "label"):
                old = points[row][1]
                for point in points.values():
                    if old >= 0 and point[1] == old:
                        point[1] = -1
            elif edit.do == "label" and not points[row][3]:
                points[row][1] = -1 if edit.to is None else edit.to
        if edit.do == "pair":
            new = max((point[1] for point in points.values()), default=-1) + 1
            for row in edit.rows:
                points[row][1] = new
        for x, y in zip(edit.at[::2], edit.at[1::2], strict=True) if edit.do == "paint" else ():
            hidden, is_test = -1 if edit.to is None else edit.to, False
            if edit.to is not None and not edit.is_labeled:
                k = painted[edit.to] = painted.get(edit.to, 0) + 1
                is_test = int(k * test_share) > int((k - 1) * test_share)
            points[next_row] = [np.array([x, y], dtype=np.float32), hidden if edit.is_labeled else -1, hidden, is_test]
            next_row += 1
    return points


@pytest.mark.parametrize("name", ["auc", PAIRS])
@settings(max_examples=30)
@given(data=st.data())
def test_edits_equal_those_of_a_dull_twin(name, data):
    is_pairs = name == PAIRS
    split = load_split(Spec.from_dict({"setting": name, "data": {"name": "two_moons", "n": 60, "n_labeled": 5}}))
    edits = data.draw(random_edits(split, is_pairs))
    made = edited(split, edits, labels="pairs" if is_pairs else "binary", test_share=0.3)
    wanted = naive_edited(split, edits, is_pairs=is_pairs, test_share=0.3)
    for is_test, rows, X, hidden in (
        (False, made.train_rows, made.X_train, made.y_hidden),
        (True, made.test_rows, made.X_test, made.y_test),
    ):
        own = [(row, point) for row, point in wanted.items() if point[3] == is_test]
        assert rows.tolist() == [row for row, _ in own]
        assert hidden.tolist() == [point[2] for _, point in own]
        np.testing.assert_array_equal(X, np.array([point[0] for _, point in own], dtype=np.float32).reshape(-1, 2))
    seen = [wanted[row][1] for row in made.train_rows.tolist()]
    if is_pairs:  # a pair that lost a point is none, and the numbers of pairs have no gaps
        seen = [own if own >= 0 and seen.count(own) == 2 else -1 for own in seen]
        seen = [sorted(set(seen) - {-1}).index(own) if own >= 0 else -1 for own in seen]
    assert made.y_train.tolist() == seen


# --- what is refused: in a spec, by its data, and in a link


# --- on a page


SHEET = Edit("erase", "all")


def open_edited(name="auc", text=""):
    return checked(open_page(name, edits=text, **{"view.by_hand": "true"}))


def points_of(app):
    return figures(app)["hand"]


def send(app, *edits, first=1):
    """Do what the browser's trigger does, and draw the page."""
    bench = bench_of(app)
    asked = {"mount": "m", "edits": [[first + k, edit] for k, edit in enumerate(edits)]}
    bench.hand.take(asked, bench.live.run.spec, bench.live.run.split)
    return app.run()


@each("name", SETTINGS)
def test_a_link_with_edits_gives_the_run_of_its_spec(name):
    split = load_split(default_spec(name))
    free = split.train_rows[split.y_train < 0].tolist()
    first = Edit("pair", tuple(free[:2])) if name == PAIRS else Edit("label", (free[0],), 1)
    edits = first, Edit("paint", at=(0.3, 0.4), to=0)
    app = open_edited(name, edits_to_text(edits))
    assert not said(app)
    assert run_of(app, name).spec.data.edits == edits
    assert bench_of(app, name).hand.text == edits_to_text(edits)


def test_edits_are_done_undone_and_done_again_and_those_that_came_before_are_ignored():
    app = open_edited()
    run = run_of(app)
    row, generated = int(run.split.train_rows[run.split.y_train < 0][0]), run.spec
    for _ in range(2):  # sent again, because the browser did not see that it was taken
        app = send(app, label([row], 1))
        assert run_of(app).spec.data.edits == (Edit("label", (row,), 1),)
        assert points_of(app)["count"] == "11 labels"
        assert points_of(app)["taken"] == ["m", 1]
    app = send(app, {"do": "undo"}, first=2)
    assert run_of(app).spec == generated
    app = send(app, {"do": "redo"}, label([row], 0), first=3)
    assert run_of(app).spec.data.edits == (Edit("label", (row,), 0),)  # a label again replaces the one before
    app = send(app, {"do": "reset"}, first=5)
    assert run_of(app).spec == generated
    app = send(app, {"do": "undo"}, first=6)
    assert run_of(app).spec.data.edits


def test_an_edit_that_is_not_valid_changes_nothing_and_is_explained():
    app = open_edited()
    for number, edit in enumerate([label([10**6], 1), {"do": "dance"}, "x", None], start=1):
        app = send(app, edit, first=number)
        assert points_of(app)["said"]
        assert not run_of(app).spec.data.edits
    hand, run, sheet = Hand(), run_of(app), erase()
    for asked in (None, 3, {"mount": 1}, {"edits": 3}, {"mount": "m", "edits": []}):
        hand.take(asked, run.spec, run.split)
    odd = (1, None, "ab", [], [1], [1, sheet, 2], sheet, ["1", sheet], [None, sheet], [[1], sheet], [True, sheet])
    for sent in odd:
        for known in ("m", "another"):  # the mount of the last edit, and a new one
            hand.taken = (known, 1)
            hand.take({"mount": "m", "edits": [sent]}, run.spec, run.split)
    assert not hand.made


def test_the_points_are_sent_only_if_the_reader_edits_and_only_after_a_change():
    assert "hand" not in figures(open_page("auc"))
    app = open_edited()
    assert len(points_of(app)["rows"]) == 700
    heads = [json.loads(tick(bench_of(app), "look 1").split(b"\n")[0]) for _ in range(2)]
    assert ["hand" in [one["key"] for one in head["figures"]] for head in heads] == [True, False]


# --- edits of the data by hand go along with every link from a run; where they would meet other points, one sentence refuses


LINES = [tuple(np.linspace(0.1 + 0.5 * to, 0.4 + 0.5 * to, 40).round(3).tolist()) for to in (0, 1)]
EMPTY_SHEET = (SHEET, *(Edit("paint", at=LINES[i // 2], to=i // 2, is_labeled=i % 2 == 0) for i in range(4)))
LABELS = (Edit("label", (3,), 1), Edit("paint", at=(0.3, 0.4), to=0), Edit("move", (7,), at=(0.5, 0.5)))


def edited_spec(edits=LABELS):
    """Return a spec whose edits suit its data: the labeled point is a training point without a label."""
    plain = {"setting": "auc", "seed": 3, "data": {"n": 200, "n_labeled": 8}, "solver": {"n_iter": 20}}
    split = load_split(Spec.from_dict(plain))
    free = int(split.train_rows[split.y_train < 0][0])
    own = [Edit(edit.do, (free,), edit.to, edit.at) if edit.do in ("label", "move") else edit for edit in edits]
    return with_edits(plain, *(edit.to_dict() for edit in own))


@each("page, place", {"explore": "explore", "convergence": "ways"}.items())
@pytest.mark.usefixtures("store")
def test_one_click_takes_the_edits_of_a_run_to_a_question(page, place):
    spec = edited_spec()
    app = open_page("auc", **link_to_run(spec))
    assert run_of(app).spec == spec
    app = checked(app.button(key=f"to-{page}").click().run())
    study = study_of(app, place)
    assert errors(app) == said(app) == []
    assert [(one.data, one.seed) for one in study.specs] == [(spec.data, 3)] * len(study.specs)
    assert all(run.spec.data.edits == spec.data.edits for run in study.runs())
    assert page != "explore" or study.seeds == (3,)
    assert page != "convergence" or (len(study.seeds), study.data_seed) == (8, 3)
    assert any("your edits of the data by hand" in one.value for one in app.caption)


@each("sentence, text, seed", [
    ("text that this app has written", "!!!", "0"),
    ("seed must be", edits_to_text(LABELS), "1e400"),
    ("points that are there, got row 99999", edits_to_text((Edit("label", (99_999,), 1),)), "0"),
    ("none of", edits_to_text((Edit("label", "all"),)), "0"),
])  # fmt: skip
@pytest.mark.usefixtures("store")
def test_hostile_edits_in_the_link_of_a_question_get_one_sentence(sentence, text, seed):
    app = opened("explore", edits=text, seed=seed)
    (own,) = (one.replace("\\", "") for one in said(app))
    assert sentence in own
    assert own.startswith("In the link, ")
    assert own.endswith("all edits are left out.")
    assert study_of(app).spec.data.edits == ()


@pytest.mark.usefixtures("store")
def test_the_edits_of_a_run_are_not_replayed_on_other_points():
    spec = edited_spec()
    axes = {"data.n_labeled": [8, 9], "data.name": ["two_moons", "xor"]}
    for refused in (
        lambda: Study(spec, seeds=(3, 4)),
        lambda: Study(edited_spec(()), others=(spec,)),
        *(
            lambda name=name: Study.from_dict({"spec": spec.to_dict(), "axes": [{"name": name, "values": axes[name]}]})
            for name in axes
        ),
    ):
        with pytest.raises(StudyError, match=r"^[^\n]*edits by hand[^\n]*$"):
            refused()
    (run,) = Study(spec, seeds=(3,)).runs()
    np.testing.assert_array_equal(load_split(run.spec).X_train, Run(spec).split.X_train)
    assert len(Study(edited_spec(EMPTY_SHEET), seeds=(0, 1))) == 2
