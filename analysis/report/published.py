"""What the published methods say of the same runs: the table of ``verdict --explain``, and a picture of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..pages.model import CommandLine, Figure, Section, section
from ..plots.axes import ratio_axis, ratio_scale, rows_down
from ..plots.chart import Sheet, arranged
from ..plots.marks import style_of
from ..verdict.panel import ONE_VALUE, Said, methods_table, reasons_section, sessions_are_runs
from ..verdict.sentence import word
from .figures.panels import rows_high
from .page import Chapter
from .written import written_of

if TYPE_CHECKING:
    from ..methods.multilevel.result import Multilevel
    from ..plots.paper import Picture
    from .subject import Subject
    from .written import Written

__all__ = ["chapter"]

_SHEET = Sheet(width=85.0)  # mm: a telephone's page
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
    source = [f"{subject.sources[0]}:{candidates[0]['variant']}"] if subject.trial else ()
    note = f"; {ONE_VALUE}" if sessions_are_runs(subject.verdict) else ""
    lead = f"They ask different questions of the same runs{note}."
    values = {
        "lead": lead,
        "baseline": subject.baseline,
        "candidates": candidates,
        "commands": [subject.command(one, of=source) for one in _COMMANDS],
    }
    anchor = subject.anchor("panel")
    return Chapter(
        name="panel",
        anchor=anchor,
        title="What the published methods say of the same runs",
        lead=lead,
        values=values,
        sections=lambda: tuple(_sections(anchor, values)),
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


def _sections(anchor: str, values: Mapping[str, Any]) -> Iterator[Section]:
    yield section(values["lead"])
    for number, one in enumerate(values["candidates"], 1):
        name = f"{anchor}-{number}"
        alt = (
            f"speedup of {one['variant']} over {values['baseline']}, by each method that gives one"
        )
        told = [said for said in one["methods"] if said.method not in _NO_RATIO and said.value]
        yield section(
            *(
                [Figure(name=f"{name}-ratios", alt=alt, draw=partial(_picture, told))]
                if told
                else []
            ),
            methods_table(name, one["methods"]),
            reasons_section(one["disagreements"]),
            title=one["variant"],
        )
    yield section(*map(CommandLine, values["commands"]), title="How each came to its answer")


def _picture(told: Sequence[Said]) -> Picture:
    """Draw the ratios that the methods give on one axis."""
    ratios = [n for one in told for n in (one.value, one.low, one.high) if n is not None and n > 0]
    axes = rows_down([one.method for one in told])
    ratio_axis(axes, "x", ratio_scale(filter(math.isfinite, ratios)))
    for k, one in enumerate(told):
        ends = None if one.low is None or one.high is None else (one.low, one.high)
        style = style_of(one.word or "undecided")
        axes.interval(k, one.value or axes.x.low, ends, style, hollow=style == "neither")
    return arranged(_SHEET, [[axes]], rows_high(_SHEET, len(told), 1.5))
