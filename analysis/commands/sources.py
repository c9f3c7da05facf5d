"""The subcommand ``sources``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..announcing import doing
from ..errors import UsageError
from ..options import command
from .options import Metric, Workers, show

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..data.number_text import Decimal
    from ..data.trial import Trial
    from ..methods.variance_sources.mixed_table import MixedTable
    from ..methods.variance_sources.result import Sources
    from ..pages.model import Caution


_PERMUTATIONS = 2000
# options of one of the two questions only: without a default, so that one that is not taken is seen
_OF_TABLES = ("flags", "group", "ignore", "variation", "runs", "test_share", "plot")
_OF_TRIALS = ("metric", "resamples")


class _Asked(Metric, Workers):
    sources: list[str]
    decimal: Decimal | None
    resamples: int | None
    confidence: float
    response: str | None
    benchmarks: str | None
    flags: str | None
    group: str | None
    ignore: str | None
    variation: str | None
    runs: int | None
    test_share: float | None
    plot: str | None
    seed: int


@command("sources")
def sources(*, args: _Asked, json: bool, out: TextIO) -> int:
    """Find out where the variation comes from.

    Each SOURCE is a trial or a fleet of the same programs. The answer shows the components of variance,
    the effect of each suspected factor within sessions, and what separates modes. With --response,
    SOURCE is one table of systems (CSV or Parquet), and the other columns explain that column.
    """
    if args.response is not None or args.benchmarks is not None:
        show(_of_table(args), out, as_json=json)
        return 0
    found = _of_trials(args)
    named = None if found.response == "wall" else found.response
    show(found, out, as_json=json, metric=named)
    return 0


def _of_trials(args: _Asked) -> Sources:
    from dataclasses import replace

    from ..diagnose.modes import sources as sources_of
    from ..importers.reader import trial_and_variant
    from ..pages.model import merged
    from ..stats.arguments import stream

    _refuse(args, _OF_TABLES, "is for tables", "add --response COLUMN for a table, or leave it out")
    trials: list[Trial] = []
    told: list[Caution] = []
    for source in args.sources:
        named = trial_and_variant(source)
        if named is None:
            fix = "name runs/NAME, or add --response COLUMN where it is a table"
            raise UsageError("this is not a trial", source, fix)
        if named[1] is not None:
            what, fix = "all variants of a trial are looked at", f"name {named[0]} alone"
            raise UsageError(what, source, fix)
        found, about = _trials_of(named[0], args.decimal)
        trials += found
        told += about
    doing("asking where the variation comes from")
    with args.working() as workers:
        answer = sources_of(
            trials,
            metric=args.metric,
            permutations=_PERMUTATIONS if args.resamples is None else args.resamples,
            confidence=args.confidence,
            rng=stream(args.seed, "sources"),
            seed=args.seed,
            workers=workers,
        )
    return replace(answer, cautions=merged(told, answer.cautions)) if told else answer


def _trials_of(path: Path, decimal: Decimal | None) -> tuple[Sequence[Trial], Sequence[Caution]]:
    """Open a trial, or those of a fleet with what is to be said of its hosts."""
    from ..data.fleet import open_fleet, trials_apart
    from ..importers.reader import open_trial
    from ..record.fleet import is_fleet

    if is_fleet(path):
        return trials_apart(open_fleet(path))
    return [open_trial(path, decimal=decimal)], []


def _of_table(args: _Asked) -> Sources:
    from ..methods.variance_sources.mixed_table import read_mixed_table
    from ..methods.variance_sources.page import systems_picture, systems_said
    from ..methods.variance_sources.systems import sources_of_table
    from ..methods.variance_sources.systems_table import RESAMPLES
    from ..plots.chart import check_picture, write_picture
    from ..stats.arguments import stream

    _refuse(args, _OF_TRIALS[: 1 if args.benchmarks else 2], "is for trials", "leave it out")
    if args.benchmarks is not None:
        left = ("response", "variation", "runs")
        fix = "the runs tell the variation: leave it out"
        _refuse(args, left, "does not go with --benchmarks", fix)
    if len(args.sources) > 1:
        raise UsageError("a response is predicted in one table", args.sources[1], "name one table")
    picture = None if args.plot is None else check_picture(args.plot)
    table = read_mixed_table(args.sources[0], args.decimal)
    known = table.columns
    with args.working() as workers:
        found = sources_of_table(
            table,
            _response(args, table),
            flags=() if args.flags is None else _columns(args.flags, known),
            group=args.group,
            ignore=() if args.ignore is None else _columns(args.ignore, known),
            variation=args.variation,
            runs=args.runs,
            test_share=args.test_share,
            resamples=RESAMPLES if args.resamples is None else args.resamples,
            confidence=args.confidence,
            progress=lambda done, total: doing("predicting the response", done, total, "steps"),
            rng=stream(args.seed, "sources"),
            seed=args.seed,
            workers=workers,
        )
    if picture is not None:
        drawn, alt = systems_picture(found.systems), systems_said(found.systems)
        write_picture(drawn, picture, title="sources", alt=alt)
    return found


def _response(args: _Asked, table: MixedTable) -> tuple[str, ...] | dict[str, tuple[str, ...]]:
    """Give the column or columns of the response, or those of each benchmark."""
    from ..methods.variance_sources.systems_table import runs_of_benchmarks

    known = list(table.columns)
    if args.benchmarks is None:
        return _columns(args.response or "", known)
    names = [part.strip() for part in args.benchmarks.split(",")]
    return runs_of_benchmarks(known, [name for name in names if name], table.source or None)


def _columns(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Part names at their commas, as far as the headings themselves have none."""
    if text in known:
        return (text,)
    names: list[str] = []
    parts = [part.strip() for part in text.split(",")]
    while parts:
        # the longest run of parts that is a heading, such as 'CPU(s), orderable'
        taken = next(
            (n for n in range(len(parts), 1, -1) if _joined(parts[:n], known) is not None), 1
        )
        names.append(_joined(parts[:taken], known) or parts[0])
        parts = parts[taken:]
    return tuple(name for name in names if name)


def _joined(parts: Sequence[str], known: Collection[str]) -> str | None:
    return next((name for mark in (",", ", ") if (name := mark.join(parts)) in known), None)


def _refuse(args: _Asked, options: tuple[str, ...], what: str, fix: str) -> None:
    for option in args.given(*options):
        raise UsageError(f"{option} {what}", ", ".join(args.sources), fix)
