"""A measured trial of tiny programs, and who hears of what is recorded beside it."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import StoreError, UsageError
from analysis.record.manifest import manifest_text, read_manifest
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of
from harness.errors import HostError, LaunchError
from harness.host.activity import Host
from harness.trial import profiles as session_profile
from harness.trial.execution import Options, start
from harness.trial.profiles import (
    DEFAULT_HZ,
    DWARF_HZ,
    ProfileRequest,
    campaign_then,
    new_profile,
    record_profile,
    refuse_changed,
)

BUSY = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"
CAMPAIGN = """\
name: tiny
variants: {base: {}, cand: {}, other: {}}
benchmarks:
  spin: {command: ["./{variant}"]}
  child: {command: [sh, -c, "./{variant} & ./{variant}; wait"]}
protocol: {sessions: 1, runs: 1, warmup: 0}
isolation: {cpus: none}
checks: {probe: 0s}
"""


class Listening:
    """Keeps what it is told in words."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def __getattr__(self, name: str):
        return lambda *_given, **_named: None


class Tiny:
    """A campaign and its trial, in a folder."""

    def __init__(
        self,
        folder: Path,
        text: str = CAMPAIGN,
        program: str = "",
        prepare: Callable[[Path], object] = lambda _: None,
    ) -> None:
        self.folder, self.runs = folder, folder / "runs"
        self.file = folder / "tiny.yaml"
        self.file.write_text(text)
        for name in ("base", "cand", "other"):
            (folder / name).write_text(f"#!/bin/sh\n{BUSY}\n: {name}\n{program}\n")
            (folder / name).chmod(0o755)
        prepare(folder)
        self.trial = self.runs / "tiny"
        start(self.campaign, self.options, Listening())

    @property
    def campaign(self):
        return load_campaign(self.file)

    @property
    def options(self) -> Options:
        return Options(folder=self.runs, name="tiny")

    def state(self) -> dict[str, str]:
        """Give a digest of everything but the profiles, by its path."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and "tiny.why" not in path.parts
        }


@pytest.fixture
def listening():
    return Listening()


@pytest.fixture(scope="session")
def measured_tiny(tmp_path_factory):
    """Measure the trial once, and keep a copy of what each test begins with."""
    one = Tiny(tmp_path_factory.mktemp("tiny"))
    shutil.copytree(one.folder, kept := tmp_path_factory.mktemp("kept") / "tiny")
    return one, kept


@pytest.fixture
def tiny(measured_tiny):
    """Give the trial as it was measured: where it lies, whatever a test before did to it."""
    one, kept = measured_tiny
    shutil.rmtree(one.folder)
    shutil.copytree(kept, one.folder)
    return one


@pytest.fixture
def make_tiny(tmp_path):
    return functools.partial(Tiny, tmp_path)


@pytest.fixture(scope="session")
def perf():
    """Skip where nothing can be sampled."""
    if shutil.which("perf") is None:
        pytest.skip("there is no perf that samples here")
    done = subprocess.run(
        ["perf", "record", "-e", "cpu-clock:u", "-o", "/dev/null", "true"],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("there is no perf that samples here")


# --- A profile appears whole or not at all, and takes the place of an earlier one; what was killed is removed
#
# Of what programs leave for perf only their own files go.


ONE = {"variant": "cand", "benchmarks": ("spin",), "sessions": 1, "timed": 1, "profiled": 1}


@pytest.fixture
def trial(tmp_path):
    folder = tmp_path / "t"
    folder.mkdir(mode=0o750)
    return folder


def names(trial):
    beside = trial.with_name("t.why")
    return sorted(path.name for path in beside.iterdir()) if beside.exists() else None


def test_it_appears_when_it_is_whole(trial):
    with new_profile(trial, "v") as part:
        assert names(trial) == [".v.part"]
        assert part.stat().st_mode & 0o777 == 0o750
        (part / "a").write_text("1")
    assert names(trial) == ["v"]
    with new_profile(trial, "v") as part:
        assert names(trial) == [".v.part", "v"]
        (part / "a").write_text("2")
    with new_profile(trial, "w"):
        pass
    assert names(trial) == ["v", "w"]
    assert (trial.with_name("t.why") / "v" / "a").read_text() == "2"


def test_what_ends_early_leaves_the_earlier_one(trial):
    with pytest.raises(KeyError), new_profile(trial, "v"):
        raise KeyError
    assert names(trial) is None
    with new_profile(trial, "v") as part:
        (part / "a").write_text("1")
    with pytest.raises(KeyboardInterrupt), new_profile(trial, "v"):
        raise KeyboardInterrupt
    assert names(trial) == ["v"]


def test_what_a_kill_left_is_removed_or_put_back(trial):
    beside = trial.with_name("t.why")
    (beside / ".w.part").mkdir(parents=True)
    (beside / ".v.old").mkdir()
    (beside / ".v.old" / "a").write_text("1")
    with new_profile(trial, "x"):
        assert names(trial) == [".x.part", "v"]  # its successor did not come
    (beside / ".v.old").mkdir()
    with new_profile(trial, "x"):
        assert names(trial) == [".x.part", "v", "x"]


WRITES = """
import contextlib, itertools, os
for n in itertools.count():
    with contextlib.suppress(OSError):
        os.mkdir(str(n))
"""


def test_what_something_still_writes_to_is_in_nobodys_way(trial):
    left = trial.with_name("t.why") / ".v.part"
    left.mkdir(parents=True)
    # one process: what a shell had started would go on when the shell is killed
    with subprocess.Popen([sys.executable, "-IS", "-c", WRITES], cwd=left) as writer:
        try:
            while not (left / "9").exists():
                assert writer.poll() is None
            with new_profile(trial, "v"):
                assert writer.poll() is None
                assert not list(left.iterdir())
        finally:
            writer.kill()
    with new_profile(trial, "w"):
        pass
    assert names(trial) == ["v", "w"]


def test_what_another_process_records_is_left_alone(trial):
    timed = trial.with_name("t.why") / ".v.part" / "timed"
    timed.mkdir(parents=True)
    (timed / "measurements.jsonl").touch()
    fd = os.open(timed / "measurements.jsonl", os.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="another process"), new_profile(trial, "v"):
            pass
    finally:
        os.close(fd)
    assert timed.exists()


def test_a_second_start_deletes_nothing_that_the_first_has_just_made(trial):
    """Authority: of two that began at once the later one tidied away the other's folder, and neither recorded."""
    with new_profile(trial, "v") as first:
        with pytest.raises(StoreError, match="another process"), new_profile(trial, "v"):
            pass
        with new_profile(trial, "w") as other:
            other.joinpath("kept").touch()
        assert first.is_dir()
    assert {path.name for path in trial.with_name("t.why").iterdir()} == {"v", "w"}


def test_counts_that_are_none_are_refused(tiny, listening):
    request = ProfileRequest(**ONE | {"profiled": 0})
    with pytest.raises(UsageError, match="are 1 or more"):
        record_profile(tiny.campaign, tiny.trial, request, tiny.options, listening)


def test_stacks_are_copied_less_often():
    assert ProfileRequest(**ONE).wanted_hz == DEFAULT_HZ
    assert ProfileRequest(**ONE, chains="dwarf").wanted_hz == DWARF_HZ <= DEFAULT_HZ


def test_only_own_regular_maps_of_these_processes_go(tmp_path, monkeypatch):
    maps = tmp_path / "maps"
    maps.mkdir()
    monkeypatch.setattr(session_profile, "MAPS", maps)
    for pid in (1, 2):
        (maps / f"perf-{pid}.map").touch()
    (maps / "kept").touch()
    (maps / "perf-3.map").symlink_to("kept")
    os.mkfifo(maps / "perf-4.map")
    session_profile._remove_maps([1, 3, 4, 5], [])
    left = ["kept", "perf-2.map", "perf-3.map", "perf-4.map"]
    assert sorted(path.name for path in maps.iterdir()) == left
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)  # whoever wrote it is somebody else
    session_profile._remove_maps([2], [])
    assert sorted(path.name for path in maps.iterdir()) == left


# --- What a trial measured may be executed again only where host, campaign and programs are the same


TREES = runpy.run_path(str(Path(__file__).parents[3] / "hosts" / "trees.py"))


def asked(tiny, *, variants=("cand",), benchmarks=("spin",), **given):
    refuse_changed(tiny.campaign, tiny.trial, variants, benchmarks, **given)


def test_what_is_as_it_was_may_be_executed(tiny):
    before = tiny.state()
    asked(tiny, variants=("cand", "other"), benchmarks=("spin", "child"))
    assert tiny.state() == before


def test_a_changed_program_is_refused_where_it_is_asked_for(tiny):
    (tiny.folder / "cand").write_text("#!/bin/sh\n: changed\n")
    asked(tiny, variants=("other",))
    with pytest.raises(HostError, match=r"the program .*cand has changed") as refused:
        asked(tiny)
    assert refused.value.fix.startswith("build it as it was then")
    assert refused.value.exit_code == 3


def test_a_missing_program_is_named(tiny):
    (tiny.folder / "base").unlink()
    with pytest.raises(LaunchError, match="not found"):
        asked(tiny)


def test_another_program_of_the_same_name_is_refused(tiny, tmp_path, monkeypatch):
    # found by PATH, as it now is
    fake = tmp_path / "bin" / "sh"
    fake.parent.mkdir()
    fake.symlink_to("/bin/true")
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    with pytest.raises(
        HostError, match=r"bin/sh is executed now, and was not when the trial began"
    ):
        asked(tiny, benchmarks=("child",))


def test_another_host_is_refused(tiny):
    other = Host(TREES["lent"](TREES["amd"]()))
    with pytest.raises(HostError, match="the host has changed") as refused:
        asked(tiny, host=other)
    assert refused.value.fix == "ask for it on the host of the trial"


def test_another_campaign_is_refused(tiny):
    text = tiny.file.read_text()
    tiny.file.write_text(text.replace("./{variant}; wait", "./{variant}"))
    with pytest.raises(HostError, match="the campaign has changed") as refused:
        asked(tiny)
    assert str(tiny.trial / "campaign.yaml") in refused.value.fix
    tiny.file.write_text(text + "judge: user\n")  # decides what is judged, and nothing else
    asked(tiny)


def test_names_that_the_trial_lacks_are_refused(tiny):
    for names, words in (
        ({"variants": ("base",)}, "no candidate 'base'"),
        ({"variants": ("none",)}, "no candidate 'none'"),
        ({"benchmarks": ("none",)}, "no benchmark 'none'"),
        ({"benchmarks": ()}, "no benchmark is named"),
    ):
        with pytest.raises(UsageError, match=words) as refused:
            asked(tiny, **names)
        assert "name one of: " in refused.value.fix


def test_what_was_not_measured_here_cannot_be_executed(tiny):
    (tiny.trial / "manifest.json").write_bytes(
        manifest_text(replace(read_manifest(tiny.trial), origin="merged"))
    )
    with pytest.raises(UsageError, match="merged: its programs cannot be executed"):
        asked(tiny)


def test_what_a_session_builds_is_not_held_against_anything(tiny):
    tiny.file.write_text(
        tiny.file.read_text()
        + "build: {run: [[sh, -c, 'true {layout_seed} {variant}']], each: session}\n"
    )
    campaign = tiny.campaign
    (tiny.folder / "cand").unlink()
    with pytest.raises(HostError, match="the campaign has changed"):
        asked(tiny)
    manifest = read_manifest(tiny.trial)
    from harness.campaign.schema import identity_of

    same = replace(manifest, campaign_sha256=identity_of(campaign), targets={})
    (tiny.trial / "manifest.json").write_bytes(manifest_text(same))
    asked(tiny)


# --- The campaign of a trial is the trial's copy, read where its file lay; whoever changed the file since changes nothing


@pytest.fixture
def measured(tmp_path, listening):
    """Measure a campaign with a relative path and a default of its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "in").write_text("x")
    content = {
        "name": "c",
        "variants": {"a": {}, "b": {}},
        "benchmarks": {"one": {"command": ["cat", "in"]}},
        "protocol": {"sessions": 1, "runs": 1, "warmup": 0},
        "isolation": {"cpus": "none"},
        "checks": {"probe": "0s"},
    }
    (folder / "c.yaml").write_text(json.dumps(content))
    campaign = load_campaign(folder / "c.yaml", seed=77)
    return start(campaign, Options(folder=tmp_path / "runs"), listening).trial


def test_it_is_the_one_that_was_measured_whatever_its_file_says_now(measured):
    manifest = read_manifest(measured)
    then = campaign_then(measured, manifest)
    assert identity_of(then) == manifest.campaign_sha256
    assert (then.seed, then.cells[0].cwd) == (77, then.source.parent)
    then.source.write_text("name: other\n")
    assert campaign_then(measured, manifest).cells == then.cells
    then.source.unlink()
    assert campaign_then(measured, manifest).cells == then.cells


def test_after_a_change_that_was_accepted_it_is_the_file(measured):
    manifest = read_manifest(measured)
    source = campaign_then(measured, manifest).source
    source.write_text(source.read_text().replace('"one"', '"two"'))
    changed = load_campaign(source, seed=77)
    accepted = replace(manifest, campaign_sha256=identity_of(changed))
    assert campaign_then(measured, accepted).cells == changed.cells
    source.unlink()  # then nobody has it: whoever compares it says so
    assert identity_of(campaign_then(measured, accepted)) != accepted.campaign_sha256


def test_without_its_folder_it_cannot_be_executed(measured):
    manifest = read_manifest(measured)
    folder = campaign_then(measured, manifest).source.parent
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(HostError, match="the campaign's folder is gone") as caught:
        campaign_then(measured, manifest)
    assert str(folder) in caught.value.what


@pytest.mark.parametrize("origin", ["imported", "merged"])
def test_what_was_not_measured_is_refused(measured, origin):
    manifest = replace(read_manifest(measured), origin=origin)
    with pytest.raises(UsageError, match="nothing of this trial can be executed again"):
        campaign_then(measured, manifest)
