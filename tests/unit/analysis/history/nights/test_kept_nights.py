"""What is kept beside the trials: never another answer than the trials', and never in the way."""

import json
import os
import shutil
from dataclasses import replace

import pytest

from analysis.history import kept_nights, nights as reading, series as read_places
from analysis.history.kept_nights import kept_file
from analysis.history.nights import read_nights
from analysis.record.manifest import judging_with
from analysis.record.shapes import checksum_holds, encode_checked


@pytest.fixture
def reads(monkeypatch):
    """List the trials that are read, not taken from what is kept."""
    found = []
    before = read_places.trial_values

    def counted(path, metric=None):
        found.append(path.name)
        return before(path, metric)

    monkeypatch.setattr(read_places, "trial_values", counted)
    return found


@pytest.fixture
def hashed(monkeypatch):
    """Count how often the files of a trial are hashed again."""
    found = []
    before = kept_nights.verify_files

    def counted(path, manifest):
        found.append(path.name)
        return before(path, manifest)

    monkeypatch.setattr(kept_nights, "verify_files", counted)
    return found


@pytest.fixture
def settled(monkeypatch):
    """Take what was written just now for long written."""
    monkeypatch.setattr(kept_nights, "_RACE_NS", -(10**12))


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def runs(night, tmp_path):
    for k in (1, 2, 3):
        night(k, tip=1 + k / 10)
    return tmp_path / "runs"


def test_the_second_reading_is_the_first_one_and_reads_no_trial(runs, reads, hashed, settled):
    # authority: the trials themselves, of which the first reading is made
    first = read_nights([runs])
    assert sorted(reads) == ["night-01", "night-02", "night-03"]
    reads.clear()
    second = read_nights([runs])
    assert second == first
    assert (reads, hashed) == ([], [])
    plain = read_nights([runs], plain=True)
    assert reads == []  # the same values, seen otherwise
    kept_file(runs).unlink()
    assert read_nights([runs], plain=True) == plain
    assert len(reads) == 3


def test_the_paths_are_those_that_are_given(runs, reads, monkeypatch):
    read_nights([runs])
    monkeypatch.chdir(runs)
    reads.clear()
    found = read_nights(["night-01", "./night-02"])
    assert [one.path for one in found.series[0].nights] == ["night-01", "night-02"]
    assert reads == []


def change_rows(trial):
    """Make a run longer, with a right checksum: only the manifest's hash tells."""
    path = trial / "measurements.jsonl"
    first, *rest = path.read_bytes().splitlines()
    row = json.loads(first)
    row.pop("crc32")
    row["wall_ns"] *= 2
    path.write_bytes(b"\n".join([encode_checked(row), *rest]) + b"\n")


@pytest.mark.parametrize("same_time", [False, True])
def test_a_trial_that_was_tampered_with_is_found_as_without_a_cache(
    runs, reads, settled, same_time
):
    read_nights([runs])
    path = runs / "night-02" / "measurements.jsonl"
    before = path.stat()
    change_rows(runs / "night-02")
    if same_time:  # whoever tampers sets the time back; that of the inode cannot be set
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    found = read_nights([runs])
    kept_file(runs).unlink()
    anew = read_nights([runs])
    assert found == anew
    ((name, why),) = found.left_out
    assert (name, "changed after the trial ended" in why) == ("night-02", True)


def test_what_changes_right_after_a_reading_is_found_too(runs, hashed):
    # a file may change twice within one tick of its clock: what is young is hashed again
    read_nights([runs])
    read_nights([runs])
    assert sorted(hashed) == ["night-01", "night-02", "night-03"]


def test_what_changes_while_a_trial_is_read_is_found(runs, monkeypatch, settled):
    before = read_places.trial_values

    def meanwhile(path, metric=None):
        found = before(path, metric)
        if path.name == "night-02":
            change_rows(path)
        return found

    monkeypatch.setattr(read_places, "trial_values", meanwhile)
    read_nights([runs])
    monkeypatch.setattr(read_places, "trial_values", before)
    assert [name for name, _ in read_nights([runs]).left_out] == ["night-02"]


def test_a_copied_or_touched_trial_is_hashed_once_and_not_read(runs, reads, hashed, settled):
    # negative control of tampering: another time with the same bytes is no change
    first = read_nights([runs])
    os.utime(runs / "night-02" / "measurements.jsonl")
    reads.clear()
    assert read_nights([runs]) == first
    assert (reads, hashed) == ([], ["night-02"])
    read_nights([runs])
    assert hashed == ["night-02"]


def test_another_manifest_is_read_anew(runs, reads, night, settled):
    read_nights([runs])
    shutil.rmtree(runs / "night-02")
    night(2, tip=2.0)
    reads.clear()
    found = read_nights([runs])
    assert reads == ["night-02"]
    kept_file(runs).unlink()
    assert read_nights([runs]) == found


def test_a_trial_that_runs_is_never_kept(runs, reads, night):
    night(
        4, change=lambda made: setattr(made, "manifest", replace(made.manifest, status="running"))
    )
    read_nights([runs])
    reads.clear()
    read_nights([runs])
    assert reads == ["night-04"]
    assert "night-04" not in kept_file(runs).read_text()


def test_one_metric_is_not_taken_for_another(runs, reads):
    wall = read_nights([runs])
    user = read_nights([runs], metric="user")
    assert [s.metric for s in user.series] == ["user", "user"]
    reads.clear()
    assert (read_nights([runs]), read_nights([runs], metric="user")) == (wall, user)
    assert reads == []


def test_what_was_read_with_other_iterations_is_not_taken(runs, reads):
    whole = read_nights([runs])
    reads.clear()
    for setting, read in ((5, 3), (5, 0), ("auto", 3), (None, 0)):
        with judging_with(setting):
            assert read_nights([runs]) == whole  # wall has one value a run
        assert len(reads) == read
        reads.clear()


def test_a_damaged_cache_is_passed_over(runs):
    first = read_nights([runs])
    path = kept_file(runs)
    data = path.read_bytes()
    for damaged in (
        b"",
        b"\x00\xff" * 50,
        data[: len(data) // 2],
        data.replace(b'"rule":1', b'"rule":2'),
        data.replace(b'"log":[', b'"log":[1.5,'),
        b"[]\n{}\nnull\n" + data,
        b"\n".join(reversed(data.splitlines())) + b"\n",
    ):
        path.write_bytes(damaged)
        assert read_nights([runs]) == first


def test_a_line_of_another_shape_is_passed_over(runs):
    # with a right checksum, as of another version's
    first = read_nights([runs])
    path = kept_file(runs)
    data = path.read_bytes()
    for odd in (
        {"night": {}},
        {"night": None},
        {"night": {"values": {"tip": {}}}},
        {"files": []},
        {"manifest": None},
    ):
        lines = []
        for line in data.splitlines():
            assert checksum_holds(line)
            row = json.loads(line)
            row.pop("crc32")
            lines.append(encode_checked(row | odd if "folder" in row else row) + b"\n")
        path.write_bytes(b"".join(lines))
        # others are kept beside such a line
        assert len(read_nights([runs / "night-01", runs / "night-02"], metric="user").series) == 2
        assert read_nights([runs]) == first


def test_a_column_of_another_length_is_not_taken(runs, reads):
    read_nights([runs])
    path = kept_file(runs)
    lines = []
    for line in path.read_bytes().splitlines():
        row = json.loads(line)
        row.pop("crc32")
        if "folder" in row:
            row["night"]["values"]["tip"]["log"].append(0.0)
        lines.append(encode_checked(row) + b"\n")
    path.write_bytes(b"".join(lines))
    reads.clear()
    read_nights([runs])
    assert len(reads) == 3


def test_a_cache_of_another_version_of_fairtrial_is_not_read(runs, reads, monkeypatch):
    read_nights([runs])
    reads.clear()
    monkeypatch.setattr(kept_nights, "VERSION", "99.0")
    read_nights([runs])
    assert len(reads) == 3


def test_where_nothing_can_be_written_the_answer_is_the_same_and_it_is_said(runs, monkeypatch):
    first = read_nights([runs])
    kept_file(runs).unlink()
    said = []
    monkeypatch.setattr(read_places, "note", said.append)
    monkeypatch.setattr(read_places, "_MANY", 3)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_nights.tempfile, "mkstemp", full)
    assert read_nights([runs]) == first
    assert len(said) == 1
    assert "the next reading takes as long" in said[0]
    assert not kept_file(runs).exists()


def test_no_rest_of_a_write_that_failed_stays(runs, monkeypatch):
    def broken(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(kept_nights, "encode_checked", broken)
    read_nights([runs])
    assert list(kept_file(runs).parent.iterdir()) == []


def test_what_lies_beside_trials_is_not_believed(runs, tmp_path):
    """Authority: with a forged cache a night of 0.061 was told as 1.744, while every trial verified."""
    first = read_nights([runs])
    forged = kept_file(runs).read_bytes().replace(b'"complete":true', b'"complete":false')
    (runs / ".fairtrial-nights.jsonl").write_bytes(forged)
    shutil.rmtree(kept_file(runs).parent)
    assert read_nights([runs]) == first
    assert {path.name for path in runs.iterdir()} == {
        *("night-01", "night-02", "night-03", ".fairtrial-nights.jsonl")
    }


def test_nobody_else_may_read_what_is_kept(runs):
    before = os.umask(0)
    try:
        read_nights([runs])
    finally:
        os.umask(before)
    assert kept_file(runs).stat().st_mode & 0o777 == 0o600
    assert kept_file(runs).parent.stat().st_mode & 0o777 == 0o700


def test_a_link_in_the_place_of_the_cache_is_neither_followed_nor_written(runs, tmp_path):
    other = tmp_path / "other"
    other.write_text("mine\n")
    kept_file(runs).parent.mkdir(parents=True, exist_ok=True)
    kept_file(runs).symlink_to(other)
    read_nights([runs])
    assert other.read_text() == "mine\n"
    assert not kept_file(runs).is_symlink()


def test_what_a_link_leads_to_is_not_taken_for_what_was_kept(runs, reads, tmp_path):
    read_nights([runs])
    kept_file(runs).rename(tmp_path / "elsewhere")
    kept_file(runs).symlink_to(tmp_path / "elsewhere")
    reads.clear()
    read_nights([runs])
    assert len(reads) == 3


def test_trials_that_are_gone_are_forgotten(runs, night):
    read_nights([runs])
    shutil.rmtree(runs / "night-01")
    night(4)
    read_nights([runs])
    text = kept_file(runs).read_text()
    assert "night-01" not in text
    assert "night-04" in text


def test_the_trials_of_a_fleet_are_kept_beside_the_fleet(fleet_night, reads, tmp_path):
    for k in (1, 2):
        fleet_night(k, {"n1": 1.0, "n2": 1.1})
    first = read_nights([tmp_path / "runs"])
    reads.clear()
    assert read_nights([tmp_path / "runs"]) == first
    assert reads == []
    assert [*kept_file(tmp_path).parent.iterdir()] == [kept_file(tmp_path / "runs")]


def test_what_was_read_before_an_interruption_is_kept(runs, reads, monkeypatch):
    before = read_places.trial_values

    def interrupted(path, metric=None):
        if path.name == "night-03":
            raise KeyboardInterrupt
        return before(path, metric)

    monkeypatch.setattr(read_places, "trial_values", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_nights([runs])
    monkeypatch.setattr(read_places, "trial_values", before)
    text = kept_file(runs).read_text()
    assert "night-02" in text
    assert "night-03" not in text


def test_it_is_said_how_far_the_reading_is(runs, monkeypatch):
    said = []
    monkeypatch.setattr(read_places, "doing", lambda *words: said.append(words))
    read_nights([runs])
    assert said == [("reading", k, 3, "nights") for k in range(3)]
    assert reading.NIGHTS_MOST == 400
