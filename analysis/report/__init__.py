"""The report on a trial: one file that holds the answer, the evidence, the doubt and the conditions.

A chapter is a file with a function ``chapter``: subject in, a page of sentences, tables and pictures out.
No chapter knows another; no renderer computes a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..registry import hands_on

if TYPE_CHECKING:
    from .assembling import assemble as assemble, html_page as html_page
    from .page import Report as Report
    from .subject import (
        Subject as Subject,
        subject_of as subject_of,
        subjects_of as subjects_of,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "assembling": "assemble html_page",
            "page": "Report",
            "subject": "Subject subject_of subjects_of",
        },
    )
