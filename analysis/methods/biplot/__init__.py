"""Systems and benchmarks in one picture: the biplot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .fit import biplot as biplot
    from .plots import biplot_figure as biplot_figure
    from .result import Biplot as Biplot
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "fit": "biplot",
            "plots": "biplot_figure",
            "result": "Biplot",
        },
    )
