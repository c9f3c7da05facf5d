"""From stored profiles to what is printed, and the exit code (docs/why.md, "Asking")."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from analysis.commands.options import show
from analysis.commands.why import exit_code_of, explained, write_folded
from analysis.diagnose.why_result import WhyAnswer
from analysis.errors import UsageError
from analysis.record.printer import check_file
from tests.profiled import CALLS, profile_beside
from tests.unit.analysis.conftest import build

TIMES = {"old": {"keys": [1.0, 1.1]}, "new": {"keys": [1.3, 1.4]}}
SAME = {chain: (ms[0], ms[0]) for chain, ms in CALLS.items()}


@pytest.fixture
def stored(tmp_path):
    path = build(TIMES, sessions=1).write(tmp_path / "t")
    return [profile_beside(path, build, variant="new")]


def test_every_benchmark_that_is_stored_has_an_answer_in_three_forms(stored):
    answer = explained(stored)
    assert [(one.variant, one.benchmark) for one in answer.answers] == [("new", "keys")]
    assert answer.answers[0].named
    with pytest.raises(UsageError, match="no profile of the benchmark 'text'") as caught:
        explained(stored, ("text",))
    assert caught.value.fix == "stored: keys"
    forms = {}
    for form in ("text", "md", "json"):
        out = io.StringIO()
        show(answer, out, as_json=form == "json", markdown=form == "md")
        forms[form] = out.getvalue()
    assert json.loads(forms["json"]) == answer.to_dict()
    assert forms["text"] == f"{answer}\n"
    assert "| function" in forms["md"]


def test_exit_codes(stored, tmp_path):
    there = explained(stored)
    assert [exit_code_of(there, require=require) for require in (False, True)] == [0, 0]
    path = build(TIMES, sessions=1).write(tmp_path / "same")
    same = explained([profile_beside(path, build, variant="new", calls=SAME)])
    assert same.answers[0].withheld == "total-not-resolved"
    assert [exit_code_of(same, require=require) for require in (False, True)] == [3, 3]
    both = WhyAnswer(answers=(*there.answers, *same.answers))
    assert exit_code_of(both, require=True) == 0
    few = WhyAnswer(answers=(replace(there.answers[0], rows=(), withheld="few-sessions"),))
    assert [exit_code_of(few, require=require) for require in (False, True)] == [0, 1]


def test_stacks_go_to_the_file_that_is_named(stored, tmp_path):
    write_folded(stored, explained(stored), str(tmp_path / "f.folded"))
    lines = (tmp_path / "f.folded").read_text().splitlines()
    assert {line.split(";")[0] for line in lines} == {"old", "new"}
    with pytest.raises(UsageError, match="there is no folder"):
        check_file(tmp_path / "absent" / "f.folded")
