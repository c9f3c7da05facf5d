"""What the original Speedup-Test tool writes: its status, results and report.

Section 6.2.5 of the report names these files and the columns of the results.
"""

from __future__ import annotations

from dataclasses import replace

from ....report import Column, Page, Section, Sentence, Table, as_text, page_of
from ..page import benchmark_page
from ..proportion import Proportion
from ..result import CENTRES, Centre, SpeedupSuite, SpeedupTest

__all__ = ["COLUMNS", "failure_text", "report_text", "results_text", "status_text"]

COLUMNS = (
    "Name",
    "SpeedupMin",
    "SpeedupMean",
    "IsMeanSignificant",
    "MeanConfLevel",
    "SpeedupMedian",
    "IsMedianSignificant",
    "MedianConfLevel",
    "CoefMin",
    "CoefMean",
    "CoefMedian",
)

_TRUTH = {True: "TRUE", False: "FALSE", None: "NA"}
_REMARK = (
    "Remark: the interval is invalid if the {} not selected randomly among a huge "
    "number of representative benchmarks."
)


def status_text(elapsed_s: float) -> str:
    """Give the text of ``.status`` after success: the elapsed time and nothing else."""
    return f"elapsed time: {elapsed_s:.3f} s\n"


def failure_text(message: str) -> str:
    """Give the text of ``.status`` after a failure."""
    return (
        f"error: {message}\n"
        "No results and no report were written; .out and .report, where there are any, are older.\n"
    )


def results_text(suite: SpeedupSuite) -> str:
    """Give the text of ``.out``: a CSV table with one row for each benchmark that was judged.

    Speedups have three decimals, as in the original, or four digits where those would show too
    little. A cell is NA where the protocol cannot conclude, or where no level was found.
    """
    rows = [",".join(_quoted(column) for column in COLUMNS)]
    for test in suite.benchmarks:
        name = _name(test)
        cells = [
            _quoted(name),
            _speedup(test.speedup_min),
            _speedup(test.speedup_mean),
            _TRUTH[test.mean.significant],
            _level(test.mean.confidence),
            _speedup(test.speedup_median),
            _TRUTH[test.median.significant],
            _level(test.median.confidence),
            *(f"{suite.coefficients[centre][name]:.6g}" for centre in CENTRES),
        ]
        rows.append(",".join(cells))
    return "\n".join(rows) + "\n"


def report_text(title: str, suite: SpeedupSuite) -> str:
    """Give the text of ``.report``: the original's lines, the whole result, each decision's path."""
    lines = [f"Analysis report of {title}", ""]
    lines += [f"Sample1: {suite.baseline}; Sample2: {suite.candidate}", ""]
    for centre in CENTRES:
        lines += _overall(suite, centre)
    for word, share in (("mean", suite.proportion_mean), ("median", suite.proportion_median)):
        lines += _proportion(word, share)
    lines += ["Result", "", _set(page_of(suite)), "", "Decision of each benchmark", ""]
    for test in suite.benchmarks:
        lines += [_name(test), _set(benchmark_page(test, named=False)), ""]
    return "\n".join(lines)


def _overall(suite: SpeedupSuite, centre: Centre) -> list[str]:
    return [
        f"Overall gain (ExecutionTime={centre}) = {_decimal(suite.gain[centre])}",
        f"Overall speedup (ExecutionTime={centre}) = {_speedup(suite.speedup[centre])}",
        "",
    ]


def _proportion(centre: str, found: Proportion) -> list[str]:
    a, b = found.accelerated, found.total
    lines = [
        f"The observed proportion of accelerated benchmarks (speedup of the {centre}) a/b = "
        f"{a}/{b} = {_decimal(found.share)}",
        f"The confidence level for computing proportion confidence interval is {found.confidence}.",
        f"Proportion confidence interval (speedup of the {centre}) = "
        f"[{_decimal(found.low)}; {_decimal(found.high)}]",
    ]
    if not found.accurate:
        lines.append(
            "Warning: this confidence interval may not be accurate, because the validity condition "
            "{a(1-a/b) > 5} is not satisfied."
        )
    if found.needed_benchmarks is not None:
        lines.append(
            "The minimal needed number of randomly selected benchmarks is "
            f"{found.needed_benchmarks} (in order to have a precision r={found.precision:g})."
        )
    lines.append(_REMARK.format("benchmark was" if b == 1 else f"{b} benchmarks were"))
    return [*lines, ""]


def _set(page: Page) -> str:
    """Set a page as the report has always had it, whatever a terminal shows.

    Cautions follow without an empty line, and what stands below a title has no margin but that of
    the steps themselves.
    """
    body = replace(page, sections=tuple(map(_flat, page.sections)), cautions=())
    cautions = replace(page, sections=(), following=())
    return "\n".join(filter(None, map(as_text.render, (body, cautions))))


def _flat(section: Section) -> Section:
    if not section.title:
        return section
    blocks = (_indented(one) if isinstance(one, Table) else one for one in section.blocks)
    return Section((Sentence(section.title), *blocks))


def _indented(table: Table) -> Table:
    """Begin each row with an empty cell, which is set as a margin."""
    return replace(
        table,
        columns=(Column(""), *table.columns),
        rows=tuple(("", *row) for row in table.rows),
    )


def _name(test: SpeedupTest) -> str:
    if test.name is None:  # only a pair that was judged alone has no name
        raise ValueError("a benchmark of a suite has a name")
    return test.name


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _decimal(value: float) -> str:
    """Write a number as the original does: three decimals, without zeros at the end."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _speedup(value: float) -> str:
    """Write a speedup; three decimals would say too little of one below 0.1."""
    return _decimal(value) if value >= 0.1 else f"{value:.4g}"


def _level(value: float | None) -> str:
    return "NA" if value is None else str(value)
