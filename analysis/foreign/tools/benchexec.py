"""BenchExec's results: XML (also .xml.bz2), a folder of them, or the table-generator's CSV.

A task is executed once in a file: repetitions are several files. The status is read before the times:
a task that was killed or failed has times that say nothing. The environment that the file stores is
not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...errors import FairtrialError
from ..cells import ForeignCell, ForeignFile, Loss
from ..folders import files_in, opened_in
from ..opening import Opened
from ..parsing import fail, in_base_unit, number_or_text, value_of
from ..xml_tree import xml_of

__all__ = ["knows", "read"]

_METRICS = ("walltime", "cputime", "memory")
_EARLIER = {"memUsage": "memory"}  # before version 2
_QUANTITY = re.compile(r"^([-+0-9.eE]+)\s*([A-Za-zµ]*)$")
_FAILED = re.compile(
    r"^(timeout|out of memory|error|killed|segmentation fault|exception|aborted|out of java memory|"
    r"assertion|unsupported|out of native memory)",
    re.IGNORECASE,
)
_OF_RUN = ("properties", "expectedVerdict")
_ABOUT = ("tool", "version", "benchmarkname", "name", "block", "options", "date")
_TITLE = re.compile(r"^(.*?)\s*\(([^()]*)\)$")


def knows(opened: Opened) -> bool:
    """Tell by the root element and its tool, or by the three lines of headings of a table."""
    if opened.is_folder:
        return any(_is_result_at(opened, path) for path in files_in(opened))
    if opened.head().startswith("tool\t"):
        return _table_head(opened.head()) is not None
    return _is_result(opened)


def _is_result_at(folder: Opened, path: Path) -> bool:
    if not path.name.endswith((".xml", ".xml.bz2", ".xml.gz")):
        return False
    try:
        return _is_result(opened_in(folder, path))
    except FairtrialError:  # what cannot be opened is none
        return False


def _is_result(opened: Opened) -> bool:
    head = opened.head()
    return re.search(r"<result\b[^>]*\btool=", head) is not None and "<run" in head


def _table_head(text: str) -> list[str] | None:
    lines = text.split("\n")[:3]
    if len(lines) == 3 and lines[1].lower().startswith(("run set\t", "runset\t", "run sets\t")):
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
        cells = [
            cell
            for path in files_in(opened)
            if _is_result_at(opened, path)
            for cell in _of_xml(opened_in(opened, path), facts)
        ]
        rule = "the file's name"
    elif opened.head().startswith("tool\t"):
        cells, rule = list(_of_table(opened)), "the tool and the run set"
    else:
        cells, rule = list(_of_xml(opened, facts)), "the file's name"
    if not cells:
        what, fix = "there is no run in the file", "did benchexec execute any task?"
        if not opened.is_folder and b"<run" in opened.data:
            what = "no run in the file has a measured column"
            fix = "was the execution stopped? name the result file that benchexec wrote at its end"
        raise fail(opened, what, fix)
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
    runs = list(root.iter("run"))
    names = [run.get("name", "") for run in runs]
    for number, (name, run) in enumerate(zip(names, runs, strict=True), 1):
        if not name:
            raise fail(opened, "a run has no name", "is the file damaged?", at=f"run {number}")
        columns = {
            column.get("title", ""): column.get("value", "") for column in run.findall("column")
        }
        more = {key: text for key in _OF_RUN if (text := run.get(key))}
        # one task may be executed for several properties
        properties = more.get("properties") if names.count(name) > 1 else None
        task = f"{name} {properties}" if properties else name
        keys = {**about, **more, "task": name}
        yield from _cells(opened, task, opened.stem, columns, keys, session)


def _cells(  # noqa: PLR0917 - all of one run
    opened: Opened,
    task: str,
    variant: str,
    columns: Mapping[str, str],
    about: Mapping[str, str],
    session: str | None,
) -> Iterator[ForeignCell]:
    columns = {_EARLIER.get(title, title): text for title, text in columns.items() if text}
    failed = _is_failed(columns)
    for title in _METRICS:
        text = columns.get(title)
        if text is None and not (failed and title == "walltime"):
            continue
        value, unit = (0.0, "") if failed else _quantity(opened, text or "", f"{task}, {title}")
        yield ForeignCell(
            benchmark=task,
            variant=variant,
            metric=title,
            unit="B" if title == "memory" else unit or "s",
            processes=() if failed else ((value,),),
            known=True,
            inner=1,
            warmups=0,
            failed=int(failed),
            session=session,
            keys={**about, "status": columns.get("status", "")},
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
    return value_of(opened, number_or_text(match[1]), at, factor=factor), unit


def _of_table(opened: Opened) -> Iterator[ForeignCell]:
    lines = [line.split("\t") for line in opened.text().split("\n")]
    groups = _groups_of(lines) if len(lines) > 2 else []
    if not groups:
        raise fail(
            opened,
            "the three lines of headings (tool, run set, columns) are damaged",
            "make the table again with table-generator -f csv",
            at="1",
        )
    width = len(lines[2])
    several = len({(tool, run_set) for tool, run_set, _, _ in groups}) > 1
    measured = {place for *_, columns in groups for place in columns}
    for number, row in enumerate(lines[3:], 4):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != width:
            raise fail(
                opened, "the line is cut off", "remove it, or make the table again", at=f"{number}"
            )
        labels = [cell for k, cell in enumerate(row) if k not in measured and cell]
        for tool, run_set, execution, columns in groups:
            given = {
                title: row[place] if title == "status" else f"{row[place]}{unit}"
                for place, (title, unit) in columns.items()
                if row[place]
            }
            yield from _cells(
                opened,
                " ".join(labels),
                f"{tool} {run_set}" if several else tool,
                given,
                {"tool": tool, "name": run_set, "task": labels[0] if labels else ""},
                execution,
            )


_Group = tuple[str, str, str | None, dict[int, tuple[str, str]]]


def _groups_of(lines: Sequence[list[str]]) -> list[_Group]:
    """Give the columns of each result file: where a title comes again the next file begins.

    Columns of labels, such as the property, have neither tool nor title.
    """
    found: list[_Group] = []
    counts: dict[tuple[str, str], int] = {}
    for place, (tool, run_set, title) in enumerate(zip(*lines[:3], strict=False)):
        if place == 0 or not (tool.strip() and title.strip()):
            continue
        plain = _TITLE.match(title)
        column = (plain[1], plain[2]) if plain else (title.strip(), "")
        pair = (tool.strip(), run_set.strip())
        if (
            not found
            or found[-1][:2] != pair
            or column[0] in {known for known, _ in found[-1][3].values()}
        ):
            counts[pair] = counts.get(pair, 0) + 1
            found.append((*pair, f"result {counts[pair]}", {}))
        found[-1][3][place] = column
    return [
        (tool, run_set, name if counts[tool, run_set] > 1 else None, columns)
        for tool, run_set, name, columns in found
    ]
