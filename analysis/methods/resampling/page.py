"""The whole answer by resampling in words: three conclusions, and how each was found."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...report import Figure, Page, Section, Sentence, figures, page_of
from .distribution.page import summaries
from .interval.page import details as interval_details
from .plots import resampling_figure
from .randomization.page import details as test_details
from .report import ResamplingReport

__all__: list[str] = []


@page_of.register
def _(report: ResamplingReport) -> Page:
    return Page(
        title=f"resampling: {report.test.candidate} against {report.test.baseline}",
        sections=(
            Section(tuple(Sentence(text) for text in report.conclusions)),
            Section((_figure(report),)),
            *_parts(report),
        ),
        cautions=report.cautions,
    )


def _parts(report: ResamplingReport) -> Iterator[Section]:
    yield Section((test_details(report.test),), title="test")
    if report.interval is not None:
        yield Section((interval_details(report.interval),), title="interval")
    yield from summaries(report.distributions)
    if report.seed is not None:
        yield Section((Sentence(f"seed {report.seed}"),))


def _figure(report: ResamplingReport) -> Figure:
    test, systems = report.test, report.distributions.systems
    low, high = float(test.null.min()), float(test.null.max())
    between = "" if report.interval is None else ", with its interval"
    return Figure(
        name="resampling",
        alt=f"Above, a histogram of the ratios under {test.resamples:,} assignments of labels, from "
        f"{figures.significant(low, 4)} to {figures.significant(high, 4)}, and the observed ratio "
        f"{figures.significant(test.ratio, 4)}{between}. Below, density curves and boxplots of the "
        f"{test.mean} means of single passes over the suite with "
        f"{figures.listed([system.name for system in systems])}",
        draw=partial(resampling_figure, report),
    )
