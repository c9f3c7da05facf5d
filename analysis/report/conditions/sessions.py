"""What differed between the sessions of a trial, what did not, and what the checks of the host found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...data.host_record import HostNote, without_homes
from ...diagnose.wording import in_sessions
from ...pages.model import Cell, Value
from ...words import shorten, shown
from .facts import UNKNOWN, Source, check_name, said

__all__ = ["answers_of", "differed", "sessions_of", "the_same", "well"]

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
_MOST = 40  # keys that differ and are shown
_CELL = 24  # characters


def sessions_of(source: Source) -> tuple[int, ...]:
    """Give the numbers of the sessions that have a run, or a record."""
    there = {int(number) for number in np.unique(source.trial.session)}
    return tuple(sorted(there | {one.session for one in source.environments}))


def differed(source: Source) -> list[dict[str, Any]]:
    """Give a row for each thing that is not alike in all sessions.

    Of its `cells`, one for each session, those are `marked` of which a check of the host warned.
    """
    sessions, flat = sessions_of(source), _flat(source)
    unlike = [key for key in _keys(flat) if not _alike(flat, key)]
    rows = [*_moments(source, sessions), *_counts(source, sessions)]
    for key in unlike[:_MOST]:
        texts = [flat.get(n, {}).get(key, UNKNOWN) for n in sessions]
        if key == _BOOT:  # an id says nothing: boots are numbered
            order = list(dict.fromkeys(texts))
            texts = [f"{order.index(text) + 1}." for text in texts]
        name = "boot" if key == _BOOT else shown(key)
        rows.append(_row(name, [shorten(shown(text), _CELL) for text in texts]))
    if (more := len(unlike) - _MOST) > 0:
        rows.append(_row(f"and {more} more", [""] * len(sessions)))
    return rows


def the_same(source: Source) -> str:
    """Say what was recorded and did not differ."""
    sessions, flat = sessions_of(source), _flat(source)
    if not flat:
        if source.trial.outermost == "host":
            return "What differed between hosts is not told here."
        return "The trial has no record of its host: what differed between sessions is unknown."
    if len(sessions) < 2:
        return "There is one session: nothing can differ between sessions."
    groups = {_group(key) for key in _keys(flat)}
    groups -= {_group(key) for key in _keys(flat) if not _alike(flat, key)}
    same = [words for group, words in _GROUPS.items() if group in groups]
    count = "both" if len(sessions) == 2 else f"all {len(sessions)}"
    missing = sum(n not in flat for n in sessions)
    gone = f" Of {missing} of them there is no record." if missing else ""
    if not same:
        return f"Nothing that was recorded is alike in {count} sessions.{gone}"
    return f"The same in {count} sessions: {_joined(same)}.{gone}"


def answers_of(source: Source) -> list[dict[str, str]]:
    """Give the checks' answers that are not "ok", the worst first; each check's by status."""
    groups: dict[tuple[str, str], list[HostNote]] = {}
    for note in source.notes:
        if note.status in _WORST:
            groups.setdefault((note.status, note.check), []).append(note)
    total = len(sessions_of(source))
    found = []
    for (status, check), notes in sorted(groups.items(), key=lambda item: _WORST.index(item[0][0])):
        sessions = sorted({note.session for note in notes if note.session is not None})
        texts = tuple(dict.fromkeys(without_homes(note.what) for note in notes))
        more = f" (and {len(texts) - 1} like it)" if len(texts) > 1 else ""
        found.append(
            {
                "check": check_name(check),
                "status": status,
                "sessions": in_sessions(sessions, total).removeprefix("in "),
                "text": shown(texts[0]) + more,
            }
        )
    return found


def well(source: Source) -> str:
    """Say which checks were always well."""
    if not source.notes:
        return "The trial holds no answers of checks of its host."
    bad = {note.check for note in source.notes if note.status in _WORST}
    good = dict.fromkeys(note.check for note in source.notes if note.status == "ok")
    names = [check_name(check) for check in good if check not in bad]
    return (
        f"Well in every answer: {_joined(names)}."
        if names
        else "No check was well in every answer."
    )


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _row(name: str, cells: Sequence[Cell], marked: Sequence[bool] = ()) -> dict[str, Any]:
    return {"name": name, "cells": cells, "marked": marked or [False] * len(cells)}


def _moments(source: Source, sessions: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Give what moves by itself: when a session began, load, work of others, temperature."""
    first = {one.session: one for one in reversed(source.environments)}
    at = [first[n].at if n in first else "" for n in sessions]
    if any(at):
        one_day = len({text[:10] for text in at if text}) == 1
        seconds = len({text[:16] for text in at}) < len(at)  # sessions of seconds
        cut = slice(11 if one_day else 5, 19 if seconds else 16)
        yield _row("began, UTC", [text[cut].replace("T", " ") or UNKNOWN for text in at])
    notes = {(n.session, n.check, n.when): n for n in source.notes}
    for name, key, check in (
        ("load before", "load_1min", "load"),
        ("temperature, °C", "temperature_c", "temperature"),
    ):
        found = [
            first[n].sections.get("moment", {}).get(key) if n in first else None for n in sessions
        ]
        if any(value is not None for value in found):
            before = [_warned(notes.get((n, check, "before"))) for n in sessions]
            yield _row(name, list(map(_number, found)), before)
    after = [notes.get((n, "load", "after")) for n in sessions]
    values = [None if note is None else note.value for note in after]
    if any(value is not None for value in values):
        yield _row("CPUs busy elsewhere", list(map(_number, values)), list(map(_warned, after)))


def _counts(source: Source, sessions: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Give failed runs, and how often a session went on after it was broken off."""
    trial = source.trial
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


def _warned(note: HostNote | None) -> bool:
    return note is not None and note.status in ("warn", "fail")


def _flat(source: Source) -> dict[int, dict[str, str]]:
    """Give the last record of each session as texts, without what moves by itself."""
    found: dict[int, dict[str, str]] = {}
    for one in source.environments:
        flat: dict[str, str] = {}
        found[one.session] = flat
        for section, values in one.sections.items():
            if section not in _GROUPS:
                continue
            for key, value in values.items():
                if isinstance(value, Mapping) and section in _NESTED:
                    flat |= {f"{section}.{key}.{k}": said(v) for k, v in value.items()}
                else:
                    write = _program if section == "targets" else said
                    flat[f"{section}.{key}"] = write(value)
    return found


def _program(about: Any) -> str:  # noqa: ANN401 - JSON types
    """Write the hashes of an executable and its libraries, so that any change shows."""
    if not isinstance(about, Mapping):
        return UNKNOWN
    digest = about.get("sha256")
    libraries = about.get("libraries")
    needed = libraries.values() if isinstance(libraries, Mapping) else ()
    hashes = sorted(str(one.get("sha256"))[:8] for one in needed if isinstance(one, Mapping))
    return " ".join([digest[:12] if isinstance(digest, str) else "not readable", *hashes])


def _keys(flat: Mapping[int, Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(key for record in flat.values() for key in record))


def _group(key: str) -> str:
    return key.partition(".")[0]


def _alike(flat: Mapping[int, Mapping[str, str]], key: str) -> bool:
    return len({record.get(key, UNKNOWN) for record in flat.values()}) < 2
