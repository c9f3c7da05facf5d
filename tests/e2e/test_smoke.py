"""One trial with the real launcher, clock and host: it is complete, and its accounts close within its own brackets."""

from __future__ import annotations

import time

from analysis.data.trial import read_trial


def test_a_real_trial_is_complete_and_its_accounts_close(lab):
    lab.virtual = None
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")}},
        protocol={"sessions": 2, "runs": 3, "warmup": 1},
    )
    began = time.monotonic_ns()
    done = lab.run_fairtrial("run", path)
    ended = time.monotonic_ns()
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=16)
    rows = sorted(lab.read_rows(), key=lambda row: row["start_ns"])
    last = began
    for row in rows:
        assert row["outcome"] == "ok"
        assert last <= row["start_ns"]  # one after the other
        last = row["start_ns"] + row["wall_ns"]
        assert 0 < row["spawn_ns"] <= row["wall_ns"]
        parts = [row[name] for name in ("on_cpu_ns", "run_delay_ns") if row[name] is not None]
        assert sum(parts) <= row["wall_ns"]
        assert row["max_rss_bytes"] > 0
    assert last <= ended
    trial = read_trial(lab.trial())
    assert trial.manifest.status == "complete"
    verdict = lab.run_fairtrial("verdict", lab.trial())
    assert (verdict.returncode, verdict.stderr) == (0, "")
