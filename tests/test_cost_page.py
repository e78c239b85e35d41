"""Links to runs that need too much, or that take long."""

import time

from cases import each
from live_page import status
from opened_pages import bench_of, errors, open_page, said

from dsgcore.data import Edit, load
from dsgcore.experiments import loading
from pages.controls.edits_text import edits_to_text
from pages.session import bench as benches

# A page runs at once and draws surfaces: without the compiler that takes minutes.


def test_a_link_that_asks_for_too_much_gets_a_sentence_at_once():  # test_cost.py tries all kinds of it
    start = time.process_time()
    app = open_page("multiclass", mc_data="Blobs", mc_n="40000", mc_n_features="16384", mc_features="fourier")
    assert not app.exception
    assert len(app.error) == 1
    assert "it would fit" in app.error[0].value
    assert bench_of(app, "multiclass").live is None
    assert time.process_time() - start < 10.0  # memory that is touched takes time


EDITED = edits_to_text([Edit("label", (3,), 1)])
LARGE = {"n": "200000", "n_irrelevant": "500"}
MANY = {"data": "Many irrelevant features"} | LARGE
LINKS = {
    "data": {"set": MANY["data"]} | {f"data_{name}": text for name, text in LARGE.items()},
    "auc": MANY,
    "explore": {f"x_{name}": text for name, text in MANY.items()} | {"x_edits": f"0:{EDITED}"},
    "convergence": {f"v_{name}": text for name, text in MANY.items()} | {"v_edits": f"0:{EDITED}"},
}


@each(
    "page, link",
    [
        *LINKS.items(),
        ("auc", MANY | {"edits": EDITED}),
        ("auc", MANY | {"lesson": "one-wrong-label"}),
        ("auc", MANY | {"lesson": "five-labels:3"}),
        ("auc", MANY | {"lesson": "unlabeled"}),
    ],
)
def test_every_link_is_checked_before_anything_is_allocated(monkeypatch, page, link):
    def load_small(name, **options):
        assert options.get("n") != int(LARGE["n"]), "made before its cost was checked"
        return load(name, **options)

    monkeypatch.setattr(loading, "load", load_small)
    app = open_page(page, **link)
    assert not app.exception
    told = [*errors(app), *said(app)]
    assert any("GB is allowed; with n" in one for one in told), told


def test_a_slider_that_asks_for_too_much_leaves_the_run_as_it_is():
    app = open_page("auc", n_iter="100000", at="3", data="Two moons")
    before = bench_of(app, "auc").live
    app.select_slider(key="n_features").set_value(4096).run()
    assert "it would fit" in app.error[0].value
    assert bench_of(app, "auc").live is before


def test_a_link_to_a_late_iteration_is_gone_to_piece_by_piece(monkeypatch):
    monkeypatch.setattr(benches, "LONGEST_GO", 0.0)
    app = open_page("auc", n_iter="40", at="8-playing")
    bench = bench_of(app, "auc")
    assert 0 < bench.live.run.t < 8
    assert "going to step 8" in status(app)
    for _ in range(100):
        if bench.link.going_to:
            app.run()
    assert bench.live.run.t >= 8
    assert bench.is_playing
    assert said(app) == []


def test_pause_ends_the_way_to_a_late_iteration(monkeypatch):
    monkeypatch.setattr(benches, "LONGEST_GO", 0.0)
    app = open_page("auc", n_iter="40", at="20")
    app.button(key="play").click().run()
    bench = bench_of(app, "auc")
    assert not bench.link.going_to
    assert not bench.is_playing
    reached = bench.live.run.t
    app.run()
    assert bench.live.run.t == reached < 20
