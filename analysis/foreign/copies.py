"""Benchmarks of one name that stand in a file more than once: kept apart, each with all its metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ..report import Caution, figures
from .placed import Placed, Sitting

__all__ = ["kept_apart"]

_SHOWN = 8

Identity = tuple[str, str | None, int]  # the file's own names, and the how many-th of them


def kept_apart(placed: Sequence[Placed]) -> tuple[list[Placed], list[Caution]]:
    """Give a second benchmark of one name, variant and occasion in one file a name of its own.

    A benchmark ends where a metric comes that it has already. Further files of one occasion hold
    further processes of the same benchmarks. What the file itself tells apart has the same name on
    every occasion, whatever its place in the file.
    """
    numbers = dict(_numbers(placed))
    taken = {one.benchmark for one in placed}
    names: dict[tuple[str, int], str] = {}
    kept = []
    for k, one in enumerate(placed):
        number = numbers[k]
        if number == 1:
            kept.append(one)
            continue
        if (one.benchmark, number) not in names:
            names[one.benchmark, number] = name = _free(one.benchmark, number, taken)
            taken.add(name)
        kept.append(replace(one, benchmark=names[one.benchmark, number]))
    double = tuple(dict.fromkeys(benchmark for benchmark, _ in names))
    if not double:
        return kept, []
    which = figures.listed(double, _SHOWN)
    text = f"benchmarks of one name stand there more than once and are kept apart: {which}"
    return kept, [Caution("equal-names", text, double)]


def _numbers(placed: Sequence[Placed]) -> Iterator[tuple[int, int]]:
    """Give the place of each cell, and which benchmark of its name it belongs to, from 1."""
    groups: dict[tuple[str, str], dict[Sitting, dict[Identity, list[int]]]] = {}
    for k, identity in enumerate(_identities(placed)):
        one = placed[k]
        sittings = groups.setdefault((one.benchmark, one.variant), {})
        sittings.setdefault(one.sitting, {}).setdefault(identity, []).append(k)
    for sittings in groups.values():
        known: dict[Identity, int] = {}
        for identities in sittings.values():
            for identity, number in _assigned(identities, known).items():
                yield from ((k, number) for k in identities[identity])


def _assigned(identities: Collection[Identity], known: dict[Identity, int]) -> dict[Identity, int]:
    """Give each benchmark of a sitting its number: as before, else the first that is free."""
    found: dict[Identity, int] = {}
    used: set[int] = set()
    for identity in identities:
        number = known.get(identity)
        if number is not None and number not in used:
            found[identity] = number
            used.add(number)
    free = 1
    for identity in identities:
        if identity in found:
            continue
        while free in used:
            free += 1
        found[identity] = free
        used.add(free)
        known.setdefault(identity, free)
    return found


def _identities(placed: Sequence[Placed]) -> Iterator[Identity]:
    """Tell which benchmark of the file each cell belongs to."""
    counts: dict[object, int] = {}
    metrics: dict[object, set[str]] = {}
    for one in placed:
        key = (one.benchmark, one.variant, one.sitting, one.cell.benchmark, one.cell.variant)
        if key not in metrics or one.cell.metric in metrics[key]:
            counts[key] = counts.get(key, 0) + 1
            metrics[key] = set()
        metrics[key].add(one.cell.metric)
        yield (one.cell.benchmark, one.cell.variant, counts[key])


def _free(benchmark: str, number: int, taken: set[str]) -> str:
    while (name := f"{benchmark} ({number})") in taken:
        number += 1  # the file has a benchmark of that very name
    return name
