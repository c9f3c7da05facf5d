"""Metrics that are quantiles of another metric's values in a run: ``latency.p99``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.record.quantiles import quantile_metric

if TYPE_CHECKING:
    from ..model import MetricRule


class Quantile(NamedTuple):
    """A further metric of a run: the quantile `share` of what `rule` reads."""

    name: str
    rule: MetricRule
    share: float


def quantiles_of(rules: Sequence[MetricRule]) -> Iterator[Quantile]:
    """Give the quantiles that the metrics of a cell ask for; a declared metric of that name wins."""
    declared = {rule.name for rule in rules}
    for rule in rules:
        for share in rule.quantiles:
            name = quantile_metric(rule.name, share)
            if name not in declared:
                yield Quantile(name, rule, share)


def with_quantiles(rules: Sequence[MetricRule]) -> Iterator[tuple[str, MetricRule]]:
    """Give all metrics of a cell by name: the declared ones and their quantiles, in the same unit."""
    for rule in rules:
        yield rule.name, rule
    for quantile in quantiles_of(rules):
        yield quantile.name, quantile.rule
