"""What a diagnosis takes over from the record of the host, and its lines on cells and far runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..pages import number_format as figures
from ..stats.arguments import stream
from .cell_tests import LEAST
from .host_tests import CLEAR, clearness, two_means
from .result import CellLine, FarRun, Finding, TwoBinaries, Untested, in_sessions

if TYPE_CHECKING:
    from ..data.host_record import HostNote, HostRecord, RecordedProgram
    from ..data.trial import Trial
    from .cell_tests import CellTests, Description
    from .run_table import RunTable, Series

_LARGEST = 700.0  # of a logarithm


def cell_lines(
    table: RunTable, series: Series, figures: Description, tests: Sequence[CellTests]
) -> Iterator[CellLine]:
    """Give a line for each cell, in the order of benchmarks and variants."""
    counts, sessions = series.runs.tolist(), (series.counts > 0).sum(axis=1).tolist()
    far = figures.far.sum(axis=(1, 2)).tolist()
    for k in range(series.benchmark.size):
        yield CellLine(
            benchmark=table.benchmarks[series.benchmark[k]],
            variant=table.variants[series.variant[k]],
            runs=counts[k],
            sessions=sessions[k],
            spread=_relative(figures.spread[k]),
            session_sd=_relative(figures.session_sd[k]),
            lag_1=_known(figures.lag_1[k]),
            effective=_known(figures.effective[k]),
            ties=float(figures.ties[k]),
            resolution=_known(figures.resolution[k]),
            far=far[k],
            pvalues={test.code: _known(test.pvalues[k]) for test in tests},
        )


def modal_cells(table: RunTable, series: Series, unit: str) -> Iterator[Finding]:
    """Name the cells whose values have modes, in half of the sessions at least."""
    for cell in range(series.benchmark.size):
        rows = series.row[cell][series.present[cell]]
        values, session = table.values[rows], table.session[rows]
        if rows.size < 2 * LEAST or (values <= 0).any():
            continue
        logs = np.log(values)
        if clearness(logs, two_means(logs)) < CLEAR:
            continue
        from .modes import modes_by_values  # takes half a second, for what is rare

        bench = table.benchmarks[series.benchmark[cell]]
        variant = table.variants[series.variant[cell]]
        labels = modes_by_values(values, stream(20_261_128, bench, variant))
        if labels is None:
            continue
        of_sessions = [labels[(session == one) & (labels >= 0)] for one in np.unique(session)]
        if 2 * sum(np.unique(one).size > 1 for one in of_sessions) < len(of_sessions):
            continue
        groups = [values[labels == k] for k in range(labels.max() + 1)]
        at = [float(np.median(one)) for one in groups]
        told = (
            f"{n.size} near {figures.quantity(x, unit)}" for n, x in zip(groups, at, strict=True)
        )
        text = f"runs have {len(groups)} modes, {figures.listed([*told])}"
        size = at[-1] / at[0]
        yield Finding(code="modes", benchmark=bench, variant=variant, size=size, text=text)


def untested(table: RunTable, series: Series) -> Iterator[Untested]:
    """Name the cells with fewer than 10 runs."""
    for cell in np.flatnonzero(series.runs < LEAST).tolist():
        yield Untested(
            benchmark=table.benchmarks[series.benchmark[cell]],
            variant=table.variants[series.variant[cell]],
            runs=int(series.runs[cell]),
        )


def far_runs(table: RunTable, series: Series, figures: Description) -> Iterator[FarRun]:
    """Give the far runs, the farthest from its session's median first."""
    logs = table.logs
    found: list[tuple[float, FarRun]] = []
    for cell, session, place in np.argwhere(figures.far).tolist():
        row = series.row[cell, session]
        apart = float(logs[row[place]] - np.median(logs[row[row >= 0]]))
        one = FarRun(
            benchmark=table.benchmarks[series.benchmark[cell]],
            variant=table.variants[series.variant[cell]],
            session=table.sessions[session],
            run=place + 1,
            ratio=math.exp(apart) if apart < _LARGEST else None,
        )
        found.append((-abs(apart), one))
    yield from (one for _, one in sorted(found, key=lambda pair: pair[0]))


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _relative(sd: float) -> float | None:
    """Turn a standard deviation of logs into a relative one."""
    return math.expm1(sd) if math.isfinite(sd) and sd < _LARGEST else None


_AFTER = ("during", "after")  # "before" these say what happened since boot
_ANY = ("before", "during", "after", "resume", "")
# findings of the runner that touch what was measured: when they do
_TOLD: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("load", "other-trials", "gaps", "threads", "environment"), _ANY),
    **dict.fromkeys(("drift", "input", "output"), _ANY),
    **dict.fromkeys(("steal", "throttle", "temperature", "swap"), _AFTER),
    **dict.fromkeys(("kernel_log", "clock", "placement"), _AFTER),
}
_OF_CELLS = ("output", "threads")


def noted(record: HostRecord, trial: Trial, total: int) -> Iterator[Finding]:
    """Give the runner's findings that touch runs, one for each check, cell and thing that happened."""
    groups: dict[tuple[str, str], list[HostNote]] = {}
    for note in record.notes:
        if note.status not in ("warn", "fail") or note.when not in _TOLD.get(note.check, ()):
            continue
        # figures differ from session to session; of changes each is a thing of its own
        apart = note.what if note.check in ("drift", "environment", "input", *_OF_CELLS) else ""
        groups.setdefault((note.check, apart), []).append(note)
    for (check, _), notes in groups.items():
        sessions = tuple(dict.fromkeys(n.session for n in notes if n.session is not None))
        benchmark, variant = _cell_of(notes[0].what, trial) if check in _OF_CELLS else (None, None)
        where = in_sessions(sessions, total)
        yield Finding(
            code=check,
            benchmark=benchmark,
            variant=variant,
            sessions=tuple(sorted(sessions)),
            text=f"{notes[0].what}{f', {where}' if where else ''}",
        )


def _cell_of(what: str, trial: Trial) -> tuple[str | None, str | None]:
    """Find the cell that a sentence of the runner begins with."""
    for benchmark in trial.manifest.benchmarks:
        for variant in trial.manifest.variants:
            if what.startswith(f"{benchmark} / {variant} "):
                return benchmark, variant
    return None, None


def disturbed_runs(trial: Trial, chosen: Sequence[int]) -> Iterator[Finding]:
    """Count the measured runs during which the hypervisor took time, or the disk was needed."""
    mine = trial.judged("wall") & np.isin(trial.variant, chosen)
    wall = trial.values("wall")
    with np.errstate(invalid="ignore"):
        stolen = mine & (trial.numbers["steal_s"] > 0)
        stolen &= trial.numbers["steal_s"] >= 0.01 * wall
        faulted = mine & (trial.numbers["major_faults"] > 0)
    for b, benchmark in enumerate(trial.manifest.benchmarks):
        here = trial.benchmark == b
        for k in chosen:
            cell = here & (trial.variant == k)
            runs = int((mine & cell).sum())
            told = []
            if n := int((stolen & cell).sum()):
                told.append(f"{n} lost time to the hypervisor")
            # a program that always reads from the disk is not disturbed by that
            if (n := int((faulted & cell).sum())) and 2 * n <= runs:
                told.append(f"{n} waited for pages from the disk")
                affected = (stolen | faulted) & cell
            else:
                affected = stolen & cell
            if told:
                yield Finding(
                    code="disturbed-runs",
                    benchmark=benchmark,
                    variant=trial.manifest.variants[k],
                    sessions=tuple(np.unique(trial.session[affected]).tolist()),
                    size=float(affected.sum()),
                    text=f"of {runs} runs {' and '.join(told)}",
                )


def waiting_runs(trial: Trial, chosen: Sequence[int]) -> Iterator[Finding]:
    """Count the measured runs that waited for a CPU, and say which share of the time that was."""
    mine = ~trial.warmup & (trial.outcome == 0) & np.isin(trial.variant, chosen)
    known, disturbed = mine & (trial.disturbed >= 0), mine & (trial.disturbed == 1)
    wall, waited = trial.numbers["wall_ns"], trial.waited_ns
    for b, benchmark in enumerate(trial.manifest.benchmarks):
        for k in chosen:
            cell = (trial.benchmark == b) & (trial.variant == k)
            count = int((disturbed & cell & (trial.repeats < 0)).sum())
            if not count:
                continue
            runs = int((known & cell & (trial.repeats < 0)).sum())
            told = f"{count} of {runs} runs waited for a CPU"
            if again := int((mine & cell & (trial.repeats >= 0)).sum()):
                left = int((disturbed & cell & trial.chosen).sum())
                told += f", after {again} repeat{'s' * (again > 1)} still {left}"
            timed = known & cell & np.isfinite(waited) & (wall > 0)
            if timed.any():
                share = float(waited[timed].sum() / wall[timed].sum())
                told += f"; waiting was {100 * share:.2g} % of the time of all runs"
            yield Finding(
                code="waited-for-cpu",
                benchmark=benchmark,
                variant=trial.manifest.variants[k],
                sessions=tuple(np.unique(trial.session[disturbed & cell]).tolist()),
                size=float(count),
                text=told,
            )


def two_binaries(record: HostRecord, variants: Sequence[str]) -> Iterator[TwoBinaries]:
    """Name the variants of which two sessions, or parts of one, had different executables.

    Of what each session builds only the parts of a session are compared.
    """
    recorded = [one for one in record.programs if one.sha256 and one.variant in variants]
    of_session: dict[tuple[str, str, int], set[str | None]] = {}
    for program in recorded:
        if program.of_session:
            of_session.setdefault(_where(program), set()).add(program.sha256)
    cells: dict[tuple[str, str], dict[str, list[int]]] = {}
    for program in recorded:
        if program.sha256 is None or len(of_session.get(_where(program), ())) == 1:
            continue
        hashes = cells.setdefault((program.variant, program.benchmark), {})
        sessions = hashes.setdefault(program.sha256, [])
        if program.session not in sessions:
            sessions.append(program.session)
    alike: dict[tuple[str, tuple[tuple[str, tuple[int, ...]], ...]], list[str]] = {}
    for (variant, benchmark), hashes in cells.items():
        if len(hashes) > 1:
            met = tuple((sha256, tuple(sessions)) for sha256, sessions in hashes.items())
            alike.setdefault((variant, met), []).append(benchmark)
    for (variant, met), benchmarks in alike.items():
        yield TwoBinaries(
            variant=variant,
            benchmarks=tuple(benchmarks),
            hashes=tuple(sha256 for sha256, _ in met),
            sessions=tuple(sessions for _, sessions in met),
        )


def _where(program: RecordedProgram) -> tuple[str, str, int]:
    return program.variant, program.benchmark, program.session
