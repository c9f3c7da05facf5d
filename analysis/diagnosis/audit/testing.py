"""All tests of a table of runs, one correction over them, and the findings that it leaves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...record import Better
from ...stats import adjusted
from ..runs import (
    CellTests,
    Description,
    HostSpeeds,
    HostTest,
    Movers,
    RunTable,
    Series,
    described,
    host_speeds,
    host_tests,
    middle_of,
    movers_of,
    only_these,
    series_of,
    session_shift,
    size_of,
    within_sessions,
)
from .lines import cell_lines, far_runs, untested
from .result import REFERENCES, Diagnosis, Finding
from .sentences import cell_text, host_text

__all__ = ["diagnosed"]

Floats = NDArray[np.float64]
_ANY_ORDER = ("session-shift", "host-sessions")  # the tests that do not look at the order of runs
_COARSE = 0.5  # share of runs that share their value
_FEW = 10  # runs
_STEP = 0.005  # of the median: a step that is too small to matter


def diagnosed(
    table: RunTable, *, name: str, unit: str, better: str, confidence: float
) -> Diagnosis:
    """Test a table of runs; what a runner recorded, and cautions, are added by the caller."""
    series = series_of(table)
    figures = described(table, series)
    cells = (*within_sessions(series), session_shift(series))
    host = host_tests(table, series)
    if not table.in_order:
        cells = tuple(one if one.code in _ANY_ORDER else _untested(one) for one in cells)
        host = tuple(
            one if one.code in _ANY_ORDER else replace(one, pvalue=None, size=None) for one in host
        )
    pvalues = np.concatenate(
        [*(test.pvalues for test in cells), [_nan(test.pvalue) for test in host]]
    )
    corrected = adjusted(pvalues, "bh")
    tests = int(np.isfinite(pvalues).sum())
    risk = 1 - confidence
    size = series.benchmark.size
    of_cells = _cell_findings(
        cells,
        corrected[: size * len(cells)].reshape(len(cells), size),
        risk,
        (table, series, figures),
    )
    within, between = _movers(table, series, host, corrected[size * len(cells) :], risk)
    of_host = []
    for test, p in zip(host, corrected[size * len(cells) :].tolist(), strict=True):
        label = None if test.session is None else table.sessions[test.session]
        of_host.append(
            Finding(
                code=test.code,
                sessions=() if label is None else (label,),
                pvalue=test.pvalue,
                pvalue_adjusted=None if math.isnan(p) else p,
                size=test.size,
                certain=test.pvalue is not None and test.pvalue * tests <= risk,
                text=host_text(
                    test.code,
                    test.size,
                    session=label,
                    when=_when(table, test.session, test.row),
                    movers=between if test.code in _ANY_ORDER else within,
                ),
            )
        )
    seen = [one for one in of_host if _is_found(one.pvalue_adjusted, risk)]
    certain = [replace(one, certain=_is_certain(one.pvalue, tests, risk)) for one in of_cells]
    movers = within if any(one.code not in _ANY_ORDER for one in seen) else between
    speeds = _speeds(table, series, movers) if seen and table.ordered else None
    there = np.unique(table.variant)
    return Diagnosis(
        name=name,
        metric=None,
        unit=unit,
        better=cast("Better", better),
        confidence=confidence,
        variants=tuple(table.variants[k] for k in there),
        benchmarks=tuple(table.benchmarks[k] for k in np.unique(table.benchmark)),
        sessions=len(table.sessions),
        runs=int(table.values.size),
        tests=tests,
        findings=(*seen, *certain, *_coarse(table, series, figures)),
        host=tuple(of_host),
        speeds=speeds,
        movers=movers,
        cells=tuple(cell_lines(table, series, figures, cells)),
        not_tested=tuple(untested(table, series)),
        far_runs=tuple(far_runs(table, series, figures)),
        references=REFERENCES,
        in_order=table.in_order,
    )


def _speeds(table: RunTable, series: Series, movers: Movers | None) -> HostSpeeds | None:
    """Divide the runs into two levels: all of them, or those of the cells that move."""
    if movers is not None and movers.variants:
        table = only_these(table, movers)
        series = series_of(table)
    return host_speeds(table, series)


def _movers(
    table: RunTable,
    series: Series,
    host: Sequence[HostTest],
    corrected: Floats,
    risk: float,
) -> tuple[Movers | None, Movers | None]:
    """Tell who moves within sessions, and between them, where the tests of that found something."""
    codes = {
        test.code for test, p in zip(host, corrected.tolist(), strict=True) if _is_found(p, risk)
    }
    return (
        movers_of(table, series, over="runs") if codes - {*_ANY_ORDER} else None,
        movers_of(table, series, over="sessions") if codes & {*_ANY_ORDER} else None,
    )


def _untested(test: CellTests) -> CellTests:
    return replace(test, pvalues=np.full_like(test.pvalues, math.nan))


def _is_found(p: float | None, risk: float) -> bool:
    return p is not None and p <= risk


def _is_certain(p: float | None, tests: int, risk: float) -> bool:
    return p is not None and p * tests <= risk


def _nan(p: float | None) -> float:
    return math.nan if p is None else p


def _when(table: RunTable, session: int | None, row: int | None) -> str:
    """Say when in a session a run began."""
    if session is None or row is None:
        return ""
    seconds = float(table.start_s[row])
    if math.isfinite(seconds):
        return f"{seconds:.0f} s after the begin" if seconds >= 1 else "within the first second"
    return f"after {int((table.session[:row] == session).sum())} runs"


def _cell_findings(
    cells: Sequence[CellTests],
    corrected: Floats,
    risk: float,
    looked: tuple[RunTable, Series, Description],
) -> list[Finding]:
    table, series, _ = looked
    found = []
    for test, row in zip(cells, corrected, strict=True):
        for cell in np.flatnonzero(np.nan_to_num(row, nan=1.0) <= risk).tolist():
            size = size_of(test, cell, *looked)
            label = place = None
            if test.session is not None and test.place is not None:
                label, place = table.sessions[test.session[cell]], int(test.place[cell])
            found.append(
                Finding(
                    code=test.code,
                    benchmark=table.benchmarks[series.benchmark[cell]],
                    variant=table.variants[series.variant[cell]],
                    sessions=() if label is None else (label,),
                    pvalue=float(test.pvalues[cell]),
                    pvalue_adjusted=float(row[cell]),
                    size=size,
                    text=cell_text(test.code, size, session=label, place=place),
                )
            )
    return sorted(found, key=lambda one: one.pvalue or 0.0)


def _coarse(table: RunTable, series: Series, figures: Description) -> Iterable[Finding]:
    """Name the cells whose clock has few readings: ties, which no test of noise should meet."""
    middles = middle_of(series.values.reshape(series.runs.size, -1))
    with np.errstate(invalid="ignore"):
        fine = figures.resolution < _STEP * np.abs(middles)
    coarse = (figures.ties >= _COARSE) & (series.runs >= _FEW) & ~fine
    for cell in np.flatnonzero(coarse).tolist():
        share = float(figures.ties[cell])
        step = float(figures.resolution[cell])
        said = f", in steps of {step:.3g}" if math.isfinite(step) else ", all of them the same"
        yield Finding(
            code="ties",
            benchmark=table.benchmarks[series.benchmark[cell]],
            variant=table.variants[series.variant[cell]],
            size=share,
            text=f"{100 * share:.0f} % of the runs share their value with another one{said}",
        )
