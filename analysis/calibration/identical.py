"""Which variants of a trial are one and the same: the pairs that an A/A comparison needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..data import Trial
from ..errors import InsufficientDataError, StoreError, UsageError
from ..record import (
    ENVIRONMENT,
    RESOLVED,
    EnvironmentShape,
    opened,
    parse,
    records_of,
    whole_targets,
)
from ..shapes import ShapeError

__all__ = ["identical_pair", "identical_variants"]

_CELL = "cwd", "stdin", "inputs", "env", "stdout", "command", "before", "after"
_HOW = (
    "measure an A/A campaign: write two variants with the same command, "
    "'variants: {one: {}, two: {}}', and no key of theirs in the commands; "
    "or name two that are one program for you: --pair A,B"
)


def identical_variants(trial: Trial) -> tuple[tuple[str, str], ...]:
    """Name the pairs of variants that are the same on every benchmark.

    The same are: program file by its SHA-256 in every session, arguments, variables, working
    directory, standard input and hooks. What a trial does not say counts as different.
    """
    cells, programs = _cells(trial.path), _programs(trial.path)
    variants, benchmarks = trial.manifest.variants, trial.manifest.benchmarks
    first = trial.manifest.baseline
    order = [first, *(name for name in variants if name != first)]

    def same(a: str, b: str) -> bool:
        return all(
            (here := cells.get((bench, a))) is not None
            and here == cells.get((bench, b))
            and (program := programs.get(f"{bench}/{a}"))
            and program == programs.get(f"{bench}/{b}")
            and None not in program.values()
            for bench in benchmarks
        )

    return tuple((a, b) for k, a in enumerate(order) for b in order[k + 1 :] if same(a, b))


def identical_pair(trial: Trial, pair: tuple[str, str] | None) -> tuple[str, str]:
    """Give the pair that is asked for, or the first that is identical.

    Raises
    ------
    UsageError
        If a variant of `pair` is unknown, or both are one name.
    InsufficientDataError
        If no two variants are identical.
    """
    variants = trial.manifest.variants
    if pair is not None:
        unknown = [name for name in pair if name not in variants]
        if unknown:
            raise UsageError(
                f"the trial has no variant {unknown[0]!r}",
                str(trial.path),
                f"known here: {', '.join(variants)}",
            )
        if pair[0] == pair[1]:
            raise UsageError(
                f"{pair[0]!r} stands on both sides of the pair",
                str(trial.path),
                "name two variants that execute the same program: their runs are compared",
            )
        return pair
    found = identical_variants(trial)
    if not found:
        raise InsufficientDataError(
            "no two variants of the trial are identical", str(trial.path), _HOW, n=0, needed=1
        )
    return found[0]


def _cells(trial: Path) -> Mapping[tuple[str, str], Any]:
    """Give what each cell executes, of the resolved campaign; nothing where there is none."""
    try:
        with opened(trial / RESOLVED) as file:
            data = parse(file.read().strip())
        rows = data["campaign"]["cells"]
        return {
            (row["benchmark"], row["variant"]): json.dumps(
                [row[key] for key in _CELL], sort_keys=True
            )
            for row in rows
        }
    except (OSError, StoreError, ShapeError, KeyError, TypeError):
        return {}  # a trial of the first version does not say it


def _programs(trial: Path) -> Mapping[str, Mapping[tuple[int, int], str | None]]:
    """Give the hash of each cell's program in each session, as far as it is known."""
    found: dict[str, dict[tuple[int, int], str | None]] = {}
    for when, name, sha256 in _targets(trial):
        found.setdefault(name, {})[when] = sha256
    return found


def _targets(trial: Path) -> Iterator[tuple[tuple[int, int], str, str | None]]:
    try:
        for record, row in records_of(trial / ENVIRONMENT, EnvironmentShape):
            for name, target in whole_targets(row.get("targets")).items():
                yield (record.session, record.segment), name, target.get("sha256")
    except StoreError:
        return  # a torn last line; of an ended trial the hashes are verified before
