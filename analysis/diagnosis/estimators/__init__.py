"""How estimators of a benchmark's centre spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .normal import normal_spread as normal_spread
    from .result import EstimatorSpread as EstimatorSpread
    from .study import estimator_spread as estimator_spread
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {"normal": "normal_spread", "result": "EstimatorSpread", "study": "estimator_spread"},
    )
