"""From samples and timed runs to milliseconds: a row a session and a column a function, for both variants.

A function's time in a session is its share of the profiled runs' samples, times the mean time on the processors
of the session's timed runs, which no profiler disturbed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.trial import Trial, read_trial
from ..errors import InsufficientDataError, UsageError
from ..pages.number_format import listed
from ..record.profiles import KERNEL, SampledCell, SampledChain, StoredProfile, cell_name
from ..stats.samples import Array
from ..words import shown

# --- What a function is called: the same in both variants, whatever compilers, folders and engines put
# into its name. Two names that differ after this are two functions: people see what was renamed as a pair.

UNKNOWN = "[unknown]"  # as perf writes what has no symbol
PROGRAM = "program"  # the object of both variants' programs where their files have different names
MADE_AS_IT_RUNS = "made at run time"  # what an engine compiled, where nothing says its file

# what gcc and clang append to a copy or a part of a function, in a dotted name and as demanglers print it
_PARTS = "isra|part|constprop|cold|lto_priv|localalias|llvm|__uniq"
_SUFFIX = re.compile(rf"(?:\.(?:{_PARTS})(?:\.\d+)*)+$")
_CLONES = re.compile(r"(?: \[clone [^\]]*\])+$")
_VERSION = re.compile(r"@+[A-Z][A-Za-z]*_[\w.]+$")  # memcpy@@GLIBC_2.14, and not memcpy@plt
_RUST_LEGACY = re.compile(r"::h[0-9a-f]{16}$")
_RUST_CRATE = re.compile(r"(?<=\w)\[[0-9a-f]{1,16}\](?=::)")
_APPENDED = (_CLONES, _SUFFIX, _VERSION, _RUST_LEGACY, _RUST_CRATE)
_MANGLED = re.compile(r"_(?:_?Z[NLKS0-9]|RNv|RIN|RNC|RNx|RY|RX|RM)")
_PYTHON = re.compile(r"py::(?P<name>.+?):(?P<file>[^:]+)$")
_NODE = re.compile(
    r"(?P<kind>[A-Za-z]+):(?P<tier>[*~^+]?)(?P<name>\S*) (?P<file>\S+?)(?::\d+)?(?::\d+)?$"
)
_LIBRARY = re.compile(r"(?:-\d+\.[\d.]*\d)?\.so(?:\.[\w.]+)?$")
_ENGINE = re.compile(
    r"(?:jit|anon|perf-\d+\.map|jitted-\d+-\d+\.so|\[JIT\] tid \d+|//anon|\[anon.*|anon_inode.*)$"
)


class FunctionName(NamedTuple):
    """A function's name, and the file that holds it without folder and version."""

    function: str
    object: str


def plain_name(symbol: str) -> str:
    """Strip what a compiler, a linker or a demangler puts behind a function's own name."""
    name, before = symbol.strip(), None
    while name != before:
        before = name
        for appended in _APPENDED:
            name = appended.sub("", name).rstrip()
    return name or UNKNOWN


def plain_object(name: str) -> str:
    """Strip folder and version of a file: ``libc``, whichever ``libc-2.31.so`` or ``libc.so.6`` it was."""
    base = name.rstrip("/").rpartition("/")[2] if not name.startswith("//") else name
    if base == KERNEL or base.startswith("[kernel"):
        return KERNEL
    if _ENGINE.match(base):
        return MADE_AS_IT_RUNS
    return _LIBRARY.sub("", base.strip("[]")) or base


def is_mangled(function: str) -> bool:
    """Tell whether a name is still as a C++ or Rust compiler wrote it."""
    return _MANGLED.match(function) is not None


def function_name(symbol: str, file: str) -> FunctionName:
    """Give the name of a function that perf calls `symbol`, in `file`.

    Of Python's and node's functions the file is the source's, without its folder, and neither lines nor
    tiers of optimisation are a part of the name.
    """
    if (found := _PYTHON.match(symbol)) is not None:
        return FunctionName(f"py::{found['name']}", _leaf(found["file"]))
    where = plain_object(file) or UNKNOWN.strip("[]")
    if where == MADE_AS_IT_RUNS and (found := _NODE.match(symbol)) is not None:
        name = f"{found['kind']}:{found['name'] or '(anonymous)'}"
        return FunctionName(name, _leaf(found["file"]))
    return FunctionName(plain_name(symbol), where)


def _leaf(path: str) -> str:
    return path.rpartition("/")[2] or path


NameOf = Callable[[str, str], FunctionName]


def names_of(stored: StoredProfile, benchmark: str) -> NameOf:
    """Give what names a profile's functions, as perf wrote them and their files: rows and pictures call them alike.

    Two files are one program: those of the two cells, else the only ones that the other variant lacks.
    """
    sides = (stored.profile.baseline, stored.profile.variant)
    names = [stored.profile.program_names.get(cell_name(benchmark, side)) for side in sides]
    alone = [{plain_object(str(name))} for name in names]
    if None in names:
        mine = [cell for cell in stored.cells if cell.benchmark == benchmark]
        seen = [
            {
                plain_object(f.object)
                for cell in mine
                if cell.variant == side
                for f in cell.functions
            }
            for side in sides
        ]
        alone = [seen[0] - seen[1], seen[1] - seen[0]]
    programs = set().union(*alone)
    one_program = len(programs) == 2 and all(len(files) == 1 for files in alone)

    @cache
    def name_of(symbol: str, file: str) -> FunctionName:
        name = function_name(symbol, file)
        shared = one_program and name.object in programs
        return name._replace(object=PROGRAM) if shared else name

    return name_of


_KNOWN = 12  # functions that a message names


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """One variant, an entry a session; times are means of its timed runs, in milliseconds a run.

    `counts` (shape (sessions, functions)) are samples, `samples` their sums, `runs` the profiled runs. `sampled` is the
    time that shares multiply, `unseen` what of the time on the processors no sample shows. `waiting` is how long it
    was ready and had no processor, nan where nobody knows.
    """

    counts: NDArray[np.int64]
    samples: NDArray[np.int64]
    runs: NDArray[np.int64]
    sampled: Array
    unseen: Array
    wall: Array
    waiting: Array

    @property
    def on_cpu(self) -> Array:
        """The time on the processors, user and system."""
        return self.sampled + self.unseen

    @property
    def off_cpu(self) -> Array:
        """The rest of the wall time: waiting, and negative where several processors work at a time."""
        return self.wall - self.on_cpu

    @property
    def shares(self) -> Array:
        """The functions' shares of the samples, a row a session."""
        return self.counts / self.samples[:, None]

    @property
    def functions(self) -> Array:
        """The functions' times, a row a session."""
        return self.shares * self.sampled[:, None]

    @property
    def step(self) -> Array:
        """The time that one sample stands for, in each session."""
        return self.sampled / self.samples


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionTable:
    """Both variants in the same sessions and functions; `left_out` are sessions that one of them lacks.

    `was` has the baseline's names of functions that were renamed; `unused` are renames without a sample of either name.
    """

    names: tuple[FunctionName, ...]
    sessions: tuple[int, ...]
    left_out: tuple[int, ...]
    baseline: Side
    candidate: Side
    was: Mapping[FunctionName, str]
    unused: tuple[str, ...]


def table_of(
    stored: StoredProfile, trial: Trial, benchmark: str, renames: Mapping[str, str]
) -> SessionTable:
    """Put samples and timed runs together, for the sessions that have both of both variants.

    Raises UsageError if the profile does not have the benchmark, or a rename does not fit the functions;
    InsufficientDataError if there is no such session.
    """
    profile, where = stored.profile, str(stored.timed.parent)
    if benchmark not in profile.benchmarks:
        known = f"known here: {', '.join(map(format, profile.benchmarks))}"
        raise UsageError(f"the profile has no benchmark {benchmark!r}", where, known)
    sides = (profile.baseline, profile.variant)
    mine = [one for one in stored.cells if one.benchmark == benchmark]
    cells = [{one.session: one for one in mine if one.variant == side} for side in sides]
    means = [_means(trial, benchmark, side) for side in sides]
    # not as many as the profile says: a damaged one may say any number
    there = sorted({*cells[0], *cells[1], *means[0], *means[1]})
    kept = tuple(
        session
        for session in sorted(cells[0].keys() & cells[1].keys())
        if all(one[session].samples > 0 for one in cells) and all(session in one for one in means)
    )
    if not kept:
        what = "no session of the profile has samples and timed runs of both variants of"
        fix = "record it anew, with a higher --frequency where the program is short"
        raise InsufficientDataError(f"{what} {benchmark!r}", where, fix, n=0, needed=1)
    name_of = names_of(stored, benchmark)
    counts = [[_counted(one[session], name_of) for session in kept] for one in cells]
    moved, unused = _moves(counts, renames, where)
    for counted in counts[0]:
        for old, to in moved.items():
            counted[to] += counted.pop(old, 0)
    every = sorted({name for side in counts for one in side for name in one})

    def side_of(
        counts: list[Counted], cells: Mapping[int, SampledCell], means: Mapping[int, _Times]
    ) -> Side:
        user, system, wall, waiting = np.array([means[k] for k in kept], dtype=np.float64).T
        table = np.array([[one[name] for name in every] for one in counts], dtype=np.int64)
        return Side(
            counts=table,
            samples=table.sum(axis=1),
            runs=np.array([cells[k].runs for k in kept], dtype=np.int64),
            sampled=user + system if profile.sees_kernel else user,
            unseen=np.zeros_like(system) if profile.sees_kernel else system,
            wall=wall,
            waiting=waiting,
        )

    baseline, candidate = map(side_of, counts, cells, means)
    return SessionTable(
        names=tuple(every),
        sessions=kept,
        left_out=tuple(session for session in there if session not in kept),
        baseline=baseline,
        candidate=candidate,
        was={new: old.function for old, new in moved.items()},
        unused=unused,
    )


_Times = tuple[float, float, float, float]  # user, system, wall and waiting, in ms


def _means(trial: Trial, benchmark: str, variant: str) -> dict[int, _Times]:
    """Give each session's mean times of a cell's timed runs."""
    manifest = trial.manifest
    for kind, name, known in (
        ("benchmark", benchmark, manifest.benchmarks),
        ("variant", variant, manifest.variants),
    ):
        if name not in known:
            what = f"the timed trial has no {kind} {name!r}"
            raise UsageError(what, str(trial.path), "record the profile anew: fairtrial why")
    times = [trial.values(name) for name in ("user", "system", "wall")]
    mine = trial.measured & ~trial.apart("wall")
    mine &= trial.benchmark == manifest.benchmarks.index(benchmark)
    mine &= trial.of_variant(variant)
    for column in times:
        mine &= np.isfinite(column)
    times.append(trial.waited_ns / 1e9)
    found: dict[int, _Times] = {}
    for session in np.unique(trial.session[mine]).tolist():
        runs = mine & (trial.session == session)
        user, system, wall, waiting = (1e3 * float(column[runs].mean()) for column in times)
        found[session] = user, system, wall, waiting
    return found


Counted = Counter[FunctionName]


def _counted(cell: SampledCell, name_of: NameOf) -> Counted:
    found: Counted = Counter()
    for one in cell.functions:
        if one.samples:
            found[name_of(one.symbol, one.object)] += one.samples
    return found


def _moves(
    counts: list[list[Counted]], renames: Mapping[str, str], where: str
) -> tuple[dict[FunctionName, FunctionName], tuple[str, ...]]:
    """Give what each renamed function of the baseline is called in the candidate, and the renames of others."""
    before, after = ({name for one in side for name in one} for side in counts)
    moves: dict[FunctionName, FunctionName] = {}
    unused = []
    for old, new in renames.items():
        olds = [name for name in before if name.function == old]
        news = [name for name in after if name.function == new]
        if not olds and not news:
            unused.append(f"{old}={new}")
            continue
        if not olds or not news:
            text, known = f"the baseline is in a function {old!r}", before
            if olds:
                text, known = f"the candidate is in a function {new!r}", after
            fix = f"known here: {listed(sorted({one.function for one in known}), _KNOWN)}"
            raise UsageError(f"no sample of {text}", where, fix)
        if any(name.function == old for name in after):
            what = f"{old!r} is not renamed: the candidate has samples in it too"
            raise UsageError(what, where, f"leave out --rename {old}={new}")
        for name in olds:
            same = [one for one in news if one.object == name.object]
            if not same and len(news) > 1:
                places = listed([one.object for one in sorted(news)])
                what = f"{new!r} stands in several files: {places}"
                raise UsageError(what, where, "leave it out")
            moves[name] = (same or news)[0]
    return moves, tuple(unused)


# --- Folded stacks of both variants, as flamegraph.pl and speedscope read them.
#
# A stack's time in a session is its samples times what one sample stands for there, as a row's; so
# stacks and rows have the same numbers.

# functions from the outermost to what takes the time itself -> milliseconds a run of baseline and candidate
Stacks: TypeAlias = Mapping[tuple[str, ...], tuple[float, float]]

_MAIN = "main"


def stacks_of(
    stored: StoredProfile, benchmark: str, renames: Mapping[str, str], timed: Trial | None = None
) -> Stacks:
    """Give the time of each stack of a benchmark; a stack is one function where no callers were recorded.

    `renames` are those of `table_of`, `timed` the profile's timed runs where they are read already.
    """
    profile = stored.profile
    timed = read_trial(stored.timed) if timed is None else timed
    table = table_of(stored, timed, benchmark, renames)
    name_of = names_of(stored, benchmark)
    new = {old: name.function for name, old in table.was.items()}
    found: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
    sides: tuple[tuple[str, Side, dict[str, str]], ...] = (
        (profile.baseline, table.baseline, new),
        (profile.variant, table.candidate, {}),
    )
    for number, (variant, side, renamed) in enumerate(sides):
        step = dict(zip(table.sessions, side.step / len(table.sessions), strict=True))
        for cell in stored.cells:
            if (cell.benchmark, cell.variant) == (benchmark, variant) and cell.session in step:
                names = [name_of(one.symbol, one.object) for one in cell.functions]
                frames = [
                    renamed.get(name, name) + (f" ({file})" if file else "") for name, file in names
                ]
                for path, count in _paths(cell, frames):
                    found[path][number] += count * float(step[cell.session])
    return {path: (one, other) for path, (one, other) in found.items() if one or other}


def _paths(cell: SampledCell, frames: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Give the samples of each stack: from main on, and direct recursion as one frame."""
    alone = (SampledChain(frames=(k,), samples=f.samples) for k, f in enumerate(cell.functions))
    for chain in alone if cell.chains is None else cell.chains:
        path: list[str] = []
        for k in chain.frames:
            if cell.functions[k].symbol == _MAIN:  # unwinding reaches what calls it, or not
                path = []
            if path[-1:] != [frames[k]]:
                path.append(frames[k])
        yield tuple(path), chain.samples


def folded(explained: Sequence[tuple[StoredProfile, str, Mapping[str, str]]]) -> str:
    """Give the text: ``VARIANT;main (app);sort (libc) 1200`` a line, in whole microseconds a run.

    `explained` are profiles, each with a benchmark and its renames. Of several, what is compared stands before the
    variant, so that no baseline counts twice.
    """
    lines = []
    for stored, benchmark, renames in explained:
        sides = stored.profile.baseline, stored.profile.variant
        head = (f"{benchmark}: {sides[1]} against {sides[0]}",) * (len(explained) > 1)
        for path, times in sorted(stacks_of(stored, benchmark, renames).items()):
            for variant, ms in zip(sides, times, strict=True):
                stack = ";".join(shown(name).replace(";", ":") for name in (*head, variant, *path))
                lines += [f"{stack} {round(1000 * ms)}\n"] if round(1000 * ms) else []
    return "".join(lines)
