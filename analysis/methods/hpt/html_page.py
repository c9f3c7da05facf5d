"""The HPT report as one HTML page that needs nothing else: no script, no outside request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ...pages import number_format as figures
from ...pages.model import Value
from ...plots.marks import Mark, band, curve, dot, label, line, stroke
from ...plots.palette import DARK, LIGHT, PRINT
from ...plots.scale import Scale, ratio_scale, spaced_ticks
from ...plots.svg import plot
from ...registry import shipped
from ...version import VERSION
from ...words import shorten, shown
from .page import hpt_pvalues, other_lines

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.trial import Trial
    from .report import HptReport
    from .speedup import HptCurve, HptSpeedup

_FLAT = 5e-4  # reliabilities nearer to 0 or 1 are flat to the eye
_COLUMNS = 400  # places in x that are told apart
_TOP, _BELOW = 16.0, 20.0  # CSS pixels above and below the drawing's area
_DIGITS = 16  # of a hash: enough to tell files apart
_NAME = 40  # characters of a name; the whole one is in its title
_SCORES = {
    "raw": "the values themselves, negated where lower is better",
    "ratio": "the values relative to the baseline’s median, so that it has 1",
    "log-ratio": "the logarithms of the values relative to the baseline’s median, so that it has 0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilitySteps:
    """A step function over the speedups where it changes.

    `points`: Speedup, ascending, and the reliability from there to the next; the first speedup is
    the axis's lower end, the last its upper one. `required`: The reliability asked for. `tested`:
    The speedup under test, and `at_tested` the reliability there. `largest`: The largest speedup
    that has `required`; None where none has. `alt`: What the picture shows: its result.
    """

    points: tuple[tuple[float, float], ...]
    required: float
    tested: float
    at_tested: Value
    largest: Value | None
    alt: str


def reliability_steps(
    best: HptSpeedup, *, tested: float = 1.0, largest: str = ""
) -> ReliabilitySteps:
    """Take what is drawn of the whole curve; `largest` is the largest speedup as the page writes it."""
    text, marks, most = largest or best.printed, [tested], None
    end = f"no speedup has {best.required:g}"
    if best.value is not None and text is not None:
        most = Value(text, best.value)
        marks.append(best.value or 1.0)
        end = f"{text} is the largest speedup with {best.required:g}"
    at = best.curve.confidence(tested)
    reached = Value(figures.reliability(at, best.required), at)
    return ReliabilitySteps(
        points=tuple(_points(best.curve, marks)),
        required=best.required,
        tested=tested,
        at_tested=reached,
        largest=most,
        alt=f"HPT's reliability by the speedup under test: {reached.text} at {tested:g}; {end}",
    )


def _points(found: HptCurve, marks: list[float]) -> Iterator[tuple[float, float]]:
    """Give the steps inside the axis; of those that share a place the last."""
    least = np.minimum(found.between[:-1], found.between[1:])
    most = np.maximum(found.between[:-1], found.between[1:])
    inside = found.speedups[(least < 1 - _FLAT) & (most > _FLAT)]
    scale = ratio_scale([*inside.tolist(), *marks], room=0.04)
    yield scale.low, found.confidence(scale.low)
    kept: dict[int, tuple[float, float]] = {}
    for speedup, after in zip(found.speedups.tolist(), found.between[1:].tolist(), strict=True):
        if scale.low < speedup < scale.high:
            kept[round(scale.at(speedup) * _COLUMNS)] = (speedup, after)
    yield from kept.values()
    yield scale.high, found.confidence(scale.high)


def reliability_plot(steps: ReliabilitySteps, height: float = 150.0) -> Markup:
    """Draw the steps as inline SVG, with the speedup under test and the largest one marked."""
    scale = Scale(steps.points[0][0], steps.points[-1][0], log=True)
    return plot(height + _TOP + _BELOW, _marks(steps, scale, height), steps.alt, css="reliability")


def _marks(steps: ReliabilitySteps, scale: Scale, height: float) -> Iterator[Mark]:
    def y(reliability: float) -> float:
        return _TOP + (1 - reliability) * height

    for level in (0.0, 0.5, 1.0):
        yield line(0, y(level), 1, y(level), "grid")
        yield label(0, y(level) - 3, f"{level:g}", "level", anchor="start")
    for tick in spaced_ticks(scale, 0.15):
        place = scale.at(tick.value)
        yield stroke(place, y(0), y(0) + 4, "one")
        yield label(place, y(0) + 17, tick.text, "tick minor" if tick.minor else "tick")
    yield line(0, y(steps.required), 1, y(steps.required), "one dashed")
    yield label(1, y(steps.required) + 13, f"reliability {steps.required:g}", "level", anchor="end")
    if steps.tested != 1:
        yield stroke(scale.at(steps.tested), y(1), y(0), "one")
    if scale.holds(1.0):
        yield band(scale.at(1.0) - 0.0008, scale.at(1.0) + 0.0008, y(1), y(0), "one")
    places = [(scale.at(g), c) for g, c in steps.points]
    yield curve(places, "line neither", top=_TOP, height=height, steps=True)
    yield dot(scale.at(steps.tested), y(steps.at_tested.value or 0.0), "ink", r=3.5)
    if steps.largest is not None and steps.largest.value is not None:
        place = scale.at(steps.largest.value)
        yield stroke(place, y(steps.required), y(0), "ink")
        anchor, dx = ("end", -5.0) if place > 0.5 else ("start", 5.0)
        yield label(place, y(0) - 6, f"{steps.largest.text}×", "said", anchor=anchor, dx=dx)


class Fact(NamedTuple):
    """Something that is known, and what it is called."""

    name: str
    text: str


def provenance_of(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    trial: Trial | None = None,
    hashes: Mapping[str, str] | None = None,
) -> Iterator[Fact]:
    """Say what a reader needs to find the runs again; what nobody knows is left out."""
    yield Fact("version", f"fairtrial {VERSION}")
    unit = figures.unit_text(candidate.unit) or "none"
    yield Fact("unit of the values", f"{unit}; {candidate.better} is better")
    yield Fact("runs, candidate", _runs(candidate))
    yield Fact("runs, baseline", _runs(baseline))
    for path, digest in (hashes or {}).items():
        yield Fact("source", f"{path}, SHA-256 {digest[:_DIGITS]}")
    if trial is None:
        return
    manifest = trial.manifest
    measured = manifest.files.get("measurements.jsonl")
    sure = f", measurements SHA-256 {measured[:_DIGITS]}" if measured else ""
    yield Fact("source", f"trial {manifest.trial}{sure}")
    if manifest.campaign_name:
        digest = manifest.campaign_sha256[:_DIGITS]
        yield Fact("campaign", f"{manifest.campaign_name}, SHA-256 {digest}")
    ends = [text[:10] for text in (manifest.started, manifest.finished) if text]
    if ends:
        yield Fact("measured", " to ".join(dict.fromkeys(ends)))
    if manifest.host:
        cpu = f", {manifest.cpu_model}" if manifest.cpu_model else ""
        yield Fact("host", f"{manifest.host}{cpu}")
    yield Fact("seed", str(manifest.seed))


def _runs(matrix: PerformanceMatrix) -> str:
    text = (
        f"{sum(matrix.runs):,} on {figures.counted(len(matrix.runs), 'benchmark')}, "
        f"{figures.span(matrix.runs)} each"
    )
    if matrix.sessions is None:
        return text
    sessions = len({session for row in matrix.sessions for session in row.tolist()})
    return f"{text}, in {figures.counted(sessions, 'session')}"


def hpt_page(report: HptReport, facts: Iterable[Fact] = ()) -> str:
    """Give the page; every name in it is escaped."""
    environment = Environment(
        loader=FileSystemLoader(shipped("analysis/methods/hpt")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        number=lambda value: figures.significant(value, 4), shown=shown, name=_name
    )
    tested = report.tested
    steps = reliability_steps(report.best, tested=tested.speedup_under_test)
    text = f"A score is a median over the runs of {_SCORES[tested.scores]}; larger is better."
    if tested.speedup_under_test != 1:
        text += (
            f" The candidate’s is divided by the speedup under test, {tested.speedup_under_test:g}."
        )
    return environment.get_template("page.html.jinja").render(
        report=report,
        tested=tested,
        colours=Markup(  # noqa: S704 - our own
            f":root{{{LIGHT.css()}}}"
            f"@media (prefers-color-scheme:dark){{:root{{{DARK.css()}}}}}"
            f"@media print{{:root{{{PRINT.css()}}}}}"
        ),
        names={"candidate": tested.candidate, "baseline": tested.baseline, "tie": "tie"},
        scores=text,
        pvalues=hpt_pvalues(tested),
        context=[*str(report.context).splitlines(), *other_lines(report)],
        drawn=reliability_plot(steps, height=220),
        facts=list(facts),
    )


def _name(name: str) -> Markup:
    """Set a name: cut in its middle, whole in its title, isolated from what stands beside it."""
    whole, cut = shown(name), shorten(shown(name), _NAME)
    if cut == whole:
        return Markup("<bdi>{}</bdi>").format(whole)
    return Markup('<bdi title="{}">{}</bdi>').format(whole, cut)
