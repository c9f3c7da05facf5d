"""The next command asks of the same iterations as the one before it, in every command that has such a line.

Authority: the promise of ``--warmup-iterations``: what is pasted judges what was judged.
"""

from __future__ import annotations

import io
import json
import re
import shlex

import pytest

from analysis.history.judging import judge_nights
from analysis.record.manifest import judging_with
from harness.cli import main
from harness.commands.command_parser import parser_for
from tests.unit.analysis.history.judged.made_nights import nights_of, series
from tests.unit.analysis.history.made_bisections import searched
from tests.unit.analysis.history.test_step_search import made

ASKED = ["--warmup-iterations", "auto"]
TRIAL = "tests/data/sample-0.2.0"


def next_lines(*words):
    out = io.StringIO()
    main([str(word) for word in words], out, io.StringIO())
    text = re.sub(r" \\\n +", " ", out.getvalue())
    return [line for line in text.splitlines() if line.startswith("next  ")]


@pytest.mark.parametrize(
    "words",
    [
        ("verdict", f"{TRIAL}:gzip-1", f"{TRIAL}:gzip-6"),
        ("verdict", TRIAL, "--pairs"),
        ("gate", "slower>2%", TRIAL),
    ],
    ids=" ".join,
)
def test_next_commands_of_a_trial_ask_of_the_same_iterations(words):
    (line,) = next_lines(*words, *ASKED)
    assert " --warmup-iterations auto" in line
    (plain,) = next_lines(*words)  # negative control
    assert "--warmup-iterations" not in plain
    assert line.replace(" --warmup-iterations auto", "").split() == plain.split()
    again = shlex.split(line.partition("    ")[0])[2:]
    assert parser_for(again[0]).read(again).warmup_iterations == "auto"


def test_those_of_nights_and_of_bisections_do_too():
    nights = nights_of(
        series([0.0] * 30 + [0.1] * 30, commits=tuple(f"{k:040x}" for k in range(60)))
    )
    with judging_with(20):
        history = judge_nights(nights, asked=("runs", "--warmup-iterations", "20"))
        (step0,) = searched(made(40, {}), 40).next
    assert history.next[0].startswith("fairtrial bisect ")
    assert all(line.count("--warmup-iterations 20") == 1 for line in history.next)
    assert step0.endswith(" --warmup-iterations 20")
    assert "--warmup-iterations" not in "".join(judge_nights(nights, asked=("runs",)).next)


def test_of_files_it_is_said_that_nothing_is_left_out(tmp_path):
    for name, first in (("new", 0.9), ("old", 1.0)):
        runs = ",".join(f"{first + k / 1000}" for k in range(9))
        (tmp_path / f"{name}.csv").write_text(f"b,{runs}\n")
    words = ["verdict", str(tmp_path / "new.csv"), str(tmp_path / "old.csv"), "--better", "lower"]
    said = []
    for more in ([], ["--warmup-iterations", "3"]):
        out = io.StringIO()
        main([*words, *more, "--json"], out, io.StringIO())
        said.append(json.loads(out.getvalue())["caution_codes"].count("no-iterations"))
    assert said == [0, 1]
