"""What a launcher replies fits the table of a run's numbers."""

from __future__ import annotations

import errno

import pytest

from analysis.record.run_numbers import LAUNCHER_NUMBERS
from harness.campaign.model import Isolation
from harness.errors import LaunchError
from harness.launch.exchange import execution_of, not_permitted


def reply(**numbers):
    return {
        "started_ns": 5,
        "status": 7 << 8,
        "reason": None,
        "survivors": 0,
        "numbers": dict.fromkeys(LAUNCHER_NUMBERS, 1) | numbers,
    }


def test_a_reply_is_read():
    found = execution_of(reply(wall_ns=12))
    assert (found.started_ns, found.exit_code, found.signal, found.killed) == (5, 7, None, None)
    assert found.wall_ns == found.numbers["wall_ns"] == 12


def test_a_signal_is_no_exit_code():
    found = execution_of(reply() | {"status": 11, "reason": "timeout", "survivors": 2})
    assert (found.exit_code, found.signal, found.killed, found.survivors) == (
        None,
        11,
        "timeout",
        2,
    )


@pytest.mark.parametrize("key", ["wall_ns", "instructions"])
def test_numbers_that_the_table_does_not_have_are_refused(key):
    odd = reply()
    if odd["numbers"].pop(key, None) is None:
        odd["numbers"][key] = 1
    with pytest.raises(LaunchError, match=f"run_numbers.*do not agree on {key}\n") as error:
        execution_of(odd)
    assert error.value.fix.startswith("install fairtrial anew")


@pytest.mark.parametrize(
    ("setting", "key", "what"),
    [
        ("nice", "nice", "nice -5 is not permitted: "),
        ("scheduling", "scheduling", "scheduling class 'fifo' is not permitted: "),
        ("cpus", "cpus", "the CPUs (0, 3) cannot be used: "),
        ("cgroup", "containment", "the cgroup of a run cannot be used: "),
        ("containment", "containment", "the setting 'containment' is not permitted: "),
    ],
)
def test_a_refused_setting_is_named_by_its_key_in_the_campaign(setting, key, what):
    isolation = Isolation(nice=-5, scheduling="fifo")
    error = not_permitted(setting, errno.EPERM, isolation, (0, 3))
    assert (error.what, error.where) == (f"{what}Operation not permitted", f"isolation.{key}")
