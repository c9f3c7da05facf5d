"""The values within runs: how those behind a judged quantile are distributed, and which iterations are judged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..data.iterations import IterationsOfCell, Pooled, pooled
from ..data.trial import Trial
from ..errors import AnalysisError
from ..pages.model import Block, Figure, Section, Sentence, Value, section, table_of, value_of
from ..pages.number_format import quantity, span
from ..plots.axes import Axes, Key, Scale, Tick, quantity_axis, quantity_scale
from ..plots.chart import Sheet, arranged
from ..plots.marks import COLOURS
from ..plots.paper import Picture
from ..record.manifest import needed, quantile_said
from ..stats.samples import Array
from ..verdict.sentence import quantile_sentences
from ..words import shown
from .page import Chapter, chapter_of, picture_of
from .subject import Subject

_DRAWN = 6  # benchmarks

# --- The values behind a judged quantile: by variant their quantiles and distribution functions.
#
# Both axes of a picture are logarithmic: values to the right, and up the share that lies above, each step a tenth of the one before. A
# curve ends where its values are too few for a quantile.


_CURVES = 5  # of variants in a picture
_USUAL = (0.5, 0.9, 0.99, 0.999)
_POINTS = 160  # of a curve
_SHEET, _HIGH = Sheet(width=85.0), 62.0  # mm

Cells = Mapping[str, Mapping[str, Pooled]]  # by benchmark and variant


def distribution(subject: Subject) -> Chapter | None:
    """Give the chapter on a quantile's values; None where none is judged, or its values are not there."""
    basis, trial = subject.verdict.quantile, subject.trial
    if basis is None or trial is None or basis.why in {"printed", "not-kept", "own"}:
        return None
    cells = _cells(subject, trial, basis.metric)
    if not cells:
        return None
    declared = map(quantile_said, trial.manifest.metrics.values())
    asked = {said[1] for said in declared if said is not None and said[0] == basis.metric}
    most = max(one.total for found in cells.values() for one in found.values())
    asked |= {share for share in _USUAL if needed(share) <= most}
    lead = " ".join(quantile_sentences(subject.verdict.metric, basis))
    title = f"Distribution of {shown(basis.metric)}"

    def sections() -> Iterator[Section]:
        yield section(lead, *_blocks(subject, cells, sorted(asked)))

    return chapter_of(subject, "distribution", title, sections, lead=lead)


def _cells(subject: Subject, trial: Trial, metric: str) -> dict[str, dict[str, Pooled]]:
    """Give the values of the first benchmarks, by variant; none where they are not there, or too many."""
    found: dict[str, dict[str, Pooled]] = {}
    used, manifest = trial.judged(subject.verdict.metric), trial.manifest
    for bench in subject.order[:_DRAWN]:
        mine = used & (trial.benchmark == manifest.benchmarks.index(bench))
        for name in subject.matrices:
            rows = np.flatnonzero(mine & (trial.variant == manifest.variants.index(name)))
            try:
                one = pooled(trial, metric, rows)
            except AnalysisError:
                return {}
            if isinstance(one, str):
                return {}
            if one.total and one.values[0] > 0:
                found.setdefault(bench, {})[name] = one
    return found


def _blocks(subject: Subject, cells: Cells, asked: Sequence[float]) -> Iterator[Block]:
    unit = subject.verdict.unit

    def quantile(share: float) -> tuple[object, ...]:
        def of(row: tuple[str, str, Pooled]) -> Value:
            return value_of(row[2].quantile(share), lambda value: quantity(value, unit))

        return _percent(share), of

    yield table_of(
        f"{subject.anchor('distribution')}-cells",
        [(bench, name, one) for bench, found in cells.items() for name, one in found.items()],
        ("<benchmark", lambda row: shown(row[0])),
        ("<variant", lambda row: shown(row[1])),
        ("values", lambda row: Value(f"{row[2].total:,}", row[2].total)),
        *map(quantile, asked),
        ("largest", lambda row: row[2].at(row[2].total), lambda value: quantity(value, unit)),
    )
    for bench, found in cells.items():
        few = dict(list(found.items())[:_CURVES])
        yield Figure(
            name=subject.anchor("distribution", bench),
            alt=f"{bench}: {'; '.join(_told(name, one, unit) for name, one in few.items())}",
            draw=lambda few=few: _picture(few, unit),  # type: ignore[misc]
        )
    yield Sentence(
        "Up stands the share of the values that are at most so large; both axes are logarithmic, and a "
        "curve ends where its values do."
    )


def _percent(share: float) -> str:
    return f"p{100 * share:.10g}"


def _told(name: str, one: Pooled, unit: str) -> str:
    known = ((share, one.quantile(share)) for share in _USUAL)
    said = (f"{_percent(share)} {quantity(x, unit)}" for share, x in known if x is not None)
    return f"{name}, {one.total:,} values: {', '.join(said) or 'too few'}"


def _picture(found: Mapping[str, Pooled], unit: str) -> Picture:
    curves = [_curve(one) for one in found.values()]
    top = max(1, *(math.ceil(up[-1]) for _, up in curves))
    axes = Axes(
        y=Scale(0.0, top + 0.1),
        y_ticks=[Tick(float(k), f"{100 * (1 - 10.0**-k):.10g} %") for k in range(top + 1)],
    )
    quantity_axis(axes, "x", quantity_scale(end for x, _ in curves for end in (x[0], x[-1])), unit)
    for k, (x, up) in enumerate(curves):
        axes.curve(x, up, f"c{k % len(COLOURS)} d{k} curve")
    axes.keys = [Key(name, f"c{k} d{k} curve") for k, name in enumerate(found)]
    return arranged(_SHEET, [[axes]], _HIGH)


def _curve(one: Pooled) -> tuple[Array, Array]:
    """Give values and how many factors of ten below 1 the share above them lies, up to one value in all."""
    top = math.log10(max(one.total, 2))
    up = np.linspace(0.0, top, _POINTS)
    ranks = np.clip(np.ceil((1 - 10.0**-up) * one.total), 1, one.total).astype(np.int64)
    return np.array([one.at(int(rank)) for rank in ranks]), up


# --- Which iterations of runs are judged, what the runs are called, and the iterations of some as pictures.


def iterations(subject: Subject) -> Chapter | None:
    """Give the chapter on iterations; None where every one is judged, and nobody asked otherwise."""
    place = {name: k for k, name in enumerate(subject.order)}
    cells = sorted(
        subject.verdict.iterations,
        key=lambda one: (not one.unsteady, place.get(one.benchmark, len(place))),
    )
    if not cells:
        return None
    setting, lost = cells[0].setting, sum(one.unsteady for one in cells)
    first = f"the first {setting} of a run"
    lead = f"Not judged: {'those before a run becomes steady' if setting == 'auto' else first}."
    if lost:
        lead += f" No word on {lost} of {len(cells)} cells: too many of their runs reach no steady state."

    def sections() -> Iterator[Section]:
        yield section(lead, *_of_iterations(subject, cells))

    return chapter_of(subject, "iterations", "Iterations of the runs", sections, lead=lead)


def _of_iterations(subject: Subject, cells: Sequence[IterationsOfCell]) -> Iterator[Block]:
    hosts = any(one.host is not None for one in cells)
    yield table_of(
        f"{subject.anchor('iterations')}-cells",
        cells,
        ("<host", "host") if hosts else None,
        ("<benchmark", "benchmark"),
        ("<variant", "variant"),
        ("runs", "runs"),
        ("not judged", lambda one: Value(span(one.left_out), one.left_out[1])),
        ("<called", _called),
    )
    for benchmark in list(dict.fromkeys(one.benchmark for one in cells))[:_DRAWN]:
        try:
            yield picture_of("iterations", subject, benchmark)
        except AnalysisError:  # sides that are no trial
            return


def _called(one: IterationsOfCell) -> str:
    return ", ".join(f"{count} {state}" for state, count in (one.states or {}).items() if count)
