"""The one place that draws: scales, ticks, marks, colours, labels; knows no method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .cells import (
        again as again,
        arrow as arrow,
        cell as cell,
        field as field,
        shared as shared,
        strokes as strokes,
        upright as upright,
    )
    from .label_row import (
        Label as Label,
        Placed as Placed,
        placed as placed,
        text_width as text_width,
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
    from .palette import (
        DARK as DARK,
        LIGHT as LIGHT,
        PRINT as PRINT,
        Palette as Palette,
        style_of as style_of,
    )
    from .paths import (
        arrow as arrow,
        boxes as boxes,
        cross as cross,
        segments as segments,
    )
    from .scale import (
        Scale as Scale,
        Tick as Tick,
        quantity_scale as quantity_scale,
        quantity_ticks as quantity_ticks,
        ratio_scale as ratio_scale,
        ratio_ticks as ratio_ticks,
        read_out as read_out,
    )
    from .spaced import (
        spaced_ticks as spaced_ticks,
    )
    from .svg import (
        band as band,
        curve as curve,
        diamond as diamond,
        dot as dot,
        dots as dots,
        label as label,
        line as line,
        nested as nested,
        plot as plot,
        stroke as stroke,
        whole as whole,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "cells": "again arrow cell field shared strokes upright",
            "label_row": "Label Placed placed text_width",
            "labels": "Box Placed Wanted kept_in_row placed spread_out text_width",
            "palette": "DARK LIGHT PRINT Palette style_of",
            "paths": "arrow boxes cross segments",
            "scale": "Scale Tick quantity_scale quantity_ticks ratio_scale ratio_ticks read_out",
            "spaced": "spaced_ticks",
            "svg": "band curve diamond dot dots label line nested plot stroke whole",
        },
    )
