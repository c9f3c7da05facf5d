"""What a diagnosis holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..pages.result import Result

if TYPE_CHECKING:
    from ..record.run_numbers import Better
    from .host_speeds import HostSpeeds
    from .movers import Movers

REFERENCES = (
    "Y. Benjamini, Y. Hochberg, Journal of the Royal Statistical Society B 57, 1995",
    "A. Wald, J. Wolfowitz, Annals of Mathematical Statistics 11 (1940) and 14 (1943)",
    "G. M. Ljung, G. E. P. Box, Biometrika 65, 1978",
    "A. N. Pettitt, Applied Statistics 28, 1979",
    "W. H. Kruskal, W. A. Wallis, Journal of the American Statistical Association 47, 1952",
    "M. Friedman, Journal of the American Statistical Association 32, 1937",
    "E. B. Page, Journal of the American Statistical Association 58, 1963",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was found; ``docs/methods/diagnosis.md`` lists the codes."""

    code: str
    benchmark: str | None = None
    variant: str | None = None
    sessions: tuple[int | str, ...] = ()
    pvalue: float | None = None
    pvalue_adjusted: float | None = None
    size: float | None = None
    certain: bool = True
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellLine:
    """One cell: what was counted, and the p-value of each test (None where not possible)."""

    benchmark: str
    variant: str
    runs: int
    sessions: int
    spread: float | None
    session_sd: float | None
    lag_1: float | None
    effective: float | None
    ties: float
    resolution: float | None
    far: int
    pvalues: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FarRun:
    """A run far from the others of its cell and session; it is flagged, never left out."""

    benchmark: str
    variant: str
    session: int | str
    run: int
    ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Untested:
    """A cell with too few runs for any test."""

    benchmark: str
    variant: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoBinaries:
    """A variant whose programs were not the same in all sessions."""

    variant: str
    benchmarks: tuple[str, ...]
    hashes: tuple[str, ...]
    sessions: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Diagnosis(Result):
    """What the runs of a trial, a file or a list of values look like.

    Attributes
    ----------
    name : str
        The trial, or what the values are called.
    metric, unit, better : str
        What was measured; `metric` is None for a file.
    confidence : float
        1 - this is the share of clean trials that show any finding, at most.
    variants, benchmarks : tuple of str
        What was looked at.
    sessions, runs : int
        How many.
    tests : int
        p-values that were corrected together.
    findings : tuple of Finding
        Those of the host first, then tested ones by their p-values, then recorded ones.
    host : tuple of Finding
        Every test of the whole host, whether it found something or not.
    speeds : HostSpeeds or None
        The levels of the whole host, or of the `movers`; None where no test of it found anything.
    movers : Movers or None
        Who moves where it is not the whole host; None where all programs do, and where no test of the host
        found anything.
    cells : tuple of CellLine
        Every cell.
    not_tested : tuple of Untested
        Cells with fewer than 10 runs.
    far_runs : tuple of FarRun
        The farthest first.
    two_binaries : tuple of TwoBinaries
        Variants that must not be averaged over sessions without a word.
    in_order : bool
        Whether the order of the runs is known; otherwise no test that looks at it was made.
    """

    method: ClassVar[str] = "diagnose"

    name: str
    metric: str | None
    unit: str
    better: Better
    confidence: float
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    sessions: int
    runs: int
    tests: int
    findings: tuple[Finding, ...]
    host: tuple[Finding, ...]
    speeds: HostSpeeds | None
    cells: tuple[CellLine, ...]
    not_tested: tuple[Untested, ...]
    far_runs: tuple[FarRun, ...]
    two_binaries: tuple[TwoBinaries, ...] = ()
    movers: Movers | None = None
    in_order: bool = True
