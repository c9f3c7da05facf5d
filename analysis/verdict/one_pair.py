"""All methods for one pair in one table: HPT, t, randomization and bootstrap, by one mean or by three.

[1]_ sets them side by side in Tables 6 and 8: the ratio of the geometric means, HPT's confidence and
0.95-speedup, the t interval of the ratios over the benchmarks and its confidence, that of the randomization
test, and the bootstrap interval; in Table 14 the last two by three means. The t there is two-sided: its
confidence is that of the interval which ends at 1.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 6.4 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..data.pair import MEANS, Mean
from ..methods.hpt.page import HptReport, hpt_report
from ..methods.resampling.report import ResamplingReport, resampling_report
from ..pages import number_format as figures
from ..pages.model import Caution, Page, Value, merged, section, table_of
from ..pages.result import Result
from ..stats.arguments import stream
from ..words import apart

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix

_NAME = 32
REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, sections 6.4 and 9",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLine:
    """What one rule says of the pair; above 1 the candidate is better.

    `speedup`: of "hpt" the largest with the confidence asked for, else the ratio of means. `low`, `high`:
    the interval with that confidence. `confidence`: of "hpt" in "the candidate is better", else 1 - p;
    `pvalue` is that p. `mean` is that over the benchmarks. None where there is none.
    """

    rule: Literal["hpt", "t", "resampling"]
    mean: Mean | None = None
    speedup: float | None
    low: float | None = None
    high: float | None = None
    confidence: float | None
    pvalue: float | None
    pvalue_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTable(Result):
    """All rules for one pair; `required` is the level of HPT's speedup and of the intervals."""

    method: ClassVar[str] = "resample-compare"

    candidate: str
    baseline: str
    required: float
    benchmarks: tuple[str, ...]
    lines: tuple[PairLine, ...]
    resamples: int
    seed: int | None
    references: tuple[str, ...] = REFERENCES

    def screen(self) -> Page:
        """Set a line for each method, of one pair of variants."""
        ours, theirs = apart((self.candidate, self.baseline), _NAME)
        n, level = len(self.benchmarks), f"{self.required:g}"
        names = {"hpt": f"HPT, {level}-speedup", "t": "t on log ratios of medians"}

        def speedup(line: PairLine) -> str:
            if line.speedup is None:
                return "none"
            write = figures.bound if line.rule == "hpt" else figures.significant  # a limit
            return write(line.speedup, 4)

        def interval(line: PairLine) -> str:
            if line.low is line.high is None:
                return "-" if line.rule == "hpt" else "none"
            low = "0" if line.low is None else figures.bound(line.low, 4)
            high = "inf" if line.high is None else figures.bound(line.high, 4, upper=True)
            return f"[{low}, {high}]"

        table = table_of(
            "one-pair",
            self.lines,
            ("<", lambda line: names.get(line.rule, f"resampling, {line.mean} means")),
            ("speedup", lambda line: Value(speedup(line), line.speedup)),
            (f"{level} interval", interval),
            ("confidence", "confidence", lambda x: figures.reliability(x, self.required), "none"),
            ("<of", "pvalue_of"),
        )
        over = f"these {n} benchmarks" if n > 1 else "this benchmark"
        text = "confidence is 1 - p, not the chance of being right"
        if self.lines[0].rule == "hpt":
            text += f"; HPT's speedup is the largest that it claims with {level}; t needs normal log ratios"
        return Page(
            title=f"one pair: {self.candidate} against {self.baseline}",
            sections=(
                section(f"{ours} against {theirs} over {over}; above 1 {ours} is better"),
                section(table, text),
                section(f"{self.resamples:,} resamples, seed {self.seed}"),
            ),
            cautions=self.cautions,
        )


def pair_table(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    means: Sequence[Mean] = MEANS,
    compared: bool = False,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    **asked: Any,  # noqa: ANN401 - arguments of `resampling_report`
) -> PairTable:
    """Set the answers about one pair side by side.

    Parameters
    ----------
    candidate, baseline
        The two sides.
    means
        A line of resampling for each; the same numbers as a call with that mean and seed alone.
    compared
        Whether HPT and the t interval have lines too.
    confidence
        The level of HPT's speedup and of all intervals.
    resamples, seed
        Of the randomization test and the bootstrap.
    asked
        Further arguments of `resampling_report`: centre, alternative, unit, interval, sides.

    Raises
    ------
    UsageError, AnalysisError
        As the methods do.
    """
    context = hpt_report(candidate, baseline, confidence=confidence) if compared else None
    reports = [
        resampling_report(
            candidate,
            baseline,
            mean=mean,
            confidence=confidence,
            resamples=resamples,
            rng=stream(seed, "resample"),
            seed=seed,
            **asked,
        )
        for mean in means
    ]
    test = reports[0].test
    texts: list[tuple[Caution, ...]] = []  # the passes over the suite are not shown
    for report in reports:
        texts += [part.cautions for part in (report.test, report.interval) if part is not None]
    if context is not None:
        texts.append(context.cautions)
    for report in reports:
        if report.no_interval is not None:
            what = f"no bootstrap interval: {report.no_interval}"
            texts.append((Caution("no-interval", what),))
            break
    return PairTable(
        candidate=test.candidate,
        baseline=test.baseline,
        required=confidence,
        benchmarks=test.benchmarks,
        lines=(*_of_hpt(context), *map(_of_resampling, reports)),
        resamples=resamples,
        seed=seed,
        cautions=merged(*texts),
    )


def _of_hpt(report: HptReport | None) -> Iterator[PairLine]:
    if report is None:
        return
    plain, logs = report.plain, report.context.paired_t[1]
    yield PairLine(
        rule="hpt",
        speedup=report.best.value,
        confidence=plain.confidence,
        pvalue=plain.pvalue,
        pvalue_of=plain.pvalue_of,
    )
    p = logs.pvalue_two_sided
    yield PairLine(
        rule="t",
        mean="geometric",
        speedup=logs.mean,
        low=logs.low,
        high=logs.high,
        confidence=None if p is None else 1 - p,
        pvalue=p,
        pvalue_of="two-sided",
    )


def _of_resampling(report: ResamplingReport) -> PairLine:
    test, interval = report.test, report.interval
    sides = None if interval is None else interval.sides
    return PairLine(
        rule="resampling",
        mean=test.mean,
        speedup=test.ratio,
        low=None if interval is None or sides == "upper" else interval.low,
        high=None if interval is None or sides == "lower" else interval.high,
        confidence=1 - test.pvalue,
        pvalue=test.pvalue,
        pvalue_of=test.pvalue_of,
    )
