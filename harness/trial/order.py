"""Campaign -> the ordered, seeded list of planned runs.

The order of session k depends only on (seed, k), and on the node of a fleet: sessions can be appended to a finished trial, and
a resumed trial finds the plan that it was interrupted in.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from analysis.record import PlannedRun

from ..campaign import Campaign, Order

_Pair = tuple[str, str]

PADDING_LIMIT = 4096  # bytes; one page moves the initial stack through all its alignments


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """The planned runs of one session (from 1) in their order, made anew at each pass over them.

    A session may have millions of runs: they are never held all at once.
    """

    campaign: Campaign
    seed: int
    session: int
    node: str | None = None

    def __iter__(self) -> Iterator[PlannedRun]:
        """Give them in their order."""
        return plan_session(self.campaign, self.seed, self.session, self.node)


def plan_session(
    campaign: Campaign, seed: int, session: int, node: str | None = None
) -> Iterator[PlannedRun]:
    """Give the planned runs of one session (from 1) in their order; warm-ups first, in block 0.

    On a node of a fleet the order is the node's own: one order on all hosts would be one sample.
    """
    protocol = campaign.protocol
    pairs = [(cell.benchmark, cell.variant) for cell in campaign.cells]
    stream = "order" if node is None else f"order/{node}"
    rng = random.Random(f"{seed}/{stream}/{session}")
    position = protocol.passes(session - 1) * len(pairs)
    rounds = protocol.warmups(session) - protocol.warmups(session - 1)
    warmups = ((0, pair) for _, pair in _rounds(pairs, rounds, protocol.order, rng))
    measured = _rounds(pairs, protocol.runs, protocol.order, rng)
    for block, (benchmark, variant) in chain(warmups, measured):
        yield PlannedRun(
            position=position,
            session=session,
            block=block,
            benchmark=benchmark,
            variant=variant,
            warmup=block == 0,
        )
        position += 1


def _rounds(
    pairs: list[_Pair], count: int, order: Order, rng: random.Random
) -> Iterator[tuple[int, _Pair]]:
    """Give `count` rounds of all cells, numbered from 1, in the campaign's order."""
    if order == "sequential":
        yield from ((block, pair) for pair in pairs for block in range(1, count + 1))
        return
    for block in range(1, count + 1):
        cells = rng.sample(pairs, len(pairs)) if order == "shuffled" else pairs
        yield from ((block, pair) for pair in cells)


def padding(seed: int, session: int, position: int, setting: str | int) -> int:
    """Give the bytes of environment padding of one run: fixed, or random for each run."""
    if isinstance(setting, int):
        return setting
    # a hash, not a generator: seeding one would cost more than all else between two runs
    text = f"{seed}/padding/{session}/{position}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) % PADDING_LIMIT
