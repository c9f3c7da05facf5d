"""The seed by which a session's own build draws its layout, and where ``{layout_seed}`` stands in a campaign.

A loaded campaign keeps the placeholder, as a mark that no file can hold: a literal ``{{layout_seed}}`` stays what
it is, and a command whose seed was forgotten cannot be executed. Each session fills in its own.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import overload

from .model import LAYOUT_SEED, Build, Cell, Command

_MOST = 2**31 - 1  # what linkers take; 0 and negative numbers have meanings of their own there


def layout_seed(seed: int, session: int, variant: str, node: str | None = None) -> int:
    """Give the seed of a variant's layout in a session, from the campaign's seed: 1 to 2^31 - 1.

    `node` is the host's name in a fleet, whose hosts draw layouts of their own.
    """
    told = f"layout:{seed}:{session}:{variant}"
    if node is not None:
        told += f":{node}"
    drawn = int.from_bytes(hashlib.sha256(told.encode()).digest()[:8], "big")
    return 1 + drawn % _MOST


def needs_layout_seed(part: Build | Cell | Mapping[str, str]) -> bool:
    """Tell whether a build, the variables of a cell or variables by name hold ``{layout_seed}``."""
    if isinstance(part, Build):
        steps = (text for step in part.steps for text in step.argv)
        return any(LAYOUT_SEED in text for text in steps) or needs_layout_seed(part.env)
    env = part.env if isinstance(part, Cell) else part
    return any(LAYOUT_SEED in text for text in env.values())


@overload
def with_layout_seed(part: Build, seed: int) -> Build: ...
@overload
def with_layout_seed(part: Cell, seed: int) -> Cell: ...
@overload
def with_layout_seed(part: Mapping[str, str], seed: int) -> dict[str, str]: ...
def with_layout_seed(
    part: Build | Cell | Mapping[str, str], seed: int
) -> Build | Cell | dict[str, str]:
    """Fill in the seed of a layout, in a build, in the variables of a cell, or in variables by name."""
    if isinstance(part, Build):
        steps = tuple(_filled(step, seed) for step in part.steps)
        return dataclasses.replace(part, steps=steps, env=with_layout_seed(part.env, seed))
    if isinstance(part, Cell):
        return dataclasses.replace(part, env=with_layout_seed(part.env, seed))
    return {name: text.replace(LAYOUT_SEED, str(seed)) for name, text in part.items()}


def _filled(step: Command, seed: int) -> Command:
    argv = tuple(text.replace(LAYOUT_SEED, str(seed)) for text in step.argv)
    return dataclasses.replace(step, argv=argv)
