"""The configuration of the original Speedup-Test tool, and the sample files that it names.

A configuration is a CSV file of exactly five columns (Touati, Worms and Briais, *The Speedup Test*,
2010, section 6.2.1)::

    Name,Sample1,Sample2,ConfLevel,Coef
    "First benchmark","bench1.data.1","bench1.data.2",0.95,2
    "Second benchmark","bench2.data.1","bench2.data.2",NA,

Sample1 holds the times of the initial program, Sample2 those of the optimised one, one a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....data import PerformanceMatrix
from ....errors import AnalysisError
from ....report import Caution, figures
from .entries import SHOWN, begins_like_entries, read_entries
from .sample import BadSampleError, locate_sample, read_sample

__all__ = [
    "LeftOut",
    "NothingLeftError",
    "SpeedupConfig",
    "looks_like_speedup_config",
    "read_speedup_config",
]

_LOOK = 65536  # characters of a file that tell what kind it is


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A benchmark that cannot be judged, the configuration's line that names it, and why."""

    name: str
    line: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpeedupConfig:
    """What a configuration and its sample files hold.

    Attributes
    ----------
    path : str
        The configuration, as it was named.
    baseline, candidate : PerformanceMatrix
        The times of Sample1 (the initial program) and Sample2 (the optimised one), in s, lower is
        better, of the benchmarks that can be judged, in the configuration's order.
    confidences : mapping of str to float or None
        Benchmark -> its ConfLevel; None where that is empty or NA.
    coefficients : mapping of str to float or None
        Benchmark -> its Coef; None where that is empty or NA.
    left_out : tuple of LeftOut
        The benchmarks that were left out, because a sample cannot be read or holds a bad value.
    cautions : tuple of Caution
        What else a reader of the results should know.
    """

    path: str
    baseline: PerformanceMatrix
    candidate: PerformanceMatrix
    confidences: Mapping[str, float | None]
    coefficients: Mapping[str, float | None]
    left_out: tuple[LeftOut, ...] = ()
    cautions: tuple[Caution, ...] = ()


class NothingLeftError(AnalysisError):
    """No benchmark of a configuration can be judged; `left_out` says why for each."""

    def __init__(self, path: Path, left_out: tuple[LeftOut, ...]) -> None:
        count = len(left_out)
        reasons = [
            f"\n  {path}:{out.line}: {out.name!r}: {'; '.join(out.reasons)}"
            for out in left_out[:SHOWN]
        ]
        if count > SHOWN:
            reasons.append(f"\n  and {count - SHOWN} more")
        what = "the only benchmark" if count == 1 else f"each of the {count} benchmarks"
        super().__init__(
            f"{what} was left out, so there is nothing to judge{''.join(reasons)}",
            str(path),
            "name sample files with one positive number a line; relative paths start at the "
            "current folder, then at the configuration's",
        )
        self.left_out = left_out


def looks_like_speedup_config(path: Path) -> bool:
    """Tell whether a file begins as a configuration does: its heading, or five fields that fit.

    A file ``*.cfg`` always counts as one, so that what is wrong in it is told.
    """
    if path.suffix.lower() == ".cfg":
        return True
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return begins_like_entries(file.read(_LOOK))
    except OSError:
        return False


def read_speedup_config(path: str | Path) -> SpeedupConfig:
    """Read a configuration and the samples that it names.

    Relative paths of samples start at the current folder, as in the original; where no such file
    is, at the configuration's folder. A benchmark with a sample that cannot be read, or that holds
    anything but positive finite numbers, one a line, is left out; `SpeedupConfig.left_out` says why.

    Parameters
    ----------
    path : str or Path
        The configuration: five columns, with or without the line of headings.

    Raises
    ------
    UsageError
        If the configuration cannot be read or is wrong; all its problems are told with their lines.
    NothingLeftError
        If no benchmark can be judged.

    References
    ----------
    Touati, Worms and Briais, *The Speedup Test*, 2010, section 6.2.1.
    """
    path = Path(path)
    entries = read_entries(path)
    sides: tuple[dict[str, NDArray[np.float64]], ...] = ({}, {})
    left_out, doubtful = [], []
    for entry in entries:
        samples, reasons = [], []
        for file in entry.files:
            place, elsewhere = locate_sample(file, path.parent)
            if elsewhere:
                doubtful.append(file)
            try:
                samples.append(read_sample(place, file))
            except BadSampleError as error:
                reasons.append(str(error))
        if reasons:
            # Both sides may name one file: one reason is enough then.
            told = tuple(dict.fromkeys(reasons))
            left_out.append(LeftOut(name=entry.name, line=entry.line, reasons=told))
            continue
        for side, values in zip(sides, samples, strict=True):
            side[entry.name] = values
    if not sides[0]:
        raise NothingLeftError(path, tuple(left_out))
    baseline, candidate = (
        PerformanceMatrix.from_samples(name, side, better="lower")
        for name, side in zip(("initial", "optimised"), sides, strict=True)
    )
    kept = [entry for entry in entries if entry.name in sides[0]]
    return SpeedupConfig(
        path=str(path),
        baseline=baseline,
        candidate=candidate,
        confidences=MappingProxyType({entry.name: entry.confidence for entry in kept}),
        coefficients=MappingProxyType({entry.name: entry.coefficient for entry in kept}),
        left_out=tuple(left_out),
        cautions=(
            *(
                Caution("level-ignored", f"{path}: {entry.doubt}", (entry.name,))
                for entry in kept
                if entry.doubt is not None
            ),
            *_doubts(tuple(dict.fromkeys(doubtful))),
        ),
    )


def _doubts(files: tuple[str, ...]) -> Iterator[Caution]:
    if files:
        yield Caution(
            "sample-in-two-folders",
            "the current folder and the configuration's folder both hold "
            f"{figures.listed(files, 3)}: the current folder's was taken, as the original does",
            files,
        )
