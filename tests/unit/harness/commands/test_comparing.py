from __future__ import annotations

import argparse
import math
import os
import shlex
import sys
from pathlib import Path

import pytest

from analysis.errors import UsageError
from harness.campaign.schema import identity_of
from harness.commands.comparing import (
    NOTICED,
    _typed,
    again_words,
    campaign_of,
    manner_of,
    shell_notes,
    try_commands,
    unread_input,
)
from harness.commands.options import duration, margin, remarks, wanted_commands
from harness.errors import LaunchError
from harness.host.activity import Host


@pytest.fixture
def make(tmp_path, compare_options):
    def make_one(*commands, runs_a_session=2, **options):
        args = compare_options(*commands, **{"cpus": "none", **options})
        wanted = wanted_commands(args)
        place = tmp_path / "place"
        place.mkdir(exist_ok=True)
        manner = manner_of(args, wanted, tmp_path)
        return campaign_of(args, wanted, manner, place, runs=runs_a_session)

    return make_one


@pytest.fixture
def tried(tmp_path, compare_options):
    def try_them(*commands, **options):
        args = compare_options(*commands, **{"cpus": "none", **options})
        wanted = wanted_commands(args)
        return try_commands(wanted, manner_of(args, wanted, tmp_path))

    return try_them


def test_commands_become_variants_of_one_benchmark(make, tmp_path):
    campaign = make("true", "sleep 0")
    assert (campaign.benchmarks, campaign.variants) == (("command",), ("true", "sleep-0"))
    assert campaign.baseline == "true"
    assert [cell.command.argv for cell in campaign.cells] == [("true",), ("sleep", "0")]
    assert all(cell.cwd == tmp_path for cell in campaign.cells)


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("printf '%s\\n' 'a b'", ("printf", "%s\\n", "a b")),
        ("awk '{print $1}'", ("awk", "{print $1}")),
        ("echo {variant} {{x}}", ("echo", "{variant}", "{{x}}")),
        ("echo ä ☃ 'tab\there'", ("echo", "ä", "☃", "tab\there")),
        ("echo 'quote\"s' \\\\ '#no' ': x'", ("echo", 'quote"s', "\\", "#no", ": x")),
        ("echo null true 1_000 1e5 -", ("echo", "null", "true", "1_000", "1e5", "-")),
    ],
)
def test_arguments_arrive_as_they_were_written(make, command, argv):
    assert make(command).cells[0].command.argv == argv


def test_shell_is_asked_for_by_name(make):
    assert make("a | b {x}", shell="").cells[0].command.argv == ("/bin/sh", "-c", "a | b {x}")


@pytest.mark.parametrize(("command", "says"), [("", "empty"), ("  ", "empty"), ("a 'b", "split")])
def test_commands_that_are_none_are_refused(make, command, says):
    with pytest.raises(UsageError, match=says):
        make("true", command)


def test_options_reach_the_campaign(make, tmp_path):
    (tmp_path / "input").touch()
    about = {"timeout": 2.5, "stdin": tmp_path / "input", "prepare": "rm -f {x}", "exit": (0, 1)}
    campaign = make("true", "false", **about, seed=99, cpus="0")
    assert campaign.seed == 99
    assert campaign.isolation.cpus == (0,)
    cell = campaign.cells[0]
    assert (cell.timeout_s, cell.stdin) == (2.5, tmp_path / "input")
    assert cell.expect.exit_codes == (0, 1)
    assert [hook.argv for hook in cell.before] == [
        ("/bin/sh", "-c", f"cd {tmp_path} || exit\nrm -f {{x}}")
    ]


@pytest.mark.parametrize("cpus", ["2,3", "1"])
def test_lists_of_cpus_are_understood(make, cpus):
    assert make("true", cpus=cpus).isolation.cpus == tuple(map(int, cpus.split(",")))


def test_cpus_that_are_none_are_refused(make):
    with pytest.raises(UsageError, match="names no CPUs"):
        make("true", cpus="0, nice: 5")


def test_campaign_is_kept_as_a_text_that_can_be_loaded_again(make, tmp_path):
    from harness.campaign.resolve import load_campaign

    campaign = make("printf '%s' '{a}'", "true")
    path = tmp_path / "a" / "trial" / "campaign.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes(campaign.text)
    again = load_campaign(path)
    assert again.cells[0].command.argv == campaign.cells[0].command.argv
    assert identity_of(again) == identity_of(campaign)


@pytest.mark.parametrize(
    ("option", "value", "where"),
    [
        *(("timeout", s, "--timeout") for s in (1e-5, 0.0, -1.0, math.nan, math.inf, 1_000_000.5)),
        *(("exit", (0, 300), "--exit"), ("exit", (-1,), "--exit")),
        *(("seed", -1, "--seed"), ("seed", 2**63, "--seed")),
    ],
)
def test_option_out_of_bounds_is_refused_by_its_own_name(make, option, value, where):
    with pytest.raises(UsageError) as caught:
        make("true", **{option: value})
    assert caught.value.where == where


@pytest.mark.parametrize("seconds", [0.001, 0.1, 60.0, 86_400.25, 1_000_000.0, 1_234.567])
def test_timeout_is_not_rounded(make, seconds):
    assert make("true", timeout=seconds).cells[0].timeout_s == seconds


def test_stdin_that_would_block_is_refused(make, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(LaunchError, match="neither a regular file"):
        make("cat", stdin=tmp_path / "fifo")


def test_defaults_are_those_of_a_sitting(make):
    campaign = make("true", "false", runs_a_session=7)
    protocol = campaign.protocol
    assert (protocol.runs, protocol.warmup, protocol.order) == (7, 0, "drawn-start")
    assert campaign.isolation.padding == "random"


def test_warm_ups_that_are_asked_for_come_once(make):
    protocol = make("true", warmup=3).protocol
    assert (protocol.warmup, protocol.warmup_sessions) == (3, "first")


def test_the_description_is_the_command_line_that_measures_the_same(make, compare_line):
    options = {"exit": (3,), "prepare": "make x", "cpus": "none", "shell": "sh"}
    campaign = make("a | b 'c d'", "-x", name=("one two", "-b"), **options)
    words = shlex.split(campaign.description)
    assert words[:2] == ["fairtrial", "compare"]
    args = compare_line(*words[2:])
    assert args.commands == ["a | b 'c d'", "-x"]
    assert args.name == ["one two", "-b"]
    names = [one.name for one in _typed(campaign.description, 2)]
    assert names == args.name
    assert (args.exit, args.prepare, args.shell) == ([3], ["make x"], ["sh"])
    assert list(again_words(args, wanted_commands(args))) == words[2:]


def test_hooks_are_named_by_their_options(make):
    hooks = make("true", setup="a", cleanup="b").hooks
    assert [one.mark for one in (*hooks.setup, *hooks.cleanup)] == ["--setup", "--cleanup"]


def test_a_parameter_fills_what_prepares_each_run(make):
    campaign = make("cat {file}", prepare="touch {file} {x}", parameter_list=[["file", "a,b"]])
    lines = [cell.before[0].argv[-1].splitlines()[-1] for cell in campaign.cells]
    assert lines == ["touch a {x}", "touch b {x}"]
    with pytest.raises(UsageError, match="executed for all commands"):
        make("cat {file}", setup="touch {file}", parameter_list=[["file", "a,b"]])


def test_setup_and_cleanup_are_hooks_of_sessions(make, tmp_path):
    hooks = make("true", setup="make all", cleanup="make clean").hooks
    assert hooks.setup[0].argv == ("/bin/sh", "-c", f"cd {tmp_path} || exit\nmake all")
    assert hooks.cleanup[0].argv[-1].endswith("make clean")


def test_every_exit_code_counts_with_i(make):
    assert set(make("false", ignore_failure=True).cells[0].expect.exit_codes) == set(range(256))


def test_counters_are_those_of_a_campaign(make):
    assert make("true", counters="").counters.events[0].name == "instructions"
    events = make("true", counters="cycles, page-faults").counters.events
    assert [one.name for one in events] == ["cycles", "page-faults"]


def test_each_command_is_tried(tried):
    (short, *_), (long, *_) = tried("true", "sleep 0.05")
    assert short > 0
    assert long >= 0.05  # no load makes it shorter


def test_command_that_fails_when_tried_is_refused_with_what_it_said(tried):
    with pytest.raises(LaunchError) as caught:
        tried("true", "sh -c 'echo said so >&2; exit 3'")
    assert str(caught.value) == (
        "\"sh -c 'echo said so >&2; exit 3'\" ends with exit code 3; nothing measured\n"
        "    said so\n"
        "  fix: correct it, or count such runs: -i (or only this code: --exit 3)"
    )


@pytest.mark.parametrize("options", [{"exit": (1,)}, {"ignore_failure": True}])
def test_failure_that_is_expected_is_none(tried, options):
    assert len(tried("false", **options)) == 1


def test_the_try_counts_threads(tried, tmp_path, monkeypatch):
    # authority: /proc/PID/status; pinned to one CPU threads would wait for each other
    counted = Host.thread_count

    def count(host, pid):
        found = counted(host, pid)
        if found == 3:
            (tmp_path / "counted").touch()  # until then they stay
        return found

    monkeypatch.setattr(Host, "thread_count", count)
    work = f'[time.sleep(.01) for _ in iter(lambda: os.path.exists("{tmp_path}/counted"), True)]'
    start = f"[threading.Thread(target=lambda: {work}).start() for _ in range(2)]"
    code = f"import os, threading, time; {start}"
    alone, threaded = tried("sleep 0.1", f"{sys.executable} -c '{code}'")
    assert (alone.threads, threaded.threads) == (1, 3)


def test_two_commands_take_turns_and_more_are_shuffled(make):
    assert make("true", "false").protocol.order == "drawn-start"
    assert make("true", "false", "sleep 0").protocol.order == "shuffled"


@pytest.mark.parametrize("word", ["no-such-command-here", "source", "[[", "~/x"])
def test_missing_command_is_refused_before_it_is_tried(make, word):
    with pytest.raises(LaunchError, match="not found") as caught:
        make("true", f"{word} f")
    assert ("add --shell" in caught.value.fix) is (word != "no-such-command-here")


def test_command_that_outlasts_its_timeout_is_refused(tried):
    with pytest.raises(LaunchError, match=r"ended after 0.1 s"):
        tried("sleep 1000", timeout=0.1)


def test_what_prepares_is_executed_before_a_try(tried, tmp_path):
    assert tried(f"cat {tmp_path}/made", prepare=f"date > {tmp_path}/made")
    with pytest.raises(LaunchError, match="ends with exit code 7") as caught:
        tried("true", prepare="exit 7")
    assert caught.value.where == "--prepare"


def test_what_only_a_shell_understands_is_noted(tmp_path, compare_options):
    args = compare_options("echo $HOME", "true", cpus="none")
    wanted = wanted_commands(args)
    (note,) = shell_notes(wanted)
    assert "'$H'" in note
    assert "--shell" in note


def test_argument_that_is_not_utf8_is_refused_by_name(make):
    with pytest.raises(UsageError, match="argument is not UTF-8") as caught:
        make("true", "echo caf\udce9")
    assert caught.value.where == "echo caf\\xe9"
    str(caught.value).encode("utf-8")
    for name in ("prepare", "output", "counters"):
        with pytest.raises(UsageError, match=f"--{name} is not UTF-8"):
            make("true", **{name: "rm caf\udce9"})
    with pytest.raises(UsageError, match="the shell cannot be split"):
        make("true", shell="sh \\")


def test_folder_that_is_not_utf8_is_refused_by_name(compare_options, tmp_path):
    args = compare_options("true", cpus="none")
    with pytest.raises(UsageError, match="folder is not UTF-8") as caught:
        manner_of(args, wanted_commands(args), tmp_path / "caf\udce9")
    assert caught.value.where.endswith("caf\\xe9")


def test_options_given_once_for_each_command_belong_to_each(make, tmp_path, compare_line):
    # authority: hyperfine(1), --prepare, --shell and --input "once for each command"
    for name in "xy":
        (tmp_path / name).touch()
    words = ["-p", "make {a}", "-p", "make 'b c'", "-S", "sh", "-S", "none"]
    words += ["--stdin", str(tmp_path / "x"), "--stdin", str(tmp_path / "y"), "cat -", "tac -"]
    args = compare_line(*words)
    given = {name: getattr(args, name) for name in ("shell", "stdin")}
    campaign = make(*args.commands, **given, prepare=args.prepare)
    cells = campaign.cells
    assert [cell.before[0].argv[-1].splitlines()[-1] for cell in cells] == args.prepare
    assert [cell.stdin for cell in cells] == args.stdin
    assert [cell.command.argv for cell in cells] == [("sh", "-c", "cat -"), ("tac", "-")]
    again = compare_line(*shlex.split(campaign.description)[2:])
    assert [getattr(again, name) for name in ("prepare", "stdin", "shell")] == [
        args.prepare,
        args.stdin,
        args.shell,
    ]


@pytest.mark.parametrize(
    ("output", "sink"), [(None, "discard"), ("null", "discard"), ("pipe", "pipe"), ("f", "f")]
)
def test_the_output_goes_where_it_was_asked_for(make, tmp_path, monkeypatch, output, sink):
    monkeypatch.chdir(tmp_path)
    expected = str(tmp_path / "f") if sink == "f" else sink
    assert make("true", output=output).cells[0].stdout == expected


@pytest.mark.parametrize(("prints", "factor"), [("echo x; ", 30), ("", 1)])
def test_a_command_that_skips_its_work_at_dev_null_is_noticed(tried, prints, factor):
    # authority: GNU grep, tar and cmp, which look whether their output is /dev/null
    looks = '[ "$(readlink /proc/$$/fd/1)" = /dev/null ] || sleep 0.1'
    (found,) = tried(f"{prints}{looks}", shell="sh")
    assert (found.factor > NOTICED) == (factor > 1)


def test_what_is_piped_and_read_by_nobody_is_said(tmp_path):
    reader, writer = os.pipe()
    with os.fdopen(reader) as stream:
        assert not unread_input(stream)
        os.write(writer, b"x")
        assert unread_input(stream)
    os.close(writer)
    with Path(os.devnull).open() as stream:
        assert not unread_input(stream)


# --- Options of `compare`: those of hyperfine mean the same or are answered; none eats a command


@pytest.mark.parametrize(
    ("words", "shell"),
    [
        *((("--shell",), "/bin/sh"), (("--shell=bash",), "bash"), (("-S", "bash"), "bash")),
        *((words, None) for words in ((), ("--shell=none",), ("-S", "none"), ("-N",))),
    ],
)
def test_a_shell_is_asked_for_by_name_or_by_a_flag_that_eats_no_command(compare_line, words, shell):
    # the flag stands before commands in the first examples: it may not take one
    args = compare_line(*words, "sort f | uniq", "sort -u f")
    assert args.commands == ["sort f | uniq", "sort -u f"]
    assert [one.shell for one in wanted_commands(args)] == [shell] * 2


@pytest.mark.parametrize("option", ["--wait-for-lock", "--counters"])
def test_options_whose_value_stands_behind_equals_eat_no_command(compare_line, option):
    assert compare_line(option, "true", "false").commands == ["true", "false"]


def test_hyperfines_short_options(compare_line):
    words = "-w 3 -r 10 -i -p prep -s setup -c clean -n a -u ms -N -L x 1,2"
    args = compare_line(*words.split(), "do {x}")
    assert (args.warmup, args.runs, args.ignore_failure, args.time_unit) == (3, 10, True, "ms")
    assert (args.prepare, args.setup, args.cleanup) == (["prep"], "setup", "clean")
    assert args.name == ["a"]
    words = "-m 5 -M 50 -S zsh -P x 1 3 -D 1"
    args = compare_line(*words.split(), "do {x}")
    assert (args.min_runs, args.max_runs, args.shell) == (5, 50, ["zsh"])
    assert args.parameter_step_size == "1"
    long = "--warmup 1 --runs 2 --min-runs 1 --max-runs 3 --command-name n --input f -i"
    assert compare_line(*long.split(), "true").name == ["n"]


def test_what_has_nothing_to_do_is_said(compare_line):
    words = ("--style", "full", "--sort", "command", "-N", "true")
    assert list(remarks(compare_line(*words))) == [
        "-N: no shell is started anyway",
        "--style: not needed; -q prints the answer only",
        "--sort: not needed; commands stand as they were typed",
    ]
    assert list(remarks(compare_line("true"))) == []


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--export-orgmode=f", "--export-markdown FILE"),
        ("--export-asciidoc=f", "--export-markdown FILE"),
        ("--show-output", "fairtrial compare --try COMMAND"),
        ("--reference=x", "--baseline"),
        ("--marign", "did you mean --margin?"),
    ],
)
def test_what_is_not_here_is_answered(compare_line, option, says):
    with pytest.raises(UsageError) as caught:
        compare_line(option, "true")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("1h", 3600), ("500ms", 0.5), ("20", 20)]
)
def test_times(text, seconds):
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "-1", "0", "nan", "soon", "1e9"])
def test_what_is_no_time(text):
    with pytest.raises(argparse.ArgumentTypeError, match="90s"):
        duration(text)


@pytest.mark.parametrize(("text", "share"), [("3%", 0.03), ("3 %", 0.03), ("0.03", 0.03)])
def test_margins(text, share):
    assert margin(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["3", "0", "-1%", "60%", "x"])
def test_what_is_no_margin(text):
    with pytest.raises(argparse.ArgumentTypeError, match="3%"):
        margin(text)


# --- Commands of a command line: parameters filled in as hyperfine does, names, the baseline first


@pytest.fixture
def wanted(compare_line):
    def read(*words):
        return [(one.command, one.name) for one in wanted_commands(compare_line(*words))]

    return read


def test_commands_stand_as_they_were_typed(wanted):
    assert wanted("gzip -6 f", "gzip -1 f") == [("gzip -6 f", None), ("gzip -1 f", None)]


def test_a_list_of_values_fills_the_command_and_names_it(wanted):
    assert wanted("-L", "level", "1,6,9", "gzip -{level} f") == [
        ("gzip -1 f", "level=1"),
        ("gzip -6 f", "level=6"),
        ("gzip -9 f", "level=9"),
    ]


def test_two_lists_give_all_combinations_the_last_changing_first(wanted):
    found = wanted("-L", "a", "x,y", "-L", "b", "1,2", "do {a} {b}")
    assert [command for command, _ in found] == ["do x 1", "do x 2", "do y 1", "do y 2"]
    assert found[1][1] == "a=x b=2"


def test_a_comma_behind_a_backslash_is_none(wanted):
    assert [command for command, _ in wanted("-L", "x", r"a\,b,c", "do {x}")] == ["do a,b", "do c"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-P", "n", "1", "3"), ["1", "2", "3"]),
        (("-P", "n", "1", "8", "-D", "3"), ["1", "4", "7"]),
        (("-P", "n", "0.1", "0.5", "-D", "0.2"), ["0.1", "0.3", "0.5"]),  # exact decimals
        (("-P", "n", "5", "5"), ["5"]),
    ],
)
def test_a_scan_goes_by_steps(wanted, words, expected):
    assert [command for command, _ in wanted(*words, "do {n}")] == [f"do {n}" for n in expected]


def test_several_commands_with_parameters_are_named_by_themselves(wanted):
    assert wanted("-L", "n", "1,2", "a {n}", "b {n}")[1] == ("a 2", None)


def test_a_parameter_of_the_preparation_makes_commands(compare_line):
    # authority: hyperfine's own example, --prepare 'git checkout {branch}' 'make'
    words = ("-L", "branch", "x,y", "-p", "checkout {branch}", "make")
    found = wanted_commands(compare_line(*words))
    assert [(one.command, one.name, one.prepare) for one in found] == [
        ("make", "branch=x", "checkout x"),
        ("make", "branch=y", "checkout y"),
    ]
    several = wanted_commands(compare_line(*words, "make all"))
    assert several[3].name == "make all branch=y"


@pytest.mark.parametrize("baseline", ["gzip -6 f", "level=6"])
def test_the_baseline_comes_first_and_the_others_keep_their_order(wanted, baseline):
    found = wanted("-L", "level", "1,6,9", "--baseline", baseline, "gzip -{level} f")
    assert [name for _, name in found] == ["level=6", "level=1", "level=9"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-L", "level", "1,2", "gzip -1 f"), "no command has the parameter {level}"),
        (("-L", "n", "1,1", "do {n}"), "stands twice"),
        (("-L", "n", "1,2", "-P", "n", "1", "2", "do {n}"), "given twice"),
        (("-L", "1n", "1,2", "do {1n}"), "cannot be the name"),
        (("-P", "n", "1", "100", "do {n}"), "100 values, more than 50"),
        (("-L", "a", "1,2,3,4,5,6,7,8", "-L", "b", "1,2,3,4,5,6,7", "do {a} {b}"), "56 commands"),
        (("-P", "n", "3", "1", "do {n}"), "no value"),
        (("-P", "n", "1", "1e999999999", "do {n}"), "not a number of ordinary size"),
        (("-P", "n", "1", "2", "-D", "1e-999999", "do {n}"), "not a number of ordinary size"),
        (("-P", "n", "1", "3", "-D", "0", "do {n}"), "no value"),
        (("-P", "n", "one", "3", "do {n}"), "not a number"),
        (("-D", "2", "do"), "-P, which is missing"),
        (("--baseline", "c", "a", "b"), "no command is 'c'"),
        (("-p", "x", "-p", "y", "a", "b", "c"), "2 --prepare for 3 commands"),
        (("-S", "sh", "-S", "sh", "-S", "sh", "a", "b"), "3 -S for 2 commands"),
        (("--stdin", "x", "--stdin", "y", "a"), "2 --stdin for 1 command"),
        (("-n", "old", "a", "b"), "1 name for 2 commands"),
        (("-n", "x", "-n", "x", "a", "b"), "two commands are named 'x'"),
    ],
)
def test_what_does_not_fit_is_refused(wanted, words, says):
    with pytest.raises(UsageError) as caught:
        wanted(*words)
    assert says in str(caught.value)
    assert caught.value.fix


def test_variants_are_names_of_files_and_unique(compare_line):
    words = ("gzip -6 -c data", "gzip -6 -c data", "./gzip", "***", "###")
    found = [one.variant for one in wanted_commands(compare_line(*words))]
    assert found[:2] == ["gzip-6-c-data", "gzip-6-c-data-2"]
    assert len(set(found)) == 5
    named = wanted_commands(compare_line("-n", "old one", "-n", "new", "a", "b"))
    assert [(one.name, one.variant) for one in named] == [("old one", "old-one"), ("new", "new")]
