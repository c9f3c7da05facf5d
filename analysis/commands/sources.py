"""The subcommand ``sources``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TextIO

from ..errors import UsageError
from .arguments import add_confidence, add_json, add_metric, add_resamples, add_seed, show

if TYPE_CHECKING:
    from ..methods.variance_sources import Sources
    from .arguments import Subparsers

__all__ = ["add"]

_PERMUTATIONS = 2000
# options of one of the two questions only: without a default, so that one that is not taken is seen
_OF_TABLES = ("group", "ignore")
_OF_TRIALS = ("metric", "resamples")


def add(subparsers: Subparsers) -> None:
    """Add ``sources``."""
    parser = subparsers.add_parser(
        "sources",
        help="where variation comes from: between sessions, by suspected factors, across systems",
        description="Where does the variation come from? SOURCE... are one or more trials (runs/NAME) "
        "of the same programs: components of variance, the effect of each suspected factor within "
        "sessions, and what separates modes. With --response, SOURCE is one table (CSV, Parquet) of "
        "systems, whose column is explained by the others.",
    )
    parser.add_argument("sources", metavar="SOURCE", nargs="+")
    add_metric(parser)
    add_resamples(parser, None, f"orders of each factor (default: {_PERMUTATIONS})")
    add_confidence(parser, "of the intervals; what is left is the family-wise risk")
    parser.add_argument("--response", metavar="COLUMN", help="of a table: what is to be explained")
    parser.add_argument(
        "--group", metavar="COLUMN", help="of a table: families that are held out as a whole"
    )
    parser.add_argument(
        "--ignore", metavar="COLUMN,...", help="of a table: columns that explain nothing"
    )
    add_seed(parser)
    add_json(parser)
    parser.set_defaults(run=_sources)


def _sources(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    found = _of_trials(args) if args.response is None else _of_table(args)
    show(found, out, as_json=args.json)
    return 0


def _of_trials(args: argparse.Namespace) -> Sources:
    from ..explaining import sources
    from ..formats import open_trial, trial_and_variant
    from ..stats import stream

    _refuse(args, _OF_TABLES, "is for tables", "add --response COLUMN for a table, or leave it out")
    trials = []
    for source in args.sources:
        named = trial_and_variant(source)
        if named is None:
            raise UsageError(
                "this is no trial",
                source,
                "name runs/NAME, or add --response COLUMN where it is a table",
            )
        if named[1] is not None:
            raise UsageError(
                "all variants of a trial are looked at", source, f"name {named[0]} alone"
            )
        trials.append(open_trial(named[0]))
    return sources(
        trials,
        metric=args.metric,
        permutations=_PERMUTATIONS if args.resamples is None else args.resamples,
        confidence=args.confidence,
        rng=stream(args.seed, "sources"),
        seed=args.seed,
    )


def _of_table(args: argparse.Namespace) -> Sources:
    from ..methods.variance_sources import sources_of_table
    from ..stats import stream

    _refuse(args, _OF_TRIALS, "is for trials", "leave it out")
    if len(args.sources) > 1:
        raise UsageError("a response is explained in one table", args.sources[1], "name one table")
    return sources_of_table(
        args.sources[0],
        args.response,
        group=args.group,
        ignore=() if args.ignore is None else tuple(args.ignore.split(",")),
        rng=stream(args.seed, "sources"),
        seed=args.seed,
    )


def _refuse(args: argparse.Namespace, options: tuple[str, ...], what: str, fix: str) -> None:
    for name in options:
        if getattr(args, name) is not None:
            raise UsageError(f"--{name} {what}", ", ".join(args.sources), fix)
