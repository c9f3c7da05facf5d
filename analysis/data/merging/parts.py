"""The trials that are put together: held against each other, ordered, and their lines made one file's."""

from __future__ import annotations

import itertools
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ...errors import StoreError, UsageError
from ...pages import number_format as figures
from ...record.builds import ALL_SESSIONS, rows_of_builds
from ...record.environment_changes import Change, diff
from ...record.shapes import ShapeError, encode, encode_checked, opened, parse, records_of
from ...record.trial_files import (
    ENVIRONMENT,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
    Appended,
    EnvironmentShape,
    GivenUp,
    IdlePower,
    Manifest,
    MergedTrial,
    PlannedRun,
    RowShape,
    SessionEnd,
)
from ..columns import FailedRun
from ..trial import read_trial
from .campaigns import StatedCampaign, campaign_differences

Numbered = TypeVar("Numbered", SessionEnd, GivenUp, IdlePower, FailedRun)
_OUTPUT = re.compile(
    r"(?P<again>[wr]?)(?P<number>[0-9]+)(?P<rest>\.(stdout|stderr|before\.log|after\.log)|-.+\.f64\.gz)"
)


@dataclass(frozen=True, slots=True)
class Offsets:
    """How many sessions, planned runs, and warm-ups and runs that were repeated, stand before a part's own."""

    sessions: int = 0
    positions: int = 0
    repeated: int = 0

    def position(self, old: int) -> int:
        """Move a position; those of what was repeated are negative."""
        return old + self.positions if old >= 0 else old - self.repeated

    def moved(self, one: Numbered) -> Numbered:
        """Give a record of a part as it stands in the whole."""
        places: dict[str, Any] = {"session": one.session + self.sessions}
        if isinstance(one, FailedRun | GivenUp):
            places["position"] = self.position(one.position)
        return replace(one, **places)

    def behind(self, manifest: Manifest, least: int) -> Offsets:
        """Give the place behind a part; `least` is its lowest position."""
        return Offsets(
            self.sessions + manifest.sessions,
            self.positions + manifest.planned,
            self.repeated + max(0, -least),
        )

    # --- lines ---------------------------------------------------------------------------------

    def measurements(self, trial: Path) -> Iterator[bytes]:
        """Give the rows of a part; only their positions, sessions and checksums become others."""
        for _, row in records_of(trial / MEASUREMENTS, RowShape):
            del row["crc32"]
            row["position"] = self.position(row["position"])
            row["session"] += self.sessions
            if row.get("repeats") is not None:
                row["repeats"] = self.position(row["repeats"])
            yield encode_checked(row) + b"\n"

    def plan(self, trial: Path) -> Iterator[bytes]:
        """Give the planned runs of a part."""
        for _, row in records_of(trial / PLAN, PlannedRun):
            row["position"] = self.position(row["position"])
            yield self._line(row)

    def lines(self, path: Path, kind: type) -> Iterator[bytes]:
        """Give the environments, or the findings, of a part."""
        for _, row in records_of(path, kind):
            yield self._line(row)

    def builds(self, trial: Path, name: str, made: Counter[str]) -> Iterator[bytes]:
        """Give the builds of a part, the trial `name`; `made` counts those for all sessions, by variant."""
        for record, row in rows_of_builds(trial):
            del row["crc32"]
            if record.session == ALL_SESSIONS:
                row["segment"] = made[record.variant]
                made[record.variant] += 1
            else:
                row["session"] += self.sessions
            logs = (log.removeprefix(f"{OUTPUTS}/") for log in record.log)
            row["log"] = [f"{OUTPUTS}/{self.output(log, name)}" for log in logs]
            yield encode_checked(row) + b"\n"

    def _line(self, row: dict[str, Any]) -> bytes:
        if type(row.get("session")) is int:
            row["session"] += self.sessions
        return encode(row) + b"\n"

    def output(self, name: str, trial: str) -> str:
        """Name a file of ``outputs/`` or ``samples/``: after its run, or in a folder named after its trial."""
        match = _OUTPUT.fullmatch(name)
        if match is None:
            return f"{trial}/{name}"
        number = int(match["number"])
        again = match["again"]
        new = -self.position(-number) if again else self.position(number)
        return f"{again}{new}{match['rest']}" if again else f"{new:04d}{match['rest']}"

    # --- parts of the manifest -----------------------------------------------------------------

    def merged_from(self, manifest: Manifest) -> Iterator[MergedTrial]:
        """Say which trials a part's sessions were measured in."""
        for one in manifest.merged_from:
            yield replace(one, first=one.first + self.sessions, last=one.last + self.sessions)
        if not manifest.merged_from:
            yield MergedTrial(
                trial=manifest.trial,
                first=self.sessions + 1,
                last=self.sessions + manifest.sessions,
                seed=manifest.seed,
                tool_version=manifest.tool_version,
                started=manifest.started,
                finished=manifest.finished,
            )

    def appended(self, manifest: Manifest, at: str) -> Iterator[Appended]:
        """Say what counts as a look at the answer: a part behind another, and the part's own appends."""
        if self.sessions:
            own = manifest.appended[0].first - 1 if manifest.appended else manifest.sessions
            yield Appended(at=at, first=self.sessions + 1, last=self.sessions + own)
        for one in manifest.appended:
            yield replace(one, first=one.first + self.sessions, last=one.last + self.sessions)


_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedPart:
    """One of the trials: its folder, manifest, resolved campaign and environments, as stored.

    `sessions` counts those with runs that count, `rows` all runs.
    """

    path: Path
    manifest: Manifest
    resolved: Mapping[str, Any] | None
    environments: tuple[Mapping[str, Any], ...]
    sessions: int
    rows: int

    @property
    def campaign(self) -> StatedCampaign:
        """What is held against another part's."""
        return StatedCampaign.of(self.manifest, self.resolved)

    @property
    def names(self) -> frozenset[str]:
        """The names of the trials that its runs were measured in."""
        own = {self.manifest.trial}
        return frozenset({part.trial for part in self.manifest.merged_from} or own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seam:
    """Where a part follows another one, and what differs between their environments."""

    before: MergedPart
    after: MergedPart
    changes: tuple[Change, ...]


def read_parts(paths: Sequence[Path]) -> tuple[MergedPart, ...]:
    """Read the trials and hold them against each other; give them in the order of their starts."""
    if len(paths) < 2:
        raise UsageError(
            "one trial is whole by itself", None, "name two trials, or more, of one campaign"
        )
    parts = tuple(sorted(map(_complete, paths), key=lambda part: part.manifest.started))
    require_distinct(parts)
    for other in parts[1:]:
        _require_one_host(parts[0], other)
        require_one_campaign(parts[0], other)
    return parts


def require_distinct(parts: Sequence[MergedPart]) -> None:
    """Refuse runs that are in two of the trials."""
    for one, other in itertools.combinations(parts, 2):
        twice = sorted(one.names & other.names)
        if twice:
            what = f"the runs of trial {twice[0]} are in {one.path} and in {other.path}"
            raise UsageError(what, None, "name each trial once")


def seams(parts: Sequence[MergedPart]) -> tuple[Seam, ...]:
    """Compare the last environment of each part with the first of the one that follows."""
    return tuple(
        Seam(before=a, after=b, changes=diff(a.environments[-1], b.environments[0]))
        for a, b in itertools.pairwise(parts)
    )


def read_part(path: Path) -> MergedPart:
    """Read a trial, complete or not."""
    trial = read_trial(path)  # refuses what is damaged
    manifest = trial.manifest
    if manifest.origin == "imported":
        raise StoreError(
            "this trial was imported from files of another tool: on which host, and in which "
            "environment, its runs were made is not known",
            str(path),
            "import the files of all of them at once: fairtrial import FILE FILE -o FOLDER",
        )
    environments: tuple[Mapping[str, Any], ...] = ()
    if (path / ENVIRONMENT).exists() and manifest.status != "running":
        environments = tuple(row for _, row in records_of(path / ENVIRONMENT, EnvironmentShape))
    return MergedPart(
        path=path,
        manifest=manifest,
        resolved=_resolved(path),
        environments=environments,
        sessions=trial.sessions,
        rows=len(trial),
    )


def _complete(path: Path) -> MergedPart:
    part = read_part(path)
    manifest = part.manifest
    if manifest.status != "complete":
        done = "it is still running, or its runner was killed"
        if manifest.status != "running":
            done = f"it was {manifest.status} after {part.rows} of {manifest.needed} runs"
        raise StoreError(
            f"this trial is not complete: {done}",
            str(path),
            f"finish it first: fairtrial run {shlex.quote(manifest.campaign_path)} --resume "
            f"--trial {shlex.quote(str(path))}",
        )
    if not part.environments:
        raise StoreError("it has no environment of a session", str(path / ENVIRONMENT))
    return part


def _resolved(path: Path) -> Mapping[str, Any] | None:
    """Read what the campaign came to; a trial of the first version does not say it."""
    if not (path / RESOLVED).exists():
        return None
    with opened(path / RESOLVED) as file:
        try:
            stored: Any = parse(file.read().strip())
        except ShapeError as error:
            raise StoreError(
                f"the resolved campaign cannot be read: {error}",
                str(path / RESOLVED),
                "copy the trial again",
            ) from None
    campaign = stored.get("campaign") if isinstance(stored, dict) else None
    return campaign if isinstance(campaign, dict) else None


def _require_one_host(one: MergedPart, other: MergedPart) -> None:
    """Refuse trials of two hosts, and those of which nobody can tell."""
    a, b = one.manifest, other.manifest
    if "unknown" in (a.host_id, b.host_id):
        part = one if a.host_id == "unknown" else other
        raise StoreError(
            "the machine that measured this trial is unknown: its machine id could not be read",
            str(part.path / MANIFEST),
            "hosts that are told apart by their names make a fleet: --as fleet",
        )
    what = f"these trials were measured on two hosts, {a.host} and {b.host}"
    if a.host_id == b.host_id:
        if a.cpu_model == b.cpu_model:
            return
        what = f"{a.host} had another processor: first {a.cpu_model}, then {b.cpu_model}"
    elif a.host == b.host:
        what = f"these trials were measured on two hosts of the name {a.host}: their machine ids differ"
    raise StoreError(
        f"{what}; sessions of one trial share their host",
        f"{one.path} and {other.path}",
        "put them together as hosts of a fleet: --as fleet",
    )


def require_one_campaign(one: MergedPart, other: MergedPart) -> None:
    """Refuse trials of two campaigns, with what differs."""
    found = list(campaign_differences(one.campaign, other.campaign))
    if not found:
        return
    told = figures.listed(found, _SHOWN, mark="; ", last="; and")
    raise StoreError(
        f"these are trials of different campaigns: {told}",
        f"{one.path} and {other.path}",
        "compare the trials side by side; only those of one campaign can be put together",
    )
