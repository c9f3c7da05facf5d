"""A profile of real programs: what is in it, what it leaves alone, and how it ends early (docs/why.md)."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from analysis.data.trial import read_trial
from analysis.record.profiles import JudgedThen, profiles_of, read_profile
from harness.campaign.cells import layout_seed
from harness.errors import HostError, LaunchError
from harness.launch.matching import Interrupted
from harness.trial.profiles import ProfileRequest, SessionProfiler, new_profile, record_profile

pytestmark = [pytest.mark.usefixtures("perf"), pytest.mark.host]

WAS = JudgedThen(outcome="slower", speedup=0.5, low=0.4, high=0.6, metric="wall")


def request(**changes):
    small = {"variant": "cand", "benchmarks": ("spin",), "frequency_hz": 9999}
    return ProfileRequest(**{**small, "sessions": 1, "timed": 1, "profiled": 1, **changes})


def recorded(tiny, listening, **changes):
    place = record_profile(tiny.campaign, tiny.trial, request(**changes), tiny.options, listening)
    return read_profile(place)


@pytest.mark.host_chance(0.01)  # two programs have more samples than one
def test_a_profile_holds_what_was_asked_and_the_trial_is_as_it_was(tiny, listening):
    before = tiny.state()
    found = recorded(
        tiny, listening, benchmarks=("spin", "child"), verdict_was={"spin": WAS}, sessions=2
    )
    assert tiny.state() == before
    profile = found.profile
    assert (profile.trial, profile.baseline, profile.variant) == ("tiny", "base", "cand")
    assert (profile.frequency_hz, profile.sessions, profile.chains) == (9999, 2, None)
    assert profile.verdict_was == {"spin": WAS}
    assert set(profile.programs) == {"spin/base", "spin/cand", "child/base", "child/cand"}
    assert profile.program_names["spin/cand"] == "cand"
    assert profile.runtimes == {}
    cells = {(one.session, one.benchmark, one.variant): one for one in found.cells}
    assert len(cells) == len(found.cells) == 8
    assert {one.runs for one in found.cells} == {1}
    # the program and all that it starts: two of them take more than one
    for session in (1, 2):
        for variant in ("base", "cand"):
            one, two = (cells[session, name, variant].samples for name in ("spin", "child"))
            assert 0 < one < two
    # nothing of perf or of what starts the programs
    objects = {function.object for one in found.cells for function in one.functions}
    assert not [name for name in objects if "python" in name or name == "perf"]
    timed = read_trial(found.timed)
    assert timed.manifest.variants == ("base", "cand")
    assert timed.manifest.sessions == 2
    assert sorted(path.name for path in profiles_of(tiny.trial).iterdir()) == ["cand"]
    there = sorted(path.name for path in (profiles_of(tiny.trial) / "cand").iterdir())
    assert there == ["profile.json", "samples.jsonl", "timed"]


HOOKS = """\
name: hooked
variants: {base: {}, cand: {}}
benchmarks:
  spin: {command: ["./{variant}"]}
hooks:
  setup: [[sh, -c, "echo setup $FAIRTRIAL_SESSION >> log"]]
  before:
    - [sh, -c, "echo before >> log"]
    - [awk, "BEGIN {{ for (i = 0; i < 300000; i++) x += i }}"]
  after: [[sh, -c, "echo after >> log"]]
  cleanup: [[sh, -c, "echo cleanup >> log"]]
protocol: {sessions: 1, runs: 1, warmup: 0}
isolation: {cpus: none}
checks: {probe: 0s}
"""


def test_hooks_stand_around_and_are_not_sampled_and_chains_end_where_it_counts(
    make_tiny, listening
):
    hooked = make_tiny(HOOKS)
    (hooked.folder / "log").unlink()
    found = recorded(hooked, listening, chains="fp")
    around = ["before", "after"] * 2
    said = (hooked.folder / "log").read_text().split("\n")[:-1]
    timed = 2 * len(around)  # with the warm-ups
    session, record = said[: timed + 2], said[timed + 2 :]
    assert session == ["setup 1", *around, *around, "cleanup"]
    assert record == ["setup 1", *around, "cleanup"]
    objects = {function.object for one in found.cells for function in one.functions}
    assert not [name for name in objects if "awk" in name]
    for cell in found.cells:
        assert sum(one.samples for one in cell.chains) == cell.samples > 0
        for number, function in enumerate(cell.functions):
            ends = sum(one.samples for one in cell.chains if one.frames[-1] == number)
            assert ends == function.samples


def maps(folder: Path) -> list[Path]:
    """Give where the programs, in their order, wrote maps."""
    pids = (folder / "pids").read_text().split()
    return [Path(f"/tmp/perf-{pid}.map") for pid in pids]


def test_maps_that_profiled_runs_wrote_are_removed_and_no_others(make_tiny, listening):
    tiny = make_tiny(program="echo > /tmp/perf-$$.map; echo $$ >> pids")
    try:
        recorded(tiny, listening)
        *others, one, two = maps(tiny.folder)
        assert len(others) == 9 + 4  # of the trial; timed, with its warm-ups
        assert not one.exists()
        assert not two.exists()
        assert all(path.exists() for path in others)
    finally:
        for path in maps(tiny.folder):
            path.unlink(missing_ok=True)


SESSIONS = """\
name: rebuilt
variants: {base: {}, cand: {}}
build:
  each: session
  run: [[sh, -c, "sed 's/^:.*/: {layout_seed}/' plain > {variant}.new; chmod +x {variant}.new; mv {variant}.new {variant}"]]
benchmarks: {spin: {command: ["./{variant}"]}}
protocol: {sessions: 2, runs: 1, warmup: 0}
isolation: {cpus: none}
checks: {probe: 0s}
"""


def test_what_each_session_builds_is_what_it_profiles(make_tiny, listening, monkeypatch):
    tiny = make_tiny(SESSIONS, prepare=lambda folder: (folder / "base").rename(folder / "plain"))
    profiled = []
    execute = SessionProfiler._execute

    def looking(self, context, session, data, errors):
        profiled.append((tiny.folder / "cand").read_text().splitlines()[2])
        return execute(self, context, session, data, errors)

    monkeypatch.setattr(SessionProfiler, "_execute", looking)
    found = recorded(tiny, listening, sessions=2)
    assert found.profile.programs == {}
    seeds = [layout_seed(1, session, "cand") for session in (1, 2)]
    assert profiled == [f": {seed}" for seed in seeds]
    assert [one.session for one in found.cells] == [1, 1, 2, 2]


def test_a_program_that_fails_is_told(make_tiny, listening):
    # the trial's runs, and the timed ones, have their rows
    tiny = make_tiny(program='[ -z "$NODE_OPTIONS" ]')
    before = tiny.state()
    with pytest.raises(LaunchError, match=r"no profiled run of spin / .* as it must: exit code 1"):
        recorded(tiny, listening)
    assert not profiles_of(tiny.trial).exists()
    assert tiny.state() == before


def test_a_perf_that_fails_under_way_is_quoted(tiny, listening, tmp_path, monkeypatch):
    perf = tmp_path / "bin" / "perf"
    perf.parent.mkdir()
    perf.write_text(
        "#!/bin/sh\n"
        "case $1 in version) echo perf version 6.8; exit;; evlist) echo cpu-clock; exit;; esac\n"
        'for last; do :; done; [ "$last" = true ] || { echo "failed to mmap with 1" >&2; exit 255; }\n'
    )
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{perf.parent}:{os.environ['PATH']}")
    before = tiny.state()
    with pytest.raises(HostError, match="perf did not start the programs: failed to mmap with 1"):
        recorded(tiny, listening)
    assert not profiles_of(tiny.trial).exists()
    assert tiny.state() == before


def recording_child(tiny, listening) -> int:
    """Record in a child process, which exits with 100 and the signal that stopped it; give its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        recorded(tiny, listening)
        code = 0
    except Interrupted as stop:
        code = 100 + stop.number
    finally:
        os._exit(code)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_it_the_trial_is_as_it_was(make_tiny, listening, number, processes, marker):
    tiny = make_tiny(program=f'[ -z "$NODE_OPTIONS" ] || sleep {marker}')
    before = tiny.state()
    child = recording_child(tiny, listening)
    try:
        processes.wait_until(lambda: processes.processes_with(marker))
    finally:
        os.kill(child, number)
        _, status = os.waitpid(child, 0)
    # neither the program nor perf, which has its file's name among its arguments
    for trace in (marker, f"{profiles_of(tiny.trial)}/"):
        processes.wait_until(lambda trace=trace: not processes.processes_with(trace))
    assert tiny.state() == before
    beside = profiles_of(tiny.trial)
    if number == signal.SIGINT:
        assert os.waitstatus_to_exitcode(status) == 100 + signal.SIGINT
        assert not beside.exists()
    else:
        assert [path.name for path in beside.iterdir()] == [".cand.part"]
        with new_profile(tiny.trial, "cand") as part:
            assert list(part.iterdir()) == []
