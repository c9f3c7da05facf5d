"""What docs/artifacts.md says to do, done: block by block, as an author and an evaluator would."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from analysis.artifact import archive, describing as about

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "artifacts.md").read_text(encoding="utf-8")
# a block may end with other codes than 0: those of a comment before it
_BLOCK = re.compile(r"(?ms)^(?:<!-- exits:([\d ]+)-->\n)?```(sh|yaml)\n(.*?)^```$")


def half(title: str) -> str:
    return re.split(r"(?m)^## ", PAGE.partition(f"\n## {title}\n")[2])[0]


def walk(text: str, folder: Path, path: str) -> None:
    """Write the files of a part of the page, and execute its commands, in their order, with this PATH."""
    environment = os.environ | {"PATH": path}
    for codes, kind, block in _BLOCK.findall(text):
        if kind == "yaml":
            name = re.match(r"# (\S+\.yaml)\n", block)
            if name is not None:
                (folder / name.group(1)).write_text(block, encoding="utf-8")
            continue
        done = subprocess.run(
            ["/bin/sh", "-euc", block],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        wanted = {int(code) for code in codes.split()} or {0}
        assert done.returncode in wanted, f"{block}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def lab(tmp_path_factory, path_of_forks):
    """Give a folder in which an author has done what the page says."""
    folder = tmp_path_factory.mktemp("artifacts")
    shutil.copytree(ROOT / "configs", folder / "configs")
    file = folder / "configs" / "quickstart.yaml"
    text = file.read_text()
    for old, new in (
        ("runs: 8", "runs: 2"),
        ("cpus: auto", "cpus: none"),
        ("quickstart_data.py]]", "quickstart_data.py, data, '0.05']]"),
    ):
        assert old in text
        text = text.replace(old, new)
    # three kinds of data, and little of each, tell as much of the page as eight
    text = re.sub(r"(?m)^  (json|table|source|binary|repetitive): .*\n", "", text)
    assert text.count("[gzip, ") == 3
    file.write_text(text)
    steps = half("For authors")
    assert "expected: 1.5\n" in steps  # of the time of so little nothing can be said
    walk(steps.replace("expected: 1.5\n", "expected: 0.001\n"), folder, path_of_forks)
    return folder


def test_an_author_comes_to_an_archive_whose_claims_hold(lab):
    with zipfile.ZipFile(lab / "artifact.zip") as file:
        assert file.testzip() is None
        told = json.loads(file.read("bundle.json"))
        claims = json.loads(file.read("claims.json"))["claims"]
        names = file.namelist()
    assert [one["holds"] for one in claims] == [True, True]
    assert told["metadata"]["title"] == "Levels of gzip, compared fairly"
    (source,) = told["sources"]
    root = source["campaign"].rpartition("/")[0]
    assert f"{root}/quickstart_data.py" in names
    assert f"{root}/data/text" in names
    assert {"LICENSE", "CITATION.cff", "report.html"} <= set(names)


def test_an_evaluator_comes_to_an_answer(lab, tmp_path, path_of_forks):
    shutil.copy(lab / "artifact.zip", tmp_path)
    walk(half("For evaluators"), tmp_path, path_of_forks)
    answer = json.loads((tmp_path / "artifact-rerun" / "rerun.json").read_text())
    (trial,) = answer["trials"]
    assert trial["comparison"]["same_campaign"] is True
    assert trial["comparison"]["new"]["sessions"] == 2


def test_the_page_shows_every_file_of_the_archive(lab):
    (shown,) = re.findall(r"(?ms)^### What is in it\n\n```\n(.*?)^```$", PAGE)
    listed = set(re.findall(r"[\w.-]+(?:\.\w+|/|S)(?=\s|$)|LICENSE|SHA256SUMS", shown))
    with zipfile.ZipFile(lab / "artifact.zip") as file:
        first = {name.split("/")[0] for name in file.namelist() if "/" not in name}
    assert {name for name in first if name not in listed} == set()


def test_the_page_explains_every_key():
    section = PAGE.partition("\n### bundle.json\n")[2].partition("\n### ")[0]
    told = set(re.findall(r"`(\w+)(?:\.<\w+>)?`", section))
    kinds = [
        kind
        for kind in vars(archive).values()
        if getattr(kind, "__module__", "") == archive.__name__ and is_dataclass(kind)
    ]
    assert len(kinds) > 5
    for kind in set(kinds) - {archive.Weighed}:
        assert {field.name for field in fields(kind)} <= told, kind.__name__
    keys = set(re.findall(r"`(\w+)`", half("For authors")))
    assert set(about._KEYS) <= keys
