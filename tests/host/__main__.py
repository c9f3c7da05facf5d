"""Does it work on this machine? The tests of this folder, a row for each thing that they look at: ``make host``.

What fails is measured again in a new process, with all that its module measures. It differs only where it failed
in three of three measurements.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "drills.md"
BEGIN, END = "<!-- host: made by 'make host HOST_ARGS=--write' -->", "<!-- end of host -->"
MEASUREMENTS = 3

# What a file looks at, and how often one of its tests fails by itself, in one measurement on a machine that does
# little else. 0: nothing there depends on how fast or quiet the machine is. A test may say more: `host_chance`.
FILES = {
    "test_recording": ("perf", 0.0),
    "test_why": ("slower functions, found by why", 0.0),
    "test_counters": ("counters of the kernel", 0.0),
    "test_energy": ("energy", 0.0),
    "test_cgroups": ("cgroups", 0.0),
    "test_suspended": ("launch path: what stops or moves it", 0.0),
    "test_accounts": ("launch path: accounts of a run", 0.0),
    "test_left_behind": ("launch path: what is left behind", 0.0),
    "test_surroundings": ("launch path: surroundings", 0.0),
    "test_names": ("launch path: names", 0.0),
    "test_gaps": ("lost time of a CPU, found by a neighbour", 0.0),
    "test_disturbed": ("disturbed runs", 0.05),
    "test_service_usage": ("usage of services", 0.0),
    "test_tune": ("tune", 0.0),
    "test_trial_run": ("whole trials", 0.01),
    "test_session_builds": ("builds of each session", 0.01),
    "test_compare": ("slowdowns, found by compare", 0.05),
    "test_sittings": ("slowdowns, found in sittings", 0.05),
    "test_start_or_continue": ("slowdowns, found in sittings", 0.05),
    "test_stopping_rule": ("stopping rule", 0.05),
    "test_bisect": ("slowdowns, found by bisect", 0.05),
    "test_nightly": ("slowdowns, found by nightly", 0.05),
    "test_ordered_variants": ("ordered variants", 0.05),
    "test_mode_campaigns": ("modes", 0.05),
    "test_layout_campaigns": ("layouts", 0.05),
    "test_demo_campaigns": ("demonstrations", 0.05),
    "test_readme_commands": ("README's commands", 0.05),
    "slurm": ("Slurm", 0.0),
}


@dataclass
class Check:
    """A test: in how many measurements it failed and held, why it is not to be had, how often it fails by itself."""

    name: str
    what: str
    chance: float
    failed: int = 0
    held: int = 0
    absent: str = ""


def measured(words: Sequence[str]) -> Iterator[tuple[str, str, str, float | None]]:
    """Execute pytest once; give of each test its id, what became of it, the reason of a skip, and its own chance."""
    with tempfile.TemporaryDirectory(prefix="fairtrial-host-") as folder:
        file = Path(folder) / "outcomes.xml"
        plain = ("-q", "-p", "no:randomly", "--tb=short", "-o", "junit_family=xunit1")
        command = [sys.executable, "-m", "pytest", *plain, f"--junitxml={file}", *words]
        done = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=False)
        if not file.exists():
            raise SystemExit(f"pytest ended with {done.returncode}, and nothing was measured")
        for case in ElementTree.parse(file).iter("testcase"):
            own = case.find("properties/property[@name='chance']")
            parts = {child.tag: child for child in case}
            skip = parts.get("skipped")
            became = "failed" if parts.keys() & {"failure", "error"} else "held"
            yield (
                f"{case.get('file')}::{case.get('name', '').partition('@')[0]}",
                "absent" if became == "held" and skip is not None else became,
                "" if skip is None else skip.get("message", ""),
                None if own is None else float(own.get("value", "")),
            )


def key(file: str | Path) -> str:
    """Give what a file is called in the table: its own name, or that of its folder."""
    path = Path(file)
    return path.parent.name if path.parent.name in FILES else path.stem


def about(file: str | Path) -> tuple[str, float]:
    """Give what a file looks at, and how often one of its tests fails by itself."""
    return FILES.get(key(file), (key(file).removeprefix("test_").replace("_", " "), 0.0))


def checked(words: Sequence[str]) -> list[Check]:
    """Measure, and measure again what failed each time before."""
    found: dict[str, Check] = {}
    for number in range(1, MEASUREMENTS + 1):
        for test, became, why, chance in measured(words):
            file, _, name = test.partition("::")
            what, usual = about(file)
            one = found.setdefault(test, Check(name, what, usual if chance is None else chance))
            one.failed += became == "failed"
            one.held += became == "held"
            one.absent = why
        words = [test for test, one in found.items() if one.failed == number]
        if not words:
            break
    return list(found.values())


def rows_of(checks: Iterable[Check]) -> Iterator[tuple[str, str, str, str, str]]:
    """Give of each thing that was looked at: its result, what held, how often it differs by itself, and why."""
    groups: dict[str, list[Check]] = {}
    for one in checks:
        groups.setdefault(one.what, []).append(one)
    for what, group in groups.items():
        held = sum(one.held > 0 for one in group)
        differs = any(one.failed == MEASUREMENTS for one in group)
        chance = sum(one.chance**MEASUREMENTS for one in group)
        why = [
            f"`{one.name}` failed in {one.failed} of {one.failed + one.held}, by itself in "
            f"{one.chance:.0%} of its measurements"
            for one in group
            if one.failed
        ]
        absent = Counter(one.absent for one in group if one.absent)
        why += [f"not to be had: {reason} ({number})" for reason, number in absent.items()]
        yield (
            what,
            "differs" if differs else "held" if held else "not to be had",
            f"{held} of {len(group)}",
            f"{chance:.0e}" if chance else "never",
            "; ".join(why).replace("|", "/"),
        )


def machine() -> str:
    """Say which machine it is, in a line."""
    told = Path("/proc/cpuinfo").read_text()
    cpu = re.search(r"^model name\s*: (.+)", told, re.M)
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    usable, python = len(os.sched_getaffinity(0)), platform.python_version()
    named = cpu[1] if cpu else platform.machine()
    return f"{named}, {usable} CPUs, Linux {platform.release()}, Python {python}, as {who}"


def main(arguments: Sequence[str]) -> int:
    """Look at this machine; give 1 where anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.host", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="FILE", help="some of the files, such as: why")
    parser.add_argument(
        "--exact", action="store_true", help="only what no load changes, side by side"
    )
    parser.add_argument("--write", action="store_true", help="write the table into docs/drills.md")
    args = parser.parse_args(arguments)
    began, order = time.monotonic(), [*FILES]
    os.environ.setdefault("TMPDIR", tempfile.gettempdir())  # on a disk, as trials are
    words = [
        str(file.relative_to(ROOT))
        for file in sorted(HERE.rglob("test_*.py"), key=lambda one: (key(one) in order and order.index(key(one)), one))
        if not args.only or key(file).removeprefix("test_") in args.only
        if not args.exact or not about(file)[1]
    ]  # fmt: skip
    if not words:
        parser.error("there is no such file, or none of its tests is exact")
    if args.exact:
        words += ["-m", "not host_chance", "-n", str(os.cpu_count()), "--dist", "loadgroup"]
    title = ("what was looked at", "result", "held", "differs by itself", "why")
    rows = [title, ("---",) * len(title), *rows_of(checked(words))]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    minutes, load = (time.monotonic() - began) / 60, os.getloadavg()[2]
    today = datetime.datetime.now(datetime.UTC).date()
    text = f"On {today}: {machine()}; {minutes:.1f} minutes, at a load of {load:.0f}.\n\n{lines}"
    print(text)
    if args.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")
    return int(any(result == "differs" for _, result, *_ in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
