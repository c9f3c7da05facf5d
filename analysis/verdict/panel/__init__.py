"""What the published methods say of the same runs, and why they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .answers import Answers as Answers, MixturePair as MixturePair
    from .asking import ask as ask
    from .result import Disagreement as Disagreement, Panel as Panel, Said as Said
    from .section import panel_section as panel_section
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "answers": "Answers MixturePair",
            "asking": "ask",
            "result": "Disagreement Panel Said",
            "section": "panel_section",
        },
    )
