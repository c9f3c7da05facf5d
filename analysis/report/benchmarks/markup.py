"""The parts as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from ...words import shorten, shown
from ..chapter import html_of
from ..names import shortened
from ..shell import template
from .marked import ecdf_svg, folded_svgs, row_svgs, run_svgs, sessions_svg, shift_svg, strip_svg
from .result import Part, Parts

__all__: list[str] = []

_NAME = 24
_MANY = 60  # closed parts that are grouped by word
_WORDS = (
    "faster",
    "better",
    "slower",
    "worse",
    "equivalent",
    "undecided",
)


@html_of.register(Parts)
def _parts_html(parts: Parts) -> Markup:
    open_ones = [part for part in parts.benchmarks if part.opened]
    closed = [part for part in parts.benchmarks if not part.opened]
    page = template("benchmarks")
    page.filters |= {"shown": shown, "cut": _Names(parts).cut}
    html = page.get_template("chapter.html.jinja").render(
        parts=parts,
        open=open_ones,
        groups=_groups(closed),
        each=max((strip.each for part in closed for strip in part.strips), default=1),
        rest=_rest(len(closed), len(open_ones)),
        run_svgs=run_svgs,
        row_svgs=row_svgs,
        sessions_svg=sessions_svg,
        ecdf_svg=ecdf_svg,
        shift_svg=shift_svg,
        folded_svgs=folded_svgs,
        strip_svg=strip_svg,
    )
    return Markup(html)  # noqa: S704 - the template escapes


class _Names:
    """Sets names that are not ours: shown safely, apart from the text around, whole in their title."""

    def __init__(self, parts: Parts) -> None:
        told = dict.fromkeys(one.variant for part in parts.benchmarks for one in part.variants)
        self._beside = (tuple(told), tuple(part.name for part in parts.benchmarks))
        self._found: dict[int, dict[str, str]] = {}

    def cut(self, text: str, width: int = _NAME) -> Markup:
        """Give a name with so much room; those of its kind are told apart."""
        if width not in self._found:
            variants, benchmarks = (shortened(names, width) for names in self._beside)
            self._found[width] = {**benchmarks, **variants}
        whole = shown(text)
        short = self._found[width].get(text) or shorten(whole, width)
        if short == whole:
            return Markup("<bdi>{}</bdi>").format(whole)
        return Markup('<bdi title="{}">{}</bdi>').format(whole, short)


def _groups(closed: Sequence[Part]) -> list[tuple[str, list[Part]]]:
    """Divide many closed parts by the first candidate's word; few stand as they are, under ""."""
    if len(closed) <= _MANY:
        return [("", list(closed))] if closed else []

    def place(part: Part) -> int:
        return _WORDS.index(part.word) if part.word in _WORDS else len(_WORDS)

    ordered = sorted(closed, key=place)
    return [
        (part, list(some))
        for part, some in groupby(ordered, key=lambda p: p.word or "not compared")
    ]


def _rest(closed: int, opened: int) -> str:
    if not opened:
        return "The benchmarks"
    small = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ]
    count = small[closed - 1] if 0 < closed <= len(small) else f"{closed:,}"
    return (
        f"The other {count} benchmark{'s' * (closed > 1)}" if closed > 1 else "The other benchmark"
    )
