"""What mixtures are fitted to: trials, their variants, matrix files, and plain lists of numbers."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..data import Layout, PerformanceMatrix, Trial, read_table, read_trial
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..record import Better

if TYPE_CHECKING:
    from ..data import Table

__all__ = ["Sources", "read_sources", "trials_of"]

PLAIN = "values"  # the benchmark of a plain list of numbers
_MATRIX_FILES = (".csv", ".txt", ".json")
_LONGEST = 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sources:
    """The matrices of all sources, with different names, and what a reader should know."""

    matrices: tuple[PerformanceMatrix, ...]
    cautions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Read:
    source: str
    matrix: PerformanceMatrix
    sure: bool  # whether unit and direction are known, not assumed


def read_sources(
    sources: Sequence[str],
    *,
    metric: str | None = None,
    better: Better | None = None,
    layout: Layout = "rows",
) -> Sources:
    """Read every source; a trial gives all its variants.

    Parameters
    ----------
    sources : sequence of str
        Each ``runs/NAME``, ``runs/NAME:VARIANT``, a matrix file, or a file of one number a line.
    metric : str, optional
        Of trials; wall time by default.
    better : {"lower", "higher"}, optional
        Which direction is better in files. Otherwise they follow the trials named beside them, or
        else lower is taken, and a caution says so.
    layout : {"rows", "columns"}
        Whether each row, or each column, of a matrix file is one benchmark.

    Raises
    ------
    UsageError
        If a source is none of these, or `metric` or `better` do not belong to it.
    StoreError, AnalysisError
        If a trial or a file cannot be trusted, or holds no values.
    """
    found: list[_Read] = []
    cautions: list[str] = []
    for source in sources:
        named = _trial_and_variant(source)
        if named is not None:
            found += _from_trial(source, named, metric or "wall", better, cautions)
        elif _is_file(source):
            if metric is not None:
                raise UsageError("--metric is for trials; a file has one metric", source)
            found.append(_from_file(source, better, layout))
        else:
            raise UsageError(
                "this is no trial, no variant of one and no file",
                source,
                "name runs/NAME, runs/NAME:VARIANT, a matrix file (.csv, .txt, .json) or a file "
                "with one number a line",
            )
    matrices = _agreeing(found, better, cautions)
    return Sources(matrices=_told_apart(found, matrices), cautions=tuple(cautions))


def trials_of(sources: Sequence[str]) -> list[tuple[Trial, tuple[str, ...]]]:
    """Open the trials that the sources name, each with the variants that are meant.

    Raises
    ------
    UsageError
        If a source is no trial and no variant of one.
    StoreError
        If a trial cannot be trusted.
    """
    opened = []
    for source in sources:
        named = _trial_and_variant(source)
        if named is None:
            raise UsageError(
                "two metrics of the same runs are known in trials only",
                source,
                "name runs/NAME or runs/NAME:VARIANT",
            )
        trial = read_trial(named[0])
        variants = tuple(trial.manifest.variants) if named[1] is None else (named[1],)
        for variant in variants:
            if variant not in trial.manifest.variants:
                raise UsageError(
                    f"the trial has no variant {variant!r}",
                    str(named[0]),
                    f"known here: {', '.join(trial.manifest.variants)}",
                )
        opened.append((trial, variants))
    return opened


def _trial_and_variant(source: str) -> tuple[Path, str | None] | None:
    folder, colon, variant = source.rpartition(":")
    if os.path.isdir(source):  # noqa: PTH112 - Path.is_dir() raises on a name that is too long
        return Path(source), None
    if colon and not _is_file(source) and os.path.isdir(folder):  # noqa: PTH112
        return Path(folder), variant
    return None


def _is_file(source: str) -> bool:
    return os.path.isfile(source)  # noqa: PTH113 - Path.is_file() raises on a name that is too long


def _from_trial(
    source: str,
    named: tuple[Path, str | None],
    metric: str,
    better: Better | None,
    cautions: list[str],
) -> list[_Read]:
    folder, variant = named
    trial = read_trial(folder)
    info = trial.metric(metric)
    if better is not None and better != info.better:
        raise UsageError(
            f"in this trial {info.better} values are better",
            source,
            f"leave out --better {better}",
        )
    cautions += (text for text in trial.cautions if text not in cautions)
    found = []
    for name in trial.manifest.variants if variant is None else (variant,):
        try:
            matrix = trial.matrix(name, metric)
        except InsufficientDataError as error:
            if variant is not None:
                raise
            cautions.append(f"left out: {error.what}")
            continue
        found.append(_Read(source=source, matrix=matrix, sure=True))
    if not found:
        raise InsufficientDataError(
            f"no variant of the trial has a value of {metric!r} that counts",
            str(folder),
            n=0,
            needed=1,
        )
    return found


def _from_file(source: str, better: Better | None, layout: Layout) -> _Read:
    path = Path(source)
    if path.suffix.lower() not in _MATRIX_FILES:
        matrix = _matrix(path.stem, {PLAIN: _plain(path)}, better or "lower", "")
        return _Read(source=source, matrix=matrix, sure=better is not None)
    table = read_table(path, layout)
    if None not in (better, table.better) and better != table.better:
        raise UsageError(
            f"the file says that {table.better} values are better, the call says {better}",
            source,
            "make both agree",
        )
    matrix = _matrix(
        table.name or path.stem,
        _one_list(table, source, layout),
        better or table.better or "lower",
        table.unit or "",
        table.cautions,
    )
    return _Read(source=source, matrix=matrix, sure=(better or table.better) is not None)


def _matrix(
    name: str,
    samples: dict[str, list[float]],
    better: Better,
    unit: str,
    cautions: Sequence[str] = (),
) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(
        name, samples, better=better, unit=unit, cautions=cautions
    )


def _one_list(table: Table, source: str, layout: Layout) -> dict[str, list[float]]:
    """Take many benchmarks of one run each as what it is: one list, a number a line."""
    samples = table.samples
    if layout == "columns" or len(samples) < 2 or any(len(row) > 1 for row in samples.values()):
        return samples
    if list(samples) != [str(k) for k in range(1, len(samples) + 1)]:
        raise AnalysisError(
            "each benchmark has one run: there is nothing to fit",
            source,
            "measure more runs, or add --layout columns if each column is one benchmark",
        )
    return {PLAIN: [row[0] for row in samples.values()]}


def _plain(path: Path) -> list[float]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", str(path)) from None
    except UnicodeDecodeError as error:
        raise AnalysisError(
            f"the file is no UTF-8 text (byte {error.start})", str(path), "save it as UTF-8"
        ) from None
    values = []
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        value = _number(content)
        if value is None:
            shown = content if len(content) <= _LONGEST else f"{content[: _LONGEST - 1]}…"
            raise AnalysisError(
                f"{shown!r} is not one number",
                f"{path}:{number}",
                "write one number a line, or name the file .csv if it is a matrix",
            )
        values.append(value)
    if not values:
        raise AnalysisError("the file holds no values", str(path))
    return values


def _number(text: str) -> float | None:
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text, re.ASCII):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def _agreeing(
    found: Sequence[_Read], better: Better | None, cautions: list[str]
) -> list[PerformanceMatrix]:
    """Let files whose direction or unit is not known follow the others."""
    sure = next((one.matrix for one in found if one.sure), None)
    direction: Better = better or (sure.better if sure is not None else "lower")
    unit = next((one.matrix.unit for one in found if one.matrix.unit), "")
    if sure is None and len(found) > 1:
        cautions.append("smaller values were taken as better; add --better higher if they are not")
    return [
        replace(
            one.matrix,
            better=one.matrix.better if one.sure else direction,
            unit=one.matrix.unit or unit,
        )
        for one in found
    ]


def _told_apart(
    found: Sequence[_Read], matrices: Sequence[PerformanceMatrix]
) -> tuple[PerformanceMatrix, ...]:
    """Name variants by their source where two would have one name."""
    names = [matrix.name for matrix in matrices]
    told = []
    for one, matrix in zip(found, matrices, strict=True):
        name = matrix.name
        if names.count(name) > 1:
            folder = Path(one.source).is_dir()
            name = f"{one.source}:{name}" if folder else one.source
        told.append(replace(matrix, name=name))
    return tuple(told)
