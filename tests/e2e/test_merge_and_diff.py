"""Trials put together and compared by the installed command, and what other commands make of the result.

tests/screens holds the screens of merge and diff, tests/unit/analysis/data/test_merge.py the rules of merging.
"""

from __future__ import annotations

import json

import pytest

from tests.virtual import Times


@pytest.fixture
def nights(lab):
    """Measure two trials of one campaign, of two sessions and one, with seeds of their own."""
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 2, "warmup": 1})
    for seed, sessions in ((1, 2), (2, 1)):
        done = lab.run_fairtrial("run", path, "--seed", seed, "--sessions", sessions, "-q")
        assert done.returncode == 0, done.stderr
    return sorted(lab.trials(), key=lambda trial: lab.manifest(trial)["started"])


def test_trials_are_put_together_and_judged_and_passed_over(lab, nights):
    done = lab.run_fairtrial("merge", *reversed(nights), "-o", "runs/c-all")
    assert done.returncode == 0, done.stderr
    assert "2 trials, 3 sessions, 36 runs" in done.stdout
    whole = lab.folder / "runs/c-all"
    lab.assert_complete_once_each(whole, planned=36)
    assert [row["wall_ns"] for row in lab.read_rows(whole)] == [
        row["wall_ns"] for trial in nights for row in lab.read_rows(trial)
    ]
    assert [one["first"] for one in lab.manifest(whole)["merged_from"]] == [1, 3]
    verdict = lab.run_fairtrial("verdict", whole, "--json")
    assert verdict.returncode == 0, verdict.stderr
    assert "merged" in json.loads(verdict.stdout)["caution_codes"]
    status = lab.run_fairtrial("status", whole, "--json")
    assert [one["state"] for one in json.loads(status.stdout)] == ["complete"]
    assert lab.run_fairtrial("status", "--diff", whole).returncode == 0
    # it cannot be gone on with: the newest that was measured is
    before = lab.lines(whole)
    args = ("run", lab.folder / "c.yaml", "--resume", "--sessions", "+1", "--seed")
    assert lab.run_fairtrial(*args, "1", "--trial", whole).returncode == 5
    done = lab.run_fairtrial(*args, "2")
    assert done.returncode == 0, done.stderr
    assert lab.manifest(nights[1])["sessions"] == 2
    assert lab.lines(whole) == before


def test_two_nights_are_compared(lab):
    path = lab.write_campaign(protocol={"sessions": 2, "runs": 2, "warmup": 0})
    nights = []
    for seed in (1, 2):
        done = lab.run_fairtrial(
            "run", path, "--seed", seed, "-q", virtual=Times(effects={"b": 1.2}, seed=seed)
        )
        assert done.returncode == 0, done.stderr
        nights += {*lab.trials()} - {*nights}
    first, second = nights
    told = lab.run_fairtrial("diff", first, second)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(f"{first.name} -> {second.name}: reproduced. ")
    assert "The campaign is the same; one machine measured both" in " ".join(told.stdout.split())
    printed = lab.run_fairtrial("diff", first, second, "--json", "--exit-code")
    value = json.loads(printed.stdout)
    assert (printed.returncode, value["word"]) == (0, "reproduced")
    assert [change["key"] for change in value["campaign"]] == ["seed"]
    for words, code in (
        ((first, first, "--exit-code"), 0),
        ((first, second, "--metric", "nothing"), 2),
        ((first, f"{second}:a"), 2),
        ((first, first.parent / "none"), 5),
    ):
        assert lab.run_fairtrial("diff", *words).returncode == code
    rows = second / "measurements.jsonl"
    rows.write_bytes(rows.read_bytes().replace(b'"wall_ns":', b'"wall_ns": ', 1))
    damaged = lab.run_fairtrial("diff", first, second)
    assert (damaged.returncode, damaged.stdout) == (5, "")
    assert "measurements.jsonl" in damaged.stderr
