"""What gives these results again: commands, seeds, versions, hashes."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import platform
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.host_record import read_environments, without_homes
from ...errors import StoreError
from ...importers.trials import trial_and_variant
from ...record.fleet import FLEET, Fleet, read_fleet
from ...record.manifest import read_manifest
from ...record.trial_files import CAMPAIGN, ENVIRONMENT, MANIFEST, MEASUREMENTS, PLAN, RESOLVED
from ...version import VERSION
from ...words import shown
from ..fleet import first_host, level_of
from .result import Fact

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...methods.multilevel.host_effects import HostLevel
    from ..subject import Subject

__all__ = ["commands_of", "hashes_of", "notes_of", "seeds_of", "versions_of"]

_FILES = (CAMPAIGN, RESOLVED, PLAN, MEASUREMENTS, ENVIRONMENT)
_LIBRARIES = ("numpy", "scipy", "numba")
_USUAL = {
    "confidence": 0.95,
    "margin": 0.01,
    "correction": "holm",
    "looks": None,
    "certificate": None,
}
_PIECE = 2**20  # bytes that are hashed at once


def commands_of(subject: Subject) -> tuple[str, ...]:
    """Give the command lines that measure and judge the same again, as they would be typed."""
    level = level_of(subject.verdict)
    found = [line for trial in subject.trials for line in _measuring(trial, level)]
    options = [*_options(subject)]
    if subject.trials or len(subject.sources) > 1:  # one file alone is only reported on
        found.append(_line("fairtrial", "verdict", *subject.sources, "--explain", *options))
    found.append(_line("fairtrial", "report", *subject.sources, *options, "-o", "report.html"))
    return tuple(found)


def notes_of(subject: Subject) -> tuple[str, ...]:
    """Say what the commands cannot repeat."""
    found = []
    if subject.trials:
        found.append(
            "The seed fixes the order of the runs and everything else that is random, not their times."
        )
    for trial in subject.trials:
        for one in trial.manifest.appended:
            found.append(
                f"Sessions {one.first} to {one.last} were appended after the first ones had been judged."
            )
    if len(subject.trials) < len(subject.sources):
        found.append("How the values of the files were measured is not known here.")
    return tuple(dict.fromkeys(found))


def seeds_of(subject: Subject) -> tuple[Fact, ...]:
    """Give the seeds of the plans, and that of the analysis."""
    found = []
    for trial in subject.trials:
        manifest = trial.manifest
        if manifest.merged_from:
            found += [
                Fact(name=f"plan of {one.trial}", text=f"{one.seed}")
                for one in manifest.merged_from
            ]
        else:
            name = "plan" if len(subject.trials) == 1 else f"plan of {manifest.trial}"
            found.append(Fact(name=name, text=f"{manifest.seed}"))
    if any(one.panel is not None for one in subject.candidates):
        found.append(Fact(name="random draws of the published methods", text="0"))
    return tuple(found)


def versions_of(subject: Subject) -> tuple[Fact, ...]:
    """Give what measured and what judged."""
    found = []
    host = first_host(subject.verdict) if level_of(subject.verdict) is not None else None
    for trial in subject.trials:
        of = "" if len(subject.trials) == 1 else f" {trial.manifest.trial}"
        if host is not None:
            of = f" on {shown(host.name)}"
        records = read_environments(host or trial.path)
        tools = records[0].sections.get("tools", {}) if records else {}
        parts = [str(tools[key]) for key in ("python", "libc") if tools.get(key)]
        found.append(
            Fact(name=f"measured{of} with fairtrial", text=trial.manifest.tool_version or None)
        )
        python = ", ".join(["Python " + parts[0], *parts[1:]]) if parts else None
        found.append(Fact(name=f"measured{of} under", text=python))
    found.append(Fact(name="judged with fairtrial", text=VERSION))
    found.append(Fact(name="judged under", text=f"Python {platform.python_version()}"))
    found += [Fact(name=name, text=_installed(name)) for name in _LIBRARIES]
    return tuple(found)


def hashes_of(subject: Subject) -> tuple[Fact, ...]:
    """Give the SHA-256 of what was read: files of trials as their manifests say, others as they are."""
    found: list[Fact] = []
    hosts = level_of(subject.verdict) is not None
    if hosts:
        found += _hashes_of_hosts(subject)
    for trial in () if hosts else subject.trials:
        manifest = trial.manifest
        of = "" if len(subject.trials) == 1 else f"{manifest.trial}: "
        found.append(
            Fact(name=f"{of}campaign (its content)", text=manifest.campaign_sha256 or None)
        )
        found.append(Fact(name=f"{of}{MANIFEST}", text=_digest(trial.path / MANIFEST)))
        found += [Fact(name=f"{of}{name}", text=manifest.files.get(name)) for name in _FILES]
        found += [
            Fact(name=f"{of}{without_homes(path)}", text=digest or None)
            for path, digest in sorted(manifest.targets.items())
        ]
    for source in subject.sources:
        if trial_and_variant(source) is None:
            found.append(Fact(name=without_homes(source), text=_digest(Path(source))))
    return tuple(found)


def _hashes_of_hosts(subject: Subject) -> Iterator[Fact]:
    """Give those of a fleet: each host's manifest holds the hashes of its other files."""
    verdict = subject.verdict
    identity = subject.trials[0].manifest.campaign_sha256
    yield Fact(name="campaign (its content)", text=identity or None)
    yield Fact(name=FLEET, text=_digest(Path(verdict.path or ".") / FLEET))
    for one in verdict.hosts:
        if one.judged:
            name = f"{shown(one.host)}: {MANIFEST}"
            yield Fact(name=name, text=_digest(Path(one.trial) / MANIFEST))


def _measuring(trial: Trial, level: HostLevel | None) -> Iterator[str]:
    """Give what measured a trial; a merged one has a line for each of its parts."""
    if trial.outermost == "host":
        yield from _measuring_fleet(trial, level)
        return
    manifest = trial.manifest
    campaign = Path(manifest.campaign_path).name or CAMPAIGN
    if not manifest.merged_from:
        sessions = ["--sessions", f"{manifest.sessions}"]
        yield _line("fairtrial", "run", campaign, "--seed", f"{manifest.seed}", *sessions)
        return
    for one in manifest.merged_from:
        sessions = ["--sessions", f"{one.last - one.first + 1}"]
        yield _line("fairtrial", "run", campaign, "--seed", f"{one.seed}", *sessions)
    parts = [f"runs/{one.trial}" for one in manifest.merged_from]
    yield _line("fairtrial", "merge", *parts, "-o", f"runs/{manifest.trial}")


def _measuring_fleet(trial: Trial, level: HostLevel | None) -> Iterator[str]:
    """Give what measured a fleet: one submission, or each host by itself and what put them together."""
    manifest, fleet = trial.manifest, read_fleet(trial.path)
    campaign = Path(manifest.campaign_path).name or CAMPAIGN
    if fleet.submitted_at is not None:
        yield _line("fairtrial", "submit", campaign, "--hosts", ",".join(fleet.names))
        return
    each = _planned(trial.path, fleet) if level is None else level.sessions_each[1]
    sessions = [] if each is None else ["--sessions", f"{each}"]
    yield _line("fairtrial", "run", campaign, "--seed", f"{manifest.seed}", *sessions)
    yield _line("fairtrial", "merge", *fleet.names, "-o", trial.path.name)


def _planned(path: Path, fleet: Fleet) -> int | None:
    """Give the sessions of the first host that has a trial; None where no host has one."""
    for one in fleet.hosts:
        with contextlib.suppress(StoreError):
            return read_manifest(path / one.trial).sessions
    return None


def _options(subject: Subject) -> Iterator[str]:
    """Give the options as typed; what is the default needs none."""
    asked = subject.asked
    named = {pair[1] for text in subject.sources if (pair := trial_and_variant(text)) is not None}
    for variant in asked.get("variants") or ():
        if variant not in named:
            yield from ("--variant", variant)
    for benchmark in asked.get("benchmarks") or ():
        yield from ("--benchmark", benchmark)
    yield from _reading(subject)
    for name, usual in _USUAL.items():
        value = asked.get(name)
        if value is not None and value != usual:
            yield from (f"--{name}", f"{value}")
    for name, weight in (asked.get("weights") or {}).items():
        yield from ("--weight", f"{name}={weight}")
    if asked.get("always_valid"):
        yield "--always-valid"


def _reading(subject: Subject) -> Iterator[str]:
    """Give the options of the reader."""
    if not subject.verdict.usual:
        yield from ("--metric", subject.verdict.metric)
    if subject.how.better is not None:
        yield from ("--better", subject.how.better)
    if subject.how.layout is not None:
        yield from ("--layout", subject.how.layout)
    if subject.how.decimal is not None:
        yield from ("--decimal", subject.how.decimal)


def _line(*words: str) -> str:
    return shlex.join(words)


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _digest(path: Path) -> str | None:
    """Give a file's SHA-256; None where it cannot be read."""
    found = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                found.update(piece)
    except (OSError, ValueError):
        return None
    return found.hexdigest()
