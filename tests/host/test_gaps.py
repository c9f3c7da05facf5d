"""The look at the clock, from the host to the verdict: with a neighbour on the CPU that is measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


@pytest.mark.host
def test_a_neighbour_is_found_before_the_runs_and_told_by_the_verdict(lab):
    cpu = max(os.sched_getaffinity(0))
    spin = f"import os; os.sched_setaffinity(0, {{{cpu}}}); print(flush=True)\nwhile True: pass"
    path = lab.write_campaign(
        protocol={"sessions": 2, "runs": 2, "warmup": 1}, isolation={"cpus": cpu}
    )
    with subprocess.Popen([sys.executable, "-c", spin], stdout=subprocess.PIPE) as neighbour:
        try:
            neighbour.stdout.readline()
            done = lab.run_fairtrial("run", path)
        finally:
            neighbour.kill()
    assert done.returncode == 0, done.stderr
    (trial,) = (lab.folder / "runs").iterdir()
    rows = [json.loads(line) for line in (trial / "findings.jsonl").read_text().splitlines()]
    looks = [row for row in rows if row["check"] == "gaps"]
    assert [(row["when"], row["session"], row["status"]) for row in looks] == [
        ("before", 1, "fail"),
        ("before", 2, "fail"),
    ]
    assert looks[0]["what"].startswith(f"cpu{cpu} lost ")
    verdict = lab.run_fairtrial("verdict", trial, "--all")
    assert f"cpu{cpu} lost " in " ".join(verdict.stdout.split())
    codes = json.loads(lab.run_fairtrial("verdict", trial, "--json").stdout)["caution_codes"]
    assert "cpu-lost" in codes


def test_unpinned_targets_have_no_cpu_to_look_at(lab):
    done = lab.run_fairtrial("run", lab.write_campaign())
    assert done.returncode == 0, done.stderr
    (trial,) = (lab.folder / "runs").iterdir()
    rows = [json.loads(line) for line in (trial / "findings.jsonl").read_text().splitlines()]
    (look,) = (row for row in rows if row["check"] == "gaps")
    assert (look["status"], "not pinned" in look["what"]) == ("unknown", True)
