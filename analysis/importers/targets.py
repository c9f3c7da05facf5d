"""Which formats can be written: one row a target, and what each cannot hold.

A target is a function ``write_NAME(exported)`` in `analysis.importers.export`, which gives a `Written`.
To add one, write it and its row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, cast

from ..errors import UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, cautions_of
from ..registry import load

if TYPE_CHECKING:
    from .export_data import ExportedData, Metric

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
    cut = sum(run.outcome.startswith("timeout") for run in runs)
    at_limit = f"that {figures.counted(cut, 'run')} ended at a time limit"
    warmups = sum(run.warmup for run in runs)
    sessions = len({run.session for run in runs})
    blocks = {run.block for run in runs} - {None}
    for what, is_lost, text in (
        ("failed", failed, f"{figures.counted(failed, 'run')} that failed: left out"),
        ("limits", cut, at_limit),
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


STDOUT = "-"


class Target(NamedTuple):
    """A target: its name for ``--to``, how a sentence calls it, and the endings that mean it."""

    name: str
    said: str
    endings: tuple[str, ...] = ()
    binary: bool = False
    also: str = ""  # another name for --to
    module: str = "analysis.importers.export"

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
    Target("hyperfine", "hyperfine's JSON"),
    Target("pyperf", "pyperf's JSON"),
    Target("go-bench", "text for benchstat", (".txt",), also="benchstat"),
    Target("long-csv", "a CSV, one value a row", (".csv",)),
    Target("parquet", "Parquet", (".parquet",), binary=True),
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
