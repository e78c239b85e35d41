"""The papers' own data through the same door as anyone's file; they are no part of the project, and are skipped without it."""

import io

import numpy as np
import pandas as pd
from cases import each
from own_tables import read, sniff
from real_sets import content_of

from dsgcore.data.reading import Recipe
from dsgcore.experiments import FileStore, Run, Spec, load_split
from dsgcore.experiments.settings import SETTINGS

# Set: rows, columns, and the settings of the papers that use it.
SETS = {
    "codrna": (59_535, 8, ("auc", "s3vm")),
    "w6a": (49_749, 300, ("s3vm",)),
    "skin_nonskin": (245_057, 3, ("auc", "s3vm")),
    "covtype20k": (20_000, 54, ("auc", "similar_unlabeled")),
    "higgs7500": (7_500, 28, ("auc", "s3vm")),
    "dota2": (10_294, 116, ("auc", "s3vm")),
    "sgemm": (241_600, 14, ("ordinal",)),
    "kin40k": (40_000, 8, ("ordinal",)),
    "glass": (214, 9, ("multiclass",)),
    "svmguide2": (391, 20, ("multiclass",)),
    "vowel": (990, 10, ("multiclass",)),
    "dna": (3_186, 180, ("multiclass",)),
    "segment": (2_310, 19, ("multiclass",)),
    "pendigits": (10_992, 16, ("multiclass",)),
    "usps": (9_298, 256, ("multiclass",)),
    "shuttle": (58_000, 9, ("multiclass",)),
    "letter": (20_000, 16, ("multiclass",)),
    "poker25k": (25_010, 10, ("multiclass", "similar_unlabeled")),
    "mnist10k": (10_000, 784, ("similar_unlabeled",)),
}


@each("name, setting", [(name, own[0]) for name, (_, _, own) in SETS.items()])
def test_a_real_set_is_read_and_runs_in_its_setting(name, setting):
    content = content_of(name)
    n, d, _ = SETS[name]
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
        plain["problem"] = {"features": "linear"}
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


def test_a_real_set_is_the_same_in_every_format():
    """As one would bring it oneself: as CSV and as Parquet."""
    with np.load(io.BytesIO(content_of("svmguide2"))) as arrays:
        frame = pd.DataFrame(arrays["X"]).add_prefix("f").assign(y=arrays["y"])
    for write in (frame.to_csv, frame.to_parquet):
        content = io.BytesIO()
        write(content, index=False)
        dataset = read(content.getvalue(), sniff(content.getvalue(), "a"), labels="classes")
        np.testing.assert_array_equal(dataset.X, frame.iloc[:, :-1].to_numpy())


def test_the_bins_of_a_regression_target_are_those_of_the_file():
    content = content_of("kin40k")
    dataset = read(content, sniff(content, "kin40k.npz", labels="ordinal"), labels="ordinal")
    with np.load(io.BytesIO(content)) as arrays:
        np.testing.assert_array_equal(dataset.y + 1, arrays["y5"])
    chosen = Recipe(format="npz", roles=(("y", "ignore"), ("y5", "label")))
    np.testing.assert_array_equal(read(content, chosen, labels="ordinal").y, dataset.y)
