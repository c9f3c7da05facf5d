"""Profiles beside a trial in its bundle: on request, whole, and said where they are left out (docs/artifacts.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.errors import StoreError, UsageError
from analysis.record.profiles import profiles_of, read_profile
from tests.profiled import profile_beside

pytestmark = pytest.mark.usefixtures("quick")


def files_below(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def packed_below(files, root):
    return {name.removeprefix(root): data for name, data in files.items() if name.startswith(root)}


def test_profiles_are_packed_whole_on_request_and_read_again(campaign, pack, tmp_path, synthetic):
    folder = profile_beside(campaign.trial, synthetic, variant="b")
    made = pack(campaign.trial, campaign=campaign.file, why=True)
    root = f"trials/{campaign.trial.name}.why/"
    assert packed_below(made.files, root) == files_below(profiles_of(campaign.trial))
    assert not [what for what in made.missing if ".why" in what]
    place = tmp_path / "unpacked"
    for name, data in packed_below(made.files, f"trials/{campaign.trial.name}.why/b/").items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    assert read_profile(place).cells == read_profile(folder).cells


def test_profiles_that_are_left_out_are_listed(campaign, pack, synthetic):
    profile_beside(campaign.trial, synthetic, variant="b")
    made = pack(campaign.trial, campaign=campaign.file)
    assert not packed_below(made.files, f"trials/{campaign.trial.name}.why/")
    assert "--why" in made.missing[f"trials/{campaign.trial.name}.why/"].why


def test_a_trial_without_profiles_gives_the_bundle_that_it_gave_before(campaign, pack):
    made = pack(campaign.trial, campaign=campaign.file)
    assert not [name for name in (*made.files, *made.missing) if ".why" in name]


def test_a_wish_for_profiles_that_nobody_recorded_is_refused(campaign, pack):
    with pytest.raises(UsageError, match="no profile lies beside") as refused:
        pack(campaign.trial, campaign=campaign.file, why=True)
    assert "fairtrial why" in refused.value.fix


def test_an_unfinished_profile_and_foreign_files_stay_behind_and_are_listed(
    campaign, pack, synthetic
):
    folder = profile_beside(campaign.trial, synthetic, variant="b")
    (folder.parent / ".b.part").mkdir()
    (folder.parent / ".b.part" / "samples.jsonl").write_text("{}\n")
    (folder / "perf.data").write_bytes(b"PERFILE2")
    made = pack(campaign.trial, campaign=campaign.file, why=True)
    root = f"trials/{campaign.trial.name}.why"
    assert not {f"{root}/b/perf.data", f"{root}/.b.part/samples.jsonl"} & set(made.files)
    assert f"{root}/b/perf.data" in made.missing
    assert f"{root}/.b.part" in made.missing


def test_a_link_in_the_place_of_the_profiles_is_not_followed(campaign, pack, tmp_path, synthetic):
    profile_beside(campaign.trial, synthetic, variant="b")
    profiles_of(campaign.trial).rename(tmp_path / "elsewhere")
    profiles_of(campaign.trial).symlink_to(tmp_path / "elsewhere")
    made = pack(campaign.trial, campaign=campaign.file)
    assert "a link" in made.missing[f"trials/{campaign.trial.name}.why/"].why
    with pytest.raises(UsageError, match="no profile lies beside"):
        pack(campaign.trial, campaign=campaign.file, why=True)


def test_timed_runs_that_were_changed_since_are_refused(campaign, pack, synthetic):
    folder = profile_beside(campaign.trial, synthetic, variant="b")
    with (folder / "timed" / "plan.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(StoreError, match="not what it was"):
        pack(campaign.trial, campaign=campaign.file, why=True)
