"""The Speedup-Test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .compare import speedup_test as speedup_test, speedup_test_suite as speedup_test_suite
    from .original.cautions import warnings_of as warnings_of
    from .original.config import (
        LeftOut as LeftOut,
        NothingLeftError as NothingLeftError,
        SpeedupConfig as SpeedupConfig,
        looks_like_speedup_config as looks_like_speedup_config,
        read_speedup_config as read_speedup_config,
    )
    from .original.files import (
        failure_text as failure_text,
        report_text as report_text,
        results_text as results_text,
        status_text as status_text,
        warning_text as warning_text,
    )
    from .result import SpeedupSuite as SpeedupSuite, SpeedupTest as SpeedupTest
    from .suite import Weights as Weights
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "compare": "speedup_test speedup_test_suite",
            "original.cautions": "warnings_of",
            "original.config": "LeftOut NothingLeftError SpeedupConfig looks_like_speedup_config read_speedup_config",
            "original.files": "failure_text report_text results_text status_text warning_text",
            "result": "SpeedupSuite SpeedupTest",
            "suite": "Weights",
        },
    )
