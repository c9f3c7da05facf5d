"""Commands executed in this process."""

from __future__ import annotations

import io

from harness.cli import main


def executed(*words: object) -> tuple[int, str, str]:
    """Give the exit code of a command, and what stands on standard output and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = main([str(word) for word in words], out, err)
    return code, out.getvalue(), err.getvalue()
