"""Tools that execute suites and write text or XML: ReBench, SPEC CPU, and BenchExec."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from xml.etree import ElementTree as ET
from xml.parsers import expat

from ..data.opening import Opened, files_in, open_in_folder
from ..errors import FairtrialError
from .parsing import (
    FORMATS,
    ForeignCell,
    ForeignFile,
    foreign_file,
    in_base_unit,
    number_or_text,
    quantity_in,
    within,
)

_NAMES, _MEASURED = (tuple(FORMATS["rebench"][of].split()) for of in ("names", "measured"))
_CELLS = FORMATS["rebench"]["headless"].items()
_HEADLESS = {int(count): (*_MEASURED, *names.split()) for count, names in _CELLS}
_SAID = re.compile(r"^# ?(run_id|benchmark): ?(\d+)\s*=\s*(\{.*)$")
_START = re.compile(r"^# ?Execution Start:\s*(.*)$")
_ROW = re.compile(r"^\d+\t\d+\t[-+\d.eE]+\t[^\t\d]*\t[^\t]+\t[^\t]+\t", re.MULTILINE)


@dataclass(slots=True)
class _Run:  # of one run id, criterion, unit and execution
    names: dict[str, str]
    criterion: str
    unit: str
    execution: int
    started: str
    warm: int | None
    warmups: int = 0
    invocations: dict[int, list[float]] = field(default_factory=dict)


def knows_rebench(opened: Opened) -> bool:
    """Tell by the line of headings, or by the comments that begin an execution."""
    head = opened.head()
    if re.search(r"^invocation\titeration\tvalue\tunit\tcriterion\t", head, re.MULTILINE):
        return True
    if re.search(r"^# ?Execution Start:", head, re.MULTILINE):
        return True
    return head.startswith("#!") and "rebench" in head[:1000].lower() and bool(_ROW.search(head))


def read_rebench(opened: Opened) -> ForeignFile:
    """Give a cell for each run, criterion and execution."""
    reader = _Reader(opened)
    found = reader.runs()
    if not any(run.invocations for run in found):
        raise opened.fail("there is no measurement in the file", "was every run a failure?")
    several = max(run.execution for run in found) > 1
    found.sort(key=lambda run: run.criterion != "total")
    cells = tuple(_cell(run, _varying(run, found), several=several) for run in found)
    holding = {"warm-ups-unknown": any(cell.warmups is None for cell in cells)}
    return foreign_file("rebench", cells, holding, variant_rule="the executor", facts=reader.facts)


def _varying(run: _Run, every: list[_Run]) -> list[str]:
    """Name what tells runs of one benchmark and executor apart, the same for all executors."""
    alike = [one.names for one in every if one.names.get("benchmark") == run.names.get("benchmark")]
    executors = {names.get("executor", "") for names in alike}
    pairs = {n: {(of.get("executor", ""), of.get(n, "")) for of in alike} for n in _NAMES}
    return [name for name in _NAMES if len(pairs[name]) > len(executors)]


def _cell(run: _Run, varying: list[str], *, several: bool) -> ForeignCell:
    about = (name for name in varying if name != "benchmark" and run.names.get(name))
    parts = [run.names.get("benchmark", ""), *(f"{name}={run.names[name]}" for name in about)]
    session = run.started or None
    if several:
        session = f"{run.started}, execution {run.execution}".removeprefix(", ")
    return ForeignCell(
        benchmark=" ".join(parts),
        variant=run.names.get("executor") or None,
        metric="time" if run.criterion == "total" and run.unit == "s" else run.criterion,
        unit=run.unit,
        better="lower" if run.unit in ("s", "B") else None,
        processes=tuple(map(tuple, run.invocations.values())),
        known=True,
        labels=tuple(map(str, run.invocations)),
        warmups=None if run.warm is None else run.warmups,
        session=session,
        keys={name: value for name, value in run.names.items() if value},
    )


class _Reader:
    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.facts: dict[str, str] = {}
        self._benchmarks: dict[str, Any] = {}
        self._ids: dict[str, tuple[dict[str, str], int | None]] = {}
        self._found: dict[tuple[str, str, str, int], _Run] = {}
        self._columns: tuple[str, ...] = ()
        self._execution, self._started = 1, ""
        self._last: dict[tuple[str, str], tuple[int, int]] = {}

    def runs(self) -> list[_Run]:
        """Give the runs in the order of their first measurements."""
        lines = self.opened.text().split("\n")
        what = "these are profiles, no measurements"
        fix = "name the .data file of an experiment whose action is 'benchmark'"
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                self._say(line, f"{number}")
            elif line.startswith("invocation\t"):
                self._columns = tuple(line.split("\t"))
                self.opened.require(self._columns[:5] == _MEASURED, what, fix, at=f"{number}")
            elif line.strip():
                self._add(line.split("\t"), f"{number}", last=number == len(lines))
        return list(self._found.values())

    def _say(self, line: str, at: str) -> None:
        if (start := _START.match(line)) is not None:
            if self._found:
                self._execution, self._last = self._execution + 1, {}
            self._started = start[1].strip()
        elif line.startswith("# Environment: "):
            about = _json_in(line.removeprefix("# Environment: "))
            for fact, key in (("host", "hostName"), ("cpu_model", "cpu")):
                if isinstance(text := within(about, key), str):
                    self.facts.setdefault(fact, text)
        elif (found := _SAID.match(line)) is not None:
            data = _json_in(found[3])
            self.opened.require(isinstance(data, dict), "what the line describes is no JSON", at=at)
            if found[1] == "benchmark":
                self._benchmarks[found[2]] = data
            else:
                known = self._benchmarks.get(str(data.get("benchmark_id")))
                bench = data.get("benchmark", known)
                warm = within(bench, "runDetails", "warmup")
                there = type(warm) is int and warm > 0
                self._ids[found[2]] = (_names_of(data, bench), warm if there else None)

    def _add(self, cells: list[str], at: str, *, last: bool) -> None:
        columns = self._columns or _HEADLESS.get(len(cells), ())
        what = "the line is cut off" if columns or last else "there is no line of headings"
        whole = len(cells) >= len(columns) > 0
        self.opened.require(whole, what, "remove it, or copy the file again", at=at)
        row = dict(zip(columns, cells, strict=False))
        names, warm = self._ids.get(row.get("runId", ""), ({}, None))
        names = names | {name: row[name] for name in _NAMES if row.get(name)}
        self.opened.require(bool(names.get("benchmark")), "the line names no benchmark", at=at)
        run_id = row.get("runId") or "\t".join(names.get(name, "") for name in _NAMES)
        criterion, texts = row["criterion"], (row["invocation"], row["iteration"])
        for text in texts:
            good = text.isdecimal() and len(text) < 19
            self.opened.require(good, f"{text!r} is not the number of an invocation", at=at)
        place = (int(texts[0]), int(texts[1]))
        if place <= self._last.get((run_id, criterion), (-1, -1)):
            self._execution, self._last = self._execution + 1, {}
        self._last[run_id, criterion] = place
        # what /usr/bin/time calls kb are kibibytes
        factor, unit = in_base_unit("KiB" if row["unit"].lower() == "kb" else row["unit"])
        run = self._found.setdefault(
            (run_id, criterion, unit, self._execution),
            _Run(names, criterion, unit, self._execution, self._started, warm),
        )
        value = self.opened.value(number_or_text(row["value"]), at, factor=factor)
        if warm is not None and place[1] <= warm:
            run.warmups += 1
        else:
            run.invocations.setdefault(place[0], []).append(value)


def _json_in(text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _names_of(data: dict[str, Any], bench: object) -> dict[str, str]:
    names = {key: str(value) for key, value in data.items() if isinstance(value, (str, int))}
    names.pop("benchmark_id", None)
    for name, key in (("benchmark", "suite"), ("suite", "executor"), ("executor", "")):
        if isinstance(bench, dict):
            names[name] = str(bench.get("name"))
            bench = bench.get(key)
    return names


_FULL = re.compile(r'^"?Full Results Table"?\s*$', re.MULTILINE)
_HEADS = re.compile(r'^"?Benchmark"?,"?(?:Est\. )?Base ', re.MULTILINE)
_RAW = re.compile(
    r"^spec\.(cpu\w+)\.results\.(\w+)\.(base|peak)\.(\d{1,9})\."
    r"(benchmark|reported_time|reported_sec|reported_nsec|ratio|rate|valid): (.*)$",
    re.MULTILINE,
)
_INVALID = re.compile(
    r"^spec\.cpu\w+\.(?:valid: 0|invalid: 1)\s*$|^\ufeff?valid,0\s*$", re.MULTILINE
)
_CPU = re.compile(r'^"?CPU Name"?,"?([^"\n]+)|^spec\.cpu\w+\.hw_cpu(?:_name)?: (.+)$', re.MULTILINE)
_LONGER = 1024**2  # notes may stand before the table
_GOOD = ("S", "", "1", "*")
_NOT_RUN = "NR"
_NUMBER = re.compile(r"[-+0-9.]*[0-9]")
# benchmark and tuning, the run and its place, what became of it, and its quantities
_Row = tuple[tuple[str, str], str, str, str, dict[str, str]]


def knows_spec_cpu(opened: Opened) -> bool:
    """Tell by the table's title and headings, or by the keys of a raw file."""
    if opened.is_folder:
        return False
    start, longer = opened.head(), opened.data[:_LONGER]
    if _RAW.search(start):
        return True
    if b"Full Results Table" in longer or b".reported_time: " in longer:
        start = longer.decode("utf-8", errors="replace").replace("\r", "")
    found = _FULL.search(start)
    return _RAW.search(start) is not None or (
        found is not None and _HEADS.search(start, found.end()) is not None
    )


def read_spec_cpu(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, tuning and quantity (time, and ratio or rate)."""
    text = opened.text()
    rows = _raw_rows(text) if _RAW.search(text) else _csv_rows(opened, text)
    runs: dict[tuple[str, str], dict[str, list[tuple[str, str, str]]]] = {}
    failed: Counter[tuple[str, str]] = Counter()
    for key, run, at, status, given in rows:
        if status == _NOT_RUN or not (given["time"] or status):
            continue
        if not given["time"] or status not in _GOOD:
            failed[key] += 1
            continue
        for metric, value in given.items():
            if value:
                runs.setdefault(key, {}).setdefault(metric, []).append((value, run, at))
    cells = tuple(
        ForeignCell(
            benchmark=key[0],
            variant=key[1],
            metric=metric,
            unit="s" if metric == "time" else "score",
            better="lower" if metric == "time" else "higher",
            processes=tuple((opened.value(number_or_text(text), at),) for text, _, at in values),
            labels=tuple(run for _, run, _ in values),
            known=True,
            warmups=0,
            failed=failed[key],
            keys={"benchmark": key[0], "tuning": key[1]},
        )
        for key in dict.fromkeys((*runs, *failed))
        for metric, values in runs.get(key, {"time": []}).items()
    )
    if not cells:
        raise opened.fail("there is no run in the file", "is the report whole?")
    cpu, estimate = _CPU.search(text), re.search(r"\bEst\. (?:Base|Peak) ", text)
    holding = {"invalid-result": _INVALID.search(text), "estimated-result": estimate}
    facts = {"cpu_model": cpu and (cpu[1] or cpu[2]).strip()}
    rule = "the tuning (base or peak)"
    return foreign_file("spec-cpu", cells, holding, variant_rule=rule, facts=facts)


def _csv_rows(opened: Opened, text: str) -> Iterator[_Row]:
    """Give the rows of the table by its headings, to its empty line."""
    table = _FULL.search(text)
    if table is None:
        raise opened.fail("there is no Full Results Table", "use the CSV of runcpu")
    before, heads = text.count("\n", 0, table.start()), list[str]()
    order: Counter[str] = Counter()
    reader = csv.reader(io.StringIO(text[table.start() :], newline="\n"))
    for cells in opened.rows(reader, before=before):
        at = f"{before + reader.line_num}"
        if not heads:
            heads = [one.replace("Est. ", "") for one in cells if cells[0] == "Benchmark"]
            continue
        if not cells or not cells[0].strip() or "Selected Results Table" in cells[0]:
            return
        what = "the line is cut off, or has commas in its numbers"
        opened.require(len(cells) == len(heads), what, "copy the file again", at=at)
        row = dict(zip(heads, cells, strict=True))
        bench = row["Benchmark"].strip()
        order[bench] += 1
        for tuning in ("Base", "Peak"):
            columns = {"time": "Run Time", "ratio": "Ratio", "rate": "Rate"}
            given = {k: row.get(f"{tuning} {name}", "").strip() for k, name in columns.items()}
            status = row.get(f"{tuning} Status", "").strip()
            yield (bench, tuning.lower()), f"{order[bench]}", at, status, given


def _raw_rows(text: str) -> Iterator[_Row]:
    found: dict[tuple[str, str, int], dict[str, str]] = {}
    for match in _RAW.finditer(text):
        key = (match[2], match[3], int(match[4]))
        found.setdefault(key, {})[match[5]] = match[6].strip()
    for (bench, tuning, k), row in sorted(found.items(), key=lambda item: item[0][2]):
        name = row.get("benchmark") or re.sub(r"^(\d+)_", r"\1.", bench)
        time = row.get("reported_time", "")
        if not time and row.get("reported_sec", "").isdecimal():
            time = f"{row['reported_sec']}.{row.get('reported_nsec', '0').zfill(9)}"
        given = {"time": time, "ratio": row.get("ratio", ""), "rate": row.get("rate", "")}
        given = {metric: text if _NUMBER.match(text) else "" for metric, text in given.items()}
        status = row.get("valid") or "S" * (given["time"] != "") or "none"
        yield (name, tuning), f"{k}", f"{bench}.{tuning}.{k:03d}", status, given


def xml_of(opened: Opened) -> ET.Element:
    """Parse a whole XML file; a DOCTYPE that only names an external definition is passed over."""
    builder = ET.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True

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
_FAILED = re.compile(FORMATS["benchexec"]["failed"], re.IGNORECASE)
_OF_RUN = ("properties", "expectedVerdict")
_ABOUT = ("tool", "version", "benchmarkname", "name", "block", "options", "date")
_TOLD = (("host", "systeminfo[1]", "hostname"), ("cpu_model", "systeminfo[1]/cpu", "model"))
_HEADINGS = re.compile(r"tool\t.*\n(?i:run sets?|runset)\t.*\n", re.ASCII)  # of a table
_TITLE = re.compile(r"^(.*)\(([^()]*)\)$")  # each sign is read once, however many blanks there are


def knows_benchexec(opened: Opened) -> bool:
    """Tell by the root element and its tool, or by the three lines of headings of a table."""
    if opened.is_folder:
        return next(_results_in(opened), None) is not None
    head = opened.head()
    return _HEADINGS.match(head) is not None if head.startswith("tool\t") else _is_result(head)


def _is_result(head: str) -> bool:
    return re.search(r"<result\b[^<>]*\btool=", head) is not None and "<run" in head


def _results_in(folder: Opened) -> Iterator[Opened]:
    for path in files_in(folder):
        if path.name.endswith((".xml", ".xml.bz2", ".xml.gz")):
            with suppress(FairtrialError):  # what cannot be opened is none
                one = open_in_folder(folder, path)
                if _is_result(one.head()):
                    yield one


def read_benchexec(opened: Opened) -> ForeignFile:
    """Give a cell for each task, file and measured quantity."""
    facts, rule = dict[str, str](), "the file's name"
    if opened.head().startswith("tool\t"):
        cells, rule = list(_of_table(opened)), "the tool and the run set"
    else:
        files = [*_results_in(opened)] if opened.is_folder else [opened]
        cells = [cell for one in files for cell in _of_xml(one, facts)]
    if not cells:
        what, fix = "there is no run in the file", "did benchexec execute any task?"
        if not opened.is_folder and b"<run" in opened.data:
            what = "no run in the file has a measured column"
            fix = "was the execution stopped? name the result file that benchexec wrote at its end"
        raise opened.fail(what, fix)
    return foreign_file("benchexec", cells, variant_rule=rule, facts=facts)


def _of_xml(opened: Opened, facts: dict[str, str]) -> Iterator[ForeignCell]:
    root = xml_of(opened)
    if root.tag != "result":
        raise opened.fail(f"the root element is {root.tag!r}, not 'result'", "is it of BenchExec?")
    about = {name: root.get(name, "") for name in _ABOUT if root.get(name)}
    for fact, path, key in _TOLD:
        if (found := root.find(path)) is not None and (text := found.get(key)):
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
        like = ForeignCell(
            benchmark=task, variant=opened.stem, processes=(), session=session, keys=keys
        )
        yield from _benchexec_cells(opened, like, columns, limit)


def _benchexec_cells(
    opened: Opened, like: ForeignCell, columns: Mapping[str, str], limit: float | None = None
) -> Iterator[ForeignCell]:
    """Give a cell as another one for each quantity of a run."""
    columns = {_EARLIER.get(title, title): text for title, text in columns.items() if text}
    failed, status = _is_failed(columns), columns.get("status", "")
    stopped = failed and status.lower().startswith("timeout")
    for title in _METRICS:
        text = columns.get(title)
        if text is None and not (failed and title == "walltime"):
            continue
        at = f"{like.benchmark}, {title}"
        value, unit = (0.0, "") if failed else _quantity(opened, text or "", at)
        yield replace(
            like,
            metric=title,
            unit="B" if title == "memory" else unit or "s",
            processes=() if failed else ((value,),),
            known=True,
            warmups=0,
            failed=int(failed),
            cut=((_lasted(opened, text), limit, 0),) if stopped else (),
            keys={**like.keys, "status": status},
        )


def _is_failed(columns: Mapping[str, str]) -> bool:
    category, status = columns.get("category", ""), columns.get("status", "")
    unjudged = category in ("", "missing")
    return category == "error" or (unjudged and _FAILED.match(status) is not None)


def _lasted(opened: Opened, text: str | None) -> float | None:
    """Give what a run that was cut had used until then; None where that is no number above 0."""
    with suppress(FairtrialError):
        return _quantity(opened, text or "", "")[0] or None
    return None


def _quantity(opened: Opened, text: str, at: str) -> tuple[float, str]:
    found = quantity_in(text)
    if found is None:
        raise opened.fail(f"{text!r} is not a quantity", at=at)
    return opened.value(found[0], at), found[1]


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
            like = ForeignCell(
                benchmark=" ".join(labels),
                variant=f"{tool} {run_set}" if several else tool,
                processes=(),
                session=execution,
                keys={"tool": tool, "name": run_set, "task": labels[0] if labels else ""},
            )
            yield from _benchexec_cells(opened, like, quantities)


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
