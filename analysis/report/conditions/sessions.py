"""What differed between the sessions of a trial, what did not, and what the checks of the host found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...data.host_record import HostNote, without_homes
from ...diagnose.wording import in_sessions
from ...pages.model import Cell, Value
from ...words import shorten, shown
from .facts import UNKNOWN, Source, named, said
from .result import Answer, Row

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
_WORST = ("fail", "warn", "unknown")
_KEY = {"host.boot_id": "boot"}
_MOST = 40  # keys that differ and are shown
_CELL = 24  # characters


def sessions_of(source: Source) -> tuple[int, ...]:
    """Give the numbers of the sessions that have a run, or a record."""
    there = {int(number) for number in np.unique(source.trial.session)}
    return tuple(sorted(there | {one.session for one in source.environments}))


def differed(source: Source) -> tuple[Row, ...]:
    """Give a row for each thing that is not alike in all sessions."""
    sessions = sessions_of(source)
    rows = [*_moments(source, sessions), *_counts(source, sessions)]
    flat = _flat(source)
    keys = dict.fromkeys(key for record in flat.values() for key in record)
    unlike = [key for key in keys if not _alike(flat, sessions, key)]
    for key in unlike[:_MOST]:
        texts = [flat[n].get(key, UNKNOWN) if n in flat else UNKNOWN for n in sessions]
        if key in _KEY:  # an id says nothing: boots are numbered
            order = list(dict.fromkeys(texts))
            texts = [f"{order.index(text) + 1}." for text in texts]
        cells = tuple(shorten(shown(text), _CELL) for text in texts)
        rows.append(Row(name=shown(_KEY.get(key, key)), cells=cells, marked=(False,) * len(cells)))
    if len(unlike) > _MOST:
        count = len(unlike) - _MOST
        cells = ("",) * len(sessions)
        rows.append(Row(name=f"and {count} more", cells=cells, marked=(False,) * len(cells)))
    return tuple(rows)


def the_same(source: Source) -> str:
    """Say what was recorded and did not differ."""
    sessions = sessions_of(source)
    flat = _flat(source)
    if not flat:
        if source.trial.outermost == "host":
            return "What differed between hosts is not told here."
        return "The trial has no record of its host: what differed between sessions is unknown."
    if len(sessions) < 2:
        return "There is one session: nothing can differ between sessions."
    keys = dict.fromkeys(key for record in flat.values() for key in record)
    unlike = {key.partition(".")[0] for key in keys if not _alike(flat, sessions, key)}
    there = {key.partition(".")[0] for key in keys}
    same = [words for group, words in _GROUPS.items() if group in there - unlike]
    count = "both" if len(sessions) == 2 else f"all {len(sessions)}"
    missing = [n for n in sessions if n not in flat]
    gone = f" Of {len(missing)} of them there is no record." if missing else ""
    if not same:
        return f"Nothing that was recorded is alike in {count} sessions.{gone}"
    return f"The same in {count} sessions: {named(same)}.{gone}"


def answers_of(source: Source) -> tuple[Answer, ...]:
    """Give the checks' answers that are not "ok", the worst first; each check's by status."""
    groups: dict[tuple[str, str], list[HostNote]] = {}
    for note in source.record.notes:
        if note.status in _WORST:
            groups.setdefault((note.status, note.check), []).append(note)
    total = len(sessions_of(source))
    found = []
    for (status, check), notes in sorted(groups.items(), key=lambda item: _WORST.index(item[0][0])):
        sessions = sorted({note.session for note in notes if note.session is not None})
        texts = tuple(dict.fromkeys(without_homes(note.what) for note in notes))
        more = f" (and {len(texts) - 1} like it)" if len(texts) > 1 else ""
        found.append(
            Answer(
                check=shown(check.replace("_", " ")),
                status=status,
                sessions=in_sessions(sessions, total).removeprefix("in "),
                text=shown(texts[0]) + more,
            )
        )
    return tuple(found)


def well(source: Source) -> str:
    """Say which checks were always well."""
    notes = source.record.notes
    if not notes:
        return "The trial holds no answers of checks of its host."
    bad = {note.check for note in notes if note.status in _WORST}
    good = dict.fromkeys(note.check for note in notes if note.status == "ok")
    names = [shown(check.replace("_", " ")) for check in good if check not in bad]
    return (
        f"Well in every answer: {named(names)}." if names else "No check was well in every answer."
    )


def _moments(source: Source, sessions: Sequence[int]) -> Iterator[Row]:
    """Give what moves by itself: when a session began, load, work of others, temperature."""
    first = {one.session: one for one in reversed(source.environments)}
    at = [first[n].at if n in first else "" for n in sessions]
    if any(at):
        days = {text[:10] for text in at if text}
        cut = slice(11, 16) if len(days) == 1 else slice(5, 16)
        if len({text[:16] for text in at}) < len(at):  # sessions of seconds
            cut = slice(cut.start, 19)
        cells = tuple(text[cut].replace("T", " ") or UNKNOWN for text in at)
        yield Row(name="began, UTC", cells=cells, marked=(False,) * len(cells))
    notes = {(n.session, n.check, n.when): n for n in source.record.notes}
    for name, key in (("load before", "load_1min"), ("temperature, °C", "temperature_c")):
        found = [
            first[n].sections.get("moment", {}).get(key) if n in first else None for n in sessions
        ]
        if any(value is not None for value in found):
            check = "load" if key == "load_1min" else "temperature"
            yield Row(
                name=name,
                cells=tuple(_number(value) for value in found),
                marked=tuple(_warned(notes.get((n, check, "before"))) for n in sessions),
            )
    after = [notes.get((n, "load", "after")) for n in sessions]
    if any(note is not None and note.value is not None for note in after):
        yield Row(
            name="CPUs busy elsewhere",
            cells=tuple(_number(None if note is None else note.value) for note in after),
            marked=tuple(_warned(note) for note in after),
        )


def _counts(source: Source, sessions: Sequence[int]) -> Iterator[Row]:
    """Give failed runs, and how often a session went on after it was broken off."""
    trial = source.trial
    failed = [sum(run.session == n and not run.warmup for run in trial.failed) for n in sessions]
    if any(failed):
        yield _row("failed runs", failed)
    resumed = [int(trial.segment[trial.session == n].max(initial=0)) for n in sessions]
    if any(resumed):
        yield _row("times resumed", resumed)


def _row(name: str, counts: Sequence[int]) -> Row:
    return Row(
        name=name,
        cells=tuple(Value(str(count), count) for count in counts),
        marked=tuple(count > 0 for count in counts),
    )


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
        flat = {}
        for section, values in one.sections.items():
            if section not in _GROUPS:
                continue
            for key, value in values.items():
                if isinstance(value, Mapping) and section in ("kernel", "tools", "process"):
                    flat.update({f"{section}.{key}.{k}": said(v) for k, v in value.items()})
                elif section == "targets":
                    flat[f"{section}.{key}"] = _program(value)
                else:
                    flat[f"{section}.{key}"] = said(value)
        found[one.session] = flat
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


def _alike(flat: Mapping[int, Mapping[str, str]], sessions: Sequence[int], key: str) -> bool:
    return len({flat[n].get(key, UNKNOWN) for n in sessions if n in flat}) < 2
