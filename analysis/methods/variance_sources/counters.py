"""Names of events that processor and kernel count: there are more of them the longer a run is.

A campaign reads such counters from the output of ``perf stat`` as metrics like any other; their
names are what tells them from a seed or a size that a program prints.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_counter"]

# Events of perf-list(1): hardware, caches and software; "-" may be "_", as names of metrics are written.
_EVENT: Final = re.compile(
    r"""(?:cpu(?:-core|-atom)?/)?(?:
        instructions | (?:(?:cpu|ref|bus)-)?cycles
      | stalled-cycles-(?:frontend|backend) | slots
      | branches | branch-(?:instructions|misses)
      | cache-(?:references|misses)
      | (?:l1-[di]cache|llc|[di]tlb|branch|node)-(?:loads|stores|prefetches|(?:load|store|prefetch)-misses)
      | context-switches | cs | (?:cpu-)?migrations
      | (?:page|minor|major|alignment|emulation)-faults
    )/?(?:[:.-][ukhgp]+)?""",
    re.VERBOSE,
)


def is_counter(name: str) -> bool:
    """Tell whether a metric has the name of an event that is counted while a run lasts.

    Examples
    --------
    >>> is_counter("L1-dcache-load-misses:u"), is_counter("cache_misses"), is_counter("seed")
    (True, True, False)
    """
    return _EVENT.fullmatch(name.lower().replace("_", "-")) is not None
