"""Makes series of nights: a series goes on while campaign, inputs, hosts and baseline are the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..announcing import as_one, note
from ..data.host_record import built_each_session
from ..data.merging import campaign_differences
from ..errors import FairtrialError
from ..pages.model import Caution, ShortSentence
from ..pages.number_format import counted, listed
from ..record.fleet import read_fleet, require_campaign, trial_place
from ..record.manifest import read_manifest
from .kept_nights import KeptTrial, Mark, folder_of, forget_gone, keep, kept_folder, look_up
from .night_values import Night, NightPlace, NightSeries, trial_values

# --- Reads the trials of nights, one after the other, from what is kept of them where that holds.


_MANY = 20  # trials after which it matters that they must be read again


@dataclass(frozen=True, slots=True, kw_only=True)
class RawNight:
    """What one place holds: a trial, or those of a fleet by the names of its hosts.

    `commit`: Of a file of another tool, for all of its variants.
    """

    name: str
    path: str
    started_at: str | None
    parts: Mapping[str, KeptTrial]
    fleet: bool = False
    commit: str | None = None

    @property
    def first(self) -> KeptTrial:
        """The trial, or that of the first host."""
        return next(iter(self.parts.values()))

    @property
    def campaign(self) -> str:
        """The campaign's name."""
        return str(self.first.campaign.stated["campaign_name"])

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The hosts of a fleet, sorted; None of a single trial, whose host may change."""
        return tuple(sorted(self.parts)) if self.fleet else None


@dataclass(slots=True)
class NightReader:
    """Reads places, and keeps what it has read in this user's cache."""

    left_out: list[tuple[str, str]] = field(default_factory=list)
    _fresh: set[Path] = field(default_factory=set)  # folders with trials that were read
    _not_kept: int = 0

    def night(self, place: NightPlace, metric: str | None = None) -> RawNight | None:
        """Read one place; None where it is left out. `metric` is by default its campaign's question."""
        trouble, parts = place.trouble, {}
        if trouble is None:
            try:
                with as_one():
                    parts = dict(self._parts(place, metric))
            except FairtrialError as error:
                trouble = error.what
        if trouble is not None:
            self.left_out.append((place.name, trouble))
            return None
        return RawNight(
            name=place.name,
            path=str(place.path),
            started_at=place.started_at,
            parts=parts,
            fleet=place.kind == "fleet",
        )

    def _parts(self, place: NightPlace, metric: str | None) -> Iterator[tuple[str, KeptTrial]]:
        if place.kind == "trial":
            found = self._trial(place.path, metric)
            yield found.host, found
            return
        fleet = read_fleet(place.path)
        for host in fleet.hosts:
            path = trial_place(place.path, host)
            try:
                require_campaign(fleet, read_manifest(path), path)
                found = self._trial(path, metric)
            except FairtrialError as error:
                error.what = f"its host {host.host} has no value: {error.what}"
                raise
            yield host.host, found

    def _trial(self, path: Path, metric: str | None) -> KeptTrial:
        found = look_up(path, metric)
        if found is None:
            mark = Mark.of(path)
            found = trial_values(path, metric)
            self._not_kept += not keep(path, mark, metric, found)
            self._fresh.add(folder_of(path))
        return found

    def close(self) -> None:
        """Forget trials that are gone; say that many could not be kept, which are read again next time."""
        forget_gone(self._fresh)
        if self._not_kept >= _MANY:
            place = kept_folder(min(self._fresh))
            note(f"{place} cannot be written: the next reading takes as long")


_SHOWN = 3

Reason = Literal["campaign", "hosts", "inputs", "baseline"]


class _Key(NamedTuple):
    campaign: str
    benchmark: str
    variant: str
    paired: bool


@dataclass(slots=True)
class _Growing:
    """A series that grows; `commit` and `programs` are what the baseline was last known to be."""

    raws: list[RawNight] = field(default_factory=list)
    nights: list[Night] = field(default_factory=list)
    commit: str | None = None
    programs: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class SeriesMaker:
    """Puts the values of nights into series; nights are given in the order of time.

    `plain`: Take the values of each variant by itself, without the baseline.
    """

    plain: bool = False
    _newest: dict[str, RawNight] = field(default_factory=dict)
    _open: dict[_Key, _Growing] = field(default_factory=dict)
    _ended: dict[_Key, list[NightSeries]] = field(default_factory=dict)
    _campaigns: dict[tuple[int, int], tuple[KeptTrial, KeptTrial, str | None]] = field(
        default_factory=dict
    )
    _rebuilt: dict[str, None] = field(default_factory=dict)
    _unknown: dict[str, None] = field(default_factory=dict)

    def add(self, raw: RawNight) -> None:
        """Add a night to the series that it belongs to."""
        first = raw.first
        self._newest.pop(raw.campaign, None)
        self._newest[raw.campaign] = raw
        for variant in first.variants:
            paired = not self.plain and bool(first.baseline) and len(first.variants) > 1
            if paired and variant == first.baseline:
                continue
            for k, benchmark in enumerate(first.benchmarks):
                night = _night(raw, k, variant, paired=paired)
                if night is not None:
                    self._put(_Key(raw.campaign, benchmark, variant, paired), raw, k, night)

    def series(self) -> tuple[NightSeries, ...]:
        """Give all series: those of one campaign together, the one of the newest night last."""
        campaigns = list(self._newest)

        def order(key: _Key) -> tuple[float, float, float]:
            first, campaign = self._newest[key.campaign].first, campaigns.index(key.campaign)
            if key.benchmark not in first.benchmarks or key.variant not in first.variants:
                return campaign, math.inf, math.inf
            return (
                campaign,
                first.benchmarks.index(key.benchmark),
                first.variants.index(key.variant),
            )

        return tuple(
            one
            for key in sorted(self._open, key=order)
            for one in (*self._ended.get(key, ()), _made(key, self._open[key], None, None))
        )

    def cautions(self) -> Iterator[Caution]:
        """Say of baselines that were rebuilt, or are not known."""
        if nights := tuple(self._rebuilt):
            yield Caution(
                "baseline-rebuilt",
                f"the baseline was built anew from the same commit in {figures_of(nights)}: its program is another "
                "one, and builds of one source may differ; its series goes on",
                nights,
                ShortSentence(
                    "the baseline was built anew from the same commit: its series goes on"
                ),
            )
        if nights := tuple(self._unknown):
            yield Caution(
                "baseline-unknown",
                f"whether the baseline's program stayed the same is unknown in {figures_of(nights)}: "
                "neither its commit nor its SHA-256 is stored",
                nights,
                ShortSentence("whether the baseline stayed the same program is unknown"),
            )

    def _put(self, key: _Key, raw: RawNight, benchmark: int, night: Night) -> None:
        growing = self._open.get(key)
        found = None
        if growing is not None:
            found = self._break(growing, raw, benchmark, key)
            if found is not None:
                self._ended.setdefault(key, []).append(_made(key, growing, *found))
        if growing is None or found is not None:
            growing = self._open[key] = _Growing()
        growing.raws.append(raw)
        growing.nights.append(night)
        if not key.paired:
            return
        programs = _programs(raw, benchmark)
        growing.commit = night.baseline_commit or growing.commit
        growing.programs |= programs
        # a baseline that each session builds is its build's steps, which the campaign holds
        builds = (raw.first.campaign.settings or {}).get("builds")
        by_steps = raw.first.baseline in built_each_session(builds)
        if not (programs or night.baseline_commit or by_steps):
            self._unknown[raw.name] = None

    def _break(
        self, growing: _Growing, raw: RawNight, benchmark: int, key: _Key
    ) -> tuple[Reason, str] | None:
        """Tell why a night cannot go on a series, in a word and a sentence; None where it can."""
        before = growing.raws[-1]
        if before.hosts != raw.hosts:
            now, then = (
                "one trial" if hosts is None else listed(hosts, _SHOWN)
                for hosts in (raw.hosts, before.hosts)
            )
            return "hosts", f"the fleet's hosts are {now}; they were {then}"
        a, b = before.first, raw.first
        if (at := (id(a), id(b))) not in self._campaigns:
            one, other = a.campaign, b.campaign
            found = [] if one == other else [*campaign_differences(one, other)]
            words = f"the campaign changed: {listed(found, _SHOWN, mark='; ', last='; and')}"
            self._campaigns[at] = (a, b, words if found else None)  # both stay, and so their ids
        if (text := self._campaigns[at][2]) is not None:
            return "campaign", text
        if (text := _inputs_differ(before.first, raw.first, key.benchmark)) is not None:
            return "inputs", text
        return self._baseline(growing, raw, benchmark) if key.paired else None

    def _baseline(
        self, growing: _Growing, raw: RawNight, benchmark: int
    ) -> tuple[Reason, str] | None:
        commit = _commit(raw, raw.first.baseline)
        known = growing.commit is not None and commit is not None
        programs, before = _programs(raw, benchmark), growing.programs
        changed = [host for host, one in programs.items() if before.get(host, one) != one]
        if known and growing.commit != commit:
            # the work tree moves on under a program that nobody built anew
            if not changed and programs and programs.keys() <= before.keys():
                return None
            return "baseline", f"the baseline's commit is {commit}; it was {growing.commit}"
        if changed and not known:
            was, now = before[changed[0]], programs[changed[0]]
            where = f" on {listed(changed, _SHOWN)}" if raw.fleet else ""
            text = f"the baseline's program is another one{where}: SHA-256 {was[:12]} is now {now[:12]}"
            return "baseline", text
        if changed:
            self._rebuilt[raw.name] = None
        return None


def figures_of(nights: Sequence[str]) -> str:
    """Name some nights and count them."""
    return f"{counted(len(nights), 'night')} ({listed(nights, _SHOWN)})"


def _made(key: _Key, growing: _Growing, ended: str | None, changed: str | None) -> NightSeries:
    last = growing.raws[-1].first
    return NightSeries(
        benchmark=key.benchmark,
        variant=key.variant,
        paired=key.paired,
        metric=last.metric,
        unit=last.unit,
        better=last.better,
        campaign=key.campaign,
        baseline=last.baseline if key.paired else None,
        nights=tuple(growing.nights),
        ended=ended,
        changed=changed,
    )


def _night(raw: RawNight, benchmark: int, variant: str, *, paired: bool) -> Night | None:
    """Give one value; None where the trial, or a host of the fleet, has none."""
    logs, base, counts = [], [], 0
    name = raw.first.benchmarks[benchmark]
    for part in raw.parts.values():
        values = part.values.get(variant)
        if values is None or name not in part.benchmarks:
            return None
        k = part.benchmarks.index(name) if raw.fleet else benchmark
        log = values.log[k] if paired else values.own[k]
        if log is None:
            return None
        logs.append(log)
        base.append(values.baseline_log[k])
        counts += (values.sessions if paired else values.own_sessions)[k]
    known = [one for one in base if one is not None]
    baseline = raw.first.baseline
    programs = {_digest(part, variant, name) for part in raw.parts.values()}
    return Night(
        trial=raw.name,
        path=raw.path,
        started_at=raw.started_at,
        log=sum(logs) / len(logs),
        baseline_log=sum(known) / len(known) if paired and len(known) == len(base) else None,
        sessions=counts,
        program_sha256=programs.pop() if len(programs) == 1 else None,
        commit=raw.commit or _commit(raw, variant),
        baseline_commit=_commit(raw, baseline) if paired else None,
        host_facts=_facts(raw, name, paired=paired),
        cut=(_cut(raw, name, variant), paired and _cut(raw, name, baseline)),
    )


def _cut(raw: RawNight, benchmark: str, variant: str) -> bool:
    return any(f"{benchmark} / {variant}" in part.cut for part in raw.parts.values())


def _facts(raw: RawNight, benchmark: str, *, paired: bool) -> dict[str, Any]:
    """Give the host's facts, with the baseline's own target of the benchmark where there is one."""

    def of(part: KeptTrial) -> dict[str, Any]:
        if not part.host_record:
            return {}
        cell = f"{benchmark}/{part.baseline}"
        targets = part.host_record.get("targets")
        targets = targets if paired and isinstance(targets, Mapping) else {}
        own = {cell: targets[cell]} if cell in targets else {}
        return {**part.host_record, "targets": own}

    if not raw.fleet:
        return of(raw.first)
    return {"hosts": {host: of(part) for host, part in raw.parts.items()}}


def _digest(part: KeptTrial, variant: str, benchmark: str) -> str | None:
    values = part.values.get(variant)
    if values is None or benchmark not in part.benchmarks:
        return None
    return values.programs[part.benchmarks.index(benchmark)]


def _programs(raw: RawNight, benchmark: int) -> dict[str, str]:
    """Give the SHA-256 of the baseline's program by host, where it is known."""
    name = raw.first.benchmarks[benchmark]
    return {
        host if raw.fleet else "": digest
        for host, part in raw.parts.items()
        if (digest := _digest(part, part.baseline, name)) is not None
    }


def _commit(raw: RawNight, variant: str) -> str | None:
    """Give the commit of a variant; of a fleet where it is one on all hosts."""
    found = {
        None if (values := part.values.get(variant)) is None else values.commit
        for part in raw.parts.values()
    }
    return found.pop() if len(found) == 1 else None


def _inputs_differ(a: KeptTrial, b: KeptTrial, benchmark: str) -> str | None:
    """Say which input of a benchmark is another one; what only one of both knows says nothing."""
    if benchmark not in a.benchmarks or benchmark not in b.benchmarks:
        return None
    one, other = (part.inputs[part.benchmarks.index(benchmark)] for part in (a, b))
    changed = [name for name in one if name in other and one[name] != other[name]]
    if changed == [""]:
        return f"{benchmark} is measured in another way: {other['']}, which was {one['']}"
    text = f"the input {listed(changed, _SHOWN)} of {benchmark} is another one"
    return text if changed else None
