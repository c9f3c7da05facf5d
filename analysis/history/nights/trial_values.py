"""Reads one trial for a series: its values over complete sessions, its programs, inputs and host."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...data.columns import read_plan
from ...data.cut_runs import cut_rows
from ...data.host_record import BOOT_ARGUMENTS, SessionEnvironment, read_environments
from ...data.merging.campaigns import StatedCampaign
from ...data.protocol import settings_of
from ...data.trial import Trial, read_trial
from ...errors import InsufficientDataError, StoreError
from ...importers.naming import name_of
from ...methods.multilevel.session_means import SessionMeans, means_of_one, means_of_pair
from ...methods.multilevel.totals import disagreeing
from ...record.environment_records import commits_of_all, of_one_session
from ...record.shapes import ShapeError, lines_of, opened, parse, readable_rows
from ...record.trial_files import ENVIRONMENT, IMPORT, MEASUREMENTS, PLAN, RESOLVED, Manifest
from .kept_trial import KeptTrial, VariantValues, imported_campaign, plain_campaign

HOST_SECTIONS = ("host", "cpu", "memory", "kernel")


def trial_values(path: Path, metric: str | None = None) -> KeptTrial:
    """Read a trial; `metric` is by default the first that its campaign's `judge` names.

    Raises
    ------
    StoreError
        If the trial is damaged.
    UsageError
        If it has no such metric.
    InsufficientDataError
        If no session is complete, or none has a value.
    """
    # nights are compared with each other, and not each of them may know the quantiles of its sessions
    trial = replace(read_trial(path), own_quantiles=True)
    manifest = trial.manifest
    metric = trial.default_metric if metric is None else metric
    info = trial.metric(metric)
    sessions = complete_sessions(trial)
    if not sessions:
        raise InsufficientDataError(
            f"none of its {manifest.sessions} sessions is complete", str(path), n=0, needed=1
        )
    environments = read_environments(path)
    cells: dict[str, list[str]] = {"unsteady": [], "totals": []}
    values = dict(_values(trial, metric, sessions, environments, cells))
    if not any(x is not None for one in values.values() for x in (*one.log, *one.own)):
        raise InsufficientDataError(
            f"no run of a complete session has a value of {metric!r}", str(path), n=0, needed=1
        )
    cut = tuple(_cut_cells(trial, metric))
    settings = settings_of(path)
    campaign = StatedCampaign.of(manifest, settings if (path / RESOLVED).exists() else None)
    if manifest.origin == "imported":
        campaign = imported_campaign("", metric, info.unit, info.better)
    named = _of_file(path, manifest) if manifest.origin == "imported" else {}
    return KeptTrial(
        trial=manifest.trial,
        began=manifest.started,
        started_at=first_start(path, manifest),
        host=manifest.node or manifest.host,
        host_id=manifest.host_id,
        origin=manifest.origin,
        merged_from=tuple(part.trial for part in manifest.merged_from),
        baseline=named.get(manifest.baseline, manifest.baseline),
        variants=tuple(named.get(name, name) for name in manifest.variants),
        benchmarks=manifest.benchmarks,
        metric=metric,
        unit=info.unit,
        better=info.better,
        complete=manifest.status == "complete",
        sessions=len(sessions),
        planned=manifest.sessions,
        values={named.get(name, name): one for name, one in values.items()},
        inputs=tuple(_inputs(manifest, settings, environments)),
        campaign=plain_campaign(campaign),
        host_record=_host_record(path, manifest, environments),
        unsteady=tuple(cells["unsteady"]),
        cut=cut,
        totals=tuple(cell for cell in cells["totals"] if cell not in cut),
    )


def _of_file(path: Path, manifest: Manifest) -> dict[str, str]:
    """Name the only variant of an imported trial by its tool, where it is called like its file.

    Files have another name every night.
    """
    try:
        with opened(path / IMPORT) as file:
            stored = parse(file.read().strip())
    except (OSError, StoreError, ShapeError):
        return {}
    cells = stored.get("cells") if isinstance(stored, dict) else None
    sources = {one.get("source") for one in cells or () if isinstance(one, dict)}
    only = manifest.variants[0]
    like = {name_of(one) for one in sources if isinstance(one, str)}
    if len(manifest.variants) > 1 or like != {only} or not isinstance(stored.get("format"), str):
        return {}
    return {only: stored["format"]}


def first_start(path: Path, manifest: Manifest) -> str | None:
    """Give when the first run of a trial started; None of an imported one, whose files may tell it."""
    if manifest.origin == "imported":
        return None
    row: Any = None
    try:
        _, line = next(lines_of(path / MEASUREMENTS))
        row = parse(line)
    except (StopIteration, StoreError, ValueError):
        pass  # no run yet, or a file that its reader will refuse
    found = row.get("started_at") if isinstance(row, dict) else None
    return found if isinstance(found, str) else manifest.started


def complete_sessions(trial: Trial) -> tuple[int, ...]:
    """Name the sessions whose runs were all executed, but for cells that were given up in them."""
    manifest = trial.manifest
    begun = np.unique(trial.session[trial.measured]).tolist()
    if manifest.status == "complete":
        return tuple(begun)
    plan = read_plan(trial.path / PLAN, manifest, [])
    position, session, _, benchmark, variant, _ = plan
    lacking = ~np.isin(position, trial.planned_position)
    for one in manifest.given_up:
        cell = (benchmark == manifest.benchmarks.index(one.benchmark)) & (
            variant == manifest.variants.index(one.variant)
        )
        lacking &= ~(cell & (session == one.session) & (position > one.position))
    ended = {one.session for one in manifest.session_ends}
    if manifest.stop is not None:
        return tuple(one for one in begun if one in ended)
    open_ones = set(np.unique(session[lacking]).tolist())
    return tuple(one for one in begun if one not in open_ones)


def _values(
    trial: Trial,
    metric: str,
    sessions: Sequence[int],
    environments: Sequence[SessionEnvironment],
    cells: Mapping[str, list[str]],
) -> Iterator[tuple[str, VariantValues]]:
    manifest = trial.manifest
    matrices = {}
    for name in manifest.variants:
        try:
            matrices[name] = trial.matrix(name, metric, carry_zeros=True)
        except InsufficientDataError:
            continue  # the others may have values
        judged = matrices[name].judged_iterations.items()
        cells["unsteady"] += [f"{bench} / {name}" for bench, one in judged if one.unsteady]
    commits = commits_of_all([{"targets": one.sections.get("targets")} for one in environments])
    programs = _programs(environments)
    base = matrices.get(manifest.baseline)
    for name, matrix in matrices.items():
        pair = None
        if base is not None and name != manifest.baseline:
            pair = means_of_pair(matrix, base, sessions)
            apart = [] if pair is None else disagreeing(matrix, base)
            cells["totals"] += [f"{bench} / {name}" for bench in apart]
        own = means_of_one(matrix, sessions)
        log, counts = _column(manifest, pair, "log")
        alone, own_counts = _column(manifest, own, "log")
        yield (
            name,
            VariantValues(
                log=log,
                baseline_log=_column(manifest, pair, "baseline_log")[0],
                own=alone,
                sessions=counts,
                own_sessions=own_counts,
                programs=tuple(programs.get(f"{bench}/{name}") for bench in manifest.benchmarks),
                commit=commits.get(name),
            ),
        )


def _cut_cells(trial: Trial, metric: str) -> Iterator[str]:
    """Name benchmark and variant of the cells that have runs which their time limit ended."""
    names = trial.manifest.benchmarks, trial.manifest.variants
    rows = np.flatnonzero(cut_rows(trial, metric)[0])
    cells = np.unique(np.stack([trial.benchmark[rows], trial.variant[rows]]), axis=1).T.tolist()
    yield from (f"{names[0][bench]} / {names[1][variant]}" for bench, variant in cells)


def _column(
    manifest: Manifest, means: SessionMeans | None, name: str
) -> tuple[tuple[float | None, ...], tuple[int, ...]]:
    """Give the values of all benchmarks of the trial, and how many sessions each rests on."""
    if means is None:
        return (None,) * len(manifest.benchmarks), (0,) * len(manifest.benchmarks)
    values = zip(
        means.benchmarks, getattr(means, name).tolist(), means.sessions.tolist(), strict=True
    )
    found = {bench: (x, n) for bench, x, n in values if math.isfinite(x)}
    both = [found.get(bench, (None, 0)) for bench in manifest.benchmarks]
    return tuple(x for x, _ in both), tuple(n for _, n in both)


def _programs(environments: Iterable[SessionEnvironment]) -> dict[str, str | None]:
    """Give the SHA-256 of each cell's executable; None where it is not one over all sessions.

    Nor is it one where each session builds it, though there be a single session.
    """
    found: dict[str, set[str | None]] = {}
    for one in environments:
        for cell, about in one.sections.get("targets", {}).items():
            digest = about.get("sha256") if isinstance(about, dict) else None
            if of_one_session(about):
                digest = None
            found.setdefault(cell, set()).add(digest if isinstance(digest, str) else None)
    return {cell: next(iter(all_)) if len(all_) == 1 else None for cell, all_ in found.items()}


def _inputs(
    manifest: Manifest, settings: Mapping[str, Any], environments: Sequence[SessionEnvironment]
) -> Iterator[dict[str, str]]:
    """Give for each benchmark the hashes of what its baseline's runs read."""
    hashed = environments[0].sections.get("inputs", {}) if environments else {}
    cells = settings.get("cells")
    cells = [one for one in cells if isinstance(one, dict)] if isinstance(cells, list) else []
    own = {one.get("benchmark"): one for one in cells if one.get("variant") == manifest.baseline}
    for bench in manifest.benchmarks:
        cell = own.get(bench, {})
        expected = cell.get("expect")
        named = {
            name
            for name in (
                cell.get("stdin"),
                expected.get("file") if isinstance(expected, dict) else None,
                *(cell.get("inputs") or ()),
            )
            if isinstance(name, str)
        }
        found = {
            name: about["sha256"]
            for name, about in hashed.items()
            if name in named and isinstance(about, dict) and isinstance(about.get("sha256"), str)
        }
        yield found | dict(_arguments(manifest, cell))


def _arguments(manifest: Manifest, cell: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the files among the arguments of a cell, as the command names them."""
    command = cell.get("command")
    words = command.get("argv") if isinstance(command, dict) else None
    for word in words if isinstance(words, list) else ():
        name = str(word).removeprefix("./")
        for path, digest in manifest.arguments.items():
            if path == name or (name and path.endswith(f"/{name}")):
                yield str(word), digest
                break


def _host_record(
    path: Path, manifest: Manifest, environments: Sequence[SessionEnvironment]
) -> dict[str, Any]:
    """Give the first session's host, and of the targets those of the baseline."""
    if not environments:
        return {}
    sections = environments[0].sections
    found: dict[str, Any] = {name: sections[name] for name in HOST_SECTIONS if name in sections}
    raw = next(readable_rows(path / ENVIRONMENT), {})
    section, key = BOOT_ARGUMENTS.split(".")
    about = raw.get(section)
    if isinstance(about, dict) and isinstance(said := about.get(key), str) and section in found:
        # they name a laboratory's infrastructure: whether they changed is told, not what they are
        digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
        found[section] = {**found[section], key: f"(not shown: {digest[:8]})"}
    targets = sections.get("targets", {})
    cells = (f"{bench}/{manifest.baseline}" for bench in manifest.benchmarks)
    found["targets"] = {cell: targets[cell] for cell in cells if cell in targets}
    return found
