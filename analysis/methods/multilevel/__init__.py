"""The sound verdict: t on the session values of the difference, one interval, one word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .advice import chances as chances
    from .compare import multilevel as multilevel
    from .estimates import FLAT as FLAT, satterthwaite as satterthwaite
    from .failures import fisher as fisher
    from .law import Law as Law
    from .result import (
        BenchmarkLine as BenchmarkLine,
        Line as Line,
        MoreSessions as MoreSessions,
        Multilevel as Multilevel,
    )
    from .wording import (
        advice_text as advice_text,
        interval_text as interval_text,
        speedup_text as speedup_text,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "advice": "chances",
            "compare": "multilevel",
            "estimates": "FLAT satterthwaite",
            "failures": "fisher",
            "law": "Law",
            "result": "BenchmarkLine Line MoreSessions Multilevel",
            "wording": "advice_text interval_text speedup_text",
        },
    )
