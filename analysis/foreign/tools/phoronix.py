"""Phoronix Test Suite's ``composite.xml``: the runs of each test and system, in ``RawString``.

How many runs there are depends on how much they differ: the suite goes on until they agree. So counts
are no plan, and intervals from them are too narrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, in_base_unit, value_of
from ..xml_tree import xml_of

__all__ = ["knows", "read"]

_BETTER: dict[str, Better] = {"LIB": "lower", "HIB": "higher"}
_WORDS = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}


def knows(opened: Opened) -> bool:
    """Tell by the root element."""
    return "<PhoronixTestSuite" in opened.head()


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each test and system.

    Raises
    ------
    AnalysisError
        If the file is damaged, or keeps no single runs.
    """
    root = xml_of(opened)
    cells = [
        cell
        for number, one in enumerate(root.iter("Result"), 1)
        for cell in _cells(opened, one, number)
    ]
    if not any(cell.values for cell in cells):
        raise fail(opened, "no result keeps its single runs", "use a composite.xml with RawString")
    system = root.find("System")
    host = system.findtext("Hardware") if system is not None else None
    return ForeignFile(
        format="phoronix",
        source=opened.source,
        cells=tuple(cells),
        variant_rule="the system's identifier",
        losses=(
            Loss(code="no-order", text="the order of the runs is not in the file"),
            Loss(code="no-sessions", text="all runs of a system stem from one occasion"),
        ),
        notes=(
            Loss(
                code="runs-by-data",
                text="how many runs there are depends on the values (the suite repeats what differs): "
                "intervals that take their number as planned are too narrow",
            ),
        ),
        facts={"cpu_model": host} if host else {},
    )


def _cells(opened: Opened, result: ET.Element, number: int) -> Iterator[ForeignCell]:
    title = result.findtext("Title") or result.findtext("Identifier")
    if not title:
        raise fail(opened, "a result has no title", "is the file damaged?", at=f"result {number}")
    about = result.findtext("Description") or result.findtext("Arguments") or ""
    scale = (result.findtext("Scale") or "").strip()
    factor, unit = in_base_unit(_WORDS.get(scale.lower(), scale))
    for entry in result.iter("Entry"):
        system = entry.findtext("Identifier") or "unknown"
        raw = (entry.findtext("RawString") or "").strip()
        at = f"{title}, {system}"
        values = [
            value_of(opened, _number(text), at, factor=factor) for text in raw.split(":") if text
        ]
        if not values and (value := (entry.findtext("Value") or "").strip()):
            values = [value_of(opened, _number(value), at, factor=factor)]
        yield ForeignCell(
            benchmark=f"{title} ({about})" if about else title,
            variant=system,
            metric="time" if unit == "s" else scale or "value",
            unit=unit,
            better=_BETTER.get((result.findtext("Proportion") or "").strip()),
            processes=tuple((value,) for value in values),
            known=True,
            inner=1,
            failed=0 if values else 1,
            keys={
                key: text
                for key in (
                    "Identifier",
                    "Title",
                    "AppVersion",
                    "Arguments",
                    "Description",
                    "Scale",
                )
                if (text := result.findtext(key))
            }
            | {"system": system},
        )


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
