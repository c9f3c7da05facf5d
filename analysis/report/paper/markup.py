"""The chapter for a paper as HTML, with the runs themselves in a script that is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ...words import shown
from ..chapter import html_of
from ..shell import template
from ..spoken import sentence_html, spoken_html
from .result import Paper

__all__ = ["embedded"]

_UNSAFE = re.compile("[<>&]")
_FILE = re.compile(r"[^A-Za-z0-9_.-]+")


@html_of.register(Paper)
def _paper_html(chapter: Paper) -> Markup:
    text = (
        template("paper")
        .get_template("chapter.html.jinja")
        .render(
            chapter=chapter,
            spoken=spoken_html,
            sentence=sentence_html,
            shown=shown,
            raw_id=f"{chapter.anchor}-values",
            file=f"{_FILE.sub('-', chapter.raw.metric)}-runs.json",
            raw=embedded(chapter.raw_dict()),
            runs=f"{len(chapter.raw.values):,}",
        )
    )
    return Markup(text)  # noqa: S704 - the template escapes


def embedded(data: Mapping[str, Any]) -> Markup:
    """Write JSON that can stand in a ``script`` element: nothing in it ends that element.

    Every ``<``, ``>`` and ``&`` is written by its number, and so is what is not ASCII.
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return Markup(_UNSAFE.sub(lambda sign: f"\\u{ord(sign.group()):04x}", text))  # noqa: S704 - no markup is left
