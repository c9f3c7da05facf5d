"""The subcommand ``mixture``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from ..announcing import doing
from ..errors import UsageError
from ..options import command
from ..words import shorten
from .options import Chosen, Source, Workers, headed, metric_of, show

if TYPE_CHECKING:
    from pathlib import Path

    from ..data.matrix import PerformanceMatrix
    from ..methods.mixture.report import MixtureReport


_DETAIL, _OVERVIEW = 500, 200  # resamples
_MOST_DIGITS = 15
_ONE_METRIC = (
    *("below", "quantile", "resamples", "resolution", "jitter", "better", "workers", "backend"),
    *("dask", "clusters"),
)


class _Asked(Source, Chosen, Workers):
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
    plot: str | None
    confidence: float
    json: bool


@command("mixture")
def mixture(*, args: _Asked, out: TextIO) -> int:
    """Fit Gaussian mixtures to the runs of each SOURCE.

    Several benchmarks get a line each; with --benchmark, one is shown in detail. Of several variants it
    is also said which one is best in a single run.
    """
    picture = None
    if args.plot is not None:
        from ..plots.chart import check_picture

        picture = check_picture(args.plot)
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
        raise UsageError(
            f"there are {len(names)} benchmarks, and --clusters lists one",
            fix="add --benchmark NAME",
        )
    from ..methods.mixture.report import MixtureOptions, mixture_report
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
    from ..methods.mixture.page import mixture_page
    from ..pages import as_text

    text = as_text.render(mixture_page(report, digits=args.digits))
    out.write(f"{headed(text, metric_of(*matrices))}\n")
    return 0


def _draw(report: MixtureReport, picture: Path) -> None:
    """Draw one benchmark, or what many have in common."""
    from ..methods.mixture import pictures
    from ..plots.chart import write_picture

    if report.detailed:
        drawn, alt = pictures.mixture_picture(report), pictures.mixture_alt(report)
        title = f"mixtures of {report.benchmarks[0].benchmark}"
    else:
        drawn, alt = pictures.corpus_picture(report), pictures.corpus_alt(report)
        title = f"mixtures of {len(report.benchmarks)} benchmarks"
    write_picture(drawn, picture, title=title, alt=alt)


def _with_benchmarks(
    args: _Asked, matrices: Sequence[PerformanceMatrix]
) -> list[PerformanceMatrix]:
    """Give those with benchmarks that count; one --benchmark is left to the report, which tells of it."""
    if not args.exclude and args.benchmark is not None and len(args.benchmark) == 1:
        (name,) = args.benchmark
        if any(name in matrix.benchmarks for matrix in matrices):
            matrices = [matrix for matrix in matrices if name in matrix.benchmarks]
    return args.of(*matrices)


def _plane(args: _Asked, picture: Path | None, out: TextIO) -> int:
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


def _refuse_with_other(args: _Asked) -> None:
    """Refuse options that belong to one metric only: they would change nothing."""
    usual = {"scale": "linear", "starts": 1, "shift": 0.0, "level": "process"}
    changed = (f"--{name}" for name, default in usual.items() if getattr(args, name) != default)
    for option in (*args.given(*_ONE_METRIC), *changed):
        raise UsageError(f"{option} is for one metric", fix="leave it out, or leave out --and")


def _fitted(done: int, total: int, name: str) -> None:
    doing("fitting", done, total, f"cells ({shorten(name, 36)})" if name else "cells")
