"""What commands print and write stays as it is: whole answers, of made trials, of virtual times, of files of numbers.

Authority: none but that somebody looked at them. They tell that something changed, not that it was
right: the numbers have golden tests of their own. ``python tests/unchanged/answers.py`` writes
them anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from answers import ANSWERS, LINES, answer, stored
from command_lines import line
from input_folder import write_inputs
from made_trials import SHAPES, Shape, write_trial

from tests.forks import Forks

MADE = [text for text in LINES if "@" in text and {*line(text).inputs} <= SHAPES.keys()]
EVIL = "name-{}-" + "x" * 50 + "\x1b[2J\u202e\n::error::{{0}}%s\u2066"
OBEYED = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"


def evil(shape: Shape) -> Shape:
    """Give everything in a trial a name that is long, and that a terminal would obey."""
    variants, benches = (tuple(map(EVIL.format, one)) for one in (shape.variants, shape.benchmarks))
    fails = {(EVIL.format(a), EVIL.format(b)): share for (a, b), share in shape.fails.items()}
    called = shape.manifest | {key: EVIL.format(key) for key in ("trial", "campaign_name", "host")}
    return replace(shape, variants=variants, benchmarks=benches, fails=fails, manifest=called)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, shared) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("answers") / "inputs"
    write_inputs(folder, samples=False)
    for name, shape in SHAPES.items():
        write_trial(folder / "evil" / name, evil(shape), name)
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


@pytest.mark.parametrize("text", MADE, ids=[text.replace("@", "") for text in MADE])
def test_names_of_others_are_text_in_every_answer(
    text: str, inputs: Path, tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("answers.LARGEST", 10**7)  # whole pages
    said = answer(line(text), inputs / "evil", tmp_path, forks)
    data = r"(?ms)^\[file [^\n]*(?<!svg)(?<!html)\]\n.*?(?=^\[)"  # which holds names as they are
    assert not re.search(f"{OBEYED}|(?m:^)::error::", re.sub(data, "", said))
    screen = said.partition("\n[file ")[0]  # cut in their middle, and nowhere else
    assert {*re.findall("name-[a-z]+-x+(.)", screen)} <= set("…␛\\"), screen
