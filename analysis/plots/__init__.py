"""The one place that draws: scales, ticks, marks, colours, labels; knows no method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .drawing import (
        ENDINGS as ENDINGS,
        INK as INK,
        PALE as PALE,
        Sheet as Sheet,
        check_picture as check_picture,
        look as look,
        picture_bytes as picture_bytes,
        write_picture as write_picture,
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
        clear as clear,
        density_axis as density_axis,
        interval_row as interval_row,
        margin_band as margin_band,
        quantity_axis as quantity_axis,
        ratio_axis as ratio_axis,
        thin_ticks as thin_ticks,
        tone as tone,
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
    from .svg import (
        band as band,
        curve as curve,
        diamond as diamond,
        dot as dot,
        dots as dots,
        label as label,
        line as line,
        plot as plot,
        stroke as stroke,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "drawing": "ENDINGS INK PALE Sheet check_picture look picture_bytes write_picture",
            "palette": "COLOURS DARK DASHES LIGHT PRINT Palette style_of",
            "paper": "clear density_axis interval_row margin_band quantity_axis ratio_axis thin_ticks tone",
            "scale": "Scale Tick quantity_scale quantity_ticks ratio_scale ratio_ticks read_out unit_of",
            "svg": "band curve diamond dot dots label line plot stroke",
        },
    )
