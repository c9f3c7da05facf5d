"""Which formats can be written: one row a target; its module is imported when it is wanted.

A target is a module in `analysis.foreign.exports` with ``write(leaving)``, which gives a `Written`. To
add one, write the module and its row.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Protocol, cast

from ...errors import UsageError
from .leaving import Leaving
from .losses import never_held
from .written import Written

__all__ = ["TARGETS", "Target", "target_for"]

STDOUT = "-"


class TargetWriter(Protocol):
    """What the module of a target offers."""

    def write(self, leaving: Leaving) -> Written:
        """Make the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target: its name for ``--to``, how a sentence calls it, and the endings that mean it."""

    name: str
    said: str
    endings: tuple[str, ...] = ()
    binary: bool = False
    also: str = ""  # another name for --to

    @property
    def writer(self) -> TargetWriter:
        """The module that writes it."""
        module = "json_rows" if self.name == "json" else self.name.replace("-", "_")
        return cast("TargetWriter", importlib.import_module(f".{module}", __package__))

    def write(self, leaving: Leaving) -> Written:
        """Make the file; what no target can hold is told with what this one cannot."""
        made = self.writer.write(leaving)
        return replace(made, lost=(*made.lost, *never_held(leaving)))


TARGETS: tuple[Target, ...] = (
    Target(name="hyperfine", said="hyperfine's JSON"),
    Target(name="pyperf", said="pyperf's JSON"),
    Target(name="google-benchmark", said="Google Benchmark's JSON"),
    Target(name="pytest-benchmark", said="pytest-benchmark's JSON"),
    Target(name="go-bench", said="text for benchstat", endings=(".txt",), also="benchstat"),
    Target(name="long-csv", said="a CSV, one value a row", endings=(".csv",)),
    Target(name="wide-csv", said="a CSV, one benchmark a row"),
    Target(name="json", said="JSON, one object a value", endings=(".json",)),
    Target(name="parquet", said="Parquet", endings=(".parquet",), binary=True),
    Target(name="sqlite", said="SQLite", endings=(".sqlite", ".sqlite3", ".db"), binary=True),
)


def target_for(output: str, name: str | None = None) -> Target:
    """Find the target of a file.

    Parameters
    ----------
    output : str
        The file, or ``-``; an ending ``.gz`` is left out of account.
    name : str, optional
        As ``--to`` said.

    Raises
    ------
    UsageError
        If the name is unknown, or no target has the file's ending.
    """
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
