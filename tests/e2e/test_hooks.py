"""Hooks are executed around runs on virtual times; tests/unit/harness/trial/test_session.py holds their rules."""

from __future__ import annotations

import signal

TOLD = "$FAIRTRIAL_SESSION/$FAIRTRIAL_BENCHMARK/$FAIRTRIAL_VARIANT/$FAIRTRIAL_POSITION/$FAIRTRIAL_STATUS"
ALL = {
    name: [{"shell": f"echo {name} {TOLD} >> log"}]
    for name in ("setup", "before", "after", "cleanup", "finish")
}


def executed(lab):
    """Give the names of what was executed, and what each hook was told."""
    lines = [line.partition(" ") for line in (lab.folder / "log").read_text().splitlines()]
    return [name for name, _, _ in lines], [told for _, _, told in lines if told]


def campaign(lab, code, hooks, **protocol):
    return lab.write_campaign(
        variants={"a": {}},
        benchmarks={"one": {"command": lab.sh(code)}},
        protocol={"sessions": 1, "warmup": 0} | protocol,
        hooks=hooks,
    )


def test_each_hook_stands_where_it_should_and_knows_where_that_is(lab):
    done = lab.run_fairtrial(
        "run", campaign(lab, "echo run >> log", ALL, sessions=2, runs=2, warmup=1)
    )
    assert done.returncode == 0, done.stderr
    names, told = executed(lab)
    assert names == ["setup", *["before", "run", "after"] * 3, "cleanup"] * 2 + ["finish"]
    assert (told[0], told[1], told[-1]) == ("1////", "1/one/a/0/", "////complete")
    assert all(row["before_s"] > 0 and row["after_s"] > 0 for row in lab.read_rows())


def test_session_hooks_are_repeated_on_resume(lab):
    lab.hold()
    path = campaign(lab, f"echo run >> log; {lab.waiting}", ALL, runs=1)
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    process.send_signal(signal.SIGINT)
    code, err = lab.ended(process)
    assert code == 130, err
    names, told = executed(lab)
    assert names == ["setup", "before", "run", "cleanup", "finish"]
    assert told[-1] == "////interrupted"
    (lab.folder / "log").unlink()
    lab.release()
    assert lab.run_fairtrial("run", path, "--resume").returncode == 0
    assert executed(lab)[0] == ["setup", "before", "run", "after", "cleanup", "finish"]


def test_a_failing_hook_around_a_run_is_an_outcome_and_its_output_is_kept(lab):
    before = [{"shell": "echo x >> n; echo why; [ $(wc -l < n) != 2 ]"}]
    assert lab.run_fairtrial("run", campaign(lab, ":", {"before": before}, runs=3)).returncode == 1
    rows = lab.read_rows()
    assert [row["outcome"] for row in rows] == ["ok", "hook-failed", "ok"]
    assert rows[1]["wall_ns"] is None
    assert (lab.trial() / "outputs" / "0001.before.log").read_text() == "why\n"


def test_a_server_that_setup_starts_lives_until_the_end(lab):
    server = f"setsid sh -c 'exec sleep {lab.marker}' & echo $! > pid"
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh("kill -0 $(cat pid)")}},
        hooks={"setup": [{"shell": server}]},
        isolation={"cpus": "none", "containment": "none"},
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    lab.wait_until_all_gone()
