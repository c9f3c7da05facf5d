"""A verdict in words: the answer first, cautions below, the next command last."""

from __future__ import annotations

from collections.abc import Sequence

from ..report import Caution, Column, Page, Section, Sentence, Table, Value, figures, page_of
from .panel import Panel, panel_section
from .result import Verdict
from .screen import beside, first_cautions, following, heading, single

__all__: list[str] = []

_LINES = 25  # of a first screen of one candidate
_NAME = 28


@page_of.register
def _(verdict: Verdict) -> Page:
    explained = [one for one in verdict.candidates if one.panel is not None]
    # that there is one variant only is the answer already
    cautions = tuple(c for c in verdict.cautions if c.code != "one-variant")
    if not explained and not verdict.whole:
        free = _LINES - _height(_answer(verdict, {}), cautions)
        cautions = first_cautions(cautions, free)
    marks = _marks(cautions)
    after = following(verdict)
    return Page(
        title=f"Verdict on {verdict.trial or verdict.candidates[0].variant}",
        sections=(
            Section((heading(verdict), _answer(verdict, marks))),
            *(
                panel_section(verdict, one.variant, one.panel)
                for one in explained
                if isinstance(one.panel, Panel)
            ),
        ),
        cautions=cautions,
        following=() if after is None else (after,),
    )


def _answer(verdict: Verdict, marks: dict[str, str]) -> Section:
    if not verdict.candidates:
        alone = Sentence("one variant only: there is nothing to compare")
        return Section((alone, _alone_table(verdict)))
    if len(verdict.candidates) == 1:
        return single(verdict, verdict.candidates[0], 1, marks)
    return beside(verdict, marks)


def _height(answer: Section, cautions: Sequence[Caution]) -> int:
    """Count the lines of everything but the cautions themselves."""
    lines = 2  # the heading and an empty line
    for block in answer.blocks:
        lines += len(block.rows) + 1 if isinstance(block, Table) else 1
    lines += 2  # an empty line and the next command
    return lines + (2 if cautions else 0)


def _marks(cautions: Sequence[Caution]) -> dict[str, str]:
    """Give the numbers of the cautions about each name."""
    found: dict[str, str] = {}
    for number, caution in enumerate(cautions, 1):
        for name in caution.about:
            found[name] = f"{found.get(name, '')}[{number}]"
    return found


def _alone_table(verdict: Verdict) -> Table:
    unit = verdict.unit

    def between(low: float | None, high: float | None) -> str:
        if low is None or high is None:
            return "-"
        return f"{figures.quantity(low, unit)} to {figures.quantity(high, unit)}"

    return Table(
        name="alone",
        columns=(
            Column("", "left"),
            Column("mean"),
            Column(f"{100 * verdict.confidence:g} %"),
            Column("by", "left"),
            Column("range"),
            Column("runs"),
        ),
        rows=tuple(
            (
                figures.shorten(one.benchmark, _NAME),
                Value(figures.quantity(one.mean, unit), one.mean),
                between(one.low, one.high),
                _by(one.unit, one.sessions),
                between(one.minimum, one.maximum),
                Value(f"{one.runs}", one.runs),
            )
            for one in verdict.alone
        ),
    )


def _by(unit: str, sessions: int) -> str:
    return f"{sessions} sessions" if unit == "session" else f"{unit}s of one session"
