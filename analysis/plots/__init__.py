"""The one place that draws: scales, ticks, marks, colours, labels; knows no method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_names import hands_on

if TYPE_CHECKING:
    from .axes import (
        Axes as Axes,
        Key as Key,
        density_axis as density_axis,
        quantity_axis as quantity_axis,
        ratio_axis as ratio_axis,
        rows_down as rows_down,
    )
    from .drawing import (
        Sheet as Sheet,
        check_picture as check_picture,
        write_picture as write_picture,
    )
    from .labels import (
        Box as Box,
        Wanted as Wanted,
        kept_in_row as kept_in_row,
        placed as placed,
        text_width as text_width,
    )
    from .layout import arranged as arranged, stacked as stacked
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
        upright as upright,
    )
    from .palette import style_of as style_of
    from .paper import Picture as Picture
    from .scale import (
        Scale as Scale,
        Tick as Tick,
        quantity_scale as quantity_scale,
        quantity_ticks as quantity_ticks,
        ratio_scale as ratio_scale,
        ratio_ticks as ratio_ticks,
        read_out as read_out,
        unit_of as unit_of,
    )
    from .spaced import spaced_ticks as spaced_ticks
    from .svg import cell as cell, plot as plot
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "axes": "Axes Key density_axis quantity_axis ratio_axis rows_down",
            "drawing": "Sheet check_picture write_picture",
            "labels": "Box Wanted kept_in_row placed text_width",
            "layout": "arranged stacked",
            "marks": """
                Mark again arrow band boxes cross curve diamond dot dots field label line segments shared
                stroke strokes upright
            """,
            "palette": "style_of",
            "paper": "Picture",
            "scale": "Scale Tick quantity_scale quantity_ticks ratio_scale ratio_ticks read_out unit_of",
            "spaced": "spaced_ticks",
            "svg": "cell plot",
        },
    )
