"""The metrics that the services of a campaign have in each run: their names and units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

SOURCE = "services"  # of these metrics, in the manifest
PEAK, PEAK_SINCE_START, PEAK_TREE = "peak_memory", "peak_memory_since_start", "peak_memory_tree"
_UNITS: Mapping[str, str] = {
    "cpu": "s",
    "wait": "s",
    "disk_read": "B",
    "disk_written": "B",
    "voluntary_switches": "",
    "involuntary_switches": "",
}


def metric_of(service: str, what: str) -> str:
    """Name the metric of a service: ``service.redis.cpu``."""
    return f"service.{service}.{what}"


def metrics_of(service: str, *peaks: str) -> Iterator[tuple[str, str]]:
    """Give the metrics of a service and their units, with these of its `peaks`."""
    for what, unit in {**_UNITS, **dict.fromkeys(peaks, "B")}.items():
        yield metric_of(service, what), unit


def grows(metric: str) -> bool:
    """Tell whether a service's metric is a sum over the run, so that a longer run has more of it.

    >>> grows("service.redis.disk_read"), grows("service.redis.peak_memory")
    (True, False)
    """
    return metric.rpartition(".")[2] in _UNITS
