"""Programs that each session builds anew: killed in the middle, judged and handed on.

Authority: docs/trial-format.md, docs/campaign.md: nothing is measured with another program than the records tell,
no session is thrown away, and what each session builds is no change of the trial.
"""

from __future__ import annotations

import json
import signal

import pytest

from analysis.record.trial_files import read_builds
from harness.campaign.cells import layout_seed


@pytest.fixture
def layouts(lab):
    """Write a campaign of two sessions; a build writes a program with its seed, and with what `cc` says.

    The build with the seed in `slow` waits in its middle.
    """
    lab.script("cc", "# of one compiler", 0o644)
    lab.script("slow", "0", 0o644)
    lab.script("run", "#!/bin/sh\n:\n")
    steps = [
        "mkdir -p build; : > build/{variant}",
        f"[ {{layout_seed}} != $(cat slow) ] || {{{{ {lab.waiting}; }}}}",
        "(cat run; echo '#' {layout_seed}; cat cc) > build/{variant}; chmod +x build/{variant}",
    ]
    return lab.write_campaign(
        benchmarks={"one": {"command": ["build/{variant}"]}},
        build={
            "run": [{"shell": step} for step in steps],
            "each": "session",
            "artifacts": ["build/{variant}"],
        },
        protocol={"sessions": 2, "runs": 1, "warmup": 0},
    )


def told(lab):
    return [(one.session, one.segment, one.variant) for one in read_builds(lab.trial())]


def test_what_each_session_builds_is_no_change_of_the_trial(lab, layouts):
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


def test_a_session_that_is_killed_while_it_is_built_is_built_when_it_goes_on(lab, layouts):
    lab.script("slow", str(layout_seed(5, 2, "b")), 0o644)
    lab.hold()
    process = lab.start_fairtrial("run", layouts)
    lab.wait_until_reached(process)
    assert lab.manifest()["stage"] == "building b for session 2 (2 of 2)"
    process.kill()
    assert lab.ended(process)[0] == -signal.SIGKILL
    lab.release()
    assert told(lab) == [(1, 0, "a"), (1, 0, "b"), (2, 0, "a")]
    done = lab.run_fairtrial("run", layouts, "--resume")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=4)
    assert told(lab)[3:] == [(2, 0, "a"), (2, 0, "b")]
