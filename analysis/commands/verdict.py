"""The subcommands ``verdict``, ``gate`` and ``diff``: one verdict, a yes or no by it, or two trials side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from ..errors import InsufficientDataError, UsageError
from ..option_groups import Judging, Metric, Source, candidates_of, metrics_of, show
from ..options import command
from ..record.printer import STDOUT, check_files, write_file
from ..words import command_line, quoted

if TYPE_CHECKING:
    from ..data.fleet import OpenedFleet
    from ..data.number_text import Decimal
    from ..data.trial import Trial
    from ..record.run_numbers import Better
    from ..record.trial_files import Manifest
    from ..verdict.gate import Gate, On
    from ..verdict.ranking import Ranking
    from ..verdict.result import Verdict


# --- The subcommand ``gate``.


_CONFIDENCE = 0.95
MISSING_ALONE = "--allow-missing is for --gate", None, "leave it out, or add --gate CONDITION"


class _GateOptions(Source):
    condition: str
    source: str
    baseline: str | None
    variant: list[str] | None
    on: On
    allow_missing: list[str] | None
    confidence: float
    looks: int | None
    always_valid: bool


def allow_missing_words(allowed: Sequence[str] | None) -> list[str]:
    """Write ``--allow-missing`` as it was given."""
    return [f"--allow-missing={name}" if name else "--allow-missing" for name in allowed or ()]


class _Judged(NamedTuple):
    """What comes to the gate: a verdict, candidates without a good run, and the trial that it is of."""

    verdict: Verdict | None
    failing: tuple[str, ...] = ()
    metric: str | None = None
    manifest: Manifest | None = None
    path: str | None = None


@command("gate")
def gate(
    *,
    asked: _GateOptions,
    junit: str | None,
    summary: str | None,
    annotations: str | None,
    json: bool,
    out: TextIO,
    err: TextIO,
) -> int:
    """Decide a condition on the speedup, for a build.

    Is it proven (exit code 1), ruled out (0), or neither (7)? CONDITION is 'slower>N%', 'worse>N%' (the
    same, of a metric that is no time) or 'faster<N%' (the wanted gain is not reached), in quotes.
    Without BASELINE, SOURCE is a trial, whose candidates are all compared with its baseline, or one of
    its variants. Needs two sessions; a candidate that fails significantly more often than the baseline
    does not pass.
    """
    from ..importers.reader import trial_and_variant
    from ..pages.result import parse_condition
    from ..verdict import gate_answer as answers

    parse_condition(asked.condition)  # before anything is read
    check_files(junit, summary)
    found = _of_fleet(asked)
    if found is None:
        base = asked.baseline
        found = _of_one_trial(asked) if base is None else _of_two_sides(asked, base)
    named = trial_and_variant(asked.source)
    variants = candidates_of(asked.variant, None if named is None else named[1])
    answer = _gate(found, asked, asked.condition, variants, on=asked.on)
    aside = err if json else out
    files = (junit, answers.junit, write_file), (summary, answers.summary, _append)
    for path, text, write in files:
        if path in STDOUT:
            aside.write(text(answer))
        elif path is not None:
            write(Path(path), text(answer))
    show(answer, out, as_json=json)
    if annotations is not None:
        for line in answers.workflow_commands(answer):
            aside.write(f"{line}\n")
    return answer.exit_code


def _gate(
    found: _Judged,
    args: _GateOptions | _Options,
    condition: str,
    variants: Sequence[str] | None,
    on: On = "suite",
) -> Gate:
    from ..verdict.gate import gate as decide, gate_verdict, next_of_gate
    from ..verdict.result import next_of_failing

    if found.verdict is None:
        answer = decide((), condition, on=on, failing=found.failing, metric=found.metric)
        if found.path is None:
            return answer
        return replace(answer, following=(next_of_failing(found.path),))
    allowed = args.allow_missing or []
    answer = gate_verdict(
        found.verdict, condition, on=on, failing=found.failing, allow_missing=allowed
    )
    # what a further call needs to ask the same
    again = [word for variant in variants or () for word in ("--variant", variant)]
    again += allow_missing_words(allowed)
    again += ["--on", on] * (on != "suite")
    again += ["--confidence", str(args.confidence)] * (args.confidence != _CONFIDENCE)
    following = next_of_gate(answer, found.verdict, found.manifest, again)
    return replace(answer, following=following)


def _of_fleet(args: _GateOptions) -> _Judged | None:
    """Judge the fleet that is named; None where it is something else."""
    from ..data.fleet import open_fleet
    from ..data.host_record import refuse_unnamed
    from ..importers.reader import trial_and_variant
    from ..record.fleet import is_fleet
    from ..verdict.fleet import judge_fleet, refuse_of_fleet

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
    folder, variant = fleets[0]
    if args.metric is None:
        refuse_unnamed(open_fleet(folder).unnamed, str(folder))
    refuse_of_fleet(folder, (), f"gate {quoted(args.condition)}", level=args.level)
    answer = judge_fleet(
        folder,
        metric=args.metric,
        variants=candidates_of(args.variant, variant),
        confidence=args.confidence,
        looks=args.looks,
    )
    failing = tuple(one.variant for one in answer.candidates if one.multilevel is None)
    return _Judged(answer, failing)


def _of_one_trial(args: _GateOptions) -> _Judged:
    from ..data.host_record import refuse_unnamed
    from ..importers.reader import is_file, open_trial, read_sides, trial_and_variant
    from ..verdict.judging import judge
    from ..verdict.sides import all_failed, ever_succeeded

    named = trial_and_variant(args.source)
    if named is None:
        if is_file(args.source):
            read_sides(args.source, None, args.reading())  # says what is missing
        raise UsageError(
            "there is no such trial or file",
            args.source,
            "name a trial (runs/NAME), one of its variants, or two sides; only a trial knows its baseline",
        )
    trial = open_trial(named[0], args.level, args.better, decimal=args.decimal)
    if args.metric is None:
        refuse_unnamed(trial.unnamed, str(trial.path))
    metric = args.metric or trial.default_metric
    better = trial.metric(metric).better
    if args.better not in (None, better):
        what = f"in this trial {better} values are better"
        fix = f"leave out --better {args.better}"
        raise UsageError(what, args.source, fix)
    wanted = _wanted(trial, named[1], args.variant)
    failing = tuple(name for name in wanted if all_failed(trial, name))
    if failing and not trial.candidates.any() and ever_succeeded(trial, trial.manifest.baseline):
        # it ended at the warm-ups, because no one of theirs was ok
        return _Judged(None, failing, metric, path=str(trial.path))
    # or there is nothing to hold it against
    trial.matrix(trial.manifest.baseline, metric, carry_zeros=True)
    answer = judge(
        trial,
        metric=args.metric,
        variants=wanted,
        **args.some("looks", "always_valid", "confidence"),
    )
    for one in answer.candidates:
        if one.multilevel is None and one.variant not in failing:  # although runs of it succeeded
            trial.matrix(one.variant, metric, carry_zeros=True)
            raise InsufficientDataError(
                f"no benchmark of {one.variant!r} can be compared by {metric!r}",
                str(trial.path),
                f"{command_line(('fairtrial', 'verdict', str(trial.path)))} says why; name another --metric",
                n=0,
                needed=1,
            )
    return _Judged(answer, failing, manifest=trial.manifest)


def _wanted(trial: Trial, variant: str | None, asked: list[str] | None) -> tuple[str, ...]:
    from ..verdict.sides import candidates_in

    where = str(trial.path)
    if variant is not None and asked:
        fix = "leave out --variant, or the name"
        raise UsageError("the candidate is named twice", f"{where}:{variant}", fix)
    found = candidates_in(trial, candidates_of(asked, variant))
    if len(trial.manifest.variants) == 1:
        what = "the trial has one variant: nothing is compared"
        raise UsageError(what, where, "measure a second variant")
    return tuple(name for name in found if name != trial.manifest.baseline)


def _of_two_sides(args: _GateOptions, baseline: str) -> _Judged:
    from ..data.host_record import refuse_unnamed
    from ..importers.reader import trial_and_variant
    from ..pages.model import merged
    from ..verdict.judging import judge_sources
    from ..verdict.sides import all_failed

    sources = [args.source]
    if args.variant:
        named = trial_and_variant(args.source)
        if named is None or named[1] is not None:
            what = "--variant names candidates of a trial"
            raise UsageError(what, args.source, "name the trial alone")
        sources = [f"{named[0]}:{name}" for name in dict.fromkeys(args.variant)]
    sides = [trial_and_variant(text) for text in (*sources, baseline)]
    opened = args.reading().opened()
    trials = {one[0]: opened.read(one[0]) for one in sides if one is not None}
    if args.metric is None:
        refuse_unnamed(
            (name for trial in trials.values() for name in trial.unnamed),
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
            baseline,
            args.reading(),
            **args.some("looks", "always_valid", "confidence"),
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
    return _Judged(together, tuple(failing.values()))


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        what = f"the summary cannot be written: {error.strerror}"
        raise UsageError(what, str(path), "name another file") from None


# --- The subcommands ``verdict`` and ``diff``.


class _Options(Judging):
    source: str | None
    baseline: str | None
    all: bool
    explain: bool
    ratio: bool
    pairs: bool
    rank: bool
    gate: str | None
    allow_missing: list[str] | None
    json: bool


@command("verdict", "pairs", "rank")
def verdict(*, args: _Options, out: TextIO) -> int:
    """Judge a trial, by sessions, every variant against the campaign's baseline.

    The answer has a speedup, an interval and a word for each benchmark and for the suite.
    """
    from ..data.host_record import refuse_unnamed
    from ..importers.reader import is_file, newest_trial, open_trial, trial_and_variant
    from ..record.fleet import is_fleet

    source = str(newest_trial()) if args.source is None else args.source
    if args.gate is not None:
        from ..pages.result import parse_condition

        parse_condition(args.gate)  # before anything is read
    elif args.allow_missing is not None:
        raise UsageError(*MISSING_ALONE)
    named = trial_and_variant(source)
    if args.baseline is None and (named is not None or not is_file(source)):
        folder, variant = named or (Path(source), None)
        fleet = _opened_fleet(folder, args) if is_fleet(folder) else None
        trial = fleet or open_trial(folder, args.level, args.better, decimal=args.decimal)
        metrics = metrics_of(args.metric, lambda: trial.judge)
        if args.gate is not None and args.metric is None:
            refuse_unnamed(trial.unnamed, str(folder))
        variants = candidates_of(args.variant, variant)
        codes = []
        for k, metric in enumerate(metrics):
            if k and not args.json:  # between two screens
                out.write("\n")
            if args.pairs or args.rank:
                show(_ranked(folder, trial, metric, variants, args), out, as_json=args.json)
                continue
            found = _judged(trial, metric, variants, args, out, fleet=fleet is not None)
            if k == 0 or args.metric is not None:  # the first decides, or all that were named
                codes.append(_gated(found, args, out, variants))
        return min(filter(None, codes), default=0)  # proven (1) counts more than undecided (7)
    several = [f"--metric {args.metric}"] * ("," in (args.metric or ""))
    for option in (*args.given("pairs", "rank", "variant", "certificate"), *several):
        fix = "leave it out, or name one trial alone"
        raise UsageError(f"{option} is for one trial, not for two sides", source, fix)
    from ..verdict.judging import judge_sources

    both = judge_sources(
        source, args.baseline, args.reading(), explain=args.explain, **args.rules()
    )
    if args.gate is not None and args.metric is None:
        refuse_unnamed((name for trial in both.trials for name in trial.unnamed), source)
    answer = replace(both.verdict, whole=args.all, ratio=args.ratio)
    show(answer, out, as_json=args.json)
    return _gated(_Judged(answer), args, out)


def _opened_fleet(folder: Path, args: _Options) -> OpenedFleet:
    from ..data.fleet import open_fleet
    from ..verdict.fleet import refuse_of_fleet

    given = args.given("pairs", "rank", "always_valid", "certificate")
    refuse_of_fleet(folder, given, level=args.level)
    return open_fleet(folder)


def _judged(
    opened: Any,  # noqa: ANN401 - a trial, or a fleet
    metric: str | None,
    variants: tuple[str, ...] | None,
    args: _Options,
    out: TextIO,
    *,
    fleet: bool,
) -> _Judged:
    how = {"metric": metric, "variants": variants, "explain": args.explain, **args.rules()}
    if fleet:
        from ..verdict.fleet import judge_fleet

        del how["always_valid"]
        answer = judge_fleet(opened.path, **how)
    else:
        from ..verdict.judging import judge

        answer = judge(opened, certificate=args.certificate, **how)
    failing = [one.variant for one in answer.candidates if one.multilevel is None]
    if not fleet:
        from ..verdict.sides import all_failed

        failing = [name for name in failing if all_failed(opened, name)]
    answer = replace(answer, whole=args.all, ratio=args.ratio)
    show(answer, out, as_json=args.json)
    return _Judged(answer, tuple(failing), manifest=None if fleet else opened.manifest)


def _ranked(
    folder: Path,
    trial: Any,  # noqa: ANN401 - a trial: fleets are refused
    metric: str | None,
    variants: tuple[str, ...] | None,
    args: _Options,
) -> Ranking:
    from ..verdict.ranking import rank_variants

    # a gate that is not asked would pass
    given = [*args.given("gate", "explain", "ratio", "certificate", "always_valid")]
    given += [f"--correction {args.correction}"] * (args.correction != "holm")
    for option in given:
        pairs = "--pairs" if args.pairs else "--rank"
        fix = f"leave out {option}, or {pairs} to compare with the baseline"
        raise UsageError(f"{option} does nothing together with {pairs}", str(folder), fix)
    how = args.rules()
    del how["always_valid"], how["correction"]
    return rank_variants(trial, metric=metric, variants=variants, ranked=args.rank, **how)


def _gated(
    found: _Judged, args: _Options, out: TextIO, variants: Sequence[str] | None = None
) -> int:
    if args.gate is None:
        return 0
    from ..verdict.cautions import NOTHING_SHOWN

    decided = _gate(found, args, args.gate, variants)
    alike = args.benchmark is None and not args.weight
    if decided.outcome != "undecided" or found.manifest is None or not alike:
        decided = replace(decided, following=())
    if not args.json:
        out.write("\n")
    # below its verdict, which has said the cautions
    shown = decided if args.json else replace(decided, shown=NOTHING_SHOWN)
    show(shown, out, as_json=args.json)
    return decided.exit_code


class _Compared(Metric):
    better: Better | None
    decimal: Decimal | None
    level: str
    confidence: float
    margin: float


@command("diff")
def diff(
    *, first: Path, second: Path, asked: _Compared, exit_code: bool, json: bool, out: TextIO
) -> int:
    """Compare two trials: of two nights, of two hosts, or before and after a change.

    The answer shows their campaigns, plans and environments, each speedup in both trials, whether the
    two differ by more than their uncertainties, and whether the second trial reproduces the
    conclusions of the first.

    exit code: 0 if they were compared, whatever the answer; with --exit-code: 0 reproduced, 1 partly
    or not reproduced, 7 undecided
    """
    from ..importers.reader import called_alike, open_trial, trial_and_variant
    from ..verdict.comparison import compare_trials

    for path in (first, second):
        named = trial_and_variant(str(path))
        if named is not None and named[1] is not None:
            what = "whole trials are compared, and not one variant of them"
            fix = f"name {named[0]}; 'fairtrial verdict' compares two variants"
            raise UsageError(what, str(path), fix)
    old, new = (
        open_trial(path, asked.level, asked.better, decimal=asked.decimal)
        for path in (first, second)
    )
    new = called_alike(new, old, variants=True)
    answer = compare_trials(old, new, **asked.some("metric", "confidence", "margin"))
    show(answer, out, as_json=json, metric=None if answer.metric == "wall" else answer.metric)
    return answer.exit_code if exit_code else 0
