"""The sound verdict: t on the session values of the difference, one interval, one word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .advice import chances as chances
    from .compare import multilevel as multilevel
    from .differences import (
        Differences as Differences,
        Shift as Shift,
        differences_of as differences_of,
    )
    from .estimates import FLAT as FLAT, Parts as Parts, satterthwaite as satterthwaite
    from .failures import fisher as fisher
    from .hosts import (
        Disagreement as Disagreement,
        HostEffect as HostEffect,
        HostLevel as HostLevel,
        MoreHosts as MoreHosts,
        over_hosts as over_hosts,
    )
    from .law import Law as Law
    from .looks import LookFields as LookFields, Looks as Looks, LooksRule as LooksRule
    from .result import (
        BenchmarkLine as BenchmarkLine,
        Line as Line,
        MoreSessions as MoreSessions,
        Multilevel as Multilevel,
    )
    from .wording import (
        Looked as Looked,
        advice_text as advice_text,
        chance_heading as chance_heading,
        interval_text as interval_text,
        level_text as level_text,
        looks_text as looks_text,
        needed_text as needed_text,
        reason_text as reason_text,
        speedup_text as speedup_text,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "advice": "chances",
            "compare": "multilevel",
            "differences": "Differences Shift differences_of",
            "estimates": "FLAT Parts satterthwaite",
            "failures": "fisher",
            "hosts": "Disagreement HostEffect HostLevel MoreHosts over_hosts",
            "law": "Law",
            "looks": "LookFields Looks LooksRule",
            "result": "BenchmarkLine Line MoreSessions Multilevel",
            "wording": "Looked advice_text chance_heading interval_text level_text looks_text needed_text reason_text speedup_text",
        },
    )
