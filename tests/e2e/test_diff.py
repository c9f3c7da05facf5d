"""Two trials compared by the installed command; golden/answers/diff.txt holds its screens."""

from __future__ import annotations

import json

from tests.virtual import Times


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
    assert lab.run_fairtrial("status", "--diff", first, second).stdout == told.stdout
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
