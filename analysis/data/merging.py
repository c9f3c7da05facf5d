"""The trials that are put together: held against each other, ordered, and their lines made one file's."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ..errors import StoreError, UsageError
from ..pages import number_format as figures
from ..record.environment import Change, describe_changes, diff, findings_of, same_in_all
from ..record.manifest import (
    appearing,
    manifest_text,
    read_manifest,
    refuse_existing,
    resume_words,
    utc_now,
    write_hashed,
)
from ..record.shapes import SAMPLES, ShapeError, encode, encode_checked, opened, parse, records_of
from ..record.trial_files import (
    ALL_SESSIONS,
    BUILDS,
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    LAYOUT_CHECK,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
    Appended,
    EnvironmentShape,
    Finding,
    GivenUp,
    IdlePower,
    Layout,
    Manifest,
    MergedTrial,
    PlannedRun,
    RowShape,
    SessionEnd,
    layouts_by_session,
    questions_of,
    read_builds,
    rows_of_builds,
)
from ..words import apart, command_line
from .columns import FailedRun
from .host_record import ABSENT, is_free_setting, setting_changes, setting_text
from .trial import read_trial

# --- Whether two trials are of one campaign, whatever its seed, its sessions and who may read them.


_STATED = (
    "campaign_name", "variants", "benchmarks", "baseline", "metrics", "runs", "warmup", "stop",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedCampaign:
    """What is held against another trial's: fields of the manifest, and all settings.

    `identity` is the rule of the campaign's identity with the identity itself. `settings` are the campaign of
    ``resolved.json``; None for a trial that does not hold it.
    """

    identity: tuple[int, str]
    stated: Mapping[str, Any]
    settings: Mapping[str, Any] | None

    @classmethod
    def of(cls, manifest: Manifest, resolved: Mapping[str, Any] | None) -> StatedCampaign:
        """Take it from a trial; `resolved` is what its campaign came to, None where that is unknown."""
        data = manifest.to_dict()
        stated = {name: data[name] for name in _STATED}
        # which metrics of meters can be had is the host's, that day
        stated["metrics"] = {k: one for k, one in data["metrics"].items() if "source" not in one}
        identity = (manifest.campaign_identity, manifest.campaign_sha256)
        return cls(identity=identity, stated=stated, settings=resolved or None)

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types; `from_dict` makes an equal one of them."""
        return {"identity": list(self.identity), "stated": self.stated, "settings": self.settings}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StatedCampaign:
        """Make one of JSON types; raises KeyError, TypeError or ValueError where they are none."""
        rule, digest = data["identity"]
        stated = {name: data["stated"][name] for name in _STATED}
        settings = data["settings"]
        if not isinstance(settings, Mapping | None):
            raise TypeError("settings")
        return cls(identity=(rule, digest), stated=stated, settings=settings)


def campaign_differences(a: StatedCampaign, b: StatedCampaign) -> Iterator[str]:
    """Say what differs between the campaigns of two trials; nothing where they are one."""
    for name in _STATED:
        old, new = a.stated[name], b.stated[name]
        if old != new:
            yield _differing(name, old, new)
    same = a.identity == b.identity
    if a.settings is None or b.settings is None:
        if not same:
            yield "their identities (campaign_sha256) differ"
        return
    found = setting_changes(a.settings, b.settings)
    for key, old, new in (one for one in found if not is_free_setting(one[0])):
        if old is not ABSENT and new is not ABSENT:
            yield _differing(key, old, new)
        elif not same:  # else a version of fairtrial has a key that the other lacks: a default
            yield f"{key} stands in one of them only"


def _differing(name: str, old: object, new: object) -> str:
    texts = [setting_text(name, value) for value in (old, new)]
    return f"{name} is {' and '.join(apart(texts, 60))}"


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

    def lines(self, path: Path, kind: type) -> Iterator[bytes]:
        """Give the planned runs, the environments, or the findings, of a part."""
        for _, row in records_of(path, kind):
            if kind is PlannedRun:
                row["position"] = self.position(row["position"])
            if type(row.get("session")) is int:
                row["session"] += self.sessions
            yield encode(row) + b"\n"

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

    def output(self, name: str, trial: str) -> str:
        """Name a file of ``outputs/`` or ``samples/``: after its run, or in a folder named after its trial."""
        match = _OUTPUT.fullmatch(name)
        if match is None:
            return "/".join((trial, name))
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


def places_of(sizes: Iterable[tuple[int, int, int]]) -> list[Offsets]:
    """Give where each of several parts begins, and the end, by what each part has of what `Offsets` counts."""
    ends = ([0, *itertools.accumulate(one)] for one in zip(*sizes, strict=True))
    return [Offsets(*three) for three in zip(*ends, strict=True)]


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


# where a part follows another one: both, and what differs between their environments
Seam = tuple[MergedPart, MergedPart, tuple[Change, ...]]


def read_parts(paths: Sequence[Path]) -> tuple[MergedPart, ...]:
    """Read the trials and hold them against each other; give them in the order of their starts."""
    if len(paths) < 2:
        what = "one trial is whole by itself"
        raise UsageError(what, None, "name two trials, or more, of one campaign")
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
        (a, b, diff(a.environments[-1], b.environments[0])) for a, b in itertools.pairwise(parts)
    )


def read_part(path: Path) -> MergedPart:
    """Read a trial, complete or not."""
    trial = read_trial(path)  # refuses what is damaged
    manifest = trial.manifest
    if manifest.origin == "imported":
        raise StoreError(
            "this trial was imported from files of another tool: nobody knows the host and the "
            "environment of its runs",
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
        what = f"this trial is not complete: {done}"
        on = resume_words(str(path), "" if manifest.must_raise else manifest.campaign_path)
        raise StoreError(what, str(path), f"finish it first: {command_line(on)}")
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
            what = f"the resolved campaign cannot be read: {error}"
            raise StoreError(what, str(path / RESOLVED), "copy the trial again") from None
    campaign = stored.get("campaign") if isinstance(stored, dict) else None
    return campaign if isinstance(campaign, dict) else None


def _require_one_host(one: MergedPart, other: MergedPart) -> None:
    """Refuse trials of two hosts, and of unknown ones."""
    a, b = one.manifest, other.manifest
    if "unknown" in (a.host_id, b.host_id):
        part = one if a.host_id == "unknown" else other
        what = "the machine that measured this trial is unknown: its machine id could not be read"
        fix = "hosts that are separated by their names make a fleet: --as fleet"
        raise StoreError(what, str(part.path / MANIFEST), fix)
    what = f"these trials were measured on two hosts, {a.host} and {b.host}"
    if a.host_id == b.host_id:
        if a.cpu_model == b.cpu_model:
            return
        what = f"{a.host} had another processor: first {a.cpu_model}, then {b.cpu_model}"
    elif a.host == b.host:
        what = f"these trials were measured on two hosts of the name {a.host}: their machine ids differ"
    what = f"{what}; sessions of one trial share their host"
    fix = "put them together as hosts of a fleet: --as fleet"
    raise StoreError(what, f"{one.path} and {other.path}", fix)


def require_one_campaign(one: MergedPart, other: MergedPart) -> None:
    """Refuse trials of two campaigns, with what differs."""
    found = list(campaign_differences(one.campaign, other.campaign))
    if not found:
        return
    text = figures.listed(found, _SHOWN, mark="; ", last="; and")
    what = f"these are trials of different campaigns: {text}"
    fix = "compare the trials side by side; only those of one campaign can be put together"
    raise StoreError(what, f"{one.path} and {other.path}", fix)


# --- Writes the trial that others were put together to: next to its place, then renamed into it.


_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A trial that was put together. `seams` says what differs where a trial follows another."""

    trial: Path
    sessions: int
    runs: int
    merged_from: tuple[MergedTrial, ...]
    seams: tuple[tuple[str, str, tuple[Change, ...]], ...]

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "trial": str(self.trial),
            "sessions": self.sessions,
            "runs": self.runs,
            "merged_from": [part.to_dict() for part in self.merged_from],
            "pairs": [
                {"from": old, "to": new, "changes": [change.to_dict() for change in changes]}
                for old, new, changes in self.seams
            ],
        }

    def __str__(self) -> str:
        count = len(self.merged_from)
        lines = [f"{self.trial}: {count} trials, {self.sessions} sessions, {self.runs} runs"]
        for part in self.merged_from:
            which = f"session {part.first}"
            if part.last > part.first:
                which = f"sessions {part.first} to {part.last}"
            lines.append(f"  {which:<18} {part.trial}")
        for old, new, changes in self.seams:
            lines.append(f"{old} -> {new}:")
            lines += [f"  {line}" for line in describe_changes(changes).splitlines()]
        return "\n".join(lines)


def merge_trials(paths: Sequence[Path], folder: Path, *, accept_drift: bool = False) -> Merged:
    """Put trials of one campaign on one host together, as the sessions of a new one.

    Sessions follow each other in the order of the trials' starts. Nothing of a run becomes another
    but its session and its position. What differs between the environments of two trials that follow
    each other is a finding of the new one, as it would be between two sessions. Each trial behind the
    first counts as a look at the answer, as sessions that are appended do.
    """
    folder = Path(folder)
    refuse_existing(folder)
    for path in paths:
        plan = read_manifest(Path(path)).looks_plan
        if plan is not None and plan.rule == "repeated":  # with others it is no fair sample
            what = "what this trial showed decided when it ended: it cannot be put together with others"
            again = command_line(("fairtrial", "compare", "--resume", str(path)))
            fix = f"go on with it by {again}, or measure with fairtrial run"
            raise UsageError(what, str(path), fix)
    parts = read_parts([Path(path) for path in paths])
    between = seams(parts)
    for before, after, changes in between:
        if (found := [one.what for one in changes if one.identity]) and not accept_drift:
            fix = (
                "compare the trials side by side, or put them together all the same with "
                "--accept-drift (the change is then recorded in the new trial)"
            )
            raise StoreError("\n".join(found), f"{before.path} and {after.path}", fix)
    with appearing(folder) as fresh:
        manifest = _write(fresh, folder.absolute().name, parts, between)
        read_trial(fresh)  # whatever was written into the trials meanwhile: it must hold together
    return Merged(
        trial=folder,
        sessions=manifest.sessions,
        runs=manifest.needed,
        merged_from=manifest.merged_from,
        seams=tuple((a.manifest.trial, b.manifest.trial, changes) for a, b, changes in between),
    )


def _write(
    folder: Path, name: str, parts: Sequence[MergedPart], between: Sequence[Seam]
) -> Manifest:
    """Write all files of the new trial; the manifest comes last."""
    sizes = []
    for part in parts:
        rows = records_of(part.path / MEASUREMENTS, RowShape)
        least = min((known.position for known, _ in rows), default=0)
        sizes.append((part.manifest.sessions, part.manifest.planned, max(0, -least)))
    *places, total = places_of(sizes)
    both = list(zip(places, parts, strict=True))
    at = utc_now()
    files = {
        ENVIRONMENT: (
            line for p, part in both for line in p.lines(part.path / ENVIRONMENT, EnvironmentShape)
        ),
        PLAN: (line for p, part in both for line in p.lines(part.path / PLAN, PlannedRun)),
        MEASUREMENTS: (line for p, part in both for line in p.measurements(part.path)),
        FINDINGS: _findings(both, between, at),
        CAMPAIGN: _bytes_of(parts[0].path / CAMPAIGN),
    }
    if any((part.path / BUILDS).exists() for part in parts):
        made: Counter[str] = Counter()
        files[BUILDS] = (
            line for p, of in both for line in p.builds(of.path, of.manifest.trial, made)
        )
    if parts[0].resolved is not None:
        files[RESOLVED] = _bytes_of(parts[0].path / RESOLVED)
    hashes = {file: write_hashed(folder / file, data) for file, data in files.items()}
    (folder / OUTPUTS).mkdir(mode=0o700)
    for new, old in sorted(_outputs(both)):
        (folder / new).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        hashes[new] = write_hashed(folder / new, _bytes_of(old))
    first = parts[0].manifest
    manifest = replace(
        first,
        trial=name,
        sessions=total.sessions,
        planned=total.positions,
        metrics={k: v for part in parts for k, v in part.manifest.metrics.items()},
        targets={k: v for part in parts for k, v in part.manifest.targets.items()},
        arguments={k: v for part in parts for k, v in part.manifest.arguments.items()},
        finished=max(part.manifest.finished or part.manifest.started for part in parts),
        reason=None,
        files=hashes,
        session_ends=tuple(p.moved(end) for p, part in both for end in part.manifest.session_ends),
        given_up=tuple(p.moved(one) for p, part in both for one in part.manifest.given_up),
        must_raise=None,
        stage=None,
        idle_power=tuple(p.moved(one) for p, part in both for one in part.manifest.idle_power),
        appended=tuple(one for p, part in both for one in p.appended(part.manifest, at)),
        origin="merged",
        merged_from=tuple(one for p, part in both for one in p.merged_from(part.manifest)),
        judge=questions_of((part.manifest.trial, part.manifest) for part in parts),
        same_program=same_in_all(part.manifest for part in parts),
        further={},
    )
    write_hashed(folder / MANIFEST, [manifest_text(manifest)])
    return manifest


def _findings(
    both: Sequence[tuple[Offsets, MergedPart]], between: Sequence[Seam], at: str
) -> Iterator[bytes]:
    """Give the findings of all parts, then what was found when they were put together."""
    for place, part in both:
        yield from place.lines(part.path / FINDINGS, Finding)
    for (place, part), (_, _, changes) in zip(both[1:], between, strict=True):
        head = {"at": at, "session": place.sessions + 1, "when": "merge"}
        found = Finding(
            check="merge",
            status="ok",
            what=f"session {place.sessions + 1} is the first of trial {part.manifest.trial}",
        )
        for finding in (found, *findings_of(changes)):
            yield encode(head | finding.to_dict()) + b"\n"
    for finding in _layouts(part for _, part in both):
        yield encode({"at": at, "session": None, "when": "merge"} | finding.to_dict()) + b"\n"


def _layouts(parts: Iterable[MergedPart]) -> Iterator[Finding]:
    """Name the variants with the same layouts in several trials: those of one seed draw the same."""
    drawn: dict[str, list[Layout]] = {}
    for part in parts:
        for variant, sessions in layouts_by_session(read_builds(part.path)).items():
            drawn.setdefault(variant, []).extend(one.layout for one in sessions.values())
    for variant, layouts in drawn.items():
        if len(set(layouts)) < len(layouts):
            yield Finding(
                check=LAYOUT_CHECK,
                status="warn",
                what=f"{len(layouts)} sessions of {variant} have {len(set(layouts))} layouts",
                where=BUILDS,
                fix="measure trials that are to be put together with seeds of their own: fairtrial run --seed N",
                reason="trials of one seed draw the same layouts: the interval speaks for no more of them",
            )


def _outputs(both: Iterable[tuple[Offsets, MergedPart]]) -> Iterator[tuple[str, Path]]:
    """Name the files of all ``outputs/`` and ``samples/`` in the new trial; links were made by somebody else."""
    taken: set[str] = set()
    for folder, (place, part) in itertools.product((OUTPUTS, SAMPLES), both):
        root, trial = part.path / folder, part.manifest.trial
        for path in sorted(root.rglob("*")):
            if path.is_file() and not path.is_symlink():
                own = str(path.relative_to(root))
                name = f"{folder}/{place.output(own, trial)}"
                if name in taken:  # somebody has put it there, not a run
                    name = "/".join((folder, trial, own))
                taken.add(name)
                yield name, path


def _bytes_of(path: Path) -> Iterator[bytes]:
    with opened(path) as file:
        while chunk := file.read(_CHUNK):
            yield chunk
