"""Under which conditions the runs were executed: facts, what differed between sessions, failed runs.

Sentences say what was recorded with the runs; what is not known is said to be unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from signal import Signals
from typing import Any, NamedTuple

import numpy as np

from ..data.columns import FailedRun
from ..data.fleet import FleetHostStanding
from ..data.host_record import (
    HostNote,
    SessionEnvironment,
    campaign_text,
    pinned_cpus,
    read_environments,
    read_excerpt,
    read_notes,
    without_homes,
)
from ..data.trial import Trial
from ..diagnose.result import in_sessions
from ..methods.multilevel.result import HostLevel
from ..pages.model import (
    Block,
    Cell,
    Listing,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    section,
    table_of,
)
from ..pages.number_format import counted, listed, quantity
from ..record.environment import commit_of, of_one_session
from ..verdict.result import Verdict, amount_on_hosts
from ..words import Name, quoted, shorten, shortened
from .assembling import Chapter, chapter_of
from .subject import Subject, first_host, level_of, ours_of

_TITLE = "Where and how it was measured"
_CITED = ("no-certificate", "certificate-differs")
_HOSTS = 60  # that have a line
_DIFFERENCES = 4  # of a host
_FAILED = 30  # runs that are listed
_NAME = 24  # characters
_LINES = 2  # of standard error, the last ones
_LINE = 160  # characters of these
UNKNOWN = "unknown"

Values = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None of files, which say nothing of where they stem from."""
    if not subject.trials:
        return None
    level = level_of(subject.verdict)
    found = _of_trials(subject) if level is None else _of_fleet(subject, level)
    values = {"failed_anchor": subject.anchor("failed"), **found}
    failed = sum(len(trial.failed) for trial in subject.trials) if level is None else 0
    where = found["facts"][0]["texts"][0]
    if len(subject.trials) > 1:
        where = f"{len(subject.trials)} trials"
    ours = len(ours_of(subject)) == len(subject.trials)
    none = "no run{} failed" if ours else "no failed run{} is known"  # to another tool's files
    lead = f"{where}; {counted(failed, 'failed run') if failed else none.format('')}"
    sections = partial(_sections, values, none)
    return chapter_of(subject, "conditions", _TITLE, sections, lead=lead, values=values, whole=True)


def _sections(values: Values, none: str) -> Iterator[Section]:
    yield section(*_blocks(values), title=_TITLE)
    failed = [block for host in values["hosts"] for block in _failed(host, none)]
    yield section(*failed, title="Failed runs", anchor=values["failed_anchor"])
    for host in values["hosts"]:
        of = f" of {host['label']}" if host["label"] else ""
        about = "" if host["campaign"] is not None else "The campaign's text cannot be read."
        campaign = Listing(host["campaign"] or "", about=about)
        yield section(campaign, title=f"The campaign{of}", folded=True)


def _blocks(values: Values) -> Iterator[Block]:
    labels, facts = [host["label"] for host in values["hosts"]], values["facts"]
    heads = ("<about", *(f"<{one or 'what is known'}" for one in labels))
    rows = tuple((fact["name"], *fact["texts"]) for fact in facts)
    yield Table(name="conditions", columns=columns_of(*heads), rows=rows, headed=len(labels) > 1)
    yield Sentence(f"A/A certificate: {values['certificate']}")
    for host in values["hosts"]:
        if host["label"]:
            yield Sentence(f"{host['label']}: {host['trial']}")
        if host["differed"]:
            yield Table(
                name=_named("differed", host),
                columns=columns_of("<what differed by session", *host["sessions"]),
                rows=tuple((row["name"], *row["cells"]) for row in host["differed"]),
            )
        yield Sentence(host["same"])


def _failed(host: Values, none: str) -> Iterator[Block]:
    whose, more = f" of {host['label']}" * bool(host["label"]), host["more_failed"]
    if not host["failed"]:
        yield Sentence(f"N{none.format(whose)[1:]}.")
        return
    heads = ("run", "session", "block", "<cell", "<outcome")
    yield table_of(
        _named("failed", host),
        host["failed"],
        *((head, itemgetter(head.removeprefix("<"))) for head in heads),
        ("<end of standard error", lambda run: _quoted(run["stderr"])),
    )
    yield Sentence(
        f"{more:,} more failed run{'s' * (more != 1)}{whose}: measurements.jsonl and outputs/ of the "
        "trial hold them all."
        if more
        else f"These are all failed runs{whose}; a judge leaves them out of every comparison."
    )


def _quoted(lines: Sequence[str] | None) -> str:
    if lines is None:
        return "not kept"
    return shorten(" | ".join(lines[-_LINES:]), _LINE) or "empty"


def _named(name: str, host: Values) -> str:
    return "-".join(filter(None, (name, host["label"].lower())))


# --- How a run failed, in words.


_WORDS = {
    "hook-failed": "its hook failed",
    "service-failed": "its service failed",
    "timeout": "killed by its timeout",
    "output-limit": "wrote too much",
    "output-mismatch": "wrote another output than expected",
    "unparsable": "a metric could not be read from its output",
}


def outcome_words(run: FailedRun, wall_s: float | None) -> str:
    """Say how a run failed and after how many seconds, if that is known: ``ended by SIGSEGV after 8.5 ms``."""
    if run.outcome == "signal":
        known = {int(one): one.name for one in Signals}  # a real-time signal has no name
        number = f"signal {run.signal}" if run.signal is not None else "a signal"
        text = f"ended by {known.get(run.signal or 0, number)}"
    elif run.outcome == "exit":
        text = f"exit code {UNKNOWN if run.exit_code is None else run.exit_code}"
    else:
        text = _WORDS.get(run.outcome, run.outcome)
    return text if wall_s is None else f"{text} after {quantity(wall_s, 's')}"


# --- The values: of one trial or two, and of a fleet.


def _of_trials(subject: Subject) -> Values:
    sources = [source_of(trial) for trial in subject.trials]
    found = [facts_of(source) for source in sources]
    facts = [{"name": name, "texts": [one[name] for one in found]} for name in found[0]]
    if len(sources) > 1:
        facts += [{"name": key, "texts": pair} for key, pair in _between(*sources[:2]).items()]
    verdict = subject.verdict
    texts = [] if verdict.certificate is None else [verdict.certificate.sentence]
    texts += [caution.text for caution in verdict.cautions if caution.code in _CITED]
    return {
        # what differs between two trials first
        "facts": sorted(facts, key=lambda fact: len(set(fact["texts"])) == 1),
        "certificate": "; ".join(texts).rstrip(".") + "." if texts else "not looked for.",
        "hosts": [
            _host(source.trial, campaign_text(source.trial.path), differed_of(source), label)
            for label, source in zip("AB" if len(sources) > 1 else [""], sources, strict=False)
        ],
    }


def _of_fleet(subject: Subject, level: HostLevel) -> Values:
    verdict, place = subject.verdict, first_host(subject.verdict)
    host = quoted(str(Path(verdict.data.path or "") / "HOST"))
    differed = {
        "sessions": (),
        "differed": (),
        "same": "What was recorded of each host, session by session, stands in its own report: "
        f"fairtrial report {host} -o host.html.",
    }
    found = _host(subject.trials[0], None if place is None else campaign_text(place), differed)
    return {
        "facts": [{"name": name, "texts": (text,)} for name, text in _standings(verdict, level)],
        "certificate": "a certificate is of one machine, and a fleet has none.",
        "hosts": [found],
    }


def _host(trial: Trial, campaign: str | None, differed: Values, label: str = "") -> Values:
    """Give what one trial says of its sessions and its campaign; of two, `label` tells which it is."""
    return {
        "label": label,
        "trial": trial.manifest.trial,
        **differed,
        "campaign": None if campaign is None else "\n".join(campaign.splitlines()),
        "failed": list(_failures(trial)),
        "more_failed": max(0, len(trial.failed) - _FAILED),
    }


def _standings(verdict: Verdict, level: HostLevel) -> Iterator[tuple[str, str]]:
    yield "measured", amount_on_hosts(level, verdict.counts.session_runs)
    judged = sum(one.judged for one in verdict.hosts)
    yield "hosts", f"{judged} of {len(verdict.hosts)} judged"
    odd = {one.host for one in level.disagreements}
    hosts = sorted(verdict.hosts, key=lambda one: _usual(one) and one.host not in odd)
    for one in hosts[:_HOSTS]:
        yield one.host, "; ".join(_standing(one, odd=one.host in odd))
    if more := hosts[_HOSTS:]:
        every = "all complete, as most are; " if all(map(_usual, more)) else ""
        yield f"and {len(more)} more", f"{every}verdict --json names them"


def _usual(one: FleetHostStanding) -> bool:
    return one.state == "complete" and not one.differs


def _standing(one: FleetHostStanding, *, odd: bool) -> Iterator[str]:
    planned = "an unknown number" if one.planned is None else f"{one.planned:,}"
    yield f"{one.state}, {one.done:,} of {planned} runs"
    if one.why:
        yield one.why
    if odd:
        yield "disagrees with the rest"
    for each in one.differs[:_DIFFERENCES]:
        yield f"{each.key} is {Name(each.here):.24} there, {Name(each.most):.24} on most"
    if (left := len(one.differs) - _DIFFERENCES) > 0:
        yield f"and {counted(left, 'more difference')}"


def _failures(trial: Trial) -> Iterator[Values]:
    """Give the first failed runs, warm-ups among them, with the end of their standard error."""
    names = shortened([*trial.manifest.benchmarks, *trial.manifest.variants], _NAME)
    row_of = {position: row for row, position in enumerate(trial.position.tolist())}
    for run in trial.failed[:_FAILED]:
        row = row_of[run.position]
        wall, block = float(trial.numbers["wall_ns"][row]) / 1e9, int(trial.block[row])
        yield {
            "run": Value(str(run.position), run.position),
            "session": Value(str(run.session), run.session),
            "block": Value(str(block), block),
            "cell": f"{names[run.benchmark]} / {names[run.variant]}{' (warm-up)' * run.warmup}",
            "outcome": outcome_words(run, wall if math.isfinite(wall) else None),
            "stderr": read_excerpt(trial.path, run.position),
        }


# --- What was recorded with the runs of a trial.


_PROGRAMS = 4  # that are named
_DIGITS = 12  # of a hash
_EACH = "built by each session"
_PART = 60  # characters of a recorded text within a fact
_LONGEST = 640  # and of one that is compared
_NESTED = ("kernel", "tools", "process")  # sections whose mappings are compared key by key
_COMPARED = (*_NESTED, "host", "cpu", "memory", "targets", "inputs", "variables")
_BOOT = "host.boot_id"
_MOST = 40  # keys that differ between sessions and are shown
_CELL = 24  # characters of a session's cell


class Source(NamedTuple):
    """A trial with what was recorded during its runs."""

    trial: Trial
    environments: tuple[SessionEnvironment, ...]
    notes: tuple[HostNote, ...]

    @property
    def sections(self) -> Mapping[str, Mapping[str, Any]]:
        """Those of the first session's record; empty where there is none."""
        return self.environments[0].sections if self.environments else {}


def source_of(trial: Trial) -> Source:
    """Read what was recorded with the runs of a trial."""
    return Source(trial, read_environments(trial.path), tuple(read_notes(trial.path)))


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
        "runs on": [
            "; ".join(
                "any CPU (not pinned)"
                if cpus is None
                else f"CPU{'s' * (len(cpus) != 1)} {', '.join(map(str, cpus))}"
                for cpus in pinned_cpus(source.trial)
            )
        ],
        "checks": [_checks(source)],
        "measured": [_measured(source.trial)],
    }
    return {name: ", ".join(filter(None, parts)) or UNKNOWN for name, parts in facts.items()}


def _kind(host: Mapping[str, Any], key: str, noun: str) -> str:
    found = host.get(key)
    if found is None:
        return f"{noun}: {UNKNOWN}"
    return f"no {noun}" if found == "none" else f"{noun}: {_brief(found)}"


def _programs(targets: Mapping[str, Any]) -> str:
    found = {name: about for name, about in targets.items() if isinstance(about, Mapping)}
    variants = {name.rpartition("/")[2] for name in targets}
    users: dict[tuple[str, str], set[str]] = {}
    for name, about in found.items():
        digest = about.get("sha256")
        hashed = "not readable" if digest is None else f"sha256 {_brief(digest)[:_DIGITS]}…"
        hashed = _EACH if of_one_session(about) else hashed
        path = _brief(about.get("resolved") or about.get("path"))
        users.setdefault((path, hashed), set()).add(name.rpartition("/")[2])
    texts = []
    for (path, hashed), mine in users.items():
        some = ", ".join(sorted(map(_brief, mine)))
        whose = f" ({'the same for all variants' if mine == variants else some})"
        texts.append(f"{path}, {hashed}{whose if len(variants) > 1 else ''}")
    return listed(texts, _PROGRAMS, mark="; ", last="; and")


def _checks(source: Source) -> str:
    """Name the checks that failed, warned, or were not answered in any session; the worst first."""
    if not source.notes:
        return "none is recorded"
    total = np.unique(source.trial.session).size
    known = {note.check for note in source.notes if note.status in ("ok", "warn", "fail")}
    texts = []
    for status, words in (("fail", "failed"), ("warn", "warned"), ("", "not answered")):
        found: dict[str, set[int]] = {}
        for note in source.notes:
            if note.status == status or (not status and note.check not in known):
                found.setdefault(note.check, set()).update(filter(None, (note.session,)))
        names = []
        for check, sessions in found.items():
            where = f" {in_sessions(sorted(sessions), total)}" if status else ""
            names.append(f"{check.replace('_', ' ')}{where}")
        texts += [f"{words}: {', '.join(names)}"] if names else []
    return "; ".join(texts) or "all were well"


def _measured(trial: Trial) -> str:
    manifest = trial.manifest
    if manifest.origin == "imported":  # when it was read is no time of the measurement
        return "unknown: imported from files of another tool"
    end = f" to {_time(manifest.finished)}" if manifest.finished else ""
    text = f"{_time(manifest.started)}{end} (UTC), {manifest.status}"
    return f"{text}: {manifest.reason}" if manifest.reason else text


def _time(text: str) -> str:
    return f"{text[:10]} {text[11:16]}" if text[10:11] == "T" else text


# --- What differed between two trials, and between the sessions of one.


Row = tuple[str, Sequence[Cell]]  # a name, and a cell for each session


def _between(one: Source, other: Source) -> dict[str, tuple[str, str]]:
    """Give what both trials recorded when they began, and differs: both texts by the key of the record."""
    if not (one.environments and other.environments):
        return {}
    ours, theirs = _flat(one.environments[0]), _flat(other.environments[0])
    unlike = [key for key in ours if key in theirs and ours[key] != theirs[key] and key != _BOOT]
    return {key: (ours[key], theirs[key]) for key in unlike[:_MOST]}


def differed_of(source: Source) -> Values:
    """Give ``sessions``, the rows of what ``differed`` between them, and a sentence on the ``same``."""
    flat = {one.session: _flat(one) for one in source.environments}
    numbers = np.unique(source.trial.session).tolist()
    sessions = sorted({*numbers, *flat})
    keys = dict.fromkeys(key for record in flat.values() for key in record)
    unlike = [key for key in keys if len({one.get(key, UNKNOWN) for one in flat.values()}) > 1]
    differed = dict([*_moments(source, sessions), *_counts(source.trial, sessions)])
    for key in unlike[:_MOST]:
        texts = [flat.get(n, {}).get(key, UNKNOWN) for n in sessions]
        if key == _BOOT:  # an id says nothing: boots are numbered
            order = list(dict.fromkeys(texts))
            texts = [f"{order.index(text) + 1}." for text in texts]
        name = "boot" if key == _BOOT else key
        differed[name] = [f"{Name(text):.{_CELL}}" for text in texts]
    if (more := len(unlike) - _MOST) > 0:
        differed[f"and {more} more"] = [""] * len(sessions)
    return {
        "sessions": list(map(str, sessions)),
        "differed": [{"name": name, "cells": cells} for name, cells in differed.items()],
        "same": _same(source, sessions, len(keys) - len(unlike)),
    }


def _same(source: Source, sessions: Sequence[int], alike: int) -> str:
    recorded = {one.session for one in source.environments}
    if not recorded:
        if source.trial.outermost == "host":
            return "This part does not show what differed between hosts."
        return "The trial has no record of its host: what differed between sessions is unknown."
    if len(sessions) < 2:
        return "There is one session: nothing can differ between sessions."
    missing = sum(n not in recorded for n in sessions)
    gone = f" {missing} of them {'has' if missing == 1 else 'have'} no record." if missing else ""
    return f"{alike} recorded values are the same in {len(sessions)} sessions.{gone}"


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
        yield "began, UTC", [text[cut].replace("T", " ") or UNKNOWN for text in at]
    after = (note for note in source.notes if (note.check, note.when) == ("load", "after"))
    busy = {note.session: note.value for note in after}
    moments = {n: one.sections.get("moment", {}) for n, one in first.items()}
    for name, values in (
        ("load before", [moments.get(n, {}).get("load_1min") for n in sessions]),
        ("temperature, °C", [moments.get(n, {}).get("temperature_c") for n in sessions]),
        ("CPUs busy elsewhere", [busy.get(n) for n in sessions]),
    ):
        if any(value is not None for value in values):
            yield name, list(map(_number, values))


def _counts(trial: Trial, sessions: Sequence[int]) -> Iterator[Row]:
    failed = [sum(run.session == n and not run.warmup for run in trial.failed) for n in sessions]
    resumed = [int(trial.segment[trial.session == n].max(initial=0)) for n in sessions]
    for name, counts in (("failed runs", failed), ("times resumed", resumed)):
        if any(counts):
            yield name, [Value(str(count), count) for count in counts]


def _number(value: Any) -> Cell:  # noqa: ANN401 - JSON types
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return UNKNOWN
    return Value(f"{value:.2f}", float(value))


def _flat(one: SessionEnvironment) -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, values in one.sections.items():
        for key, value in values.items() if name in _COMPARED else ():
            if isinstance(value, Mapping) and name in _NESTED:
                flat |= {f"{name}.{key}.{k}": _value_text(v) for k, v in value.items()}
            else:
                flat[f"{name}.{key}"] = (_program if name == "targets" else _value_text)(value)
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


def _value_text(value: Any) -> str:  # noqa: ANN401 - JSON types
    if value is None or value in ({}, []):
        return UNKNOWN
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        text = "; ".join(f"{key}: {_value_text(item)}" for key, item in value.items())
    elif isinstance(value, list):
        text = " / ".join("unlimited" if item is None else str(item) for item in value)
    else:
        text = str(value) if value != "" else "none"
    return without_homes(text)[:_LONGEST]


def _brief(value: object) -> str:
    return f"{Name(value):.{_PART}}"
