"""Components of variance, between sessions and within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .fit import (
        component_lines as component_lines,
        variance_components as variance_components,
    )
    from .observations import values_of as values_of
    from .result import (
        ComponentLine as ComponentLine,
        Crossed as Crossed,
        VarianceComponents as VarianceComponents,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "fit": "component_lines variance_components",
            "observations": "values_of",
            "result": "ComponentLine Crossed VarianceComponents",
        },
    )
