"""The subcommand ``diagnose``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from ..options import command, number
from .options import Source, metric_of, show

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from .options import CommandResult


_PLACES = 12  # 1 - 0.95 is 0.05, whatever binary fractions say


class _Asked(Source):
    matrix: str
    confidence: float
    seed: int


def level_of_risk(text: str) -> float:
    """Read a risk, the first version's word, as the confidence that it leaves."""
    return round(1 - number(text), _PLACES)


class _Several(dict[str, "CommandResult"]):
    """The results of several studies by the name of their option."""

    def to_dict(self) -> dict[str, Any]:
        return {name: study.to_dict() for name, study in self.items()}

    def __str__(self) -> str:
        return "\n\n".join(f"== {name} ==\n{study}" for name, study in self.items())


@command("diagnose")
def diagnose(
    *, asked: _Asked, normality: bool, estimators: bool, clt: bool, json: bool, out: TextIO
) -> int:
    """Look at SOURCE before you judge it.

    The answer shows drift, dependence and changes within sessions, shifts between sessions, changes of
    the whole host's speed, and what the runner recorded. With --normality, --estimators or --clt, one
    variant or file is studied instead; you may give several of them.
    """
    wanted = {"normality": normality, "estimators": estimators, "clt": clt}
    chosen = [name for name, given in wanted.items() if given]
    if not chosen:
        show(_whole(asked), out, as_json=json)
        return 0
    from ..importers.reader import read_one

    matrix = read_one(asked.matrix, asked.reading())
    studies = _Several({name: _study(name, matrix, asked) for name in chosen})
    result = studies[chosen[0]] if len(chosen) == 1 else studies
    show(result, out, as_json=json, metric=metric_of(matrix))
    return 0


def _whole(args: _Asked) -> CommandResult:
    """Look at a trial, at one variant of it, or at a file."""
    from ..diagnose.examine import diagnose_matrix, diagnose_trial
    from ..diagnose.fleet import diagnose_fleet
    from ..importers.reader import open_trial, read_one, trial_and_variant
    from ..record.fleet import is_fleet

    named = trial_and_variant(args.matrix)
    if named is None:
        return diagnose_matrix(read_one(args.matrix, args.reading()), confidence=args.confidence)
    folder, variant = named
    if args.level != "process":
        fix = "leave out --level, or add one study of their values, such as --normality"
        raise UsageError("a diagnosis looks at runs", args.matrix, fix)
    chosen = None if variant is None else (variant,)
    known: dict[str, Any] = args.some("metric", "confidence") | {"variants": chosen}
    if is_fleet(folder):
        if args.better is not None:
            raise UsageError("a fleet knows which values are better", args.matrix, "leave it out")
        return diagnose_fleet(folder, **known)
    trial = open_trial(folder, better=args.better, decimal=args.decimal)
    said = trial.metric(args.metric or trial.default_metric).better
    if args.better is not None and (trial.manifest.origin != "imported" or args.better != said):
        raise UsageError("a trial knows which values are better", args.matrix, "leave out --better")
    return diagnose_trial(trial, **known)


def _study(name: str, matrix: PerformanceMatrix, args: _Asked) -> CommandResult:
    from ..diagnose.central_limit import central_limit_study
    from ..diagnose.estimators import estimator_spread
    from ..diagnose.normality import normality
    from ..stats.arguments import stream

    risk = float(round(1 - args.confidence, _PLACES))
    if name == "normality":
        rng = stream(args.seed, "mean sample size")
        return normality(matrix, risk=risk, rng=rng, seed=args.seed)
    rng = stream(args.seed, name)
    if name == "estimators":
        return estimator_spread(matrix, rng=rng)
    return central_limit_study(matrix, risk=risk, rng=rng)
