"""Which commits a range has: git-rev-list(1), and what is told where it has none."""

from __future__ import annotations

import subprocess

import pytest

from analysis.errors import UsageError
from harness.bisect.commits import commits_between


def test_the_commits_are_those_behind_good_oldest_first(repository):
    shas = repository.git("rev-list", "--reverse", "HEAD").splitlines()
    found = commits_between(repository.path, shas[1], "main")
    assert [one.commit for one in found.commits] == shas[1:]
    assert [one.place for one in found.commits] == [0, 1, 2, 3]
    assert found.last == 3
    assert found.root == repository.path
    assert found.git_dir == repository.path / ".git"
    second = found.commits[1]
    assert (second.subject, second.author) == ("broken", "A. Author")
    assert second.date == "2026-11-01T03:00:00+00:00"
    assert second.tree == repository.git("rev-parse", f"{second.commit}^{{tree}}")
    assert second.variant == f"0001-{second.commit[:7]}"


def test_only_the_first_parents_count(repository):
    good = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("beside", {"beside": "1"})
    repository.git("checkout", "-q", "main")
    repository.commit("main goes on", {"main": "1"})
    repository.git("merge", "-q", "--no-ff", "-m", "merged", "side")
    subjects = [one.subject for one in commits_between(repository.path, good, "HEAD").commits]
    assert subjects == ["back", "main goes on", "merged"]


def test_a_good_beside_the_line_is_refused_with_the_commit_that_could_be_good(repository):
    fork = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "-b", "side")
    side = repository.commit("beside", {"beside": "1"})
    repository.git("checkout", "-q", "main")
    repository.commit("main goes on", {"main": "1"})
    repository.git("merge", "-q", "--no-ff", "-m", "merged", "side")
    repository.commit("behind it", {"main": "2"})
    with pytest.raises(UsageError) as refused:
        commits_between(repository.path, side, "HEAD")
    assert "not on the first-parent line" in refused.value.what
    # the newest first parent of BAD that GOOD holds: git says so too where it is the merge base
    merged = repository.git("rev-parse", "HEAD~1")
    assert repository.git("merge-base", f"{merged}^1", side) == fork
    assert f"fairtrial bisect {fork[:12]} HEAD" in refused.value.fix


def test_good_without_a_common_commit(repository):
    repository.git("checkout", "-q", "--orphan", "alone")
    repository.commit("alone", {"alone": "1"})
    with pytest.raises(UsageError, match="no commit in common"):
        commits_between(repository.path, "main", "alone")


@pytest.mark.parametrize(
    ("good", "bad", "what"),
    [
        ("HEAD", "main", "one commit"),
        ("HEAD", "HEAD~2", "BAD is the older one"),
        ("v9", "HEAD", "GOOD is no commit of this repository: 'v9'"),
        ("HEAD~1", "HEAD:app.c", "BAD is no commit"),
        ("", "HEAD", "GOOD is no commit"),
        ("HEAD~2..HEAD", "HEAD", "GOOD is no commit"),
        ("--all", "HEAD", "GOOD is no commit of this repository: '--all'"),
        ("--upload-pack=touch x", "HEAD", "GOOD is no commit"),
        ("a\nb", "HEAD", "GOOD is no commit of this repository: 'a␊b'"),
        ("a\0b", "HEAD", "null byte"),
        ("\udcff", "HEAD", "GOOD is no commit"),
    ],
)
def test_wrong_ends_are_refused(repository, good, bad, what):
    before = repository.bytes_of_git()
    with pytest.raises(UsageError) as refused:
        commits_between(repository.path, good, bad)
    assert what in str(refused.value)
    assert refused.value.exit_code == 2
    assert repository.bytes_of_git() == before
    assert not (repository.path / "x").exists()


def test_a_branch_that_is_named_like_an_option_is_a_branch(repository):
    sha = repository.git("rev-parse", "HEAD~2")
    (repository.path / ".git/refs/heads/--upload-pack").write_text(f"{sha}\n")
    found = commits_between(repository.path, "--upload-pack", "HEAD")
    assert found.commits[0].commit == sha


def test_an_annotated_tag_is_its_commit(repository):
    repository.git("tag", "-a", "-m", "first", "v1", "HEAD~3")
    assert commits_between(repository.path, "v1", "HEAD").commits[0].subject == "only words"


def test_texts_of_commits_can_be_shown(repository):
    name = "A\x1b[31m\u202ebad"
    repository.commit("\x1b]0;owned\x07 a\tb", {"a": "1"}, GIT_AUTHOR_NAME=name)
    last = commits_between(repository.path, "HEAD~1", "HEAD").commits[1]
    assert last.subject == "␛]0;owned␇ a␉b"
    assert last.author == "A␛[31mU+202Ebad"


def test_bytes_of_another_encoding_become_text(repository):
    repository.git("config", "i18n.commitEncoding", "ISO-8859-1")
    message = repository.path / "message"
    message.write_bytes(b"gr\xfcn")
    repository.git("commit", "-q", "--allow-empty", "-F", "message")
    assert commits_between(repository.path, "HEAD~1", "HEAD").commits[1].subject == "grün"


def test_more_than_a_thousand_commits_need_all(make_repository):
    repository = make_repository()
    lines = []
    for number in range(1002):
        lines.append(
            f"commit refs/heads/main\ncommitter A <a@b> {1_000_000 + number} +0000\n"
            f"data 2\n{'c' * 2}\n"
        )
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=repository.path,
        input="".join(lines).encode(),
        check=True,
    )
    with pytest.raises(UsageError, match="1,001 commits") as refused:
        commits_between(repository.path, "main~1001", "main")
    assert "--all" in refused.value.fix
    assert commits_between(repository.path, "main~1000", "main").last == 1000
    assert commits_between(repository.path, "main~1001", "main", every=True).last == 1001


def test_a_shallow_clone_says_how_to_get_older_commits(repository, tmp_path):
    first = repository.git("rev-list", "HEAD").splitlines()[-1]
    shallow = tmp_path / "shallow"
    repository.git("clone", "-q", "--depth=2", f"file://{repository.path}", str(shallow))
    with pytest.raises(UsageError, match="git fetch --unshallow"):
        commits_between(shallow, first, "HEAD")
    assert commits_between(shallow, "HEAD~1", "HEAD").last == 1


def test_changes_that_are_not_committed_are_told(repository):
    assert not commits_between(repository.path, "HEAD~1", "HEAD").notes
    (repository.path / "new").write_text("untracked files are no change")
    assert not commits_between(repository.path, "HEAD~1", "HEAD").notes
    (repository.path / "app.c").write_text("changed")
    before = repository.bytes_of_git()
    (note,) = commits_between(repository.path, "HEAD~1", "HEAD").notes
    assert "not committed" in note
    assert repository.bytes_of_git() == before


def test_a_folder_below_and_a_further_work_tree_belong_to_the_repository(repository, tmp_path):
    (repository.path / "a b").mkdir()
    assert commits_between(repository.path / "a b", "HEAD~1", "HEAD").root == repository.path
    further = tmp_path / "further"
    repository.git("worktree", "add", "-q", "--detach", str(further))
    found = commits_between(further, "HEAD~1", "HEAD")
    assert (found.root, found.git_dir) == (further, repository.path / ".git")


def test_what_is_no_repository_is_refused(tmp_path, repository):
    with pytest.raises(UsageError, match="no work tree of git"):
        commits_between(tmp_path, "a", "b")
    with pytest.raises(UsageError, match="no work tree of git"):
        commits_between(repository.path / ".git", "a", "b")
    with pytest.raises(UsageError, match="no such folder"):
        commits_between(tmp_path / "none", "a", "b")


def test_without_git_it_is_said(repository, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="git is not installed"):
        commits_between(repository.path, "a", "b")


def test_variables_of_another_repository_are_not_heeded(repository, make_repository, monkeypatch):
    other = make_repository("other")
    other.commit("other", {"a": "1"})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    assert commits_between(repository.path, "HEAD~1", "HEAD").root == repository.path
