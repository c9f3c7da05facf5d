"""What `why` answers: a row for each function with its interval, and what other metrics of the same sessions say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from ..pages.number_format import Word
from ..pages.result import Result

if TYPE_CHECKING:
    from ..record.profiles import JudgedThen

Presence = Literal["both", "gone", "new"]
Withheld = Literal["total-not-resolved", "few-sessions", "few-samples"]
FEWEST_SESSIONS = 4  # below it no function is named
FEWEST_SAMPLES = 200  # of a variant, likewise
LEAST_SHARE = 0.01  # of the samples of either variant, for a row of its own
REFERENCES = (
    "Student, The probable error of a mean, Biometrika 6, 1908",
    "S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of "
    "Statistics 6, 1979",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of a run's time: both variants, and the difference with its interval, in milliseconds a run.

    Attributes
    ----------
    function, object : str
        Its name without what compilers append, and the file that holds it without folder and version, or
        ``kernel``. `object` is "" of rows that are no function: the total, the others, off-CPU, unseen kernel time.
    baseline_ms, candidate_ms, difference_ms : float
        Means over sessions; the difference is candidate less baseline.
    low_ms, high_ms : float or None
        The interval of the difference, of this row alone; None with one session.
    pvalue, pvalue_adjusted : float or None
        Two-sided, of H0: no difference; and by Holm's method over the family. None where sessions do not
        differ at all; the adjusted one also of rows outside the family.
    named : bool
        Whether the row is told as a part of the difference: `pvalue_adjusted` is at most 1 - confidence, and nothing withholds names.
    presence : {"both", "gone", "new"}
        "gone" where the candidate has no sample of it where at least 7 are expected, "new" the other way round.
    was : str or None
        What the baseline calls it, where the user said that it was renamed.
    """

    function: str
    object: str = ""
    baseline_ms: float
    candidate_ms: float
    difference_ms: float
    low_ms: float | None
    high_ms: float | None
    pvalue: float | None
    pvalue_adjusted: float | None = None
    named: bool = False
    presence: Presence = "both"
    was: str | None = None

    @property
    def name(self) -> str:
        """The row as people read it: ``qsort_cmp (app)``."""
        return f"{self.function} ({self.object})" if self.object else self.function


@dataclass(frozen=True, slots=True, kw_only=True)
class Opposite:
    """Two rows of opposite signs that may move one cost between them, and their sum with its interval.

    `rows` are their names. `in_one_chain` says whether both stand in one chain of callers; None where no chains were
    recorded, so that nobody knows.
    """

    rows: tuple[str, str]
    difference_ms: float
    low_ms: float | None
    high_ms: float | None
    in_one_chain: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """What the timed runs of the same sessions say of another metric; one that has no ratio is left out.

    `ratio` is candidate over baseline of the metric itself, with its interval; `word` is that of a verdict, after Holm
    over all counters, the time off the processors and the waiting for one.
    """

    metric: str
    unit: str
    better: str
    word: Word
    ratio: float
    low: float
    high: float
    pvalue: float
    pvalue_adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Why(Result):
    """Where the time on the processors differs, for one benchmark and one candidate.

    Attributes
    ----------
    trial, path : str
        The trial that is explained, and the folder of the profile.
    benchmark, baseline, variant : str
        What was compared.
    sessions, timed_runs, profiled_runs : int
        Sessions that count; runs of a variant in each of them without and with the profiler.
    samples_baseline, samples_candidate : int
        How often the profiled runs were looked at.
    event, frequency_hz, kernel, chains
        How, as in ``profile.json``.
    runtimes : mapping of str to str
        What was found of the variants' interpreters.
    confidence : float
        Of each interval; names hold with it over the whole family.
    total : Row
        The time on the processors, user and system. It is the sum of `rows`, `others` and `kernel_not_seen`.
    rows : tuple of Row
        Functions of 1 % and more in either variant, by evidence. Empty where the total is withheld.
    others : Row or None
        All other functions together; None where there are none.
    further : int
        How many functions they are.
    kernel_not_seen : Row or None
        System time, where the kernel's side could not be sampled.
    off_cpu : Row
        Wall time less the total: waiting, and negative where several processors work at a time.
    asleep, cpu_wait : Row or None
        Its parts: sleep, input and output; and that in which the program was ready and had no processor. None where
        the kernel does not say. Adjusted p-values of these, else that of `off_cpu`, are over the counters.
    family : int
        How many p-values Holm's method corrects together.
    gone, new : tuple of str
        Names of rows that only one variant has: what was renamed is a pair of them.
    renames : mapping of str to str
        Old to new names, as the user gave them.
    opposite : tuple of Opposite
        Rows that should be read as a sum.
    counters : tuple of Counter
        Other metrics, by evidence.
    story : str or None
        What intervals of the counters carry, such as "more instructions"; None where they carry nothing.
    withheld : {"total-not-resolved", "few-sessions", "few-samples"} or None
        Why no function is named.
    verdict_was : JudgedThen or None
        What the trial's verdict said of the benchmark.
    """

    method: ClassVar[str] = "explain"
    derived: ClassVar[tuple[str, ...]] = ("sentence", "next")

    trial: str
    path: str
    benchmark: str
    baseline: str
    variant: str
    sessions: int
    timed_runs: int
    profiled_runs: int
    samples_baseline: int
    samples_candidate: int
    event: str
    frequency_hz: int
    kernel: str
    chains: str | None
    runtimes: Mapping[str, str] = field(default_factory=dict)
    confidence: float
    total: Row
    rows: tuple[Row, ...]
    others: Row | None
    further: int
    kernel_not_seen: Row | None
    off_cpu: Row
    asleep: Row | None
    cpu_wait: Row | None
    family: int
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)
    opposite: tuple[Opposite, ...] = ()
    counters: tuple[Counter, ...] = ()
    story: str | None = None
    withheld: Withheld | None = None
    verdict_was: JudgedThen | None = None
    references: tuple[str, ...] = REFERENCES

    @property
    def named(self) -> tuple[Row, ...]:
        """The rows that are told as a part of the difference, by evidence."""
        return tuple(row for row in self.rows if row.named)

    @property
    def sentence(self) -> str:
        """The answer as the first line of its page says it."""
        from .sentence import sentence_of

        return sentence_of(self)

    @property
    def next(self) -> str | None:
        """The command that its page ends with, as a line for a shell."""
        from .sentence import next_of

        command = next_of(self)
        return None if command is None else command.line


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WhyAnswer(Result):
    """The answers of one command, a benchmark and candidate each."""

    method: ClassVar[str] = "why"

    answers: tuple[Why, ...]
