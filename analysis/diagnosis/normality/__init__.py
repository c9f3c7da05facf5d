"""Whether runs are normally distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .departure import NormalityTest as NormalityTest, shapiro as shapiro
    from .result import NormalityStudy as NormalityStudy
    from .study import normality as normality
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "departure": "NormalityTest shapiro",
            "result": "NormalityStudy",
            "study": "normality",
        },
    )
