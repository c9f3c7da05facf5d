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
SCRIPT = ROOT / "configs" / "ci" / "gate.sh"
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


def executed(path, script, place, shell=("/bin/sh", "-c"), env=None):
    environment = os.environ | {"PATH": path, "GITHUB_STEP_SUMMARY": str(place / "summary.md")}
    environment |= env or {}
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


def test_a_grown_trial_is_looked_at_twice(place, execute):
    done = execute(recipe("looks"), place)
    # identical programs of a millisecond: any answer of the gate, and no error
    assert done.returncode in {0, 1, 7}, done.stderr
    assert "slower>2%" in done.stdout
    (trial,) = (place / "runs").iterdir()
    assert read_manifest(trial).sessions in {4, 8}


# ---- the action, the job of GitLab, and a shell: one script

ACTION = yaml.safe_load((ROOT / ".github/actions/fairtrial/action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


@pytest.fixture
def change(place):
    """A repository whose branch `main` is to be compared with what stands in the folder: one more line of source."""
    git(place, "init", "-q")
    (place / ".gitignore").write_text("base/\nruns/\nprogram\n")
    campaign = BISECTED.replace("sessions: 3, runs: 2", "sessions: 3, runs: 1")
    (place / "ci.yaml").write_text(campaign)
    (place / "source").write_text(PROGRAM.format(size=100000))
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "before")
    (place / "source").write_text(PROGRAM.format(size=110000))
    return place


def as_github(text, given):
    """Fill in `${{ inputs.NAME }}` as a runner does."""
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda one: given[one[1]], text)


def test_the_action_builds_measures_and_writes_the_answer(change, tmp_path_factory, execute):
    temp = tmp_path_factory.mktemp("runner")
    job = yaml.safe_load(recipe("github"))["jobs"]["gate"]
    asked = next(step["with"] for step in job["steps"] if "fairtrial@" in step.get("uses", ""))
    assert set(asked) <= set(ACTION["inputs"])
    given = {name: about["default"] for name, about in ACTION["inputs"].items()} | asked
    given |= {"base": "main", "build": "cp source program && chmod +x program"}
    given["comment"] = given["comment"].replace("${{ runner.temp }}", str(temp))
    step = STEPS["measure and ask"]
    env = {name: as_github(text, given) for name, text in step["env"].items()}
    env |= {
        "GITHUB_ACTION_PATH": str(ROOT / ".github/actions/fairtrial"),
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(temp / "output"),
        "RUNNER_TEMP": str(temp),
    }
    done = execute(step["run"], change, ("bash", "-e", "-o", "pipefail", "-c"), env)
    assert done.returncode == 1, done.stderr  # a tenth more steps
    said = (temp / "fairtrial.md").read_text()
    assert said.startswith("### gate slower&gt;2%: STOP")
    assert (change / "summary.md").read_text() == said
    assert "::error title=change::" in done.stdout
    outputs = dict(line.split("=", 1) for line in (temp / "output").read_text().splitlines())
    assert set(outputs) == set(ACTION["outputs"])
    for name, about in ACTION["outputs"].items():
        assert about["value"] == f"${{{{ steps.{step['id']}.outputs.{name} }}}}"
    assert (outputs["answer"], outputs["exit-code"]) == ("STOP", "1")
    assert read_manifest(change / outputs["trial"]).variants == ("main", "change")
    # the same change again, on a machine that keeps its folders
    done = execute(step["run"], change, ("bash", "-e", "-o", "pipefail", "-c"), env)
    assert done.returncode == 1, done.stderr


def test_the_action_installs_its_own_checkout(tmp_path, execute):
    """With a Python that writes down what it is asked: the packages themselves are the wheel's own test."""
    heard = tmp_path / "heard"
    for name in ("bin/python3", "temp/fairtrial/bin/pip"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$@" >> {heard}\n')
        (tmp_path / name).chmod(0o755)
    env = {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(ROOT / ".github/actions/fairtrial"),
        "GITHUB_PATH": str(tmp_path / "path"),
        "RUNNER_TEMP": str(tmp_path / "temp"),
    }
    done = execute(STEPS["install"]["run"], tmp_path, ("bash", "-e", "-c"), env)
    assert done.returncode == 0, done.stderr
    venv, pip = heard.read_text().splitlines()
    assert venv == f"-m venv {tmp_path}/temp/fairtrial"
    assert Path(pip.split()[-1]).resolve() == ROOT
    assert (tmp_path / "path").read_text() == f"{tmp_path}/temp/fairtrial/bin\n"


def test_the_job_of_gitlab(change, execute):
    used = yaml.safe_load(recipe("gitlab"))
    (include,) = used["include"]
    assert include["remote"].endswith("/configs/ci/gitlab.yml")
    job = yaml.safe_load((ROOT / "configs/ci/gitlab.yml").read_text())["performance"]
    (change.parent / "fairtrial").symlink_to(ROOT)
    env = job["variables"] | used["performance"]["variables"]
    env |= {"BASE": "main", "CI_BUILDS_DIR": str(change.parent)}
    env["BUILD"] = "cp source program && chmod +x program"
    try:
        done = execute("\n".join(["set -e", *job["script"]]), change, env=env)
    finally:
        (change.parent / "fairtrial").unlink()
    assert done.returncode == 1, done.stderr
    assert ET.parse(change / job["artifacts"]["reports"]["junit"]).getroot().tag == "testsuites"
    assert (change / "gate.md").read_text().startswith("### gate")


def test_the_shell_recipe(change, execute):
    (change / "fairtrial").symlink_to(ROOT)
    script = recipe("shell").replace("BUILD=make", "BUILD='cp source program; chmod +x program'")
    done = execute(script, change)
    assert done.returncode == 1, done.stderr
    assert (change / "answer.md").read_text().startswith("### gate slower&gt;2%: STOP")


def test_a_worktree_that_somebody_has_in_its_place_is_left_alone(change, execute):
    git(change, "worktree", "add", "-q", "--detach", "base")
    (change / "base" / "source").write_text("a day's work")
    done = execute(str(SCRIPT), change, env={"BASE": "main"})
    assert done.returncode not in {0, 1, 7}
    assert "already exists" in done.stderr
    assert (change / "base" / "source").read_text() == "a day's work"
    assert not (change / "runs").exists()


@pytest.mark.parametrize(("depth", "left"), [((), "2"), (("--depth", "1"), "1")])
def test_a_clone_keeps_the_history_that_it_has(depth, left, change, tmp_path_factory, execute):
    git(change, "commit", "-qam", "after")
    clone = tmp_path_factory.mktemp("clone") / "clone"
    git(change, "clone", "-q", *depth, change.as_uri(), str(clone))
    execute(str(SCRIPT), clone, env={"BASE": "main", "BUILD": "exit 3"})
    assert (clone / "base" / "source").exists()
    assert git(clone, "rev-list", "--count", "HEAD") == left


@pytest.mark.parametrize(
    ("run", "gate", "undecided", "ends"),
    [
        (0, 0, "stop", 0),
        (0, 7, "stop", 7),
        (0, 7, "pass", 0),
        (0, 1, "pass", 1),
        (1, 1, "stop", 1),  # runs failed: the gate says what that means
        (0, 2, "pass", 2),
        (3, 0, "pass", 3),  # nothing was measured
    ],
)
def test_how_the_script_ends(run, gate, undecided, ends, tmp_path, execute):
    command = tmp_path / "bin" / "fairtrial"  # stands for run and gate alone
    command.parent.mkdir()
    answer = 'for word; do [ "$last" = --summary ] && echo x > "$word"; last=$word; done'
    command.write_text(
        f'#!/bin/sh\n[ "$1" = run ] && echo \'{{"trial": "t"}}\' && exit {run}\n{answer}\nexit {gate}\n'
    )
    command.chmod(0o755)
    env = {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "UNDECIDED": undecided}
    assert execute(str(SCRIPT), tmp_path, env=env).returncode == ends


def test_a_build_that_fails_is_no_answer(tmp_path, execute):
    """Neither the exit code of one, nor the file with the answer of the build before."""
    (tmp_path / "answer.md").write_text("PASS, of an hour ago")
    env = {"BUILD": "exit 1", "COMMENT": "answer.md"}
    done = execute(str(SCRIPT), tmp_path, env=env)
    assert (done.returncode, done.stderr) == (4, "gate.sh: the build failed in .: exit 1\n")
    assert not (tmp_path / "answer.md").exists()


@pytest.mark.parametrize("name", ["trials", "variants"])
def test_two_trials_are_compared(name, place, execute):
    for folder in ("new", "old"):
        shutil.copytree(SAMPLE, place / "runs" / folder)
    script = recipe(name).replace("v2", "gzip-1").replace("v1", "gzip-6")
    done = execute(script, place)
    # gzip -1 is faster; two sessions a side say little
    assert done.returncode in {0, 7}, done.stderr
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
    command, pipe = ["git", *who, *words], subprocess.PIPE
    return subprocess.check_output(command, cwd=place, text=True, stderr=pipe).strip()


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
    said = "STOP  gzip-1 takes 9 % more time than gzip-6 on unpack (6 to 13 %)"
    assert done.stdout.startswith(said)
