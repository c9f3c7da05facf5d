"""The first screen of a verdict: the answer, its evidence, cautions, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .choice import chosen as chosen
    from .closing import cited as cited, first_cautions as first_cautions, following as following
    from .one_candidate import single as single
    from .several import beside as beside
    from .spoken import (
        advice as advice,
        interval_text as interval_text,
        ratio_text as ratio_text,
        speedup as speedup,
        word as word,
    )
    from .top import amount_on_hosts as amount_on_hosts, heading as heading
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "choice": "chosen",
            "closing": "cited first_cautions following",
            "one_candidate": "single",
            "several": "beside",
            "spoken": "advice interval_text ratio_text speedup word",
            "top": "amount_on_hosts heading",
        },
    )
