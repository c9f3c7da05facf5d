"""The option ``--warmup-iterations``, of every command that takes ``--metric``; `harness.cli` makes it hold."""

from __future__ import annotations

import argparse

from ..record.warmup_iterations import NEEDS, WarmupIterations, read_warmup


def add_warmup(parser: argparse.ArgumentParser) -> None:
    """Add ``--warmup-iterations``."""
    parser.add_argument(
        "--warmup-iterations",
        type=_warmup,
        metavar="N",
        help="leave the first N iterations of each run out, or 'auto': those before it is steady "
        "(default: what the campaign says of the metric; 0 judges all)",
    )


def _warmup(text: str) -> WarmupIterations:
    """Read a number of iterations, or ``auto``; argparse reports what is neither."""
    try:
        return read_warmup(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not {NEEDS}") from None
