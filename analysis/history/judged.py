"""The result of `history`: what each series of nights says, its answer in one sentence, and what to do next."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal

from ..errors import FairtrialError
from ..pages.model import Next
from ..pages.number_format import Difference, counted, listed
from ..pages.result import Result, parse_condition
from ..record.manifest import judge_words, read_manifest
from ..record.run_numbers import Better
from ..stats.multiplicity import Correction
from ..words import Name, apart
from .changes import FEWEST, NEWEST, REFERENCES, Alarm, Step
from .night_values import Night, NightSeries, moment_of

Cause = Literal["program", "both", "host", "host-or-program"]
Outcome = Literal["passed", "proven", "undecided"]
YESTERDAY: Final = "yesterday"  # of ``--since``: another day tomorrow
NO_NIGHT: Final = "no-night-since"
EXIT_CODES: dict[Outcome, int] = {"passed": 0, "proven": 1, "undecided": 7}

CAUSES: dict[Cause, str] = {
    "program": "program changed here",
    "both": "changed here, and so did the host",
    "host": "host changed here",
    "host-or-program": "host or program changed here",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A change lies between two nights: behind the first, at the latest at the last.

    `first`, `last`: The trials of these nights. `first_value`, `last_value`: Their numbers in the series,
    from 0; a change lies before one of the values first_value + 1 .. last_value. `place`, `place_value`: The
    night that is most likely the first behind the change. `step`: What changed: above 1 the later nights are
    faster. `missing`: Nights that are missing inside. `cause`: See `CAUSES`. `environment`: How the host's records
    differ between neighbours inside, a sentence each.
    """

    derived: ClassVar[tuple[str, ...]] = ("words",)

    first: str
    last: str
    first_value: int
    last_value: int
    pvalue: float
    place: str
    place_value: int
    step: Step
    missing: int
    cause: Cause
    environment: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The cause in words."""
        return CAUSES[self.cause]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryInterval(Interval):
    """A change of a series.

    `speedup_before`, `speedup_behind`: Of the segments on both sides of it; None in a plain series.
    `baseline_changed`: Whether the baseline's own series has an interval that overlaps. `good`, `bad`: The commits of
    the first and the last night, where both are known and differ. `new`: Whether it reaches into the nights from
    `since` on; None without `since`.
    """

    speedup_before: float | None
    speedup_behind: float | None
    baseline_changed: bool = False
    good: str | None = None
    bad: str | None = None
    new: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostInterval(Interval):
    """An interval of a baseline's own series: its program is one in all nights, so the host changed.

    `cause`: "host" where the paired series of the benchmark has no interval that overlaps, else "both".
    """

    benchmark: str
    baseline: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Nights between two places of changes: their trials, numbers, and speedup (None in a plain series)."""

    first: str
    last: str
    first_value: int
    last_value: int
    nights: int
    speedup: float | None
    metric_value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesHistory(NightSeries):
    """What one series of nights says.

    `autocorrelation`, `inflation`, `least_p`, `p_star`, `pvalue`: As in `Changes`, at `level`. `level`: The
    risk of its intervals, after the correction. `pvalue_adjusted`: The share of series without a change, after
    the correction, that have such a p anywhere. `segments`: Between the places of its intervals. `alarm`, `outcome`: What the gate
    says; None without a gate, and of a series that has ended. `against`: The
    newest nights, those that decided or up to 8, against the nights of `reference`; its interval is what a pass rests on.
    `drift`: The newest 8 nights against the first 8, where that withholds a pass. `reason`: Why the gate is undecided:
    "few-nights", "few-new", "no-night" (none since yesterday), "nights-depend", "drift", "cut-off", "between"; else None.
    """

    autocorrelation: float | None
    inflation: float
    level: float
    least_p: float | None
    p_star: float | None
    pvalue: float | None
    pvalue_adjusted: float | None
    intervals: tuple[HistoryInterval, ...]
    segments: tuple[Segment, ...]
    alarm: Alarm | None = None
    against: Step | None = None
    reference: Segment | None = None
    drift: Step | None = None
    outcome: Outcome | None = None
    reason: str | None = None

    @property
    def enough(self) -> bool:
        """Whether there are enough nights to look for changes."""
        return self.p_star is not None

    def difference(self, step: Step) -> Difference:
        """Give what a step changed of the metric, later nights against earlier ones."""
        return Difference.of(step, metric=self.metric, unit=self.unit, better=self.better)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostChange:
    """How the record of the host differs from that of the night before: `what`, a sentence each."""

    trial: str
    started_at: str | None
    what: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class History(Result):
    """What many nights say, each benchmark a series.

    `place`: What was read, in a few words. `host`: The names of the hosts. `campaign`, `metric`, `unit`, `better`,
    `baseline`: Of the newest series. `first_at`, `last_at`: When the first and the last night began. `nights`,
    `missing`: How many nights there are, and how many are missing between them. `risk`: Of a false interval, of a false
    benchmark or of a false alarm in `horizon` nights, as `correction` and `gate` say. `correction`: How the number of
    series is allowed for. `independent`: Whether nights were taken to be independent, without the correction of
    neighbours that resemble each other. `gate`: The condition that the newest nights are held against. `since`: From
    which night on nights are new. `horizon`: Nights over which the alarm's risk holds. `series`: By benchmark and
    variant; the newest of one stands last. `host_intervals`: Where the baseline itself changed. `host_changes`: Where
    the records of the host differ from those of the night before. `left_out`: Trials that have no value, with why.
    `gone`: Benchmarks with a value in 2 or more of the 8 nights before the newest and none in the newest; with a gate
    alone, which does not pass without them. `cut`: Nights beyond the newest 400, which were not read. `following`: What
    to do next.
    """

    method: ClassVar[str] = "history"
    words: ClassVar[str] = "analysis.history.sentences:screen"
    derived: ClassVar[tuple[str, ...]] = ("outcome", "exit_code", "sentence", "next")
    unlisted: ClassVar[frozenset[str]] = frozenset({"following"})

    place: str
    host: tuple[str, ...]
    campaign: str
    metric: str
    unit: str
    better: Better
    baseline: str | None
    first_at: str | None
    last_at: str | None
    nights: int
    missing: int
    risk: float
    correction: Correction
    independent: bool = False
    gate: str | None = None
    since: str | None = None
    horizon: int = 100
    series: tuple[SeriesHistory, ...]
    host_intervals: tuple[HostInterval, ...] = ()
    host_changes: tuple[HostChange, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    gone: tuple[str, ...] = ()
    cut: int = 0
    following: tuple[Next, ...] = ()
    references: tuple[str, ...] = REFERENCES

    @property
    def newest(self) -> tuple[SeriesHistory, ...]:
        """The series that have not ended: one for each benchmark and variant."""
        return tuple(one for one in self.series if one.ends is None)

    @property
    def changes(self) -> list[tuple[SeriesHistory, HistoryInterval]]:
        """The changes of the series that go on: new ones first, then the slower ones, then the later ones."""
        found = [(series, one) for series in self.newest for one in series.intervals]
        return sorted(
            found,
            key=lambda pair: (
                pair[1].new is False,
                pair[1].step.speedup > 1,
                len(pair[0].values) - pair[1].place_value,
            ),
        )

    @property
    def outcome(self) -> Outcome | None:
        """The worst of all series at the gate; None without a gate."""
        if self.gate is None:
            return None
        found = {one.outcome for one in self.newest if one.outcome is not None}
        if "proven" in found:
            return "proven"
        return "passed" if found == {"passed"} and not self.gone else "undecided"

    @property
    def exit_code(self) -> int:
        """What the command ends with: 0 without a gate."""
        return 0 if self.outcome is None else EXIT_CODES[self.outcome]

    @property
    def sentence(self) -> str:
        """The answer in one sentence: what the gate says of the newest nights, or without one what changed."""
        return _changed(self) if self.outcome is None else _at_gate(self, self.outcome)

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next: command lines that can be pasted, one after the other."""
        return tuple(one.line for one in self.following)

    def labels(self, some: Iterable[SeriesHistory]) -> list[Name]:
        """Name some of the series, by their variants too where several of them go on."""
        several = len({one.variant for one in self.newest}) > 1
        return [Name(one.benchmark + f" ({one.variant})" * several) for one in some]

    def names(self, some: Sequence[SeriesHistory], most: int = 2) -> str:
        """Name the first of some series, each once, and count the rest."""
        return listed([*dict.fromkeys(apart(self.labels(some), 28))], most)


# --- The answer in one sentence.


_DATE, _MINUTE, _SECOND = 10, 16, 19  # where these end in a time of RFC 3339


def label_of(values: Sequence[Night]) -> Callable[[int], str]:
    """Give what names a night: its date, of several in a day the time too, else its trial.

    Where all are of one day the time stands alone; where two began in one second, or a time is unknown, the
    trials stand.
    """
    starts = [one.started_at or "" for one in values]
    if all(moment_of(start) is not None for start in starts):
        days = [text[:_DATE] for text in starts]
        begin = _DATE + 1 if len({*days}) == 1 else 0
        for end in (_DATE, _MINUTE, _SECOND):
            times = [f"{text[:_DATE]} {text[_DATE + 1 : end]}"[begin:] for text in starts]
            labels = days if end == _DATE else times
            if len({*labels}) == len(labels):
                return labels.__getitem__
    return lambda k: f"{Name(values[k].trial):.24}"


def _noun(history: History) -> str:
    return "series" if len({one.variant for one in history.newest}) > 1 else "benchmarks"


def _changed(history: History) -> str:
    newest, since = history.newest, history.since
    many, most = len(newest), max((len(one.values) for one in newest), default=0)
    if not any(one.enough for one in newest):
        ends = ("at most ", " of a series") if most < history.nights else ("", "")
        return f"{ends[0]}{counted(most, 'night')}{ends[1]}: {FEWEST} are needed to find a change"
    if any(one.code == NO_NIGHT for one in history.cautions):
        latest = "" if history.last_at is None else f", the newest is {history.last_at[:_DATE]}"
        return f"no night since {since}{latest}"
    # nights before a change of the campaign or baseline are another series
    fewer = most < history.nights and any(one.ends is not None for one in history.series)
    nights = "the newest " * fewer + counted(most if fewer else history.nights, "night")
    changes = [pair for pair in history.changes if since is None or pair[1].new]
    if not changes:
        when = nights if since is None else f"the nights since {since}"
        if many == 1:
            return f"{history.names(newest)} shows no change in {when}"
        return f"none of {many} {_noun(history)} shows a change in {when}"
    series, one = changes[0]
    last = (
        f"{history.names([series])} {series.difference(one.step).ranged('before')}, "
        f"from {label_of(series.values)(one.place_value)} on{'' if series.paired else ', by host or program'}"
    )
    if many == 1:
        return last if len(changes) == 1 else f"{len(changes)} changes in {nights}; {last}"
    changed = len({id(one) for one, _ in changes})
    return f"{changed} of {many} {_noun(history)} changed in {nights}: {last}"


def _at_gate(history: History, outcome: Outcome) -> str:
    asked, undecided = parse_condition(history.gate or ""), outcome == "undecided"
    limit, gain = f"{asked.percent:.12g} %", asked.kind == "faster"
    some = [one for one in history.newest if one.outcome == outcome]
    if undecided and history.gone:
        was = "was" if len(history.gone) == 1 else "were"
        every = " with every variant" * (len({one.variant for one in history.newest}) > 1)
        return (
            f"{listed(history.gone, 8)} {was} measured in the nights before, and not{every} in the newest "
            "(--allow-missing, or --since behind the end, accepts that)"
        )
    if not some:
        return "no series goes on: nothing is decided"
    first, many = some[0], sum(one.outcome is not None for one in history.newest)
    if undecided and first.reason != "between":
        return _why_open(history, [one for one in some if one.reason == first.reason], limit)
    against, wanted = _against(some), f"the wanted gain of {limit}"
    if outcome == "passed" and many > 1:
        what = f"have {wanted}" if gain else f"are within the {limit} allowed"
        return f"all {many} {_noun(history)} {what} {against}"
    names = history.names([first])
    if first.against is None:
        return f"{names}: nothing is decided"
    also = f", and {len(some) - 1} more" if len(some) > 1 else ""
    step, found = first.against, first.difference(first.against)
    whole = f"{found.clause()} {found.link} before{also}"
    if undecided:
        what = f"{wanted if gain else limit} is neither proven nor ruled out"
        low, high = (asked.limit if end is None else end for end in (step.low, step.high))
        if low > asked.limit if gain else high < asked.limit:
            return f"{names} {whole}, {against}; the newest do not all lie {limit} beyond nearly all of these: {what}"
        between = found.between() or "an unknown amount"
        return f"{names} {found.verb} {between} than before{also}, {against}: {what}"
    if gain:
        what = f"{wanted} is {'' if outcome == 'passed' else 'not '}there"
    else:
        what = f"{'within' if outcome == 'passed' else 'more than'} the {limit} allowed"
    newest = counted(0 if first.alarm is None else first.alarm.nights, "newest night")
    rests = "" if first.alarm is None else f", by {newest} {against}"
    return f"{names} {whole}{rests}: {what}"


def _why_open(history: History, some: Sequence[SeriesHistory], limit: str) -> str:
    """Say why nothing is decided of some series with one reason, which their intervals are not."""
    first, against = some[0], _against(some)
    within = f"within {limit} {against}, but"
    label, alike = label_of(first.values), f"(r {first.autocorrelation or 0:.2f})"
    found = {
        "no-night": f"no night since {history.since}, the newest is {label(len(first.values) - 1)}",
        "cut-off": f"runs that were stopped at their limit could overturn the answer {against}",
        "few-new": f"fewer than 2 nights are new {against}, which decide nothing",
        "nights-depend": f"{within} neighbouring nights resemble each other too much to rely on it {alike}",
    }.get(first.reason or "")
    if first.reason == "drift" and first.drift is not None:
        drift = first.difference(first.drift).clause()
        found = f"{within} {drift} than the first 8 nights; --since NIGHT accepts what came before"
    if found is None:
        held = first.alarm.reference if first.alarm is not None else 0
        newest = " before the newest 8" if history.since in (None, YESTERDAY) else ""
        found = f"{counted(held, 'night')} of reference{newest}{_span(first)}, and 8 are needed"
    return f"{history.names(some)}: {found}"


def _against(some: Sequence[SeriesHistory]) -> str:
    """Name the nights of reference; of several series that with most, and how many the others have."""
    held = [(one.reference.nights, one) for one in some if one.reference is not None]
    if not held:
        return "without any before"
    least = min(nights for nights, _ in held)
    most, widest = max(held, key=lambda pair: pair[0])
    many = counted(most, "night") if least == most else f"{least} to {most} nights"
    return f"against {many}{_span(widest)}"


def _span(one: SeriesHistory) -> str:
    label, held = label_of(one.values), one.reference
    return "" if held is None else f" ({label(held.first_value)} to {label(held.last_value)})"


def alarm_alone(history: History) -> str | None:
    """Say that an alarm is newer than any interval: fewer nights are enough for it than for a place; else None."""
    some = [
        one
        for one in history.newest
        if one.alarm is not None
        and one.alarm.word == "proven"
        and all(each.last_value <= len(one.values) - NEWEST for each in one.intervals)
    ]
    text = "an alarm before any interval; further nights tell where it began"
    return f"{history.names(some)}: {text}" if some else None


# --- What to do after `history`: the commits of a change, the nights on both sides of it, the page.


_MOST, _BISECTED = 3, 2
_DIGITS = 12  # of a hash in a command: 7 may mean two commits
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def next_of(history: History, asked: Sequence[str], *, held_back: bool) -> tuple[Next, ...]:
    """Give the commands that may follow, at most three; `asked`: The words behind ``fairtrial history``."""
    commands = [*_commands(history, asked)]
    if asked and held_back:
        words = ("fairtrial", "history", *asked, "--independent")
        commands.insert(min(len(commands), _MOST - 1), Next(words, "if nights are independent"))
    return tuple(commands[:_MOST])


def bisect_words(
    series: SeriesHistory, one: HistoryInterval, metric: str | None = None
) -> tuple[str, ...] | None:
    """Give the command that finds the commit of a change; None where that cannot work.

    Its commits are not known, or do not differ, or the campaign lies in no work tree of git, which builds them.
    """
    if one.good is None or one.bad is None:
        return None
    where: tuple[str, ...] = ()
    with contextlib.suppress(FairtrialError, OSError):  # of another tool's nights nobody knows it
        campaign = Path(read_manifest(Path(series.values[one.last_value].path)).campaign_path)
        if campaign.is_file():
            if not any((folder / ".git").exists() for folder in campaign.parents):
                return None
            usual = campaign == Path.cwd() / "campaign.yaml"
            where = () if usual else ("--campaign", str(campaign))
    more = (*(() if metric is None else ("--metric", metric)), *judge_words("bisect"))
    ends = (short_commit(one.good), short_commit(one.bad))
    return ("fairtrial", "bisect", *ends, *where, "--benchmark", series.benchmark, *more)


def short_commit(name: str, digits: int = _DIGITS) -> str:
    """Give the first digits of a whole hash; any other name of a commit stands as it is."""
    return name[:digits] if _HASH.fullmatch(name) else name


def _commands(history: History, asked: Sequence[str]) -> Iterator[Next]:
    metric, changes = history.metric if "--metric" in asked else None, history.changes
    found = [words for pair in changes if (words := bisect_words(*pair, metric)) is not None]
    yield from (Next(words, "which commit did it") for words in found[:_BISECTED])
    proven = next((one for one in history.newest if one.outcome == "proven"), None)
    if proven is not None and not proven.intervals:
        asks = (*(() if metric is None else ("--metric", metric)), *judge_words())
        words = ("fairtrial", "verdict", proven.values[-1].path, *asks)
        yield Next(words, "what the newest night says")
    if changes and not found:
        series, one = changes[0]
        paths = (series.values[one.first_value].path, series.values[one.last_value].path)
        why = "what differs between these nights"
        if one.good is not None and one.bad is not None:
            why += "; a bisection needs a campaign inside the repository"
        yield Next(("fairtrial", "diff", *paths), why)
    if asked and any(one.enough for one in history.newest) and not {"-o", "--output"} & set(asked):
        yield Next(("fairtrial", "history", *asked, "-o", "history.html"), "all nights in pictures")
