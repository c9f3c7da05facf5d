"""Does it work on this machine? The tests of this folder, a row for each thing that they look at: ``make host``.

What fails is measured again in a new process, with all that its module measures. It differs only where it failed
in three of three measurements.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
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
    """A test: what became of it in each measurement, and how often it fails by itself."""

    name: str
    file: str
    chance: float
    failed: int = 0
    held: int = 0
    absent: str = ""  # why it is not to be had

    @property
    def differs(self) -> bool:
        return self.failed >= MEASUREMENTS


@dataclass
class Row:
    """What all tests of one thing came to."""

    what: str
    checks: list[Check] = field(default_factory=list)

    @property
    def result(self) -> str:
        if any(check.differs for check in self.checks):
            return "differs"
        return "held" if any(check.held for check in self.checks) else "not to be had"

    @property
    def chance(self) -> float:
        """How often it differs by itself."""
        return sum(check.chance**MEASUREMENTS for check in self.checks)

    @property
    def reason(self) -> str:
        said = []
        for check in self.checks:
            if check.failed:
                of = check.failed + check.held
                by = f"by itself {check.chance:g} each" if check.chance else "never by itself"
                said.append(f"`{check.name}` failed in {check.failed} of {of}, {by}")
        absent = Counter(check.absent for check in self.checks if check.absent)
        said += [f"not to be had: {why} ({number})" for why, number in absent.items()]
        return "; ".join(said).replace("|", "/")


def measured(words: Sequence[str]) -> dict[str, tuple[str, str, float | None]]:
    """Execute pytest once; give each test's outcome, the reason of a skip, and its own chance."""
    with tempfile.TemporaryDirectory(prefix="fairtrial-host-") as folder:
        file = Path(folder) / "outcomes.xml"
        plain = ("-q", "-p", "no:randomly", "--tb=short", "-o", "junit_family=xunit1")
        command = [sys.executable, "-m", "pytest", *plain, f"--junitxml={file}", *words]
        done = subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=False)
        if not file.exists():
            raise SystemExit(f"pytest ended with {done.returncode}, and nothing was measured")
        return dict(_outcome(case) for case in ElementTree.parse(file).iter("testcase"))


def _outcome(case: ElementTree.Element) -> tuple[str, tuple[str, str, float | None]]:
    mine = {one.get("name"): one.get("value") for one in case.iter("property")}
    chance = float(mine["chance"] or 0) if "chance" in mine else None
    name = f"{case.get('file')}::{case.get('name', '').partition('@')[0]}"
    skipped = case.find("skipped")
    if case.find("failure") is not None or case.find("error") is not None:
        return name, ("failed", "", chance)
    if skipped is not None:
        return name, ("absent", skipped.get("message", ""), chance)
    return name, ("held", "", chance)


def stem(file: Path) -> str:
    """Give the key of a file in the table: its own name, or that of its folder."""
    return file.parent.name if file.parent.name in FILES else file.stem


def known(name: str) -> tuple[str, float]:
    key = stem(Path(name.partition("::")[0]))
    return FILES.get(key, (key.removeprefix("test_").replace("_", " "), 0.0))


def files(*, exact: bool, only: Sequence[str]) -> list[str]:
    """Give the files to execute: all, or those of which some tests do not depend on how quiet it is here."""
    found = sorted(HERE.rglob("test_*.py"), key=lambda file: ([*FILES].index(stem(file)) if stem(file) in FILES else -1, file))  # fmt: skip
    if only:
        found = [file for file in found if stem(file).removeprefix("test_") in only]
    return [str(file.relative_to(ROOT)) for file in found if not exact or not known(str(file))[1]]


def checks(words: Sequence[str]) -> list[Check]:
    """Measure, and measure again what failed each time before."""
    found: dict[str, Check] = {}
    again: list[str] = []
    for number in range(MEASUREMENTS):
        if number and not again:
            break
        for name, (outcome, why, chance) in measured(again or words).items():
            own = known(name)[1] if chance is None else chance
            file, _, test = name.partition("::")
            check = found.setdefault(name, Check(name=test, file=file, chance=own))
            check.failed += outcome == "failed"
            check.held += outcome == "held"
            check.absent = why if outcome == "absent" else ""
        again = [name for name, one in found.items() if one.failed == number + 1]
    return list(found.values())


def rows_of(all_checks: Sequence[Check]) -> list[Row]:
    rows: dict[str, Row] = {}
    for check in all_checks:
        what, _ = known(check.file)
        rows.setdefault(what, Row(what)).checks.append(check)
    return list(rows.values())


def table(rows: Sequence[Row]) -> str:
    """Give the rows in Markdown; the last number is how often it differs though nothing is wrong."""
    lines = [("what was looked at", "result", "held", "differs by itself", "why")]
    for row in rows:
        held = f"{sum(check.held > 0 for check in row.checks)} of {len(row.checks)}"
        chance = f"{row.chance:.1g}" if row.chance else "never"
        lines.append((row.what, row.result, held, chance, row.reason))
    return "\n".join(
        f"| {' | '.join(cells)} |" + ("\n|---|---|---|---|---|" if not number else "")
        for number, cells in enumerate(lines)
    )


def machine() -> str:
    """Say which machine it is, in a line."""
    cpu = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    usable = len(os.sched_getaffinity(0))
    python = platform.python_version()
    return f"{cpu}, {usable} CPUs, Linux {platform.release()}, Python {python}, as {who}"


def main(arguments: Sequence[str]) -> int:
    """Look at this machine; give 1 where anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.host", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="FILE", help="some of the files, such as: why")
    parser.add_argument(
        "--exact",
        action="store_true",
        help="only what does not depend on how fast or quiet the machine is, side by side",
    )
    parser.add_argument("--write", action="store_true", help="write the table into docs/drills.md")
    args = parser.parse_args(arguments)
    began = time.monotonic()
    words = files(exact=args.exact, only=args.only)
    if not words:
        parser.error("there is no such file, or none of its tests is exact")
    if args.exact:
        words += ["-m", "not host_chance", "-n", str(os.cpu_count()), "--dist", "loadgroup"]
    rows = rows_of(checks(words))
    today = datetime.datetime.now(datetime.UTC).date()
    load = os.getloadavg()[2]
    minutes = (time.monotonic() - began) / 60
    head = f"On {today}: {machine()}; {minutes:.1f} minutes at a load of {load:.0f}."
    print(f"{head}\n\n{table(rows)}")
    if args.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{head}\n\n{table(rows)}\n{END}{rest.partition(END)[2]}")
    return int(any(row.result == "differs" for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
