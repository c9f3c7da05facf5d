"""Facts of a host and a protocol, in words; what is not known is said to be unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...data.host_record import (
    HostRecord,
    SessionEnvironment,
    read_environments,
    read_host_record,
    without_homes,
)
from ...data.protocol import pinned_cpus, settings_of
from ...pages import number_format as figures
from ...words import shorten, shown

if TYPE_CHECKING:
    from ...data.trial import Trial

__all__ = ["UNKNOWN", "Source", "facts_of", "recorded", "said", "source_of"]

UNKNOWN = "unknown"
_PROGRAMS = 4  # that are named
_DIGITS = 12  # of a hash
_LONGEST = 160
_PART = 60  # characters of a recorded text within a fact
_CONTAINED = {
    "pid": "a PID namespace",
    "user": "a user and PID namespace",
    "none": "no namespace",
}
_NOT_LISTED = {"moment", "inputs"}
_NOT_TOLD = {"host.machine_id_sha256", "host.boot_id", "cpu.flags_sha256"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """A trial with what was recorded beside its runs."""

    trial: Trial
    environments: tuple[SessionEnvironment, ...]
    record: HostRecord
    settings: Mapping[str, Any]

    @property
    def first(self) -> Mapping[str, Mapping[str, Any]]:
        """The sections of the first session's record; empty where there is none."""
        return self.environments[0].sections if self.environments else {}


def source_of(trial: Trial) -> Source:
    """Read what was recorded beside the runs of a trial."""
    return Source(
        trial=trial,
        environments=read_environments(trial.path),
        record=read_host_record(trial.path),
        settings=settings_of(trial.path),
    )


def facts_of(source: Source) -> dict[str, str]:
    """Give what a reader needs, by name, in the order in which it is shown."""
    return {
        "host": _host(source),
        "system": _system(source.first),
        "virtual": _virtual(source.first),
        "memory": _memory(source.first),
        "programs": _programs(source.first),
        "runs on": _pinned(source.trial),
        "isolation": _isolation(source),
        "not known": _unknown(source),
        "measured": _measured(source.trial),
        "protocol": _protocol(source),
        "made with": _tools(source),
    }


def recorded(source: Source) -> dict[str, str]:
    """Give everything of the first session's record, by the keys of its sections."""
    found: dict[str, str] = {}
    for section, values in source.first.items():
        if section == "targets":
            found.update(_targets(values))
        elif section not in _NOT_LISTED:
            for key, value in values.items():
                if (name := f"{section}.{key}") not in _NOT_TOLD:
                    empty = "none" if name == "cpu.siblings" and value == {} else None
                    found[shown(name)] = empty or said(value)
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
    return text if len(text) <= 4 * _LONGEST else f"{text[: 4 * _LONGEST - 1]}…"


def _host(source: Source) -> str:
    host, cpu = source.first.get("host", {}), source.first.get("cpu", {})
    name = host.get("name") or source.trial.manifest.host
    model = cpu.get("model") or source.trial.manifest.cpu_model
    cores, packages = cpu.get("cores"), cpu.get("packages")
    parts = [
        _brief(str(name)) if name else "name unknown",
        _brief(str(model or "processor unknown")),
    ]
    if isinstance(cores, int):
        told = f"{cores} core{'s' * (cores != 1)}"
        if isinstance(packages, int) and packages > 1:
            told += f" in {packages} sockets"
        parts.append(told)
    if online := cpu.get("online"):
        parts.append(f"CPUs {_brief(str(online))}")
    return ", ".join(parts)


def _system(first: Mapping[str, Mapping[str, Any]]) -> str:
    kernel, tools = first.get("kernel", {}), first.get("tools", {})
    release = kernel.get("release")
    parts = [
        f"Linux {release}" if release else None,
        kernel.get("distribution"),
        kernel.get("architecture"),
        tools.get("libc"),
    ]
    return ", ".join(_brief(str(part)) for part in parts if part) or UNKNOWN


def _virtual(first: Mapping[str, Mapping[str, Any]]) -> str:
    host = first.get("host", {})
    virtual, container, quota = (_text(host, key) for key in ("virtual", "container", "cpu_quota"))
    machine = {"none": "no virtual machine", None: "whether it is a virtual machine is unknown"}
    inside = {"none": "no container", None: "whether in a container is unknown"}
    parts = [
        machine.get(virtual, f"a virtual machine ({virtual})"),
        inside.get(container, f"in a container ({container})"),
    ]
    if quota is not None:
        parts.append(f"with a quota of {quota} CPUs")
    return ", ".join(parts)


def _memory(first: Mapping[str, Mapping[str, Any]]) -> str:
    memory = first.get("memory", {})
    total, swap, thp = (memory.get(key) for key in ("total_bytes", "swap_total_bytes", "thp"))
    if not isinstance(total, int):
        return UNKNOWN
    parts = [figures.quantity(total, "B")]
    if isinstance(swap, int):
        parts.append(f"{figures.quantity(swap, 'B')} of swap" if swap else "no swap")
    if thp:
        parts.append(f"huge pages: {_brief(str(thp))}")
    return ", ".join(parts)


def _programs(first: Mapping[str, Mapping[str, Any]]) -> str:
    targets = first.get("targets", {})
    users: dict[tuple[str, str | None], set[str]] = {}
    variants = set()
    for name, about in targets.items():
        variant = name.rpartition("/")[2]
        variants.add(variant)
        if isinstance(about, Mapping):
            path, digest = about.get("resolved") or about.get("path"), _text(about, "sha256")
            users.setdefault((str(path), digest), set()).add(variant)
    if not users:
        return UNKNOWN
    told = []
    for (path, digest), mine in list(users.items())[:_PROGRAMS]:
        hashed = "not readable" if digest is None else f"sha256 {digest[:_DIGITS]}…"
        whose = "" if len(variants) < 2 else " (" + ", ".join(sorted(map(_brief, mine))) + ")"
        if len(variants) > 1 and mine == variants:
            whose = " (the same for all variants)"
        told.append(f"{_brief(path)}, {hashed}{whose}")
    more = f"; and {len(users) - _PROGRAMS} more" if len(users) > _PROGRAMS else ""
    return "; ".join(told) + more


def _targets(targets: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give each executable and each library once."""
    libraries: dict[str, str] = {}
    for about in targets.values():
        if not isinstance(about, Mapping):
            continue
        path, digest = about.get("resolved") or about.get("path"), about.get("sha256")
        yield f"program {shown(str(path))}", f"sha256 {digest}" if digest else UNKNOWN
        needed = about.get("libraries")
        for name, library in (needed if isinstance(needed, Mapping) else {}).items():
            if isinstance(library, Mapping):
                digest = library.get("sha256")
                libraries[f"library {shown(str(name))}"] = f"sha256 {digest}" if digest else UNKNOWN
    yield from libraries.items()


def _pinned(trial: Trial) -> str:
    sets = pinned_cpus(trial)
    if not sets:
        return UNKNOWN
    told = []
    for cpus in sets:
        if cpus is None:
            told.append("any CPU (not pinned)")
        else:
            noun = "CPU" if len(cpus) == 1 else "CPUs"
            told.append(f"{noun} {', '.join(map(str, cpus))}")
    return "; ".join(told)


def _isolation(source: Source) -> str:
    settings = source.settings.get("isolation")
    parts = list(_settings(settings)) if isinstance(settings, Mapping) else []
    contained = _text(source.first.get("process", {}), "containment")
    if contained is not None:
        parts.append(f"processes held by {_CONTAINED.get(contained, contained)}")
    return ", ".join(parts) or UNKNOWN


def _settings(settings: Mapping[str, Any]) -> Iterator[str]:
    aslr, padding, limits = (settings.get(key) for key in ("aslr", "padding", "limits"))
    if isinstance(aslr, bool):
        yield f"{'a new' if aslr else 'the same'} address layout for each run"
    if padding is not None:
        amount = "at random" if padding == "random" else f"by {_text(settings, 'padding')} bytes"
        yield f"environment padded {amount}"
    for key, usual in (("nice", None), ("scheduling", "other")):
        if settings.get(key) not in (None, usual):
            yield f"{key} {_text(settings, key)}"
    if isinstance(limits, Mapping) and limits:
        told = ", ".join(f"{_brief(str(key))} {_text(limits, key)}" for key in limits)
        yield f"limits: {told}"


def _unknown(source: Source) -> str:
    """Name the checks that nobody could answer in any session."""
    notes = source.record.notes
    if not notes:
        return "no check of the host is recorded"
    known = {note.check for note in notes if note.status in ("ok", "warn", "fail")}
    asked = dict.fromkeys(note.check for note in notes if note.status == "unknown")
    names = [shown(check.replace("_", " ")) for check in asked if check not in known]
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


def _protocol(source: Source) -> str:
    manifest, protocol = source.trial.manifest, source.settings.get("protocol")
    settings: Mapping[str, Any] = protocol if isinstance(protocol, Mapping) else {}
    most = "at most " if manifest.stop is not None else ""
    sessions, runs, warmup = manifest.sessions, manifest.runs, manifest.warmup
    noun = source.trial.outermost
    parts = [
        f"{sessions} {noun}{'s' * (sessions != 1)} {'of' if noun == 'session' else 'with'} {most}{runs} "
        f"run{'s' * (runs != 1)} of each benchmark and variant",
        f"{warmup} warm-up run{'s' * (warmup != 1)} of each before"
        if warmup
        else "no warm-up runs",
    ]
    order = {
        "shuffled": "blocks of all in a new order each",
        "interleaved": "blocks of all in the same order",
        "sequential": "one benchmark and variant after the other",
    }
    parts.append(order.get(str(settings.get("order")), "order unknown"))
    for key, words in (("timeout_s", "timeout"), ("cooldown_s", "cooldown"), ("pause_s", "pause")):
        if isinstance(value := settings.get(key), (int, float)) and value > 0:
            parts.append(f"{words} {figures.quantity(value, 's')}")
    if manifest.stop is not None:
        parts.append(f"a stopping rule: width {manifest.stop.width:g}")
    if manifest.repeating:
        parts.append("disturbed runs repeated at most twice")
    if manifest.appended:
        parts.append(f"sessions were appended {len(manifest.appended)} times")
    if manifest.merged_from:
        parts.append(f"merged from {len(manifest.merged_from)} trials")
    parts.append(f"seed {manifest.seed}")
    return ", ".join(parts)


def _tools(source: Source) -> str:
    tools = source.first.get("tools", {})
    parts = [f"fairtrial {_brief(source.trial.manifest.tool_version)}"]
    if python := tools.get("python"):
        parts.append(
            f"{_brief(str(tools.get('python_implementation') or 'Python'))} {_brief(str(python))}"
        )
    return ", ".join(parts)


def named(names: Sequence[str]) -> str:
    """Join names with commas, and the last with "and"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _text(values: Mapping[str, Any], key: str) -> str | None:
    """Give a value that should be short as text; None where it is unknown."""
    value = values.get(key)
    return None if value is None else _brief(str(value))


def _brief(text: str) -> str:
    """Shorten what others wrote; the whole of it stands in the folded table."""
    return shorten(shown(text), _PART)
