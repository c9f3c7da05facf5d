"""The subcommand ``report``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import UsageError
from ..options import command
from .options import Judging, Setting, check_file, check_folder, line_to, write_file, write_files

if TYPE_CHECKING:
    from ..plots.chart import Sheet
    from ..report.page import Report
    from ..report.subject import Subject


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
    place = None if output in {None, "-"} else Path(output or "")
    form = _format(format, place, named=output is not None, plots=plots)
    if guard and form != "csv":
        raise UsageError(
            "--guard is for csv: no other form is opened as a table of formulas",
            fix="leave out --guard, or add --format csv",
        )
    _check(place, form)
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
    if form is not None:
        _write(assemble(subjects, sources=sources), form, place, out, err, guard=guard)
    if plots is not None and sheet is not None:
        out.flush()
        _draw(subjects, Path(plots), sheet, out, err)
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
        return open_fleet(named[0]).judge()
    return (
        read_manifest(named[0]).questions or ()
    )  # None, of parts that differ, is told by who reads


def _format(
    asked_for: str | None, place: Path | None, *, named: bool, plots: str | None
) -> str | None:
    """Say what is written: what was asked for, else what the file's ending says."""
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
            f"the ending {place.suffix!r} says no format",
            str(place),
            f"add --format, one of {', '.join(_FORMATS)}, or end the file in {', '.join(_ENDINGS)}",
        )
    return known


def _check(place: Path | None, form: str | None) -> None:
    """Refuse what cannot be written before anything is computed."""
    if place is None:
        return
    if form == "csv" and place.is_dir():
        check_folder(place)
        return
    check_file(place)
    if form == "latex":
        if place.name == _NUMBERS:
            raise UsageError(
                f"{_NUMBERS} is written beside the report", str(place), "name another file"
            )
        check_file(place.with_name(_NUMBERS))


def _draw(
    subjects: tuple[Subject, ...], folder: Path, sheet: Sheet, out: TextIO, err: TextIO
) -> None:
    """Write the pictures; the room that draws them is opened when it is asked for."""
    from ..report.figures.files import write_all

    for subject in subjects:
        place = folder / subject.verdict.metric if len(subjects) > 1 else folder
        for path in write_all(subject, place, sheet, told=line_to(err)):
            out.write(f"{path}\n")


def _write(
    report: Report, form: str, place: Path | None, out: TextIO, err: TextIO, *, guard: bool
) -> None:
    """Write the report as one form, and say where it is."""
    if place is not None and form == "csv" and place.is_dir():
        from ..pages.as_markup import separate
        from ..report.page import data_page

        tables = separate(data_page(report), guard=guard)
        written = {f"{name}.csv": text for name, text in tables.items()}
        write_files(place, written)
        _say(place, written, out)
        return
    text = _text(report, form, guard=guard)
    if place is None:
        out.write(text)
        if form == "latex":
            line_to(err)(f"for {_NUMBERS}, one command for each number: add -o report.tex")
        return
    write_file(place, text)
    names = [place.name]
    if form == "latex":
        from ..report.written import macros_of

        names.append(_NUMBERS)
        write_file(place.with_name(_NUMBERS), macros_of(report.briefs))
    _say(place.parent, names, out)


def _say(folder: Path, names: Iterable[str], out: TextIO) -> None:
    for name in names:
        out.write(f"{folder / name}\n")


def _text(report: Report, form: str, *, guard: bool) -> str:
    """Set the report."""
    if form == "html":
        from ..report.assembling import html_page

        return html_page(report)
    if form == "json":
        import json

        return json.dumps(report.to_dict(), indent=2, allow_nan=False) + "\n"
    from ..pages import as_markup, as_markup as as_csv, as_text
    from ..pages.model import page_of
    from ..report.page import brief_page, data_page

    if form == "txt":
        return as_text.render(brief_page(report)) + "\n"
    if form == "csv":
        return as_csv.render(data_page(report), guard=guard)
    if form == "md":
        return as_markup.render_markdown(page_of(report), most=_COMMENT)
    return as_markup.render_latex(page_of(report))
