"""What the chapter holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..chapter import OldChapter

if TYPE_CHECKING:
    from ...pages.model import Value

__all__ = ["Cross", "Found", "Happened", "Lane", "Level", "Mark", "Panel", "Timeline"]

Places = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A tick of an axis: its place as a share of the axis, and its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A session in the picture.

    Attributes
    ----------
    session : str
        Its number; the host's name where each host of a fleet is taken as one session.
    left, width : float
        Its place, as shares of the picture's width.
    seconds : Value
        From its first run's start to its last run's end.
    runs : Value
        Of them are drawn, but for thinning.
    level : Value
        The median of its runs, each against its cell's median: 1.05 where all were 5 % higher.
    higher : Value
        The share of its runs at the higher level of the host; unknown where the host has one level.
    dots, opened : tuple of (float, float)
        Places of runs, as shares of the panel's width and of the height from the bottom; those of the
        opened benchmark are in `opened`.
    above, below : tuple of float
        Places of runs beyond the scale; several runs may share one.
    beyond : int
        How many runs lie there.
    """

    session: str
    left: float
    width: float
    seconds: Value
    runs: Value
    level: Value
    higher: Value
    dots: Places
    opened: Places
    above: tuple[float, ...]
    below: tuple[float, ...]
    beyond: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A finding that belongs to sessions: its words, and the sessions' places with a figure each.

    `spans` holds for each session the left and the right edge and the figure, "" without one.
    """

    words: str
    spans: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A level of the whole host: its place from the bottom, and what it is called."""

    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cross:
    """A failed run: its place from the left, and its words in full and in brief."""

    at: float
    text: str
    brief: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All runs of a trial against time.

    Attributes
    ----------
    label : str
        "A" or "B" where two trials are shown; else "".
    trial : str
        Its name.
    alt : str
        What the picture shows, in words.
    axis : str
        The upright axis, for the page's script.
    panels : tuple of Panel
        A session each.
    levels : tuple of Mark
        Ticks of the upright axis, from the bottom.
    times : tuple of Mark
        Ticks of the time axis.
    states : tuple of Level
        The two levels of the host, where it has two.
    lanes : tuple of Lane
        Findings that belong to sessions.
    crosses : tuple of Cross
        Failed runs.
    notes : tuple of str
        What is to be known of the picture: thinning, clipping, gaps.
    noun : str
        What a panel is: "session", or "host".
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"noun"})

    label: str
    trial: str
    alt: str
    axis: str
    panels: tuple[Panel, ...]
    levels: tuple[Mark, ...]
    times: tuple[Mark, ...]
    states: tuple[Level, ...]
    lanes: tuple[Lane, ...]
    crosses: tuple[Cross, ...]
    notes: tuple[str, ...]
    noun: str = "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Something that the diagnosis found: of which trial and cell, what, and its adjusted p-value."""

    trial: str
    cell: str
    text: str
    pvalue: Value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Happened(OldChapter):
    """The trial as it happened.

    Attributes
    ----------
    deck : tuple of str
        Paragraphs: what is shown, and what was found of the whole host.
    higher : str
        What the higher level of a host with two is called.
    timelines : tuple of Timeline
        One for each trial.
    found : tuple of Found
        What the diagnosis found, of the host first.
    more_found : int
        How many findings are not in `found`.
    failed : int
        Failed runs.
    failed_anchor : str
        The id of the part of the page that lists them.
    """

    name: ClassVar[str] = "happened"

    deck: tuple[str, ...]
    higher: str
    timelines: tuple[Timeline, ...]
    found: tuple[Found, ...]
    more_found: int
    failed: int
    failed_anchor: str

    def to_dict(self) -> dict[str, Any]:
        """Give its values as JSON types; places of marks are the picture's own and left out."""
        told = super(Happened, self).to_dict()
        for timeline in told["timelines"]:
            for key in ("axis", "levels", "times", "states", "crosses"):
                del timeline[key]
            for panel in timeline["panels"]:
                panel["beyond_scale"] = panel.pop("beyond")
                for key in ("dots", "opened", "above", "below", "left", "width"):
                    del panel[key]
            timeline["sessions"] = timeline.pop("panels")
            timeline["findings"] = [
                {"text": lane["words"], "sessions": len(lane["spans"])}
                for lane in timeline.pop("lanes")
            ]
        return told
