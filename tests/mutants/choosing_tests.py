"""Which tests judge a mutant: those that execute its line, the room's own unit tests first."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.mutants.coverage_map import CoverageMap
from tests.mutants.drawing import Mutant
from tests.mutants.operators import Function, is_compiled
from tests.mutants.private_tree import product_files

STAGES = ("own", "rest")
BUDGET_S = 40.0  # CPU seconds of tests for a mutant and stage: what is left out is recorded
FEW = 5  # covering tests, below which those of the same files are asked, too


class Mentions:
    """Who mentions a name, and which lines stand in functions: for lines that no tracer sees.

    What the import executes, it executes once, and what is compiled is not traced: such a line is
    judged by the tests that execute a line where what it defines is mentioned, or that mention it.
    """

    def __init__(self, root: Path) -> None:
        self._places: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self._compiled: dict[tuple[str, int], str] = {}
        self._bodies: dict[str, set[int]] = {}
        self._root = root
        self._words: dict[str, set[str]] = {}  # of files of tests
        for path in product_files(root):
            name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
            for number, line in enumerate(text.splitlines(), 1):
                for word in set(re.findall(r"[A-Za-z_]\w+", line)):
                    self._places[word].add((name, number))
            self._note_functions(name, ast.parse(text))

    def _note_functions(self, path: str, tree: ast.Module) -> None:
        inside = self._bodies.setdefault(path, set())
        for node in ast.walk(tree):
            if not isinstance(node, Function):
                continue
            end = node.end_lineno or node.lineno
            inside.update(range(node.body[0].lineno, end + 1))
            if is_compiled(node):
                for line in range(node.lineno, end + 1):
                    self._compiled[path, line] = node.name

    def has_compiled(self, path: str) -> bool:
        """Tell whether a change of a file makes machine code anew."""
        return any(place == path for place, _ in self._compiled)

    def is_traced(self, path: str, known: CoverageMap) -> bool:
        """Tell whether a test was seen in any function of a file.

        A process without the packages of the environment (``python -S``) is seen by no tracer.
        """
        lines = known.lines.get(path, {})
        return any(line in self._bodies[path] for line in lines)

    def places(self, names: Iterable[str]) -> set[tuple[str, int]]:
        """Give the lines that mention a name, or a compiled function that does."""
        found: set[tuple[str, int]] = set()
        todo, known = list(names), set(names)
        while todo:
            for place in self._places.get(todo.pop(), ()):
                caller = self._compiled.get(place)
                if caller is None:
                    found.add(place)
                elif caller not in known:
                    known.add(caller)
                    todo.append(caller)
        return found

    def tests(self, names: Iterable[str], known: Iterable[str]) -> set[str]:
        """Give the tests of files that mention a name: they may call it where no line tells it."""
        wanted = set(names)
        return {test for test in known if wanted & self._words_of(test.partition("::")[0])}

    def _words_of(self, file: str) -> set[str]:
        if file not in self._words:
            path = self._root / file
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            self._words[file] = set(re.findall(r"[A-Za-z_]\w+", text))
        return self._words[file]


def own_tests(room: str, test: str) -> bool:
    """Tell whether a test is one of a room's own unit tests."""
    folder = f"tests/unit/{room}/"
    inside = test.startswith(folder)
    return inside and ("/" in room or "/" not in test.removeprefix(folder).partition("::")[0])


def covering(mutant: Mutant, known: CoverageMap, mentions: Mentions) -> set[str]:
    """Give all tests that can judge a mutant, as far as they are mapped."""
    site = mutant.site
    if site.function and not site.compiled:
        if mentions.is_traced(mutant.path, known):
            return known.covering(mutant.path, site.lines)
        return {test for test in known.tests if own_tests(mutant.room, test)}
    names = [site.function.rpartition(".")[2]] if site.compiled else site.names
    lines: dict[str, list[int]] = defaultdict(list)
    for path, line in mentions.places(names):
        lines[path].append(line)
    found = mentions.tests(names, known.tests)
    return found.union(*(known.covering(path, numbers) for path, numbers in lines.items()))


def chosen(
    mutant: Mutant, stage: str, known: CoverageMap, mentions: Mentions, without: set[str]
) -> tuple[list[list[str]], int]:
    """Give the tests of a stage in the order of their runs, and how many the budget left out.

    The first run is of one file, that with most of them: it kills most mutants, and collects little.
    """
    tests = covering(mutant, known, mentions)
    if 0 < len(tests) < FEW:
        tests |= known.beside(tests)
    own = {test for test in tests if own_tests(mutant.room, test)}
    tests = (own if stage == "own" else tests - own) - without
    ordered = _spread(sorted(tests), known)
    kept: list[str] = []
    spent = 0.0
    for test in ordered:
        spent += known.tests[test].seconds
        if spent > BUDGET_S and kept:
            break
        kept.append(test)
    if not kept:
        return [], len(tests)
    first = _first_file(mutant, kept)
    here = [test for test in kept if test.partition("::")[0] == first]
    others = [test for test in kept if test.partition("::")[0] != first]
    return [run for run in (here, others) if run], len(tests) - len(kept)


def _spread(tests: Sequence[str], known: CoverageMap) -> list[str]:
    """Order tests: one case of each function first, then a second one, the cheap before the dear."""
    cases: dict[str, int] = defaultdict(int)
    ranked = []
    for test in sorted(tests, key=lambda test: (known.tests[test].seconds, test)):
        function = test.partition("[")[0]
        ranked.append((cases[function], known.tests[test].seconds, test))
        cases[function] += 1
    return [test for _, _, test in sorted(ranked)]


def _first_file(mutant: Mutant, tests: Sequence[str]) -> str:
    counts: dict[str, int] = defaultdict(int)
    for test in tests:
        counts[test.partition("::")[0]] += 1
    mirrored = f"test_{Path(mutant.path).stem}.py"
    return max(counts, key=lambda file: (file.endswith(f"/{mirrored}"), counts[file], file))
