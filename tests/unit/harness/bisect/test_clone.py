"""Clones of repositories with submodules and Git LFS, and of shallow, partial and other ones."""

from __future__ import annotations

import errno
import os
import subprocess

import pytest

from harness.bisect.commits import commits_between, remove_tree
from harness.bisect.recipe import recipe_of
from harness.bisect.workshop import Built, NotBuilt, Workshop
from harness.campaign.resolve import load_campaign
from harness.launch.matching import Interrupts

SUBMODULES = """\
name: app
variants: {a: }
build: cc -o app app.c
benchmarks: {run: {command: [./app]}}
"""


@pytest.fixture
def with_submodule(make_repository):
    inner = make_repository("inner")
    inner.commit("inner", {"inner.h": "#define INNER 1\n"})
    outer = make_repository("outer")
    program = "int main(void) { return 0; }\n"
    outer.commit("without", {"app.c": program, "campaign.yaml": SUBMODULES})
    outer.git("submodule", "--quiet", "add", "../inner", "inner")
    outer.commit("with", {"app.c": f'#include "inner/inner.h"\n{program}'})
    return outer


def test_a_submodule_by_a_forbidden_protocol_is_a_commit_that_is_not_built(
    with_submodule, open_workshop
):
    # git allows 'file' for submodules to nobody since 2.38.1 (CVE-2022-39253)
    before = with_submodule.bytes_of_git()
    workshop, commits, _ = open_workshop(with_submodule)
    assert isinstance(workshop.build(commits[0]), Built)
    refused = workshop.build(commits[1])
    assert isinstance(refused, NotBuilt)
    assert refused.why.startswith("its submodules cannot be had")
    assert "file" in refused.log.read_text()
    assert with_submodule.bytes_of_git() == before


def test_submodules_are_the_clones_own(with_submodule, open_workshop, tmp_path):
    (tmp_path / "home" / ".gitconfig").write_text('[protocol "file"]\nallow = always\n')
    before = with_submodule.bytes_of_git()
    workshop, commits, _ = open_workshop(with_submodule)
    for _ in range(2):
        built = workshop.build(commits[1], again=True)
        assert isinstance(built, Built)
        assert (built.tree / "inner" / "inner.h").read_text() == "#define INNER 1\n"
        assert not (built.tree / "inner" / ".git").exists()
        (built.tree / "app.c").write_text("changed, so that it is built anew")
    assert with_submodule.bytes_of_git() == before


def test_files_of_git_lfs_are_not_fetched_and_told(make_repository, open_workshop, tmp_path):
    repository = make_repository()
    campaign = "name: app\nvariants: {a: }\nbenchmarks: {run: {command: [./run.sh]}}\n"
    files = {"run.sh": "#!/bin/sh\n", "campaign.yaml": campaign, "x.big": "pointer\n"}
    repository.commit("one", files | {"sub/.gitattributes": "*.big filter=lfs\n"})
    repository.commit("two", {"a": "1"})
    (tmp_path / "home" / ".gitconfig").write_text(
        '[filter "lfs"]\nsmudge = sh -c "test -n \\"$GIT_LFS_SKIP_SMUDGE\\" && cat"\nrequired = true\n'
    )
    workshop, commits, _ = open_workshop(repository)
    assert isinstance(workshop.build(commits[0]), Built)
    workshop.build(commits[1])
    (note,) = workshop.notes
    assert "Git LFS" in note


@pytest.mark.parametrize("kind", ["shallow", "further work tree", "sha256", "partial"])
def test_other_kinds_of_repositories(repository, open_workshop, tmp_path, kind):
    there = tmp_path / kind
    origin = f"file://{repository.path}"
    if kind == "shallow":
        repository.git("clone", "-q", "--depth=3", origin, str(there))
    elif kind == "partial":
        repository.git("config", "uploadpack.allowFilter", "true")
        repository.git("clone", "-q", "--filter=blob:none", origin, str(there))
    elif kind == "sha256":
        subprocess.run(["git", "init", "-q", "--object-format=sha256", str(there)], check=True)
        export = subprocess.run(
            ["git", "fast-export", "main"], cwd=repository.path, capture_output=True, check=True
        )
        subprocess.run(
            ["git", "fast-import", "--quiet"], cwd=there, input=export.stdout, check=True
        )
        subprocess.run(["git", "checkout", "-q", "-f", "main"], cwd=there, check=True)
    else:
        repository.git("worktree", "add", "-q", "--detach", str(there))
    commits = commits_between(there, "HEAD~1", "HEAD")
    recipe = recipe_of(load_campaign(there / "campaign.yaml"), commits)
    git_files = [path for path in commits.git_dir.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in git_files}
    with Workshop(commits, recipe, Interrupts(), folder=tmp_path / "work") as workshop:
        found = [workshop.build(commit) for commit in commits.commits]
    after = {path: path.read_bytes() for path in commits.git_dir.rglob("*") if path.is_file()}
    assert after == before
    assert any("git fetch --refetch" in note for note in commits.notes) == (kind == "partial")
    if kind == "partial":  # HEAD~1 holds a file that was never fetched, and is not fetched now
        assert isinstance(found[0], NotBuilt)
        assert isinstance(found[1], Built)
    else:
        assert all(isinstance(one, Built) for one in found)


def test_a_folder_in_which_a_killed_program_ends_its_last_call_is_deleted(tmp_path, monkeypatch):
    tree, remove = tmp_path / "tree", os.rmdir
    (tree / "inner").mkdir(parents=True)
    late = iter([True, False])

    def rmdir(path, **where):
        if str(path) == str(tree) and next(late):
            raise OSError(errno.ENOTEMPTY, "one more file came")
        remove(path, **where)

    monkeypatch.setattr(os, "rmdir", rmdir)
    remove_tree(tree)
    assert not tree.exists()
    assert not any(late)
