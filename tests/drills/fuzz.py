"""Damaged campaigns, trials, matrices, configurations and tables: what do the readers say?

Only errors of our own tree may come of them, soon, and in bounded memory. By hand, for a table::

    python tests/drills/fuzz.py [COUNT] [SEED] [KIND ...]

A mutant that raises anything else is written to ``tests/drills/found``, where a test replays it.
"""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import hashlib
import json
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent))

from foreign_seeds import seed_foreign
from mutants import damaged, damaged_numbers
from seeds import CAMPAIGNS, CONFIGS, MATRICES, SYSTEMS, seed_trial
from written import (
    checked_again,
    read_bisection,
    read_bundle,
    read_compared,
    read_damaged_profile,
    read_manifest_of,
    read_nights_of,
    read_written,
    seed_bisection,
    seed_bundle,
    seed_compared,
    seed_nights,
    seed_profile,
    seed_written,
)

from analysis.data.matrix import PerformanceMatrix
from analysis.data.matrix_file import read_systems
from analysis.data.opening import open_foreign
from analysis.data.trial import read_trial
from analysis.errors import FairtrialError
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.importing import import_files, inspect_files
from analysis.importers.reader import Reading, read_sources
from analysis.importers.registry import TOOLS, tool_of
from analysis.methods.speedup_test.original import read_speedup_config
from analysis.record.environment import diff
from harness.campaign.model import Campaign
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of, resolved_text
from harness.host.executables import sha256_file
from harness.trial.builds import target_drift
from harness.trial.execution import campaign_drift, check_plan, defaults_of
from harness.trial.progress import read_progress, trials_in
from harness.trial.stopping import SessionStop, stored_runs
from harness.trial.writer import Store

FOUND = Path(__file__).with_name("found")
HANG_S = 4.0  # of processor time
LEAST_S = 0.05  # of it, that what works has in 15 times as long, however busy the machine is


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of the mutants of one kind. `crashes` are errors that are not ours, by place."""

    kind: str
    mutants: int
    accepted: int
    refused: int
    crashes: Mapping[str, int]
    hangs: int
    slowest_s: float
    peak_mb: float

    @property
    def clean(self) -> bool:
        return not self.crashes and not self.hangs


class Hang(BaseException):
    """A reader took too long; no handler of ours can take it for an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Files that are damaged, one at a time, and what reads the folder that they are in.

    `spared` are those that are not damaged, of `taken`, a pattern of their paths; `mended` makes others fit
    a damaged one; `damaged` makes a mutant.
    """

    seeds: Callable[[Path], None]
    read: Callable[[Path, str], object]
    spared: frozenset[str] = frozenset()
    taken: str = "*"
    mended: Callable[[Path, str], None] = lambda _folder, _name: None
    damaged: Callable[[bytes, Random], bytes] = damaged


def _texts(files: Mapping[str, str]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for name, text in files.items():
            (folder / name).write_text(text)

    return write


def _campaign(folder: Path, name: str) -> None:
    campaign = load_campaign(folder / name)
    identity_of(campaign)
    resolved_text(campaign)


def _matrix(folder: Path, name: str) -> None:
    if name.endswith(".dat"):
        read_sources([str(folder / name)], Reading())
        return
    for layout in ("rows", "columns"):
        matrix = PerformanceMatrix.read(folder / name, better="lower", layout=layout)
        json.dumps(matrix.to_dict(), allow_nan=False)
        str(matrix)


def _systems(folder: Path, name: str) -> None:
    read_systems(folder / name)


def _config(folder: Path, _name: str) -> None:
    read_speedup_config(folder / "bench.cfg")


def _foreign(folder: Path, name: str) -> None:
    """Let a file be recognised, read as what it was, inspected, imported and judged.

    Readers are called as they are: what holds their mistakes back is not in between.
    """
    kind = name.split("/", maxsplit=1)[0]
    opened = open_foreign(str(folder / name))
    with contextlib.suppress(FairtrialError):
        tool_of(opened)
    (tool,) = [one for one in TOOLS if one.name == kind]
    file = tool.read(opened)
    gathered = gather([file], ReadingChoices())
    told = inspect_files(gathered)
    str(told).encode("utf-8", "backslashreplace")
    json.dumps(told.to_dict(), allow_nan=False)
    made = folder / ".made"
    unwritten = any(one.cell.better is None for one in gathered.cells)
    try:
        import_files(gathered, made, better="lower" if unwritten else None)
        trial = read_trial(made)
        str(trial.cautions).encode("utf-8", "backslashreplace")
        for metric in gathered.metrics:
            with contextlib.suppress(FairtrialError):
                trial.matrix(gathered.variants[0], metric)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _foreign_folder(folder: Path, name: str) -> None:
    """Let the folder of a damaged file be read too."""
    kind = name.split("/", maxsplit=1)[0]
    if kind in {"criterion", "asv", "benchexec"}:
        with contextlib.suppress(FairtrialError):
            _foreign(folder, kind)
    _foreign(folder, name)


def _judge(trial: Path) -> None:
    found = read_trial(trial)
    str(found.cautions), len(found.failed)
    for variant in found.manifest.variants:
        for metric in ("wall", "max_rss", *found.manifest.metrics):
            with contextlib.suppress(FairtrialError):
                found.matrix(variant, metric)


def _status(trial: Path) -> None:
    trials_in(trial.parent)
    progress = read_progress(trial)
    str(progress).encode("utf-8", "backslashreplace")
    json.dumps(progress.to_dict(), allow_nan=False)


@functools.lru_cache(maxsize=64)
def _loaded(path: Path, seed: int, defaults: str) -> Campaign:
    return load_campaign(path, seed=seed, defaults=json.loads(defaults))


def _resume(trial: Path) -> None:
    """Do what resuming does before it executes anything."""
    ((_, manifest),) = trials_in(trial.parent).found or ((None, None),)
    if manifest is None:
        return
    defaults = json.dumps(dict(defaults_of(trial, manifest)["defaults"]))
    campaign = _loaded(trial.parents[1] / "c.yaml", manifest.seed, defaults)
    str(campaign_drift(trial, manifest, campaign)).encode("utf-8", "backslashreplace")
    target_drift(manifest.targets, {"/bin/true": "1" * 64})
    store = Store.reopen(trial)
    try:
        check_plan(store, campaign)
        for a in (records := store.environments()):
            diff(a, records[-1])
        for session, runs in stored_runs(trial).items():
            stop = SessionStop(campaign.protocol.stop, campaign, session)
            for run in runs:
                stop.add(run)
            stop.end()
        store.damage()
    finally:
        store.release()


def _trial(folder: Path, _name: str) -> None:
    """Let the judge, ``status`` and a resumption read it; each whatever the others say."""
    trial = folder / "runs" / "c-1"
    errors = []
    for reader in (_judge, _status, _resume):
        try:
            reader(trial)
        except FairtrialError as error:
            str(error).encode("utf-8", "backslashreplace")
            errors.append(error)
    if errors:
        raise errors[0]


def _finished(folder: Path, name: str) -> None:
    """Let the manifest say that the damaged file is as it was when the trial ended."""
    trial = folder / "runs" / "c-1"
    path = trial / "manifest.json"
    if Path(name).name != path.name and len(name) % 3 == 0:
        manifest = json.loads(path.read_text())
        files = {Path(name).name: sha256_file(folder / name)}
        path.write_text(json.dumps(manifest | {"status": "interrupted", "files": files}))


KINDS: Mapping[str, Kind] = {
    "campaign": Kind(seeds=_texts(CAMPAIGNS), read=_campaign),
    "trial": Kind(seeds=seed_trial, read=_trial, spared=frozenset({"c.yaml"}), mended=_finished),
    "matrix": Kind(seeds=_texts(MATRICES), read=_matrix),
    "config": Kind(seeds=_texts(CONFIGS), read=_config),
    "systems": Kind(seeds=_texts(SYSTEMS), read=_systems),
    "foreign": Kind(seeds=seed_foreign, read=_foreign_folder, damaged=damaged_numbers),
    "written": Kind(seeds=seed_written, read=read_written),
    "bisection": Kind(
        seeds=seed_bisection, read=read_bisection, spared=frozenset({".lock"}), mended=checked_again
    ),
    "profile": Kind(seeds=seed_profile, read=read_damaged_profile, mended=checked_again),
    "manifest": Kind(seeds=seed_trial, read=read_manifest_of, taken="*/manifest.json"),
    "compare": Kind(seeds=seed_compared, read=read_compared, taken="runs/*[dn]"),
    "nights": Kind(
        seeds=seed_nights, read=read_nights_of, taken="nights.jsonl", mended=checked_again
    ),
    "bundle": Kind(seeds=seed_bundle, read=read_bundle),
}


@contextlib.contextmanager
def _bench(kind: str) -> Iterator[tuple[Path, dict[str, bytes]]]:
    """Give a folder in memory, where there is one, and the seeds in it."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as place:
        folder = Path(place)
        KINDS[kind].seeds(folder)
        yield folder, _contents(folder)


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".reserve"
    }


def _put_back(folder: Path, seeds: Mapping[str, bytes]) -> None:
    for name, data in seeds.items():
        (folder / name).write_bytes(data)


def attempt(kind: str, folder: Path, name: str) -> str:
    """Let the readers have a damaged file; say what came of it: "" or "refused" or the crash."""

    used = time.process_time()

    def ring(number: int, _frame: object) -> None:
        nonlocal used
        before, used = used, time.process_time()
        if number == signal.SIGPROF or used < before + LEAST_S:
            raise Hang

    before = [(number, signal.signal(number, ring)) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, HANG_S)  # a busy machine makes no hang
    signal.setitimer(signal.ITIMER_REAL, *[15 * HANG_S] * 2)  # and who waits uses no time
    try:
        KINDS[kind].read(folder, name)
    except FairtrialError as error:
        str(error).encode("utf-8", "backslashreplace")
        return "refused"
    except Hang:
        return "hang"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/lib/" not in frame.filename]
        last = (ours or frames)[-1]
        return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    finally:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        for number, handler in before:
            signal.signal(number, handler)
    return ""


def fuzz(kind: str, count: int, seed: int, keep: Path | None = None) -> Row:
    """Damage the seeds of a kind `count` times.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    count, seed : int
        How many mutants, and of which random numbers.
    keep : Path, optional
        Where mutants are written that crash or hang a reader, the first of each place.
    """
    rng = Random(f"{kind}/{seed}")
    results: Counter[str] = Counter()
    slowest = 0.0
    with _bench(kind) as (folder, seeds), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        names = fnmatch.filter(seeds, KINDS[kind].taken)
        names = [name for name in names if Path(name).name not in KINDS[kind].spared]
        for _ in range(count):
            name = rng.choice(names)
            mutant = KINDS[kind].damaged(seeds[name], rng)
            (folder / name).write_bytes(mutant)
            KINDS[kind].mended(folder, name)
            began = time.process_time()
            what = attempt(kind, folder, name)
            slowest = max(slowest, time.process_time() - began)
            if what not in {"", "refused", *results} and keep is not None:
                digest = hashlib.sha256(mutant).hexdigest()[:8]
                (keep / f"{kind}--{Path(name).name}--{digest}").write_bytes(mutant)
            results[what] += 1
            _put_back(folder, seeds)
    return Row(
        kind=kind,
        mutants=count,
        accepted=results.pop("", 0),
        refused=results.pop("refused", 0),
        hangs=results.pop("hang", 0),
        crashes=dict(results),
        slowest_s=slowest,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def replay(path: Path) -> str:
    """Let the readers have a file of ``found``; say what comes of it, as `attempt` does."""
    kind, name, _ = path.name.split("--")
    with _bench(kind) as (folder, seeds):
        place = next(one for one in seeds if Path(one).name == name)
        shutil.copyfile(path, folder / place)
        KINDS[kind].mended(folder, place)
        return attempt(kind, folder, place)


def table(rows: list[Row]) -> str:
    """Write the results, a line for each kind."""
    lines = [f"{'kind':10}{'mutants':>9}{'accepted':>10}{'refused':>9}{'crashes':>9}{'hangs':>7}"]
    lines[0] += f"{'slowest':>10}{'peak':>9}"
    for row in rows:
        crashes = sum(row.crashes.values())
        lines.append(
            f"{row.kind:10}{row.mutants:>9,}{row.accepted:>10,}{row.refused:>9,}{crashes:>9}"
            f"{row.hangs:>7}{row.slowest_s:>8.2f} s{row.peak_mb:>6.0f} MB"
        )
        lines += [f"    {place}: {n}" for place, n in sorted(row.crashes.items())]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Fuzz every kind, print one table, and give 1 when something is not clean."""
    count, seed = map(int, (arguments + ["2000", "1"][len(arguments) :])[:2])
    FOUND.mkdir(exist_ok=True)
    rows = [fuzz(kind, count, seed, FOUND) for kind in arguments[2:] or KINDS]
    print(table(rows))
    return int(not all(row.clean for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
