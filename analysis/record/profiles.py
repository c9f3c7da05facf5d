"""A profile's folder: where the time of two variants' programs went, session by session.

It is ``runs/TRIAL.why/VARIANT/`` next to the trial that it explains, and named by no manifest: what is in it
enters no verdict. Standard library only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import StoreError
from .manifest import write_hashed
from .shapes import ShapeError, document_of, encode, records_of, shaped
from .trial_files import MANIFEST, Stored

BESIDE = ".why"  # what the folder of a trial's profiles adds to the trial's name
PROFILE, SAMPLES, TIMED = "profile.json", "samples.jsonl", "timed"
PROFILE_SCHEMA = 1
KERNEL = "kernel"  # the object of all that the kernel executes
SEEN = "seen"
_AGAIN = "record the profile anew: fairtrial why TRIAL:VARIANT"


def profiles_of(trial: Path) -> Path:
    """Give the folder of a trial's profiles, one folder a variant; it may not be there."""
    return trial.with_name(trial.name + BESIDE)


def is_profiles(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder is one of profiles by its name: what is timed in it is no trial of its user's."""
    folder = os.fspath(path)
    return folder.endswith(BESIDE) and not os.path.lexists(os.path.join(folder, MANIFEST))  # noqa: PTH118 - an entry's path is text


def cell_name(benchmark: str, variant: str) -> str:
    """Give the key of a cell, as in a trial's environments."""
    return "/".join((benchmark, variant))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedThen(Stored):
    """What the trial's verdict said of a benchmark when the profile was asked for.

    `speedup` and its interval are those of the verdict (above 1: the candidate is better), None where it has none.
    """

    outcome: str
    speedup: float | None
    low: float | None
    high: float | None
    metric: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Stored):
    """``profile.json``: how a profile was recorded.

    `event` is ``cycles`` where a counter was there, else ``cpu-clock``, taken `frequency_hz` times a second.
    `kernel` is ``seen``, or ``not-seen: WHY``: then samples are of the user's side alone, and have to be scaled to user
    time. `chains` says how callers were followed, None where they were not. `timed_runs` and `profiled_runs` are
    those of a cell in a session. `programs` has the SHA-256 of each cell's program by ``BENCHMARK/VARIANT``, without
    variants that each session builds. `runtimes` says by the same names of interpreters whose functions perf can see
    what was found: ``python-frames``, ``node-map``, or ``not-seen: WHY``. `program_names` has the file names of the cells' programs:
    one that is called otherwise in each variant is one object. Times are RFC 3339, UTC.
    """

    schema: int = PROFILE_SCHEMA
    trial: str
    campaign_sha256: str
    host_id: str
    cpu_model: str | None
    tool_version: str
    perf_version: str
    event: str
    frequency_hz: int
    kernel: str
    chains: str | None
    baseline: str
    variant: str
    benchmarks: tuple[str, ...]
    sessions: int
    timed_runs: int
    profiled_runs: int
    seed: int
    programs: Mapping[str, str]
    program_names: Mapping[str, str] = field(default_factory=dict)
    runtimes: Mapping[str, str] = field(default_factory=dict)
    started: str
    finished: str
    verdict_was: Mapping[str, JudgedThen] = field(default_factory=dict)
    further: Mapping[str, object] = field(default_factory=dict)

    @property
    def sees_kernel(self) -> bool:
        """Whether samples are of the kernel's side too."""
        return self.kernel == SEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledFunction(Stored):
    """A function, as perf names it (`symbol`), in a file without its folder, or ``kernel`` (`object`).

    `samples` hit itself, not what it called: 0 of one that is only a caller in a chain.
    """

    symbol: str
    object: str
    samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledChain(Stored):
    """How often one chain of callers was found: `frames` are places in the row's `functions`, the outermost first."""

    frames: tuple[int, ...]
    samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledCell(Stored):
    """A line of ``samples.jsonl``: the profiled runs of one benchmark and variant in one session.

    `samples` are those of the cell, the sum of its functions'. `lost` are those that the kernel had no room for in this session: nobody knows their cells, so
    all rows of a session say the same number. `chains` is None where no callers were followed.
    """

    session: int
    benchmark: str
    variant: str
    runs: int
    samples: int
    lost: int
    functions: tuple[SampledFunction, ...]
    chains: tuple[SampledChain, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProfile:
    """A profile that was read: how it was recorded, its cells session by session, and the folder of its timed trial."""

    profile: Profile
    cells: tuple[SampledCell, ...]
    timed: Path


def write_profile(folder: Path, profile: Profile, cells: Iterable[SampledCell]) -> None:
    """Write both files of a profile into a folder that has neither; ``profile.json`` comes last."""
    write_hashed(folder / SAMPLES, (encode(cell.to_dict()) + b"\n" for cell in cells))
    data = json.dumps(profile.to_dict(), indent=2, allow_nan=False).encode() + b"\n"
    write_hashed(folder / PROFILE, [data])


def read_profile(folder: Path) -> StoredProfile:
    """Read the profile in a folder.

    Raises StoreError if there is none, it is damaged, or a later version wrote it in another form.
    """
    path = folder / PROFILE
    if not os.path.lexists(path):
        raise StoreError("there is no profile in this folder", str(folder), _AGAIN)
    data = document_of(path, "profile", _AGAIN)
    if data["schema"] != PROFILE_SCHEMA:
        what = f"the profile's schema is {data['schema']}, and {PROFILE_SCHEMA} is known here"
        raise StoreError(what, str(path), "use the fairtrial version that wrote it, or a newer one")
    try:
        profile = shaped(Profile, data)
    except ShapeError as error:
        raise StoreError(f"the profile is damaged: {error}", str(path), _AGAIN) from None
    cells = tuple(cell for cell, _ in records_of(folder / SAMPLES, SampledCell))
    found = _wrong(profile, cells)
    if found is not None:
        raise StoreError(f"the profile is damaged: {found}", str(folder / SAMPLES), _AGAIN)
    return StoredProfile(profile=profile, cells=cells, timed=folder / TIMED)


def _wrong(profile: Profile, cells: tuple[SampledCell, ...]) -> str | None:
    """Say what in the rows does not fit; readers divide by their sums."""
    for name, then in profile.verdict_was.items():
        if any(ratio is not None and ratio <= 0 for ratio in (then.speedup, then.low, then.high)):
            return f"the verdict of {name} was no ratio above 0"
    variants = (profile.baseline, profile.variant)
    seen = set()
    for cell in cells:
        place = (cell.session, cell.benchmark, cell.variant)
        where = f"session {cell.session}, {cell_name(cell.benchmark, cell.variant)}"
        if cell.benchmark not in profile.benchmarks or cell.variant not in variants:
            return f"{where} was not asked for"
        if place in seen or not 1 <= cell.session <= profile.sessions:
            return f"{where} is there twice, or of no session"
        seen.add(place)
        counts = [one.samples for one in cell.functions]
        if min([cell.lost, *counts], default=0) < 0 or sum(counts) != cell.samples:
            return f"the functions' samples are not the {cell.samples} of {where}"
        chains = cell.chains or ()
        if any(not 0 <= frame < len(counts) for chain in chains for frame in chain.frames):
            return f"a chain of {where} names a function that is not there"
    return None
