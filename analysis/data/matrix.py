"""PerformanceMatrix: the runs of one variant, benchmark by benchmark.

It is what every method of `analysis.methods` takes. A matrix may be ragged: a benchmark has the
runs it has. Values are positive and finite, because every comparison here is one of ratios.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, Page, section
from ..pages.result import cautions_to_dict, short
from ..record.run_numbers import Better
from ..stats.arguments import checks_arguments, counted, numbers
from ..stats.samples import Array, Integers, median, read_only
from ..words import name_fields
from .runs import POOLED, Ids, Processes, Rows, Unit, ids_of, ids_of_runs, level_caution

if TYPE_CHECKING:
    from .iterations import IterationsOfCell, ValuesOf
    from .matrix_file import MatrixTable

# --- Runs that failed, of each benchmark and in which sessions; and what those that a time limit ended tell.


Failed = Mapping[str, int | Mapping[Any, int]]
Failures = tuple[Mapping[str, int], Mapping[str, Mapping[Any, int]]]
_Value = TypeVar("_Value")


class CutOff(NamedTuple):
    """A benchmark's failed runs that their time limit ended: how many, and the least of their limits.

    `bounds`: Lower bounds of their values, with the ids of `sessions` and `blocks`; None where there are none.
    `known`: False of runs that failed, nobody knows why.
    """

    runs: int
    limit_s: float | None = None
    bounds: Array | None = None
    sessions: Any = None
    blocks: Any = None
    known: bool = True


def failures_of(name: str, failed: Failed | None, sessions: Rows | None) -> Failures:
    """Read what a caller says of failed runs: how many each benchmark has, and in which session where that is known, without zeros."""
    kinds = {row.dtype.kind == "U" for row in sessions or ()}
    totals: dict[str, int] = {}
    by_session: dict[str, dict[Any, int]] = {}
    for bench, text in (failed or {}).items():
        if not isinstance(text, Mapping):
            totals[bench] = counted(f"failed[{bench!r}]", text, least=0)
            continue
        where = f"{name}, benchmark {bench!r}"
        if sessions is None:
            what = "the sessions of failed runs are named, those of the others are not"
            fix = "give sessions= too, or only how many runs failed"
            raise UsageError(what, where, fix)
        counts: dict[int | str, int] = {}
        for label, n in text.items():
            number = isinstance(label, (int, np.integer)) and not isinstance(label, bool)
            if not (isinstance(label, str) and True in kinds) and not (number and False in kinds):
                raise UsageError(
                    f"{label!r} is not the id of a session of these runs",
                    where,
                    "name sessions of failed runs as those of the others: by whole numbers, or by names",
                )
            known = counted(f"failed[{bench!r}][{label!r}]", n, least=0)
            counts[int(label) if number else str(label)] = known
        totals[bench] = sum(counts.values())
        by_session[bench] = {label: n for label, n in counts.items() if n}
    return totals, by_session


def failures_of_rows(benchmarks: Sequence[str], sessions: Sequence[int]) -> Failures:
    """Count failed runs, each with its benchmark and its session."""
    by_session: dict[str, Counter[int]] = {bench: Counter() for bench in benchmarks}
    for bench, session in zip(benchmarks, sessions, strict=True):
        by_session[bench][session] += 1
    return Counter(benchmarks), by_session


def of_some(failures: Mapping[str, _Value], benchmarks: Iterable[str]) -> dict[str, _Value]:
    """Give what is known of these benchmarks."""
    return {bench: failures[bench] for bench in benchmarks if bench in failures}


# --- The matrix.


_ROWS = ("samples", "blocks", "sessions", "iterations", "run_of")  # an array a benchmark
_FROM_TABLE = ["blocks", "sessions", "processes", "failed", "cut", "cautions", "metric", "origin"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PerformanceMatrix:
    """Benchmarks x runs of one variant; build it with `from_samples` or `read`.

    Attributes
    ----------
    name : str
        The variant's name.
    benchmarks : tuple of str
        The benchmarks' names, in their order.
    samples : tuple of read-only float arrays
        One array of runs for each benchmark.
    better : {"lower", "higher"}
        Which direction is better.
    unit : str
        The unit of the values.
    blocks, sessions : tuple of read-only arrays, or None
        The block and the session of each run, in the shape of `samples`; None when unknown.
        Two runs of one trial stem from the same block exactly when their block ids are equal.
    cautions : tuple of Caution
        What a reader of the values should know, such as runs that were left out.
    trial : str or None
        The directory of the trial that the runs stem from; None when unknown.
    failed, failed_by_session : mapping
        Benchmark -> how many runs failed, if any; and session -> how many of it, where that is known.
        Also of benchmarks that have no other runs.
    session_order : tuple or None
        The sessions' ids in the order of time, empty where unknown; None: by their numbers, if any.
    iterations : tuple of read-only float arrays, or None
        What processes measured of themselves, where that is known: `samples` are their means.
    run_of : tuple of read-only int arrays, or None
        For each of `iterations` the place of its run in `samples`.
    metric, origin : str or None
        What was measured, and the file or folder that it was read from; None when unknown.
    with_zeros : PerformanceMatrix or None
        Benchmarks that have runs of 0, so that no ratio exists; for `analysis.multilevel` only.
    cut : mapping or None
        Benchmark -> those of its failed runs that a time limit ended; None: nobody knows whether there are such.
    values_of : mapping
        Benchmark -> of a quantile, how many values its sessions have.
    outermost : {"session", "host"}
        What `sessions` are: "host" where each host of a fleet is taken as one session.
    judged_iterations : mapping
        Benchmark -> what became of the iterations of its runs, where some are not judged.
    """

    name: str
    benchmarks: tuple[str, ...]
    samples: tuple[Array, ...]
    better: Better
    unit: str = "s"
    blocks: Rows | None = None
    sessions: Rows | None = None
    cautions: tuple[Caution, ...] = ()
    trial: str | None = None
    failed: Mapping[str, int] = field(default_factory=dict)
    failed_by_session: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)
    session_order: tuple[Any, ...] | None = None
    iterations: tuple[Array, ...] | None = None
    run_of: tuple[Integers, ...] | None = None
    metric: str | None = None
    origin: str | None = None
    with_zeros: PerformanceMatrix | None = None
    cut: Mapping[str, CutOff] | None = None
    values_of: Mapping[str, ValuesOf] = field(default_factory=dict)
    outermost: Unit = "session"
    of_builds: bool = False  # whether its values are numbers of builds, and not of runs
    judged_iterations: Mapping[str, IterationsOfCell] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name_fields(self, "name", "benchmarks", "metric")

    @classmethod
    @checks_arguments
    def from_samples(
        cls,
        name: str,
        samples: Mapping[str, ArrayLike],
        *,
        better: Better,
        unit: str = "s",
        blocks: Ids | None = None,
        sessions: Ids | None = None,
        processes: Ids | None = None,
        cautions: Sequence[Caution] = (),
        trial: str | None = None,
        failed: Failed | None = None,
        cut: Mapping[str, int] | None = None,
        metric: str | None = None,
        origin: str | None = None,
    ) -> Self:
        """Build a matrix from the runs of each benchmark, or from the iterations within them.

        Parameters
        ----------
        name : str
            The variant's name.
        samples : mapping of str to array_like
            Benchmark -> its runs, at least one each. The values are copied. With `processes`, the
            iterations of its runs.
        better : {"lower", "higher"}
            Which direction is better.
        unit : str
            The unit of the values.
        blocks, sessions : mapping of str to sequence, optional
            Benchmark -> the ids (whole numbers or names) of its runs' blocks and sessions.
        processes : mapping of str to sequence, optional
            Benchmark -> for each value the id of the process that it stems from. A process is then
            one run: the arithmetic mean of its values, in the order in which processes appear. Ids
            of blocks and sessions are given for each value, and are those of the process.
        cautions : sequence of Caution
            What a reader of the values should know.
        trial : str, optional
            The directory of the trial that the runs stem from: with two of them a comparison says
            so, and never takes their blocks and sessions for the same ones.
        failed : mapping of str to int or mapping, optional
            Benchmark -> how many further runs failed, or ``{session: how many}``.
        cut : mapping of str to int, optional
            Benchmark -> how many of these a time limit ended; ``{}``: none. By default nobody knows, and
            comparisons withhold what a longer time of them would overturn.
        metric, origin : str, optional
            What was measured, and where it was read.

        Raises
        ------
        UsageError
            If `better` is unknown, ids do not fit the samples, a process stands in two blocks or
            sessions, or a count is negative or of a session that is named otherwise.
        AnalysisError
            If a value is not a positive finite number.
        InsufficientDataError
            If there is no benchmark, or one without runs.
        """
        if better not in ("lower", "higher"):
            raise UsageError(f"better must be 'lower' or 'higher', not {better!r}", name)
        if not samples:
            raise InsufficientDataError(
                "there is no benchmark", name, "give at least one benchmark", n=0, needed=1
            )
        arrays = tuple(
            _checked(values, f"{name}, benchmark {bench!r}") for bench, values in samples.items()
        )
        names = tuple(samples)
        block_ids = ids_of(name, "blocks", blocks, names, arrays)
        session_ids = ids_of(name, "sessions", sessions, names, arrays)
        process_ids = ids_of(name, "processes", processes, names, arrays)
        lost, lost_by_session = failures_of(name, failed, session_ids)
        iterations = run_of = None
        if process_ids is not None:
            runs = tuple(map(Processes.of, arrays, process_ids))
            iterations, run_of = arrays, tuple(one.place for one in runs)
            arrays = tuple(one.means for one in runs)
            block_ids = ids_of_runs(name, "blocks", block_ids, names, runs)
            session_ids = ids_of_runs(name, "sessions", session_ids, names, runs)
            found = level_caution([a.size for a in arrays], [i.size for i in iterations])
            cautions = (*cautions, *found)
        return cls(
            name=name,
            benchmarks=names,
            samples=arrays,
            better=better,
            unit=unit,
            blocks=block_ids,
            sessions=session_ids,
            iterations=iterations,
            run_of=run_of,
            metric=metric,
            origin=origin,
            cautions=tuple(cautions),
            # a file holds it as its caution
            outermost="host" if any(c.code == "hosts-as-sessions" for c in cautions) else "session",
            trial=trial,
            failed=lost,
            failed_by_session=lost_by_session,
            cut=None
            if cut is None
            else {
                bench: CutOff(ended)
                for bench, given in cut.items()
                if (ended := counted(f"cut[{bench!r}]", given, least=0))
            },
        )

    @classmethod
    def of_array(cls, name: str, values: ArrayLike, better: Better | None) -> Self:
        """Build a matrix from an array as papers have it: a row for each benchmark, its runs in the columns."""
        rows = numbers(values, f"the values of {name}", dimensions=None)
        if rows.ndim != 2:
            what = f"{name} must have a row for each benchmark, and is {rows.ndim}-dimensional"
            raise UsageError(
                what, None, "write [[1.5, 1.6], [2.0, 2.1]]: two benchmarks, two runs each"
            )
        if better is None:
            what = f"{name} is an array, which does not say which values are better"
            raise UsageError(what, None, 'add better="lower" (times), or better="higher" (rates)')
        samples = {f"{number}": row for number, row in enumerate(rows, 1)}
        return cls.from_samples(name, samples, better=better)

    @classmethod
    @checks_arguments
    def read(
        cls,
        path: str | Path,
        *,
        better: Better,
        unit: str = "s",
        layout: Literal["rows", "columns"] | None = None,
        decimal: Literal["comma", "point"] | None = None,
        name: str | None = None,
    ) -> Self:
        """Read a matrix, or a list of numbers, from a text or JSON file of any name.

        Texts hold numbers separated by tabs, semicolons, commas or blanks, with or without a line of
        headings and a column of names; lines that start with ``#`` are comments. One number a line
        are the runs of one benchmark, ``values``. JSON files hold ``{benchmark: [runs]}``, a list of
        rows, or what `to_dict` gives.

        Parameters
        ----------
        path : str or Path
            The file.
        better : {"lower", "higher"}
            Which direction is better; a file cannot be trusted to say so.
        unit : str
            The unit of the values, unless a JSON file names its own.
        layout : {"rows", "columns"}, optional
            Whether each row, or each column, is one benchmark. By default rows, but lines of one
            number each are one benchmark.
        decimal : {"comma", "point"}, optional
            The decimal sign. By default a point, or a comma where it can be nothing else.
        name : str, optional
            The variant's name; the file's name without its ending by default.

        Raises
        ------
        UsageError
            If the file is missing, or contradicts `better`.
        AnalysisError
            If a cell is no positive finite number, or may be read in two ways; the message says
            file, line and column.
        """
        from .matrix_file import read_table

        table = read_table(Path(path), layout, decimal)
        called = name or table.name or Path(path).stem
        return cls.of_table(table, str(path), better=better, unit=unit, name=called)

    @classmethod
    def of_table(
        cls, table: MatrixTable, source: str, *, better: Better | None, unit: str, name: str
    ) -> Self:
        """Make a matrix of what a file holds, where smaller values are better unless it is said."""
        if None not in (better, table.better) and table.better != better:
            what = f"the file says that {table.better} values are better, the call says {better}"
            raise UsageError(what, source, "make both agree")
        return cls.from_samples(
            name,
            table.samples,
            better=better or table.better or "lower",
            unit=table.unit or unit,
            **{key: getattr(table, key) for key in _FROM_TABLE},
        )

    @checks_arguments
    def values(self, benchmark: str) -> Array:
        """Give the runs of one benchmark (read-only).

        Raises
        ------
        UsageError
            If the matrix has no such benchmark.
        """
        try:
            return self.samples[self.benchmarks.index(benchmark)]
        except ValueError:
            what = f"there is no benchmark {benchmark!r}"
            fix = f"known here: {', '.join(map(format, self.benchmarks))}"
            raise UsageError(what, self.name, fix) from None

    @property
    def runs(self) -> tuple[int, ...]:
        """How many runs each benchmark has."""
        return tuple(len(values) for values in self.samples)

    def medians(self) -> Array:
        """Give the median of each benchmark (read-only)."""
        return read_only(np.array([median(values) for values in self.samples]))

    @checks_arguments
    def select(self, benchmarks: Sequence[str]) -> Self:
        """Give the matrix of these benchmarks only, in this order."""
        place = {bench: i for i, bench in enumerate(self.benchmarks)}
        where = [place[bench] for bench in benchmarks]

        def pick(name: str) -> Any:  # noqa: ANN401 - rows of arrays, or None
            rows = getattr(self, name)
            return None if rows is None else tuple(rows[i] for i in where)

        return replace(
            self,
            benchmarks=tuple(benchmarks),
            **{name: pick(name) for name in _ROWS},
            with_zeros=None,
            failed=of_some(self.failed, benchmarks),
            failed_by_session=of_some(self.failed_by_session, benchmarks),
        )

    @checks_arguments
    def at_level(self, level: str) -> PerformanceMatrix:
        """Give the matrix whose runs are processes (``process``: itself), or their iterations.

        Iterations of one process are no independent runs; a caution says so to who pools them.

        Raises
        ------
        UsageError
            If the level is neither, or nothing is known of iterations.
        """
        if level not in ("process", "iteration"):
            raise UsageError(f"there is no level {level!r}", self.name, "process, or iteration")
        if level == "process":
            return self
        if self.iterations is None or self.run_of is None:
            what = "nothing is known of iterations within the runs"
            raise UsageError(what, self.name, "leave --level out: every value is one run already")

        def spread(ids: Rows | None) -> Rows | None:
            rows = zip(ids or (), self.run_of or (), strict=True)
            return None if ids is None else tuple(read_only(row[of]) for row, of in rows)

        return replace(
            self,
            samples=self.iterations,
            blocks=spread(self.blocks),
            sessions=spread(self.sessions),
            iterations=None,
            run_of=None,
            cautions=(*(one for one in self.cautions if one.code != "process-means"), POOLED),
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the matrix as JSON types; `read` takes this back."""

        def rows(arrays: Rows | None) -> dict[str, list[Any]] | None:
            known = zip(self.benchmarks, arrays or (), strict=True)
            return None if arrays is None else {bench: row.tolist() for bench, row in known}

        by_run = None
        if self.iterations is not None and self.run_of is not None:
            known = zip(self.benchmarks, self.iterations, self.run_of, strict=True)
            by_run = {
                bench: [values[run_of == k].tolist() for k in range(runs)]
                for (bench, values, run_of), runs in zip(known, self.runs, strict=True)
            }
        return {
            "name": self.name,
            "better": self.better,
            "unit": self.unit,
            "samples": rows(self.samples),
            "blocks": rows(self.blocks),
            "sessions": rows(self.sessions),
            "iterations": by_run,
            "failed": {
                bench: {str(label): n for label, n in by_session.items()}
                if (by_session := self.failed_by_session.get(bench)) is not None
                else total
                for bench, total in self.failed.items()
            },
            "cut": None if self.cut is None else {b: one.runs for b, one in self.cut.items()},
            "metric": self.metric,
            "origin": self.origin,
            **cautions_to_dict(self.cautions),
        }

    def __str__(self) -> str:
        unit = figures.unit_text(self.unit) or "no unit"
        runs = f"{len(self.benchmarks)} benchmarks x {figures.span(self.runs)} runs"
        return f"{self.name}: {runs}, in {unit}, {self.better} is better"

    def __repr__(self) -> str:
        found = section(str(self).removeprefix(f"{self.name}: "))
        return short(self, Page(title=self.name, sections=(found,), cautions=self.cautions))


def _checked(values: ArrayLike, where: str) -> Array:
    array = numbers(values, "the runs", where, wrong=AnalysisError)
    if array.size == 0:
        raise InsufficientDataError(
            "the benchmark has no runs", where, "leave it out, or measure it", n=0, needed=1
        )
    check_positive(array, where)
    return read_only(array)


def check_positive(array: Array, where: str) -> None:
    """Refuse runs that are not positive finite numbers."""
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        what = f"run {bad[0] + 1} is {float(array[bad[0]])!r}"
        fix = "values must be positive and finite: every comparison here is one of ratios"
        raise AnalysisError(what, where, fix)


def cut_of(matrix: PerformanceMatrix, benchmark: str) -> CutOff:
    """Give what is known of a benchmark's cut runs."""
    if matrix.cut is None:
        return CutOff(matrix.failed.get(benchmark, 0), known=False)
    return matrix.cut.get(benchmark, CutOff(0))


def with_bounds(matrix: PerformanceMatrix) -> PerformanceMatrix:
    """Put the lower bounds of cut runs with the runs of their benchmark."""
    cut = {b: one for b, one in (matrix.cut or {}).items() if one.bounds is not None}
    if not cut.keys() & set(matrix.benchmarks):
        return matrix
    rows: dict[str, Any] = {
        field: tuple(
            np.concatenate([row, getattr(cut[bench], name)]) if bench in cut else row
            for bench, row in zip(matrix.benchmarks, getattr(matrix, field), strict=True)
        )
        for field, name in (("samples", "bounds"), ("sessions", "sessions"), ("blocks", "blocks"))
        if getattr(matrix, field) is not None
    }
    return replace(matrix, **rows, cut=None, iterations=None, run_of=None)


class FailureCounts(NamedTuple):
    """One benchmark's runs of one variant by session: how many failed, and how many there were."""

    failed: tuple[int, ...]
    runs: tuple[int, ...]


def cells_of(matrix: PerformanceMatrix, bench: str) -> FailureCounts | None:
    """Give a benchmark's runs by session, in the order of the sessions' ids.

    A matrix that does not know its sessions has one. Without any run there is no cell.
    """
    lost = matrix.failed_by_session.get(bench)
    if matrix.failed.get(bench, 0) and lost is None:
        return None
    k = matrix.benchmarks.index(bench) if bench in matrix.benchmarks else None
    if matrix.sessions is None:
        runs = () if k is None else (len(matrix.samples[k]),)
        return FailureCounts((0,) * len(runs), runs)
    good: dict[Any, int] = {}
    if k is not None:
        labels, counts = np.unique(matrix.sessions[k], return_counts=True)
        good = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    failed = lost or {}
    everywhere = sorted({*good, *failed}, key=lambda one: (isinstance(one, str), one))
    return FailureCounts(
        tuple(failed.get(one, 0) for one in everywhere),
        tuple(failed.get(one, 0) + good.get(one, 0) for one in everywhere),
    )
