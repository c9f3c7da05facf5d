"""Benchmark tools of Python: pyperf and pytest-benchmark.

A run object without ``values`` calibrates and is no measurement. In a run's metadata, and in that of
the file, ``values`` and ``warmups`` are counts. Metadata that all benchmarks share stand at the top.
Files before version 6 call the values ``samples`` and the shared metadata ``common_metadata``.

``stats.data`` holds the rounds; it is there with ``--benchmark-json``, and in autosaved files only
with ``--benchmark-save-data``. A test that failed after its benchmark stands there like any other, and
nothing tells it apart; one whose benchmark itself raised is not in the file. ``options.warmup`` says
nothing of what a pedantic benchmark did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..data.opening import Opened
from ..pages import number_format as figures
from ..pages.model import Caution
from .parsing import (
    ForeignCell,
    ForeignFile,
    cautions_of,
    count_of,
    facts_of,
    object_of,
    objects_in,
    one_process,
    several_hosts,
    text_of,
    texts_of,
    within,
)

if TYPE_CHECKING:
    from ..record.run_numbers import Better

_UNITS: Mapping[str, tuple[str, Better | None]] = {
    "second": ("s", "lower"),
    "byte": ("B", "lower"),
    "integer": ("", None),
}
_EMPTY = "there is no benchmark in the file"
_OF_RUN = frozenset(("metadata", "values", "samples", "warmups"))
_NO_KEYS = ("loops", "inner_loops", "name", "unit", "values", "warmups", "date", "duration")


def knows_pyperf(opened: Opened) -> bool:
    """Tell by benchmarks that hold runs."""
    data = opened.structure()
    if data is None:
        return opened.mentions("benchmarks", "runs") and (
            opened.mentions("warmups") or opened.mentions("values")
        )
    return any(_are_runs(one.get("runs")) for one in objects_in(within(data, "benchmarks")))


def _are_runs(runs: object) -> bool:
    """Tell runs with what pyperf writes of each from other tools' lists of that name."""
    if not isinstance(runs, list):
        return False
    return not runs or any(isinstance(run, dict) and not _OF_RUN.isdisjoint(run) for run in runs)


def read_pyperf(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, a process for each of its runs."""
    data = opened.json()
    benchmarks = opened.list_at(data, "benchmarks", _EMPTY, "write it again with pyperf -o")
    shared = object_of(data.get("metadata"))
    found = [
        _pyperf_cell(opened, one, shared, f"benchmarks[{k}]") for k, one in enumerate(benchmarks)
    ]
    cells = tuple(cell for cell in found if cell.processes)
    only = [cell.benchmark for cell in found if not cell.processes]
    if not cells:
        raise opened.fail(
            f"no benchmark has values: {only[0]!r} was only calibrated",
            "measure it, without --calibrate-loops",
        )
    about = shared | object_of(benchmarks[0].get("metadata"))
    inner = [cell.inner for cell in cells if cell.inner is not None and cell.inner > 1]
    left = [Caution("left-out", f"{one!r} was only calibrated: it has no values") for one in only]
    return ForeignFile(
        cells=cells,
        losses=cautions_of(
            {
                "means-of-loops": inner != []
                and f"each value is the mean of {figures.span(inner)} loops: single iterations "
                "cannot be seen",
                "failed-unknown": "pyperf keeps no failed runs",
                "no-sessions": "all processes stem from one occasion",
            }
        ),
        notes=(*left, *_hosts(benchmarks, shared)),
        facts=facts_of(about.get("hostname"), about.get("cpu_model_name"))
        | _begin(benchmarks, shared),
    )


def _begin(benchmarks: list[Any], shared: Mapping[str, Any]) -> dict[str, str]:
    """Give when the first run was made: a time that stands with each of them."""
    dates = [
        str(about["date"])
        for bench in benchmarks
        for run in bench["runs"]
        if "date" in (about := {**shared, **object_of(run.get("metadata"))})
    ]
    return {"date": min(dates)} if dates else {}


def _hosts(benchmarks: list[Any], shared: Mapping[str, Any]) -> Iterator[Caution]:
    """Say that runs stem from several hosts, as in files that pyperf appended to on each."""
    names = dict.fromkeys(
        name
        for bench in benchmarks
        for run in bench["runs"]
        for about in (shared, object_of(bench.get("metadata")), object_of(run.get("metadata")))
        if isinstance(name := about.get("hostname"), str)
    )
    if len(names) > 1:
        fix = "are taken as those of one: give each host a file of its own"
        yield several_hosts("the runs stem from", tuple(names), fix)


def _pyperf_cell(opened: Opened, bench: Any, shared: Mapping[str, Any], at: str) -> ForeignCell:  # noqa: ANN401 - JSON
    if not isinstance(bench, dict) or not isinstance(bench.get("runs"), list):
        raise opened.fail("a benchmark has no runs", at=at)
    about = {
        **shared,
        **object_of(bench.get("common_metadata")),
        **object_of(bench.get("metadata")),
    }
    runs = bench["runs"]
    name = about.get("name")
    if name is None and runs:
        name = object_of(object_of(runs[0]).get("metadata")).get("name")
    if not isinstance(name, str):
        raise opened.fail("a benchmark has no name", "give one with pyperf --name", at=at)
    said = about.get("unit", "second")
    if not isinstance(said, str):
        raise opened.fail("the unit of a benchmark is not text", at=at)
    unit, better = _UNITS.get(said, (said, None))
    processes, warmups, loops = [], 0, []
    for k, run in enumerate(runs):
        where = f"{at}.runs[{k}]"
        opened.require(isinstance(run, dict), "a run is not an object", at=where)
        key = "values" if "values" in run else "samples"
        given = run.get(key, [])
        opened.require(isinstance(given, list), "its values are not a list", at=where)
        if not given:
            continue  # it calibrated
        processes.append(opened.values(given, f"{where}.{key}"))
        warm = run.get("warmups")
        warmups += len(warm) if isinstance(warm, list) else 0
        own = {**about, **object_of(run.get("metadata"))}
        count, within = count_of(own.get("loops")), count_of(own.get("inner_loops", 1))
        if count is not None and within is not None:
            loops.append(count * within)
    return ForeignCell(
        benchmark=name,
        metric="time" if unit == "s" else "memory" if unit == "B" else "value",
        unit=unit,
        better=better,
        processes=tuple(processes),
        known=True,
        inner=1 if unit == "B" else max(loops, default=None),  # a process has one peak of memory
        warmups=warmups,
        keys={key: text for key, text in texts_of(about).items() if key not in _NO_KEYS}
        | {"name": name},
    )


_CSV = re.compile(r"^name,.*(?:\bmin,max,mean,stddev\b|\boutliers\b|\brounds,iterations\b)")
_CPU_TIMERS = ("process_time", "thread_time", "clock")
_KEPT = "export with --benchmark-json=FILE, or save with --benchmark-save-data"


def knows_pytest_benchmark(opened: Opened) -> bool:
    """Tell by the file's own keys, or by the headings of its CSV."""
    data = opened.structure()
    if data is None:
        return bool(_CSV.match(opened.head())) or (
            opened.mentions("machine_info")
            and (opened.mentions("stats") or not opened.mentions("runs"))
        )
    benchmarks = within(data, "benchmarks")
    return any(isinstance(one.get("stats"), dict) for one in objects_in(benchmarks)) or (
        benchmarks == [] and "machine_info" in data
    )


def read_pytest_benchmark(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark: one process with its rounds."""
    if opened.structure() is None and _CSV.match(opened.head()):
        raise opened.fail("pytest-benchmark's CSV holds summaries only, no rounds", _KEPT)
    data = opened.json()
    given = opened.list_at(data, "benchmarks", _EMPTY, "was every test deselected?")
    session = text_of(data.get("datetime"))
    commit = object_of(data.get("commit_info"))  # what all benchmarks of the file share
    shared = texts_of({"commit": commit.get("id"), "branch": commit.get("branch")})
    cells = tuple(
        _pytest_cell(opened, one, f"benchmarks[{k}]", session, shared)
        for k, one in enumerate(given)
    )
    told = figures.span(cell.inner or 1 for cell in cells)
    cpu = object_of(within(data, "machine_info", "cpu"))
    return ForeignFile(
        cells=cells,
        losses=cautions_of(
            {
                "one-process": one_process(f"rounds of {told} iterations, all from one process"),
                "no-sessions": "all rounds stem from one occasion",
                "warm-ups-unknown": "how many warm-up rounds there were is not in the file",
                "failed-unknown": "a test that failed after its benchmark is in the file like any other; a test that failed within its benchmark is not",
            }
        ),
        facts=facts_of(
            within(data, "machine_info", "node"), cpu.get("brand_raw", cpu.get("brand"))
        ),
    )


def _pytest_cell(
    opened: Opened,
    bench: Any,  # noqa: ANN401 - JSON
    at: str,
    session: str | None,
    shared: dict[str, str],
) -> ForeignCell:
    stats = within(bench, "stats")
    if not isinstance(stats, dict):
        raise opened.fail("a benchmark has no stats", at=at)
    rounds = stats.get("data")
    if not isinstance(rounds, list) or not rounds:
        raise opened.fail("the benchmark holds a summary only, no rounds", _KEPT, at=at)
    name = bench.get("fullname") or bench.get("name")
    opened.require(isinstance(name, str), "a benchmark has no name", at=at)
    timer = text_of(within(bench, "options", "timer"))
    way = texts_of(bench.get("params")) | {"timer": timer or ""}
    own = {"fullname": name, "name": bench.get("name"), "group": bench.get("group"), "timer": timer}
    return ForeignCell(
        benchmark=name,
        metric="cpu_time" if timer in _CPU_TIMERS else "time",
        processes=(opened.values(rounds, f"{at}.stats.data"),),
        known=True,
        inner=count_of(stats.get("iterations")),
        session=session,
        definition=", ".join(f"{key}={text}" for key, text in way.items() if text),
        keys=shared
        | texts_of(bench.get("extra_info"))
        | texts_of(bench.get("params"))
        | texts_of(own),
    )
