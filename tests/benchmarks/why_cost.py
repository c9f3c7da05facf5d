"""What `fairtrial why` costs: its processors' time for six sessions of a program of 30 ms, by frequency and chains.

python tests/benchmarks/why_cost.py [--rounds 3] [--fairtrial COMMAND]

Each row is the whole command, in a fresh process, as it is called by default but for `--any`: copies of one program (`c/workloads.c`)
do not differ. `programs` is what they take themselves in it, from the timed runs. Medians of rounds in drawn order.
"""

from __future__ import annotations

import argparse
import random
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from analysis.data.trial import read_trial
from analysis.record.profiles import profiles_of, read_profile

SOURCE = Path(__file__).parent / "c" / "workloads.c"
CAMPAIGN = """\
name: cost
variants: {a: {}, b: {}}
benchmarks: {text: {command: ["./{variant}", text, "2"]}}
protocol: {sessions: 2, runs: 2}
"""
WAYS = {
    "999 Hz": ["--frequency", "999"],
    "4999 Hz": ["--frequency", "4999"],
    "999 Hz, fp": ["--frequency", "999", "--chains", "fp"],
    "999 Hz, dwarf": ["--frequency", "999", "--chains", "dwarf"],
}


def cpu_s() -> float:
    """Give what all children so far took of the processors."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fairtrial", default=str(Path(sys.executable).with_name("fairtrial")))
    args = parser.parse_args()
    command = shlex.split(args.fairtrial)
    compiler = shutil.which("cc") or sys.exit("there is no C compiler")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([compiler, "-O2", "-o", folder / "a", SOURCE], check=True)
        shutil.copy(folder / "a", folder / "b")
        (folder / "cost.yaml").write_text(CAMPAIGN)
        subprocess.run([*command, "run", "cost.yaml", "--quiet"], cwd=folder, check=True)
        (trial,) = (folder / "runs").iterdir()
        found: dict[str, list[float]] = {way: [] for way in WAYS}
        programs: list[float] = []
        for _ in range(args.rounds):
            for way in random.sample(list(WAYS), len(WAYS)):
                before = cpu_s()
                asked = [*command, "why", f"{trial}:b", "--any", "--json", *WAYS[way]]
                subprocess.run(asked, cwd=folder, check=True, capture_output=True)
                found[way].append(cpu_s() - before)
                programs.append(programs_s(profiles_of(trial) / "b"))
    print("| | CPU s | of it the programs |\n|---|---|---|")
    for way, seconds in found.items():
        print(f"| {way} | {statistics.median(seconds):.1f} | {statistics.median(programs):.1f} |")


def programs_s(folder: Path) -> float:
    """Give what the programs took, timed, as warm-up and under perf, by the mean of the timed runs."""
    stored = read_profile(folder)
    columns = read_trial(stored.timed)
    each = statistics.mean(columns.values("user") + columns.values("system"))
    profile = stored.profile
    return float(each) * 2 * profile.sessions * (1 + profile.timed_runs + profile.profiled_runs)


if __name__ == "__main__":
    main()
