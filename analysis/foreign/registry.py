"""Which foreign files can be read: one row a format, found by content, never by the name alone.

A format is a module in `analysis.foreign.tools`, `.libraries` or `.tables`, with

* ``knows(opened)``: whether the content is of this format, as sure as can be told from its
  beginning and its structure (`Opened.head`, or names of files in a folder);
* ``read(opened)``: the `ForeignFile`; raises where the file is damaged (with line and remedy), and
  where it holds summaries only (naming the option of the tool that keeps the runs).

To add one, write the module and its row. Importing this table imports none of them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Protocol, cast

from ..errors import AnalysisError, UsageError
from .cells import ForeignFile
from .folders import trials_within
from .opening import Opened
from .parsing import fail

__all__ = ["TOOLS", "Tool", "ToolReader", "read_foreign", "tool_of"]

_STRANGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class ToolReader(Protocol):
    """What the module of a format offers."""

    def knows(self, opened: Opened) -> bool:
        """Tell whether the file is of this format."""

    def read(self, opened: Opened) -> ForeignFile:
        """Give what the file holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A format: its name for ``--format``, and how a sentence calls such a file."""

    name: str
    said: str
    room: str = "tools"
    generic: bool = False  # asked only where no tool's own format knows the file

    @property
    def reader(self) -> ToolReader:
        """The module that reads it."""
        module = f".{self.room}.{_MODULES.get(self.name, self.name.replace('-', '_'))}"
        return cast("ToolReader", importlib.import_module(module, __package__))


TOOLS: tuple[Tool, ...] = (
    Tool(name="hyperfine", said="hyperfine's JSON"),
    Tool(name="pyperf", said="pyperf's JSON"),
    Tool(name="google-benchmark", said="Google Benchmark's JSON or CSV", room="libraries"),
    Tool(name="pytest-benchmark", said="pytest-benchmark's JSON", room="libraries"),
    Tool(name="rebench", said="ReBench's .data"),
    Tool(name="jmh", said="JMH's JSON", room="libraries"),
    Tool(name="go-bench", said="output of go test -bench", room="libraries"),
    Tool(name="benchmarkdotnet", said="BenchmarkDotNet's JSON", room="libraries"),
    Tool(name="js", said="JSON of mitata, Benchmark.js, tinybench or Vitest", room="libraries"),
    Tool(name="nanobench", said="nanobench's JSON", room="libraries"),
    Tool(name="r-bench", said="CSV of R's microbenchmark or bench", room="libraries"),
    Tool(name="julia", said="BenchmarkTools.jl's JSON", room="libraries"),
    Tool(name="criterion", said="criterion's folder, sample.json or raw.csv", room="libraries"),
    Tool(name="asv", said="asv's results"),
    Tool(name="benchexec", said="BenchExec's XML or table CSV"),
    Tool(name="perf-stat", said="perf stat -x, -j or --table"),
    Tool(name="spec-cpu", said="SPEC CPU's CSV or raw file"),
    Tool(name="phoronix", said="Phoronix Test Suite's composite.xml"),
    Tool(name="catch2", said="Catch2's XML"),
    Tool(name="speedup-test", said="the Speedup-Test's configuration", room="tables"),
    Tool(
        name="summaries", said="a summary of Bencher, github-action-benchmark, k6, fio or sysbench"
    ),
    Tool(name="libtest", said="libtest's bench output"),
    Tool(name="parquet", said="Parquet"),
    Tool(name="sqlite", said="SQLite", room="tables"),
    Tool(name="json", said="JSON, an object a value", room="tables", generic=True),
    Tool(name="long-csv", said="a long CSV (benchmark, variant, value, ...)", generic=True),
    Tool(name="wide-csv", said="a wide CSV", room="tables", generic=True),
    Tool(name="matrix", said="a matrix of bare numbers", room="tables", generic=True),
    Tool(name="numbers", said="one number a line", room="tables", generic=True),
)


_MODULES = {
    "speedup-test": "speedup_config",
    "matrix": "bare_table",
    "numbers": "numbers_list",
    "json": "json_rows",
    "sqlite": "sqlite_table",
}


def tool_of(opened: Opened, name: str | None = None) -> Tool:
    """Find the format of a foreign file.

    Parameters
    ----------
    opened : Opened
        The file.
    name : str, optional
        As ``--format`` said: then nothing is guessed.

    Raises
    ------
    UsageError
        If the name is unknown, or no format, or more than one, knows the file.
    """
    known = ", ".join(tool.name for tool in TOOLS)
    if name is not None:
        for tool in TOOLS:
            if tool.name == name:
                return tool
        raise UsageError(f"there is no format {name!r}", opened.source, f"known: {known}")
    # of general tables the first one that fits: numbers may be headings, or values
    found = _knowing(opened, generic=False) or _knowing(opened, generic=True)[:1]
    what = "folder" if opened.is_folder else "file"
    try:
        trials = trials_within(opened)
    except AnalysisError:  # too large a folder, of which a format knows its own part
        if not found:
            raise
        trials = ()
    if len(found) == 1 and not trials:
        return found[0]
    if trials and not found:
        raise UsageError(
            "this is a trial of fairtrial"
            if trials[0] == str(opened.path)
            else "the folder holds trials of fairtrial",
            opened.source,
            f"every command reads them as they are: name one, such as {trials[0]}",
        )
    if found:
        kinds = [tool.said for tool in found] + [f"a folder with the trial {t}" for t in trials[:1]]
        raise UsageError(
            f"the {what} looks like {' and like '.join(kinds)}",
            opened.source,
            f"say which with --format ({', '.join(tool.name for tool in found)})"
            + (", or name the folder of the results" if opened.is_folder else ""),
        )
    raise UsageError(
        f"no format is known for this {what}",
        opened.source,
        f"if it is one of these, say which with --format: {known}",
    )


def read_foreign(opened: Opened, name: str | None = None) -> ForeignFile:
    """Read a foreign file by its format.

    Raises
    ------
    UsageError
        As `tool_of`.
    AnalysisError
        If the file is damaged, or holds no values that count.
    """
    tool = tool_of(opened, name)
    try:
        return tool.reader.read(opened)
    except _STRANGE as error:
        # a part is missing, or of another kind, where no version of the tool writes it so
        raise fail(
            opened,
            f"the file is not {tool.said} as it should be: {type(error).__name__}: {error}",
            "is it whole, and of this tool? --format takes it for another one's",
        ) from error


def _knowing(opened: Opened, *, generic: bool) -> list[Tool]:
    """Ask each format; a folder may be too large to ask some of them, which others know at once."""
    found: list[Tool] = []
    trouble: AnalysisError | None = None
    for tool in TOOLS:
        try:
            if tool.generic == generic and tool.reader.knows(opened):
                found.append(tool)
        except AnalysisError as error:
            trouble = trouble or error
    if trouble is not None and not found:
        raise trouble
    return found
