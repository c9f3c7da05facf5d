"""Makes series of nights: a series goes on while campaign, inputs, hosts and baseline are the same."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..announcing import as_one, doing, note
from ..data.host_record import built_each_session
from ..data.merging import campaign_differences
from ..errors import FairtrialError
from ..pages.model import Caution, ShortSentence
from ..pages.number_format import counted, listed
from ..record.fleet import read_fleet, require_campaign, trial_place
from ..record.manifest import read_manifest
from .kept_nights import KeptTrial, folder_of, forget_gone, kept_folder, kept_or_read
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


def _parts(
    place: NightPlace, trial: Callable[[Path], KeptTrial]
) -> Iterator[tuple[str, KeptTrial]]:
    if place.kind == "trial":
        found = trial(place.path)
        yield found.host, found
        return
    fleet = read_fleet(place.path)
    for host in fleet.hosts:
        path = trial_place(place.path, host)
        try:
            require_campaign(fleet, read_manifest(path), path)
            yield host.host, trial(path)
        except FairtrialError as error:
            error.what = f"its host {host.host} has no value: {error.what}"
            raise


def read_trials(
    places: Sequence[NightPlace], metric: str | None
) -> tuple[list[RawNight], list[tuple[str, str]]]:
    """Read trials and fleets, and keep what was read in this user's cache; give those left out too, with why.

    Without a `metric` all of a campaign are read by the one that its newest is asked for.
    """
    left_out: list[tuple[str, str]] = []
    fresh: set[Path] = set()  # folders with trials that were read
    unkept: list[Path] = []

    def trial(path: Path, metric: str | None) -> KeptTrial:
        found, was_read, is_written = kept_or_read(path, metric, trial_values)
        fresh.update([folder_of(path)] * was_read)
        unkept.extend([path] * (not is_written))
        return found

    def night(place: NightPlace, metric: str | None) -> list[RawNight]:
        trouble, found = place.trouble, {}
        if trouble is None:
            try:
                with as_one():
                    found = dict(_parts(place, functools.partial(trial, metric=metric)))
            except FairtrialError as error:
                trouble = error.what
        if trouble is not None:
            left_out.append((place.name, trouble))
            return []
        fleet, path = place.kind == "fleet", str(place.path)
        began = place.started_at
        return [RawNight(name=place.name, path=path, started_at=began, parts=found, fleet=fleet)]

    try:
        read = []
        for k, place in enumerate(places):
            doing("reading", k, len(places), "nights")
            read += [(place, raw) for raw in night(place, metric)]
        asked = {raw.campaign: raw.first.metric for _, raw in read}  # by the newest of each
        found = []
        for place, raw in read:
            wanted = asked[raw.campaign]
            found += [raw] if raw.first.metric == wanted else night(place, wanted)
        return found, left_out
    finally:
        forget_gone(fresh)
        if len(unkept) >= _MANY:
            note(f"{kept_folder(min(fresh))} cannot be written: the next reading takes as long")


_SHOWN = 3

Reason = Literal["campaign", "hosts", "inputs", "baseline"]


class _Key(NamedTuple):
    campaign: str
    benchmark: str
    variant: str
    paired: bool


def series_of(
    raws: Sequence[RawNight], *, plain: bool = False
) -> tuple[tuple[NightSeries, ...], tuple[Caution, ...]]:
    """Put the values of nights, which are given in the order of time, into series; say what of baselines is not sure.

    `plain`: Take the values of each variant by itself, without the baseline. Series of one campaign stand together, the
    one of the newest night last.
    """
    rows: dict[_Key, list[tuple[RawNight, int, Night]]] = {}
    newest: dict[str, KeptTrial] = {}
    for raw in raws:
        first, campaign = raw.first, raw.campaign
        newest.pop(campaign, None)
        newest[campaign] = first
        paired = not plain and bool(first.baseline) and len(first.variants) > 1
        for variant in first.variants:
            if paired and variant == first.baseline:
                continue
            for k, benchmark in enumerate(first.benchmarks):
                if (night := _night(raw, k, variant, paired=paired)) is not None:
                    key = _Key(campaign, benchmark, variant, paired)
                    rows.setdefault(key, []).append((raw, k, night))
    campaigns, breaks = list(newest), _Breaks()

    def order(key: _Key) -> tuple[float, float, float]:
        first, campaign = newest[key.campaign], campaigns.index(key.campaign)
        if key.benchmark not in first.benchmarks or key.variant not in first.variants:
            return campaign, math.inf, math.inf
        return campaign, first.benchmarks.index(key.benchmark), first.variants.index(key.variant)

    series = tuple(one for key in sorted(rows, key=order) for one in breaks.split(key, rows[key]))
    rebuilt, unknown = (
        tuple(dict.fromkeys(raw.name for raw in raws if raw.name in some))
        for some in (breaks.rebuilt, breaks.unknown)
    )
    cautions = (
        Caution(
            "baseline-rebuilt",
            f"the baseline was built anew from the same commit in {figures_of(rebuilt)}: its program is another "
            "one, and builds of one source may differ; its series goes on",
            rebuilt,
            ShortSentence("the baseline was built anew from the same commit: its series goes on"),
        ),
        Caution(
            "baseline-unknown",
            f"whether the baseline's program stayed the same is unknown in {figures_of(unknown)}: "
            "neither its commit nor its SHA-256 is stored",
            unknown,
            ShortSentence("whether the baseline stayed the same program is unknown"),
        ),
    )
    return series, tuple(one for one in cautions if one.about)


@dataclass(slots=True)
class _Breaks:
    """Where series end; the nights whose baseline was built anew from one commit, or is not known."""

    rebuilt: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    _campaigns: dict[tuple[int, int], str | None] = field(default_factory=dict)

    def split(
        self, key: _Key, rows: Sequence[tuple[RawNight, int, Night]]
    ) -> Iterator[NightSeries]:
        """Give the series of a benchmark and variant, one after the other."""
        before, nights = rows[0][0], list[Night]()
        commit: str | None = None  # `commit`, `known`: what the baseline was last known to be
        known: dict[str, str] = {}

        def made(ended: str | None, changed: str | None) -> NightSeries:
            last = before.first
            return NightSeries(
                **key._asdict(),
                metric=last.metric,
                unit=last.unit,
                better=last.better,
                baseline=last.baseline if key.paired else None,
                nights=tuple(nights),
                ended=ended,
                changed=changed,
            )

        for raw, k, night in rows:
            programs = _programs(raw, k) if key.paired else {}
            if nights:
                found = self._break(before, raw, key.benchmark)
                if found is None and key.paired:
                    found = self._baseline(raw, night.baseline_commit, programs, commit, known)
                if found is not None:
                    yield made(*found)
                    nights, commit, known = [], None, {}
            nights.append(night)
            before, commit, known = raw, night.baseline_commit or commit, known | programs
            if key.paired and not (programs or night.baseline_commit):
                # a baseline that each session builds is its build's steps, which the campaign holds
                builds = (raw.first.campaign.settings or {}).get("builds")
                if raw.first.baseline not in built_each_session(builds):
                    self.unknown.add(raw.name)
        yield made(None, None)

    def _break(self, before: RawNight, raw: RawNight, benchmark: str) -> tuple[Reason, str] | None:
        """Tell why a night cannot go on a series, in a word and a sentence; None where it can."""
        if before.hosts != raw.hosts:
            now, then = (
                "one trial" if hosts is None else listed(hosts, _SHOWN)
                for hosts in (raw.hosts, before.hosts)
            )
            return "hosts", f"the fleet's hosts are {now}; they were {then}"
        a, b = before.first, raw.first
        if (at := (id(a), id(b))) not in self._campaigns:  # both live as long as this
            one, other = a.campaign, b.campaign
            found = [] if one == other else [*campaign_differences(one, other)]
            words = f"the campaign changed: {listed(found, _SHOWN, mark='; ', last='; and')}"
            self._campaigns[at] = words if found else None
        if (text := self._campaigns[at]) is not None:
            return "campaign", text
        text = _inputs_differ(a, b, benchmark)
        return None if text is None else ("inputs", text)

    def _baseline(
        self,
        raw: RawNight,
        commit: str | None,
        programs: Mapping[str, str],
        was: str | None,
        before: Mapping[str, str],
    ) -> tuple[Reason, str] | None:
        """Tell whether the baseline is another one than it `was`, with the programs `before`."""
        known = was is not None and commit is not None
        changed = [host for host, one in programs.items() if before.get(host, one) != one]
        if known and was != commit:
            # the work tree moves on under a program that nobody built anew
            if not changed and programs and programs.keys() <= before.keys():
                return None
            return "baseline", f"the baseline's commit is {commit}; it was {was}"
        if changed and not known:
            then, now = before[changed[0]], programs[changed[0]]
            where = f" on {listed(changed, _SHOWN)}" if raw.fleet else ""
            text = f"the baseline's program is another one{where}: SHA-256 {then[:12]} is now {now[:12]}"
            return "baseline", text
        if changed:
            self.rebuilt.add(raw.name)
        return None


def figures_of(nights: Sequence[str]) -> str:
    """Name some nights and count them."""
    return f"{counted(len(nights), 'night')} ({listed(nights, _SHOWN)})"


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
