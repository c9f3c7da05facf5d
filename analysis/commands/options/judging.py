"""The options of whatever judges: what is compared, by which rules, and how sure it must be."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ..arguments import add_confidence, add_reading, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["add_choice", "add_judging", "asked", "candidates_of", "metrics_of", "weights"]


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add ``--variant`` and ``--benchmark``."""
    parser.add_argument(
        "--variant", action="append", metavar="V", help="this candidate only; may be given again"
    )
    parser.add_argument(
        "--benchmark", action="append", metavar="B", help="this benchmark only; may be given again"
    )


def add_judging(parser: argparse.ArgumentParser) -> None:
    """Add the rules of the verdict, the options of reading, and ``--confidence``."""
    parser.add_argument(
        "--margin",
        type=number,
        default=0.01,
        metavar="M",
        help="differences within it are equivalent (default: 0.01)",
    )
    parser.add_argument(
        "--correction",
        choices=("holm", "bh", "none"),
        default="holm",
        help="of the words for the number of benchmarks: Holm (default), Benjamini-Hochberg, none",
    )
    parser.add_argument(
        "--weight",
        action="append",
        default=[],
        metavar="NAME=W",
        help="weight of a benchmark in the suite; those without have 1; may be given again",
    )
    parser.add_argument(
        "--looks",
        type=int,
        metavar="K",
        help="how often these sessions are looked at, each look at risk / K "
        "(default: what was appended to the trial tells which look this is)",
    )
    parser.add_argument(
        "--always-valid",
        action="store_true",
        help="intervals that hold however often one looks, from 3 sessions on",
    )
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        help="the certificate of 'fairtrial calibrate' to cite (default: the newest beside the trial)",
    )
    add_reading(parser)
    add_confidence(parser, "of each interval")


def asked(args: argparse.Namespace) -> dict[str, Any]:
    """Give the options as `judge` and `judge_sides` take them.

    Raises
    ------
    UsageError
        If a weight is none.
    """
    return {
        "confidence": args.confidence,
        "benchmarks": args.benchmark,
        "margin": args.margin,
        "correction": args.correction,
        "weights": weights(args.weight),
        "looks": args.looks,
        "always_valid": args.always_valid,
    }


def candidates_of(chosen: Sequence[str] | None, named: str | None) -> tuple[str, ...] | None:
    """Name the candidates of ``--variant``, that of ``runs/NAME:VARIANT`` among them."""
    found = [*([] if named is None else [named]), *(chosen or ())]
    return tuple(dict.fromkeys(found)) or None


def metrics_of(
    args: argparse.Namespace, declared: Callable[[], Sequence[str]]
) -> Sequence[str | None]:
    """Give the metrics that have a screen each: those of ``--metric``, else those of the campaign.

    Where neither names one it is one None: who judges takes what is judged then, and says so.
    """
    return args.metric.split(",") if args.metric is not None else declared() or (None,)


def weights(given: Sequence[str]) -> dict[str, float] | None:
    """Read ``--weight NAME=W``.

    Raises
    ------
    UsageError
        If one is not of this form.
    """
    found = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            equals = ""
        if not (equals and name):
            raise UsageError(f"--weight takes NAME=W, not {text!r}", fix="write --weight text=2")
    return found or None
