"""Pairs of identical variants, their runs, and their relabellings."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import InsufficientDataError, StoreError, UsageError
from ..record.environment import whole_targets
from ..record.shapes import ShapeError, opened, parse, records_of
from ..record.trial_files import ENVIRONMENT, RESOLVED, EnvironmentShape

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockPairs:
    """Runs of two variants side by side: each block that holds both, benchmark by benchmark.

    `benchmarks` are those with two blocks at least. Each of the arrays below has one entry a block:
    `ours` and `theirs` the values of either variant, of several runs of a cell their geometric mean;
    `block` the number of the block, over all benchmarks together; `group` that of the session, from 0,
    or in a trial of one session that of the block: what labels are swapped in is a group. `whole`
    tells whether groups are sessions, `higher` whether higher values are better; `left_out` counts
    runs without a partner in their block.
    """

    benchmarks: tuple[str, ...]
    ours: tuple[Array, ...]
    theirs: tuple[Array, ...]
    group: tuple[Integers, ...]
    block: tuple[Integers, ...]
    groups: int
    whole: bool
    higher: bool = False
    left_out: int = 0

    @property
    def sessions(self) -> int:
        """How many sessions the runs stem from."""
        return self.groups if self.whole else 1

    def logs(self) -> list[tuple[Array, Array]]:
        """Give the logarithms of both sides of each benchmark."""
        return [(np.log(x), np.log(y)) for x, y in zip(self.ours, self.theirs, strict=True)]

    def differences(self) -> list[Array]:
        """Give for each benchmark the mean log difference of each session that it has, in order."""
        return [
            np.array([(x - y)[group == k].mean() for k in np.unique(group)])
            for (x, y), group in zip(self.logs(), self.group, strict=True)
        ]

    def without(self, group: int) -> BlockPairs:
        """Give the same pairs without a group; groups keep their numbers."""
        kept = [g != group for g in self.group]
        enough = [k for k, keep in enumerate(kept) if keep.sum() > 1]

        def cut(rows: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
            return tuple(rows[k][kept[k]] for k in enough)

        return replace(
            self,
            benchmarks=tuple(self.benchmarks[k] for k in enough),
            ours=cut(self.ours),
            theirs=cut(self.theirs),
            group=cut(self.group),
            block=cut(self.block),
        )


def pairs_of(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> BlockPairs:
    """Put the runs of two variants of one trial side by side."""
    found: list[tuple[str, list[tuple[Any, Any, float, float]]]] = []
    left_out = 0
    for bench in candidate.benchmarks:
        if bench not in baseline.benchmarks:
            continue
        ours, theirs = _cells(candidate, bench), _cells(baseline, bench)
        shared = [key for key in ours if key in theirs]
        left_out += sum(len(row) for key, row in ours.items() if key not in theirs)
        left_out += sum(len(row) for key, row in theirs.items() if key not in ours)
        if len(shared) > 1:
            rows = [(*key, _centre(ours[key]), _centre(theirs[key])) for key in sorted(shared)]
            found.append((bench, rows))
    if not found:
        raise InsufficientDataError(
            f"no benchmark has two blocks with runs of both {candidate.name!r} and {baseline.name!r}",
            candidate.trial,
            "measure more blocks: 'protocol: {sessions: 6, runs: 8}'",
            n=0,
            needed=2,
        )
    sessions = sorted({row[0] for _, rows in found for row in rows})
    blocks = sorted({row[:2] for _, rows in found for row in rows})
    whole = len(sessions) > 1
    block_number = {key: k for k, key in enumerate(blocks)}
    session_number = {key: k for k, key in enumerate(sessions)}
    numbers = [np.array([block_number[row[:2]] for row in rows]) for _, rows in found]
    return BlockPairs(
        benchmarks=tuple(bench for bench, _ in found),
        ours=tuple(np.array([row[2] for row in rows]) for _, rows in found),
        theirs=tuple(np.array([row[3] for row in rows]) for _, rows in found),
        group=tuple(
            np.array([session_number[row[0]] for row in rows]) if whole else own
            for own, (_, rows) in zip(numbers, found, strict=True)
        ),
        block=tuple(numbers),
        groups=len(sessions) if whole else len(blocks),
        whole=whole,
        higher=candidate.better == "higher",
        left_out=left_out,
    )


def _cells(matrix: PerformanceMatrix, bench: str) -> dict[tuple[Any, Any], list[float]]:
    where = matrix.benchmarks.index(bench)
    assert matrix.sessions is not None  # a trial knows them
    sessions = matrix.sessions[where].tolist()
    if matrix.blocks is not None:
        blocks = matrix.blocks[where].tolist()
    else:  # imported runs know no blocks: each has its place within its session
        seen: dict[Any, Iterator[int]] = defaultdict(lambda: itertools.count(1))
        blocks = [next(seen[session]) for session in sessions]
    rows: dict[tuple[Any, Any], list[float]] = defaultdict(list)
    for session, block, value in zip(sessions, blocks, matrix.samples[where].tolist(), strict=True):
        rows[session, block].append(value)
    return rows


def _centre(values: list[float]) -> float:
    return values[0] if len(values) == 1 else float(np.exp(np.mean(np.log(values))))


Signs = NDArray[np.int64]  # relabellings x groups: 1 as measured, -1 swapped
MOST = 128  # relabellings; more say nothing new: what varies are sessions and benchmarks


def signs(groups: int, rng: np.random.Generator) -> Signs:
    """Give relabellings, the labels as measured first: all of them, or `MOST` at random.

    Swapping everything turns each answer round, and all that is counted looks at both directions;
    so the first group keeps its labels.
    """
    if 2 ** (groups - 1) <= MOST:
        numbers = np.arange(2 ** (groups - 1))[:, None]
        bits = numbers >> np.arange(groups - 1)[None, :] & 1
    else:
        bits = rng.integers(0, 2, (MOST, groups - 1))
        bits[0] = 0
    return np.concatenate([np.ones((len(bits), 1), dtype=np.int64), 1 - 2 * bits], axis=1)


def sides(pairs: BlockPairs, bench: int, table: Signs) -> tuple[Array, Array]:
    """Give the values of both sides of a benchmark under each relabelling (relabellings x blocks)."""
    swapped = table[:, pairs.group[bench]] < 0
    x, y = pairs.ours[bench], pairs.theirs[bench]
    return np.where(swapped, y, x), np.where(swapped, x, y)


_CELL = "cwd", "stdin", "inputs", "env", "stdout", "command", "before", "after"
_HOW = (
    "measure an A/A campaign: write two variants with the same command, "
    "'variants: {one: {}, two: {}}', and no key of theirs in the commands; "
    "or name two that are one program for you: --pair A,B"
)


def identical_variants(trial: Trial) -> tuple[tuple[str, str], ...]:
    """Name the pairs of variants that are the same on every benchmark."""
    cells, programs = _identical_cells(trial.path), _programs(trial.path)
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
    """Give the pair that is asked for, or the first that is identical."""
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


def _identical_cells(trial: Path) -> Mapping[tuple[str, str], Any]:
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
    try:
        for record, row in records_of(trial / ENVIRONMENT, EnvironmentShape):
            for name, target in whole_targets(row.get("targets")).items():
                when = record.session, record.segment
                found.setdefault(name, {})[when] = target.get("sha256")
    except StoreError:
        pass  # a torn last line; of an ended trial the hashes are verified before
    return found
