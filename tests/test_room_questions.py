"""Questions of a class: tallies, right answers, and the reason that phones show."""

from cases import each
from test_rooms import CURVE, MAP, NUMBER, PICK

from dsgcore.rooms.questions import is_right, plain_text, reason, tally


@each(
    "explanation, why",
    [
        (
            "**Above** zero. When the risk falls, the next steps push it back up. More.",
            "Above zero. When the risk falls, the next steps push it back up.",
        ),
        (
            "f is much closer to f*, and |f − f*|² is small now. More.",
            "f is much closer to f*, and |f − f*|² is small now.",
        ),
        (
            "It is so. Does the error of the run mean what it seems to mean? More.",
            "It is so. Does the error of the run mean what it seems to mean?",
        ),
    ],
)
def test_the_reason_is_the_first_sentence_that_says_more_than_a_word_or_two(explanation, why):
    assert reason(explanation) == why


def test_emphasis_is_no_part_of_a_plain_text():
    assert plain_text(r"the *step size* of C\* and **64** of f* and h*") == "the step size of C* and 64 of f* and h*"


def test_a_tally_counts_answers_and_draws_the_band_of_curves():
    assert tally(PICK.question, [0, 0, 2]) == {"n": 3, "counts": [2, 0, 1]}
    assert tally(NUMBER.question, [0.05, 0.41, 0.42])["counts"][4] == 2
    made = tally(CURVE.question, [[value] * 6 for value in (0.5, 0.6, 0.7, 0.8, 0.9)])
    assert (made["low"][0], made["middle"][0], made["high"][0]) == (0.54, 0.7, 0.86)
    assert tally(CURVE.question, []) == {"n": 0}
    cells = tally(MAP.question, [[0.05, 0.95] + [0.55, 0.55] * 4])["cells"]
    assert (cells[0][9], cells[5][5], sum(map(sum, cells))) == (1, 4, 5)


def test_right_and_wrong_follow_the_result():
    assert is_right(PICK.question, 1, {"right": 1}) is True
    assert is_right(PICK.question, 1, {"right": None}) is None
    near = CURVE.question.near
    assert is_right(CURVE.question, [0.5] * 6, {"value": [0.5 + near / 2] * 6}) is True
    assert is_right(CURVE.question, [0.5] * 6, {"value": [0.5 + 2 * near] * 6}) is False
    assert is_right(MAP.question, [0.5] * 10, {}) is None
