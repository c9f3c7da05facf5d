"""Which foreign files can be read: one row a format, found by content, never by the name alone.

A tool's JSON is a table of ``json_rows.toml``; to add one, write its table there. Every other
format is two functions in a module of this room:

* ``knows_NAME(opened)``: whether the content is of this format, as far as it shows in its
  beginning and its structure (`Opened.head`, or names of files in a folder); none where the row has a pattern of
  how such a file ``begins``;
* ``read_NAME(opened)``: the `ForeignFile`; raises where the file is damaged (with line and remedy), and
  where it holds summaries only (naming the option of the tool that keeps the runs).

To add one, write them and its row in ``formats.toml``. Importing this table imports none of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from ..data.number_text import number_in
from ..data.opening import Opened, no_collections, trials_within
from ..errors import AnalysisError, UsageError
from ..pages.number_format import listed
from ..record.json_paths import JsonPathError, places, root
from ..registry import load
from .headings import mapped
from .json_rows import ROWS
from .json_tools import STRANGE, JsonTool, read_json
from .parsing import FORMATS, ForeignFile

BARE = ("wide-csv", "matrix", "numbers", "speedup-test")  # which commands read as matrices
UNKNOWN = "no tool is known for this"
_DEEPEST = 20
_JSON = re.compile(r'\s*[\[{]\s*["\[{]')
_MEAN = re.compile("mean|median|avg|average")
_PLAIN = re.compile(r"[^.\[\]\"\s@^$|'][^.\[\]\"]*\Z")


class Tool(NamedTuple):
    """A format: its name for ``--format``, how a sentence calls such a file, and what reads it."""

    name: str
    kind: str
    module: str
    generic: bool = False  # asked only where no tool's own format knows the file
    lines: bool = False  # what no JSON document can be
    begins: str = ""
    rows: tuple[JsonTool, ...] = ()

    def knows(self, opened: Opened) -> bool:
        """Tell whether a file is of this format."""
        if self.rows or self.begins:
            known = self.begins and re.search(self.begins, opened.head())
            return bool(known) or any(row.knows_file(opened) for row in self.rows)
        return bool(self._called("knows", opened))

    def read(self, opened: Opened) -> ForeignFile:
        """Give what a file holds.

        Raises FairtrialError where it is damaged: also where a part is missing, or of another kind, as no version of
        the tool writes it.
        """
        try:
            known = [row for row in self.rows if row.knows_file(opened)] or [*self.rows]
            found: ForeignFile = (
                read_json(known[0], opened) if known else self._called("read", opened)
            )
        except STRANGE as error:
            what = f"the file is not {self.kind} as it should be: {type(error).__name__}: {error}"
            fix = "is it whole, and of this tool? --format takes it for another one's"
            raise opened.fail(what, fix) from error
        return found

    def _called(self, what: str, opened: Opened) -> Any:  # noqa: ANN401 - of what it is
        return getattr(load(self.module), f"{what}_{self.name.replace('-', '_')}")(opened)


def tools_of(rows: tuple[JsonTool, ...]) -> Iterator[Tool]:
    """Give the formats of rows; several may be of one."""
    for name in dict.fromkeys(row.name for row in rows):
        own = tuple(row for row in rows if row.name == name)
        yield Tool(name, own[0].kind, "analysis.importers.json_rows", rows=own)


TOOLS: tuple[Tool, ...] = (
    *tools_of(ROWS),
    *(Tool(name=name, **about) for name, about in FORMATS["readers"].items()),
)


def tool_of(opened: Opened, name: str | None = None) -> Tool:
    """Find the format of a foreign file."""
    named = {tool.name: tool for tool in TOOLS}
    if name is not None:
        if name in named:
            return named[name]
        what = f"there is no format {name!r}"
        raise UsageError(what, opened.source, f"known: {', '.join(named)}")
    if opened.columns and not opened.is_folder:  # a person said what it holds
        kind = "json" if opened.looks_like_json() else "long-csv"
        of_rows = [tool for tool in TOOLS if tool.name in ("parquet", "sqlite")]
        return next((tool for tool in of_rows if tool.knows(opened)), named[kind])
    # of general tables the first one that fits: numbers may be headings, or values
    found = _knowing(opened, generic=False) or _knowing(opened, generic=True)[:1]
    what = "folder" if opened.is_folder else "file"
    trials: tuple[str, ...] = ()
    try:
        trials = trials_within(opened)
    except AnalysisError:  # too large a folder; a format knows its own part of it
        if not found:
            raise
    if len(found) == 1 and not trials:
        return found[0]
    if trials and not found:
        held = "this is a trial" if trials[0] == str(opened.path) else "the folder holds trials"
        fix = f"every command reads them as they are: name one, such as {trials[0]}"
        raise UsageError(f"{held} of fairtrial", opened.source, fix)
    if found:
        kinds = [tool.kind for tool in found] + [f"a folder with the trial {t}" for t in trials[:1]]
        fix = f"say which with --format ({', '.join(tool.name for tool in found)})"
        fix += ", or name the folder of the results" * opened.is_folder
        raise UsageError(f"the {what} looks like {' and like '.join(kinds)}", opened.source, fix)
    if _JSON.match(opened.head()):
        opened.json()  # says where it is damaged
    data = opened.structure()
    lists = [path or "$" for path in sorted(_paths(data, "list"))]
    lie = f"; lists of numbers lie at {listed(lists, 3)}" if lists else ""
    nameless = isinstance(data, list) and lists == ["[*]"]  # a column would pool them
    roles = "" if nameless else _columns_in(data, lists)
    fix = "give its single runs as a long CSV: benchmark, variant, run, value"
    fix = f"say what is what, --columns '{roles}', or {fix}" if roles else fix
    lines = opened.head().split("\n") if data is None else [""]
    alike = (any(a.count(s) == b.count(s) > 0 for s in ",;\t|") for a, b in pairwise(lines[1:6]))
    below = ("\n".join(lines[k:]).encode() for k, one in enumerate(alike, 1) if one)
    if any(named["long-csv"].knows(replace(opened, data=text, encoding="utf-8")) for text in below):
        fix = f"take out what stands above its headings, or {fix}"
    elif re.match(r"[^\n,;\t|]+[,;\t|][^\n]*\d", lines[0]):
        fix = f"write headings above its columns, or {fix}"
    fix = "name the files of the results in it, such as FOLDER/*.json" if opened.is_folder else fix
    raise UsageError(f"{UNKNOWN} {what}{lie}", opened.source, fix)


def _columns_in(data: Any, lists: list[str]) -> str:  # noqa: ANN401 - any JSON
    """Say where values are, of lists or else of the entries of one, and what names them there."""
    numbers, texts = (sorted(_paths(data, kind)) for kind in ("number", "text"))
    numbers = [path for path in numbers if "[*]" in path]
    entries = [path for path in lists if "[*]" in path]
    values = _valued(entries) or entries or _valued(numbers) or lists or numbers
    if not values or values[0] in texts:
        return ""
    entry = "".join(values[0].rpartition("[*]")[:2])
    texts = [one for one in texts if one.startswith(f"{entry}.") and "[" not in one[len(entry) :]]
    about = mapped([*(path.rpartition(".")[2] for path in texts), "value"])
    names = [*(texts[k] for k in about.benchmark), *texts] if about and entry else []
    roles = f"benchmark={names[0]}" if names else ""
    with suppress(JsonPathError):  # not every entry has it
        first = places(root(data), entry, entries=True)[0].entries[1:] if entry else ()
        keys = [isinstance(one.key, str) for one in first]
        if keys[-1:] == [True] and not names:
            roles = f"benchmark={entry}.@"
            if keys[-2:] == [True, True] and entry.endswith("[*][*]"):
                roles = f"benchmark={entry[:-3]}.@, variant={entry}.@"
    return ", ".join(filter(None, (roles, f"value={values[0]}")))


def _valued(paths: list[str]) -> list[str]:
    """Give the path whose key is a word of a value, or of a mean, if one is."""
    names = [path.rpartition(".")[2] for path in paths]
    found = mapped([name.removesuffix("s") for name in names], numeric=range(len(names)))
    means = [path for path, name in zip(paths, names, strict=True) if _MEAN.search(name)]
    return [paths[found.values[0][0]]] if found else means[:1]


def begins_with_numbers(opened: Opened) -> bool:
    """Tell whether a file holds nothing, or whether most cells of its first line are numbers, the name aside."""
    found = re.search(r"^[ \t]*([^#\s].*)", opened.head(), re.MULTILINE)
    first, *cells = re.split(r"[,;\s]+", found[1].strip() if found else "")
    known = [number_in(cell) is not None for cell in cells or (first,)]
    return not first or 2 * sum(known) > len(known)


def _is(kind: str, data: object) -> bool:
    if kind == "list":
        return isinstance(data, list) and data != [] and all(_is("number", one) for one in data)
    return isinstance(data, str) if kind == "text" else type(data) in (int, float)


def _paths(data: Any, kind: str, depth: int = 0, *, entry: bool = False) -> set[str]:  # noqa: ANN401 - any JSON
    """Give the paths to numbers, texts, or lists of numbers.

    Where all parts of an object have the same its keys are names, unless it is an `entry` of a list.
    """
    if _is(kind, data):
        return {""}
    parts = data.items() if isinstance(data, dict) else [("", one) for one in data or ()]
    found: dict[str, set[str]] = {}
    for key, part in parts if depth < _DEEPEST else ():
        if isinstance(part, (dict, list)) or _is(kind, part):
            paths = _paths(part, kind, depth + 1, entry=isinstance(data, list))
            found.setdefault(key, set()).update(paths)
    shapes = list(found.values())
    same = len(shapes) > 1 and all(one == shapes[0] for one in shapes) and not entry
    if isinstance(data, list) or (same and (kind == "list" or shapes[0] != {""})):
        return {f"[*]{_joined(path)}" for one in shapes for path in one}
    return {
        (key if _PLAIN.match(key) else f"[{json.dumps(key)}]") + _joined(path)
        for key, paths in found.items()
        for path in paths
    }


def _joined(path: str) -> str:
    return path if path[:1] in ("", "[") else f".{path}"


@no_collections()
def read_foreign(opened: Opened, name: str | None = None) -> ForeignFile:
    """Read a foreign file by its format."""
    try:
        tool = tool_of(opened, name)
    except UsageError as error:
        if UNKNOWN in error.what and not opened.is_folder and begins_with_numbers(opened):
            from ..data.matrix_file import table_in  # says where it holds no number

            table_in(opened.text(), opened.source, opened.layout, opened.decimal)
        raise
    found = tool.read(opened)
    return replace(found, format=found.format or tool.name, source=opened.source)


def _knowing(opened: Opened, *, generic: bool) -> list[Tool]:
    """Ask each format; a folder may be too large to ask some of them, which others know at once."""
    found: list[Tool] = []
    trouble: AnalysisError | None = None
    is_json = opened.structure() is not None
    for tool in TOOLS:
        try:
            asked = tool.generic == generic and not (is_json and tool.lines)
            if asked and tool.knows(opened):
                found.append(tool)
        except AnalysisError as error:
            trouble = trouble or error
    if trouble is not None and not found:
        raise trouble
    return found
