"""How failures are said, wherever they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....report import figures

if TYPE_CHECKING:
    from ..result import BenchmarkLine

__all__ = ["failed_text"]


def failed_text(line: BenchmarkLine, *, short: bool = False) -> str:
    """Say how many runs of both sides failed, with p; empty where none did.

    Such as ``failed 14 of 48, baseline 0 of 48; p .001, adjusted .009``.

    Parameters
    ----------
    line : BenchmarkLine
        The line.
    short : bool
        Without p.
    """
    if not line.failed_candidate and not line.failed_baseline:
        return ""
    ours, theirs = (
        f"{failed} of {failed + runs}"
        for failed, runs in (
            (line.failed_candidate, line.runs_candidate),
            (line.failed_baseline, line.runs_baseline),
        )
    )
    told = f"failed {ours}, baseline {theirs}"
    p, place = line.pvalue_fails, line.pvalue_fails_adjusted
    if short or p is None or place is None:
        return told
    return f"{told}; p {_short(p)}, adjusted {_short(place)}"


def _short(p: float) -> str:
    return figures.significant(p, 2).removeprefix("0") if p < 0.995 else "1"
