import pytest
from cases import each

SEEN = []


@each("a, b", [(1, 2), (3, 4)])
@each("c", "xy")
def test_every_case_runs_with_the_fixtures(a, b, c, tmp_path):
    assert tmp_path.is_dir()
    SEEN.append((a, b, c))


def test_none_is_left_out():
    assert SEEN == [(1, 2, "x"), (1, 2, "y"), (3, 4, "x"), (3, 4, "y")]


def test_an_error_ends_with_the_values_of_its_case():
    @each("n", range(5))
    def fails(n):
        assert n < 3

    with pytest.raises(AssertionError) as caught:
        fails()
    assert caught.value.__notes__ == ["with {'n': 3}"]
    with pytest.raises(AssertionError, match="there are no cases"):
        each("n", [])(fails)()
