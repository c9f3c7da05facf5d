"""What ``compare`` does around a measurement: its first line, whose exit code counts, what it refuses."""

from __future__ import annotations

import io
import re
import shlex
from types import SimpleNamespace

import pytest

from analysis.errors import CampaignError, FairtrialError, InsufficientDataError, UsageError
from analysis.record.trial_files import TrialStatus
from harness.campaign.resolve import load_campaign
from harness.cli import main
from harness.commands.comparing import campaign_of, manner_of, shell_sign, try_commands
from harness.commands.options import wanted_commands
from harness.errors import HostError, LaunchError
from harness.launch.commands import CommandFailedError
from harness.trial.ending import Ending
from tests.unit.harness.commands.conftest import execute


class Answering:
    """Stands in for the judge; `error` is raised instead of an answer."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked: list[object] = []

    def answered(self, trial, wanted, look, **known):
        self.asked.append(wanted)
        if self.error is not None:
            raise self.error
        return "the answer"

    def write_answer(self, answer, out, **how):
        out.write(f"{answer}\n")


@pytest.fixture
def judge(monkeypatch):
    stand_in = Answering()
    place = "analysis.commands.compared"
    monkeypatch.setattr(f"{place}.answered", stand_in.answered)
    monkeypatch.setattr(f"{place}.write_answer", stand_in.write_answer)
    return stand_in


@pytest.fixture
def compare(monkeypatch, tmp_path, judge):
    def execute(*words, status: TrialStatus = "complete", failed=0, out=None, error=None):
        ending = Ending(
            trial=tmp_path, status=status, reason=None, done=4, planned=4, failed=failed
        )

        def measure(campaign, sitting, options, watcher):
            if error is not None:
                raise error
            return SimpleNamespace(ending=ending, look=None, measured_s=1.0)

        monkeypatch.setattr("harness.trial.sitting.measure", measure)
        monkeypatch.chdir(tmp_path)
        out, err = out or io.StringIO(), io.StringIO()
        code = main(["compare", *(words or ("true", "true"))], out, err)
        return code, out.getvalue(), err.getvalue()

    return execute


def test_standard_output_holds_the_answer_alone(compare, judge):
    code, said, seen = compare()
    assert (code, said) == (0, "the answer\n")
    assert seen.startswith(
        "comparing 2 commands, at most about 20 s (Ctrl-C keeps what is there)\n"
    )
    (wanted,) = judge.asked
    assert [one.variant for one in wanted] == ["true", "true-2"]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("true",), "measuring 1 command, at most about 10 s (Ctrl-C keeps what is there)"),
        (("--for", "5m", "true", "true"), "comparing 2 commands, at most about 5 min (Ctrl-C"),
        # seen: 150 s were "about 2 min"
        (("--for", "150s", "true"), "measuring 1 command, at most about 2 min 30 s (Ctrl-C"),
        (("-r", "12", "true", "true"), "comparing 2 commands, 12 runs each (Ctrl-C"),
        (("--sessions", "3", "true", "true"), "comparing 2 commands, 3 sessions (Ctrl-C"),
        (("-L", "x", "1,2,3,4", "true {x}"), "comparing 4 commands, at most about 40 s (Ctrl-C"),
    ],
)
def test_the_first_line_says_what_and_for_how_long(compare, words, first):
    assert compare(*words)[2].startswith(first)


def test_quiet_says_nothing_beside_the_answer(compare):
    assert compare("-q", "-N", "--style", "full", "true", "true") == (0, "the answer\n", "")


def test_failed_runs_and_an_interruption_keep_their_exit_codes(compare):
    assert compare(failed=1)[:2] == (1, "the answer\n")
    assert compare(status="interrupted")[:2] == (130, "the answer\n")


def test_what_the_judge_cannot_say_is_said_and_the_larger_code_counts(compare, judge):
    judge.error = InsufficientDataError("two runs are needed", n=1, needed=2)
    for status, failed, expected in (("complete", 0, 6), ("complete", 2, 6)):
        code, said, complaint = compare(status=status, failed=failed)
        assert (code, said) == (expected, "")
        assert complaint.count("fairtrial: two runs are needed") == 1


def test_an_interruption_before_anything_is_known_keeps_what_is_there(compare, judge, tmp_path):
    judge.error = InsufficientDataError("two runs are needed", n=1, needed=2)
    code, said, complaint = compare(status="interrupted")
    assert (code, said) == (130, "")
    assert "stopped by you after 4 runs, before anything could be said; all are kept" in complaint
    words = " ".join(complaint.replace("\\", "").split())
    assert words.endswith(f"next fairtrial compare --resume {tmp_path} goes on")


def test_a_reader_who_has_gone_changes_no_exit_code(compare):
    class Gone(io.StringIO):
        def fileno(self):
            raise OSError

        def write(self, text=""):
            raise BrokenPipeError

        flush = write

    assert compare(failed=1, out=Gone())[0] == 1


def test_a_host_that_is_busy_is_told_by_the_option(compare):
    error = HostError(
        "another trial measures on CPU 1", "isolation.cpus", "name other CPUs under isolation.cpus"
    )
    code, _, complaint = compare(error=error)
    assert code == 3
    assert "--cpus: another trial measures" in complaint
    assert "isolation" not in complaint


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-q",), "there is no command to measure"),
        (("--resume", "runs/x", "true"), "there is none to name"),
        (("--resume=runs/x", "true"), "there is none to name"),
        (("--resume", "--margin", "3%"), "--margin is chosen when a comparison begins"),
        # seen: each of these was taken, and did nothing
        (("--resume", "--timeout", "3"), "--timeout is chosen when a comparison begins"),
        (("--resume", "-L", "n", "1,2"), "--parameter-list is chosen when a comparison begins"),
        (("true", "-n", "a", "-n", "b"), "2 names for 1 command fix"),
        (("--resume", "-N"), "--no-shell is chosen when a comparison begins"),
        (("--resume", "--seed", "7"), "--seed is chosen when a comparison begins"),
        (("--try", "true", "--seed", "7"), "once, without --seed"),
        (("--try", "true", "--dir", "x"), "once, without --dir"),
        (("--try", "true", "--share"), "once, without --share"),
        (("--try", "true", "--wait-for-lock"), "once, without --wait-for-lock"),
        (("--try", "true", "false"), "--try executes one command once, without further commands"),
        (("--try", "true {n}", "-L", "n", "1,2"), "once, without --parameter-list"),  # a crash
        (("--try", "true", "--for", "5s"), "once, without --for fix"),
        (("--try", "sleep 9", "--timeout", "0.1"), "once, without --timeout"),
        (("--try", "true", "--json"), "once, without --json"),
        (("--for", "soon", "true"), "90s"),
        (("-r", "3", "--for", "5s", "true"), "--runs and --for cannot be combined"),
    ],
)
def test_what_contradicts_itself_is_refused(compare, words, says):
    code, said, complaint = compare(*words)
    assert (code, said) == (2, "")
    assert says in re.sub(r"\s+", " ", complaint)


def test_an_attempt_shows_what_a_command_prints(compare, judge, capfd, tmp_path):
    assert compare("--try", "sh -c 'echo out; echo err >&2; exit 3'")[:2] == (1, "")
    shown = capfd.readouterr()
    assert (shown.out, shown.err.splitlines()[0]) == ("out\n", "err")
    assert compare("--try", "sh -c 'exit 3'", "--exit", "3")[0] == 0
    code, _, complaint = compare("--output", str(tmp_path / "no" / "f"), "true")
    assert (code, "fix: make its folder" in complaint) == (4, True)  # there was no fix
    (tmp_path / "script").write_text("# no interpreter\n")
    (tmp_path / "script").chmod(0o755)
    code, said, complaint = compare("--try", "./script")  # a crash
    assert (code, said, "#!" in complaint) == (4, "", True)
    assert judge.asked == []


def test_a_hook_that_fails_is_told_by_what_was_typed(compare, tmp_path):
    # seen: a temporary campaign.yaml, line 15, and a line for a shell
    error = CommandFailedError(
        "hook 'setup' failed with exit code 1: make data",
        "--setup",
        "read LOG; if it needs more time, raise hooks.timeout",
    )
    code, _, complaint = compare(error=error)
    assert code == 4
    assert (
        "--setup: hook 'setup' failed with exit code 1: make data\n  fix: read LOG\n" in complaint
    )


# --- Every remedy that is printed with YAML or a command in it is tried here: it loads, or it works
#
# First use: "build: [[gcc, {flags}, ...]]" was proposed and is no YAML; --shell and env were not named
# where they help; messages of 'compare' pointed into a file that the user never wrote.


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
def remedies_compare(tmp_path, monkeypatch, compare_options):
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
def test_a_command_that_fails_names_what_helps_and_it_helps(remedies_compare, command, named):
    with pytest.raises(LaunchError) as caught:
        remedies_compare(command)
    error = caught.value
    assert command in str(error)  # what was typed, not a file that nobody wrote
    assert named in error.fix
    if named == "--shell":
        remedies_compare(command, shell="")
    elif named == "env":
        (proposal,) = re.findall(r"write ('.*'), or", error.fix)
        remedies_compare(*shlex.split(proposal))
    else:
        code = re.search(r"--exit (\d+)", error.fix)[1]
        remedies_compare(command, exit=(int(code),))


NEED_A_SHELL = (
    "sleep 0; true",
    "cat f > /dev/null",
    "ls *",
    "cat $HOME/f || true",
    "LC_ALL=C sort f",
    "sleep 0 # nothing",
    "sort ~/f",
    "! grep a f",
    "(sort f)",
    "for k in a b",
)
NEED_NONE = (
    "gzip -6 -c data",
    "grep 'a|b;c > $d *' f",
    'grep "a > b; c *" f',
    r"find . -name \*.c",
    "x&y",
    "find . ! -name f",
    "cut -d# -f1 a~",
    "grep '# f' '~'",
)


@pytest.mark.parametrize("command", [*NEED_A_SHELL, *NEED_NONE])
def test_a_command_that_needs_a_shell_shows_it_and_no_other(command):
    assert (shell_sign(command) is not None) is (command in NEED_A_SHELL)


@pytest.mark.parametrize(
    "options", [{"name": ("a", "a")}, {"counters": "no such event"}, {"cpus": "3-2"}]
)
def test_no_message_names_a_file_that_nobody_wrote(remedies_compare, tmp_path, options):
    commands = ("true", "true")[: len(options.get("name", ("a",)))]
    with pytest.raises(UsageError) as caught:
        remedies_compare(*commands, **options)
    assert str(tmp_path / "place") not in str(caught.value)


def test_a_program_that_goes_away_is_named_by_what_was_typed(remedies_compare):
    campaign = remedies_compare("cat 'f'")
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


def test_a_program_that_may_not_be_executed_is_mended_as_proposed(remedies_compare, tmp_path):
    path = tmp_path / "my tool"
    path.write_text("#!/bin/sh\n")
    with pytest.raises(FairtrialError) as caught:
        remedies_compare("'./my tool'")
    command, mode, name = shlex.split(caught.value.fix)
    assert (command, mode) == ("chmod", "+x")
    assert path.samefile(name)
    path.chmod(path.stat().st_mode | 0o111)
    remedies_compare("'./my tool'")
