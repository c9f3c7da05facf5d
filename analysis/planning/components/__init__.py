"""Components of variance, between sessions and within them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .fit import variance_components as variance_components
    from .result import (
        ComponentLine as ComponentLine,
        Crossed as Crossed,
        VarianceComponents as VarianceComponents,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "fit": "variance_components",
            "result": "ComponentLine Crossed VarianceComponents",
        },
    )
