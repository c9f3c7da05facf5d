"""One vocabulary for programs; better and worse are words of screens."""

import pytest

from analysis.pages import number_format as figures
from analysis.pages.number_format import outcome_word, word_of


@pytest.mark.parametrize(
    ("side", "timed", "word", "screen"),
    [
        ("candidate", True, "faster", "faster"),
        ("baseline", True, "slower", "slower"),
        ("candidate", False, "faster", "better"),
        ("baseline", False, "slower", "worse"),
        ("tie", False, "tie", "tie"),
        ("undecided", False, "undecided", "undecided"),
    ],
)
def test_the_words_of_a_side(side, timed, word, screen):
    assert word_of(side) == word
    assert outcome_word(word, timed=timed) == screen


@pytest.mark.parametrize(
    ("unit", "timed"),
    [
        *((unit, True) for unit in ("s", "ms", "MB/s", "req/min", "score")),
        *((unit, False) for unit in ("1", "", "B", "%", "KiB/run")),
    ],
)
def test_times_rates_and_scores_are_fast_and_nothing_else(unit, timed):
    assert figures.timed(unit) is timed


def test_what_has_no_unit_is_a_bare_number():
    # first use: a compression ratio was printed as "3.69 1"
    assert figures.quantity(3.69, "1") == "3.69"
