"""HPT in words: who is better, the rank table, what the paper compares it with."""

from __future__ import annotations

from collections.abc import Iterator

from ...pages import number_format as figures
from ...pages.model import Column, Page, Section, Sentence, Table, Value, page_of, value_of
from ...pages.number_format import said
from ...words import shorten
from .report import HptContext, HptReport
from .result import HptResult
from .speedup import HptSpeedup

_BENCHMARK, _VARIANT = 28, 20  # columns for names


@page_of.register(HptResult)
def _hpt_result_page(result: HptResult) -> Page:
    return Page(
        title=_title(result),
        sections=(Section((Sentence(result.conclusion),)), _rank_table(result)),
        cautions=result.cautions,
    )


@page_of.register(HptSpeedup)
def _hpt_speedup_page(result: HptSpeedup) -> Page:
    return Page(
        title=_title(result),
        sections=(Section((Sentence(result.conclusion),)),),
        cautions=result.cautions,
    )


@page_of.register(HptContext)
def _hpt_context_page(result: HptContext) -> Page:
    return Page(title=_title(result), sections=(Section(tuple(_comparisons(result))),))


@page_of.register(HptReport)
def _hpt_report_page(report: HptReport) -> Page:
    return Page(
        title=_title(report.plain),
        sections=(
            Section(tuple(Sentence(text) for text in report.conclusions)),
            _rank_table(report.tested),
            Section(tuple(_comparisons(report.context)), title="compared with"),
            *((_other_rules(report),) if report.others else ()),
        ),
        cautions=report.cautions,
    )


def _title(result: HptResult | HptSpeedup | HptContext) -> str:
    return f"HPT: {result.candidate} against {result.baseline}"


def _rank_table(result: HptResult) -> Section:
    a, b = (shorten(name, _VARIANT) for name in (result.candidate, result.baseline))
    tested = result.speedup_under_test
    by = "" if tested == 1 else f"/{tested:g}"
    names = {"candidate": a, "baseline": b, "tie": "tie"}
    table = Table(
        name="rank-table",
        columns=(
            Column("", "left"),
            Column(f"score {a}{by}"),
            Column(f"score {b}"),
            Column("winner", "left"),
            Column("difference"),
            Column("rank"),
        ),
        rows=tuple(
            (
                shorten(row.name, _BENCHMARK),
                Value(figures.significant(row.median_candidate, 4), row.median_candidate),
                Value(figures.significant(row.median_baseline, 4), row.median_baseline),
                names[row.winner],
                Value(figures.significant(row.difference, 4), row.difference),
                Value(f"{row.rank:g}", row.rank),
            )
            for row in result.benchmarks
        ),
    )
    sums = (
        f"signed ranks: {a} {result.rank_sum_candidate:g}, {b} {result.rank_sum_baseline:g} of "
        f"{len(result.benchmarks)} benchmarks; {hpt_pvalues(result)}"
    )
    return Section((table, Sentence(sums)))


def hpt_pvalues(result: HptResult) -> str:
    """Write both p-values, each with what it speaks for; that of the outcome stands first."""
    better, worse = (said(word, timed=result.timed) for word in ("faster", "slower"))
    tested = result.speedup_under_test
    if tested != 1:
        good = "fast" if result.timed else "good"
        better, worse = (f"{than} than {tested:g} times as {good}" for than in ("more", "less"))
    both = [
        f"p {figures.pvalue(result.pvalue)} for '{better}'",
        f"p {figures.pvalue(result.pvalue_baseline)} for '{worse}'",
    ]
    return ", ".join(both[::-1] if result.outcome == "baseline" else both)


_RULES = {"hpt": "HPT", "paired t": "paired t, one-sided", "interval": "confidence interval"}


def _other_rules(report: HptReport) -> Section:
    required, tested = report.context.required, report.context.speedup_under_test
    table = Table(
        name="other-rules",
        columns=(
            Column("", "left"),
            Column(f"confidence at {tested:g}"),
            Column("loss"),
            Column(f"{required:g}-speedup"),
            Column("error"),
        ),
        rows=tuple(
            (
                _RULES[row.rule],
                value_of(row.confidence, lambda x: figures.reliability(x, required), "none"),
                value_of(row.confidence_loss, "{:+.1%}".format, "none"),
                value_of(row.speedup, lambda x: figures.bound(x, 4), "none"),
                value_of(row.speedup_error, "{:+.1%}".format, "none"),
            )
            for row in report.others
        ),
    )
    meaning = (
        "t and interval are those of the differences of scores over the benchmarks and need their mean "
        f"to be normal; loss is relative to {required:g}, error to HPT's largest speedup"
    )
    return Section((table, Sentence(meaning)), title="three rules")


def other_lines(report: HptReport) -> Iterator[str]:
    """Write each of the three rules as a line."""
    required, tested = report.context.required, report.context.speedup_under_test
    for row in report.others:
        reached = value_of(row.confidence, lambda x: figures.reliability(x, required), "none").text
        speedup = value_of(row.speedup, lambda x: figures.bound(x, 4), "none").text
        yield (
            f"{_RULES[row.rule]}: confidence {reached} at {tested:g}, "
            f"largest speedup with {required:g}: {speedup}"
        )


def _comparisons(context: HptContext) -> Iterator[Sentence]:
    required = f"{context.required:g}"
    for row in context.geometric_means:
        error = (
            ""
            if row.speedup_error is None
            else f", {row.speedup_error:+.1%} from the {required}-speedup"
        )
        reached = figures.reliability(row.confidence, context.required)
        yield Sentence(
            f"geometric mean of {row.of}: {figures.ratio(row.speedup)}, HPT reliability "
            f"{reached}{error}"
        )
    for test in context.paired_t:
        if (
            test.pvalue is None
            or test.pvalue_two_sided is None
            or test.low is None
            or test.high is None
        ):
            yield Sentence(f"paired t on {test.on}: not possible, no spread")
            continue
        low, high = (figures.significant(end, 4) for end in (test.low, test.high))
        yield Sentence(
            f"paired t on {test.on}: {_one_sided(context, test.pvalue, test.pvalue_two_sided)}, {required} interval [{low}, {high}]"
        )


def _one_sided(context: HptContext, p: float, both: float) -> str:
    """Write p of the side that the differences speak for, which is named."""
    ours = p <= 0.5
    side = shorten(context.candidate if ours else context.baseline, _VARIANT)
    return f"p {figures.pvalue(p if ours else both / 2)} for {side}"
