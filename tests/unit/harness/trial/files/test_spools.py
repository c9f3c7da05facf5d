"""What runs write: caught without following links, and kept up to a cap."""

from __future__ import annotations

import pytest

from analysis.errors import StoreError
from harness.trial.run_files import Spools, kept_bytes, remove_discarded


@pytest.fixture
def outputs(tmp_path):
    path = tmp_path / "trial" / "outputs"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def spools(outputs):
    made = []

    def make(most=1000):
        made.append(Spools(outputs, most))
        return made[-1]

    yield make
    for one in made:
        one.close()


def names(outputs):
    return {path.name for path in outputs.iterdir()}


def test_outputs_beyond_the_cap_are_dropped_and_counted(spools, outputs):
    caught = spools(most=250)
    kept = []
    for run in range(4):
        caught.stdout.write_text("x" * 100)
        kept.append(caught.keep(caught.stdout, f"{run:04d}.stdout", 10**6))
    caught.stdout.write_text("x" * 50)  # what still fits is kept
    kept.append(caught.keep(caught.stdout, "0004.stdout", 10**6))
    assert kept == [True, True, False, False, True]
    assert names(outputs) == {"0000.stdout", "0001.stdout", "0004.stdout"}
    finding = caught.finding()
    assert finding.what.startswith("2 outputs of runs (0.0 MB) were not kept")
    assert finding.where == "isolation.kept_outputs"


def test_within_the_cap_there_is_nothing_to_say(spools):
    caught = spools()
    caught.stdout.write_text("x" * 1000)
    assert caught.keep(caught.stdout, "0000.stdout", 10**6)
    caught.stdout.write_text("")
    assert caught.keep(caught.stdout, "0001.stdout", 10**6)  # an empty one takes no room
    assert caught.finding() is None


@pytest.mark.parametrize("name", ["0000.stdout", "w1.stderr", "r1.stdout", "10000.after.log"])
def test_what_earlier_sessions_kept_counts(spools, outputs, name):
    (outputs / name).write_text("x" * 900)
    (outputs / "build-a-1.log").write_text("x" * 900)  # no run's
    assert kept_bytes(outputs) == 900
    caught = spools(most=1000)
    caught.stderr.write_text("x" * 101)
    assert not caught.keep(caught.stderr, "0001.stderr", 10**6)
    assert caught.finding().what.startswith("1 output of runs")


def test_what_a_run_without_a_row_kept_is_removed(outputs):
    kept = {"0000.stdout", "0011.before.log", "w1.stderr", "r2.stdout"}
    others = {"build-a-1.log", "setup-session1-1.log", "7.stdout", "0009.json"}
    gone = {"0007.stdout", "w4.stdout", "r3.stderr", "10000.after.log"}
    for name in kept | others | gone:
        (outputs / name).touch()
    (outputs / "0008.stdout").mkdir()  # a hook's
    remove_discarded(outputs, {0, 11, -1, -2})
    assert names(outputs) == kept | others | {"0008.stdout"}


def test_a_cap_of_nothing_keeps_nothing(spools, outputs):
    caught = spools(most=0)
    caught.stdout.write_text("x")
    assert not caught.keep(caught.stdout, "0000.stdout", 10**6)
    assert names(outputs) == set()


def test_what_is_kept_is_cut_first(spools, outputs):
    caught = spools(most=100)
    caught.stdout.write_text("x" * 5000)
    assert caught.keep(caught.stdout, "0000.stdout", 100)
    assert len((outputs / "0000.stdout").read_text()) == 100


@pytest.mark.parametrize("there", [True, False])
def test_a_program_that_puts_a_link_in_the_place_of_its_output_wrote_nothing(
    spools, tmp_path, there
):
    victim = tmp_path / "victim"
    if there:
        victim.write_text("precious")
    caught = spools()
    caught.stdout.symlink_to(victim)
    caught.caught(caught.stdout)
    assert caught.stdout.read_text() == ""
    assert not caught.stdout.is_symlink()
    assert victim.exists() == there
    assert not there or victim.read_text() == "precious"


def test_a_folder_that_was_replaced_stops_the_trial(spools, outputs, tmp_path):
    caught = spools()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    outputs.rename(tmp_path / "moved")
    outputs.symlink_to(elsewhere)
    with pytest.raises(StoreError, match="the folder was replaced"):
        caught.caught(caught.stdout)
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_is_a_link_is_refused(tmp_path, outputs):
    outputs.rmdir()
    outputs.symlink_to(tmp_path)
    with pytest.raises(StoreError, match="symbolic link"):
        Spools(outputs, 1)
