"""What is in a bundle, and what is listed as missing: for whoever would look for it."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import re
import shutil
import stat
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.artifact import bundle as answers
from analysis.artifact.archive import Missing, RedactionRecord, read_contents
from analysis.artifact.describing import Redacted
from analysis.artifact.gathering import Staging
from analysis.artifact.recomputing import Recomputed
from analysis.errors import StoreError, UsageError
from analysis.record.shapes import encode_checked
from analysis.record.trial_files import BUILDS, BuildRecord

ABOUT = """\
title: A title
description: What it is about.
authors: [{name: Ada Lovelace, orcid: 0000-0002-1825-0097, affiliation: X}]
license: MIT
doi: 10.5281/zenodo.1234567
"""


def below(files, root):
    return {
        name.removeprefix(f"{root}/"): data
        for name, data in files.items()
        if name.startswith(f"{root}/")
    }


def rewrite(trial, name, change):
    """Change a file of a trial as if it had been measured so."""
    text = change((trial / name).read_text())
    (trial / name).write_text(text)
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["files"][name] = hashlib.sha256(text.encode()).hexdigest()
    (trial / "manifest.json").write_text(json.dumps(manifest))


def test_a_file_that_is_too_large_takes_no_room_from_others(tmp_path):
    staging = Staging(tmp_path, 10)
    with pytest.raises(UsageError, match="more than 10 bytes"):
        staging.write("wheel", bytes(11))
    staging.write("page", bytes(10))
    assert staging.names == ["page"]


@pytest.mark.usefixtures("quick")
class TestContents:
    def test_the_trial_is_whole_with_every_file_that_its_campaign_names(self, campaign, pack):
        made = pack(campaign.trial, campaign=campaign.file)
        found = below(made.files, f"trials/{campaign.trial.name}")
        there = {
            p.relative_to(campaign.trial).as_posix(): p.read_bytes()
            for p in campaign.trial.rglob("*")
            if p.is_file()
        }
        with tarfile.open(fileobj=io.BytesIO(found.pop("outputs.tar"))) as tar:
            for member in tar.getmembers():
                found[f"outputs/{member.name}"] = tar.extractfile(member).read()
        assert found == there
        found = below(made.files, f"campaigns/{campaign.trial.name}")
        inputs = {"campaign.yaml", "data/in.txt", "data/std.txt", "want.txt", "hook.py"}
        programs = {"src/prog.sh", "build-a.sh", "build-b.sh"}
        assert set(found) == inputs | programs
        assert found["campaign.yaml"] == campaign.file.read_bytes()
        with zipfile.ZipFile(made.path) as file:
            executable = {one.filename for one in file.infolist() if one.external_attr >> 22 & 1}
        assert {f"campaigns/{campaign.trial.name}/{name}" for name in programs} == executable
        # what lies outside of the campaign is listed with its hash
        gzip = shutil.which("gzip", path="/usr/bin:/bin")
        assert made.missing[gzip].why == "a program of the host"
        assert made.missing[gzip].sha256 == hashlib.sha256(Path(gzip).read_bytes()).hexdigest()
        assert "outside of the campaign's folder" in made.missing["/etc/hostname"].why
        assert made.missing["/etc/hostname"].sha256 is not None
        # every file is hashed in the manifest and for sha256sum
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in made.files.items()}
        listed = made.contents["files"]
        assert set(listed) == set(made.files) - {"bundle.json", "SHA256SUMS"}
        for name, record in listed.items():
            assert record == {"bytes": len(made.files[name]), "sha256": hashes[name]}
        sums = (line.split("  ", 1) for line in made.files["SHA256SUMS"].decode().splitlines())
        assert {name: sha256 for sha256, name in sums} | {
            "SHA256SUMS": hashes["SHA256SUMS"]
        } == hashes
        assert read_contents(made.files["bundle.json"], "a.zip") == made.said.contents

    def test_binaries_are_hashed_and_packed_on_request(self, campaign, pack):
        data = b"\x7fELF and more"
        for name in ("build-a.sh", "hook.py"):
            (campaign.folder / name).write_bytes(data)
        made = pack(campaign.trial, campaign=campaign.file)
        # a program that was measured, and is another one now
        assert "changed since it was measured" in made.missing["build-a.sh"].why
        assert made.missing["hook.py"].sha256 == hashlib.sha256(data).hexdigest()
        assert "--binaries" in made.missing["hook.py"].why
        with_them = pack(campaign.trial, campaign=campaign.file, binaries=True)
        assert "hook.py" not in with_them.missing
        assert with_them.files[f"campaigns/{campaign.trial.name}/hook.py"] == data

    def test_what_each_session_built_anew_is_not_passed_off_as_what_was_measured(
        self, campaign, pack
    ):
        # the negative control: what all sessions have in common is what was measured
        same = hashlib.sha256((campaign.folder / "build-b.sh").read_bytes()).hexdigest()
        records = [
            BuildRecord(
                session=session,
                segment=0,
                variant="a",
                artifacts={},
                programs={"build-a.sh": f"{session}" * 64, "build-b.sh": same},
                seconds=1.0,
                log=(),
                at="2026-11-27T10:00:00Z",
            )
            for session in (1, 2)
        ]
        lines = (encode_checked(one.to_dict()) + b"\n" for one in records)
        (campaign.trial / BUILDS).write_bytes(b"".join(lines))
        stored = json.loads((campaign.trial / "manifest.json").read_text())
        digest = hashlib.sha256((campaign.trial / BUILDS).read_bytes()).hexdigest()
        stored["files"][BUILDS] = digest
        (campaign.trial / "manifest.json").write_text(json.dumps(stored))
        made = pack(campaign.trial, campaign=campaign.file, binaries=True)
        root = f"campaigns/{campaign.trial.name}"
        assert (f"{root}/build-a.sh" in made.files, f"{root}/build-b.sh" in made.files) == (
            False,
            True,
        )
        assert "each session built its own" in made.missing["build-a.sh"].why
        assert f"trials/{campaign.trial.name}/{BUILDS}" in made.files

    def test_an_input_that_changed_since_is_not_passed_off_as_the_measured_one(
        self, campaign, pack
    ):
        (campaign.folder / "data" / "in.txt").write_text("other\n")
        (campaign.folder / "want.txt").unlink()
        made = pack(campaign.trial, campaign=campaign.file)
        old = hashlib.sha256(b"hi\n").hexdigest()
        assert "changed since it was measured" in made.missing["data/in.txt"].why
        assert made.missing["data/in.txt"].sha256 == old
        assert made.missing["want.txt"].why == "it is not there any more"
        assert made.missing["want.txt"].sha256 == old

    def test_further_files_are_chosen_by_bundle_yaml(self, campaign, pack):
        (campaign.folder / "bundle.yaml").write_text(ABOUT + "files: [src/, nothing/*.c]\n")
        made = pack(campaign.trial, campaign=campaign.file)
        root = f"campaigns/{campaign.trial.name}"
        assert made.files[f"{root}/src/notes.md"] == b"of the source\n"
        assert f"{root}/bundle.yaml" in made.files
        assert f"{root}/.secret" not in made.files
        assert "no file fits" in made.missing["nothing/*.c"].why

    def test_hidden_files_and_links_that_lead_out_are_not_packed_by_a_pattern(
        self, campaign, pack, tmp_path
    ):
        (tmp_path / "private").write_text("key")
        (campaign.folder / "link").symlink_to(tmp_path / "private")
        (campaign.folder / "bundle.yaml").write_text('files: ["**"]\n')
        made = pack(campaign.trial, campaign=campaign.file)
        names = below(made.files, f"campaigns/{campaign.trial.name}")
        assert "src/notes.md" in names
        assert ".secret" not in names
        assert "link" not in names
        assert "leads out" in made.missing["link"].why

    def test_a_pattern_chooses_neither_the_archive_nor_what_is_packed_anyway(self, campaign, pack):
        (campaign.folder / "bundle.yaml").write_text('files: ["**"]\n')
        inside = campaign.folder / "runs" / campaign.trial.name
        shutil.copytree(campaign.trial, inside)
        (campaign.folder / "__pycache__").mkdir()
        (campaign.folder / "__pycache__" / "hook.pyc").write_bytes(b"x")
        first = pack(inside, campaign=campaign.file, output="c/a.zip").path.read_bytes()
        again = pack(inside, campaign=campaign.file, output="c/a.zip")
        assert again.path.read_bytes() == first
        names = below(again.files, f"campaigns/{campaign.trial.name}")
        assert {name.split("/")[0] for name in names} == {
            *("build-a.sh", "build-b.sh", "bundle.yaml", "campaign.yaml", "data", "hook.py"),
            *("src", "want.txt"),
        }

    def test_a_file_that_may_not_be_looked_at_is_listed(self, campaign, pack, monkeypatch):
        found = Path.is_file

        def is_file(path):
            if path.name == "std.txt":
                raise PermissionError(13, "Permission denied")
            return found(path)

        monkeypatch.setattr(Path, "is_file", is_file)
        missing = pack(campaign.trial, campaign=campaign.file).missing
        assert "Permission denied" in missing["data/std.txt"].why
        assert missing["data/std.txt"].sha256 == hashlib.sha256(b"std\n").hexdigest()

    def test_a_folder_that_a_command_names_is_listed(self, campaign, pack):
        rewrite(campaign.trial, "resolved.json", lambda text: text.replace('"hook.py"', '"src"'))
        (campaign.folder / "src" / "prog.sh").unlink()
        missing = pack(campaign.trial, campaign=campaign.file).missing
        assert "names this folder" in missing["src/"].why
        assert "data/" not in missing  # some of it is there

    def test_without_the_campaigns_folder_all_its_files_are_listed(self, campaign, pack, measured):
        shutil.rmtree(campaign.folder)
        trial = campaign.trial
        manifest = json.loads((trial / "manifest.json").read_text())
        manifest["campaign_path"] = str(campaign.file)
        (trial / "manifest.json").write_text(json.dumps(manifest))
        made = pack(trial)
        assert f"campaigns/{trial.name}/campaign.yaml" in made.files
        (why,) = {m.why for w, m in made.missing.items() if w.startswith("the files that")}
        assert "is not there any more" in why
        inputs = {m.sha256 for m in made.missing.values()}
        assert hashlib.sha256(b"std\n").hexdigest() in inputs

    def test_a_campaign_file_that_changed_is_a_caution(self, campaign, pack):
        campaign.file.write_text(campaign.file.read_text() + "# more\n")
        made = pack(campaign.trial, campaign=campaign.file)
        assert [one.code for one in made.said.cautions] == ["campaign-changed"]
        packed = made.files[f"campaigns/{campaign.trial.name}/campaign.yaml"]
        assert packed == (campaign.trial / "campaign.yaml").read_bytes()

    def test_files_that_do_not_fit_are_listed_and_a_trial_that_does_not_is_refused(
        self, campaign, pack
    ):
        (campaign.folder / "large").write_bytes(bytes(50_000_000))
        (campaign.folder / "bundle.yaml").write_text("files: [large]\n")
        made = pack(campaign.trial, campaign=campaign.file, max_bytes=20_000_000)
        assert "too large" in made.missing["large"].why
        assert made.missing["large"].bytes == 50_000_000
        assert made.missing["large"].sha256 == hashlib.sha256(bytes(50_000_000)).hexdigest()
        with pytest.raises(UsageError, match="more than 1,000 bytes"):
            pack(campaign.trial, campaign=campaign.file, max_bytes=1000)

    def test_what_is_no_part_of_the_trial_is_listed(self, campaign, pack, tmp_path):
        (campaign.trial / "notes.txt").write_text("mine")
        (campaign.trial / "link").symlink_to(tmp_path)
        gone = next((campaign.trial / "outputs").iterdir())
        gone.unlink()
        made = pack(campaign.trial, campaign=campaign.file)
        root = f"trials/{campaign.trial.name}"
        assert "not part of the trial" in made.missing[f"{root}/notes.txt"].why
        assert "not part of the trial" in made.missing[f"{root}/link"].why
        assert "does not hold it any more" in made.missing[f"{root}/outputs/{gone.name}"].why

    def test_a_trial_without_its_campaign_is_packed_and_the_campaign_listed(self, campaign, pack):
        (campaign.trial / "campaign.yaml").unlink()
        made = pack(campaign.trial, campaign=campaign.file)
        place = f"campaigns/{campaign.trial.name}/campaign.yaml"
        assert made.missing[place].why == "the trial does not hold it"
        assert place not in made.files
        assert made.contents["sources"][0]["campaign"] is None

    def test_what_a_trial_was_imported_from_is_listed(self, campaign, pack):
        manifest = campaign.trial / "manifest.json"
        stored = json.loads(manifest.read_text())
        why = "the trial was imported from it; name it as a SOURCE too to pack it"
        made = pack(campaign.trial, campaign=campaign.file)
        assert why not in [one.why for one in made.missing.values()]
        stored["origin"] = "imported"
        manifest.write_text(json.dumps(stored))
        made = pack(campaign.trial, campaign=campaign.file)
        assert [one.what for one in made.missing.values() if one.why == why] == [
            stored["campaign_path"]
        ]

    def test_a_trial_that_was_changed_is_refused(self, campaign, pack):
        with (campaign.trial / "findings.jsonl").open("ab") as file:
            file.write(b"\n")
        with pytest.raises(StoreError, match="not what it was when the trial ended"):
            pack(campaign.trial, campaign=campaign.file)

    def test_a_trial_under_way_is_refused(self, campaign, pack):
        manifest = json.loads((campaign.trial / "manifest.json").read_text())
        manifest |= {"status": "running", "files": {}, "finished": None}
        (campaign.trial / "manifest.json").write_text(json.dumps(manifest))
        with (campaign.trial / "measurements.jsonl").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with pytest.raises(StoreError, match="is being measured"):
                pack(campaign.trial, campaign=campaign.file)
        # its runner was killed: what it measured is there
        made = pack(campaign.trial, campaign=campaign.file)
        assert f"trials/{campaign.trial.name}/measurements.jsonl" in made.files

    def test_an_archive_is_no_source(self, campaign, pack):
        made = pack(campaign.trial, campaign=campaign.file)
        with pytest.raises(UsageError, match="this is an archive"):
            pack(made.path, output="b.zip")

    def test_two_trials_of_one_campaign_share_its_files(self, campaign, pack):
        other = campaign.trial.parent / "other"
        shutil.copytree(campaign.trial, other)
        manifest = (other / "manifest.json").read_text()
        (other / "manifest.json").write_text(manifest.replace(campaign.trial.name, "other"))
        made = pack(campaign.trial.parent, campaign=campaign.file)
        names = [one["path"] for one in made.contents["sources"]]
        assert names == sorted([f"trials/{campaign.trial.name}", "trials/other"])
        campaigns = {one["campaign"] for one in made.contents["sources"]}
        assert len(campaigns) == 1

    def test_one_campaign_file_is_not_taken_for_two_campaigns(self, campaign, pack):
        other = campaign.trial.parent / "other"
        shutil.copytree(campaign.trial, other)
        manifest = json.loads((other / "manifest.json").read_text())
        manifest |= {"trial": "other", "campaign_sha256": "0" * 64}
        (other / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(UsageError, match="different campaigns"):
            pack(campaign.trial.parent, campaign=campaign.file)

    def test_another_file_with_the_campaigns_name_is_listed(self, campaign, pack):
        named = campaign.folder / "tiny.yaml"
        campaign.file.rename(named)
        (campaign.folder / "campaign.yaml").write_text("data of the benchmark")
        (campaign.folder / "bundle.yaml").write_text('files: ["*.yaml"]\n')
        made = pack(campaign.trial, campaign=named)
        place = f"campaigns/{campaign.trial.name}/campaign.yaml"
        assert made.files[place] == named.read_bytes()
        assert "cannot be unpacked together with" in made.missing["campaign.yaml"].why

    def test_files_of_other_tools_are_packed_as_they_are(self, pack, tmp_path):
        (tmp_path / "x.csv").write_text("a,1,2\n")
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "x.csv").write_text("a,3,4\n")
        made = pack(tmp_path / "x.csv", tmp_path / "sub" / "x.csv")
        assert below(made.files, "sources") == {"x.csv": b"a,1,2\n", "x-2.csv": b"a,3,4\n"}

    @pytest.mark.parametrize("name", ["nothing", "."])
    def test_what_is_no_source_is_told(self, pack, tmp_path, name):
        with pytest.raises(UsageError):
            pack(str(tmp_path / name))

    def test_a_source_that_stands_there_twice_is_told(self, campaign, pack):
        with pytest.raises(UsageError, match="twice"):
            pack(campaign.trial, campaign.trial, campaign=campaign.file)

    def test_more_than_readers_accept_is_said(self, campaign, pack, monkeypatch):
        from analysis.artifact import bundle

        monkeypatch.setattr(bundle, "MOST_ENTRIES", 10)
        made = pack(campaign.trial, campaign=campaign.file)
        (caution,) = made.said.cautions
        assert caution.code == "bundle-over-limits"
        assert f"--max-entries {len(made.files)}" in caution.text


@pytest.mark.usefixtures("quick")
class TestDescription:
    def test_what_the_authors_say_stands_where_readers_look(self, campaign, pack):
        (campaign.folder / "bundle.yaml").write_text(ABOUT)
        (campaign.folder / "LICENSE").write_text("MIT License\n")
        made = pack(campaign.trial, campaign=campaign.file)
        assert made.files["LICENSE"] == b"MIT License\n"
        citation = made.files["CITATION.cff"].decode()
        assert 'family-names: "Lovelace"' in citation
        page = made.files["README.md"].decode()
        for words in ("# A title", "Ada Lovelace (X)", "Licence: MIT", "10.5281/zenodo.1234567"):
            assert words in page
        assert made.contents["metadata"]["title"] == "A title"

    def test_what_the_authors_do_not_say_is_listed_and_left_out(self, campaign, pack):
        made = pack(campaign.trial, campaign=campaign.file)
        assert "bundle.yaml" in made.missing
        assert not {"LICENSE", "CITATION.cff"} & set(made.files)
        (campaign.folder / "bundle.yaml").write_text("license: Own-1.0\n")
        made = pack(campaign.trial, campaign=campaign.file)
        assert {
            "bundle.yaml: title",
            "bundle.yaml: authors",
            "bundle.yaml: doi",
            "CITATION.cff",
        } <= set(made.missing)
        assert "the licence's text" in made.missing
        assert b"SPDX-License-Identifier: Own-1.0" in made.files["LICENSE"]

    def test_a_pipe_in_the_place_of_the_resolved_campaign_is_not_waited_for(self, campaign, pack):
        place = campaign.trial / "resolved.json"
        place.unlink()
        os.mkfifo(place)
        made = pack(campaign.trial, campaign=campaign.file)
        assert any(one.startswith("the files that ") for one in made.missing)

    def test_about_wins_over_what_lies_beside(self, campaign, pack, tmp_path):
        (campaign.folder / "bundle.yaml").write_text("title: Beside\n")
        (tmp_path / "mine.yaml").write_text("title: Mine\n")
        made = pack(campaign.trial, campaign=campaign.file, about=tmp_path / "mine.yaml")
        assert made.contents["metadata"]["title"] == "Mine"

    def test_time_disk_and_host_are_those_of_the_trial(self, campaign, pack):
        made = pack(campaign.trial, campaign=campaign.file)
        needs = made.contents["needs"]
        assert needs["run_s"] > 0
        assert needs["cpus"] >= 1
        assert needs["max_rss_bytes"] > 0
        own = {"README.md", "ro-crate-metadata.json", "bundle.json", "SHA256SUMS"}
        rest = sum(len(data) for name, data in made.files.items() if name not in own)
        assert needs["disk_bytes"] == rest
        command = made.contents["smoke"]["command"]
        file = f"campaigns/{campaign.trial.name}/campaign.yaml"
        assert command[:2] == ["run", file]
        again = f"fairtrial run {file} --sessions 2 --seed 1   # as it was measured"
        page = made.files["README.md"].decode()
        assert again in page.splitlines()
        # software/ lies in the unpacked folder, and the archive beside that
        assert "\nenv/bin/fairtrial reproduce ../artifact.zip\n" in page

    def test_hostile_texts_stay_in_their_place_in_the_page(self, campaign, pack):
        (campaign.folder / "bundle.yaml").write_text(
            "title: '# <script>alert(1)</script> | x'\ndescription: '[a](javascript:x) `y`'\n"
        )
        page = pack(campaign.trial, campaign=campaign.file).files["README.md"].decode()
        assert not re.search(r"(?<!\\)[<|`\[]script|(?<!\\)<", page.split("## Check")[0])
        assert "\\[a\\](javascript" in page


@pytest.mark.usefixtures("quick")
class TestClaims:
    def claims(self, tmp_path, command, *more, expected="1.5"):
        text = f"claims:\n  - {{text: t, command: {command}, value: /x, is: equals, expected: {expected}}}\n"
        (tmp_path / "claims.yaml").write_text(text + "".join(more))
        return tmp_path / "claims.yaml"

    def test_a_claim_is_bound_to_the_bundles_paths(self, campaign, pack, tmp_path):
        file = self.claims(tmp_path, f"verdict {campaign.trial}:b --confidence 0.9")
        made = pack(campaign.trial, campaign=campaign.file, claims=file)
        (claim,) = json.loads(made.files["claims.json"])["claims"]
        path = f"trials/{campaign.trial.name}:b"
        assert claim["command"] == ["verdict", path, "--confidence", "0.9", "--json"]
        assert claim["holds"] is True
        assert claim["found"] == 1.5
        assert claim["result"] in made.files
        assert "| 1 | t |" in made.files["README.md"].decode()

    def test_a_claim_on_a_default_result_shares_it(self, campaign, pack, tmp_path):
        file = self.claims(tmp_path, f"verdict {campaign.trial.name}")
        made = pack(campaign.trial, campaign=campaign.file, claims=file)
        (claim,) = json.loads(made.files["claims.json"])["claims"]
        assert claim["result"] == "analyses/01-verdict.json"
        assert len(made.contents["analyses"]) == 3

    def test_a_claim_may_name_the_campaign_or_its_file_in_the_bundle(
        self, campaign, pack, tmp_path
    ):
        path = f"trials/{campaign.trial.name}"
        for named in ("tiny", path, f"{campaign.trial}/"):
            file = self.claims(tmp_path, f"verdict {named}")
            made = pack(campaign.trial, campaign=campaign.file, claims=file)
            assert made.said.claims[0].claim.command == ("verdict", path, "--json")

    @pytest.mark.parametrize("command", ["resample tiny:b", "sources tiny"])
    def test_a_seed_goes_to_commands_that_draw(self, campaign, pack, tmp_path, command):
        file = self.claims(tmp_path, f"{command} --resamples 99")
        made = pack(campaign.trial, campaign=campaign.file, claims=file, seed=7)
        seeds = {one["name"]: one["seed"] for one in made.contents["analyses"]}
        assert seeds == {
            "verdict": None,
            "explained": None,
            "diagnosis": 7,
            f"claim-1-{command.split()[0]}": 7,
        }
        assert made.said.claims[0].claim.command[-2:] == ("--seed", "7")

    def test_a_claim_that_does_not_hold_is_said(self, campaign, pack, tmp_path):
        file = self.claims(tmp_path, f"verdict {campaign.trial}", expected="2")
        made = pack(campaign.trial, campaign=campaign.file, claims=file)
        assert not made.said.all_hold
        assert "1 of 1 claims do not hold" in str(made.said)
        assert "**no**" in made.files["README.md"].decode()

    def test_pointers_to_nothing_are_mistakes_with_their_lines(self, campaign, pack, tmp_path):
        lines = [
            f"  - {{text: t, command: verdict tiny, value: {value}, is: equals, expected: 1}}\n"
            for value in ("/y", "/command", "/x/z")
        ]
        file = self.claims(tmp_path, "verdict tiny", *lines)
        with pytest.raises(UsageError) as raised:
            pack(campaign.trial, campaign=campaign.file, claims=file)
        told = str(raised.value)
        for words in (
            "3 mistakes",
            "claims.yaml:3: /y: there is no 'y' at the top: it has command, x",
            "claims.yaml:4: /command is not a single value; it holds 3 items",
            "claims.yaml:5: /x/z: there is no 'z' at /x: it is a value",
        ):
            assert words in told, words

    def test_an_answer_that_is_no_json_is_a_mistake_at_the_claims_line(
        self, campaign, pack, tmp_path, monkeypatch
    ):
        printed = Recomputed(stdout=b"a page\n", exit_code=0)
        monkeypatch.setattr(answers, "recompute", lambda *_: printed)
        file = self.claims(tmp_path, "verdict tiny")
        with pytest.raises(UsageError) as raised:
            pack(campaign.trial, campaign=campaign.file, claims=file)
        assert raised.value.what == "the command does not print one JSON document"
        assert raised.value.where == f"{file}:2"

    def test_what_is_not_in_the_bundle_cannot_be_claimed(self, campaign, pack, tmp_path):
        (tmp_path / "x.csv").write_text("a,1\n")
        more = "  - {text: t, command: verdict, value: /x, is: equals, expected: 1}\n"
        file = self.claims(tmp_path, f"diagnose {tmp_path}/x.csv", more)
        with pytest.raises(UsageError) as raised:
            pack(campaign.trial, campaign=campaign.file, claims=file)
        assert "2 mistakes" in str(raised.value)
        assert "which is not in the bundle" in str(raised.value)
        assert "names no source" in str(raised.value)
        assert not (tmp_path / "a.zip").exists()


@pytest.mark.usefixtures("quick")
class TestRedaction:
    def test_names_go_before_results_and_hashes_are_made(self, campaign, pack):
        def redact(folder):
            file = folder / "trials" / campaign.trial.name / "findings.jsonl"
            before = hashlib.sha256(file.read_bytes()).hexdigest()
            file.write_bytes(b"{}\n")
            record = RedactionRecord(
                what=("host",), replaced={"host": 1}, files={file.name: before}
            )
            return Redacted(
                record=record,
                scrub=lambda text: text.replace("gzip", "PROGRAM"),
                left=lambda *_: (),
            )

        made = pack(campaign.trial, campaign=campaign.file, redact=redact)
        name = f"trials/{campaign.trial.name}/findings.jsonl"
        assert made.files[name] == b"{}\n"
        assert made.contents["files"][name]["sha256"] == hashlib.sha256(b"{}\n").hexdigest()
        assert made.contents["redacted"]["replaced"] == {"host": 1}
        assert "gzip" not in " ".join(made.missing)
        assert "Names were taken out" in made.files["README.md"].decode()
        # the identity is that of what was measured
        manifest = (campaign.trial / "manifest.json").read_bytes()
        assert made.contents["sources"][0]["identity"] == hashlib.sha256(manifest).hexdigest()

    @pytest.mark.parametrize(("count", "more"), [(0, None), (12, None), (15, "and 3 more places")])
    def test_what_was_left_is_said_with_the_reason(self, campaign, pack, count, more):
        left = tuple(f"place-{k:02}" for k in range(count))

        def redact(_):
            record = RedactionRecord(what=("host",), replaced={"host": 1}, files={})
            return Redacted(record=record, scrub=str, left=lambda *_: left)

        told = str(pack(campaign.trial, campaign=campaign.file, redact=redact).said)
        assert ("left, because only a person can tell" in told) == (count > 0)
        assert [one for one in left if one in told] == list(left[:12])
        assert ("more places" in told) == (more is not None)
        assert (more or "") in told


@pytest.mark.usefixtures("quick")
class TestDeterminism:
    def test_modes_times_order_and_place_change_no_byte(self, campaign, pack, tmp_path):
        first = pack(campaign.trial, campaign=campaign.file)
        for path in (*campaign.trial.rglob("*"), *campaign.folder.rglob("*")):
            executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o777 if executable else 0o666)
            os.utime(path, (1, 1))
        second = pack(campaign.trial, campaign=campaign.file, output="b.zip")
        assert second.path.read_bytes() == first.path.read_bytes()
        assert second.said.sha256 == first.said.sha256
        assert hashlib.sha256(first.path.read_bytes()).hexdigest() == first.said.sha256
        assert hashlib.sha256(first.files["SHA256SUMS"]).hexdigest() == first.said.identity
        assert str(tmp_path).encode() not in first.files["bundle.json"]
        elsewhere = tmp_path / "x" / "y"
        elsewhere.mkdir(parents=True)
        shutil.move(campaign.trial, elsewhere)
        shutil.move(campaign.folder, elsewhere / "there")
        trial, file = elsewhere / campaign.trial.name, elsewhere / "there" / "campaign.yaml"
        third = pack(trial, campaign=file, output="c.zip")
        assert third.path.read_bytes() == first.path.read_bytes()
        # the negative control: one byte of a file
        with file.with_name("hook.py").open("ab") as hook:
            hook.write(b"\n")
        assert pack(trial, campaign=file, output="d.zip").said.sha256 != first.said.sha256


@pytest.mark.usefixtures("quick")
class TestWriting:
    def test_an_archive_takes_the_place_of_an_older_one_and_leaves_nothing_beside(
        self, campaign, pack, tmp_path
    ):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "a.zip").write_bytes(b"PK older")
        made = pack(campaign.trial, campaign=campaign.file, output="out/a.zip")
        assert made.said.bytes == made.path.stat().st_size
        assert [p.name for p in (tmp_path / "out").iterdir()] == ["a.zip"]

    def test_an_archive_that_cannot_be_written_leaves_what_was_there(
        self, campaign, pack, tmp_path, monkeypatch
    ):
        from analysis.artifact import bundle

        def full(file, files):
            file.write(b"some")
            raise OSError(28, "No space left on device")

        (tmp_path / "a.zip").write_text("PK older")
        monkeypatch.setattr(bundle, "write_archive", full)
        with pytest.raises(StoreError, match="No space left"):
            pack(campaign.trial, campaign=campaign.file)
        assert (tmp_path / "a.zip").read_text() == "PK older"
        assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]

    @pytest.mark.usefixtures("the_disk_is_full_for_the_wheel")
    def test_a_full_disk_is_an_error_and_not_a_bundle_that_lacks_something(self, campaign, pack):
        with pytest.raises(StoreError, match="No space left"):
            pack(campaign.trial, campaign=campaign.file)

    @pytest.fixture
    def the_disk_is_full_for_the_wheel(self, monkeypatch):
        create = Staging._create

        def full(self, name, pieces, *, executable):
            if name.endswith(".whl"):
                raise StoreError("the file cannot be copied: No space left on device", name)
            return create(self, name, pieces, executable=executable)

        monkeypatch.setattr(Staging, "_create", full)

    def test_what_is_no_archive_is_not_replaced(self, campaign, pack, tmp_path):
        (tmp_path / "a.zip").write_text("my notes")
        with pytest.raises(UsageError, match="which is not an archive"):
            pack(campaign.trial, campaign=campaign.file)
        assert (tmp_path / "a.zip").read_text() == "my notes"

    def test_names_that_are_no_utf8_are_listed(self, campaign, pack):
        (campaign.folder / "bundle.yaml").write_text('files: ["odd/"]\n')
        odd = campaign.folder / "odd" / os.fsdecode(b"\xff\xfe.txt")
        odd.parent.mkdir()
        odd.write_bytes(b"x")
        made = pack(campaign.trial, campaign=campaign.file)
        assert "not UTF-8" in made.missing["odd/\\udcff\\udcfe.txt"].why
        assert b"udcff" in made.files["README.md"]

    def test_what_is_said_names_the_archive_its_claims_and_what_is_missing(self, campaign, pack):
        made = pack(campaign.trial, campaign=campaign.file)
        text = str(made.said)
        assert made.said.identity in text
        assert "fairtrial reproduce" in text
        assert "bundle.yaml" in text
        assert replace(made.said, claims=()).all_hold
        lost = tuple(Missing(what=f"file {k}", why="gone") for k in range(100))
        many = replace(made.said, contents=replace(made.said.contents, missing=lost))
        assert "and 70 more" in str(many)

    @pytest.mark.parametrize(("found", "shown"), [(12, "12"), (3, "3"), (1.5, "1.500")])
    def test_a_claim_on_a_count_shows_a_count(self, campaign, pack, tmp_path, found, shown):
        file = tmp_path / "claims.yaml"
        command = f"verdict {campaign.trial}"
        file.write_text(
            f"claims: [{{text: t, command: {command}, value: /x, is: at_least, expected: 0}}]\n"
        )
        made = pack(campaign.trial, campaign=campaign.file, claims=file)
        (one,) = made.said.claims
        text = str(replace(made.said, claims=(replace(one, found=found),)))
        (line,) = [line for line in text.splitlines() if "at least 0" in line]
        assert line.split()[-1] == shown
