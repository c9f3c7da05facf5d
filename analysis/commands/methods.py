"""The published methods: hpt, speedup-test, resample and mixture; each reads its sources and prints one answer."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..announcing import doing
from ..errors import AnalysisError, UsageError
from ..option_groups import BothSides, Chosen, Drawn, Source, Workers, headed, metric_of, show
from ..options import Given, command, number
from ..words import Name

if TYPE_CHECKING:
    from ..importers.reader import Sides
    from ..methods.speedup_test.original import LeftOut
    from ..methods.speedup_test.result import SpeedupSuite, Weighting

    _JudgedSuite = tuple[str, SpeedupSuite, str | None, tuple[LeftOut, ...]]

    from ..data.matrix import PerformanceMatrix
    from ..methods.mixture.report import MixtureReport
    from ..methods.resampling.assignments import Unit


# --- The subcommand ``hpt``.


class _Rules(Given):
    alpha: float | None
    speedup: float
    ties: str
    alternative: str | None
    others: bool
    scores: str
    confidence: float


@command("hpt")
def hpt(
    *,
    sides: BothSides,
    chosen: Chosen,
    rules: _Rules,
    names: list[str] | None,
    json: bool,
    out: TextIO,
) -> int:
    """Test by HPT whether CANDIDATE is better than BASELINE over the suite.

    With --speedup it is tested whether it is better by that factor. Without BASELINE, the baseline of
    the candidate's campaign is used.
    """
    from ..methods.hpt.page import hpt_report

    read = _called(chosen.of_sides(sides.read()), names)
    result = hpt_report(read.candidate, read.baseline, **vars(rules))
    show(result, out, as_json=json, metric=metric_of(read.candidate, read.baseline))
    return 0


def _called(sides: Sides, names: list[str] | None) -> Sides:
    if names is None:
        return sides
    if names[0] == names[1] or not all(name.strip() for name in names):
        where, fix = f"{names[0]!r} and {names[1]!r}", "write --names NEW OLD"
        raise UsageError("--names takes two different names", where, fix)
    ours, theirs = replace(sides.candidate, name=names[0]), replace(sides.baseline, name=names[1])
    return replace(sides, candidate=ours, baseline=theirs)


# --- The subcommand ``speedup-test``.


_SEARCH = "search"
_DEFAULT = 0.95  # of trials and matrices


class _Options(BothSides, Chosen):
    confidence: Any  # a number, or the word that asks for the highest
    weight: Weighting | None
    precision: float
    compatible: bool
    output: str | None


@command("speedup-test", "original", "json")
def speedup_test(*, args: _Options, steps: bool, original: bool, json: bool, out: TextIO) -> int:
    """Compare two versions by the Speedup-Test.

    For each benchmark it says whether the speedup of the mean and of the median is significant; for the
    suite, the overall gain and the share of accelerated benchmarks. CANDIDATE and BASELINE are variants
    of a trial (runs/NAME:VARIANT) or matrix files. Without BASELINE, the baseline of the candidate's
    campaign is used. A single CONFIG (.cfg, or .csv of the same form) is a configuration of the
    original tool, with the columns Name,Sample1,Sample2,ConfLevel,Coef; its four files are written next
    to it.
    """
    from ..methods.speedup_test.original import OriginalFiles, printed_text

    begin = time.perf_counter()
    configured = _is_config(args)
    prefix = args.candidate if configured and args.output is None else args.output
    files = None if prefix is None else OriginalFiles(prefix)
    try:
        title, suite, metric, left_out = _configured(args) if configured else _compared(args)
    except AnalysisError as error:
        if files is not None:
            with contextlib.suppress(UsageError):  # the first error is the one to tell
                files.write_failure(args.candidate, error)
        raise
    if files is not None:
        files.write(title, suite, left_out, elapsed_s=time.perf_counter() - begin)
    if original:
        out.write(printed_text(title, suite))
        return 0
    show(suite, out, as_json=json, metric=metric)
    if json:
        return 0
    if steps:
        out.writelines(f"\n{test}\n" for test in suite.benchmarks)
    if files is not None:
        out.write(f"written: {', '.join(files.names)}\n")
    return 0


def level_or_search(text: str) -> float | str:
    """Read a confidence, or ``search``."""
    if text == _SEARCH:
        return text
    value = number(text)
    if not 0 < value < 1:
        what = f"{text!r} is not between 0 and 1; write 0.95 for 95 %, or '{_SEARCH}'"
        raise argparse.ArgumentTypeError(what)
    return value


def _is_config(args: _Options) -> bool:
    from ..importers.reader import trial_and_variant
    from ..methods.speedup_test.original import looks_like_speedup_config

    if args.baseline is not None:
        for text in (args.candidate, args.baseline):
            if text.lower().endswith(".cfg") and Path(text).is_file():
                fix = "give it alone: fairtrial speedup-test CONFIG"
                raise UsageError("a configuration names both sides itself", text, fix)
        return False
    path = Path(args.candidate)
    try:
        if trial_and_variant(args.candidate) is not None:
            return False
        there = path.exists()
    except OSError as error:  # such as a name too long
        raise UsageError(f"this cannot be read: {error.strerror}", args.candidate) from None
    if not there:
        if ":" in args.candidate:
            return False
        fix = "name a configuration, or CANDIDATE and BASELINE"
        raise UsageError("there is no such file", args.candidate, fix)
    if path.is_file() and not looks_like_speedup_config(path):
        what = "this is not a configuration of the Speedup-Test, and BASELINE is missing"
        fix = "name the second variant or file, or begin the configuration with its line"
        raise UsageError(what, args.candidate, f"{fix} Name,Sample1,Sample2,ConfLevel,Coef")
    return True


def _compared(args: _Options) -> _JudgedSuite:
    from ..methods.speedup_test.compare import speedup_test_suite

    if args.weight == "custom":
        what, fix = "takes the coefficients of a configuration", "choose --weight equal or --weight"
        raise UsageError(f"--weight custom {what}", args.candidate, f"{fix} fraction")
    sides = args.of_sides(args.read())
    suite = speedup_test_suite(
        baseline=sides.baseline,
        candidate=sides.candidate,
        confidence=None if args.confidence == _SEARCH else args.confidence or _DEFAULT,
        weights=args.weight or "equal",
        precision=args.precision,
        compatible=args.compatible,
    )
    title = f"{sides.candidate.name} against {sides.baseline.name}"
    return title, suite, metric_of(sides.candidate, sides.baseline), ()


def _configured(args: _Options) -> _JudgedSuite:
    """Judge a configuration; its levels come before the command line's (section 6.2.2)."""
    from ..methods.speedup_test.original import read_speedup_config, speedup_test_config

    lines, copy = "each line names a benchmark", "take the lines of the others out of a copy"
    for options, why, fix in (
        (args.not_for_tables(), "their samples are times, one a line", "leave it out"),
        (args.given("benchmark", "exclude"), lines, copy),
    ):
        for option in options:
            raise UsageError(f"{option} is not for configurations: {why}", args.candidate, fix)
    config = read_speedup_config(args.candidate)
    suite = speedup_test_config(
        config,
        confidence=None if args.confidence == _SEARCH else args.confidence,
        weighting=args.weight,
        precision=args.precision,
        compatible=args.compatible,
    )
    return config.path, suite, None, config.left_out


# --- The subcommand ``resample``.


_QUESTIONS = ("centre", "alternative", "unit", "interval", "sides", "confidence", "resamples")


class _ResampleOptions(BothSides, Chosen, Drawn):
    mean: Any  # one, or all
    compare: bool
    centre: str
    alternative: str
    unit: Unit | None
    interval: str
    sides: str
    confidence: float
    resamples: int
    seed: int
    also: list[str] | None
    json: bool


@command("resample")
def resample(*, args: _ResampleOptions, out: TextIO) -> int:
    """Compare two variants over a suite by resampling.

    The answer shows the ratio of their means with a bootstrap interval, its p-value from a
    randomization test, and the distribution of a single pass over the suite for each of them. Without
    BASELINE, the baseline of the candidate's campaign is used; a file, or a trial of one variant, is
    described by itself.
    """
    picture = args.picture()
    if not 2 <= args.resamples <= 10_000_000:
        what = f"--resamples must lie between 2 and 10,000,000, and is {args.resamples}"
        raise UsageError(what, fix="10000 is a good start")
    from ..importers.reader import read_one

    if args.baseline is None and _alone(args):
        return _described(args, out)
    candidate, baseline = _sides(args)
    if args.compare or args.mean == "all":
        return _tabled(args, candidate, baseline, out)
    also = args.also or []
    if also:  # all of them answer one question
        sources = [text for text in (args.candidate, args.baseline, *also) if text is not None]
        args.reading().opened().ask(sources)
    others = [read_one(text, args.reading()) for text in also]
    from ..methods.resampling.report import resampling_picture, resampling_report
    from ..stats.arguments import stream

    doing("resampling")
    report = resampling_report(
        candidate,
        baseline,
        others=others,
        **args.some("mean", *_QUESTIONS),
        rng=stream(args.seed, "resample"),
        seed=args.seed,
    )
    if picture is not None:
        from ..plots.chart import write_picture

        title = f"{report.test.candidate} against {report.test.baseline}"
        words = " ".join(report.conclusions)
        write_picture(resampling_picture(report), picture, title=title, alt=words)
    show(report, out, as_json=args.json, metric=metric_of(candidate, baseline))
    return 0


def _alone(args: _ResampleOptions) -> bool:
    from ..importers.reader import is_file, trial_and_variant

    named = trial_and_variant(args.candidate)
    if named is None:
        return is_file(args.candidate)
    folder, variant = named
    return variant is None and len(args.reading().opened().read(folder).manifest.variants) == 1


def _described(args: _ResampleOptions, out: TextIO) -> int:
    usual: dict[str, Any] = {"centre": "runs", "sides": "two", "confidence": 0.95}
    usual |= {"alternative": "two-sided", "interval": "percentile"}
    changed = (name for name, value in usual.items() if getattr(args, name) != value)
    fix = "name BASELINE, or leave it out"
    _refuse(args, ("plot", "compare", "unit", *changed), "needs two sides", fix)
    if args.mean == "all":
        raise UsageError("one source is described by one mean", "--mean all", "name one mean")
    from ..importers.reader import read_one
    from ..methods.resampling.distribution import PassesReport, compare_distributions
    from ..stats.arguments import stream

    sources = [args.candidate, *(args.also or ())]
    args.reading().opened().ask(sources)
    matrices = args.of(*(read_one(text, args.reading()) for text in sources))
    doing("resampling")
    rng = stream(args.seed, "resample")
    found = compare_distributions(matrices, **args.some("mean", "resamples"), rng=rng)
    report = PassesReport(distributions=found, seed=args.seed, cautions=found.cautions)
    show(report, out, as_json=args.json, metric=metric_of(*matrices))
    return 0


def _tabled(
    args: _ResampleOptions,
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    out: TextIO,
) -> int:
    why = "is no part of the table of --compare and --mean all"
    _refuse(args, ("plot", "also"), why, "leave it out")
    from ..data.pair import MEANS
    from ..verdict.one_pair import pair_table

    doing("resampling")
    table = pair_table(
        candidate,
        baseline,
        means=MEANS if args.mean == "all" else (args.mean,),
        compared=args.compare,
        seed=args.seed,
        **args.some(*_QUESTIONS),
    )
    show(table, out, as_json=args.json, metric=metric_of(candidate, baseline))
    return 0


def _refuse(args: _ResampleOptions, options: tuple[str, ...], why: str, fix: str) -> None:
    for option in args.given(*options):
        raise UsageError(f"{option} {why}", fix=fix)


def _sides(args: _ResampleOptions) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    sides = args.read()
    candidate, baseline = args.of(sides.candidate, sides.baseline)
    if candidate.trial is None and baseline.trial is None:
        candidate = _with_shared_ids(candidate, baseline, args.unit)
    return candidate, baseline


def _with_shared_ids(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, unit: Unit | None
) -> PerformanceMatrix:
    """Add a caution where ids of two files meet: whether by accident, nobody but the user knows."""
    from ..data.pair import match
    from ..methods.resampling.assignments import exchangeable_units

    pair = match(candidate, baseline)
    units = exchangeable_units(pair.candidate, pair.baseline, unit)
    if not units.both:
        return candidate
    one = "of this file bears an id of the other file, and counts as the same one"
    more = "s of this file bear ids of the other file, and count as the same ones"
    of_both = f"{units.both} {units.noun}{more if units.both > 1 else f' {one}'}"
    text = f"{of_both}, measured with both variants: where that is not so, change the ids"
    from ..pages.model import Caution

    return replace(candidate, cautions=(*candidate.cautions, Caution("shared-ids", text)))


# --- The subcommand ``mixture``.


_DETAIL, _OVERVIEW = 500, 200  # resamples
_MOST_DIGITS = 15
_ONE_METRIC = (
    *("below", "quantile", "resamples", "resolution", "jitter", "better", "workers", "backend"),
    *("dask", "clusters"),
)


class _MixtureOptions(Source, Chosen, Workers, Drawn):
    sources: list[str]
    others: list[str] | None
    below: list[float] | None
    quantile: list[float] | None
    shift: float
    max_components: int
    resamples: int | None
    scale: str
    starts: int
    resolution: float | None
    jitter: bool
    seed: int
    digits: int
    clusters: bool
    confidence: float
    json: bool


@command("mixture")
def mixture(*, args: _MixtureOptions, out: TextIO) -> int:
    """Fit Gaussian mixtures to the runs of each SOURCE.

    Several benchmarks get a line each; with --benchmark, one is shown in detail. Of several variants it
    is also said which one is best in a single run.
    """
    picture = args.picture()
    if not 1 <= args.digits <= _MOST_DIGITS:
        raise UsageError(f"--digits must lie between 1 and {_MOST_DIGITS}, and is {args.digits}")
    if args.others:
        return _plane(args, picture, out)
    from ..importers.reader import read_sources

    sources = read_sources(args.sources, args.reading())
    matrices = _with_benchmarks(args, sources.matrices)
    names = {name for matrix in matrices for name in matrix.benchmarks}
    detailed = len(names) == 1
    if args.clusters and not detailed:
        what = f"there are {len(names)} benchmarks, and --clusters lists one"
        raise UsageError(what, fix="add --benchmark NAME")
    from ..methods.mixture.cell import MixtureOptions
    from ..methods.mixture.report import mixture_report
    from ..stats.arguments import stream

    same = ("max_components", "starts", "resolution", "scale", "jitter", "shift", "clusters")
    usual = _DETAIL if detailed else _OVERVIEW
    with args.working() as workers:
        options = MixtureOptions(
            **args.some(*same, "confidence"),
            resamples=usual if args.resamples is None else args.resamples,
            below=tuple(args.below or ()),
            quantiles=tuple(args.quantile or ()),
            workers=workers,
        )
        report = mixture_report(
            matrices,
            benchmark=args.benchmark[0] if detailed and args.benchmark else None,
            options=options,
            rng=stream(args.seed, "mixture"),
            seed=args.seed,
            cautions=sources.cautions,
            progress=_fitted,
        )
    if picture is not None:
        _draw(report, picture)
    if args.json:
        show(report, out, as_json=True)
        return 0
    from ..pages import as_text

    text = as_text.render(report.screen(digits=args.digits))
    out.write(f"{headed(text, metric_of(*matrices))}\n")
    return 0


def _draw(report: MixtureReport, picture: Path) -> None:
    from ..methods.mixture.pictures import corpus_alt, mixture_alt
    from ..plots.chart import write_picture

    if report.detailed:
        alt, what = mixture_alt(report.cells), report.benchmarks[0].benchmark
    else:
        alt, what = corpus_alt(report.corpus), f"{len(report.benchmarks)} benchmarks"
    write_picture(report.picture(), picture, title=f"mixtures of {what}", alt=alt)


def _with_benchmarks(
    args: _MixtureOptions, matrices: Sequence[PerformanceMatrix]
) -> list[PerformanceMatrix]:
    """Give those with benchmarks that count; one --benchmark is left to the report, which tells of it."""
    if not args.exclude and args.benchmark is not None and len(args.benchmark) == 1:
        (name,) = args.benchmark
        if any(name in matrix.benchmarks for matrix in matrices):
            matrices = [matrix for matrix in matrices if name in matrix.benchmarks]
    return args.of(*matrices)


def _plane(args: _MixtureOptions, picture: Path | None, out: TextIO) -> int:
    _refuse_with_other(args)
    if args.exclude or len(args.benchmark or ()) > 1:
        what = "several metrics are fitted on one benchmark or on all"
        fix = "name one --benchmark, or leave the option out"
        raise UsageError(what, "--exclude" if args.exclude else "--benchmark", fix)
    from ..data.host_record import question_of
    from ..importers.reader import trials_of
    from ..methods.mixture.metrics_fit import listed
    from ..methods.mixture.metrics_page import plane_picture, plane_report
    from ..plots.chart import write_picture

    trials = trials_of(args.sources, args.reading())
    report = plane_report(
        trials,
        (args.metric or question_of([trial for trial, _ in trials]), *(args.others or ())),
        benchmark=args.benchmark[0] if args.benchmark else None,
        max_components=args.max_components,
        progress=_fitted,
    )
    if picture is not None:
        cell = report.cells[0]
        if len(report.cells) > 1 or cell.mixture is None or cell.pairs is None:
            what = f"there are {len(report.cells)} cells, and a picture of several metrics shows"
            what += " one"
            fix = "name one variant, runs/NAME:VARIANT, and add --benchmark NAME"
            raise UsageError(what, args.plot, fix)
        write_picture(
            plane_picture(cell.mixture, cell.pairs.values, units=report.units),
            picture,
            title=f"{listed(cell.mixture.names)} of {cell.variant} on {cell.benchmark}",
            alt=" ".join(str(cell.mixture).split("\n\n")[0].split()),
        )
    show(report, out, as_json=args.json)
    return 0


def _refuse_with_other(args: _MixtureOptions) -> None:
    """Refuse options that belong to one metric only: they would change nothing."""
    usual = {"scale": "linear", "starts": 1, "shift": 0.0, "level": "process"}
    changed = (f"--{name}" for name, default in usual.items() if getattr(args, name) != default)
    for option in (*args.given(*_ONE_METRIC), *changed):
        raise UsageError(f"{option} is for one metric", fix="leave it out, or leave out --and")


def _fitted(done: int, total: int, name: str) -> None:
    doing("fitting", done, total, f"cells ({Name(name):.36})" if name else "cells")
