"""The subcommands that set a page or draw: ``report`` and ``plot``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from ..option_groups import Judging, Setting, headed, line_to, metric_of, show
from ..options import command
from ..record.printer import (
    STDOUT,
    check_file,
    check_files,
    check_folder,
    write_file,
    write_files,
    write_json,
)
from ..registry import FIGURES
from ..words import WIDTH

if TYPE_CHECKING:
    from ..methods.biplot import Scale
    from ..pages.model import Caution
    from ..plots.axes import Sheet
    from ..report.assembling import Report
    from ..report.figures import Drawing
    from ..report.subject import Subject


# --- The subcommand ``plot``.


_OF_SYSTEMS = ("biplot", "shares")


def every_kind() -> str:
    """Say what each kind of figure shows."""
    return "; ".join(f"{name}: {kind.shows}" for name, kind in FIGURES.items())


class _Options(Judging):
    kind: str
    sources: list[str]
    scale: Scale | None


@command("plot")
def plot(
    *,
    args: _Options,
    setting: Setting,
    output: str,
    data: Path | None,
    json: bool,
    out: TextIO,
    err: TextIO,
) -> int:
    """Draw one figure of a trial, or of two sides, and write its numbers next to it as CSV.

    The ending of FILE is the format. The result in words is printed: it can be the beginning of a
    caption.
    """
    from ..pages.result import cautions_to_dict
    from ..plots.chart import check_picture
    from ..report.figures import kind_of, write_drawing

    kind_of(args.kind)
    picture = check_picture(output)
    data = data or picture.with_suffix(".csv")
    check_files(output, str(data), read=args.sources)
    drawing, metric, known = _drawing(args, setting.sheet())
    write_drawing(drawing, picture, data=data)
    if json:
        written = str(picture), str(data)
        answer = {"kind": args.kind, "text": drawing.alt, "metric": metric, "written": written}
        write_json(answer | cautions_to_dict(known), out)
        return 0
    out.write(f"{_set(headed(drawing.alt, metric))}\n")
    err.writelines(f"{_set(f'caution: {caution}')}\n" for caution in known)
    return 0


def _set(text: str) -> str:
    wrap = partial(textwrap.fill, width=WIDTH, break_on_hyphens=False, break_long_words=False)
    return "\n".join(map(wrap, text.splitlines()))


def _drawing(args: _Options, sheet: Sheet) -> tuple[Drawing, str | None, list[Caution]]:
    """Draw; also give the metric that the first line must name, and what nobody has asked for."""
    from ..report.figures import draw, kind_of

    kind = kind_of(args.kind)
    if args.scale is not None and (args.kind not in _OF_SYSTEMS or args.variant or args.benchmark):
        what = "--scale is for the kinds biplot and shares, of whole systems"
        raise UsageError(what, args.kind, "leave it out, or --variant and --benchmark")
    if args.kind in _OF_SYSTEMS and not (args.variant or args.benchmark):
        from ..methods.biplot import systems_of
        from ..report.figures import draw_table

        found, metric = systems_of(args, args.sources, args.scale or "log")
        return draw_table(found, sheet, args.kind), metric, _undeclared(found.cautions)
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
    return drawing, metric, _undeclared(subject.verdict.cautions)


def _undeclared(cautions: Iterable[Caution]) -> list[Caution]:
    """Give the caution that the metric drawn is not one that benchmarks declare."""
    from ..data.host_record import NOT_ASKED

    return [one for one in cautions if one.code == NOT_ASKED]


# --- The subcommand ``report``.


_ENDINGS = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".markdown": "md",
    ".tex": "latex",
    ".json": "json",
    ".csv": "csv",
    ".txt": "txt",
}
_FORMATS = ("html", "md", "latex", "json", "csv", "txt")
_NUMBERS = "numbers.tex"
_COMMENT = 65_536  # characters that a comment on GitHub may have


@command("report")
def report(
    *,
    judging: Judging,
    setting: Setting,
    source: str | None,
    baseline: str | None,
    more: list[str],
    output: str | None,
    format: str | None,
    guard: bool,
    plots: str | None,
    sources: bool,
    json: bool,
    out: TextIO,
    err: TextIO,
) -> int:
    """Write the report on a trial, on two sides, or on one file of runs.

    It is one self-contained HTML file, tables for a pull request (md) or a paper (latex), all values
    (json, csv), or one line for each benchmark (txt).
    """
    if source is None:
        from ..importers.reader import newest_trial

        source = str(newest_trial())
    named = [text for text in (source, baseline, *more) if text is not None]
    place = None if output in (None, *STDOUT) else Path(output or "")
    form = _format(format, place, named=output is not None, plots=plots, json=json)
    if guard and form != "csv":
        raise UsageError(
            "--guard is for csv: no other form is opened as a table of formulas",
            fix="leave out --guard, or add --format csv",
        )
    if sources and form is None:
        fix = "leave out --sources, or add -o report.html"
        raise UsageError(
            "--sources is a part of the report, and only pictures are asked for", fix=fix
        )
    _check(place, form, named)
    for option in setting.given(*vars(setting)) if plots is None else ():
        fix = f"add --plots DIR, or leave out {option}"
        raise UsageError(f"{option} is for the pictures of --plots", None, fix)
    sheet = None if plots is None else setting.sheet()

    from ..report.assembling import assemble
    from ..report.subject import subjects_of

    metrics = [] if judging.metric is None else judging.metric.split(",")
    if not metrics and len(named) == 1:
        metrics = [*_declared(named[0])]
    subjects = subjects_of(
        named,
        judging.reading(),
        metrics,
        variants=judging.variant,
        certificate=judging.certificate,
        explain=form is not None,  # pictures take nothing from it
        **judging.rules(),
    )
    written: list[str] = []
    say = written.append if json else line_to(out)
    if form is not None:
        found = assemble(subjects, sources=sources)
        if place is not None or not json:
            for path in _write(found, form, place, out, err, guard=guard):
                say(str(path))
    if plots is not None and sheet is not None:
        for path in _draw(subjects, Path(plots), sheet, err):
            say(str(path))
    if json:
        show(replace(found, written=tuple(written)), out, as_json=True)
    return 0


def _declared(source: str) -> Sequence[str]:
    """Give the metrics that the campaign of one trial, or of a fleet, names as its question."""
    from ..data.fleet import open_fleet
    from ..importers.reader import is_foreign, trial_and_variant
    from ..record.fleet import is_fleet
    from ..record.manifest import read_manifest

    named = trial_and_variant(source)
    if named is None or is_foreign(named[0]):
        return ()
    if is_fleet(named[0]):
        return open_fleet(named[0]).judge
    # None, of parts that differ: the reader reports it
    return read_manifest(named[0]).questions or ()


def _format(
    asked_for: str | None, place: Path | None, *, named: bool, plots: str | None, json: bool
) -> str | None:
    """Say what is written: what was asked for, else what the file's ending says."""
    if json and place is None:
        if asked_for not in (None, "json"):
            what = f"--json and --format {asked_for} both write to the standard output"
            raise UsageError(what, fix="add -o FILE, or leave one of them out")
        return "json"
    if asked_for == "html" and not named:
        raise UsageError("an HTML page needs a file", fix="add -o report.html")
    if asked_for is not None:
        return asked_for
    if place is None:
        if plots is not None and not named:
            return None  # pictures alone
        raise UsageError(
            "the report needs a file or a format",
            fix="add -o report.html, or --format txt to read it here",
        )
    known = _ENDINGS.get(place.suffix.lower())
    if known is None:
        if place.is_dir():
            return "csv"
        raise UsageError(
            f"unknown format {place.suffix!r}" if place.suffix else "no ending names the format",
            str(place),
            f"add --format, one of {', '.join(_FORMATS)}, or end the file in {', '.join(_ENDINGS)}",
        )
    return known


def _check(place: Path | None, form: str | None, sources: Sequence[str]) -> None:
    """Refuse what cannot be written before anything is computed."""
    if place is None:
        return
    if form == "csv" and place.is_dir():
        check_folder(place)
        return
    check_files(str(place), read=sources)
    if form == "latex":
        if place.name == _NUMBERS:
            what = f"the report itself writes {_NUMBERS} there"
            raise UsageError(what, str(place), "name another file")
        check_file(place.with_name(_NUMBERS))


def _draw(subjects: tuple[Subject, ...], folder: Path, sheet: Sheet, err: TextIO) -> Iterator[Path]:
    """Write the pictures, and name them; the room that draws them is opened when it is asked for."""
    from ..report.figures import write_all

    for subject in subjects:
        place = folder / subject.data.metric if len(subjects) > 1 else folder
        yield from write_all(subject, place, sheet, tell=line_to(err))


def _write(
    report: Report, form: str, place: Path | None, out: TextIO, err: TextIO, *, guard: bool
) -> Iterator[Path]:
    """Write the report, and name its files."""
    if place is not None and form == "csv" and place.is_dir():
        from ..pages.as_markup import separate
        from ..report.assembling import data_page

        tables = separate(data_page(report), guard=guard)
        written = {f"{name}.csv": text for name, text in tables.items()}
        write_files(place, written)
        yield from (place / name for name in written)
        return
    text = _text(report, form, guard=guard)
    if place is None:
        out.write(text)
        if form == "latex":
            line_to(err)(f"for {_NUMBERS}, one command for each number: add -o report.tex")
        return
    write_file(place, text)
    yield place
    if form == "latex":
        from ..report.subject import macros_of

        numbers = place.with_name(_NUMBERS)
        write_file(numbers, macros_of(report.briefs))
        yield numbers


def _text(report: Report, form: str, *, guard: bool) -> str:
    if form == "html":
        from ..report.assembling import html_page

        return html_page(report)
    if form == "json":
        import json

        return json.dumps(report.to_dict(), indent=2, allow_nan=False) + "\n"
    from ..pages import as_markup, as_markup as as_csv, as_text
    from ..report.assembling import brief_page, data_page

    if form == "txt":
        return as_text.render(brief_page(report)) + "\n"
    if form == "csv":
        return as_csv.render(data_page(report), guard=guard)
    if form == "md":
        return as_markup.render_markdown(data_page(report), most=_COMMENT)
    return as_markup.render_latex(report.screen())
