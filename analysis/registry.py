"""What is found by its name instead of by an import: modules that are loaded when they are wanted.

Every such name stands in full: here, in a result's `words`, or in a row of a table of formats and
figures that `load` is given; `tests/contract/test_house.py` resolves them all. So whoever moves a
file finds each place that names it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

# the packages stand in one folder, be it in a checkout, a wheel, or below a further name
_HOME = __name__.removesuffix("analysis.registry")
_FOLDER = Path(__file__).parents[1]

# a chapter of the report, in the order of the page -> its function
CHAPTERS = {
    "answer": "analysis.report.answer:chapter",
    "benchmarks": "analysis.report.benchmarks:chapter",
    "distribution": "analysis.report.benchmarks:distribution",
    "iterations": "analysis.report.benchmarks:iterations",
    "why": "analysis.report.why:chapter",
    "published": "analysis.report.benchmarks:published",
    "suite": "analysis.report.benchmarks:suite",
    "variation": "analysis.report.benchmarks:variation",
    "timeline": "analysis.report.timeline:chapter",
    "conditions": "analysis.report.conditions:chapter",
    "paper": "analysis.report.paper:chapter",
}


class FigureKind(NamedTuple):
    """A kind of figure.

    `draw` is the place of its function; `shows` says in a few words what; `each` whether it shows
    one benchmark, which is to be named where there are several.
    """

    draw: str
    shows: str
    each: bool = False


_SUITE = {
    "forest": "speedups with their intervals, session values and margin",
    "curve": "HPT's reliability for each speedup under test",
    "box": "five numbers of each benchmark and variant",
    "biplot": "which systems are alike, and which benchmarks tell them apart",
    "shares": "the share of the variance that each component of the biplot explains",
    "means": "densities of means of ever larger samples, from 10 to 280 runs",
}
_RUNS = {
    "strip": "every run of a benchmark as a dot, a line for each session",
    "ecdf": "the share of runs done by a time",
    "shift": "the speedup at each decile of the runs",
    "density": "a kernel density of the runs against the fitted normal law",
    "qq": "the runs against a normal law",
    "modes": "a mixture of normal laws over the histogram of the runs",
    "iterations": "all iterations of each run, and which of them are judged",
}
FIGURES = {
    name: FigureKind(f"analysis.report.{module}:draw_{name}", shows, each=kinds is not _SUITE)
    for module, kinds in (("suite_figures", _SUITE), ("run_figures", _RUNS))
    for name, shows in kinds.items()
}


def load(name: str) -> ModuleType:
    """Import a module by its full name, such as ``analysis.commands.verdict``."""
    return importlib.import_module(f"{_HOME}{name}")


def function(place: str) -> Callable[..., Any]:
    """Give what a place such as ``analysis.commands.verdict:add`` names."""
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(load(module), name)
    return found


def shipped(name: str) -> Path:
    """Give a file or folder of the packages by its place, such as ``analysis/methods/hpt``."""
    return _FOLDER / name


# --- How a package hands on its public names without importing the rooms that hold them.
#
# Every package has its face in ``__init__``: the names that others may use. A type checker reads
# them as plain imports; at run time a room is imported when one of its names is first asked for.


def hands_on(
    package: str, rooms: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Give the ``__getattr__`` and ``__dir__`` of a package."""
    homes = {name: room for room, names in rooms.items() for name in names.split()}

    def find(name: str) -> Any:  # noqa: ANN401 - a module attribute may be anything
        room = homes.get(name)
        if room is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(f"{package}.{room}"), name)
        setattr(sys.modules[package], name, found)  # asked once
        return found

    return find, lambda: sorted(homes)


def put_off(*names: str) -> None:
    """Let modules of a package wait until something of theirs is used, whoever imports them first."""
    for name in names:
        spec = None if name in sys.modules else importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            continue
        spec.loader = loader = importlib.util.LazyLoader(spec.loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        loader.exec_module(module)
        package, _, own = name.rpartition(".")
        setattr(sys.modules[package], own, module)
