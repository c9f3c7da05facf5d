"""What ``bisect --why`` adds: in which functions each proven culprit differs from its parent."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from analysis.history.bisection.result import Bisection


def why_of(found: Bisection, args: argparse.Namespace, err: TextIO) -> Any:  # noqa: ANN401 - a result, or None
    """Record and explain the profile of each culprit in the trial of its proof; None where there is no culprit.

    Raises
    ------
    FairtrialError
        If that is not possible here; what is kept of a commit may have been deleted.
    Interrupted
        If a signal came.
    """
    from analysis.commands.explaining.answers import Explaining, explained
    from analysis.commands.explaining.targets import targets_of

    from ..explaining.answering import Request, recorded
    from ..explaining.view import WhyView

    targets = tuple(
        target
        for one in found.culprits
        if one.trial is not None
        for target in targets_of(
            Path(one.trial),
            f"{one.commits[-1].place:04d}-{one.upto[:7]}",
            found.benchmarks,
            metric=found.metric,
        )
    )
    if not targets:
        return None
    view = WhyView(err, quiet=args.quiet, verbose=args.verbose)
    profiles = recorded(targets, Request(wait_s=args.wait_for_lock), view)
    return explained(profiles, Explaining())
