"""What is kept beside the trials: never another answer than the trials', and never in the way."""

import json
import os
import shutil
from dataclasses import replace

import pytest

from analysis.history import kept_nights, nights as reading, series as read_places
from analysis.history.kept_nights import kept_file, kept_folder
from analysis.history.nights import read_nights
from analysis.record.manifest import judging_with
from analysis.record.shapes import encode_checked


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
    shutil.rmtree(kept_folder(runs))
    assert read_nights([runs], plain=True) == plain
    assert len(reads) == 3


def test_the_paths_are_those_that_are_given(runs, reads, monkeypatch):
    read_nights([runs])
    monkeypatch.chdir(runs)
    reads.clear()
    found = read_nights(["night-01", "./night-02"])
    assert [one.path for one in found.series[0].values] == ["night-01", "night-02"]
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
    shutil.rmtree(kept_folder(runs))
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
    shutil.rmtree(kept_folder(runs))
    assert read_nights([runs]) == found


def test_a_trial_that_runs_is_never_kept(runs, reads, night):
    night(
        4, change=lambda made: setattr(made, "manifest", replace(made.manifest, status="running"))
    )
    read_nights([runs])
    reads.clear()
    read_nights([runs])
    assert reads == ["night-04"]
    assert not kept_file(runs / "night-04", None).exists()


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


def rewritten(runs, change):
    """Write what is kept of each trial anew, with a right checksum, as of another version's."""
    for path in kept_folder(runs).iterdir():
        row = json.loads(path.read_bytes())
        row.pop("crc32")
        change(row)
        path.write_bytes(encode_checked(row))


def test_a_damaged_cache_is_passed_over(runs):
    first = read_nights([runs])
    path = kept_file(runs / "night-02", None)
    data = path.read_bytes()
    for damaged in (
        b"",
        b"\x00\xff" * 50,
        data[: len(data) // 2],
        data.replace(b'"rule":5', b'"rule":2'),
        data.replace(b'"tip":[[', b'"tip":[[1.5],['),
        b"[]\n{}\nnull\n" + data,
    ):
        path.write_bytes(damaged)
        assert read_nights([runs]) == first


@pytest.mark.parametrize(
    ("odd", "read"),
    [
        (lambda row: row.update(night={}), 3),
        (lambda row: row.update(night=None), 3),
        (lambda row: row["night"].update(values={"tip": {}}), 3),
        (
            lambda row: row["night"]["values"]["tip"].append(
                [None] * 3 + [0] * 2 + [None] * 2 + [False]
            ),
            3,
        ),
        (lambda row: row.update(files=[]), 0),  # these are hashed again
        (lambda row: row.update(manifest=None), 3),
        (lambda row: row.update(rule=3), 3),
        (lambda row: row.update(tool_version="99.0"), 3),
    ],
)
def test_what_has_another_shape_or_version_is_passed_over(runs, reads, odd, read):
    first = read_nights([runs])
    rewritten(runs, odd)
    reads.clear()
    assert read_nights([runs]) == first
    assert len(reads) == read


def test_where_nothing_can_be_written_the_answer_is_the_same_and_it_is_said(runs, monkeypatch):
    first = read_nights([runs])
    shutil.rmtree(kept_folder(runs))
    said = []
    monkeypatch.setattr(read_places, "note", said.append)
    monkeypatch.setattr(read_places, "_MANY", 3)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_nights.tempfile, "mkstemp", full)
    assert read_nights([runs]) == first
    assert len(said) == 1
    assert "the next reading takes as long" in said[0]
    assert [*kept_folder(runs).iterdir()] == []


def test_no_rest_of_a_write_that_failed_stays(runs, monkeypatch):
    def broken(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(kept_nights, "encode_checked", broken)
    read_nights([runs])
    assert [*kept_folder(runs).iterdir()] == []


def test_what_lies_beside_trials_is_not_believed(runs):
    """Authority: with a forged cache a night of 0.061 was told as 1.744, while every trial verified."""
    first = read_nights([runs])
    forged = kept_file(runs / "night-02", None).read_bytes()
    (runs / ".fairtrial-nights.jsonl").write_bytes(forged.replace(b'"tip":[[', b'"tip":[[1.5],['))
    shutil.rmtree(kept_folder(runs))
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
    assert kept_file(runs / "night-01", None).stat().st_mode & 0o777 == 0o600
    assert kept_folder(runs).stat().st_mode & 0o777 == 0o700


def test_a_link_in_the_place_of_the_cache_is_neither_followed_nor_written(runs, reads, tmp_path):
    read_nights([runs])
    path, other = kept_file(runs / "night-02", None), tmp_path / "elsewhere"
    path.rename(other)
    path.symlink_to(other)
    data = other.read_bytes()
    reads.clear()
    read_nights([runs])
    assert reads == ["night-02"]
    assert other.read_bytes() == data
    assert not path.is_symlink()


def test_trials_that_are_gone_are_forgotten(runs, night):
    read_nights([runs])
    shutil.rmtree(runs / "night-01")
    night(4)
    read_nights([runs])
    names = {path.name.partition(" ")[0] for path in kept_folder(runs).iterdir()}
    assert names == {"night-02", "night-03", "night-04"}


def test_the_trials_of_a_fleet_are_kept_beside_the_fleet(fleet_night, reads, tmp_path):
    for k in (1, 2):
        fleet_night(k, {"n1": 1.0, "n2": 1.1})
    first = read_nights([tmp_path / "runs"])
    reads.clear()
    assert read_nights([tmp_path / "runs"]) == first
    assert reads == []
    assert len([*kept_folder(tmp_path / "runs").iterdir()]) == 4


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
    assert kept_file(runs / "night-02", None).exists()
    assert not kept_file(runs / "night-03", None).exists()


def test_it_is_said_how_far_the_reading_is(runs, monkeypatch):
    said = []
    monkeypatch.setattr(read_places, "doing", lambda *words: said.append(words))
    read_nights([runs])
    assert said == [("reading", k, 3, "nights") for k in range(3)]
    assert reading.NIGHTS_MOST == 400
