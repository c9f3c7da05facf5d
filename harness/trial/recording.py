"""From a trial to the profile of one of its variants: a small trial of its own, profiled after each session."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from analysis.errors import FairtrialError, StoreError, UsageError
from analysis.record.manifest import read_manifest, utc_now
from analysis.record.profiles import (
    TIMED,
    JudgedThen,
    Profile,
    SampledCell,
    cell_name,
    profiles_of,
    write_profile,
)
from analysis.record.shapes import opened
from analysis.record.trial_files import CAMPAIGN, Manifest
from analysis.version import VERSION

from ..campaign.resolve import load_campaign
from ..campaign.schema import identity_of
from ..errors import HostError
from ..launch.commands import base_environment, resolve_all
from ..launch.matching import Interrupted
from .execution import Options, start
from .perf import find_perf, runtime_of
from .profiles import SessionProfiler, new_profile, refuse_changed
from .resume import defaults_of

if TYPE_CHECKING:
    from ..campaign.model import Campaign
    from .preparation import Watcher

# --- The campaign of a trial as it was measured: the trial's copy, read where its file lay.


_NONE_TO_EXECUTE = {
    "imported": "it was imported from files of another tool, which say no command",
    "merged": "it was put together from others: name one of those",
}


def campaign_then(trial: Path, manifest: Manifest) -> Campaign:
    """Load the campaign of a trial; whoever has changed its file since changes nothing here.

    It is the trial's copy; where the trial went on under a change that was accepted, it is the file, if that still
    holds the campaign of then.

    Raises
    ------
    UsageError
        If the trial was not measured here: it has nothing that could be executed again.
    HostError
        If the folder is gone at which the campaign's paths start.
    """
    why = _NONE_TO_EXECUTE.get(manifest.origin)
    if why is not None:
        fix = "--stored shows what was found where it was measured"
        raise UsageError(f"nothing of this trial can be executed again: {why}", str(trial), fix)
    source = Path(manifest.campaign_path)
    if not source.parent.is_dir():
        what = f"the campaign's folder is gone, where its programs lie: {source.parent}"
        raise HostError(what, str(trial), "put it back, or measure a new trial and ask that one")
    defaults, own = defaults_of(trial, manifest)
    with opened(trial / CAMPAIGN) as file:
        text = file.read()
    loaded = functools.partial(
        load_campaign, source, seed=manifest.seed, defaults=defaults, own=own
    )
    found = loaded(text=text)
    if identity_of(found, manifest.campaign_identity) != manifest.campaign_sha256:
        with contextlib.suppress(FairtrialError):
            accepted = loaded()
            if identity_of(accepted, manifest.campaign_identity) == manifest.campaign_sha256:
                return accepted
    return found


Chains = Literal["fp", "dwarf"]
DEFAULT_HZ = 4999
DWARF_HZ = 999  # each sample brings 16 KB of its stack along
SESSIONS, TIMED_RUNS, PROFILED_RUNS = 6, 3, 3
_WARMUP = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRequest:
    """What is to be recorded: a candidate against the trial's baseline, on some of its benchmarks.

    In each of `sessions` every program is timed `timed` times without perf and then executed `profiled` times under it.
    `frequency_hz` None means the usual one of the `chains`; `verdict_was` is stored as it is.
    """

    variant: str
    benchmarks: tuple[str, ...]
    sessions: int = SESSIONS
    timed: int = TIMED_RUNS
    profiled: int = PROFILED_RUNS
    frequency_hz: int | None = None
    chains: Chains | None = None
    verdict_was: Mapping[str, JudgedThen] = field(default_factory=dict)

    @property
    def wanted_hz(self) -> int:
        """The frequency that is asked for, in samples a second."""
        return self.frequency_hz or (DWARF_HZ if self.chains == "dwarf" else DEFAULT_HZ)


def record_profile(
    campaign: Campaign, trial: Path, request: ProfileRequest, options: Options, watcher: Watcher
) -> Path:
    """Record the profile of a variant beside its trial, in which nothing changes; give the profile's folder.

    `campaign` is the trial's, loaded with its seed; of `options` those count that are about a host. What is
    built in each session is built again, all else must be there as it was.

    Raises
    ------
    HostError
        If there is no perf that works here, or host, campaign or programs are not those of the trial.
    UsageError
        If the trial has no such variant or benchmark, or was not measured.
    StoreError
        If the profile cannot be written, or another process records it.
    Interrupted
        If a signal asked to stop: nothing is left of the profile.
    """
    manifest = read_manifest(trial)
    if min(request.sessions, request.timed, request.profiled, request.wanted_hz) < 1:
        what = "sessions, runs and frequency of a profile are 1 or more"
        raise UsageError(what, None, "name whole numbers above 0")
    refuse_changed(campaign, trial, (request.variant,), request.benchmarks)
    asked = of_two(campaign, manifest, request)
    perf = find_perf()
    wanted, most = request.wanted_hz, perf.most_hz  # the kernel takes its most at most
    frequency = wanted if most is None else min(wanted, max(1, most))
    started = utc_now()
    with new_profile(trial, request.variant) as folder:
        profiler = SessionProfiler(
            perf=perf,
            folder=folder,
            frequency_hz=frequency,
            chains=request.chains,
            runs=request.profiled,
        )
        timed = replace(
            options,
            folder=folder,
            name=TIMED,
            sessions=request.sessions,
            built=False,
            accept_drift=False,
            node=manifest.node,
            after_session=profiler.after_session,
        )
        ending = start(asked, timed, watcher)
        if ending.status == "interrupted":
            raise Interrupted(int((ending.reason or "signal 2").rpartition(" ")[2]))
        if ending.status != "complete":
            what = f"the timed runs were not measured to their end: {ending.reason}"
            raise StoreError(what, str(trial), "try again")
        cells = tuple(profiler.cells)
        found = resolve_all(asked, base_environment(asked.isolation, os.environ))
        known = read_manifest(folder / TIMED).targets
        write_profile(
            folder,
            Profile(
                trial=manifest.trial,
                campaign_sha256=manifest.campaign_sha256,
                host_id=manifest.host_id,
                cpu_model=manifest.cpu_model,
                tool_version=VERSION,
                perf_version=perf.version,
                event=perf.event,
                frequency_hz=frequency,
                kernel=perf.kernel,
                chains=request.chains,
                baseline=manifest.baseline,
                variant=request.variant,
                benchmarks=request.benchmarks,
                sessions=request.sessions,
                timed_runs=request.timed,
                profiled_runs=request.profiled,
                seed=manifest.seed,
                programs={  # but of what each session builds
                    cell_name(benchmark, variant): known[str(path)]
                    for (benchmark, variant), path in found.items()
                    if variant not in asked.built_each_session and str(path) in known
                },
                program_names={  # as perf shows them: links followed
                    cell_name(*cell): path.resolve().name for cell, path in found.items()
                },
                runtimes=_runtimes(cells, request.chains),
                started=started,
                finished=utc_now(),
                verdict_was=request.verdict_was,
            ),
            cells,
        )
    return profiles_of(trial) / request.variant


def of_two(campaign: Campaign, manifest: Manifest, request: ProfileRequest) -> Campaign:
    """Give the campaign of the profile's timed runs: baseline and candidate on the benchmarks that are asked for."""
    variants = (manifest.baseline, request.variant)
    protocol = replace(
        campaign.protocol,
        sessions=request.sessions,
        runs=request.timed,
        warmup=_WARMUP,
        stop=None,
        max_runs=None,
        max_time_s=None,
    )
    return replace(
        campaign,
        baseline=manifest.baseline,
        variants=variants,
        benchmarks=request.benchmarks,
        cells=tuple(
            campaign.cell(benchmark, variant)
            for benchmark in request.benchmarks
            for variant in variants
        ),
        builds=tuple(  # what was built once is there: nothing of the trial's is built anew
            build
            for build in campaign.builds
            if build.each == "session" and build.variant in variants
        ),
        hooks=replace(campaign.hooks, finish=()),  # a trial's end is none of its own
        commit={name: text for name, text in campaign.commit.items() if name in variants},
        seed=manifest.seed,
        protocol=protocol,
    )


def _runtimes(cells: Iterable[SampledCell], chains: str | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for cell in cells:
        what, name = runtime_of(cell, chains), cell_name(cell.benchmark, cell.variant)
        if what is not None and found.get(name, "not-seen").startswith("not-seen"):
            found[name] = what
    return found
