"""Hold what the tree does now against what it did at a tag: `make unchanged BASE=TAG [ONLY=ROOM]`.

Two installations execute one list of command lines, and what they print, write and end with is compared
as text. What the first one did is kept below build/unchanged and not executed again; where something
differs, both execute the line anew, so that what is never the same twice is not taken for a change.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from command_lines import ROOMS, Line, of_room
from command_table import all_lines
from execution import INPUTS, ROOT, Execution, Executor
from input_folder import digest_of, write_inputs
from installations import BUILD, Installation, install_commit, install_present
from text_comparison import ROWS, Change, differences, reasons

_REPEATS = 3
_SHOWN = 3  # differences of one line
_BUG = 70


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One line: what differs and may not; for which reasons the rest; whether the base never does the same."""

    line: Line
    found: list[Change]
    reasons: set[str]
    code: int
    cpu: float
    unsteady: bool = False


def main() -> int:
    asked = _arguments()
    lines = all_lines()
    if asked.only:
        lines = of_room(lines, asked.only)
        if not lines:
            known = ", ".join(ROOMS)
            raise SystemExit(f"no command line is of '{asked.only}'; known parts: {known}")
    if asked.list:
        print("\n".join(one.text for one in lines))
        return 0
    begun = time.time()
    ROOT.mkdir(mode=0o755, exist_ok=True)
    with _alone():
        write_inputs(INPUTS)
        there = [one for one in lines if all((INPUTS / name).exists() for name in one.inputs)]
        base = install_commit(asked.base)
        now = base if asked.itself else install_present()
        kept = BUILD / "outcomes" / base.key
        if asked.again:
            shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True, exist_ok=True)
        judged = list(_all_judged(there, base, now, kept, asked))
    for one in sorted(judged, key=lambda one: -one.cpu)[: asked.slowest]:
        print(f"{one.cpu:6.1f} s  {one.line.text}")
    return _tell(judged, len(lines) - len(there), time.time() - begun)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="unchanged", description=__doc__.split("\n")[0])
    parser.add_argument("--base", required=True, help="a tag or commit")
    parser.add_argument("--only", help="a command, a room, or a pattern of command lines")
    parser.add_argument("--list", action="store_true", help="print the command lines")
    parser.add_argument("--again", action="store_true", help="keep nothing of earlier executions")
    parser.add_argument("--itself", action="store_true", help="compare the base with itself")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--slowest", type=int, default=0, help="name so many that take most CPU")
    return parser.parse_args()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Let one comparison of this checkout run at a time: they share their folders."""
    import fcntl

    with (ROOT / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SystemExit(f"another comparison runs in {ROOT}") from None
        yield


def _all_judged(
    lines: Sequence[Line],
    base: Installation,
    now: Installation,
    kept: Path,
    asked: argparse.Namespace,
) -> Iterator[Judged]:
    waiting: queue.SimpleQueue[Line | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Judged | BaseException] = queue.SimpleQueue()
    for one in [*lines, *[None] * asked.workers]:
        waiting.put(one)

    def work() -> None:
        executors = Executor(base), Executor(now)
        try:
            while (line := waiting.get()) is not None:
                done.put(_judged(line, *executors, kept))
        except BaseException as error:  # noqa: BLE001 - the driver ends with it
            done.put(error)
        finally:
            for executor in executors:
                executor.close()

    for _ in range(asked.workers):
        threading.Thread(target=work, daemon=True).start()
    for number in range(1, len(lines) + 1):
        judged = done.get()
        if isinstance(judged, BaseException):
            raise judged
        if judged.found and not judged.unsteady:
            print(f"DIFFERS {judged.line.text}  [{judged.line.key}]", flush=True)
            for found in judged.found[:_SHOWN]:
                print(f"  {found}", flush=True)
        if number % 100 == 0:
            print(f"{number} of {len(lines)} command lines", file=sys.stderr, flush=True)
        yield judged


def _judged(line: Line, base: Executor, now: Executor, kept: Path) -> Judged:
    place = kept / f"{line.key}-{digest_of(INPUTS, line.inputs)}.json"
    if place.exists():
        before = Execution(**json.loads(place.read_text()))
    else:
        before = base.execute(line)
        place.write_text(json.dumps(asdict(before)))
    after = now.execute(line)
    found, allowed = _compared(line, before, after)
    unsteady = False
    if found:
        unsteady, before, after = _repeated(line, base, now, before, after)
    if found or allowed:
        _keep(line, before, after)
    return Judged(
        line=line, found=found, reasons=allowed, code=after.code, cpu=after.cpu, unsteady=unsteady
    )


def _compared(line: Line, before: Execution, after: Execution) -> tuple[list[Change], set[str]]:
    """Give what differs and may not, and the reasons for which the rest may."""
    one, other = (made.outcome(measured=line.measured) for made in (before, after))
    found = [(change, reasons(line.text, change)) for change in differences(one, other)]
    return [change for change, why in found if not why], set().union(*(why for _, why in found))


def _repeated(
    line: Line, base: Executor, now: Executor, before: Execution, after: Execution
) -> tuple[bool, Execution, Execution]:
    """Execute a line that differs several times by both; tell whether some of them are equal."""
    firsts, seconds = [before], [after]
    for _ in range(_REPEATS):
        before, after = base.execute(line), now.execute(line)
        firsts.append(before)
        seconds.append(after)
        if any(not _compared(line, a, b)[0] for a in firsts for b in seconds):
            return True, before, after
        looks_at_the_host = line.measured or line.host is not None
        if not looks_at_the_host and all(
            not any(_compared(line, firsts[0], one)) for one in firsts[1:]
        ):
            break  # the base always does the same: this is a change
    return False, before, after


def _keep(line: Line, before: Execution, after: Execution) -> None:
    """Write what both made, for a look with diff."""
    place = BUILD / "differs" / line.key
    shutil.rmtree(place, ignore_errors=True)
    for side, made in (("before", before), ("now", after)):
        outcome = made.outcome(measured=line.measured)
        for name, text in outcome.parts().items():
            file = place / side / name.removeprefix("file ").replace("/", "%")[-200:]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


def _tell(judged: Sequence[Judged], left_out: int, seconds: float) -> int:
    for reason in dict.fromkeys(row.reason for row in ROWS):
        print(f"{sum(reason in one.reasons for one in judged)} differ, which may: {reason}")
    changed = [one for one in judged if one.found and not one.unsteady]
    unsteady = [one for one in judged if one.unsteady]
    bugs = [one for one in judged if one.code == _BUG]
    for one in unsteady:
        print(f"not the same twice: {one.line.text}  [{one.line.key}]\n  {one.found[0]}")
    for one in bugs:
        print(f"ends with a bug (70): {one.line.text}")
    if left_out:
        print(f"{left_out} lines left out: their inputs are not here")
    counts = sorted(Counter(one.code for one in judged).items())
    codes = ", ".join(f"{n} x {code}" for code, n in counts)
    cpu = sum(one.cpu for one in judged)
    print(
        f"{len(judged)} command lines in {seconds:.0f} s, now {cpu:.0f} s of CPU; exit codes {codes}"
    )
    if changed:
        rooms = Counter(one.line.room for one in changed)
        told = ", ".join(f"{room} {n}" for room, n in rooms.most_common())
        print(f"{len(changed)} differ ({told}); what both made lies in {BUILD / 'differs'}")
        return 1
    print("unchanged")
    return 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
