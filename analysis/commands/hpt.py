"""The subcommand ``hpt``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from ..errors import UsageError
from ..options import Given, command
from .options import BothSides, Chosen, metric_of, show

if TYPE_CHECKING:
    from ..importers.reader import Sides


class _Rules(Given):
    alpha: float | None
    speedup: float
    ties: str
    alternative: str | None
    others: bool
    scores: str
    confidence: float


@command("hpt")
def hpt(
    *,
    sides: BothSides,
    chosen: Chosen,
    rules: _Rules,
    names: list[str] | None,
    json: bool,
    out: TextIO,
) -> int:
    """Test by HPT whether CANDIDATE is better than BASELINE over the suite.

    With --speedup it is tested whether it is better by that factor. Without BASELINE, the baseline of
    the candidate's campaign is used.
    """
    from ..methods.hpt.page import hpt_report

    read = _called(chosen.of_sides(sides.read()), names)
    result = hpt_report(read.candidate, read.baseline, **vars(rules))
    show(result, out, as_json=json, metric=metric_of(read.candidate, read.baseline))
    return 0


def _called(sides: Sides, names: list[str] | None) -> Sides:
    """Give the sides the names of ``--names``."""
    if names is None:
        return sides
    if names[0] == names[1] or not all(name.strip() for name in names):
        raise UsageError(
            "--names takes two different names",
            f"{names[0]!r} and {names[1]!r}",
            "write --names NEW OLD",
        )
    return replace(
        sides,
        candidate=replace(sides.candidate, name=names[0]),
        baseline=replace(sides.baseline, name=names[1]),
    )
