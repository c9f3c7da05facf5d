"""What a column says of a run's fate: closed sets of words, by hand; what is in none is refused."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError


def fate(foreign, heading: str, word: str) -> str:
    """Read one plain run and one of that word, and tell what became of the latter."""
    cells = foreign(f'benchmark,time_ms,{heading}\na,1,"{word}"\nb,1,"{word}"\n', "r.csv").cells
    (told,) = {(cell.failed, len(cell.values)) for cell in cells}
    return {(0, 1): "good", (1, 0): "failed"}[told]


@pytest.mark.parametrize(
    "heading", ["status", "Exit Code", "exit_code", "returncode", "exit_status"]
)
@pytest.mark.parametrize(
    ("word", "said"),
    [("0", "good"), ("0.0", "good"), ("1", "failed"), ("-9", "failed"), ("137.0", "failed")],
)
def test_a_code_of_zero_is_good(foreign, heading, word, said) -> None:
    assert fate(foreign, heading, word) == said


@pytest.mark.parametrize("heading", ["ok", "success", "passed"])
@pytest.mark.parametrize(
    ("word", "said"), [("1", "good"), ("1.0", "good"), ("0", "failed"), ("0.0", "failed")]
)
def test_one_is_yes(foreign, heading, word, said) -> None:
    assert fate(foreign, heading, word) == said


@pytest.mark.parametrize("heading", ["ok", "status", "outcome", "success"])
@pytest.mark.parametrize(
    ("word", "said"),
    [
        *(
            (word, "good")
            for word in ("OK", "completed", "Done", "pass", "PASSED", "success", "true")
        ),
        *(
            (word, "failed")
            for word in ("failed", "Error", "timeout", "killed", "false", "crashed")
        ),
    ],
)
def test_words_of_outcomes(foreign, heading, word, said) -> None:
    assert fate(foreign, heading, word) == said


@pytest.mark.parametrize(
    ("word", "said"),
    [
        *((word, "failed") for word in ("true", "1", "yes", "t", "failed", "fail", "error", "2")),
        *((word, "good") for word in ("false", "0", "0.0", "no", "f", "", "ok", "passed")),
    ],
)
def test_a_column_of_failures_says_when_it_is_true(foreign, word, said) -> None:
    assert fate(foreign, "failed", word) == said


@pytest.mark.parametrize(
    ("heading", "word"),
    [
        ("status", "maybe"), ("ok", ""), ("ok", "2"), ("outcome", "1"), ("exit_code", ""),
        ("exit_code", "1x"), ("failed", "perhaps"), ("warmup", "3"), ("warmup", "failed"),
        ("status", "nan"),
    ],
)  # fmt: skip
def test_a_word_in_no_set_is_refused_with_its_line(foreign, heading, word) -> None:
    good = {"warmup": "0", "failed": "no"}.get(heading, "ok")
    text = f"benchmark,time_ms,{heading}\na,1,{good}\na,2,{good}\na,3,{word}\n"
    with pytest.raises(AnalysisError, match=heading) as told:
        foreign(text, "r.csv")
    assert "r.csv:4" in str(told.value)
    assert repr(word) in str(told.value)


@pytest.mark.parametrize(
    ("word", "left"),
    [("true", 1), ("1.0", 1), ("warmup", 1), ("Y", 1), ("no", 0), ("0", 0), ("", 0), ("f", 0)],
)
def test_warm_ups_have_words_of_their_own(foreign, word, left) -> None:
    (cell,) = foreign(f"benchmark,time_ms,is_warmup\na,1,false\na,2,{word}\n", "r.csv").cells
    assert (cell.warmups, len(cell.values)) == (left, 2 - left)


def test_the_outcome_of_a_warm_up_is_not_asked_for(foreign) -> None:
    (cell,) = foreign("benchmark,time_ms,warmup,ok\na,1,1,\na,2,0,1\n", "r.csv").cells
    assert (cell.warmups, cell.failed, cell.values) == (1, 0, (0.002,))


@pytest.mark.parametrize(
    ("heading", "word", "said"),
    [
        ("better", "lower", "lower"), ("better", "Higher is better", "higher"),
        ("direction", "minimize", "lower"), ("lower_is_better", "0", "higher"),
        ("higher_is_better", "yes", "higher"), ("better", "true", None), ("direction", "1", None),
    ],
)  # fmt: skip
def test_directions_are_not_guessed(foreign, heading, word, said) -> None:
    (cell,) = foreign(f"benchmark,value,{heading}\na,1,{word}\n", "r.csv").cells
    assert cell.better == said
