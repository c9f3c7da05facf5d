"""What was recorded beside the runs of a trial, in words; what is not known is said to be unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.host_record import (
    HostNote,
    SessionEnvironment,
    pinned_cpus,
    read_environments,
    read_host_record,
    without_homes,
)
from ..diagnose.result import in_sessions
from ..pages.model import Cell, Value
from ..pages.number_format import counted, listed, quantity
from ..record.environment import commit_of, of_one_session
from ..words import shorten, shown

if TYPE_CHECKING:
    from ..data.trial import Trial

__all__ = ["UNKNOWN", "between", "differed_of", "facts_of", "source_of"]

UNKNOWN = "unknown"
_PROGRAMS = 4  # that are named
_DIGITS = 12  # of a hash
_EACH = "built by each session"
_PART = 60  # characters of a recorded text within a fact
_LONGEST = 640  # and of one that is compared
_COMPARED = (
    "host",
    "cpu",
    "memory",
    "kernel",
    "tools",
    "process",
    "targets",
    "inputs",
    "variables",
)
_NESTED = (
    "kernel",
    "tools",
    "process",
)  # sections in which a mapping's keys are compared one by one
_BOOT = "host.boot_id"
_MOST = 40  # keys that differ between sessions and are shown
_CELL = 24  # characters of a session's cell


class Source(NamedTuple):
    """A trial with what was recorded beside its runs."""

    trial: Trial
    environments: tuple[SessionEnvironment, ...]
    notes: tuple[HostNote, ...]

    @property
    def sections(self) -> Mapping[str, Mapping[str, Any]]:
        """Those of the first session's record; empty where there is none."""
        return self.environments[0].sections if self.environments else {}


def source_of(trial: Trial) -> Source:
    """Read what was recorded beside the runs of a trial."""
    return Source(trial, read_environments(trial.path), read_host_record(trial.path).notes)


# --- The facts, from the first session's record and the manifest.


def facts_of(source: Source) -> dict[str, str]:
    """Give what no campaign and no methods paragraph says, by name, in the order in which it is shown."""
    manifest, sections = source.trial.manifest, source.sections
    host, cpu, memory, kernel, tools = (
        sections.get(name, {}) for name in ("host", "cpu", "memory", "kernel", "tools")
    )
    total, swap, thp = (memory.get(key) for key in ("total_bytes", "swap_total_bytes", "thp"))
    facts = {
        "host": [
            _brief(host.get("name") or manifest.host or "name unknown"),
            _brief(cpu.get("model") or manifest.cpu_model or "processor unknown"),
            counted(cpu["cores"], "core") if isinstance(cpu.get("cores"), int) else "",
            f"CPUs {_brief(cpu['online'])}" if cpu.get("online") else "",
        ],
        "system": [
            f"Linux {_brief(kernel['release'])}" if kernel.get("release") else "",
            _brief(kernel.get("distribution") or ""),
            _brief(kernel.get("architecture") or ""),
            _brief(tools.get("libc") or ""),
        ],
        "virtual": [
            _kind(host, "virtual", "virtual machine"),
            _kind(host, "container", "container"),
            "" if (quota := host.get("cpu_quota")) is None else f"quota of {_brief(quota)} CPUs",
        ],
        "memory": [
            quantity(total, "B") if isinstance(total, int) else "",
            f"{quantity(swap, 'B')} of swap" if isinstance(swap, int) else "",
            f"huge pages: {_brief(thp)}" if thp else "",
        ],
        "programs": [_programs(sections.get("targets", {}))],
        "runs on": ["; ".join(map(_cpus, pinned_cpus(source.trial)))],
        "checks": [_checks(source)],
        "measured": [_measured(source.trial)],
    }
    return {name: ", ".join(filter(None, parts)) or UNKNOWN for name, parts in facts.items()}


def _kind(host: Mapping[str, Any], key: str, noun: str) -> str:
    found = host.get(key)
    if found is None:
        return f"{noun}: {UNKNOWN}"
    return f"no {noun}" if found == "none" else f"{noun}: {_brief(found)}"


def _cpus(cpus: Sequence[int] | None) -> str:
    if cpus is None:
        return "any CPU (not pinned)"
    return f"CPU{'s' * (len(cpus) != 1)} {', '.join(map(str, cpus))}"


def _programs(targets: Mapping[str, Any]) -> str:
    """Name each executable once, with its hash and the variants that it belongs to."""
    found = {name: about for name, about in targets.items() if isinstance(about, Mapping)}
    variants = {name.rpartition("/")[2] for name in targets}
    users: dict[tuple[str, str], set[str]] = {}
    for name, about in found.items():
        digest = about.get("sha256")
        hashed = "not readable" if digest is None else f"sha256 {_brief(digest)[:_DIGITS]}…"
        hashed = _EACH if of_one_session(about) else hashed
        path = _brief(about.get("resolved") or about.get("path"))
        users.setdefault((path, hashed), set()).add(name.rpartition("/")[2])
    told = []
    for (path, hashed), mine in users.items():
        some = ", ".join(sorted(map(_brief, mine)))
        whose = f" ({'the same for all variants' if mine == variants else some})"
        told.append(f"{path}, {hashed}{whose if len(variants) > 1 else ''}")
    return listed(told, _PROGRAMS, mark="; ", last="; and")


def _checks(source: Source) -> str:
    """Name the checks that failed, warned, or were not answered in any session; the worst first."""
    if not source.notes:
        return "none is recorded"
    total = np.unique(source.trial.session).size
    known = {note.check for note in source.notes if note.status in ("ok", "warn", "fail")}
    told = []
    for status, words in (("fail", "failed"), ("warn", "warned"), ("unknown", "not answered")):
        found: dict[str, set[int]] = {}
        for note in source.notes:
            if note.status == status and (status != "unknown" or note.check not in known):
                found.setdefault(note.check, set()).update(filter(None, (note.session,)))
        names = [
            " ".join((shown(check.replace("_", " ")), in_sessions(sorted(sessions), total)))
            if status != "unknown"
            else shown(check.replace("_", " "))
            for check, sessions in found.items()
        ]
        told += [f"{words}: {', '.join(names)}"] if names else []
    return "; ".join(told) or "all were well"


def _measured(trial: Trial) -> str:
    manifest = trial.manifest
    if manifest.origin == "imported":  # when it was read is no time of the measurement
        return "unknown: imported from files of another tool"
    end = f" to {_time(manifest.finished)}" if manifest.finished else ""
    told = f"{_time(manifest.started)}{end} (UTC), {manifest.status}"
    return shown(f"{told}: {manifest.reason}" if manifest.reason else told)


def _time(text: str) -> str:
    """Cut an RFC 3339 time to its minute."""
    return f"{text[:10]} {text[11:16]}" if text[10:11] == "T" else text


# --- What differed between two trials, and between the sessions of one.


Row = Mapping[str, Any]  # a name, and a cell for each session


def between(one: Source, other: Source) -> dict[str, tuple[str, str]]:
    """Give what both trials recorded when they began, and differs: both texts by the key of the record."""
    if not (one.environments and other.environments):
        return {}
    ours, theirs = _flat(one.environments[0]), _flat(other.environments[0])
    unlike = [key for key in ours if key in theirs and ours[key] != theirs[key] and key != _BOOT]
    return {shown(key): (ours[key], theirs[key]) for key in unlike[:_MOST]}


def differed_of(source: Source) -> Row:
    """Give ``sessions``, the rows of what ``differed`` between them, and a sentence on the ``same``."""
    flat = {one.session: _flat(one) for one in source.environments}
    numbers = np.unique(source.trial.session).tolist()
    sessions = sorted({*numbers, *flat})
    keys = dict.fromkeys(key for record in flat.values() for key in record)
    unlike = [key for key in keys if len({one.get(key, UNKNOWN) for one in flat.values()}) > 1]
    differed = [*_moments(source, sessions), *_counts(source.trial, sessions)]
    for key in unlike[:_MOST]:
        texts = [flat.get(n, {}).get(key, UNKNOWN) for n in sessions]
        if key == _BOOT:  # an id says nothing: boots are numbered
            order = list(dict.fromkeys(texts))
            texts = [f"{order.index(text) + 1}." for text in texts]
        name = "boot" if key == _BOOT else shown(key)
        differed.append(_row(name, [shorten(shown(text), _CELL) for text in texts]))
    if (more := len(unlike) - _MOST) > 0:
        differed.append(_row(f"and {more} more", [""] * len(sessions)))
    return {
        "sessions": list(map(str, sessions)),
        "differed": differed,
        "same": _same(source, sessions, len(keys) - len(unlike)),
    }


def _same(source: Source, sessions: Sequence[int], alike: int) -> str:
    """Say how much was recorded and did not differ."""
    recorded = {one.session for one in source.environments}
    if not recorded:
        if source.trial.outermost == "host":
            return "What differed between hosts is not told here."
        return "The trial has no record of its host: what differed between sessions is unknown."
    if len(sessions) < 2:
        return "There is one session: nothing can differ between sessions."
    missing = sum(n not in recorded for n in sessions)
    gone = f" Of {missing} of them there is no record." if missing else ""
    return f"{alike} recorded values are the same in {len(sessions)} sessions.{gone}"


def _row(name: str, cells: Sequence[Cell]) -> Row:
    return {"name": name, "cells": cells}


def _moments(source: Source, sessions: Sequence[int]) -> Iterator[Row]:
    """Give what moves by itself: when a session began, load, work of others, temperature."""
    first = {one.session: one for one in reversed(source.environments)}
    at = [first[n].at if n in first else "" for n in sessions]
    if 2 * sum(map(bool, at)) < len(at):  # looked at once a sitting
        return
    if any(at):
        one_day = len({text[:10] for text in at if text}) == 1
        seconds = len({text[:16] for text in at}) < len(at)  # sessions of seconds
        cut = slice(11 if one_day else 5, 19 if seconds else 16)
        yield _row("began, UTC", [text[cut].replace("T", " ") or UNKNOWN for text in at])
    busy = {
        note.session: note.value
        for note in source.notes
        if (note.check, note.when) == ("load", "after")
    }
    moments = {n: one.sections.get("moment", {}) for n, one in first.items()}
    for name, values in (
        ("load before", [moments.get(n, {}).get("load_1min") for n in sessions]),
        ("temperature, °C", [moments.get(n, {}).get("temperature_c") for n in sessions]),
        ("CPUs busy elsewhere", [busy.get(n) for n in sessions]),
    ):
        if any(value is not None for value in values):
            yield _row(name, list(map(_number, values)))


def _counts(trial: Trial, sessions: Sequence[int]) -> Iterator[Row]:
    """Give failed runs, and how often a session went on after it was broken off."""
    failed = [sum(run.session == n and not run.warmup for run in trial.failed) for n in sessions]
    resumed = [int(trial.segment[trial.session == n].max(initial=0)) for n in sessions]
    for name, counts in (("failed runs", failed), ("times resumed", resumed)):
        if any(counts):
            yield _row(name, [Value(str(count), count) for count in counts])


def _number(value: Any) -> Cell:  # noqa: ANN401 - JSON types
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return UNKNOWN
    return Value(f"{value:.2f}", float(value))


def _flat(one: SessionEnvironment) -> dict[str, str]:
    """Give a session's record as texts, without what moves by itself."""
    flat: dict[str, str] = {}
    for section, values in one.sections.items():
        for key, value in values.items() if section in _COMPARED else ():
            if isinstance(value, Mapping) and section in _NESTED:
                flat |= {f"{section}.{key}.{k}": _said(v) for k, v in value.items()}
            else:
                flat[f"{section}.{key}"] = (_program if section == "targets" else _said)(value)
    return flat


def _program(about: Any) -> str:  # noqa: ANN401 - JSON types
    """Write the hashes of an executable and its libraries, so that any change shows.

    What each session builds has no change but that of its commit.
    """
    if not isinstance(about, Mapping):
        return UNKNOWN
    digest, libraries = about.get("sha256"), about.get("libraries")
    hashes = sorted(
        str(one.get("sha256"))[:8]
        for one in (libraries.values() if isinstance(libraries, Mapping) else ())
        if isinstance(one, Mapping) and not of_one_session(one)
    )
    if of_one_session(about):
        commit = commit_of(about)
        return " ".join([_EACH, *([commit[:12]] if commit else []), *hashes])
    return " ".join([digest[:12] if isinstance(digest, str) else "not readable", *hashes])


def _said(value: Any) -> str:  # noqa: ANN401 - JSON types
    """Write a recorded value."""
    if value is None or value in ({}, []):
        return UNKNOWN
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        text = "; ".join(f"{key}: {_said(item)}" for key, item in value.items())
    elif isinstance(value, list):
        text = " / ".join("unlimited" if item is None else str(item) for item in value)
    else:
        text = str(value) if value != "" else "none"
    return shown(without_homes(text))[:_LONGEST]


def _brief(value: object) -> str:
    """Shorten what others wrote."""
    return shorten(shown(str(value)), _PART)
