"""An artifact is checked, and what it says is computed anew from its raw rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .checking import check_archive as check_archive, unpack_bundle as unpack_bundle
    from .joint import joint_report as joint_report
    from .page import review_page as review_page
    from .receiving import Received as Received, receive_bundle as receive_bundle
    from .reproduction import USUAL as USUAL, reproduce as reproduce
    from .rerun import Rerun as Rerun, judge_reruns as judge_reruns
    from .result import Reproduction as Reproduction
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "checking": "check_archive unpack_bundle",
            "joint": "joint_report",
            "page": "review_page",
            "receiving": "Received receive_bundle",
            "reproduction": "USUAL reproduce",
            "rerun": "Rerun judge_reruns",
            "result": "Reproduction",
        },
    )
