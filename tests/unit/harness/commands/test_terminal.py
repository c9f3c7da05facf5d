"""Text from elsewhere reaches no terminal as it is, in the places of the attacks on 0.1.0, B11."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.commands import command_parser

SAMPLE = Path(__file__).parents[4] / "tests" / "data" / "sample-0.2.0"
BAD = "\x1b]0;PWNED\x07\x1b[31m\u202e"
IN_A_TABLE = "␛]0;PWNED␇␛[31mU+202E"
SHOWN = r"\x1b]0;PWNED\x07\x1b[31m\u202e"
PRINT = ["printf", "\\033]0;PWNED\\007\\033[31m\\342\\200\\256\\n"]
FAIL = ["sh", "-c", f'{PRINT[0]} "{PRINT[1]}"; exit 3']


def say(*args):
    out, err = io.StringIO(), io.StringIO()
    code = main([str(arg) for arg in args], out, err)
    shown = out.getvalue() + err.getvalue()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
    return code, shown


@pytest.mark.parametrize(
    "changes",
    [
        {"build": [FAIL]},
        {"hooks": {"setup": [FAIL]}},
        {"hooks": {"before": [FAIL]}},
        {"hooks": {"cleanup": [FAIL]}},
        {"hooks": {"setup": [["false", SHOWN.encode().decode("unicode_escape")]]}},
    ],
    ids=["build", "setup", "before", "cleanup", "command line"],
)
def test_what_builds_and_hooks_print(tmp_path, changes):
    campaign = {
        "name": "c",
        "variants": {"a": {}},
        "benchmarks": {"x": {"command": ["true"]}},
        "protocol": {"sessions": 1, "runs": 1, "warmup": 0},
        "isolation": {"cpus": "none"},
    }
    (tmp_path / "c.yaml").write_text(json.dumps(campaign | changes))
    _, shown = say("run", tmp_path / "c.yaml", "--dir", tmp_path / "runs")
    # what hooks around and after runs print stays in their logs
    stays = {"before", "cleanup"} & changes.get("hooks", {}).keys()
    assert (SHOWN in shown) == (not stays)


@pytest.fixture
def foreign(tmp_path):
    path = tmp_path / "runs" / "sample"
    shutil.copytree(SAMPLE, path)
    manifest = json.loads((path / "manifest.json").read_text())
    changes = {"trial": BAD, "reason": BAD, "host": BAD, "campaign_name": BAD}
    changes["status"] = "interrupted"
    (path / "manifest.json").write_text(json.dumps(manifest | changes))
    return path


def test_the_manifest_of_a_foreign_trial(foreign):
    for args in (["status", "--dir", foreign.parent], ["verdict", foreign], ["status", foreign]):
        code, shown = say(*args)
        assert code == 0
        assert SHOWN in shown or IN_A_TABLE in shown


def test_the_name_of_a_folder(foreign):
    (foreign.parent / f"x{BAD}").mkdir()
    assert f"x{SHOWN}" in say("status", "--dir", foreign.parent)[1]


def test_names_in_a_matrix(tmp_path):
    for name in ("new", "old"):
        text = json.dumps({f"b{k}{BAD}": [1.0 + k, 2.0, 3.0] for k in range(6)})
        (tmp_path / f"{name}.json").write_text(text)
    code, shown = say("hpt", tmp_path / "new.json", tmp_path / "old.json", "--better", "lower")
    assert code == 0
    assert f"b0{IN_A_TABLE}" in shown


def test_an_error_about_a_name(tmp_path):
    code, shown = say("verdict", tmp_path / BAD)
    assert code == 5
    assert SHOWN in shown


def test_a_result_for_a_full_disk_is_a_clear_error():
    # the attacks on 0.1.0, B9: a traceback and exit code 70
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "status", SAMPLE],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=SAMPLE.parents[1],
            check=False,
        )
    assert done.returncode == 5
    assert "the result cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_an_interrupt_while_commands_are_imported_is_no_traceback(monkeypatch):
    def interrupted(_wanted):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_parser, "parser_for", interrupted)
    assert main(["status"], io.StringIO(), io.StringIO()) == 130
