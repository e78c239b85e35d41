from dsgcore.experiments import FileStore
from pages.session.bench import Bench, once


def test_a_click_that_arrives_twice_acts_once():
    bench, done = Bench(FileStore()), []
    for drawn in (1, 1, 2):  # the second arrival belongs to the same drawing of the page
        once(bench, drawn, done.append, drawn)
    assert done == [1, 2]
