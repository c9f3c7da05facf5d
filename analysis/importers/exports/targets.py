"""Which formats can be written: one row a target; its module is imported when it is wanted.

A target is a function ``write_NAME(exported)`` in `analysis.importers.exports`, which gives a `Written`.
To add one, write it and its row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, cast

from ...errors import UsageError
from ...registry import load
from .losses import Written, never_held

if TYPE_CHECKING:
    from .export_data import ExportedData

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
    Target("hyperfine", "hyperfine's JSON", "analysis.importers.exports.seconds"),
    Target("pyperf", "pyperf's JSON", "analysis.importers.exports.seconds"),
    Target("google-benchmark", "Google Benchmark's JSON", "analysis.importers.exports.nanoseconds"),
    Target("pytest-benchmark", "pytest-benchmark's JSON", "analysis.importers.exports.seconds"),
    Target(
        "go-bench",
        "text for benchstat",
        "analysis.importers.exports.nanoseconds",
        endings=(".txt",),
        also="benchstat",
    ),
    Target(
        "long-csv", "a CSV, one value a row", "analysis.importers.exports.tables", endings=(".csv",)
    ),
    Target("wide-csv", "a CSV, one benchmark a row", "analysis.importers.exports.tables"),
    Target(
        "json", "JSON, one object a value", "analysis.importers.exports.tables", endings=(".json",)
    ),
    Target(
        "parquet",
        "Parquet",
        "analysis.importers.exports.tables",
        endings=(".parquet",),
        binary=True,
    ),
    Target(
        "sqlite",
        "SQLite",
        "analysis.importers.exports.tables",
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
