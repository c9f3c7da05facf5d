"""Gathers the chapter's values from the subject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..names import shortened
from .alone import alone_of
from .columns import Columns
from .deck import deck, kicker, level, reading
from .doubts import OPEN, doubts
from .growth import DENSE
from .headline import headline, text_of
from .result import Answer, Name, Row

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["gather"]

_NAME = 24
_SOURCE = 36
_BESIDE = 3  # candidates that stand beside each other


def gather(subject: Subject) -> Answer:
    """Give the first screen."""
    verdict = subject.verdict
    told = headline(verdict)
    columns = Columns(subject)
    found = tuple(columns.of(one) for one in subject.candidates)
    form: Literal["alone", "columns", "matrix"] = "alone"
    if found:
        form = "columns" if len(found) <= _BESIDE else "matrix"
    rows = [row for one in found for row in (*one.rows, *one.suite) if isinstance(row, Row)]
    cautions = doubts(subject)
    return Answer(
        anchor=subject.anchor("answer"),
        title="",
        headline=text_of(told),
        spoken=told,
        kicker=kicker(subject),
        deck=deck(subject),
        baseline=columns.variants[subject.baseline] if found else None,
        metric=verdict.metric,
        form=form,
        dense=len(subject.order) > DENSE,
        columns=found,
        alone=alone_of(subject, columns.names),
        sources=_sources(subject),
        level=level(verdict),
        order=_order(subject),
        reading=reading(
            verdict,
            strokes=max((len(row.sessions) for row in rows), default=0),
            columns=len(found) if form == "columns" else 1,
            intervals=any(row.low.text for row in rows),
            undecided=any(row.word == "undecided" for row in rows),
            advised=any(row.more.text for row in rows),
        ),
        doubts=cautions,
        shown=len(cautions) if len(cautions) <= OPEN + 1 else OPEN,
        certificate="" if verdict.certificate is None else verdict.certificate.sentence,
        panel=subject.anchor("panel") if any(one.panel for one in subject.candidates) else "",
    )


def _sources(subject: Subject) -> tuple[Name, ...]:
    """Give two sources that are called otherwise on the page."""
    given = subject.sources
    called = {subject.baseline, *(one.variant for one in subject.candidates)}
    if len(given) != 2 or set(given) <= called:
        return ()
    wide, narrow = shortened(given, _SOURCE), shortened(given, _NAME)
    return tuple(Name(one, wide[one], narrow[one]) for one in given)


def _order(subject: Subject) -> str:
    if len(subject.order) < 2 or not subject.candidates:
        return ""
    if subject.candidates[0].multilevel is None:
        return ""
    if len(subject.candidates) == 1:
        return "Sorted by speedup."
    first = shortened([one.variant for one in subject.candidates], _NAME)
    return f"Sorted by the speedup of {first[subject.candidates[0].variant]}, in each column alike."
