"""Which neighbours of a series of variants are one program: the same bytes are executed, asked in the same way.

Two are one where the hashes of program, loader and libraries are the same in every record, and the commands differ
in the program's path at most, of which only a compiled program's may differ: a script finds its modules beside
itself. Working folder, inputs and variables must be the same too, and nothing be executed around the runs.
What the build of a session makes is another program in each session, and never one with a neighbour.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .environment_records import of_one_session

if TYPE_CHECKING:
    from .trial_files import Manifest

_ASKED = ("cwd", "stdin", "inputs", "env", "stdout")
_HOOKS = ("before", "after")  # they are told which variant it is, and may do anything


def neighbours_of_one_program(
    variants: Sequence[str],
    cells: Iterable[object],
    programs: Sequence[Mapping[str, Any]],
) -> tuple[tuple[str, ...], ...]:
    """Give the variants as runs of neighbours that are one program on every benchmark.

    `cells` are those of the resolved campaign, `programs` the sections `targets` of environment records, whole. What is
    not known is another program.
    """
    by_variant: dict[str, dict[str, Mapping[str, Any]]] = {}
    for cell in cells:
        if isinstance(cell, dict) and {"variant", "benchmark", "command"} <= cell.keys():
            by_variant.setdefault(str(cell["variant"]), {})[str(cell["benchmark"])] = cell
    groups: list[list[str]] = []
    for name in variants:
        if groups and _same(groups[-1][-1], name, by_variant, programs):
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(map(tuple, groups))


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
    if any(cell.get(key) for cell in (a, b) for key in _HOOKS):
        return False
    alike = a["command"] == b["command"]
    if not alike and (not (words := _arguments(a)) or words != _arguments(b)):
        return False
    for row in programs:
        ours, theirs = (row.get(f"{cell['benchmark']}/{cell['variant']}") for cell in (a, b))
        if not (isinstance(ours, dict) and isinstance(theirs, dict)):
            return False
        if _of_one_session(ours) or _of_one_session(theirs):
            return False
        if not ours.get("sha256") or _bytes(ours) != _bytes(theirs):
            return False
        if not alike and ours.get("kind") != "elf":
            return False
    return bool(programs)


def _arguments(cell: Mapping[str, Any]) -> list[Any] | None:
    """Give what stands behind the program, in a list of its own; None of a shell's line."""
    command = cell["command"]
    words = command.get("argv") if isinstance(command, dict) else None
    return [words[1:]] if isinstance(words, list) else None


def _of_one_session(target: Mapping[str, Any]) -> bool:
    libraries = target.get("libraries")
    parts = libraries.values() if isinstance(libraries, dict) else ()
    return any(map(of_one_session, (target, *parts)))


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


def same_in_all(manifests: Iterable[Manifest]) -> Mapping[str, str]:
    """Give the variants that no part of several measured, since they are the same program as another."""
    first, *others = (one.same_program for one in manifests)
    return first if all(one == first for one in others) else {}
