"""Every remedy that is printed with YAML or a command in it is tried here: it loads, or it works.

First use: "build: [[gcc, {flags}, ...]]" was proposed and is no YAML; --shell and env were not named
where they help; messages of 'compare' pointed into a file that the user never wrote.
"""

from __future__ import annotations

import re
import shlex

import pytest

from analysis.errors import CampaignError, FairtrialError, UsageError
from harness.campaign.resolve import load_campaign
from harness.commands.comparing import campaign_of, manner_of, shell_sign, try_commands
from harness.commands.options import wanted_commands
from harness.errors import LaunchError
from tests.unit.harness.commands.conftest import execute

# --- remedies that are YAML --------------------------------------------------------------------

HEAD = "name: n\nvariants: {{a: {{flags: -O2{variant}}}}}\nbaseline: a\n"
BENCHMARK = "benchmarks: {{x: {{command: {command}{more}}}}}\n"


def text(command='[p, "{flags}"]', variant="", more="", rest=""):
    made = (HEAD + BENCHMARK).format(command=command, variant=variant, more=more)
    return made + rest


LIST, VALUE, SUCH = r"(?:as|arguments:) (\[\[.*\]\])", r"write (\S+)", r"such as (\[.*?\]|[^\s,]+)"

# The campaign with a place left open, what stands there wrongly, and how its remedy is written.
YAML = [
    ("build: {}", '[gcc, "{flags}", -o, "build/zc-{variant}", src/zc.c]', LIST),
    ("build: {}", "[make, clean]", LIST),
    ("build: {}", '[make, "a: b", "c, d", "#e", "null", "1", "- x"]', LIST),
    ("build: {}", "[\"make {flags} 'a b'\"]", LIST),
    ("hooks: {{setup: {}}}", '[mkdir, "my dir"]', LIST),
    ("hooks: {{before: {}}}", '[touch, "ready-{benchmark}"]', LIST),
    ("checks: {{require: {}}}", "load", VALUE),
    ("checks: {{warn: {}}}", "load", VALUE),
    ("protocol: {{runs: {}}}", "'10'", VALUE),
    ("protocol: {{timeout: {}}}", "soon", SUCH),
    ("protocol: {{stop: {{width: {}}}}}", "narrow", SUCH),
    ("isolation: {{cpus: {}}}", "3-2", SUCH),
    ("isolation: {{cpus: {}}}", "some", SUCH),
    ("isolation: {{limits: {{as: {}}}}}", "much", SUCH),
    ("# {{}}\nbaseline: {}", "b", r"Known here: (\S+)|known here: (\S+)"),
]


def problems(tmp_path, campaign):
    path = tmp_path / "campaign.yaml"
    path.write_text(campaign)
    try:
        load_campaign(path)
    except CampaignError as error:
        return error.problems
    return ()


@pytest.mark.parametrize(("place", "wrong", "remedy"), YAML)
def test_proposed_yaml_loads(tmp_path, place, wrong, remedy):
    whole = text() if "baseline" not in place else text().replace("baseline: a\n", "")
    (problem,) = problems(tmp_path, whole + place.format(wrong) + "\n")
    found = re.search(remedy, f"{problem.what}\n{problem.fix}")
    assert found, problem
    proposal = next(filter(None, found.groups()))
    assert problems(tmp_path, whole + place.format(proposal) + "\n") == (), proposal


def test_a_proposed_json_path_loads(tmp_path):
    def metrics(path):
        return text(more=f", metrics: {{m: {{json: '{path}', unit: s, better: lower}}}}")

    (problem,) = problems(tmp_path, metrics("a..b"))
    assert problems(tmp_path, metrics(re.search(r"as in (\S+)", problem.fix)[1])) == ()


def test_proposed_arguments_are_those_that_were_written(tmp_path):
    (problem,) = problems(tmp_path, text(rest='build: [cc, "{flags}", "a b", "c, d"]\n'))
    path = tmp_path / "campaign.yaml"
    (proposal,) = re.findall(r"\[\[.*", problem.fix)
    path.write_text(text(rest=f"build: {proposal}\n"))
    (build,) = load_campaign(path).builds
    assert [step.argv for step in build.steps] == [("cc", "-O2", "a b", "c, d")]


# --- remedies of compare -----------------------------------------------------------------------


@pytest.fixture
def compare(tmp_path, monkeypatch, compare_options):
    """Try commands in a folder with a small file, and make their campaign, as 'compare' does at first."""
    (tmp_path / "f").write_text("b\na\n")
    (tmp_path / "place").mkdir()
    monkeypatch.chdir(tmp_path)

    def make(*commands, **options):
        args = compare_options(*commands, **options)
        wanted = wanted_commands(args)
        manner = manner_of(args, wanted, tmp_path)
        try_commands(wanted, manner)
        return campaign_of(args, wanted, manner, tmp_path / "place", runs=1)

    return make


@pytest.mark.parametrize(
    ("command", "named"),
    [("cat f | wc -l", "--shell"), ("LC_ALL=C sort f", "env"), ("sh -c 'exit 3'", "--exit")],
)
def test_a_command_that_fails_names_what_helps_and_it_helps(compare, command, named):
    with pytest.raises(LaunchError) as caught:
        compare(command)
    error = caught.value
    assert command in str(error)  # what was typed, not a file that nobody wrote
    assert named in error.fix
    if named == "--shell":
        compare(command, shell="")
    elif named == "env":
        (proposal,) = re.findall(r"write ('.*'), or", error.fix)
        compare(*shlex.split(proposal))
    else:
        code = re.search(r"--exit (\d+)", error.fix)[1]
        compare(command, exit=(int(code),))


@pytest.mark.parametrize(
    "command",
    ["sleep 0; true", "cat f > /dev/null", "ls *", "cat $HOME/f || true", "LC_ALL=C sort f"],
)
def test_a_command_that_needs_a_shell_shows_it(command):
    assert shell_sign(command) is not None


@pytest.mark.parametrize(
    "command",
    [
        "gzip -6 -c data",
        "grep 'a|b;c > $d *' f",
        'grep "a > b; c *" f',
        r"find . -name \*.c",
        "x&y",
    ],
)
def test_a_command_that_needs_no_shell_is_not_given_one(command):
    assert shell_sign(command) is None


@pytest.mark.parametrize(
    "options", [{"name": ("a", "a")}, {"counters": "no such event"}, {"cpus": "3-2"}]
)
def test_no_message_names_a_file_that_nobody_wrote(compare, tmp_path, options):
    commands = ("true", "true")[: len(options.get("name", ("a",)))]
    with pytest.raises(UsageError) as caught:
        compare(*commands, **options)
    assert str(tmp_path / "place") not in str(caught.value)


def test_a_program_that_goes_away_is_named_by_what_was_typed(compare):
    campaign = compare("cat 'f'")
    assert campaign.cells[0].command.mark == shlex.quote("cat 'f'")


# --- remedies that are commands ----------------------------------------------------------------


def test_the_proposed_init_writes_a_campaign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, said = execute("run", "my.yaml")
    (proposed,) = re.findall(r"fix: correct its name; fairtrial (.*) writes one", said)
    assert code == 2
    code, _, said = execute(*shlex.split(proposed))  # seen: 'fairtrial init', which writes another
    assert code == 0
    assert (tmp_path / "my.yaml").exists()
    again = execute(*shlex.split(proposed))
    assert (again[0], "there is a file already" in again[2]) == (2, True)
    (proposed,) = re.findall(r"next  fairtrial (.*?)    ", said)
    assert execute(*shlex.split(proposed))[0] == 0


def test_the_proposed_diff_is_one(tmp_path):
    code, _, said = execute("status", "--diff")
    (proposed,) = re.findall(r"write fairtrial (status .*)", said)
    assert code == 2
    assert execute(*shlex.split(proposed.replace("TRIAL", "tests/data/sample-0.2.0")))[0] == 0


def test_a_program_that_may_not_be_executed_is_mended_as_proposed(compare, tmp_path):
    path = tmp_path / "my tool"
    path.write_text("#!/bin/sh\n")
    with pytest.raises(FairtrialError) as caught:
        compare("'./my tool'")
    command, mode, name = shlex.split(caught.value.fix)
    assert (command, mode) == ("chmod", "+x")
    assert path.samefile(name)
    path.chmod(path.stat().st_mode | 0o111)
    compare("'./my tool'")
