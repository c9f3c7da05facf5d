"""The randomization test in words: the ratio, what was reassigned, and what chance gives."""

from __future__ import annotations

import numpy as np

from ....report import Cell, Column, Page, Section, Sentence, Table, Value, figures, page_of
from .result import RandomizationTest

__all__ = ["details"]


@page_of.register
def _(test: RandomizationTest) -> Page:
    return Page(
        title=f"randomization test: {test.candidate} against {test.baseline}",
        sections=(Section((Sentence(test.conclusion),)), Section((details(test),))),
        cautions=test.cautions,
    )


def details(test: RandomizationTest) -> Table:
    """Tell what was reassigned, how often, and where the ratios lie."""
    one_sided = (
        f"{side} better {figures.pvalue(p).removeprefix('= ')}"
        for side, p in (("candidate", test.pvalue_candidate), ("baseline", test.pvalue_baseline))
    )
    smallest = f"{figures.significant(test.smallest_pvalue)}, {test.alternative_words}"
    low, high = np.quantile(test.null, [0.025, 0.975]).tolist()
    rows: list[tuple[Cell, Cell]] = [
        ("reassigned", test.unit_words),
        ("", test.unit_counts),
        ("assignments", Value(_assignments(test), test.resamples)),
        ("p, one-sided", ", ".join(one_sided)),
        ("smallest p", Value(smallest, test.smallest_pvalue)),
        (
            "by chance",
            f"95 % of the ratios lie in {figures.significant(low, 4)} to "
            f"{figures.significant(high, 4)}",
        ),
    ]
    return Table(
        name="test",
        columns=(Column("", "left"), Column("", "left")),
        rows=tuple(row for row in rows if row[1]),
        headed=False,
    )


def _assignments(test: RandomizationTest) -> str:
    if test.exact:
        return f"all {test.resamples:,} (exact)"
    there = (
        f"{test.assignments:,}"
        if test.assignments is not None
        else f"about 10^{test.log10_assignments:.0f}"
    )
    return f"{test.resamples:,} drawn at random of {there}"
