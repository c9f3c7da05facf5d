"""Of which commit programs are, as git tells it.

Authority: `git` itself (rev-parse, status, its files byte by byte), in repositories made here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from analysis.errors import FairtrialError, UsageError
from analysis.history.nights import repository_of
from harness.bisect.commits import commits_between
from harness.host.executables import NO_GIT, NO_TREE, VariantCommit, commits_of_programs, sha256_of
from tests.bisect_lab import git

PATH = {"PATH": os.environ["PATH"]}


def program(path: Path, text: str = "one") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {text}\n")
    path.chmod(0o755)
    return path


def repository(folder: Path, **files: str) -> str:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    for name, text in files.items():
        program(folder / name, text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", f"of {folder.name}")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def asked(tmp_path):
    def ask(environment=None, **variants):
        programs = {
            (f"bench{k}", variant): path
            for variant, paths in variants.items()
            for k, path in enumerate(paths if isinstance(paths, list) else [paths])
        }
        return commits_of_programs(programs, PATH | {"HOME": str(tmp_path)} | (environment or {}))

    return ask


def test_two_clones_have_two_commits(tmp_path, asked):
    old, new = repository(tmp_path / "old"), repository(tmp_path / "new")
    found = asked(
        old=program(tmp_path / "old/build/app"), new=program(tmp_path / "new/build/app", "two")
    )
    assert found == {"old": VariantCommit(commit=old), "new": VariantCommit(commit=new)}
    assert found["old"].to_dict() == {"commit": old}


def test_one_commit_of_different_programs_is_the_commit_of_none(tmp_path, asked):
    commit = repository(tmp_path / "r")
    a, b = program(tmp_path / "r/a/app", "one"), program(tmp_path / "r/b/app", "two")
    found = asked(a=a, b=b)
    assert [one.commit for one in found.values()] == [None, None]
    why = "the programs of all variants lie in a work tree of one commit, and they differ"
    assert found["a"].unknown == why
    # one program in two places, one program with two arguments, or one variant: it is their commit
    b.write_bytes(a.read_bytes())
    assert {one.commit for one in asked(a=a, b=b).values()} == {commit}
    assert {one.commit for one in asked(a=a, b=a).values()} == {commit}
    b.write_text("#!/bin/sh\n")
    assert asked(b=b) == {"b": VariantCommit(commit=commit)}


def test_variants_of_one_commit_beside_another_keep_it(tmp_path, asked):
    """Two flags of the new version against the old one: nothing speaks against it."""
    old, new = repository(tmp_path / "old"), repository(tmp_path / "new")
    found = asked(
        old=program(tmp_path / "old/app", "1"),
        o2=program(tmp_path / "new/o2/app", "2"),
        o3=program(tmp_path / "new/o3/app", "3"),
    )
    assert {name: one.commit for name, one in found.items()} == {"old": old, "o2": new, "o3": new}


def test_a_tracked_program_counts_as_it_is_committed(tmp_path, asked):
    commit = repository(tmp_path / "r", tool="one")
    tool = tmp_path / "r/tool"
    assert asked(v=tool)["v"].commit == commit
    program(tool, "changed since")
    found = asked(v=tool)["v"]
    assert found.commit is None
    why = "git tracks its program ~/r/tool, and the commit has another file there"
    assert found.unknown == why
    git(tmp_path / "r", "add", "tool")  # staged is not committed
    assert asked(v=tool)["v"].commit is None
    program(tool, "one")
    assert asked(v=tool)["v"].commit == commit


def test_a_program_that_is_added_and_not_committed_is_of_no_commit(tmp_path, asked):
    repository(tmp_path / "r")
    new = program(tmp_path / "r/new")
    assert asked(v=new)["v"].commit is not None  # not tracked, as what a build makes
    git(tmp_path / "r", "add", "new")
    assert "git tracks its program" in asked(v=new)["v"].unknown


def test_a_changed_tracked_program_makes_its_variant_unknown(tmp_path, asked):
    repository(tmp_path / "r", tool="one")
    program(tmp_path / "r/tool", "two")
    found = asked(v=[program(tmp_path / "r/build/app"), tmp_path / "r/tool"])
    assert "git tracks its program" in found["v"].unknown


def test_a_program_outside_of_a_work_tree_says_nothing(tmp_path, asked):
    commit = repository(tmp_path / "r")
    outside = program(tmp_path / "outside")
    assert asked(v=outside)["v"] == VariantCommit(commit=None, unknown=NO_TREE)
    assert asked(v=[outside, program(tmp_path / "r/app")])["v"].commit == commit
    within = tmp_path / "r/link"
    within.symlink_to(outside)  # the program is what lies behind a link
    assert asked(v=within)["v"].unknown == NO_TREE
    git(tmp_path / "r", "add", "link")
    assert asked(v=within)["v"].unknown == NO_TREE
    towards = tmp_path / "towards"
    towards.symlink_to(tmp_path / "r/app")
    assert asked(v=towards)["v"].commit == commit
    hidden = program(tmp_path / "r/.git/app")
    assert asked(v=hidden)["v"].unknown == "its program lies outside of the work tree"
    assert asked(v=tmp_path / "nothing there")["v"].unknown == NO_TREE


def test_programs_of_two_commits_are_of_none(tmp_path, asked):
    repository(tmp_path / "one")
    repository(tmp_path / "two")
    found = asked(v=[program(tmp_path / "one/app"), program(tmp_path / "two/app")])
    assert found["v"].unknown == "its programs are of 2 commits"


def test_worktrees_submodules_and_odd_names(tmp_path, asked):
    commit = repository(tmp_path / "r", **{":(glob)*": "one", "a\nb\t*": "two"})
    for name in (":(glob)*", "a\nb\t*"):
        assert asked(v=tmp_path / "r" / name)["v"].commit == commit
        program(tmp_path / "r" / name, "other")
        assert asked(v=tmp_path / "r" / name)["v"].commit is None
    git(tmp_path / "r", "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    assert asked(v=program(tmp_path / "tree/build/app"))["v"].commit == commit
    inner = repository(tmp_path / "r/inner")
    assert asked(v=program(tmp_path / "r/inner/app"))["v"].commit == inner


@pytest.mark.parametrize(
    ("name", "value"),
    [("GIT_DIR", "/elsewhere/.git"), ("GIT_WORK_TREE", "/"), ("GIT_INDEX_FILE", "/dev/null")],
)
def test_variables_of_git_name_no_other_repository(tmp_path, asked, name, value):
    commit = repository(tmp_path / "r", tool="one")
    assert asked({name: value}, v=tmp_path / "r/tool")["v"].commit == commit


def test_no_git_no_commit_and_a_broken_repository_are_said(tmp_path, asked):
    repository(tmp_path / "r")
    app = program(tmp_path / "r/app")
    assert asked({"PATH": str(tmp_path)}, v=app)["v"].unknown == NO_GIT
    (tmp_path / "fresh").mkdir()
    git(tmp_path / "fresh", "init", "-q")
    found = asked(v=program(tmp_path / "fresh/app"))["v"]
    assert found.unknown == "git says of its work tree: there is no commit yet"
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/.git").write_text("nonsense")
    found = asked(v=program(tmp_path / "odd/app"))["v"]
    assert found.unknown.startswith("git says of its work tree: invalid gitfile format")


def test_nothing_of_the_repository_is_executed_or_written(tmp_path, asked):
    commit = repository(tmp_path / "r", tool="one")
    marker = tmp_path / "executed"
    hook = program(tmp_path / "hook")
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    for name in ("post-index-change", "post-checkout", "reference-transaction"):
        shutil.copy(hook, tmp_path / "r/.git/hooks" / name)
    (tmp_path / "r/.gitattributes").write_text("tool filter=f\n")
    for key in ("core.fsmonitor", "filter.f.clean", "filter.f.smudge", "filter.f.process"):
        git(tmp_path / "r", "config", key, str(hook))
    os.utime(tmp_path / "r/tool", (1, 1))  # so that `git status` would refresh the index
    before = _bytes(tmp_path / "r")
    assert asked(v=[tmp_path / "r/tool", program(tmp_path / "app")])["v"].commit == commit
    assert _bytes(tmp_path / "r") == before
    assert not marker.exists()
    subprocess.run(["git", "-C", tmp_path / "r", "status"], check=False, capture_output=True)
    assert marker.exists()  # so that they would have been executed


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() + str(path.stat().st_mtime_ns).encode()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_work_tree_is_asked_once_for_all_its_programs(tmp_path, asked):
    repository(tmp_path / "r", tool="one")
    fake = tmp_path / "bin/git"
    program(fake)
    real = shutil.which("git")
    fake.write_text(f'#!/bin/sh\necho call >> {tmp_path}/calls\nexec {real} "$@"\n')
    paths = [tmp_path / "r/tool", *(program(tmp_path / f"r/build/{k}") for k in range(30))]
    asked({"PATH": f"{fake.parent}:{PATH['PATH']}"}, a=paths, b=paths)
    assert len((tmp_path / "calls").read_text().split()) == 3


# --- Whoever asks git does so alike: no program of a repository, no network, no lock, no other repository


def by_bisect(folder: Path) -> None:
    commits_between(folder, "HEAD~1", "HEAD")


def by_history(folder: Path) -> None:
    repository_of([folder])


def by_a_trial(folder: Path) -> None:
    (found,) = commits_of_programs({("b", "v"): folder / "program"}).values()
    raise UsageError(str(found.unknown), None, found.fix)


def fix_of(ask, folder: Path) -> str | None:
    try:
        ask(folder)
    except FairtrialError as error:
        return error.fix
    return None


def in_a_repository(folder: Path, monkeypatch, script: str) -> None:
    """Have a program lie in a repository, and a git that is this script."""
    stub = folder / "bin" / "git"
    stub.parent.mkdir()
    stub.write_text(f"#!/bin/sh\n{script}\n")
    stub.chmod(0o755)
    (folder / ".git").mkdir(exist_ok=True)
    (folder / "program").write_text("")
    monkeypatch.setenv("PATH", f"{stub.parent}:/usr/bin:/bin")


WAYS = pytest.mark.parametrize("ask", [by_bisect, by_history, by_a_trial])


@WAYS
def test_git_is_asked_alone(ask, tmp_path, monkeypatch):
    told = tmp_path / "told"
    in_a_repository(tmp_path, monkeypatch, f'{{ echo "words $*"; env; }} > {told}; exit 1')
    monkeypatch.setenv("GIT_DIR", "/elsewhere")  # as a hook sets it that starts fairtrial
    with contextlib.suppress(FairtrialError):
        ask(tmp_path)
    words, *lines = told.read_text().splitlines()
    assert "-c core.hooksPath=/dev/null -c core.fsmonitor=false" in words
    variables = dict(line.partition("=")[::2] for line in lines)
    assert "GIT_DIR" not in variables
    for name, value in {
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }.items():
        assert variables.get(name) == value, name


@WAYS
def test_an_answer_that_is_cut_off_is_none(ask, tmp_path, monkeypatch):
    in_a_repository(tmp_path, monkeypatch, "printf '/some/where\\n12345'")
    with pytest.raises(FairtrialError, match="cut off"):
        ask(tmp_path)


@WAYS
@pytest.mark.parametrize("odd", ["", " two"])
def test_the_repository_of_another_user_is_refused_with_gits_remedy(
    ask, odd, tmp_path, monkeypatch
):
    """Authority: git, which takes each repository for another user's where its own tests say so."""
    real = shutil.which("git")
    work = tmp_path / f"work{odd}"
    work.mkdir()
    subprocess.run([real, "init", "-q", work], check=True)
    in_a_repository(
        work, monkeypatch, f'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 HOME={tmp_path} exec {real} "$@"'
    )
    fix = str(fix_of(ask, work))
    assert fix.startswith("git config --global --add safe.directory ")
    alone = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    subprocess.run(["/bin/sh", "-c", fix], check=True, env=alone)
    assert "safe.directory" not in str(fix_of(ask, work))


def test_a_pipe_is_no_program_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert sha256_of(tmp_path / "pipe") is None
    assert sha256_of(Path("/dev/zero")) is None
