"""The bootstrap interval in words: the answer, and how it was made."""

from __future__ import annotations

from ....report import Cell, Column, Page, Section, Sentence, Table, Value, page_of
from .result import BootstrapInterval

__all__ = ["details"]

_KINDS = {
    "percentile": "percentile",
    "corrected": "percentile, widened by sqrt(m / (m - 1))",
    "bca": "BCa",
    "studentized": "studentized",
}
_CENTRES = {
    "runs": "mean of all runs",
    "mean": "mean of the benchmarks' arithmetic means",
    "median": "mean of the benchmarks' medians",
}


@page_of.register
def _(interval: BootstrapInterval) -> Page:
    return Page(
        title=f"bootstrap interval: {interval.candidate} against {interval.baseline}",
        sections=(Section((Sentence(interval.conclusion),)), Section((details(interval),))),
        cautions=interval.cautions,
    )


def details(interval: BootstrapInterval) -> Table:
    """Tell what kind of interval it is, of what, and from which data."""
    n = len(interval.benchmarks)
    least, most = interval.runs
    count = f"{least}" if least == most else f"{least} to {most}"
    kind = f"{_KINDS[interval.interval]}, {interval.resamples:,} resamples"
    rows: list[tuple[Cell, Cell]] = [
        ("interval", Value(kind, interval.resamples)),
        ("ratio of", f"{interval.mean} means; {_CENTRES[interval.centre]}"),
        ("resampled", interval.units),
        ("", interval.unit_counts),
        ("data", f"{n} benchmark{'s' * (n > 1)} x {count} run{'s' * (most > 1)} on each side"),
    ]
    return Table(
        name="interval",
        columns=(Column("", "left"), Column("", "left")),
        rows=tuple(row for row in rows if row[1]),
        headed=False,
    )
