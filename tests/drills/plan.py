"""Which drills there are, how much of each is done in one go, and how a piece of one is done."""

from __future__ import annotations

import importlib
import resource

from cases import FOUND
from row import Row

MOST_MEMORY = 4 * 2**30
# (drill, number, pieces of it). The long ones come first.
PLAN: tuple[tuple[str, int, int], ...] = (
    ("soak", 100_000, 1),
    ("kills", 100, 4),
    ("kills services", 20, 2),
    ("kills compare", 20, 2),
    ("kills bisect", 8, 2),
    ("faults", 98, 4),
    ("damage", 80, 4),
    ("signals", 39, 1),
    ("disk", 24, 1),
    ("children", 29, 1),
    ("fuzz campaign", 200_000, 8),
    ("fuzz trial", 50_000, 4),
    ("fuzz matrix", 50_000, 1),
    ("fuzz config", 50_000, 1),
    ("fuzz systems", 50_000, 1),
    ("fuzz foreign", 100_000, 4),
    ("fuzz written", 100_000, 1),
    ("fuzz bisection", 20_000, 2),
    ("fuzz profile", 20_000, 1),
    ("fuzz manifest", 20_000, 1),
    ("fuzz compare", 20_000, 1),
    ("fuzz nights", 20_000, 1),
    ("fuzz bundle", 20_000, 1),
)


def done(drill: str, number: int, seed: int) -> list[Row]:
    """Do one piece of a drill, in a process of its own."""
    # A reader that wants all memory for a damaged file fails, and the machine does not. The commands
    # inherit it.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    name, _, kind = drill.partition(" ")
    module = importlib.import_module(name)
    if name == "fuzz":
        return [fuzzed(module.fuzz(kind, number, seed, FOUND))]
    words = () if name == "soak" else (FOUND, *([kind] if kind else []))
    rows: list[Row] = module.drill(seed, number, *words)
    return rows


def fuzzed(row) -> Row:
    """Give a row of the fuzzer its place in the table of all drills."""
    failed = dict(row.crashes) | ({"hang": row.hangs} if row.hangs else {})
    return Row(
        drill=f"damaged {row.kind}",
        tried=row.mutants,
        failed=failed,
        most={"s": row.slowest_s, "MB": row.peak_mb},
    )
