"""Bundles of schema 1, which fairtrial 0.2.0 packed, are the authority for reading and recomputing them.

One is of a trial of schema 1, with outputs; the other of schema 2, redacted, with claims and a campaign. Their
wheels were left out, for size.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from analysis.artifact.archive import open_archive, weigh, write_archive
from analysis.artifact.reproduce import receive_bundle, reproduce

BUNDLES = Path(__file__).resolve().parents[4] / "data" / "bundles"
IDENTITIES = {
    "gzip-0.2.0.zip": "2f6df181f9fdecb040224020898f32bb5cb9d39de1598839d9883f9562456ac4",
    "counting-0.2.0.zip": "a451516236ee053b979b3a206afcd68564d4c03b5099a465c004622c4cd83932",
}


@pytest.mark.usefixtures("quick_answers")
@pytest.mark.parametrize("name", IDENTITIES)
def test_it_is_whole_and_every_number_of_its_verdict_comes_out(name):
    found = reproduce(BUNDLES / name)
    assert found.identity == IDENTITIES[name]
    with zipfile.ZipFile(BUNDLES / name) as file:
        assert found.identity == hashlib.sha256(file.read("SHA256SUMS")).hexdigest()
    (verdict,) = (one for one in found.analyses if one.name == "verdict")
    assert verdict.numbers == verdict.same + verdict.near > 90
    assert [one.holds for one in found.claims] == [True] * len(found.claims)


@pytest.mark.parametrize("name", IDENTITIES)
def test_it_is_unpacked_to_be_measured_again(name, tmp_path):
    received = receive_bundle(BUNDLES / name, tmp_path / "new")
    (trial,) = received.trials
    assert trial.campaign.is_file()
    with zipfile.ZipFile(BUNDLES / name) as file:
        unpacked = {
            one: (tmp_path / "new" / one).read_bytes() == file.read(one) for one in file.namelist()
        }
    assert all(unpacked.values())
    script = tmp_path / "new" / "campaigns" / trial.name / "count.sh"
    assert name.startswith("gzip") or script.stat().st_mode & 0o100


@pytest.mark.parametrize("name", IDENTITIES)
def test_other_bytes_of_the_same_contents_have_its_identity(name, tmp_path):
    with open_archive(BUNDLES / name) as archive, (tmp_path / "a.zip").open("wb") as file:
        files = [weigh(one, lambda one=one: archive.pieces(one)) for one in archive.entries]
        write_archive(file, reversed(files))
    assert (tmp_path / "a.zip").read_bytes() != (BUNDLES / name).read_bytes()
    with open_archive(tmp_path / "a.zip") as archive:
        assert archive.sha256("SHA256SUMS") == IDENTITIES[name]
