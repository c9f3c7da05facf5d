"""What is printed as the next command works where it is printed, and so does a command within a remedy.

Authority: the rule that a ``next`` or a ``fix`` is printed only where it can work. All that the stored
answers print is pasted into the folder in which the answer was given. A command that measures does
so on virtual times; `why` asks the kernel, so that only its words are read here.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import ANSWERS, LINES, answer, stored
from command_lines import Line, line
from input_folder import write_inputs

from tests.forks import Forks

ANSWERED = re.compile(r"\[exit code (?:0|1|7)\]")  # an answer, a gate that stops, one that is open
DEAR = ("report", "compare")
MAKING = ("run", "compare", "merge", "import")
TO_CHOOSE = re.compile(r"\b[A-Z]{3,}\b|'")  # a sentence, and words that a person is to replace


def pasted(text: str) -> Iterator[str]:
    """Give each command that an answer prints as its next one, or within a remedy."""
    for found in re.finditer(r"(?m)^next  (fairtrial (?:.*\\\n)*.*)$", text):
        lines = [part.strip() for part in found[1].split("\\\n")]
        yield " ".join([*lines[:-1], re.split(r" {4}", lines[-1])[0]])
    for found in re.finditer(r'(?m)^ *"next": (\[[^\]]*\])', text):
        yield from json.loads(found[1])
    for found in re.finditer(r"(?m)^ *fix: (?:.*: )?(fairtrial .*)$", text):
        if not TO_CHOOSE.search(found[0]):
            yield found[1].partition(" shows ")[0]


def printed() -> dict[str, str]:
    """Give each command that is printed, and the line whose answer prints it first.

    Of dear commands that are alike but for the trial the first stands for all.
    """
    known = {k: v for path in ANSWERS.glob("*.txt") for k, v in stored(path).items()}
    found: dict[str, str] = {}
    alike = set()
    for text in LINES:
        names = sorted(line(text).inputs, key=len, reverse=True)
        for command in pasted(known[text]):
            kind = command
            if command.split()[1] in DEAR:
                kind = re.sub(r"runs/[\w-]+|--for \w+", "", command)
                for name in names:
                    kind = kind.replace(name, Path(name).suffix)
            if kind not in alike:
                found[f"{command} (after {text})"] = text
            alike.add(kind)
    return found


PRINTED = printed()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, shared) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("next") / "inputs"
    write_inputs(folder, samples=False)
    with shared(folder):
        yield folder


def test_some_are_found_of_each_kind():
    text = "next  fairtrial run a.yaml --resume --trial \\\n          runs/x --sessions +4\n      why\n"
    text += "next  fairtrial report 'a b' -o report.html    every run\n"
    text += '    "next": ["fairtrial verdict a"]\n'
    text += "  fix: finish it first: fairtrial status torn\n  fix: fairtrial bisect GOOD BAD\n"
    assert list(pasted(text)) == [
        "fairtrial run a.yaml --resume --trial runs/x --sessions +4",
        "fairtrial report 'a b' -o report.html",
        "fairtrial verdict a",
        "fairtrial status torn",
    ]
    assert len(PRINTED) > 20
    assert {command.split()[1] for command in PRINTED} > {"report", "verdict", "status", "compare"}


@pytest.mark.parametrize("printed", PRINTED, ids=lambda text: text.replace("@", ""))
def test_it_works_where_it_is_printed(
    printed: str, inputs: Path, tmp_path: Path, forks: Forks
) -> None:
    before = line(PRINTED[printed])
    words = shlex.split(printed.partition(" (after ")[0])[1:]
    lab = tmp_path / "lab"
    lab.mkdir()
    if before.room in MAKING:
        answer(before, inputs, lab, forks)
    asked = Line(text=printed, words=tuple(words), inputs=before.inputs, room=words[0])
    if words[0] in ("why", "bisect"):
        asked = Line(text=printed, words=(*words, "--help"), inputs=before.inputs, room=words[0])
    found = answer(asked, inputs, lab, forks)
    assert ANSWERED.search(found), found
