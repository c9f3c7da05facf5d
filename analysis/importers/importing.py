"""Makes a trial of foreign files: rows as the runner's, and null for all that nobody knows."""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat, zip_longest
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..data.columns import OUTCOMES, FailedRun, metric_column, unknown_numbers
from ..data.opening import readable
from ..data.trial import Trial
from ..data.trial_cautions import (
    DEFINITIONS,
    READ_AS,
    SETTINGS,
    SINGLE,
    import_cautions,
    name_cautions,
)
from ..errors import AnalysisError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, Page, section, table_of, value_of
from ..pages.result import Result
from ..record.manifest import (
    WARMUP_ASKED,
    appearing,
    manifest_of,
    manifest_text,
    utc_now,
    write_hashed,
)
from ..record.run_numbers import Better, Measurement, Outcome
from ..record.shapes import encode_checked
from ..record.trial_files import (
    ENVIRONMENT,
    FINDINGS,
    IMPORT,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    Manifest,
    Stored,
)
from ..stats.samples import read_only
from ..version import VERSION
from .gathering import GatheredCells, NamedCell, Sitting, require_agreement
from .parsing import ForeignCell, hosts_in

# --- What is in these files? The answer of ``fairtrial import --dry-run``: nothing is written.


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedCell:
    """One cell as it would be stored; None where the file does not tell.

    `benchmark`, `variant`, `metric`, `unit`, `source`: Times are in seconds, sizes in bytes,
    whatever the file's unit; other units as they stand. `better`: Which direction is better.
    `values`: Raw values: no warm-ups, no failed runs. `first`, `last`, `sum`: Of these values.
    `processes`, `iterations`: Processes, and values of each (None also where processes differ in
    it). `warmups`, `failed`: Values and runs that are left out. `session`: The file's own name of
    the occasion.
    """

    benchmark: str
    variant: str
    metric: str
    unit: str | None
    better: str | None
    values: int
    first: float | None
    last: float | None
    sum: float | None
    processes: int | None
    iterations: int | None
    warmups: int | None
    failed: int | None
    source: str
    session: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inspected(Result):
    """All cells of all files, and what they cannot tell.

    `format`: The format; ``several`` where the files differ in it. `rule`: Which key is the
    variant, as a sentence. `cells`: In the order of the files. `cannot_recover`: What the files do
    not hold, a sentence each.
    """

    method: ClassVar[str] = "import"

    format: str
    rule: str
    cells: tuple[InspectedCell, ...]
    cannot_recover: tuple[str, ...]

    def screen(self) -> Page:
        """Set the format, the first cells of all occasions, and what the files do not hold."""
        names = "benchmark", "variant", "metric"
        cells: dict[object, list[InspectedCell]] = {}
        for one in self.cells:
            cells.setdefault((*(getattr(one, name) for name in names), one.unit), []).append(one)
        more = len(cells) - _SHOWN

        def total(name: str) -> tuple[object, ...]:
            def counted_of(those: list[InspectedCell]) -> int | None:
                counts = [getattr(one, name) for one in those]
                return None if None in counts else sum(counts)

            return name, counted_of, str, "?"

        def end(name: str, at: int) -> tuple[object, ...]:
            return name, lambda those: value_of(
                getattr(those[at], name), partial(figures.quantity, unit=those[at].unit or "")
            )

        table = table_of(
            "cells",
            [*cells.values()][:_SHOWN],
            *((f"@{name}", lambda those, name=name: getattr(those[0], name)) for name in names),
            ("occasions", len) if len(cells) < len(self.cells) else None,
            *map(total, ("values", "processes", "failed")),
            *map(end, ("first", "last"), (0, -1)),
        )
        text = f"{self.format}: {figures.counted(len(cells), 'cell')}; {self.rule}"
        sections = [section(text, table, *[f"and {more} more"] * (more > 0))]
        if self.cannot_recover:
            sections.append(section(*self.cannot_recover, title="not in them"))
        texts = tuple(one for one in self.cautions if one.code != READ_AS)  # the first line says it
        return Page(title="What the files hold", sections=tuple(sections), cautions=texts)


def inspect_files(gathered: GatheredCells, better: Better | None = None) -> Inspected:
    """Count what the files hold; `better` is the direction of metrics where no file says it."""
    formats = {file.format for file in gathered.files}
    every = [loss for file in gathered.files for loss in file.losses]
    losses = dict.fromkeys(loss.text for loss in every if loss.code != SINGLE)
    lost = {loss.code for loss in every}
    counts: Counter[tuple[str, str, str]] = Counter()
    for one in gathered.cells:
        counts[one.benchmark, one.variant, one.cell.metric] += len(one.cell.values)
    if 1 in counts.values():  # else several files have the values together
        lost -= {SINGLE}
    return Inspected(
        format=formats.pop() if len(formats) == 1 else "several",
        rule=gathered.rule,
        cells=tuple(map(_inspected, gathered.cells)),
        cannot_recover=tuple(losses),
        cautions=(
            *(one for one in gathered.cautions if one.code not in lost),
            *_left_out(_directions(gathered, better)),
        ),
    )


def _directions(gathered: GatheredCells, better: Better | None) -> dict[str, Better | None]:
    """Give the direction of each metric, None where none is known."""
    found: dict[str, Better | None] = dict.fromkeys(gathered.metrics, better)
    for one in reversed(gathered.cells):
        found[one.cell.metric] = one.cell.better or found[one.cell.metric]
    return found


_FIX = "add --better lower (times) or --better higher (scores, rates)"


def _left_out(directions: dict[str, Better | None]) -> Iterator[Caution]:
    without = tuple(metric for metric, better in directions.items() if better is None)
    if without and len(without) < len(directions):
        text = f"left out, because no direction is known: {figures.listed(without)}; where the files are read, {_FIX}, and choose it with --metric"
        yield Caution("metric-left-out", text, without)


def _inspected(one: NamedCell) -> InspectedCell:
    cell, values = one.cell, one.cell.values
    sizes = {len(process) for process in cell.processes} if cell.known else set()
    total = None
    with suppress(OverflowError):  # a double cannot hold it
        total = math.fsum(values) if values else None  # of the same digits under every Python
    return InspectedCell(
        benchmark=one.benchmark,
        variant=one.variant,
        metric=cell.metric,
        unit=cell.unit or None,
        better=cell.better,
        values=len(values),
        first=values[0] if values else None,
        last=values[-1] if values else None,
        sum=total,
        processes=len(cell.processes) if cell.known else None,
        iterations=sizes.pop() if len(sizes) == 1 else None,
        warmups=cell.warmups,
        failed=cell.failed,
        source=one.source,
        session=cell.session,
    )


_SHOWN = 40


Values = tuple[float, ...]
Labels = tuple[str, ...] | None  # the file's names of processes


@dataclass(slots=True)
class Joined:
    """One process: its values by metric, and its block; 0 where nobody knows."""

    values: dict[str, Values]
    block: int = 0


_Cell = tuple[int, str, str]  # session, benchmark, variant
_Run = tuple[Outcome, str | None, Joined]  # with what the file says of its end


def joined_processes(cells: Sequence[ForeignCell]) -> list[Joined]:
    """Give the processes of one benchmark and variant in one sitting, each with its metrics.

    Metrics are joined by the names of processes where both have names, else by their order where
    there are as many of both. Otherwise nobody knows which belong together: they stand in rows of
    their own.
    """
    blocks: list[tuple[Labels, list[Joined]]] = []
    for cell in cells:
        processes = cell.processes if cell.known else tuple((value,) for value in cell.values)
        pairs = zip(processes, cell.blocks or (0,) * len(processes), strict=True)
        new = [Joined({cell.metric: values}, block) for values, block in pairs]
        labels = cell.labels
        if labels is not None and len(set(labels)) < len(labels):
            labels = None  # two processes of one name
        for k, (known, rows) in enumerate(blocks if new else ()):
            if any(cell.metric in row.values for row in rows):
                continue
            if known is not None and labels is not None:
                blocks[k] = _joined_by_name(known, rows, labels, new)
                break
            if len(rows) == len(new):
                for row, one in zip(rows, new, strict=True):
                    row.values |= one.values
                blocks[k] = known or labels, rows
                break
        else:
            blocks += [(labels, new)] * bool(new)
    joined = [row for _, rows in blocks for row in rows]
    for row in joined:
        if not all(row.values.values()):
            row.values = {metric: values for metric, values in row.values.items() if values}
    return joined


def _joined_by_name(
    order: tuple[str, ...], first: list[Joined], labels: tuple[str, ...], new: list[Joined]
) -> tuple[Labels, list[Joined]]:
    rows = dict(zip(order, first, strict=True))
    behind: dict[str | None, list[str]] = {}  # processes that no other metric has
    before: str | None = None
    for label, one in zip(labels, new, strict=True):
        if label in rows:
            before = label
            rows[label].values |= one.values
        else:
            behind.setdefault(before, []).append(label)
            rows[label] = one
    after = (one for label in order for one in (label, *behind.get(label, ())))
    every = (*behind.get(None, ()), *after)
    return every, [rows[label] for label in every]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported(Stored):
    """A trial that was made of foreign files."""

    trial: str
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: int
    cannot_recover: tuple[str, ...]


def import_files(
    gathered: GatheredCells,
    folder: Path,
    *,
    baseline: str | None = None,
    better: Better | None = None,
) -> Imported:
    """Write a trial.

    A process becomes a run, with its values as the iterations of a metric; where the file does not
    know processes each value is a run. Failed runs keep their outcome and have no value.
    """
    gathered, _ = _directed(gathered, better)
    if baseline is not None and baseline not in gathered.variants:
        twice = (one for one in gathered.cautions if one.code == "one-variant-twice")
        texts = [one.text for one in twice if one.about[0] == baseline]
        fix = "; ".join((*texts, f"known here: {', '.join(map(format, gathered.variants))}"))
        raise UsageError(f"there is no variant {baseline!r}", gathered.files[0].source, fix)
    found = inspect_files(gathered)
    trial = trial_of(gathered, Path(folder), better=better)
    files: dict[str, Iterable[bytes]] = {ENVIRONMENT: (), PLAN: ()}
    files |= {MEASUREMENTS: _lines(gathered), FINDINGS: ()}
    files[IMPORT] = [json.dumps(found.to_dict(), indent=2, allow_nan=False).encode() + b"\n"]
    with appearing(Path(folder)) as fresh:
        hashes = {name: write_hashed(fresh / name, data) for name, data in files.items()}
        (fresh / OUTPUTS).mkdir(mode=0o700)
        first = baseline or trial.manifest.baseline
        manifest = replace(trial.manifest, baseline=first, files=hashes)
        write_hashed(fresh / MANIFEST, [manifest_text(manifest)])
    return Imported(
        trial=str(folder),
        variants=gathered.variants,
        benchmarks=gathered.benchmarks,
        metrics=gathered.metrics,
        rows=len(trial),
        cannot_recover=found.cannot_recover,
    )


def _directed(
    gathered: GatheredCells, better: Better | None
) -> tuple[GatheredCells, dict[str, dict[str, str]]]:
    """Give each metric its unit and direction; a further one without a direction is left out."""
    if not any(one.cell.values for one in gathered.cells):
        what = "no run counts: all failed, or the files hold none"
        fix = "look at what the programs wrote, and measure again"
        raise AnalysisError(what, gathered.files[0].source, fix)
    require_agreement(gathered.cells, better)
    directions = _directions(gathered, better)
    units = {one.cell.metric: one.cell.unit for one in reversed(gathered.cells) if one.cell.unit}
    found = {
        metric: {"unit": units.get(metric, ""), "better": words}
        for metric, words in directions.items()
        if words is not None
    }
    if not found:
        named = figures.listed(gathered.metrics)
        what = f"the file does not say which direction of {named} is better"
        raise UsageError(what, gathered.files[0].source, _FIX)
    kept = replace(
        gathered,
        cells=tuple(one for one in gathered.cells if one.cell.metric in found),
        cautions=(*gathered.cautions, *_left_out(directions)),
    )
    return kept, found


def _manifest(
    gathered: GatheredCells, name: str, counts: Counter[_Cell], metrics: dict[str, dict[str, str]]
) -> Manifest:
    files = gathered.files
    sources = [readable(file.source) for file in files]
    named = "".join(f"{file.format}\0{k}\0" for file, k in zip(files, sources, strict=True))
    models = {model for file in files if (model := file.facts.get("cpu_model"))}
    ways = {one.benchmark: one.cell.definition for one in gathered.cells if one.cell.definition}
    settings = {key: text for file in files for key, text in file.settings.items()}
    kept = {DEFINITIONS: ways, SETTINGS: settings}
    at = utc_now()
    return Manifest(
        further={key: found for key, found in kept.items() if found},
        trial=name,
        tool_version=VERSION,
        campaign_name=name,
        campaign_sha256=hashlib.sha256(named.encode()).hexdigest(),
        campaign_identity=2,
        campaign_path=", ".join(dict.fromkeys(sources)),
        baseline=gathered.variants[0],
        variants=gathered.variants,
        benchmarks=gathered.benchmarks,
        metrics=metrics,
        seed=0,
        sessions=max(session for session, _, _ in counts),
        runs=max(counts.values()),
        warmup=0,
        planned=0,
        host=hosts_in(host for file in files if (host := file.facts.get("host"))) or "unknown",
        host_id="unknown",
        cpu_model=models.pop() if len(models) == 1 else None,
        targets={},
        started=at,
        finished=at,
        status="complete",
        files={},
        origin="imported",
    )


def trial_of(gathered: GatheredCells, path: Path, *, better: Better | None = None) -> Trial:
    """Give the trial that `import_files` would write, without writing it; `path` is where the files lie.

    Raises what `import_files` raises.
    """
    gathered, metrics = _directed(gathered, better)
    places = [
        {name: k for k, name in enumerate(of)} for of in (gathered.benchmarks, gathered.variants)
    ]
    columns = {name: array("q") for name in ("session", "benchmark", "variant", "block", "outcome")}
    values = {metric: array("d") for metric in metrics}
    lengths = {metric: array("q") for metric in metrics}
    failed: list[FailedRun] = []
    counts: Counter[_Cell] = Counter()
    for cell, runs in _groups(gathered):
        about: dict[str, Any] = dict(zip(columns, cell, strict=False))
        failed += (
            FailedRun(position=k, outcome=outcome, detail=detail, warmup=False, **about)
            for k, (outcome, detail, _) in enumerate(runs, len(columns["block"]))
            if outcome != "ok"
        )
        counts[cell] += len(runs)
        whole = (cell[0], places[0][cell[1]], places[1][cell[2]])
        for column, number in zip(columns.values(), whole, strict=False):
            column.extend(repeat(number, len(runs)))
        columns["block"].extend([run.block for _, _, run in runs])
        columns["outcome"].extend([OUTCOMES.index(outcome) for outcome, _, _ in runs])
        for metric in metrics:
            given = [run.values.get(metric, ()) for _, _, run in runs]
            lengths[metric].extend(map(len, given))
            values[metric].extend(chain.from_iterable(given))
    manifest = _manifest(gathered, readable(path.name) or "imported", counts, metrics)
    manifest = manifest_of(json.loads(manifest_text(manifest)), path)
    none = np.zeros(counts.total(), dtype=np.int64)
    arrays: dict[str, Any] = {
        name: read_only(np.array(column, dtype=np.int64)) for name, column in columns.items()
    }
    return Trial(
        path=path,
        manifest=manifest,
        cautions=(*name_cautions(manifest), *import_cautions(inspect_files(gathered).to_dict())),
        planned_runs=0,
        position=read_only(np.arange(none.size)),
        segment=read_only(none),
        warmup=read_only(none.astype(np.bool_)),
        start_ns=read_only(none - 1),
        numbers=unknown_numbers(none.size),
        absent=frozenset(),
        metrics={name: metric_column(values[name], lengths[name]) for name in metrics},
        warmup_iterations=WARMUP_ASKED.get(),
        failed=tuple(failed),
        **arrays,
    )


def _groups(gathered: GatheredCells) -> Iterator[tuple[_Cell, list[_Run]]]:
    """Give the runs of each session, benchmark and variant that has some: those that count, then the failed ones."""
    numbers: dict[str, int] = {}  # occasions without a run are none
    groups: dict[tuple[Sitting, str, str], list[ForeignCell]] = {}
    for one in gathered.cells:
        groups.setdefault((one.sitting, one.benchmark, one.variant), []).append(one.cell)
    for (sitting, benchmark, variant), cells in groups.items():
        if runs := list(_runs(cells)):
            session = numbers.setdefault(sitting[0], len(numbers) + 1)
            yield (session, benchmark, variant), runs


def _lines(gathered: GatheredCells) -> Iterator[bytes]:
    """Give a line for each process, then one for each failed run of the cell; of a cut one with its lower bounds.

    The metrics of one process stand in one row, as far as the files show that they are of one.
    """
    every = ((cell, run) for cell, runs in _groups(gathered) for run in runs)
    for position, ((session, benchmark, variant), (outcome, detail, run)) in enumerate(every):
        row = Measurement(
            position=position,
            session=session,
            segment=0,
            block=run.block,
            benchmark=benchmark,
            variant=variant,
            warmup=False,
            started_at=None,
            start_ns=None,
            outcome=outcome,
            detail=detail,
            metrics=run.values,
        )
        yield encode_checked(row.to_dict()) + b"\n"


def _runs(cells: Sequence[ForeignCell]) -> Iterator[_Run]:
    """Give the runs of one benchmark, variant and sitting: those that count, that were cut, that failed otherwise."""
    for process in joined_processes(cells):
        yield "ok", None, process
    failed: Counter[str] = Counter()
    cut: dict[str, list[tuple[float | None, float | None, int]]] = {}
    for cell in cells:
        failed[cell.metric] += cell.failed or 0
        cut.setdefault(cell.metric, []).extend(cell.cut)
    for known in zip_longest(*cut.values(), fillvalue=(None, None, 0)):
        limits = [limit for _, limit, _ in known if limit is not None]
        text = "timeout" + f" of {min(limits, default=0)} s" * bool(limits)
        bounds: dict[str, Values] = {k: (of[0],) for k, of in zip(cut, known, strict=True) if of[0]}
        yield "timeout", f"{text}, as the file says", Joined(bounds, max(of[2] for of in known))
    for _ in range(max(failed.values(), default=0) - max(map(len, cut.values()), default=0)):
        yield "exit", "failed, as the file says", Joined({})
