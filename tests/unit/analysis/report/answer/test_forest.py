"""The forest: all estimates on its scale, which lines are listed, and what the bins hold.

Authorities: the design's rules, and a count by hand.
"""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, strategies as st

from analysis.methods.multilevel.result import Line
from analysis.pages.model import Value
from analysis.report.answer_forest import axis_of, grouped, kept_of
from analysis.report.subject import Name


def line(speedup: float, half: float) -> Line:
    return Line(
        name="b",
        speedup=speedup,
        low=speedup / (1 + half),
        high=speedup * (1 + half),
        error=None,
        freedom=None,
        pvalue=None,
        pvalue_equivalent=None,
        outcome="undecided",
        more_sessions=None,
    )


def test_one_rough_interval_leaves_the_scale_and_of_alike_ones_none() -> None:
    usual = [line(1.0 + k / 50, 0.02) for k in range(6)]
    rough = line(1.05, 9.0)
    scale = axis_of([*usual, rough], 0.01, timed=True)["scale"]
    assert rough.low is not None
    assert rough.high is not None
    assert not scale.holds(rough.low)
    assert not scale.holds(rough.high)
    assert all(scale.holds(end) for one in usual for end in (one.low, one.high) if end)
    # the usual ones still take a good part of the width
    assert scale.at(1.1) - scale.at(1.0) > 0.2
    same = [line(1.2, 0.3) for _ in range(4)]
    scale = axis_of(same, 0.01, timed=True)["scale"]
    assert all(scale.holds(end) for one in same for end in (one.low, one.high) if end)


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0.001, 50)), min_size=1, max_size=8))
def test_all_estimates_and_one_lie_on_it(drawn: list[tuple[float, float]]) -> None:
    lines = [line(math.exp(log), half) for log, half in drawn]
    axis = axis_of(lines, 0.01, timed=True)
    assert all(axis["scale"].holds(one.speedup) for one in lines if one.speedup is not None)
    assert all(axis["scale"].holds(end) for end in (1.0, *axis["margin"]))


def test_words_stand_on_the_sides_that_the_axis_has() -> None:
    faster = axis_of([line(3.0, 0.1)], 0.01, timed=True)
    assert (faster["slower"], faster["faster"]) == ("", "faster")
    worse = axis_of([line(0.3, 0.1)], 0.01, timed=False)
    assert (worse["slower"], worse["faster"]) == ("worse", "")
    both = axis_of([line(1.0, 0.1)], 0.01, timed=True)
    assert (both["slower"], both["faster"]) == ("slower", "faster")


def row(name: str, speedup: float, word: str) -> dict[str, Any]:
    return {
        "name": Name(name, name, name),
        "speedup": Value(f"{speedup:.3f}", speedup),
        "word": word,
    }


def names(count: int) -> list[str]:
    return [f"b{k:03}" for k in range(count)]


def test_up_to_sixty_are_listed_of_more_the_ends_and_thirty_that_cautions_name() -> None:
    assert kept_of(names(60), ()) == set(names(60))
    every = names(500)
    found = kept_of(every, {"b200", "b003"})
    assert found == {*every[:15], *every[-15:], "b200"}
    assert len(kept_of(names(500), set(names(500)[100:200]))) == 60


def test_bins_stand_where_their_rows_stood() -> None:
    rows = [row(name, 2 - k / 500, "faster") for k, name in enumerate(names(500))]
    found = grouped(rows, kept_of(names(500), {"b200"}))
    kinds = ["counts" in one for one in found]
    assert kinds.index(True) == 15
    place = next(
        k for k, one in enumerate(found) if "counts" not in one and one["name"].whole == "b200"
    )
    assert kinds[place - 1]
    assert kinds[place + 1]
    before = found[place - 1]
    assert before["lowest"].value is not None
    assert before["lowest"].value > 2 - 200 / 500


def test_a_few_rows_between_others_need_no_bin() -> None:
    rows = [row(name, 1.5, "faster") for name in names(100)]
    kept = set(names(100)) - {"b040", "b041", "b042"}
    assert [one for one in grouped(rows, kept) if "counts" in one] == []


@given(
    st.lists(
        st.sampled_from(["faster", "slower", "equivalent", "undecided"]), min_size=61, max_size=300
    )
)
def test_no_line_is_lost_and_each_word_is_counted_once(words: list[str]) -> None:
    every = names(len(words))
    rows = [row(name, 1.0, word) for name, word in zip(every, words, strict=True)]
    found = grouped(rows, kept_of(every, ()))
    counted = dict.fromkeys(words, 0)
    for one in found:
        if "counts" in one:
            assert one["count"] == sum(n for _, n in one["counts"]) == len(one["speedups"])
            for word, count in one["counts"]:
                counted[word] += count
        else:
            counted[one["word"]] += 1
    assert counted == {word: words.count(word) for word in words}
