"""The verdict's sentence as a headline: the same words as on a screen, in which names are pieces of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...verdict.screen.hosts import like_these_text
from ...verdict.screen.sentence import leading, sentence_of
from ..names import shortened
from ..written import few_sessions

if TYPE_CHECKING:
    from ...verdict.result import Verdict

__all__ = ["Paragraph", "Span", "headline", "leading", "margin_text", "text_of"]

_NAME = 28  # as on a screen
# letters of nobody's alphabet, around the number of a name; `shown` lets them into no name
_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACE = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence; a foreign name is kept apart from what stands around it.

    `whole` is the name as it is, "" where `text` is no name.
    """

    text: str
    whole: str = ""


Paragraph = tuple[Span, ...]


def text_of(paragraph: Paragraph) -> str:
    """Give a paragraph's text."""
    return "".join(span.text for span in paragraph)


def margin_text(verdict: Verdict, margin: float) -> str:
    """Say within what a difference counts as none; below three sessions without a ±."""
    sign = "" if few_sessions(verdict) else "±\N{NO-BREAK SPACE}"
    return f"{sign}{100 * margin:g}\N{NO-BREAK SPACE}%"


def headline(verdict: Verdict) -> Paragraph:
    """Say the verdict's sentence, of a fleet also what holds on hosts like these.

    Two names that would look alike show where they differ.
    """
    names = [verdict.baseline, *(one.variant for one in verdict.candidates)]
    told = shortened(names, _NAME)
    places = {name: f"{_OPEN}{number}{_CLOSE}" for number, name in enumerate(names)}
    parts = _PLACE.split(sentence_of(verdict, places.__getitem__))
    spans = [
        Span(told[names[int(part)]], names[int(part)]) if number % 2 else Span(part)
        for number, part in enumerate(parts)
    ]
    if len(verdict.candidates) == 1 and verdict.candidates[0].hosts is not None:
        spans.append(
            Span(f"; on hosts like these: {like_these_text(verdict.candidates[0], verdict)}")
        )
    return tuple(span for span in spans if span.text)
