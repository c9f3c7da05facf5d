"""The subcommand ``calibrate``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import UsageError
from .options import (
    add_confidence,
    add_json,
    add_metric,
    add_seed,
    add_value,
    add_working,
    show,
    working,
)

if TYPE_CHECKING:
    from .options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``calibrate``."""
    parser = subparsers.add_parser(
        "calibrate",
        description="Find out how often each method finds a difference where there is none. TRIAL has two "
        "variants that execute the same program. Their labels are swapped in whole sessions, and each "
        "answer that names a winner is a false alarm. The result is kept as a certificate, which later "
        "verdicts on this machine cite.",
    )
    parser.add_argument("trial", metavar="TRIAL", help="a trial directory, such as runs/NAME")
    parser.add_argument(
        "--pair",
        metavar="A,B",
        help="two variants that execute the same program (default: the first two that are identical "
        "according to the trial)",
    )
    parser.add_argument(
        "--methods", metavar="M,...", help="only these methods, such as welch,hpt (default: all)"
    )
    add_value(
        parser,
        "--power",
        "P",
        "probability with which the smallest detectable effect is found",
        0.8,
    )
    parser.add_argument(
        "--dir",
        metavar="FOLDER",
        help="where the certificate goes (default: certificates beside the trial)",
    )
    parser.add_argument(
        "--no-certificate", action="store_true", help="print the answer, and keep nothing"
    )
    add_metric(parser)
    add_confidence(parser, "of the tests and of the intervals")
    add_seed(parser)
    add_working(parser, "processes")
    add_json(parser)
    parser.set_defaults(run=_calibrate)


def _calibrate(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from ..calibrate.calibration import calibrate_trial
    from ..calibrate.certificate import write_certificate
    from ..importers.reader import open_trial
    from ..record.fleet import is_fleet
    from ..record.trial_files import CERTIFICATES
    from ..stats.arguments import stream

    path = Path(args.trial)
    trial = open_trial(path)
    with working(args) as workers:
        certificate = calibrate_trial(
            trial,
            pair=_pair(args.pair),
            methods=None if args.methods is None else args.methods.split(","),
            metric=args.metric,
            confidence=args.confidence,
            power=args.power,
            rng=stream(args.seed, "calibrate"),
            seed=args.seed,
            workers=workers,
        )
    if is_fleet(path) and args.dir is None:
        err.write("no certificate is kept: one is for the sessions of one machine\n")
    elif not args.no_certificate:
        folder = path.resolve().parent / CERTIFICATES if args.dir is None else Path(args.dir)
        err.write(f"certificate kept as {write_certificate(certificate, folder)}\n")
    show(certificate, out, as_json=args.json)
    return 0


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    names = text.split(",")
    if len(names) != 2 or not all(names):
        raise UsageError(
            f"--pair names two variants, not {text!r}", fix="write them with a comma: --pair A,B"
        )
    return names[0], names[1]
