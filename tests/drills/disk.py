"""A small disk of its own runs full, of bytes or of inodes, and gets room again.

A case is ``{"bytes": R, "run": K}``: the K-th program leaves R bytes free; or ``{"inodes": N}``.
The disk is a tmpfs in a mount namespace (of a user namespace for ordinary users), so nothing else
is ever filled.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

from arena import Arena
from cases import Case, row_of
from invariants import whole_rows
from row import Row

# In the namespace: first until the disk is full, then with room until the end. A mount that would grow is refused
# to ordinary users: what takes the room is deleted.
_SCRIPT = """\
taken=$1; shift
mount -t tmpfs -o size=24m,nr_inodes=1000 none disk || exit 99
mkdir disk/taken
while [ $taken -gt 0 ]; do : > disk/taken/$taken; taken=$((taken - 1)); done
"$@" --dir disk > said-first 2>&1
echo $? > first
cp -r disk/. copy 2> /dev/null
rm -rf disk/ballast disk/taken
resume=
ls disk/*/manifest.json > /dev/null 2>&1 && resume=--resume
if [ $(cat first) != 0 ]; then
  "$@" --dir disk $resume > said-second 2>&1
  echo $? > second
fi
cp -r disk/. runs
"""


def _namespace() -> tuple[str, ...]:
    return ("unshare", "-m") if os.geteuid() == 0 else ("unshare", "-Urm")


def missing() -> str | None:
    """Say why the drill cannot be made here, or ``None``."""
    if not shutil.which("unshare"):
        return "unshare (util-linux) is not installed"
    # The interpreter may stand in a private folder, which nobody enters from a user namespace.
    code = 'mount -t tmpfs -o nr_inodes=9 none /mnt && "$0" -c pass'
    done = subprocess.run(
        [*_namespace(), "sh", "-c", code, sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return None
    return f"no namespace with mounts is to be had here: {done.stderr.strip()}"


def cases(rng: Random, count: int) -> Iterable[Case]:
    """Make `count` disks, every third of which lacks inodes."""
    for number in range(count):
        if number % 3 == 2:
            yield {"inodes": rng.randint(2, 17)}
        else:
            yield {"bytes": 4096 * rng.choice((0, 0, 1, 2)), "run": rng.randint(1, 9)}


def attempt(case: Case, folder: Path) -> Arena:
    """Fill the disk, make room, and go on."""
    disk, ballast = folder / "disk", folder / "disk" / "ballast"
    fill = f"cat /dev/zero > {ballast} 2> /dev/null; truncate -s -{case.get('bytes', 0)} {ballast}"
    eat = f"[ $(wc -l < {folder / 'witness'}) = {case.get('run', 0)} ] && {{ {fill}; }}; :"
    arena = Arena(folder, eat)
    for path in (disk, folder / "copy", folder / "runs"):
        path.mkdir()
    (folder / "session.sh").write_text(_SCRIPT)
    taken = 999 - case["inodes"] if "inodes" in case else 0
    prefix = (*_namespace(), "/bin/sh", "session.sh", str(taken))
    code = arena.ended(arena.start("run", str(arena.path), prefix=prefix))
    arena.bury()
    if code != 0 or not (folder / "first").exists():
        arena.violations.append(f"the disk could not be made: {arena.said.read_text()[-300:]}")
        return arena
    for name, allowed in (("first", (0, 1, 5)), ("second", (0, 1))):
        if (folder / name).exists():
            said = (folder / f"said-{name}").read_text(errors="replace")
            arena.said.write_text(said)
            arena.hold(int((folder / name).read_text()), allowed)
    arena.faults = arena.rowless = int((folder / "second").exists())
    copies = [path.parent for path in folder.glob("copy/*/manifest.json")]
    if copies:
        arena.before = whole_rows(copies[0])
    arena.finish()
    return arena


def drill(seed: int, count: int, keep: Path | None = None) -> list[Row]:
    """Fill `count` disks; `tried` counts the trials that this stopped."""
    reason = missing()
    if reason:
        return [Row(drill="disk", note=reason)]
    made = list(cases(Random(f"disk/{seed}"), count))
    return [row_of("disk", made, attempt, note="of bytes and of inodes", keep=keep)]
