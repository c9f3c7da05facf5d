"""Foreign cells as performance matrices: a process is a run, an occasion a session."""

from __future__ import annotations

from collections.abc import Iterable

from ..data import PerformanceMatrix
from ..errors import AnalysisError, UsageError
from ..record import Better
from ..report import Caution, figures
from .gathered import Gathered, Placed, occasions

__all__ = ["matrices_of"]


def matrices_of(
    gathered: Gathered, metric: str | None = None, better: Better | None = None
) -> dict[str, PerformanceMatrix]:
    """Give the runs of each variant; its iterations are kept where the file knows processes.

    Parameters
    ----------
    gathered : Gathered
        The cells.
    metric : str, optional
        The first one by default.
    better : {"lower", "higher"}, optional
        For a metric of which the file does not say it; one that contradicts the file is refused.

    Returns
    -------
    dict of str to PerformanceMatrix
        By variant, in the order of the files. Benchmarks that have a value of 0 are left out, with a
        caution: every comparison is one of ratios.

    Raises
    ------
    UsageError
        If there is no such metric, or the direction is unknown or contradicted.
    AnalysisError
        If values of one metric have two units, or no variant has a benchmark that can be compared.
    """
    name = metric or gathered.metrics[0]
    cells = [one for one in gathered.cells if one.cell.metric == name]
    where = gathered.files[0].source
    if not cells:
        raise UsageError(
            f"the files have no metric {name!r}",
            where,
            f"known here: {', '.join(gathered.metrics)}",
        )
    units = list(dict.fromkeys(one.cell.unit for one in cells if one.cell.unit))
    if len(units) > 1:
        raise AnalysisError(
            f"values of {name!r} have the units {figures.listed(tuple(units))}",
            where,
            "compare benchmarks of one unit: leave the others out with --benchmark",
        )
    direction = _direction(cells, better, name, where)
    numbers = dict(occasions(gathered))
    found = {}
    for variant in dict.fromkeys(one.variant for one in cells):
        mine = [one for one in cells if one.variant == variant]
        made = _matrix(mine, numbers, gathered.cautions, better=direction, unit=(units or [""])[0])
        if made is not None:
            found[variant] = made
    if not found:
        raise AnalysisError(
            f"no benchmark has values of {name!r} that can be compared",
            where,
            "values of 0 have no ratio; name another metric",
        )
    return found


def _direction(cells: Iterable[Placed], asked: Better | None, metric: str, where: str) -> Better:
    said = {one.cell.better for one in cells if one.cell.better is not None}
    if len(said) > 1 or (asked is not None and said and asked not in said):
        told = " and ".join(sorted(said))
        raise UsageError(
            f"the file says that {told} values of {metric!r} are better",
            where,
            "leave out --better",
        )
    if said:
        return said.pop()
    if asked is None:
        raise UsageError(
            f"the file does not say which direction of {metric!r} is better",
            where,
            "add --better lower (times) or --better higher (scores, rates)",
        )
    return asked


def _matrix(
    cells: list[Placed],
    numbers: dict[str, int],
    cautions: tuple[Caution, ...],
    *,
    better: Better,
    unit: str,
) -> PerformanceMatrix | None:
    samples: dict[str, list[float]] = {}
    processes: dict[str, list[int]] = {}
    sessions: dict[str, list[int]] = {}
    failed: dict[str, int] = {}
    zeros: list[str] = []
    known = all(one.cell.known for one in cells)
    for one in cells:
        if one.cell.failed:
            failed[one.benchmark] = failed.get(one.benchmark, 0) + one.cell.failed
        if 0.0 in one.cell.values:
            zeros.append(one.benchmark)
        row = samples.setdefault(one.benchmark, [])
        ids = processes.setdefault(one.benchmark, [])
        when = sessions.setdefault(one.benchmark, [])
        for process in one.cell.processes:
            number = ids[-1] + 1 if ids else 1
            row += process
            ids += [number] * len(process)
            when += [numbers[one.occasion]] * len(process)
    kept = [bench for bench, row in samples.items() if row and bench not in zeros]
    if not kept:
        return None
    if zeros:
        text = f"left out, because values of 0 have no ratio: {figures.listed(tuple(zeros))}"
        cautions = (Caution("not-positive", text, tuple(zeros)), *cautions)
    return PerformanceMatrix.from_samples(
        cells[0].variant,
        {bench: samples[bench] for bench in kept},
        better=better,
        unit=unit,
        sessions={bench: sessions[bench] for bench in kept},
        processes={bench: processes[bench] for bench in kept} if known else None,
        cautions=cautions,
        failed=failed,
        metric=cells[0].cell.metric,
        origin=", ".join(dict.fromkeys(one.source for one in cells)),
    )
