"""The numbers of a build: what its campaign reads of it, and the size of the programs that it made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...launch.matching import Matching, opened_output
from ..outcomes import Unparsable, parsed, values_in

if TYPE_CHECKING:
    from ...campaign.model import Cell, MetricRule

Numbers = dict[str, dict[str, tuple[float, ...]]]

PROGRAM_BYTES = "program_bytes"


def numbers_of(
    cells: Iterable[Cell], logs: Sequence[Path], programs: Mapping[str, Path], matching: Matching
) -> Numbers:
    """Give the numbers of a build by metric and benchmark; `cells` are its variant's.

    `logs` hold the output of its steps, `programs` the program of each benchmark that it made. Raises
    Unparsable, which says which number is not there.
    """
    found: Numbers = {}
    known: dict[tuple[object, ...], tuple[float, ...]] = {}  # many benchmarks may ask for one
    declared: set[str] = set()
    for cell in cells:
        declared.update(rule.name for rule in cell.metrics)
        for rule in cell.metrics:
            if rule.when == "build":
                asked = (rule.name, rule.source, rule.regex, rule.json)
                if asked not in known:
                    known[asked] = _values(rule, logs, matching)
                found.setdefault(rule.name, {})[cell.benchmark] = known[asked]
    if PROGRAM_BYTES not in declared and programs:
        found[PROGRAM_BYTES] = {
            benchmark: (float(path.stat().st_size),) for benchmark, path in programs.items()
        }
    return found


def _values(rule: MetricRule, logs: Sequence[Path], matching: Matching) -> tuple[float, ...]:
    if isinstance(rule.source, Path):
        return values_in(rule, rule.source, matching, "no step of the build has written it")
    try:
        text = "".join(_text_of(log) for log in logs)
    except OSError as error:
        raise Unparsable(f"{rule.name}: {error.filename}: {error.strerror}") from error
    return parsed(rule, text, "the output of its steps", matching)


def _text_of(log: Path) -> str:
    with opened_output(log) as file:
        return file.read().decode("utf-8", "replace")
