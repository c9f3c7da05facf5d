"""What a reader needs to repeat a trial: `capture` describes host, tools and targets.

Every key is explained in ``docs/environment.md``. Values come from `harness.host.Host`, so that a
recorded tree can be captured too; ``None`` is unknown. What moves by itself stands under "moment"
and is no difference between two sessions. `analysis.record.diff` compares two captures.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import resource
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.record import packed_targets

from ..host import Host, HostState, format_cpus
from .key_file import VariableKey
from .redaction import redact_text
from .targets import describe_targets
from .variables import allowed, stored_variables

__all__ = ["capture"]

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
_PACKAGES = ("numpy", "scipy", "pyyaml", "psutil", "rich")
_LIMITS = ("AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RTPRIO", "STACK")
_PATIENCE_S = 5.0


def capture(
    host: Host,
    *,
    targets: Mapping[str, Path],
    variables: Mapping[str, str],
    tool_version: str,
    key: VariableKey | None = None,
) -> dict[str, Any]:
    """Describe everything that may matter to a timing, as JSON types.

    Parameters
    ----------
    host : Host
        Where the values are read.
    targets : mapping
        A name (such as ``benchmark/variant``) -> the executable; none of them is executed.
    variables : mapping
        The environment variables of the targets; values of those that are allowed are stored.
    tool_version : str
        The version of fairtrial.
    key : VariableKey, optional
        Makes the hashes of the others' values; without it there are none.
    """
    state = host.read()
    counters = host.counters()
    home = _home()
    # Many cells of one program share one description: hashing it for each took most of the start.
    described = describe_targets(targets.values(), variables)
    programs = {path: _without_home(entry, home) for path, entry in described.items()}
    return {
        "host": {
            "name": state.hostname,
            "machine_id_sha256": host.machine_id(),
            "boot_id": host.boot_id(),
            "virtual": state.virtual,
            "container": state.container,
            "cpu_quota": state.quota_cpus,
        },
        "cpu": _cpu(host, state),
        "memory": {
            "total_bytes": state.memory_total_bytes,
            "swap_total_bytes": state.swap_total_bytes,
            "swappiness": state.swappiness,
            "thp": state.thp,
            "thp_defrag": state.thp_defrag,
            "numa_balancing": state.numa_balancing,
        },
        "kernel": {
            "release": state.kernel,
            "build": state.kernel_build,
            "architecture": state.architecture,
            "distribution": state.distribution,
            "boot_arguments": _redacted(state.boot_arguments, home),
            "aslr": state.aslr,
            "clocksource": state.clocksource,
            "perf_rate": state.perf_rate,
            "rt_runtime_us": state.rt_runtime_us,
            "mitigations": dict(state.vulnerabilities),
        },
        "tools": _tools(variables, tool_version),
        "targets": packed_targets(targets, programs),
        "process": {
            "cwd": _redacted(_folder(), home),
            "umask": host.umask(),
            "affinity": format_cpus(state.usable),
            "nice": os.getpriority(os.PRIO_PROCESS, 0),
            "limits": _limits(),
        },
        **stored_variables(variables, key or VariableKey(), home),
        "moment": {
            "uptime_s": counters.uptime_s,
            "load_1min": counters.load_1min,
            "memory_available_bytes": counters.memory_available_bytes,
            "temperature_c": counters.temperature_c,
            "frequency_khz": {str(cpu): khz for cpu, khz in counters.frequency_khz.items()},
        },
    }


def _cpu(host: Host, state: HostState) -> dict[str, Any]:
    topology = state.topology
    return {
        "model": state.cpu_model or _model_by_library(host),
        "microcode": state.microcode,
        "flags_sha256": state.flags_sha256,
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
        "driver": _spread({cpu.number: cpu.driver for cpu in topology.cpus}),
        "governor": _spread({cpu.number: cpu.governor for cpu in topology.cpus}),
        "preference": _spread({cpu.number: cpu.preference for cpu in topology.cpus}),
        "lowest_khz": _spread({cpu.number: cpu.lowest for cpu in topology.cpus}),
        "highest_khz": _spread({cpu.number: cpu.highest for cpu in topology.cpus}),
        "hardware_highest_khz": _spread(
            {cpu.number: cpu.hardware_highest for cpu in topology.cpus}
        ),
    }


def _spread(values: Mapping[int, str | int | None]) -> dict[str, str | int]:
    """Give each value once, with the list of CPUs that have it; CPUs without a value are left out."""
    groups: dict[str | int, list[int]] = {}
    for cpu, value in values.items():
        if value is not None:
            groups.setdefault(value, []).append(cpu)
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
        "packages": {name: _package(name) for name in _PACKAGES},
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
    """Give the first line of what a compiler says about itself; None when it does not answer."""
    try:
        process = subprocess.Popen(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",  # a toolchain file of the campaign's folder must not make it download one
            env=_asking(),
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


def _asking() -> dict[str, str]:
    """Give the variables of a compiler that is asked: no other value can be in its answer."""
    plain = {"LC_ALL": "C", "GOTOOLCHAIN": "local", "RUSTUP_AUTO_INSTALL": "0"}
    return allowed(os.environ) | plain


def _limits() -> dict[str, list[int | None]]:
    """Give soft and hard resource limits; None is "unlimited"."""
    limits: dict[str, list[int | None]] = {}
    for name in _LIMITS:
        pair = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
        limits[name.lower()] = [
            None if value == resource.RLIM_INFINITY else value for value in pair
        ]
    return limits


def _home() -> str | None:
    home = os.environ.get("HOME")
    return home if home and home.startswith("/") else None


def _folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:
        return None  # it was removed


def _redacted(text: str | None, home: str | None) -> str | None:
    return None if text is None else redact_text(text, home)


def _without_home(value: Any, home: str | None) -> Any:  # noqa: ANN401 - JSON types
    if isinstance(value, dict):
        return {redact_text(key, home): _without_home(item, home) for key, item in value.items()}
    return redact_text(value, home) if isinstance(value, str) else value
