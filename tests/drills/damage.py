"""Damaged trials in ``runs/``: what do the commands say, and do they let others be measured?

A case is ``{"file": name, "damage": kind, "finished": bool}``. All commands are executed in this order: status, dry
run, verdict, a fresh run, a resume of the damaged trial (and the verdict on what that completed).
"""

from __future__ import annotations

import functools
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random

from arena import Arena, until
from cases import Case, row_of
from invariants import of_a_finished_trial
from mutants import damaged
from row import Row

FILES = (
    *("manifest.json", "campaign.yaml", "resolved.json", "environment.jsonl"),
    *("plan.jsonl", "measurements.jsonl", "findings.jsonl"),
)


def _lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))

    return damage


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return damage


def _replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


DAMAGES: Mapping[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "empty": _bytes(lambda _: b""),
    "half": _bytes(lambda data: data[: len(data) // 2]),
    "torn tail": _bytes(lambda data: data[:-7]),
    "zeros at the end": _bytes(lambda data: data + b"\0" * 4096),
    "all zeros": _bytes(lambda data: b"\0" * len(data)),
    "text at the end": _bytes(lambda data: data + b"hello\n"),
    "half a line at the end": _bytes(lambda data: data + b'{"position":'),
    "byte-order mark": _bytes(lambda data: b"\xef\xbb\xbf" + data),
    "UTF-16": _bytes(lambda data: data.decode().encode("utf-16")),
    "CRLF": _bytes(lambda data: data.replace(b"\n", b"\r\n")),
    "a digit changed": _bytes(lambda data: data.replace(b"1", b"7", 1)),
    "reversed": _lines(lambda lines: lines[::-1]),
    "first line twice": _lines(lambda lines: lines[:1] + lines),
    "no first line": _lines(lambda lines: lines[1:]),
    "a list": _lines(lambda lines: [b"[]\n", *lines[1:]]),
    "a number": _lines(lambda lines: [*lines[:-1], b"5\n"]),
    "deep": _bytes(lambda _: b"[" * 100_000),
    "huge number": _lines(lambda lines: [*lines, b'{"position":' + b"9" * 5000 + b"}\n"]),
    "a folder": _replaced(Path.mkdir),
    "dangling link": _replaced(lambda path: path.symlink_to("nowhere")),
    "loop": _replaced(lambda path: path.symlink_to(path.name)),
    "a pipe": _replaced(os.mkfifo),
    "a device": _replaced(lambda path: path.symlink_to("/dev/zero")),
}
RANDOM = "random"
_MOST_MEMORY = 4 * 2**30


def cases(rng: Random, count: int) -> Iterable[Case]:
    """Make `count` damages: all kinds of all files, then random ones."""
    every: list[Case] = [
        {"file": name, "damage": damage, "finished": finished}
        for name in FILES
        for damage in DAMAGES
        for finished in (True, False)
    ]
    rng.shuffle(every)
    yield from every[:count]
    for number in range(count - len(every)):
        name = rng.choice(FILES)
        yield {"file": name, "damage": RANDOM, "finished": number % 2 == 0, "seed": number}


_PLACE = tempfile.TemporaryDirectory(prefix="fairtrial-drill-")


@functools.cache
def _template(finished: bool) -> Path:
    """Make a trial that ended, or one that was killed in mid-session."""
    arena = Arena(Path(tempfile.mkdtemp(dir=_PLACE.name)))
    process = arena.start(*arena.way_on())
    if finished:
        assert arena.ended(process) == 0, arena.said.read_text()
    else:
        assert until(lambda: len(arena.rows()) >= 7, process), arena.said.read_text()
        process.kill()
        process.wait()
    arena.bury()
    return arena.folder


def attempt(case: Case, folder: Path) -> Arena:
    """Damage a file and let every command meet it."""
    origin = _template(case["finished"])
    arena = Arena(folder)
    shutil.copytree(origin / "runs", folder / "runs")
    shutil.copy(origin / "c.yaml", folder / "c.yaml")
    shutil.copytree(origin / "state", folder / "state", dirs_exist_ok=True)
    trial = arena.trial()
    assert trial is not None
    path, run = trial / case["file"], ("run", str(arena.path))
    if case["damage"] == RANDOM:
        path.write_bytes(damaged(path.read_bytes(), Random(f"{case['file']}/{case['seed']}")))
    else:
        DAMAGES[case["damage"]](path)
    arena.faults = 1

    def does(*args: str, allowed: tuple[int, ...]) -> int | None:
        code = arena.ended(arena.start(*args, preexec_fn=_bounded))
        known = len(arena.violations)
        arena.hold(code, allowed)
        command = " ".join(args[:1] + args[2:3])
        arena.violations[known:] = [
            f"{text.partition(':')[0]}: {command} with {case}: {text}"
            for text in arena.violations[known:]
        ]
        return code

    # One damaged trial never blocks another.
    does("status", allowed=(0,))
    does(*run, "--dry-run", allowed=(0,))
    # A file that changed after the end is never taken with silence; nor is it gone on with.
    changed = case["finished"] and case["file"] != "manifest.json"
    does("verdict", str(trial), allowed=(5,) if changed else (0, 5, 6))
    if does(*run, allowed=(0,)) == 0:
        _hold_fresh(arena, trial)
    resumed = does(*run, "--resume", "--trial", str(trial), allowed=(0, 1, 2, 5))
    if resumed in {0, 1} and not changed:
        # What was resumed to its end is whole, and the judge takes it.
        try:
            wrong = of_a_finished_trial(trial)
        except (OSError, ValueError, KeyError) as error:
            wrong = [f"resumed: it cannot be read: {error!r}"]
        arena.violations += [f"{text.partition(':')[0]}: resumed {case}: {text}" for text in wrong]
        does("verdict", str(trial), allowed=(0, 6))
    arena.bury()
    return arena


def _bounded() -> None:
    """Let a command fail that wants all memory for a damaged file."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


def _hold_fresh(arena: Arena, damaged_one: Path) -> None:
    """Hold the fresh trial beside the damaged one to all that a trial must be."""
    others = [path.parent for path in arena.folder.glob("runs/*/manifest.json")]
    for other in others:
        if other != damaged_one:
            arena.violations += of_a_finished_trial(other)


def drill(seed: int, count: int, keep: Path | None = None) -> list[Row]:
    """Damage `count` trials; `tried` counts them."""
    made = list(cases(Random(f"damage/{seed}"), count))
    note = f"of {len(FILES)} files x {len(DAMAGES)} damages x finished or killed"
    return [row_of("damage", made, attempt, note=note, keep=keep)]
