"""The one place that draws: scales, ticks, marks, colours, labels; knows no method.

Chapters of the page take their marks from here; what is for papers only has its modules.
"""

from __future__ import annotations

from .axes import ratio_ticks as ratio_ticks
from .marks import (
    Mark as Mark,
    band as band,
    boxes as boxes,
    cross as cross,
    dots as dots,
    label as label,
    line as line,
    plot as plot,
    segments as segments,
    stroke as stroke,
)
