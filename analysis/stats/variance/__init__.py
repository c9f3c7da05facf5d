"""Components of variance: of one grouping, and of crossed and nested random effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .effects import RandomEffects as RandomEffects, random_effects as random_effects
    from .grouped import OneWay as OneWay, one_way as one_way
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "effects": "RandomEffects random_effects",
            "grouped": "OneWay one_way",
        },
    )
