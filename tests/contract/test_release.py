"""A release has one version, said in one place; the others agree with it."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import yaml

from analysis.record.run_numbers import NUMBERS
from analysis.version import VERSION
from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]


def releases() -> list[str]:
    """List the changelog's headings, the newest first."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.findall(r"^## (.+)$", text, re.MULTILINE)


def test_the_package_takes_its_version_from_the_module() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    source = project["tool"]["hatch"]["version"]["path"]
    assert f'VERSION = "{VERSION}"' in (ROOT / source).read_text(encoding="utf-8")


def test_what_an_installation_weighs_is_told_of_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[<>=]", one)[0] for one in project["dependencies"]} | {"fairtrial"}
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    part = page.split("## What an installation weighs", 1)[1].split("\n## ", 1)[0]
    named = {word for row in re.findall(r"^\| ([^|]+) \|", part, re.M) for word in row.split(", ")}
    assert needed <= {word.removeprefix("with ") for word in named}


def test_the_newest_release_of_the_changelog_is_this_one() -> None:
    unreleased, *released = releases()
    assert unreleased == "Unreleased"
    assert released[0] == VERSION


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == VERSION


def test_the_command_says_this_version(capsys) -> None:
    assert main(["--version"], sys.stdout, sys.stderr) == 0
    assert capsys.readouterr().out == f"fairtrial {VERSION}\n"


def test_no_page_promises_a_version_that_there_is_not() -> None:
    pages = (ROOT / "docs").rglob("*.md")
    named = {
        version
        for page in pages
        for version in re.findall(r"since version (\d+\.\d+\.\d+)", page.read_text("utf-8"))
    }
    assert named
    named |= {number.since for number in NUMBERS.values()}
    # what the changelog has above the last release belongs to the next one
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = text.split("## Unreleased", 1)[1].split("\n## ", 1)[0].strip()
    major, minor, _ = _parts(VERSION)
    newest = (major, minor + 1, 0) if unreleased else _parts(VERSION)
    assert max(map(_parts, named)) <= newest


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_nobody_is_told_to_install_from_an_index_that_does_not_have_it() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    told = {page.name for page in pages for line in page.read_text("utf-8").split("\n\n")
            if re.search(r"pip install (?!--extra-index-url)\S*fairtrial", line)}  # fmt: skip
    assert told == {"install.md"}
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    for part in re.findall(r"[^\n]*pip install '?fairtrial[^\n]*\n[^\n]*", page):
        assert re.search("until then|not published yet", part)
