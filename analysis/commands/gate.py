"""The subcommand ``gate``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TextIO

from ..errors import InsufficientDataError, UsageError
from .options import SIDE, add_confidence, add_json, add_reading, named, reading, show, write_file

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..record.trial_files import Manifest
    from ..verdict.result import Verdict
    from .options import Subparsers


_CONFIDENCE = 0.95


def add(subparsers: Subparsers) -> None:
    """Add ``gate``."""
    parser = subparsers.add_parser(
        "gate",
        description="Decide a condition on the speedup, for a build: is it proven (exit code 1), "
        "ruled out (0), or neither (7)? CONDITION is 'slower>N%', 'worse>N%' (the same, of a metric "
        "that is no time) or 'faster<N%' (the wanted gain is not reached), in quotes. Without "
        "BASELINE, SOURCE is a trial, whose candidates are all compared with its baseline, or one of "
        "its variants. Needs two sessions; a candidate that fails significantly more often than the "
        "baseline does not pass.",
    )
    parser.add_argument("condition", metavar="CONDITION", help="such as 'slower>2%%'")
    parser.add_argument("source", metavar="SOURCE", help=f"a trial (runs/NAME), or {SIDE}")
    parser.add_argument(
        "baseline",
        metavar="BASELINE",
        nargs="?",
        help="what to compare with, such as a variant of another trial (default: the baseline of "
        "the trial's campaign)",
    )
    parser.add_argument(
        *("--variant", "--candidate"),
        action="append",
        type=named,
        metavar="V",
        help="only this candidate of the trial; may be given several times",
    )
    parser.add_argument(
        "--on",
        choices=("suite", "benchmarks"),
        default="suite",
        help="what must pass: the benchmarks together (default), or each of them; either way no "
        "benchmark may be proven",
    )
    add_allow_missing(parser)
    add_reading(parser)
    add_confidence(
        parser,
        "of the intervals; each proof and each pass has half of its risk",
        default=_CONFIDENCE,
    )
    parser.add_argument(
        "--looks",
        type=int,
        metavar="K",
        help="K looks at growing data are planned, each at 1/K of the risk (default: what was appended to "
        "the trial tells which look this is)",
    )
    parser.add_argument(
        "--always-valid",
        action="store_true",
        help="bounds that hold at every look, whenever sessions are added",
    )
    _add_outputs(parser)
    parser.set_defaults(run=_gate)


def add_allow_missing(parser: argparse.ArgumentParser) -> None:
    """Add ``--allow-missing``, whose name stands behind ``=``: a source may stand behind it."""
    said = (
        "at the gate a benchmark may be gone from the newer side: any, or =NAME (again for others)"
    )
    allowed = parser.add_argument(
        "--allow-missing",
        nargs="?",
        const="",
        action="append",
        metavar="NAME",
        default=[],
        help=said,
    )
    vars(allowed)["by_equals"] = True


def allow_missing_words(args: argparse.Namespace) -> list[str]:
    """Write ``--allow-missing`` as it was given."""
    return [f"--allow-missing={name}" if name else "--allow-missing" for name in args.allow_missing]


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--junit", metavar="FILE", help="also write a report of tests, in XML")
    parser.add_argument(
        "--summary",
        metavar="FILE",
        help='also append the answer in Markdown, for "$GITHUB_STEP_SUMMARY"',
    )
    parser.add_argument(
        "--annotations",
        choices=("github",),
        help="also print lines that a build's page shows (on stderr with --json)",
    )
    add_json(parser)


class _Judged(NamedTuple):
    """What comes to the gate: a verdict, candidates without a good run, and the trial or the sources that it is of."""

    verdict: Verdict | None
    failing: tuple[str, ...] = ()
    metric: str | None = None
    manifest: Manifest | None = None
    sources: tuple[str, ...] = ()


def _gate(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from ..pages.result import parse_condition
    from ..verdict.gate import gate, gate_verdict
    from ..verdict.gate_answer import (
        junit,
        next_of,
        next_of_failing,
        next_of_others,
        summary,
        workflow_commands,
    )

    parse_condition(args.condition)  # before anything is read
    fleet = _fleet_of(args)
    if fleet is not None:
        found = _of_fleet(fleet, args)
    else:
        found = _of_one_trial(args) if args.baseline is None else _of_two_sides(args)
    if found.verdict is None:
        answer = gate((), args.condition, on=args.on, failing=found.failing, metric=found.metric)
        if found.manifest is not None:
            answer = replace(answer, following=next_of_failing(found.sources[0]))
    else:
        asked = {"on": args.on, "failing": found.failing, "allow_missing": args.allow_missing}
        answer = gate_verdict(found.verdict, args.condition, **asked)
    if found.verdict is not None:
        if found.manifest is not None:
            following = next_of(answer, found.verdict, found.manifest, _again(args))
        else:
            following = next_of_others(found.verdict, found.sources)
        answer = replace(answer, following=following)
    if args.junit is not None:
        write_file(Path(args.junit), junit(answer))
    if args.summary is not None:
        _append(Path(args.summary), summary(answer))
    show(answer, out, as_json=args.json)
    if args.annotations is not None:
        for line in workflow_commands(answer):
            (err if args.json else out).write(f"{line}\n")
    return answer.exit_code


def _again(args: argparse.Namespace) -> tuple[str, ...]:
    """Give the options that a further call needs to ask the same."""
    from ..importers.reader import trial_and_variant

    named = trial_and_variant(args.source)
    variants = [*(args.variant or ()), *([named[1]] if named is not None and named[1] else [])]
    words = [word for variant in variants for word in ("--variant", variant)]
    words += allow_missing_words(args)
    if args.on != "suite":
        words += ["--on", args.on]
    if args.confidence != _CONFIDENCE:
        words += ["--confidence", f"{args.confidence:g}"]
    return tuple(words)


def _fleet_of(args: argparse.Namespace) -> tuple[Path, str | None] | None:
    """Give the fleet that is named, and its variant; None where it is something else."""
    from ..importers.reader import trial_and_variant
    from ..record.fleet import is_fleet

    sides = [args.source, *([] if args.baseline is None else [args.baseline])]
    named = [one for text in sides if (one := trial_and_variant(text)) is not None]
    fleets = [one for one in named if is_fleet(one[0])]
    if not fleets:
        return None
    if args.baseline is not None or args.always_valid:
        what = "--always-valid is" if args.always_valid else "two sides are"
        raise UsageError(
            f"{what} for the trials of one host each",
            str(fleets[0][0]),
            "name the fleet alone: its candidates are held against its own baseline, on hosts like "
            "these; or name the trial of a host, such as FLEET/HOST",
        )
    return fleets[0]


def _of_fleet(fleet: tuple[Path, str | None], args: argparse.Namespace) -> _Judged:
    """Compare the candidates of a fleet with its baseline, on hosts like these."""
    from ..data.fleet import open_fleet
    from ..data.host_record import refuse_unasked
    from ..verdict.fleet import judge_fleet

    if args.metric is None:
        refuse_unasked(open_fleet(fleet[0]).unasked(), str(fleet[0]))
    variants = [*([] if fleet[1] is None else [fleet[1]]), *(args.variant or ())]
    answer = judge_fleet(
        fleet[0],
        metric=args.metric,
        variants=tuple(dict.fromkeys(variants)) or None,
        confidence=args.confidence,
        looks=args.looks,
    )
    failing = tuple(one.variant for one in answer.candidates if one.multilevel is None)
    return _Judged(answer, failing, sources=(str(fleet[0]),))


def _of_one_trial(args: argparse.Namespace) -> _Judged:
    """Compare candidates of one trial with its baseline."""
    from ..data.host_record import refuse_unasked
    from ..importers.reader import is_file, open_trial, trial_and_variant
    from ..verdict.judging import judge
    from ..verdict.sides import all_failed, ever_succeeded

    named = trial_and_variant(args.source)
    if named is None:
        lone = is_file(args.source)
        raise UsageError(
            "BASELINE is missing, or this is no trial"
            if lone
            else "there is no such trial or file",
            args.source,
            "name a trial (runs/NAME), one of its variants, or two sides; only a trial knows its baseline",
        )
    trial = open_trial(named[0], args.level, args.better, decimal=args.decimal)
    if args.metric is None:
        refuse_unasked(trial.unasked, str(trial.path))
    metric = args.metric or trial.default_metric
    better = trial.metric(metric).better
    if args.better not in (None, better):
        raise UsageError(
            f"in this trial {better} values are better",
            args.source,
            f"leave out --better {args.better}",
        )
    wanted = _wanted(trial, named[1], args.variant)
    failing = tuple(name for name in wanted if all_failed(trial, name))
    if failing and not trial.candidates.any() and ever_succeeded(trial, trial.manifest.baseline):
        # it ended at the warm-ups, because no one of theirs was ok
        return _Judged(None, failing, metric, manifest=trial.manifest, sources=(str(trial.path),))
    trial.matrix(
        trial.manifest.baseline, metric, carry_zeros=True
    )  # or there is nothing to hold it against
    answer = judge(
        trial,
        metric=args.metric,
        confidence=args.confidence,
        variants=wanted,
        looks=args.looks,
        always_valid=args.always_valid,
    )
    for one in answer.candidates:
        if one.multilevel is None and one.variant not in failing:
            _refuse_incomparable(trial, one.variant, metric)
    return _Judged(answer, failing, manifest=trial.manifest)


def _refuse_incomparable(trial: Trial, variant: str, metric: str) -> NoReturn:
    """Say why nothing of a candidate can be compared, although runs of it succeeded."""
    trial.matrix(variant, metric, carry_zeros=True)
    raise InsufficientDataError(
        f"no benchmark of {variant!r} can be compared by {metric!r}",
        str(trial.path),
        "fairtrial verdict says why; name another --metric",
        n=0,
        needed=1,
    )


def _wanted(trial: Trial, variant: str | None, asked: list[str] | None) -> tuple[str, ...]:
    """Name the candidates that are meant."""
    manifest, where = trial.manifest, str(trial.path)
    if variant is not None and asked:
        raise UsageError(
            "the candidate is named twice", f"{where}:{variant}", "leave out --variant, or the name"
        )
    candidates = tuple(name for name in manifest.variants if name != manifest.baseline)
    wanted = tuple(dict.fromkeys(asked or ())) if variant is None else (variant,)
    measured = tuple(name for name in candidates if name not in manifest.same_program)
    for name in wanted:
        if name == manifest.baseline:
            raise UsageError(
                f"{name!r} is the baseline of the trial", where, "name a candidate, or BASELINE too"
            )
        if name not in candidates:
            raise UsageError(
                f"the trial has no variant {name!r}",
                where,
                f"known here: {', '.join(manifest.variants)}",
            )
    if not candidates:
        raise UsageError(
            "the trial has one variant: nothing is compared", where, "measure a second variant"
        )
    return wanted or measured


def _of_two_sides(args: argparse.Namespace) -> _Judged:
    """Compare two sides, each a variant of a trial or a file."""
    from ..data.host_record import refuse_unasked
    from ..importers.reader import trial_and_variant
    from ..pages.model import merged
    from ..verdict.judging import judge_sources
    from ..verdict.sides import all_failed

    sources = [args.source]
    if args.variant:
        named = trial_and_variant(args.source)
        if named is None or named[1] is not None:
            raise UsageError(
                "--variant names candidates of a trial", args.source, "name the trial alone"
            )
        sources = [f"{named[0]}:{name}" for name in dict.fromkeys(args.variant)]
    sides = [trial_and_variant(text) for text in (*sources, args.baseline)]
    opened = reading(args).opened()
    trials = {one[0]: opened.read(one[0]) for one in sides if one is not None}
    if args.metric is None:
        refuse_unasked(
            (name for trial in trials.values() for name in trial.unasked),
            " and ".join(map(str, trials)),
        )
    failing = {
        text: one[1]
        for text, one in zip(sources, sides[:-1], strict=True)
        if one is not None and one[1] is not None and all_failed(trials[one[0]], one[1])
    }
    found = [
        judge_sources(
            text,
            args.baseline,
            reading(args),
            looks=args.looks,
            always_valid=args.always_valid,
            confidence=args.confidence,
        ).verdict
        for text in sources
        if text not in failing
    ]
    if not found:
        return _Judged(None, tuple(failing.values()), args.metric)
    together = replace(
        found[0],
        candidates=tuple(one for verdict in found for one in verdict.candidates),
        cautions=merged(*(verdict.cautions for verdict in found)),
    )
    return _Judged(together, tuple(failing.values()), sources=(sources[0], args.baseline))


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(
            f"the summary cannot be written: {error.strerror}", str(path), "name another file"
        ) from None
