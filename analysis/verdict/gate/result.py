"""What a gate answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...data import Unit
from ...methods.multilevel import LooksRule
from ...report import Result

__all__ = ["EXIT_CODES", "Gate", "GateLine", "GatedCandidate", "On", "Outcome"]

On = Literal["suite", "benchmarks"]
Outcome = Literal["passed", "proven", "undecided"]
EXIT_CODES: dict[Outcome, int] = {"passed": 0, "proven": 1, "undecided": 7}


@dataclass(frozen=True, slots=True, kw_only=True)
class GateLine:
    """The condition on one benchmark, or on the suite.

    Attributes
    ----------
    name : str
        The benchmark; "suite" for these benchmarks together.
    speedup, low, high : float or None
        The estimate and its interval, as `multilevel` gives them.
    pvalue_condition : float or None
        One-sided p of "the speedup is not below the limit": small where the condition holds. None
        where there is no interval.
    pvalue_condition_adjusted : float or None
        The same after Holm's correction over the benchmarks; of the suite None.
    outcome : {"passed", "proven", "undecided"}
        Ruled out, proven, or neither.
    reason : str or None
        Why it is so whatever the interval says: "fails-more", "confounded", "one-session",
        "below-resolution", "no-interval"; None where the interval decides.
    """

    name: str
    speedup: float | None
    low: float | None
    high: float | None
    pvalue_condition: float | None
    pvalue_condition_adjusted: float | None
    outcome: Outcome
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedCandidate:
    """One candidate at the gate.

    `suite` is the line of these benchmarks together, that of the only benchmark where there is one,
    and None where nothing was measured. `reason` is "fails-more" where the candidate fails
    significantly more often than the baseline, "confounded" or "one-session" where the design cannot
    decide; None where the intervals decide. Of a candidate without any run that succeeded nothing
    else is known: the other fields are None, 0 and empty. `looks`, `look_alpha`, `looks_rule` and
    `risk_total` are those of the comparison. `outermost` is what the interval holds for
    more of: sessions, or hosts.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"outermost"})

    candidate: str
    baseline: str | None
    unit: str | None
    better: str | None
    design: str | None
    sessions: int
    looks: int
    look_alpha: float | None
    looks_rule: LooksRule
    risk_total: float | None
    always_valid: bool
    outcome: Outcome
    reason: str | None
    suite: GateLine | None
    benchmarks: tuple[GateLine, ...]
    outermost: Unit = "session"

    def named(self, outcome: Outcome) -> tuple[str, ...]:
        """Name the benchmarks with this outcome."""
        return tuple(line.name for line in self.benchmarks if line.outcome == outcome)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gate(Result):
    """Whether candidates pass a condition, such as ``slower>2%``.

    `outcome` is "proven" where the condition is proven of any candidate, else "undecided" where it
    could not be decided of one, else "passed"; `exit_code` is 1, 7, 0. `limit` is the speedup below
    which the condition holds, `confidence` that of the intervals at this look, and `risk` the one-sided
    risk of each proof and of each pass, half of what it leaves; both are None where nothing could be
    compared. `metric` is what was compared; None where that is not known.
    """

    method: ClassVar[str] = "gate"
    derived: ClassVar[tuple[str, ...]] = ("outcome", "exit_code")

    condition: str
    metric: str | None = None
    limit: float
    on: On
    confidence: float | None
    risk: float | None
    candidates: tuple[GatedCandidate, ...]

    @property
    def outcome(self) -> Outcome:
        """The worst of all candidates."""
        found = {one.outcome for one in self.candidates}
        return "proven" if "proven" in found else "undecided" if "undecided" in found else "passed"

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return EXIT_CODES[self.outcome]
