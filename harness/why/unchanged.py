"""Whether a trial's programs may be executed once more to explain it: its names, host, campaign and programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import UsageError
from analysis.record.manifest import read_manifest
from analysis.record.trial_files import CAMPAIGN

from ..errors import HostError
from ..host.reader import Host
from ..launch.commands import base_environment, hashes, resolve_all
from ..trial.building.drift import target_drift
from ..trial.locks import is_written_now, written_by_another
from ..trial.resume import campaign_drift, host_drift

if TYPE_CHECKING:
    from analysis.record.trial_files import Finding, Manifest

    from ..campaign.model import Campaign

_ANEW = "measure a new trial, and ask that one"


def refuse_changed(
    campaign: Campaign,
    trial: Path,
    variants: Sequence[str],
    benchmarks: Sequence[str],
    host: Host | None = None,
) -> None:
    """Refuse to explain a trial by programs that are not those that it measured.

    The programs are those of `variants`, which are candidates, and of the baseline; what a session builds anew is not
    held against anything. `host` is this one where none is given.

    Raises
    ------
    HostError
        If host, campaign or a program is another one than that of the trial.
    LaunchError
        If a program is not there.
    StoreError
        If the trial is being measured.
    UsageError
        If the trial has no such candidate or benchmark, or was not measured.
    """
    if is_written_now(trial):  # it is being measured, and would be disturbed
        raise written_by_another(trial)
    manifest = read_manifest(trial)
    _require_names(trial, manifest, variants, benchmarks)
    with host or Host() as shown:
        state, number = shown.read(), shown.machine_id() or "unknown"
    _refuse(
        host_drift(manifest, state.hostname or "unknown", number, state.cpu_model),
        "ask for it on the host of the trial",
    )
    _refuse(
        campaign_drift(trial, manifest, campaign),
        f"put the campaign back as it was (a copy is {trial / CAMPAIGN}), or {_ANEW}",
    )
    wanted = {manifest.baseline, *variants} - set(campaign.built_each_session)
    cells = tuple(
        cell for cell in campaign.cells if cell.variant in wanted and cell.benchmark in benchmarks
    )
    environment = base_environment(campaign.isolation, os.environ)
    now = hashes(resolve_all(replace(campaign, cells=cells), environment).values())
    then = {path: digest for path, digest in manifest.targets.items() if path in now}
    _refuse(target_drift(then, now), f"build it as it was then, or {_ANEW}")


def _require_names(
    trial: Path, manifest: Manifest, variants: Sequence[str], benchmarks: Sequence[str]
) -> None:
    if manifest.origin != "measured":
        what = f"this trial is {manifest.origin}: its programs cannot be executed again"
        raise UsageError(what, str(trial), "name a trial that was measured on this host")
    candidates = [name for name in manifest.variants if name != manifest.baseline]
    for kind, wanted, there in (
        ("candidate", variants, candidates),
        ("benchmark", benchmarks, manifest.benchmarks),
    ):
        odd = [name for name in wanted if name not in there]
        if odd or not wanted:
            what = f"the trial has no {kind} '{odd[0]}'" if odd else f"no {kind} is named"
            fix = f"name one of: {', '.join(there)}" if there else "name another trial"
            raise UsageError(what, str(trial), fix)


def _refuse(findings: list[Finding], fix: str) -> None:
    if findings:
        more = "" if len(findings) == 1 else f" (and {len(findings) - 1} more)"
        raise HostError(f"{findings[0].what}{more}", findings[0].where, fix)
