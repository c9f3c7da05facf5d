"""Which lines are listed, and what the bins hold: the design's rules, and a count by hand."""

from __future__ import annotations

from hypothesis import given, strategies as st

from analysis.pages.model import Value
from analysis.report.answer.growth import grouped, kept_of
from analysis.report.answer.result import Bin, Name, Row

NOTHING = Value("", None)


def row(name: str, speedup: float, word: str) -> Row:
    return Row(
        name=Name(name, name, name),
        link="",
        suite=False,
        baseline=NOTHING,
        candidate=NOTHING,
        speedup=Value(f"{speedup:.3f}", speedup),
        low=NOTHING,
        high=NOTHING,
        word=word,
        style="neither",
        filled=False,
        sessions=(),
        note="",
        lacking=False,
        more=NOTHING,
        advice="",
        marks=(),
    )


def names(count: int) -> list[str]:
    return [f"b{k:03}" for k in range(count)]


def test_up_to_sixty_are_all_listed() -> None:
    assert kept_of(names(60), ()) == set(names(60))


def test_of_more_the_ends_and_what_cautions_name() -> None:
    every = names(500)
    found = kept_of(every, {"b200", "b003"})
    assert found == {*every[:15], *every[-15:], "b200"}


def test_at_most_thirty_are_listed_for_a_caution() -> None:
    assert len(kept_of(names(500), set(names(500)[100:200]))) == 60


def test_bins_stand_where_their_rows_stood() -> None:
    rows = [row(name, 2 - k / 500, "faster") for k, name in enumerate(names(500))]
    found = grouped(rows, kept_of(names(500), {"b200"}))
    kinds = [isinstance(one, Bin) for one in found]
    assert kinds.index(True) == 15
    place = next(
        k for k, one in enumerate(found) if isinstance(one, Row) and one.name.whole == "b200"
    )
    assert kinds[place - 1]
    assert kinds[place + 1]
    before = found[place - 1]
    assert isinstance(before, Bin)
    assert before.lowest.value is not None
    assert before.lowest.value > 2 - 200 / 500


def test_a_few_rows_between_others_need_no_bin() -> None:
    rows = [row(name, 1.5, "faster") for name in names(100)]
    kept = set(names(100)) - {"b040", "b041", "b042"}
    assert [one for one in grouped(rows, kept) if isinstance(one, Bin)] == []


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
        if isinstance(one, Bin):
            assert one.count == sum(count for _, count in one.counts) == len(one.speedups)
            for word, count in one.counts:
                counted[word] += count
        else:
            counted[one.word] += 1
    assert counted == {word: words.count(word) for word in words}
