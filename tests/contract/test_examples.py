"""How many examples property tests draw, and that `make search` draws all of them anew."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.examples import FEWEST, MOST, SHARE, drawn_seed, examples

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(params=["same", "search"])
def profile(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let a profile be in force."""
    before = settings.get_current_profile_name()
    settings.load_profile(request.param)
    yield request.param
    settings.load_profile(before)


def test_few_are_drawn_where_they_are_always_the_same(profile: str) -> None:
    anew = profile == "search"
    assert settings.default is not None
    assert settings.default.derandomize is not anew  # also where CI is set
    assert settings.default.max_examples == (MOST if anew else MOST // SHARE)
    assert [examples(n) for n in (3, 20, 400)] == ([3, 20, 400] if anew else [3, FEWEST, 100])
    assert len({drawn_seed() for _ in range(5)}) == (5 if anew else 1)


def test_what_is_always_the_same_does_not_come_of_the_modules_that_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[int]] = []

    @given(st.lists(st.integers(), min_size=20))
    def draw(drawn: list[int]) -> None:
        seen.append(drawn)

    draw()
    before, seen[:] = seen.copy(), []
    (tmp_path / "of_many_numbers.py").write_text(f"NUMBERS = {[*range(7_000_000, 7_001_000)]}\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("of_many_numbers")
    draw()
    del sys.modules["of_many_numbers"]
    assert seen == before


def test_no_test_has_a_number_that_holds_everywhere() -> None:
    literal = re.compile(r"max_examples=\d")
    assert [p.name for p in TESTS.rglob("*.py") if literal.search(p.read_text("utf-8"))] == []
