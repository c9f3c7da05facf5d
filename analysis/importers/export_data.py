"""What is exported: every run of every benchmark and variant of SOURCE, with all that is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.matrix import PerformanceMatrix, cut_of
from ..data.trial import Trial, cut_rows
from ..errors import AnalysisError, UsageError
from ..pages.model import Caution, cautions_of
from ..pages.number_format import counted, listed
from .parsing import writable
from .reader import Reading, open_trial, read_sources, trial_and_variant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..record.run_numbers import Better


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
        raise UsageError(what, str(trial.path), f"known here: {', '.join(known)}")
    wall = () if manifest.origin == "imported" else ("wall",)
    asked = manifest.questions or ()  # first: who reads the file back judges it
    names = tuple(metrics) or tuple(dict.fromkeys((*asked, *wall, *manifest.metrics)))
    found = tuple(Metric(name, *trial.metric(name)) for name in names)
    rows = _runs(trial, names)
    samples = tuple(
        ExportedCell(
            benchmark=writable(bench), variant=writable(variant), runs=tuple(rows[bench, variant])
        )
        for variant in known
        if variant in (variants or known)
        for bench in manifest.benchmarks
        if (bench, variant) in rows
    )
    if not any(sample.processes(names[0]) for sample in samples):
        what = f"no run that counts has a value of {names[0]!r}"
        raise AnalysisError(what, str(trial.path), "name another --metric")
    return ExportedData(
        name=writable(manifest.trial),
        metrics=found,
        samples=samples,
        host=manifest.host if manifest.host != "unknown" else None,
        cpu_model=manifest.cpu_model,
        beyond=_beyond(trial, names, variants or known),
    )


def _beyond(trial: Trial, names: Sequence[str], variants: Sequence[str]) -> tuple[Caution, ...]:
    """Say what no target can hold of these metrics and variants of a trial."""
    manifest, plan = trial.manifest, trial.manifest.looks_plan
    mine = np.isin(trial.variant, [manifest.variants.index(name) for name in variants])
    appended = len(manifest.appended)
    repeats = plan is not None and plan.rule != "planned"
    looks = sum(n <= manifest.sessions for n in plan.looks) if plan is not None and repeats else 0
    judged = ((name, trial.judged_iterations(name)) for name in names)
    cut = tuple(f"{name}: {of.setting}" for name, of in judged if of and of.setting != 0)
    never = {(one.benchmark, one.variant) for one in manifest.given_up if one.never_ok}
    never &= {(bench, variant) for bench in manifest.benchmarks for variant in variants}
    repeated = int((mine & ~trial.chosen).sum())
    stored = {row for name in names for row in trial.stored.get(name, ())}
    means = sum(bool(mine[row] and trial.chosen[row]) for row in stored)
    return cautions_of(
        {
            "looks-lost": (
                f"that sessions were appended, {counted(appended, 'time')}: a verdict on the file takes it for the "
                "first look"
                if appended
                else looks > 0
                and f"that the trial ended when it was decided, looked at by a plan ({counted(looks, 'look')} taken, "
                "rule repeated): a verdict on the file takes it for the only look, and is wrong more often"
            ),
            "hosts-lost": any(one.code == "sessions-of-hosts" for one in trial.cautions)
            and "which session was measured on which host",
            "warmup-lost": cut != ()
            and f"which iterations of a run are not judged ({listed(cut, 3)}): a verdict on the file judges all",
            "never-ok-lost": len(never) > 0
            and f"that {counted(len(never), 'cell')} never ended well, and why",
            "single-values-lost": means > 0
            and f"the single values of {counted(means, 'run')}, which stand in samples/: a mean stands for them",
            "repeats-lost": repeated > 0
            and f"{counted(repeated, 'run')} that no method takes, because disturbed ones were repeated: left out",
        }
    )


def _runs(trial: Trial, metrics: Sequence[str]) -> dict[tuple[str, str], list[ExportedProcess]]:
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
    cut = 0 if matrix.cut is None else cut_of(matrix, bench).runs
    for k, session in enumerate(where):
        text = "timeout" if k < cut else "failed"
        yield ExportedProcess(number=values.size + k + 1, values={}, outcome=text, session=session)


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
