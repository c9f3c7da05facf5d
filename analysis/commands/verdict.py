"""The subcommand ``verdict``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from .arguments import SIDE, add_confidence, add_json, add_reading, number, reading, show

if TYPE_CHECKING:
    from ..verdict import Verdict
    from ..verdict.ranking import BestOf, Ranking
    from .arguments import Subparsers

__all__ = ["add", "write_verdict"]


def add(subparsers: Subparsers) -> None:
    """Add ``verdict``."""
    parser = subparsers.add_parser(
        "verdict",
        help="judge a trial: every variant against the baseline",
        description="Judge a trial: speedup, interval and word for each benchmark and for the suite, "
        "by sessions, for every variant against the campaign's baseline.",
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        nargs="?",
        help=f"a trial (default: the newest in runs/), {SIDE}",
    )
    parser.add_argument(
        "baseline", metavar="BASELINE", nargs="?", help="compare SOURCE with this one instead"
    )
    parser.add_argument(
        "--variant", action="append", metavar="V", help="this candidate only; may be given again"
    )
    parser.add_argument(
        "--benchmark", action="append", metavar="B", help="this benchmark only; may be given again"
    )
    parser.add_argument("--all", action="store_true", help="show all benchmarks and cautions")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="also ask the published methods, and say why they differ",
    )
    _add_ways(parser)
    parser.add_argument(
        "--gate",
        metavar="CONDITION",
        help="then decide a condition such as 'slower>2%%', with the exit codes of 'fairtrial gate'",
    )
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
        "(default: 1, and 1 for each time the trial was appended to)",
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
    add_json(parser)
    parser.set_defaults(run=_verdict)


def _add_ways(parser: argparse.ArgumentParser) -> None:
    """Add the ways to look at more than candidates against a baseline."""
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--pairs", action="store_true", help="compare every variant with every other")
    ways.add_argument(
        "--rank", action="store_true", help="rank the variants over the suite, pair by pair"
    )
    ways.add_argument(
        "--best-of",
        type=int,
        metavar="R",
        help="the chance of each variant to have the best of R runs each",
    )


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

    variants = None if candidate is None else (candidate,)
    answer = judge(open_trial(trial), variants=variants, metric=metric, confidence=confidence)
    show(answer, out, as_json=as_json)


def _verdict(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..formats import newest_trial, open_trial, trial_and_variant

    source = str(newest_trial()) if args.source is None else args.source
    if args.gate is not None:
        from ..verdict.gate import parse_condition

        parse_condition(args.gate)  # before anything is read
    named = trial_and_variant(source)
    if args.baseline is None and (named is not None or not Path(source).is_file()):
        folder, variant = named or (Path(source), None)
        trial = open_trial(folder, args.level, args.better)
        metrics = tuple((args.metric or trial.default_metric).split(","))
        variants = _variants(args.variant, variant)
        code = 0
        for k, metric in enumerate(metrics):
            _apart(out, k, as_json=args.json)
            code = max(code, _show_trial(trial, variants, metric, args, out))
        return code
    several = args.metric is not None and "," in args.metric
    if args.pairs or args.rank or args.best_of is not None or several or args.variant:
        raise UsageError(
            "--pairs, --rank, --best-of, --variant and several metrics are for one trial", source
        )
    answer = _sides(source, args)
    show(answer, out, as_json=args.json)
    return _gated(answer, (), args, out)


def _show_trial(
    trial: Any,  # noqa: ANN401 - a Trial, whose module is not imported at start-up
    variants: tuple[str, ...] | None,
    metric: str,
    args: argparse.Namespace,
    out: TextIO,
) -> int:
    from dataclasses import replace

    from ..verdict import all_failed, judge

    if args.pairs or args.rank or args.best_of is not None:
        show(_ranked(trial, variants, metric, args), out, as_json=args.json)
        return 0
    answer = judge(
        trial,
        variants=variants,
        metric=metric,
        explain=args.explain,
        certificate=args.certificate,
        **_asked(args),
    )
    show(replace(answer, whole=args.all), out, as_json=args.json)
    without = [one.variant for one in answer.candidates if one.multilevel is None]
    return _gated(answer, [name for name in without if all_failed(trial, name)], args, out)


def _gated(answer: Verdict, failing: Sequence[str], args: argparse.Namespace, out: TextIO) -> int:
    """Decide the condition of ``--gate``, if there is one, by what was shown."""
    if args.gate is None:
        return 0
    from ..verdict.gate import gate

    results = [one.multilevel for one in answer.candidates if one.multilevel is not None]
    decided = gate(results, args.gate, failing=failing)
    _apart(out, 1, as_json=args.json)
    show(decided, out, as_json=args.json)
    return decided.exit_code


def _ranked(
    trial: Any,  # noqa: ANN401 - as above
    variants: tuple[str, ...] | None,
    metric: str,
    args: argparse.Namespace,
) -> BestOf | Ranking:
    """Look at all variants against each other."""
    from ..verdict.ranking import best_of, rank_variants

    if args.best_of is not None:
        return best_of(
            trial, args.best_of, metric=metric, variants=variants, benchmarks=args.benchmark
        )
    return rank_variants(
        trial,
        metric=metric,
        confidence=args.confidence,
        variants=variants,
        benchmarks=args.benchmark,
        margin=args.margin,
        weights=_weights(args.weight),
        looks=args.looks,
        ranked=args.rank,
    )


def _sides(source: str, args: argparse.Namespace) -> Verdict:
    """Judge two sides that are not one trial's campaign."""
    from dataclasses import replace

    from ..formats import open_trial, read_sides, sessions_apart, trial_and_variant
    from ..report import merged
    from ..verdict import judge_sides

    sides = sessions_apart(read_sides(source, args.baseline, reading(args)))
    folders = {
        named[0]: None
        for text in (source, args.baseline or "")
        if (named := trial_and_variant(text)) is not None
    }
    trials = [open_trial(folder) for folder in folders]
    asked = _asked(args)
    if args.looks is None and not args.always_valid:
        asked["looks"] = max([1, *(trial.manifest.looks for trial in trials)])
    answer = judge_sides(
        sides.candidate,
        sides.baseline,
        metric=args.metric or (trials[0].default_metric if trials else "values"),
        explain=args.explain,
        **asked,
    )
    known = merged(*(trial.cautions for trial in trials), answer.cautions)
    return replace(answer, whole=args.all, cautions=known)


def _asked(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "confidence": args.confidence,
        "benchmarks": args.benchmark,
        "margin": args.margin,
        "correction": args.correction,
        "weights": _weights(args.weight),
        "looks": args.looks,
        "always_valid": args.always_valid,
    }


def _variants(asked: list[str] | None, named: str | None) -> tuple[str, ...] | None:
    """Name the candidates, those of ``runs/NAME:VARIANT`` among them."""
    found = [*([] if named is None else [named]), *(asked or ())]
    return tuple(dict.fromkeys(found)) or None


def _weights(given: list[str]) -> dict[str, float] | None:
    weights = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        try:
            weights[name] = float(value)
        except ValueError:
            equals = ""
        if not (equals and name):
            raise UsageError(f"--weight takes NAME=W, not {text!r}", fix="write --weight text=2")
    return weights or None


def _apart(out: TextIO, k: int, *, as_json: bool) -> None:
    """Leave an empty line between the screens of several metrics."""
    if k and not as_json:
        out.write("\n")
