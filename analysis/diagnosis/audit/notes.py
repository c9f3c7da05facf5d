"""What the runner recorded of the host, tied to sessions and cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...data import HostNote, HostRecord, Trial
from .result import Finding, TwoBinaries
from .sentences import in_sessions

__all__ = ["disturbed_runs", "noted", "two_binaries", "waiting_runs"]

_AFTER = ("during", "after")  # "before" these say what happened since boot
_ANY = ("before", "during", "after", "resume", "")
# findings of the runner that touch what was measured: when they do
_TOLD: dict[str, tuple[str, ...]] = {
    "load": _ANY,
    "other-trials": _ANY,
    "gaps": _ANY,
    "steal": _AFTER,
    "throttle": _AFTER,
    "temperature": _AFTER,
    "swap": _AFTER,
    "kernel_log": _AFTER,
    "clock": _AFTER,
    "placement": _AFTER,
    "threads": _ANY,
    "environment": _ANY,
    "drift": _ANY,
    "input": _ANY,
    "output": _ANY,
}
_OF_CELLS = ("output", "threads")
_STOLEN = 0.01  # share of a run's time


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
        stolen &= trial.numbers["steal_s"] >= _STOLEN * wall
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
    """Count the measured runs that waited for a CPU, and say which share of the time that was.

    Of a trial of a version that does not know it nothing is said, nor of cells of which no run did.
    """
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

    What could not be read is no other program. Benchmarks with the same programs in the same
    sessions are told together.
    """
    cells: dict[tuple[str, str], dict[str, list[int]]] = {}
    for program in record.programs:
        if program.sha256 is None or program.variant not in variants:
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
