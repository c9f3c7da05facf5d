"""Bootstrap intervals of the ratio of two suite means.

Runs are drawn with replacement within each variant and benchmark, or whole rounds or sessions
jointly over the benchmarks. The text of [1]_, section 4, pools both variants before it draws; that
is the law under "no difference", around 1, and not what its Table 6 shows, so it is not done here.
H is the list of replicates of the ratio, alpha the risk, as there.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 4.
.. [2] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 12 to 14.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from ...data.matrix import PerformanceMatrix
from ...data.pair import Centre, Mean, check_means
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution, Page, Table, Value, cautions_of, facts, page
from ...pages.number_format import Word, outcome_word
from ...pages.result import Result
from ...stats.arguments import checks_arguments, chosen, counted
from ...stats.samples import Array, read_only
from ...words import apart
from . import assignments
from .assignments import ResamplingQuestion, Unit, Units, known_coverage
from .draws import DeviationPair, Draws, compare, draw, jackknife, standard_error, strata_sizes

Interval = Literal["percentile", "corrected", "bca", "studentized"]
Sides = Literal["two", "lower", "upper"]
INTERVALS: tuple[Interval, ...] = get_args(Interval)
SIDES: tuple[Sides, ...] = get_args(Sides)
INTERVAL_REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 4",
    "B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 12 to 14",
)
_LEVELS = (0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995)
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BootstrapInterval(Result):
    """A bootstrap interval of the ratio of two suite means; above 1 the candidate is better.

    `ratio`: The observed one. `low`, `high`: The ends; an open end is 0 or inf (null in JSON).
    `confidence`: The nominal one, and `known_coverage` what such intervals held in simulation, in
    the largest cell of the table with no more runs; None where the table does not say, or where
    units smaller than sessions stem from several. `unit`: What was drawn ("run", "block" or
    "session"); `units` says it in words, `unit_counts` which variants the units hold. `replicates`:
    H, the ratios of the resamples, read-only, of shape (resamples,); for "corrected" after the
    widening. Their quantiles are the ends of "percentile" and "corrected".
    """

    method: ClassVar[str] = "bootstrap-speedup"
    unlisted: ClassVar[frozenset[str]] = frozenset({"replicates", "timed"})
    derived: ClassVar[tuple[str, ...]] = ("word",)

    candidate: str
    baseline: str
    ratio: float
    low: float
    high: float
    confidence: float
    known_coverage: float | None
    interval: Interval
    sides: Sides
    mean: Mean
    centre: Centre
    unit: Unit
    units: str
    unit_counts: str
    resamples: int
    benchmarks: tuple[str, ...]
    runs_candidate: tuple[int, ...]
    runs_baseline: tuple[int, ...]
    timed: bool
    replicates: Array
    references: tuple[str, ...] = INTERVAL_REFERENCES

    @property
    def runs(self) -> tuple[int, int]:
        """The least and the most runs of a benchmark on a side."""
        counts = (*self.runs_candidate, *self.runs_baseline)
        return min(counts), max(counts)

    @property
    def word(self) -> Word:
        """What the candidate is: undecided where the interval holds 1."""
        if self.low <= 1 <= self.high:
            return "undecided"
        return "faster" if self.low > 1 else "slower"

    @property
    def conclusion(self) -> str:
        """The interval, in one sentence."""
        ours, theirs = apart((self.candidate, self.baseline), 40)
        n = len(self.benchmarks)
        over = f"over {f'these {n} benchmarks' if n > 1 else 'this benchmark'}"
        # two digits of the interval's width
        ends = [end for end in (self.low, self.high) if 0 < end < math.inf]
        width = max(abs(end - self.ratio) for end in ends)
        digits = 4 if width == 0 else min(9, max(2, 1 - math.floor(math.log10(width))))
        form = f".{digits}f" if 0.01 <= self.ratio < 1000 else ".5g"
        value, low, high = (f"{number:{form}}" for number in (self.ratio, self.low, self.high))
        bounds = {
            "two": f"interval [{low}, {high}]",
            "lower": f"lower bound {low}x",
            "upper": f"upper bound {high}x",
        }[self.sides]
        word, tail = "faster" if self.word == "undecided" else self.word, ""
        head = f"{ours} is {outcome_word(word, timed=self.timed)} than {theirs}"
        if self.word == "undecided":
            head = f"undecided {over} whether {head}"
            tail = f"; the {'interval holds' if self.sides == 'two' else 'bound leaves room for'} 1"
        else:
            head = f"{head} {over}"
        known = "its real coverage is not known"
        if self.known_coverage is not None:
            known = f"held the truth in {self.known_coverage * 100:.1f} % of simulated suites"
        return f"{head}: {value}x, {self.confidence * 100:g} % {bounds} ({known}){tail}"

    def details(self) -> Table:
        """Tell what was drawn, of what, and how often."""
        count, most = figures.counted(len(self.benchmarks), "benchmark"), self.runs[1]
        kind = f"{_KINDS[self.interval]}, {self.resamples:,} resamples"
        return facts(
            "interval",
            ("interval", Value(kind, self.resamples)),
            ("ratio of", f"{self.mean} means; {_CENTRES[self.centre]}"),
            ("resampled", self.units),
            ("", self.unit_counts),
            ("data", f"{count} x {figures.span(self.runs)} run{'s' * (most > 1)} on each side"),
        )

    def body(self) -> dict[str, Any]:
        """Give the fields, open ends as None, and the replicates by count, range and quantiles."""
        levels = zip(_LEVELS, np.quantile(self.replicates, _LEVELS).tolist(), strict=True)
        return {
            **Result.body(self),
            "low": None if self.sides == "upper" else self.low,
            "high": None if self.sides == "lower" else self.high,
            "replicates": {
                "count": int(self.replicates.size),
                "minimum": float(self.replicates.min()),
                "maximum": float(self.replicates.max()),
                "quantiles": {f"{level:g}": q for level, q in levels},
            },
        }

    def screen(self) -> Page:
        """Set the conclusion and its details."""
        title = f"bootstrap interval: {self.candidate} against {self.baseline}"
        return page(self, title, self.conclusion, self.details())


Tails = tuple[float | None, float | None]

_TIE = 1e-12  # of the ratio: replicates this close to the observed one are equal to it
_FAR = 1e300
_OUTLANDISH = "look for values that are not measurements"


def interval_ends(
    interval: Interval,
    comparison: DeviationPair,
    drawn: Draws,
    *,
    ratio: float,
    replicates: Array,
    tails: Tails,
    corrections: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """Give both ends for the risks left below and above; None leaves an end open."""
    if interval == "studentized":
        return _studentized(ratio, drawn, comparison, tails)
    low, high = tails
    high = None if high is None else 1 - high
    if interval == "bca":
        z0, a = corrections or bca_corrections(comparison, ratio=ratio, replicates=replicates)
        low, high = _bca_levels(z0, a, tails)
    return (
        0.0 if low is None else float(np.quantile(replicates, low)),
        float("inf") if high is None else float(np.quantile(replicates, high)),
    )


def bca_corrections(
    comparison: DeviationPair, *, ratio: float, replicates: Array
) -> tuple[float, float]:
    """Give z0 and a of BCa: the bias by the share below, the acceleration by the jackknife."""
    margin = _TIE * ratio
    below = np.count_nonzero(replicates < ratio - margin)
    equal = np.count_nonzero(np.abs(replicates - ratio) <= margin)
    share = (below + equal / 2) / replicates.size
    if share in (0, 1):
        what = f"all {replicates.size} replicates lie on one side of the observed ratio"
        what = f"{what}, so BCa's correction for bias is infinite"
        raise AnalysisError(what, fix="take another interval, or more resamples")
    parts = [ratios_of(ratio, shifts) for shifts in jackknife(comparison)]
    sizes = np.array([part.size for part in parts])
    starts = np.cumsum(sizes) - sizes
    left = np.concatenate(parts)
    largest = float(left.max())
    left /= largest  # no scale changes a, and the cubes of ratios may be no numbers
    centres = np.add.reduceat(left, starts) / sizes
    u = np.repeat((sizes - 1) / sizes, sizes) * (np.repeat(centres, sizes) - left)
    size = float(np.abs(u).max())
    if size <= _TIE * (ratio / largest):
        return float(ndtri(share)), 0.0
    u /= size
    return float(ndtri(share)), float((u**3).sum()) / (6 * float((u**2).sum()) ** 1.5)


def _bca_levels(z0: float, a: float, tails: Tails) -> Tails:
    """Give the quantiles' levels of BCa, equation 14.10 of [1]."""

    def level(tail: float, direction: int) -> float:
        z = z0 + direction * -float(ndtri(tail))
        scale = 1 - a * z
        if scale <= 0:
            what = f"BCa does not exist at this confidence: its acceleration is {a:.3g}"
            raise AnalysisError(what, fix="take another interval, or a lower confidence")
        return float(ndtr(z0 + z / scale))

    low, high = tails
    return None if low is None else level(low, -1), None if high is None else level(high, 1)


def _studentized(
    ratio: float, drawn: Draws, comparison: DeviationPair, tails: Tails
) -> tuple[float, float]:
    assert drawn.errors is not None
    error = standard_error(comparison)
    if not (np.isfinite(error) and np.isfinite(drawn.errors).all()):
        raise AnalysisError("a standard error leaves the range of numbers", fix=_OUTLANDISH)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = drawn.shifts / drawn.errors
    t[drawn.shifts == 0] = 0.0
    t = np.clip(t, -_FAR, _FAR)
    # the largest t belongs to the lower end
    low, high = tails
    ends = [0.0, math.inf]
    for k, level in enumerate((None if low is None else 1 - low, high)):
        if level is None:
            continue
        q = float(np.quantile(t, level))
        if abs(q) > _FAR / 1e10:
            least = int(min(size.min() for size in strata_sizes(comparison)))
            what = "in too many resamples no unit varies, so that the studentized end is infinite"
            fix = "measure more, or take the corrected interval"
            raise InsufficientDataError(what, fix=fix, n=least, needed=least + 1)
        ends[k] = float(ratios_of(ratio, np.array([-q * error]))[0])
    return ends[0], ends[1]


def ratios_of(ratio: float, shifts: Array) -> Array:
    """Turn shifts of the log ratio into ratios."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        ratios = ratio * np.exp(shifts)
    if not (np.isfinite(ratios).all() and ratios.all()):
        what = "the replicates of the ratio leave the range of numbers"
        raise AnalysisError(what, fix=_OUTLANDISH)
    return np.asarray(ratios, dtype=np.float64)


def _larger_units(question: ResamplingQuestion) -> Iterator[tuple[Units, float]]:
    """Give the larger units that are known, with their standard error over that of the drawn ones."""
    a, b = question.pair.candidate, question.pair.baseline

    def error(of: Units) -> float | None:
        comparison = compare(question._replace(units=of))
        if min(size.min() for size in strata_sizes(comparison)) < 2:
            return None
        return standard_error(comparison)

    larger = assignments.UNITS[assignments.UNITS.index(question.units.unit) + 1 :]
    own = None if question.centre == "median" or not larger else error(question.units)
    if not own:
        return
    for unit in larger:
        if any(getattr(matrix, f"{unit}s") is None for matrix in (a, b)):
            continue
        other = assignments.exchangeable_units(a, b, unit)
        found = error(other)
        if found is not None:
            yield other, found / own


@checks_arguments
def bootstrap_speedup(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    mean: Mean = "geometric",
    centre: Centre = "runs",
    interval: Interval = "percentile",
    confidence: float = 0.95,
    sides: Sides = "two",
    resamples: int = 10_000,
    rng: np.random.Generator,
    unit: Unit | None = None,
) -> BootstrapInterval:
    """Give a bootstrap interval of the ratio of two suite means.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        Matched by benchmark name; what only one of them has is left out, with a caution.
    mean : {"geometric", "harmonic", "arithmetic"}
        The mean over the benchmarks, of the values as they are stored.
    centre : {"runs", "mean", "median"}
        What stands for one benchmark: the same kind of mean over its runs, their arithmetic mean,
        or their median.
    interval : {"percentile", "corrected", "bca", "studentized"}
        "percentile", as published: quantiles of H. "corrected": the same after each centre's
        deviation is widened by sqrt(m / (m - 1)) on the log scale, m the units of its stratum,
        because a resample of m values varies too little by that factor. "bca": percentiles
        corrected for bias and acceleration [2]_. "studentized": quantiles of the log ratio's
        deviation over its standard error in each replicate; not for medians.
    confidence : float
        The nominal confidence, between 0.5 and 1.
    sides : {"two", "lower", "upper"}
        "lower" gives a lower bound only (high is inf), "upper" an upper bound (low is 0), each
        with the whole risk on its side.
    resamples : int
        How many replicates, at least 2.
    rng : numpy.random.Generator
        Source of the one root from which every benchmark's stream is derived.
    unit : {"run", "block", "session"}, optional
        What is drawn: runs within each variant and benchmark, or whole rounds or sessions with all
        their runs of all benchmarks (for both variants at once where units hold both). None takes
        "session" where both sides have five or more sessions in common, else "block" where block
        ids are known on both sides, else "run", as the randomization test does.

    Returns
    -------
    BootstrapInterval
        The ratio, both ends, the replicates, the known coverage and cautions. Quantiles
        interpolate linearly between order statistics (type 7).

    Raises
    ------
    UsageError
        If an argument is out of its range, or "studentized" meets medians.
    InsufficientDataError
        If no stratum has two units or, but for "percentile", one has fewer.
    AnalysisError
        If the matrices do not go together, or BCa does not exist for the data.
    """
    check_means(mean, centre)
    chosen("interval", interval, INTERVALS)
    chosen("sides", sides, SIDES)
    if not 0.5 < confidence < 1:
        raise UsageError(f"confidence must lie between 0.5 and 1, not {confidence!r}")
    counted("resamples", resamples, least=2)
    if interval == "studentized" and centre == "median":
        what = "a studentized interval needs a standard error, and that of a median is not known"
        raise UsageError(what, fix="take centre 'runs' or 'mean', or another interval")
    question = assignments.ask(candidate, baseline, unit, mean, centre)
    comparison = compare(question)
    _enough(comparison, interval)
    ratio = question.ratio
    how = {"widened": interval == "corrected", "errors": interval == "studentized"}
    drawn = draw(comparison, int(rng.integers(2**63)), resamples, **how)
    replicates = ratios_of(ratio, drawn.shifts)
    risk = 1 - confidence  # None leaves an end open
    tails = {"two": (risk / 2, risk / 2), "lower": (risk, None), "upper": (None, risk)}[sides]
    known_draws: dict[str, Any] = {"ratio": ratio, "replicates": read_only(replicates)}
    low, high = interval_ends(interval, comparison, drawn, **known_draws, tails=tails)
    units = question.units
    single = units.unit == "run"
    known = known_coverage(
        interval,
        centre=centre,
        design="runs" if single else "pairs" if units.both else "units",
        benchmarks=len(question.pair.candidate.benchmarks) if single else 1,
        runs=float(min(sizes.min() for sizes in strata_sizes(comparison))),
        confidence=confidence,
        two_sided=sides == "two",
    )
    if units.several_sessions:
        known = None  # the simulated units are independent, and these are not
    result = BootstrapInterval(
        **question.answered(),
        **known_draws,
        low=low,
        high=high,
        confidence=float(confidence),
        known_coverage=None if known is None else known.coverage,
        interval=interval,
        sides=sides,
        units=units.words,
        resamples=int(resamples),
    )
    cautions = (
        *question.pair.known(),
        *interval_cautions(result, comparison, known, redrawn=drawn.redrawn),
        *assignments.unit_cautions(question.pair, units),
        *scope_cautions(units, interval, _larger_units(question)),
    )
    return replace(result, cautions=cautions)


def _enough(comparison: DeviationPair, interval: Interval) -> None:
    """Refuse what so few units cannot give."""
    units, sizes = comparison.units, strata_sizes(comparison)
    most, least = (int(min(pick(size) for size in sizes)) for pick in (np.max, np.min))
    noun, single = units.noun, units.unit == "run"
    if most < 2:
        where = "on each benchmark of a side" if single else "only" if units.both else "on a side"
        what = f"there is one {noun} {where}: resampling it tells nothing about its spread"
        raise InsufficientDataError(what, fix=f"measure 3 or more {noun}s", n=most, needed=2)
    if least >= 2 or interval == "percentile":
        return
    where = "one side"
    if single:
        each = zip(comparison.question.pair.candidate.benchmarks, *sizes, strict=True)
        first, *others = [bench for bench, one, other in each if min(one, other) < 2]
        where = f"benchmark {first!r}" + (f" and {len(others)} more" if others else "")
    what = f"the {interval} interval needs the spread of every stratum, and there is one {noun}"
    fix = f"measure 2 or more {noun}s there, leave it out, or take interval 'percentile'"
    raise InsufficientDataError(what, where, fix, n=least, needed=2)


_TAIL = 10  # replicates in a tail, below which its end is rough
_NOISE = {"het": "noise of 0.3 to 10 % by benchmark", "homo": "noise of 3 % on every benchmark"}


def interval_cautions(
    result: BootstrapInterval,
    comparison: DeviationPair,
    known: assignments.KnownCoverage | None,
    *,
    redrawn: int,
) -> tuple[Caution, ...]:
    """Say what such intervals held, where the data give too little spread, what draws leave open."""
    units = comparison.units
    single = int(sum((size < 2).sum() for size in strata_sizes(comparison)))
    lone = f"one side has one {units.noun}: it adds no width, the interval is too narrow"
    if units.unit == "run":
        lone = (
            f"{single} of {2 * len(result.benchmarks)} samples hold one run: they add no width, "
            "as if they had no noise, so the interval is too narrow"
        )
    tail = (1 - result.confidence) / (2 if result.sides == "two" else 1)
    code = "known-coverage" if known and not units.several_sessions else "coverage-unknown"
    texts = {
        code: _coverage(result, units, known),
        "stratum-of-one": single > 0 and lone,
        "interval-without-width": float(result.replicates.min()) == float(result.replicates.max())
        and "all replicates are equal: the values do not vary, the interval has no width",
        "widened-medians": result.interval == "corrected"
        and result.centre == "median"
        and "the widening belongs to means: percentile intervals of medians are wide without it",
        "few-resamples": (result.resamples + 1) * tail < _TAIL
        and f"{result.resamples:,} resamples leave fewer than {_TAIL} beyond an end: the ends are "
        f"rough; take {math.ceil(_TAIL / tail):,} or more",
        "resamples-redrawn": redrawn > 0
        and f"{redrawn:,} resamples were drawn again, because a benchmark had no run in them",
    }
    return cautions_of(texts)


def _coverage(
    result: BootstrapInterval, units: Units, known: assignments.KnownCoverage | None
) -> str:
    if units.several_sessions:
        unit = "; take unit 'session'" * ((units.sessions or 0) >= assignments.SESSIONS)
        return (
            f"coverage unknown across sessions: the {units.noun}s stem from "
            f"{units.sessions} sessions, and simulated were independent ones. Where sessions shift "
            f"the variants differently, it is lower than the nominal one{unit}"
        )
    if known is None:
        return (
            f"the table of simulated coverages has none for this interval at confidence {result.confidence:g} "
            f"with this number of {units.noun}s"
        )
    n, m = known.benchmarks, known.runs
    where = {
        "runs": f"{n} benchmark{'s' * (n > 1)} x {m} runs on each side",
        "units": f"{m} independent units on each side, resampled as wholes",
        "pairs": f"{m} independent units that hold both variants, resampled as wholes",
    }[known.design]
    shares = ", ".join(
        f"{share:.3f}" + (f" ({_NOISE[noise]})" if len(known.others) > 1 else "")
        for noise, share in known.others
    )
    kind = "BCa" if result.interval == "bca" else result.interval
    return (
        f"known coverage: nominal {result.confidence:g} {kind} "
        f"{'intervals' if result.sides == 'two' else 'bounds'}"
        f"{' of medians' * (result.centre == 'median')} held the true "
        f"ratio in {shares} of {known.suites:,} simulated suites, each with {where}; the table's "
        "largest cell with no more than here"
    )


def scope_cautions(
    units: Units, interval: Interval, larger: Iterable[tuple[Units, float]]
) -> tuple[Caution, ...]:
    """Say what no interval of this kind covers; the table has figures for percentile intervals."""

    def held(text: str, kind: Literal["session", "benchmarks"]) -> str:
        if interval != "percentile":
            return ""
        columns = zip(*assignments.not_covered(kind), strict=True)
        shares, runs = map(" / ".join, columns)
        return f"{text} held the truth in only {shares} with {runs} runs"

    shifts = held(
        ": where every benchmark of either side kept one unrepeated shift as large as its run noise"
        ", nominal 0.95 percentile intervals of 12 benchmarks",
        "session",
    )
    benchmarks = held(
        ". As one for programs like these, with true differences that spread by 5 %, a nominal "
        "0.95 percentile interval",
        "benchmarks",
    )
    texts = {
        "sessions-not-covered": units.unit != "session"
        and f"shifts between sessions are not covered{shifts}",
        "benchmarks-not-covered": "the choice of benchmarks is not covered: the interval speaks of "
        f"these programs{benchmarks}",
    }
    vary = []
    for other, factor in larger:
        text = (
            f"this interval draws {units.noun}s; drawn by whole {other.noun}s, the standard error"
        )
        text += f" of the log ratio is {figures.significant(factor, 2)} times as large"
        text += f" (unit '{other.unit}')"
        vary += [Caution("larger-units-vary-more", text, (other.unit,))] if factor > 1 else []
    return (*cautions_of(texts), *vary)
