"""Searches among made commits, told in their names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.history.bisection.filling import Heard, Surroundings, bisection_of
from analysis.history.bisection.result import Bisection
from analysis.history.step_search import Measure, watched_steps


@dataclass(frozen=True)
class MadeCommit:
    place: int
    sha: str
    subject: str
    author: str
    date: str


def commits(last: int, subject: str = "change {}", author: str = "Ada Author") -> list[MadeCommit]:
    return [
        MadeCommit(
            place,
            hashlib.sha1(f"commit {place}".encode()).hexdigest(),
            subject.format(place),
            author,
            f"2026-11-{place % 28 + 1:02d}T12:00:00+01:00",
        )
        for place in range(last + 1)
    ]


def surroundings(**other: Any) -> Surroundings:
    return Surroundings(
        **{
            "good": "v1.4.0",
            "bad": "v1.5.0",
            "path": "runs/bisect-app-20261123",
            "host": "lab3",
            "campaign": "app",
            "benchmarks": ("load",),
            "proofs": {k: f"runs/bisect-app-20261123/proof-{k}" for k in range(1, 30)},
            "runs": 456,
            "seconds": 912.0,
            **other,
        }
    )


def searched(
    measure: Measure,
    last: int,
    about: Surroundings | None = None,
    *,
    named: Sequence[MadeCommit] | None = None,
    builds: Callable[[int], bool] | None = None,
    sessions_max: int | None = None,
) -> Bisection:
    heard = Heard()
    found = watched_steps(measure, last, watcher=heard, builds=builds, sessions_max=sessions_max)
    return bisection_of(found, named or commits(last), about or surroundings(), heard)
