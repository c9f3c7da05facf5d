"""Facts of a host and a protocol, in words; what is not known is said to be unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ...data.host_record import (
    HostNote,
    SessionEnvironment,
    read_environments,
    read_host_record,
    without_homes,
)
from ...data.protocol import pinned_cpus, settings_of
from ...pages.number_format import counted, quantity
from ...words import shorten, shown

if TYPE_CHECKING:
    from ...data.trial import Trial

__all__ = ["UNKNOWN", "Source", "check_name", "facts_of", "recorded", "said", "source_of"]

UNKNOWN = "unknown"
_PROGRAMS = 4  # that are named
_DIGITS = 12  # of a hash
_LONGEST = 640  # characters of a recorded text
_PART = 60  # and of one within a fact
_MACHINE = {"none": "no virtual machine", None: "whether it is a virtual machine is unknown"}
_INSIDE = {"none": "no container", None: "whether in a container is unknown"}
_CONTAINED = {
    "pid": "a PID namespace",
    "user": "a user and PID namespace",
    "none": "no namespace",
}
_ORDER = {
    "shuffled": "blocks of all in a new order each",
    "interleaved": "blocks of all in the same order",
    "sequential": "one benchmark and variant after the other",
}
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
    sections = environments[0].sections if environments else {}
    notes = read_host_record(trial.path).notes
    return Source(trial, environments, sections, notes, settings_of(trial.path))


def facts_of(source: Source) -> dict[str, str]:
    """Give what a reader needs, by name, in the order in which it is shown."""
    return {
        "host": ", ".join(_host(source)),
        "system": _system(source) or UNKNOWN,
        "virtual": ", ".join(_virtual(source.first("host"))),
        "memory": ", ".join(_memory(source.first("memory"))) or UNKNOWN,
        "programs": _programs(source.first("targets")) or UNKNOWN,
        "runs on": "; ".join(_pinned(source.trial)) or UNKNOWN,
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
                    found[shown(name)] = "none" if empty else said(value)
    return found


def said(value: Any) -> str:  # noqa: ANN401 - JSON types
    """Write a recorded value."""
    if value is None or value in ({}, []):
        return UNKNOWN
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        text = "; ".join(f"{key}: {said(item)}" for key, item in value.items())
    elif isinstance(value, list):
        text = " / ".join("unlimited" if item is None else str(item) for item in value)
    else:
        text = str(value) if value != "" else "none"
    text = shown(without_homes(text))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def check_name(check: str) -> str:
    """Write the name of a check."""
    return shown(check.replace("_", " "))


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
    release = kernel.get("release")
    parts = (
        f"Linux {release}" if release else None,
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
    if not isinstance(total, int):
        return
    yield quantity(total, "B")
    if isinstance(swap, int):
        yield f"{quantity(swap, 'B')} of swap" if swap else "no swap"
    if thp:
        yield f"huge pages: {_brief(thp)}"


def _programs(targets: Mapping[str, Any]) -> str:
    users: dict[tuple[str, str | None], set[str]] = {}
    variants = {name.rpartition("/")[2] for name in targets}
    for name, about in targets.items():
        if isinstance(about, Mapping):
            path = str(about.get("resolved") or about.get("path"))
            users.setdefault((path, _known(about, "sha256")), set()).add(name.rpartition("/")[2])
    told = []
    for (path, digest), mine in list(users.items())[:_PROGRAMS]:
        hashed = "not readable" if digest is None else f"sha256 {digest[:_DIGITS]}…"
        whose = ""
        if len(variants) > 1:
            every = "the same for all variants"
            whose = f" ({every if mine == variants else ', '.join(sorted(map(_brief, mine)))})"
        told.append(f"{_brief(path)}, {hashed}{whose}")
    more = len(users) - _PROGRAMS
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")


def _targets(targets: Mapping[str, Any]) -> dict[str, str]:
    """Give each executable and each library once."""
    programs: dict[str, str] = {}
    libraries: dict[str, str] = {}
    for about in targets.values():
        if isinstance(about, Mapping):
            path = str(about.get("resolved") or about.get("path"))
            programs[f"program {shown(path)}"] = _hash(about)
            needed = about.get("libraries")
            for name, library in (needed if isinstance(needed, Mapping) else {}).items():
                if isinstance(library, Mapping):
                    libraries[f"library {shown(str(name))}"] = _hash(library)
    return programs | libraries


def _hash(about: Mapping[str, Any]) -> str:
    digest = about.get("sha256")
    return f"sha256 {digest}" if digest else UNKNOWN


def _pinned(trial: Trial) -> Iterator[str]:
    for cpus in pinned_cpus(trial):
        if cpus is None:
            yield "any CPU (not pinned)"
        else:
            yield f"CPU{'s' * (len(cpus) != 1)} {', '.join(map(str, cpus))}"


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
        told = ", ".join(f"{_brief(key)} {_known(limits, key)}" for key in limits)
        yield f"limits: {told}"
    contained = _known(source.first("process"), "containment")
    if contained is not None:
        yield f"processes held by {_CONTAINED.get(contained, contained)}"


def _unanswered(notes: tuple[HostNote, ...]) -> str:
    """Name the checks that nobody could answer in any session."""
    if not notes:
        return "no check of the host is recorded"
    known = {note.check for note in notes if note.status in ("ok", "warn", "fail")}
    asked = dict.fromkeys(note.check for note in notes if note.status == "unknown")
    names = [check_name(check) for check in asked if check not in known]
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


def _known(values: Mapping[str, Any], key: str) -> str | None:
    """Give a value that should be short as text; None where it is unknown."""
    value = values.get(key)
    return None if value is None else _brief(value)


def _brief(value: object) -> str:
    """Shorten what others wrote; the whole of it stands in the folded table."""
    return shorten(shown(str(value)), _PART)
