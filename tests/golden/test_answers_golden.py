"""What commands print and write stays as it is: whole answers, of made trials, of virtual times, of files of numbers.

Authority: none but that somebody looked at them. They tell that something changed, not that it was
right: the numbers have golden tests of their own. ``python tests/unchanged/answers.py`` writes
them anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import ANSWERS, LINES, answer, stored
from command_lines import line
from input_folder import write_inputs

from tests.forks import Forks


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, shared) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("answers") / "inputs"
    write_inputs(folder, samples=False)
    with shared(folder):
        yield folder


@pytest.fixture(scope="module")
def known() -> dict[str, str]:
    return {k: v for path in ANSWERS.glob("*.txt") for k, v in stored(path).items()}


@pytest.mark.parametrize("text", LINES, ids=[text.replace("@", "") for text in LINES])
def test_the_answer_is_what_it_was(
    text: str, inputs: Path, known: dict[str, str], tmp_path: Path, forks: Forks
) -> None:
    lab = tmp_path / "lab"
    lab.mkdir()
    assert answer(line(text), inputs, lab, forks).splitlines() == known[text].splitlines()
