"""On what machine, and by what design, a trial was measured: what a certificate holds for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..data import Trial
from ..errors import StoreError
from ..record import ENVIRONMENT, EnvironmentShape, records_of

__all__ = ["Design", "DesignClass", "Machine", "design_of", "machine_of"]

DesignClass = Literal["paired", "one session, blocks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine of a trial; None where the trial does not say it.

    `id` is the SHA-256 of its machine id; `governor` holds the governors of its CPUs, sorted.
    """

    id: str
    name: str
    cpu_model: str | None
    kernel: str | None
    governor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How a trial was measured: `runs` of each cell a session, the most frequent number."""

    kind: DesignClass
    sessions: int
    runs: int
    benchmarks: tuple[str, ...]


def machine_of(trial: Trial) -> Machine:
    """Give the machine of a trial, as its first session found it."""
    first: dict[str, Any] = {}
    try:
        first = next((row for _, row in records_of(trial.path / ENVIRONMENT, EnvironmentShape)), {})
    except StoreError:
        first = {}  # not known
    kernel, cpu = first.get("kernel") or {}, first.get("cpu") or {}
    governors = cpu.get("governor") or {}
    by_cpu = governors.values() if isinstance(governors, dict) else (governors,)
    named = sorted({str(value) for value in by_cpu if value})
    return Machine(
        id=trial.manifest.host_id,
        name=trial.manifest.host,
        cpu_model=trial.manifest.cpu_model,
        kernel=kernel.get("release"),
        governor=", ".join(named) or None,
    )


def design_of(trial: Trial) -> Design:
    """Give the design of a trial, by the runs that count."""
    used = trial.judged("wall")
    cells = Counter(
        zip(
            trial.session[used].tolist(),
            trial.benchmark[used].tolist(),
            trial.variant[used].tolist(),
            strict=True,
        )
    )
    usual = Counter(cells.values()).most_common(1)
    there = np.unique(trial.benchmark[used]).tolist()
    return Design(
        kind="paired" if trial.sessions > 1 else "one session, blocks",
        sessions=trial.sessions,
        runs=usual[0][0] if usual else 0,
        benchmarks=tuple(trial.manifest.benchmarks[k] for k in there),
    )
