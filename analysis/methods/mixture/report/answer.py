"""The whole answer of mixtures: who wins a single run, then each variant's components and modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....data import PerformanceMatrix
from ....errors import AnalysisError, UsageError
from ....record import Better
from ..fitting.fit import FEW_VALUES
from .cell import MixtureCell, mixture_cell
from .contest import MixtureContest, mixture_contest
from .options import MixtureOptions
from .page import detail, overview
from .parallel import mixture_cells

__all__ = ["BenchmarkMixtures", "MixtureReport", "mixture_report"]

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BenchmarkMixtures:
    """One benchmark: a cell for each variant that has it, and their contest if there are several."""

    benchmark: str
    cells: tuple[MixtureCell, ...]
    contest: MixtureContest | None

    def to_dict(self) -> dict[str, Any]:
        """Give the benchmark as JSON types."""
        return {
            "benchmark": self.benchmark,
            "variants": [cell.to_dict() for cell in self.cells],
            "contest": None if self.contest is None else self.contest.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureReport:
    """All that mixtures say about the runs of one or more variants.

    With one benchmark (`detailed`) each cell holds the evidence for its modes and all metrics have
    intervals; with several there are fits, fit tests and chances only.
    """

    benchmarks: tuple[BenchmarkMixtures, ...]
    variants: tuple[str, ...]
    better: Better
    unit: str
    options: MixtureOptions
    cautions: tuple[str, ...]
    seed: int | None
    references: tuple[str, ...]

    @property
    def detailed(self) -> bool:
        """Whether there is one benchmark only."""
        return len(self.benchmarks) == 1

    def to_dict(self) -> dict[str, Any]:
        """Give the report as JSON types."""
        return {
            "variants": list(self.variants),
            "better": self.better,
            "unit": self.unit,
            "detailed": self.detailed,
            "options": self.options.to_dict(),
            "benchmarks": [one.to_dict() for one in self.benchmarks],
            "cautions": list(self.cautions),
            "seed": self.seed,
            "references": list(self.references),
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, digits: int = 4) -> str:
        """Give what a person reads; weights and parameters with so many significant digits."""
        if self.detailed:
            lines = detail(
                self.benchmarks[0].benchmark,
                self.benchmarks[0].cells,
                self.benchmarks[0].contest,
                better=self.better,
                unit=self.unit,
                options=self.options,
                cautions=self.cautions,
                digits=digits,
            )
        else:
            rows = [(one.benchmark, one.cells, one.contest) for one in self.benchmarks]
            lines = overview(
                rows,
                better=self.better,
                unit=self.unit,
                options=self.options,
                cautions=self.cautions,
            )
        return "\n".join(lines)


def mixture_report(
    matrices: Sequence[PerformanceMatrix],
    *,
    benchmark: str | None = None,
    options: MixtureOptions | None = None,
    rng: np.random.Generator,
    seed: int | None = None,
    cautions: Sequence[str] = (),
    progress: Progress | None = None,
) -> MixtureReport:
    """Fit mixtures to the runs of variants, benchmark by benchmark, and compare the variants.

    Parameters
    ----------
    matrices : sequence of PerformanceMatrix
        One for each variant, of one unit and direction, with different names.
    benchmark : str, optional
        Look at this one only, in full detail.
    options : MixtureOptions, optional
        What is asked for. Without it the fit test draws 500 resamples for a single benchmark and
        200 for each of several.
    rng : numpy.random.Generator
        One number of it seeds the streams of all cells.
    seed : int, optional
        Where `rng` comes from, for the record.
    cautions : sequence of str
        What is known of the sources already.
    progress : callable, optional
        Called with the numbers of cells done and in all, and the name of the next.

    Raises
    ------
    UsageError
        If there is no matrix, two have one name, or none has the benchmark.
    AnalysisError
        If the matrices differ in unit or direction, or no cell at all can be fitted.
    """
    _check(matrices)
    names = tuple(dict.fromkeys(name for matrix in matrices for name in matrix.benchmarks))
    if benchmark is not None:
        if benchmark not in names:
            raise UsageError(f"there is no benchmark {benchmark!r}", None, f"known: {_some(names)}")
        names = (benchmark,)
    if options is None:
        options = MixtureOptions(resamples=500 if len(names) == 1 else 200)
    root = int(rng.integers(2**63))
    wanted = [(m, name) for name in names for m in matrices if name in m.benchmarks]
    look = progress or (lambda _done, _total, _name: None)
    detailed = len(names) == 1
    if detailed:
        made = _detailed(wanted, options, root, look)
    else:
        made = mixture_cells(wanted, options, root=root, progress=look)
    by_name: dict[str, list[MixtureCell]] = {name: [] for name in names}
    for cell in made:
        by_name[cell.benchmark].append(cell)
    look(len(wanted), len(wanted), "")
    found = [
        BenchmarkMixtures(
            benchmark=name,
            cells=tuple(cells),
            contest=mixture_contest(
                cells, better=matrices[0].better, options=options, pairs=detailed
            ),
        )
        for name, cells in by_name.items()
    ]
    _check_any(found)
    report = MixtureReport(
        benchmarks=tuple(found),
        variants=tuple(matrix.name for matrix in matrices),
        better=matrices[0].better,
        unit=matrices[0].unit,
        options=options,
        cautions=(),
        seed=seed,
        references=_references(found),
    )
    return replace(report, cautions=(*cautions, *_cautions(report, matrices)))


def _detailed(
    wanted: Sequence[tuple[PerformanceMatrix, str]],
    options: MixtureOptions,
    root: int,
    progress: Progress,
) -> Iterator[MixtureCell]:
    for done, (matrix, benchmark) in enumerate(wanted):
        progress(done, len(wanted), f"{benchmark} / {matrix.name}")
        yield mixture_cell(matrix, benchmark, options, root=root)


def _check(matrices: Sequence[PerformanceMatrix]) -> None:
    if not matrices:
        raise UsageError("there is nothing to fit: give at least one variant")
    names = [matrix.name for matrix in matrices]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"two variants have the name {name!r}", fix="give them different names"
            )
    for field in ("better", "unit"):
        kinds = {getattr(matrix, field): matrix.name for matrix in matrices}
        if len(kinds) > 1:
            (one, first), (other, second), *_ = kinds.items()
            raise AnalysisError(
                f"the two differ in '{field}': {one!r} and {other!r}",
                f"{first} against {second}",
                "compare values of one kind",
            )


def _check_any(found: Sequence[BenchmarkMixtures]) -> None:
    """Refuse to report when nothing could be fitted."""
    cells = [cell for one in found for cell in one.cells]
    if all(cell.mixture is None for cell in cells):
        first = cells[0]
        raise AnalysisError(
            first.problem or "no mixture can be fitted", f"{first.variant}, {first.benchmark}"
        )


def _references(found: Sequence[BenchmarkMixtures]) -> tuple[str, ...]:
    said: dict[str, None] = {}
    for one in found:
        for cell in one.cells:
            for part in (cell.mixture, cell.fit_test, cell.evidence):
                said |= dict.fromkeys(() if part is None else part.references)
        if one.contest is not None:
            for pair in one.contest.pairs:
                said |= dict.fromkeys(pair.forward.references)
    return tuple(said)


def _cautions(report: MixtureReport, matrices: Sequence[PerformanceMatrix]) -> tuple[str, ...]:
    """Gather what a reader should know; what holds for several variants is said once."""
    said: dict[str, list[str]] = {}
    for matrix in matrices:
        for text in matrix.cautions:
            said.setdefault(text, []).append(matrix.name)
    if report.detailed:
        for cell in report.benchmarks[0].cells:
            for text in cell.cautions:
                said.setdefault(text, []).append(cell.variant)
    several = len(matrices) > 1
    cautions = [f"{', '.join(names)}: {text}" if several else text for text, names in said.items()]
    contest = report.benchmarks[0].contest if report.detailed else None
    if contest is not None:  # what the samples said themselves is not said of their pairs again
        cautions += [text for text in contest.cautions if not text.endswith(tuple(said))]
    if report.detailed and contest is None and several:
        cautions.append("nothing is compared: fewer than two variants have a mixture")
    if not report.detailed:
        cautions += _short(report)
    if report.options.resamples == 0:
        cautions.append("nothing was resampled: no fit test, no evidence for modes, no intervals")
    return tuple(cautions)


def _short(report: MixtureReport) -> list[str]:
    """Warn of samples that say little; the detail says so of each."""
    sizes = [cell.values.size for one in report.benchmarks for cell in one.cells]
    few = sum(size < FEW_VALUES for size in sizes)
    if not few:
        return []
    return [
        f"{few} of {len(sizes)} samples have fewer than {FEW_VALUES} values, which hardly determine "
        "a number of components"
    ]


def _some(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
