"""The latencies that wrk and wrk2 print: percentiles and their mean, of one run.

Both print a table of percentiles under ``Latency Distribution``; wrk2 may print, below it, a finer one in milliseconds, and a
second table ``Uncorrected``, without what delayed starts added. Times are with a unit, ``m`` for minutes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from .units import UnitError, number_in

# Every part has an end, so that no text of a program takes longer than its length.
_TABLE = re.compile(r"^[ \t]*Latency Distribution([^\n]*)\n((?:[ \t]*[0-9.]{1,24}%[ \t]+\S{1,24}[ \t]*(?:\r?\n|\Z))+)", re.M)  # fmt: skip
_ROW = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,14})?)%[ \t]+(\S+)")
_FINE = re.compile(r"^[ \t]*([0-9.]{1,24})[ \t]+([01]\.[0-9]{1,20})[ \t]+[0-9]{1,18}[ \t]+(?:[0-9.]{1,24}|inf)[ \t]*\r?$", re.M)  # fmt: skip
_MEAN = re.compile(r"^[ \t]*Latency[ \t]+([0-9.]{1,24}[a-z]{1,8})(?=[ \t])", re.M)
_REQUESTS = re.compile(r"^[ \t]*([0-9]{1,18}) requests in ", re.M)
_RECORDED = re.compile(
    r"Total count[ \t]{0,24}=[ \t]{0,24}([0-9]{1,18})\]"
)  # wrk2: without those of its calibration
_FINE_UNIT = "ms"


class TableError(ValueError):
    """No table can be read; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """What a table says: the values by their shares; mean and number of requests as far as they stand there."""

    values: Mapping[Fraction, float]
    mean: float | None
    requests: int | None


def read_percentiles(text: str, unit: str) -> Percentiles:
    """Read the table of a run, in `unit`.

    Raises
    ------
    TableError
        If there is none, or more than one, or a time cannot be read.
    """
    tables = [one for one in _TABLE.finditer(text) if "Uncorrected" not in one[1]]
    if len(tables) != 1:
        there = f"{len(tables)} tables" if tables else "no table"
        raise TableError(
            f"it holds {there} 'Latency Distribution' of wrk: it prints one with --latency"
        )
    table = tables[0]
    behind = text[table.end() :]
    uncorrected = behind.find("Latency Distribution")
    fine = behind if uncorrected < 0 else behind[:uncorrected]
    try:
        values = {
            Fraction(share): number_in(f"{value} {_FINE_UNIT}", unit)
            for value, share in _FINE.findall(fine)
        }
        rows = {
            Fraction(share) / 100: _time(value, unit) for share, value in _ROW.findall(table[2])
        }
        mean = _MEAN.search(text)
        average = None if mean is None else _time(mean[1], unit)
    except UnitError as error:
        raise TableError(str(error)) from None
    requests = _RECORDED.search(fine) or _REQUESTS.search(text)
    return Percentiles(
        values={**values, **rows},
        mean=average,
        requests=None if requests is None else int(requests[1]),
    )


def _time(text: str, unit: str) -> float:
    """Give a time as wrk prints it."""
    minutes = re.fullmatch(r"([0-9.]+)m", text)
    return number_in(f"{minutes[1]}min" if minutes else text, unit)
