"""The Speedup-Test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .compare import speedup_test as speedup_test, speedup_test_suite as speedup_test_suite
    from .original.compare import speedup_test_config as speedup_test_config
    from .original.config import (
        LeftOut as LeftOut,
        looks_like_speedup_config as looks_like_speedup_config,
        read_speedup_config as read_speedup_config,
    )
    from .original.files import OriginalFiles as OriginalFiles
    from .protocol import decide as decide
    from .result import (
        F_TEST as F_TEST,
        KOLMOGOROV as KOLMOGOROV,
        SHAPIRO as SHAPIRO,
        WILCOXON as WILCOXON,
        Decision as Decision,
        SpeedupSuite as SpeedupSuite,
        SpeedupTest as SpeedupTest,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "compare": "speedup_test speedup_test_suite",
            "original.compare": "speedup_test_config",
            "original.config": "LeftOut looks_like_speedup_config read_speedup_config",
            "original.files": "OriginalFiles",
            "protocol": "decide",
            "result": "F_TEST KOLMOGOROV SHAPIRO WILCOXON Decision SpeedupSuite SpeedupTest",
        },
    )
