"""Variation across systems: a table of a response and its covariates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....faces import hands_on

if TYPE_CHECKING:
    from .fit import sources_of_table as sources_of_table
    from .plots import systems_figure as systems_figure
    from .result import Across as Across
    from .words import systems_said as systems_said
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "fit": "sources_of_table",
            "plots": "systems_figure",
            "result": "Across",
            "words": "systems_said",
        },
    )
