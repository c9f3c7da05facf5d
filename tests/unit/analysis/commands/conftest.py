"""Commands executed in this process."""

from __future__ import annotations

import io

from harness.cli import main
from harness.commands.command_parser import parser_for


def executed(*words: object) -> tuple[int, str, str]:
    """Give the exit code of a command, and what stands on standard output and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = main([str(word) for word in words], out, err)
    return code, out.getvalue(), err.getvalue()


def execute(*words: str) -> tuple[int, str]:
    """Give the exit code of a command, and what stands on standard output; an error passes through."""
    args, out = parser_for(words[0]).read(words), io.StringIO()
    return args.run(args, out, io.StringIO()), out.getvalue()
