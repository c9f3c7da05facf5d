"""The subcommands about how runs vary and why, and how a program changed: ``diagnose``, ``sources`` and ``history``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..announcing import doing
from ..errors import UsageError
from ..option_groups import Drawn, Metric, Source, Workers, headed, metric_of, show
from ..options import command, number
from ..record.manifest import judge_words
from ..record.printer import check_file, write_file, write_json
from ..record.run_numbers import Better
from .verdict import MISSING_ALONE, allow_missing_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ..data.matrix import PerformanceMatrix
    from ..data.number_text import Decimal
    from ..data.trial import Trial
    from ..methods.variance_sources.mixed_table import MixedTable
    from ..methods.variance_sources.result import Sources
    from ..pages.model import Caution
    from ..pages.result import Result
    from ..stats.multiplicity import Correction


# --- The subcommand ``diagnose``.


_PLACES = 12  # 1 - 0.95 is 0.05, whatever binary fractions say


class _Options(Source):
    matrix: str
    confidence: float
    seed: int


def level_of_risk(text: str) -> float:
    """Read a risk, the first version's word, as the confidence that it leaves."""
    from ..stats.arguments import between

    return round(1 - between("risk", number(text)), _PLACES)


@command("diagnose")
def diagnose(
    *, asked: _Options, normality: bool, estimators: bool, clt: bool, json: bool, out: TextIO
) -> int:
    """Look at SOURCE before you judge it.

    The answer shows drift, dependence and changes within sessions, shifts between sessions, changes of
    the whole host's speed, and what the runner recorded. With --normality, --estimators or --clt, one
    variant or file is studied instead; you may give several of them.
    """
    from ..stats.arguments import between

    between("confidence", asked.confidence)
    wanted = {"normality": normality, "estimators": estimators, "clt": clt}
    chosen = [name for name, given in wanted.items() if given]
    if not chosen:
        show(_whole(asked), out, as_json=json)
        return 0
    from ..importers.reader import read_one

    matrix = read_one(asked.matrix, asked.reading())
    studies = {name: _study(name, matrix, asked) for name in chosen}
    if len(chosen) == 1:
        show(studies[chosen[0]], out, as_json=json, metric=metric_of(matrix))
    elif json:
        write_json({name: study.to_dict() for name, study in studies.items()}, out)
    else:
        text = "\n\n".join(f"== {name} ==\n{study}" for name, study in studies.items())
        out.write(f"{headed(text, metric_of(matrix))}\n")
    return 0


def _whole(args: _Options) -> Result:
    from ..diagnose.examine import diagnose_fleet, diagnose_matrix, diagnose_trial
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
    found = trial.metric(args.metric or trial.default_metric).better
    if args.better is not None and (trial.manifest.origin != "imported" or args.better != found):
        raise UsageError("a trial knows which values are better", args.matrix, "leave out --better")
    return diagnose_trial(trial, **known)


def _study(name: str, matrix: PerformanceMatrix, args: _Options) -> Result:
    from ..diagnose.estimators import estimator_spread
    from ..diagnose.normality import central_limit_study, normality
    from ..stats.arguments import stream

    risk = float(round(1 - args.confidence, _PLACES))
    if name == "normality":
        rng = stream(args.seed, "mean sample size")
        return normality(matrix, risk=risk, rng=rng, seed=args.seed)
    rng = stream(args.seed, name)
    if name == "estimators":
        return estimator_spread(matrix, rng=rng)
    return central_limit_study(matrix, risk=risk, rng=rng)


# --- The subcommand ``sources``.


_PERMUTATIONS = 2000
# options of one of the two questions only: without a default, so that one that is not taken is seen
_OF_TABLES = ("flags", "group", "ignore", "variation", "runs", "test_share", "plot")
_OF_TRIALS = ("metric", "resamples")


class _SourcesOptions(Metric, Workers, Drawn):
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
    seed: int


@command("sources")
def sources(*, args: _SourcesOptions, json: bool, out: TextIO) -> int:
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


def _of_trials(args: _SourcesOptions) -> Sources:
    from dataclasses import replace

    from ..diagnose.modes import sources as sources_of
    from ..importers.reader import trial_and_variant
    from ..pages.model import merged
    from ..stats.arguments import stream

    _refuse(args, _OF_TABLES, "is for tables", "add --response COLUMN for a table, or leave it out")
    trials: list[Trial] = []
    texts: list[Caution] = []
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
        texts += about
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
    return replace(answer, cautions=merged(texts, answer.cautions)) if texts else answer


def _trials_of(path: Path, decimal: Decimal | None) -> tuple[Sequence[Trial], Sequence[Caution]]:
    """Open a trial, or those of a fleet with what is to be said of its hosts."""
    from ..data.fleet import open_fleet, trials_apart
    from ..importers.reader import open_trial
    from ..record.fleet import is_fleet

    if is_fleet(path):
        return trials_apart(open_fleet(path))
    return [open_trial(path, decimal=decimal)], []


def _of_table(args: _SourcesOptions) -> Sources:
    from ..methods.variance_sources.mixed_table import read_mixed_table
    from ..methods.variance_sources.systems import RESAMPLES, sources_of_table
    from ..methods.variance_sources.systems_page import systems_picture, systems_text
    from ..plots.chart import write_picture
    from ..stats.arguments import stream

    _refuse(args, _OF_TRIALS[: 1 if args.benchmarks else 2], "is for trials", "leave it out")
    if args.benchmarks is not None:
        left = ("response", "variation", "runs")
        fix = "the runs tell the variation: leave it out"
        _refuse(args, left, "does not go with --benchmarks", fix)
    if len(args.sources) > 1:
        raise UsageError("a response is predicted in one table", args.sources[1], "name one table")
    picture = args.picture()
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
        drawn, alt = systems_picture(found.systems), systems_text(found.systems)
        write_picture(drawn, picture, title="sources", alt=alt)
    return found


def _response(
    args: _SourcesOptions, table: MixedTable
) -> tuple[str, ...] | dict[str, tuple[str, ...]]:
    """Give the column or columns of the response, or those of each benchmark."""
    from ..methods.variance_sources.systems import runs_of_benchmarks

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


def _refuse(args: _SourcesOptions, options: tuple[str, ...], what: str, fix: str) -> None:
    for option in args.given(*options):
        raise UsageError(f"{option} {what}", ", ".join(args.sources), fix)


# --- The subcommand ``history``.


_FOLDER = "runs"
# options of nights, which ordered variants of one trial do not have
_OF_NIGHTS = (
    *("better", "since", "gate", "allow_missing", "horizon", "independent", "plain", "output"),
)


class _HistoryOptions(Metric):
    better: Better | None
    benchmark: list[str] | None
    variant: list[str] | None
    risk: float
    correction: Correction | None
    independent: bool
    plain: bool
    since: str | None
    gate: str | None
    allow_missing: list[str] | None
    horizon: int | None
    output: str | None
    json: bool
    format: str


@command("history", "json", "format")
def history(*, places: list[str], args: _HistoryOptions, out: TextIO, err: TextIO) -> int:
    """Tell where the trials of many nights changed, and whether program or host did it.

    There is one value a night, paired with the baseline, and intervals that each hold a change. One
    trial whose campaign has 'series: on' is read as the series of its variants.

    exit code: 0; with --gate: 1 proven, 0 ruled out, 7 neither
    """
    from ..history.judging import judge_nights
    from ..history.nights import read_nights
    from ..pages.result import parse_condition

    places = places or [_FOLDER]
    if args.gate is not None:
        parse_condition(args.gate)  # before anything is read
    elif args.allow_missing is not None:
        raise UsageError(*MISSING_ALONE)
    ordered = _ordered_variants(places)
    if ordered is not None:
        return _of_variants(ordered, args, out)
    variants = list(dict.fromkeys(args.variant or ()))
    if len(variants) > 1:
        raise UsageError("one --variant can be named", ", ".join(variants), "name one, or none")
    page = None if args.output is None else Path(args.output)
    if page is not None:
        if page.suffix.lower() not in (".html", ".htm"):
            fix = "name FILE.html, or print --format md or --json"
            raise UsageError("the page is HTML", str(page), fix)
        check_file(page)
    nights = read_nights(
        places,
        benchmarks=args.benchmark,
        variant=variants[0] if variants else None,
        **args.some("metric", "better", "plain"),
        least=1 if args.gate is not None and _is_filling(places) else 2,
    )
    found = judge_nights(
        nights,
        **args.some("risk", "correction", "since", "gate", "independent"),
        horizon=100 if args.horizon is None else args.horizon,
        asked=tuple(_again(args, places)),
        allow_missing=args.allow_missing or (),
    )
    show(found, out, as_json=args.json, markdown=args.format == "md")
    if page is not None:
        from ..report.history import history_html

        write_file(page, history_html(found))
        out.flush()
        err.write(f"wrote {page}\n")
    return found.exit_code


def _is_filling(places: Sequence[str]) -> bool:
    """Tell whether one folder of nights is named, and no trial: its first night is the begin of a series."""
    from ..importers.reader import is_file
    from ..record.fleet import is_fleet
    from ..record.trial_files import MANIFEST

    path = Path(places[0])
    named = is_fleet(path) or is_file(str(path / MANIFEST))
    return len(places) == 1 and os.path.isdir(path) and not named  # noqa: PTH112 - Path.is_dir() raises on a name that is too long


def _ordered_variants(places: Sequence[str]) -> Path | None:
    """Give the trial that is named alone, where its campaign has ``series: on``."""
    from ..data.host_record import ordered_variants_of
    from ..importers.reader import is_file
    from ..record.trial_files import MANIFEST

    path = Path(places[0])
    alone = len(places) == 1 and is_file(str(path / MANIFEST))
    return path if alone and ordered_variants_of(path) is not None else None


def _of_variants(path: Path, args: _HistoryOptions, out: TextIO) -> int:
    from ..history.ordered import ordered_variants
    from ..importers.reader import open_trial

    for option in args.given(*_OF_NIGHTS):
        raise UsageError(
            f"{option} is for the trials of several nights, and this is one trial of ordered variants",
            str(path),
            f"leave out {option}, or name several trials",
        )
    result = ordered_variants(
        open_trial(path),
        metric=args.metric,
        benchmarks=args.benchmark,
        variants=args.variant,
        risk=args.risk,
        correction=args.correction or "holm",
    )
    show(result, out, as_json=args.json, markdown=args.format == "md")
    return 0


def _again(args: _HistoryOptions, places: Sequence[str]) -> Iterator[str]:
    yield from places
    for option in ("benchmark", "variant", "metric", "correction", "since", "gate"):
        value = getattr(args, option)
        for name in [value] if isinstance(value, str) else value or ():
            yield from (f"--{option}", name)
    yield from allow_missing_words(args.allow_missing)
    yield from judge_words()
    if args.risk != 0.05:
        yield from ("--risk", str(args.risk))
    if args.horizon is not None:
        yield from ("--horizon", str(args.horizon))
    yield from (f"--{option}" for option in ("independent", "plain") if getattr(args, option))
    if args.output is not None:
        yield from ("-o", args.output)
