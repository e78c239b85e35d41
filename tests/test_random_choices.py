"""Random choices of labels, beside which a person's choice is seen, and the edits that lessons make for any data."""

import numpy as np
from cases import each
from live_page import figures, head
from opened_pages import checked, open_page, run_of

from dsgcore import Run, Spec
from dsgcore.data.edits import CHOICES
from dsgcore.experiments import load_split
from dsgcore.experiments.data_of import with_choice
from dsgcore.experiments.verdict import RandomChoices, chosen_rows, known_choices, random_choices

SMALL = {
    "setting": "auc",
    "data": {"name": "xor", "n": 120, "n_labeled": 5},
    "solver": {"n_iter": 8, "n_features": 16, "batch_size": 4},
}


def test_a_rank_counts_a_tie_by_half():
    choices = RandomChoices(np.array([0.1, 0.2, 0.2, 0.4]))
    assert choices.rank(0.2) == 0.5
    assert choices.rank(0.9) == 1.0
    assert choices.measures(0.0)["choices_best"] == 0.4


def test_choices_are_the_same_for_edited_data_and_each_is_a_run_of_its_own():
    spec = Spec.from_dict(SMALL)
    first = random_choices(spec, load_split(spec), n=6)
    edited = with_choice(spec, "centres")
    assert random_choices(edited, load_split(edited), n=6) is first
    assert len(set(first.scores.tolist())) > 1
    assert (np.diff(first.scores) >= 0).all()
    assert known_choices(spec) is None  # these are too few
    assert (
        random_choices(Spec.from_dict(SMALL | {"seed": 1}), load_split(Spec.from_dict(SMALL | {"seed": 1})), n=6)
        is not first
    )


@each("counts, n", [((80, 80), 5), ((50, 50, 50, 50), 3), ((4000, 1), 2), ((1, 1, 9000), 2), ((2, 2), 4)])
def test_a_random_choice_ends_for_few_labels_and_rare_classes(counts, n):
    y = np.append(np.repeat(np.arange(len(counts)), counts), -1)
    for seed in range(5):
        rows = chosen_rows(y, n, np.random.default_rng(seed))
        assert len(set(rows.tolist())) == n
        assert len(set(y[rows].tolist()) - {-1}) == min(n, len(counts))


@each("choice", [name for name in CHOICES if name not in ("no labels", "empty sheet")])
def test_the_edits_of_a_lesson_suit_the_data_of_any_seed(choice):
    for seed in range(3):
        spec = with_choice(Spec.from_dict(SMALL | {"seed": seed}), choice)
        run = Run(spec)
        run.advance(1)
        if choice in ("centres", "one wrong"):
            labeled = run.split.labeled
            assert len(labeled) == 5
            wrong = run.split.y_train[labeled] != run.split.y_hidden[labeled]
            assert wrong.sum() == (choice == "one wrong")


def test_a_step_begins_with_its_edits_and_again_with_another_seed():
    app = open_page("auc", lesson="five-labels:2")
    points = figures(checked(app))["hand"]
    assert points["count"] == "0 of 5 labels"
    assert points["said"] == ""
    assert any("The run starts when each class has a labeled point" in one.value for one in app.markdown)
    assert not points["canPaint"]
    app.button(key="dice").click().run()
    assert figures(checked(app))["hand"]["count"] == "0 of 5 labels"
    app.button(key="lesson-show").click().run()
    assert len(run_of(checked(app)).split.labeled) == 5
    assert run_of(app).spec.data.edits
    assert "hand" in [one["key"] for one in head(app)["figures"]]
