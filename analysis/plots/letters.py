"""How wide texts are in a picture of a paper, and where they break into lines.

The font that pictures have by default is measured by a table of its advances, so that SVG needs no
library; any other font is read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .labels import em

__all__ = ["CODES", "OWN", "broken", "plain", "wide"]

OWN = "DejaVu Sans"
CODES = (*range(32, 127), *range(160, 256), 0x2013, 0x2026, 0x2192, 0x2212)  # the usual letters
_REGULAR = (  # thousandths of the letters' size, three digits each
    "318401460838636950780275390390500838318361318337636636636636636636636636636636337337838838"
    "838531999684686698770632575775752295295656557863748787603787695635611732684989685611685390"
    "337390838500500613635550615635352635634278278579278974634612635635411521392634592818592592"
    "525636337636838318401636636636636337500500999471612838361999500500838401401500636636318500"
    "401471612969969969531684684684684684684974698632632632632295295295295775748787787787787787"
    "838787732732732732611605630613613613613613613982550615615615615278278278278612634612612612"
    "612612838612634634634634592635592"
)
_BOLD = (
    "348456521838696999872306457457523838380415380365696696696696696696696696696696400400838838"
    "838580999774762734830683683821837372372775637995837850733850770720682812774999771724725457"
    "365457838500500675716593716678435716712343343665343999712687716716493595478712652924645652"
    "582712365712838348456696696636696365500500999564646838415999500500838438438500736636380500"
    "438564646999999999580774774774774774774999734683683683683372372372372838837850850850850850"
    "838850812812812812724738719675675675675675675999593678678678678343343343343687712687687687"
    "687687838687712712712712652716652"
)
_MORE = {
    "\N{EN DASH}": 0.5,
    "\N{HORIZONTAL ELLIPSIS}": 1.0,
    "\N{RIGHTWARDS ARROW}": 0.838,
    "\N{MINUS SIGN}": 0.838,
}
_WIDTHS = {
    bold: {chr(code): int(table[3 * k : 3 * k + 3]) / 1000 for k, code in enumerate(CODES[:191])}
    | _MORE
    for bold, table in ((False, _REGULAR), (True, _BOLD))
}


def plain(text: str) -> bool:
    """Whether a text has usual letters only."""
    return all(one in _WIDTHS[False] for one in text)


def wide(text: str, size: float, family: str = OWN, *, bold: bool = False) -> float:
    """Give the width of a text of one line, in the unit of its size."""
    widths = _WIDTHS[bold] if family == OWN else _read(family, bold)
    return size * sum(widths[one] if one in widths else em(one) for one in text)


def broken(
    text: str, room: float, size: float, family: str = OWN, *, bold: bool = False
) -> list[str]:
    """Break a text into lines that fit; a word that is too long stands alone."""
    found: list[str] = []
    for line in text.split("\n"):
        now = ""
        for word in line.split(" "):
            longer = f"{now} {word}" if now else word
            if now and wide(longer, size, family, bold=bold) > room:
                found.append(now)
                longer = word
            now = longer
        found.append(now)
    return found


@lru_cache(maxsize=8)
def _read(family: str, bold: bool) -> dict[str, float]:  # noqa: FBT001 - a key of the cache
    """Measure an installed font."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    weight = "bold" if bold else "normal"
    font: Any = get_font(findfont(FontProperties(family=[family], weight=weight)))
    font.set_size(1000, 72)
    known = font.get_charmap()
    return {
        chr(code): font.load_char(code).linearHoriAdvance / 65536 / 1000
        for code in known
        if code < 0x2500
    }
