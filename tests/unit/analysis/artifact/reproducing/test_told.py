"""What a bundle tells of its results is what they are. The packer, and the results, are the authority."""

from __future__ import annotations

import json
import re
import shutil
import zipfile

import pytest

from analysis.artifact import describing, reproduce as reproduction
from analysis.artifact.bundle import pack_bundle
from analysis.artifact.describing import PackingRequest
from analysis.artifact.recomputing import Commands, Recomputed
from analysis.artifact.reproduce import reproduce

from .conftest import handmade

CLAIMS = """claims:
  - text: gzip -1 takes 0.4 of the time.
    command: fairtrial verdict sample --variant gzip-1
    value: /candidates/0/multilevel/these/speedup
    is: at_least
    expected: 1.5
  - text: It is about 2 times as fast.
    command: fairtrial verdict sample --variant gzip-1
    value: /candidates/0/multilevel/these/speedup
    is: at_least
    expected: 1
    digits: 0
"""
ABOUT = """title: A fair title
description: What was done, and why.
authors: [{name: Ada Lovelace}]
license: MIT
"""


AS_DESCRIBED = pytest.mark.parametrize(
    "packed", [True, False], ids=["described", "plain"], indirect=True
)


@pytest.fixture(scope="session")
def packs(tmp_path_factory, remembered, once):
    """Pack the sample with its results, and without a wheel's 3 MB, which are hashed everywhere."""

    def make(*, described):
        folder = tmp_path_factory.mktemp("packed")
        shutil.copytree(handmade.SAMPLE, folder / "sample")
        (folder / "claims.yaml").write_text(CLAIMS)
        (folder / "bundle.yaml").write_text(ABOUT)
        asked = PackingRequest(
            sources=[str(folder / "sample")],
            claims=folder / "claims.yaml",
            about=folder / "bundle.yaml" if described else None,
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Commands, "run", remembered)
            patch.setattr(describing, "wheel_of_this", lambda: b"PK")
            done = pack_bundle(asked, folder / "a.zip")
        told = [one.code for one in done.cautions if one.code.startswith("claim")]
        assert told == ["claim-coarse"]
        with zipfile.ZipFile(folder / "a.zip") as file:
            return {one: file.read(one) for one in file.namelist()}

    return once(make)


@pytest.fixture
def packed(request, packs):
    """Give the files of a bundle that fairtrial packed."""
    return packs(described=getattr(request, "param", True))


@pytest.fixture
def checked(packed, tmp_path, monkeypatch, known_versions):
    """Check a bundle that was edited, its hashes repaired; its commands print what is stored."""
    contents = json.loads(packed["bundle.json"])
    made = {tuple(one["command"]): one["result"] for one in contents["analyses"]}
    made[tuple(contents["report"]["command"])] = contents["report"]["result"]
    monkeypatch.setattr(
        reproduction,
        "recompute",
        lambda words, *_: Recomputed(stdout=packed[made[tuple(words)]], exit_code=0),
    )

    def check(edit=lambda _: None, **changes):
        files = {k: v for k, v in packed.items() if k not in {"bundle.json", "SHA256SUMS"}}
        edit(files)
        told = {key: value for key, value in contents.items() if key != "files"}
        path = tmp_path / "b.zip"
        handmade.write_bundle(path, handmade.sealed(files, **(told | changes)))
        return reproduce(path)

    return check


def _replaced(name, pattern, other):
    def edit(files):
        changed, count = re.subn(pattern, other, files[name].decode(), count=1)
        assert count == 1
        files[name] = changed.encode()

    return edit


@AS_DESCRIBED
def test_what_was_packed_is_what_comes_out(checked):
    found = checked()
    assert (found.outcome, found.exit_code) == ("same bytes", 0)
    assert {"README.md", "claims.json", "ro-crate-metadata.json"} <= {
        one.name for one in found.documents
    }
    assert {one.standing for one in found.documents} == {"same bytes"}
    assert "claim-coarse" in [one.code for one in found.cautions]
    assert [one.is_coarse for one in found.claims] == [False, True]


@pytest.mark.parametrize(
    ("name", "pattern", "other"),
    [
        ("README.md", r"(?m)^(\| 1 \|.*`)\d+\.\d+(` \| yes)", r"\g<1>9.99\2"),  # what was found
        ("README.md", r"at least 1\.5", "at least 1.9"),
        ("README.md", r"-1 takes 0\.4", "-1 takes 0.1"),
        ("README.md", r"(?m)^# .*$", "# Another title"),
        ("README.md", r"--sessions \d+ --seed", "--sessions 99 --seed"),
        ("README.md", r"Disk: \d+", "Disk: 1"),
        ("claims.json", r'"found": \d', '"found": 9'),
        ("ro-crate-metadata.json", r'"name": "(A fair|Artifact)', '"name": "Another'),
    ],
)
def test_what_was_edited_since_is_named_though_all_hashes_are_consistent(
    checked, name, pattern, other
):
    found = checked(_replaced(name, pattern, other))
    wrong = {one.name for one in found.documents if not one.holds}
    assert name in wrong
    assert (found.outcome, found.exit_code) == ("differs", 1)
    assert name in str(found)


def test_a_found_value_that_all_files_tell_alike_is_still_not_what_comes_out(checked):
    """README.md and claims.json say the same other number: only the results say otherwise."""

    def edit(files):
        number = re.search(rb'"found": ([\d.]+)', files["claims.json"])[1]
        for name in ("claims.json", "README.md"):
            assert number in files[name]
            files[name] = files[name].replace(number, b"9.75")

    found = checked(edit)
    assert {one.name for one in found.documents if not one.holds} >= {"claims.json", "README.md"}
    assert found.exit_code == 1


def test_a_sentence_is_that_of_the_page(checked):
    found = checked(_replaced("claims.json", r"0\.4 of the time", "0.1 of the time"))
    assert "README.md" in {one.name for one in found.documents if not one.holds}


@AS_DESCRIBED
def test_titles_agree(checked, packed):
    metadata = json.loads(packed["bundle.json"])["metadata"] | {"title": "Another"}
    found = checked(metadata=metadata)
    assert found.exit_code == 1
    wrong = {one.name for one in found.documents if not one.holds}
    assert {"README.md", "ro-crate-metadata.json"} <= wrong
    assert ("CITATION.cff" in packed) == ("CITATION.cff" in wrong)


def test_a_page_of_another_version_is_not_held_and_that_is_said(checked):
    found = checked(_replaced("README.md", "(?m)^# .*$", "# Another"), tool_version="9.9")
    assert found.exit_code == 0
    assert "bundle-page-not-held" in [one.code for one in found.cautions]
    # what claims.json says is held all the same
    wrong = checked(_replaced("claims.json", r'"found": \d', '"found": 9'), tool_version="9.9")
    assert wrong.exit_code == 1


def test_a_crate_that_is_none_is_no_reason_to_stop(checked):
    for text in (b"", b"[]", b"{}", b'{"@graph": 3}', b'{"@graph": [3]}', b"[" * 100_000):
        found = checked(lambda files, text=text: files.update({"ro-crate-metadata.json": text}))
        assert found.exit_code == 1
