"""The text of ``go test -bench``, for benchstat: a line for each value, a binary's run for each process.

The k-th runs of all benchmarks stand together and end with ``PASS``, as one execution of a test binary
does. Several variants are told apart by the configuration key ``variant`` (``benchstat -col variant``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...report import figures
from ..cells import Loss
from .leaving import Leaving, Metric, Sample
from .losses import WALL, lost
from .names import names_lost, renamed
from .nanoseconds import Nanoseconds
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
    names = renamed(leaving.benchmarks, _name, leaving.name)
    variants = renamed(leaving.variants, _one_line, leaving.name)
    units = _units(leaving.metrics)
    renamed(units, units.__getitem__, leaving.name)
    endings = {found[0] if (found := _ENDING.search(name)) else "" for name in names.values()}
    # what all names end with is taken for GOMAXPROCS, and cut
    ending = "-1" if len(endings) == 1 and "" not in endings else ""
    shown = {bench: f"{name}{ending}" for bench, name in names.items()}
    times = Nanoseconds()
    lines: list[str] = []
    for variant in leaving.variants:
        mine = [one for one in leaving.samples if one.variant == variant]
        lines += _variant(leaving, variants[variant], mine, (shown, units), times)
    return Written(
        data=("\n".join(lines) + "\n").encode(),
        lost=tuple(_lost(leaving, names, variants, times)),
    )


def _variant(
    leaving: Leaving,
    variant: str,
    samples: Sequence[Sample],
    words: tuple[dict[str, str], dict[str, str]],
    times: Nanoseconds,
) -> Iterator[str]:
    shown, units = words
    yield f"pkg: {re.sub(r'[^A-Za-z0-9_./-]+', '_', leaving.name) or 'exported'}"
    yield f"variant: {variant}"
    if leaving.cpu_model:
        yield f"cpu: {_one_line(leaving.cpu_model)}"
    # a run without one of the metrics keeps its own values together
    names = [metric.name for metric in leaving.metrics]
    runs = [[run for run in one.counted if any(map(run.values.get, names))] for one in samples]
    for process in range(max(map(len, runs))):
        for sample, own in zip(samples, runs, strict=True):
            if process >= len(own):
                continue
            values_of = own[process].values
            mine = [
                (metric, of) for metric in leaving.metrics if (of := values_of.get(metric.name))
            ]
            for value in range(max((len(values) for _, values in mine), default=0)):
                pairs = [
                    f"{times.of(values[value]) if metric.unit == 's' else values[value]!r} "
                    f"{units[metric.name]}"
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


def _name(bench: str) -> str:
    word = _one_word(bench)
    if word.startswith("Benchmark") and not word[9:10].islower():
        return word
    return f"Benchmark{word[:1].upper()}{word[1:]}"


def _one_word(text: str) -> str:
    return re.sub(r"\s", "_", text)


def _one_line(text: str) -> str:
    return " ".join(text.split()) or "-"


def _lost(
    leaving: Leaving, names: dict[str, str], variants: dict[str, str], times: Nanoseconds
) -> Iterator[Loss]:
    yield from lost(leaving, leaving.metrics[0].name, "processes")
    words = {one.name: _one_word(one.name) for one in leaving.metrics}
    yield from names_lost("which begin with Benchmark and have no spaces", names, variants, words)
    yield from times.lost()
    unsaid = tuple(
        metric.name for metric in leaving.metrics if metric.unit != "s" and metric.name not in _OWN
    )
    if unsaid:
        text = f"unit and direction of {figures.listed(unsaid)}: go knows the name only"
        yield Loss(code="units-lost", text=text)
