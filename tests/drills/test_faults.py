"""Bad input and faults: a clear message or a recorded outcome, nothing lost, nobody left behind."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zlib

import pytest

from tests.lab import ONE, only

# --- what cannot be executed ------------------------------------------------------------------


@pytest.mark.usefixtures("other_user", "open_folder")
@pytest.mark.parametrize(
    ("isolation", "says"),
    [
        ({"cpus": "none", "scheduling": "fifo"}, "scheduling class 'fifo' is not permitted"),
        ({"cpus": "none", "nice": -20}, "nice -20 is not permitted"),
    ],
)
def test_setting_without_permission(lab, isolation, says):
    done = lab.run_fairtrial("run", lab.write_campaign(isolation=isolation), other_user=True)
    if done.returncode == 0:
        pytest.skip("this user may do that")
    assert done.returncode == 3, done.stderr
    assert says in done.stderr
    assert "fix:" in done.stderr
    assert lab.trials() == []


@pytest.mark.host
def test_cpu_outside_our_own_affinity(lab):
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        pytest.skip("one CPU only")
    path = lab.write_campaign(isolation={"cpus": usable[-1]})
    prefix = ("taskset", "-c", str(usable[0]))
    if not shutil.which("taskset"):
        pytest.skip("taskset (util-linux) is not installed")
    done = lab.run_fairtrial("run", path, prefix=prefix)
    assert done.returncode == 3, done.stderr
    assert str(usable[-1]) in done.stderr


@pytest.mark.usefixtures("other_user", "open_folder")
def test_trial_as_a_user_without_rights(lab):
    done = lab.run_fairtrial("run", lab.write_campaign(), other_user=True)
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=12)


# --- runs that go wrong -----------------------------------------------------------------------


def failed(lab, **sections):
    """Execute a campaign of one run that does not end well; give its row."""
    done = lab.run_fairtrial("run", lab.write_campaign(**sections))
    assert done.returncode == 1, done.stderr
    assert "1 failed (one / a: " in done.stderr
    assert lab.manifest()["status"] == "complete"
    (row,) = lab.read_rows()
    assert row["detail"] in done.stderr
    lab.wait_until_all_gone()
    return row


@pytest.fixture(scope="module")
def outcomes(make_lab, tmp_path_factory):
    """Execute one run of each of many benchmarks; give the trial and the rows by benchmark."""
    lab = make_lab(tmp_path_factory.mktemp("outcomes") / "lab")
    (lab.folder / "reference").write_text("right\n")
    right = hashlib.sha256(b"right\n").hexdigest()
    metrics = {"t": {"regex": "time: (.*)", "unit": "s", "better": "lower"}}
    benchmarks = {
        "crash": {"command": lab.sh("kill -SEGV $$")},
        "exit": {"command": lab.sh("echo out; echo err >&2; exit 3")},
        "unparsable": {"command": lab.sh("echo time: soon"), "metrics": metrics},
    }
    for name, expect in (
        ("wrong-sha256", {"sha256": "0" * 64}),
        ("wrong-regex", {"regex": "^right$"}),
        ("wrong-file", {"file": "reference"}),
    ):
        benchmarks[name] = {"command": lab.sh("echo wrong"), "expect": expect}
    for name, expect in (
        ("right-sha256", {"sha256": right}),
        ("right-regex", {"regex": "^r"}),
        ("right-file", {"file": "reference"}),
    ):
        benchmarks[name] = {"command": lab.sh("echo right"), "expect": expect}
    path = lab.write_campaign(variants={"a": {}}, benchmarks=benchmarks, protocol=ONE)
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1, done.stderr
    assert "6 failed (" in done.stderr
    assert lab.manifest()["status"] == "complete"
    lab.wait_until_all_gone()
    rows = {row["benchmark"]: row for row in lab.read_rows()}
    assert len(rows) == 9
    for row in rows.values():
        if row["outcome"] != "ok":
            assert row["detail"] in done.stderr
    return lab.trial(), rows


def kept(trial, row, stream):
    return (trial / "outputs" / f"{row['position']:04d}.{stream}").read_text()


def test_crash_by_signal(outcomes):
    row = outcomes[1]["crash"]
    assert (row["outcome"], row["signal"], row["exit_code"]) == ("signal", 11, None)
    assert "SIGSEGV" in row["detail"]


def test_wrong_exit_code_keeps_its_output(outcomes):
    trial, rows = outcomes
    row = rows["exit"]
    assert (row["outcome"], row["exit_code"]) == ("exit", 3)
    assert (kept(trial, row, "stdout"), kept(trial, row, "stderr")) == ("out\n", "err\n")


@pytest.mark.parametrize("how", ["sha256", "regex", "file"])
def test_wrong_and_right_output(outcomes, how):
    trial, rows = outcomes
    row = rows[f"wrong-{how}"]
    assert row["outcome"] == "output-mismatch"
    assert row["stdout_sha256"] == hashlib.sha256(b"wrong\n").hexdigest()
    assert kept(trial, row, "stdout") == "wrong\n"
    assert rows[f"right-{how}"]["outcome"] == "ok"


def test_unparsable_metric(outcomes):
    row = outcomes[1]["unparsable"]
    assert row["outcome"] == "unparsable"
    assert "'soon' is not a finite number" in row["detail"]
    assert row["wall_ns"] > 0


def test_timeout_of_a_stubborn_program(lab):
    stubborn = (
        "trap '' TERM; (setsid sh -c 'while :; do sleep 0.05; done' $0 &); while :; do :; done"
    )
    protocol = {**ONE, "grace": "100ms"}
    row = failed(lab, **{**only(lab.sh(stubborn), timeout="300ms"), "protocol": protocol})
    assert row["outcome"] == "timeout"
    assert row["wall_ns"] >= 300_000_000
    assert row["orphans"] >= 1


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_flood_of_output_is_cut_off(lab, stream):
    # A gigabyte, if nobody stops it.
    code = "exec head -c 1000000000 /dev/zero" + (" >&2" if stream == "stderr" else "")
    isolation = {"cpus": "none", "output_limit": "100kB"}
    row = failed(lab, **only(lab.sh(code)), isolation=isolation)
    assert row["outcome"] == "output-limit"
    kept = lab.trial() / "outputs" / f"0000.{stream}"
    assert 100_000 <= kept.stat().st_size <= 102_400
    assert not (lab.trial() / "outputs" / "current.stdout").exists()


def test_flood_is_killed_while_it_lasts(lab):
    isolation = {"cpus": "none", "output_limit": "1kB"}
    endless = "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"
    row = failed(lab, **only(lab.sh(endless), timeout="300s"), isolation=isolation)
    assert row["outcome"] == "output-limit"


def test_closed_output_and_grandchild_that_holds_it(lab):
    path = lab.write_campaign(
        variants={"closes": {"code": "exec >&- 2>&-"}, "holds": {"code": "sleep $0 & echo x"}},
        baseline="closes",
        benchmarks={"one": {"command": ["/bin/sh", "-c", "{code}", lab.marker], "timeout": "300s"}},
        protocol=ONE,
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    orphans = {row["variant"]: row["orphans"] for row in lab.read_rows()}
    assert orphans == {"closes": 0, "holds": 1}
    assert lab.left() == []


# --- the store --------------------------------------------------------------------------------


def _why_no_namespace():
    if not shutil.which("unshare"):
        return "unshare (util-linux) is not installed"
    # The interpreter may stand in a private folder, which nobody enters from a user namespace.
    code = 'mount -t tmpfs none /mnt && "$0" -c pass'
    tried = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", code, sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode == 0:
        return None
    return f"no user namespace with mounts is to be had here: {tried.stderr.strip()}"


def test_full_disk_keeps_everything_before_it(lab):
    reason = _why_no_namespace()
    if reason:
        pytest.skip(reason)
    # A small disk that the targets themselves fill up; its content is copied out at the end.
    (lab.folder / "disk").mkdir()
    lab.script(
        "session.sh",
        """#!/bin/sh
mount -t tmpfs -o size=24m none disk
"$@" --dir disk
echo $? > first
cp -r disk/. copy
rm -f disk/ballast
"$@" --dir disk --resume
echo $? > second
cp -r disk/. runs
""",
    )
    # The fifth run eats all that is left.
    eat = (
        "echo x >> count; [ $(wc -l < count) = 5 ] || exit 0;"
        " cat /dev/zero > disk/ballast 2>/dev/null; exit 0"
    )
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh(eat)}},
        protocol={"sessions": 1, "runs": 40, "warmup": 0},
        isolation={"cpus": "none", "kept_outputs": "1MB"},
    )
    done = lab.run_fairtrial(
        "run", path, prefix=("unshare", "-Urm", str(lab.folder / "session.sh"))
    )
    assert (lab.folder / "first").read_text() == "5\n", done.stderr
    assert "No space left on device" in done.stderr or "the disk is full" in done.stderr
    assert "free some space, then continue with --resume" in done.stderr
    assert "Traceback" not in done.stderr
    (before,) = (lab.folder / "copy").glob("c-*")
    lines = lab.lines(before)
    assert len(lines) >= 4
    for line in lines:
        body, _, number = line[:-1].rpartition(b',"crc32":')
        assert zlib.crc32(body + b"}") == int(number)
    assert json.loads((before / "manifest.json").read_text())["status"] == "stopped"
    assert (lab.folder / "second").read_text() == "0\n", done.stderr
    lab.assert_complete_once_each(planned=80)
    assert lab.lines()[: len(lines)] == lines


@pytest.mark.usefixtures("other_user")
def test_read_only_directory(lab):
    path = lab.write_campaign()
    (lab.folder / "runs").mkdir(mode=0o555)
    done = lab.run_fairtrial("run", path, other_user=True)
    assert done.returncode == 5, done.stderr
    assert "trials cannot be written there: Permission denied" in done.stderr
    assert "--dir" in done.stderr


def test_too_little_space_is_said_at_the_start(lab):
    path = lab.write_campaign(protocol={"sessions": 1000000, "runs": 1000})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 5
    assert "MB are free, and this trial may need" in done.stderr
    assert lab.trials() == []


def test_file_where_the_folder_should_be(lab):
    (lab.folder / "runs").write_text("")
    done = lab.run_fairtrial("run", lab.write_campaign())
    assert done.returncode == 5
    assert "the folder of trials cannot be read: Not a directory" in done.stderr


# --- other trials -----------------------------------------------------------------------------


@pytest.mark.host
def test_another_trial_on_the_same_cpu_is_refused(lab, processes):
    cpu = max(os.sched_getaffinity(0))
    lab.hold()
    sections = {**only(lab.sh(lab.waiting)), "isolation": {"cpus": cpu}}
    path = lab.write_campaign(**sections)
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    refused = lab.run_fairtrial("run", path)
    assert refused.returncode == 3, refused.stderr
    assert "another trial measures on CPU" in refused.stderr
    trial = f"runs/{lab.trial().name}"  # whoever waits wants to know for which
    assert f"({trial}, process {process.pid}, yours)" in refused.stderr
    assert "name other CPUs under isolation.cpus" in refused.stderr
    assert len(lab.trials()) == 1
    # One that pins nothing may run, and says whom it shares the host with.
    beside = lab.run_fairtrial("run", lab.write_campaign("d", **only(["true"])), "-v")
    assert beside.returncode == 0, beside.stderr
    assert "another trial measures on CPU" in " ".join(beside.stderr.split())
    lab.release()
    assert lab.ended(process)[0] == 0
    assert {tuple(row["cpus"]) for row in lab.read_rows(lab.trials()[0])} == {(cpu,)}


def test_second_writer_of_a_trial_is_refused(lab):
    lab.hold()
    path = lab.write_campaign(**only(lab.sh(lab.waiting)))
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    refused = lab.run_fairtrial("run", path, "--resume")
    assert refused.returncode == 5
    assert "another process is writing this trial (process " in refused.stderr
    named = lab.run_fairtrial("run", path, "--resume", "--trial", lab.trial())
    assert named.returncode == 5
    lab.release()
    assert lab.ended(process)[0] == 0
    lab.assert_complete_once_each(planned=1)
