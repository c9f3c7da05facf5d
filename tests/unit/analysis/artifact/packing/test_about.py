"""bundle.yaml: what is read, and that all its mistakes are told at once. ORCID's own page is the authority."""

from __future__ import annotations

import pytest

from analysis.artifact.archive import Author
from analysis.artifact.describing import read_about
from analysis.artifact.documents import family_and_given
from analysis.artifact.packed_campaign import files_matching
from analysis.errors import CampaignError

GOOD = """\
title: "Compressors: a comparison"
description: Six levels of effort.
authors:
  - name: Ada Lovelace
    orcid: https://orcid.org/0000-0002-1825-0097
    affiliation: Analytical Society
  - {name: "van der Berg, Jan", orcid: 0000-0002-1694-233X}
license: MIT
doi: https://doi.org/10.5281/zenodo.1234567
files: [src/, "**/*.h"]
"""


def test_all_that_authors_say_is_read(tmp_path):
    (tmp_path / "bundle.yaml").write_text(GOOD)
    about = read_about(tmp_path / "bundle.yaml")
    assert about.metadata.title == "Compressors: a comparison"
    assert about.metadata.authors == (
        Author(name="Ada Lovelace", orcid="0000-0002-1825-0097", affiliation="Analytical Society"),
        # ORCID's documentation of the check digit has both iDs
        Author(name="van der Berg, Jan", orcid="0000-0002-1694-233X"),
    )
    assert about.metadata.license == "MIT"
    assert about.metadata.doi == "10.5281/zenodo.1234567"
    assert about.files == ("src/", "**/*.h")


def test_a_title_that_yaml_takes_for_a_number_is_a_text(tmp_path):
    (tmp_path / "bundle.yaml").write_text("title: 2026\nlicense: no\n")
    about = read_about(tmp_path / "bundle.yaml")
    assert (about.metadata.title, about.metadata.license) == ("2026", "no")


def test_all_mistakes_are_told_at_once(tmp_path):
    (tmp_path / "bundle.yaml").write_text(
        "titel: x\n"
        "authors:\n  - {orcid: 0000-0002-1825-0098, name: A}\n  - {affiliation: X}\n"
        "license: MIT or Apache\n"
        "doi: 11.1/x\n"
        "date: 2026-11-31\n"
        "files: [../secret, /etc/passwd, 3]\n"
    )
    with pytest.raises(CampaignError) as raised:
        read_about(tmp_path / "bundle.yaml")
    told = str(raised.value)
    for words in (
        "8 problems",
        "bundle.yaml:1:1: there is no key 'titel' here; did you mean title?",
        ":3:13: 'orcid' is none: its last digit does not fit",
        ":4:5: 'name' is missing",
        ":5:10: 'license' must be the name of one SPDX licence",
        ":6:6: 'doi' must be one such as 10.5281/zenodo.1234567",
        "'date' must be a day",
        "'../secret', which leads out",
        "'/etc/passwd', which leads out",
    ):
        assert words in told, words


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CampaignError, match="there is no such file"):
        read_about(tmp_path / "bundle.yaml")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        # as BibTeX takes names apart
        ("Ada Lovelace", ("Lovelace", "Ada")),
        ("van der Berg, Jan", ("van der Berg", "Jan")),
        ("Donald E. Knuth", ("Knuth", "Donald E.")),
        ("Aristotle", ("Aristotle", None)),
        ("Group,", ("Group", None)),
    ],
)
def test_names_are_taken_apart_as_bibtex_does(name, parts):
    assert family_and_given(name) == parts


@pytest.mark.parametrize(
    ("pattern", "fits", "not_"),
    [
        ("src/", ["src/a.c", "src/b/c.h"], ["a.c", "xsrc/a.c", "src/.git/x", "src/__pycache__/a"]),
        ("src/.git/*", ["src/.git/x"], ["src/a.c"]),
        ("*.c", ["a.c", "b.c"], ["src/a.c", "a.cc", "acc"]),
        ("**/*.c", ["a.c", "src/x/a.c"], ["src/a.h"]),
        ("src/**", ["src/a", "src/b/c"], ["srcs/a"]),
        ("**.c", [], ["a.c"]),
        ("a?c[0-9]", ["abc1"], ["a/c1", "abcx"]),
        ("[!a]*", ["b", "bc"], ["a", "d/c"]),
        ("./Makefile", ["Makefile"], ["src/Makefile"]),
        ("a+(b).{1}", ["a+(b).{1}"], ["aab."]),
        ("x[", ["x["], ["x"]),
    ],
)
def test_patterns_choose_files(pattern, fits, not_, tmp_path):
    for name in (*fits, *not_):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = {str(one.relative_to(tmp_path)) for one in files_matching(tmp_path, pattern)}
    assert found == set(fits)
