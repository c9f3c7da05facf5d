"""What may go to sbatch as it is. Authority: getopt_long(3) and the options of sbatch(1)."""

from __future__ import annotations

import math

import pytest

from analysis.errors import UsageError
from harness.fleet.slurm import checked_arguments
from harness.fleet.submission import Wishes


@pytest.mark.parametrize(
    "words",
    [
        ("--account=me",),
        ("-A", "me", "--qos=high"),
        ("--constraint=skylake", "--cpu-freq=Performance"),
        ("-d", "afterok:1", "-v"),
        ("-QA", "me", "--reservation", "night"),
        ("--mem-bind=local", "--time-min=5"),
        (),
    ],
)
def test_other_options_go_through(words):
    assert checked_arguments(words) == words


@pytest.mark.parametrize(
    "words",
    [
        ("--nodes=2",),
        ("-N2",),
        ("-N", "2"),
        ("--exclusive",),
        ("--excl",),  # getopt takes it for --exclusive
        ("--no-requeue",),
        ("-vt5",),  # -v takes no value: -t follows
        ("--test-only",),
        ("--hold",),
        ("-H",),
        ("--array=1-3",),
        ("-A", "me", "--comment=x"),
        ("other.sh",),
        ("-A", "me", "other.sh"),
        ("--account=me", "other.sh"),
        ("-Ame", "other.sh"),  # the value stands there already
        ("--contiguous", "other.sh"),  # takes none
        ("-Q", "other.sh"),
        ("-",),
    ],
)
def test_our_own_options_and_other_scripts_are_refused(words):
    with pytest.raises(UsageError) as caught:
        checked_arguments(words)
    assert caught.value.fix


def test_wishes_become_options_of_run():
    wishes = Wishes(wait_s=math.inf, build="once", seed=4)
    assert wishes.job_options == ("--wait-for-lock", "--built", "--seed=4")
    assert Wishes(wait_s=30.0).job_options == ("--wait-for-lock=30",)
    assert Wishes().job_options == ()
