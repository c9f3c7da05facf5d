"""``builds.jsonl``: what each build of a trial made, how long it took, and how much memory it needed.

A file that is named below the campaign's folder stands there as its path from that folder, others as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import StoreError
from .shapes import RESTORE, ShapeError, checksum_holds, opened, parse, shaped
from .trial_files import BUILDS, Stored

ALL_SESSIONS = 0  # the session of a build that is made once for all of them
LAYOUT_CHECK = "layout-not-varied"  # of findings about sessions that have one build
Layout = tuple[tuple[str, str], ...]
# What is known of every build, unless the campaign declares a metric of that name.
BUILD_METRICS: Mapping[str, Mapping[str, str]] = {
    "build_seconds": {"unit": "s", "better": "lower", "source": "builds"},
    "build_max_rss": {"unit": "B", "better": "lower", "source": "builds"},
    "program_bytes": {"unit": "B", "better": "lower", "source": "builds"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact(Stored):
    """A file that a build made, as its campaign names it: the SHA-256 and the number of its bytes."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRecord(Stored):
    """One build of one variant: a line of ``builds.jsonl``.

    `session` is 0 where one build serves all sessions; `segment` is 0, or how many times the session had
    been resumed, and of a build for all sessions how often it had been made before. `programs` are the
    executables of the variant's cells that the build may have made: SHA-256, or ``unreadable: WHY``.
    `seconds` is the sum of its steps, `max_rss_bytes` the largest resident memory of any one of their
    processes; at or below `max_rss_floor_bytes`, the launcher's own, it only says "at most the floor".
    `log` names the files of its steps' output in the trial. `metrics` are the numbers that its campaign reads of
    it, and `program_bytes`, by their names and by benchmarks.
    """

    session: int
    segment: int
    variant: str
    layout_seed: int | None = None
    artifacts: Mapping[str, Artifact]
    programs: Mapping[str, str]
    seconds: float
    max_rss_bytes: int | None = None
    max_rss_floor_bytes: int | None = None
    log: tuple[str, ...]
    metrics: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    at: str

    def values(self, metric: str, benchmark: str) -> tuple[float, ...]:
        """Give the numbers of a metric with a benchmark: what is declared, else what is known of every build.

        None where a number is not known, such as a peak that only says "at most the launcher's own".
        """
        if metric in self.metrics:
            return self.metrics[metric].get(benchmark, ())
        if metric == "build_seconds":
            return (self.seconds,)
        peak = self.max_rss_bytes if metric == "build_max_rss" else None
        if peak is None or peak <= (self.max_rss_floor_bytes or 0):
            return ()
        return (float(peak),)

    @property
    def hashes(self) -> Mapping[str, str]:
        """The SHA-256 of each file that it made, artifacts and programs, by its path."""
        return {**self.programs, **{path: one.sha256 for path, one in self.artifacts.items()}}

    @property
    def layout(self) -> Layout:
        """What tells its layout from another: the hashes of its artifacts, of its programs where none is named."""
        named = {path: one.sha256 for path, one in self.artifacts.items()}
        return tuple(sorted((named or self.programs).items()))


def read_builds(trial: Path) -> tuple[BuildRecord, ...]:
    """Read the builds of a trial, in their order; none where nothing was built, or an earlier version wrote it.

    A last line that is torn, as a power failure leaves it, is no build: its session had not begun.
    Raises StoreError for a damaged line.
    """
    return tuple(record for record, _ in rows_of_builds(trial))


def rows_of_builds(trial: Path) -> Iterator[tuple[BuildRecord, dict[str, Any]]]:
    """Give the builds of a trial as `read_builds` does, each also as it is stored."""
    path = trial / BUILDS
    if not path.exists():
        return
    with opened(path) as file:
        data = file.read()
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):
        try:
            if not checksum_holds(line):
                raise ShapeError("the line does not have its checksum")
            row = parse(line, "the line")
            yield shaped(BuildRecord, row, "the line"), row
        except ShapeError as error:
            what = f"{error}: the file was changed or is damaged"
            raise StoreError(what, f"{path}:{number}", RESTORE) from None


def is_of_builds(about: Mapping[str, str]) -> bool:
    """Tell of a metric in a manifest whether builds have values of it, and no run has."""
    return about.get("when") == "build" or about.get("source") == "builds"


def layouts_by_session(builds: Iterable[BuildRecord]) -> dict[str, dict[int, BuildRecord]]:
    """Give for each variant that has builds of its sessions the build that each session was measured with.

    Of several of one session, which was resumed or killed while it was built, it is the last.
    """
    found: dict[str, dict[int, BuildRecord]] = {}
    for one in builds:
        if one.session != ALL_SESSIONS:
            found.setdefault(one.variant, {})[one.session] = one
    return found
