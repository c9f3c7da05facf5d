"""Makes series of nights: a series goes on while campaign, inputs, hosts and baseline are the same."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..announcing import as_one, doing, note
from ..data.host_record import built_each_session
from ..data.merging import campaign_differences
from ..errors import FairtrialError
from ..pages.model import Caution, ShortSentence, cautions_of
from ..pages.number_format import counted, listed
from ..record.fleet import read_fleet, require_campaign, trial_place
from ..record.manifest import read_manifest
from ..record.profiles import cell_name
from .kept_nights import Cell, KeptTrial, folder_of, forget_gone, kept_folder, kept_or_read
from .night_values import Night, NightSeries, RawNight, trial_values

# --- Reads the trials of nights, one after the other, from what is kept of them where that holds.


_MANY = 20  # trials after which it matters that they must be read again


def _parts(place: RawNight, trial: Callable[[Path], KeptTrial]) -> Iterator[tuple[str, KeptTrial]]:
    if not place.fleet:
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
    places: Sequence[RawNight], metric: str | None
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

    def night(place: RawNight, metric: str | None) -> list[RawNight]:
        trouble, found = place.trouble, {}
        if trouble is None:
            try:
                with as_one():
                    found = dict(_parts(place, functools.partial(trial, metric=metric)))
            except FairtrialError as error:
                trouble = error.what
        if trouble is None:
            return [replace(place, parts=found)]
        left_out.append((place.name, trouble))
        return []

    try:
        read: list[RawNight] = []
        for k, place in enumerate(places):
            doing("reading", k, len(places), "nights")
            read += night(place, metric)
        asked = {raw.campaign: raw.first.metric for raw in read}  # by the newest of each
        found: list[RawNight] = []
        for raw in read:
            wanted = asked[raw.campaign]
            found += [raw] if raw.first.metric == wanted else night(raw, wanted)
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
    rows: dict[_Key, list[tuple[RawNight, Night]]] = {}
    newest: dict[str, KeptTrial] = {}
    for number, raw in enumerate(raws):
        first, campaign = raw.first, raw.campaign
        newest.pop(campaign, None)
        newest[campaign] = first
        paired = not plain and bool(first.baseline) and len(first.variants) > 1
        for variant in first.variants:
            if paired and variant == first.baseline:
                continue
            for benchmark in first.benchmarks:
                if (night := _night(raw, benchmark, variant, paired=paired)) is not None:
                    own = rows.setdefault(_Key(campaign, benchmark, variant, paired), [])
                    own.append((raw, replace(night, number=number)))
    campaigns, breaks = list(newest), _Breaks()

    def order(key: _Key) -> tuple[float, float, float]:
        first, campaign = newest[key.campaign], campaigns.index(key.campaign)
        if key.benchmark not in first.benchmarks or key.variant not in first.variants:
            return campaign, math.inf, math.inf
        return campaign, first.benchmarks.index(key.benchmark), first.variants.index(key.variant)

    series = tuple(one for key in sorted(rows, key=order) for one in breaks.split(key, rows[key]))

    def of(some: set[str], text: str, short: str) -> object:
        names = tuple(dict.fromkeys(raw.name for raw in raws if raw.name in some))
        return names and (text.format(figures_of(names)), *names, ShortSentence(short))

    known = {
        "baseline-rebuilt": of(
            breaks.rebuilt,
            "the baseline was built anew from the same commit in {}: its program is another "
            "one, and builds of one source may differ; its series goes on",
            "the baseline was built anew from the same commit: its series goes on",
        ),
        "baseline-unknown": of(
            breaks.unknown,
            "whether the baseline's program stayed the same is unknown in {}: "
            "neither its commit nor its SHA-256 is stored",
            "whether the baseline stayed the same program is unknown",
        ),
    }
    return series, cautions_of(known)


def figures_of(nights: Sequence[str]) -> str:
    """Name some nights and count them."""
    return f"{counted(len(nights), 'night')} ({listed(nights, _SHOWN)})"


@dataclass(slots=True)
class _Breaks:
    """Where series end; the nights whose baseline was built anew from one commit, or is not known."""

    rebuilt: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    _campaigns: dict[tuple[int, int], str | None] = field(default_factory=dict)

    def split(self, key: _Key, rows: Sequence[tuple[RawNight, Night]]) -> Iterator[NightSeries]:
        before, nights = rows[0][0], list[Night]()
        commit: str | None = None  # `commit`, `known`: what the baseline was last known to be
        known: dict[str, str] = {}

        def made(ends: str | None, changed: str | None) -> NightSeries:
            last = before.first
            return NightSeries(
                **key._asdict(),
                **{name: getattr(last, name) for name in ("metric", "unit", "better")},
                baseline=last.baseline if key.paired else None,
                values=tuple(nights),
                ends=ends,
                changed=changed,
            )

        for raw, night in rows:
            programs = _programs(raw, key.benchmark) if key.paired else {}
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
        # what only one of both knows says nothing
        old, new = a.inputs_of(benchmark), b.inputs_of(benchmark)
        changed = [name for name in old if name in new and old[name] != new[name]]
        if changed == [""]:
            return (
                "inputs",
                f"{benchmark} is measured in another way: {new['']}, which was {old['']}",
            )
        text = f"the input {listed(changed, _SHOWN)} of {benchmark} is another one"
        return ("inputs", text) if changed else None

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


def _night(raw: RawNight, benchmark: str, variant: str, *, paired: bool) -> Night | None:
    """Give one value; None where the trial, or a host of the fleet, has none."""
    parts = [*raw.parts.values()]
    cells = [cell for one in parts if (cell := one.cell(variant, benchmark)) is not None]
    logs = [log for one in cells if (log := one.log if paired else one.own) is not None]
    if len(logs) < len(parts):
        return None
    known = [one.baseline_log for one in cells if one.baseline_log is not None]
    base = [one.cell(one.baseline, benchmark) or Cell() for one in parts]
    return Night(
        trial=raw.name,
        path=str(raw.path),
        started_at=raw.started_at,
        log=sum(logs) / len(logs),
        baseline_log=sum(known) / len(known) if paired and len(known) == len(parts) else None,
        sessions=sum(one.sessions if paired else one.own_sessions for one in cells),
        program_sha256=_same(one.program for one in cells),
        commit=raw.commit or _same(one.commit for one in cells),
        baseline_commit=_same(one.commit for one in base) if paired else None,
        host_facts=_facts(raw, benchmark, paired=paired),
        cut=(any(one.cut for one in cells), paired and any(one.cut for one in base)),
    )


def _same(texts: Iterator[str | None]) -> str | None:
    """Give what all of them are; None where they are not one."""
    found = {*texts}
    return found.pop() if len(found) == 1 else None


def _programs(raw: RawNight, benchmark: str) -> dict[str, str]:
    return {
        host if raw.fleet else "": cell.program
        for host, part in raw.parts.items()
        if (cell := part.cell(part.baseline, benchmark)) is not None and cell.program is not None
    }


def _facts(raw: RawNight, benchmark: str, *, paired: bool) -> dict[str, Any]:
    """Give the host's facts, with the baseline's own target of the benchmark where there is one."""

    def of(part: KeptTrial) -> dict[str, Any]:
        if not part.host_record:
            return {}
        targets, cell = part.host_record.get("targets"), cell_name(benchmark, part.baseline)
        targets = targets if paired and isinstance(targets, Mapping) else {}
        own = {cell: targets[cell]} if cell in targets else {}
        return {**part.host_record, "targets": own}

    if not raw.fleet:
        return of(raw.first)
    return {"hosts": {host: of(part) for host, part in raw.parts.items()}}
