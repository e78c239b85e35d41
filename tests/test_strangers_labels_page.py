"""Strangers' labels on the pages: the unlabeled points are named, with a switch and the true counts."""

import numpy as np
import pandas as pd
from live_page import figure
from opened_pages import errors, open_page, run_of
from test_app_upload import give, open_own
from test_data_page import checked, written


def table(labels, n=240):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return pd.DataFrame(X, columns=["a", "b"]).assign(label=labels).to_csv(index=False).encode()


def test_minus_one_beside_two_classes_is_unlabeled_and_a_switch_says_otherwise():
    app = give(open_own(n_iter="5"), "table.csv", table(np.resize([-1, 0, 1], 240)))
    assert errors(app) == []
    split = run_of(app).split
    assert split.class_names == ("0", "1")
    assert (np.concatenate([split.y_hidden, split.y_test]) == -1).sum() == 80
    said = written(app).replace("\\", "")
    assert "The label '-1' beside other labels is taken for “not labeled”" in said
    assert "80 rows without a label" in said
    switch = next(box for box in app.text_input if box.label == "A label that means “not labeled”")
    assert switch.value == "auto"
    switch.set_value("none").run()
    assert not app.exception
    assert "240 rows, 2 features, 2 classes: not" in written(app).replace("\\", "")
    assert "without a label" not in written(app)


def test_the_data_page_counts_rows_without_a_label():
    labels = pd.array(np.resize([0, 1], 1000), dtype="Int64")
    labels[100:] = pd.NA
    app = open_page("data", set="Your own file")
    app.file_uploader[0].upload("table.csv", table(labels, 1000), "text/csv").run()
    assert "1,000 points, 900 of them without a label" in written(checked(app)).replace("\\", "")
    balance = figure(app, "chart-data-balance")
    counts = {trace["name"]: sum(int(text.replace(",", "")) for text in trace["text"]) for trace in balance["data"]}
    assert sum(counts.values()) == 1000
    assert counts["unlabeled"] == 900  # all labels of a file count
    assert any(f"unlabeled: {counts['unlabeled']:,}" == one["text"] for one in balance["layout"]["annotations"])
