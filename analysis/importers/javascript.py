"""Benchmark libraries of JavaScript: mitata, Benchmark.js, tinybench, and Vitest, which uses it.

Each keeps samples of one process, in units of its own: mitata nanoseconds, each the mean of a batch,
sorted, without the two slowest and the two fastest; Benchmark.js seconds, each the mean of a cycle, in
their order; tinybench milliseconds of single calls, sorted (of version 2 in ``result.samples``, since 6
only where they are retained). Vitest's own report (``--outputJson``) never has samples: its list of them
is always empty; a reporter of one's own can write what its tasks hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .parsing import (
    ForeignCell,
    ForeignFile,
    cautions_of,
    count_of,
    facts_of,
    object_of,
    objects_in,
    one_process,
    text_of,
    texts_of,
    within,
)

if TYPE_CHECKING:
    from ..data.opening import Opened

_MITATA, _BENCHMARKJS, _TINYBENCH, _VITEST = "mitata", "Benchmark.js", "tinybench", "Vitest"
_FACTORS = {_MITATA: 1e-9, _BENCHMARKJS: 1.0, _TINYBENCH: 1e-3, _VITEST: 1e-3}
_KEEPING = {
    _MITATA: "run({ format: { json: { samples: true, debug: false } } }) keeps them",
    _BENCHMARKJS: "write stats.sample of each benchmark too",
    _TINYBENCH: "new Bench({ retainSamples: true }) keeps them; write tasks.map(({ name, result }) => "
    "({ name, result }))",
    _VITEST: "Vitest's --outputJson never has them: set benchmark.includeSamples and let a reporter of "
    "your own write the whole task.result.benchmark of each task, in a list",
}
_LOOKED = 1000  # entries of a list, which may be a long table
_TRIMMED = 12  # of more samples than this mitata leaves out the two at each end


@dataclass(slots=True, kw_only=True)
class _Bench:
    """One benchmark as its library wrote it."""

    name: object
    at: str
    samples: object  # a list; None where it was not kept
    failed: bool = False
    inner: int | None = 1
    keys: dict[str, str] = field(default_factory=dict)


def knows_js(opened: Opened) -> bool:
    """Tell by the keys that each library gives to its results."""
    data = opened.structure()
    if data is None:
        return any(
            opened.mentions(*keys)
            for keys in (
                ("layout", "benchmarks", "runs"),
                ("result", "latency", "throughput"),
                ("stats", "sample", "rme"),
                ("files", "groups", "benchmarks", "filepath"),
            )
        )
    return _library(data) is not None


def _library(data: object) -> str | None:
    if isinstance(data, list):
        known = (_entry(one) for one in data[:_LOOKED] if isinstance(one, dict))
        return next((one for one in known if one is not None), None)
    if not isinstance(data, dict):
        return None
    if any(
        "name" in run and ("stats" in run or "error" in run)
        for one in objects_in(data.get("benchmarks"))
        for run in objects_in(one.get("runs"))
    ):
        return _MITATA
    groups = [
        group for file in objects_in(data.get("files")) for group in objects_in(file.get("groups"))
    ]
    if any(isinstance(group.get("benchmarks"), list) for group in groups):
        return _VITEST
    entries = [data, *(one for key, one in data.items() if key.isdecimal())]
    if any(isinstance(one, dict) and _entry(one) == _BENCHMARKJS for one in entries):
        return _BENCHMARKJS
    return None


def _entry(one: Mapping[str, Any]) -> str | None:
    """Tell which library wrote an entry of a list."""
    stats, result = one.get("stats"), one.get("result", one)
    if isinstance(stats, dict) and "rme" in stats and {"sample", "moe"} & stats.keys():
        return _BENCHMARKJS
    if isinstance(result, dict) and ("latency" in result or {"samples", "rme"} <= result.keys()):
        return _TINYBENCH if "latency" in result or "result" in one else _VITEST
    return None


def read_js(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark: one process with its samples."""
    data = opened.json()
    library = _library(data)
    if library is None:
        raise opened.fail("there is no benchmark in the file", "write it again, whole")
    benches = list(_BENCHES[library](data))
    session, facts = None, {}
    if library == _MITATA:
        session = text_of(within(data, "context", "now"))
        facts = facts_of(cpu_model=within(data, "context", "cpu", "name"))
    cells = tuple(_cell(opened, one, library, session) for one in benches)
    if not any(cell.values for cell in cells):
        raise opened.fail("no benchmark has a sample", "did every one fail?")
    inner = max((cell.inner or 1 for cell in cells), default=1)
    told = f"means of up to {inner} calls" if inner > 1 else "samples"
    return ForeignFile(
        cells=cells,
        losses=cautions_of(
            {
                "one-process": one_process(f"{told}, all from one process"),
                "order-unknown": library != _BENCHMARKJS
                and f"{library} sorts its samples: the order of measurement is not in the file",
                "trimmed": library == _MITATA
                and any(len(cell.values) > _TRIMMED - 4 for cell in cells)
                and "mitata leaves out the two slowest and the two fastest of more than "
                f"{_TRIMMED} samples",
                "no-sessions": "all samples are from one occasion",
                "warm-ups-unknown": "how much warm-up there was is not in the file",
            }
        ),
        facts=facts,
    )


def _cell(opened: Opened, one: _Bench, library: str, session: str | None) -> ForeignCell:
    if not isinstance(one.name, str) or not one.name:
        raise opened.fail("a benchmark has no name", "write its name next to its result", at=one.at)
    processes: tuple[tuple[float, ...], ...] = ()
    if not one.failed:
        if not isinstance(one.samples, list) or not one.samples:
            what = f"the samples of {one.name[:80]!r} were not kept"
            raise opened.fail(what, _KEEPING[library], at=one.at)
        values = opened.values(one.samples, f"{one.at} samples", factor=_FACTORS[library])
        processes = (values,)
    return ForeignCell(
        benchmark=one.name,
        processes=processes,
        known=True,
        inner=one.inner,
        failed=int(one.failed),
        session=session,
        keys=one.keys | {"name": one.name},
    )


def _of_mitata(data: Any) -> Iterator[_Bench]:  # noqa: ANN401 - JSON
    groups = [text_of(one.get("name")) for one in objects_in(data.get("layout"))]
    for k, bench in enumerate(data["benchmarks"]):
        if not isinstance(bench, dict):
            continue
        alias, place = text_of(bench.get("alias")) or "", count_of(bench.get("group"))
        group = groups[place] if place is not None and place < len(groups) else None
        for r, run in enumerate(objects_in(bench.get("runs"))):
            stats, args = object_of(run.get("stats")), texts_of(run.get("args"))
            own = [f"{key}={value}" for key, value in args.items() if f"${key}" not in alias]
            calls, samples = count_of(stats.get("ticks")), stats.get("samples")
            samples = samples if isinstance(samples, list) else []
            yield _Bench(
                name=_path(group, " ".join([text_of(run.get("name")) or "", *own])),
                at=f"benchmarks[{k}].runs[{r}]",
                samples=samples,
                failed=run.get("stats") is None and run.get("error") is not None,
                inner=max(1, calls // len(samples)) if calls and samples else None,
                keys=args | _grouped(group),
            )


def _of_benchmarkjs(data: Any) -> Iterator[_Bench]:  # noqa: ANN401 - JSON
    entries = (
        [(f"[{k}]", one) for k, one in enumerate(data)]
        if isinstance(data, list)
        else [("", data)]
        if "stats" in data
        else [(key, one) for key, one in data.items() if key.isdecimal()]  # a suite
    )
    for at, one in entries:
        if isinstance(one, dict):
            samples = within(one, "stats", "sample")
            yield _Bench(
                name=one.get("name"),
                at=at,
                samples=samples,
                failed=one.get("error") is not None or (samples == [] and not one.get("cycles")),
                inner=count_of(one.get("count")),
            )


def _of_tinybench(data: Any) -> Iterator[_Bench]:  # noqa: ANN401 - JSON
    for k, task in enumerate(objects_in(data)):
        result = object_of(task.get("result", task))
        yield _Bench(
            name=task.get("name"),
            at=f"[{k}]",
            samples=within(result.get("latency", result), "samples"),
            failed="error" in result or result.get("state") == "errored",
        )


def _of_vitest(data: Any) -> Iterator[_Bench]:  # noqa: ANN401 - JSON
    listed = [{"groups": [{"benchmarks": data}]}] if isinstance(data, list) else data["files"]
    for f, file in enumerate(objects_in(listed)):
        for g, group in enumerate(objects_in(file.get("groups"))):
            title = text_of(group.get("fullName"))
            for k, one in enumerate(objects_in(group.get("benchmarks"))):
                if title is None and "mean" not in one and one.get("rank") == 0:
                    continue  # what a task of Vitest holds for a group
                yield _Bench(
                    name=_path(title, text_of(one.get("name")) or ""),
                    at=f"[{k}]" if title is None else f"files[{f}].groups[{g}].benchmarks[{k}]",
                    samples=one.get("samples"),
                    failed="mean" not in one,
                    keys=_grouped(title),
                )


_BENCHES = {
    _MITATA: _of_mitata,
    _BENCHMARKJS: _of_benchmarkjs,
    _TINYBENCH: _of_tinybench,
    _VITEST: _of_vitest,
}


def _path(group: str | None, name: str) -> str:
    return f"{group} > {name}" if group and name else name


def _grouped(group: str | None) -> dict[str, str]:
    return {"group": group} if group else {}
