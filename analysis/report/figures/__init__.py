"""Figures for papers: each kind as SVG, PDF and PNG, with its data beside it.

A kind takes a `Subject` and gives a `Drawing`: the picture, its result in words, and the numbers that
it shows. They stem from the same verdict as the page's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy_names import hands_on

if TYPE_CHECKING:
    from .files import write_all as write_all, write_drawing as write_drawing
    from .kinds import (
        KINDS as KINDS,
        Kind as Kind,
        draw as draw,
        draw_table as draw_table,
        kind_of as kind_of,
    )
    from .layout import Drawing as Drawing
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "files": "write_all write_drawing",
            "kinds": "KINDS Kind draw draw_table kind_of",
            "layout": "Drawing",
        },
    )
