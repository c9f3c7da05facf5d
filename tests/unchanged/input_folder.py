"""Everything that the command lines read: made trials, recorded trials, files of numbers, other tools' files.

`write_inputs` makes the folder anew; its names are those that command lines use. Of the recorded ones only
copies are taken, so that nothing can be changed by a command.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import random
import runpy
import shutil
from collections.abc import Iterable
from pathlib import Path

from made_trials import write_made_trials

PROJECT = Path(__file__).resolve().parents[2]
SAMPLES = PROJECT.parent / "shared" / "samples"  # further files of other tools, where there are any
RECORDED = {
    "sample": "runs/sample",
    "sample-0.2.0": "tests/data/sample-0.2.0",
    "schema-1": "tests/golden/schemas/1/trial",
    "schema-1-unfinished": "tests/golden/schemas/1-unfinished",
    "schema-2": "tests/golden/schemas/2/trial",
    "original": "tests/golden/speedup_test",
    "scores.csv": "tests/golden/hpt_slides_specint/scores.csv",
    "medians.csv": "tests/golden/irving_bigdata/medians.csv",
    "quickstart.yaml": "configs/quickstart.yaml",
    "quickstart_data.py": "configs/quickstart_data.py",
    "padding.yaml": "configs/modes/padding.yaml",
    "compilers.yaml": "configs/gallery/compilers/small.yaml",
    "c": "configs/gallery/compilers/c",
}
FOREIGN = "tests/golden/foreign"


def write_inputs(folder: Path, *, samples: bool = True) -> None:
    """Make the folder of inputs anew; `samples`: with those beside the project, where there are any."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_made_trials(folder)
    for name, place in RECORDED.items():
        copied(PROJECT / place, folder / name)
    for path in sorted((PROJECT / FOREIGN).iterdir()):
        copied(path, folder / "foreign" / path.name)
    if samples and SAMPLES.is_dir():
        shutil.copytree(SAMPLES, folder / "samples", ignore=shutil.ignore_patterns("gallery"))
    hosts = runpy.run_path(str(PROJECT / "tests" / "hosts" / "trees.py"))
    for name, make in hosts["TREES"].items():
        stat = hosts["plant"](folder / "hosts" / name, make()) / "proc" / "stat"
        if stat.exists():  # psutil asks for the time of the boot
            stat.write_text(f"{stat.read_text()}btime 1700000000\n")
    _write_matrices(folder)
    _write_tables(folder)
    _write_campaigns(folder)
    for name in ("pair", "sample"):
        copied(folder / name, folder / "runs" / name)


def digest_of(folder: Path, names: Iterable[str]) -> str:
    """Give a text that changes with what these inputs hold."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(_digest(folder / name))
    return digest.hexdigest()[:10]


@functools.cache
def _digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            digest.update(f"{file.relative_to(path.parent)}\0".encode() + file.read_bytes() + b"\0")
    return digest.digest()


def copied(source: Path, target: Path) -> None:
    """Copy a file, or a folder, which may be put beside another file of its own."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def _values(name: str, count: int, scale: float) -> list[float]:
    draw = random.Random(name)
    return [round(scale * math.exp(draw.gauss(0, 0.02)), 6) for _ in range(count)]


def _write_matrices(folder: Path) -> None:
    """Write files of bare numbers in every form that is read, and some that are refused."""
    for side, factor in (("old", 1.0), ("new", 0.8), ("newer", 0.75)):
        rows = {f"b{k}": _values(f"{side}{k}", 6, factor * (k + 1)) for k in range(6)}
        lines = [",".join([name, *map(str, values)]) for name, values in rows.items()]
        (folder / f"{side}.csv").write_text("\n".join(lines) + "\n")
        spaced = [
            " ".join(rows),
            *(" ".join(map(str, row)) for row in zip(*rows.values(), strict=True)),
        ]
        (folder / f"{side}-columns.txt").write_text("\n".join(spaced) + "\n")
        comma = [
            ";".join([name, *(str(v).replace(".", ",") for v in row)]) for name, row in rows.items()
        ]
        (folder / f"{side}-comma.csv").write_text("\n".join(comma) + "\n")
        (folder / f"{side}-ambiguous.csv").write_text(
            "b0 1,234 1,235 1,236\nb1 2,234 2,235 2,236\n"
        )
        one = _values(side, 30, factor)
        for ending in ("dat", "txt"):
            (folder / f"{side}-list.{ending}").write_text("\n".join(map(str, one)) + "\n")
        ragged = [
            ",".join([name, *map(str, row[: 3 + k])]) for k, (name, row) in enumerate(rows.items())
        ]
        (folder / f"{side}-ragged.csv").write_text("\n".join(ragged) + "\n")
        ids = [1, 1, 2, 2, 3, 3]
        described = {
            "name": side,
            "unit": "s",
            "better": "lower",
            "samples": rows,
            "blocks": {name: list(range(6)) for name in rows},
            "sessions": dict.fromkeys(rows, ids),
        }
        (folder / f"{side}.json").write_text(json.dumps(described))
        (folder / f"{side}-plain.json").write_text(json.dumps(rows))
        (folder / f"{side}-failed.json").write_text(json.dumps(described | {"failed": {"b0": 2}}))
    for name, text in (
        ("empty.csv", ""),
        ("words.csv", "b0,one,two\nb1,three,four\n"),
        ("quoted.txt", '"1.5"\n"1.6"\n"1.7"\n'),
        ("missing.csv", "b0,1.0,,1.2\nb1,2.0,NA,2.1\n"),
        ("negative.csv", "b0,-1.0,1.1\nb1,2.0,0\n"),
        ("twice.csv", "b0,1.0,1.1\nb0,2.0,2.1\n"),
        ("broken.json", '{"samples": {"b0": [1, 2'),
        ("constant.csv", "b0,1,1,1,1\nb1,2,2,2,2\n"),
        ("stray.json", '{"some": "thing"}'),
    ):
        (folder / name).write_text(text)


def _write_tables(folder: Path) -> None:
    """Write a table of systems, one of long rows, a configuration, claims and what a bundle says."""
    draw = random.Random("systems")
    lines = ["system,family,clock,cores,time,time2"]
    for k in range(40):
        clock, cores = draw.uniform(2, 4), draw.choice([2, 4, 8, 16])
        time = 100 / clock / math.sqrt(cores) * math.exp(draw.gauss(0, 0.02))
        family = "abcd"[k % 4]
        lines.append(f"s{k},{family},{clock:.3f},{cores},{time:.4f},{time * 1.01:.4f}")
    (folder / "systems.csv").write_text("\n".join(lines) + "\n")
    names = ["system", *(f"b{k}" for k in range(5))]
    table = [",".join(names)]
    table += [",".join([f"s{k}", *map(str, _values(f"s{k}", 5, 1 + k / 4))]) for k in range(6)]
    (folder / "headed.csv").write_text("\n".join(table) + "\n")
    rows = ["program,input,night,value"]
    for program in ("old", "new"):
        for night in range(4):
            for name in ("x", "y"):
                values = _values(f"{program}{night}{name}", 4, 1.0 if program == "old" else 0.9)
                rows += [f"{program},{name},{night},{value}" for value in values]
    (folder / "long.csv").write_text("\n".join(rows) + "\n")
    claim = {
        "text": "faster",
        "command": "verdict small",
        "value": "/runs",
        "is": "equals",
        "expected": 3,
    }
    (folder / "claims.yaml").write_text(json.dumps({"claims": [claim]}))
    wrong = claim | {"expected": 5}
    (folder / "wrong-claims.yaml").write_text(json.dumps({"claims": [claim, wrong]}))
    about = {"title": "A title", "authors": [{"name": "A. Author"}], "license": "MIT"}
    (folder / "about.yaml").write_text(json.dumps(about))


def _write_campaigns(folder: Path) -> None:
    """Write campaigns of programs that print given numbers, and some that are refused."""
    told = "printf 'ops %s\\nlatency %s\\n' {ops} {latency}"
    metrics = {
        "ops": {"regex": "ops ([0-9.]+)", "unit": "1/s", "better": "higher"},
        "latency": {"regex": "latency ([0-9.]+)", "unit": "ms", "better": "lower"},
    }
    command = {"command": ["/bin/sh", "-c", told], "metrics": metrics}
    good = {
        "name": "told",
        "seed": 3,
        "variants": {"old": {"ops": 100, "latency": 2.5}, "new": {"ops": 125, "latency": 2.0}},
        "baseline": "old",
        "benchmarks": {"one": command, "two": command | {"expect": {"regex": "ops"}}},
        "protocol": {"sessions": 2, "runs": 3, "warmup": 1},
        "isolation": {"cpus": "none", "environment": {"keep": "none"}},
    }
    fails = {"one": command | {"command": ["/bin/sh", "-c", f"{told}; exit 3"]}}
    plain = {"variants": {"old": {}, "new": {}}}
    hooks = {"setup": [{"shell": "echo made > made"}], "before": {"shell": "true"}}
    stop = {"sessions": 3, "stop": {"width": 0.5, "min_runs": 5, "max_runs": 8}}
    for name, changes in {
        "told": {},
        "judged": {"judge": ["ops", "latency"]},
        "fails": {"benchmarks": good["benchmarks"] | fails},
        "hooks": {"hooks": hooks},
        "stop": {"protocol": stop},
        "slow": plain | {"benchmarks": {"one": {"command": ["sleep", "0.01"]}}},
        "pinned": {"isolation": {"cpus": [0]}},
        "required": {"checks": {"require": ["governor", "turbo"], "warn": ["smt"]}},
        "absent-program": plain | {"benchmarks": {"one": {"command": ["no-such-program"]}}},
        "unknown-key": {"protocoll": {}},
        "unknown-value": {"protocol": {"sessions": "many"}},
        "no-baseline": {"baseline": "none"},
        "unused-value": {"variants": {"old": {"opps": 1}, "new": {"opps": 2}}},
        "unknown-judge": {"judge": "speed"},
        "build-fails": {"build": {"shell": "exit 4"}},
        "setup-fails": {"hooks": {"setup": [["false"]]}},
        "times-out": plain
        | {
            "protocol": {"sessions": 1, "runs": 1, "timeout": "100ms"},
            "benchmarks": {"one": {"command": ["sleep", "5"]}},
        },
    }.items():
        (folder / f"{name}.yaml").write_text(json.dumps(good | changes, indent=1) + "\n")
    for name, text in (
        ("duplicate.yaml", "name: a\nname: b\n"),
        ("alias.yaml", "name: &x a\nvariants: *x\n"),
        ("no-yaml.yaml", "name: [a\n"),
        ("empty.yaml", ""),
    ):
        (folder / name).write_text(text)
