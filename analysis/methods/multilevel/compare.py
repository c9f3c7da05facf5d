"""The sound verdict on two variants: sessions as the unit of replication.

t on the session values of the difference, every session weighing the same, S - 1 degrees of freedom.
Blocks pair runs inside a session and are never the unit; a test of two means of sessions serves only
sides that share fewer than two: Welch's t where they have equally many, else Banerjee's bound.

References
----------
.. [1] T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.
.. [2] R. Ibragimov, U. K. Mueller, "t-statistic based correlation and heterogeneity robust
   inference", Journal of Business & Economic Statistics 28, 2010.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...data.matrix import PerformanceMatrix, cut_of, with_bounds
from ...data.pair import match
from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution, ShortSentence, plain
from ...stats.arguments import checks_arguments
from ...stats.multiplicity import Correction, check_correction
from ...stats.samples import Array
from .design import (
    Layout,
    layout_of,
    run_tables,
    tables_of,
    totals_cautions,
    totals_table,
    whole_matrix,
    zeroed_of,
)
from .estimates import estimates_of, exact_of, suite_of_cells
from .failures import failing_of
from .law import ErrorLaw, Looks, decide
from .lines import (
    WIDEST,
    LineParts,
    benchmark_lines,
    failed_lines,
    family_of,
    steady_suite,
    suite_lines,
    told_by_values,
    withheld_suite,
)
from .page import (
    benchmark_cautions,
    design_cautions,
    of_one_build,
    session_cautions,
    suite_cautions,
    unequal_cautions,
    values_cautions,
)
from .result import Cut, Line, Multilevel
from .values import dependence_in, resolution_of

if TYPE_CHECKING:
    from ...pages.number_format import Word

# --- Words on runs that their time limit ended: such a run counts with its limit, so only
# what lower bounds support is said.


CUT_OFF = "cut-off"


def together(cuts: Iterable[Cut | None]) -> Cut | None:
    """Sum up several sides, benchmarks or hosts; None without any."""
    some = [one for one in cuts if one is not None and (one.candidate or one.baseline)]
    return None if not some else Cut(
        candidate=sum(one.candidate for one in some),
        baseline=sum(one.baseline for one in some),
        limit_s=min((one.limit_s for one in some if one.limit_s is not None), default=None),
        bounds=all(one.bounds for one in some),
        known=any(one.known for one in some),
    )  # fmt: skip


def cut_between(ours: PerformanceMatrix, theirs: PerformanceMatrix, name: str) -> Cut | None:
    """Give what is known of a benchmark's cut runs; None without any."""
    return together(
        Cut(candidate=one.runs * k, baseline=one.runs * (1 - k), limit_s=one.limit_s,
            bounds=one.bounds is not None if one.known else ours.better == "lower", known=one.known)
        for one, k in ((cut_of(ours, name), 1), (cut_of(theirs, name), 0))
    )  # fmt: skip


def bounded(line: Line, cut: Cut | None) -> Line:
    """Take back the word of a benchmark's line that its cut runs do not support, and its advice."""
    if cut is None:
        return line
    open_ = line.outcome == "undecided" and line.reason is None
    if cut.withholds(line.outcome) or (open_ and cut.known):
        line = replace(line, outcome="undecided", reason=CUT_OFF, more_sessions=None)
    if cut.known:
        line = replace(line, totals=None, more_sessions=None)
    return replace(line, cut=cut)


def bounded_suite(
    suite: tuple[Line, Line] | None, lines: Sequence[Line]
) -> tuple[Line, Line] | None:
    """Do the same with the suite's lines: a run that was cut in any benchmark was cut in it."""
    cut = together(one.cut for one in lines if one.speedup is not None)
    if suite is None or cut is None:
        return suite
    words: list[Word] = ["undecided" if cut.withholds(x.outcome) else x.outcome for x in suite]
    these, similar = (replace(x, cut=cut, outcome=w) for x, w in zip(suite, words, strict=True))
    return (replace(these, more_sessions=None, totals=None) if cut.known else these), similar


def cut_cautions(lines: Sequence[Line], names: tuple[str, str], *, wall: bool) -> Iterator[Caution]:
    """Say how many runs of each side were cut, and as what they count."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        cut = line.cut
        if cut is None or line.reason == "fails-always":
            continue
        limit = "" if cut.limit_s is None else figures.quantity(cut.limit_s, "s")
        what = f"were stopped at their limit{' of ' * bool(limit)}{limit} and "
        what += f"count as {limit if wall else 'what they used until then'}: it is at least this"
        if not cut.bounds:
            what = f"{what.partition(' and ')[0]} and have no value: no word is given"
        if not cut.known:
            what = "failed, and nobody knows whether at a time limit"
        ours = cut.candidate, line.runs_candidate + line.failed_candidate, names[0]
        theirs = cut.baseline, line.runs_baseline + line.failed_baseline, names[1]
        text = " and ".join(f"{n} of {of} runs of {name}" for n, of, name in (ours, theirs) if n)
        found.setdefault(what, []).append((line.name, text))
    for what, cells in found.items():
        those = tuple(name for name, _ in cells)
        texts = [f"{text}{f' on {name}' * (len(lines) > 1)}" for name, text in cells]
        head = what.partition(" and ")[0].replace("failed,", "failed, maybe at a time limit")
        short = ShortSentence.of(f"runs of {{}} {head}", those)
        if len(lines) == 1:
            short = ShortSentence.of(plain(f"{cells[0][1]} {head}"))
        yield Caution(CUT_OFF, f"{figures.listed(texts)} {what}", those, short)


_DIGITS = 14  # that are left of a value whose logarithm is known


@checks_arguments
def multilevel(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    confidence: float = 0.95,
    margin: float = 0.01,
    correction: Correction = "holm",
    weights: Mapping[str, float] | None = None,
    looks: int | Looks = 1,
    always_valid: bool = False,
    beside: Sequence[Multilevel] = (),
) -> Multilevel:
    """Compare two variants by their sessions: one interval and one word a benchmark.

    The estimand is the ratio of geometric means of runs, sessions weighing equally. H0 of `pvalue`:
    it is 1 (two-sided). H0 of `pvalue_equivalent`: it lies outside of 1 / (1 + margin) to
    1 + margin; two one-sided tests at alpha / 2 each.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        The runs of both variants, in one unit. Sessions are one where their ids are equal, unless the
        trials differ; without ids on both sides all runs share one session.
    confidence : float
        Of the intervals, between 0 and 1; alpha is 1 less it.
    margin : float
        The largest speedup less 1 that counts as equivalent, such as 0.01.
    correction : {"holm", "bh", "none"}
        Of the words for the number of benchmarks; intervals are not adjusted.
    weights : mapping of str to float, optional
        Of benchmarks, in the suite's two lines; those not named weigh 1.
    looks : int or Looks
        How many looks at growing data are planned, this one among them: alpha / looks each. A
        `Looks` shares the risk otherwise.
    always_valid : bool
        Give confidence sequences, which hold however often one looks; paired sessions only, and
        finite from 3 of them on.
    beside : sequence of Multilevel
        Comparisons of further candidates, each by itself, that share the risk of words with this one: Holm over
        candidates times benchmarks; lines of the suite at alpha / candidates. Intervals are not adjusted.

    Returns
    -------
    Multilevel

    Raises
    ------
    UsageError
        If an argument is out of its range; a weight is negative or of no benchmark; `always_valid` is
        asked for together with `looks`, or of sides that do not share two sessions.
    AnalysisError
        If the two have no benchmark in common, or differ in direction or unit; if a speedup leaves
        the range of numbers.

    Notes
    -----
    Equal sessions need not be equally long or equally quiet: t on their values is conservative then
    ([2]_). With one session the answer holds within it; where nothing separates session and
    variant there is an estimate and nothing else.
    """
    check_levels(confidence, margin)
    look = Looks.of(looks, always_valid=always_valid)
    always_valid = look.rule == "always-valid"
    law = ErrorLaw(alpha=look.alpha(float(confidence)), always_valid=always_valid)
    check_correction(correction)
    whole = whole_matrix(candidate), whole_matrix(baseline)
    pair = match(*whole)
    ours, theirs = pair.candidate, pair.baseline
    weighing = _weights(weights, ours.benchmarks, (*whole[0].benchmarks, *whole[1].benchmarks))
    counted = match(*map(with_bounds, whole))
    layout = layout_of(counted.candidate, counted.baseline)
    if always_valid and layout.design != "paired":
        raise UsageError(
            "a confidence sequence needs sides that share two sessions or more",
            f"{ours.name} against {theirs.name}",
            "measure both in the same sessions, or leave always_valid out",
        )
    zeroed = zeroed_of(layout)
    sign = 1 if ours.better == "higher" else -1
    exact = exact_of(layout, ours.unit, zeroed)
    layout, dark = replace(layout, arithmetic=exact.arithmetic), zeroed & ~exact.arithmetic
    tables = tables_of(layout, sign, dark)
    resolution = resolution_of(layout, tables, sign=sign, exact=exact.flags, zeroed=dark)
    those = [one.benchmarks for one in beside]
    judged = LineParts(
        design=layout.design,
        tables=tables,
        each=estimates_of(layout.design, tables, resolution, exact),
        resolution=resolution,
        exact=exact,
        zeroed=dark,
        weights=np.where(exact.arithmetic, 0.0, weighing),
        law=law,
        next_law=replace(law, alpha=look.next_alpha(float(confidence))),
        margin=math.log1p(margin),
        sign=sign,
        unit=ours.unit,
        correction=correction,
        totals=totals_table(layout),
        candidates=1 + len(beside),
        beside=(family_of(those, "pvalue"), family_of(those, "pvalue_equivalent")),
    )
    fails = [line.pvalue_fails for lines in those for line in lines]
    failing = failing_of(*whole, risk=law.alpha / 2, always_valid=always_valid, beside=fails)
    lines = (
        *benchmark_lines(judged, ours, theirs, failing),
        *failed_lines(*whole, failing),
    )
    suite = suite_lines(judged)
    dependence = dependence_in(layout, tables, counted.candidate, counted.baseline)
    if look.rule == "repeated" and dependence is not None and dependence.warned:
        lines = tuple(
            x if x.outcome == "undecided" else replace(x, outcome="undecided", reason="depends")
            for x in lines
        )
        suite = withheld_suite(suite)
    of_values: tuple[Caution, ...] = ()
    if any(
        x.values_of or x.judged_iterations or (x.failed if x.cut is None else x.cut) for x in whole
    ):
        lines = tuple(
            bounded(told_by_values(line, *whole), cut_between(*whole, line.name)) for line in lines
        )
        suite = bounded_suite(steady_suite(suite, lines), lines)
        of_values = (
            *values_cautions(lines, *whole),
            *cut_cautions(lines, (ours.name, theirs.name), wall=ours.metric == "wall"),
        )
    a, b = layout.ours.sessions.size, layout.theirs.sessions.size
    sessions = {"paired": layout.common.size, "separate": a + b, "confounded": 0}.get(
        layout.design, 1
    )
    cautions: tuple[Caution, ...] = (
        *totals_cautions(layout, {line.name: line.totals for line in lines}, pair),
        *pair.known(),
        *design_cautions(layout),
        *benchmark_cautions(judged, lines, sessions, layout.outermost),
        *unequal_cautions(
            lines,
            (ours.name, theirs.name),
            layout.outermost if layout.design == "separate" else "run",
        ),
        *session_cautions(
            layout,
            tables,
            zeroed=zeroed,
            lines=lines,
            these=None if suite is None else suite[0],
            dependence=dependence,
            looks_rule=look.rule,
        ),
        *of_values,
        *suite_cautions(judged),
    )
    if ours.of_builds:
        cautions = of_one_build(layout, cautions)
    return Multilevel(
        candidate=ours.name,
        baseline=theirs.name,
        unit=ours.unit,
        better=ours.better,
        design=layout.design,
        sessions=sessions,
        sessions_candidate=a,
        sessions_baseline=b,
        confidence=float(confidence),
        margin=float(margin),
        correction=correction,
        candidates=1 + len(beside),
        look=look.at(float(confidence)),
        benchmarks=lines,
        these=None if suite is None else suite[0],
        similar=None if suite is None else suite[1],
        occasions=_occasions(layout, sign, law, np.where(zeroed, 0.0, weighing)),
        outermost=layout.outermost,
        dependence=dependence,
        cautions=cautions,
    )


def check_levels(confidence: float, margin: float) -> None:
    """Refuse a confidence or a margin that none can be."""
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence!r}")
    if not (math.isfinite(margin) and margin >= 0):
        raise UsageError(
            f"margin must be a number of at least 0, not {margin!r}", fix="such as 0.01"
        )


class MetricLine(NamedTuple):
    """What the runs of two variants say of one metric; its p-values are of this metric alone."""

    metric: str
    speedup: float
    low: float
    high: float
    pvalue: float
    pvalue_equivalent: float
    cut: Cut | None


def lines_of_metrics(
    metrics: Iterable[str],
    sides_of: Callable[[str], Iterable[PerformanceMatrix]],
    *,
    confidence: float,
    margin: float,
) -> Iterator[MetricLine]:
    """Judge a candidate and its baseline by each metric, of several benchmarks in the mean over these.

    What cannot be judged is left out: a metric that is unknown, without spread, or with values of 0.
    """
    for metric in dict.fromkeys(metrics):
        try:
            sides = sides_of(metric)
            known = multilevel(*sides, confidence=confidence, margin=margin, correction="none")
        except AnalysisError:
            continue
        line = known.these if len(known.benchmarks) > 1 else known.benchmarks[0]
        if line is not None:
            found = (line.speedup, line.low, line.high, line.pvalue, line.pvalue_equivalent)
            if None not in found:
                yield MetricLine(metric, *found, line.cut)  # type: ignore[arg-type]  # none is None


def judged_pair(
    earlier: Sequence[Sequence[float]],
    later: Sequence[Sequence[float]],
    *,
    risk: float,
    margin: float,
    unit: str,
) -> tuple[Word, float, float, float]:
    """Hold a later place of a series against an earlier one, by the logs of their runs in the same sessions.

    Give the word, and the log of the speedup with its interval, which is that alone where nothing varies.
    """
    sides = []
    for runs in (later, earlier):
        session = {"": np.repeat(np.arange(len(runs)), [*map(len, runs)])}
        values = {"": [float(f"{math.exp(x):.{_DIGITS}g}") for one in runs for x in one]}
        sides.append(
            PerformanceMatrix.from_samples("", values, better="lower", unit=unit, sessions=session)
        )
    layout = layout_of(*sides)
    none = np.zeros(1, dtype=np.bool_)
    exact, tables = exact_of(layout, unit, none), tables_of(layout, -1, none)
    resolution = resolution_of(layout, tables, sign=-1, exact=exact.flags, zeroed=none)
    each = estimates_of(layout.design, tables, resolution, exact)
    d = decide(each, ErrorLaw(alpha=risk), math.log1p(margin), "none")
    mean, *ends = (float(one[0]) for one in (each.estimate, d.low, d.high))
    low, high = (mean if math.isnan(one) else one for one in ends)
    return d.outcome[0], mean, low, high


def _weights(
    weights: Mapping[str, float] | None, benchmarks: tuple[str, ...], known: tuple[str, ...]
) -> Array:
    given = weights or {}
    unknown = [name for name in given if name not in known]
    if unknown:
        what = f"a weight is given for what is no benchmark here: {figures.listed(unknown)}"
        raise UsageError(what, fix=f"known here: {figures.listed([*dict.fromkeys(known)])}")
    for name, value in given.items():
        if not (math.isfinite(value) and value >= 0):
            what = f"the weight of {name!r} is {value!r}"
            raise UsageError(what, fix="weights are finite and not negative")
    found = np.array([float(given.get(name, 1.0)) for name in benchmarks])
    if not found.max() > 0:
        raise UsageError("every benchmark has weight 0", fix="give one a positive weight")
    return np.asarray(found / found.max())


def _occasions(layout: Layout, sign: int, law: ErrorLaw, weights: Array) -> str | None:
    if layout.design != "confounded" or not weights.any():
        return None
    ours, theirs = run_tables(layout, sign)
    found = suite_of_cells(ours, theirs, weights)
    estimate, half = float(found.estimate), float(law.half(found.error, found.freedom, found.parts))
    if math.isnan(half) or abs(estimate) + half > WIDEST:
        return None
    middle, low, high = (math.exp(estimate + shift) for shift in (0.0, -half, half))
    return (
        f"if the two occasions do not differ: {figures.ratio(middle)} "
        f"[{figures.ratio(low)[:-1]}, {figures.ratio(high)[:-1]}]"
    )
