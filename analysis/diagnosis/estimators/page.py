"""The spread of estimators in words: which is the steadiest, then by benchmark and by size."""

from __future__ import annotations

from ...report import Column, Page, Section, Sentence, Table, Value, figures, page_of
from .normal import NormalSpread
from .result import ESTIMATORS, Estimator, EstimatorRow, EstimatorSpread, Growth

__all__: list[str] = []

_BENCHMARK = 20  # columns for a name


@page_of.register
def _(study: EstimatorSpread) -> Page:
    return Page(
        title=f"Estimators of {study.name}",
        sections=(
            Section((Sentence(_answer(study)), *map(Sentence, _compared(study)))),
            Section(
                (
                    _benchmarks(study),
                    Sentence(
                        "minimum, median, mean: sd of the estimate from n runs (a quarter of them, but "
                        "2 at least), and its bias, relative to its value on all runs; the mean has no "
                        "bias"
                    ),
                )
            ),
            Section(
                (
                    _growth(study),
                    Sentence(
                        "sd of the estimate from n runs, in sds of one run, median over the "
                        "benchmarks; in brackets that of normal values (exact)"
                    ),
                )
            ),
        ),
        cautions=study.cautions,
    )


def _answer(study: EstimatorSpread) -> str:
    total = len(study.benchmarks)
    rest = total - sum(study.counts.values())
    told = [f"the {name} on {n}" for name, n in study.counts.items() if n]
    told += [f"none on {rest}"] if rest else []
    if study.steadiest is None:
        start = f"no one estimator is the steadiest on {study.name}"
    else:
        start = f"the {study.steadiest} is the steadiest estimator on {study.name}"
    return f"{start}: of {total} benchmark{'s' * (total != 1)}, {', '.join(told)}"


def _compared(study: EstimatorSpread) -> tuple[str, ...]:
    """Set the minimum and the median against the mean, in words."""
    others: tuple[Estimator, ...] = ("minimum", "median")
    ratios = [(name, study.against_mean(name)) for name in others]
    told = [
        f"the {name} varies {figures.significant(ratio)} times as much"
        for name, ratio in ratios
        if ratio is not None
    ]
    if not told:
        return ()
    return (f"compared with the mean, {' and '.join(told)} (relative; median over the benchmarks)",)


def _benchmarks(study: EstimatorSpread) -> Table:
    headings = ("runs", "n", "minimum", "median", "mean", "bias: min.", "median")
    return Table(
        name="benchmarks",
        columns=(
            Column("", "left"),
            *(Column(heading) for heading in headings),
            Column("steadiest", "left"),
        ),
        rows=tuple(
            (
                figures.shorten(row.name, _BENCHMARK),
                Value(str(row.runs), row.runs),
                *_spreads(row),
                _steadiest(row),
            )
            for row in study.benchmarks
        ),
    )


def _spreads(row: EstimatorRow) -> tuple[Value, ...]:
    found = row.at(row.judged)
    if found is None:
        return (Value("-", None),) * 6
    return (
        Value(str(found.size), found.size),
        *(_percent(found.of(name).relative_sd) for name in ESTIMATORS),
        *(_percent(spread.relative_bias) for spread in (found.minimum, found.median)),
    )


def _percent(value: float) -> Value:
    return Value(f"{figures.significant(100 * value)} %", value)


def _steadiest(row: EstimatorRow) -> str:
    if row.judged is None:
        return row.why or ""
    return row.steadiest or ("all equal" if row.why else "none")


def _growth(study: EstimatorSpread) -> Table:
    return Table(
        name="growth",
        columns=tuple(Column(heading) for heading in ("n", "benchmarks", *ESTIMATORS)),
        rows=tuple(
            (
                Value(str(row.normal.size), row.normal.size),
                Value(str(row.benchmarks or "-"), row.benchmarks),
                *(_in_run_sds(row, name) for name in ESTIMATORS),
            )
            for row in study.growth
        ),
    )


def _in_run_sds(row: Growth, name: Estimator) -> Value:
    sd = row.sds.get(name)
    told = "-" if sd is None else f"{sd:.3f}"
    return Value(f"{told} ({_of_normal(row.normal, name):.3f})", sd)


def _of_normal(normal: NormalSpread, name: Estimator) -> float:
    return {"minimum": normal.minimum, "median": normal.median, "mean": normal.mean}[name]
