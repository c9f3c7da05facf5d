"""A trial and a matrix in words: what was measured, and how many runs of each there are."""

from __future__ import annotations

import numpy as np

from ..pages import number_format as figures
from ..pages.model import Cell, Column, Page, Section, Sentence, Table, Value, page_of
from ..words import shorten
from .matrix import PerformanceMatrix
from .trial import Trial

_NAME = 28  # columns for a name


@page_of.register(PerformanceMatrix)
def _performance_matrix_page(matrix: PerformanceMatrix) -> Page:
    rows: list[tuple[Cell, ...]] = []
    for bench, values in zip(matrix.benchmarks, matrix.samples, strict=True):
        three = (float(v) for v in (values.min(), np.median(values), values.max()))
        rows.append(
            (
                shorten(bench, _NAME),
                Value(str(values.size), int(values.size)),
                *(Value(figures.quantity(v, matrix.unit), v) for v in three),
            )
        )
    heads = (Column(heading) for heading in ("runs", "minimum", "median", "maximum"))
    table = Table(name="runs", columns=(Column("benchmark", "left"), *heads), rows=tuple(rows))
    return Page(
        title=matrix.name,
        sections=(
            Section((Sentence(str(matrix).removeprefix(f"{matrix.name}: ")),)),
            Section((table,)),
        ),
        cautions=matrix.cautions,
    )


@page_of.register(Trial)
def _trial_page(trial: Trial) -> Page:
    manifest = trial.manifest
    rows: list[tuple[Cell, ...]] = []
    for b, bench in enumerate(manifest.benchmarks):
        of_bench = trial.variant[trial.measured & (trial.benchmark == b)]
        counts = [int((of_bench == v).sum()) for v in range(len(manifest.variants))]
        rows.append((shorten(bench, _NAME), *(Value(str(n), n) for n in counts)))
    table = Table(
        name="runs-that-count",
        columns=(
            Column("runs that count", "left"),
            *(Column(shorten(name, _NAME)) for name in manifest.variants),
        ),
        rows=tuple(rows),
    )
    said = (
        f"{len(trial)} runs of {len(manifest.benchmarks)} benchmarks x {len(manifest.variants)} "
        f"variants in {trial.sessions} session{'s' * (trial.sessions != 1)} on {manifest.host}, "
        f"{manifest.status}; baseline {shorten(manifest.baseline, _NAME)}"
    )
    return Page(
        title=manifest.trial,
        sections=(Section((Sentence(said),)), Section((table,))),
        cautions=trial.cautions,
    )
