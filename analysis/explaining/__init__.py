"""What varies within trials and why: where methods that do not know each other meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .answer import explained_modes as explained_modes, sources as sources
    from .by_order import modes_by_order as modes_by_order
    from .by_values import modes_by_values as modes_by_values
    from .runs import modal_runs as modal_runs
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "answer": "explained_modes sources",
            "by_order": "modes_by_order",
            "by_values": "modes_by_values",
            "runs": "modal_runs",
        },
    )
