"""Two trials compared by the installed command."""

from __future__ import annotations

import json


def test_two_nights_are_compared(lab):
    path = lab.write_campaign(protocol={"sessions": 2, "runs": 2, "warmup": 0})
    for seed in (1, 2):
        done = lab.run_fairtrial("run", path, "--seed", seed, "-q")
        assert done.returncode == 0, done.stderr
    first, second = sorted(lab.trials())
    told = lab.run_fairtrial("diff", first, second)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(f"{first.name} -> {second.name}: ")
    assert "The campaign is the same; one machine measured both" in " ".join(told.stdout.split())
    assert lab.run_fairtrial("status", "--diff", first, second).stdout == told.stdout
    printed = lab.run_fairtrial("diff", first, second, "--json", "--exit-code")
    value = json.loads(printed.stdout)
    codes = {"reproduced": 0, "partly": 1, "not": 1, "cannot tell": 7}
    assert printed.returncode == codes[value["word"]]
    assert [change["key"] for change in value["campaign"]] == ["seed"]
    itself = lab.run_fairtrial("diff", first, first, "--exit-code")
    assert (itself.returncode, "Both are one trial." in " ".join(itself.stdout.split())) == (
        0,
        True,
    )

    refused = lab.run_fairtrial("diff", first, second, "--metric", "nothing")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "the trial has no metric 'nothing'" in refused.stderr
    refused = lab.run_fairtrial("diff", first, f"{second}:a")
    assert (refused.returncode, "whole trials are compared" in refused.stderr) == (2, True)
    assert lab.run_fairtrial("diff", first, first.parent / "none").returncode == 5
    rows = second / "measurements.jsonl"
    rows.write_bytes(rows.read_bytes().replace(b'"wall_ns":', b'"wall_ns": ', 1))
    damaged = lab.run_fairtrial("diff", first, second)
    assert (damaged.returncode, damaged.stdout) == (5, "")
    assert "measurements.jsonl" in damaged.stderr
