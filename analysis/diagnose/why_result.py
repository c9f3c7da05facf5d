"""What `why` answers: a row for each function with its interval, and what other metrics of the same sessions say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from ..pages.model import Caution, Next, ShortSentence
from ..pages.number_format import Word, counted, listed
from ..pages.result import Result
from ..record.profiles import BESIDE, StoredProfile
from ..words import WIDTH
from .session_profiles import PROGRAM, UNKNOWN, SessionTable, is_mangled

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
        return sentence_of(self)

    @property
    def next(self) -> str | None:
        """The command that its page ends with, as a line for a shell."""
        command = next_of(self)
        return None if command is None else command.line


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WhyAnswer(Result):
    """The answers of one command, a benchmark and candidate each."""

    method: ClassVar[str] = "why"

    answers: tuple[Why, ...]


# --- The answer in one sentence, and the command that follows it.


_NAMELESS = "code without symbols"
_MOST = 48  # sessions that are proposed
_TWO_LINES = 2 * WIDTH - 10  # letters; the second one is indented


def milliseconds(value: float, digits: int = 2) -> str:
    """Write milliseconds with so many significant digits, and no digit of a whole number cut."""
    if value == 0:
        return "0"
    rounded = abs(float(f"{value:.{digits - 1}e}"))
    places = digits - 1 - math.floor(math.log10(rounded))
    return f"{value:.{min(max(places, 0), 6)}f}"


def signed(value: float, digits: int = 2) -> str:
    """Write a difference in milliseconds with its sign: ``+6.6``, ``-2.1``."""
    text = milliseconds(value, digits)
    return f"+{text}" if value > 0 else text


def resolved(told: Why) -> bool:
    """Tell whether the total differs in these sessions."""
    p = told.total.pvalue
    return p is not None and p <= 1 - told.confidence


def sentence_of(told: Why, longest: int = _TWO_LINES) -> str:
    """Say the answer in one sentence; names are shortened where it would be longer than so many letters."""
    total = told.total
    ends = "" if total.low_ms is None else f" ({_between(total)} ms)"
    if told.withheld == "total-not-resolved":
        pattern = f"{{}}: no difference of CPU time appeared in these sessions{ends}"
        return ShortSentence.of(pattern, told.benchmark).fitted(longest=longest)
    if resolved(told):
        side = "more" if total.difference_ms > 0 else "less"
        amount = f"{milliseconds(abs(total.difference_ms))} ms {side} CPU time"
        pattern, names = f"{{}}: {{}} takes {amount} than {{}}", [told.variant, told.baseline]
    else:
        pattern, names = f"{{}}: a difference of CPU time is not resolved{ends}", []
    rest = {
        None: "; no function can be named",
        "few-sessions": "; too few sessions to name functions",
        "few-samples": "; too few samples to name functions",
    }[told.withheld]
    if told.named:
        first, others = told.named[0], len(told.named) - 1
        rest = f"; {{}} {signed(first.difference_ms)} ms" + (f", {others} more" if others else "")
        names.append(_NAMELESS if first.function == UNKNOWN else first.function)
    return ShortSentence.of(pattern + rest, told.benchmark, *names).fitted(longest=longest)


def _between(row: Row) -> str:
    return f"{signed(row.low_ms or 0.0)} to {signed(row.high_ms or 0.0)}"


def source_of(told: Why) -> str:
    """Give the path of the trial that was explained."""
    beside = Path(told.path).parent
    return str(beside.with_name(beside.name.removesuffix(BESIDE)))


def next_of(told: Why) -> Next | None:
    """Give the command that is worth its time now; None where more of the same would hardly help."""
    source = source_of(told)
    head = ("fairtrial", "why", f"{source}:{told.variant}", "--benchmark", told.benchmark)
    more = max(2 * told.sessions, FEWEST_SESSIONS)
    if told.withheld == "few-samples":
        seen = max(min(told.samples_baseline, told.samples_candidate), 1)
        more = max(math.ceil(1.2 * told.sessions * FEWEST_SAMPLES / seen), FEWEST_SESSIONS)
    if told.withheld is not None or not told.named:
        if more > _MOST:
            return None
        chains = () if told.chains is None else ("--chains", told.chains)
        return Next((*head, *chains, "--sessions", str(more)), "more sessions, narrower intervals")
    if told.gone and told.new:
        pair = "=".join(_function(names[0]) for names in (told.gone, told.new))
        return Next((*head, "--stored", "--rename", pair), "if these two are one function")
    return Next(("fairtrial", "report", source, "-o", "report.html"), "a page with these rows")


def _function(name: str) -> str:
    return name.rpartition(" (")[0]


# --- What a reader of the answer should know.


_ON_CPU = {"wall", "user", "system", "tree_cpu", "task-clock"}  # what on-CPU time is a part of
_BLIND = 0.10  # of the time, from which on functions without a name are told
_SEVERAL = 0.05  # of the wall time, by which the processors' time is longer where several work


def cautions_of(told: Why, stored: StoredProfile, table: SessionTable) -> Iterator[Caution]:
    """Give the cautions in the order of their weight."""
    yield from _withheld(told)
    yield from _judged(told)
    yield from _opposite(told)
    yield from _seen(told, stored, table)
    yield from _names(told, table)
    yield from _pairs(told)


def _withheld(told: Why) -> Iterator[Caution]:
    if told.sessions < FEWEST_SESSIONS:
        yield Caution(
            "few-sessions",
            f"{counted(told.sessions, 'session')}: from {FEWEST_SESSIONS} on functions are named",
        )
    fewest = min(told.samples_baseline, told.samples_candidate)
    if fewest < FEWEST_SAMPLES:
        yield Caution(
            "few-samples",
            f"{counted(fewest, 'sample')} of a variant: from {FEWEST_SAMPLES} on functions are named",
        )
    if told.withheld == "total-not-resolved":
        yield Caution(
            "total-not-resolved",
            "no function is shown, because the whole difference did not appear in these sessions (--any shows them)",
        )


def _judged(told: Why) -> Iterator[Caution]:
    was = told.verdict_was
    if was is None:
        return
    if was.metric not in _ON_CPU:
        yield Caution(
            "judged-otherwise",
            f"the verdict is about {was.metric}; what is explained here is time on the CPU",
        )
    elif told.withheld is None and was.outcome in ("slower", "faster"):
        slower = told.total.difference_ms > 0
        if slower != (was.outcome == "slower"):
            yield Caution(
                "verdict-differs",
                f"the verdict was {was.outcome} ({was.metric}); here it takes {'more' if slower else 'less'} time on the CPU",
            )


def _opposite(told: Why) -> Iterator[Caution]:
    for pair in told.opposite[:1]:
        ends = (
            ""
            if pair.low_ms is None or pair.high_ms is None
            else f" [{signed(pair.low_ms)}, {signed(pair.high_ms)}]"
        )
        if_so = (
            "stand in one chain of calls"
            if pair.in_one_chain
            else "have opposite signs: if one calls the other"
        )
        yield Caution(
            "opposite-rows",
            f"{pair.rows[0]} and {pair.rows[1]} {if_so}, read them as their sum, {signed(pair.difference_ms)} ms{ends}",
            pair.rows,
        )


def _seen(told: Why, stored: StoredProfile, table: SessionTable) -> Iterator[Caution]:
    unseen = told.kernel_not_seen
    if unseen is not None:
        why = told.kernel.partition(": ")[2]
        yield Caution(
            "kernel-not-seen",
            f"kernel time was not seen ({why or told.kernel}): {unseen.baseline_ms:.3g} and "
            f"{unseen.candidate_ms:.3g} ms a run stand in one row",
        )
    if table.left_out:
        which = listed([str(one) for one in table.left_out])
        yield Caution(
            "sessions-left-out",
            f"session {which} left out: without samples or timed runs of a variant",
        )
    lost = {one.session: one.lost for one in stored.cells if one.session in table.sessions}
    if total := sum(lost.values()):
        yield Caution(
            "samples-lost",
            f"the kernel lost {counted(total, 'sample')}: shares are of those that arrived",
        )
    for side, found in told.runtimes.items():
        state, _, why = found.partition(": ")
        if state == "not-seen":
            yield Caution(
                "interpreter-not-seen",
                f"functions of {side}'s interpreted program are not seen: {why}",
                (side,),
            )
    for times, name in ((table.baseline, told.baseline), (table.candidate, told.variant)):
        if float(times.on_cpu.mean()) > float(times.wall.mean()) * (1 + _SEVERAL):
            yield Caution(
                "several-cpus",
                f"{name} works on several CPUs at a time: off-CPU time is no waiting",
                (name,),
            )
            break


def _names(told: Why, table: SessionTable) -> Iterator[Caution]:
    for row in _blind(told):
        yield Caution(
            "no-symbols",
            f"{'the program' if row.object == PROGRAM else row.object} has no symbols, so that its functions are one row, {UNKNOWN}: "
            "build it without -s and do not strip it",
            (row.object,),
        )
    mangled = [row.name for row in told.rows if is_mangled(row.function)]
    if mangled:
        yield Caution(
            "mangled-names",
            f"{counted(len(mangled), 'name')} as the compiler wrote {'it' if len(mangled) == 1 else 'them'}: install "
            "c++filt (binutils) and record again",
        )
    if table.unused:
        yield Caution(
            "rename-unused",
            f"neither name of {listed(list(table.unused))} has a sample in {told.benchmark}",
        )


def _blind(told: Why) -> list[Row]:
    most = max(told.total.baseline_ms, told.total.candidate_ms)
    return [
        row
        for row in told.rows
        if row.function == UNKNOWN and max(row.baseline_ms, row.candidate_ms) >= _BLIND * most
    ]


def _pairs(told: Why) -> Iterator[Caution]:
    if told.gone and told.new:
        yield Caution(
            "only-in-one",
            f"gone: {listed(list(told.gone), 2)}; new: {listed(list(told.new), 2)}. If one was renamed into the other, "
            "say so: --rename OLD=NEW",
        )
