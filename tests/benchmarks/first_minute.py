"""The first minute, measured: how soon `compare` answers, whether it is right, what its screens look like.

python tests/benchmarks/first_minute.py [--only speed,decided,screens,aa] [-o first-minute.json]

speed     two commands, one takes half the time of the other: the whole time of `compare`, and of
          `hyperfine -N` in turns with it. Goal: at most 0.7 of hyperfine's
decided   5 % apart, runs that scatter by 5 %, a cap of 20 s, then of 60 s: the share decided, and rightly.
          Goal: 95 % up to 150 ms, 88 % at 200 ms, 75 % at 250 ms; 95 % with `--for 60s`
screens   on a terminal of 80 columns: the first byte, after which session the first interval stands there,
          lines before the answer, the widest line of every command. Goal: 0.3 s, 3, 0, 80
aa        one program under two names, `--real-aa 200 --for 5s`: how many are called faster or slower. Goal:
          at most 18 of 200

Needs the command (beside this interpreter, on the PATH, or `--fairtrial`); a C compiler where there is one (else
Python draws the lengths of runs), hyperfine for its column. Every measurement is written at once: an
interrupted call goes on with the same -o FILE, and `--table` prints what it holds. On an idle machine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import pty
import random
import re
import select
import shlex
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
LENGTHS = (50, 100, 150, 200, 250)  # milliseconds
GOALS = {50: 95, 100: 95, 150: 95, 200: 88, 250: 75}
SPEED_GOAL, BYTE_GOAL, COLUMNS = 0.7, 0.3, 80
LIMIT = 600.0  # seconds of any one call
ANSWER = re.compile(r"takes|times as|no difference found|fastest of|no answer")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")
SPIN = """\
import fcntl, math, random, sys, time
milliseconds, sd, seed, counter = sys.argv[1:]
with open(counter, "a+") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    f.seek(0)
    number = int(f.read() or 0)
    f.truncate(0)
    f.write(str(number + 1))
z = random.Random(f"{seed} {number}").gauss(0, 1)
until = float(milliseconds) / 1e3 * math.exp(float(sd) / 100 * z)
while time.process_time() < until:
    pass
"""
# what every command prints on a trial, or without one; SAMPLE is a trial, OUT a folder to write into
SCREENS = (
    "", "--help", "--version", "help exit-codes", "verdict SAMPLE", "verdict SAMPLE --explain",
    "verdict SAMPLE --ratio", "verdict SAMPLE --metric user", "verdict SAMPLE --metric max_rss",
    "gate slower>2% SAMPLE", "gate faster<5% SAMPLE --explain", "status SAMPLE", "status", "doctor",
    "hpt SAMPLE:gzip-1", "hpt SAMPLE:gzip-1 --speedup 2", "speedup-test SAMPLE:gzip-1",
    "resample SAMPLE:gzip-1 --resamples 200", "mixture SAMPLE:gzip-1", "diagnose SAMPLE",
    "sources SAMPLE", "plan SAMPLE", "study type1 SAMPLE:gzip-1 --simulations 20 --resamples 50",
    "diff SAMPLE SAMPLE", "report SAMPLE --format txt", "report SAMPLE -o OUT/r.html",
    "plot forest SAMPLE -o OUT/f.svg", "export SAMPLE:gzip-1 -o OUT/x.json --to pyperf",
    "import OUT/x.json --dry-run", "bundle SAMPLE -o OUT/a.zip", "reproduce OUT/a.zip",
    "init OUT/c.yaml", "run OUT/c.yaml --dry-run", "run OUT/t.yaml", "tune --dry-run",
    "compare true false", "compare -L n 0,0.001 'sleep {n}' --for 1s", "verdct", "verdict SAMPEL",
)  # fmt: skip
HELP = (
    "compare", "init", "run", "status", "doctor", "tune", "submit", "cancel", "verdict", "gate",
    "diff", "hpt", "speedup-test", "resample", "mixture", "diagnose", "sources", "plan", "calibrate",
    "study", "biplot", "report", "plot", "bundle", "reproduce", "import", "export", "merge",
)  # fmt: skip
TINY = """\
name: tiny
variants: {a: {}, b: {}}
benchmarks: {x: {command: ["true"]}}
protocol: {sessions: 3, runs: 2, warmup: 1}
isolation: {cpus: none}
"""


class Kept:
    """What was measured so far: a list for each part, in a file that is whole at any moment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: dict[str, list[dict[str, object]]] = {}
        if path.exists():
            self.parts = json.loads(path.read_text())

    def of(self, part: str, **about: object) -> list[dict[str, object]]:
        rows = self.parts.get(part, [])
        return [row for row in rows if all(row[key] == value for key, value in about.items())]

    def add(self, part: str, row: dict[str, object]) -> None:
        self.parts.setdefault(part, []).append(row)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(self.parts, indent=1) + "\n")
        fresh.replace(self.path)
        print(f"  {part}: {json.dumps(row)}", flush=True)


class Place:
    """A folder with data, programs and the commands that are measured."""

    def __init__(self, folder: Path, fairtrial: str) -> None:
        self.folder, self.fairtrial = folder, fairtrial
        self.hyperfine = shutil.which("hyperfine")
        drawn = random.Random(1)
        words = [f"{drawn.gauss(0, 1):.6f}" for _ in range(120_000)]
        (folder / "one").write_text("\n".join(words) + "\n")
        (folder / "two").hardlink_to(folder / "one")  # the same bytes in the same place of memory
        (folder / "t.yaml").write_text(TINY)
        (folder / "runs").mkdir()
        shutil.copytree(SAMPLE, folder / "runs" / "sample")
        self.spin = self._spin()

    def _spin(self) -> str:
        compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
        source = Path(__file__).with_name("c") / "drawn_spin.c"
        binary = self.folder / "spin"
        words = [compiler or "", "-O2", "-o", str(binary), str(source), "-lm"]
        if compiler and subprocess.run(words, check=False, capture_output=True).returncode == 0:
            return "./spin"
        (self.folder / "spin.py").write_text(SPIN)
        return f"{sys.executable} -I -S spin.py"

    def working(self, milliseconds: float, *, sd: float, seed: int, name: str) -> str:
        """Give a command whose runs take about so long, with lengths of its own."""
        return f"{self.spin} {milliseconds:g} {sd:g} {seed} counter-{name}"

    def call(self, *words: str, columns: int = COLUMNS) -> tuple[float, str, str, int]:
        """Execute a command without a terminal; give seconds, stdout, stderr and the exit code."""
        known = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
        began = time.perf_counter()
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=known,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        return time.perf_counter() - began, done.stdout, done.stderr, done.returncode

    def compare(self, *words: str) -> dict[str, object]:
        """Give what `compare --json` answers of its first candidate, with the seconds that it took."""
        seconds, out, err, code = self.call(
            self.fairtrial, "compare", *words, "--json", "--wait-for-lock=300"
        )
        if code not in {0, 1}:
            raise SystemExit(f"compare {words} ended with {code}:\n{err}")
        answer = json.loads(out)
        line = answer["candidates"][0]["multilevel"]["benchmarks"][0]
        return {
            "seconds": round(seconds, 3),
            "word": line["outcome"],
            "speedup": line["speedup"],
            "stopped": answer.get("stopped_because"),
            "sessions": answer["sessions"],
            "runs": line["runs_candidate"],
        }

    def on_terminal(self, *words: str) -> Iterator[tuple[float, str]]:
        """Execute a command on a terminal of 80 columns; give what it writes, with the seconds since its start."""
        began = time.perf_counter()
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.environ.pop("COLUMNS", None)
            os.environ["TERM"] = "xterm"
            os.execvp(words[0], words)
        ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        try:
            while time.perf_counter() - began < LIMIT:
                if not select.select([fd], [], [], 1)[0]:
                    continue
                try:
                    data = os.read(fd, 65536)
                except OSError:  # Linux: the other end is closed
                    return
                if not data:
                    return
                yield time.perf_counter() - began, data.decode(errors="replace")
        finally:
            os.close(fd)
            os.waitpid(pid, 0)


# --- the parts


def speed(place: Place, kept: Kept, options: argparse.Namespace) -> None:
    """Measure the whole time of both tools, in turns, the one that begins drawn."""
    rng = random.Random(1)
    for number in range(options.rounds):
        for length in LENGTHS:
            pair = [
                place.working(length / k, sd=1, seed=number, name=f"s{k}-{number}") for k in (1, 2)
            ]
            tools = ["fairtrial", *(["hyperfine"] if place.hyperfine else [])]
            for tool in rng.sample(tools, len(tools)):
                if kept.of("speed", tool=tool, length=length, round=number):
                    continue
                row: dict[str, object] = {"tool": tool, "length": length, "round": number}
                if tool == "fairtrial":
                    row |= place.compare(*pair)
                else:
                    seconds, _, err, code = place.call(str(place.hyperfine), "-N", *pair)
                    if code:
                        raise SystemExit(f"hyperfine ended with {code}:\n{err}")
                    row["seconds"] = round(seconds, 3)
                kept.add("speed", row)


def decided(place: Place, kept: Kept, options: argparse.Namespace) -> None:
    """Count how many pairs that are 5 % apart are decided, in 20 s and in 60 s."""
    for cap in (20, 60):
        for number in range(options.pairs):
            for length in LENGTHS:
                if kept.of("decided", cap=cap, length=length, pair=number):
                    continue
                slow, fast = (
                    place.working(of, sd=5, seed=2 * number + k, name=f"d{cap}-{number}-{k}")
                    for k, of in enumerate((length, 0.95 * length))
                )
                row: dict[str, object] = {"cap": cap, "length": length, "pair": number}
                kept.add("decided", row | place.compare("--for", f"{cap}s", slow, fast))


def screens(place: Place, kept: Kept, options: argparse.Namespace) -> None:
    """Look at what is written to a terminal and to a pipe, how soon, how wide."""
    pair = [place.working(of, sd=5, seed=1, name=f"c{of}") for of in (60, 57)]
    lines = [("compare --for 5s " + " ".join(f"'{one}'" for one in pair)), *SCREENS]
    lines += [f"{name} --help" for name in HELP]
    for line in lines:
        if kept.of("screens", line=line):
            continue
        words = [
            word.replace("SAMPLE", "runs/sample").replace("OUT", ".") for word in shlex.split(line)
        ]
        whole, first, chunks = "", None, []
        for at, text in place.on_terminal(place.fairtrial, *words):
            first = at if first is None else first
            chunks.append((at, text))
            whole += text
        _, out, err, code = place.call(place.fairtrial, *words)
        row: dict[str, object] = {
            "line": line,
            "exit": code,
            "first_byte": None if first is None else round(first, 3),
            "longest_gap": _longest_gap(chunks),
            "widest_terminal": _widest(ESCAPE.sub("", whole)),
            "widest_pipe": max(_widest(out), _widest(err)),
        }
        if line.startswith("compare --for"):
            row |= {"before_answer": _before_answer(out), "first_interval": _first_interval(whole)}
        kept.add("screens", row)


def _widest(text: str) -> int:
    return max((len(line) for line in re.split(r"[\r\n]+", text)), default=0)


def _longest_gap(chunks: list[tuple[float, str]]) -> float:
    times = [0.0, *(at for at, _ in chunks)]
    return round(max((b - a for a, b in itertools.pairwise(times)), default=0.0), 2)


def _before_answer(out: str) -> int | None:
    """Count the lines of stdout before the one that answers."""
    found = (number for number, line in enumerate(out.splitlines()) if ANSWER.search(line))
    return next(found, None)


def _first_interval(whole: str) -> int | None:
    """Give how many runs of both there were when the live line first told an interval."""
    text = ESCAPE.sub("", whole)
    for part in re.split(r"[\r\n]+", text):
        found = re.search(r"(?:\d %\)|between .* more).*?(\d[\d,]*) runs", part)
        if found:
            return int(found[1].replace(",", ""))
    return None


def same_program(place: Place, kept: Kept, options: argparse.Namespace) -> None:
    """Count how often one program under two names is called faster or slower."""
    for number in range(options.real_aa):
        if kept.of("aa", pair=number, cap=options.cap):
            continue
        kind = ("gzip", "sort", "spin")[number % 3]
        if kind == "spin":
            pair = [place.working(40, sd=5, seed=k, name=f"a{k}-{number}") for k in (1, 2)]
        else:
            pair = [
                f"{'gzip -6 -c' if kind == 'gzip' else 'sort -n'} {name}" for name in ("one", "two")
            ]
        row: dict[str, object] = {"pair": number, "cap": options.cap, "kind": kind}
        kept.add("aa", row | place.compare("--for", options.cap, *pair))


# --- the tables


def seconds_of(rows: list[dict[str, object]]) -> list[float]:
    return [float(str(row["seconds"])) for row in rows]


def print_speed(kept: Kept) -> None:
    print(f"\n2x apart, whole time (goal: at most {SPEED_GOAL} of hyperfine's)")
    print(f"{'run':>8} {'fairtrial':>10} {'hyperfine':>10} {'ratio':>6}   rounds, faster")
    for length in LENGTHS:
        ours, theirs = (
            {row["round"]: row for row in kept.of("speed", tool=tool, length=length)}
            for tool in ("fairtrial", "hyperfine")
        )
        if not ours:
            continue
        found = seconds_of(list(ours.values()))
        line = f"{length:5} ms {statistics.median(found):8.2f} s "
        both = sorted(ours.keys() & theirs.keys(), key=str)
        if both:
            ratios = [seconds_of([ours[k]])[0] / seconds_of([theirs[k]])[0] for k in both]
            other = statistics.median(seconds_of(list(theirs.values())))
            line += f"{other:8.2f} s {statistics.median(ratios):6.2f}"
        else:
            line += f"{'-':>10} {'-':>6}"
        right = sum(row["word"] == "faster" for row in ours.values())
        print(f"{line}   {len(ours)}, {right}")


def print_decided(kept: Kept) -> None:
    print("\n5 % apart, runs scatter by 5 %")
    print(
        f"{'run':>8} {'cap':>5} {'pairs':>6} {'right':>6} {'wrong':>6} {'goal':>5} {'seconds':>8}"
    )
    for cap in (20, 60):
        for length in LENGTHS:
            rows = kept.of("decided", cap=cap, length=length)
            if rows:
                right, wrong = (
                    sum(row["word"] == word for row in rows) for word in ("faster", "slower")
                )
                wrong += sum(row["word"] == "equivalent" for row in rows)
                goal = GOALS[length] if cap == 20 else 95
                print(
                    f"{length:5} ms {cap:3} s {len(rows):6} {100 * right / len(rows):4.0f} % "
                    f"{100 * wrong / len(rows):4.0f} % {goal:3} % "
                    f"{statistics.median(seconds_of(rows)):8.1f}"
                )


def print_screens(kept: Kept) -> None:
    rows = kept.of("screens")
    if not rows:
        return
    print(f"\nscreens (goals: first byte {BYTE_GOAL} s, at most {COLUMNS} columns)")
    print(f"{'first byte':>10} {'gap':>6} {'terminal':>8} {'pipe':>5}  command")
    for row in rows:
        first = "never" if row["first_byte"] is None else f"{row['first_byte']:.2f} s"
        wide = max(int(str(row["widest_terminal"])), int(str(row["widest_pipe"])))
        late = row["first_byte"] is None or float(str(row["first_byte"])) > BYTE_GOAL
        mark = " ".join(["late"] * late + ["wide"] * (wide > COLUMNS))
        print(
            f"{first:>10} {row['longest_gap']:4} s {row['widest_terminal']:8} {row['widest_pipe']:5}"
            f"  {str(row['line'])[:60]}   {mark}"
        )
        if "before_answer" in row:
            print(
                f"{'':12}lines before the answer: {row['before_answer']} (goal 0); first interval at "
                f"{row['first_interval']} runs of both (goal: three sessions: 6, or 12 where runs are short)"
            )


def print_aa(kept: Kept) -> None:
    rows = kept.of("aa")
    if not rows:
        return
    print("\none program under two names (goal: at most 18 of 200 called)")
    for kind in (*sorted({str(row["kind"]) for row in rows}), "all"):
        part = [row for row in rows if kind in (row["kind"], "all")]
        words = [row["word"] for row in part]
        called = words.count("faster") + words.count("slower")
        print(
            f"{kind:>6} {len(part):4} pairs: {called} called, {words.count('equivalent')} the same, "
            f"{words.count('undecided')} undecided; {statistics.median(seconds_of(part)):.1f} s each"
        )


PARTS: dict[str, tuple[Callable[[Place, Kept, argparse.Namespace], None], Callable[[Kept], None]]]
PARTS = {
    "speed": (speed, print_speed),
    "decided": (decided, print_decided),
    "screens": (screens, print_screens),
    "aa": (same_program, print_aa),
}


def at_most(options: argparse.Namespace) -> dict[str, float]:
    """Give seconds that each part may take, as caps bound it; screens by experience."""
    cap = float(re.sub(r"[^\d.]", "", options.cap))
    return {
        "speed": options.rounds * len(LENGTHS) * (5.0 + 9.0),
        "decided": options.pairs * len(LENGTHS) * (22.0 + 32.0),
        "screens": 240.0,
        "aa": options.real_aa * (cap + 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(PARTS), help="parts, between commas")
    parser.add_argument("--rounds", type=int, default=10, help="of speed (10)")
    parser.add_argument(
        "--pairs", type=int, default=20, help="of decided, for each length and cap (20)"
    )
    parser.add_argument("--real-aa", type=int, default=200, metavar="N", help="pairs of aa (200)")
    parser.add_argument("--for", dest="cap", default="5s", help="the cap of each pair of aa (5s)")
    parser.add_argument("--fairtrial", help="the command (beside this interpreter, or on the PATH)")
    parser.add_argument("-o", type=Path, default=Path("first-minute.json"), metavar="FILE")
    parser.add_argument(
        "--table", action="store_true", help="measure nothing, print what FILE holds"
    )
    options = parser.parse_args()
    kept = Kept(options.o)
    parts = options.only.split(",")
    if not set(parts) <= set(PARTS):
        parser.error(f"the parts are {', '.join(PARTS)}")
    beside = Path(sys.executable).with_name("fairtrial")
    command = options.fairtrial or (str(beside) if beside.exists() else shutil.which("fairtrial"))
    if command is None:
        parser.error(
            "no command fairtrial beside this interpreter or on the PATH: --fairtrial FILE"
        )
    if not options.table:
        times = {part: at_most(options)[part] for part in parts}
        said = ", ".join(f"{part} {seconds / 60:.0f} min" for part, seconds in times.items())
        print(
            f"at most about {sum(times.values()) / 60:.0f} min: {said}; into {options.o}",
            flush=True,
        )
        with tempfile.TemporaryDirectory(prefix="first-minute-") as folder:
            place = Place(Path(folder), str(Path(command).absolute()))
            if place.hyperfine is None:
                print("hyperfine is not installed: its column stays empty (apt install hyperfine)")
            for part in parts:
                PARTS[part][0](place, kept, options)
    for part in parts:
        PARTS[part][1](kept)


if __name__ == "__main__":
    main()
