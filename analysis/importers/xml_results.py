"""BenchExec's XML and table CSV; nothing in the XML is fetched or expanded.

A task is executed once in a file: repetitions are several files. The status is read before the times:
a task that failed has times that say nothing, one that its time limit ended lower bounds. The environment that the file stores is
not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.parsers import expat

from ..data.opening import Opened, files_in, open_in_folder
from ..errors import FairtrialError
from .parsing import ForeignCell, ForeignFile, foreign_file, in_base_unit, number_or_text


def xml_of(opened: Opened) -> ET.Element:
    """Parse a whole XML file; a DOCTYPE that only names an external definition is passed over."""
    builder = ET.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.ordered_attributes = False

    def refuse(what: str) -> None:
        fix = "results need none: take it out if you trust the file"
        at = f"{parser.CurrentLineNumber}"
        raise opened.fail(f"the file holds {what}, which is refused", fix, at=at)

    def doctype(*about: object) -> None:
        if about[-1]:
            refuse("a DOCTYPE with an internal subset")

    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = lambda *_about: refuse("an entity of its own")
    parser.ExternalEntityRefHandler = lambda *_about: 1  # passed over: nothing is ever fetched
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(opened.data if opened.encoding is None else opened.text(), True)  # noqa: FBT003 - expat's own
        return builder.close()
    except (LookupError, ValueError) as error:
        what = f"its encoding cannot be read: {error}"
        raise opened.fail(what, "name it with --encoding", at="1") from None
    except (expat.ExpatError, AssertionError) as error:
        line = getattr(error, "lineno", 0)
        cut = "no element found" in str(error) or "unclosed" in str(error)
        what = "the file is cut off" if cut else f"it is no XML: {error}"
        raise opened.fail(what, "copy the file again", at=f"{line}") from None


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
_TOLD = (("host", "systeminfo[1]", "hostname"), ("cpu_model", "systeminfo[1]/cpu", "model"))
_TITLE = re.compile(r"^(.*)\(([^()]*)\)$")  # each sign is read once, however many blanks there are


def knows_benchexec(opened: Opened) -> bool:
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
        return _is_result(open_in_folder(folder, path))
    except FairtrialError:  # what cannot be opened is none
        return False


def _is_result(opened: Opened) -> bool:
    head = opened.head()
    return re.search(r"<result\b[^<>]*\btool=", head) is not None and "<run" in head


def _table_head(text: str) -> list[str] | None:
    lines = text.split("\n")[:3]
    if len(lines) == 3 and lines[1].lower().startswith(("run set\t", "runset\t", "run sets\t")):
        return lines
    return None


def read_benchexec(opened: Opened) -> ForeignFile:
    """Give a cell for each task, file and measured quantity."""
    facts: dict[str, str] = {}
    if opened.is_folder:
        cells = [
            cell
            for path in files_in(opened)
            if _is_result_at(opened, path)
            for cell in _of_xml(open_in_folder(opened, path), facts)
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
        raise opened.fail(what, fix)
    lost = "a file holds one run of each task: give the files of several executions, with --variant tool to put them together"
    return foreign_file(cells=cells, variant_rule=rule, losses={"one-run": lost}, facts=facts)


def _of_xml(opened: Opened, facts: dict[str, str]) -> Iterator[ForeignCell]:
    root = xml_of(opened)
    if root.tag != "result":
        raise opened.fail(f"the root element is {root.tag!r}, not 'result'", "is it of BenchExec?")
    about = {name: root.get(name, "") for name in _ABOUT if root.get(name)}
    for fact, path, key in _TOLD:
        if (told := root.find(path)) is not None and (text := told.get(key)):
            facts[fact] = text
    session = root.get("starttime") or root.get("date")
    limit = _lasted(opened, root.get("timelimit"))
    runs = list(root.iter("run"))
    names = [run.get("name", "") for run in runs]
    for number, (name, run) in enumerate(zip(names, runs, strict=True), 1):
        opened.require(name != "", "a run has no name", at=f"run {number}")
        columns = {of.get("title", ""): of.get("value", "") for of in run.findall("column")}
        more = {key: text for key in _OF_RUN if (text := run.get(key))}
        # one task may be executed for several properties
        properties = more.get("properties") if names.count(name) > 1 else None
        task = f"{name} {properties}" if properties else name
        keys = {**about, **more, "task": name}
        yield from _benchexec_cells(opened, task, opened.stem, columns, keys, session, limit)


def _benchexec_cells(  # noqa: PLR0917 - all of one run
    opened: Opened,
    task: str,
    variant: str,
    columns: Mapping[str, str],
    about: Mapping[str, str],
    session: str | None,
    limit: float | None = None,
) -> Iterator[ForeignCell]:
    columns = {_EARLIER.get(title, title): text for title, text in columns.items() if text}
    failed = _is_failed(columns)
    stopped = failed and columns.get("status", "").lower().startswith("timeout")
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
            cut=((_lasted(opened, text), limit, 0),) if stopped else (),
            session=session,
            keys={**about, "status": columns.get("status", "")},
        )


def _is_failed(columns: Mapping[str, str]) -> bool:
    if columns.get("category") == "error":
        return True
    if "category" in columns and columns["category"] not in ("", "missing"):
        return False
    return _FAILED.match(columns.get("status", "")) is not None


def _lasted(opened: Opened, text: str | None) -> float | None:
    """Give what a run that was cut had used until then; None where that is no number above 0."""
    with suppress(FairtrialError):
        return _quantity(opened, text or "", "")[0] or None
    return None


def _quantity(opened: Opened, text: str, at: str) -> tuple[float, str]:
    match = _QUANTITY.match(text.strip())
    if match is None:
        raise opened.fail(f"{text!r} is not a quantity", at=at)
    factor, unit = in_base_unit(match[2])
    return opened.value(number_or_text(match[1]), at, factor=factor), unit


def _of_table(opened: Opened) -> Iterator[ForeignCell]:
    lines = [line.split("\t") for line in opened.text().split("\n")]
    groups = _groups_of(lines) if len(lines) > 2 else []
    what = "the three lines of headings (tool, run set, columns) are damaged"
    fix = "make the table again with table-generator -f csv"
    opened.require(groups != [], what, fix, at="1")
    width = len(lines[2])
    several = len({(tool, run_set) for tool, run_set, _, _ in groups}) > 1
    measured = {place for *_, columns in groups for place in columns}
    starts = {width, *(min(columns) for *_, columns in groups)}
    for number, given in enumerate(lines[3:], 4):
        if not any(cell.strip() for cell in given):
            continue
        # no empty cells stand at a line's end; what a run set begins with is a place where one may end
        more, short = len(given) > width, number == len(lines) and len(given) not in starts
        what = "the line has more cells than the headings" if more else "the line is cut off"
        fix = "remove it, or make the table again"
        opened.require(not (more or short), what, fix, at=f"{number}")
        row = given + [""] * (width - len(given))
        labels = [cell for k, cell in enumerate(row) if k not in measured and cell]
        for tool, run_set, execution, columns in groups:
            quantities = {
                title: row[place] if title == "status" else f"{row[place]}{unit}"
                for place, (title, unit) in columns.items()
                if row[place]
            }
            yield from _benchexec_cells(
                opened,
                " ".join(labels),
                f"{tool} {run_set}" if several else tool,
                quantities,
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
        column = (plain[1].rstrip(), plain[2]) if plain else (title.strip(), "")
        pair = (tool.strip(), run_set.strip())
        known = {title for title, _ in found[-1][3].values()} if found else set()
        if not found or found[-1][:2] != pair or column[0] in known:
            counts[pair] = counts.get(pair, 0) + 1
            found.append((*pair, f"result {counts[pair]}", {}))
        found[-1][3][place] = column
    return [
        (tool, run_set, name if counts[tool, run_set] > 1 else None, columns)
        for tool, run_set, name, columns in found
    ]
