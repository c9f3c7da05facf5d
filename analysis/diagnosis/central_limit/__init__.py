"""How far the central limit theorem carries on one's own runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .result import CentralLimitStudy as CentralLimitStudy
    from .study import central_limit_study as central_limit_study
else:
    __getattr__, __dir__ = hands_on(
        __name__, {"result": "CentralLimitStudy", "study": "central_limit_study"}
    )
