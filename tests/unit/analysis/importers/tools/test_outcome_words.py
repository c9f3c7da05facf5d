"""What a column says of a run's fate: closed sets of words, by hand; what is in none is refused."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError


def fate(foreign, heading: str, word: str) -> str:
    """Read one plain run and one of that word, and tell what became of the latter."""
    cells = foreign(f'benchmark,time_ms,{heading}\na,1,"{word}"\nb,1,"{word}"\n', "r.csv").cells
    (told,) = {(cell.failed, len(cell.values)) for cell in cells}
    return {(0, 1): "good", (1, 0): "failed"}[told]


# headings, and the words below them of a good and of a failed run: a code of 0 is good, a column of failures tells them
FATES = (
    ("status|Exit Code|exit_code|returncode|exit_status", "0|0.0", "1|-9|137.0"),
    ("ok|success|passed", "1|1.0", "0|0.0"),
    ("ok|status|outcome|success", "OK|completed|Done|pass|PASSED|success|true", "failed|Error: no space|timeout (60 s)|killed by signal 9|false|wrong"),
    ("failed", "false|0|0.0|no|f||ok|passed", "true|1|yes|t|failed|fail|error|2"),
    ("exit|rc|retcode|Exitval", "0", "1|-9"), ("timedout|killed|oom", "false|0", "true|1"),
    ("verified|is_ok|solved|Passed?|meta.success", "true|1", "false|0"), ("error_occurred", "|False", "True"),
    ("status|http_status", "200|304", "404|503"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "word", "said"),
    [
        (heading, word, said)
        for headings, *words in FATES
        for heading in headings.split("|")
        for said, of in zip(("good", "failed"), words, strict=True)
        for word in of.split("|")
    ],
)
def test_what_a_word_says_of_a_run(foreign, heading, word, said) -> None:
    assert fate(foreign, heading, word) == said


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
        ("better", "HigherIsBetter", "higher"), ("better", "bigger-is-better", "higher"), ("direction", "up", "higher"),
    ],
)  # fmt: skip
def test_directions_are_not_guessed(foreign, heading, word, said) -> None:
    (cell,) = foreign(f"benchmark,value,{heading}\na,1,{word}\n", "r.csv").cells
    assert cell.better == said
