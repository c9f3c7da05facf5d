"""The first screen of a verdict: the answer, its evidence, cautions, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .beside import beside as beside
    from .choice import Choice as Choice, chosen as chosen
    from .closing import first_cautions as first_cautions, following as following
    from .heading import heading as heading
    from .single import single as single
    from .spoken import interval_text as interval_text, ratio_text as ratio_text
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "beside": "beside",
            "choice": "Choice chosen",
            "closing": "first_cautions following",
            "heading": "heading",
            "single": "single",
            "spoken": "interval_text ratio_text",
        },
    )
