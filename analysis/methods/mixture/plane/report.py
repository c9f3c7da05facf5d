"""Two metrics of the same runs, cell by cell: which clusters they form, and how they move together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ....data import Trial
from ....errors import AnalysisError, UsageError
from ....report import as_text, figures
from .fit import fit_mixture_2d
from .model import Mixture2d
from .pairs import Pairs, pairs_of_runs

__all__ = ["PlaneCell", "PlaneReport", "plane_report"]

_NAME = 28


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaneCell:
    """One variant on one benchmark; `mixture` is None where no fit exists, and `problem` says why."""

    benchmark: str
    variant: str
    pairs: Pairs | None
    mixture: Mixture2d | None
    problem: str | None

    @property
    def cautions(self) -> tuple[str, ...]:
        """What was left out of the values."""
        return () if self.pairs is None else self.pairs.cautions

    def to_dict(self) -> dict[str, Any]:
        """Give the cell as JSON types."""
        pairs, fitted = self.pairs, self.mixture
        clusters = None if fitted is None or pairs is None else fitted.classify(pairs.values)
        return {
            "benchmark": self.benchmark,
            "variant": self.variant,
            "n": 0 if pairs is None else len(pairs.values),
            "problem": self.problem,
            "mixture": None if fitted is None else fitted.to_dict(),
            "classification": None if clusters is None else clusters.tolist(),
            "cautions": list(self.cautions),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaneReport:
    """Mixtures of two metrics for each benchmark and variant."""

    metrics: tuple[str, str]
    units: tuple[str, str]
    cells: tuple[PlaneCell, ...]
    detailed: bool
    cautions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the report as JSON types."""
        return {
            "metrics": list(self.metrics),
            "units": list(self.units),
            "cells": [cell.to_dict() for cell in self.cells],
            "cautions": list(self.cautions),
        }

    def __str__(self) -> str:
        pair = " and ".join(
            f"{name} ({unit})" if unit else name
            for name, unit in zip(self.metrics, self.units, strict=True)
        )
        lines = [f"{pair} of the same runs", ""]
        lines += self._details() if self.detailed else self._lines()
        return "\n".join([*lines, *as_text.numbered(self.cautions)])

    def _details(self) -> list[str]:
        lines: list[str] = []
        for cell in self.cells:
            name = f"{figures.shorten(cell.benchmark, 40)} / {figures.shorten(cell.variant, 40)}"
            if cell.mixture is None:
                lines += [*as_text.wrapped(f"{name}: {cell.problem}"), ""]
            else:
                lines += [name, *str(cell.mixture).splitlines(), ""]
        return lines[:-1]

    def _lines(self) -> list[str]:
        rows = [["benchmark", "variant", "runs", "clusters", "r within", "r overall"]]
        benchmark = None
        for cell in self.cells:
            name = "" if cell.benchmark == benchmark else figures.shorten(cell.benchmark, _NAME)
            benchmark = cell.benchmark
            size = 0 if cell.pairs is None else len(cell.pairs.values)
            row = [name, figures.shorten(cell.variant, _NAME), f"{size}"]
            if cell.mixture is None:
                row += ["none", "", ""]
            else:
                within, overall = (
                    cell.mixture.within_correlation(),
                    cell.mixture.overall_correlation,
                )
                row += [f"{cell.mixture.components}", f"{within:.3f}"]
                row.append("" if overall is None else f"{overall:.3f}")
            rows.append(row)
        lines = as_text.grid(rows, "<<>>>>")
        lines += as_text.wrapped(
            "r within: how the metrics move together inside clusters, r overall: in all runs; "
            "--benchmark NAME gives a benchmark's clusters"
        )
        problems = {
            f"{cell.benchmark} / {cell.variant}: {cell.problem}": None
            for cell in self.cells
            if cell.problem is not None
        }
        for problem in list(problems)[:8]:
            lines += as_text.wrapped(problem)
        return lines


def plane_report(
    trials: Sequence[tuple[Trial, Sequence[str]]],
    metrics: tuple[str, str],
    *,
    benchmark: str | None = None,
    max_components: int = 9,
    progress: Callable[[int, int, str], None] | None = None,
) -> PlaneReport:
    """Fit mixtures of two metrics, each divided by its spread first, to every cell.

    Parameters
    ----------
    trials : sequence of (Trial, variants)
        Which variants of which trials.
    metrics : tuple of two str
        Measured in the same runs.
    benchmark : str, optional
        Look at this one only.
    max_components : int
        The largest number of clusters tried.
    progress : callable, optional
        Called with the numbers of cells done and in all, and the name of the next.

    Raises
    ------
    UsageError
        If a metric is unknown or both are the same, or no trial has the benchmark.
    AnalysisError
        If no cell can be fitted.
    """
    known = list(dict.fromkeys(b for trial, _ in trials for b in trial.manifest.benchmarks))
    if benchmark is not None and benchmark not in known:
        raise UsageError(f"there is no benchmark {benchmark!r}", fix=f"known: {', '.join(known)}")
    infos = {tuple(trial.metric(name).unit for name in metrics) for trial, _ in trials}
    if len(infos) > 1:
        raise AnalysisError("the trials differ in the metrics' units", fix="take one at a time")
    wanted = [
        (trial, name, variant)
        for name in (known if benchmark is None else [benchmark])
        for trial, variants in trials
        if name in trial.manifest.benchmarks
        for variant in variants
    ]
    cells = []
    for done, (trial, name, variant) in enumerate(wanted):
        if progress is not None:
            progress(done, len(wanted), f"{name} / {variant}")
        cells.append(_cell(trial, variant, name, metrics, max_components))
    if all(cell.mixture is None for cell in cells):
        first = cells[0]
        raise AnalysisError(first.problem or "no fit", f"{first.benchmark} / {first.variant}")
    cautions = [text for trial, _ in trials for text in trial.cautions]
    detailed = benchmark is not None or len(known) == 1
    cautions += [
        f"{cell.benchmark} / {cell.variant}: {text}"
        for cell in cells
        for text in cell.cautions
        if detailed or "warm-up" not in text
    ]
    first_unit, second_unit = next(iter(infos))
    return PlaneReport(
        metrics=metrics,
        units=(first_unit, second_unit),
        cells=tuple(cells),
        detailed=detailed,
        cautions=tuple(dict.fromkeys(cautions)),
    )


def _cell(
    trial: Trial, variant: str, benchmark: str, metrics: tuple[str, str], most: int
) -> PlaneCell:
    pairs, fitted, problem = None, None, None
    try:
        pairs = pairs_of_runs(trial, variant, benchmark, metrics=metrics)
        fitted = fit_mixture_2d(pairs.values, max_components=most, names=metrics, units="spread")
    except AnalysisError as error:
        problem = error.what
    return PlaneCell(
        benchmark=benchmark, variant=variant, pairs=pairs, mixture=fitted, problem=problem
    )
