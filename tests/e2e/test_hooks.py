from __future__ import annotations

import signal


def hooks(*names):
    """Make hooks that append their name and what they are told to a file."""
    told = (
        "$FAIRTRIAL_SESSION/$FAIRTRIAL_BENCHMARK/$FAIRTRIAL_VARIANT/$FAIRTRIAL_POSITION"
        "/$FAIRTRIAL_STATUS"
    )
    return {name: [{"shell": f"echo {name} {told} >> log"}] for name in names}


ALL = ("setup", "before", "after", "cleanup", "finish")


def log(lab):
    return [line.split(" ", 1) for line in (lab.folder / "log").read_text().splitlines()]


def test_order_of_the_hooks(lab):
    path = lab.write_campaign(
        variants={"a": {}},
        benchmarks={"one": {"command": lab.sh("echo run >> log")}},
        protocol={"sessions": 2, "runs": 2, "warmup": 1},
        hooks=hooks(*ALL),
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    names = [line[0] for line in log(lab)]
    session = ["setup", *["before", "run", "after"] * 3, "cleanup"]
    assert names == session * 2 + ["finish"]
    told = [line[1] for line in log(lab) if len(line) == 2]
    assert told[0] == "1////"
    assert told[1] == "1/one/a/0/"
    assert told[-1].endswith("/complete")
    for row in lab.read_rows():
        assert row["before_s"] > 0
        assert row["after_s"] > 0


def test_session_hooks_are_repeated_on_resume(lab):
    lab.hold()
    path = lab.write_campaign(
        variants={"a": {}},
        benchmarks={"one": {"command": lab.sh(f"echo run >> log; {lab.waiting}")}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
        hooks=hooks(*ALL),
    )
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    process.send_signal(signal.SIGINT)
    code, err = lab.ended(process)
    assert code == 130, err
    assert [line[0] for line in log(lab)] == ["setup", "before", "run", "cleanup", "finish"]
    assert log(lab)[-1][1].endswith("/interrupted")
    (lab.folder / "log").unlink()
    lab.release()
    assert lab.run_fairtrial("run", path, "--resume").returncode == 0
    assert [line[0] for line in log(lab)] == [
        "setup",
        "before",
        "run",
        "after",
        "cleanup",
        "finish",
    ]


def test_failing_hook_around_a_run_is_an_outcome(lab):
    path = lab.write_campaign(
        variants={"a": {}},
        benchmarks={"one": {"command": lab.sh(":")}},
        protocol={"sessions": 1, "runs": 3, "warmup": 0},
        hooks={"before": [{"shell": "echo x >> n; echo why; [ $(wc -l < n) != 2 ]"}]},
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1
    rows = lab.read_rows()
    assert [row["outcome"] for row in rows] == ["ok", "hook-failed", "ok"]
    assert rows[1]["wall_ns"] is None
    assert "hook 'before' failed with exit code 1" in rows[1]["detail"]
    assert "why" in (lab.trial() / "outputs" / "0001.before.log").read_text()


def test_failing_after_hook_keeps_the_times(lab):
    path = lab.write_campaign(hooks={"after": [["false"]]})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1
    assert {row["outcome"] for row in lab.read_rows()} == {"hook-failed"}
    assert all(row["wall_ns"] > 0 for row in lab.read_rows())


def test_failing_setup_stops_the_trial_and_cleans_up(lab):
    given = hooks("cleanup", "finish") | {"setup": [{"shell": "echo broken; exit 3"}]}
    path = lab.write_campaign(hooks=given)
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 4
    assert "hook 'setup' failed with exit code 3" in done.stderr
    assert "broken" in done.stderr
    assert "Traceback" not in done.stderr
    assert lab.manifest()["status"] == "stopped"
    assert lab.read_rows() == []
    assert [line[0] for line in log(lab)][-1] == "finish"


def test_failing_cleanup_is_a_finding_and_the_trial_stands(lab):
    path = lab.write_campaign(hooks={"cleanup": [["false"]], "finish": [["false"]]})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert lab.manifest()["status"] == "complete"
    said = [finding["what"] for finding in lab.findings() if finding["check"] == "hook"]
    assert any("cleanup" in what for what in said)
    assert any("finish" in what for what in said)


def test_server_that_setup_starts_lives_until_the_end(lab, processes):
    server = f"exec sleep {lab.marker}"
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh("kill -0 $(cat pid)")}},
        hooks={"setup": [{"shell": f"setsid sh -c '{server}' & echo $! > pid"}]},
        isolation={"cpus": "none", "containment": "none"},
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    lab.wait_until_all_gone()
