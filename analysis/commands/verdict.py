"""The subcommands ``verdict`` and ``diff``: one verdict, or those of two trials side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from ..options import command
from .gate import allow_missing_words
from .options import Judging, Metric, candidates_of, metrics_of, show

if TYPE_CHECKING:
    from ..data.number_text import Decimal
    from ..record.run_numbers import Better
    from ..record.trial_files import Manifest
    from ..verdict.ranking import Ranking
    from ..verdict.result import Verdict


class _Asked(Judging):
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
def verdict(*, args: _Asked, out: TextIO) -> int:
    """Judge a trial, by sessions, every variant against the campaign's baseline.

    The answer has a speedup, an interval and a word for each benchmark and for the suite.
    """
    from ..data.host_record import refuse_unasked
    from ..importers.reader import is_file, newest_trial, open_trial, trial_and_variant
    from ..record.fleet import is_fleet

    source = str(newest_trial()) if args.source is None else args.source
    if args.gate is not None:
        from ..pages.result import parse_condition

        parse_condition(args.gate)  # before anything is read
    named = trial_and_variant(source)
    if args.baseline is None and (named is not None or not is_file(source)):
        folder, variant = named or (Path(source), None)
        if is_fleet(folder):
            return _fleet(folder, variant, args, out)
        trial = open_trial(folder, args.level, args.better, decimal=args.decimal)
        metrics = metrics_of(args.metric, lambda: trial.judge)
        if args.gate is not None and args.metric is None:
            refuse_unasked(trial.unasked, str(trial.path))
        variants = candidates_of(args.variant, variant)
        code = 0
        for k, metric in enumerate(metrics):
            _apart(out, k, as_json=args.json)
            decides = k == 0 or args.metric is not None  # the first decides, or all that were named
            code = max(code, _show_trial(trial, variants, metric, args, out, decides=decides))
        return code
    several = args.metric is not None and "," in args.metric
    if args.pairs or args.rank or several or args.variant:
        raise UsageError("--pairs, --rank, --variant and several metrics are for one trial", source)
    answer = _sides(source, args)
    show(answer, out, as_json=args.json)
    return _gated(answer, (), args, out)


def _fleet(folder: Path, variant: str | None, args: _Asked, out: TextIO) -> int:
    """Judge a fleet: hosts are its outermost level."""
    from dataclasses import replace

    from ..data.fleet import open_fleet
    from ..data.host_record import refuse_unasked
    from ..verdict.fleet import judge_fleet
    from ..verdict.hosts import refuse_of_fleet

    given = {
        "--pairs": args.pairs,
        "--rank": args.rank,
        "--always-valid": args.always_valid,
        "--certificate": args.certificate is not None,
        "--level iteration": args.level == "iteration",
    }
    refuse_of_fleet(folder, (name for name, yes in given.items() if yes))
    how = args.rules()
    del how["always_valid"]
    code = 0
    opened = open_fleet(folder)
    if args.gate is not None and args.metric is None:
        refuse_unasked(opened.unasked(), str(folder))
    for k, metric in enumerate(metrics_of(args.metric, opened.judge)):
        _apart(out, k, as_json=args.json)
        answer = judge_fleet(
            folder,
            variants=candidates_of(args.variant, variant),
            metric=metric,
            explain=args.explain,
            **how,
        )
        show(replace(answer, whole=args.all, ratio=args.ratio), out, as_json=args.json)
        without = [one.variant for one in answer.candidates if one.multilevel is None]
        if k == 0 or args.metric is not None:
            code = max(code, _gated(answer, without, args, out))
    return code


def _show_trial(
    trial: Any,  # noqa: ANN401 - a Trial, whose module is not imported at start-up
    variants: tuple[str, ...] | None,
    metric: str | None,
    args: _Asked,
    out: TextIO,
    *,
    decides: bool,
) -> int:
    from dataclasses import replace

    from ..verdict.judging import judge
    from ..verdict.sides import all_failed

    if args.pairs or args.rank:
        show(_ranked(trial, variants, metric, args), out, as_json=args.json)
        return 0
    answer = judge(
        trial,
        variants=variants,
        metric=metric,
        explain=args.explain,
        certificate=args.certificate,
        **args.rules(),
    )
    show(replace(answer, whole=args.all, ratio=args.ratio), out, as_json=args.json)
    if not decides:
        return 0
    without = [one.variant for one in answer.candidates if one.multilevel is None]
    failing = [name for name in without if all_failed(trial, name)]
    return _gated(answer, failing, args, out, trial.manifest)


def _gated(
    answer: Verdict,
    failing: Sequence[str],
    args: _Asked,
    out: TextIO,
    manifest: Manifest | None = None,
) -> int:
    """Decide the condition of ``--gate``, if there is one, by what was shown."""
    if args.gate is None:
        return 0
    from dataclasses import replace

    from ..verdict.cautions import NOTHING_SHOWN
    from ..verdict.gate import gate_verdict
    from ..verdict.next_command import next_of_gate

    decided = gate_verdict(
        answer, args.gate, failing=failing, allow_missing=args.allow_missing or []
    )
    alike = args.benchmark is None and not args.weight
    if decided.outcome == "undecided" and manifest is not None and alike:
        words = [word for name in args.variant or () for word in ("--variant", name)]
        words += allow_missing_words(args.allow_missing)
        decided = replace(decided, following=next_of_gate(decided, answer, manifest, words))
    _apart(out, 1, as_json=args.json)
    # below its verdict, which has said the cautions
    shown = decided if args.json else replace(decided, shown=NOTHING_SHOWN)
    show(shown, out, as_json=args.json)
    return decided.exit_code


def _ranked(
    trial: Any,  # noqa: ANN401 - as above
    variants: tuple[str, ...] | None,
    metric: str | None,
    args: _Asked,
) -> Ranking:
    """Look at all variants against each other."""
    from ..verdict.ranking import rank_variants

    return rank_variants(
        trial,
        metric=metric,
        confidence=args.confidence,
        variants=variants,
        benchmarks=args.benchmark,
        margin=args.margin,
        weights=args.rules()["weights"],
        looks=args.looks,
        ranked=args.rank,
    )


def _sides(source: str, args: _Asked) -> Verdict:
    """Judge two sides that are not one trial's campaign."""
    from dataclasses import replace

    from ..data.host_record import refuse_unasked
    from ..verdict.judging import judge_sources

    found = judge_sources(
        source, args.baseline, args.reading(), explain=args.explain, **args.rules()
    )
    if args.gate is not None and args.metric is None:
        refuse_unasked((name for trial in found.trials for name in trial.unasked), source)
    return replace(found.verdict, whole=args.all, ratio=args.ratio)


def _apart(out: TextIO, k: int, *, as_json: bool) -> None:
    """Leave an empty line between the screens of several metrics."""
    if k and not as_json:
        out.write("\n")


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
    from ..importers.reader import open_trial, trial_and_variant
    from ..verdict.comparison import compare_trials

    for path in (first, second):
        named = trial_and_variant(str(path))
        if named is not None and named[1] is not None:
            raise UsageError(
                "whole trials are compared, and not one variant of them",
                str(path),
                f"name {named[0]}; 'fairtrial verdict' compares two variants",
            )
    old, new = (
        open_trial(path, asked.level, asked.better, decimal=asked.decimal)
        for path in (first, second)
    )
    answer = compare_trials(old, new, **asked.some("metric", "confidence", "margin"))
    show(answer, out, as_json=json, metric=None if answer.metric == "wall" else answer.metric)
    return answer.exit_code if exit_code else 0
