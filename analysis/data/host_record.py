"""What a trial recorded of its host and says of its campaign. Of its host: the state at the begin of each session, checks, programs executed.

What names a laboratory's infrastructure or a person is taken out here: the kernel's boot arguments,
names of variables with their hashes, variables that hold places, the working directory. Home
directories are written as ``~``.

The judge reads both files of the runner here. What cannot be read of them tells nothing: an ended
trial's hashes are verified when it is read, and the last line of another one may be torn.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import StoreError, UsageError
from ..pages import number_format as figures
from ..pages.model import LONGEST, Caution, ShortSentence, plain
from ..record.environment import places_of, whole_targets
from ..record.manifest import read_manifest
from ..record.shapes import opened, readable_rows
from ..record.trial_files import (
    CAMPAIGN,
    ENERGY_METRICS,
    ENVIRONMENT,
    FINDINGS,
    OUTPUTS,
    RESOLVED,
)
from ..words import command_line
from .runs import Runs, differing

ABSENT = object()  # the value of a setting that a campaign has not
BOOT_ARGUMENTS = "kernel.boot_arguments"
_SECTIONS = ("host", "cpu", "memory", "kernel", "tools", "process", "targets", "inputs", "moment")
_LEFT_OUT = {("kernel", "boot_arguments"), ("process", "cwd")}
_PLACES = {"PATH", "HOME", "PWD", "OLDPWD", "TMPDIR", "SHELL"}
_HOME = re.compile(  # also behind an option's letter, as in -I/home/jane
    r"(?:(?<![\w.~-])|(?<=-[A-Za-z]))(?:(?:/home|/Users)/[^/\s:;,'\"()<>|]+|/root(?=/|\s|$))"
)

_HOMES = ("/home/", "/Users/", "/root")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnvironment:
    """The environment of a session: a line of ``environment.jsonl``, or what one of a whole sitting says of it.

    `segment` counts how often the session was resumed, `at` is the time of the record, "" where it
    is not known: in a sitting it, and what moves by itself, are those of its first session. `sections` holds those of ``docs/environment.md`` that are there: name -> key ->
    value, None for what is unknown.
    """

    session: int
    segment: int
    at: str
    sections: Mapping[str, Mapping[str, Any]]


def read_environments(trial: Path) -> tuple[SessionEnvironment, ...]:
    """Read the environments of a trial in the order in which they were recorded."""
    found = []
    most = 0  # where nobody can tell
    with suppress(StoreError):
        most = read_manifest(trial).sessions
    for row in readable_rows(trial / ENVIRONMENT):
        if isinstance(targets := row.get("targets"), dict):
            row["targets"] = whole_targets(targets)
        session, segment, at = row.get("session"), row.get("segment", 0), row.get("at")
        if type(session) is not int or type(segment) is not int:
            continue
        sections = {
            name: {key: _safe(v) for key, v in section.items() if (name, key) not in _LEFT_OUT}
            for name in _SECTIONS
            if isinstance(section := row.get(name), dict)
        }
        if isinstance(variables := row.get("variables"), dict):
            kept = {key: _safe(value) for key, value in variables.items() if key not in _PLACES}
            sections["variables"] = kept
        if isinstance(containment := row.get("containment"), str):
            sections.setdefault("process", {})["containment"] = containment
        still = {name: section for name, section in sections.items() if name != "moment"}
        for place in places_of(row, most):
            own = place == (session, segment)
            at = at if own and isinstance(at, str) else ""
            known = sections if own else still
            found.append(
                SessionEnvironment(session=place[0], segment=place[1], at=at, sections=known)
            )
    return tuple(found)


def without_homes(text: str) -> str:
    """Write home directories as ``~``: they name people."""
    if not any(place in text for place in _HOMES):
        return text  # as nearly all: hashes, versions, places of the system
    return _HOME.sub("~", text)


def _safe(value: Any) -> Any:  # noqa: ANN401 - JSON types
    if isinstance(value, str):
        return without_homes(value)
    if isinstance(value, dict):
        return {without_homes(str(key)): _safe(item) for key, item in value.items()}
    return [_safe(item) for item in value] if isinstance(value, list) else value


_GAPS = "gaps"  # the look at the clock before each session
_NUMBER = re.compile(r" = (-?\d+(?:\.\d+)?)(?: [a-z%]+)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostNote:
    """A finding of the runner: a line of ``findings.jsonl``.

    `session` is None for what is not about one in particular. `where` says where it was read, with
    the value, None if unknown. The kernel's boot arguments are never quoted: they name a laboratory's
    infrastructure.
    """

    session: int | None
    when: str
    check: str
    status: str
    what: str
    where: str | None = None

    @property
    def value(self) -> float | None:
        """The number that was read, where there is one: 1.39 of ``/proc/loadavg = 1.39``."""
        found = _NUMBER.search(self.where or "")
        return None if found is None else float(found.group(1))


def read_notes(trial: Path) -> Iterator[HostNote]:
    """Read the findings of a trial, in the order in which they were recorded."""
    for row in readable_rows(trial / FINDINGS):
        texts = [row.get(key) for key in ("when", "check", "status", "what", "where")]
        when, check, status, what, where = (one if isinstance(one, str) else "" for one in texts)
        if where == BOOT_ARGUMENTS:
            what = "the list of boot arguments changed"
        yield HostNote(
            session=session if type(session := row.get("session")) is int else None,
            when=when,
            check=check,
            status=status,
            what=what.splitlines()[0].rstrip(":") if what else "what is not said",
            where=where if isinstance(texts[-1], str) else None,
        )


def most_lost(trial: Path) -> HostNote | None:
    """Give the look before a session that saw others take most of a measured CPU; None without one."""
    looks = (one for one in read_notes(trial) if one.check == _GAPS and one.value is not None)
    return max(looks, key=lambda note: note.value or 0.0, default=None)


def kept_from(trial: Path, metric: str) -> HostNote | None:
    """Give the finding that tells why a metric is not there that the campaign asks for, if one does."""
    for note in read_notes(trial):
        lost = note.what.partition("; counted: ")[0]  # what could be counted stands behind it
        counter = note.check == "counters" and metric in re.split(r"[,:;]? ", lost)
        energy = note.check == "energy" and metric in ENERGY_METRICS
        if note.status != "ok" and (counter or energy):
            return note
    return None


# --- The metric that is the question: which it is where nobody names one, and what is said
# or refused where nothing says it.


NOT_ASKED = "metric-not-asked"  # the caution's code
_JUDGED = "wall"  # what is judged where nobody names anything

_NAMED = 4


def question_of(trials: Sequence[Runs]) -> str:
    """Give the metric that is judged of several trials together, where nobody names one.

    It is the first that their campaigns name; where none does, what is judged of the first trial. What
    an imported trial would be asked is not its own, so it takes the question of the others.
    """
    asked = {str(one.path): one.judge for one in trials if one.manifest.origin != "imported"}
    if len(set(asked.values())) > 1:
        raise differing(" and ".join(asked), asked)
    declared = next(iter(asked.values()), ())
    return declared[0] if declared else trials[0].default_metric


def not_judged(declared: Sequence[str]) -> tuple[Caution, ...]:
    """Caution that benchmarks declare metrics, if any, and none of them is what was judged."""
    if not declared:
        return ()
    first = declared[0]
    text = f"declares {figures.listed(declared, _NAMED)}; judged is {_JUDGED}: --metric {first}"
    short = f"judged is {_JUDGED}, although {first} is declared: --metric {first}"
    if len(short) > LONGEST:
        short = f"judged is {_JUDGED}, although others are declared: --metric names one"
    return (Caution(NOT_ASKED, text, short=ShortSentence.of(plain(short))),)


def refuse_unnamed(declared: Iterable[str], where: str) -> None:
    """Refuse to decide by a metric that nobody named, where benchmarks declare others."""
    names = list(dict.fromkeys(declared))
    if names:
        text = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        raise UsageError(
            f"it declares {text}; judged would be {_JUDGED}: nothing says which of them the gate is for",
            where,
            f"add --metric {names[0]}, or --metric {_JUDGED}; or write 'judge: {names[0]}' into the "
            "campaign, and let its trial know with 'fairtrial run CAMPAIGN --resume'",
        )


# --- What a trial says of its campaign: settings, commands executed, and the output that was kept.


# What two trials of one campaign may say differently: the command line can change them, who may read a
# trial is no part of the experiment, and the question and the names of versions alter no run.
_FREE_SETTINGS = ("seed", "judge", "series", "commit", "share", "protocol.sessions")


def campaign_text(trial: Path) -> str | None:
    """Give the text of ``campaign.yaml`` as it is stored; None where it cannot be read."""
    try:
        with opened(trial / CAMPAIGN) as file:
            return file.read().decode("utf-8", "replace")
    except (OSError, StoreError):
        return None


def settings_of(trial: Path) -> Mapping[str, Any]:
    """Give ``campaign`` of ``resolved.json``: the campaign with every default; empty if unknown."""
    try:
        with opened(trial / RESOLVED) as file:
            found: Any = json.loads(file.read())
    except (OSError, StoreError, ValueError, RecursionError):
        return {}
    campaign = found.get("campaign") if isinstance(found, dict) else None
    return campaign if isinstance(campaign, dict) else {}


def is_free_setting(key: str) -> bool:
    """Tell whether trials of one campaign may differ in a setting, a key with dots of `setting_changes`."""
    return key in _FREE_SETTINGS or key.startswith("commit.")  # one of each variant


def ordered_variants_of(trial: Path) -> tuple[str, ...] | None:
    """Give the variants in their written order where the campaign calls them a series (`series: on`).

    None where it does not, or where nobody can tell.
    """
    settings = settings_of(trial)
    names = settings.get("variants")
    if settings.get("series") is not True or not isinstance(names, list):
        return None
    return tuple(str(name) for name in names)


def builds_each_session(trial: Path) -> frozenset[str]:
    """Name the variants that each session builds anew (`build.each: session`); none where nobody can tell."""
    return built_each_session(settings_of(trial).get("builds"))


def built_each_session(builds: object) -> frozenset[str]:
    """Name the variants that each session builds, as the resolved `builds` of a campaign say."""
    return frozenset(
        str(one["variant"])
        for one in (builds if isinstance(builds, list) else ())
        if isinstance(one, dict) and one.get("each") == "session" and "variant" in one
    )


def setting_changes(old: object, new: object, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Give the settings that differ: key with dots, both values; `ABSENT` is that of a side without the key."""
    old, new = _by_cell(old), _by_cell(new)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            below = f"{at}.{name}" if at else str(name)
            yield from setting_changes(old.get(name, ABSENT), new.get(name, ABSENT), below)
    elif old != new:
        yield at, old, new


def _by_cell(value: object) -> object:
    """Make a list of cells, or of variants' builds, an object with a key for each."""
    if isinstance(value, list) and all(
        isinstance(x, dict) and "variant" in x for x in value or [0]
    ):
        return {f"{x.get('benchmark', '')} / {x['variant']}".lstrip(" /"): x for x in value}
    return value


def setting_text(key: str, value: object) -> str:
    """Write the value of a setting: a command as a shell takes it, names with commas."""
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return command_line(value) if key.endswith("argv") else ", ".join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return "none" if value is None else text


def pinned_cpus(trial: Runs) -> tuple[tuple[int, ...] | None, ...]:
    """Give the sets of CPUs that runs were pinned to, each once; None stands for not pinned.

    The runner chooses them when a session begins or goes on, so the first row of each is asked.
    """
    return tuple(dict.fromkeys(one.cpus for one in trial.starts if one.cpus != ()))


_BYTES = 8192  # bytes that are read at most, from the end
_LINES = 10
_LONGEST = 300  # characters of a line


def read_excerpt(trial: Path, position: int) -> tuple[str, ...] | None:
    """Read the last lines of a run's standard error, without home directories; None where it was not kept, or cannot be read."""
    names = [f"{position:04d}"] if position >= 0 else [f"w{-position}", f"r{-position}"]
    paths = [trial / OUTPUTS / f"{name}.stderr" for name in names]
    path = next((one for one in paths if os.path.lexists(one)), paths[0])
    if path.is_symlink() or path.parent.is_symlink():
        return None  # a trial has none: what lies behind one is not the run's
    try:
        with opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _BYTES))
            end = file.read(_BYTES)
    except (OSError, StoreError):
        return None
    if size > len(end):
        end = end.partition(b"\n")[2] or end  # the first line may begin anywhere
    # an end of a line is \n or \r\n; a lone \r, as of a progress bar, is no line of its own
    lines = end.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    shown = [without_homes(line) for line in lines[-_LINES:]]
    return tuple(x if len(x) <= _LONGEST else f"{x[: _LONGEST - 1]}…" for x in shown)
