"""What `analysis.changes` and its alarms find beside otava, asv, ruptures and MongoDB's e_divisive, on the same series.

python tests/benchmarks/history_peers.py [--only false,steps,alarms,bisect] [--ours 200] [--tools 100]

false    series without a change: the share in which a change is reported
steps    one step at three fifths of the series: a place reported within 3 nights of it, the mean distance of the
         nearest place, and how often the interval of ours holds it
alarms   every night on the series so far, 30 nights of reference and 30 more, a change of 5 % at the 16th of them:
         false alarms, found, nights of delay. A tool alarms where it reports a change among the last 8 nights
bisect   one step of 2 % among 128 commits: `analysis.find_steps` beside one comparison a probe, as a script for
         `git bisect run` makes it, with and without the good commit measured beside each probe

Nights scatter by 1 %, times the law's: normal; t with 3 degrees; lognormal; normal with 5 % outliers of 8 %; neighbours
that resemble each other (r .5); a host that drifts by 3 % over the series. Tools have their defaults; PELT has the cost
l2, at least 2 nights and the penalty 2 s^2 log n, s from differences.

The tools are installed into environments in a temporary folder (a package index is needed; what it has not is
said), with the versions below. Nothing of them is ever a dependency. Needs Python 3.11 or 3.12 for them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20261127
LENGTHS = (13, 40, 130)
STEPS = (1.0, 2.0, 5.0)
REFERENCE, NEW, BEGINS = 30, 30, 45  # nights of an alarm's series; the number of the first slow one
NEAR, NEWEST = 3, 8
# an environment each, for their numpys exclude each other
TOOLS = {
    "otava": ("apache-otava==0.8.0", "numpy==2.2.0"),
    "asv": ("asv==0.6.6", "numpy==2.2.0"),
    "PELT": ("ruptures==1.1.10", "numpy==2.2.0"),
    "e_divisive": ("signal-processing-algorithms==2.1.6", "numpy==1.26.4"),
}
Found = list[int]  # numbers of the first values behind changes


def drawn(law: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a series of logs without a change of the program."""
    if law == "t3":
        x = rng.standard_t(3, n)
    elif law == "lognormal":
        x = np.exp(rng.normal(size=n))
    elif law == "ar .5":
        x = rng.normal(size=n)
        for k in range(1, n):
            x[k] = 0.5 * x[k - 1] + math.sqrt(0.75) * x[k]
    else:
        x = rng.normal(size=n)
        if law == "outliers":
            x = x + 8 * (rng.random(n) < 0.05)
        elif law == "drift":
            x = x + np.linspace(0, 3, n)
    return np.asarray(0.01 * x)


LAWS = ("normal", "t3", "lognormal", "outliers", "ar .5", "drift")


def series_of(part: str, count: int) -> dict[str, list[list[float]]]:
    """Make the series of a part: cell -> series, of which tools get the first ones."""
    cells: dict[str, list[list[float]]] = {}

    def fill(cell: str, law: str, n: int, step: float, at: int) -> None:
        rows = []
        for k in range(count):
            rng = np.random.default_rng([SEED, *cell.encode(), k])
            x = drawn(law, n, rng)
            x[at:] += math.log1p(step / 100)
            rows.append(x.tolist())
        cells[cell] = rows

    whole = REFERENCE + NEW
    if part == "alarms":
        for law in ("normal", "outliers", "ar .5"):
            fill(f"{law}|0|{whole}", law, whole, 0.0, 0)
        fill(f"normal|5|{whole}", "normal", whole, 5.0, BEGINS)
        return cells
    for law in LAWS:
        for n in LENGTHS:
            if part == "false":
                fill(f"{law}|0|{n}", law, n, 0.0, 0)
            elif law != "drift":
                for step in STEPS:
                    fill(f"{law}|{step:g}|{n}", law, n, step, place_in(n))
    return cells


def place_in(n: int) -> int:
    """Give the number of the first slow night of a series."""
    return 3 * n // 5


# ---- in the tools' environments: nothing of ours is imported there


def finder(tool: str) -> Callable[[np.ndarray], Found]:
    """Give the function that names the changes of a series of logs."""
    if tool == "otava":
        from otava.series import AnalysisOptions, Metric, Series

        def otava(x: np.ndarray) -> Found:
            whole = Series(
                "s", None, [*range(len(x))], {"m": Metric(1, 1.0)}, {"m": np.exp(x).tolist()}, {}
            )
            points = whole.analyze(AnalysisOptions()).change_points["m"]
            return sorted(int(one.index) for one in points)

        return otava
    if tool == "asv":
        from asv.step_detect import detect_steps

        return lambda x: [int(one[0]) for one in detect_steps(np.exp(x).tolist())[1:]]
    if tool == "PELT":
        import ruptures

        def pelt(x: np.ndarray) -> Found:
            s = float(np.median(np.abs(np.diff(x)))) / 0.6745 / math.sqrt(2)
            found = ruptures.Pelt(model="l2", min_size=2, jump=1).fit(x)
            return [int(one) for one in found.predict(pen=2 * math.log(len(x)) * s * s)[:-1]]

        return pelt
    from signal_processing_algorithms.energy_statistics.energy_statistics import e_divisive

    return lambda x: sorted(int(one) for one in e_divisive(x, pvalue=0.05, permutations=100))


def answered(find: Callable[[np.ndarray], Found], rows: Sequence[Sequence[float]]) -> list[Any]:
    """Give the changes of whole series."""
    return [find(np.array(one)) for one in rows]


def alarmed(find: Callable[[np.ndarray], Found], rows: Sequence[Sequence[float]]) -> list[Any]:
    """Give the night of the first alarm of each series, None where there is none."""
    found = []
    for row in rows:
        x = np.array(row)
        nights = range(REFERENCE + 1, len(x) + 1)
        night = (n for n in nights if any(k >= n - NEWEST for k in find(x[:n])))
        found.append(next(night, None))
    return found


def in_the_tools_environment(tool: str, part: str, given: str, into: str) -> None:
    """Answer the series of a file; executed by another Python."""
    np.random.seed(SEED % 2**32)  # noqa: NPY002 - what e_divisive draws from
    find = finder(tool)
    cells = json.loads(Path(given).read_text())
    ask = alarmed if part == "alarms" else answered
    answers = {}
    for number, (cell, rows) in enumerate(cells.items(), 1):
        answers[cell] = ask(find, rows)
        print(f"\r{tool}: {number} of {len(cells)} cells ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    Path(into).write_text(json.dumps(answers))


def installed(folder: Path) -> dict[str, Path]:
    """Make an environment for each tool; give the Pythons of those that the index has."""
    found = {}
    for tool, packages in TOOLS.items():
        place = folder / tool
        venv.create(place, with_pip=True)
        python = place / "bin" / "python"
        call = [python, "-m", "pip", "install", "-q", *packages]
        done = subprocess.run(call, check=False, capture_output=True, text=True)
        told = ", ".join(packages)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["pip said nothing"]
            print(f"{tool}: {told} could not be installed, so it is left out: {last[0]}")
            continue
        found[tool] = python
        print(f"{tool}: {told}")
    return found


# ---- ours


def ours(part: str, cells: dict[str, list[list[float]]]) -> dict[str, list[Any]]:
    """Answer the same series by `analysis.changes`: intervals with their places, or nights of alarms."""
    from analysis import changes

    def intervals(row: list[float]) -> list[tuple[int, int, int]]:
        found = changes(row)
        return [
            (one.first, one.last, place)
            for one, place in zip(found.intervals, found.places, strict=True)
        ]

    def night(row: list[float]) -> int | None:
        for n in range(REFERENCE + 1, len(row) + 1):
            found = changes(row[:n])
            if found.alarm(since=REFERENCE).word == "proven":
                return n
        return None

    one = night if part == "alarms" else intervals
    answers = {}
    for number, (cell, rows) in enumerate(cells.items(), 1):
        answers[cell] = [one(row) for row in rows]
        print(f"\rfairtrial: {number} of {len(cells)} cells ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return answers


# ---- tables


def share(count: int, of: int) -> str:
    """Write a share in per cent."""
    return f"{100 * count / of:.0f} %"


def places_of(one: Any) -> Found:
    """Give the places that were reported of one series."""
    return [at[2] if isinstance(at, list | tuple) else at for at in one]


def of_false(cell: str, answers: list[Any]) -> str:
    """Write the share of series with a change reported."""
    return f"{100 * sum(bool(one) for one in answers) / len(answers):.0f}"


def of_found(cell: str, answers: list[Any]) -> str:
    """Write the share of series of which a reported place is near the step."""
    place = place_in(int(cell.split("|")[2]))
    hits = sum(any(abs(at - place) <= NEAR for at in places_of(one)) for one in answers)
    return f"{100 * hits / len(answers):.0f}"


def of_held(cell: str, answers: list[Any]) -> str:
    """Write the share of series of which an interval of ours holds the step."""
    place = place_in(int(cell.split("|")[2]))
    hits = sum(any(first <= place <= last for first, last, _ in one) for one in answers)
    return f"{100 * hits / len(answers):.0f}"


def of_places(cell: str, answers: list[Any]) -> str:
    """Write how far the nearest reported place is off in the mean, where there is any."""
    place = place_in(int(cell.split("|")[2]))
    off = [min(abs(at - place) for at in places_of(one)) for one in answers if one]
    return f"{sum(off) / len(off):.1f}" if off else "-"


def of_alarms(cell: str, answers: list[Any]) -> str:
    """Write false alarms, alarms, and the median delay in nights."""
    slow = cell.split("|")[1] != "0"
    nights = [one for one in answers if one is not None]
    false = [one for one in nights if not slow or one <= BEGINS]
    right = sorted(one - BEGINS for one in nights if slow and one > BEGINS)
    told = f"{share(len(false), len(answers))} false"
    if slow:
        delay = f" after {right[len(right) // 2]}" if right else ""
        told += f", {share(len(right), len(answers))} found{delay}"
    return told


Written = Callable[[str, list[Any]], str]
TABLES: dict[str, tuple[tuple[str, Written], ...]] = {
    "false": (("series with a change reported, %", of_false),),
    "steps": (
        (f"a place within {NEAR} nights of the step, %", of_found),
        ("where a place is reported, the mean distance of the nearest, nights", of_places),
    ),
    "alarms": (
        ("false alarms before a change or without one, alarms, nights of delay", of_alarms),
    ),
}


def tables(part: str, by: dict[str, dict[str, list[Any]]]) -> None:
    """Print a part as tables of Markdown: a row for each law and step, its lengths in one cell."""
    rows: dict[tuple[str, str], list[str]] = {}
    for cell in by["fairtrial"]:
        law, step, _ = cell.split("|")
        rows.setdefault((law, step), []).append(cell)
    lengths = " / ".join(cell.split("|")[2] for cell in next(iter(rows.values())))
    for title, write in TABLES[part]:
        print(f"\n{title}; {lengths} nights\n")
        columns = [*by, *(["fairtrial's interval holds it"] if write is of_found else [])]
        print(f"| nights | step | {' | '.join(columns)} |")
        print("|---|---|" + "---|" * len(columns))
        for (law, step), cells in rows.items():
            told = [" / ".join(write(one, found[one]) for one in cells) for found in by.values()]
            if write is of_found:
                told.append(" / ".join(of_held(one, by["fairtrial"][one]) for one in cells))
            print(f"| {law} | {step} % | {' | '.join(told)} |")


def bisections(count: int) -> None:
    """Hold the search for steps against one comparison a probe: 128 commits, a step of 2 %."""
    from analysis import find_steps

    commits, size = 128, math.log1p(0.02)
    print("\n| runs scatter | sessions | rule | right | wrong commit | measured commits |")
    print("|---|---|---|---|---|---|")
    for run, ses in ((0.5, 0.0), (2.0, 1.0), (5.0, 3.0)):
        told: dict[str, list[tuple[bool, bool, int]]] = {}
        for k in range(count):
            rng = np.random.default_rng([SEED, 4, round(10 * run), k])
            at = int(rng.integers(1, commits + 1))

            def measure(
                places: tuple[int, ...],
                rng: np.random.Generator = rng,
                at: int = at,
                run: float = run,
                ses: float = ses,
            ) -> dict[int, float]:
                shared = rng.normal()
                own = math.hypot(0.3 * ses, run / math.sqrt(8)) / 100
                return {
                    p: size * (p >= at) + ses / 100 * shared + own * rng.normal() for p in places
                }

            found = find_steps(measure, commits)
            named = [one.upto for one in found.culprits]
            told.setdefault("find_steps", []).append(
                (at in named, any(p != at for p in named), sum(map(len, found.measured)))
            )
            for rule in ("a threshold", "beside the good one"):
                ends = measure((0, commits))
                middle = (ends[0] + ends[commits]) / 2
                half = (ends[commits] - ends[0]) / 2
                low, high, spent = 0, commits, 2
                while high - low > 1:
                    probe = (low + high) // 2
                    if rule == "a threshold":
                        bad = measure((probe,))[probe] > middle
                        spent += 1
                    else:
                        both = measure((0, probe))
                        bad = both[probe] - both[0] > half
                        spent += 2
                    low, high = (low, probe) if bad else (probe, high)
                told.setdefault(rule, []).append((high == at, high != at, spent))
        for rule, rows in told.items():
            right, wrong, spent = (sum(one) for one in zip(*rows, strict=True))
            print(
                f"| {run:g} % | {ses:g} % | {rule} | {share(right, count)} | {share(wrong, count)} | "
                f"{spent / count:.0f} |"
            )


def main() -> int:
    """Make series, ask all, print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default="false,steps,alarms,bisect")
    parser.add_argument("--ours", type=int, default=200, help="series a cell")
    parser.add_argument("--tools", type=int, default=100, help="series a cell for the tools")
    parser.add_argument("--in-environment", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.in_environment:
        in_the_tools_environment(*args.in_environment)
        return 0
    today = datetime.datetime.now(datetime.UTC).date()
    print(f"{today}, seed {SEED}, {args.ours} series a cell for fairtrial, {args.tools} for tools")
    begun = time.monotonic()
    parts = args.only.split(",")
    with tempfile.TemporaryDirectory(prefix="history-peers-") as name:
        folder = Path(name)
        pythons = installed(folder) if set(parts) & {*TABLES} else {}
        for part in parts:
            if part == "bisect":
                bisections(args.ours)
                continue
            cells = series_of(part, args.ours)
            by = {"fairtrial": ours(part, cells)}
            given = folder / "series.json"
            given.write_text(json.dumps({c: rows[: args.tools] for c, rows in cells.items()}))
            for tool, python in pythons.items():
                into = folder / f"{tool}.json"
                call = [python, __file__, "--in-environment", tool, part, given, into]
                subprocess.run([*map(str, call)], check=True)
                by[tool] = json.loads(into.read_text())
            tables(part, by)
            sys.stdout.flush()
    print(f"\n{time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
