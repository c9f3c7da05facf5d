"""The subcommand ``biplot``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import AnalysisError, UsageError
from ..options import command
from .options import Source, metric_of, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ..data.matrix import PerformanceMatrix
    from ..methods.resampling.biplot import Biplot, Scale
    from ..pages.model import Caution


class Systems(Source):
    """Which systems are looked at, and what their components are of."""

    sources: list[str]
    scale: Scale | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Systems:
    """One value for each system and benchmark, and what to say about where they come from."""

    names: Sequence[str]
    benchmarks: Sequence[str]
    values: ArrayLike
    metric: str | None = None  # that the first line names
    cautions: tuple[Caution, ...] = ()


@command("biplot")
def biplot(*, systems: Systems, plot: str | None, json: bool, out: TextIO) -> int:
    """Show which systems are alike, and which benchmarks tell them apart.

    Give two or more matrix files or variants of trials (runs/NAME:VARIANT), each of which is one system
    with its medians; or one trial (runs/NAME) with all its variants; or one .csv or .txt table with
    headings, a row for each system and a column for each benchmark.
    """
    from ..plots.chart import check_picture, write_picture

    picture = None if plot is None else check_picture(plot)
    result, metric = systems_of(systems)
    if picture is not None:
        from ..methods.resampling.biplot_picture import biplot_picture

        write_picture(biplot_picture(result), picture, title="biplot", alt=result.conclusion)
    show(result, out, as_json=json, metric=metric)
    return 0


def systems_of(asked: Systems) -> tuple[Biplot, str | None]:
    """Read the systems that the sources name, and find their principal components; with the metric to name."""
    from dataclasses import replace

    from ..methods.resampling.biplot import biplot

    read = _read(asked)
    result = biplot(read.values, read.names, read.benchmarks, scale=asked.scale or "log")
    return replace(result, cautions=(*read.cautions, *result.cautions)), read.metric


def _read(args: Systems) -> _Systems:
    from dataclasses import replace

    from ..data.host_record import not_judged
    from ..data.trial_cautions import always_said
    from ..importers.reader import is_file, open_trial, read_each, trial_and_variant
    from ..pages.model import merged

    if len(args.sources) > 1:
        each = read_each(args.sources, args.reading())
        return replace(_medians(each, args.sources), metric=metric_of(*each))
    (source,) = args.sources
    try:
        Path(source).exists()
    except (OSError, ValueError) as error:  # such as a name too long
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"this cannot be read: {reason}", source) from None
    named = trial_and_variant(source)
    if named is not None and named[1] is None:
        trial = open_trial(named[0], args.level, args.better, decimal=args.decimal)
        variants = trial.manifest.variants
        metric = args.metric or trial.default_metric
        matrices = [trial.matrix(name, metric, skip_zeros=True) for name in variants]
        found = _medians(matrices, variants)
        unasked = trial.unasked if args.metric is None else ()
        said = [not_judged(unasked)] if unasked else []
        told = merged(said, always_said(trial), found.cautions)
        return replace(found, metric=metric_of(*matrices), cautions=told)
    if is_file(source):
        return _table(Path(source), args)
    if named is not None:
        raise UsageError(
            "one variant is one system, and a biplot shows how systems differ",
            source,
            "name its trial alone for all its variants, or two sources or more",
        )
    raise UsageError(
        "there is no such trial or file", source, "name a trial, or a table of systems"
    )


def _table(path: Path, args: Systems) -> _Systems:
    from ..data.matrix_file import read_systems

    for option in args.not_for_tables():
        raise UsageError(
            f"{option} is not for a table of systems: a row is a system, a cell is its value",
            str(path),
            "leave it out, or name two sources or more, a file for each system",
        )
    table = read_systems(path, args.decimal)
    return _Systems(
        names=table.systems,
        benchmarks=table.benchmarks,
        values=table.values,
        cautions=table.cautions,
    )


def _medians(matrices: Sequence[PerformanceMatrix], sources: Sequence[str]) -> _Systems:
    """Give the medians of the benchmarks that all have."""
    import numpy as np

    from ..data.pair import trial_cautions
    from ..pages.model import Caution, merged
    from ..pages.number_format import listed

    first, *others = matrices
    for matrix in others:
        for field in ("better", "unit"):
            if getattr(matrix, field) != getattr(first, field):
                raise AnalysisError(
                    f"{first.name!r} and {matrix.name!r} differ in {field!r}: "
                    f"{getattr(first, field)!r} and {getattr(matrix, field)!r}",
                    fix="show values of one kind",
                )
    common = set(first.benchmarks).intersection(*(m.benchmarks for m in others))
    benchmarks = [bench for bench in first.benchmarks if bench in common]
    if not benchmarks:
        raise AnalysisError(
            f"these {len(matrices)} systems have no benchmark in common", ", ".join(sources[:4])
        )
    every = dict.fromkeys(bench for matrix in matrices for bench in matrix.benchmarks)
    lacking = [bench for bench in every if bench not in common]
    cautions = [caution.of(matrix.name) for matrix in matrices for caution in matrix.cautions]
    cautions += trial_cautions(matrices)
    if lacking:
        said = f"left out, because not every system has it: {listed(lacking, 5)}"
        cautions.append(Caution("benchmarks-not-of-all", said, tuple(lacking)))
    names = [matrix.name for matrix in matrices]
    if len(set(names)) < len(names):
        names = [str(source) for source in sources]  # such as two trials with one variant's name
    return _Systems(
        names=names,
        benchmarks=benchmarks,
        values=np.array([matrix.select(benchmarks).medians() for matrix in matrices]),
        cautions=merged(cautions),
    )
