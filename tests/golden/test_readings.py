"""What the readers make of each sample stays: its values, sums, units, directions, and what it is read as.

Authority: the readers of 5cc6f0a3, whose values were held against the tools' own libraries, and against a count by
hand of each file in ``tests/data/tools``. A factor that is wrong (KiB for B) shows in a sum, all else of a cell in
``cells``. ``python -m tests.golden.test_readings`` writes the lines anew: read the difference. Files that lie beside
this project have lines here, and are never copied into it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import FairtrialError
from analysis.importers.registry import read_foreign

TESTS = Path(__file__).resolve().parents[1]
SHARED = TESTS.parents[1] / "shared"
GOLDEN = Path(__file__).with_name("readings.jsonl")
PLACES = {
    "ours": (TESTS / "golden" / "foreign", TESTS / "data" / "tools"),
    "shared": (SHARED / "samples", SHARED / "datasets"),
}
FOLDERS = ("asv", "criterion")
MOST = 60_000  # bytes of a file that is read at every test
DIGITS = 12


def sources(place: str) -> Iterator[tuple[str, Path]]:
    """Give the samples with their names in the table."""
    for root in PLACES[place]:
        there = sorted(path for path in root.rglob("*") if path.name != "README.md")
        for path in there:
            if path.is_file() and path.stat().st_size <= MOST:
                yield f"{root.name}/{path.relative_to(root).as_posix()}", path
        yield from (
            (f"{root.name}/{name}", root / name) for name in FOLDERS if (root / name).is_dir()
        )


def reading(path: Path) -> dict[str, Any]:
    """Say what a file is read as: of each metric, unit and direction the cells, values and their sum."""
    try:
        found = read_foreign(open_foreign(str(path)))
    except FairtrialError as error:
        return {"refused": type(error).__name__}
    metrics: dict[str, list[Any]] = {}
    names = hashlib.sha256()
    cells = hashlib.sha256(repr(sorted(found.facts.items())).encode())
    for cell in found.cells:
        names.update(repr((cell.benchmark, cell.variant, cell.session, cell.labels)).encode())
        runs = [[f"{value:.{DIGITS}g}" for value in process] for process in cell.processes]
        keys = (sorted(cell.keys.items()), cell.definition)
        about = (runs, cell.known, cell.blocks, cell.cut, *keys)
        cells.update(repr((cell.metric, cell.unit, cell.failed, cell.warmups, *about)).encode())
        key = f"{cell.metric} [{cell.unit}] {cell.better}"
        one = metrics.setdefault(key, [0, 0, 0, 0, 0, []])
        for place, number in enumerate(
            (1, len(cell.values), len(cell.processes) * cell.known, cell.failed, cell.warmups)
        ):
            one[place] += number or 0
        one[5] += cell.values
    return {
        "format": found.format,
        "variant": found.variant_rule,
        "metrics": {key: [*one[:5], round_sum(one[5])] for key, one in metrics.items()},
        "names": names.hexdigest()[:12],
        "cells": cells.hexdigest()[:12],
        "codes": sorted({one.code for one in (*found.losses, *found.notes)}),
    }


def round_sum(values: list[float]) -> str:
    """Give the sum in so many digits, which every order of the values has."""
    return f"{math.fsum(values):.{DIGITS}g}"


def lines() -> dict[str, dict[str, Any]]:
    return dict(map(json.loads, GOLDEN.read_text().splitlines()))


@pytest.mark.parametrize("place", PLACES)
def test_samples_are_read_as_before(place: str) -> None:
    if place == "shared" and not SHARED.is_dir():
        pytest.skip("files of other tools are not beside this project")
    roots = {root.name for root in PLACES[place]}
    stored = {name: line for name, line in lines().items() if name.partition("/")[0] in roots}
    assert {name: reading(path) for name, path in sources(place)} == stored


if __name__ == "__main__":
    every = [pair for place in PLACES for pair in sources(place)]
    GOLDEN.write_text("".join(f"{json.dumps((name, reading(path)))}\n" for name, path in every))
