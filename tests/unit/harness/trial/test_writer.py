from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, StoreError
from analysis.record.manifest import read_manifest, utc_now
from analysis.record.shapes import StoredSamples, read_samples
from analysis.record.trial_files import LOOKS, Finding, LooksPlan, PlannedRun
from harness.campaign.model import Command, MetricRule
from harness.host.executables import sha256_file
from harness.trial.folder import RESERVE, is_written_now
from harness.trial.writer import Store, new_trial_name

LINES = {f"{name}.jsonl" for name in ("environment", "plan", "measurements", "findings")}
HASHED = {*LINES, "campaign.yaml", "resolved.json"}


@pytest.fixture
def make_store(tmp_path, make_manifest):
    opened = []

    def make(**changes):
        store = Store.create(make_manifest(**changes), tmp_path / "runs", b"name: c\n")
        opened.append(store)
        return store

    yield make
    for store in opened:
        store.release()


def test_new_trial_has_all_files_from_the_start(make_store):
    path = make_store().path
    names = {entry.name for entry in path.iterdir() if not entry.name.startswith(".")}
    assert names == {*HASHED, "manifest.json", "outputs"}
    assert (path / "campaign.yaml").read_bytes() == b"name: c\n"
    assert json.loads((path / "manifest.json").read_text())["status"] == "running"


def modes(trial):
    found = {path.name: path.stat().st_mode & 0o777 for path in trial.rglob("*")}
    folders = {trial.stat().st_mode & 0o777, found.pop("outputs")}
    return folders, set(found.values())


@pytest.mark.parametrize(
    ("umask", "share", "folder", "file"),
    [
        (0o022, False, 0o700, 0o600),
        (0o000, False, 0o700, 0o600),
        (0o022, True, 0o755, 0o644),
        (0o077, True, 0o700, 0o600),
    ],
)
def test_a_trial_is_its_users_alone_unless_it_is_shared(
    tmp_path, make_manifest, make_measurement, umask, share, folder, file
):
    before = os.umask(umask)
    try:
        store = Store.create(make_manifest(), tmp_path / "runs", b"name: c\n", share=share)
        store.append_measurement(make_measurement(0))
        assert modes(store.path) == ({folder}, {file})
        store.finish("stopped", None)
    finally:
        os.umask(before)
    assert modes(store.path) == ({folder}, {file})


def test_going_on_leaves_modes_and_owners_alone(tmp_path, make_manifest, monkeypatch):
    # as trials of the first version are, and one file as somebody wanted it
    store = Store.create(make_manifest(), tmp_path / "runs", b"name: c\n", share=True)
    store.finish("stopped", None)
    (store.path / "manifest.json").chmod(0o664)
    (store.path / "plan.jsonl").chmod(0o600)
    owner = (store.path / "manifest.json").stat()
    given = []
    monkeypatch.setattr(os, "chown", lambda path, *who, **_: given.append((path.name, *who)))
    again = Store.reopen(store.path)
    again.append_plan([])
    again.finish("stopped", None)
    found = {path.name: path.stat().st_mode & 0o777 for path in store.path.iterdir()}
    assert (found["manifest.json"], found["plan.jsonl"]) == (0o664, 0o600)
    assert (found["measurements.jsonl"], found["outputs"]) == (0o644, 0o755)
    # root that goes on takes it from nobody
    assert set(given) == {(".manifest.json.new", owner.st_uid, owner.st_gid)}


def test_a_trial_without_its_resolved_campaign_is_finished_without_it(make_store):
    store = make_store()
    (store.path / "resolved.json").unlink()  # as the first version left its trials
    store.finish("stopped", None)
    assert "resolved.json" not in store.manifest.files


def test_trial_that_exists_is_never_written_over(make_store):
    first = make_store()
    before = (first.path / "manifest.json").read_bytes()
    with pytest.raises(StoreError, match="cannot be written"):
        make_store()
    assert (first.path / "manifest.json").read_bytes() == before


@pytest.mark.chance(1e-14)  # five pairs of 190 that are equal, each in one of 65,536
def test_trial_names_are_unique_and_sort_by_time():
    names = {new_trial_name("c") for _ in range(20)}
    assert len(names) > 15
    assert all(name.startswith("c-20") for name in names)


def test_row_is_in_the_file_at_once_and_its_checksum_is_that_of_the_format(
    make_store, make_measurement
):
    store = make_store()
    store.append_measurement(make_measurement(position=3, detail='a "quoted" ä'))
    line = (store.path / "measurements.jsonl").read_bytes()
    assert line.endswith(b"}\n")
    # Computed here by the words of the format: CRC-32 of the line's bytes without the last key.
    body, _, number = line[:-2].rpartition(b',"crc32":')
    assert zlib.crc32(body + b"}") == int(number)
    assert json.loads(line)["detail"] == 'a "quoted" ä'
    assert list(json.loads(line))[-1] == "crc32"
    assert store.rows.outcomes == {3: "ok"}


def test_values_are_stored_as_measured_and_none_that_is_not_finite(make_store, make_measurement):
    store = make_store()
    store.append_measurement(make_measurement(wall_ns=123_456_789_012_345, user_s=0.1 + 0.2))
    (row,) = rows_of(store)
    assert (row["wall_ns"], row["user_s"]) == (123_456_789_012_345, 0.1 + 0.2)
    before = (store.path / "measurements.jsonl").read_bytes()
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.append_measurement(make_measurement(user_s=float("nan")))
    assert (store.path / "measurements.jsonl").read_bytes() == before


def rows_of(store):
    data = (store.path / "measurements.jsonl").read_bytes()
    return [json.loads(line) for line in data.splitlines()]


def test_a_start_for_which_there_is_no_room_leaves_no_trial(make_manifest, tmp_path, full_disk):
    with pytest.raises(StoreError, match="File too large"), full_disk(50):
        Store.create(make_manifest(), tmp_path, b"name: c\n")
    assert not list(tmp_path.iterdir())
    there = tmp_path / make_manifest().trial
    there.mkdir()
    (there / "job.log").touch()
    with pytest.raises(StoreError, match="File too large"), full_disk(50):
        Store.create(make_manifest(), tmp_path, b"name: c\n")
    assert (there / "job.log").exists()


def test_what_does_not_fit_leaves_nothing_of_itself(make_store, make_measurement, full_disk):
    store = make_store()
    run = PlannedRun(position=0, session=1, block=0, benchmark="x", variant="a", warmup=True)
    store.append_measurement(make_measurement(position=0))
    store.append_plan([run])
    for name, add, more in (
        ("measurements", store.append_measurement, make_measurement(position=1)),
        ("plan", store.append_plan, [run] * 3),
    ):
        path = store.path / f"{name}.jsonl"
        whole = path.read_bytes()
        with pytest.raises(StoreError, match="free some space"), full_disk(len(whole) + 50):
            add(more)
        assert path.read_bytes() == whole
    assert store.rows.outcomes == {0: "ok"}


def test_reopened_trial_knows_what_is_done(make_store, make_measurement):
    store = make_store()
    store.append_measurement(make_measurement(position=0))
    store.append_measurement(make_measurement(position=1, outcome="exit", exit_code=1))
    store.append_measurement(make_measurement(position=-1, warmup=True))
    store.release()
    again = Store.reopen(store.path)
    assert again.rows.outcomes == {0: "ok", 1: "exit", -1: "ok"}
    again.append_measurement(make_measurement(position=2))
    again.release()
    assert len((store.path / "measurements.jsonl").read_bytes().splitlines()) == 4


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_torn_last_line_is_cut_off_and_told(make_store, make_measurement, cut):
    store = make_store()
    for position in range(2):
        store.append_measurement(make_measurement(position=position))
    store.release()
    path = store.path / "measurements.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    again = Store.reopen(store.path)
    try:
        assert again.rows.outcomes == {0: "ok"}
        assert path.read_bytes() == data.splitlines(keepends=True)[0]
        text = (store.path / "findings.jsonl").read_text()
        assert "the last line was torn" in text
        assert "measurements.jsonl:2" in text
        again.append_measurement(make_measurement(position=1))
        assert [row["position"] for row in rows_of(again)] == [0, 1]
    finally:
        again.release()


@pytest.mark.parametrize("other", ["measurements.jsonl", "plan.jsonl", "environment.jsonl"])
def test_torn_findings_keep_what_is_said_of_another_torn_file(make_store, make_measurement, other):
    # a power failure while a finding was written, when the last rows had not reached the disk either
    store = make_store()
    store.append_measurement(make_measurement())
    store.append_findings("during", [Finding(check="probe", status="warn", what="first")])
    store.release()
    for name in ("findings.jsonl", other):
        with (store.path / name).open("ab") as file:
            file.write(b'{"torn')
    Store.reopen(store.path).release()
    said = [json.loads(line) for line in (store.path / "findings.jsonl").read_text().splitlines()]
    assert said[0]["what"] == "first"
    assert {found["where"].split(":")[0] for found in said[1:]} == {"findings.jsonl", other}


def test_plan_torn_before_its_session_began_is_planned_again(make_store):
    store = make_store(planned=6, sessions=2, runs=1, warmup=0, variants=("a",))
    runs = [
        PlannedRun(
            position=k, session=1 + k // 3, block=1, benchmark="x", variant="a", warmup=False
        )
        for k in range(6)
    ]
    store.append_plan(runs[:3])
    first = (store.path / "plan.jsonl").read_bytes()
    store.append_plan(runs[3:])
    store.release()
    path = store.path / "plan.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    again = Store.reopen(store.path)
    again.release()
    assert path.read_bytes() == first
    assert "plan.jsonl:6" in (store.path / "findings.jsonl").read_text()


def test_a_plan_that_is_no_plan_is_not_shortened(make_store):
    """Authority: a junk line before twelve was refused, and the true last line was cut off."""
    store = make_store(planned=3, sessions=1, runs=1, warmup=0, variants=("a",))
    runs = [
        PlannedRun(position=k, session=1, block=1, benchmark="x", variant="a", warmup=False)
        for k in range(3)
    ]
    store.append_plan(runs)
    store.release()
    path = store.path / "plan.jsonl"
    path.write_bytes(damaged := b"junk\n" + path.read_bytes())
    Store.reopen(store.path).release()
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("damage", [b"\0" * 300, b"garbage\n", b"\n"])
def test_garbage_at_the_end_is_cut_off(make_store, make_measurement, damage):
    store = make_store()
    store.append_measurement(make_measurement())
    store.release()
    path = store.path / "measurements.jsonl"
    data = path.read_bytes()
    path.write_bytes(data + damage)
    again = Store.reopen(store.path)
    again.release()
    assert path.read_bytes() == data


def test_edited_line_is_refused_with_its_number(make_store, make_measurement):
    store = make_store()
    for position in range(3):
        store.append_measurement(make_measurement(position=position))
    store.release()
    path = store.path / "measurements.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"wall_ns":1500000', b'"wall_ns":1400000')
    path.write_bytes(b"".join(lines))
    with pytest.raises(StoreError, match="does not have its checksum") as caught:
        Store.reopen(store.path)
    assert caught.value.where == f"{path}:2"
    assert not is_written_now(store.path)  # the lock is given back


def test_second_row_of_a_position_is_refused(make_store, make_measurement):
    store = make_store()
    store.append_measurement(make_measurement(position=4))
    store.append_measurement(make_measurement(position=4))
    store.release()
    with pytest.raises(StoreError, match="position 4 is there twice") as caught:
        Store.reopen(store.path)
    assert caught.value.where.endswith("measurements.jsonl:2")


def test_newer_schema_is_refused_and_named(make_store):
    store = make_store()
    store.release()
    path = store.path / "manifest.json"
    path.write_text(path.read_text().replace('"schema": 1,', '"schema": 3,'))
    with pytest.raises(StoreError, match="schema 3, newer than 2"):
        Store.reopen(store.path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', '{"schema": "one"}'])
def test_damaged_manifest_is_a_store_error(make_store, text):
    store = make_store()
    store.release()
    (store.path / "manifest.json").write_text(text)
    with pytest.raises(StoreError, match="manifest"):
        Store.reopen(store.path)


def test_one_writer_at_a_time(make_store, monkeypatch):
    store = make_store()
    assert is_written_now(store.path)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(StoreError, match="another process is writing this trial"):
        Store.reopen(store.path)
    store.release()
    assert not is_written_now(store.path)
    Store.reopen(store.path).release()


def test_lock_of_a_killed_writer_is_free(make_store):
    store = make_store()
    store.release()
    code = (
        "import sys\nfrom pathlib import Path\nfrom harness.trial.writer import Store\n"
        "store = Store.reopen(Path(sys.argv[1]))\nprint('open', flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(store.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline() == b"open\n"
        assert is_written_now(store.path)
        writer.kill()
    assert not is_written_now(store.path)


@pytest.mark.parametrize("device", ["known", "numbered otherwise"])
def test_the_writer_is_named_however_many_were_refused(make_store, monkeypatch, device):
    store = make_store()
    monkeypatch.setattr(time, "sleep", lambda _: None)
    if device != "known":  # as on overlay and btrfs, where the kernel's list has other numbers
        monkeypatch.setattr(os, "major", lambda _: 999)
    for _ in range(50):
        with pytest.raises(StoreError, match=rf"\(process {os.getpid()}, yours\)"):
            Store.reopen(store.path)


def test_reader_that_asks_does_not_disturb_the_writer(make_store):
    store = make_store()
    store.release()
    fd = os.open(store.path / "measurements.jsonl", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_SH)
    naps = []

    def nap(seconds):
        naps.append(seconds)
        fcntl.flock(fd, fcntl.LOCK_UN)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", nap)
        Store.reopen(store.path).release()
    os.close(fd)
    assert naps


def test_finish_hashes_every_file_and_gives_the_lock_back(make_store, make_measurement):
    store = make_store()
    store.append_measurement(make_measurement())
    store.append_findings("after", [Finding(check="load", status="ok", what="quiet")])
    (store.path / "outputs" / "0000.stdout").write_text("kept")
    store.finish("stopped", "why")
    manifest = json.loads((store.path / "manifest.json").read_text())
    assert (manifest["status"], manifest["reason"]) == ("stopped", "why")
    assert manifest["finished"] >= manifest["started"][:10]
    assert set(manifest["files"]) == {*HASHED, "outputs/0000.stdout"}
    for name, digest in manifest["files"].items():
        assert digest == sha256_file(store.path / name)
    assert not is_written_now(store.path)
    assert not [entry for entry in store.path.iterdir() if entry.name.startswith(".")]


def test_sync_waits_until_rows_are_old_enough(make_store, make_measurement, monkeypatch):
    calls = []
    real = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: calls.append(fd) or real(fd))
    store = make_store()
    calls.clear()
    store.sync()
    assert not calls  # nothing to sync
    store.append_measurement(make_measurement(position=0))
    store.sync(older_than_s=3600)
    assert not calls
    store.sync()
    assert len(calls) == 1
    store.sync()
    assert len(calls) == 1


def test_times_are_rfc3339_in_utc():
    text = utc_now()
    assert text.endswith("Z")
    assert text[4] == text[7] == "-"
    assert text[10] == "T"


def test_a_trial_keeps_one_descriptor_open_whatever_is_written(make_store, make_measurement, leaks):
    store = make_store()
    for position in range(3):
        store.append_measurement(make_measurement(position))
        store.sync()
        store.update(status="running")
        store.append_findings("before", [Finding(check="x", status="ok", what="y")])
        assert is_written_now(store.path)
    assert len(leaks(store.path)) == 1
    store.finish("complete", None)
    assert not leaks(store.path)


def test_manifest_keys_of_a_later_version_are_kept(make_store):
    store = make_store()
    store.finish("stopped", "why")
    path = store.path / "manifest.json"
    later = json.loads(path.read_text()) | {"colour": {"hue": 1}}
    path.write_text(json.dumps(later))
    again = Store.reopen(store.path)
    again.finish("complete", None)
    assert json.loads(path.read_text())["colour"] == {"hue": 1}
    assert read_manifest(store.path).further == {"colour": {"hue": 1}}


def test_how_many_lines_are_whole_sessions_where_variants_leave(make_manifest):
    # authority: enumeration. 2 benchmarks, 2 runs of each cell; all sessions have both variants but 3 and 4
    made = make_manifest(sessions=4, runs=2, warmup=1, planned=2 * (3 * 6 + 3 * 4 + 2 * 4))
    made = replace(
        made,
        benchmarks=("x", "y"),
        variants=("a", "b", "c"),
        baseline="a",
        planned=18 + 12 + 8 + 8,
        looks_plan=LooksPlan(rule="repeated", looks=LOOKS, left={"c": 2}),
    )
    counts = {17: 0, 18: 18, 29: 18, 30: 30, 37: 30, 38: 38, 45: 38, 46: 46, 60: 46}
    assert {lines: made.whole_sessions(lines) for lines in counts} == counts


def test_the_last_session_of_a_sitting_is_written_when_it_ends(make_store):
    store = make_store()
    for record in ({"session": 1, "sessions": [1, 3]}, {"session": 4, "sessions": [4, None]}):
        store.append_environment(record)
    store.end_sitting(9)
    store.end_sitting(12)  # nothing is open any more
    assert [one["sessions"] for one in store.environments()] == [[1, 3], [4, 9]]
    store.append_environment({"session": 10})
    store.end_sitting(12)
    assert "sessions" not in store.environments()[-1]
    assert not (store.path / ".environment.jsonl.new").exists()


def test_a_folder_that_was_moved_takes_no_row_and_no_other_one_does(make_store, make_measurement):
    store = make_store()
    store.append_measurement(make_measurement(1))
    moved = store.path.rename(store.path.with_name("moved"))
    for stands in (False, True):
        if stands:
            shutil.copytree(moved, store.path)
        before = {path: path.read_bytes() for path in store.path.parent.rglob("*.json*")}
        for write in (
            lambda: store.append_measurement(make_measurement(2)),
            lambda: store.append_findings("after", [Finding(check="a", status="ok", what="b")]),
            lambda: store.update(status="failed"),
        ):
            with pytest.raises(StoreError, match="moved or replaced"):
                write()
        store.free_reserve()
        assert before == {path: path.read_bytes() for path in store.path.parent.rglob("*.json*")}
        assert (moved / RESERVE).exists()


def test_how_many_lines_of_a_plan_are_whole_sessions(make_manifest):
    # 6 cells, 2 runs each: 12 a session, and 6 warm-ups in the first or in each
    first = make_manifest(sessions=3, runs=2, warmup=1, planned=42)
    counts = {17: 0, 18: 18, 29: 18, 30: 30, 41: 30, 42: 42}
    assert {lines: first.whole_sessions(lines) for lines in counts} == counts
    each = make_manifest(sessions=3, runs=2, warmup=1, planned=54)
    counts = {17: 0, 18: 18, 35: 18, 36: 36, 53: 36, 54: 54}
    assert {lines: each.whole_sessions(lines) for lines in counts} == counts


# --- What a trial stores of histograms and printed percentiles, and what the judge reads of it
#
# Authority: the logs and their counts in tests/golden/hdr_logs, which another implementation wrote and read; numpy's inverted_cdf.


GOLDEN = Path(__file__).parents[3] / "golden" / "hdr_logs"
WANTED = json.loads((GOLDEN / "computed.json").read_text())["lognormal"]
COUNTS = {int(value) / 1000: count for value, count in WANTED["counts"].items()}
SHARES = (0.5, 0.99, 0.999)
TABLE = "Latency Distribution\n 50% 1.50ms\n 99% 9.00ms\n  {requests} requests in 1s\n"


@pytest.fixture
def writing(stage, campaign, make_cell):
    """Make a campaign whose programs write this text, read by a rule of this kind."""

    def make(text: str, **rule):
        def target(request):
            request.stdout.write_text(text)

        stage.target = target
        made = MetricRule(name="t", unit="ms", better="lower", **rule)
        cells = tuple(
            make_cell(
                "x",
                variant,
                command=Command(argv=("true",), mark="campaign.yaml:1:1"),
                metrics=(made,),
            )
            for variant in ("a", "b")
        )
        return campaign(("x",), cells=cells, sessions=2, runs=2)

    return make


def test_a_histogram_is_stored_whole_and_its_quantiles_stand_in_the_row(stage, writing):
    log = (GOLDEN / "lognormal.hlog").read_text()
    stage.start(writing(log, hlog="us", quantiles=SHARES))
    values, weights = np.array([*COUNTS]), np.array([*COUNTS.values()])
    for row in stage.rows:
        about = StoredSamples(**row["samples"]["t"])
        assert (about.form, about.count) == ("counts", 2 * len(COUNTS))
        path = stage.trial / "samples" / f"{row['position']:04d}-t.f64.gz"
        pairs = np.frombuffer(read_samples(path, about), "<f8").reshape(-1, 2)
        assert dict(pairs.tolist()) == COUNTS
        assert row["metrics"]["t"] == [pytest.approx(WANTED["mean"] / 1000, rel=1e-12)]
        assert row["metrics"]["t.p99.9"] == []  # of 240 values
        for share, name in ((0.5, "t.p50"), (0.99, "t.p99")):
            assert row["metrics"][name] == [np.quantile(values, share, weights=weights, method="inverted_cdf")]  # fmt: skip
    trial = read_trial(stage.trial)
    assert trial.quantile_basis("t.p99").level == "session"
    together = np.quantile(values, 0.99, weights=2 * weights, method="inverted_cdf")
    assert trial.matrix("a", "t.p99").samples[0].tolist() == [together] * 2
    with pytest.raises(InsufficientDataError):  # 480 values of two runs are too few for it
        trial.matrix("a", "t.p99.9")


def test_a_histogram_that_is_gone_or_changed_is_an_error_that_names_it(stage, writing):
    stage.start(writing((GOLDEN / "lognormal.hlog").read_text(), hlog="us", quantiles=SHARES))
    path = stage.trial / "samples" / f"{stage.rows[-1]['position']:04d}-t.f64.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StoreError, match=path.name):
        read_trial(stage.trial).matrix("b", "t.p99")


def test_histograms_that_were_not_kept_leave_the_quantiles_of_runs(stage, writing):
    made = writing((GOLDEN / "lognormal.hlog").read_text(), hlog="us", quantiles=SHARES)
    stage.start(replace(made, isolation=replace(made.isolation, kept_outputs_bytes=0)))
    assert {row["samples"]["t"]["sha256"] for row in stage.rows} == {None}
    assert read_trial(stage.trial).quantile_basis("t.p99").why == "not-kept"


def test_printed_percentiles_are_told_as_such_and_have_no_file(stage, writing):
    stage.start(writing(TABLE.format(requests=5000), percentiles="wrk", quantiles=(0.5, 0.99)))
    for row in stage.rows:
        assert row["samples"] == {"t": {"form": "percentiles", "count": 5000, "sha256": None}}
        assert row["metrics"] == {"t": [], "t.p50": [1.5], "t.p99": [9.0]}
    assert not (stage.trial / "samples").exists()
    trial = read_trial(stage.trial)
    assert trial.quantile_basis("t.p99").why == "printed"
    assert trial.matrix("a", "t.p99").samples[0].tolist() == [9.0] * 4


def test_too_few_requests_leave_a_printed_percentile_unknown_and_that_is_said(stage, writing):
    stage.start(writing(TABLE.format(requests=99), percentiles="wrk", quantiles=(0.5, 0.99)))
    assert stage.rows[0]["metrics"]["t.p99"] == []
    (told, _) = stage.findings("quantiles")[:2]
    assert "t.p99 is unknown in" in told["what"]


def test_a_log_that_cannot_be_read_leaves_no_file(stage, writing):
    stage.start(writing("no log\n", hlog="us", quantiles=(0.5,)))
    assert {row["outcome"] for row in stage.rows} == {"unparsable"}
    assert "line 1: it is no interval" in stage.rows[0]["detail"]
    assert not (stage.trial / "samples").exists()
