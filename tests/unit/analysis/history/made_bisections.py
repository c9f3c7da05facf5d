"""Searches among made commits, told in their names."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from analysis.history.bisection import Bisection, NamedCommit, OtherMetric, bisection_of
from analysis.history.step_search import Measure, Search
from tests.unit.analysis.history.test_step_search import made


def commits(last: int, subject: str = "change {}", author: str = "Ada Author") -> list[NamedCommit]:
    return [
        NamedCommit(
            place=place,
            commit=hashlib.sha1(f"commit {place}".encode()).hexdigest(),
            subject=subject.format(place),
            author=author,
            date=f"2026-11-{place % 28 + 1:02d}T12:00:00+01:00",
        )
        for place in range(last + 1)
    ]


def surroundings(**other: Any) -> dict[str, Any]:
    return {
        "good": "v1.4.0",
        "bad": "v1.5.0",
        "metric": "wall",
        "unit": "s",
        "better": "lower",
        "path": "runs/bisect-app-20261123",
        "host": "lab3",
        "campaign": "app",
        "campaign_path": None,
        "benchmarks": ("load",),
        "one_program": False,
        "other_metrics": (),
        "proofs": {k: f"runs/bisect-app-20261123/proof-{k}" for k in range(1, 30)},
        "runs": 456,
        "seconds": 912.0,
        **other,
    }


def searched(
    measure: Measure,
    last: int,
    about: dict[str, Any] | None = None,
    *,
    named: Sequence[NamedCommit] | None = None,
    builds: Callable[[int], bool] | None = None,
    programs: Callable[[int], str] | None = None,
    sessions_max: int | None = None,
) -> Bisection:
    search = Search(measure, last, builds=builds, programs=programs, sessions_max=sessions_max)
    search.result()
    return bisection_of(search, named or commits(last), **(about or surroundings()))


def unsearched(**about: Any) -> Bisection:
    """Give a bisection before its first session."""
    return bisection_of(Search(made(8, {}), 8), commits(8), **surroundings(runs=0, **about))


HEAVY = OtherMetric(
    metric="max_rss", unit="B", better="lower", word="slower", speedup=1 / 1.31, low=0.7, high=0.8
)


def answers() -> dict[str, Bisection]:
    """Give one bisection of each answer."""
    return {
        "proven": searched(made(128, {77: 5}), 128),
        "between": searched(
            made(128, {77: 5}),
            128,
            surroundings(skipped={75: "does not build: exit code 2", 76: "does not build"}),
            builds=lambda place: place not in (75, 76),
        ),
        "two": searched(made(64, {11: 5, 50: 6}), 64),
        "faster": searched(made(32, {9: -40}), 32),
        "partly": searched(made(64, {11: 5, 50: 5}, seed=3), 64, sessions_max=34),
        "no-difference": searched(made(64, {}, sd=0.002), 64, surroundings(other_metrics=(HEAVY,))),
        "undecided": searched(made(64, {}, sd=0.03), 64),
        "open": searched(made(64, {20: 3}, sd=0.02), 64, sessions_max=30),
        "one-program": searched(
            made(4, {}),
            4,
            surroundings(one_program=True, same_program=(4,), runs=0),
            programs=lambda _: "one",
        ),
        "not-built": unsearched(skipped={0: "does not build: make: exit code 2"}),
        "under-way": unsearched(),
    }
