"""Exports read back by our readers: what is not said to be lost is there, over all pairs of formats.

Authority: the definition itself. The readers are held to real files of the tools elsewhere.
"""

from __future__ import annotations

import math
import tempfile
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import assume, given, settings, strategies as st

from analysis.data.opening import Opened
from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.importers.export import (
    TARGETS,
    ExportedCell,
    ExportedData,
    ExportedProcess,
    Metric,
    exported_trial,
)
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.importing import import_files
from analysis.importers.registry import tool_of
from tests.examples import examples

READ_BACK = tuple(one.name for one in TARGETS)
TABLES = ("long-csv", "parquet")
# what became of a failed run -> the limit that ended it
FATES = {"failed": None, "timeout": None, "timeout of 0.5 s": 0.5}
WRITERS = {one.name: one.writer for one in TARGETS}
WALL = {"wall", "time", "real_time", "value", "elapsed"}

names = st.text(
    st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12
) | st.sampled_from(
    ["sort -n | uniq", "a/b:c", 'say "x", y', "#1", "BenchmarkÄ/n=3-8", "naïve 漢字"]
)
values = st.floats(1e-9, 1e6) | st.just(0.0) | st.integers(1, 10**7).map(lambda ns: ns / 1e9)


@st.composite
def exports(draw, *, variants=2, metrics=2):
    """Draw what leaves: ragged, some runs failed, several metrics, several sessions."""
    known = [Metric(name=draw(st.sampled_from(["time", "cpu_time"])), unit="s", better="lower")]
    if metrics > 1 and draw(st.booleans()):
        known.append(
            draw(
                st.sampled_from(
                    [
                        Metric(name="max_rss", unit="B", better="lower"),
                        Metric(name="ops per s", unit="1/s", better="higher"),
                    ]
                )
            )
        )
    samples = []
    sessions = draw(st.integers(1, 2))
    plain = draw(st.booleans())  # one value a run, as most tools have it
    for variant in draw(st.lists(names, min_size=1, max_size=variants, unique=True)):
        for bench in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
            runs = []
            for number in range(1, draw(st.integers(1, 4)) + 1):
                ok = draw(st.integers(0, 5)) > 0 or number == 1
                count = 1 if plain else draw(st.integers(1, 3))
                own = {
                    one.name: tuple(draw(st.lists(values, min_size=count, max_size=count)))
                    for one in known
                }
                runs.append(
                    ExportedProcess(
                        number=number,
                        values=own if ok or draw(st.booleans()) else {},
                        session=1 + (number - 1) * sessions // 4,
                        outcome="ok" if ok else draw(st.sampled_from(sorted(FATES))),
                        warmup=number > 1 and draw(st.integers(0, 5)) == 0,
                        exit_code=None if ok else 3,
                    )
                )
            samples.append(ExportedCell(benchmark=bench, variant=variant, runs=tuple(runs)))
    return ExportedData(name="drawn", metrics=tuple(known), samples=tuple(samples))


def opened(data, name="drawn.file"):
    return Opened(source=name, name=name, path=None, data=data)


def read_back(name, data):
    """Read an export as anybody's file: its format is found by its content."""
    found = opened(data)
    tool = tool_of(found)
    assert tool.name == name
    return tool.read(found)


def one_row(processes):
    """Give what a target without processes holds."""
    if len(processes) == 1:
        return list(processes[0])
    return [one[0] + math.fsum(value - one[0] for value in one) / len(one) for one in processes]


def write(name, exported):
    try:
        return WRITERS[name](exported)
    except UsageError as error:  # two names that the target cannot tell apart, or several variants
        assume("under one name" not in error.what)
        assume("one variant" not in error.what)
        assume("all values" not in error.what)
        assume("no time" not in error.what)
        raise


def assert_is_there(name, exported):
    """Hold what is read back against what left, in everything that is not said to be lost."""
    made = write(name, exported)
    lost = {one.code for one in made.lost}
    if name in TABLES:
        assert lost == set()
    cells = read_back(name, made.data).cells
    first = exported.metrics[0].name
    for metric in exported.metrics:
        if metric.name != first and "metrics-lost" in lost:
            continue
        # cells of the tables are those of one session
        mine = list(_of_metric(cells, metric, exported, lost, first))
        theirs = list(_exported_cells(exported, metric.name, apart=name in TABLES))
        if "zeros-lost" in lost:
            theirs = list(_without_zeros(theirs))
        assert len(mine) == len(theirs)
        for cell, (sample, processes, runs) in zip(mine, theirs, strict=True):
            _compare(name, cell, sample, processes, runs, metric, lost)


def _of_metric(cells, metric, exported, lost, first):
    names = list(dict.fromkeys(cell.metric for cell in cells))
    place = [one.name for one in exported.metrics].index(metric.name)
    if metric.name == first:
        wanted = names[0]
    elif metric.name in names:
        wanted = metric.name
    else:
        wanted = names[place]
    return (cell for cell in cells if cell.metric == wanted and cell.values)


def _exported_cells(exported, metric, *, apart):
    for sample in exported.samples:
        groups = {None: sample.runs}
        if apart:
            groups = {}
            for run in sample.runs:
                groups.setdefault(run.session, []).append(run)
        for runs in groups.values():
            part = ExportedCell(
                benchmark=sample.benchmark, variant=sample.variant, runs=tuple(runs)
            )
            if part.processes(metric):
                yield part, part.processes(metric), runs


def _without_zeros(theirs):
    for sample, processes, runs in theirs:
        kept = tuple(left for one in processes if (left := tuple(v for v in one if v)))
        if kept:
            yield sample, kept, runs


def _compare(name, cell, sample, processes, runs, metric, lost):
    if "names-changed" not in lost:
        assert cell.benchmark == sample.benchmark
        if cell.variant is not None:
            assert cell.variant == sample.variant
    if "processes-lost" in lost and name != "hyperfine":
        expected = [one_row(processes)]
    elif name == "hyperfine":
        expected = [[one_row([one, one])[0]] for one in processes]
    else:
        expected = [list(one) for one in processes]
    actual = [list(one) for one in cell.processes]
    if name == "go-bench" or "processes-lost" in lost:  # nanoseconds may differ in the last digit
        assert [len(one) for one in actual] == [len(one) for one in expected]
        flat = zip(chain(*actual), chain(*expected), strict=True)
        assert all(math.isclose(a, b, rel_tol=4e-16, abs_tol=0) for a, b in flat)
    else:
        assert actual == expected
    _compare_counts(name, cell, runs, metric, lost)


def _compare_counts(name, cell, runs, metric, lost):
    counted = [run for run in runs if not run.warmup]
    if "failed-lost" not in lost and cell.failed is not None:
        assert cell.failed == sum(not run.ok for run in counted)
    if not {"failed-lost", "limits-lost"} & lost:
        limits = [FATES[run.outcome] for run in counted if run.outcome.startswith("t")]
        assert [limit for _, limit, _ in cell.cut] == limits
    if "failed-lost" not in lost and cell.failed is None:
        assert all(run.ok for run in counted)
    if "warm-ups-lost" not in lost:
        # the reader counts values
        of_runs = [len(run.values.get(metric.name, ())) or 1 for run in runs if run.warmup]
        assert (cell.warmups or 0) == sum(of_runs)
    if "sessions-lost" not in lost:
        assert len({run.session for run in runs}) == 1
    if "units-lost" not in lost:
        assert (cell.unit, cell.better) == (metric.unit, metric.better)
    said = {"metric-name-lost", "names-changed"} & lost or name == "go-bench"
    if not said:
        assert cell.metric == metric.name or {cell.metric, metric.name} <= WALL


@pytest.mark.parametrize("name", READ_BACK)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_what_is_not_said_to_be_lost_is_read_back(name, data):
    many = name in (*TABLES, "hyperfine", "go-bench")
    assert_is_there(name, data.draw(exports(variants=2 if many else 1)))


@settings(max_examples=examples(80), deadline=None)
@given(data=st.data())
def test_over_all_pairs_what_was_read_is_written_and_read_again(data):
    first, second = (data.draw(st.sampled_from(READ_BACK)) for _ in range(2))
    file = read_back(first, write(first, data.draw(exports(variants=1))).data)
    assume(any(cell.values for cell in file.cells))
    gathered = gather([file], ReadingChoices(better="lower"))
    with tempfile.TemporaryDirectory() as place:
        import_files(gathered, Path(place) / "trial", better="lower")
        exported = exported_trial(read_trial(Path(place) / "trial"), [gathered.metrics[0]])
    assert_is_there(second, exported)


def test_a_loss_that_is_not_told_is_found():
    # negative control: the processes that hyperfine's file has no place for
    sample = ExportedCell(
        benchmark="b",
        variant="v",
        runs=(
            ExportedProcess(number=1, values={"time": (1.0, 2.0)}),
            ExportedProcess(number=2, values={"time": (3.0,)}),
        ),
    )
    metric = Metric(name="time", unit="s", better="lower")
    exported = ExportedData(name="x", metrics=(metric,), samples=(sample,))
    made = WRITERS["hyperfine"](exported)
    (cell,) = read_back("hyperfine", made.data).cells
    with pytest.raises(AssertionError):
        _compare("pyperf", cell, sample, sample.processes("time"), sample.runs, metric, set())
