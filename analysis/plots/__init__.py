"""The one place that draws: scales, ticks, marks, colours, labels; knows no method.

Chapters of the page take their marks from here; what is for papers only has its modules.
"""

from __future__ import annotations

from .axes import (
    Axes as Axes,
    Scale as Scale,
    Tick as Tick,
    density_axis as density_axis,
    quantity_axis as quantity_axis,
    quantity_scale as quantity_scale,
    quantity_ticks as quantity_ticks,
    ratio_axis as ratio_axis,
    ratio_scale as ratio_scale,
    ratio_ticks as ratio_ticks,
    read_out as read_out,
    rows_down as rows_down,
    spaced_ticks as spaced_ticks,
)
from .chart import arranged as arranged
from .labels import (
    Box as Box,
    Wanted as Wanted,
    kept_in_row as kept_in_row,
    placed as placed,
    text_width as text_width,
)
from .marks import (
    Mark as Mark,
    again as again,
    arrow as arrow,
    band as band,
    boxes as boxes,
    cross as cross,
    curve as curve,
    diamond as diamond,
    dot as dot,
    dots as dots,
    field as field,
    label as label,
    line as line,
    segments as segments,
    shared as shared,
    stroke as stroke,
    strokes as strokes,
    style_of as style_of,
    upright as upright,
)
from .svg import cell as cell, plot as plot, ticks_below as ticks_below
