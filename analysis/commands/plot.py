"""The subcommand ``plot``."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from ..options import command
from ..words import WIDTH
from .biplot import Systems, systems_of
from .options import Judging, Setting, headed, metric_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..methods.resampling.biplot import Scale
    from ..pages.model import Caution
    from ..plots.chart import Sheet
    from ..report.figures.panels import Drawing


_OF_SYSTEMS = ("biplot", "shares")


def every_kind() -> str:
    """Say what each kind of figure shows."""
    from ..report.figures.kinds import KINDS

    return "; ".join(f"{name}: {kind.shows}" for name, kind in KINDS.items())


class _Asked(Judging, Systems):
    kind: str
    scale: Scale | None


@command("plot")
def plot(
    *, args: _Asked, setting: Setting, output: str, data: Path | None, out: TextIO, err: TextIO
) -> int:
    """Draw one figure of a trial, or of two sides, and write its numbers next to it as CSV.

    The ending of FILE is the format. The result in words is printed: it can be the beginning of a
    caption.
    """
    from ..plots.chart import check_picture
    from ..report.figures.files import write_drawing
    from ..report.figures.kinds import kind_of

    kind_of(args.kind)
    picture = check_picture(output)
    if data is not None and not data.parent.is_dir():
        raise UsageError(f"there is no folder {str(data.parent)!r}", str(data), "make it")
    if picture in (data, picture.with_suffix(".csv")):
        raise UsageError("the picture and its data need names of their own", output)
    drawing, metric, told = _drawing(args, setting.sheet())
    write_drawing(drawing, picture, data=data)
    out.write(f"{_set(headed(drawing.alt, metric))}\n")
    for caution in told:
        err.write(f"{_set(f'caution: {caution}')}\n")
    return 0


def _set(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False))


def _drawing(args: _Asked, sheet: Sheet) -> tuple[Drawing, str | None, list[Caution]]:
    """Draw; also give the metric that the first line must name, and what nobody has asked for."""
    from ..report.figures.kinds import draw, kind_of

    kind = kind_of(args.kind)
    if args.scale is not None and (args.kind not in _OF_SYSTEMS or args.variant or args.benchmark):
        raise UsageError(
            "--scale is for the kinds biplot and shares, of whole systems",
            args.kind,
            "leave it out, or --variant and --benchmark",
        )
    if args.kind in _OF_SYSTEMS and not (args.variant or args.benchmark):
        from ..report.figures.kinds import draw_table

        found, metric = systems_of(args)
        return draw_table(found, sheet, args.kind), metric, _unasked(found.cautions)
    if len(args.sources) > 2:
        raise UsageError(
            f"{args.kind} takes one trial or two sides, and {len(args.sources)} were given",
            fix="name two; only biplot and shares take more",
        )
    named = args.benchmark
    if kind.each and named is not None and len(named) > 1:
        raise UsageError(f"a figure of kind {args.kind} shows one benchmark", fix="name one")
    from ..report.subject import subject_of

    options: dict[str, Any] = {
        **args.rules(),
        "variants": args.variant,
        "certificate": args.certificate,
        "explain": False,
    }
    if kind.each:
        options["benchmarks"] = None  # one figure of it, as it is judged among all
    subject = subject_of(args.sources, args.reading(), **options)
    drawing = draw(args.kind, subject, sheet, benchmark=named[0] if kind.each and named else None)
    metric = metric_of(*subject.matrices.values())
    return drawing, metric, _unasked(subject.verdict.cautions)


def _unasked(cautions: Iterable[Caution]) -> list[Caution]:
    """Give the caution that the metric drawn is not one that benchmarks declare."""
    from ..data.host_record import NOT_ASKED

    return [one for one in cautions if one.code == NOT_ASKED]
