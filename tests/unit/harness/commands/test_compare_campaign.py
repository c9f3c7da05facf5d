from __future__ import annotations

import os

import pytest

from analysis.errors import UsageError
from harness.campaign.identity import identity_of
from harness.commands.compare_campaign import campaign_of, runs_for
from harness.errors import CampaignError, LaunchError


@pytest.fixture
def make(tmp_path, compare_options):
    def make_one(*commands, **options):
        given = {"runs": 2, "cpus": "none", **options}
        place = tmp_path / "place"
        place.mkdir(exist_ok=True)
        return campaign_of(compare_options(*commands, **given), tmp_path, place)

    return make_one


def test_commands_become_variants_of_one_benchmark(make, tmp_path):
    campaign = make("true", "sleep 0")
    assert (campaign.benchmarks, campaign.variants) == (("command",), ("true", "sleep-0"))
    assert campaign.baseline == "true"
    assert [cell.command.argv for cell in campaign.cells] == [("true",), ("sleep", "0")]
    assert all(cell.cwd == tmp_path for cell in campaign.cells)
    assert campaign.notes == ()


def test_defaults_are_those_of_a_careful_person(make):
    campaign = make("true", "false")
    assert (campaign.protocol.sessions, campaign.protocol.warmup) == (6, 1)
    assert campaign.protocol.order in {"shuffled", "interleaved"}
    assert campaign.cells[0].stdout == "discard"
    assert campaign.isolation.padding == "random"


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
    assert make("a | b {x}", shell=True).cells[0].command.argv == ("/bin/sh", "-c", "a | b {x}")


def test_names_are_made_from_commands_and_unique(make, monkeypatch):
    monkeypatch.setattr("harness.commands.compare_campaign.resolve", lambda *words: None)
    campaign = make("gzip -6 -c data", "gzip -6 -c data", "./gzip", "***", "###")
    assert len(set(campaign.variants)) == 5
    assert campaign.variants[0] == "gzip-6-c-data"
    assert campaign.variants[1] == "gzip-6-c-data-2"


def test_names_can_be_given(make):
    assert make("true", "false", name=("old", "new")).variants == ("old", "new")
    with pytest.raises(UsageError, match="1 names for 2 commands"):
        make("true", "false", name=("old",))


def test_name_that_does_not_fit_is_refused(make):
    with pytest.raises((UsageError, CampaignError)):
        make("true", "false", name=("a b", "c"))


def test_name_given_twice_is_refused(make):
    with pytest.raises((UsageError, CampaignError)):
        make("true", "false", name=("same", "same"))


@pytest.mark.parametrize(("command", "says"), [("", "empty"), ("  ", "empty"), ("a 'b", "split")])
def test_commands_that_are_none_are_refused(make, command, says):
    with pytest.raises(UsageError, match=says):
        make("true", command)


def test_options_reach_the_campaign(make, tmp_path):
    (tmp_path / "input").touch()
    campaign = make(
        "true",
        "false",
        sessions=5,
        warmup=0,
        timeout=2.5,
        stdin=tmp_path / "input",
        prepare="rm -f {x}",
        exit=(0, 1),
        seed=99,
        cpus="0",
    )
    assert (campaign.protocol.sessions, campaign.protocol.warmup) == (5, 0)
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
    from harness.campaign.load import load_campaign

    campaign = make("printf '%s' '{a}'", "true")
    path = tmp_path / "a" / "trial" / "campaign.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes(campaign.text)
    again = load_campaign(path)
    assert again.cells[0].command.argv == campaign.cells[0].command.argv
    assert identity_of(again) == identity_of(campaign)


def test_runs_are_chosen_by_trying(make):
    protocol = make("true", "true", runs=None).protocol
    assert (protocol.sessions, protocol.runs) == (6, 25)  # 150 a command; far more would fit
    assert protocol.warmup_sessions == "all"
    assert make("true", runs=None, sessions=200).protocol.runs == 1


def test_commands_that_take_long_are_warmed_up_in_the_first_session_only(make):
    protocol = make("true", "sleep 0.6", runs=None).protocol
    assert (protocol.warmup, protocol.warmup_sessions) == (1, "first")
    assert protocol.runs == 2
    assert protocol.passes(6) == 6 * 2 + 1
    assert make("true", "sleep 0.6", runs=None, warmup=0).protocol.warmup == 0
    said = make("true", "sleep 0.6", runs=None, warmup=3).protocol
    assert (said.warmup, said.warmup_sessions) == (3, "all")
    assert make("true", "sleep 0.6").protocol.warmup_sessions == "all"  # nobody tried


@pytest.mark.parametrize(
    ("seconds", "runs", "whole_s"), [(0.01, 25, 3.2), (0.1, 8, 10.8), (0.5, 2, 18), (2.0, 2, 52)]
)
def test_how_long_a_comparison_of_two_takes(seconds, runs, whole_s):
    # runs and warm-ups alone; two tries of 2 s commands take 4 s more
    assert runs_for(seconds, 6) == runs
    warmups = 1 if seconds > 0.5 else 6
    assert 2 * seconds * (6 * runs + warmups) == pytest.approx(whole_s, rel=0.05)


def test_command_that_fails_when_tried_is_refused_with_what_it_said(make):
    with pytest.raises(LaunchError, match="exit code 3") as caught:
        make("true", "sh -c 'echo said so >&2; exit 3'", runs=None)
    assert "said so" in str(caught.value)
    assert "--exit" in str(caught.value)


def test_failure_that_is_expected_is_none(make):
    assert make("false", runs=None, exit=(1,)).protocol.runs == 25


def test_missing_command_is_refused_when_tried(make):
    with pytest.raises(LaunchError, match="not found"):
        make("true", "no-such-command-here", runs=None)


def test_command_that_outlasts_its_timeout_is_refused(make):
    with pytest.raises(LaunchError, match=r"ended after 0.1 s"):
        make("sleep 1000", runs=None, timeout=0.1)


@pytest.mark.parametrize("runs", [2, None])
def test_argument_that_is_not_utf8_is_refused_by_name(make, runs):
    with pytest.raises(UsageError, match="argument is not UTF-8") as caught:
        make("true", "echo caf\udce9", runs=runs)
    assert caught.value.where == "echo caf\\xe9"
    str(caught.value).encode("utf-8")
    with pytest.raises(UsageError, match="--prepare is not UTF-8"):
        make("true", prepare="rm caf\udce9", runs=runs)


def test_folder_that_is_not_utf8_is_refused_by_name(compare_options, tmp_path):
    folder = tmp_path / "caf\udce9"
    with pytest.raises(UsageError, match="folder is not UTF-8") as caught:
        campaign_of(compare_options("true", runs=2, cpus="none"), folder, tmp_path)
    assert caught.value.where.endswith("caf\\xe9")


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
