from __future__ import annotations

import json

QUICK = ("--runs", "2", "--sessions", "1", "--warmup", "0", "--cpus", "none")


def test_two_commands_are_measured_and_judged(lab):
    done = lab.run_fairtrial("compare", "sleep 0.05", "true", "--runs", "6", *QUICK[2:])
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=12)
    assert "true" in done.stdout
    assert "sleep-0.05" in done.stdout
    assert (lab.trial() / "campaign.yaml").exists()


def test_verdict_as_json(lab):
    done = lab.run_fairtrial("compare", "sleep 0.02", "true", *QUICK, "--json", "-q")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_prepare_is_executed_before_each_run_in_this_folder(lab):
    done = lab.run_fairtrial(
        "compare", "cat made", *QUICK, "--prepare", "echo x >> log; date > made"
    )
    assert done.returncode == 0, done.stderr
    assert (lab.folder / "log").read_text() == "x\n" * 2
    assert all(row["before_s"] > 0 for row in lab.read_rows())


def test_command_that_fails_is_a_result_of_exit_1(lab):
    done = lab.run_fairtrial("compare", "true", "false", *QUICK)
    assert done.returncode != 0
    assert "exit code 1, expected 0" in done.stderr
    assert lab.run_fairtrial("compare", "false", *QUICK, "--exit", "1").returncode == 0


def test_missing_command_is_exit_4_before_anything_is_made(lab):
    done = lab.run_fairtrial("compare", "true", "no-such-command-here", *QUICK)
    assert done.returncode == 4
    assert "not found" in done.stderr
    assert lab.trials() == []


def test_comparison_can_be_resumed_from_its_trial(lab):
    assert lab.run_fairtrial("compare", "true", "sleep 0", *QUICK).returncode == 0
    trial = lab.trial()
    done = lab.run_fairtrial(
        "run", trial / "campaign.yaml", "--resume", "--trial", trial, "--sessions", "2"
    )
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=8)
