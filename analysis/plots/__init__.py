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
        ENDINGS as ENDINGS,
        Sheet as Sheet,
        check_picture as check_picture,
        picture_bytes as picture_bytes,
        write_picture as write_picture,
    )
    from .label_row import (
        InRow as InRow,
        RowLabel as RowLabel,
        in_rows as in_rows,
    )
    from .labels import (
        Box as Box,
        Placed as Placed,
        Wanted as Wanted,
        kept_in_row as kept_in_row,
        placed as placed,
        spread_out as spread_out,
        text_width as text_width,
    )
    from .layout import (
        arranged as arranged,
        stacked as stacked,
    )
    from .marks import (
        Again as Again,
        Anchor as Anchor,
        Area as Area,
        Boxes as Boxes,
        Circle as Circle,
        Curve as Curve,
        Dots as Dots,
        Line as Line,
        Mark as Mark,
        Rect as Rect,
        Segments as Segments,
        Shape as Shape,
        Shared as Shared,
        Strokes as Strokes,
        Text as Text,
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
    from .palette import (
        COLOURS as COLOURS,
        DARK as DARK,
        DASHES as DASHES,
        LIGHT as LIGHT,
        PRINT as PRINT,
        Palette as Palette,
        style_of as style_of,
    )
    from .paper import (
        Picture as Picture,
    )
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
    from .spaced import (
        spaced_ticks as spaced_ticks,
    )
    from .svg import (
        cell as cell,
        plot as plot,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "axes": "Axes Key density_axis quantity_axis ratio_axis rows_down",
            "drawing": "ENDINGS Sheet check_picture picture_bytes write_picture",
            "label_row": "InRow RowLabel in_rows",
            "labels": "Box Placed Wanted kept_in_row placed spread_out text_width",
            "layout": "arranged stacked",
            "marks": """
                Again Anchor Area Boxes Circle Curve Dots Line Mark Rect Segments Shape Shared Strokes Text
                again arrow band boxes cross curve diamond dot dots field label line segments shared stroke strokes upright
            """,
            "palette": "COLOURS DARK DASHES LIGHT PRINT Palette style_of",
            "paper": "Picture",
            "scale": "Scale Tick quantity_scale quantity_ticks ratio_scale ratio_ticks read_out unit_of",
            "spaced": "spaced_ticks",
            "svg": "cell plot",
        },
    )
