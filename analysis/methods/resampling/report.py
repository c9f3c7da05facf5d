"""Resampling in words and pictures: three conclusions, and how each was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import InsufficientDataError
from ...pages import model as pages, number_format as figures
from ...pages.number_format import outcome_word
from ...pages.result import Result, cautions_to_dict
from ...plots import axes as plots
from ...plots.axes import Picture, Sheet
from ...plots.chart import arranged
from ...stats.arguments import stream
from ...words import apart
from .bootstrap import BootstrapInterval, Interval, Sides, bootstrap_speedup
from .distribution import DistributionComparison, compare_distributions, summaries
from .randomization import Alternative, RandomizationTest, randomization_test

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.pair import Centre, Mean
    from .assignments import Unit

# --- The whole answer by resampling: ratio and interval, p-value, and both empirical distributions.


@dataclass(frozen=True, slots=True, kw_only=True)
class ResamplingReport(Result):
    """All that resampling says about a candidate against a baseline.

    `interval` is None where there are too few runs for one; `no_interval` then says why.
    """

    method: ClassVar[str] = "resample"

    test: RandomizationTest
    interval: BootstrapInterval | None
    no_interval: str | None
    distributions: DistributionComparison
    seed: int | None

    @property
    def conclusions(self) -> tuple[str, ...]:
        """The test's, the interval's and the distributions' conclusion."""
        missing = f"no interval: {self.no_interval}"
        interval = missing if self.interval is None else self.interval.conclusion
        return (self.test.conclusion, interval, self.distributions.conclusion)

    def body(self) -> dict[str, Any]:
        """Give the test, and with it the interval and the distributions."""
        return {
            **self.test.body(),
            "word": "undecided" if self.interval is None else self.interval.word,
            "seed": self.seed,
            "conclusions": list(self.conclusions),
            **cautions_to_dict(self.cautions),
            "references": list(self.references),
            "interval": None if self.interval is None else self.interval.body(),
            "no_interval": self.no_interval,
            "distributions": self.distributions.body(),
        }

    def screen(self) -> pages.Page:
        """Set the conclusions and their figure, then test, interval and distributions."""
        test, interval = self.test, self.interval
        return pages.page(
            self,
            f"resampling: {test.candidate} against {test.baseline}",
            pages.section(*self.conclusions),
            _figure(self),
            pages.section(test.details(), title="test"),
            *(() if interval is None else (pages.section(interval.details(), title="interval"),)),
            *summaries(self.distributions),
            *(() if self.seed is None else (f"seed {self.seed}",)),
        )


def resampling_report(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    others: Sequence[PerformanceMatrix] = (),
    mean: Mean = "geometric",
    centre: Centre = "runs",
    alternative: Alternative = "two-sided",
    unit: Unit | None = None,
    interval: Interval = "percentile",
    sides: Sides = "two",
    confidence: float = 0.95,
    resamples: int = 10_000,
    rng: np.random.Generator,
    seed: int | None = None,
) -> ResamplingReport:
    """Test the ratio, give its interval, and describe both systems."""
    root, both = int(rng.integers(2**63)), (candidate, baseline)
    draws: dict[str, Any] = {"mean": mean, "resamples": resamples}
    asked = {**draws, "centre": centre, "unit": unit}
    test = randomization_test(*both, alternative=alternative, rng=stream(root, "test"), **asked)
    found, missing = None, None
    drawn = stream(root, "interval")
    how: dict[str, Any] = {"interval": interval, "confidence": confidence, "sides": sides, **asked}
    try:
        found = bootstrap_speedup(candidate, baseline, rng=drawn, **how)
    except InsufficientDataError as error:
        missing = f"{error.what}" + (f"; {error.fix}" if error.fix else "")
    distributions = compare_distributions((*both, *others), rng=stream(root, "passes"), **draws)
    parts = [part for part in (test, found, distributions) if part is not None]
    # each once, but all of the test's: two sides may bear one name and one caution
    known, *others_said = (part.cautions for part in parts)
    return ResamplingReport(
        test=test,
        interval=found,
        no_interval=missing,
        distributions=distributions,
        seed=seed,
        cautions=(*known, *(one for one in pages.merged(*others_said) if one not in known)),
        references=tuple(dict.fromkeys(text for part in parts for text in part.references)),
    )


# --- The pictures of resampling: ratios under random assignments, and single passes over the suite.


_SHEET = Sheet(width=218.4)
_BINS = 60
_CURVES = 6  # systems drawn in colours of their own; more are drawn as boxes only
_MOST_BOXES = 40


def resampling_picture(report: ResamplingReport) -> Picture:
    """Draw the ratio among those of random assignments, and the empirical distributions."""
    boxes = 0.5 + 0.3 * min(len(report.distributions.systems), _MOST_BOXES)
    curves, summaries = _passes(report.distributions)
    ours, theirs = apart((report.test.candidate, report.test.baseline), 30)
    rows = [[_null(report.test, report.interval)], [curves], [summaries]]
    title, height = f"{ours} against {theirs}", (6.5 + boxes) * 25.4
    return arranged(_SHEET, rows, height, heights=(3, 3, boxes), title=title)


def _null(test: RandomizationTest, interval: BootstrapInterval | None) -> plots.Axes:
    """Draw the ratios under random assignments, the observed one, and its interval."""
    low, high = float(test.null.min()), float(test.null.max())
    vary = high - low > 1e-9 * high
    counts, edges = np.ones(1), np.array([low, low])
    if vary:
        counts, edges = np.histogram(test.null, bins=_BINS)
    shares = 100 * counts / counts.sum()
    ends = [] if interval is None else [interval.low, interval.high]
    ends = [end for end in ends if np.isfinite(end) and end]
    scale = plots.quantity_scale((low, high, test.ratio, 1.0, *ends), log=False, room=0.04)
    axes = plots.Axes(x=scale, y=plots.Scale(0.0, 1.1 * float(shares.max())))
    if vary:
        axes.curve([edges[0], *np.repeat(edges, 2)[1:-1], edges[-1]], [0, *np.repeat(shares, 2), 0], "bars", closed=True)  # fmt: skip
    else:
        axes.upright(low, "one broad")
    axes.upright(1.0, "one thin")
    axes.upright(test.ratio, "c1 thick")
    axes.keys.append(plots.Key(f"observed {figures.significant(test.ratio, 4)}", "c1 thick"))
    if interval is not None:
        _interval(axes, interval, 0.5 * axes.y.high)
    drawn = f"all {test.resamples:,}" if test.exact else f"{test.resamples:,} random"
    drawn += f" assignments of labels to {test.unit_words.split(',')[0]}"
    axes.title = f"ratios under {drawn}: p {figures.pvalue(test.pvalue)}, {test.alternative_words}"
    word = outcome_word("faster", timed=test.timed)
    axes.x_label = f"ratio of {test.mean} means (above 1: the candidate is {word})"
    axes.y_label = "share of assignments, %"
    axes.x_ticks, axes.y_ticks = (
        plots.quantity_ticks(scale, "1", 8),
        plots.quantity_ticks(axes.y, "1", 5),
    )
    return axes


def _interval(axes: plots.Axes, interval: BootstrapInterval, y: float) -> None:
    """Draw the interval as a bar; an arrow stands where it is open."""
    sides = interval.sides
    low = axes.x.low if sides == "upper" else interval.low
    high = axes.x.high if sides == "lower" else interval.high
    kind = "interval" if sides == "two" else f"{sides} bound"
    axes.line(low, y, high, y, "c0 broad")
    text = f"{interval.confidence * 100:g} % {kind} ({interval.interval})"
    axes.keys.append(plots.Key(text, "c0 broad"))
    if sides != "two":
        end, shape = (low, "left") if sides == "upper" else (high, "right")
        axes.spots(end, y, "c0", r=4.5, shape=shape)


def _passes(comparison: DistributionComparison) -> tuple[plots.Axes, plots.Axes]:
    """Draw density curves, and below them boxes with whiskers at minimum and maximum, as published."""
    systems = comparison.systems
    first, n = systems[0], len(systems[0].benchmarks)
    some = systems[:_MOST_BOXES]
    densities = [system.density() for system in systems[:_CURVES]]
    known = [one for one in densities if one is not None]
    ends = [end for one in some for end in (one.five[0], one.five[-1])]
    ends += [float(end) for one in known for end in (one.grid[0], one.grid[-1])]
    scale = plots.quantity_scale(ends, log=False, room=0.04)
    top = 1.06 * max((float(one.density.max()) for one in known), default=1.0)
    above = plots.Axes(x=scale, y=plots.Scale(0.0, top), x_texts=False)
    above.title = f"{first.mean} means of {first.resamples:,} passes, one run of each of "
    above.title += f"{figures.counted(n, 'benchmark')}; dotted: mean of all runs"
    plots.quantity_axis(above, "x", scale, first.unit)
    plots.density_axis(above, scale, first.unit, top, of="passes")
    for k, (system, curve) in enumerate(zip(systems, densities, strict=False)):
        css = f"c{k} d{k}"
        above.keys.append(plots.Key(f"{system.name:.30}", f"{css} interval"))
        if curve is None:
            above.upright(system.median, f"{css} interval")
            continue
        around = [curve.grid[0], *curve.grid, curve.grid[-1]]
        above.curve(around, [0, *curve.density, 0], f"{css} veil", closed=True)
        above.curve(curve.grid, curve.density, f"{css} interval")
        above.upright(system.observed, f"c{k} dotted rim")
    if not known:
        x = scale.low + 0.03 * (scale.high - scale.low)
        above.text(x, 0.9 * top, "the passes do not vary", "one")
    below = plots.rows_down([f"{one.name:.20}" for one in some], small=True)
    plots.quantity_axis(below, "x", scale, first.unit)
    for y, system in enumerate(some):
        css = f"c{y}" if y < _CURVES else "one"
        low, q1, middle, q3, high = system.five
        below.line(low, y, high, y, css)
        for end in (low, high):
            below.line(end, y - 0.16, end, y + 0.16, css)
        below.band(q1, q3, y - 0.275, y + 0.275, "page")
        corners = ((q1, q3, q3, q1, q1), (-0.275, -0.275, 0.275, 0.275, -0.275))
        below.curve(corners[0], [y + part for part in corners[1]], f"{css} curve")
        below.line(middle, y - 0.275, middle, y + 0.275, "ink interval")
    more = f"; {len(systems) - len(some)} more systems" if len(systems) > len(some) else ""
    boxes = f"{first.better} is better; box: quartiles, ends: minimum, maximum"
    below.x_label = f"mean of one pass ({boxes}){more}"
    return above, below


def _figure(report: ResamplingReport) -> pages.Figure:
    test, systems = report.test, report.distributions.systems
    low, high = float(test.null.min()), float(test.null.max())
    between = "" if report.interval is None else ", with its interval"
    return pages.Figure(
        name="resampling",
        alt=f"Above, a histogram of the ratios under {test.resamples:,} assignments of labels, from "
        f"{figures.significant(low, 4)} to {figures.significant(high, 4)}, and the observed ratio "
        f"{figures.significant(test.ratio, 4)}{between}. Below, density curves and boxplots of the "
        f"{test.mean} means of single passes over the suite with "
        f"{figures.listed([system.name for system in systems])}",
        draw=partial(resampling_picture, report),
    )
