"""Programs that each session builds anew: killed, interrupted and changed in the middle, judged and handed on.

Authority: docs/trial-format.md, docs/campaign.md: nothing is measured with another program than the records tell,
no session is thrown away, and what each session builds is no change of the trial.
"""

from __future__ import annotations

import json
import signal

import pytest

from analysis.record.builds import read_builds


@pytest.fixture
def layouts(lab):
    """Write a campaign of two sessions; the build writes a program with its seed and what `cc` says."""
    lab.script("cc", "of one compiler", 0o644)
    link = f"printf '#!/bin/sh\\n# %s %s\\n%s\\n' {{layout_seed}} \"$(cat cc)\" '{lab.waiting}'"
    steps = [
        {"shell": "mkdir -p build; : > build/{variant}; [ ! -e slow ] || sleep 0.01"},
        {"shell": f"[ ! -e building ] || {{{{ {lab.waiting}; }}}}"},
        {"shell": f"{link} > build/{{variant}}; chmod +x build/{{variant}}"},
    ]
    path = lab.write_campaign(
        benchmarks={"one": {"command": ["build/{variant}"]}},
        build={"run": steps, "each": "session", "artifacts": ["build/{variant}"]},
        protocol={"sessions": 2, "runs": 1, "warmup": 0},
    )
    return path


def told(lab):
    return [(one.session, one.segment, one.variant) for one in read_builds(lab.trial())]


def test_a_trial_of_layouts_is_judged_and_packed_as_any_other(lab, layouts):
    done = lab.run_fairtrial("run", layouts)
    assert done.returncode == 0, done.stderr
    assert "build   a, b for session 2" in done.stderr
    assert told(lab) == [(1, 0, "a"), (1, 0, "b"), (2, 0, "a"), (2, 0, "b")]
    assert {one["check"] for one in lab.findings()}.isdisjoint(
        {"drift", "environment", "layout-not-varied", "input"}
    )
    assert lab.manifest()["targets"] == {}
    verdict = lab.run_fairtrial("verdict", lab.trial(), "--json")
    assert verdict.returncode == 0, verdict.stderr
    assert not {"drift", "files-changed"} & set(json.loads(verdict.stdout)["caution_codes"])
    packed = lab.run_fairtrial("bundle", lab.trial(), "-o", "t.zip")
    assert packed.returncode == 0, packed.stderr
    again = lab.run_fairtrial("reproduce", "t.zip")
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_session_that_is_ended_while_it_is_built_is_built_when_it_goes_on(lab, layouts, number):
    lab.script("building", "", 0o644)
    lab.hold()
    process = lab.start_fairtrial("run", layouts)
    lab.wait_until_reached(process)  # in the build of a for session 1: go on to that of session 2
    (lab.folder / "reached").unlink()
    lab.release()
    lab.hold()
    lab.wait_until_reached(process)
    process.send_signal(number)
    code, _ = lab.ended(process)
    assert code == (130 if number == signal.SIGINT else -number)
    lab.release()
    before = told(lab)
    done = lab.run_fairtrial("run", layouts, "--resume")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=4)
    assert told(lab)[: len(before)] == before
    assert {one[:1] + one[2:] for one in told(lab)} == {(k, v) for k in (1, 2) for v in "ab"}


def test_a_half_session_goes_on_with_the_programs_that_it_began_with_or_says_why_not(lab, layouts):
    lab.hold()
    process = lab.start_fairtrial("run", layouts)
    lab.wait_until_reached(process)
    process.send_signal(signal.SIGKILL)
    lab.ended(process)
    lab.release()
    done = lab.run_fairtrial("run", layouts, "--resume")  # nothing was measured: nothing is held to
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=4)
