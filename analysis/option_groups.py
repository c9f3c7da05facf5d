"""Options that several subcommands take together, and how a result is shown.

Importing this module costs no numpy. Errors pass through; `harness.cli` prints them.
"""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from .errors import FairtrialError, UsageError
from .options import Given
from .record.printer import write_json

_BACKENDS = {"threads": "threading", "processes": "loky"}  # joblib's names

if TYPE_CHECKING:
    from .data.matrix import PerformanceMatrix
    from .data.number_text import Decimal, Layout
    from .importers.reader import Reading, Sides
    from .pages.result import Result
    from .plots.axes import Sheet
    from .record.manifest import WarmupIterations
    from .record.run_numbers import Better


class Metric(Given):
    """What is compared, in which iterations and which columns; `harness.cli` makes the last two hold."""

    metric: str | None
    warmup_iterations: WarmupIterations | None
    columns: Mapping[str, str] | None


class Source(Metric):
    """How sources are read."""

    better: Better | None
    layout: Layout | None
    decimal: Decimal | None
    level: str
    command: str

    def reading(self) -> Reading:
        """Give how the sources of this command line are read."""
        from .importers.reader import Reading

        return Reading(**self.some("metric", "better", "layout", "decimal", "level", "command"))

    def not_for_tables(self) -> Iterator[str]:
        """Name those options that a table with headings has no use for."""
        yield from self.given("metric", "better")
        if self.layout == "columns":
            yield "--layout columns"


class BothSides(Source):
    """CANDIDATE and BASELINE, and how they are read."""

    candidate: str
    baseline: str | None

    def read(self) -> Sides:
        """Read both sides."""
        from .importers.reader import read_sides

        return read_sides(self.candidate, self.baseline, self.reading())


class Chosen(Given):
    """Which benchmarks of the sources count."""

    benchmark: list[str] | None
    exclude: list[str] | None

    def of(self, *matrices: PerformanceMatrix) -> list[PerformanceMatrix]:
        """Give the matrices with the benchmarks that count."""
        from .importers.reader import with_benchmarks

        return with_benchmarks(matrices, self.benchmark or (), self.exclude or ())

    def of_sides(self, sides: Sides) -> Sides:
        """Give both sides with the benchmarks that count."""
        ours, theirs = self.of(sides.candidate, sides.baseline)
        return replace(sides, candidate=ours, baseline=theirs)


class Judging(Source):
    """The rules of a verdict, and what is judged."""

    variant: list[str] | None
    benchmark: list[str] | None
    confidence: float
    margin: float
    correction: str
    weight: list[str] | None
    looks: int | None
    always_valid: bool
    certificate: str | None

    def rules(self) -> dict[str, Any]:
        """Give the options as `judge` and `judge_sides` take them."""
        found = self.some("confidence", "margin", "correction", "looks", "always_valid")
        return found | {"benchmarks": self.benchmark, "weights": weights(self.weight or ())}


class Drawn(Given):
    """Where a picture of the answer goes."""

    plot: str | None

    def picture(self) -> Path | None:
        """Give the file of the picture that is asked for; refuse one that cannot be written."""
        if self.plot is None:
            return None
        from .plots.chart import check_picture

        return check_picture(self.plot)


class Setting(Given):
    """How figures are set."""

    width: float | None
    font_size: float | None
    font_family: str | None

    def sheet(self) -> Sheet:
        """Give the sheet that the options ask for."""
        from .plots.axes import Sheet

        said = {name: value for name, value in vars(self).items() if value is not None}
        sheet = Sheet(**{"font_size": 8.0} | said)
        sheet.check()
        return sheet


class Workers(Given):
    """Where loops are executed."""

    workers: int | None
    backend: str | None
    dask: str | None

    @contextmanager
    def working(self) -> Iterator[int | None]:
        """Say where loops are executed inside this context; give their number of workers."""
        from .stats.arguments import counted
        from .stats.workers import MOST_WORKERS, available_cores, dask_cluster

        if self.dask is not None:
            for option in self.given("workers", "backend"):
                raise UsageError(
                    f"{option} is for this host, and --dask names a cluster",
                    fix="leave one of them out: a cluster has the workers that it has",
                )
            with dask_cluster(self.dask):
                yield None
            return
        count = available_cores()
        if self.workers is not None:
            count = counted("--workers", self.workers, most=MOST_WORKERS)
        if self.backend is None or count == 1:
            yield count
            return
        import joblib

        inner = {"inner_max_num_threads": 1} if self.backend == "processes" else {}
        with joblib.parallel_config(backend=_BACKENDS[self.backend], n_jobs=count, **inner):
            yield count


def metric_of(*matrices: PerformanceMatrix) -> str | None:
    """Give what the first line of a text must name: the metric that was chosen of trials."""
    from .record.manifest import read_manifest

    for matrix in matrices:
        if matrix.trial is None or matrix.metric is None:
            continue
        if matrix.metric != "wall":
            return matrix.metric
        with contextlib.suppress(FairtrialError):  # a fleet, or another tool's file
            return "wall" if read_manifest(Path(matrix.trial)).questions else None
    return None


def show(
    result: Result,
    out: TextIO,
    *,
    as_json: bool,
    metric: str | None = None,
    markdown: bool = False,
) -> None:
    """Print a result as text or Markdown, or exactly its ``to_dict()`` as JSON."""
    if as_json:
        write_json(result.to_dict(), out)
    elif markdown:
        from .pages.as_markup import render_markdown

        out.write(f"{render_markdown(result.screen()).rstrip()}\n")
    else:
        out.write(f"{headed(str(result), metric)}\n")


def headed(text: str, metric: str | None) -> str:
    """Name the metric above a text whose first line does not say it."""
    line = text.partition("\n")[0]
    found = metric is None or re.search(rf"(?<![\w.+-]){re.escape(metric)}(?![\w+-])", line)
    return text if found else f"metric: {metric}\n{text}"


def line_to(err: TextIO) -> Callable[[str], None]:
    """Give what says one line on `err` at once."""

    def say(text: str) -> None:
        err.write(f"{text}\n")
        err.flush()

    return say


def candidates_of(chosen: Sequence[str] | None, named: str | None) -> tuple[str, ...] | None:
    """Name the candidates of ``--variant``, that of ``runs/NAME:VARIANT`` among them."""
    found = [*([] if named is None else [named]), *(chosen or ())]
    return tuple(dict.fromkeys(found)) or None


def metrics_of(metric: str | None, declared: Callable[[], Sequence[str]]) -> Sequence[str | None]:
    """Give the metrics that have a screen each: those of ``--metric``, else those of the campaign."""
    return metric.split(",") if metric is not None else declared() or (None,)


def weights(given: Sequence[str]) -> dict[str, float] | None:
    """Read ``--weight NAME=W``."""
    found = {}
    for text in given:
        name, equals, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            equals = ""
        if not (equals and name):
            raise UsageError(f"--weight takes NAME=W, not {text!r}", fix="write --weight text=2")
    return found or None


# --- Being ended from outside.


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let only the first signal end the block: a second one must not interrupt the removing of what it has made."""
    before = {int(n): one for n in _SIGNALS if callable(one := signal.getsignal(n))}

    def end(number: int, frame: FrameType | None) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)
        before[number](number, frame)

    try:
        for number in before:
            signal.signal(number, end)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
