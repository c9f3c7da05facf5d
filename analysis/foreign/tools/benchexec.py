"""BenchExec's results: XML (also .xml.bz2), a folder of them, or the table-generator's CSV.

A task is executed once in a file: repetitions are several files. The status is read before the times:
a task that was killed or failed has times that say nothing. The environment that the file stores is
not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..cells import ForeignCell, ForeignFile, Loss
from ..folders import files_in, opened_in
from ..opening import Opened
from ..parsing import fail, in_base_unit, value_of
from ..xml_tree import xml_of

__all__ = ["knows", "read"]

_METRICS = (("walltime", "walltime"), ("cputime", "cputime"), ("memory", "memory"))
_QUANTITY = re.compile(r"^([-+0-9.eE]+)\s*([A-Za-zµ]*)$")
_FAILED = re.compile(
    r"^(timeout|out of memory|error|killed|segmentation fault|exception|aborted|out of java memory|"
    r"assertion|unsupported|out of native memory)",
    re.IGNORECASE,
)
_ABOUT = ("tool", "version", "benchmarkname", "name", "block", "options", "date")


def knows(opened: Opened) -> bool:
    """Tell by the root element and its tool, or by the three lines of headings of a table."""
    if opened.is_folder:
        return any(
            _is_result(opened_in(opened, path))
            for path in files_in(opened)
            if path.name.endswith((".xml", ".xml.bz2"))
        )
    if opened.head().startswith("tool\t"):
        return _table_head(opened.head()) is not None
    return _is_result(opened)


def _is_result(opened: Opened) -> bool:
    head = opened.head()
    return re.search(r"<result\b[^<>]*\btool=", head) is not None and "<run" in head


def _table_head(text: str) -> list[str] | None:
    lines = text.split("\n")[:3]
    if len(lines) == 3 and lines[1].lower().startswith(("run set\t", "runset\t")):
        return lines
    return None


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each task, file and measured quantity.

    Raises
    ------
    AnalysisError
        If a file is damaged.
    """
    facts: dict[str, str] = {}
    if opened.is_folder:
        files = [
            opened_in(opened, path)
            for path in files_in(opened)
            if path.name.endswith((".xml", ".xml.bz2"))
        ]
        cells = [cell for one in files if _is_result(one) for cell in _of_xml(one, facts)]
        rule = "the file's name"
    elif opened.head().startswith("tool\t"):
        cells, rule = list(_of_table(opened)), "the tool and the run set"
    else:
        cells, rule = list(_of_xml(opened, facts)), "the file's name"
    if not cells:
        raise fail(opened, "there is no run in the file", "did benchexec execute any task?")
    return ForeignFile(
        format="benchexec",
        source=opened.source,
        cells=tuple(cells),
        variant_rule=rule,
        losses=(
            Loss(
                code="one-run",
                text="a file holds one run of each task: give the files of several executions, with "
                "--variant tool to put them together",
            ),
        ),
        facts=facts,
    )


def _of_xml(opened: Opened, facts: dict[str, str]) -> Iterator[ForeignCell]:
    root = xml_of(opened)
    if root.tag != "result":
        raise fail(opened, f"the root element is {root.tag!r}, not 'result'", "is it of BenchExec?")
    about = {name: root.get(name, "") for name in _ABOUT if root.get(name)}
    system = root.find("systeminfo")
    if system is not None:
        if host := system.get("hostname"):
            facts["host"] = host
        cpu = system.find("cpu")
        if cpu is not None and (model := cpu.get("model")):
            facts["cpu_model"] = model
    session = root.get("starttime") or root.get("date")
    for number, run in enumerate(root.iter("run"), 1):
        name = run.get("name")
        if not name:
            raise fail(opened, "a run has no name", "is the file damaged?", at=f"run {number}")
        columns = {
            column.get("title", ""): column.get("value", "") for column in run.findall("column")
        }
        yield from _cells(opened, name, opened.stem, columns, about, session)


def _cells(  # noqa: PLR0917 - all of one run
    opened: Opened,
    name: str,
    variant: str,
    columns: Mapping[str, str],
    about: Mapping[str, str],
    session: str | None,
) -> Iterator[ForeignCell]:
    failed = _is_failed(columns)
    for title, metric in _METRICS:
        text = columns.get(title)
        if text is None and not (failed and title == "walltime"):
            continue
        value, unit = (0.0, "") if failed else _quantity(opened, text or "", f"{name}, {title}")
        yield ForeignCell(
            benchmark=name,
            variant=variant,
            metric=metric,
            unit="B" if title == "memory" else unit or "s",
            processes=() if failed else ((value,),),
            known=True,
            inner=1,
            warmups=0,
            failed=int(failed),
            session=session,
            keys={**about, "status": columns.get("status", ""), "task": name},
        )


def _is_failed(columns: Mapping[str, str]) -> bool:
    if columns.get("category") == "error":
        return True
    if "category" in columns and columns["category"] not in ("", "missing"):
        return False
    return _FAILED.match(columns.get("status", "")) is not None


def _quantity(opened: Opened, text: str, at: str) -> tuple[float, str]:
    match = _QUANTITY.match(text.strip())
    if match is None:
        raise fail(opened, f"{text!r} is no quantity", "is the file damaged?", at=at)
    factor, unit = in_base_unit(match[2])
    try:
        number = float(match[1])
    except ValueError:
        raise fail(opened, f"{text!r} is no quantity", "is the file damaged?", at=at) from None
    return value_of(opened, number, at, factor=factor), unit


def _of_table(opened: Opened) -> Iterator[ForeignCell]:
    lines = [line.split("\t") for line in opened.text().split("\n")]
    if len(lines) < 3:
        raise fail(opened, "the three lines of headings are not whole", "make the table again")
    tools, sets, titles = lines[:3]
    several = len(set(zip(tools[1:], sets[1:], strict=False))) > 1
    for number, row in enumerate(lines[3:], 4):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(titles):
            raise fail(
                opened, "the line is cut off", "remove it, or make the table again", at=f"{number}"
            )
        groups: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
        for tool, run_set, title, cell in zip(tools, sets, titles, row, strict=False):
            if title:
                name, unit = _name_and_unit(title)
                groups.setdefault((tool.strip(), run_set.strip()), {})[name] = (cell, unit)
        task = "/".join(
            cell for cell, title in zip(row, titles, strict=False) if not title and cell
        )
        for (tool, run_set), columns in groups.items():
            given = {
                name: f"{cell}{unit}" if name != "status" else cell
                for name, (cell, unit) in columns.items()
                if cell
            }
            about = {"tool": tool, "name": run_set}
            variant = f"{tool} {run_set}" if several else tool
            yield from _cells(opened, task, variant, given, about, None)


def _name_and_unit(title: str) -> tuple[str, str]:
    """Split ``walltime (s)``."""
    name, _, unit = title.removesuffix(")").rpartition("(")
    return (
        (name.rstrip(), unit) if name and title.endswith(")") and ")" not in unit else (title, "")
    )
