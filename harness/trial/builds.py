"""Builds of a trial, once for all sessions or anew for each: executed, hashed and recorded.

A session's own build draws another layout of the same program, so that the interval over sessions speaks for layouts.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.record.environment import segments_of
from analysis.record.manifest import read_manifest, utc_now
from analysis.record.trial_files import (
    ALL_SESSIONS,
    BUILDS,
    CAMPAIGN,
    LAYOUT_CHECK,
    OUTPUTS,
    Artifact,
    BuildRecord,
    Finding,
    Manifest,
    layouts_by_session,
    read_builds,
    warning,
)

from ..campaign.cells import SessionBuilds
from ..campaign.model import LAYOUT_SEED, Build, Campaign, Cell, MetricRule, filled
from ..campaign.resolve import load_campaign
from ..errors import DriftError
from ..host.executables import sha256_file
from ..launch.commands import BuildCost, CommandFailedError, hashes, resolve_all
from ..launch.matching import Matching, opened_output
from .folder import open_inside, storing
from .outcomes import Unparsable, parsed, values_in
from .stopping import Earlier, SessionRules

if TYPE_CHECKING:
    from .preparation import TrialContext
    from .writer import Store

# --- The numbers of a build: what its campaign reads of it, and the size of the programs that it made.


Numbers = dict[str, dict[str, tuple[float, ...]]]

PROGRAM_BYTES = "program_bytes"


def numbers_of(
    cells: Iterable[Cell], logs: Sequence[Path], programs: Mapping[str, Path], matching: Matching
) -> Numbers:
    """Give the numbers of a build by metric and benchmark; `cells` are its variant's.

    `logs` hold the output of its steps, `programs` the program of each benchmark that it made. Raises
    Unparsable, which says which number is not there.
    """
    found: Numbers = {}
    known: dict[tuple[object, ...], tuple[float, ...]] = {}  # many benchmarks may ask for one
    declared: set[str] = set()
    for cell in cells:
        declared.update(rule.name for rule in cell.metrics)
        for rule in cell.metrics:
            if rule.when == "build":
                asked = (rule.name, rule.source, rule.regex, rule.json)
                if asked not in known:
                    known[asked] = _values(rule, logs, matching)
                found.setdefault(rule.name, {})[cell.benchmark] = known[asked]
    if PROGRAM_BYTES not in declared and programs:
        found[PROGRAM_BYTES] = {
            benchmark: (float(path.stat().st_size),) for benchmark, path in programs.items()
        }
    return found


def _values(rule: MetricRule, logs: Sequence[Path], matching: Matching) -> tuple[float, ...]:
    if isinstance(rule.source, Path):
        return values_in(rule, rule.source, matching, "no step of the build has written it")
    text = ""
    try:
        for log in logs:
            with opened_output(log) as file:
                text += file.read().decode("utf-8", "replace")
    except OSError as error:
        raise Unparsable(f"{rule.name}: {error.filename}: {error.strerror}") from error
    return parsed(rule, text, "the output of its steps", matching)


# --- What has changed under a trial that is gone on with: refused, or recorded where that is accepted.


def drift(what: str, old: object, new: object) -> Finding:
    """Make the finding of one difference between the trial as it began and now."""
    return warning(
        "drift",
        what,
        f"{old} -> {new}",
        reason="runs before and after a change are not samples of the same thing",
    )


def target_drift(old: Mapping[str, str], new: Mapping[str, str]) -> list[Finding]:
    """Compare the executables' hashes."""
    drifts = []
    for path in sorted(old.keys() | new.keys()):
        before, now = old.get(path, "not used"), new.get(path, "not used")
        if before != now:
            what = f"the program {path} has changed: sha256 {before[:12]}… is now {now[:12]}…"
            if path not in old:
                what = f"the program {path} is executed now, and was not when the trial began"
            elif path not in new:
                what = f"the program {path} was executed when the trial began, and is not now"
            drifts.append(drift(what, before, now))
    return drifts


def settle(store: Store, drifts: list[Finding], campaign: Campaign, *, accept: bool) -> None:
    """Refuse a trial that has drifted, or record the drift when it is accepted."""
    if not accept:
        refuse(store.path, drifts, campaign)
    store.append_findings("resume", drifts)


def fits(manifest: Manifest, campaign: Campaign) -> bool:
    """Tell whether a campaign can give a trial's plan: who changes that cannot go on with it."""
    then = (manifest.benchmarks, manifest.variants, manifest.runs, manifest.warmup)
    protocol = campaign.protocol
    return then == (campaign.benchmarks, campaign.variants, protocol.runs, protocol.warmup)


def refuse(
    path: Path, drifts: Sequence[Finding], campaign: Campaign, *, complete: bool = False
) -> None:
    """Stop if anything has drifted; the way out is another one of a trial that is `complete`, or whose plan no longer fits."""
    if drifts:
        manifest, again = read_manifest(path), ["fairtrial", "run", str(campaign.source)]
        accepts = fits(manifest, campaign) and manifest.looks_plan is None
        if manifest.looks_plan is not None:  # its description is the command that measured it
            again = shlex.split(load_campaign(path / CAMPAIGN).description)
        texts = [one.what for one in drifts]
        raise DriftError(str(path), texts, again, complete=complete, accepts=accepts)


# --- Whether a trial that is gone on with has the programs that it was measured with; what
# is missing is built again.
#
# What a build may overwrite is copied into the trial first.


TARGETS_BEFORE = f"{OUTPUTS}/targets-before"


def _builds_of(
    campaign: Campaign, once: Sequence[Build], missing: Sequence[str]
) -> Sequence[Build]:
    """Give the builds whose variants' programs are missing; all, where nothing says which they are."""
    owners: dict[str, set[str]] = {path: set() for path in missing}
    for cell in campaign.cells:
        path = str(cell.cwd / cell.command.argv[0])
        if path in owners:
            owners[path].add(cell.variant)
    variants = set().union(*owners.values())
    builds = [build for build in once if build.variant in variants]
    known = all(owners.values()) and variants <= {build.variant for build in once}
    return builds if known else once


def _copied(trial: Path, programs: Mapping[str, str]) -> Callable[[], None]:
    """Copy programs, by their SHA-256, into a trial; give what puts back those that are other ones by then."""
    copies = []
    for path, digest in programs.items():
        program, name = Path(path).resolve(), f"{TARGETS_BEFORE}/{digest[:16]}-{Path(path).name}"
        with storing(trial / name):
            (trial / TARGETS_BEFORE).mkdir(exist_ok=True)
            fd = open_inside(trial, f"{name}.part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(fd, "wb") as copy, program.open("rb") as original:
                shutil.copyfileobj(original, copy)
                copy.flush()
                os.fsync(fd)
            (trial / f"{name}.part").replace(trial / name)
            copies.append((program, trial / name, digest, program.stat().st_mode & 0o7777))

    def put_back() -> None:
        for program, place, digest, mode in copies:
            with storing(program):
                if program.exists() and sha256_file(program) == digest:
                    continue
                fresh = program.with_name(f".{program.name}.before")
                shutil.copyfile(place, fresh)
                fresh.chmod(mode)
                fresh.replace(program)

    return put_back


class TrialBuilds:
    """Builds the variants of a trial, and keeps a record of each build.

    `session` is the session whose own builds stand, None before the first.
    """

    def __init__(self, trial: TrialContext) -> None:
        self._trial = trial
        self.session: int | None = None
        builds = trial.campaign.builds
        self.once = tuple(build for build in builds if build.each == "campaign")
        self.of_sessions = tuple(build for build in builds if build.each == "session")
        self._own = SessionBuilds.of(trial.campaign)
        self._shared = SessionBuilds.of(trial.campaign, "campaign")

    def find_programs(self, *, of_sessions: bool = True) -> None:
        """Find what the cells execute; without `of_sessions` what no session builds for itself."""
        trial, own = self._trial, self._own
        found = resolve_all(trial.campaign, trial.environment, () if of_sessions else own.places)
        trial.executables = {
            key: path for key, path in found.items() if of_sessions or not own.made(path, key[1])
        }
        trial.commits = None

    def lasting(self) -> dict[str, str]:
        """Hash the executables that are one program for the whole trial, by their paths."""
        found = self._trial.executables.items()
        with self._trial.interrupts.at_once():  # large ones are read for a while
            return hashes(path for (_, variant), path in found if not self._own.made(path, variant))

    def build_once(self, builds: Iterable[Build]) -> None:
        """Build some variants, for all sessions."""
        made = Counter(one.variant for one in self._records() if one.session == ALL_SESSIONS)
        for build in self._announced(builds):
            record = self._built(build, ALL_SESSIONS, made[build.variant])
            self._trial.store.append_build(record)

    def build_for(self, session: int, segment: int) -> None:
        """Build what a session has of its own, unless that stands."""
        if not self.of_sessions or self.session == session:
            return
        trial, earlier = self._trial, layouts_by_session(self._records())
        made = []
        for build in self._announced(self.of_sessions, f" for session {session}"):
            record = self._built(build, session, segment)
            trial.store.append_build(record)
            found = layout_finding(record, earlier.get(build.variant, {}))
            trial.note("before", [] if found is None else [found], session)
            made.append(record)
        self._refuse_overwritten(made)
        self.find_programs()
        self.session = session

    def build_again(self, session: int, segment: int) -> tuple[list[BuildRecord], list[Finding]]:
        """Have the files of a session's builds as they were; build again what is not there as it was.

        Give the records of these builds, which are not stored yet, and what is other than before.
        """
        known = layouts_by_session(self._records())
        before = {one.variant: known.get(one.variant, {}).get(session) for one in self.of_sessions}
        wanted = [
            build
            for build in self.of_sessions
            if (was := before[build.variant]) is None or self._changes(was)
        ]
        announced = self._announced(wanted, f" for session {session} again")
        made = [self._built(build, session, segment) for build in announced]
        self.find_programs()
        self.session = session
        drifts: list[Finding] = []
        for variant, was in before.items():
            if was is None:
                what = f"what the build of {variant} for session {session} made is not known"
                drifts.append(drift(what, f"{BUILDS}: no record", "built again"))
            else:
                drifts += self._changes(was)
        return made, drifts

    def programs_again(self, *, builds: bool, accept: bool) -> None:
        """Find what the cells execute; build it only where it is missing or a change is accepted.

        Without `builds` nothing is built: what is missing is then missed.
        """
        campaign, store = self._trial.campaign, self._trial.store
        then = store.manifest.targets
        if not then:  # it was broken off before all was built: nothing was measured with them
            if builds:
                self.build_once(self.once)
        else:
            there = hashes(Path(path) for path in then if os.path.lexists(path))
            changed = target_drift({path: then[path] for path in there}, there)
            missing = [path for path in then if path not in there]
            if not accept:
                refuse(store.path, changed, campaign)
            if self.once and (changed or missing):
                wanted = self.once if changed else _builds_of(campaign, self.once, missing)
                put_back = _copied(store.path, there)
                try:
                    if builds:
                        self.build_once(wanted)
                except BaseException:
                    put_back()
                    raise
                if not accept:  # a build of one variant may touch the others'
                    put_back()
        self.find_programs(of_sessions=False)
        now = self.lasting()
        if then:
            settle(store, target_drift(then, now), campaign, accept=accept)
        store.update(targets=now)

    def builds_again(self, *, accept: bool) -> None:
        """Have the builds of a session that has some of its runs as they were: the same files, from the same seed.

        A session that has none, or all that it is to have, is not built now.
        """
        campaign, store = self._trial.campaign, self._trial.store
        begun = (run.session for run in store.planned() if run.position in store.rows.outcomes)
        session = max(begun, default=None) if self.of_sessions else None
        if session is None:
            return
        rules = SessionRules(campaign, store, session, Earlier.of_trial(store, campaign))
        if rules.end() is not None or not rules.is_left():
            return
        segments = segments_of(store.environments(), store.manifest.sessions)
        made, drifts = self.build_again(session, segments.get(session, -1) + 1)
        settle(store, drifts, campaign, accept=accept)
        for record in made:
            store.append_build(record)

    def _refuse_overwritten(self, made: Iterable[BuildRecord]) -> None:
        campaign = self._trial.campaign
        for record in made:
            home = campaign.source.parent
            now = self._hashes(home / name for name in record.hashes)
            other = [name for name in record.hashes if now.get(name) != record.hashes[name]]
            if other:
                what = f"after the builds of session {record.session}, {other[0]} is not what the build of {record.variant} made"
                fix = "another variant's build overwrites it: let each write files of its own, such as bin/{variant}"
                raise CommandFailedError(what, str(campaign.source), fix)

    def _announced(self, builds: Iterable[Build], whither: str = "") -> Iterator[Build]:
        """Give one build after the other, and say that it begins; all of a session in one line."""
        chosen, trial = list(builds), self._trial
        if chosen and whither:
            trial.watcher.say(f"build   {', '.join(one.variant for one in chosen)}{whither}")
        for number, build in enumerate(chosen, 1):
            if not whither:
                trial.watcher.say(f"build   {build.variant}")
            stage = f"building {build.variant}{whither} ({number} of {len(chosen)})"
            trial.store.update(stage=stage)
            yield build
        if chosen:
            trial.store.update(stage=None)

    def _built(self, build: Build, session: int, segment: int) -> BuildRecord:
        trial, stem, seed = self._trial, f"build-{build.variant}", None
        if session != ALL_SESSIONS:
            seed = trial.seed_of(build.variant, session)
            stem = f"{stem}-session{session}"
        cost = trial.commands.build(
            build if seed is None else filled(build, {LAYOUT_SEED: str(seed)}),
            trial.environment,
            trial.store.path / OUTPUTS,
            timeout_s=trial.campaign.protocol.build_timeout_s,
            stem=stem,
        )
        artifacts = {
            self._name(path): self._artifact(build, path, cost) for path in build.artifacts
        }
        programs = self._programs_of(build.variant)
        return BuildRecord(
            session=session,
            segment=segment,
            variant=build.variant,
            layout_seed=seed,
            artifacts=artifacts,
            programs=self._hashes(programs.values()),
            seconds=cost.seconds,
            max_rss_bytes=cost.max_rss_bytes,
            max_rss_floor_bytes=cost.max_rss_floor_bytes,
            log=tuple(f"{OUTPUTS}/{log.name}" for log in cost.logs),
            metrics=self._numbers(build, cost, programs),
            at=utc_now(),
        )

    def _artifact(self, build: Build, path: Path, cost: BuildCost) -> Artifact:
        try:
            return Artifact(sha256=sha256_file(path), bytes=path.stat().st_size)
        except OSError as error:
            what = f"the build of '{build.variant}' did not make {self._name(path)}"
            if not isinstance(error, FileNotFoundError):
                what = f"what the build of '{build.variant}' made cannot be read: {self._name(path)}: {error.strerror}"
            logs = ", ".join(map(str, cost.logs))
            fix = f"name the files that it makes under 'artifacts'; its output is in {logs}"
            raise CommandFailedError(what, str(self._trial.campaign.source), fix) from error

    def _numbers(self, build: Build, cost: BuildCost, programs: Mapping[str, Path]) -> Numbers:
        trial = self._trial
        try:
            cells = self._cells_of(build.variant)
            return numbers_of(cells, cost.logs, programs, trial.matching())
        except Unparsable as error:
            what = f"the build of '{build.variant}' has no such number: {error}"
            logs = ", ".join(map(str, cost.logs))
            fix = f"look at its output, {logs}, and at the metric's 'from', which is read once the steps have ended"
            raise CommandFailedError(what, str(trial.campaign.source), fix) from error

    def _cells_of(self, variant: str) -> tuple[Cell, ...]:
        return tuple(cell for cell in self._trial.campaign.cells if cell.variant == variant)

    def _programs_of(self, variant: str) -> dict[str, Path]:
        """Give each benchmark's executable that the build of a variant may have made, as far as they are there."""
        own = dataclasses.replace(self._trial.campaign, cells=self._cells_of(variant))
        found = resolve_all(own, self._trial.environment, {variant})
        return {
            benchmark: path
            for (benchmark, _), path in found.items()
            if self._own.made(path, variant) or self._shared.made(path, variant)
        }

    # ---- what is there

    def _records(self) -> tuple[BuildRecord, ...]:
        return read_builds(self._trial.store.path)

    def _changes(self, was: BuildRecord) -> list[Finding]:
        home = self._trial.campaign.source.parent
        now = self._hashes(home / name for name in was.hashes)
        text = f"session {was.session} of {was.variant} was measured with another build"
        return [
            dataclasses.replace(one, what=f"{one.what}; {text}")
            for one in target_drift(was.hashes, now)
        ]

    def _hashes(self, paths: Iterable[Path]) -> dict[str, str]:
        return {self._name(Path(path)): digest for path, digest in hashes(paths).items()}

    def _name(self, path: Path) -> str:
        """Name a file by its path from the campaign's folder, where it lies below that."""
        home = self._trial.campaign.source.parent
        return str(path.relative_to(home)) if path.is_relative_to(home) else str(path)


def layout_finding(record: BuildRecord, earlier: Mapping[int, BuildRecord]) -> Finding | None:
    """Say, once for a variant, that two sessions have one layout, or that nobody can tell.

    `earlier` are the builds of the variant's other sessions.
    """
    others = {session: one.layout for session, one in earlier.items() if session != record.session}
    known = list(others.values())
    if record.layout not in known or len(set(known)) < len(known):
        return None
    if not record.layout:
        return Finding(
            check=LAYOUT_CHECK,
            status="unknown",
            what=f"whether the builds of {record.variant} differ is not known: none of its files is hashed",
            where="build.artifacts",
            fix="name the files that it makes under 'artifacts'",
            reason="the interval speaks for layouts only where each session has its own",
        )
    session = next(number for number, layout in others.items() if layout == record.layout)
    names = ", ".join(name for name, _ in record.layout)
    return warning(
        LAYOUT_CHECK,
        f"sessions {session} and {record.session} of {record.variant} have the same build: the layout was not varied",
        f"{names}: the same sha256, with seeds {earlier[session].layout_seed} and {record.layout_seed}",
        "let the linker take {layout_seed}, or name its file in 'artifacts'",
        "the interval speaks for layouts only where each session has its own",
    )
