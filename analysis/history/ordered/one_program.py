"""Which neighbours of a series are one program, by what its trial recorded."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...data.protocol import settings_of
from ...errors import StoreError
from ...record.environment_records import whole_targets
from ...record.same_programs import neighbours_of_one_program
from ...record.shapes import records_of
from ...record.trial_files import ENVIRONMENT, EnvironmentShape


def environment_rows(trial: Path) -> list[Mapping[str, Any]]:
    """Give the environment records of a trial, as far as they can be read."""
    found: list[Mapping[str, Any]] = []
    with contextlib.suppress(
        StoreError
    ):  # a torn last line, or none: what is not known pools nothing
        found.extend(row for _, row in records_of(trial / ENVIRONMENT, EnvironmentShape))
    return found


def one_programs(
    trial: Path,
    variants: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    same: Mapping[str, str],
) -> tuple[tuple[str, ...], ...]:
    """Give the variants as runs of neighbours that are one program on every benchmark.

    `same` are those that the trial did not measure for that reason, and in whose place which was.
    """
    cells = settings_of(trial).get("cells")
    programs = [whole_targets(row.get("targets")) for row in rows]
    found = neighbours_of_one_program(variants, cells if isinstance(cells, list) else (), programs)
    groups: list[list[str]] = []
    for group in found:
        if groups and any(same.get(b, b) == same.get(a, a) for a in groups[-1] for b in group):
            groups[-1].extend(group)
        else:
            groups.append([*group])
    return tuple(map(tuple, groups))


def starts_of(groups: Sequence[Sequence[str]], variants: Sequence[str]) -> list[int]:
    """Give the places of a series: the numbers of variants, but the first, with which another program begins."""
    program = {name: k for k, group in enumerate(groups) for name in group}
    return [
        k for k, (a, b) in enumerate(itertools.pairwise(variants), 1) if program[a] != program[b]
    ]
