"""The subcommand ``verdict``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import add_confidence, add_json, add_metric, show

if TYPE_CHECKING:
    from .arguments import Subparsers

__all__ = ["add", "write_verdict"]


def add(subparsers: Subparsers) -> None:
    """Add ``verdict``."""
    parser = subparsers.add_parser(
        "verdict",
        help="judge a trial: every variant against the baseline",
        description="Judge a trial: per benchmark medians, speedup and outcome, and HPT over the "
        "suite, for every variant against the campaign's baseline.",
    )
    parser.add_argument(
        "trial",
        metavar="TRIAL",
        help="a trial directory, such as runs/NAME, or one of its candidates, runs/NAME:VARIANT",
    )
    add_metric(parser)
    add_confidence(parser)
    add_json(parser)
    parser.set_defaults(run=_verdict)


def write_verdict(
    trial: Path,
    out: TextIO,
    *,
    candidate: str | None = None,
    metric: str = "wall",
    confidence: float = 0.95,
    as_json: bool,
) -> None:
    """Judge a trial, or one candidate of it, and write the answer to `out`.

    Raises
    ------
    FairtrialError
        If the trial cannot be read, or cannot be judged.
    """
    from ..formats import open_trial
    from ..verdict import judge

    answer = judge(open_trial(trial), candidate=candidate, metric=metric, confidence=confidence)
    show(answer, out, as_json=as_json)


def _verdict(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..formats import trial_and_variant

    folder, variant = trial_and_variant(args.trial) or (Path(args.trial), None)
    write_verdict(
        folder,
        out,
        candidate=variant,
        metric=args.metric or "wall",
        confidence=args.confidence,
        as_json=args.json,
    )
    return 0
