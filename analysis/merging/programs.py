"""Which hosts of a fleet executed other programs than most, by the hashes that their trials stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from .parts import Part

__all__ = ["other_programs"]


def other_programs(hosts: Mapping[str, Sequence[Part]]) -> dict[str, tuple[str, ...]]:
    """Compare the executables of each benchmark and variant over the hosts.

    Parameters
    ----------
    hosts : mapping of str to sequence of Part
        The trials of each host.

    Returns
    -------
    dict of str to tuple of str
        The hosts whose executables are not those of most hosts (of as many of each: of the first), with
        the benchmarks and variants (``benchmark/variant``). What a trial does not say is not compared.
    """
    found: dict[str, dict[str, str]] = {}  # cell -> host -> hash
    for host, parts in hosts.items():
        for part in parts:
            for cell, digest in _hashes(part).items():
                found.setdefault(cell, {}).setdefault(host, digest)
    told: dict[str, list[str]] = {}
    for cell, digests in found.items():
        usual, _ = Counter(digests.values()).most_common(1)[0]
        for host, digest in digests.items():
            if digest != usual:
                told.setdefault(host, []).append(cell)
    return {host: tuple(told[host]) for host in hosts if host in told}


def _hashes(part: Part) -> dict[str, str]:
    first = part.environments[0] if part.environments else {}
    targets = first.get("targets")
    if not isinstance(targets, Mapping):
        return {}
    return {
        str(cell): known["sha256"]
        for cell, known in targets.items()
        if isinstance(known, Mapping) and isinstance(known.get("sha256"), str)
    }
