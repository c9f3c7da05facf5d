"""A diagnosis in words: the answer, the whole host, the findings, the record, the cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...report import Cell, Column, Page, Section, Sentence, Table, Value, figures, page_of
from .result import CellLine, Diagnosis, Finding
from .sentences import percent, speeds_text

__all__: list[str] = []

_NAME, _VARIANT = 24, 16  # columns for names
_FINDINGS, _CELLS, _FAR = 20, 16, 5  # rows that are shown
_HOST: dict[str, str] = {
    "host-blocks": "blocks (Friedman)",
    "host-neighbours": "consecutive runs",
    "host-trend": "trend within sessions (Page)",
    "host-warm-up": "first runs of sessions",
    "host-change": "change in session",
    "host-sessions": "sessions (Friedman)",
}
_WORDS: dict[str, str] = {
    "order": "drift in sessions",
    "lag-1": "lag-1 autocorrelation",
    "ljung-box": "Ljung-Box",
    "runs-test": "runs test",
    "change-point": "change point",
    "warm-up": "warm-up",
    "session-shift": "session shift",
}


@page_of.register
def _(found: Diagnosis) -> Page:
    tested = [one for one in found.findings if one.pvalue is not None]
    cells = [one for one in tested if one.benchmark is not None]
    noted = [one for one in found.findings if one.pvalue is None]
    return Page(
        title=f"Diagnosis of {found.name}",
        sections=(
            Section((Sentence(_heading(found)), Section((Sentence(_answer(found, tested)),)))),
            *_host(found),
            *_findings(cells),
            *_noted(found, noted),
            *_cells(found),
            *_far(found),
            *_not_tested(found),
        ),
        cautions=found.cautions,
    )


def _heading(found: Diagnosis) -> str:
    metric = "" if found.metric is None else f" · {found.metric}"
    sessions = f"{found.sessions} session{'s' * (found.sessions != 1)}"
    return (
        f"{found.name}{metric} · {found.runs:,} runs of {len(found.cells)} "
        f"cell{'s' * (len(found.cells) != 1)} in {sessions}"
    )


def _answer(found: Diagnosis, tested: Sequence[Finding]) -> str:
    share = percent(1 - found.confidence)
    if not found.tests:
        return "nothing could be tested: a cell needs 10 runs"
    if not tested:
        return (
            f"nothing found by {found.tests} tests (of clean trials {share} at most show a finding); "
            "that is no proof that there is nothing"
        )
    together = "the whole host" if found.movers is None else "programs together"
    counts = Counter(_WORDS.get(one.code, together) for one in tested)
    told = ", ".join(f"{word} {n}" for word, n in counts.most_common())
    noun = "finding" if len(tested) == 1 else "findings"
    return f"{len(tested)} {noun} by {found.tests} tests, corrected together at {share}: {told}"


def _p(p: float | None) -> Value:
    return Value("" if p is None else figures.pvalue(p).removeprefix("= "), p)


def _host(found: Diagnosis) -> tuple[Section, ...]:
    if not found.host:
        return ()
    risk = 1 - found.confidence
    rows: list[tuple[Cell, ...]] = []
    for one in found.host:
        label = _HOST[one.code] + (f" {one.sessions[0]}" if one.sessions else "")
        seen = one.pvalue_adjusted is not None and one.pvalue_adjusted <= risk
        rows.append(
            (
                label,
                "not tested" if one.pvalue is None else one.text if seen else "nothing found",
                _p(one.pvalue_adjusted),
            )
        )
    table = Table(
        name="host",
        columns=(Column("all programs at once", "left"), Column("", "left"), Column("adjusted p")),
        rows=tuple(rows),
    )
    said = (
        ()
        if found.speeds is None
        else (Sentence(speeds_text(found.speeds, found.sessions, found.movers)),)
    )
    return (
        Section(
            (*said, table), title="the whole host" if found.movers is None else "programs together"
        ),
    )


def _findings(cells: Sequence[Finding]) -> tuple[Section, ...]:
    if not cells:
        return ()
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            figures.shorten(one.benchmark or "", _NAME),
            figures.shorten(one.variant or "", _VARIANT),
            one.text,
            _p(one.pvalue_adjusted),
        )
        for one in cells[:_FINDINGS]
    )
    table = Table(
        name="findings",
        columns=(
            Column("benchmark", "left"),
            Column("variant", "left"),
            Column("found", "left"),
            Column("adjusted p"),
        ),
        rows=rows,
    )
    return (Section((table, *_more(len(cells) - _FINDINGS)), title="single cells"),)


def _more(rest: int) -> tuple[Sentence, ...]:
    return (Sentence(f"and {rest} more (--json has them all)"),) if rest > 0 else ()


def _noted(found: Diagnosis, noted: Sequence[Finding]) -> tuple[Section, ...]:
    said = []
    for one in noted:
        cell = "" if one.benchmark is None else f"{one.benchmark} / {one.variant}: "
        # the runner's sentences of cells begin with their names
        begin = "" if one.text.startswith(cell.removesuffix(": ") + " ") else cell
        said.append(Sentence(f"{one.code}: {begin}{one.text}"))
    for both in found.two_binaries:
        said.append(
            Sentence(
                f"two-binaries: {both.variant} was {len(both.hashes)} different programs on "
                f"{figures.listed(both.benchmarks)}"
            )
        )
    rest = _more(len(said) - _FINDINGS)
    return (Section((*said[:_FINDINGS], *rest), title="recorded and counted"),) if said else ()


def _share(value: float | None) -> Value:
    return Value("" if value is None else percent(value), value)


def _cells(found: Diagnosis) -> tuple[Section, ...]:
    lines = sorted(found.cells, key=_kept) if len(found.cells) > _CELLS else list(found.cells)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            figures.shorten(line.benchmark, _NAME),
            figures.shorten(line.variant, _VARIANT),
            Value(str(line.runs), line.runs),
            Value(
                "" if line.effective is None else f"{line.effective:.0f}",
                line.effective,
            ),
            _share(line.spread),
            _share(line.session_sd),
            Value("" if line.lag_1 is None else f"{line.lag_1:.2f}", line.lag_1),
            _share(line.ties),
            Value(str(line.far), line.far),
        )
        for line in lines[:_CELLS]
    )
    heads = ("runs", "effective", "spread", "of sessions", "lag 1", "ties", "far")
    table = Table(
        name="cells",
        columns=(Column("benchmark", "left"), Column("variant", "left"), *map(Column, heads)),
        rows=rows,
    )
    title = (
        "cells: as many independent runs as effective would tell the mean as well; spread of runs in "
        "a session, and of sessions"
    )
    return (Section((table, *_more(len(lines) - _CELLS)), title=title),)


def _kept(line: CellLine) -> float:
    """Order cells by what is left of their runs."""
    return 1.0 if line.effective is None else line.effective / line.runs


def _far(found: Diagnosis) -> tuple[Section, ...]:
    if not found.far_runs:
        return ()
    said = [
        Sentence(
            f"{one.benchmark} / {one.variant}, session {one.session}, run {one.run}"
            + ("" if one.ratio is None else f": {figures.ratio(one.ratio)} the median")
        )
        for one in found.far_runs[:_FAR]
    ]
    title = f"far runs: {len(found.far_runs)}, flagged and never left out"
    return (Section((*said, *_more(len(found.far_runs) - _FAR)), title=title),)


def _not_tested(found: Diagnosis) -> tuple[Section, ...]:
    if not found.not_tested:
        return ()
    told = figures.listed(
        [f"{one.benchmark} / {one.variant} ({one.runs})" for one in found.not_tested]
    )
    return (Section((Sentence(f"not tested, under 10 runs: {told}"),)),)
