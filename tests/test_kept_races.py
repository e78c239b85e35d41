"""Races that have ended: kept in the store, found again by a link in another session, on the same page."""

import json

import numpy as np
import pytest
from opened_pages import bench_of, open_page, said
from small_specs import small

from dsgcore.experiments import LiveRun
from dsgcore.experiments.race import GRID, Race, RaceResult
from dsgcore.jobs import JobState
from dsgcore.studies import Store, keep_race, kept_race, name_of
from dsgcore.studies import store as store_module
from pages.race.state import bring_back

SMALL = {"svm_n": "100", "svm_n_iter": "8", "svm_at": "8"}
SECONDS = 120


def result(score=0.9):
    grid = np.arange(GRID * GRID)
    return RaceResult(
        score, 1.5, 10, True, ("It stops early",), grid[:3], grid[:3] / 2, np.full(3, np.nan), grid / 7, grid % 2
    )


def assert_same(found, expected):
    for name, value in vars(expected).items():
        assert np.array_equal(vars(found)[name], value, equal_nan=name == "objectives"), name


def test_a_race_is_found_again_as_it_was(store):
    race = Race(small("s3vm"), "S3VMLight", {"C": 2.0, "grid": (1.0, 2.0)}, 4.0, (None, 1))
    keep_race(store, race, result())
    keep_race(store, race, result(0.1))  # what is there stays
    found, reached = kept_race(Store(store.file), name_of(race)[:12])
    assert (found.spec, found.competitor, found.axes) == (race.spec, race.competitor, race.axes)
    assert found.parameters == {"C": 2.0, "grid": [1.0, 2.0]}
    assert_same(reached, result())
    assert kept_race(store, "0" * 12) is None


@pytest.mark.parametrize("change", [{"competitor": "Gone"}, {"spec": {"version": 0}}, {"unknown": 1}])
def test_a_race_that_another_version_has_kept_is_none(store, change):
    race = Race(small("s3vm"), "S3VMLight")
    keep_race(store, race, result())
    text, arrays = store.found("race", name_of(race))
    said, plain = json.loads(text)
    store.keep("race", [("f" * 64, json.dumps([said | change, plain]), arrays)])
    assert kept_race(store, "f" * 12) is None


def test_of_very_many_races_the_oldest_are_forgotten(store, monkeypatch):
    monkeypatch.setitem(store_module.MOST_KEPT, "race", 3)
    for number in range(5):
        store.keep("race", [(f"{number:064x}", "{}", b"")])
        with store.opened() as connection:  # in the same millisecond all are as old
            connection.execute("UPDATE kept SET kept = ? WHERE key = ?", (str(number), f"{number:064x}"))
    assert [store.found("race", f"{number:064x}") is not None for number in range(5)] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_a_link_brings_a_finished_race_back_in_another_session(store):
    app = open_page("s3vm", **SMALL)
    app.selectbox(key="race-s3vm").select("SVC (everyday)").run()
    app.button(key="race-start").click().run()
    started = app.session_state["_races"]["s3vm"]
    assert started.job.wait(SECONDS)
    assert started.job.state is JobState.DONE, started.job.error
    name = name_of(started.race)[:12]
    app.run()
    assert bench_of(app, "s3vm").link.texts["svm_race"] == name

    other = open_page("s3vm", **SMALL, svm_race=name)
    assert not other.exception
    back = other.session_state["_races"]["s3vm"]
    assert back.title == started.title
    assert_same(back.job.result, started.job.result)
    assert "Test accuracy of SVC" in [metric.label for metric in other.metric]
    assert bench_of(other, "s3vm").link.texts["svm_race"] == name


SENTENCE = "In the link, race must name a race in this server's store, got {!r}. No race has this name."


def test_a_race_that_is_not_kept_here_is_not_brought_back(store):
    race, live = Race(small("s3vm"), "S3VMLight"), LiveRun(small("s3vm"))
    keep_race(store, race, result())
    for name in ("0" * 12, "0", "%", "x" * 5000, name_of(race)[:11]):
        assert bring_back(name, live) == SENTENCE.format(name[:12])


def test_a_link_to_a_race_that_is_not_kept_here_says_so(store):
    assert said(open_page("s3vm", **SMALL, svm_race="0" * 12)) == [SENTENCE.format("0" * 12)]
