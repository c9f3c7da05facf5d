"""Files that the tools wrote, exported to every target and read again.

Authority: the values of the files, as their readers, which are tested elsewhere, give them.
"""

from __future__ import annotations

import pytest

from analysis.data.opening import Opened
from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.importers.export import TARGETS, exported_trial
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.importing import import_files
from analysis.importers.registry import read_foreign

FILES = (
    "hyperfine/two-commands.json",
    "hyperfine/parameter-list.json",
    "pyperf/base.json",
    "go-bench/old.txt",
    "google-benchmark/old.json",
    "pytest-benchmark/full-json.json",
    "rebench/rebench.data",
    "benchexec/table.csv",
    "criterion",
)
OURS = ("r-bench.csv", "benchmarkdotnet-0.15.json", "mitata.json", "tinybench.json")
# what holds processes and their values as they are
WHOLE = ("long-csv", "parquet", "go-bench")


def cells_of(gathered, metric):
    """Give the values of each cell, those of its processes apart, whatever their sessions."""
    found = {}
    for one in gathered.cells:
        if one.cell.metric == metric and one.cell.values:
            rows = one.cell.processes
            if not one.cell.known:
                rows = tuple((value,) for value in one.cell.values)
            found.setdefault((one.variant, one.benchmark), []).extend(rows)
    return found


def made_or_none(target, exported):
    """Give None where the target is of one variant, or of times."""
    try:
        return target.writer(exported)
    except UsageError as error:
        if "one variant" in error.what or "holds times" in error.what:
            return None
        raise


@pytest.mark.parametrize("name", FILES + OURS)
def test_what_a_tool_wrote_is_read_again_from_every_target(
    name, read_sample, read_golden, tmp_path
):
    file = read_golden(name) if name in OURS else read_sample(name)
    gathered = gather([file], ReadingChoices())
    import_files(gathered, tmp_path / "trial", better="lower")
    exported = exported_trial(read_trial(tmp_path / "trial"))
    metric = exported.metrics[0].name
    before = cells_of(gathered, metric)
    assert before
    written = 0
    for target in TARGETS:
        made = made_or_none(target, exported)
        if made is None:
            continue
        written += 1
        again = Opened(source="x", name="x", path=None, data=made.data)
        after = cells_of(
            gathered := gather([read_foreign(again)], ReadingChoices()), gathered.metrics[0]
        )
        assert len(after) == len(before)
        values = [sorted(v for row in rows for v in row) for rows in after.values()]
        if target.name in WHOLE:
            assert [len(rows) for rows in after.values()] == [len(rows) for rows in before.values()]
        if target.name in WHOLE or all(len(row) == 1 for rows in before.values() for row in rows):
            wanted = [sorted(v for row in rows for v in row) for rows in before.values()]
            for mine, theirs in zip(values, wanted, strict=True):
                assert mine == pytest.approx(theirs, rel=1e-15, abs=0)
    assert written >= len(WHOLE)
