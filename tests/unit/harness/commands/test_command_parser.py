"""One parser for all commands: help in 80 columns, errors that say what to do, values behind '='."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.errors import UsageError
from analysis.options import patience
from analysis.registry import commands
from harness.cli import main
from harness.commands import command_parser
from harness.commands.command_parser import CommandParser, HelpFormatter, parser_of
from harness.trial.progress import read_progress

EVERY = parser_of(list(commands())).commands


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("name", EVERY)
def test_no_help_is_wider_than_80_columns_and_breaks_no_option(name, columns, monkeypatch):
    # first use: examples of up to 115 columns, a description of 360
    monkeypatch.setenv("COLUMNS", columns)
    lines = EVERY[name].format_help().splitlines()
    assert max(map(len, lines)) <= min(int(columns), 80)
    # first use: '--wait-for-' and 'lock=SECONDS' in two lines
    assert [line for line in lines if line.endswith("-") and "--" in line] == []


def formatted(text, width=40):
    return HelpFormatter("p", width=width)._fill_text(text, width, "")


def test_text_is_filled_and_examples_stay_lines():
    text = "one two\nthree\n\nexamples:\n  p a     short\n  p bbb   also\nexit code: 5"
    assert formatted(text).splitlines() == [
        *("one two three", "", "examples:", "  p a      short", "  p bbb    also", "exit code: 5")
    ]


def test_an_example_that_is_too_long_has_its_meaning_below_and_can_be_pasted():
    text = (
        "examples:\n  p a    short\n  p one-long-word another-long-word third-one    what it does"
    )
    assert formatted(text).splitlines() == [
        *("examples:", "  p a", "      short"),
        *("  p one-long-word another-long-word \\", "      third-one", "      what it does"),
    ]


def test_no_example_is_broken_inside_its_quotes():
    text = "examples:\n  p 'one two three' 'four five six seven' \"eight nine\""
    assert formatted(text).splitlines()[1:] == [
        "  p 'one two three' \\",
        "      'four five six seven' \\",
        '      "eight nine"',
    ]


# --- --wait-for-lock=60 ---------------------------------------------------------------------------


@pytest.fixture
def parser():
    made = CommandParser(prog="p")
    made.add_argument("--wait-for-lock", nargs="?", metavar="SECONDS", type=patience, default=0.0)
    made.add_argument("-n", "--name")
    made.add_argument("words", nargs="*")
    return made


@pytest.mark.parametrize(
    ("words", "waits", "rest"),
    [
        (["--wait-for-lock", "60"], math.inf, ["60"]),  # first use: it ate the command
        (["--wait-for-lock", "c.yaml"], math.inf, ["c.yaml"]),
        (["--wait-for-lock=60", "c.yaml"], 60.0, ["c.yaml"]),
        (["c.yaml", "--wait-for-lock"], math.inf, ["c.yaml"]),
        (["--wait", "c.yaml"], math.inf, ["c.yaml"]),  # any beginning of it that is no other's
        (["--wait=1.5"], 1.5, []),
        (["a", "--", "--wait-for-lock", "5"], 0.0, ["a", "--wait-for-lock", "5"]),
        (["a"], 0.0, ["a"]),
    ],
)
def test_what_waits_takes_its_number_behind_the_sign_alone(parser, words, waits, rest):
    args = parser.read(words)
    assert (args.wait_for_lock, args.words) == (waits, rest)


@pytest.mark.parametrize("text", ["x", "-1", "nan", "c.yaml"])
def test_a_wait_that_is_no_number_is_refused(parser, text):
    with pytest.raises(UsageError, match=f"must be a number of seconds, not '{text}'"):
        parser.read([f"--wait-for-lock={text}"])


def test_help_shows_that_the_sign_is_needed(parser):
    parser.add_argument("--go", nargs="?", metavar="X", help="on")
    help_text = parser.format_help()
    assert f"\n{'  --go[=X]':24}on\n" in help_text  # in the column of all others
    assert help_text.count("--wait-for-lock[=SECONDS]") == 2
    assert "[--wait-for-lock[=SECONDS]]" in help_text


def test_what_argparse_refuses_is_a_usage_error_without_the_whole_usage(tmp_path, monkeypatch):
    parser = CommandParser(prog="p")
    parser.add_argument("--count", type=int)
    with pytest.raises(UsageError) as refused:
        parser.read(["--count", "x"])
    assert str(refused.value).splitlines() == [
        "p: argument --count: invalid int value: 'x'",
        "  fix: p --help shows what it takes",
    ]
    with pytest.raises(UsageError, match="with = where it begins with a dash; p --help"):
        parser.read(["--count", "-x"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--x $(y)").touch()
    assert "write './--x $(y)' for the file of that name" in str(
        CommandParser(prog="p c").refused("--x $(y)")
    )
    assert refused.value.exit_code == 2
    assert isinstance(parser, argparse.ArgumentParser)


# --- Files and rows of a trial that has ended, held against its manifest. Authority: the damage that is done


SAMPLE = Path(__file__).resolve().parents[4] / "tests" / "data" / "sample-0.2.0"


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "t"))


def cut(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:30]))


def test_a_whole_trial_fits_and_is_not_gone_on_with(trial: Path) -> None:
    found = read_progress(trial)
    assert (found.state, found.misfits, found.again, found.way_on) == ("complete", (), "", "")
    assert "damaged" not in str(found)


def test_files_that_changed_or_are_gone_are_named(trial: Path) -> None:
    (trial / "plan.jsonl").unlink()
    (trial / "environment.jsonl").write_bytes(b"{}\n")
    shutil.rmtree(trial / "outputs", ignore_errors=True)  # evidence, no data
    found = read_progress(trial)
    assert set(found.misfits) == {
        "plan.jsonl is gone",
        "environment.jsonl changed after the trial ended",
    }
    assert "  damaged: plan.jsonl is gone" in str(found).splitlines()
    assert found.to_dict()["misfits"] == found.misfits


def test_rows_that_are_missing_are_counted_even_where_hashes_agree(trial: Path) -> None:
    cut(trial / "measurements.jsonl")
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["files"]["measurements.jsonl"] = hashlib.sha256(
        (trial / "measurements.jsonl").read_bytes()
    ).hexdigest()
    (trial / "manifest.json").write_text(json.dumps(manifest))
    assert read_progress(trial).misfits == ("30 of 144 runs stand in it, though it is complete",)


def test_a_trial_that_did_not_end_is_not_held_against_hashes(trial: Path) -> None:
    manifest = json.loads((trial / "manifest.json").read_text())
    (trial / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    cut(trial / "measurements.jsonl")
    found = read_progress(trial)
    assert (found.state, found.misfits) == ("killed", ())
    assert "--resume" in found.again


def test_a_hostile_name_is_no_path(trial: Path) -> None:
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["files"]["../../etc/passwd"] = "0" * 64
    (trial / "manifest.json").write_text(json.dumps(manifest))
    assert "outside the trial" in read_progress(trial).misfits[0]


# --- Text from elsewhere reaches no terminal as it is, in the places of the attacks on 0.1.0, B11


TERMINAL_SAMPLE = Path(__file__).parents[4] / "tests" / "data" / "sample-0.2.0"
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
    shutil.copytree(TERMINAL_SAMPLE, path)
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
            [sys.executable, "-m", "harness", "status", TERMINAL_SAMPLE],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=TERMINAL_SAMPLE.parents[1],
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
