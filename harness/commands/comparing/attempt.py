"""Executing a command once where its output is seen, to find out whether it does what one means."""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from pathlib import Path
from typing import TextIO

from ...campaign.model import Isolation
from ...errors import duration
from ...launch.commands import base_environment, resolve
from .options import shell_of
from .tries import Manner


def attempt(args: argparse.Namespace, err: TextIO) -> int:
    """Execute ``--try COMMAND`` with the environment and the input of measured runs; give 0, or 1 if it failed.

    Raises
    ------
    LaunchError
        If its program is not there.
    """
    manner = Manner(folder=Path.cwd(), shell=shell_of(args), stdin=args.stdin)
    argv = manner.argv(args.attempt)
    environment = base_environment(Isolation(), os.environ)
    program = resolve(argv[0], manner.folder, environment)
    source = os.devnull if args.stdin is None else args.stdin
    began = time.monotonic()
    with Path(source).open("rb") as stdin:
        done = subprocess.run(
            argv, executable=str(program), env=environment, stdin=stdin, check=False
        )
    took = time.monotonic() - began
    ending = (
        f"exit code {done.returncode}" if done.returncode >= 0 else f"signal {-done.returncode}"
    )
    err.write(f"{ending} after {duration(took)}\n")
    codes = args.exit or (0,)
    return 0 if args.ignore_failure or done.returncode in codes else 1
