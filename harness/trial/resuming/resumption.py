"""Which trial to go on with, and whether it is still the same experiment."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from operator import ne
from pathlib import Path
from typing import Any

from analysis.record import CAMPAIGN, Finding, Manifest, diff, opened, read_manifest

from ...campaign import Campaign, identity_of
from ...errors import StoreError, UsageError
from ...store import Store, is_written_now, written_by_another
from ..order import plan_session
from ..preparation import planned_runs
from .trials import Trials, trials_in


def unfinished_trial(folder: Path, campaign: str) -> tuple[Path, Manifest] | None:
    """Give the newest trial of a campaign that is unfinished, and that nobody is writing."""
    for path, manifest in trials_in(folder, campaign).found:
        if manifest.status != "complete" and not is_written_now(path):
            return path, manifest
    return None


def trial_to_resume(folder: Path, campaign: str, named: Path | None) -> tuple[Path, Manifest]:
    """Choose the newest unfinished trial of the campaign, or the one that was named.

    Where all are finished it is the newest: it may be given more sessions.

    Raises
    ------
    UsageError
        If there is none; names the folders that may be one and cannot be read.
    StoreError
        If it is being written by another process, was put together from others, or imported.
    """
    if named is not None:
        trials = Trials(found=((named, read_manifest(named)),))
    else:
        trials = trials_in(folder, campaign)
    if named is not None and trials.found[0][1].origin == "merged":
        raise _merged(named, trials.found[0][1])
    if named is not None:
        refuse_imported(named, trials.found[0][1])
    found = [item for item in trials.found if item[1].origin == "measured"]
    if not found:
        damaged = "".join(f"\n  {error.where}: {error.what}" for error in trials.unreadable)
        raise UsageError(
            f"there is no trial of campaign '{campaign}' to resume{damaged}",
            str(folder),
            "leave out --resume to start one, or name its folder with --dir or --trial",
        )
    unfinished = [item for item in found if item[1].status != "complete"]
    path, manifest = (unfinished or found)[0]
    if is_written_now(path):
        raise written_by_another(path)
    return path, manifest


def refuse_imported(path: Path, manifest: Manifest) -> None:
    """Refuse to go on with a trial that was made of another tool's files.

    Raises
    ------
    StoreError
        If it is one.
    """
    if manifest.origin == "imported":
        raise StoreError(
            "this trial was imported from files of another tool: it cannot be resumed",
            str(path),
            "leave out --resume and name a campaign, to measure a trial of it",
        )


def _merged(path: Path, manifest: Manifest) -> StoreError:
    names = ", ".join(part.trial for part in manifest.merged_from)
    return StoreError(
        f"this trial was put together from others ({names}): nothing can be measured into it",
        str(path),
        "measure a new trial, or go on with one of those, and put them together again with "
        "'fairtrial merge'",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One difference between the trial as it began and now. `accepted` ones may be recorded."""

    what: str
    old: str
    new: str


def campaign_drift(path: Path, manifest: Manifest, campaign: Campaign) -> list[Drift]:
    """Compare the campaign's identity; the difference is that of the two texts."""
    now = identity_of(campaign, manifest.campaign_identity)
    if now == manifest.campaign_sha256:
        return []
    with opened(path / CAMPAIGN) as file:
        old = file.read().decode("utf-8", errors="replace").splitlines()
    new = campaign.text.decode("utf-8", errors="replace").splitlines()
    lines = difflib.unified_diff(old, new, "as the trial began", "now", lineterm="", n=1)
    text = "\n".join(f"    {line}" for line in lines)
    return [
        Drift(
            what=f"the campaign has changed:\n{text}" if text else "the campaign has changed",
            old=manifest.campaign_sha256,
            new=now,
        )
    ]


def refuse_another_rule(path: Path, manifest: Manifest, campaign: Campaign) -> None:
    """Refuse to treat the disturbed runs of a trial in another way than those that it has.

    Raises
    ------
    StoreError
        If the campaign now says another one; no drift that could be accepted.
    """
    if manifest.repeating == campaign.protocol.repeating:
        return
    then = "repeat" if manifest.repeating else "keep"
    raise StoreError(
        f"the trial began with 'disturbed: {then}', and the campaign now says "
        f"'disturbed: {campaign.protocol.disturbed}': what becomes of disturbed runs is fixed before "
        "the first of them",
        str(path),
        f"write 'disturbed: {then}' again, or start a new trial",
    )


def refuse_other_units(
    path: Path, then: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]
) -> None:
    """Refuse to write values of another unit, or another sense, among those of a trial's metric.

    Raises
    ------
    StoreError
        If the campaign now says another one; no drift that could be accepted.
    """
    for name in then.keys() & now.keys():
        before, after = (
            f"{one[name]['unit']}, {one[name]['better']} is better" for one in (then, now)
        )
        if before != after:
            raise StoreError(
                f"the metric '{name}' was in {before}, and the campaign now says {after}: its rows would "
                "not be told apart",
                str(path),
                "give the metric another name, or start a new trial",
            )


def target_drift(old: Mapping[str, str], new: Mapping[str, str]) -> list[Drift]:
    """Compare the executables' hashes."""
    drifts = []
    for path in sorted(old.keys() | new.keys()):
        before, now = old.get(path, "not used"), new.get(path, "not used")
        if before != now:
            what = f"the program {path} has changed: sha256 {before[:12]}… is now {now[:12]}…"
            drifts.append(Drift(what=what, old=before, new=now))
    return drifts


def host_drift(manifest: Manifest, host: str, host_id: str, cpu_model: str | None) -> list[Drift]:
    """Compare what makes a host: its machine id and its processor."""
    drifts = []
    if host_id != manifest.host_id:
        what = f"the host has changed: it was {manifest.host}, now it is {host}"
        if host == manifest.host:
            what = f"the host has changed: it is another one of the name {host}, with another machine id"
        drifts.append(Drift(what=what, old=manifest.host_id, new=host_id))
    if cpu_model != manifest.cpu_model:
        what = f"the processor has changed: it was {manifest.cpu_model}, now it is {cpu_model}"
        drifts.append(Drift(what=what, old=str(manifest.cpu_model), new=str(cpu_model)))
    return drifts


def environment_drift(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Drift]:
    """Compare two environment records; only what may not change under a trial counts.

    That is another machine, processor or program (with its libraries), and another kernel.
    """
    return [
        Drift(what=change.what, old=str(change.old), new=str(change.new))
        for change in diff(dict(old), dict(new))
        if change.identity or change.key == "kernel.release"
    ]


def settle(store: Store, drifts: list[Drift], *, accept: bool) -> None:
    """Refuse a trial that has drifted, or record the drift when it is accepted.

    Raises
    ------
    StoreError
        If something has changed and that was not accepted.
    """
    if not accept:
        refuse(store.path, drifts)
    record(store, drifts)


_GO_ON = (
    "put it back as it was, start a new trial, or go on all the same with --accept-drift "
    "(the change is then recorded in the trial)"
)
_ADD_TO_IT = (  # nothing is left to accept the change for
    "the trial is complete: start a new one, or add sessions to it under the changed campaign "
    "with --sessions +1 --accept-drift (the change is then recorded in the trial)"
)


def refuse(path: Path, drifts: list[Drift], *, complete: bool = False) -> None:
    """Stop if anything has drifted; the way out is another one of a trial that is `complete`.

    Raises
    ------
    StoreError
        With every difference.
    """
    if drifts:
        raise StoreError(
            "\n".join(drift.what for drift in drifts),
            str(path),
            _ADD_TO_IT if complete else _GO_ON,
        )


def record(store: Store, drifts: list[Drift]) -> None:
    """Write what has drifted, and was accepted, into the trial."""
    findings = [
        Finding(
            check="drift",
            status="warn",
            what=drift.what,
            where=f"{drift.old} -> {drift.new}",
            reason="runs before and after a change are not samples of the same thing",
        )
        for drift in drifts
    ]
    store.append_findings("resume", findings)


def check_plan(store: Store, campaign: Campaign) -> None:
    """Hold the stored plan against the one that the campaign and seed give.

    Raises
    ------
    StoreError
        If they differ: the measurements' positions would not mean the same.
    """
    seed, node = store.manifest.seed, store.manifest.node
    count = sessions = 0
    for run in store.planned():
        count, sessions = count + 1, max(sessions, run.session)
    planned = (
        run
        for session in range(1, sessions + 1)
        for run in plan_session(campaign, seed, session, node)
    )
    # counted before it is compared: a session may have any number
    differs = planned_runs(campaign, sessions) != count or any(map(ne, store.planned(), planned))
    if not count:  # it was broken off before its first session, and says already what that would be
        manifest, protocol = store.manifest, campaign.protocol
        then = (manifest.benchmarks, manifest.variants, manifest.runs, manifest.warmup)
        now = (campaign.benchmarks, campaign.variants, protocol.runs, protocol.warmup)
        differs = then != now
    if differs:
        raise StoreError(
            "the stored plan is not the one that this campaign gives: its benchmarks, variants, "
            "runs, warm-ups, order or seed have changed, or the file was edited",
            str(store.path / "plan.jsonl"),
            "go back to the campaign.yaml in the trial's folder, or start a new trial",
        )
