"""What the parts of the page hold: a part for each benchmark."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from ...pages.result import plain
from ..chapter import OldChapter

if TYPE_CHECKING:
    from ...pages.model import Value
    from .drawings import EcdfPlot, FoldedPlots, RunPlot, SessionPlot, ShiftPlot, Strip

__all__ = ["Against", "Mark", "Part", "Parts", "Quantile", "Remark", "SessionRatio", "VariantRuns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantRuns:
    """The runs of one variant.

    Attributes
    ----------
    variant : str
        Its name.
    word, style : str
        What it is against the baseline, as a screen says it ("" for the baseline, and where nothing
        was compared), and the role of its colour.
    runs, sessions, failed, far : int
        Runs that count, their sessions, measured runs that failed, runs far from the others of
        their session.
    mean : Value
        Geometric mean, sessions weighing equally: what the speedup rests on (arithmetic where runs
        are 0). With its unit, as the next ones.
    median, minimum, maximum : Value
        Of all its runs.
    spread : Value
        Relative standard deviation within a session, in percent.
    speedup, low, high : Value
        Against the baseline; "" where unknown.
    interval : str
        That of the speedup, or of the mean where there is one variant only; "" where unknown.
    """

    variant: str
    word: str
    style: str
    runs: int
    sessions: int
    failed: int
    far: int
    mean: Value
    median: Value
    minimum: Value
    maximum: Value
    spread: Value
    speedup: Value
    low: Value
    high: Value
    interval: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRatio:
    """The speedup of one session, or within one session of one block."""

    session: str
    speedup: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """The speedup at one quantile: `share` of the runs lie below it."""

    share: float
    speedup: Value
    low: Value
    high: Value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Against:
    """One candidate against the baseline.

    `unit` is "session", or "block" within one session; it is "" and `by_session` is empty where
    sides are not paired, `shift` where sessions have too few runs, which `shift_note` says.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset(
        {"style", "sessions_plot", "ecdf_plot", "shift_plot", "shift_note"}
    )

    variant: str
    word: str
    style: str
    unit: str
    by_session: tuple[SessionRatio, ...]
    shift: tuple[Quantile, ...]
    shift_note: str
    sessions_plot: SessionPlot | None
    ecdf_plot: EcdfPlot
    shift_plot: ShiftPlot | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something found in some sessions.

    Attributes
    ----------
    code, word : str
        What it is, for programs and in a word or two.
    variant : str
        The one that it is of; "" of all.
    sessions, figures : tuple of str
        Where it was seen, and the figure that tells most there; "" where there is none.
    everywhere : bool
        Whether that are all sessions.
    text : str
        One sentence.
    """

    code: str
    word: str
    variant: str
    sessions: tuple[str, ...]
    figures: tuple[str, ...]
    everywhere: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A sentence.

    Attributes
    ----------
    pieces : tuple of str
        Words and names in turn, words first: names that are not ours are set apart from the rest.
    link, linked : str
        An anchor on this page, and the words behind the sentence that lead there; or "".
    """

    pieces: tuple[str, ...]
    link: str = ""
    linked: str = ""

    @property
    def text(self) -> str:
        """The sentence as one text."""
        return "".join(self.pieces) + (f" ({self.linked})." if self.linked else "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """One benchmark.

    Attributes
    ----------
    name, anchor : str
        The benchmark, and the id of its part.
    finding : Remark or None
        What a rule found, such as "where means and medians part".
    opened : bool
        Whether it stands open: a caution names it, or there are few benchmarks.
    word : str
        Of the first candidate: what closed lines are grouped by where there are many.
    unit, better : str
        Of the values.
    commands : tuple of str
        What was executed, where the trial says it; what differs between variants as alternatives.
    variants : tuple of VariantRuns
        The baseline first.
    candidates : tuple of Against
        Those with runs on this benchmark.
    marks : tuple of Mark
        What the diagnosis found in some sessions.
    remarks : tuple of Remark
        What the pictures show, in sentences.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"run_plot", "strips", "folded", "timed"})

    name: str
    anchor: str
    finding: Remark | None
    opened: bool
    word: str
    unit: str
    better: str
    timed: bool
    commands: tuple[str, ...]
    variants: tuple[VariantRuns, ...]
    candidates: tuple[Against, ...]
    marks: tuple[Mark, ...]
    remarks: tuple[Remark, ...]
    run_plot: RunPlot
    strips: tuple[Strip, ...]
    folded: FoldedPlots


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts(OldChapter):
    """A part for each benchmark, in the order of the page.

    `metric` is what was judged, `baseline` what the others are compared with. Pictures are left out
    of JSON: they are places of what stands there, and of the raw values.
    """

    name: ClassVar[str] = "parts"

    metric: str
    first: bool
    baseline: str
    confidence: float
    margin: float
    benchmarks: tuple[Part, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the values as JSON types, without the pictures."""
        found = {"anchor": self.anchor, "title": self.title, "metric": self.metric}
        return found | {"benchmarks": [_listed(part) for part in self.benchmarks]}


def _listed(part: Part) -> dict[str, Any]:
    told = _plain(part, {*Part.unlisted, "variants", "candidates", "remarks", "finding"})
    told["finding"] = None if part.finding is None else part.finding.text
    told["remarks"] = [remark.text for remark in part.remarks]
    told["variants"] = [_plain(one, {"style"}) for one in part.variants]
    told["candidates"] = [_plain(one, Against.unlisted) for one in part.candidates]
    return told


def _plain(one: VariantRuns | Against | Part, left_out: Collection[str]) -> dict[str, Any]:
    names = (field.name for field in fields(one))
    return {name: plain(getattr(one, name)) for name in names if name not in left_out}
