"""The suite as a whole: the pictures of `plot`, and the ranking of three and more variants."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.importers.reader import Reading
from analysis.pages.model import Figure, Sentence, Table
from analysis.report.further import suite
from analysis.report.subject import subject_of

BENCHES = ("text", "logs", "json")


def runs(factors, *, seed=1, benches=BENCHES, sessions=4, count=6):
    rng = np.random.default_rng(seed)
    return {
        name: {
            bench: ((k + 1) * factor * np.exp(rng.normal(0, 0.01, sessions * count))).tolist()
            for k, bench in enumerate(benches)
        }
        for name, factor in factors.items()
    }


@pytest.fixture(scope="module")
def subject(synthetic, tmp_path_factory, once):
    def make(data, how=None, **asked):
        path = synthetic(data, sessions=4).write(
            tmp_path_factory.mktemp("trials") / "runs" / f"t{len(data)}"
        )
        return subject_of([str(path)], how or Reading(), **{"explain": False} | asked)

    return once(make)


@pytest.fixture
def three(subject):
    return subject(runs({"old": 1.0, "new": 0.5, "again": 1.0}))


def titles(subject) -> list[str]:
    return [section.title for section in suite(subject).sections()]


def ranks(subject) -> list[tuple[str, str, str]]:
    (table,) = (b for s in suite(subject).sections() for b in s.blocks if isinstance(b, Table))
    return [(row[0].text, *row[1:]) for row in table.rows]


def test_three_variants_have_boxes_a_ranking_and_a_biplot(three) -> None:
    assert titles(three) == ["All runs of each benchmark", "Ranking", "Biplot", ""]
    figures = [b for s in suite(three).sections() for b in s.blocks if isinstance(b, Figure)]
    assert [one.name for one in figures] == ["box", "biplot"]


def test_the_ranking_tells_apart_what_differs_and_joins_what_does_not(three) -> None:
    first, *others = ranks(three)
    assert first == ("1", "new", "")
    assert {(rank, *sorted(pair)) for rank, *pair in others} == {("2 to 3", "again", "old")}


def test_one_program_under_three_names_has_no_order(subject) -> None:
    """The negative control: nothing differs, so no pair may be told apart."""
    found = ranks(subject(runs({"a": 1.0, "b": 1.0, "c": 1.0}, seed=5)))
    assert [rank for rank, _, _ in found] == ["1 to 3"] * 3
    assert all({variant, *alike.split(", ")} == {"a", "b", "c"} for _, variant, alike in found)


def test_with_two_variants_the_page_says_why_there_is_no_ranking(subject) -> None:
    two = subject(runs({"old": 1.0, "new": 0.5}))
    assert titles(two) == ["All runs of each benchmark", ""]
    said = [b.text for s in suite(two).sections() for b in s.blocks if isinstance(b, Sentence)]
    assert said[0] == "A ranking and a biplot need three variants or more."


def test_there_is_no_chapter_on_a_single_benchmark(subject) -> None:
    assert suite(subject(runs({"old": 1.0, "new": 0.5}, benches=("text",)))) is None
