"""Components of variance in words."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Column, Page, Section, Sentence, Table, Value, figures, page_of
from .result import ComponentLine, VarianceComponents

__all__: list[str] = []

_NAME = 30  # columns for a name


@page_of.register
def _(found: VarianceComponents) -> Page:
    head = _head(found)
    return Page(
        title=f"Between sessions and between runs: {head}",
        sections=(
            Section((Sentence(f"{head}: {_answer(found)}"),)),
            Section((_table(found), *map(Sentence, _crossed(found)))),
        ),
        cautions=found.cautions,
    )


def _head(found: VarianceComponents) -> str:
    names = [found.candidate] if found.baseline is None else [found.candidate, found.baseline]
    return " against ".join(figures.shorten(name, _NAME) for name in names)


def _answer(found: VarianceComponents) -> str:
    line = found.suite or (found.benchmarks[0] if len(found.benchmarks) == 1 else None)
    what = "values" if found.baseline is None else "differences"
    if line is None:
        return f"how {what} vary, by benchmark"
    over = "of the suite's mean" if found.suite else "of the benchmark"
    told = f"the {what} {over} vary by {_share(line.session_sd)} between sessions"
    if line.run_sd is None:
        return f"{told}, runs included: with one run a session the two cannot be told apart"
    return f"{told} and by {_share(line.run_sd)} between the runs of one"


def _table(found: VarianceComponents) -> Table:
    lines = (*found.benchmarks, *((found.suite,) if found.suite else ()))
    return Table(
        name="components",
        columns=(
            Column("benchmark", "left"),
            *map(Column, ("sessions", "blocks", "between sessions", "between runs")),
        ),
        rows=tuple(_row(line) for line in lines),
    )


def _row(line: ComponentLine) -> tuple[str | Value, ...]:
    return (
        figures.shorten(line.name, _NAME),
        Value(str(line.sessions), line.sessions),
        Value(str(line.blocks), line.blocks),
        Value(_share(line.session_sd), line.session_sd),
        Value("-" if line.run_sd is None else _share(line.run_sd), line.run_sd),
    )


def _crossed(found: VarianceComponents) -> Iterator[str]:
    """Say what the benchmarks have in common, where the model could be fitted."""
    if found.crossed is None:
        return
    parts = (
        (found.crossed.benchmark_sd, "between benchmarks"),
        (found.crossed.session_sd, "between sessions, in all benchmarks alike"),
        (found.crossed.benchmark_session_sd, "between sessions, in each benchmark by itself"),
        (found.crossed.block_sd, "between the blocks of a session"),
        (found.crossed.run_sd, "between runs"),
    )
    told = "; ".join(f"{_share(sd)} {what}" for sd, what in parts if sd is not None)
    yield f"all benchmarks together: {told}"


def _share(sd: float) -> str:
    return f"{figures.significant(100 * sd, 2)} %"
