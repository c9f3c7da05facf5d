"""The recipes of docs/ci.md, executed: the shell's as they stand, the scripts of the others too."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from analysis.record.manifest import read_manifest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "runs" / "sample"
# two programs that differ in nothing but their name
CAMPAIGN = """\
name: ci
variants: {main: {}, change: {}}
benchmarks: {x: {command: ["true"]}}
protocol: {sessions: 3, runs: 2, warmup: 0}
isolation: {cpus: none}
"""


def recipe(name):
    found = re.search(rf"<!-- recipe: {name} -->\n```(\w+)\n(.*?)^```$", PAGE, re.M | re.S)
    assert found, name
    return found[2]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "ci.yaml").write_text(CAMPAIGN)
    return tmp_path


@pytest.fixture
def execute(path_of_forks):
    return functools.partial(executed, path_of_forks)


def executed(path, script, place, shell=("/bin/sh", "-c")):
    if shutil.which("jq") is None:  # what it does there, without it
        read = 'python3 -c \'import json; print(json.load(open("run.json"))["trial"])\''
        script = script.replace("jq -r .trial run.json", read)
    environment = os.environ | {"PATH": path, "GITHUB_STEP_SUMMARY": str(place / "summary.md")}
    done = subprocess.run(
        [*shell, script],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


def test_every_recipe_is_executed_here():
    names = re.findall(r"<!-- recipe: (\w+) -->", PAGE)
    assert sorted(names) == ["bisect", "github", "gitlab", "looks", "shell", "trials", "variants"]
    assert PAGE.count("```sh\n") == 5


@pytest.mark.parametrize("name", ["shell", "looks"])
def test_a_shell_recipe_measures_and_decides(name, place, execute):
    done = execute(recipe(name), place)
    # identical programs of a millisecond: any answer of the gate, and no error
    assert done.returncode in {0, 1, 7}, done.stderr
    assert "slower>2%" in done.stdout
    (trial,) = (place / "runs").iterdir()
    assert read_manifest(trial).sessions in ({3} if name == "shell" else {4, 8})
    if name == "shell" and "undecided: not stopped" in done.stdout:
        assert done.returncode == 0


def test_the_scripts_of_github_and_gitlab_work(place, execute):
    job = yaml.safe_load(recipe("github"))["jobs"]["gate"]
    steps = {step["name"]: step["run"] for step in job["steps"] if "name" in step}
    assert list(steps) == ["build", "measure", "gate"]
    assert execute(steps["measure"], place, ("bash", "-e", "-c")).returncode == 0
    done = execute(steps["gate"], place, ("bash", "-e", "-c"))
    assert done.returncode in {0, 1, 7}, done.stderr
    assert re.search(r"(?m)^::(error|warning|notice) title=change::", done.stdout)
    assert (place / "summary.md").read_text().startswith("### gate")
    assert ET.parse(place / "gate.xml").getroot().tag == "testsuites"

    job = yaml.safe_load(recipe("gitlab"))["gate"]
    (place / "gate.xml").unlink()
    done = execute("\n".join(["set -e", *job["script"]]), place)
    assert done.returncode in {0, 1, *job["allow_failure"]["exit_codes"]}, done.stderr
    assert (place / job["artifacts"]["reports"]["junit"]).exists()


@pytest.mark.parametrize("name", ["trials", "variants"])
def test_two_trials_are_compared(name, place, execute):
    for folder in ("new", "old"):
        shutil.copytree(SAMPLE, place / "runs" / folder)
    script = recipe(name).replace("v2", "gzip-1").replace("v1", "gzip-6")
    done = execute(script, place)
    assert done.returncode in {0, 7}, (
        done.stderr
    )  # gzip -1 is faster; two sessions a side say little
    if name == "variants":
        data = json.loads((place / "gate.json").read_text())
        assert data["candidates"][0]["design"] == "separate"
        assert data["exit_code"] == done.returncode


# a program whose answer is its metric: from the fourth commit on a tenth more, and the second does not build
BISECTED = """\
name: ci
variants: {main: {bin: base/program}, change: {bin: ./program}}
baseline: main
benchmarks:
  x: {command: ["{bin}"], metrics: {steps: {regex: '^steps (.+)$', unit: s, better: lower}}}
judge: steps
protocol: {sessions: 3, runs: 2, warmup: 0}
isolation: {cpus: none}
"""
PROGRAM = "#!/bin/sh\necho steps $(( {size} + $(od -An -N1 -tu1 /dev/urandom) ))\n"


def git(place, *words):
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *who, *words], cwd=place, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_bisect_run_finds_the_commit_and_skips_what_does_not_build(place, execute):
    git(place, "init", "-q")
    (place / ".gitignore").write_text("base/\nruns/\nrun.json\nprogram\nstep.sh\n")
    (place / "ci.yaml").write_text(BISECTED)
    made = []
    for number in range(1, 7):
        build = "false" if number == 2 else "cp source program && chmod +x program"
        (place / "Makefile").write_text(f"all:\n\t{build}\n")
        source = PROGRAM.format(size=110000 if number >= 4 else 100000)
        (place / "source").write_text(f"{source}# {number}\n")
        git(place, "add", "-A")
        git(place, "commit", "-q", "-m", f"commit {number}")
        made.append(git(place, "rev-parse", "HEAD"))
    (place / "base").mkdir()
    (place / "base" / "program").write_text(PROGRAM.format(size=100000))
    (place / "base" / "program").chmod(0o755)
    (place / "step.sh").write_text(recipe("bisect"))
    git(place, "bisect", "start", made[5], made[0])
    done = execute("git bisect run sh step.sh", place)
    assert f"{made[3]} is the first bad commit" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "told"), [(0, 0), (1, 1), (7, 125), (2, 255), (3, 255), (70, 255)]
)
def test_what_git_bisect_is_told(code, told, tmp_path, execute):
    command = tmp_path / "fairtrial"  # stands for the gate alone
    command.write_text(f'#!/bin/sh\n[ "$1" = run ] && echo \'{{"trial": "t"}}\' || exit {code}\n')
    command.chmod(0o755)
    script = f"make() {{ :; }}\nPATH={tmp_path}:$PATH\n{recipe('bisect')}"
    assert execute(script, tmp_path).returncode == told


def test_the_page_says_what_python_gives():
    script = re.search(r"```python\n(.*?)```", PAGE, re.S)[1]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")  # unpacking what gzip -1 packed takes longer
    assert done.stdout.startswith(
        "STOP  gzip-1 takes 9 % more time than gzip-6 on unpack (6 to 12 %)"
    )
