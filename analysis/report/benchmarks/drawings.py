"""Places of marks: what the pictures of a part are made of, as shares of their areas.

Across, 0 is the left edge and 1 the right one; upwards, 0 is the lower edge and 1 the upper one.
`alt` says in words what a picture shows.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Cloud",
    "EcdfPlot",
    "FoldedPlots",
    "Label",
    "Panel",
    "Place",
    "RunPlot",
    "RunRow",
    "SessionPlot",
    "ShiftPlot",
    "Strip",
]

Place = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text at a place on an axis, or at a curve; `anchor` says which end of it stands there."""

    text: str
    at: float
    up: float = 0.0
    anchor: str = "middle"
    style: str = ""
    minor: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One session of the run plot, or one host.

    `label` and `brief` name it on a wide and on a narrow page, "" where there is no room; `found` says
    whether it has findings, `long` and `short` which, as far as there is room on both pages.
    """

    label: str
    brief: str
    left: float
    right: float
    found: bool
    long: str
    short: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunRow:
    """One variant's runs.

    Attributes
    ----------
    variant, style, alt, density_alt : str
        Its name, the role of its colour, and both pictures in words.
    axis : str
        What the script reads values from.
    ticks : tuple of Label
        On the upright axis.
    dots, rings : tuple of Place
        Each run; those far from the others of their session.
    crosses : tuple of float
        Failed runs, across.
    means, baseline_means : tuple of (left, right, up)
        Each session's mean, and the baseline's where it is on the same axis.
    density, baseline_density : tuple of Place
        Across the share of the highest density; empty where none is drawn.
    components : tuple of tuple of Place
        Components of a mixture, where it fits.
    """

    variant: str
    style: str
    alt: str
    density_alt: str
    axis: str
    ticks: tuple[Label, ...]
    dots: tuple[Place, ...]
    rings: tuple[Place, ...]
    crosses: tuple[float, ...]
    means: tuple[tuple[float, float, float], ...]
    baseline_means: tuple[tuple[float, float, float], ...]
    density: tuple[Place, ...]
    baseline_density: tuple[Place, ...]
    components: tuple[tuple[Place, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunPlot:
    """All runs, a panel for each session and a row for each variant.

    `noun` is "session", or "host" where each panel is one; `caption` says what every such picture has,
    `special` what not every one has.
    """

    noun: str
    panels: tuple[Panel, ...]
    rows: tuple[RunRow, ...]
    caption: str
    special: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionPlot:
    """Each session's speedup, from 1, and the mean with its interval.

    `rows` are (label, across); `height` is that of a row in pixels.
    """

    alt: str
    rows: tuple[tuple[str, float], ...]
    height: float
    one: float
    margin: Place
    ticks: tuple[Label, ...]
    mean: float | None
    interval: Place | None
    leaves: tuple[bool, bool]
    decided: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EcdfPlot:
    """The share of runs up to each value, of both sides.

    `title` says it in plain words; `half` is the edge where "50 %" stands, away from the curves.
    """

    title: str
    alt: str
    ours: tuple[Place, ...]
    theirs: tuple[Place, ...]
    half: float
    names: tuple[Label, ...]
    ticks: tuple[Label, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShiftPlot:
    """The speedup at each quantile: `points` are places, `intervals` (across, low, high)."""

    title: str
    alt: str
    points: tuple[Place, ...]
    intervals: tuple[tuple[float, float, float], ...]
    arrows: tuple[tuple[float, bool], ...]  # where an interval leaves the scale: across, upwards
    one: float
    margin: Place
    ticks: tuple[Label, ...]
    shares: tuple[Label, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cloud:
    """A square of dots: a lag plot or a normal Q-Q plot of one variant."""

    variant: str
    style: str
    alt: str
    dots: tuple[Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoldedPlots:
    """What a reviewer asks for; `ranges` gives both ends of the lag plots' axis in words."""

    lags: tuple[Cloud, ...]
    qqs: tuple[Cloud, ...]
    ranges: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strip:
    """All runs of a variant in their order, as small as a line; `each` runs make one dot."""

    variant: str
    style: str
    alt: str
    dots: tuple[Place, ...]
    each: int
