"""Phoronix Test Suite's ``composite.xml``: the runs of each test and system, in ``RawString``.

How many runs there are depends on how much they differ: the suite goes on until they agree. So counts
are no plan, and intervals from them are too narrow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as ET

from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, in_base_unit, number_or_text, value_of
from ..xml_tree import xml_of

__all__ = ["knows", "read"]

_KEYS = ("Identifier", "Title", "AppVersion", "Arguments", "Description", "Scale")
_BETTER: dict[str, Better] = {"LIB": "lower", "HIB": "higher"}
_CPU = re.compile(r"Processor: ([^,]+)")


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
    times = {
        name: time
        for system in root.iter("System")
        if (name := system.findtext("Identifier")) and (time := system.findtext("TimeStamp"))
    }
    left: list[str] = []
    cells = [
        cell
        for number, one in enumerate(root.iter("Result"), 1)
        for cell in _cells(opened, one, number, times, left)
    ]
    if not any(cell.values for cell in cells):
        raise fail(
            opened,
            "no result keeps its single runs",
            "use a composite.xml of the suite itself: it holds them as RawString",
        )
    hardware = root.findtext("System/Hardware") or ""
    cpu = _CPU.search(hardware)
    return ForeignFile(
        format="phoronix",
        source=opened.source,
        cells=tuple(cells),
        variant_rule="the system's identifier",
        losses=(
            Loss(code="order-unknown", text="the order of the runs is not in the file"),
            Loss(code="no-sessions", text="all runs of a system stem from one occasion"),
        ),
        notes=(
            Loss(
                code="runs-by-data",
                text="how many runs there are depends on the values (the suite repeats what differs): "
                "intervals that take their number as planned are too narrow",
            ),
            *_left_out(left),
        ),
        facts={"cpu_model": cpu[1].strip()} if cpu else {},
    )


def _left_out(names: list[str]) -> Iterator[Loss]:
    if names:
        some = ", ".join(list(dict.fromkeys(names))[:8])
        yield Loss(code="no-single-runs", text=f"left out, for no single runs are kept of: {some}")


def _cells(
    opened: Opened, result: ET.Element, number: int, times: Mapping[str, str], left: list[str]
) -> Iterator[ForeignCell]:
    title = result.findtext("Title") or result.findtext("Identifier")
    if not title:
        raise fail(opened, "a result has no title", "is the file damaged?", at=f"result {number}")
    about = result.findtext("Description") or result.findtext("Arguments") or ""
    name = f"{title} ({about})" if about else title
    scale = (result.findtext("Scale") or "").strip()
    factor, unit = in_base_unit(scale)
    shown = (result.findtext("DisplayFormat") or "BAR_GRAPH").strip()
    keys = {key: text for key in _KEYS if (text := result.findtext(key))}
    for entry in result.iter("Entry"):
        system = entry.findtext("Identifier") or "unknown"
        raw = (entry.findtext("RawString") or "").strip()
        at = f"{title}, {system}"
        if shown not in ("BAR_GRAPH", "HORIZONTAL_BAR_GRAPH", "HORIZONTAL_BOX_PLOT") or (
            not raw and (entry.findtext("Value") or "").strip()
        ):
            left.append(name)  # a curve, a picture, or a mean of nobody knows how many
            continue
        values = [
            value_of(opened, number_or_text(text), at, factor=factor)
            for text in raw.split(":")
            if text.strip()
        ]
        yield ForeignCell(
            benchmark=name,
            variant=system,
            metric="time" if unit == "s" else scale or "value",
            unit=unit,
            better=_BETTER.get((result.findtext("Proportion") or "").strip()),
            processes=tuple((value,) for value in values),
            known=True,
            inner=1,
            failed=None if values else 1,
            keys=keys | {"system": system} | _time_of(times.get(system)),
        )


def _time_of(time: str | None) -> dict[str, str]:
    return {} if time is None else {"timestamp": time}
