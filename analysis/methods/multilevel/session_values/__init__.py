"""What t takes for granted of session values: whether they are about normal, and of each other independent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....faces import hands_on

if TYPE_CHECKING:
    from .cautions import session_cautions as session_cautions
    from .dependence import Dependence as Dependence, dependence_in as dependence_in
    from .two_speeds import speeds_of as speeds_of
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "cautions": "session_cautions",
            "dependence": "Dependence dependence_in",
            "two_speeds": "speeds_of",
        },
    )
