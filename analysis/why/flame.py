"""The flame graph of a profile: chains of callers in milliseconds a run, each side's own, and their words.

A chain's time in a session is its samples times what one sample stands for there, as a row's; so boxes and rows
have the same numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.trial import read_trial
from ..errors import UsageError
from ..pages.number_format import counted, listed
from ..plots.flame import FlameWords, flame_picture
from ..plots.flame_layout import DEEPEST, LEAST, Chains, Flame, FlameBox, flame_of
from ..plots.sheet import Sheet
from .names import FunctionName, FunctionNames
from .sentence import milliseconds, signed
from .session_table import table_of

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..plots.paper import Picture
    from ..record.profiles import SampledCell, StoredProfile
    from .result import Why

__all__ = ["CallGraph", "call_graph", "write_flames"]

_WHOLE = "all"
_MANY_ALONE = 0.2  # share of samples without callers that is worth a sentence
_MAIN = "main"
_FEWEST = 3  # samples that a box stands for
_MOST_LEFT_OUT = 0.02  # share of the whole, however few the samples are
_TOLD = 3  # functions that the picture's words name
_FILE = Sheet(width=280.0, font_size=9.0)
_UNSAFE = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallGraph:
    """Who calls whom, in both variants of one benchmark.

    Attributes
    ----------
    flame : Flame
        In milliseconds a run; names are those of rows, such as ``qsort_cmp (app)``.
    told : Why
        The rows of the same profile.
    short : mapping of str to str
        Names without the files that hold the functions.
    alone : float
        The share of samples of which no caller is known.
    """

    flame: Flame
    told: Why
    short: Mapping[str, str]
    alone: float

    @property
    def words(self) -> FlameWords:
        """What is said of each box; functions that the rows name bear their star."""
        named = {row.name for row in self.told.named}

        def name(box: FlameBox) -> str:
            if not box.path:
                return _WHOLE
            return f"{'* ' * (box.name in named)}{self.short[box.name]}"

        return FlameWords(name, lambda box: f"{changed(box.difference)} ms", self.whole)

    def whole(self, box: FlameBox) -> str:
        """Say all that is known of a box."""
        sides = (self.told.baseline, self.told.variant)
        both = _pair(sides, (box.baseline, box.candidate))
        text = f"{box.name or _WHOLE}: {both} ({changed(box.difference)} ms)"
        own = (box.own_baseline, box.own_candidate)
        if box.path and own != (box.baseline, box.candidate):
            text += f"; itself {_pair(sides, own)}"
        return text

    @property
    def title(self) -> str:
        """What the picture is."""
        return f"{self.told.benchmark}: where {self.told.variant} and {self.told.baseline} spend their time"

    @property
    def alt(self) -> str:
        """What the picture shows, in words."""
        root = self.flame.boxes[0]
        sides = _pair((self.told.baseline, self.told.variant), (root.baseline, root.candidate))
        most = listed([f"{name} {changed(ms)} ms" for name, ms in self.changes()[:_TOLD]])
        text = f"Flame graph of {counted(len(self.flame.boxes), 'box').replace('boxs', 'boxes')}, {sides} in all"
        return f"{text}; functions that differ most themselves: {most}" if most else text

    def changes(self) -> list[tuple[str, float]]:
        """Give what functions of drawn boxes differ by themselves, wherever called, the most first."""
        found: dict[str, float] = defaultdict(float)
        for box in self.flame.boxes:
            if box.path:
                found[box.name] += box.own_candidate - box.own_baseline
        differs = [one for one in found.items() if one[1]]
        return sorted(differs, key=lambda one: (-abs(one[1]), one[0]))

    @property
    def keys(self) -> tuple[str, str]:
        """What the colours stand for: more time, and less."""
        return f"more time in {self.told.variant}: bar at the bottom", "less: bar at the top"

    @property
    def notes(self) -> tuple[str, ...]:
        """How the picture is read, and what is not in it."""
        total = milliseconds(self.flame.total)
        found = [
            "A box is a function as called by the box above it, as wide as its time with all that it calls: "
            f"the larger of both variants, {total} ms a run in all. A bar is as long as the difference. "
            "Direct recursion is one box, and what calls main is left out."
        ]
        if self.told.named:
            found.append(
                "* named by the rows: proven over sessions. Other differences may be noise."
            )
        else:
            found.append("No function is proven to differ: differences may be noise.")
        gone = [
            f"{counted(count, 'box').replace('boxs', 'boxes')} {why}"
            for count, why in (
                (self.flame.narrow, f"narrower than {100 * self.flame.least:.2g} % of the whole"),
                (self.flame.deep, f"below row {DEEPEST}"),
            )
            if count
        ]
        if gone:
            found.append(f"Left out: {listed(gone)}.")
        if self.alone >= _MANY_ALONE:
            found.append(
                f"Of {100 * self.alone:.0f} % of the samples no caller is known: programs built without frame "
                "pointers need --chains dwarf."
            )
        return tuple(found)

    def picture(self, sheet: Sheet = _FILE) -> Picture:
        """Draw it on a sheet."""
        told = self.told
        how = (
            f"{told.event}, {told.frequency_hz} Hz, callers by {told.chains}; "
            f"{told.sessions} sessions of {told.profiled_runs} profiled runs"
        )
        return flame_picture(
            self.flame,
            self.words,
            sheet,
            title=self.title,
            keys=self.keys,
            notes=(*self.notes, how),
        )


def changed(ms: float) -> str:
    """Write a difference with its sign, as a picture has it."""
    return signed(ms).replace("-", "\N{MINUS SIGN}")


def _pair(names: tuple[str, str], times: tuple[float, float]) -> str:
    return ", ".join(
        f"{milliseconds(ms)} ms in {name}" for name, ms in zip(names, times, strict=True)
    )


def call_graph(stored: StoredProfile, told: Why, timed: Trial | None = None) -> CallGraph | None:
    """Set the chains of a profile into one graph; None where no callers were recorded, or nothing took time.

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
    if profile.chains is None:
        return None
    timed = read_trial(stored.timed) if timed is None else timed
    table = table_of(stored, timed, told.benchmark, told.renames)
    names = FunctionNames.of(stored, told.benchmark)
    new = {old: name.function for name, old in table.was.items()}
    sides: list[dict[tuple[str, ...], float]] = []
    short: dict[str, str] = {}
    samples = alone = 0
    steps = []
    for variant, step in (
        (profile.baseline, table.baseline.step),
        (profile.variant, table.candidate.step),
    ):
        found: dict[tuple[str, ...], float] = defaultdict(float)
        for cell in stored.cells:
            if (cell.benchmark, cell.variant) != (told.benchmark, variant):
                continue
            if cell.session not in table.sessions:
                continue
            each = step[table.sessions.index(cell.session)] / len(table.sessions)
            frames = [
                _name(names.name_of(one.symbol, one.object), new if not sides else {}, short)
                for one in cell.functions
            ]
            for path, count in _paths(cell, frames).items():
                found[path] += count * float(each)
                samples += count
                alone += count * (len(path) < 2)
        sides.append(found)
        steps.append(float(step.mean()) / len(table.sessions))
    if not any(ms > 0 for side in sides for ms in side.values()):
        return None
    return CallGraph(
        flame=_drawn(sides, _FEWEST * max(steps)),
        told=told,
        short=short,
        alone=alone / samples if samples else 0.0,
    )


def _drawn(sides: Sequence[Chains], least_ms: float) -> Flame:
    """Lay out the chains, without boxes of so few samples that they say nothing."""
    flame = flame_of(*sides)
    least = min(least_ms / flame.total, _MOST_LEFT_OUT)
    return flame if least <= LEAST else flame_of(*sides, least=least)


def _name(name: FunctionName, renamed: Mapping[str, str], short: dict[str, str]) -> str:
    function = renamed.get(name.function, name.function)
    whole = f"{function} ({name.object})" if name.object else function
    short[whole] = function
    return whole


def _paths(cell: SampledCell, frames: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Count the samples of each chain; what has no chain belongs to the whole."""
    found: dict[tuple[str, ...], int] = defaultdict(int)
    for chain in cell.chains or ():
        path: list[str] = []
        for k in chain.frames:
            if cell.functions[k].symbol == _MAIN:  # unwinding reaches what calls it, or not
                path = []
            if path[-1:] != [frames[k]]:
                path.append(frames[k])
        found[tuple(path)] += chain.samples
    rest = cell.samples - sum(found.values())
    if rest > 0:
        found[()] += rest
    return found


def write_flames(pairs: Sequence[tuple[StoredProfile, Why]], path: Path) -> tuple[Path, ...]:
    """Write the flame graph of each answer as the kind of picture that the file's ending says.

    One goes to `path`; of several, each has variant and benchmark behind its name.

    Raises
    ------
    UsageError
        If a profile has no chains of callers, or a file cannot be written.
    """
    from ..plots.drawing import write_picture

    found: list[Path] = []
    for stored, told in pairs:
        graph = call_graph(stored, told)
        if graph is None:
            without = stored.profile.chains is None
            raise UsageError(
                "a flame graph needs callers, and this profile was recorded without them"
                if without
                else f"a flame graph needs time on the CPU, and {told.benchmark!r} took none",
                str(stored.timed.parent),
                "record it anew with --chains dwarf, or with --chains fp where programs have frame pointers"
                if without
                else "name other benchmarks with --benchmark",
            )
        place = path
        if len(pairs) > 1:
            more = _UNSAFE.sub("_", f"{told.variant}-{told.benchmark}")
            place = path.with_name(f"{path.stem}-{more}{path.suffix}")
        if place in found:  # a-b with c, and a with b-c
            place = place.with_name(f"{place.stem}-{len(found) + 1}{place.suffix}")
        write_picture(graph.picture(), place, title=graph.title, alt=graph.alt)
        found.append(place)
    return tuple(found)
