"""The spread of estimators as plain text: which is the steadiest, then by benchmark and by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...report import as_text, figures

if TYPE_CHECKING:
    from .result import EstimatorRow, EstimatorSpread, SizeSpread

__all__ = ["spread_text"]

_NAME = 20
_ESTIMATORS = ("minimum", "median", "mean")


def spread_text(study: EstimatorSpread) -> list[str]:
    """Give the lines of the report."""
    lines = as_text.wrapped(_answer(study))
    varying = [row for row in study.benchmarks if row.sizes and _at_judged(row).mean.sd > 0]
    if varying:
        lines += as_text.wrapped(_compared(varying))
    lines += ["", *_benchmarks(study)]
    lines += as_text.wrapped(
        "minimum, median, mean: sd of the estimate from n runs (a quarter of them, but 2 at least), "
        "and its bias, relative to its value on all runs; the mean has no bias"
    )
    lines += ["", *_growth(study, varying)]
    lines += as_text.wrapped(
        "sd of the estimate from n runs, in sds of one run, median over the benchmarks; in brackets "
        "that of normal values (exact)"
    )
    cautions = as_text.numbered(study.cautions)
    return [*lines, "", *cautions] if cautions else lines


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


def _at_judged(row: EstimatorRow) -> SizeSpread:
    return next(size for size in row.sizes if size.size == row.judged)


def _compared(rows: list[EstimatorRow]) -> str:
    """Set the minimum and the median against the mean, in words."""
    told = []
    for name in ("minimum", "median"):
        at = [_at_judged(row) for row in rows]
        ratios = [getattr(size, name).relative_sd / size.mean.relative_sd for size in at]
        ratio = float(np.median(ratios))
        told.append(f"the {name} varies {figures.significant(ratio)} times as much")
    return f"compared with the mean, {' and '.join(told)} (relative; median over the benchmarks)"


def _percent(value: float) -> str:
    return f"{figures.significant(100 * value)} %"


def _benchmarks(study: EstimatorSpread) -> list[str]:
    heads = ("minimum", "median", "mean", "bias: min.", "median")
    table = [["", "runs", "n", *heads, "steadiest"]]
    for row in study.benchmarks:
        head = [figures.shorten(row.name, _NAME), str(row.runs)]
        if row.judged is None:
            table.append([*head, *["-"] * 6, row.why or ""])
            continue
        three = [getattr(_at_judged(row), name) for name in _ESTIMATORS]
        table.append(
            [
                *head,
                str(row.judged),
                *(_percent(spread.relative_sd) for spread in three),
                *(_percent(spread.relative_bias) for spread in three[:2]),
                row.steadiest or ("all equal" if row.why else "none"),
            ]
        )
    return as_text.grid(table, "<>>>>>>><")


def _growth(study: EstimatorSpread, rows: list[EstimatorRow]) -> list[str]:
    """Set the sizes that a third of the benchmarks have, and the published ones, against normal."""
    table = [["n", "benchmarks", *_ESTIMATORS]]
    for normal in study.normal:
        of_size = [
            (size, row.run_sd or 1.0)
            for row in rows
            for size in row.sizes
            if size.size == normal.size
        ]
        if of_size and 3 * len(of_size) < len(rows):
            continue
        cells = []
        for name in _ESTIMATORS:
            sds = [getattr(size, name).sd / sd for size, sd in of_size]
            told = f"{float(np.median(sds)):.3f}" if sds else "-"
            cells.append(f"{told} ({getattr(normal, name):.3f})")
        table.append([str(normal.size), str(len(of_size) or "-"), *cells])
    return as_text.grid(table, ">>>>>")
