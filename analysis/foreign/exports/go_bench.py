"""The text of ``go test -bench``, for benchstat: a line for each value, a binary's run for each process.

The k-th runs of all benchmarks stand together and end with ``PASS``, as one execution of a test binary
does. Several variants are told apart by the configuration key ``variant`` (``benchstat -col variant``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from ...errors import UsageError
from ...report import figures
from ..cells import Loss
from .leaving import Leaving, Metric, Sample
from .losses import WALL, lost
from .written import Written

__all__ = ["write"]

_ENDING = re.compile(r"-\d+$")
_OWN = {"B/op", "allocs/op", "MB/s"}  # units that go names itself


def write(leaving: Leaving) -> Written:
    """Make the file.

    Raises
    ------
    UsageError
        If two benchmarks, or two variants, have one name once spaces are gone.
    """
    names = {bench: _name(bench) for bench in leaving.benchmarks}
    variants = {variant: _one_line(variant) for variant in leaving.variants}
    _all_different(leaving, names)
    _all_different(leaving, variants)
    if len(
        {found[0] if (found := _ENDING.search(name)) else "" for name in names.values()}
    ) == 1 and (all(_ENDING.search(name) for name in names.values())):
        # what all names end with is taken for GOMAXPROCS, and cut
        shown = {bench: f"{name}-1" for bench, name in names.items()}
    else:
        shown = names
    rounding = _Rounding()
    units = _units(leaving.metrics)
    lines: list[str] = []
    for variant in leaving.variants:
        mine = [one for one in leaving.samples if one.variant == variant]
        lines += _variant(leaving, variants[variant], mine, (shown, units), rounding)
    return Written(
        data=("\n".join(lines) + "\n").encode(),
        lost=tuple(_lost(leaving, names, variants, rounding)),
    )


def _variant(
    leaving: Leaving,
    variant: str,
    samples: Sequence[Sample],
    words: tuple[dict[str, str], dict[str, str]],
    rounding: _Rounding,
) -> Iterator[str]:
    shown, units = words
    yield f"pkg: {re.sub(r'[^A-Za-z0-9_./-]+', '_', leaving.name) or 'exported'}"
    yield f"variant: {variant}"
    if leaving.cpu_model:
        yield f"cpu: {_one_line(leaving.cpu_model)}"
    columns = {
        (k, metric.name): sample.processes(metric.name)
        for k, sample in enumerate(samples)
        for metric in leaving.metrics
    }
    for process in range(max(map(len, columns.values()))):
        for k, sample in enumerate(samples):
            mine = [
                (metric, columns[k, metric.name][process])
                for metric in leaving.metrics
                if process < len(columns[k, metric.name])
            ]
            for value in range(max((len(values) for _, values in mine), default=0)):
                pairs = [
                    f"{rounding.text(metric, values[value])} {units[metric.name]}"
                    for metric, values in mine
                    if value < len(values)
                ]
                yield "\t".join((shown[sample.benchmark], "1", *pairs))
        yield "PASS"


def _units(metrics: Sequence[Metric]) -> dict[str, str]:
    """Give the word behind each metric's values; the first wall time is go's own."""
    found: dict[str, str] = {}
    for metric in metrics:
        word = _one_word(metric.name)
        if metric.unit != "s" or word.endswith("-ns/op"):
            found[metric.name] = word
        elif metric.name in WALL and "ns/op" not in found.values():
            found[metric.name] = "ns/op"
        else:
            found[metric.name] = f"{word}-ns/op"
    return found


class _Rounding:
    """Writes values, and counts those that do not come back from nanoseconds as they were."""

    def __init__(self) -> None:
        self.count = 0

    def text(self, metric: Metric, value: float) -> str:
        """Give the value in go's unit."""
        if metric.unit != "s":
            return repr(value)
        near = value * 1e9
        for tried in (near, math.nextafter(near, 0), math.nextafter(near, math.inf)):
            if tried * 1e-9 == value:
                return repr(tried)
        self.count += 1
        return repr(near)


def _name(bench: str) -> str:
    word = _one_word(bench)
    if word.startswith("Benchmark") and not word[9:10].islower():
        return word
    return f"Benchmark{word[:1].upper()}{word[1:]}"


def _one_word(text: str) -> str:
    return re.sub(r"\s", "_", text)


def _one_line(text: str) -> str:
    return " ".join(text.split()) or "-"


def _all_different(leaving: Leaving, names: dict[str, str]) -> None:
    told: dict[str, str] = {}
    for ours, theirs in names.items():
        if theirs in told:
            raise UsageError(
                f"go's text would hold {told[theirs]!r} and {ours!r} under one name, {theirs!r}",
                leaving.name,
                "rename one of them, or write a table: --to long-csv",
            )
        told[theirs] = ours


def _lost(
    leaving: Leaving, names: dict[str, str], variants: dict[str, str], rounding: _Rounding
) -> Iterator[Loss]:
    yield from lost(leaving, leaving.metrics[0].name, "processes")
    changed = [
        f"{ours!r} becomes {theirs!r}"
        for ours, theirs in (
            *names.items(),
            *variants.items(),
            *((one.name, _one_word(one.name)) for one in leaving.metrics),
        )
        if ours != theirs
    ]
    if changed:
        text = "names: go's begin with Benchmark and have no spaces: "
        yield Loss(code="names-changed", text=text + figures.listed(tuple(changed), 3))
    if rounding.count:
        told = "1 value" if rounding.count == 1 else f"{rounding.count} values"
        text = f"the last digit of {told}: go's times are nanoseconds"
        yield Loss(code="values-rounded", text=text)
    unsaid = tuple(
        metric.name for metric in leaving.metrics if metric.unit != "s" and metric.name not in _OWN
    )
    if unsaid:
        text = f"unit and direction of {figures.listed(unsaid)}: go knows the name only"
        yield Loss(code="units-lost", text=text)
