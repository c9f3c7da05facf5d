"""What `why` answers: a row for each function with its interval, what other metrics say, cautions, the screen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal

from ..pages import number_format as figures
from ..pages.model import (
    Caution,
    Cell,
    Next,
    Note,
    Page,
    Section,
    Sentence,
    ShortSentence,
    Table,
    Value,
    columns_of,
    first_notes,
    merged,
    table_of,
)
from ..pages.number_format import Difference, Word, counted, listed
from ..pages.result import Result
from ..record.profiles import BESIDE, JudgedThen, StoredProfile
from ..words import WIDTH, Name
from .session_profiles import PROGRAM, UNKNOWN, SessionTable, is_mangled

Presence = Literal["both", "gone", "new"]
Withheld = Literal["total-not-resolved", "few-sessions", "few-samples"]
FEWEST_SESSIONS = 4  # below it no function is named
FEWEST_SAMPLES = 200  # of a variant, likewise
LEAST_SHARE = 0.01  # of the samples of either variant, for a row of its own
INSTRUCTIONS, CYCLES, PER_CYCLE = "instructions", "cycles", "instructions_per_cycle"
_REFERENCES = (
    "Student, The probable error of a mean, Biometrika 6, 1908",
    "S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of "
    "Statistics 6, 1979",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One part of a run's time: both variants, and the difference with its interval, in milliseconds a run.

    `function`, `object`: Its name without what compilers append, and the file that holds it without
    folder and version, or ``kernel``. `object` is "" of rows that are no function: the total, the
    others, off-CPU, unseen kernel time. `baseline_ms`, `candidate_ms`, `difference_ms`: Means over
    sessions; the difference is candidate less baseline. `low_ms`, `high_ms`: The interval of the
    difference, of this row alone; None with one session. `pvalue`, `pvalue_adjusted`: Two-sided, of
    H0: no difference; and by Holm's method over the family. None where sessions do not differ at all;
    the adjusted one also of rows outside the family. `named`: Whether the row is named as a part of the
    difference: `pvalue_adjusted` is at most 1 - confidence, and nothing withholds names. `presence`:
    "gone" where the candidate has no sample of it where at least 7 are expected, "new" the other way
    round. `was`: What the baseline calls it, where the user said that it was renamed.
    """

    function: str
    object: str = ""
    baseline_ms: float
    candidate_ms: float
    difference_ms: float
    low_ms: float | None = None
    high_ms: float | None = None
    pvalue: float | None = None
    pvalue_adjusted: float | None = None
    named: bool = False
    presence: Presence = "both"
    was: str | None = None

    @property
    def name(self) -> str:
        """The row as people read it: ``qsort_cmp (app)``."""
        return f"{self.function} ({self.object})" if self.object else self.function


@dataclass(frozen=True, slots=True)
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

    `trial`, `path`: The trial that is explained, and the folder of the profile. `benchmark`,
    `baseline`, `variant`: What was compared. `sessions`, `timed_runs`, `profiled_runs`: Sessions that
    count; runs of a variant in each of them without and with the profiler. `samples_baseline`,
    `samples_candidate`: How often the profiled runs were looked at. `event`, `frequency_hz`, `kernel`,
    `chains`: How, as in ``profile.json``. `runtimes`: What was found of the variants' interpreters.
    `confidence`: Of each interval; names hold with it over the whole family.

    `total`: The time on the processors, user and system; the sum of `rows`, `others` and
    `kernel_not_seen`. `rows`: Functions of 1 % and more in either variant, by evidence. Empty where the
    total is withheld. `others`: All other functions together, None where there are none; `further`: How
    many they are. `kernel_not_seen`: System time, where the kernel's side could not be sampled.
    `off_cpu`: Wall time less the total: waiting, and negative where several processors work at a time.
    `asleep`, `cpu_wait`: Its parts: sleep, input and output; and that in which the program was ready
    and had no processor. None where the kernel does not say. Adjusted p-values of these, else that of
    `off_cpu`, are over the counters.

    `family`: How many p-values Holm's method corrects together. `gone`, `new`: Names of rows that only
    one variant has: what was renamed is a pair of them. `renames`: Old to new names, as the user gave
    them. `opposite`: Rows that should be read as a sum. `counters`: Other metrics, by evidence.
    `story`: What intervals of the counters carry, such as "more instructions"; None where they carry
    nothing. `withheld`: Why no function is named. `verdict_was`: What the trial's verdict said of the
    benchmark.
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
    references: tuple[str, ...] = _REFERENCES

    @property
    def named(self) -> tuple[Row, ...]:
        """The rows that are named as a part of the difference, by evidence."""
        return tuple(row for row in self.rows if row.named)

    @property
    def sentence(self) -> str:
        """The answer as the first line of its page says it."""
        return sentence_of(self)

    @property
    def next(self) -> str | None:
        """The command that its page ends with, as a line for a shell."""
        command = _next_of(self)
        return None if command is None else command.line

    def screen(self) -> Page:
        """Set the one answer."""
        return WhyAnswer(answers=(self,)).screen()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WhyAnswer(Result):
    """The answers of one command, a benchmark and candidate each."""

    method: ClassVar[str] = "why"

    answers: tuple[Why, ...]

    def screen(self) -> Page:
        """Set an answer with its evidence; of several all sentences first."""
        known = self.answers
        # at most three notes, and the next command of the first answer that has one
        each = (
            [c.of(one.benchmark) if len(known) > 1 else c for c in one.cautions] for one in known
        )
        blocks: list[Note | Next] = [*first_notes(merged(self.cautions, *each))]
        blocks += [found for one in known if (found := _next_of(one)) is not None][:1]
        following = (Section(tuple(blocks)),) if blocks else ()
        if len(known) == 1:
            (one,) = known
            title = f"Why: {one.variant} against {one.baseline} on {one.benchmark}"
            first = Section((Sentence(sentence_of(one)),))
            return Page(title=title, sections=(first, *evidence(one)), following=following)
        sections = [Section(tuple(Sentence(sentence_of(one)) for one in known))]
        for one in known:
            title = f"{one.benchmark}: {one.variant} against {one.baseline}"
            sections.append(Section(tuple(evidence(one)), title=title))
        return Page(title="Why", sections=tuple(sections), following=following)


# --- The answer in one sentence, and the command that follows it.

_NAMELESS = "code without symbols"
_MOST = 48  # sessions that are proposed
_TWO_LINES = 2 * WIDTH - 10  # letters; the second one is indented


def milliseconds(value: float) -> str:
    """Write milliseconds with two significant digits, and no digit of a whole number cut."""
    if value == 0:
        return "0"
    places = 1 - math.floor(math.log10(abs(float(f"{value:.1e}"))))
    return f"{value:.{min(max(places, 0), 6)}f}"


def signed(value: float) -> str:
    """Write a difference in milliseconds with its sign: ``+6.6``, ``-2.1``."""
    return f"{'+' * (value > 0)}{milliseconds(value)}"


def resolved(why: Why) -> bool:
    """Tell whether the total differs in these sessions."""
    p = why.total.pvalue
    return p is not None and p <= 1 - why.confidence


# where to look for what makes a program wait
_CALLS = "'strace -c -f -w COMMAND' adds up the time of its calls, 'perf trace -s COMMAND' that of each thread's"
_OTHERS = (
    "others had its CPUs: 'fairtrial doctor' shows who is at work, isolation.cpus names other CPUs"
)
_THREADS = "its CPUs work less at a time: look for a lock, or for work that one thread does alone"


def _differs(row: Row, why: Why) -> bool:
    return row.pvalue_adjusted is not None and row.pvalue_adjusted <= 1 - why.confidence


def _off_the_cpu(why: Why) -> tuple[float, list[tuple[str, float, str]]] | None:
    """Give how much more wall time it takes, where that differs and CPU time does not; None else.

    With it comes each row off the CPU that carries it: its name, its difference, and where to look for the cause.
    """
    word = {one.metric: one.word for one in why.counters}.get("wall")
    off = why.off_cpu
    more = why.total.difference_ms + off.difference_ms
    if resolved(why) or word != ("slower" if more > 0 else "faster"):
        return None
    if min(off.baseline_ms, off.candidate_ms) < 0:  # several CPUs work at a time
        return more, [("off the CPU", off.difference_ms, _THREADS)]
    rows = [("asleep or I/O", why.asleep, _CALLS), ("ready to run", why.cpu_wait, _OTHERS)]
    if why.asleep is None:
        rows = [("off the CPU", off, _CALLS)]
    # without any spread there is no p, and of one session no interval either
    return more, [
        (name, row.difference_ms, look)
        for name, row, look in rows
        if row is not None
        and row.difference_ms * more > 0
        and (row.low_ms is not None if row.pvalue is None else _differs(row, why))
    ]


def sentence_of(why: Why, longest: int = _TWO_LINES) -> str:
    """Say the answer in one sentence; names are shortened where it would have more letters than `longest`."""
    total, off = why.total, _off_the_cpu(why)
    hidden = why.withheld == "total-not-resolved"
    ends, sides = "", [why.variant, why.baseline]
    if total.low_ms is not None:
        ends = f" ({signed(total.low_ms)} to {signed(total.high_ms or 0.0)} ms)"
    if resolved(why):
        pattern = f"{{}}: {{}} takes {_amount(total.difference_ms)} CPU time than {{}}"
    elif off is not None:
        pattern = f"{{}}: {{}} takes {_amount(off[0])} wall time than {{}}, and no difference of CPU time appeared{ends}"
        pattern += "".join(f"; {name} {signed(ms)} ms" for name, ms, _ in off[1])
    else:
        what = "no difference of CPU time appeared in these sessions"
        pattern = f"{{}}: {what if hidden else 'a difference of CPU time is not resolved'}{ends}"
        sides = []
    rest = {
        None: "; no function can be named",
        "total-not-resolved": "",
        "few-sessions": "; too few sessions to name functions",
        "few-samples": "; too few samples to name functions",
    }[why.withheld]
    if why.named:
        # what costs most in the direction of the answer: the strongest evidence may be of a small part
        sign = math.copysign(1.0, total.difference_ms)
        first, others = max(why.named, key=lambda row: sign * row.difference_ms), len(why.named) - 1
        rest = f"; {{}} {signed(first.difference_ms)} ms" + (f", {others} more" if others else "")
        sides.append(_NAMELESS if first.function == UNKNOWN else first.function)
        rest += _unnamed(why) if resolved(why) else ""
    return ShortSentence.of(pattern + rest, why.benchmark, *sides).fitted(longest=longest, least=8)


def _amount(ms: float) -> str:
    return f"{milliseconds(abs(ms))} ms {'more' if ms > 0 else 'less'}"


def _unnamed(why: Why) -> str:
    rows = (*why.rows, why.others, why.kernel_not_seen)
    named = math.fsum(row.difference_ms for row in rows if row is not None and row.named)
    rest = why.total.difference_ms - named
    share = round(100 * rest / why.total.difference_ms)
    if 0 <= share <= 100:
        return f"; {share} % of it in no named row" if share else ""
    return f"; {signed(rest)} ms in no named row"


def _next_of(why: Why) -> Next | None:
    """Give the command that is worth its time now; None where more of the same would hardly help."""
    folder = Path(why.path).parent
    source = str(folder.with_name(folder.name.removesuffix(BESIDE)))
    head = ("fairtrial", "why", f"{source}:" + why.variant, "--benchmark", why.benchmark)
    more = max(2 * why.sessions, FEWEST_SESSIONS)
    if why.withheld == "few-samples":
        seen = max(min(why.samples_baseline, why.samples_candidate), 1)
        more = max(math.ceil(1.2 * why.sessions * FEWEST_SAMPLES / seen), FEWEST_SESSIONS)
    if (off := _off_the_cpu(why)) is not None and off[1]:  # it waits: functions will not tell
        busy = any(look == _OTHERS for *_, look in off[1])
        return Next(("fairtrial", "doctor"), "who else is at work here") if busy else None
    if why.withheld is not None or not why.named:
        if more > _MOST:
            return None
        chains = () if why.chains is None else ("--chains", why.chains)
        return Next((*head, *chains, "--sessions", str(more)), "more sessions, narrower intervals")
    if why.gone and why.new:
        pair = "=".join(names[0].rpartition(" (")[0] for names in (why.gone, why.new))
        return Next((*head, "--stored", "--rename", pair), "if these two are one function")
    return Next(("fairtrial", "report", source, "-o", "report.html"), "a page with these rows")


# --- What the counters carry, in a few words: each is said only where its interval says it.
#
# Work: instructions differ where their word does, after Holm; they are the same where they are
# equivalent, within 1 %. Instructions per cycle likewise. Waiting: the time off the processors,
# without that in which the program was ready and had none, differs after Holm, and not by less than
# 1 % of the wall time. What is undecided is never said to be the same.

# instructions alone, then with instructions per cycle; "slower" is more instructions, and fewer per cycle
_WORK: dict[tuple[str, ...], str] = {
    ("slower",): "more instructions",
    ("faster",): "fewer instructions",
    ("slower", "slower"): "more instructions, and fewer per cycle",
    ("slower", "faster"): "more instructions, but more per cycle",
    ("faster", "faster"): "fewer instructions, and more per cycle",
    ("faster", "slower"): "fewer instructions, but fewer per cycle",
    ("equivalent", "slower"): "same instructions, fewer per cycle",
    ("equivalent", "faster"): "same instructions, more per cycle",
    ("undecided", "slower"): "fewer instructions per cycle",
    ("undecided", "faster"): "more instructions per cycle",
}


def story_of(
    counters: Sequence[Counter], waits: Sequence[Row], *, risk: float, negligible_ms: float = 0.0
) -> str | None:
    """Say what the intervals carry, at a `risk` of any false part; None where they carry nothing.

    `waits` are the time asleep, and that without a processor, where they are known apart; their p-values are adjusted
    together with the counters'. Waiting whose whole interval is nearer to 0 than `negligible_ms` counts as none.
    """
    words: dict[str, str] = {one.metric: one.word for one in counters}
    work, rate = words.get(INSTRUCTIONS, ""), words.get(PER_CYCLE, "")
    parts = [_WORK.get((work, rate)) or _WORK.get((work,))]
    for row, end in zip(waits, ("", " for a CPU"), strict=False):
        p, ends = row.pvalue_adjusted, (row.low_ms, row.high_ms)
        differs = p is not None and p <= risk and min(row.baseline_ms, row.candidate_ms) >= 0
        if differs and any(end is not None and abs(end) > negligible_ms for end in ends):
            parts.append(f"waits{'' if row.difference_ms > 0 else ' less'}{end}")
    return ", and ".join(part for part in parts if part) or None


# --- What a reader of the answer should know.

_ON_CPU = {"wall", "user", "system", "tree_cpu", "task-clock"}  # what on-CPU time is a part of
_BLIND = 0.10  # of the time: from it on, a caution says that functions have no name
_SEVERAL = 0.05  # of the wall time, by which the processors' time is longer where several work


def cautions_of(why: Why, stored: StoredProfile, table: SessionTable) -> Iterator[Caution]:
    """Give the cautions in the order of their weight."""
    yield from _of_answer(why)
    yield from _of_samples(why, stored, table)
    yield from _of_names(why, table)


def _of_answer(why: Why) -> Iterator[Caution]:
    if why.sessions < FEWEST_SESSIONS:
        words = f"from {FEWEST_SESSIONS} on functions are named"
        yield Caution("few-sessions", f"{counted(why.sessions, 'session')}: {words}")
    if (fewest := min(why.samples_baseline, why.samples_candidate)) < FEWEST_SAMPLES:
        words = f"of a variant: from {FEWEST_SAMPLES} on functions are named"
        yield Caution("few-samples", f"{counted(fewest, 'sample')} {words}")
    if why.withheld == "total-not-resolved":
        words = "no difference of CPU time appeared in these sessions (--any shows them)"
        yield Caution("total-not-resolved", f"no function is shown, because {words}")
    if (off := _off_the_cpu(why)) is not None:
        look = "; ".join(look for *_, look in off[1]) or "which of its waiting is not resolved"
        text = f"the wall time differs, the CPU time does not, and no sample shows waiting: {look}"
        yield Caution("waits", text)
    was, slower = why.verdict_was, why.total.difference_ms > 0
    opposed = "faster" if slower else "slower"
    if was is not None and was.metric not in _ON_CPU:
        words = f"the verdict is about {was.metric}; what is explained here is time on the CPU"
        yield Caution("judged-otherwise", words)
    elif was is not None and why.withheld is None and was.outcome == opposed:
        here = f"here it takes {'more' if slower else 'less'} time on the CPU"
        yield Caution("verdict-differs", f"the verdict was {was.outcome} ({was.metric}); {here}")
    for pair in why.opposite[:1]:
        known = pair.low_ms is not None and pair.high_ms is not None
        ends = f" [{signed(pair.low_ms or 0)}, {signed(pair.high_ms or 0)}]" if known else ""
        chain = "stand in one chain of calls"
        signs = "have opposite signs: if one calls the other"
        text = f"{' and '.join(pair.rows)} {chain if pair.in_one_chain else signs}, read them as"
        total = f"their sum, {signed(pair.difference_ms)} ms{ends}"
        yield Caution("opposite-rows", f"{text} {total}", pair.rows)


def _of_samples(answer: Why, stored: StoredProfile, table: SessionTable) -> Iterator[Caution]:
    if (unseen := answer.kernel_not_seen) is not None:
        why = answer.kernel.partition(": ")[2] or answer.kernel
        yield Caution(
            "kernel-not-seen",
            f"kernel time was not seen ({why}): {unseen.baseline_ms:.3g} and "
            f"{unseen.candidate_ms:.3g} ms a run stand in one row",
        )
    if table.left_out:
        left = f"session {listed([*map(str, table.left_out)])} left out"
        yield Caution("sessions-left-out", f"{left}: without samples or timed runs of a variant")
    lost = {one.session: one.lost for one in stored.cells if one.session in table.sessions}
    if total := sum(lost.values()):
        text = f"the kernel lost {counted(total, 'sample')}: shares are of those that arrived"
        yield Caution("samples-lost", text)
    for side, found in answer.runtimes.items():
        state, _, why = found.partition(": ")
        if state == "not-seen":
            text = f"functions of {side}'s interpreted program are not seen: {why}"
            yield Caution("interpreter-not-seen", text, (side,))
    for times, name in ((table.baseline, answer.baseline), (table.candidate, answer.variant)):
        if float(times.on_cpu.mean()) > float(times.wall.mean()) * (1 + _SEVERAL):
            text = f"{name} works on several CPUs at a time: off-CPU time is no waiting"
            yield Caution("several-cpus", text, (name,))
            break


def _of_names(why: Why, table: SessionTable) -> Iterator[Caution]:
    most = _BLIND * max(why.total.baseline_ms, why.total.candidate_ms)
    for row in why.rows:
        if row.function == UNKNOWN and max(row.baseline_ms, row.candidate_ms) >= most:
            yield Caution(
                "no-symbols",
                f"{'the program' if row.object == PROGRAM else row.object} has no symbols, so that its functions are one row, {UNKNOWN}: "
                "build it without -s and do not strip it",
                (row.object,),
            )
    if mangled := sum(is_mangled(row.function) for row in why.rows):
        text = f"as the compiler wrote {'it' if mangled == 1 else 'them'}: install"
        end = "c++filt (binutils) and record again"
        yield Caution("mangled-names", f"{counted(mangled, 'name')} {text} {end}")
    if table.unused:
        text = f"neither name of {listed(table.unused)} has a sample in {why.benchmark}"
        yield Caution("rename-unused", text)
    if why.gone and why.new:
        text = f"gone: {listed(why.gone, 2)}; new: {listed(why.new, 2)}"
        fix = "If one was renamed into the other, say so: --rename OLD=NEW"
        yield Caution("only-in-one", f"{text}. {fix}")


# --- The screen: the answer, the rows with their intervals, what other metrics say, notes, what comes next.

_ROWS, MOST = 8, 20  # functions that are shown on a screen, and on a page; and all that are named
_COUNTERS = 6
ON_CPU = "all, on the CPU"  # the row of the total
_DIGITS = 3  # decimals of a total of 1 to 9 ms; of ten times as much one less
_NOTHING = 5e-5  # of a ratio, below which a change is written as 0
_MEANS = "rows say where time is, not what was changed; a stall may count for its caller"


def evidence(why: Why, whole: str = "") -> Iterator[Section]:
    """Give how it was measured, the rows, and the other metrics; `whole` begins the names of tables that leave no row out."""
    samples = why.samples_baseline + why.samples_candidate
    texts = [
        f"{counted(why.sessions, 'session')} of {why.timed_runs} timed and {why.profiled_runs} "
        f"profiled runs; {why.event} {why.frequency_hz} Hz, {samples} samples"
    ]
    if (was := why.verdict_was) is not None:
        found = Difference.of(was, metric=was.metric)
        words = {"equivalent": "the same"}.get(was.outcome, was.outcome), found.between()
        decided = was.speedup is not None and was.outcome in ("faster", "slower")
        change = found.clause() if decided else ", ".join(filter(None, words))
        texts.append(f"the verdict was: {change}, by {was.metric}")
    yield Section(tuple(map(Sentence, texts)))
    below = []
    if why.withheld != "total-not-resolved":
        level = f"intervals are {100 * why.confidence:g} %, each row's own"
        family = [*why.rows, why.others, why.kernel_not_seen]
        stars = "no row is named"
        if why.withheld is None and any(row.named for row in family if row is not None):
            stars = f"* named: p <= {1 - why.confidence:.2g} by Holm over {why.family} rows"
        below = [f"{stars}; {level}", _MEANS]
    yield Section((_table(why, whole), *map(Sentence, below)))
    if why.counters:
        yield _counters(why, whole)


def _decimals(why: Why) -> int:
    largest = max(why.total.baseline_ms, why.total.candidate_ms, 1e-6)
    return min(max(_DIGITS - math.floor(math.log10(largest)), 0), 6)


def time_text(why: Why, ms: float) -> str:
    """Write milliseconds of a run for a table of the answer."""
    text = f"{ms:.{_decimals(why)}f}"
    return text.lstrip("-") if float(text) == 0 else text


def change_text(why: Why, ms: float) -> str:
    """Write a difference for a table of the answer, with a decimal less."""
    text = f"{ms:+.{max(_decimals(why) - 1, 0)}f}"
    return text[1:] if float(text) == 0 else text


def _table(why: Why, whole: str) -> Table:
    write, change = partial(time_text, why), partial(change_text, why)

    def ends(row: Row) -> str:
        known = row.low_ms is not None and row.high_ms is not None
        return f"{change(row.low_ms or 0)} to {change(row.high_ms or 0)}" if known else "-"

    def holm(p: float) -> str:
        return "1" if p >= 0.995 else figures.significant(p, 2) if p >= 1e-4 else "< 0.0001"

    def mark(row: Row) -> str:
        seen = "renamed" if row.was is not None else row.presence.replace("both", "")
        return f"{'*' * row.named} {seen}".strip()

    rows = [*rows_of(why, MOST if whole else _ROWS)]
    files = {row.object for row in rows if row.object}
    sides = (why.baseline, why.variant)
    base, variant = sides if sides[0] != sides[1] else ("baseline", "candidate")
    return table_of(
        f"{whole}functions",
        rows,
        (
            f"<function in {min(files)}" if len(files) == 1 else "<function",
            lambda row: Name(row.function) if row.object else row.function,
        ),
        ("@in", "object") if len(files) > 1 else None,
        (Name(f"{base}, ms"), "baseline_ms", write),
        (Name(variant), "candidate_ms", write),
        ("more", "difference_ms", change),
        ("interval", ends),
        ("Holm p", "pvalue_adjusted", holm),
        ("<", mark),
    )


def rows_of(why: Why, most: int) -> Iterator[Row]:
    """Give the rows that are shown: all that are named, others up to `most`, then the rest together, and the totals."""
    if why.withheld != "total-not-resolved":
        most = max(most, sum(row.named for row in why.rows))
        first = sorted(why.rows, key=lambda row: not row.named)[:most]
        rest = [row for row in why.rows if row not in first]
        others, further = why.others, why.further
        yield from first
        if others is not None and (others.named or not rest):
            yield replace(others, function=counted(further, "other"))
            others, further = None, 0
        if rest:
            # rows that are not shown, and the others, as one row without an interval
            parts = [*rest, *([] if others is None else [others])]
            before = math.fsum(row.baseline_ms for row in parts)
            after = math.fsum(row.candidate_ms for row in parts)
            yield Row(
                function=f"{counted(len(rest) + further, 'other')}, none named",
                baseline_ms=before,
                candidate_ms=after,
                difference_ms=after - before,
            )
        if why.kernel_not_seen is not None:
            yield why.kernel_not_seen
    for row, name in (
        (why.total, ON_CPU),
        (why.off_cpu, "off the CPU"),
        (why.asleep, "  asleep or I/O"),
        (why.cpu_wait, "  ready to run"),
    ):
        if row is not None:
            yield replace(row, function=name)


def _counters(why: Why, whole: str) -> Section:
    most = MOST if whole else _COUNTERS
    first = sorted(why.counters, key=lambda one: one.word == "undecided")[:most]
    left = len(why.counters) - len(first)
    heading = "other metrics of these runs"
    if why.story is not None:
        heading += f": {why.story}"
    elif all(one.metric != INSTRUCTIONS for one in why.counters):
        heading += "; instructions are not counted"
    columns = columns_of("<metric", "change", "interval", "<")
    table = Table(name=f"{whole}counters", columns=columns, rows=tuple(map(_counter, first)))
    more = (Sentence(f"and {left} more: --json"),) if left else ()
    return Section((Sentence(heading), table, *more))


def _counter(one: Counter) -> tuple[Cell, ...]:
    found = Difference(one.ratio, one.low, one.high, one.metric, one.unit, one.better)
    word = {"equivalent": "the same, within 1 %", "undecided": "undecided"}.get(
        one.word, "more" if one.ratio > 1 else "less"
    )
    nothing = max(abs(end - 1) for end in (one.ratio, one.low, one.high)) < _NOTHING
    return (
        Name(one.metric),
        Value("0 %" if nothing else found.cell(), one.ratio),
        "0 to 0 %" if nothing else found.cell_interval(),
        word,
    )
