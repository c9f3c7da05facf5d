"""What the published methods say of the same runs: the table of ``verdict --explain``, and a picture of it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import plots
from ..pages.model import CommandLine, Section, section
from ..plots.marks import style_of
from ..record.manifest import asked_words
from ..verdict.panel import ONE_VALUE, Said, methods_table, reasons_section, sessions_are_runs
from ..verdict.sentence import word
from .page import Chapter
from .subject import abridging
from .written import written_of

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..methods.multilevel.result import Multilevel
    from ..plots import Mark, Scale
    from .subject import Subject
    from .written import Written

__all__ = ["chapter"]

_MIDDLE = 14.0  # of the marks, CSS pixels from the row's top
_FAR = 400.0  # grid lines are longer than any row, whose cell cuts them
_UNITS = {"one session, blocks": "block", "one session, runs": "run"}  # of designs within a session
_NO_RATIO = ("mixtures", "Friedman")  # whose numbers are chances and ranks
_COMMANDS = ("hpt", "speedup-test", "resample", "mixture")  # that show how a method came to it


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where nothing was compared."""
    lines = written_of(subject)
    candidates: list[dict[str, Any]] = []
    for one in subject.candidates:
        if one.panel is not None and (found := one.multilevel) is not None and found.benchmarks:
            ours = _ours(found, lines[one.variant], subject.verdict.unit)
            candidates.append(
                {
                    "variant": one.variant,
                    "methods": (ours, *one.panel.methods),
                    "disagreements": one.panel.disagreements,
                }
            )
    if not candidates:
        return None
    note = f"; {ONE_VALUE}" if sessions_are_runs(subject.verdict) else ""
    values = {
        "lead": f"They ask different questions of the same runs{note}.",
        "baseline": subject.baseline,
        "candidates": candidates,
        "commands": list(_commands(subject, candidates[0]["variant"])),
    }
    anchor = subject.anchor("panel")
    names = [subject.baseline, *(one.variant for one in subject.candidates), *subject.order]
    return Chapter(
        name="panel",
        folder="published",
        anchor=anchor,
        title="What the published methods say of the same runs",
        values=values,
        sections=lambda: tuple(_sections(anchor, values)),
        drawn=lambda: {
            "axes": [_axis(one["methods"]) for one in candidates],
            "brief": abridging(names),
        },
    )


def _ours(found: Multilevel, lines: Mapping[str, Written], unit: str) -> Said:
    """Give the session interval as a method's answer, with the numbers as the first screen writes them."""
    line = found.these if found.these is not None else found.benchmarks[0]
    told = lines[line.name]
    return Said(
        method="fairtrial",
        unit=_UNITS.get(found.design, found.outermost),
        estimand="ratio of geometric means",
        word=line.outcome,
        value=line.speedup,
        low=line.low,
        high=line.high,
        answer=f"{word(line, unit)}, {told.speedup.text}x {told.interval}".rstrip()
        if told.speedup.text
        else "no estimate",
    )


def _commands(subject: Subject, candidate: str) -> Iterator[str]:
    """Give the commands that show how each method came to its answer."""
    sources = [f"{subject.sources[0]}:{candidate}"] if subject.trial else [*subject.sources]
    metric = () if subject.verdict.usual else ("--metric", subject.verdict.metric)
    for command in _COMMANDS:
        yield shlex.join(["fairtrial", command, *sources, *metric, *asked_words()])


def _sections(anchor: str, values: Mapping[str, Any]) -> Iterator[Section]:
    yield section(values["lead"])
    for number, one in enumerate(values["candidates"], 1):
        table = methods_table(f"{anchor}-{number}", one["methods"])
        yield section(table, reasons_section(one["disagreements"]), title=one["variant"])
    yield section(*map(CommandLine, values["commands"]))


def _axis(methods: Sequence[Said]) -> tuple[Markup, list[Markup]]:
    """Draw what each method says on one axis of ratios: its head, and a row for each."""
    ratios = [_ratios(one) for one in methods]
    known = [number for row in ratios for number in row if number is not None and number > 0]
    scale = plots.ratio_scale(number for number in known if math.isfinite(number))
    ticks = plots.spaced_ticks(scale, 0.22)
    head = (
        plots.label(scale.at(tick.value), 13, tick.text, "tick minor" if tick.minor else "tick")
        for tick in ticks
    )
    ground = [
        plots.stroke(scale.at(tick.value), 0, _FAR, "one" if tick.value == 1 else "grid")
        for tick in ticks
    ]
    rows = (
        [*ground, *_marks(scale, row, style_of(one.word or "undecided"))]
        for one, row in zip(methods, ratios, strict=True)
    )
    return plots.plot(18, head, ""), [plots.plot(2 * _MIDDLE, row, "") for row in rows]


def _ratios(one: Said) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if one.method in _NO_RATIO else (one.value, one.low, one.high)


def _marks(
    scale: Scale, ratios: tuple[float | None, float | None, float | None], css: str
) -> Iterator[Mark]:
    value, low, high = ratios
    if low is not None and high is not None:
        left, right = scale.clipped(low or scale.low), scale.clipped(high)
        yield plots.line(left, _MIDDLE, right, _MIDDLE, f"interval {css}")
    if value is not None:
        hollow = " hollow" if css == "neither" else ""
        yield plots.dot(scale.clipped(value or scale.low), _MIDDLE, f"{css}{hollow}", r=4.5)
