"""The screen of each answer of a bisection, whole. Authority: they were read, line by line, when they were stored.

python -m tests.golden.test_bisections_golden    writes them anew, to be read again
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.announcing import cells
from analysis.history.bisection import Bisection
from tests.unit.analysis.history.made_bisections import answers

SCREENS = Path(__file__).with_name("bisections")
LINES = 25


@pytest.fixture(scope="module")
def made() -> dict[str, Bisection]:
    return answers()


def test_each_answer_has_its_screen(made: dict[str, Bisection]) -> None:
    assert sorted(made) == sorted(path.stem for path in SCREENS.glob("*.txt"))
    for name, told in made.items():
        assert f"{told}\n" == (SCREENS / f"{name}.txt").read_text(encoding="utf-8"), name


def test_a_screen_is_one() -> None:
    for path in SCREENS.glob("*.txt"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= LINES, path
        assert all(cells(line) <= 80 for line in lines), path


if __name__ == "__main__":
    SCREENS.mkdir(exist_ok=True)
    for name, told in answers().items():
        (SCREENS / f"{name}.txt").write_text(f"{told}\n", encoding="utf-8")
