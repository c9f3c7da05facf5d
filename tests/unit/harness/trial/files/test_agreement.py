"""Output that differs: told in cells whose runs agreed before, once."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from harness.trial.run_files import OutputAgreement


def heard(digests, cell=("x", "a")):
    agreement = OutputAgreement()
    return [agreement.add(*cell, "ok", digest) is not None for digest in digests]


@pytest.mark.parametrize(
    ("digests", "told"),
    [
        ("aaab", [3]),
        ("aab", []),  # two runs are no agreement
        ("abcdef", []),  # a program that prints times
        ("aaabaaab", [3]),  # once per cell
        ("abbbc", [4]),
        ("aaaa", []),
    ],
)
def test_only_what_breaks_an_agreement_is_told(digests, told):
    assert [k for k, said in enumerate(heard(digests)) if said] == told


@given(st.text("ab", max_size=12))
def test_it_is_told_once_and_only_after_three_that_agree(digests):
    said = heard(digests)
    assert sum(said) <= 1
    broken = [
        k for k in range(3, len(digests))
        if len(set(digests[k - 3 : k])) == 1 and digests[k] != digests[k - 1]
    ]  # fmt: skip
    assert [k for k, one in enumerate(said) if one] == broken[:1]


def test_cells_do_not_meet_and_failed_runs_say_nothing():
    agreement = OutputAgreement()
    for _ in range(3):
        assert agreement.add("x", "a", "ok", "1") is None
        assert agreement.add("x", "b", "ok", "2") is None
    assert agreement.add("x", "a", "exit", "9") is None
    assert agreement.add("x", "a", "ok", None) is None
    assert (
        "x / b wrote another output than in its 3 runs before"
        in agreement.add("x", "b", "ok", "1").what
    )


def test_runs_of_before_a_resume_count(stage, campaign):
    said = ["one"] * 6 + ["two"] * 6

    def speaks(request):
        if len(stage_said) == 5 and not resumed:
            stage.interrupt()
        text = said[len(stage_said)]
        stage_said.append(text)
        request.stdout.write_text(text)

    stage_said: list[str] = []
    resumed: list[bool] = []
    stage.target = speaks
    c = campaign(("x",), ("a",), runs=8, warmup=0)
    stage.start(c)
    assert stage.findings("output") == []
    resumed.append(True)
    assert stage.resume(c).status == "complete"
    (finding,) = stage.findings("output", "during")
    assert "6 runs before" in finding["what"]
