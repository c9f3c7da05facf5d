"""The workflows cannot be executed here: their actions, rights and the shell of each step are looked at."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.name: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
SCRIPTS = (".ci/run", ".ci/packages", "configs/ci/gate.sh")
TARGETS = set(re.findall(r"(?m)^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text()))


def steps(name):
    jobs = yaml.safe_load(WORKFLOWS[name].read_text())["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def parses(script):
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    return done.stderr == ""


def made(script):
    """List the targets that a script gives to make, at the beginning of a command."""
    return set(re.findall(r"(?m)(?:^|[;&)]|\bbeside \"[^\"]*\") *make ([a-z-]+)", script))


def test_there_are_two_workflows():
    assert sorted(WORKFLOWS) == ["nightly.yml", "pr.yml"]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_nothing_is_permitted_but_to_read_and_each_job_ends(name):
    whole = yaml.safe_load(WORKFLOWS[name].read_text())
    assert whole["permissions"] == {}
    for job in whole["jobs"].values():
        assert job["permissions"] == {"contents": "read"}
        assert job["timeout-minutes"] < 360


@pytest.mark.parametrize("name", WORKFLOWS)
def test_each_action_is_pinned_by_a_commit_with_its_version_beside(name):
    used = re.findall(r"uses: (.*)", WORKFLOWS[name].read_text())
    assert used
    for one in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one), one


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_shell_of_each_step_parses_and_makes_what_there_is(name):
    scripts = [step["run"] for step in steps(name) if "run" in step]
    assert scripts
    for script in scripts:
        assert parses(script), script
        assert "${{" not in script  # what others write never becomes a part of a script
    assert {"setup"} < set().union(*map(made, scripts)) <= TARGETS


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_of_continuous_integration_parse_and_make_what_there_is(name):
    script = (ROOT / name).read_text()
    assert parses(script)
    assert made(script) <= TARGETS


def test_what_does_not_parse_would_be_found():
    assert not parses("if true; then echo")
    assert made('case "$1" in\n a) make gone ;;\nesac; make setup') == {"gone", "setup"}


@pytest.mark.parametrize(
    ("release", "named"),
    [("ID=debian", "linux-perf"), ("ID=ubuntu\nID_LIKE=debian", "linux-tools-generic"),
     ("ID=linuxmint\nID_LIKE='ubuntu debian'", "chromium-browser")],
)  # fmt: skip
def test_packages_have_the_names_of_the_distribution(release, named, tmp_path):
    (tmp_path / "os-release").write_text(release)
    env = {"PATH": str(tmp_path), "OS_RELEASE": str(tmp_path / "os-release")}  # where nothing is
    words = ["/bin/bash", ROOT / ".ci/packages", "all"]
    said = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout
    assert said.startswith("not installed, so tests are skipped: gcc ")
    assert named in said.split()
