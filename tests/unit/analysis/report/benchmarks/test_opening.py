"""Which parts stand open: by cautions, at most three; all of few."""

from __future__ import annotations

import dataclasses

from analysis.pages.model import Caution
from analysis.report.benchmarks.opening import listed_benchmarks, opened

NAMES = {name: 1.0 for name in "abcdef"}


def with_cautions(given, *about: tuple[str, ...]):
    cautions = tuple(Caution(f"c{k}", "said", names) for k, names in enumerate(about))
    return dataclasses.replace(given, verdict=dataclasses.replace(given.verdict, cautions=cautions))


def test_those_that_cautions_name_the_gravest_first(made) -> None:
    matrix, subject = made
    given = with_cautions(
        subject(matrix("n", NAMES, seed=2), matrix("o", NAMES)), ("n", "d"), ("b", "a"), ("f",)
    )
    assert opened(given, listed_benchmarks(given)) == {"d", "b", "a"}


def test_the_first_where_no_caution_names_any(made) -> None:
    matrix, subject = made
    given = with_cautions(subject(matrix("n", NAMES, seed=2), matrix("o", NAMES)), ("n",))
    names = listed_benchmarks(given)
    assert opened(given, names) == {names[0]}


def test_all_of_three(made) -> None:
    matrix, subject = made
    few = {name: 1.0 for name in "abc"}
    given = with_cautions(subject(matrix("n", few, seed=2), matrix("o", few)))
    assert opened(given, listed_benchmarks(given)) == set("abc")


def test_only_what_was_asked_for(made) -> None:
    matrix, subject = made
    given = subject(matrix("n", NAMES, seed=2), matrix("o", NAMES), benchmarks=["e", "b"])
    assert set(listed_benchmarks(given)) == {"e", "b"}
