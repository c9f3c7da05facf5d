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
    from .palette import (
        DARK as DARK,
        LIGHT as LIGHT,
        PRINT as PRINT,
        Palette as Palette,
        style_of as style_of,
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
    from .spaced import spaced_ticks as spaced_ticks
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
            "cells": "again arrow cell field shared strokes upright",
            "palette": "DARK LIGHT PRINT Palette style_of",
            "scale": "Scale Tick quantity_scale quantity_ticks ratio_scale ratio_ticks read_out",
            "spaced": "spaced_ticks",
            "svg": "band curve diamond dot dots label line plot stroke",
        },
    )
