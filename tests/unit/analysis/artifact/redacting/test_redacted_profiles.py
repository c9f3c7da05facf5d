"""Names taken out of profiles beside a trial: the host's, home folders in names of functions, the timed runs'."""

from __future__ import annotations

import json

import pytest

from analysis.record.manifest import read_manifest
from analysis.record.profiles import read_profile
from tests.profiled import CALLS, profile_beside

HOME = "/home/jdoe/sort"
CHAIN = ("_start@app", "main@app", f"py::key:{HOME}/prog.py@python3.12")


@pytest.fixture
def profiled(folder, synthetic):
    """Plant names in a profile beside the trial of a bundle's folder."""
    folder.manifest(host="lab07", campaign_path=f"{HOME}/c.yaml")
    calls = {**CALLS, CHAIN: (3.0, 4.0)}
    made = profile_beside(folder.trial, synthetic, variant="gzip-1", calls=calls)
    return folder, made


def test_host_and_home_are_gone_and_what_was_counted_stays_with_its_trial(profiled):
    folder, made = profiled
    host_id = read_manifest(folder.trial).host_id
    done = folder.redact("user,host,paths")
    text = folder.whole()
    assert [name for name in ("lab07", "jdoe", "/home/", host_id) if name in text] == []
    read = read_profile(made)
    assert read.profile.host_id == read_manifest(folder.trial).host_id
    assert read.profile.trial == read_manifest(folder.trial).trial
    assert read_manifest(made / "timed").host_id == read.profile.host_id
    changed = {name.rpartition("/")[2] for name in done.record.files if ".why/" in name}
    assert changed == {"profile.json", "samples.jsonl", "manifest.json"}
    before = read_profile(made).cells
    folder.redact("user,host,paths")
    after = read_profile(made).cells
    for one, other in zip(before, after, strict=True):
        assert one.chains == other.chains
        counts = [function.samples for function in one.functions]
        assert counts == [function.samples for function in other.functions]
    names = {function.symbol for cell in after for function in cell.functions}
    assert "qsort_cmp.isra.0" in names
    assert [name for name in names if name.startswith("py::key:/redacted-")] != []


def test_names_stay_where_only_another_kind_is_taken_out(profiled):
    folder, made = profiled
    folder.redact("host")
    assert any(CHAIN[-1].startswith(one.symbol) for one in read_profile(made).cells[0].functions)
    assert "lab07" not in folder.whole()


def test_a_trial_that_is_called_after_its_host_keeps_its_profile(folder, synthetic):
    folder.manifest(host="lab07", trial="lab07")
    made = profile_beside(folder.trial, synthetic, variant="gzip-1")
    folder.redact("host")
    assert read_profile(made).profile.trial == read_manifest(folder.trial).trial != "lab07"


def test_a_damaged_profile_is_left_as_it_is(profiled):
    folder, made = profiled
    (made / "profile.json").write_text("{")
    with (made / "samples.jsonl").open("a") as file:
        file.write('{"session": 7, ')
    folder.redact("user,host,paths")
    assert (made / "profile.json").read_text() == "{"
    rows = (made / "samples.jsonl").read_text().splitlines()
    assert rows[-1] == '{"session": 7, '
    assert json.loads(rows[0])["functions"]
