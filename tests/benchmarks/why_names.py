"""How often `why` names a function although nothing has changed, by frequency: copies of one binary.

python tests/benchmarks/why_names.py -o FOLDER [--trials 200] [--frequencies 999,4999] [--chains fp] [--table]
python tests/benchmarks/why_names.py -o FOLDER --python python3.12 --chains dwarf --frequencies 999

A trial: one of six C programs (`c/workloads.c`; with `--python` three of `why_workloads.py`), its two copies profiled as `fairtrial why` does by default, in six
sessions. The six are profiled together, so that 200 trials are 34 records, each with copies made anew; frequencies
take turns in drawn order. A record appears whole in FOLDER/FREQUENCY/NUMBER, an ordinary profile with its timed
trial: an interrupted call goes on with the same FOLDER, and `--table` judges what is there.

The table counts trials with a name by Holm, and without it (p < 0.05 of a row on its own: the negative control), each with
95 % bounds (Clopper and Pearson). The busier the machine, the better: nothing in it is a speed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from analysis.record.profiles import profiles_of, read_profile
from harness.campaign.resolve import load_campaign
from harness.launch.matching import Interrupted
from harness.trial.execution import Options, start
from harness.trial.profiles import ProfileRequest, record_profile

HERE = Path(__file__).parent
RISK = 0.05


class Copies(NamedTuple):
    """What is copied: a file, under which name below each variant's folder, and the programs that it has."""

    source: Path
    name: str
    programs: tuple[str, ...]
    interpreter: str | None

    @property
    def campaign(self) -> str:
        """The campaign's text."""
        words = [
            *([] if self.interpreter is None else [self.interpreter]),
            "./{variant}/" + self.name,
        ]
        benchmarks = {name: {"command": [*words, name]} for name in self.programs}
        protocol = {"sessions": 1, "runs": 1, "warmup": 0}
        variants: dict[str, object] = {"a": {}, "b": {}}
        whole = {
            "name": "copies",
            "variants": variants,
            "benchmarks": benchmarks,
            "protocol": protocol,
        }
        return json.dumps(whole)

    def make(self, place: Path) -> None:
        """Make what is copied."""
        if self.interpreter is not None:
            shutil.copy(self.source, place / self.name)
            return
        compiler = shutil.which("cc") or sys.exit("there is no C compiler")
        subprocess.run([compiler, "-O2", "-g", "-o", place / self.name, self.source], check=True)

    def copy(self, place: Path) -> None:
        """Make the two copies anew: each lies somewhere else in memory."""
        for variant in ("a", "b"):
            (place / variant).mkdir(exist_ok=True)
            fresh = place / variant / "new"
            shutil.copy(place / self.name, fresh)
            fresh.replace(place / variant / self.name)


C = ("sort", "table", "matrix", "memory", "text", "calls")
PYTHON = ("sort", "digits", "tree")


class Silent:
    """Hears of a trial, and says nothing."""

    def __getattr__(self, _name: str) -> object:
        """Give what takes anything."""
        return lambda *_given, **_named: None


def prepared(folder: Path, copies: Copies) -> tuple[Path, Path]:
    """Give the campaign and its trial, which is measured once."""
    place = folder / "campaign"
    campaign, runs = place / "copies.yaml", place / "runs"
    if not (runs / "copies" / "measurements.jsonl").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        copies.make(place)
        copies.copy(place)
        campaign.write_text(copies.campaign)
        start(load_campaign(campaign), Options(folder=runs, name="copies", wait_s=600), Silent())
    return campaign, runs / "copies"


def record(
    folder: Path, copies: Copies, frequencies: list[int], records: int, chains: str | None
) -> None:
    """Record what is missing, frequencies in drawn order."""
    campaign, trial = prepared(folder, copies)
    loaded = load_campaign(campaign)
    wanted = [
        (number, frequency)
        for number in range(records)
        for frequency in random.Random(number).sample(frequencies, len(frequencies))
        if not (folder / str(frequency) / f"{number:03d}").exists()
    ]
    for done, (number, frequency) in enumerate(wanted, 1):
        copies.copy(trial.parents[1])
        began = time.monotonic()
        asked = ProfileRequest(
            variant="b", benchmarks=copies.programs, frequency_hz=frequency, chains=chains
        )
        found = record_profile(loaded, trial, asked, Options(folder=folder, wait_s=600), Silent())
        place = folder / str(frequency) / f"{number:03d}"
        place.parent.mkdir(exist_ok=True)
        found.rename(place)
        with contextlib.suppress(OSError):
            profiles_of(trial).rmdir()
        took, load = time.monotonic() - began, os.getloadavg()[0]
        print(f"{done}/{len(wanted)} {frequency} Hz: {took:.0f} s, load {load:.1f}", flush=True)


class Judged(NamedTuple):
    """One trial: its functions and samples, and who names one: Holm, Holm behind a resolved total, a row alone."""

    functions: int
    samples: int
    by_holm: bool
    by_command: bool
    by_row: bool
    rows_below: int
    rows: int


def judged(folder: Path) -> Iterator[Judged]:
    """Judge each trial of a frequency as the command does."""
    from analysis.diagnose.explain import explain

    for place in sorted(folder.iterdir()):
        stored = read_profile(place)
        for benchmark in stored.profile.benchmarks:
            why = explain(stored, benchmark=benchmark, any_total=True)
            answer = explain(stored, benchmark=benchmark)
            rows = [*why.rows, *([why.others] if why.others is not None else [])]
            plain = [row.pvalue for row in rows if row.pvalue is not None]
            below = sum(one < RISK for one in plain)
            yield Judged(
                functions=len(why.rows),
                samples=min(why.samples_baseline, why.samples_candidate),
                by_holm=any(row.named for row in why.rows),
                by_command=answer.withheld is None and any(row.named for row in answer.rows),
                by_row=below > 0,
                rows_below=below,
                rows=len(plain),
            )


def bounds(hits: int, trials: int) -> tuple[float, float]:
    """Give 95 % bounds of a share."""
    from scipy.stats import beta

    low = 0.0 if hits == 0 else float(beta.ppf(0.025, hits, trials - hits + 1))
    high = 1.0 if hits == trials else float(beta.ppf(0.975, hits + 1, trials - hits))
    return low, high


def table(folder: Path) -> None:
    """Print a row for each frequency."""
    names = ("by Holm", "as the command answers", "by a row alone")
    heads = ["Hz", "trials", "functions", "samples", *names, "rows with p < 0.05"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    places = (one for one in folder.iterdir() if one.name.isdigit())
    for place in sorted(places, key=lambda one: int(one.name)):
        found = list(judged(place))
        trials = len(found)
        cells = [place.name, str(trials)]
        cells += [f"{sum(one.functions for one in found) / trials:.1f}"]
        cells += [f"{statistics.median(one.samples for one in found):.0f}"]
        for column in ("by_holm", "by_command", "by_row"):
            hits = sum(getattr(one, column) for one in found)
            low, high = bounds(hits, trials)
            cells.append(f"{hits}, {hits / trials:.1%} [{low:.1%}, {high:.1%}]")
        below, rows = sum(one.rows_below for one in found), sum(one.rows for one in found)
        cells.append(f"{below} of {rows}, {below / rows:.1%}")
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    """Record, then print the table; or the table alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--frequencies", default="999,4999")
    parser.add_argument("--chains", choices=["fp", "dwarf"])
    parser.add_argument("--python", metavar="INTERPRETER", help="programs of Python, 3.12 or newer")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if not args.table:
        frequencies = [int(one) for one in args.frequencies.split(",")]
        source = HERE / ("c/workloads.c" if args.python is None else "why_workloads.py")
        programs = C if args.python is None else PYTHON
        copies = Copies(
            source, "program" if args.python is None else "program.py", programs, args.python
        )
        records = -(-args.trials // len(programs))
        try:
            record(args.output, copies, frequencies, records, args.chains)
        except Interrupted:
            sys.exit("interrupted: the same command goes on")
    table(args.output)


if __name__ == "__main__":
    main()
