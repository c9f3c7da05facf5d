"""Damaged files of other tools, gathered with whole ones by any key: refused in our words, or a trial.

Authority: the definition: a trial that was imported can be read, judged and exported; a copy beside it
adds nothing; whatever is wrong is one of our own errors.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from random import Random

import foreign_seeds
import mutants
import pytest

from analysis.data.opening import open_foreign
from analysis.data.trial import read_trial
from analysis.errors import FairtrialError
from analysis.importers.export import TARGETS, exported_trial
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.importing import import_files, inspect_files
from analysis.importers.registry import read_foreign
from tests.examples import drawn_seed, examples


def chosen_by(rng: Random, files) -> ReadingChoices:
    """Choose mostly what is there."""
    cells = [cell for file in files for cell in file.cells]
    there = set.intersection(*(set(cell.keys) for cell in cells))
    keys = [None, None, None, "file", "folder", *sorted(there)]
    if rng.random() < 0.05:
        keys = ["no such key"]
    unwritten = any(cell.better is None for cell in cells)
    better = ("lower", "higher") if unwritten else (None, None, None, None, "lower", "higher")
    metrics = dict.fromkeys(cell.metric for cell in cells)
    return ReadingChoices(
        variant=rng.choice(keys),
        benchmark=rng.choice(keys),
        session=rng.choice(keys),
        metric=rng.choice((None, None, *metrics)),
        better=rng.choice(better),
    )


def count_of(cell) -> int:
    """Count values, and the lower bounds of runs that a time limit ended."""
    return len(cell.values) + sum(bool(bound) for bound, _, _ in cell.cut)


def attempt(folder, names, rng: Random) -> str:
    """Do with files what a person may do; say what came of it."""
    files = [read_foreign(open_foreign(str(folder / name))) for name in names]
    chosen = chosen_by(rng, files)
    gathered = gather(files, chosen)
    told = inspect_files(gathered)
    json.dumps(told.to_dict(), allow_nan=False)
    str(told)
    made = folder / "made"
    try:
        import_files(gathered, made, better=chosen.better)
        trial = read_trial(made)
        assert {row.benchmark for row in gathered.cells} >= set(trial.manifest.benchmarks)
        cells = [one.cell for one in gathered.cells if one.cell.metric in trial.metrics]
        values = sum(map(count_of, cells))
        assert sum(column.values.size for column in trial.metrics.values()) == values
        leaving = exported_trial(trial)
        for target in TARGETS:
            try:
                data = target.writer(leaving).data
            except FairtrialError:
                continue
            if target.name in ("long-csv", "parquet"):
                (folder / "again").write_bytes(data)
                again = gather(
                    [read_foreign(open_foreign(str(folder / "again")))], ReadingChoices()
                )
                stored = sum(count_of(one.cell) for one in again.cells)
                assert stored <= values
                lost = {"one-variant-twice", "one-result-twice"}
                # a table takes no bound of a run whose limit nobody knows
                known = all(limit for one in cells for _, limit, _ in one.cut)
                if known and not lost & {caution.code for caution in again.cautions}:
                    assert stored == values
    finally:
        shutil.rmtree(made, ignore_errors=True)
        (folder / "again").unlink(missing_ok=True)
    return "made"


def fuzz(folder, count: int, seed: int) -> Counter[str]:
    foreign_seeds.seed_foreign(folder)
    seeds = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    rng = Random(f"gathered/{seed}")
    results: Counter[str] = Counter()
    for _ in range(count):
        name, other = rng.choice(sorted(seeds)), rng.choice(sorted(seeds))
        if rng.random() < 0.7:
            other = name  # the whole file beside its damaged copy
        damaged = folder / "copies" / name
        damaged.parent.mkdir(parents=True, exist_ok=True)
        damaged.write_bytes(mutants.damaged_numbers(seeds[name], rng))
        names = [other, f"copies/{name}", name][rng.randint(0, 2) :]
        rng.shuffle(names)
        try:
            results[attempt(folder, names, rng)] += 1
        except FairtrialError as error:
            str(error).encode("utf-8", "backslashreplace")
            results["refused"] += 1
        shutil.rmtree(folder / "copies")
    return results


@pytest.mark.hypothesis  # `make search` executes it too
def test_whatever_is_gathered_there_is_no_traceback(tmp_path) -> None:
    count, seed = examples(300), drawn_seed()
    found = fuzz(tmp_path, count, seed)
    assert found.total() == count
    assert min(found["made"], found["refused"]) > count / 10, seed  # both are reached
