"""Bisections of made-up commits for the tests of their page: where the steps are is known.

Load this file with ``runpy.run_path``.
"""

from __future__ import annotations

import dataclasses
import runpy
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from analysis.history.bisection.result import Bisection, OtherMetric
from analysis.history.search_result import PairWord

TESTS = Path(__file__).resolve().parents[2]
hostile_texts = SimpleNamespace(**runpy.run_path(str(TESTS / "nightly" / "browser" / "hostile.py")))
made = SimpleNamespace(
    **runpy.run_path(str(TESTS / "unit" / "analysis" / "history" / "made_bisections.py"))
)


def measured(steps: Sequence[tuple[int, float]], noise: float, seed: int) -> Any:
    """Give what measures places: the level rises at each step."""
    rng = np.random.default_rng(seed)

    def measure(places: Sequence[int]) -> dict[int, float]:
        session = rng.normal(0, 0.005)
        return {
            place: float(
                session + sum(size for k, size in steps if place >= k) + rng.normal(0, noise)
            )
            for place in places
        }

    return measure


def found(
    steps: Sequence[tuple[int, float]],
    noise: float = 0.005,
    *,
    last: int = 128,
    seed: int = 1,
    broken: Sequence[int] = (),
    sessions_max: int | None = None,
    subject: str = "change {}",
    author: str = "Ada Author",
    **about: Any,
) -> Bisection:
    """Search commits of which those in `broken` do not build."""
    why = about.pop("why", "make: exit 2")
    return made.searched(
        measured(steps, noise, seed),
        last,
        made.surroundings(skipped=dict.fromkeys(broken, why), **about),
        named=made.commits(last, subject, author),
        builds=lambda place: place not in broken,
        sessions_max=sessions_max,
    )


def proven() -> Bisection:
    """Give one culprit among 128 commits, three of which do not build."""
    return found([(45, 0.05)], broken=(40, 41, 96))


def between() -> Bisection:
    """Give a culprit right behind two commits that do not build: each of three may be it."""
    return found([(45, 0.05)], broken=(43, 44), seed=2)


def two() -> Bisection:
    """Give two culprits."""
    return found([(30, 0.06), (90, 0.05)], 0.01, seed=3)


def spent() -> Bisection:
    """Give a step that was not found before the sessions were spent."""
    return found([(45, 0.02)], 0.03, seed=3, sessions_max=40)


def nothing() -> Bisection:
    """Give ends that do not differ."""
    return found([], 0.002)


def under_way() -> Bisection:
    """Give a search of which nothing is measured yet."""
    return made.bisection_of(None, made.commits(12), made.surroundings())


def hostile(words: str) -> Bisection:
    """Give a bisection in which every text that is not ours holds these words."""
    plain = words.replace("{", "{{").replace("}", "}}")
    told = found(
        [(45, 0.05)],
        broken=(43, 44, 96),
        subject=f"{plain} {{}} {'n' * 200}",
        author=f"{plain} {'W' * 200}",
        good=words,
        bad="n" * 200,
        host=words,
        campaign=words,
        benchmarks=(words,),
        why=f"{words} {'n' * 300}",
        metric="wall",
        path="runs/bisect-app",
    )
    other = OtherMetric(
        metric=words, unit="1", better="lower", word="slower", speedup=0.8, low=0.7, high=0.9
    )
    return dataclasses.replace(told, other_metrics=(other,))


def far() -> PairWord:
    """Give a pair whose interval is much wider than all differences."""
    return PairWord(word="undecided", speedup=0.99, low=0.2, high=5.0, sessions=2, risk=0.02)


# what the page is looked at for
KINDS = {
    "proven": proven,
    "one of several": between,
    "two culprits": two,
    "sessions spent": spent,
    "nothing": nothing,
    "under way": under_way,
    "hostile": lambda: hostile(hostile_texts.ALL),
}
