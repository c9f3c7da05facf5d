"""How strong the tests are: cosmic-ray's mutants of each room, judged by the room's unit tests, then by the golden ones.

Mutants are made in a clone of HEAD below ``.mutants``, so the working tree stays as it is. Where the
machine allows it, their tests see no other process and write nowhere but there, in /tmp and /dev/shm:
a mutant may send a signal to any number and remove any folder. An interrupted run goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import chdir, closing
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

from cosmic_ray.commands import execute, init
from cosmic_ray.config import ConfigDict
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkItem, WorkResult
from scipy.stats import binomtest

HERE = Path(__file__).resolve().parents[2]
WORK = HERE / ".mutants"
EQUIVALENT = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text("utf-8"))
# what tests seldom can see: types, decorators for speed, `is` of one object, an order of what is only equal or not
NOT_SEEN = re.compile(r"BitOr_|RemoveDecorator|_Is(Not)?_(?!Is)|_(Eq|NotEq|[LG]tE?)_Is|Eq_[LG]t")
NOT_JUDGED = re.compile(r"\s*(assert |if TYPE_CHECKING)")
ENCLOSED = (
    *("unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "sh", "-ec"),
    'for w in "$1" /tmp; do mount --bind "$w" "$w"; done; mount -o remount,bind,ro /; shift; "$@"',
    *("sh", str(WORK)),
)
PYTEST = (sys.executable, "-m", "pytest", "-qx", "--tb=no", "-p", "no:randomly")
GOLDEN = ["tests/golden"]


def rooms() -> dict[str, list[Path]]:
    """Give the files of each room: harness/X, analysis/X, analysis/methods/X; front modules by half."""
    found = defaultdict(list)
    for path in sorted([*Path("analysis").rglob("*.py"), *Path("harness").rglob("*.py")]):
        depth = 3 if path.parts[1] == "methods" else 2
        found["/".join(path.parts[:-1][:depth])].append(path)
    return found


def key_of(mutant: MutationSpec) -> str:
    """Give the line as it is changed, or nothing where that is no other program to judge."""
    before = mutant.module_path.read_text("utf-8")
    after = mutate_code(before, get_operator(mutant.operator_name)(), mutant.occurrence)
    try:
        if ast.dump(ast.parse(after)) == ast.dump(ast.parse(before)):
            return ""
    except SyntaxError:
        return ""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))
    was, now = (" ".join(s[1:].strip() for s in lines[2:] if s[0] == sign) for sign in "-+")
    return "" if NOT_JUDGED.match(was) else now


class Drawn(WorkDB):
    """A session of cosmic-ray that keeps some of a room's mutants, drawn with a seed."""

    def __init__(self, path: Path, each: int, random: Random) -> None:
        super().__init__(path, WorkDB.Mode.create)
        self._each, self._random = each, random

    def add_work_items(self, work_items: Iterable[WorkItem]) -> None:
        """Add `each` of them."""
        super().add_work_items(islice(self._in_order(work_items), self._each))

    def _in_order(self, work_items: Iterable[WorkItem]) -> Iterator[WorkItem]:
        """Give one mutant a line: a line and an operator first, for many numbers count no more than one."""
        lines: dict[tuple[Path, int], dict[str, list[WorkItem]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for item in work_items:
            (mutant,) = item.mutations
            if not NOT_SEEN.search(mutant.operator_name):
                operator = mutant.operator_name.partition("_")[0]
                lines[mutant.module_path, mutant.start_pos[0]][operator].append(item)
        for place in self._random.sample(sorted(lines), len(lines)):
            item = self._random.choice(lines[place][self._random.choice(sorted(lines[place]))])
            if key_of(item.mutations[0]):
                yield item


def own_tests(room: str) -> list[str]:
    """Give a room's unit tests; of a front module's half those that stand in no room's folder."""
    folder = Path("tests", "unit", room)
    return [str(folder)] if "/" in room else sorted(map(str, folder.glob("test_*.py")))


@cache
def enclosure() -> tuple[str, ...]:
    """Give the words before a command that enclose it, or none where the machine forbids that."""
    tried = subprocess.run([*ENCLOSED, "true"], capture_output=True, check=False)
    return () if tried.returncode else ENCLOSED


def command(*parts: list[str]) -> str:
    """Give the command that executes parts of the tests, each if the ones before passed."""
    both = " && ".join(shlex.join([*PYTEST, *tests]) for tests in parts)
    return shlex.join([*enclosure(), "sh", "-c", both])


@cache
def seconds(tests: str) -> float:
    """Give how long a command takes without a mutant; it must pass, or no kill is one."""
    began = time.monotonic()
    outcome, output = run_tests(tests, None)
    if outcome is not TestOutcome.SURVIVED:
        raise SystemExit(f"without a mutant this fails: {tests}\n{output[-4000:]}")
    return time.monotonic() - began


def judged(
    room: str, paths: list[Path], each: int, seed: int
) -> list[tuple[MutationSpec, WorkResult]]:
    """Give a room's mutants and what became of them; who is known from before is not judged again."""
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
    session = WORK / f"{commit}-{seed}-{each}-{room.replace('/', '+')}.sqlite"
    with closing(Drawn(session, each, Random(f"{seed}:{room}"))) as known:
        if not known.num_work_items:
            init(paths, known, {})
        if known.pending_work_items:
            limit = 60 + 5 * (seconds(command(own_tests(room))) + seconds(command(GOLDEN)))
            tests = command(own_tests(room), GOLDEN)
            wanted = {"test-command": tests, "timeout": limit, "distributor": {"name": "local"}}
            execute(known, ConfigDict(wanted))
        return [(item.mutations[0], result) for item, result in known.completed_work_items]


def row(room: str, count: Counter[str]) -> str:
    """Count a room's mutants and give the share of the killed with its 90 % bounds."""
    dead, left = count["killed"], count["survived"]
    low, high = binomtest(dead, dead + left).proportion_ci(0.9) if dead + left else (0.0, 1.0)
    return (
        f"{room:36} {dead:4} killed {left:4} alive {count['equivalent']:4} equivalent"
        f" {count['incompetent']:4} not executed  {low:.0%} to {high:.0%}"
    )


def main() -> None:
    """Judge what is left to be judged, room by room; print who lives and the shares."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--each", type=int, default=15, help="mutants a room (15)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="+", choices=rooms(), metavar="ROOM", help="harness/trial")
    parser.add_argument("--third", type=int, choices=range(3), help="only a third of the rooms")
    args = parser.parse_args()
    tree = WORK / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", HERE, tree], check=True)
    caches = {"HOME": str(WORK / "home"), "FAIRTRIAL_CACHE": str(WORK / "kernels")}
    os.environ |= {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", **caches}
    for folder in caches.values():
        Path(folder).mkdir(exist_ok=True)
    total: Counter[str] = Counter()
    with chdir(tree):
        every = 1 if args.third is None else 3
        for room in args.rooms or list(rooms())[args.third :: every]:
            count: Counter[str] = Counter()
            for mutant, result in judged(room, rooms()[room], args.each, args.seed):
                outcome = result.test_outcome.value
                if result.test_outcome is TestOutcome.SURVIVED:
                    key = key_of(mutant)
                    if key in EQUIVALENT.get(mutant.module_path.as_posix(), {}):
                        outcome = "equivalent"
                    else:
                        place = f"{mutant.module_path}:{mutant.start_pos[0]}"
                        print(f"{place} {mutant.definition_name}\n{result.diff}\nkey: {key}\n")
                count[outcome] += 1
            print(row(room, count), flush=True)
            total += count
    print(row("all", total))


if __name__ == "__main__":
    main()
