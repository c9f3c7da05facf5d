"""The result as JSON and as text."""

import pickle
from dataclasses import replace

import pytest

from analysis.methods.multilevel import advice
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.page import advice_text, interval_text, speedup_text
from analysis.methods.multilevel.result import Line, MoreSessions
from analysis.pages.model import Table, page_of


def test_one_benchmark_is_the_answer(noisy, matrix_of):
    a, b = noisy(1, benchmarks=1, shift=-0.5), noisy(2, benchmarks=1)
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    assert (result.these, result.similar, result.word) == (None, None, "faster")
    assert result.benchmarks[0].pvalue == result.benchmarks[0].pvalue_adjusted
    assert "new against old: faster, 1." in str(result)
    assert "4 sessions, paired; margin 1 %" in str(result)


def test_what_is_no_time_is_better_or_worse_on_the_page_only(noisy, matrix_of):
    a, b = noisy(1, shift=0.5), noisy(2)
    result = multilevel(matrix_of("new", a, unit="B"), matrix_of("old", b, unit="B"))
    assert result.word == "slower"
    assert "worse" in str(result)
    assert "slower" not in str(result)


def test_the_number_of_benchmarks_and_the_correction_are_said(noisy, matrix_of):
    a, b = noisy(31, benchmarks=6, shift=-0.05), noisy(32, benchmarks=6)
    text = str(multilevel(matrix_of("new", a), matrix_of("old", b)))
    assert "these 6" in text
    assert "like them" in text
    assert "after correction" in text
    assert "for 6;" in text
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    (rows,) = (
        block.rows
        for section in page_of(result).sections
        for block in section.blocks
        if isinstance(block, Table) and len(block.rows) >= 6
    )
    changed = {x.name: x.outcome != x.outcome_uncorrected for x in result.benchmarks}
    assert {row[0]: "after correction" in row[-1] for row in rows if row[0] in changed} == changed
    assert set(changed.values()) == {True, False}
    few = multilevel(matrix_of("new", noisy(1)), matrix_of("old", noisy(2)))
    assert "few-benchmarks" in {caution.code for caution in few.cautions}


LINE = Line(
    name="x",
    speedup=1.0123,
    low=1.0101,
    high=1.0145,
    error=0.001,
    freedom=4.0,
    pvalue=0.01,
    pvalue_equivalent=0.5,
    outcome="faster",
    more_sessions=None,
)


@pytest.mark.parametrize(
    ("speedup", "low", "high", "text"),
    [
        (1.0123, 1.0101, 1.0146, "1.012x [1.010, 1.015]"),
        (2.741, 2.701, 2.784, "2.74x [2.70, 2.79]"),
        (1.01, 1.0004, 1.03, "1.0100x [1.0004, 1.0300]"),  # not rounded onto 1
        (25.31, 24.0, 26.7, "25.3x [24.0, 26.7]"),
        (1.2, None, None, "1.20x "),
        (1.0, 1.0, 1.0, "1.00x [1.00, 1.00]"),
        (None, None, None, "- "),
    ],
)
def test_figures_keep_what_the_interval_tells(speedup, low, high, text):
    line = replace(LINE, speedup=speedup, low=low, high=high)
    assert f"{speedup_text(line)} {interval_text(line)}" == text


@pytest.mark.parametrize("noun", ["session", "host"])
@pytest.mark.parametrize(
    ("count", "low", "high", "text"),
    [
        (4, 3, 9, "about 4 more {}s (3 to 9)"),
        (1, 1, 1, "about 1 more {} (1 to 1)"),
        (40, 22, None, "about 40 more {}s (22 to > 1,000)"),
        (1300, 80, None, "> 1,000 more {}s: measure differently"),
    ],
)
def test_advice_in_words(count, low, high, text, noun):
    more = MoreSessions(
        sessions=count, low=low, high=high, chance=0.8, target="faster", runs_suffice=None
    )
    line = replace(LINE, outcome="undecided", more_sessions=more)
    assert advice_text(line, noun) == text.format(noun)
    assert advice_text(replace(line, outcome="faster"), noun) == ""


def test_hosts_that_are_taken_as_sessions_are_called_hosts(noisy, matrix_of):
    ours, theirs = (
        replace(matrix_of(name, noisy(k, sessions=(1, 2, 3))), outermost="host")
        for k, name in enumerate(("new", "old"))
    )
    result = multilevel(ours, theirs)
    assert result.outermost == "host"
    assert "3 hosts, paired" in str(result)
    assert "more hosts" in " ".join(str(result).split())
    assert "session" not in str(result)
    assert "outermost" not in result.to_dict()
    # sessions on one side, hosts on the other: what they have in common is to be taken as sessions
    assert multilevel(ours, replace(theirs, outermost="session")).outermost == "session"


def test_how_many_more_sessions_is_computed_when_a_number_of_it_is_asked_for(
    noisy, matrix_of, monkeypatch
):
    asked = []
    advise = advice.advise
    monkeypatch.setattr(advice, "advise", lambda *words: asked.append(1) or advise(*words))
    ours, theirs = (matrix_of(name, noisy(k)) for k, name in enumerate(("new", "old")))
    result = multilevel(ours, theirs)
    (line, *_) = (one for one in result.benchmarks if one.more_sessions is not None)
    assert asked == []
    more = line.more_sessions
    assert more.sessions == line.to_dict()["more_sessions"]["sessions"]
    assert asked == [1]  # of all benchmarks at once
    assert more == pickle.loads(pickle.dumps(more))
