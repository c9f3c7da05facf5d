"""Writes the trial that others were put together to: beside its place, then renamed into it."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import StoreError, UsageError
from ...record.builds import LAYOUT_CHECK, Layout, layouts_by_session, read_builds
from ...record.environment_changes import Change, describe_changes, findings_of
from ...record.manifest import appearing, manifest_text, read_manifest, utc_now, write_hashed
from ...record.same_programs import same_in_all
from ...record.sample_files import SAMPLES
from ...record.shapes import encode, opened, records_of
from ...record.trial_files import (
    BUILDS,
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
    EnvironmentShape,
    Finding,
    Manifest,
    MergedTrial,
    RowShape,
    questions_of,
)
from ..trial import read_trial
from .parts import MergedPart, Offsets, Seam, read_parts, seams

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
        """Write it for a person."""
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
    if os.path.lexists(folder):
        raise UsageError("something is there already", str(folder), "name a folder that is not")
    for path in paths:
        _refuse_planned_looks(Path(path))
    parts = read_parts([Path(path) for path in paths])
    between = seams(parts)
    _refuse(between, accept=accept_drift)
    with appearing(folder) as fresh:
        manifest = _write(fresh, folder.absolute().name, parts, between)
        read_trial(fresh)  # whatever was written into the trials meanwhile: it must hold together
    return Merged(
        trial=folder,
        sessions=manifest.sessions,
        runs=manifest.needed,
        merged_from=manifest.merged_from,
        seams=tuple(
            (one.before.manifest.trial, one.after.manifest.trial, one.changes) for one in between
        ),
    )


def _refuse_planned_looks(path: Path) -> None:
    """Stop where what a trial showed decided how many sessions it has: with others it is no fair sample."""
    plan = read_manifest(path).looks_plan
    if plan is not None and plan.rule == "repeated":
        raise UsageError(
            "what this trial showed decided when it ended: it cannot be put together with others",
            str(path),
            "go on with it by fairtrial compare --resume, or measure with fairtrial run",
        )


def _refuse(between: Iterable[Seam], *, accept: bool) -> None:
    """Stop where a program or an input is another one, unless that is accepted."""
    for seam in between:
        found = [change.what for change in seam.changes if change.identity]
        if found and not accept:
            raise StoreError(
                "\n".join(found),
                f"{seam.before.path} and {seam.after.path}",
                "compare the trials side by side, or put them together all the same with "
                "--accept-drift (the change is then recorded in the new trial)",
            )


def _write(
    folder: Path, name: str, parts: Sequence[MergedPart], between: Sequence[Seam]
) -> Manifest:
    """Write all files of the new trial; the manifest comes last."""
    places = [Offsets()]
    for part in parts:
        rows = records_of(part.path / MEASUREMENTS, RowShape)
        least = min((known.position for known, _ in rows), default=0)
        places.append(places[-1].behind(part.manifest, least))
    total = places.pop()
    both = list(zip(places, parts, strict=True))
    at = utc_now()
    files = {
        ENVIRONMENT: (
            line for p, part in both for line in p.lines(part.path / ENVIRONMENT, EnvironmentShape)
        ),
        PLAN: (line for p, part in both for line in p.plan(part.path)),
        MEASUREMENTS: (line for p, part in both for line in p.measurements(part.path)),
        FINDINGS: _findings(both, between, at),
        CAMPAIGN: _bytes_of(parts[0].path / CAMPAIGN),
    }
    if any((part.path / BUILDS).exists() for part in parts):
        files[BUILDS] = _builds(both)
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
    for (place, part), seam in zip(both[1:], between, strict=True):
        head = {"at": at, "session": place.sessions + 1, "when": "merge"}
        said = Finding(
            check="merge",
            status="ok",
            what=f"session {place.sessions + 1} is the first of trial {part.manifest.trial}",
        )
        for finding in (said, *findings_of(seam.changes)):
            yield encode(head | finding.to_dict()) + b"\n"
    for finding in _layouts(part for _, part in both):
        yield encode({"at": at, "session": None, "when": "merge"} | finding.to_dict()) + b"\n"


def _builds(both: Iterable[tuple[Offsets, MergedPart]]) -> Iterator[bytes]:
    """Give the builds of all parts."""
    made: Counter[str] = Counter()
    for place, part in both:
        yield from place.builds(part.path, part.manifest.trial, made)


def _layouts(parts: Iterable[MergedPart]) -> Iterator[Finding]:
    """Say of which variant several trials have the same layouts: those of one seed draw the same."""
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
                    name = f"{folder}/{trial}/{own}"
                taken.add(name)
                yield name, path


def _bytes_of(path: Path) -> Iterator[bytes]:
    with opened(path) as file:
        while chunk := file.read(_CHUNK):
            yield chunk
