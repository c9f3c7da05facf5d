"""CITATION.cff by cffconvert, which holds it against the schema of the Citation File Format 1.2.0."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from analysis.artifact.archive import Author, Metadata
from analysis.artifact.describing import LICENSES, citation_text

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(os.environ.get("FAIRTRIAL_TOOLS") or ROOT / ".venv-tools" / "bin" / "python")
CFFCONVERT = PYTHON.with_name("cffconvert")

WHOLE = Metadata(
    title='A "title": with colons, # and \u00fc \\ too',
    authors=(
        Author(name="Ada Lovelace", orcid="0000-0002-1694-233X", affiliation="Analytical Society"),
        Author(name="van der Berg, Jan"),
        Author(name="Aristotle"),
    ),
    license="MIT",
    doi="10.5281/zenodo.1234567",
    date="2026-11-22",
)


@pytest.fixture
def cffconvert(tmp_path):
    if not CFFCONVERT.is_file():
        pytest.skip("the foreign tools are not installed")

    def execute(text, *words):
        (tmp_path / "CITATION.cff").write_text(text, encoding="utf-8")
        return subprocess.run(
            [CFFCONVERT, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return execute


@pytest.mark.parametrize(
    "metadata",
    [
        WHOLE,
        Metadata(title="T", authors=(Author(name="A"),)),
        Metadata(title="1", authors=WHOLE.authors, license="Own-1.0"),
    ],
)
def test_it_is_valid(cffconvert, metadata):
    done = cffconvert(citation_text(metadata), "--validate")
    assert done.returncode == 0, done.stdout + done.stderr


def test_another_file_is_not(cffconvert):
    wrong = citation_text(WHOLE).replace("title:", "titel:")
    assert cffconvert(wrong, "--validate").returncode != 0


def test_what_it_says_is_what_the_authors_said(cffconvert):
    done = cffconvert(citation_text(WHOLE), "-f", "schema.org")
    said = json.loads(done.stdout)
    assert said["name"] == WHOLE.title
    assert [(one.get("givenName"), one["familyName"]) for one in said["author"]] == [
        ("Ada", "Lovelace"),
        ("Jan", "van der Berg"),
        (None, "Aristotle"),
    ]
    assert said["author"][0]["@id"] == "https://orcid.org/0000-0002-1694-233X"
    assert said["author"][0]["affiliation"]["legalName"] == "Analytical Society"
    assert said["license"] == "https://spdx.org/licenses/MIT"
    assert said["identifier"] == "https://doi.org/10.5281/zenodo.1234567"


def test_every_licence_that_we_know_is_one_of_the_format(cffconvert):
    # all at once: a list of licences is allowed
    listed = "\n".join(f"  - {name}" for name in sorted(LICENSES))
    text = citation_text(WHOLE).replace("license: MIT", f"license:\n{listed}")
    done = cffconvert(text, "--validate")
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_what_it_must_have_there_is_none():
    assert citation_text(Metadata(title="T")) is None
    assert citation_text(Metadata(authors=WHOLE.authors)) is None
