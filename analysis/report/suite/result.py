"""What the chapter on the suite holds: plain values, nothing left to compute but places on a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from ..chapter import OldChapter

if TYPE_CHECKING:
    from ...pages.model import Value
    from ..spoken import Span

__all__ = [
    "BoxBand",
    "BoxColumn",
    "BoxRow",
    "FiveNumbers",
    "PairRow",
    "Plane",
    "PlaneMark",
    "RankRow",
    "Ranks",
    "Suite",
]

Style = Literal["faster", "slower", "neither", "baseline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveNumbers:
    """The runs of one cell over the median of the baseline's, so that 2 is twice as good.

    `q1` to `q3` hold the middle half of the runs, by linear interpolation between neighbours; `worst`
    and `best` are the two outermost runs.
    """

    runs: int
    worst: Value
    q1: Value
    median: Value
    q3: Value
    best: Value

    @property
    def numbers(self) -> tuple[float, ...]:
        """All five, the worst first."""
        five = (self.worst, self.q1, self.median, self.q3, self.best)
        return tuple(float(one.value) for one in five if one.value is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxRow:
    """A benchmark: its candidate's runs and its baseline's.

    `link` is the id of its part; `word` the verdict's, "" where there is none; `candidate` is None
    where only the baseline was measured, and for a variant alone.
    """

    benchmark: str
    link: str
    word: str
    style: Style
    baseline: FiveNumbers
    candidate: FiveNumbers | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxBand:
    """Neighbouring benchmarks that are not listed one by one.

    The five numbers are quantiles of all their runs together: 5, 25, 50, 75 and 95 %.
    """

    benchmarks: int
    first: str
    last: str
    numbers: FiveNumbers


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxColumn:
    """One candidate on all benchmarks, in the order of the page.

    Attributes
    ----------
    candidate : str
        The variant; the baseline itself where nothing is compared.
    rows : tuple of BoxRow
        All benchmarks.
    listed : tuple of str
        Those that a page shows one by one.
    bands : tuple of BoxBand
        The others, a group of neighbours each.
    apart : int
        On how many benchmarks the middle halves of both sides have nothing in common.
    compared : int
        Of how many benchmarks.
    """

    candidate: str
    rows: tuple[BoxRow, ...]
    listed: tuple[str, ...]
    bands: tuple[BoxBand, ...]
    apart: int
    compared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneMark:
    """A variant's point, or the end of a benchmark's arrow."""

    name: str
    style: Style
    x: Value
    y: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """The biplot: variants as points, benchmarks as arrows, in the first two components.

    `shares` are the components' parts of the variance in percent; the second is missing where there
    is one component only. `cautions` belong to the picture.
    """

    variants: tuple[PlaneMark, ...]
    benchmarks: tuple[PlaneMark, ...]
    shares: tuple[Value, ...]
    conclusion: str
    cautions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow:
    """A variant's rank, and whom it is not told apart from.

    `rank` is a place such as ``2`` or ``2 to 3``, its number the better end. `speedup`, `low` and
    `high` are over the baseline, as on the whole page; empty for the baseline.
    """

    variant: str
    style: Style
    rank: Value
    speedup: Value
    low: Value
    high: Value
    alike: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """Two variants over the suite, the better one first."""

    candidate: str
    baseline: str
    speedup: Value
    low: Value
    high: Value
    pvalue: Value
    word: str
    style: Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """The ranking, best first.

    Attributes
    ----------
    lead : tuple of Span
        What it says, in a sentence or two.
    rule : str
        How it was made.
    rows : tuple of RankRow
        One for each variant that could be compared.
    bars : tuple of (int, int)
        First and last place, from 0, of neighbours of which no pair is told apart; longest runs only.
    pairs : tuple of PairRow
        All pairs.
    """

    lead: tuple[Span, ...]
    rule: str
    rows: tuple[RankRow, ...]
    bars: tuple[tuple[int, int], ...]
    pairs: tuple[PairRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Suite(OldChapter):
    """The suite as a whole.

    Attributes
    ----------
    baseline : str
        What all ratios are over.
    margin : float
        The largest ratio less 1 that counts as none.
    better, worse : str
        The words for the right and the left side of the axis.
    reading : tuple of Span
        How the boxes are read.
    boxes : tuple of BoxColumn
        One for each candidate.
    left_out : tuple of str
        Benchmarks without a box: of runs of 0 there is no ratio.
    plane : Plane or None
        The biplot.
    ranks : Ranks or None
        The ranking.
    missing : tuple of str
        Why there is no biplot, or no ranking.
    friedman : str
        What the published diagram of ranks would be worth; "" where it does not come up.
    commands : tuple of str
        What prints or draws more of this.
    """

    name: ClassVar[str] = "suite"

    baseline: str
    margin: float
    better: str
    worse: str
    reading: tuple[Span, ...]
    boxes: tuple[BoxColumn, ...]
    left_out: tuple[str, ...]
    plane: Plane | None
    ranks: Ranks | None
    missing: tuple[str, ...]
    friedman: str
    commands: tuple[str, ...]
