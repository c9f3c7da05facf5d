"""The boxes of a flame graph of two sides: who calls whom, how wide each box is, which have room.

A box is as wide as its children and what is its own, of which the larger of both sides counts. So a
function that only one side has is seen whole, and nothing lies over its neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["DEEPEST", "LEAST", "Chains", "Flame", "FlameBox", "flame_of"]

Chains: TypeAlias = Mapping[tuple[str, ...], float]  # names from the outermost, and how much

LEAST = 0.003  # share of the whole width below which a box is left out
DEEPEST = 64  # rows below the first


@dataclass(frozen=True, slots=True, kw_only=True)
class FlameBox:
    """A function as called by the box above it.

    Attributes
    ----------
    path : tuple of str
        Its callers from the outermost, and itself; empty for the whole.
    left, width : float
        Shares of the whole.
    own_baseline, own_candidate : float
        What it took itself, in the unit of the chains.
    baseline, candidate : float
        The same with all that it called.
    """

    path: tuple[str, ...]
    left: float
    width: float
    own_baseline: float
    own_candidate: float
    baseline: float
    candidate: float

    @property
    def name(self) -> str:
        """The function's own name; "" for the whole."""
        return self.path[-1] if self.path else ""

    @property
    def depth(self) -> int:
        """How many boxes stand above it."""
        return len(self.path)

    @property
    def difference(self) -> float:
        """The candidate's less the baseline's: above 0 where the candidate takes more."""
        return self.candidate - self.baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class Flame:
    """A flame graph as places: the whole first, callers before what they call.

    Attributes
    ----------
    boxes : tuple of FlameBox
        Those that have room; siblings stand from the widest to the narrowest.
    total : float
        What the whole width stands for, in the unit of the chains.
    least : float
        The share of it below which a box has no room.
    narrow, deep : int
        How many boxes are left out: too narrow, or wide enough and too far below the first.
    """

    boxes: tuple[FlameBox, ...]
    total: float
    least: float
    narrow: int
    deep: int


def flame_of(
    baseline: Chains, candidate: Chains, *, least: float = LEAST, deepest: int = DEEPEST
) -> Flame:
    """Set the chains of two sides into one tree.

    Parameters
    ----------
    baseline, candidate : mapping of tuple of str to float
        How much each chain of callers took, none below 0; the empty chain is what nobody knows the
        callers of.
    least : float
        The share of the whole width below which a box has no room; what it calls has none either.
    deepest : int
        How many rows there are below the first.

    Raises
    ------
    ValueError
        If no chain took anything.
    """
    tree = _Tree()
    places = {path: tree.place(path) for path in sorted({*baseline, *candidate})}
    for side, chains in enumerate((baseline, candidate)):
        for path, much in chains.items():
            tree.own[places[path]][side] += much
    widths = tree.summed([max(own) for own in tree.own])
    sums = [tree.summed([own[side] for own in tree.own]) for side in (0, 1)]
    total = widths[0]
    if not total > 0:
        raise ValueError("a flame graph needs a chain that took something")
    seen = [k for k, width in enumerate(widths) if width > 0]
    wide = [k for k in seen if widths[k] >= least * total]
    lefts = tree.lefts(widths, {k for k in wide if tree.depths[k] <= deepest})
    boxes = tuple(
        FlameBox(
            path=tree.path(k),
            left=left / total,
            width=widths[k] / total,
            own_baseline=tree.own[k][0],
            own_candidate=tree.own[k][1],
            baseline=sums[0][k],
            candidate=sums[1][k],
        )
        for k, left in lefts.items()
    )
    return Flame(
        boxes=boxes,
        total=total,
        least=least,
        narrow=len(seen) - len(wide),
        deep=len(wide) - len(boxes),
    )


class _Tree:
    """Boxes by their number: whatever calls comes before what it calls. No recursion: chains may be long."""

    def __init__(self) -> None:
        self.names = [""]
        self.above = [0]
        self.below: list[dict[str, int]] = [{}]
        self.own = [[0.0, 0.0]]
        self.depths = [0]

    def place(self, path: Sequence[str]) -> int:
        """Give the box of a chain, made where it is new."""
        at = 0
        for name in path:
            found = self.below[at].get(name)
            if found is None:
                found = len(self.names)
                self.below[at][name] = found
                self.names.append(name)
                self.above.append(at)
                self.below.append({})
                self.own.append([0.0, 0.0])
                self.depths.append(self.depths[at] + 1)
            at = found
        return at

    def summed(self, own: Sequence[float]) -> list[float]:
        """Add to each box what the boxes below it have."""
        found = list(own)
        for k in range(len(found) - 1, 0, -1):
            found[self.above[k]] += found[k]
        return found

    def lefts(self, widths: Sequence[float], drawn: Set[int]) -> dict[int, float]:
        """Give where each drawn box begins, callers first, siblings from the widest."""
        found: dict[int, float] = {}
        left = [(0, 0.0)]
        while left:
            k, begin = left.pop()
            found[k] = begin
            inside = sorted(self.below[k].items(), key=lambda one: (-widths[one[1]], one[0]))
            places = []
            for _, child in inside:
                places.append((child, begin))
                begin += widths[child]
            left += [one for one in reversed(places) if one[0] in drawn]
        return found

    def path(self, k: int) -> tuple[str, ...]:
        found = []
        while k:
            found.append(self.names[k])
            k = self.above[k]
        return tuple(reversed(found))
