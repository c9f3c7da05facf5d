"""What a function is called: the same in both variants, whatever compilers, folders and engines put into its name.

Two names that differ after this are two functions: what was renamed is a pair that people see, and no guess.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..record.profiles import KERNEL, StoredProfile, cell_name

UNKNOWN = "[unknown]"  # as perf writes what has no symbol
PROGRAM = "program"  # the object of both variants' programs where their files have different names
MADE_AS_IT_RUNS = (
    "made at run time"  # the object of what an engine compiled, where nothing says its file
)

# what gcc and clang append to a copy or a part of a function, in a dotted name and as demanglers print it
_PARTS = "isra|part|constprop|cold|lto_priv|localalias|llvm|__uniq"
_SUFFIX = re.compile(rf"(?:\.(?:{_PARTS})(?:\.\d+)*)+$")
_CLONES = re.compile(r"(?: \[clone [^\]]*\])+$")
_VERSION = re.compile(r"@+[A-Z][A-Za-z]*_[\w.]+$")  # memcpy@@GLIBC_2.14, and not memcpy@plt
_RUST_LEGACY = re.compile(r"::h[0-9a-f]{16}$")
_RUST_CRATE = re.compile(r"(?<=\w)\[[0-9a-f]{1,16}\](?=::)")
_APPENDED = (_CLONES, _SUFFIX, _VERSION, _RUST_LEGACY, _RUST_CRATE)
_MANGLED = re.compile(r"_(?:_?Z[NLKS0-9]|RNv|RIN|RNC|RNx|RY|RX|RM)")
_PYTHON = re.compile(r"py::(?P<name>.+?):(?P<file>[^:]+)$")
_NODE = re.compile(
    r"(?P<kind>[A-Za-z]+):(?P<tier>[*~^+]?)(?P<name>\S*) (?P<file>\S+?)(?::\d+)?(?::\d+)?$"
)
_LIBRARY = re.compile(r"(?:-\d+\.[\d.]*\d)?\.so(?:\.[\w.]+)?$")
_ENGINE = re.compile(
    r"(?:jit|anon|perf-\d+\.map|jitted-\d+-\d+\.so|\[JIT\] tid \d+|//anon|\[anon.*|anon_inode.*)$"
)


class FunctionName(NamedTuple):
    """A function's name, and the file that holds it without folder and version."""

    function: str
    object: str


def plain_name(symbol: str) -> str:
    """Strip what a compiler, a linker or a demangler puts behind a function's own name."""
    name, before = symbol.strip(), None
    while name != before:
        before = name
        for appended in _APPENDED:
            name = appended.sub("", name).rstrip()
    return name or UNKNOWN


def plain_object(name: str) -> str:
    """Strip folder and version of a file: ``libc``, whichever ``libc-2.31.so`` or ``libc.so.6`` it was."""
    base = name.rstrip("/").rpartition("/")[2] if not name.startswith("//") else name
    if base == KERNEL or base.startswith("[kernel"):
        return KERNEL
    if _ENGINE.match(base):
        return MADE_AS_IT_RUNS
    return _LIBRARY.sub("", base.strip("[]")) or base


def is_mangled(function: str) -> bool:
    """Tell whether a name is still as a C++ or Rust compiler wrote it."""
    return _MANGLED.match(function) is not None


def function_name(symbol: str, file: str) -> FunctionName:
    """Give the name of a function that perf calls `symbol`, in `file`.

    Of Python's and node's functions the file is the source's, without its folder, and neither lines nor
    tiers of optimisation are a part of the name.
    """
    found = _PYTHON.match(symbol)
    if found is not None:
        return FunctionName(f"py::{found['name']}", _leaf(found["file"]))
    where = plain_object(file) or UNKNOWN.strip("[]")
    found = _NODE.match(symbol) if where == MADE_AS_IT_RUNS else None
    if found is not None:
        return FunctionName(
            f"{found['kind']}:{found['name'] or '(anonymous)'}", _leaf(found["file"])
        )
    return FunctionName(plain_name(symbol), where)


def _leaf(path: str) -> str:
    return path.rpartition("/")[2] or path


class FunctionNames:
    """The names of one profile's functions, for one benchmark: rows and pictures call them alike.

    `programs` holds the files of each variant that are one program under two names.
    """

    def __init__(self, programs: frozenset[str] = frozenset()) -> None:
        self._programs = programs
        self._known: dict[tuple[str, str], FunctionName] = {}

    @classmethod
    def of(cls, stored: StoredProfile, benchmark: str) -> FunctionNames:
        """Find the files that are one program: those of the two cells, else the only ones that the other variant lacks."""
        profile = stored.profile
        sides = (profile.baseline, profile.variant)
        told = profile.program_names
        names = [told.get(cell_name(benchmark, side)) for side in sides]
        if None not in names:
            files = [plain_object(str(name)) for name in names]
            return cls(frozenset(files) if files[0] != files[1] else frozenset())
        seen = {
            side: {
                plain_object(one.object)
                for cell in stored.cells
                if cell.benchmark == benchmark and cell.variant == side
                for one in cell.functions
            }
            for side in sides
        }
        alone = [seen[one] - seen[other] for one, other in (sides, sides[::-1])]
        if all(len(files) == 1 for files in alone):
            return cls(frozenset().union(*alone))
        return cls()

    def name_of(self, symbol: str, file: str) -> FunctionName:
        """Give the name of a function as perf wrote it, in a file without its folder."""
        key = symbol, file
        if key not in self._known:
            name = function_name(symbol, file)
            if name.object in self._programs:
                name = name._replace(object=PROGRAM)
            self._known[key] = name
        return self._known[key]
