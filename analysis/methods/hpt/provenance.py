"""What is known of the runs that HPT compared: by whom, of what, from where, how many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...data import PerformanceMatrix, Trial
from ...report import figures
from ...version import VERSION

__all__ = ["Fact", "provenance_of"]

_DIGITS = 16  # of a hash: enough to tell files apart


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is known, and what it is called."""

    name: str
    text: str


def provenance_of(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    trial: Trial | None = None,
    hashes: Mapping[str, str] | None = None,
) -> tuple[Fact, ...]:
    """Say what a reader needs to find the runs again; what nobody knows is left out.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        Both sides as they were compared.
    trial : Trial, optional
        The one that both stem from.
    hashes : mapping of str to str, optional
        Files that are sides, and their SHA-256.
    """
    return tuple(_facts(candidate, baseline, trial, hashes or {}))


def _facts(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    trial: Trial | None,
    hashes: Mapping[str, str],
) -> Iterator[Fact]:
    yield Fact("version", f"fairtrial {VERSION}")
    unit = figures.unit_text(candidate.unit) or "none"
    yield Fact("unit of the values", f"{unit}; {candidate.better} is better")
    for side, matrix in (("candidate", candidate), ("baseline", baseline)):
        yield Fact(f"runs, {side}", _runs(matrix))
    for path, digest in hashes.items():
        yield Fact("source", f"{path}, SHA-256 {digest[:_DIGITS]}")
    if trial is None:
        return
    manifest = trial.manifest
    measured = manifest.files.get("measurements.jsonl")
    sure = f", measurements SHA-256 {measured[:_DIGITS]}" if measured else ""
    yield Fact("source", f"trial {manifest.trial}{sure}")
    if manifest.campaign_name:
        digest = manifest.campaign_sha256[:_DIGITS]
        yield Fact("campaign", f"{manifest.campaign_name}, SHA-256 {digest}")
    ends = [text[:10] for text in (manifest.started, manifest.finished) if text]
    if ends:
        yield Fact("measured", " to ".join(dict.fromkeys(ends)))
    if manifest.host:
        cpu = f", {manifest.cpu_model}" if manifest.cpu_model else ""
        yield Fact("host", f"{manifest.host}{cpu}")
    yield Fact("seed", str(manifest.seed))


def _runs(matrix: PerformanceMatrix) -> str:
    counts = matrix.runs
    each = str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    many = "s" * (len(counts) != 1)
    text = f"{sum(counts):,} on {len(counts)} benchmark{many}, {each} each"
    if matrix.sessions is None:
        return text
    sessions = len({session for row in matrix.sessions for session in row.tolist()})
    return f"{text}, in {sessions} session{'s' * (sessions != 1)}"
