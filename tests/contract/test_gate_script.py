"""configs/ci/gate.sh ends with 1 for STOP alone, and executes nothing that a name or a repository says.

Authority: of ten ways in which the script itself can fail four ended with 1, "proven slower".
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "configs" / "ci" / "gate.sh"
# stands in for the command: the gate's answer is what GATE says
STAND_IN = """#!/bin/sh
case $1 in
run) echo '{"trial": "t"}' ;;
gate) shift; while [ "$1" != --summary ]; do shift; done; echo answer > "$2"; exit "$GATE" ;;
esac
"""


@pytest.fixture
def gate(tmp_path):
    (tmp_path / "bin").mkdir()
    stand_in = tmp_path / "bin" / "fairtrial"
    stand_in.write_text(STAND_IN)
    stand_in.chmod(0o755)
    (tmp_path / "here").mkdir()

    def executed(code: int, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}
        return subprocess.run(
            ["/bin/sh", SCRIPT],
            cwd=tmp_path / "here",
            env=kept | {"GATE": str(code), "TMPDIR": str(tmp_path)} | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    executed.folder = tmp_path / "here"
    return executed


@pytest.mark.parametrize(("said", "code"), [(0, 0), (1, 1), (7, 7), (5, 5)])
def test_the_answer_is_the_gates(gate, said, code):
    assert gate(said, COMMENT="comment.md").returncode == code
    assert (gate.folder / "comment.md").exists() == (code != 5)
    assert [one for one in gate.folder.parent.iterdir() if one.name.startswith("tmp.")] == []


def test_who_passes_what_is_undecided_gets_0(gate):
    assert gate(7, UNDECIDED="pass").returncode == 0


@pytest.mark.parametrize("said", [0, 1, 7])
@pytest.mark.parametrize(
    "variables",
    [
        {"TMPDIR": "/nowhere"},
        {"COMMENT": "folder"},
        {"COMMENT": "/nowhere/comment.md"},
        {"SUMMARY": "folder"},
        {"BASE": "--upload-pack=touch pwned;"},
    ],
    ids=str,
)
def test_a_failure_of_its_own_is_no_answer(gate, said, variables):
    (gate.folder / "folder").mkdir()
    assert gate(said, **variables).returncode == 2
    assert not (gate.folder / "pwned").exists()


def test_modules_of_the_repository_are_not_imported(gate):
    (gate.folder / "json.py").write_text("raise SystemExit(1)\n")
    assert gate(0).returncode == 0
