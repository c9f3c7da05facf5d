"""Runs that waited for a CPU by the kernel's account, on virtual times: flagged, told and judged.

That the account is true of a real neighbour: tests/host/test_disturbed.py.
"""

from __future__ import annotations

import json

from analysis.data.trial import read_trial
from tests.virtual import Times

WAITED = {"factor": 1.5, "run_delay_ns": 40_000_000}


def test_the_runs_beside_a_neighbour_are_flagged_and_only_those(lab):
    path = lab.write_campaign(
        benchmarks={"work": {"command": lab.sh(":")}},
        protocol={"sessions": 1, "warmup": 1, "runs": 12},
    )
    times = Times(runs={f"#{position}": WAITED for position in range(3, 26, 2)})
    done = lab.run_fairtrial("run", path, virtual=times)
    assert done.returncode == 0, done.stderr
    rows = [row for row in lab.read_rows() if not row["warmup"]]
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
