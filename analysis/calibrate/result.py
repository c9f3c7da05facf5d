"""What an A/A certificate holds, the machine and the design that it speaks of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..data.trial import Trial
from ..errors import StoreError
from ..pages.result import Result
from ..record.run_numbers import Better
from ..record.shapes import records_of
from ..record.trial_files import ENVIRONMENT, EnvironmentShape

DesignClass = Literal["paired", "one session, blocks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The machine of a trial; None where the trial does not say it."""

    id: str
    name: str
    cpu_model: str | None
    kernel: str | None
    governor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialDesign:
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


def design_of(trial: Trial) -> TrialDesign:
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
    return TrialDesign(
        kind="paired" if trial.sessions > 1 else "one session, blocks",
        sessions=trial.sessions,
        runs=usual[0][0] if usual else 0,
        benchmarks=tuple(trial.manifest.benchmarks[k] for k in there),
    )


_REFERENCES = (
    "T. Kalibera, R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013 (sessions as the unit "
    "of replication)",
    "C. J. Clopper, E. S. Pearson, The use of confidence or fiducial limits illustrated in the case "
    "of the binomial, Biometrika 26, 1934",
    "B. Efron, C. Stein, The jackknife estimate of variance, Annals of Statistics 9, 1981",
)


Level = Literal["benchmark", "suite"]
Unit = Literal["run", "block", "session"]
Supposed = Literal["normality", "neighbours", "runs"]


class MethodInfo(NamedTuple):
    """How a method is counted.

    `sides` is 2 where either side may be called better, each at the risk that is asked for.
    `by_construction`: relabelling whole sessions gives it its level whatever the data are.
    """

    level: Level
    sides: int
    words: str
    by_construction: bool = False


METHODS: dict[tuple[str, Unit], MethodInfo] = {
    ("welch", "run"): MethodInfo("benchmark", 1, "Welch's t on logs of all runs"),
    ("rank-sum", "run"): MethodInfo("benchmark", 2, "rank sum, stage one of HPT"),
    ("speedup-test mean", "run"): MethodInfo("benchmark", 2, "Speedup-Test, mean"),
    ("speedup-test median", "run"): MethodInfo("benchmark", 2, "Speedup-Test, median"),
    ("randomization", "run"): MethodInfo("suite", 1, "randomization"),
    ("randomization", "block"): MethodInfo("suite", 1, "randomization"),
    ("randomization", "session"): MethodInfo("suite", 1, "randomization", by_construction=True),
    ("bootstrap", "run"): MethodInfo("suite", 1, "bootstrap, percentile"),
    ("bootstrap", "block"): MethodInfo("suite", 1, "bootstrap, percentile"),
    ("bootstrap", "session"): MethodInfo("suite", 1, "bootstrap, percentile"),
    ("hpt", "run"): MethodInfo("suite", 2, "HPT over the suite"),
    ("multilevel", "session"): MethodInfo(
        "benchmark", 1, "multilevel, session t", by_construction=True
    ),
}
METHOD_NAMES: tuple[str, ...] = tuple(dict.fromkeys(name for name, _ in METHODS))


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRate:
    """How often a method calls one of two identical variants the better."""

    name: str
    unit: Unit
    level: Level
    nominal: float
    rate: float | None
    low: float | None
    high: float | None
    concluded: float | None
    by_construction: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCheck:
    """Whether the session values of a benchmark are what session-level methods suppose."""

    benchmark: str
    test: Supposed
    pvalue: float
    pvalue_adjusted: float
    departs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedBenchmark:
    """One benchmark between two identical variants."""

    name: str
    sessions: int
    runs: int
    speedup: float
    spread: float | None
    detectable: float | None
    alarms: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate(Result):
    """How often each method errs on a machine by a design, from two identical variants.

    Attributes
    ----------
    trial : str
        The trial's name.
    metric, unit, better : str
        What was looked at.
    variants : tuple of str
        The two variants.
    chosen : {"identical", "asked"}
        Whether the trial shows them to be identical, or the user said so.
    machine : Machine
        Where it was measured.
    design : Design
        How it was measured.
    measured, created : str
        When the trial began, and when the certificate was made (RFC 3339, UTC).
    confidence, power : float
        Of the tests and intervals; of the detectable effects.
    seed : int or None
        Of the random draws.
    relabelled : {"session", "block"}
        What labels were swapped in: blocks only where there is one session.
    relabellings : int
        How many were looked at.
    methods : tuple of MethodRate
        In the order of `METHODS`.
    benchmarks : tuple of CalibratedBenchmark
        In the trial's order.
    lost_share : float or None
        The largest part of a measured CPU's time that others took, of the looks before the sessions; None
        when nobody looked.
    detectable : float or None
        The smallest speedup of the suite's geometric mean that the session t tells.
    checks : tuple of SessionCheck
        Empty with fewer than five sessions.
    """

    method: ClassVar[str] = "calibrate"
    derived: ClassVar[tuple[str, ...]] = ("sound", "sentence")

    trial: str
    metric: str
    unit: str
    better: Better
    variants: tuple[str, ...]
    chosen: Literal["identical", "asked"]
    machine: Machine
    design: TrialDesign
    measured: str
    created: str
    confidence: float
    power: float
    seed: int | None
    relabelled: Literal["session", "block"]
    relabellings: int
    methods: tuple[MethodRate, ...]
    benchmarks: tuple[CalibratedBenchmark, ...]
    detectable: float | None
    checks: tuple[SessionCheck, ...]
    lost_share: float | None = None
    references: tuple[str, ...] = _REFERENCES

    @property
    def sound(self) -> bool | None:
        """Whether nothing speaks against the session values; None where nothing was tested."""
        return None if not self.checks else not any(check.departs for check in self.checks)

    @property
    def sentence(self) -> str:
        """The certificate in one sentence, for a verdict that cites it."""
        design = self.design
        noun = "session" if design.sessions == 1 else "sessions"
        head = f"this machine, {design.sessions} {noun} x {design.runs} runs: "
        return f"{head}{self._run_level()}; {self._session_level()} (certificate of {self.created[:10]})"

    def _run_level(self) -> str:
        pooled = next((one for one in self.methods if one.name == "welch"), None)
        if pooled is None or pooled.rate is None:
            return "run-level tests were not looked at"
        interval = ""
        if pooled.low is not None and pooled.high is not None:
            interval = f" [{100 * pooled.low:.0f}, {100 * pooled.high:.0f}]"
        return (
            f"run-level tests err in {100 * pooled.rate:.0f} %{interval} of A/A comparisons instead of "
            f"{100 * pooled.nominal:.0f}"
        )

    def _session_level(self) -> str:
        if self.sound is None:
            return "session-level ones could not be checked"
        if self.sound:
            return "session-level ones are sound as far as their session values show"
        names = list(dict.fromkeys(check.benchmark for check in self.checks if check.departs))
        return (
            f"session-level ones are doubtful on {len(names)} of {len(self.benchmarks)} benchmarks"
        )
