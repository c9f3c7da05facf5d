"""Execute the tests again and again, idle and beside busy loops, and keep a table of what failed.

``whole`` is `make test`; ``short`` are those of its tests that started processes in the first whole
one. A third of each is executed idle, a third beside two busy loops, the rest beside four, all at this
program's nice value and each in an order of its own; what other programs keep busy before one begins
counts as loops. Every third one is an ordinary user's, in a clone that the user owns, every third one
has 256 open files at most. A row is written after each; an interrupted table goes on, and rows
that are to be measured again are deleted by hand. The output of what failed lies beside it.

python tests/flake.py [--whole 6] [--short 30] [--table build/flake.tsv]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.processes import OTHER_UID

ROOT = Path(__file__).resolve().parents[1]
LOOPS = (0, 2, 4)
WAYS = ("as it is", "ordinary user", "256 files")
BUSY = (
    "import os\nabove = os.getppid()\nwhile os.getppid() == above:\n    for _ in range(10**6): pass"
)
HEAD = ("kind", "number", "loops", "way", "seconds", "passed", "failed", "skipped", "names")


def plan(whole: int, short: int) -> Iterator[tuple[str, int, int, str]]:
    """Give kind, number, busy loops and way of each execution."""
    for kind, count in (("whole", whole), ("short", short)):
        for k in range(count):
            yield kind, k + 1, LOOPS[k * len(LOOPS) // count], WAYS[k % len(WAYS)]


def rows(table: Path) -> list[list[str]]:
    """Read what is there, without a line that was not written to its end."""
    lines = table.read_text().splitlines() if table.exists() else []
    return [row for line in lines[1:] if len(row := line.split("\t")) == len(HEAD)]


def others_at_work(samples: int = 50) -> int:
    """Give how many threads of other programs want a CPU, on the mean of five seconds."""
    running = []
    for _ in range(samples):
        time.sleep(0.1)
        running.append(int(Path("/proc/loadavg").read_text().split()[3].split("/")[0]) - 1)
    return round(sum(running) / samples)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many CPUs busy; the loops end with this process, however it ends."""
    made = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for one in made:
            one.kill()
            one.wait()


def place_of(way: str, home: Path) -> tuple[Path, list[str], dict[str, str]]:
    """Give the tree, what stands before a command, and its environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    if way == "256 files":
        return ROOT, ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh"], kept
    if way != "ordinary user" or os.geteuid() != 0:
        return ROOT, [], kept
    tree = home / "tree"
    if not tree.exists():  # one for all executions, set up by the first
        home.chmod(0o755)
        subprocess.run(["git", "clone", "-q", ROOT, tree], check=True)
        subprocess.run(["chown", "-R", f"{OTHER_UID}:{OTHER_UID}", home], check=True)
    user = ["setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups"]
    return tree, user, kept | {"HOME": str(home), "TMPDIR": str(home), "USER": "flake"}


def outcome(text: str, code: int) -> tuple[dict[str, int], list[str]]:
    """Count what pytest's last line says, and name what failed."""
    closing = [line for line in text.splitlines() if re.search(r"\d+ \w+.* in [\d.]+s", line)]
    found = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", closing[-1] if closing else "")}
    names = re.findall(r"(?m)^(?:FAILED|ERROR) (\S+)", text)
    if code and not names:
        names = re.findall(r"\*\*\* \[(.*)\] Error", text)[:1] or [f"ended with {code}"]
    return found, names


def execute(kind: str, number: int, loops: int, way: str, home: Path, logs: Path) -> list[str]:
    """Execute the tests once; give the row."""
    costs, tests = logs / "flake-costs.json", logs / "flake-tests"
    args = f"-p no:cacheprovider --randomly-seed={1000 * (kind == 'whole') + number}"
    target = ["test"]
    if kind == "short":
        found = json.loads(costs.read_text())["tests"]
        tests.write_text("".join(f"{test}\n" for test, cost in found.items() if cost[2] > 0))
        target = ["unit", f"TESTS=@{tests}"]
    elif not costs.exists():
        args += f" --costs={costs}"
    tree, before, environment = place_of(way, home)

    workers = f"WORKERS={(os.cpu_count() or 1) + 1 + loops // 2}"

    def make(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, "make", "--no-print-directory", *words],
            cwd=tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
        )  # fmt: skip

    ready = make("setup")
    began = time.monotonic()
    with busy(max(0, loops - others_at_work())):
        done = make(*target, workers, f"PYTEST_ARGS={args}") if ready.returncode == 0 else ready
    seconds = time.monotonic() - began
    counts, names = outcome(done.stdout, done.returncode)
    if names:
        (logs / f"flake-{kind}-{number}.log").write_text(done.stdout)
    failed = max(
        counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0), len(names)
    )
    told = (round(seconds), counts.get("passed", 0), failed, counts.get("skipped", 0))
    return [kind, str(number), str(loops), way, *map(str, told), " ".join(names)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--whole", type=int, default=6)
    parser.add_argument("--short", type=int, default=30)
    parser.add_argument("--table", type=Path, default=ROOT / "build" / "flake.tsv")
    args = parser.parse_args()
    args.table.parent.mkdir(parents=True, exist_ok=True)
    there = rows(args.table)
    args.table.write_text("".join("\t".join(row) + "\n" for row in (HEAD, *there)))
    with tempfile.TemporaryDirectory(prefix="flake-") as home:
        for kind, number, loops, way in plan(args.whole, args.short):
            if [kind, str(number)] in [row[:2] for row in there]:
                continue
            print(f"{kind} {number}: {loops} busy loops, {way}", flush=True)
            row = execute(kind, number, loops, way, Path(home), args.table.parent)
            with args.table.open("a") as file:
                file.write("\t".join(row) + "\n")
            print("\t".join(row), flush=True)
    print(args.table.read_text(), end="")
    return int(any(row[6] != "0" for row in rows(args.table)))


if __name__ == "__main__":
    sys.exit(main())
