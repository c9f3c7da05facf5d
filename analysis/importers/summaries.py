"""Files of summaries only: each is refused with what would keep the runs.

Bencher's Metric Format, what github-action-benchmark collects, and reports of the load generators k6,
fio and sysbench. Of a load generator one execution gives one throughput, and percentiles of dependent
requests: its runs are executions, each a row of a long CSV.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .parsing import ForeignFile

if TYPE_CHECKING:
    from ..data.opening import Opened

_LOAD = (
    "execute it several times, by 'fairtrial run' with a metric parsed from its output, or give a "
    "long CSV a row for each execution: benchmark, variant, run, value, better"
)
_SAID: dict[str, tuple[str, str]] = {
    "bencher": (
        "Bencher's Metric Format holds one value of each measure, perhaps with its bounds, no runs",
        "give the file of the benchmark tool itself, from which it was made",
    ),
    "github-action": (
        "what github-action-benchmark collects is one value of each benchmark, with its range, no runs",
        "give the file of the benchmark tool itself, from which it was made",
    ),
    "k6": ("k6's summary holds averages and percentiles of one execution, no runs", _LOAD),
    "fio": ("fio's report holds averages and percentiles of one execution, no runs", _LOAD),
    "sysbench": ("sysbench's report holds averages of one execution, no runs", _LOAD),
}
_K6_PRINTED = re.compile(r"\.\.\.: avg=\S+ +min=\S+ +med=")
_SYSBENCH = re.compile(r"^sysbench \d+\.\d+", re.MULTILINE)
_FIO = re.compile(r"^fio-\d+\.\d+|^\{\s*\"fio version\"", re.MULTILINE)
_COLLECTED = "window.BENCHMARK_DATA"
_COLUMNS = {"name", "unit", "value"}


def knows_summaries(opened: Opened) -> bool:
    """Tell by keys, or by the first line, of each of these tools."""
    return _kind(opened) is not None


def read_summaries(opened: Opened) -> ForeignFile:
    """Refuse the file."""
    kind = _kind(opened)
    if kind is None:
        raise opened.fail("it is none of these summaries", "leave out --format")
    raise opened.fail(*_SAID[kind])


def _kind(opened: Opened) -> str | None:
    if opened.is_folder:
        return None
    head = opened.head()
    if _FIO.search(head):
        return "fio"
    if _SYSBENCH.match(head):
        return "sysbench"
    if head.lstrip().startswith(_COLLECTED):
        return "github-action"
    data = opened.structure()
    if isinstance(data, list):
        told = all(isinstance(one, dict) and one.keys() >= _COLUMNS for one in data)
        return "github-action" if told and any("range" in one for one in data) else None
    if isinstance(data, dict):
        metrics = data.get("metrics")
        if isinstance(metrics, dict) and ("root_group" in data or "iterations" in metrics):
            return "k6"
        return "bencher" if _is_bencher(data) else None
    return "k6" if _K6_PRINTED.search(head) else None


def _is_bencher(data: dict[str, Any]) -> bool:
    """Tell by names of benchmarks that hold measures by name, each of which has a value."""
    measures = [measure for one in data.values() for measure in _measures(one)]
    return bool(measures) and all(
        isinstance(measure, dict) and "value" in measure for measure in measures
    )


def _measures(benchmark: object) -> list[Any]:
    """Give the measures of a benchmark, since version 1 those of each choice of its parameters."""
    if not isinstance(benchmark, list):
        return list(benchmark.values()) if isinstance(benchmark, dict) else [None]
    found = [one.get("measures") if isinstance(one, dict) else None for one in benchmark]
    return [measure for one in found for measure in (_measures(one) if one else [None])]


def knows_catch2(opened: Opened) -> bool:
    """Tell by the root element, or by results of benchmarks."""
    head = opened.head()
    return re.search(r"<Catch(2TestRun)?\b", head) is not None or "<BenchmarkResults" in head


def read_catch2(opened: Opened) -> ForeignFile:
    """Refuse the file: it has means and bounds, no samples."""
    raise opened.fail(
        "Catch2's reports hold summaries of benchmarks only, no samples",
        "write the samples with a reporter of your own (benchmarkEnded gives them all), or let "
        "'fairtrial run' execute the test binary with one benchmark a run",
    )


_TEXT = re.compile(r"^test \S.* \.\.\. bench:\s+[\d,.]+ ns/iter", re.MULTILINE)
_JSON = re.compile(r'"type"\s*:\s*"bench"')


def knows_libtest(opened: Opened) -> bool:
    """Tell by a result's line."""
    head = opened.head()
    return _TEXT.search(head) is not None or ("{" in head and _JSON.search(head) is not None)


def read_libtest(opened: Opened) -> ForeignFile:
    """Refuse the file: it has a median and a range, no samples."""
    raise opened.fail(
        "libtest keeps a median and a range of each benchmark, no samples",
        "use criterion (its sample.json keeps them), or let 'fairtrial run' execute the benchmark",
    )
