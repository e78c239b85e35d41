"""F, h and |f − h| side by side: the same plane, the same step, one scale for f and h, and one from 0."""

import numpy as np
import pytest
from live_page import figure
from opened_pages import open_page, said
from small_specs import small

from dsgcore.experiments import Run
from pages.live import map_view


@pytest.mark.parametrize("name", ["auc", "s3vm", "ordinal"])
def test_the_three_maps_are_of_one_step_and_the_error_begins_at_zero(name):
    prefix = {"auc": "", "s3vm": "svm_", "ordinal": "ord_"}[name]
    app = open_page(name, **{f"{prefix}at": "12"})
    assert said(app) == []
    f, h, error = (figure(app, f"chart-side-{part}")["data"][0] for part in ("f", "h", "error"))
    z = {part: np.array(heat["z"], dtype=float) for part, heat in zip("fhe", (f, h, error), strict=True)}
    assert z["e"] == pytest.approx(np.abs(z["f"] - z["h"]), abs=2e-3 * np.abs(z["f"]).max())
    places = {(heat["x0"], heat["dx"], heat["y0"], heat["dy"]) for heat in (f, h, error)}
    assert len(places) == 1
    assert (f["zmin"], f["zmax"]) == (h["zmin"], h["zmax"])
    reach = (f["zmax"] - f["zmin"]) / 2
    assert (error["zmin"], error["zmax"]) == pytest.approx((0.0, reach))
    assert max(np.abs(z[part] - (f["zmin"] + reach)).max() for part in "fh") == pytest.approx(reach, rel=1e-3)
    (caption,) = (c.value for c in app.caption if "f and h have the same colour scale" in c.value)
    assert caption.startswith("The maps show step 12. ")
    assert f"at most {z['e'].max():.2g} here" in caption


def test_several_classes_have_no_such_maps():
    app = open_page("multiclass", mc_at="5")
    assert not any("chart-side" in c.proto.id for c in app.get("bidi_component"))


def test_a_map_of_many_features_has_fewer_points():
    sizes = [map_view._size(Run(small("auc", solver={"n_features": m}))) for m in (256, 16_384, 65_536)]
    assert sizes[0] == map_view.GRID
    assert map_view.LEAST_GRID <= sizes[2] < sizes[1] < map_view.GRID
