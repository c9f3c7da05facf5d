"""``manifest.json``, the folder of a new trial, which appears whole or not at all, and that of a bisection.

For whoever writes a finished trial: the runner's store, which measures for hours, has its own way.
"""

from __future__ import annotations

import datetime
import hashlib
import itertools
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar, get_args

from ..errors import StoreError, UsageError
from ..words import command_line, shown
from .run_numbers import Better
from .shapes import RESTORE, ShapeError, document_of, is_writable, shaped
from .trial_files import (
    MANIFEST,
    SCHEMA,
    LooksPlan,
    LooksPlanRule,
    Manifest,
    StoppedBecause,
    StopReason,
    When,
)

# --- Quantiles of the values of one run: their names, how many values they need, and their one definition.
#
# The quantile of a share q is the smallest of the values that at least that share of them does not exceed: the inverse of
# their empirical distribution (Hyndman & Fan, 1996, definition 1). It is a value that was measured, and the one that a
# histogram gives; nothing is made up between two modes of a latency.


SOURCE: Final = "quantiles"  # of these metrics, in the manifest
OF: Final = "of"  # the manifest's keys of them: which metric's, and which
SHARE: Final = "quantile"


def quantile_metric(metric: str, share: float) -> str:
    """Name the quantile of a metric: ``latency.p99.9`` for 0.999."""
    percent = format((Decimal(repr(share)) * 100).normalize(), "f")
    return f"{metric}.p{percent}"


@lru_cache(maxsize=64)
def needed(share: float) -> int:
    """Tell how many values a quantile needs: with fewer, none of them would lie beyond it."""
    exact = _exact(share)
    return math.ceil(1 / min(exact, 1 - exact))


def rank_of(share: float, count: int) -> int | None:
    """Give the place, from 1, of the quantile among `count` values in ascending order; None of too few."""
    return math.ceil(_exact(share) * count) if count >= needed(share) else None


def quantile_of(ascending: Sequence[float], share: float) -> float | None:
    """Give the quantile of values in ascending order; None where they are too few."""
    rank = rank_of(share, len(ascending))
    return None if rank is None else ascending[rank - 1]


def counted_quantile(counts: Sequence[tuple[float, int]], share: float) -> float | None:
    """Give the quantile of values in ascending order, each with how often it was counted; None of too few."""
    rank = rank_of(share, sum(count for _, count in counts))
    if rank is None:
        return None
    for value, count in counts:
        rank -= count
        if rank <= 0:
            return value
    raise AssertionError("a rank is at most the number of values")


def about_quantile(unit: str, better: str, metric: str, share: float) -> dict[str, str]:
    """Give what a manifest says of a quantile."""
    return {"unit": unit, "better": better, "source": SOURCE, OF: metric, SHARE: repr(share)}


def quantile_about(about: Mapping[str, str]) -> tuple[str, float] | None:
    """Give the metric that a manifest's metric is a quantile of, and which quantile; None of others.

    ValueError where it can mean nothing.
    """
    if about.get("source") != SOURCE:
        return None
    share = float(about.get(SHARE, ""))
    if not 0 < share < 1 or not about.get(OF):
        raise ValueError(f"quantile is {share}, of {about.get(OF)!r}")
    return about[OF], share


def _exact(share: float) -> Fraction:
    """Give a share as it was written: 0.07 of 100 values are 7."""
    return Fraction(repr(share))


# --- How many iterations at the beginning of a run are stored and not judged: a number, or ``auto``.
#
# A trial's manifest keeps it with its metric, as text: earlier versions take nothing else there.


WarmupIterations = int | Literal["auto"]

WARMUP: Final = "warmup_iterations"  # the campaign's key, and the manifest's
MOST_WARMUP: Final = 100_000
NEEDS: Final = f"a whole number from 0 to {MOST_WARMUP}, or auto"


def read_warmup(text: str) -> WarmupIterations:
    """Read what a manifest or a command line says; ValueError where it is neither."""
    if text == "auto":
        return "auto"
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and int(text) <= MOST_WARMUP):
        raise ValueError(f"{WARMUP} is {text!r}, and not {NEEDS}")
    return int(text)


def warmup_of(about: Mapping[str, str]) -> WarmupIterations:
    """Give what a manifest says of a metric; ValueError where it can mean nothing."""
    return read_warmup(about.get(WARMUP, "0"))


T = TypeVar("T")
_NOTHING: Mapping[str, str] = MappingProxyType({})
# by what all trials that are read are judged in place of their own; None: by what each trial's manifest says
WARMUP_ASKED: ContextVar[WarmupIterations | None] = ContextVar("warmup_asked", default=None)
# the roles of columns with which all tables are read, such as {"value": "time_ms"}
COLUMNS_ASKED: ContextVar[Mapping[str, str]] = ContextVar("columns_asked", default=_NOTHING)
# further options by which files are read, such as {"better": "lower"}: `judge_words` gives them too
OPTIONS_ASKED: ContextVar[Mapping[str, str]] = ContextVar("options_asked", default=_NOTHING)


@contextmanager
def asking(variable: ContextVar[T], value: T | None) -> Iterator[None]:
    """Let one of these three hold meanwhile; None changes nothing."""
    token = variable.set(variable.get() if value is None else value)
    try:
        yield
    finally:
        variable.reset(token)


# which of the options by which files are read a command takes; all others take each of them
_TAKEN = {"bisect": (), "sources": ("columns", "decimal")}


def judge_words(command: str = "verdict") -> tuple[str, ...]:
    """Give what was asked as words of a command line, for the next `command` to ask it too."""
    setting, columns, taken = WARMUP_ASKED.get(), COLUMNS_ASKED.get(), _TAKEN.get(command)
    roles = ", ".join(f"{role}={name}" for role, name in columns.items())
    options = {"columns": roles, **OPTIONS_ASKED.get()} if columns else OPTIONS_ASKED.get()
    pairs = [(f"--{WARMUP.replace('_', '-')}", f"{setting}")] if setting is not None else []
    pairs += [(f"--{k}", v) for k, v in options.items() if taken is None or k in taken]
    return tuple(itertools.chain.from_iterable(pairs))


def judging_with(setting: WarmupIterations | None) -> AbstractContextManager[None]:
    """Judge all trials that are read meanwhile with this setting in place of their own; None changes nothing."""
    return asking(WARMUP_ASKED, setting)


def is_here(campaign: str) -> bool:
    """Tell whether a campaign's file is where a trial says."""
    return os.path.isfile(campaign)  # noqa: PTH113 - Path.is_file() raises on a name that is too long


def resume_words(trial: str, campaign: str, more: int | None = None) -> tuple[str, ...]:
    """Give the command that goes on with a trial, by `more` sessions; without its campaign the one that says how."""
    if not is_here(campaign):
        return ("fairtrial", "status", trial)
    added = () if more is None else ("--sessions", f"+{more}")
    return ("fairtrial", "run", campaign, "--resume", "--trial", trial, *added)


_MANY = 2**31 - 1  # sessions, and runs in each: no trial has more


def utc_now() -> str:
    """Give the time as RFC 3339, UTC."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
    return now.replace("+00:00", "Z")


def manifest_text(manifest: Manifest) -> bytes:
    """Give the bytes of ``manifest.json``."""
    return json.dumps(manifest.to_dict(), indent=2, allow_nan=False).encode() + b"\n"


def refuse_shut(place: Path) -> None:
    """Raise StoreError for a folder that may not be read, and for what lies in one: nobody can see whether it is there."""
    for one in (*reversed(place.parents), place):
        how, needed = (["-R", "a+rX"], os.R_OK | os.X_OK) if one == place else (["a+x"], os.X_OK)
        if os.path.isdir(one) and not os.access(one, needed, effective_ids=True):  # noqa: PTH112
            fix = f"ask its owner for {command_line(['chmod', *how, str(one)])}"
            raise StoreError("the folder cannot be read: Permission denied", str(one), fix)


def read_manifest(trial: Path) -> Manifest:
    """Read ``manifest.json`` of the trial directory `trial`."""
    path = trial / MANIFEST
    if os.path.isfile(trial):  # noqa: PTH113 - Path.is_file() raises on a name that is too long
        raise StoreError(
            "this is a file, not a trial directory",
            str(trial),
            "a file of another tool becomes a trial with 'fairtrial import FILE -o runs/NAME'; verdict, "
            "report and diagnose read it where it lies",
        )
    if is_bisection(trial):
        words = command_line(("fairtrial", "status", str(trial)))
        what = "this is a bisection, which holds several trials"
        fix = f"name one of them, such as {trial / 'step0'}; its answer: {words}"
        raise StoreError(what, str(trial), fix)
    fix = "name a directory that 'fairtrial run' wrote, such as runs/NAME"
    refuse_shut(trial)
    if not os.path.lexists(trial):
        raise StoreError("there is no such trial", str(trial), fix)
    if not os.path.lexists(path):
        fix += "; what ended before it had a manifest measured nothing, and may be removed; "
        fix += (
            "a folder of another tool becomes a trial with 'fairtrial import FOLDER -o runs/NAME'"
        )
        what = "this is not a trial directory: it has no manifest.json"
        raise StoreError(what, str(trial), way_to_bisections(trial) or fix)
    return manifest_of(document_of(path, "manifest", RESTORE), path)


def manifest_of(data: dict[str, Any], path: Path) -> Manifest:
    """Read what ``manifest.json`` holds; `path` is where it stands."""
    if data["schema"] > SCHEMA:
        raise StoreError(
            f"the trial has schema {data['schema']}, newer than {SCHEMA}, the newest known here"
            if data["schema"] < 2**63
            else "the trial has a schema of another kind",
            str(path),
            "use the fairtrial version that wrote it, or a newer one",
        )
    try:
        manifest = shaped(Manifest, data)
        for what in _wrong(manifest):
            raise ShapeError(what)
    except ShapeError as error:
        raise StoreError(f"the manifest is damaged: {error}", str(path), RESTORE) from None
    return manifest


def _wrong(manifest: Manifest) -> Iterator[str]:
    """Hold the parts of a manifest against each other: readers count and divide by them."""
    asked = (metric for one in manifest.judge for metric in one.metrics)
    names = [manifest.trial, manifest.campaign_name, *manifest.benchmarks, *manifest.variants]
    names += [manifest.node] if manifest.node else []  # the order of runs is made of it
    if not manifest.benchmarks or not manifest.variants:
        yield f"there are no {'variants' if manifest.benchmarks else 'benchmarks'}"
    if not _distinct(manifest.benchmarks) or not _distinct(manifest.variants):
        yield f"a {'variant' if _distinct(manifest.benchmarks) else 'benchmark'} is there twice"
    if not is_writable(*names, *manifest.metrics, *asked):
        yield "a name is not text that can be written"
    if manifest.baseline not in manifest.variants:
        yield "the baseline is none of the variants"
    for about in manifest.metrics.values():
        if "unit" not in about or about.get("better") not in get_args(Better):
            yield "a metric has no unit, or no direction"
        try:
            warmup_of(about)
            quantile_about(about)
        except ValueError:
            yield "the warm-up or the quantile of a metric cannot be read"
    yield from _wrong_counts(manifest)
    yield from _wrong_sessions(manifest)
    if (plan := manifest.looks_plan) is not None:
        yield from _wrong_looks(plan, manifest)


def _wrong_counts(manifest: Manifest) -> Iterator[str]:
    fewest = 0 if manifest.origin == "imported" else manifest.sessions  # there nothing was planned
    for name, least, greatest in (
        ("sessions", 1, _MANY),
        ("runs", 1, _MANY),
        ("warmup", 0, None),
        ("planned", fewest, None),
    ):
        count = getattr(manifest, name)
        if count < least or (greatest is not None and count > greatest):
            yield f"{name} is {count}"
    bounds = manifest.stop.to_dict().values() if manifest.stop else ()
    if any(bound is not None and bound <= 0 for bound in bounds):
        yield "a bound of its stopping rule is not positive"


def _wrong_sessions(manifest: Manifest) -> Iterator[str]:
    most, ends, given_up = manifest.runs, manifest.session_ends, manifest.given_up
    planned, idle = range(1, manifest.sessions + 1), manifest.idle_power
    parts = [(one.first, one.last) for one in manifest.appended]
    parts += [(one.first, one.last) for one in manifest.merged_from]
    odd_cells = (
        one.benchmark not in manifest.benchmarks
        or one.variant not in manifest.variants
        or one.session not in planned
        or not (0 if one.never_ok else 1) <= one.runs <= most
        or one.warmups < 0
        for one in given_up
    )
    odd_powers = (
        one.session not in planned
        or one.when not in get_args(When)
        or min(one.watts, one.error_w) < 0
        for one in idle
    )
    cells = [(one.session, one.benchmark, one.variant) for one in given_up]
    powers = [(one.session, one.segment, one.when) for one in idle]
    for what, wrong in (
        ("a session ended twice", not _distinct([end.session for end in ends])),
        ("a session ended that was not planned", any(end.session not in planned for end in ends)),
        (
            "an ended session has more runs than were planned, or none",
            any(not 1 <= end.runs <= most for end in ends),
        ),
        (
            "why a session ended is not said",
            any(end.why not in get_args(StopReason) for end in ends),
        ),
        ("a cell was given up that is none, or in a session that was not planned", any(odd_cells)),
        ("a cell was given up twice in a session", not _distinct(cells)),
        (
            "sessions were appended, or merged, that were not planned",
            any(not 1 <= first <= last <= manifest.sessions for first, last in parts),
        ),
        ("an idle power is none, or of a session that was not planned", any(odd_powers)),
        ("an idle power is there twice", not _distinct(powers)),
    ):
        if wrong:
            yield what


def _wrong_looks(plan: LooksPlan, manifest: Manifest) -> Iterator[str]:
    ordered = all(one < other for one, other in itertools.pairwise(plan.looks))
    others = set(manifest.variants) - {manifest.baseline}
    if plan.rule not in get_args(LooksPlanRule):
        yield "its rule of looks is not known"
    if not plan.looks or plan.looks[0] < 1 or not ordered:
        yield "its looks are not numbers of sessions in their order"
    if not 0 < plan.risk < 1 or plan.margin < 0:
        yield "the risk of its looks lies not between 0 and 1, or the margin below 0"
    if plan.candidates < 1:
        yield "its looks are at no candidate"
    if any(name not in others or last < 1 for name, last in plan.left.items()):
        yield "a variant left that is none, or in a session that there is not"
    if plan.stopped_because not in (None, *get_args(StoppedBecause)):
        yield "why its looks ended is not known"


def _distinct(items: Sequence[object]) -> bool:
    return len(set(items)) == len(items)


def refuse_existing(folder: Path, option: str = "-o") -> None:
    """Refuse a place for a new folder where something lies; `option` names another."""
    if os.path.lexists(folder):
        fix = f"delete it, or name another folder with {option}"
        raise UsageError("something is there already", str(folder), fix)


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Give a hidden folder next to the wanted one; at the end it takes that name."""
    refuse_existing(folder)
    place = Path(folder.absolute())
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{place.name[:60]}.", dir=place.parent))
        try:
            yield fresh
            sync_place(fresh)
            fresh.rename(place)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        sync_place(place.parent)
    except OSError as error:
        what = f"the trial cannot be written: {error.strerror or error}"
        fix = "name another folder with -o, or free some space"
        raise StoreError(what, str(folder), fix) from error


def write_hashed(path: Path, data: Iterable[bytes]) -> str:
    """Write a new file, bring it to the disk, and give the SHA-256 of its bytes."""
    digest = hashlib.sha256()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        for piece in data:
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def sync_place(path: Path) -> None:
    """Bring a folder's names to the disk."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


# --- How git is asked: no program of a repository, no network, no lock, no other repository than the
# one that is named.
#
# Sources: git(1), githooks(5), git-config(1).


# fsmonitor is a program, and so are hooks
NO_PROGRAMS = ("core.hooksPath=/dev/null", "core.fsmonitor=false")
ALONE = {  # it asks nobody, and fetches nothing that nobody asked for
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
_TRUST = re.compile(r"^\s*(git config --global --add safe\.directory .+)$", re.MULTILINE)


def with_settings(*settings: str) -> list[str]:
    """Give the options of git for these settings, ``NAME=VALUE`` each."""
    return [part for one in settings for part in ("-c", one)]


def for_reading(variables: Mapping[str, str]) -> dict[str, str]:
    """Give the variables with which a repository is only read.

    None of git's own, such as ``GIT_DIR`` of a hook that starts fairtrial, leads elsewhere, and no
    protocol fetches what a partial clone lacks.
    """
    kept = {name: text for name, text in variables.items() if not name.startswith("GIT_")}
    return kept | ALONE | {"GIT_ALLOW_PROTOCOL": "none"}


def is_cut_off(text: str | bytes) -> bool:
    """Tell whether git's answer lacks its end: all that it lists has one, a newline or a null byte."""
    return text[-1:] not in {"", "\n", "\0", b"", b"\n", b"\0"}


def remedy_in(text: str) -> str | None:
    """Give the command with which git, as it says, reads a repository that another user owns."""
    found = _TRUST.search(text)
    return None if found is None else shown(found[1])


# --- A bisection's commits, and its folder: which one is such, which one a trial belongs to; the
# standard library only.


BISECTION = "bisect.json"  # the file that says what was asked and found
_ABOVE = 2  # folders between a trial and its bisection at most: search/NNNN-sha7


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCommit:
    """A commit: its place (0 is good), SHA, subject, author and date, as git has them."""

    place: int
    commit: str
    subject: str
    author: str
    date: str

    @property
    def short(self) -> str:
        """The SHA's first seven signs."""
        return self.commit[:7]

    @property
    def variant(self) -> str:
        """What its variant in the trials is called."""
        return f"{self.place:04d}-{self.short}"


def is_bisection(path: str | Path) -> bool:
    """Tell whether a folder holds ``bisect.json``; what cannot be looked at is none."""
    try:
        return os.path.lexists(os.path.join(path, BISECTION))  # noqa: PTH118 - Path raises on a name that is too long
    except ValueError:  # a zero byte
        return False


def bisection_of_trial(trial: Path) -> Path | None:
    """Give the bisection that a trial's sessions belong to; None of other trials."""
    above = list(trial.absolute().parents)[:_ABOVE]
    for number, folder in enumerate(above, 1):
        if is_bisection(folder):
            return Path(*trial.parts[:-number]) if len(trial.parts) > number else folder
    return None


def way_to_bisections(folder: Path) -> str | None:
    """Say how the newest bisection in a folder is read, for who looks for trials there; None without one."""
    found: list[tuple[int, Path]] = []
    with suppress(OSError, ValueError):  # no folder, or one that may not be read
        for path in folder.iterdir():
            with suppress(OSError):
                found.append((os.lstat(path / BISECTION).st_mtime_ns, path))
    if not found:
        return None
    _, newest = max(found)
    words = command_line(("fairtrial", "status", str(newest)))
    return f"a bisection lies there: {words}; its trials are named one by one, such as {newest / 'step0'}"
