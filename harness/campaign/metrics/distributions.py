"""Metrics of which a run writes no values, but how they are distributed: histograms and printed percentiles.

Their one value of a run is its mean, as far as it is known; of a histogram the values are known as counts of buckets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.record.quantiles import counted_quantile, needed

from .hdr_logs import HdrError, HdrHistogram, read_log
from .units import UnitError, number_in
from .wrk_tables import Percentiles, TableError, read_percentiles

if TYPE_CHECKING:
    from ..model import MetricRule

_NAMED = 8


class DistributionError(ValueError):
    """What a run wrote cannot be read; the text says why."""


class Misfit(NamedTuple):
    """A key of a metric that does not fit how its values are found."""

    key: str
    what: str
    fix: str


def not_a_distribution(rule: Mapping[str, Any]) -> Iterator[Misfit]:
    """Find what a metric's rule, as it is written with its defaults, cannot have beside `hlog` or `percentiles`."""
    way = next((way for way in ("hlog", "percentiles") if rule[way] is not None), None)
    if way is None:
        return
    try:
        number_in(f"1{rule['hlog'] or 's'}", rule["unit"])
    except UnitError:
        what = f"'{way}' gives times, and the metric is in {rule['unit']}"
        yield Misfit("unit", what, "write one of time, such as ms")
    if rule["when"] == "build":
        yield Misfit(
            "when", f"'{way}' is what a run wrote, and a build has no runs", "leave 'when' out"
        )
    if rule["warmup_iterations"]:
        what = f"'{way}' does not tell which value came when: it has no iterations"
        yield Misfit(
            "warmup_iterations", what, "leave it out, and let the load generator warm up first"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """What a run wrote of a metric, in the metric's unit.

    `mean` is None where it does not say. `quantiles` holds those that were asked for, None where there are too few values.
    `counts` are the values of a histogram and how often each was counted, by value; None of printed percentiles, which
    cannot be put together with those of other runs.
    """

    mean: float | None
    quantiles: Mapping[float, float | None]
    counts: tuple[tuple[float, int], ...] | None


def is_distribution(rule: MetricRule) -> bool:
    """Tell whether a run writes how a metric's values are distributed, and not the values."""
    return rule.hlog is not None or rule.percentiles is not None


def read_distribution(rule: MetricRule, text: str) -> Distribution:
    """Read a metric whose rule has `hlog` or `percentiles`.

    Raises
    ------
    DistributionError
        If the text is damaged, or does not hold what was asked for.
    """
    try:
        if rule.hlog is not None:
            return _of_histogram(read_log(text, rule.tag), rule.hlog, rule)
        return _of_table(read_percentiles(text, rule.unit), rule)
    except (HdrError, TableError, UnitError) as error:
        raise DistributionError(str(error)) from None


def _of_histogram(found: HdrHistogram, unit: str, rule: MetricRule) -> Distribution:
    # whole numbers of nanoseconds; 0.001 times a whole number is not the double that its text stands for
    step = Fraction(number_in(f"1{unit}", "ns")) / Fraction(number_in(f"1{rule.unit}", "ns"))
    counts = tuple((float(value * step), count) for value, count in found.counts.items())
    return Distribution(
        mean=float(found.mean * step),
        quantiles={share: counted_quantile(counts, share) for share in rule.quantiles},
        counts=counts,
    )


def _of_table(table: Percentiles, rule: MetricRule) -> Distribution:
    quantiles: dict[float, float | None] = {}
    for share in rule.quantiles:
        exact = Fraction(repr(share))
        if table.requests is not None and table.requests < needed(share):
            quantiles[share] = None
        elif exact in table.values:
            quantiles[share] = table.values[exact]
        else:
            there = [f"{float(one * 100):g}" for one in sorted(table.values)]
            more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
            told = ", ".join(there[:_NAMED]) + more
            raise DistributionError(f"the table has no {float(exact * 100):g} %: it has {told}")
    return Distribution(mean=table.mean, quantiles=quantiles, counts=None)
