from __future__ import annotations

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
from harness.commands.options import wanted_commands
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
    campaign = make(
        "true",
        "false",
        timeout=2.5,
        stdin=tmp_path / "input",
        prepare="rm -f {x}",
        exit=(0, 1),
        seed=99,
        cpus="0",
    )
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
        ("timeout", 1e-5, "--timeout"),
        ("timeout", 0.0, "--timeout"),
        ("timeout", -1.0, "--timeout"),
        ("timeout", float("nan"), "--timeout"),
        ("timeout", float("inf"), "--timeout"),
        ("timeout", 1_000_000.5, "--timeout"),
        ("exit", (0, 300), "--exit"),
        ("exit", (-1,), "--exit"),
        ("seed", -1, "--seed"),
        ("seed", 2**63, "--seed"),
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


def test_missing_command_is_refused_before_it_is_tried(make):
    with pytest.raises(LaunchError, match="not found"):
        make("true", "no-such-command-here")


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
    with pytest.raises(UsageError, match="--prepare is not UTF-8"):
        make("true", prepare="rm caf\udce9")


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
