"""HPT in words: who is better, the rank table, what the paper compares it with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...pages import number_format as figures
from ...pages.model import Page, Section, merged, page, section, table_of
from ...pages.result import Result, cautions_to_dict, plain
from ...stats.arguments import checks_arguments
from ...stats.samples import Array, median
from .compare import REFERENCES, Alternative, HptQuestion, HptResult, Scores, Ties, answer, ask
from .speedup import HptSpeedup, OtherRule, largest_speedup, other_rules
from .winners import lines_of, scores_of

# --- The whole answer of HPT: rank table, three conclusions, and what the paper compares it with.
#
# [1]_, section 5, compares the geometric-mean speedup with the r-Speedup ("speedup error") and asks
# HPT how far it trusts it ("confidence loss"); section 5.2 does the same for the paired t-test. The
# two speedups answer different questions, so "error" is the paper's word for their distance, no more.
#
# References
# ----------
# .. [1] T. Chen, Y. Chen, Q. Guo, O. Temam, Y. Wu, W. Hu, "Statistical performance comparisons of
#    computers", 18th International Symposium on High Performance Computer Architecture, 2012.


Differences = Literal["differences", "log ratios"]


@dataclass(frozen=True, slots=True)
class GeometricMean:
    """A geometric-mean speedup and what HPT says about it.

    `confidence` is HPT's at this speedup; `confidence_loss` is it relative to the level asked for,
    less 1; `speedup_error` is the speedup relative to the r-Speedup, less 1 (None without one).
    """

    of: Literal["medians", "means", "runs"]
    speedup: float
    confidence: float
    confidence_loss: float
    speedup_error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedT:
    """A paired t-test over the benchmarks that the candidate is `speedup` times better.

    `mean`, `low` and `high` are those of the differences; on log ratios they are turned back into
    ratios relative to the speedup under test. t and p are None where the differences have no
    spread, everything but the mean is None with one benchmark. `pvalue` is one-sided.
    """

    derived: ClassVar[tuple[str, ...]] = ("pvalue_of",)
    pvalue_of: ClassVar[str] = "candidate better"

    on: Differences
    benchmarks: int
    mean: float
    sd: float | None
    t: float | None = None
    df: int
    pvalue: float | None = None
    pvalue_two_sided: float | None = None
    confidence: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HptContext(Result):
    """The comparisons of the paper's section 5 on one suite.

    `required` is the level of the r-Speedup and of the two-sided t intervals; `r_speedup` is None
    when no speedup reaches it.
    """

    method: ClassVar[str] = "hpt-context"

    candidate: str
    baseline: str
    required: float
    speedup_under_test: float
    r_speedup: float | None
    geometric_means: tuple[GeometricMean, ...]
    paired_t: tuple[PairedT, ...]
    references: tuple[str, ...] = REFERENCES

    def screen(self) -> Page:
        """Set the comparisons alone."""
        title = f"HPT: {self.candidate} against {self.baseline}"
        return page(self, title, section(*_comparisons(self)))


@checks_arguments
def hpt_context(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    speedup: float = 1.0,
    confidence: float = 0.95,
    alpha: float | None = None,
    ties: Ties = "table",
    scores: Scores = "auto",
    best: HptSpeedup | None = None,
) -> HptContext:
    """Compute what the paper compares HPT with.

    Parameters
    ----------
    candidate, baseline, speedup, confidence, alpha, ties, scores
        As for `hpt`. The t-tests look at the medians of the scores, the candidate's divided by
        `speedup`.
    best : HptSpeedup, optional
        What `hpt_speedup` gives for the same arguments, where it is known already.

    Returns
    -------
    HptContext
        Geometric means of medians, of means and of all runs, and both paired t-tests.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    AnalysisError
        If the matrices do not go together, or a value leaves the range of numbers.
    """
    question = ask(candidate, baseline, speedup, confidence, alpha, ties, scores)
    return _context(question, largest_speedup(question) if best is None else best)


def _context(question: HptQuestion, best: HptSpeedup) -> HptContext:
    a, b = question.pair.candidate, question.pair.baseline
    confidence, speedup = question.confidence, question.speedup
    sign = 1.0 if a.better == "higher" else -1.0
    means = []
    centres: dict[Literal["medians", "means", "runs"], list[Array]] = {
        "medians": [np.log([median(row) for row in m.samples]) for m in (a, b)],
        "means": [np.array([_log_mean(row) for row in m.samples]) for m in (a, b)],
        "runs": [np.array([np.mean(np.log(row)) for row in m.samples]) for m in (a, b)],
    }
    for of, (ours, theirs) in centres.items():
        value = math.exp(sign * float(np.mean(ours - theirs)))
        reached = best.curve.confidence(value)
        away = None if best.value is None else value / best.value - 1
        means.append(GeometricMean(of, value, reached, reached / confidence - 1, away))
    logs = sign * (centres["medians"][0] - centres["medians"][1]) - math.log(speedup)
    differences = lines_of(scores_of(question), question).differences(np.array([speedup]))[0]
    tests: dict[Differences, Array] = {"differences": differences, "log ratios": logs}
    return HptContext(
        candidate=a.name,
        baseline=b.name,
        required=confidence,
        speedup_under_test=speedup,
        r_speedup=best.value,
        geometric_means=tuple(means),
        paired_t=tuple(_paired_t(on, d, confidence) for on, d in tests.items()),
    )


def _log_mean(values: Array) -> float:
    with np.errstate(over="ignore"):
        mean = float(np.mean(values))
    if math.isfinite(mean):
        return math.log(mean)
    top = float(values.max())
    return math.log(float(np.mean(values / top))) + math.log(top)


def _paired_t(on: Differences, d: Array, confidence: float) -> PairedT:
    from scipy.special import stdtr, stdtrit  # scipy.stats takes most of a second to import

    n, mean = d.size, float(np.mean(d))
    back = math.exp if on == "log ratios" else float
    sd = float(np.std(d, ddof=1)) if n > 1 else None
    found = partial(PairedT, on=on, benchmarks=n, mean=back(mean), sd=sd, df=n - 1)
    # Spread that is rounding alone is none.
    if sd is None or sd <= 1e-12 * float(np.max(np.abs(d))):
        return found()
    error = sd / math.sqrt(n)
    t = mean / error
    p = float(stdtr(n - 1, -t))
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    low, high, both = back(mean - reach), back(mean + reach), 2 * min(p, 1 - p)
    return found(t=t, pvalue=p, pvalue_two_sided=both, confidence=1 - p, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class HptReport(Result):
    """All that HPT says about a candidate against a baseline.

    `plain` tests at speedup 1, `tested` at the speedup under test (the same when that is 1). `others`
    compares HPT with the paired t and the interval technique, where that was asked for.
    """

    method: ClassVar[str] = "hpt"

    plain: HptResult
    tested: HptResult
    best: HptSpeedup
    context: HptContext
    others: tuple[OtherRule, ...] = ()

    @property
    def conclusions(self) -> tuple[str, ...]:
        """The window's conclusions: who is better, the speedup under test, the r-Speedup."""
        tested = () if self.tested is self.plain else (self.tested.conclusion,)
        return (self.plain.conclusion, *tested, self.best.conclusion)

    def body(self) -> dict[str, Any]:
        """Give the test at the speedup under test, and with it all else."""
        keys = ("confidence", "pvalue", "pvalue_baseline", "pvalue_of", "outcome", "word")
        return {
            **self.tested.body(),
            **cautions_to_dict(self.cautions),
            "conclusions": list(self.conclusions),
            "without_speedup": {key: getattr(self.plain, key) for key in keys},
            "r_speedup": self.best.body(),
            "context": self.context.body(),
            **({"others": plain(self.others)} if self.others else {}),
        }

    def screen(self) -> Page:
        """Set HPT's conclusions and ranks, then other comparisons and rules."""
        tested = self.tested.screen()
        return page(
            self,
            tested.title,
            section(*self.conclusions),
            *tested.sections[1:],
            section(*_comparisons(self.context), title="compared with"),
            *((_other_rules(self),) if self.others else ()),
        )


@checks_arguments
def hpt_report(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    speedup: float = 1.0,
    confidence: float = 0.95,
    alpha: float | None = None,
    ties: Ties = "table",
    scores: Scores = "auto",
    alternative: Alternative | None = None,
    others: bool = False,
) -> HptReport:
    """Test without and with a speedup, find the r-Speedup, and compute the context.

    Parameters
    ----------
    candidate, baseline, speedup, confidence, alpha, ties, scores, alternative
        As for `hpt`.
    others : bool
        Whether HPT is compared with the one-sided paired t on scores and the confidence interval technique:
        their confidence in `speedup`, and their largest speedup ([1]_, Tables 3 and 4).

    Raises
    ------
    UsageError
        If an argument is out of its range.
    AnalysisError
        If the matrices do not go together, or a value leaves the range of numbers.
    """
    question = ask(candidate, baseline, speedup, confidence, alpha, ties, scores, alternative)
    unscaled = answer(question._replace(speedup=1.0))
    tested = unscaled if speedup == 1 else answer(question)
    best = largest_speedup(question)
    return HptReport(
        plain=unscaled,
        tested=tested,
        best=best,
        context=_context(question, best),
        others=tuple(other_rules(question, best, tested.confidence)) if others else (),
        cautions=merged(tested.cautions, best.cautions),
        references=tested.references,
    )


_RULES = {"hpt": "HPT", "paired t": "paired t, one-sided", "interval": "confidence interval"}


def _other_rules(report: HptReport) -> Section:
    required, tested = report.context.required, report.context.speedup_under_test
    table = table_of(
        "other-rules",
        report.others,
        ("<", lambda row: _RULES[row.rule]),
        (
            f"confidence at {tested:g}",
            "confidence",
            partial(figures.reliability, level=required),
            "none",
        ),
        ("loss", "confidence_loss", "{:+.1%}".format, "none"),
        (f"{required:g}-speedup", "speedup", lambda x: figures.bound(x, 4), "none"),
        ("error", "speedup_error", "{:+.1%}".format, "none"),
    )
    meaning = "t and interval need a normal mean of the differences of scores; loss is relative to"
    meaning += f" {required:g}, error to HPT's largest speedup"
    return section(table, meaning, title="three rules")


def _comparisons(context: HptContext) -> Iterator[str]:
    required = f"{context.required:g}"
    for row in context.geometric_means:
        away = row.speedup_error
        error = "" if away is None else f", {away:+.1%} from the {required}-speedup"
        reached = f"HPT reliability {figures.reliability(row.confidence, context.required)}"
        yield f"geometric mean of {row.of}: {figures.ratio(row.speedup)}, {reached}{error}"
    for test in context.paired_t:
        p, both, low, high = test.pvalue, test.pvalue_two_sided, test.low, test.high
        if p is None or both is None or low is None or high is None:
            yield f"paired t on {test.on}: not possible, no spread"
            continue
        # of the side that the differences speak for, which is named
        ours = p <= 0.5
        side = context.candidate if ours else context.baseline
        one_sided = f"p {figures.pvalue(p if ours else both / 2)} for {side:.20}"
        ends = ", ".join(figures.significant(end, 4) for end in (low, high))
        yield f"paired t on {test.on}: {one_sided}, {required} interval [{ends}]"
