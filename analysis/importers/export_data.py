"""What is exported: every run of every benchmark and variant of SOURCE, with all that is known."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..errors import AnalysisError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution
from ..registry import load
from .importing import cautions_of, writable
from .reader import Reading, open_trial, read_sources, trial_and_variant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..data.matrix import PerformanceMatrix
    from ..data.trial import Trial
    from ..record.run_numbers import Better
    from ..record.trial_files import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What was measured: its name, its unit, and which direction is better."""

    name: str
    unit: str
    better: Better


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedProcess:
    """One process.

    `number`: From 1, in the order of execution where that is known. `values`: By metric, the
    iterations; a run that failed may have none. `session`, `block`: None where nobody knows. `ok`,
    `warmup`: Whether it counts. `exit_code`: Of a run that failed. `user`, `system`: Its seconds of
    CPU time, by the kernel's account.
    """

    number: int
    values: Mapping[str, tuple[float, ...]]
    session: int | str | None = None
    block: int | None = None
    ok: bool = True
    warmup: bool = False
    exit_code: int | None = None
    user: float | None = None
    system: float | None = None


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

    `unjudged` counts the rows of repeated runs that no method takes: they do not leave. `appended` is how
    often sessions were put behind those of a complete trial, `looks` how many looks were taken by a plan of
    several, and `hosts` says that they are those of several. `warmup_iterations` names the metrics of which the first
    iterations of a run are not judged, each with how many, and `never_ok` counts the cells of which no run was ever ok.
    `stored` counts the runs of which the mean stands for values that are too many for a row.
    """

    name: str
    metrics: tuple[Metric, ...]
    samples: tuple[ExportedCell, ...]
    host: str | None = None
    cpu_model: str | None = None
    unjudged: int = 0
    appended: int = 0
    looks: int = 0
    hosts: bool = False
    warmup_iterations: tuple[str, ...] = ()
    never_ok: int = 0
    stored: int = 0

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
    for variant in variants:
        if variant not in known:
            raise UsageError(
                f"the trial has no variant {variant!r}",
                str(trial.path),
                f"known here: {', '.join(known)}",
            )
    wall = () if manifest.origin == "imported" else ("wall",)
    asked = manifest.questions or ()  # first: who reads the file back judges it
    names = tuple(metrics) or tuple(dict.fromkeys((*asked, *wall, *manifest.metrics)))
    found = tuple(
        Metric(name=name, unit=(info := trial.metric(name)).unit, better=info.better)
        for name in names
    )
    rows = _runs(trial, names)
    kept = frozenset(variants or known)
    mine = np.isin(trial.variant, [manifest.variants.index(name) for name in kept])
    samples = tuple(
        ExportedCell(
            benchmark=writable(bench), variant=writable(variant), runs=tuple(rows[bench, variant])
        )
        for variant in known
        if variant in kept
        for bench in manifest.benchmarks
        if (bench, variant) in rows
    )
    first = found[0].name if found else ""
    if not any(sample.processes(first) for sample in samples):
        what = f"no run that counts has a value of {first!r}"
        raise AnalysisError(what, str(trial.path), "name another --metric")
    return ExportedData(
        name=writable(manifest.trial),
        metrics=found,
        samples=samples,
        host=manifest.host if manifest.host != "unknown" else None,
        cpu_model=manifest.cpu_model,
        unjudged=int((mine & ~trial.chosen).sum()),
        appended=len(manifest.appended),
        looks=_looks(manifest),
        hosts=any(one.code == "sessions-of-hosts" for one in trial.cautions),
        warmup_iterations=tuple(
            f"{name}: {judged.setting}"
            for name in names
            if (judged := trial.judged_iterations(name)) is not None and judged.setting != 0
        ),
        stored=sum(
            bool(mine[row] and trial.chosen[row])
            for row in {row for name in names for row in trial.stored.get(name, ())}
        ),
        never_ok=len(
            {(one.benchmark, one.variant) for one in manifest.given_up if one.never_ok}
            & {(bench, variant) for bench in manifest.benchmarks for variant in kept}
        ),
    )


def _looks(manifest: Manifest) -> int:
    """Count the looks that were taken by a plan of several."""
    plan = manifest.looks_plan
    if plan is None or plan.rule == "planned":
        return 0
    return sum(n <= manifest.sessions for n in plan.looks)


def _runs(trial: Trial, metrics: Sequence[str]) -> dict[tuple[str, str], list[ExportedProcess]]:
    manifest = trial.manifest
    imported = manifest.origin == "imported"
    values = {name: _values(trial, name) for name in metrics}
    user, system = (_known(trial.numbers.get(name)) for name in ("user_s", "system_s"))
    codes = {run.position: run.exit_code for run in trial.failed}
    # of a run that was repeated, the row that every method takes; a warm-up that was repeated has no
    # place in the plan, and stays behind what was executed before it
    place = trial.planned_position
    order = np.argsort(np.where(place < 0, np.maximum.accumulate(place), place), kind="stable")
    order = order[trial.chosen[order]]
    rows: dict[tuple[str, str], list[ExportedProcess]] = {}
    for number, k in enumerate(order.tolist(), 1):
        bench = manifest.benchmarks[int(trial.benchmark[k])]
        variant = manifest.variants[int(trial.variant[k])]
        rows.setdefault((bench, variant), []).append(
            ExportedProcess(
                number=number,
                values={name: of for name, take in values.items() if (of := take(k))},
                session=int(trial.session[k]),
                block=None if imported and not trial.block[k] else int(trial.block[k]),
                ok=bool(trial.outcome[k] == 0),
                warmup=bool(trial.warmup[k]),
                exit_code=codes.get(int(trial.position[k])),
                user=next(iter(user(k)), None),
                system=next(iter(system(k)), None),
            )
        )
    return rows


def _values(trial: Trial, metric: str) -> Callable[[int], tuple[float, ...]]:
    if metric in trial.metrics:
        column, apart = trial.metrics[metric], trial.apart(metric)

        def iterations(k: int) -> tuple[float, ...]:
            if apart[k]:
                return ()
            start, end = int(column.offsets[k]), int(column.offsets[k + 1])
            return tuple(column.values[start:end].tolist())

        return iterations
    return _known(trial.values(metric))


def _known(column: NDArray[np.float64] | None) -> Callable[[int], tuple[float, ...]]:
    """Give what tells the one value of a run, nothing where it is not known."""

    def single(k: int) -> tuple[float, ...]:
        value = math.nan if column is None else float(column[k])
        return () if math.isnan(value) else (value,)

    return single


def exported_matrices(name: str, matrices: Sequence[PerformanceMatrix]) -> ExportedData:
    """Take the runs of matrices of one unit and direction."""
    first = matrices[0]
    metric = Metric(name=first.metric or "value", unit=first.unit, better=first.better)
    return ExportedData(
        name=writable(name),
        metrics=(metric,),
        samples=tuple(
            ExportedCell(
                benchmark=writable(bench),
                variant=writable(matrix.name),
                runs=tuple(_of_matrix(matrix, place, metric.name)),
            )
            for matrix in matrices
            for place, bench in enumerate(matrix.benchmarks)
        ),
    )


def _of_matrix(matrix: PerformanceMatrix, place: int, metric: str) -> Iterator[ExportedProcess]:
    values = matrix.samples[place]
    blocks = [None] * values.size if matrix.blocks is None else _numbered(matrix.blocks)[place]
    for k in range(values.size):
        inner: tuple[float, ...] = (float(values[k]),)
        if matrix.iterations is not None and matrix.run_of is not None:
            inner = tuple(matrix.iterations[place][matrix.run_of[place] == k].tolist())
        yield ExportedProcess(
            number=k + 1,
            values={metric: inner},
            session=None if matrix.sessions is None else matrix.sessions[place][k].item(),
            block=blocks[k],
        )
    bench = matrix.benchmarks[place]
    where: list[int | str | None] = [None] * matrix.failed.get(bench, 0)
    if bench in matrix.failed_by_session:
        where = [label for label, n in matrix.failed_by_session[bench].items() for _ in range(n)]
    for k, session in enumerate(where):
        yield ExportedProcess(number=values.size + k + 1, values={}, ok=False, session=session)


def _numbered(ids: Sequence[NDArray[Any]]) -> list[list[int | None]]:
    """Give the blocks of a matrix numbers from 1, whatever its ids are."""
    numbers: dict[object, int] = {}
    return [[numbers.setdefault(one, len(numbers) + 1) for one in row.tolist()] for row in ids]


def read_exported(
    source: str, how: Reading, metrics: Sequence[str] = ()
) -> tuple[ExportedData, tuple[Caution, ...]]:
    """Read what is exported, and what a reader of it should know."""
    named = trial_and_variant(source)
    if named is None:
        first = metrics[0] if metrics else None
        read = read_sources([source], replace(how, metric=first, level="process"))
        cautions = read.cautions
        for matrix in read.matrices:
            cautions = (*cautions, *matrix.cautions)
        return exported_matrices(Path(source).stem, read.matrices), cautions
    path, variant = named
    trial = open_trial(path, better=how.better, by="session", decimal=how.decimal)
    return exported_trial(trial, metrics, () if variant is None else (variant,)), trial.cautions


# --- What targets cannot hold, names that they change, and the file that is written.


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a target's module gives.

    `data`: The file. `lost`: What the source holds and the target cannot: ``--strict`` refuses it.
    `notes`: What else a reader of the file should know, such as a key that the target wants and
    nobody measured.
    """

    data: bytes
    lost: tuple[Caution, ...] = ()
    notes: tuple[Caution, ...] = ()


def renamed(names: Iterable[str], change: Callable[[str], str], where: str) -> dict[str, str]:
    """Give each name as the target holds it."""
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for name in names:
        told = change(name)
        if told in taken:
            raise UsageError(
                f"the file would hold {taken[told]!r} and {name!r} under one name, {told!r}",
                where,
                "rename one of them, or write a table: --to long-csv",
            )
        found[name], taken[told] = told, name
    return found


def names_lost(why: str, *changed: Mapping[str, str]) -> Iterator[Caution]:
    """Say which names were changed, and why."""
    told = tuple(
        f"{ours!r} becomes {theirs!r}"
        for names in changed
        for ours, theirs in names.items()
        if ours != theirs
    )
    if told:
        yield Caution("names-changed", f"names, {why}: {figures.listed(told, 3)}")


MEANS = "the iterations of each process: their mean is written"
_LONGEST = 1e100  # s; the squares of longer times are beyond all numbers
# names of a wall time: read back, each is the tool's own name of it
WALL = frozenset(("wall", "time", "real_time", "value", "elapsed"))


def lost(
    exported: ExportedData, metric: str, *holds: str, metrics: tuple[str, ...] | None = None
) -> Iterator[Caution]:
    """Say what a target loses that holds only `holds` beyond values, and only `metrics` where given."""
    runs = [run for sample in exported.samples for run in sample.runs]
    failed = sum(len(sample.failed) for sample in exported.samples)
    warmups = sum(run.warmup for run in runs)
    sessions = len({run.session for run in runs})
    blocks = {run.block for run in runs} - {None}
    for what, is_lost, text in (
        ("failed", failed, f"{figures.counted(failed, 'run')} that failed: left out"),
        ("warm-ups", warmups, f"{figures.counted(warmups, 'run')} that warmed up: left out"),
        ("sessions", sessions > 1, f"which run belongs to which of the {sessions} sessions"),
        ("blocks", len(blocks) > 1, "which runs belong to one block"),
    ):
        if what not in holds and is_lost:
            yield Caution(f"{what}-lost", text)
    shapes = [sample.processes(metric) for sample in exported.samples]
    if "processes" not in holds and max(map(len, shapes), default=0) > 1:
        several = any(len(process) > 1 for shape in shapes for process in shape)
        yield Caution(
            "processes-lost",
            MEANS if several else "that each value is from a process of its own",
        )
    rest = tuple(one.name for one in exported.metrics if metrics and one.name not in metrics)
    if rest:
        yield Caution("metrics-lost", f"the metrics {figures.listed(rest)}: left out")


def never_held(exported: ExportedData) -> tuple[Caution, ...]:
    """Say what no target has a place for, and a verdict on the file cannot know."""
    times = figures.counted(exported.appended, "time")
    looks = figures.counted(exported.looks, "look")
    runs = figures.counted(exported.unjudged, "run")
    return cautions_of(
        {
            "looks-lost": (
                f"that sessions were appended, {times}: a verdict on the file takes it for the first look"
                if exported.appended > 0
                else f"that the trial ended when it was decided, looked at by a plan ({looks} taken, rule "
                "repeated): a verdict on the file takes it for the only look, and is wrong more often"
                if exported.looks > 0
                else False
            ),
            "hosts-lost": exported.hosts and "which session was measured on which host",
            "warmup-lost": bool(exported.warmup_iterations)
            and "which iterations of a run are not judged "
            f"({figures.listed(exported.warmup_iterations, 3)}): a verdict on the file judges all",
            "never-ok-lost": exported.never_ok > 0
            and f"that {figures.counted(exported.never_ok, 'cell')} never ended well, and why: a verdict on the "
            "file knows of no failure",
            "single-values-lost": exported.stored > 0
            and f"the single values of {figures.counted(exported.stored, 'run')}, which stand in samples/: a mean "
            "stands for them",
            "repeats-lost": exported.unjudged > 0
            and f"{runs} that no method takes, because disturbed ones were repeated: left out",
        }
    )


def kept_apart(processes: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    """Give the values for a target that knows one process only.

    One process keeps its iterations. Of several each gives its mean: their iterations in one row
    would be taken for independent of each other.
    """
    if len(processes) == 1:
        return processes[0]
    return tuple(mean_of(process) for process in processes)


def mean_of(values: tuple[float, ...]) -> float:
    """Give the arithmetic mean."""
    first = values[0]  # added to the first value: equal iterations have exactly it as the mean
    return first + sum(value - first for value in values) / len(values)


def one_variant(exported: ExportedData, said: str) -> str:
    """Give the only variant, or refuse several."""
    if len(exported.variants) > 1:
        raise UsageError(
            f"{said} holds one variant, and here are {len(exported.variants)}",
            exported.name,
            f"write a file for each: SOURCE:VARIANT, with {', '.join(exported.variants)}",
        )
    return exported.variants[0]


def time_of(exported: ExportedData, said: str) -> tuple[Metric, tuple[Caution, ...]]:
    """Give the metric for a target of times in seconds, and what is lost of its name."""
    first = exported.metrics[0]
    longest = max(
        (v for sample in exported.samples for of in sample.processes(first.name) for v in of),
        default=0.0,
    )
    if longest > _LONGEST:
        raise UsageError(
            f"{said} holds means and deviations, and {longest:.3g} s are too long for them",
            exported.name,
            "is the value right? a table holds it: --to long-csv",
        )
    if first.unit != "s" or first.better != "lower":
        raise UsageError(
            f"{said} holds times in seconds; {first.name!r} has the unit {first.unit or 'none'!r}, "
            f"{first.better} is better",
            exported.name,
            "name a time with --metric, or write a table: --to long-csv",
        )
    text = f"that the values are {first.name!r}: the file calls them its time"
    return first, cautions_of({"metric-name-lost": first.name not in WALL and text})


def json_bytes(whole: object, indent: int | None = 2) -> bytes:
    """Write JSON with every digit, one newline at its end."""
    text = json.dumps(whole, indent=indent, allow_nan=False, ensure_ascii=False)
    return f"{text}\n".encode()


# --- Which formats can be written: one row a target; its module is imported when it is wanted.
#
# A target is a function ``write_NAME(exported)`` in `analysis.importers.exports`, which gives a `Written`.
# To add one, write it and its row.


STDOUT = "-"


class Target(NamedTuple):
    """A target: its name for ``--to``, how a sentence calls it, and the endings that mean it."""

    name: str
    said: str
    module: str
    endings: tuple[str, ...] = ()
    binary: bool = False
    also: str = ""  # another name for --to

    @property
    def writer(self) -> Callable[[ExportedData], Written]:
        """The function that makes the file."""
        name = f"write_{self.name.replace('-', '_')}"
        return cast("Callable[[ExportedData], Written]", getattr(load(self.module), name))

    def write(self, exported: ExportedData) -> Written:
        """Make the file; what no target can hold is told with what this one cannot."""
        made = self.writer(exported)
        return replace(made, lost=(*made.lost, *never_held(exported)))


TARGETS: tuple[Target, ...] = (
    Target("hyperfine", "hyperfine's JSON", "analysis.importers.export"),
    Target("pyperf", "pyperf's JSON", "analysis.importers.export"),
    Target("google-benchmark", "Google Benchmark's JSON", "analysis.importers.export"),
    Target("pytest-benchmark", "pytest-benchmark's JSON", "analysis.importers.export"),
    Target(
        "go-bench",
        "text for benchstat",
        "analysis.importers.export",
        endings=(".txt",),
        also="benchstat",
    ),
    Target("long-csv", "a CSV, one value a row", "analysis.importers.export", endings=(".csv",)),
    Target("wide-csv", "a CSV, one benchmark a row", "analysis.importers.export"),
    Target("json", "JSON, one object a value", "analysis.importers.export", endings=(".json",)),
    Target(
        "parquet",
        "Parquet",
        "analysis.importers.export",
        endings=(".parquet",),
        binary=True,
    ),
    Target(
        "sqlite",
        "SQLite",
        "analysis.importers.export",
        endings=(".sqlite", ".sqlite3", ".db"),
        binary=True,
    ),
)


def target_for(output: str, name: str | None = None) -> Target:
    """Find the target of a file."""
    known = ", ".join(target.name for target in TARGETS)
    if name is not None:
        for target in TARGETS:
            if name in (target.name, target.also):
                return target
        raise UsageError(f"there is no target {name!r}", fix=f"known: {known}")
    ending = PurePath(output.removesuffix(".gz")).suffix.lower()
    for target in TARGETS:
        if output != STDOUT and ending in target.endings:
            return target
    if output == STDOUT:
        raise UsageError(
            "the standard output has no ending that names a format", fix=f"add --to ({known})"
        )
    raise UsageError(
        f"the ending {ending!r} names no format" if ending else "the file's name has no ending",
        output,
        f"add --to ({known})",
    )
