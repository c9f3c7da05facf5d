"""The result of `history`: what each series of nights says, and what its host did meanwhile."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, Literal

from ..errors import FairtrialError
from ..pages.difference import Difference
from ..pages.model import Next
from ..pages.result import Result
from ..record.environment import Change, diff
from ..record.manifest import judge_words, read_manifest
from ..record.run_numbers import Better
from ..stats.multiplicity import Correction
from .alarm import Alarm
from .changes import REFERENCES, Step
from .night_values import Night, NightSeries

Cause = Literal["program", "both", "host", "host-or-program"]
Outcome = Literal["passed", "proven", "undecided"]
YESTERDAY: Final = "yesterday"  # of ``--since``: another day tomorrow
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
class SeriesHistory:
    """What one series of nights says.

    `begins`: The trial of its first night. `ends`: Why another series of the benchmark follows
    ("campaign", "baseline", ...), None for the newest; `changed` says it in a sentence.
    `autocorrelation`, `inflation`, `least_p`, `p_star`, `pvalue`: As in `Changes`, at `level`. `level`: The
    risk of its intervals, after the correction. `pvalue_adjusted`: The share of series without a change, after
    the correction, that have such a p anywhere. `segments`: Between the places of its intervals. `alarm`, `outcome`: What the gate
    says; None without a gate, and of a series that has ended. `against`: The
    newest nights, those that decided or up to 8, against the nights of `reference`; its interval is what a pass rests on.
    `drift`: The newest 8 nights against the first 8, where that withholds a pass. `reason`: Why the gate is undecided:
    "few-nights", "few-new", "no-night" (none since yesterday), "nights-depend", "drift", "cut-off", "between"; else None.
    """

    benchmark: str
    variant: str
    paired: bool
    metric: str
    unit: str
    better: Better
    campaign: str
    baseline: str | None
    begins: str
    ends: str | None
    changed: str | None
    values: tuple[Night, ...]
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
    def outcome(self) -> Outcome | None:
        """The worst of all series at the gate; None without a gate."""
        if self.gate is None:
            return None
        found = {one.outcome for one in self.newest}
        if "proven" in found:
            return "proven"
        return "passed" if found == {"passed"} and not self.gone else "undecided"

    @property
    def exit_code(self) -> int:
        """What the command ends with: 0 without a gate."""
        return 0 if self.outcome is None else EXIT_CODES[self.outcome]

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        from .sentences import sentence_of

        return sentence_of(self)

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next: command lines that can be pasted, one after the other."""
        return tuple(one.line for one in self.following)


# --- Whether a program or its host changed in an interval, by the records of neighbouring
# trials and by the baseline.


def host_changes(earlier: Night, later: Night) -> tuple[Change, ...]:
    """Compare the hosts of two nights of a series, and the baseline's own programs on them.

    Of a fleet each change names its host. Where one of both has no record nothing is said.
    """
    a, b = earlier.host_facts, later.host_facts
    if "hosts" not in a or "hosts" not in b:
        return diff(a, b) if a and b else ()
    return tuple(
        replace(change, what=f"on {host}: {change.what}")
        for host, record in a["hosts"].items()
        if record and (other := b["hosts"].get(host))
        for change in diff(record, other)
    )


class HostRecords:
    """How the records of the host differ between neighbouring trials; each pair is compared once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str, str], tuple[str, ...]] = {}

    def between(self, old: Night, new: Night) -> tuple[str, ...]:
        """Say how two nights differ, a sentence each; nothing where one of them has no record."""
        pair = (old.trial, old.path, new.trial, new.path)
        if pair not in self._known:
            changes = () if old.host_facts == new.host_facts else host_changes(old, new)
            self._known[pair] = tuple(one.what for one in changes)
        return self._known[pair]

    def inside(self, series: NightSeries, first: int, last: int) -> tuple[str, ...]:
        """Say what differs between neighbours from value `first` to value `last`, each sentence once."""
        nights = series.nights[first : last + 1]
        texts = (what for old, new in itertools.pairwise(nights) for what in self.between(old, new))
        return tuple(dict.fromkeys(texts))

    def along(self, series: Sequence[NightSeries]) -> tuple[HostChange, ...]:
        """Give all changes of the host, in the order of time."""
        found: dict[str, tuple[str | None, dict[str, None]]] = {}
        for one in series:
            for old, new in itertools.pairwise(one.nights):
                if what := self.between(old, new):
                    found.setdefault(new.trial, (new.started_at, {}))[1].update(dict.fromkeys(what))
        ordered = sorted(found.items(), key=lambda pair: (pair[1][0] or "", pair[0]))
        return tuple(
            HostChange(trial=trial, started_at=start, what=tuple(what))
            for trial, (start, what) in ordered
        )


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


def newest_changes(history: History) -> list[tuple[SeriesHistory, HistoryInterval]]:
    """Give the changes of the series that go on: new ones first, then the slower ones, then the later ones."""
    return sorted(
        ((series, one) for series in history.newest for one in series.intervals),
        key=lambda pair: (
            pair[1].new is False,
            pair[1].step.speedup > 1,
            len(pair[0].values) - pair[1].place_value,
        ),
    )


def _commands(history: History, asked: Sequence[str]) -> Iterator[Next]:
    metric = history.metric if "--metric" in asked else None
    changes = newest_changes(history)
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
