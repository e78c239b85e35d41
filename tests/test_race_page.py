"""The list of competitors on a setting's page."""

from opened_pages import open_page

from dsgcore.baselines import COMPETITORS


def test_the_list_has_the_papers_methods_first_and_calls_the_others_everyday():
    app = open_page("s3vm", svm_n="100")
    (asked,) = [box for box in app.selectbox if box.label == "Race against"]
    methods = COMPETITORS["s3vm"]  # test_baselines.py has their order
    assert asked.options == [f"{method.title} (everyday)" if method.is_everyday else method.title for method in methods]


def test_where_nothing_everyday_can_learn_the_page_says_so():
    app = open_page("similar_unlabeled")
    (asked,) = [box for box in app.selectbox if box.label == "Race against"]
    assert asked.options == ["SU-SL", "SU-DH", "CUU"]
    said = "Everyday methods need class labels, so they cannot learn from these data."
    assert said in [caption.value for caption in app.caption]
