"""The subcommand ``diagnose``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from .options import (
    SIDE,
    add_confidence,
    add_json,
    add_reading,
    add_seed,
    metric_of,
    number,
    reading,
    show,
)

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from .options import CommandResult, Subparsers


_PLACES = 12  # 1 - 0.95 is 0.05, whatever binary fractions say


def add(subparsers: Subparsers) -> None:
    """Add ``diagnose``."""
    parser = subparsers.add_parser(
        "diagnose",
        description="Look at SOURCE before you judge it: drift, dependence and changes within sessions, "
        "shifts between sessions, changes of the whole host's speed, and what the runner recorded. With "
        "--normality, --estimators or --clt, one variant or file is studied instead; you may give several "
        "of them.",
    )
    parser.add_argument("matrix", metavar="SOURCE", help=f"a trial (runs/NAME), {SIDE}")
    parser.add_argument(
        "--normality",
        action="store_true",
        help="do the runs look normal, and how large must a sample be before its mean does?",
    )
    parser.add_argument(
        "--estimators",
        action="store_true",
        help="which is the steadiest figure for a benchmark: minimum, median or mean?",
    )
    parser.add_argument(
        "--clt",
        action="store_true",
        help="do means and medians of 5, 10 ... 100 runs look normal (central limit theorem)?",
    )
    add_reading(parser)
    add_confidence(parser, "of the tests")
    parser.add_argument(  # the first version's word
        "--risk", dest="confidence", type=_level_of_risk, help=argparse.SUPPRESS
    )
    add_seed(parser)
    add_json(parser, "; of several studies, one object each")
    parser.set_defaults(run=_diagnose)


def _level_of_risk(text: str) -> float:
    return round(1 - number(text), _PLACES)


def _risk(args: argparse.Namespace) -> float:
    return float(round(1 - args.confidence, _PLACES))


class _Several(dict[str, "CommandResult"]):
    """The results of several studies by the name of their option."""

    def to_dict(self) -> dict[str, Any]:
        return {name: study.to_dict() for name, study in self.items()}

    def __str__(self) -> str:
        return "\n\n".join(f"== {name} ==\n{study}" for name, study in self.items())


def _diagnose(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    chosen = {name: study for name, study in _STUDIES.items() if getattr(args, name)}
    if not chosen:
        show(_whole(args), out, as_json=args.json)
        return 0
    from ..importers.reader import read_one

    matrix = read_one(args.matrix, reading(args))
    studies = _Several({name: study(matrix, args) for name, study in chosen.items()})
    result = next(iter(studies.values())) if len(studies) == 1 else studies
    show(result, out, as_json=args.json, metric=metric_of(matrix))
    return 0


def _whole(args: argparse.Namespace) -> CommandResult:
    """Look at a trial, at one variant of it, or at a file."""
    from ..diagnose.examine import diagnose_matrix, diagnose_trial
    from ..diagnose.fleet import diagnose_fleet
    from ..importers.reader import open_trial, read_one, trial_and_variant
    from ..record.fleet import is_fleet

    named = trial_and_variant(args.matrix)
    if named is None:
        return diagnose_matrix(read_one(args.matrix, reading(args)), confidence=args.confidence)
    folder, variant = named
    if args.level != "process":
        raise UsageError(
            "a diagnosis looks at runs",
            args.matrix,
            "leave out --level, or add one study of their values, such as --normality",
        )
    if is_fleet(folder):
        if args.better is not None:
            raise UsageError("a fleet knows which values are better", args.matrix, "leave it out")
        return diagnose_fleet(
            folder,
            metric=args.metric,
            variants=None if variant is None else (variant,),
            confidence=args.confidence,
        )
    trial = open_trial(folder, better=args.better, decimal=args.decimal)
    said = trial.metric(args.metric or trial.default_metric).better
    if args.better is not None and (trial.manifest.origin != "imported" or args.better != said):
        raise UsageError("a trial knows which values are better", args.matrix, "leave out --better")
    return diagnose_trial(
        trial,
        metric=args.metric,
        variants=None if variant is None else (variant,),
        confidence=args.confidence,
    )


def _normality(matrix: PerformanceMatrix, args: argparse.Namespace) -> CommandResult:
    from ..diagnose.normality import normality
    from ..stats.arguments import stream

    rng = stream(args.seed, "mean sample size")
    return normality(matrix, risk=_risk(args), rng=rng, seed=args.seed)


def _estimators(matrix: PerformanceMatrix, args: argparse.Namespace) -> CommandResult:
    from ..diagnose.estimators import estimator_spread
    from ..stats.arguments import stream

    return estimator_spread(matrix, rng=stream(args.seed, "estimators"))


def _clt(matrix: PerformanceMatrix, args: argparse.Namespace) -> CommandResult:
    from ..diagnose.central_limit import central_limit_study
    from ..stats.arguments import stream

    return central_limit_study(matrix, risk=_risk(args), rng=stream(args.seed, "clt"))


_STUDIES: Mapping[str, Callable[[PerformanceMatrix, argparse.Namespace], CommandResult]] = {
    "normality": _normality,
    "estimators": _estimators,
    "clt": _clt,
}
