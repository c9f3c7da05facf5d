"""Sentences in which names stand that are not ours, as text and as HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from ..words import shown

__all__ = ["Span", "joined", "name_html", "sentence_html", "spoken_html", "spoken_text"]

_RATIO = re.compile(r"(?<![\w.\-])(\d[\d.]*)x(?!\w)")
_PERCENT = re.compile(r"(?<=\d) %")
_AFTER = re.compile(r"± (?=\d)")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence; one that is a foreign name is set apart from what stands around it."""

    text: str
    foreign: bool = False


def joined(words: Sequence[str]) -> str:
    """Write a list as a sentence has it: ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def spoken_text(spans: Sequence[Span]) -> str:
    """Set a sentence as plain text."""
    return "".join(shown(one.text) for one in spans)


def spoken_html(spans: Sequence[Span], names: Mapping[str, str] | None = None) -> Markup:
    """Set a sentence as HTML; `names` says how a name is shown, by default whole."""
    told = names or {}
    return Markup("").join(
        name_html(one.text, told) if one.foreign else sentence_html(one.text) for one in spans
    )


def name_html(name: str, names: Mapping[str, str]) -> Markup:
    """Set a name: as `names` says, whole in its title, isolated from what stands beside it."""
    text = names.get(name, shown(name))
    if text == shown(name):
        return Markup("<bdi>{}</bdi>").format(text)
    return Markup('<bdi title="{}">{}</bdi>').format(shown(name), text)


def sentence_html(text: str) -> Markup:
    """Set our own words: the sign of a ratio, no break before a percent sign or after ``±``."""
    return escape(_AFTER.sub("±\u00a0", _PERCENT.sub("\u00a0%", _RATIO.sub("\\1×", shown(text)))))
