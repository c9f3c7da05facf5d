"""The commands that are printed for going on with a trial do go on with it."""

from __future__ import annotations

import shlex

CELL = {"benchmarks": {"one": {"command": ["true"]}}}


def printed(text):
    """Give the command to go on with that a text names."""
    lines = text[text.rindex("next  fairtrial ") :].removeprefix("next  fairtrial ").splitlines()
    end = next(k for k, line in enumerate(lines) if not line.endswith("\\"))
    whole = " ".join(line.rstrip("\\") for line in lines[: end + 1])
    return whole.partition("    goes on with it")[0]


def execute(lab, command):
    return lab.run_fairtrial(*shlex.split(command))


def test_the_command_after_a_cap_measures_more(lab):
    # first use: "--resume" after max_runs could never do anything
    def protocol(cap):
        return {"sessions": 1, "runs": 4, "warmup": 0, "max_runs": cap}

    path = lab.write_campaign(**CELL, protocol=protocol(1))
    first = lab.run_fairtrial("run", path, "-q")
    assert first.returncode == 1
    assert first.stderr.startswith("stopped after 1 of 8 runs, all kept: ")
    said = lab.run_fairtrial("status").stdout
    assert "once protocol.max_runs is raised in the campaign" in said
    done = [len(lab.read_rows())]
    for cap in (3, 9):
        lab.write_campaign(**CELL, protocol=protocol(cap))
        again = execute(lab, printed(said))
        assert again.returncode == 0, again.stderr
        said = again.stderr
        done.append(len(lab.read_rows()))
    assert done == [1, 3, 8]


def test_an_unfinished_trial_is_said_before_a_new_one_begins(lab):
    # first use: after Ctrl-C, 'run' starts a new trial with no hint of the unfinished one
    path = lab.write_campaign(**CELL, hooks={"setup": {"shell": lab.waiting}})
    lab.hold()
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    process.send_signal(2)
    lab.ended(process)
    lab.release()
    (unfinished,) = lab.trials()
    new = lab.run_fairtrial("run", path)
    assert new.returncode == 0
    head, _, _ = new.stderr.partition("trial   ")
    assert f"{unfinished.relative_to(lab.folder)} of this campaign is unfinished" in head
    assert execute(lab, printed(head)).returncode == 0
    assert lab.manifest(unfinished)["status"] == "complete"
    assert "unfinished" not in lab.run_fairtrial("run", path).stderr


def test_a_campaign_that_was_moved_is_named_where_it_is_now(lab):
    path = lab.write_campaign(**CELL, protocol={"sessions": 1, "runs": 4, "max_runs": 1})
    lab.run_fairtrial("run", path, "-q")
    moved = path.rename(path.with_name("moved.yaml"))
    words = ("run", moved, "--resume", "--trial", lab.trial(), "-q")
    assert lab.run_fairtrial(*words).returncode == 1  # at its cap again
    assert str(moved) in printed(lab.run_fairtrial("status").stdout)
