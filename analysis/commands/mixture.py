"""The subcommand ``mixture``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from ..announcing import doing
from ..errors import UsageError
from ..words import shorten
from .options import (
    SIDE,
    add_benchmarks,
    add_confidence,
    add_json,
    add_plot,
    add_reading,
    add_resamples,
    add_seed,
    add_value,
    add_working,
    chosen,
    headed,
    metric_of,
    number,
    reading,
    show,
    working,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.matrix import PerformanceMatrix
    from ..methods.mixture.report import MixtureOptions
    from ..methods.mixture.result import MixtureReport
    from .options import Subparsers


_DETAIL, _OVERVIEW = 500, 200  # resamples
_MOST_DIGITS = 15
_ONE_METRIC = (
    *("below", "quantile", "resamples", "resolution", "jitter", "better", "workers", "backend"),
    *("dask", "clusters"),
)


def add(subparsers: Subparsers) -> None:
    """Add ``mixture``."""
    parser = subparsers.add_parser(
        "mixture",
        description="Fit Gaussian mixtures to the runs of each SOURCE. Several benchmarks get a "
        "line "
        "each; with --benchmark, one is shown in detail. Of several variants it is also said "
        "which one is "
        "best in a single run.",
    )
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help=f"a trial (runs/NAME) with all its variants, {SIDE}",
    )
    add_benchmarks(parser)
    add_reading(parser)
    parser.add_argument(
        "--and",
        dest="others",
        action="append",
        default=[],
        metavar="METRIC",
        help="fit this metric together with that of --metric, run by run, such as wall and "
        "max_rss; may "
        "be repeated, for up to eight metrics",
    )
    parser.add_argument(
        "--below",
        type=number,
        action="append",
        default=[],
        metavar="A",
        help="also the chance that one run stays below A, in the unit of the values",
    )
    parser.add_argument(
        "--quantile",
        type=number,
        action="append",
        default=[],
        metavar="Q",
        help="also the value that one run stays below with probability Q",
    )
    parser.add_argument(
        "--shift",
        type=number,
        default=0.0,
        metavar="D",
        help="a run X beats a run Y when X < Y + D; a negative D asks for a lead of that size "
        "(default: 0)",
    )
    _add_fitting(parser)
    add_value(parser, "--digits", "D", "digits of the parameters", 4, type=int)
    parser.add_argument(
        "--clusters",
        action="store_true",
        help="also list the values of each component of one benchmark",
    )
    add_plot(
        parser,
        "the density and distribution function of one benchmark, or for several benchmarks the "
        "p-values of the fit test and the numbers of modes",
    )
    add_confidence(parser)
    add_json(parser)
    parser.set_defaults(run=_mixture)


def _add_fitting(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how mixtures are fitted and tested."""
    add_value(
        parser, "--max-components", "K", "the largest number of Gaussians to try", 9, type=int
    )
    add_resamples(
        parser,
        None,
        "draws of the fit test, and refits for evidence and intervals (default: "
        f"{_DETAIL}; {_OVERVIEW} for each of several benchmarks; 0: none)",
    )
    parser.add_argument(
        "--scale",
        choices=("linear", "log"),
        default="linear",
        help="fit the values (default) or their logarithms",
    )
    add_value(parser, "--starts", "N", "number of starts of each fit", 1, type=int)
    parser.add_argument(
        "--resolution",
        type=number,
        metavar="T",
        help="the clock's step, in the unit of the values: no Gaussian is narrower than the "
        "rounding",
    )
    parser.add_argument(
        "--jitter",
        action="store_true",
        help="in the fit test, spread tied values over the clock's step",
    )
    add_seed(parser)
    add_working(parser, "threads")


def _mixture(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    picture = None
    if args.plot is not None:
        from ..plots.chart import check_picture

        picture = check_picture(args.plot)
    if not 1 <= args.digits <= _MOST_DIGITS:
        raise UsageError(f"--digits must lie between 1 and {_MOST_DIGITS}, and is {args.digits}")
    if args.others:
        return _plane(args, picture, out)
    from ..importers.reader import read_sources

    sources = read_sources(args.sources, reading(args))
    matrices = _with_benchmarks(args, sources.matrices)
    names = {name for matrix in matrices for name in matrix.benchmarks}
    detailed = len(names) == 1
    if args.clusters and not detailed:
        raise UsageError(
            f"there are {len(names)} benchmarks, and --clusters lists one",
            fix="add --benchmark NAME",
        )
    from ..methods.mixture.report import mixture_report
    from ..stats.arguments import stream

    with working(args) as workers:
        report = mixture_report(
            matrices,
            benchmark=args.benchmark[0] if detailed and args.benchmark else None,
            options=_options(args, workers, detailed=detailed),
            rng=stream(args.seed, "mixture"),
            seed=args.seed,
            cautions=sources.cautions,
            progress=_fitted,
        )
    if picture is not None:
        _draw(report, picture)
    if args.json:
        show(report, out, as_json=True)
    else:
        from ..methods.mixture.page import mixture_page
        from ..pages import as_text

        text = as_text.render(mixture_page(report, digits=args.digits))
        out.write(f"{headed(text, metric_of(*matrices))}\n")
    return 0


def _draw(report: MixtureReport, picture: Path) -> None:
    """Draw one benchmark, or what many have in common."""
    from ..methods.mixture import benchmark_page as pictures
    from ..plots.chart import write_picture

    if report.detailed:
        drawn, alt = pictures.mixture_picture(report), pictures.mixture_alt(report)
        title = f"mixtures of {report.benchmarks[0].benchmark}"
    else:
        drawn, alt = pictures.corpus_picture(report), pictures.corpus_alt(report)
        title = f"mixtures of {len(report.benchmarks)} benchmarks"
    write_picture(drawn, picture, title=title, alt=alt)


def _with_benchmarks(
    args: argparse.Namespace, matrices: Sequence[PerformanceMatrix]
) -> list[PerformanceMatrix]:
    """Give those with benchmarks that count; one --benchmark is left to the report, which tells of it."""
    if not args.exclude and len(args.benchmark or ()) == 1:
        (name,) = args.benchmark
        if any(name in matrix.benchmarks for matrix in matrices):
            matrices = [matrix for matrix in matrices if name in matrix.benchmarks]
    return chosen(args, matrices)


def _options(args: argparse.Namespace, workers: int | None, *, detailed: bool) -> MixtureOptions:
    from ..methods.mixture.report import MixtureOptions

    resamples = args.resamples
    if resamples is None:
        resamples = _DETAIL if detailed else _OVERVIEW
    names = ("max_components", "starts", "resolution", "scale", "jitter", "shift", "confidence")
    return MixtureOptions(
        **{name: getattr(args, name) for name in names},
        resamples=resamples,
        below=tuple(args.below),
        quantiles=tuple(args.quantile),
        workers=workers,
        clusters=args.clusters,
    )


def _plane(args: argparse.Namespace, picture: Path | None, out: TextIO) -> int:
    """Fit several metrics of the same runs."""
    _refuse_with_other(args)
    if args.exclude or len(args.benchmark or ()) > 1:
        raise UsageError(
            "several metrics are fitted on one benchmark or on all",
            "--exclude" if args.exclude else "--benchmark",
            "name one --benchmark, or leave the option out",
        )
    from ..data.host_record import question_of
    from ..importers.reader import trials_of
    from ..methods.mixture.metrics_model import listed
    from ..methods.mixture.metrics_page import plane_report

    trials = trials_of(args.sources, reading(args))
    report = plane_report(
        trials,
        (args.metric or question_of([trial for trial, _ in trials]), *args.others),
        benchmark=args.benchmark[0] if args.benchmark else None,
        max_components=args.max_components,
        progress=_fitted,
    )
    if picture is not None:
        from ..methods.mixture.metrics_page import plane_picture
        from ..plots.chart import write_picture

        cell = report.cells[0]
        if len(report.cells) > 1 or cell.mixture is None or cell.pairs is None:
            raise UsageError(
                f"there are {len(report.cells)} cells, and a picture of several metrics shows one",
                args.plot,
                "name one variant, runs/NAME:VARIANT, and add --benchmark NAME",
            )
        write_picture(
            plane_picture(cell.mixture, cell.pairs.values, units=report.units),
            picture,
            title=f"{listed(cell.mixture.names)} of {cell.variant} on {cell.benchmark}",
            alt=" ".join(str(cell.mixture).split("\n\n")[0].split()),
        )
    show(report, out, as_json=args.json)
    return 0


def _refuse_with_other(args: argparse.Namespace) -> None:
    """Refuse options that belong to one metric only: they would change nothing."""
    for name in _ONE_METRIC:
        value = getattr(args, name)
        if value is not None and value != [] and value is not False:
            raise UsageError(f"--{name} is for one metric", fix="leave it out, or leave out --and")
    usual = {"scale": "linear", "starts": 1, "shift": 0.0, "level": "process"}
    for name, default in usual.items():
        if getattr(args, name) != default:
            raise UsageError(f"--{name} is for one metric", fix="leave it out, or leave out --and")


def _fitted(done: int, total: int, name: str) -> None:
    doing("fitting", done, total, f"cells ({shorten(name, 36)})" if name else "cells")
