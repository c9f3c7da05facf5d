"""The subcommand ``diff``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..options import command
from .options import Metric, show

if TYPE_CHECKING:
    from ..data.number_text import Decimal
    from ..record.run_numbers import Better


class _Asked(Metric):
    better: Better | None
    decimal: Decimal | None
    level: str
    confidence: float
    margin: float


@command("diff")
def diff(
    *, first: Path, second: Path, asked: _Asked, exit_code: bool, json: bool, out: TextIO
) -> int:
    """Compare two trials: of two nights, of two hosts, or before and after a change.

    The answer shows their campaigns, plans and environments, each speedup in both trials, whether the
    two differ by more than their uncertainties, and whether the second trial reproduces the
    conclusions of the first.

    exit code: 0 if they were compared, whatever the answer; with --exit-code: 0 reproduced, 1 partly
    or not reproduced, 7 undecided
    """
    from ..errors import UsageError
    from ..importers.reader import open_trial, trial_and_variant
    from ..verdict.comparison import compare_trials

    for path in (first, second):
        named = trial_and_variant(str(path))
        if named is not None and named[1] is not None:
            raise UsageError(
                "whole trials are compared, and not one variant of them",
                str(path),
                f"name {named[0]}; 'fairtrial verdict' compares two variants",
            )
    old, new = (
        open_trial(path, asked.level, asked.better, decimal=asked.decimal)
        for path in (first, second)
    )
    answer = compare_trials(old, new, **asked.some("metric", "confidence", "margin"))
    show(answer, out, as_json=json, metric=None if answer.metric == "wall" else answer.metric)
    return answer.exit_code if exit_code else 0
