"""What a reader needs to repeat a trial: host, tools and targets (``docs/environment.md`` explains each key).

What moves by itself stands under "moment" and is no difference between two sessions.
"""

from __future__ import annotations

import functools
import importlib.metadata
import itertools
import os
import platform
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import StoreError
from analysis.record.environment import BUILT, SESSION, Change, diff, packed_targets
from analysis.record.manifest import read_manifest
from analysis.record.shapes import records_of
from analysis.record.trial_files import ENVIRONMENT, EnvironmentShape

from .executables import describe_targets
from .state import HostState, Topology, format_cpus
from .variables import VariableKey, allowed, redact_text, stored_variables

if TYPE_CHECKING:
    from .activity import Host


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentDifferences:
    """Pairs of environments, each with what changed from the first to the second."""

    pairs: tuple[tuple[str, str, tuple[Change, ...]], ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the differences as JSON types."""
        return {
            "pairs": [
                {"from": old, "to": new, "changes": [change.to_dict() for change in changes]}
                for old, new, changes in self.pairs
            ]
        }

    def __str__(self) -> str:
        lines = []
        for old, new, changes in self.pairs:
            lines.append(
                f"{old} -> {new}: " + (f"{len(changes)} changes" if changes else "the same")
            )
            lines += [f"  {change.what}" for change in changes]
        return "\n".join(lines) if lines else "one session only: there is nothing to compare"


def compare_environments(trial: Path) -> EnvironmentDifferences:
    """Compare the sessions of a trial in their order."""
    pairs = itertools.pairwise(_records(trial))
    return EnvironmentDifferences(
        pairs=tuple((old, new, diff(a, b)) for (old, a), (new, b) in pairs)
    )


def _records(trial: Path) -> list[tuple[str, dict[str, Any]]]:
    if read_manifest(trial).origin == "imported":
        raise StoreError(
            "this trial was imported from files of another tool: nothing is known of its environment",
            str(trial),
        )
    found = []
    for known, record in records_of(trial / ENVIRONMENT, EnvironmentShape):
        segment = f", segment {known.segment}" if known.segment else ""
        found.append((f"session {known.session}{segment}", record))
    return found


_COMPILERS: Mapping[str, tuple[str, ...]] = {
    "cc": ("--version",),
    "gcc": ("--version",),
    "g++": ("--version",),
    "clang": ("--version",),
    "rustc": ("--version",),
    "go": ("version",),
    "javac": ("-version",),
    "ld": ("--version",),
}
_LIMITS = ("AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RTPRIO", "STACK")
_PATIENCE_S = 5.0
# key of the record -> field of `Cpu`
_OF_EACH_CPU = {name: name for name in ("driver", "governor", "preference")} | {
    f"{name}_khz": name for name in ("lowest", "highest", "hardware_highest")
}


def capture(
    host: Host,
    *,
    targets: Mapping[str, Path],
    variables: Mapping[str, str],
    tool_version: str,
    key: VariableKey | None = None,
    commits: Mapping[str, Mapping[str, Any]] | None = None,
    of_session: Mapping[Path, Callable[[Path], bool]] | None = None,
) -> dict[str, Any]:
    """Describe everything that may matter to a timing, as JSON types.

    `commits` are the keys about the commit of each target, by the name that it has in `targets`; `of_session`
    tells for an executable whether the build of each session makes a file: itself, or a library of it.
    """
    state = host.read()
    counters = host.counters()
    home = _home()
    # Many cells of one program share one description: hashing it for each took most of the start.
    described = describe_targets(targets.values(), variables)
    for path, made in (of_session or {}).items():
        described[path] = _marked(described[path], made)
    programs = {path: _without_home(entry, home) for path, entry in described.items()}
    return {
        "host": {
            "name": state.hostname,
            "machine_id_sha256": host.machine_id(),
            "boot_id": host.boot_id(),
            **_fields(state, "virtual", "container"),
            "cpu_quota": state.quota_cpus,
        },
        "cpu": _cpu(host, state),
        "memory": {
            "total_bytes": state.memory_total_bytes,
            "swap_total_bytes": state.swap_total_bytes,
            **_fields(state, "swappiness", "thp", "thp_defrag", "numa_balancing"),
        },
        "kernel": {
            "release": state.kernel,
            "build": state.kernel_build,
            "architecture": state.architecture,
            "distribution": state.distribution,
            "boot_arguments": _without_home(state.boot_arguments, home),
            **_fields(state, "aslr", "clocksource", "perf_rate", "rt_runtime_us"),
            "mitigations": dict(state.vulnerabilities),
        },
        "tools": _tools(variables, tool_version),
        "targets": packed_targets(targets, programs, commits),
        "process": {
            "cwd": _without_home(_folder(), home),
            "umask": host.umask(),
            "affinity": format_cpus(state.usable),
            "nice": os.getpriority(os.PRIO_PROCESS, 0),
            "limits": _limits(),
        },
        **stored_variables(variables, key or VariableKey(), home),
        "moment": {
            **_fields(counters, "uptime_s", "load_1min", "memory_available_bytes", "temperature_c"),
            "frequency_khz": {str(cpu): khz for cpu, khz in counters.frequency_khz.items()},
        },
    }


def _marked(about: Mapping[str, Any], made: Callable[[Path], bool]) -> dict[str, Any]:
    """Give the description of an executable with a mark on what the build of each session makes."""
    mark = {BUILT: SESSION}
    libraries = {
        name: one | mark if one["path"] is not None and made(Path(one["path"])) else one
        for name, one in about["libraries"].items()
    }
    return {**about, "libraries": libraries} | (mark if made(Path(about["path"])) else {})


def _fields(part: object, *names: str) -> dict[str, Any]:
    return {name: getattr(part, name) for name in names}


def _cpu(host: Host, state: HostState) -> dict[str, Any]:
    topology = state.topology
    return {
        "model": state.cpu_model or _model_by_library(host),
        **_fields(state, "microcode", "flags_sha256"),
        "online": format_cpus(topology.numbers),
        "cores": topology.cores,
        "packages": len({cpu.package for cpu in topology.cpus if cpu.package is not None}) or None,
        "nodes": {
            str(node): format_cpus(tuple(c.number for c in topology.cpus if c.node == node))
            for node in topology.nodes
        },
        "siblings": {
            format_cpus(group): len(group)
            for group in sorted({cpu.siblings for cpu in topology.cpus if cpu.siblings})
            if len(group) > 1
        },
        "smt": state.smt,
        "turbo": state.turbo.on,
        "isolated": None if state.isolated is None else format_cpus(state.isolated),
        "nohz_full": None if state.nohz_full is None else format_cpus(state.nohz_full),
        **{key: _spread(topology, name) for key, name in _OF_EACH_CPU.items()},
    }


def _spread(topology: Topology, name: str) -> dict[str, str | int]:
    """Give each value once, with the list of CPUs that have it; CPUs without a value are left out."""
    groups: dict[str | int, list[int]] = {}
    for cpu in topology.cpus:
        value = getattr(cpu, name)
        if value is not None:
            groups.setdefault(value, []).append(cpu.number)
    return {format_cpus(tuple(cpus)): value for value, cpus in groups.items()}


def _model_by_library(host: Host) -> str | None:
    # py-cpuinfo starts processes of its own: it is asked only where the kernel says nothing.
    if host.root != Path("/"):
        return None
    import cpuinfo

    try:
        model = cpuinfo.get_cpu_info().get("brand_raw")
    except Exception:  # noqa: BLE001 - a library that fails to guess a name must not stop a trial
        return None
    return model if isinstance(model, str) and model else None


def _tools(variables: Mapping[str, str], tool_version: str) -> dict[str, Any]:
    path = variables.get("PATH") or os.environ.get("PATH", os.defpath)
    places = {name: shutil.which(name, path=path) for name in _COMPILERS}
    return {
        "fairtrial": tool_version,
        "python": platform.python_version(),
        "python_implementation": platform.python_implementation(),
        "libc": " ".join(part for part in platform.libc_ver() if part) or None,
        "packages": {
            name: _package(name) for name in ("numpy", "scipy", "pyyaml", "psutil", "rich")
        },
        "compilers": {
            name: version
            for name, place in places.items()
            if place is not None and (version := _version(place, _COMPILERS[name])) is not None
        },
    }


@functools.cache
def _package(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


@functools.cache
def _version(program: str, arguments: tuple[str, ...]) -> str | None:
    try:
        plain = {"LC_ALL": "C", "GOTOOLCHAIN": "local", "RUSTUP_AUTO_INSTALL": "0"}
        process = subprocess.Popen(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",  # a toolchain file of the campaign's folder must not make it download one
            env=allowed(os.environ) | plain,
            start_new_session=True,
        )
    except OSError:
        return None
    with process:
        try:
            output, _ = process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return redact_text(lines[0].strip(), _home()) if process.returncode == 0 and lines else None


def _limits() -> dict[str, list[int | None]]:
    pairs = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in _LIMITS}
    endless = resource.RLIM_INFINITY
    return {
        name.lower(): [None if value == endless else value for value in pair]
        for name, pair in pairs.items()
    }


def _home() -> str | None:
    home = os.environ.get("HOME")
    return home if home and home.startswith("/") else None


def _folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:
        return None  # it was removed


def _without_home(value: Any, home: str | None) -> Any:  # noqa: ANN401 - JSON types
    if isinstance(value, dict):
        return {redact_text(key, home): _without_home(item, home) for key, item in value.items()}
    return redact_text(value, home) if isinstance(value, str) else value
