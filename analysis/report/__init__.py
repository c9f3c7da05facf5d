"""The report on a trial: one file that holds the answer, the evidence, the doubt and the conditions.

Each chapter is a package with the same rooms: ``gather.py`` (subject in, plain values out),
``result.py`` (those values), ``markup.py`` (as HTML), ``page.py`` (as sentences and tables, for text,
Markdown, LaTeX and CSV). No chapter knows another; no renderer computes a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_names import hands_on

if TYPE_CHECKING:
    from .assembling import assemble as assemble
    from .model import Report as Report
    from .shell import html_page as html_page
    from .subject import (
        Subject as Subject,
        subject_of as subject_of,
        subjects_of as subjects_of,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "assembling": "assemble",
            "model": "Report",
            "shell": "html_page",
            "subject": "Subject subject_of subjects_of",
        },
    )
