"""Which neighbours of a series are one program: what they execute is the same bytes, asked in the same way."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...data.protocol import settings_of
from ...errors import StoreError
from ...record.environment_records import whole_targets
from ...record.shapes import records_of
from ...record.trial_files import ENVIRONMENT, EnvironmentShape

_ASKED = ("cwd", "stdin", "inputs", "env", "stdout", "before", "after")


def environment_rows(trial: Path) -> list[Mapping[str, Any]]:
    """Give the environment records of a trial, as far as they can be read."""
    found: list[Mapping[str, Any]] = []
    with contextlib.suppress(
        StoreError
    ):  # a torn last line, or none: what is not known pools nothing
        found.extend(row for _, row in records_of(trial / ENVIRONMENT, EnvironmentShape))
    return found


def one_programs(
    trial: Path, variants: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> tuple[tuple[str, ...], ...]:
    """Give the variants as runs of neighbours that are one program on every benchmark.

    Two are one where the hashes of program, loader and libraries are the same in every record, and the commands
    differ in the program's path at most, of which only a compiled program's may differ: a script finds its modules
    beside itself. Working folder, inputs, variables and hooks must be the same too.
    """
    cells = _cells(trial)
    programs = [whole_targets(row.get("targets")) for row in rows]
    groups: list[list[str]] = []
    for name in variants:
        if groups and _same(groups[-1][-1], name, cells, programs):
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(map(tuple, groups))


def _cells(trial: Path) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Give what each variant executes: variant -> benchmark -> cell of the resolved campaign."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    cells = settings_of(trial).get("cells")
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict) and {"variant", "benchmark", "command"} <= cell.keys():
            found.setdefault(str(cell["variant"]), {})[str(cell["benchmark"])] = cell
    return found


def _same(
    one: str,
    other: str,
    cells: Mapping[str, Mapping[str, Mapping[str, Any]]],
    programs: Sequence[Mapping[str, Any]],
) -> bool:
    a, b = cells.get(one, {}), cells.get(other, {})
    return bool(a) and a.keys() == b.keys() and all(_same_cell(a[k], b[k], programs) for k in a)


def _same_cell(
    a: Mapping[str, Any], b: Mapping[str, Any], programs: Sequence[Mapping[str, Any]]
) -> bool:
    if any(a.get(key) != b.get(key) for key in _ASKED):
        return False
    first, second = a["command"], b["command"]
    if not (isinstance(first, list) and isinstance(second, list)) or first[1:] != second[1:]:
        return False
    compiled = first[:1] == second[:1]
    for row in programs:
        ours, theirs = (row.get(f"{cell['benchmark']}/{cell['variant']}") for cell in (a, b))
        if not (isinstance(ours, dict) and isinstance(theirs, dict)):
            return False
        if not ours.get("sha256") or _bytes(ours) != _bytes(theirs):
            return False
        if not compiled and ours.get("kind") != "elf":
            return False
    return bool(programs)


def _bytes(target: Mapping[str, Any]) -> str:
    """Give what a program is made of: its hash, its loader's, and each library's."""
    libraries = target.get("libraries")
    told = {
        name: about.get("sha256") if isinstance(about, dict) else about
        for name, about in (libraries.items() if isinstance(libraries, dict) else ())
    }
    loader = target.get("interpreter")
    hashes = sorted(map(str, loader.values())) if isinstance(loader, dict) else loader
    return json.dumps([target.get("sha256"), hashes, told], sort_keys=True, default=str)


def starts_of(groups: Sequence[Sequence[str]], variants: Sequence[str]) -> list[int]:
    """Give the places of a series: the numbers of variants, but the first, with which another program begins."""
    program = {name: k for k, group in enumerate(groups) for name in group}
    return [
        k for k, (a, b) in enumerate(itertools.pairwise(variants), 1) if program[a] != program[b]
    ]
