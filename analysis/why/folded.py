"""Folded stacks of both variants, as flamegraph.pl and speedscope read them.

A stack's time in a session is its samples times what one sample stands for there, as a row's; so stacks and rows
have the same numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..data.trial import read_trial
from ..record.profiles import SampledChain
from ..words import shown
from .names import FunctionName, FunctionNames
from .session_table import table_of

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..record.profiles import SampledCell, StoredProfile
    from .result import Why

# functions from the outermost to what takes the time itself -> milliseconds a run of baseline and candidate
Stacks: TypeAlias = Mapping[tuple[str, ...], tuple[float, float]]

_MAIN = "main"


def stacks_of(stored: StoredProfile, told: Why, timed: Trial | None = None) -> Stacks:
    """Give the time of each stack; a stack is one function where no callers were recorded.

    Parameters
    ----------
    stored : StoredProfile
    told : Why
        What was found in it, for one benchmark.
    timed : Trial, optional
        Its timed runs, where they are read already.

    Raises
    ------
    FairtrialError
        If the timed runs cannot be read.
    """
    profile = stored.profile
    timed = read_trial(stored.timed) if timed is None else timed
    table = table_of(stored, timed, told.benchmark, told.renames)
    names = FunctionNames.of(stored, told.benchmark)
    new = {old: name.function for name, old in table.was.items()}
    found: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
    renamed_of: tuple[dict[str, str], ...] = (new, {})
    names_of = (profile.baseline, profile.variant)
    sides = zip(names_of, (table.baseline, table.candidate), renamed_of, strict=True)
    for number, (variant, side, renamed) in enumerate(sides):
        step = dict(zip(table.sessions, side.step / len(table.sessions), strict=True))
        for cell in stored.cells:
            if (cell.benchmark, cell.variant) == (told.benchmark, variant) and cell.session in step:
                frames = [
                    _name(names.name_of(one.symbol, one.object), renamed) for one in cell.functions
                ]
                for path, count in _paths(cell, frames):
                    found[path][number] += count * float(step[cell.session])
    return {path: (one, other) for path, (one, other) in found.items() if one or other}


def _name(name: FunctionName, renamed: Mapping[str, str]) -> str:
    function = renamed.get(name.function, name.function)
    return f"{function} ({name.object})" if name.object else function


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


def folded(pairs: Sequence[tuple[StoredProfile, Why]]) -> str:
    """Give the text: ``VARIANT;main (app);sort (libc) 1200`` a line, in whole microseconds a run.

    Of several answers, what is compared stands before the variant, so that no baseline counts twice.
    """
    lines = []
    for stored, told in pairs:
        several = len(pairs) > 1
        head = (f"{told.benchmark}: {told.variant} against {told.baseline}",) if several else ()
        for path, times in sorted(stacks_of(stored, told).items()):
            for variant, ms in zip((told.baseline, told.variant), times, strict=True):
                stack = ";".join(shown(name).replace(";", ":") for name in (*head, variant, *path))
                lines += [f"{stack} {round(1000 * ms)}\n"] if round(1000 * ms) else []
    return "".join(lines)
