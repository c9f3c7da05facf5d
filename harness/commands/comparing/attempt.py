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
from .scan import wanted_commands
from .tries import argv_of


def attempt(args: argparse.Namespace, err: TextIO) -> int:
    """Execute ``--try COMMAND`` with the environment and the input of measured runs; give 0, or 1 if it failed.

    Raises
    ------
    LaunchError
        If its program is not there.
    """
    (one,) = wanted_commands(argparse.Namespace(**vars(args) | {"commands": [args.attempt]}))
    argv = argv_of(one)
    environment = base_environment(Isolation(), os.environ)
    program = resolve(argv[0], Path.cwd(), environment)
    source = one.stdin or os.devnull
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
