"""What is found by its name instead of by an import: modules that are loaded when they are wanted.

Every such name stands in full: here, in a result's `words`, or in a row of a table of formats and
figures that `load` is given; `tests/contract/test_house.py` resolves them all. So whoever moves a
file finds each place that names it. A method of one file alone is found where it lies, by no name.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

# the packages stand in one folder, be it in a checkout, a wheel, or below a further name
_HOME = __name__.removesuffix("analysis.registry")
_FOLDER = Path(__file__).parents[1]

_LISTED = """
measure
compare    harness.commands.compare    two or more commands, now; the first is the baseline
init    harness.commands.first_steps    write a campaign to start from
run    harness.commands.run    measure a campaign, or go on with one
bisect    harness.commands.bisect_command    find the commit that changed a program's time
status    harness.commands.submit    how far a trial or a fleet is, and how to go on
doctor    harness.commands.first_steps    check this host, and say how to mend it
tune    harness.commands.tune    change what the doctor named, and put it back
submit    harness.commands.submit    measure a campaign on many hosts, through Slurm
cancel    harness.commands.submit    end the jobs of a fleet
judge
verdict    analysis.commands.verdict    which variants are faster, and by how much
gate    analysis.commands.verdict    stop a build on a proven regression: 'slower>2%'
diff    analysis.commands.verdict    do the conclusions of one trial hold in another?
history    analysis.commands.understand    many nights: what changed, when, and program or host
hpt    analysis.commands.methods    hierarchical performance testing over a suite
speedup-test    analysis.commands.methods    the Speedup-Test: gains of means and medians
resample    analysis.commands.methods    randomization test and bootstrap over a suite
mixture    analysis.commands.methods    Gaussian mixtures: modes, and who is best in one run
understand
diagnose    analysis.commands.understand    look at runs, sessions and host before judging them
sources    analysis.commands.understand    where the variation comes from
plan    analysis.commands.plan    how many sessions and runs a comparison needs
calibrate    analysis.commands.plan    how often the methods err on this machine
study    analysis.commands.plan    how often tests and intervals are right, simulated
why    harness.commands.why    in which functions a slower variant takes longer
share
report    analysis.commands.report    one page with the answer, its evidence and its doubts
plot    analysis.commands.report    one figure for a paper, with its data
bundle    analysis.commands.share    pack trials and results so that others can check them
import    analysis.commands.share    make a trial of another tool's files
export    analysis.commands.share    write runs as another tool's file
merge    analysis.commands.share    put trials of one campaign together
reproduce    harness.commands.reproduce    check a bundle: compute it again, or measure it again
completion    harness.commands.first_steps    print the completion script of bash, zsh or fish
"""


class Command(NamedTuple):
    """A command: its group in the help, the module of its function, its line there; of a method that was found, its file."""

    group: str
    module: str
    summary: str
    file: Path | None = None


TABLE: dict[str, Command] = {}
_group = ""
for _line in _LISTED.strip().split("\n"):
    _name, *_rest = _line.split("    ")
    if _rest:
        TABLE[_name] = Command(_group, _rest[0], _rest[1])
    else:
        _group = _name


@cache
def commands() -> dict[str, Command]:
    """Give all commands in the order of the help: those of the table, and the methods that are found."""
    known = list(TABLE.items())
    for path in sorted((_FOLDER / "analysis" / "methods").glob("*.py")):
        if begun := path.read_text("utf-8").partition('\n@command("')[2]:
            name, _, after, _, summary, _ = begun.split('"', 5)
            place = [one for one, _ in known].index(after)
            method = Command(known[place][1].group, f"analysis.methods.{path.stem}", summary, path)
            known.insert(place + 1, (name, method))
    return dict(known)


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
