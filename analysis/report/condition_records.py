"""What was recorded beside the runs of a trial, in words; what is not known is said to be unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.host_record import (
    HostNote,
    SessionEnvironment,
    read_environments,
    read_host_record,
    without_homes,
)
from ..data.protocol import pinned_cpus, settings_of
from ..diagnose.result import in_sessions
from ..pages.model import Cell, Value
from ..pages.number_format import counted, listed, quantity
from ..record.environment import commit_of, of_one_session
from ..words import shorten, shown
from .methods_text import joined

if TYPE_CHECKING:
    from ..data.trial import Trial

__all__ = ["UNKNOWN", "Source", "facts_of", "recorded", "sessions_told", "source_of"]

UNKNOWN = "unknown"
_PROGRAMS = 4  # that are named
_DIGITS = 12  # of a hash
_LONGEST = 640  # characters of a recorded text
_EACH = "built by each session"
_PART = 60  # and of one within a fact
_MACHINE = {"none": "no virtual machine", None: "whether it is a virtual machine is unknown"}
_INSIDE = {"none": "no container", None: "whether in a container is unknown"}
_HELD = {"pid": "a PID namespace", "user": "a user and PID namespace", "none": "no namespace"}
_ORDER = {
    "shuffled": "blocks of all in a new order each",
    "interleaved": "blocks of all in the same order",
    "alternating": "blocks of all, forwards and backwards by turns",
    "drawn-start": "blocks of all, forwards and backwards by turns, from a drawn start",
    "sequential": "one benchmark and variant after the other",
}
_GROUPS = {
    "host": "host",
    "cpu": "processor and its settings",
    "memory": "memory",
    "kernel": "kernel",
    "tools": "tools",
    "process": "limits",
    "targets": "programs and libraries",
    "inputs": "inputs",
    "variables": "variables",
}
_NESTED = ("kernel", "tools", "process")  # groups in which a mapping's keys are told one by one
_WORST = ("fail", "warn", "unknown")
_BOOT = "host.boot_id"
_MOST = 40  # keys that differ between sessions and are shown
_CELL = 24  # characters of a session's cell
_NOT_LISTED = {"moment", "inputs"}
_NOT_TOLD = {"host.machine_id_sha256", "host.boot_id", "cpu.flags_sha256"}


class Source(NamedTuple):
    """A trial with what was recorded beside its runs; `sections` are those of the first record."""

    trial: Trial
    environments: tuple[SessionEnvironment, ...]
    sections: Mapping[str, Mapping[str, Any]]
    notes: tuple[HostNote, ...]
    settings: Mapping[str, Any]

    def first(self, section: str) -> Mapping[str, Any]:
        """Give a section of the first session's record; empty where there is none."""
        return self.sections.get(section, {})

    def chosen(self, name: str) -> Mapping[str, Any]:
        """Give a group of the campaign's settings; empty where it is unknown."""
        found = self.settings.get(name)
        return found if isinstance(found, Mapping) else {}


def source_of(trial: Trial) -> Source:
    """Read what was recorded beside the runs of a trial."""
    environments = read_environments(trial.path)
    return Source(
        trial=trial,
        environments=environments,
        sections=environments[0].sections if environments else {},
        notes=read_host_record(trial.path).notes,
        settings=settings_of(trial.path),
    )


def facts_of(source: Source) -> dict[str, str]:
    """Give what a reader needs, by name, in the order in which it is shown."""
    return {
        "host": ", ".join(_host(source)),
        "system": _system(source) or UNKNOWN,
        "virtual": ", ".join(_virtual(source.first("host"))),
        "memory": ", ".join(_memory(source.first("memory"))) or UNKNOWN,
        "programs": _programs(source.first("targets")) or UNKNOWN,
        "runs on": "; ".join(map(_cpus, pinned_cpus(source.trial))) or UNKNOWN,
        "isolation": ", ".join(_isolation(source)) or UNKNOWN,
        "not known": _unanswered(source.notes),
        "measured": _measured(source.trial),
        "protocol": ", ".join(_protocol(source)),
        "made with": ", ".join(_tools(source)),
    }


def recorded(source: Source) -> dict[str, str]:
    """Give everything of the first session's record, by the keys of its sections."""
    found: dict[str, str] = {}
    for section, values in source.sections.items():
        if section == "targets":
            found |= _targets(values)
        elif section not in _NOT_LISTED:
            for key, value in values.items():
                if (name := f"{section}.{key}") not in _NOT_TOLD:
                    empty = name == "cpu.siblings" and value == {}
                    found[shown(name)] = "none" if empty else _said(value)
    return found


# --- the facts


def _host(source: Source) -> Iterator[str]:
    cpu, manifest = source.first("cpu"), source.trial.manifest
    yield _brief(source.first("host").get("name") or manifest.host or "name unknown")
    yield _brief(cpu.get("model") or manifest.cpu_model or "processor unknown")
    cores, packages = cpu.get("cores"), cpu.get("packages")
    if isinstance(cores, int):
        several = isinstance(packages, int) and packages > 1
        yield counted(cores, "core") + (f" in {packages} sockets" if several else "")
    if online := cpu.get("online"):
        yield f"CPUs {_brief(online)}"


def _system(source: Source) -> str:
    kernel = source.first("kernel")
    parts = (
        kernel.get("release") and f"Linux {kernel['release']}",
        kernel.get("distribution"),
        kernel.get("architecture"),
        source.first("tools").get("libc"),
    )
    return ", ".join(_brief(part) for part in parts if part)


def _virtual(host: Mapping[str, Any]) -> Iterator[str]:
    virtual, container, quota = (_known(host, key) for key in ("virtual", "container", "cpu_quota"))
    yield _MACHINE.get(virtual, f"a virtual machine ({virtual})")
    yield _INSIDE.get(container, f"in a container ({container})")
    if quota is not None:
        yield f"with a quota of {quota} CPUs"


def _memory(memory: Mapping[str, Any]) -> Iterator[str]:
    total, swap, thp = (memory.get(key) for key in ("total_bytes", "swap_total_bytes", "thp"))
    if isinstance(total, int):
        yield quantity(total, "B")
        if isinstance(swap, int):
            yield f"{quantity(swap, 'B')} of swap" if swap else "no swap"
        if thp:
            yield f"huge pages: {_brief(thp)}"


def _programs(targets: Mapping[str, Any]) -> str:
    """Name each executable once, with its hash and the variants that it belongs to."""
    variant_of = {name: name.rpartition("/")[2] for name in targets}
    variants = set(variant_of.values())
    users: dict[tuple[str, str], set[str]] = {}
    for name, about in _mappings(targets):
        digest = _known(about, "sha256")
        hashed = "not readable" if digest is None else f"sha256 {digest[:_DIGITS]}…"
        hashed = _EACH if of_one_session(about) else hashed
        users.setdefault((_path(about), hashed), set()).add(variant_of[name])
    told = []
    for (path, hashed), mine in users.items():
        some = ", ".join(sorted(map(_brief, mine)))
        whose = f" ({'the same for all variants' if mine == variants else some})"
        told.append(f"{_brief(path)}, {hashed}{whose if len(variants) > 1 else ''}")
    return listed(told, _PROGRAMS, mark="; ", last="; and")


def _targets(targets: Mapping[str, Any]) -> dict[str, str]:
    """Give the hash of each executable, and then of each library, once."""
    programs = [about for _, about in _mappings(targets)]
    libraries = [pair for about in programs for pair in _mappings(about.get("libraries"))]
    named = [(f"program {shown(_path(about))}", about) for about in programs]
    named += [(f"library {shown(name)}", about) for name, about in libraries]
    first = f"; the first session's, {_EACH}"
    return {
        name: f"sha256 {digest}{first if of_one_session(about) else ''}"
        if (digest := about.get("sha256"))
        else UNKNOWN
        for name, about in named
    }


def _mappings(found: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give the mappings in a mapping; of what a trial's files hold else nothing is as it should be."""
    for name, about in found.items() if isinstance(found, Mapping) else ():
        if isinstance(about, Mapping):
            yield str(name), about


def _path(about: Mapping[str, Any]) -> str:
    return str(about.get("resolved") or about.get("path"))


def _cpus(cpus: Sequence[int] | None) -> str:
    if cpus is None:
        return "any CPU (not pinned)"
    return f"CPU{'s' * (len(cpus) != 1)} {', '.join(map(str, cpus))}"


def _isolation(source: Source) -> Iterator[str]:
    settings = source.chosen("isolation")
    aslr, padding, limits = (settings.get(key) for key in ("aslr", "padding", "limits"))
    if isinstance(aslr, bool):
        yield f"{'a new' if aslr else 'the same'} address layout for each run"
    if padding is not None:
        amount = "at random" if padding == "random" else f"by {_brief(padding)} bytes"
        yield f"environment padded {amount}"
    for key, usual in (("nice", None), ("scheduling", "other")):
        if settings.get(key) not in (None, usual):
            yield f"{key} {_known(settings, key)}"
    if isinstance(limits, Mapping) and limits:
        yield f"limits: {', '.join(f'{_brief(key)} {_known(limits, key)}' for key in limits)}"
    if (contained := _known(source.first("process"), "containment")) is not None:
        yield f"processes held by {_HELD.get(contained, contained)}"


def _unanswered(notes: tuple[HostNote, ...]) -> str:
    """Name the checks that nobody could answer in any session."""
    if not notes:
        return "no check of the host is recorded"
    known = {note.check for note in notes if note.status in ("ok", "warn", "fail")}
    asked = dict.fromkeys(note.check for note in notes if note.status == "unknown")
    names = [_check_name(check) for check in asked if check not in known]
    return ", ".join(names) or "nothing: every check was answered"


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


def _protocol(source: Source) -> Iterator[str]:
    manifest, settings = source.trial.manifest, source.chosen("protocol")
    noun = source.trial.outermost
    yield (
        f"{counted(manifest.sessions, noun)} {'of' if noun == 'session' else 'with'} "
        f"{'at most ' if manifest.stop is not None else ''}{counted(manifest.runs, 'run')} "
        "of each benchmark and variant"
    )
    warmup = manifest.warmup
    yield f"{counted(warmup, 'warm-up run')} of each before" if warmup else "no warm-up runs"
    yield _ORDER.get(str(settings.get("order")), "order unknown")
    for key, words in (("timeout_s", "timeout"), ("cooldown_s", "cooldown"), ("pause_s", "pause")):
        if isinstance(value := settings.get(key), (int, float)) and value > 0:
            yield f"{words} {quantity(value, 's')}"
    if manifest.stop is not None:
        yield f"a stopping rule: width {manifest.stop.width:g}"
    if manifest.repeating:
        yield "disturbed runs repeated at most twice"
    if manifest.appended:
        yield f"sessions were appended {len(manifest.appended)} times"
    if manifest.merged_from:
        yield f"merged from {len(manifest.merged_from)} trials"
    yield f"seed {manifest.seed}"


def _tools(source: Source) -> Iterator[str]:
    tools = source.first("tools")
    yield f"fairtrial {_brief(source.trial.manifest.tool_version)}"
    if python := tools.get("python"):
        yield f"{_brief(tools.get('python_implementation') or 'Python')} {_brief(python)}"


# --- the sessions


def sessions_told(source: Source) -> dict[str, Any]:
    """Say what differed between the sessions, what did not, and what the checks of the host answered."""
    flat = _flat(source)
    numbers = np.unique(source.trial.session).tolist()
    sessions = sorted({*numbers, *(one.session for one in source.environments)})
    keys = dict.fromkeys(key for record in flat.values() for key in record)
    unlike = [key for key in keys if len({one.get(key, UNKNOWN) for one in flat.values()}) > 1]
    changed = {key.partition(".")[0] for key in unlike}
    same = {key.partition(".")[0] for key in keys} - changed
    return {
        "sessions": list(map(str, sessions)),
        "differed": [
            *_moments(source, sessions),
            *_counts(source.trial, sessions),
            *_changed(flat, sessions, unlike),
        ],
        "same": _same(source, flat, sessions, same),
        "answers": list(_answers(source.notes, len(sessions))),
        "well": _well(source.notes),
    }


def _changed(
    flat: Mapping[int, Mapping[str, str]], sessions: Sequence[int], unlike: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Give what is not alike in all sessions."""
    for key in unlike[:_MOST]:
        texts = [flat.get(n, {}).get(key, UNKNOWN) for n in sessions]
        if key == _BOOT:  # an id says nothing: boots are numbered
            order = list(dict.fromkeys(texts))
            texts = [f"{order.index(text) + 1}." for text in texts]
        name = "boot" if key == _BOOT else shown(key)
        yield _row(name, [shorten(shown(text), _CELL) for text in texts])
    if (more := len(unlike) - _MOST) > 0:
        yield _row(f"and {more} more", [""] * len(sessions))


def _same(
    source: Source, flat: Collection[int], sessions: Sequence[int], groups: Collection[str]
) -> str:
    """Say what was recorded and did not differ."""
    if not flat:
        if source.trial.outermost == "host":
            return "What differed between hosts is not told here."
        return "The trial has no record of its host: what differed between sessions is unknown."
    if len(sessions) < 2:
        return "There is one session: nothing can differ between sessions."
    count = "both" if len(sessions) == 2 else f"all {len(sessions)}"
    missing = sum(n not in flat for n in sessions)
    gone = f" Of {missing} of them there is no record." if missing else ""
    if same := [words for group, words in _GROUPS.items() if group in groups]:
        return f"The same in {count} sessions: {joined(same)}.{gone}"
    return f"Nothing that was recorded is alike in {count} sessions.{gone}"


def _answers(notes: Iterable[HostNote], total: int) -> Iterator[dict[str, str]]:
    """Give the checks' answers that are not "ok", the worst first; each check's by status."""
    groups: dict[tuple[str, str], list[HostNote]] = {}
    for note in notes:
        if note.status in _WORST:
            groups.setdefault((note.status, note.check), []).append(note)
    for status, check in sorted(groups, key=lambda group: _WORST.index(group[0])):
        group = groups[status, check]
        sessions = sorted({note.session for note in group if note.session is not None})
        first, *others = dict.fromkeys(without_homes(note.what) for note in group)
        yield {
            "check": _check_name(check),
            "status": status,
            "sessions": in_sessions(sessions, total).removeprefix("in "),
            "text": shown(first) + (f" (and {len(others)} like it)" if others else ""),
        }


def _well(notes: Collection[HostNote]) -> str:
    """Say which checks were always well."""
    if not notes:
        return "The trial holds no answers of checks of its host."
    bad = {note.check for note in notes if note.status in _WORST}
    good = dict.fromkeys(note.check for note in notes if note.status == "ok")
    names = joined([_check_name(check) for check in good if check not in bad])
    return f"Well in every answer: {names}." if names else "No check was well in every answer."


def _row(name: str, cells: Sequence[Cell], marked: Sequence[bool] = ()) -> dict[str, Any]:
    return {"name": name, "cells": cells, "marked": marked or [False] * len(cells)}


def _moments(source: Source, sessions: Sequence[int]) -> Iterator[dict[str, Any]]:
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
    notes = {(n.session, n.check, n.when): n for n in source.notes}
    before, heat, after = (
        [notes.get((n, check, when)) for n in sessions]
        for check, when in (("load", "before"), ("temperature", "before"), ("load", "after"))
    )
    moments = [first[n].sections.get("moment", {}) if n in first else {} for n in sessions]
    for name, values, answers in (
        ("load before", [one.get("load_1min") for one in moments], before),
        ("temperature, °C", [one.get("temperature_c") for one in moments], heat),
        ("CPUs busy elsewhere", [note and note.value for note in after], after),
    ):
        if any(value is not None for value in values):
            warned = [note is not None and note.status in ("warn", "fail") for note in answers]
            yield _row(name, list(map(_number, values)), warned)


def _counts(trial: Trial, sessions: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Give failed runs, and how often a session went on after it was broken off."""
    failed = [sum(run.session == n and not run.warmup for run in trial.failed) for n in sessions]
    resumed = [int(trial.segment[trial.session == n].max(initial=0)) for n in sessions]
    for name, counts in (("failed runs", failed), ("times resumed", resumed)):
        if any(counts):
            cells = [Value(str(count), count) for count in counts]
            yield _row(name, cells, [count > 0 for count in counts])


def _number(value: Any) -> Cell:  # noqa: ANN401 - JSON types
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return UNKNOWN
    return Value(f"{value:.2f}", float(value))


def _flat(source: Source) -> dict[int, dict[str, str]]:
    """Give the last record of each session as texts, without what moves by itself."""
    found: dict[int, dict[str, str]] = {}
    for one in source.environments:
        flat = found[one.session] = dict[str, str]()
        for section, values in one.sections.items():
            if section not in _GROUPS:
                continue
            for key, value in values.items():
                if isinstance(value, Mapping) and section in _NESTED:
                    flat |= {f"{section}.{key}.{k}": _said(v) for k, v in value.items()}
                else:
                    write = _program if section == "targets" else _said
                    flat[f"{section}.{key}"] = write(value)
    return found


def _program(about: Any) -> str:  # noqa: ANN401 - JSON types
    """Write the hashes of an executable and its libraries, so that any change shows.

    What each session builds has no change but that of its commit.
    """
    if not isinstance(about, Mapping):
        return UNKNOWN
    digest = about.get("sha256")
    libraries = [one for _, one in _mappings(about.get("libraries")) if not of_one_session(one)]
    hashes = sorted(str(one.get("sha256"))[:8] for one in libraries)
    if of_one_session(about):
        commit = commit_of(about)
        return " ".join([_EACH, *([commit[:12]] if commit else []), *hashes])
    return " ".join([digest[:12] if isinstance(digest, str) else "not readable", *hashes])


# --- values as texts


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
    text = shown(without_homes(text))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _check_name(check: str) -> str:
    """Write the name of a check."""
    return shown(check.replace("_", " "))


def _known(values: Mapping[str, Any], key: str) -> str | None:
    """Give a value that should be short as text; None where it is unknown."""
    value = values.get(key)
    return None if value is None else _brief(value)


def _brief(value: object) -> str:
    """Shorten what others wrote; the whole of it stands in the folded table."""
    return shorten(shown(str(value)), _PART)
