"""A verdict in words: the answer first, cautions below, the next command last."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from ..data import Unit
from ..report import Caution, Column, Page, Section, Sentence, Table, Value, figures, page_of
from .alone import Alone
from .fleet import fleet_section, standing_sentences
from .panel import Panel, panel_section
from .result import Verdict
from .screen import beside, cited, first_cautions, following, heading, single

__all__: list[str] = []

_LINES = 25  # of a first screen of one candidate
_WIDTH = 96
_NAME = 28


@page_of.register
def _(verdict: Verdict) -> Page:
    explained = [one for one in verdict.candidates if one.panel is not None]
    # that there is one variant only is the answer already
    cautions = tuple(c for c in verdict.cautions if c.code != "one-variant")
    shown = cautions
    if not explained and not verdict.whole:
        answer = _answer(verdict, _marks(cautions, ()))
        free = _LINES - _height(heading(verdict), answer, cautions)
        shown = first_cautions(cautions, free)
    marks = _marks(cautions, shown)
    after = following(verdict, len(cautions) - len(shown))
    return Page(
        title=f"Verdict on {verdict.trial or verdict.candidates[0].variant}",
        sections=(
            Section((heading(verdict), _answer(verdict, marks))),
            *(
                panel_section(one.variant, verdict.baseline, one.panel, number)
                for number, one in enumerate(verdict.candidates, 1)
                if isinstance(one.panel, Panel)
            ),
        ),
        cautions=shown,
        following=() if after is None else (after,),
    )


def _answer(verdict: Verdict, marks: dict[str, str]) -> Section:
    if not verdict.candidates:
        alone = Sentence("one variant only: there is nothing to compare")
        standing = standing_sentences(verdict.hosts, whole=verdict.whole)
        return Section((alone, _alone_table(verdict), *standing))
    one = verdict.candidates[0]
    if any(each.hosts is not None for each in verdict.candidates):
        return fleet_section(verdict, marks)
    if len(verdict.candidates) == 1:
        answer = single(verdict, one, 1, marks)
    else:
        answer = beside(verdict, marks)
    answer = Section((*answer.blocks, *standing_sentences(verdict.hosts, whole=verdict.whole)))
    if verdict.certificate is None:
        return answer
    certificate = verdict.certificate
    whole = one.panel is not None or verdict.whole
    told = certificate.sentence if whole else cited(certificate)
    return Section((*answer.blocks, Sentence(told)))


def _height(head: Sentence, answer: Section, cautions: Sequence[Caution]) -> int:
    """Count the lines of everything but the cautions themselves."""
    lines = _broken(head) + 1  # an empty line below the heading
    for block in answer.blocks:
        if isinstance(block, Table):
            lines += len(block.rows) + 1
        elif isinstance(block, Sentence):
            lines += _broken(block)
    lines += 2  # an empty line and the next command
    return lines + (2 if cautions else 0)


def _broken(sentence: Sentence) -> int:
    return len(textwrap.wrap(sentence.text, _WIDTH))


def _marks(cautions: Sequence[Caution], shown: Sequence[Caution]) -> dict[str, str]:
    """Give all names that cautions are about, each with the numbers of those that are shown."""
    found = {name: "" for caution in cautions for name in caution.about}
    for number, caution in enumerate(shown, 1):
        for name in caution.about:
            found[name] = f"{found.get(name, '')}[{number}]"
    return found


def _alone_table(verdict: Verdict) -> Table:
    unit = verdict.unit

    def between(low: float, high: float) -> str:
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
                _half_width(one.low, one.high),
                _by(one, verdict.outermost),
                between(one.minimum, one.maximum),
                Value(f"{one.runs}", one.runs),
            )
            for one in verdict.alone
        ),
    )


def _half_width(low: float | None, high: float | None) -> str:
    """Write an interval as a share: its ends often agree in the digits of the mean."""
    if low is None or high is None:
        return "-"
    return f"± {figures.significant(100 * (math.sqrt(high / low) - 1), 2)} %"


def _by(one: Alone, noun: Unit) -> str:
    return f"{one.sessions} {noun}s" if one.unit == "session" else f"{one.unit}s of one {noun}"
