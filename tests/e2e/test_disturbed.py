"""Runs that waited for a CPU by the kernel's account, on virtual times: flagged, told, repeated and judged.

That the account is true of a real neighbour: tests/host/test_disturbed.py.
"""

from __future__ import annotations

import json

import pytest

from analysis.data.trial import read_trial
from tests.virtual import Times

WAITED = {"factor": 1.5, "run_delay_ns": 40_000_000}


@pytest.fixture
def measured(lab):
    """Measure two variants, with a neighbour at the planned positions that are given."""

    def make(positions, **protocol):
        path = lab.write_campaign(
            benchmarks={"work": {"command": lab.sh(":")}},
            protocol={"sessions": 1, "warmup": 1, **protocol},
        )
        preview = lab.run_fairtrial("run", path, "--dry-run")
        times = Times(runs={f"#{position}": WAITED for position in positions})
        done = lab.run_fairtrial("run", path, virtual=times)
        assert done.returncode == 0, done.stderr
        return preview, done, [row for row in lab.read_rows() if not row["warmup"]]

    return make


def test_the_runs_beside_a_neighbour_are_flagged_and_only_those(lab, measured):
    _, done, rows = measured(range(3, 26, 2), runs=12)
    assert [row["disturbed"] for row in rows] == [row["position"] % 2 == 1 for row in rows]
    waited = "12 of 24 runs waited for a CPU"
    assert f"disturbed: {waited}, and are kept" in done.stderr
    trial = read_trial(lab.trial())
    assert trial.manifest.schema == 1
    assert {*trial.waited_ns[trial.measured]} == {0, WAITED["run_delay_ns"]}
    status = lab.run_fairtrial("status", lab.trial())
    assert f"disturbed: {waited}, and are kept" in status.stdout
    verdict = json.loads(lab.run_fairtrial("verdict", lab.trial(), "--json").stdout)
    assert "waited-for-cpu" in verdict["caution_codes"]
    assert any(
        text.startswith(f"{waited} and are judged like the others") for text in verdict["cautions"]
    )
    found = lab.run_fairtrial("diagnose", lab.trial()).stdout
    assert "waited-for-cpu: work / a" in found


@pytest.mark.parametrize("beside", [(), (-3,), (-3, -4)])
def test_they_are_executed_again_and_the_quiet_rows_are_judged(lab, measured, beside):
    """The neighbour may be there again for some of the repeats, whose positions are negative."""
    preview, done, rows = measured((*range(2, 6), *beside), runs=2, disturbed="repeat")
    assert "repeat  a run that is disturbed, at most twice: 4 runs more at most" in preview.stdout
    planned, repeats = (
        [row for row in rows if (row["repeats"] is None) is one] for one in (True, False)
    )
    assert [row["disturbed"] for row in planned] == [True] * 4
    mended = {row["repeats"] for row in repeats if not row["disturbed"]}
    assert len(repeats) == 4
    assert len(mended) == 4 - len(beside)
    left = ["", ", 1 is left", ", 2 are left"][len(beside)]
    assert f"4 of 4 runs waited for a CPU; 4 repeats replaced {len(mended)}{left}" in done.stderr
    trial = read_trial(lab.trial())
    assert trial.manifest.schema == 2
    assert (trial.repeats[trial.measured] >= 0).sum() == len(mended)
