"""A bisection in words. Authority: the search's own result, the page of keys, and made commits."""

import functools
import json
import operator
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import StoreError
from analysis.history.bisection import (
    EXIT_CODES,
    Bisection,
    bisection_from,
    bisection_in,
    bisection_of,
)
from analysis.history.step_search import Search
from analysis.record.manifest import BISECTION
from tests.unit.analysis.history.made_bisections import (
    HEAVY,
    answers,
    commits,
    searched,
    surroundings,
)
from tests.unit.analysis.history.test_step_search import made


@pytest.fixture(scope="module")
def found() -> dict[str, Bisection]:
    return answers()


def test_each_answer_has_its_exit_code(found: dict[str, Bisection]) -> None:
    for one in found.values():
        assert one.exit_code == (None if one.answer is None else EXIT_CODES[one.answer])
    assert {one.answer for one in found.values()} == {*EXIT_CODES, None}


def test_a_culprit_is_named_by_its_commits_and_what_follows(found: dict[str, Bisection]) -> None:
    # whose words stand in tests/golden/bisections
    told, named = found["proven"], commits(128)
    (one,) = told.culprits
    assert (one.after, one.upto) == (named[76].commit, named[77].commit)
    proof = f"runs/bisect-app-20261123/proof-1:{named[77].variant}"
    assert told.next == (f"fairtrial why {proof}",)
    broken = found["between"]
    assert [one.place for one in broken.culprits[0].commits] == [75, 76, 77]
    assert [(one.place, one.why) for one in broken.skipped] == [
        (75, "does not build: exit code 2"),
        (76, "does not build"),
    ]
    assert found["under-way"].next == ("fairtrial bisect --resume runs/bisect-app-20261123",)


def test_each_answer_has_its_cautions(found: dict[str, Bisection]) -> None:
    codes = {name: [one.code for one in told.cautions] for name, told in found.items()}
    assert codes["between"] == ["skipped-between", "build-noise"]
    assert codes["no-difference"] == ["other-metric", "may-cancel"]
    assert codes["one-program"] == ["one-program"]
    assert codes["open"] == ["heavy-search"]
    assert codes["not-built"] == codes["under-way"] == []


def test_it_is_read_back_from_its_json(found: dict[str, Bisection], tmp_path: Path) -> None:
    for one in found.values():
        (tmp_path / BISECTION).write_text(json.dumps(one.to_dict(), allow_nan=False))
        again = bisection_in(tmp_path)
        assert again.to_dict() == one.to_dict()
        assert str(again) == str(one)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("{", "is no JSON"),
        ("[]", "no schema number"),
        ('{"method": "hpt", "schema": 1}', "not what fairtrial bisect writes"),
        ('{"method": "bisect", "schema": 9}', "schema 9"),
        ('{"method": "bisect", "schema": 1}', "lacks caution_codes, cautions"),
    ],
)
def test_a_damaged_file_is_an_error(text: str | None, said: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / BISECTION).write_text(text)
    with pytest.raises(StoreError, match=said):
        bisection_in(tmp_path)


def leaves(value: object, at: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    yield at
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, one in inner:
        yield from leaves(one, (*at, key))


def test_whatever_stands_in_a_place_it_is_read_or_refused(found: dict[str, Bisection]) -> None:
    """Authority: 736 of 3,371 files with one changed value were tracebacks, and a word of theirs stood in a page."""
    text, refused = json.dumps(found["proven"].to_dict()), 0
    for at in (at for at in leaves(json.loads(text)) if at):
        for value in (None, -1, "<b>x", [[1]]):
            changed = json.loads(text)
            place = functools.reduce(operator.getitem, at[:-1], changed)
            place[at[-1]] = value
            try:
                told = bisection_from(changed)
            except StoreError:
                refused += 1
                continue
            assert told.sentence
            assert "<b>x" not in {one.word for one in (*told.culprits, *told.refuted)}
    assert refused > 400


def test_a_key_of_a_newer_version_is_left_out(found: dict[str, Bisection]) -> None:
    known = found["proven"].to_dict()
    assert bisection_from({**known, "new": 1}).to_dict() == known


def test_probabilities_are_the_newest_of_each_place(found: dict[str, Bisection]) -> None:
    told = found["proven"]
    assert sum(one.probability for one in told.posterior) == pytest.approx(1, abs=0.02)
    assert max(told.posterior, key=lambda one: one.probability).place == 77
    assert {one.place for one in told.probes} >= {64}
    assert all(one.sessions for one in told.probes)


def test_a_search_under_way_tells_the_word_on_both_ends() -> None:
    told: list[Bisection] = []

    def after() -> None:
        told.append(bisection_of(search, commits(8), **surroundings()))

    search = Search(made(8, {5: 5}), 8, builds=lambda place: place != 4, after=after)
    found = search.result()
    assert {one.answer for one in told} == {None}
    assert [one.sessions for one in told] == list(range(1, found.sessions + 1))
    assert (told[0].first.sessions, told[0].phase) == (0, "step0")
    assert (told[-1].first, told[-1].phase) == (found.first, "proof")
    assert [one.place for one in told[-1].skipped] == [4]
    assert {one.culprits for one in told} == {()}


def test_memory_is_more_not_slower() -> None:
    about = surroundings(metric="max_rss", unit="B")
    told = searched(made(32, {9: 30}), 32, about)
    assert "made it worse: it uses " in told.sentence
    assert "more memory (max_rss) than its parent" in told.sentence


def test_a_small_step_is_said_to_be_one_perhaps_of_layout(found: dict[str, Bisection]) -> None:
    told = searched(made(16, {5: 0.8}, sd=0.0005), 16, surroundings())
    texts = {one.code: one.text for one in told.cautions}
    if told.culprits:
        assert texts["build-noise"].startswith("a step below 1 %")
    assert (
        "below 1 %" not in {one.code: one.text for one in found["proven"].cautions}["build-noise"]
    )


def test_failing_runs_and_equal_programs_are_told() -> None:
    about = surroundings(fails_more=(3, 4), same_program=(2,), unsteady=(0, 16))
    told = searched(made(16, {9: 5}), 16, about)
    texts = {one.code: one.text for one in told.cautions}
    assert commits(16)[3].commit[:7] in texts["fails-more"]
    assert commits(16)[16].commit[:7] in texts["no-steady-state"]
    assert texts["one-program"].startswith("1 commit builds to the program")


@pytest.mark.parametrize(("end", "code"), [(0, 7), (64, 7), (20, 1)])
def test_an_end_that_fails_more_is_not_the_same(end: int, code: int) -> None:
    told = searched(made(64, {}, sd=0.002), 64, surroundings(fails_more=(end,)))
    assert (told.exit_code, told.first.word == "equivalent") == (code, code == 1)


def test_a_name_that_is_too_wide_gives_way_to_the_sha(found: dict[str, Bisection]) -> None:
    told = found["no-difference"]
    wide = replace(told, bad=replace(told.bad, name="\u7248" * 30))
    assert told.bad.short in wide.sentence


def test_another_metric_is_no_note_beside_a_difference_that_is_found() -> None:
    told = searched(made(32, {9: 5}), 32, surroundings(other_metrics=(HEAVY,)))
    assert "other-metric" in [one.code for one in told.cautions]
    assert "max_rss +31 %" in str(told)
    assert "was not searched" not in str(told)
