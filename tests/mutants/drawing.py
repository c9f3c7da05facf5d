"""Which mutants are judged: drawn in each room with a seed, spread over its lines.

The mutants of a room come in one order, of which a run takes as many as it wants: 15 are the first
15 of 40, so that a longer run goes on with what a shorter one has judged.
"""

from __future__ import annotations

import ast
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from tests.mutants.operators import Site, sites
from tests.mutants.private_tree import product_files

GOLDEN = (math.sqrt(5) - 1) / 2
OPENED = ("analysis/methods",)  # its folders are rooms of their own


@dataclass(frozen=True, slots=True)
class Mutant:
    """A site in its file: `path` is relative to the tree."""

    room: str
    path: str
    site: Site

    @property
    def name(self) -> str:
        """What tells it from all others of this tree."""
        return f"{self.path}:{self.site.key}"


def room_of(path: str) -> str:
    """Give the room of a file: harness/X, analysis/X, analysis/methods/X; front modules by half."""
    folders = path.split("/")[:-1]
    depth = 3 if "/".join(folders[:2]) in OPENED else 2
    return "/".join(folders[:depth])


def rooms(root: Path) -> dict[str, list[Mutant]]:
    """Give all possible mutants of each room, by file and line."""
    found: dict[str, list[Mutant]] = defaultdict(list)
    for path in product_files(root):
        name = path.relative_to(root).as_posix()
        room = room_of(name)
        source = path.read_bytes()
        found[room] += [Mutant(room, name, site) for site in sites(source)]
    return {room: mutants for room, mutants in sorted(found.items()) if mutants}


def drawn(root: Path, mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Draw `count` mutants of a room, at most one a line, evenly spread whatever their number."""
    order = _in_order(mutants, seed)
    good = (one for one in order if compiles((root / one.path).read_bytes(), one.site))
    return list(islice(good, count))


def _in_order(mutants: Sequence[Mutant], seed: int) -> Iterator[Mutant]:
    """Give a room's mutants by multiples of the golden ratio: each beginning covers it evenly."""
    lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        lines[mutant.path, mutant.site.line].append(mutant)
    places = list(lines)
    random = Random(f"{seed}:{mutants[0].room}" if mutants else seed)
    start, left = random.random(), set(range(len(places)))
    for k in range(len(places)):
        index = int((start + k * GOLDEN) % 1.0 * len(places))
        while index not in left:
            index = (index + 1) % len(places)
        left.remove(index)
        yield random.choice(_by_operator(lines[places[index]], random))


def _by_operator(mutants: Sequence[Mutant], random: Random) -> list[Mutant]:
    """Choose an operator first: a line with many numbers would have nothing else changed."""
    operators = sorted({mutant.site.operator for mutant in mutants})
    chosen = random.choice(operators)
    return [mutant for mutant in mutants if mutant.site.operator == chosen]


def compiles(source: bytes, site: Site) -> bool:
    """Tell whether the mutant is a program, and another one."""
    try:
        changed = ast.parse(site.applied(source))
    except (SyntaxError, ValueError):
        return False
    return ast.dump(changed) != ast.dump(ast.parse(source))


def paired(
    keys: Sequence[tuple[str, str, str]], mutants: Sequence[Mutant]
) -> dict[str, Mutant | None]:
    """Find the mutants of another tree in this one.

    Parameters
    ----------
    keys
        Name, key and path there.
    mutants
        All of this tree.

    Returns
    -------
    dict
        For each name the mutant here; None where there is none, or several of which none is nearest:
        the one in a file of the same name, in a folder of the same name.
    """
    by_key: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_key[mutant.site.key].append(mutant)
    found: dict[str, Mutant | None] = {}
    for name, key, path in keys:
        ranked = sorted(
            ((_nearness(path, one.path), one) for one in by_key[key]), key=lambda r: -r[0]
        )
        unclear = len(ranked) > 1 and ranked[0][0] == ranked[1][0]
        found[name] = ranked[0][1] if ranked and not unclear else None
    return found


def _nearness(there: str, here: str) -> float:
    """Tell how much two paths have in common: the same place, the same file name, shared folders."""
    if there == here:
        return math.inf
    one, other = Path(there), Path(here)
    return 4.0 * (one.name == other.name) + len(set(one.parts[1:-1]) & set(other.parts[1:-1]))
