"""A campaign on many hosts through Slurm: submitted, looked after, cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .cancelling import Cancelled as Cancelled, cancel as cancel
    from .membership import Membership as Membership, membership_of as membership_of
    from .resubmission import resubmission_of as resubmission_of
    from .scheduler import Scheduler as Scheduler
    from .scratch import Scratch as Scratch
    from .standing import (
        FleetStanding as FleetStanding,
        read_standing as read_standing,
        trials_standing as trials_standing,
    )
    from .submission import Submission as Submission, submission_of as submission_of
    from .wishes import Wishes as Wishes, checked_arguments as checked_arguments
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "cancelling": "Cancelled cancel",
            "membership": "Membership membership_of",
            "resubmission": "resubmission_of",
            "scheduler": "Scheduler",
            "scratch": "Scratch",
            "standing": "FleetStanding read_standing trials_standing",
            "submission": "Submission submission_of",
            "wishes": "Wishes checked_arguments",
        },
    )
