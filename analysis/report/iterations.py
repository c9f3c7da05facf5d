"""Which iterations of runs are judged, what the runs are called, and the iterations of some as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..errors import AnalysisError
from ..pages.model import Block, Sentence, Value, section, table_of
from .page import Chapter, picture_of

if TYPE_CHECKING:
    from ..data.iterations import IterationsOfCell
    from .subject import Subject

__all__ = ["chapter"]

_DRAWN = 6  # benchmarks


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where every iteration is judged, and nobody asked otherwise."""
    place = {name: k for k, name in enumerate(subject.order)}
    cells = sorted(
        subject.verdict.iterations,
        key=lambda one: (not one.unsteady, place.get(one.benchmark, len(place))),
    )
    if not cells:
        return None
    return Chapter(
        name="iterations",
        anchor=subject.anchor("iterations"),
        title="Iterations of the runs",
        lead=_lead(cells),
        sections=lambda: (section(*_blocks(subject, cells)),),
    )


def _lead(cells: Sequence[IterationsOfCell]) -> str:
    setting, lost = cells[0].setting, sum(one.unsteady for one in cells)
    first = f"the first {setting} of a run"
    told = f"Not judged: {'those before a run becomes steady' if setting == 'auto' else first}."
    if not lost:
        return told
    return f"{told} No word on {lost} of {len(cells)} cells: too many of their runs reach no steady state."


def _blocks(subject: Subject, cells: Sequence[IterationsOfCell]) -> Iterator[Block]:
    hosts = any(one.host is not None for one in cells)
    yield Sentence(_lead(cells))
    yield table_of(
        f"{subject.anchor('iterations')}-cells",
        cells,
        ("<host", "host") if hosts else None,
        ("<benchmark", "benchmark"),
        ("<variant", "variant"),
        ("runs", "runs"),
        ("not judged", _left_out),
        ("<called", _called),
    )
    for benchmark in list(dict.fromkeys(one.benchmark for one in cells))[:_DRAWN]:
        try:
            yield picture_of("iterations", subject, benchmark)
        except AnalysisError:  # sides that are no trial
            return


def _left_out(one: IterationsOfCell) -> Value:
    least, median, most = one.left_out
    return Value(f"{least}" if least == most else f"{least} to {most}", median)


def _called(one: IterationsOfCell) -> str:
    return ", ".join(f"{count} {state}" for state, count in (one.states or {}).items() if count)
