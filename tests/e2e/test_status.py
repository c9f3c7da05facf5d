from __future__ import annotations

import json
import signal


def test_running_trial_is_seen_from_another_terminal(lab):
    lab.hold()
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh(lab.waiting)}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
    )
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    done = lab.run_fairtrial("status")
    assert done.returncode == 0
    assert "running" in done.stdout
    assert "0 of 2 runs" in done.stdout
    assert json.loads(lab.run_fairtrial("status", "--json").stdout)[0]["state"] == "running"
    process.send_signal(signal.SIGKILL)
    process.wait()
    lab.wait_until_all_gone()
    assert "killed" in lab.run_fairtrial("status", lab.trial()).stdout


def test_no_trials_and_no_trial(lab):
    assert "no trials in runs" in lab.run_fairtrial("status").stdout
    done = lab.run_fairtrial("status", "absent")
    assert done.returncode == 5
    assert "no trial directory" in done.stderr


def test_one_damaged_trial_does_not_hide_the_others(lab):
    assert lab.run_fairtrial("run", lab.write_campaign()).returncode == 0
    bad = lab.folder / "runs" / "bad"
    bad.mkdir()
    (bad / "manifest.json").write_text("{")
    done = lab.run_fairtrial("status")
    assert lab.trials()[-1].name in done.stdout
    assert "bad" in done.stdout + done.stderr
