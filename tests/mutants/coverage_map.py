"""Which test executes which line: made once for each tree and part of the tests, kept, told as stale.

The map is made piece by piece (a folder of unit tests, a file of others), each in a process of its
own, so that an interrupted one goes on. A piece is good as long as product and tests are the same.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coverage.numbits import numbits_to_nums

from tests.mutants.private_tree import PrivateTree, product_hash

RECORDING = Path(__file__).with_name("recording.py")
KINDS = ("unit", "property", "contract", "golden")
LONGEST_S = 3600.0  # for one piece


def pieces(root: Path, kinds: Iterable[str]) -> list[str]:
    """List the pieces of a tree's tests: folders that hold tests under unit, files elsewhere."""
    found = []
    for kind in kinds:
        files = sorted((root / "tests" / kind).rglob("test_*.py"))
        names = {path.parent if kind == "unit" else path for path in files}
        found += [str(name.relative_to(root)) for name in sorted(names)]
    return found


def piece_key(root: Path, product: str, piece: str) -> str:
    """Give what a piece depends on: product, its tests, and what stands beside them."""
    place = root / piece
    files = sorted(place.glob("*.py")) if place.is_dir() else [place]
    digest = hashlib.sha256(product.encode())
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@dataclass(slots=True)
class Test:
    """A test that passes on the unmutated tree: its CPU seconds, children counted, while traced."""

    seconds: float


@dataclass(slots=True)
class CoverageMap:
    """Lines by test. `lines` maps a file to its lines, a line to contexts (``TEST (when)``)."""

    tests: dict[str, Test] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)

    def covering(self, path: str, lines: Iterable[int]) -> set[str]:
        """Give the tests that execute one of the lines.

        What a fixture executes may have been made once for a whole file of tests, and is then
        found only in the first that asked for it: all tests of that file count.
        """
        known = self.lines.get(path, {})
        contexts = set().union(*(known.get(line, set()) for line in lines))
        tests = {context.rpartition(" (")[0] for context in contexts}
        shared = {c.partition("::")[0] for c in contexts if c.endswith("(setup)")}
        if shared:
            tests |= {test for test in self.tests if test.partition("::")[0] in shared}
        return tests & self.tests.keys()

    def beside(self, tests: set[str]) -> set[str]:
        """Give the other tests of the files of some: a cached value is computed in one of them."""
        files = {test.partition("::")[0] for test in tests}
        return {test for test in self.tests if test.partition("::")[0] in files} - tests


def state(private: PrivateTree, tree: Path, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Give the pieces that are mapped for this very tree, and those that are missing or stale."""
    product = product_hash(tree)
    good: list[str] = []
    bad: list[str] = []
    for piece in wanted:
        stamp = _folder(private, piece) / "key"
        fresh = stamp.exists() and stamp.read_text() == piece_key(tree, product, piece)
        (good if fresh else bad).append(piece)
    return good, bad


def make(private: PrivateTree, wanted: Sequence[str], say: Callable[[str], None]) -> None:
    """Make what is missing of the map."""
    product = product_hash(private.root)
    _, todo = state(private, private.root, wanted)
    for number, piece in enumerate(todo, 1):
        began = time.monotonic()
        outcome = _piece(private, piece)
        (_folder(private, piece) / "key").write_text(piece_key(private.root, product, piece))
        took = time.monotonic() - began
        (_folder(private, piece) / "seconds").write_text(f"{took:.1f}")
        say(f"map {number}/{len(todo)} {took:6.1f} s  {piece}: {outcome}")


def _folder(private: PrivateTree, piece: str) -> Path:
    return private.work / "map" / piece.replace("/", "+")


def _piece(private: PrivateTree, piece: str) -> str:
    """Record one piece. Who fails while traced is tried again untraced: the tracing may be why."""
    folder = _folder(private, piece)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    place = private.root / piece
    files = sorted(place.glob("test_*.py")) if place.is_dir() else [place]
    _record(private, folder, "traced", [str(path.relative_to(private.root)) for path in files])
    kept = folder / "tests.json"
    if not kept.exists():
        kept.write_text("{}")
        return "nothing was recorded: see its log"
    tests = json.loads(kept.read_text())
    failed = [test for test, (outcome, _) in tests.items() if outcome == "failed"]
    if failed:
        _record(private, folder, "plain", failed)
        tests |= json.loads(kept.read_text())
        kept.write_text(json.dumps(tests))
    outcomes = [outcome for outcome, _ in tests.values()]
    return ", ".join(f"{outcomes.count(one)} {one}" for one in sorted(set(outcomes)))


def _record(private: PrivateTree, folder: Path, way: str, tests: Sequence[str]) -> None:
    words = private.command(private.python, RECORDING, folder, way, *tests)
    with (folder / f"{way}.log").open("wb") as log:
        try:
            subprocess.run(
                words, cwd=private.root, env=private.environment(), timeout=LONGEST_S, check=False,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            log.write(b"\ntook too long\n")


def load(private: PrivateTree, wanted: Sequence[str]) -> CoverageMap:
    """Read pieces that are mapped for this tree."""
    good, _ = state(private, private.root, wanted)
    found = CoverageMap()
    for piece in good:
        folder = _folder(private, piece)
        for test, (outcome, seconds) in json.loads((folder / "tests.json").read_text()).items():
            if outcome == "passed":
                found.tests[test] = Test(seconds)
        if (folder / "coverage").exists():
            _read(folder / "coverage", private.root, found.lines)
    return found


def _read(path: Path, root: Path, lines: dict[str, dict[int, set[str]]]) -> None:
    """Read coverage's own file: for each file and context the numbers of lines, packed."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as data:
        rows = data.execute(
            "select file.path, context.context, line_bits.numbits from line_bits"
            " join file on file.id = line_bits.file_id"
            " join context on context.id = line_bits.context_id"
        )
        names: dict[str, str] = {}
        for place, context, bits in rows:
            if "::" not in context:
                continue  # while tests were collected
            if place not in names:
                names[place] = str(Path(place).relative_to(root))
            known = lines.setdefault(names[place], defaultdict(set))
            for line in numbits_to_nums(bits):
                known[line].add(context)
    data.close()
