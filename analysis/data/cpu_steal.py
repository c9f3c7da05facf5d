"""What a hypervisor took from each CPU of the host during each run: columns beside the numbers of the runs."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..stats.samples import Array, read_only

MOST_CPUS: Final = 16  # those that lost most; of a host with hundreds, the others say little more
_KEY: Final = "cpu_steal_s"  # of a row


def column_of(cpu: int) -> str:
    """Name the column of a CPU.

    >>> column_of(3)
    'cpu_steal_s.3'
    """
    return f"{_KEY}.{cpu}"


def cpu_of(column: str) -> int | None:
    """Give the CPU of such a column, None of any other name.

    >>> cpu_of("cpu_steal_s.3"), cpu_of("steal_s")
    (3, None)
    """
    key, _, cpu = column.partition(".")
    return int(cpu) if key == _KEY and cpu.isdigit() else None


class CpuSteal:
    """Grows while rows are read; most of them lost nothing."""

    def __init__(self) -> None:
        self._known = array("b")
        self._rows, self._cpus, self._seconds = array("q"), array("q"), array("d")

    def add(self, record: Mapping[str, Any]) -> None:
        """Take what the next row says; raises ValueError or TypeError where it has another shape."""
        given = record.get(_KEY)
        if given:
            row = len(self._known)
            for cpu, seconds in given.items():
                if not math.isfinite(seconds) or not cpu.isdigit():
                    raise ValueError(f"{_KEY} of CPU {cpu} is {seconds!r}, and no finite number")
                self._rows.append(row)
                self._cpus.append(int(cpu))
                self._seconds.append(seconds)
        self._known.append(given is not None)

    def columns(self) -> dict[str, Array]:
        """Give a column, read-only, of each CPU that lost something; nan where nobody knows it."""
        unknown = np.frombuffer(self._known, dtype=np.int8) == 0
        rows, cpus = (np.frombuffer(part, dtype=np.int64) for part in (self._rows, self._cpus))
        seconds = np.frombuffer(self._seconds, dtype=np.float64)
        numbers, place = np.unique(cpus, return_inverse=True)
        lost = np.bincount(place, np.abs(seconds), numbers.size)
        found = {}
        for k in np.sort(np.argsort(-lost, kind="stable")[:MOST_CPUS]).tolist():
            column = np.where(unknown, np.nan, 0.0)
            column[rows[place == k]] = seconds[place == k]
            found[column_of(int(numbers[k]))] = read_only(column)
        return found
