"""Bundles of earlier versions: what they asked when they were packed, and that they are read and computed again."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from analysis.artifact.archive import open_archive, weigh, write_archive
from analysis.artifact.reproduce import receive_bundle, reproduce, with_packed_question
from analysis.record.trial_files import JudgedMetrics

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


RPS = {"rps": {"unit": "1/s", "better": "higher"}}
GATE = ("gate", "slower>2%", "trials/t", "--json")


@pytest.fixture
def folder(synthetic, tmp_path):
    def make(**manifest):
        cells = {"a": {"x": [1.0, 2.0]}, "b": {"x": [1.0, 2.0]}}
        synthetic(cells, **manifest).write(tmp_path / "trials" / "t")
        return tmp_path

    return make


@pytest.mark.parametrize(
    "command", [GATE, ("verdict", "trials/t"), ("hpt", "trials/t:b", "trials/t:a")]
)
def test_a_trial_that_declares_metrics_was_judged_by_its_wall_time(folder, command):
    asked = with_packed_question(command, folder(metrics=RPS), b"{}")
    assert asked == (*command, "--metric", "wall")


@pytest.mark.parametrize(
    ("command", "stored", "manifest"),
    [
        ((*GATE, "--metric", "rps"), b"{}", {"metrics": RPS}),
        ((*GATE, "--metric=rps"), b"{}", {"metrics": RPS}),
        (GATE, b"declares rps; judged is wall: --metric rps", {"metrics": RPS}),
        (GATE, b"{}", {}),
        (GATE, b"{}", {"metrics": {"cycles": RPS["rps"] | {"source": "counters"}}}),
        (GATE, b"{}", {"metrics": RPS, "origin": "imported"}),
        (GATE, b"{}", {"metrics": RPS, "judge": (JudgedMetrics(at="x", metrics=("rps",)),)}),
        (("gate", "slower>2%", "trials/u"), b"{}", {"metrics": RPS}),
    ],
)
def test_everything_else_asks_what_it_says(folder, command, stored, manifest):
    assert with_packed_question(command, folder(**manifest), stored) == command
