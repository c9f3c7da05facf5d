"""What is exported: every run of every benchmark and variant of SOURCE, and files of it for other tools.

These are a long CSV, Parquet, the JSON of hyperfine and pyperf, and text for benchstat: each target is a row of `TARGETS`,
and a function that gives the bytes and what they cannot hold.

In hyperfine's file times of failed runs stand among the others, as hyperfine has them; its means here are
without them. Benchmark and variant stand in ``parameters``, as those of a parameter list would. For benchstat, the
k-th runs of all benchmarks stand together and end with ``PASS``, as one execution of a test binary does; the
configuration key ``variant`` tells variants apart (``benchstat -col variant``).
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data.opening import readable
from ..errors import AnalysisError, UsageError, library_needed
from ..pages.model import Caution, cautions_of
from ..pages.number_format import counted, listed
from ..record.printer import STDOUT
from .parsing import losses_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..data.matrix import PerformanceMatrix
    from ..data.trial import Trial
    from ..record.run_numbers import Better
    from .reader import Reading


class Metric(NamedTuple):
    """What was measured: its name, its unit, and which direction is better."""

    name: str
    unit: str
    better: Better


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedProcess:
    """One process.

    `number`: From 1, in the order of execution where that is known. `values`: By metric, the
    iterations; a run that failed may have none, of one that a time limit ended they are lower bounds.
    `session`, `block`: None where nobody knows. `outcome`: ``ok``, ``failed``, or ``timeout``, with the limit
    where it is known: ``timeout of 10.0 s``. `warmup`: Whether it does not count. `exit_code`: Of a run
    that failed. `user`, `system`: Its seconds of CPU time, by the kernel's account.
    """

    number: int
    values: Mapping[str, tuple[float, ...]]
    session: int | str | None = None
    block: int | None = None
    outcome: str = "ok"
    warmup: bool = False
    exit_code: int | None = None
    user: float | None = None
    system: float | None = None

    @property
    def ok(self) -> bool:
        """Whether the run did what it should."""
        return self.outcome == "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedCell:
    """The runs of one benchmark and variant."""

    benchmark: str
    variant: str
    runs: tuple[ExportedProcess, ...]

    def processes(self, metric: str) -> tuple[tuple[float, ...], ...]:
        """Give the values that count, those of each run in an inner tuple."""
        return tuple(of for run in self.counted if (of := run.values.get(metric)))

    @property
    def counted(self) -> tuple[ExportedProcess, ...]:
        """The runs that count: no warm-ups, none that failed."""
        return tuple(run for run in self.runs if run.ok and not run.warmup)

    @property
    def failed(self) -> tuple[ExportedProcess, ...]:
        """The runs that failed, but for warm-ups."""
        return tuple(run for run in self.runs if not run.ok and not run.warmup)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedData:
    """All samples of one source; the first metric is the one that targets of one metric take.

    `beyond`: What no target has a place for, and a verdict on the file cannot know.
    """

    name: str
    metrics: tuple[Metric, ...]
    samples: tuple[ExportedCell, ...]
    host: str | None = None
    cpu_model: str | None = None
    beyond: tuple[Caution, ...] = ()

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants in their order."""
        return tuple(dict.fromkeys(sample.variant for sample in self.samples))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks in their order."""
        return tuple(dict.fromkeys(sample.benchmark for sample in self.samples))


def exported_trial(
    trial: Trial, metrics: Sequence[str] = (), variants: Sequence[str] = ()
) -> ExportedData:
    """Take the runs of a trial, with its warm-ups and failed runs."""
    manifest = trial.manifest
    # the first one is the baseline where a file does not say it
    known = tuple(dict.fromkeys((manifest.baseline, *manifest.variants)))
    if (other := next((one for one in variants if one not in known), None)) is not None:
        what = f"the trial has no variant {other!r}"
        raise UsageError(what, str(trial.path), f"known here: {', '.join(map(format, known))}")
    wall = () if manifest.origin == "imported" else ("wall",)
    asked = manifest.questions or ()  # first: who reads the file back judges it
    names = tuple(metrics) or tuple(dict.fromkeys((*asked, *wall, *manifest.metrics)))
    found = tuple(Metric(name, *trial.metric(name)) for name in names)
    rows = _runs(trial, names)
    named = [name for name in known if name in (variants or known)]
    cells = ((bench, name) for name in named for bench in manifest.benchmarks)
    samples = tuple(
        ExportedCell(benchmark=readable(cell[0]), variant=readable(cell[1]), runs=tuple(rows[cell]))
        for cell in cells
        if cell in rows
    )
    if not any(sample.processes(names[0]) for sample in samples):
        what = f"no run that counts has a value of {names[0]!r}"
        raise AnalysisError(what, str(trial.path), "name another --metric")
    return ExportedData(
        name=readable(manifest.trial),
        metrics=found,
        samples=samples,
        host=manifest.host if manifest.host != "unknown" else None,
        cpu_model=manifest.cpu_model,
        beyond=_beyond(trial, names, variants or known),
    )


def _beyond(trial: Trial, names: Sequence[str], variants: Sequence[str]) -> tuple[Caution, ...]:
    """Say what no target can hold of these metrics and variants of a trial."""
    manifest, plan = trial.manifest, trial.manifest.looks_plan
    mine = [manifest.variants[k] in variants for k in trial.variant.tolist()]
    appended = len(manifest.appended)
    repeats = plan is not None and plan.rule != "planned"
    looks = sum(n <= manifest.sessions for n in plan.looks) if plan is not None and repeats else 0
    judged = ((name, trial.judged_iterations(name)) for name in names)
    cut = tuple(f"{name}: {of.setting}" for name, of in judged if of and of.setting != 0)
    never = {(one.benchmark, one.variant) for one in manifest.given_up if one.never_ok}
    never &= {(bench, variant) for bench in manifest.benchmarks for variant in variants}
    repeated = sum(own and not one for own, one in zip(mine, trial.chosen.tolist(), strict=True))
    stored = {row for name in names for row in trial.stored.get(name, ())}
    means = sum(bool(mine[row] and trial.chosen[row]) for row in stored)
    holding = {
        "looks-lost": looks and not appended,
        "hosts-lost": any(one.code == "sessions-of-hosts" for one in trial.cautions),
        "warmup-lost": cut,
        "never-ok-lost": never,
        "single-values-lost": means,
        "repeats-lost": repeated,
    }
    counts = {"look": looks, "time": appended, "cell": len(never), "run": means}
    texts: dict[str, object] = {word: counted(n, word) for word, n in counts.items()}
    texts |= {"repeated": counted(repeated, "run"), "cut": listed(cut, 3)}
    first = losses_of("appended", {"looks-lost": appended}, texts)
    return (*first, *losses_of("beyond", holding, texts))


def _runs(trial: Trial, metrics: Sequence[str]) -> dict[tuple[str, str], list[ExportedProcess]]:
    import numpy as np

    from ..data.trial import cut_rows

    manifest = trial.manifest
    imported = manifest.origin == "imported"
    values = {name: _values(trial, name) for name in metrics}
    bounds, stopped = {}, {}
    for name in metrics:
        cut, limits, known = cut_rows(trial, name)
        bounds[name] = _known(np.where(cut, known, np.nan))
        for k in np.flatnonzero(cut).tolist():
            stopped[k] = "timeout" + f" of {limits[k]} s" * math.isfinite(limits[k])
    user, system = (_known(trial.numbers.get(name)) for name in ("user_s", "system_s"))
    codes = {run.position: run.exit_code for run in trial.failed}
    # of a run that was repeated, the row that every method takes; a warm-up that was repeated has no
    # place in the plan, and stays behind what was executed before it
    place = trial.planned_position
    order = np.argsort(np.where(place < 0, np.maximum.accumulate(place), place), kind="stable")
    order = order[trial.chosen[order]]
    rows: dict[tuple[str, str], list[ExportedProcess]] = {}
    for number, k in enumerate(order.tolist(), 1):
        cell = manifest.benchmarks[trial.benchmark[k]], manifest.variants[trial.variant[k]]
        takes = bounds if k in stopped else values
        rows.setdefault(cell, []).append(
            ExportedProcess(
                number=number,
                values={name: of for name, take in takes.items() if (of := take(k))},
                session=int(trial.session[k]),
                block=None if imported and not trial.block[k] else int(trial.block[k]),
                outcome="ok" if trial.outcome[k] == 0 else stopped.get(k, "failed"),
                warmup=bool(trial.warmup[k]),
                exit_code=codes.get(int(trial.position[k])),
                user=next(iter(user(k)), None),
                system=next(iter(system(k)), None),
            )
        )
    return rows


def _values(trial: Trial, metric: str) -> Callable[[int], tuple[float, ...]]:
    if metric not in trial.metrics:
        return _known(trial.values(metric))
    column, apart = trial.metrics[metric], trial.apart(metric)
    return lambda k: () if apart[k] else tuple(column.of_run(k).tolist())


def _known(column: NDArray[np.float64] | None) -> Callable[[int], tuple[float, ...]]:
    """Give what tells the one value of a run, nothing where it is not known."""
    return lambda k: () if column is None or math.isnan(column[k]) else (float(column[k]),)


def exported_matrices(name: str, matrices: Sequence[PerformanceMatrix]) -> ExportedData:
    """Take the runs of matrices of one unit and direction."""
    first = matrices[0]
    metric = Metric(first.metric or "value", first.unit, first.better)
    samples = tuple(
        ExportedCell(
            benchmark=readable(bench),
            variant=readable(matrix.name),
            runs=tuple(_of_matrix(matrix, place, metric.name)),
        )
        for matrix in matrices
        for place, bench in enumerate(matrix.benchmarks)
    )
    return ExportedData(name=readable(name), metrics=(metric,), samples=samples)


def _of_matrix(matrix: PerformanceMatrix, place: int, metric: str) -> Iterator[ExportedProcess]:
    values = matrix.samples[place]
    numbers: dict[object, int] = {}  # from 1, whatever the ids of blocks are
    for one in (one for row in matrix.blocks or () for one in row.tolist()):
        numbers.setdefault(one, len(numbers) + 1)
    for k in range(values.size):
        inner: tuple[float, ...] = (float(values[k]),)
        if matrix.iterations is not None and matrix.run_of is not None:
            inner = tuple(matrix.iterations[place][matrix.run_of[place] == k].tolist())
        yield ExportedProcess(
            number=k + 1,
            values={metric: inner},
            session=None if matrix.sessions is None else matrix.sessions[place][k].item(),
            block=None if matrix.blocks is None else numbers[matrix.blocks[place][k].item()],
        )
    bench = matrix.benchmarks[place]
    where: list[int | str | None] = [None] * matrix.failed.get(bench, 0)
    if bench in matrix.failed_by_session:
        where = [label for label, n in matrix.failed_by_session[bench].items() for _ in range(n)]
    cut = matrix.cut[bench].runs if matrix.cut and bench in matrix.cut else 0
    for k, session in enumerate(where):
        text = "timeout" if k < cut else "failed"
        yield ExportedProcess(number=values.size + k + 1, values={}, outcome=text, session=session)


def read_exported(
    source: str, how: Reading, metrics: Sequence[str] = ()
) -> tuple[ExportedData, tuple[Caution, ...]]:
    """Read what is exported, and what a reader of it should know."""
    from .reader import open_trial, read_sources, trial_and_variant

    named = trial_and_variant(source)
    if named is None:
        first = metrics[0] if metrics else None
        read = read_sources([source], replace(how, metric=first, level="process"))
        texts = (one for matrix in read.matrices for one in matrix.cautions)
        return exported_matrices(Path(source).stem, read.matrices), (*read.cautions, *texts)
    path, variant = named
    trial = open_trial(path, better=how.better, by="session", decimal=how.decimal)
    return exported_trial(trial, metrics, () if variant is None else (variant,)), trial.cautions


# --- Files for other tools.

_TABLE = "write a table: --to long-csv"
_LONGEST = 1e100  # s; squares of longer times, and their nanoseconds, are beyond all numbers
# names of a wall time, and of a size of memory: read back, each is the tool's own name of it
_NAMES = {"s": ("wall", "time", "real_time", "value", "elapsed"), "B": ("memory",)}


class Written(NamedTuple):
    """A file: its bytes, and what the source holds and they cannot (``--strict`` refuses that)."""

    data: bytes
    lost: tuple[Caution, ...] = ()


# --- What targets cannot hold, and names that they change.


def lost(
    exported: ExportedData, *written: str, failed: int | None = None, means: bool = False
) -> tuple[Caution, ...]:
    """Say what a file loses that holds processes of the `written` metrics.

    `failed`: How many of the failed runs are not in it, all by default. `means`: Whether it has one value a process.
    """
    runs = [run for one in exported.samples for run in one.runs]
    counts = {
        "failed": sum(len(one.failed) for one in exported.samples) if failed is None else failed,
        "cut": sum(run.outcome.startswith("timeout") for run in runs),
        "warmups": sum(run.warmup for run in runs),
    }
    sessions = len({run.session for run in runs})
    rest = tuple(one.name for one in exported.metrics if one.name not in written)
    holding = {
        "failed-lost": counts["failed"],
        "limits-lost": counts["cut"],
        "warm-ups-lost": counts["warmups"],
        "sessions-lost": sessions > 1,
        "blocks-lost": len({run.block for run in runs} - {None}) > 1,
        "processes-lost": means
        and any(len(of) > 1 for one in exported.samples for of in one.processes(written[0])),
        "metrics-lost": rest,
    }
    texts = {name: counted(n, "run") for name, n in counts.items()}
    return losses_of("exported", holding, {**texts, "sessions": sessions, "rest": listed(rest)})


def _held(names: Iterable[str], change: Callable[[str], str], where: str) -> dict[str, str]:
    """Give each name as the file holds it; two that would be one are refused."""
    found = {name: change(name) for name in names}
    firsts: dict[str, str] = {}
    for name, text in found.items():
        if (first := firsts.setdefault(text, name)) != name:
            what = f"the file would hold {first!r} and {name!r} under one name, {text!r}"
            raise UsageError(what, where, f"rename one of them, or {_TABLE}")
    return found


def _changed(why: str, *held: Mapping[str, str]) -> tuple[Caution, ...]:
    pairs = (pair for names in held for pair in names.items())
    texts = [f"{ours!r} becomes {theirs!r}" for ours, theirs in pairs if ours != theirs]
    return cautions_of({"names-changed": texts != [] and f"names, {why}: {listed(texts, 3)}"})


def _first(
    exported: ExportedData, text: str, units: tuple[str, ...]
) -> tuple[Metric, tuple[Caution, ...]]:
    """Give the metric for a file of one, which it must be able to hold, and whether it knows its name."""
    first = exported.metrics[0]
    if first.unit not in units or first.better != "lower":
        held = f"{text} holds times{' and sizes' if 'B' in units else ' in seconds'}"
        has = f"{first.name!r} has the unit {first.unit or 'none'!r}, {first.better} is better"
        raise UsageError(f"{held}; {has}", exported.name, f"name another --metric, or {_TABLE}")
    unknown = f"that the values are {first.name!r}: the file knows only their unit"
    return first, cautions_of(
        {"metric-name-lost": first.name not in _NAMES[first.unit] and unknown}
    )


def _refuse_endless(exported: ExportedData, *metrics: Metric) -> None:
    names = [metric.name for metric in metrics if metric.unit == "s"]
    runs = (of for one in exported.samples for name in names for of in one.processes(name))
    if (longest := max((value for of in runs for value in of), default=0.0)) > _LONGEST:
        what = f"{longest:.3g} s are too long to compute with"
        raise UsageError(what, exported.name, f"is the value right? {_TABLE}")


def _json(whole: object, indent: int | None = 2) -> bytes:
    text = json.dumps(whole, indent=indent, allow_nan=False, ensure_ascii=False)
    return f"{text}\n".encode()


# --- Tables, which hold everything.

HEADINGS = (
    "benchmark", "variant", "session", "block", "run", "iteration", "metric", "value", "unit",
    "better", "outcome", "warmup",
)  # fmt: skip
_WHOLE = ("block", "run", "iteration")


def rows_of(exported: ExportedData) -> Iterator[tuple[Any, ...]]:
    """Give the rows, sample by sample; a failed run without values has one for each metric, with the value None."""
    for one in exported.samples:
        for run in one.runs:
            for metric in exported.metrics:
                values: tuple[float | None, ...] = run.values.get(metric.name, ())
                for k, value in enumerate(values or (None,) * (not run.ok), 1):
                    yield (
                        *(one.benchmark, one.variant, run.session, run.block, run.number, k),
                        *(metric.name, value, metric.unit, metric.better, run.outcome, run.warmup),
                    )


def write_long_csv(exported: ExportedData) -> Written:
    """Make the file: UTF-8, one newline a row, numbers with every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADINGS)
    writer.writerows((*row[:-1], "true" if row[-1] else "false") for row in rows_of(exported))
    return Written(data=out.getvalue().encode())


def write_parquet(exported: ExportedData) -> Written:
    """Make the file."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        fix = "pip install 'fairtrial[parquet]', or write --to long-csv"
        raise library_needed("writing Parquet", "pyarrow", error, fix=fix) from None
    kinds = {"value": pa.float64(), "warmup": pa.bool_()} | dict.fromkeys(_WHOLE, pa.int64())
    columns = dict(zip(HEADINGS, map(list, zip(*rows_of(exported), strict=True)), strict=True))
    columns["session"] = [None if one is None else str(one) for one in columns["session"]]
    table = pa.table({k: pa.array(of, kinds.get(k, pa.string())) for k, of in columns.items()})
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    return Written(data=sink.getvalue().to_pybytes())


# --- hyperfine.

_MEMORY = "max_rss"


def write_hyperfine(exported: ExportedData) -> Written:
    """Make the file."""
    metric, unnamed = _first(exported, "hyperfine's JSON", ("s",))
    _refuse_endless(exported, metric)
    every = ((one, [run for run in one.runs if not run.warmup]) for one in exported.samples)
    timed = [(one, [run for run in runs if run.values.get(metric.name)]) for one, runs in every]
    sizes = [run.values.get(_MEMORY, ()) for _, runs in timed for run in runs]
    is_size = any(one.name == _MEMORY and one.unit == "B" for one in exported.metrics[1:])
    memory = is_size and all(len(of) == 1 and of[0].is_integer() for of in sizes)
    results = []
    for one, runs in (pair for pair in timed if pair[1]):
        # added to the first value: equal iterations have exactly it as the mean
        values = (run.values[metric.name] for run in runs)
        times = [of[0] + sum(value - of[0] for value in of) / len(of) for of in values]
        good = [time for time, run in zip(times, runs, strict=True) if run.ok] or times
        counts = [run for run in runs if run.ok] or runs
        alone = len(exported.benchmarks) == 1
        result = {
            "command": one.variant if alone else f"{one.variant} {one.benchmark}",
            "mean": statistics.fmean(good),
            "stddev": statistics.stdev(good) if len(good) > 1 else None,
            "median": statistics.median(good),
            "user": _mean_of_known([run.user for run in counts]),
            "system": _mean_of_known([run.system for run in counts]),
            "min": min(good),
            "max": max(good),
            "times": times,
        }
        if memory:
            result["memory_usage_byte"] = [int(run.values[_MEMORY][0]) for run in runs]
        # null: a signal ended it
        result["exit_codes"] = [0 if run.ok else run.exit_code or None for run in runs]
        result["parameters"] = {"benchmark": one.benchmark, "variant": one.variant}
        results.append(result)
    untimed = sum(not run.values.get(metric.name) for one in exported.samples for run in one.failed)
    written = (metric.name, *((_MEMORY,) if memory else ()))
    lost_here = lost(exported, *written, failed=untimed, means=True)
    return Written(_json({"results": results}), (*lost_here, *unnamed))


def _mean_of_known(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known and len(known) == len(values) else None


# --- pyperf.


def write_pyperf(exported: ExportedData) -> Written:
    """Make the file; pyperf refuses values of 0, which are left out."""
    if len(exported.variants) > 1:
        what = f"pyperf's JSON holds one variant, and here are {len(exported.variants)}"
        fix = f"write a file for each: SOURCE:VARIANT, with {', '.join(map(format, exported.variants))}"
        raise UsageError(what, exported.name, fix)
    metric, unnamed = _first(exported, "pyperf's JSON", ("s", "B"))
    names = _held(exported.benchmarks, _clean, exported.name)
    processes = {one.benchmark: one.processes(metric.name) for one in exported.samples}
    zeros = sum(of.count(0) for every in processes.values() for of in every)
    kept = {bench: [[v for v in of if v] for of in every] for bench, every in processes.items()}
    runs = {b: [{"metadata": {}, "values": of} for of in every if of] for b, every in kept.items()}
    benchmarks = [
        {"metadata": {"name": names[bench]}, "runs": own} for bench, own in runs.items() if own
    ]
    if not benchmarks:
        what = f"all values of {metric.name!r} are 0, which pyperf refuses"
        raise UsageError(what, exported.name, f"name another --metric, or {_TABLE}")
    about = {"hostname": exported.host, "cpu_model_name": exported.cpu_model}
    shared = {
        "unit": "second" if metric.unit == "s" else "byte",
        "variant": _clean(exported.variants[0]),
        **{key: words for key, words in about.items() if words},
    }
    text = f"{counted(zeros, 'value')} of 0, which pyperf refuses: left out"
    return Written(
        # pyperf's own version of the layout
        data=_json({"version": "1.0", "metadata": shared, "benchmarks": benchmarks}, None),
        lost=(
            *cautions_of({"zeros-lost": zeros > 0 and text}),
            *lost(exported, metric.name),
            *unnamed,
            *_changed("which are one line without spaces around it", names),
        ),
    )


def _clean(name: str) -> str:
    return re.sub(r"[\r\n]+", " ", name).strip() or "-"


# --- Text for benchstat.

_ENDING = re.compile(r"-\d+$")
_OWN = ("B/op", "allocs/op", "MB/s")  # units that go names itself


def write_go_bench(exported: ExportedData) -> Written:
    """Make the file."""
    _refuse_endless(exported, *exported.metrics)
    names = _held(exported.benchmarks, _go_name, exported.name)
    variants = _held(exported.variants, _one_line, exported.name)
    wall = [m.name for m in exported.metrics if m.unit == "s" and m.name in _NAMES["s"]][:1]
    timed = {m.name for m in exported.metrics if m.unit == "s" and not m.name.endswith("-ns/op")}
    words = {name: f"{_one_word(name)}-ns/op" for name in timed} | dict.fromkeys(wall, "ns/op")
    spelt = {m.name: _one_word(m.name) for m in exported.metrics}
    units = _held(spelt, lambda name: words.get(name, spelt[name]), exported.name)
    endings = {found[0] if (found := _ENDING.search(name)) else "" for name in names.values()}
    # what all names end with is taken for GOMAXPROCS, and cut
    ending = "-1" if len(endings) == 1 and "" not in endings else ""
    lines = []
    for variant in exported.variants:
        lines.append(f"pkg: {re.sub(r'[^A-Za-z0-9_./-]+', '_', exported.name) or 'exported'}")
        lines.append(f"variant: {variants[variant]}")
        lines += [f"cpu: {_one_line(exported.cpu_model)}"] if exported.cpu_model else []
        runs = []
        for one in exported.samples:
            if one.variant == variant:
                begin = f"{names[one.benchmark]}{ending}\t1\t"
                made = ([begin + of for of in _pairs(run, exported, units)] for run in one.counted)
                runs.append([of for of in made if of])
        for together in zip_longest(*runs, fillvalue=()):
            lines += [*chain.from_iterable(together), "PASS"]
    unwritten = [m.name for m in exported.metrics if m.unit != "s" and m.name not in _OWN]
    text = f"unit and direction of {listed(unwritten)}: go knows the name only"
    return Written(
        data="".join(f"{line}\n" for line in lines).encode(),
        lost=(
            *lost(exported, *units),
            *_changed("which begin with Benchmark and have no spaces", names, variants, spelt),
            *cautions_of({"units-lost": unwritten != [] and text}),
        ),
    )


def _pairs(run: ExportedProcess, exported: ExportedData, units: Mapping[str, str]) -> Iterator[str]:
    columns = []
    for metric in exported.metrics:
        found = _nanoseconds if metric.unit == "s" else float
        values = run.values.get(metric.name, ())
        columns.append([f"{found(value)!r} {units[metric.name]}" for value in values])
    for cells in zip_longest(*columns):
        yield "\t".join(filter(None, cells))


def _nanoseconds(seconds: float) -> float:
    """Give the number that, divided by 1e9, is `seconds` again, or the nearest."""
    near = seconds * 1e9
    every = (near, math.nextafter(near, 0), math.nextafter(near, math.inf))
    return next((one for one in every if one / 1e9 == seconds), near)


def _go_name(bench: str) -> str:
    word = _one_word(bench)
    if word.startswith("Benchmark") and not word[9:10].islower():
        return word
    return f"Benchmark{word[:1].upper()}{word[1:]}"


def _one_word(text: str) -> str:
    return re.sub(r"\s", "_", text)


def _one_line(text: str) -> str:
    return " ".join(text.split()) or "-"


# --- The targets.


class Target(NamedTuple):
    """A target: its name for ``--to``, how a sentence calls it, what makes the file, and the endings that mean it."""

    name: str
    label: str
    writer: Callable[[ExportedData], Written]
    endings: tuple[str, ...] = ()
    binary: bool = False
    also: str = ""  # another name for --to

    def write(self, exported: ExportedData) -> Written:
        """Make the file; what no target can hold is reported with what this one cannot."""
        data, lost_here = self.writer(exported)
        return Written(data, (*lost_here, *exported.beyond))


TARGETS = (
    Target("hyperfine", "hyperfine's JSON", write_hyperfine),
    Target("pyperf", "pyperf's JSON", write_pyperf),
    Target("go-bench", "text for benchstat", write_go_bench, (".txt",), also="benchstat"),
    Target("long-csv", "a CSV, one value a row", write_long_csv, (".csv",)),
    Target("parquet", "Parquet", write_parquet, (".parquet",), binary=True),
)


def target_for(output: str, name: str | None = None) -> Target:
    """Find the target of a file, by its name or by the file's ending."""
    known = ", ".join(target.name for target in TARGETS)
    ending = PurePath(output.removesuffix(".gz")).suffix.lower()
    for target in TARGETS:
        if name in (target.name, target.also) if name else ending in target.endings:
            return target
    if name is not None:
        raise UsageError(f"there is no target {name!r}", fix=f"known: {known}")
    what = f"the ending {ending!r} names no format" if ending else "the name has no ending"
    text = "the standard output has no ending that names a format" if output in STDOUT else what
    raise UsageError(text, output, f"add --to ({known})")
