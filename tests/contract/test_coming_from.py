"""Every command of the pages about other tools, executed on files in those tools' layouts."""

from __future__ import annotations

import io
import json
import random
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import analysis
from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs" / "import.md", *sorted((ROOT / "docs" / "coming-from").glob("*.md"))]
DAYS = ("monday", "tuesday", "wednesday")
SIDES = {"old": 1.0, "new": 0.8}
BENCHES = ("parse", "sort")


def values(*about, count, scale=1.0):
    drawn = random.Random(repr(about))
    return [0.01 * scale * drawn.uniform(0.98, 1.02) for _ in range(count)]


def hyperfine(place):
    for day in DAYS[:2]:
        results = []
        for side, scale in SIDES.items():
            times = values(day, side, count=10, scale=scale)
            results.append(
                {"command": side, "mean": 0.01, "stddev": 0.0, "median": 0.01, "user": 0.01,
                 "system": 0.0, "min": min(times), "max": max(times), "times": times,
                 "exit_codes": [0] * 10}
            )  # fmt: skip
        write(place / day / "sort.json", json.dumps({"results": results}, indent=2))


def pyperf(place):
    for day in DAYS[:2]:
        for side, scale in SIDES.items():
            benchmarks = [
                {
                    "metadata": {"name": bench},
                    "runs": [
                        {"metadata": {}, "warmups": [[1, 0.02]], "values": of}
                        for k in range(4)
                        if (of := values(day, side, bench, k, count=3, scale=scale))
                    ],
                }
                for bench in BENCHES
            ]
            whole = {"version": "1.0", "metadata": {"unit": "second"}, "benchmarks": benchmarks}
            write(place / day / f"{side}.json", json.dumps(whole))


def rebench(place):
    heads = "invocation iteration value unit criterion benchmark executor suite extraArgs cores"
    lines = [
        "# Execution Start: 2026-01-01T00:00:00",
        "\t".join([*heads.split(), "inputSize", "varValue", "tag", "machine", "runId"]),
    ]
    for number, (executor, scale) in enumerate({"Interp": 1.0, "Jit": 0.5}.items()):
        lines.append(f'# run_id: {number}={{"cmdline":"x","location":"."}}')
        about = ("Sort", executor, "S", "")
        for k, value in enumerate(values(executor, count=6, scale=scale), 1):
            for kind, unit, said in (("MaxRSS", "kb", 1000 + k), ("total", "ms", value * 1e3)):
                row = (k, 1, said, unit, kind, *about, 1, 100, "", "", "", number)
                lines.append("\t".join(map(str, row)))
    write(place / "rebench.data", "\n".join(lines) + "\n")


def benchexec(place):
    for night, day in enumerate(DAYS, 1):
        for side, scale in SIDES.items():
            runs = "".join(
                f'<run name="{bench}.c"><column title="status" value="true"/>'
                f'<column title="category" value="correct"/>'
                f'<column title="cputime" value="{time:.6f}s"/>'
                f'<column title="walltime" value="{time:.6f}s"/></run>'
                for bench in BENCHES
                for time in values(day, side, bench, count=1, scale=scale)
            )
            write(
                place / day / f"{side}.xml",
                "<?xml version='1.0'?>\n<!DOCTYPE result PUBLIC 'x' 'https://example.org/x.dtd'>\n"
                f'<result tool="T" starttime="2026-01-0{night}T00:00:00">{runs}</result>\n',
            )


def go(place):
    for side, scale in SIDES.items():
        text = ""
        for execution in range(4):
            text += "goos: linux\npkg: example.org/x\n"
            for bench in BENCHES:
                for value in values(side, bench, execution, count=2, scale=scale):
                    text += f"Benchmark{bench.title()}-8\t100\t{value * 1e9:.1f} ns/op\t64 B/op\n"
            text += "PASS\n"
        write(place / f"{side}.txt", text)


def criterion(place):
    for day in ("target", *DAYS):
        for bench in BENCHES:
            for side, scale in SIDES.items():
                folder = place / day / "criterion" / bench / side
                names = {"group_id": bench, "function_id": None, "value_str": None,
                         "full_id": bench, "directory_name": bench, "title": bench}  # fmt: skip
                write(folder / "benchmark.json", json.dumps(names))
                times = [v * 1e11 for v in values(day, side, bench, count=10, scale=scale)]
                sample = {"sampling_mode": "Flat", "iters": [100.0] * 10, "times": times}
                write(folder / "sample.json", json.dumps(sample))


def frame(place):
    text = "benchmark,variant,session,run,value,unit\n"
    for session in range(1, 4):
        for bench in BENCHES:
            for side, scale in SIDES.items():
                for run, value in enumerate(values(session, bench, side, count=4, scale=scale), 1):
                    text += f"{bench},{side},{session},{run},{value!r},s\n"
    write(place / "runs.csv", text)


def three_tools(place):
    """Write samples of numbers, two matrices, and a configuration with its files."""
    frame(place)
    for name, scale in (("C1", 1.0), ("C2", 1.09), ("C3", 1.1)):
        times = values(name, count=31, scale=8500 * scale)
        write(place / name, "".join(f"{time:.2f}\n" for time in times))
    for name, scale in (("A", 1.3), ("B", 1.0)):
        rows = (values(name, k, count=5, scale=100 * (k + 1) * scale) for k in range(8))
        text = "".join(f"b{k},{','.join(map(repr, row))}\n" for k, row in enumerate(rows))
        write(place / f"{name}.csv", text)
    lines = ["Name,Sample1,Sample2,ConfLevel,Coef"]
    for k in (1, 2):
        for side, scale in enumerate((1.0, 0.8), 1):
            times = values(k, side, count=40, scale=scale)
            write(place / f"bench{k}.data.{side}", "".join(f"{time!r}\n" for time in times))
        lines.append(f'"Benchmark {k}","bench{k}.data.1","bench{k}.data.2",NA,')
    write(place / "bench.cfg", "\n".join(lines) + "\n")


FILES = {
    "import": hyperfine,
    "hyperfine": hyperfine,
    "pyperf": pyperf,
    "rebench": rebench,
    "benchexec": benchexec,
    "benchstat": go,
    "criterion": criterion,
    "r": frame,
    "varcore-hpt-speedup-test": three_tools,
}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def blocks(page, language):
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(page):
    return [line for block in blocks(page, "sh") for line in block.splitlines() if line.strip()]


def execute(line, monkeypatch):
    """Execute a line of a page in this process; give its exit code, the one that it promises too."""
    command, _, comment = line.partition(" #")
    promised = re.search(r"exit (\d)", comment)
    command, _, source = command.partition(" < ")
    if source:
        stdin = io.TextIOWrapper(io.BytesIO(Path(source.strip()).read_bytes()))
        monkeypatch.setattr(sys, "stdin", stdin)
    words = shlex.split(command)
    assert words[0] == "fairtrial"
    out, err = io.StringIO(), io.StringIO()
    code = main(words[1:], out, err)
    assert code == (int(promised[1]) if promised else 0), f"{line}\n{err.getvalue()}"
    return out.getvalue()


def test_each_page_has_its_files():
    assert {page.stem for page in PAGES} == set(FILES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_command_of_the_page_works(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FILES[page.stem](tmp_path)
    lines = commands(page)
    assert len(lines) >= 5
    said = [execute(line, monkeypatch) for line in lines]
    judged = [text for line, text in zip(lines, said, strict=True) if " verdict runs/" in line]
    assert judged
    if page.stem not in ("hyperfine", "import"):  # of one benchmark in two sessions
        assert "faster" in judged[0], judged[0]


def test_a_command_that_fails_would_be_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="gone"):
        execute("fairtrial verdict gone.json", monkeypatch)


def test_each_function_of_varcore_has_its_equal_in_python():
    page = ROOT / "docs" / "coming-from" / "varcore-hpt-speedup-test.md"
    rows = re.findall(r"^\| `VARCORE_.*\| (.*) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 11  # of the twelve that the paper's appendix calls, two share a row
    for row in rows:
        named = re.findall(r"(fit\.)?\b([a-z_]+)\(|fit\.([a-z]+)", row)
        assert named
        for of_fit, called, attribute in named:
            owner = analysis.Mixture if of_fit or attribute else analysis
            assert hasattr(owner, called or attribute), row


def test_the_frame_is_read_by_r(tmp_path, monkeypatch):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    monkeypatch.chdir(tmp_path)
    frame(tmp_path)
    page = ROOT / "docs" / "coming-from" / "r.md"
    for line in commands(page):
        execute(line, monkeypatch)
    (script,) = blocks(page, "r")
    subprocess.run(["Rscript", "-e", script], cwd=tmp_path, check=True, capture_output=True)
