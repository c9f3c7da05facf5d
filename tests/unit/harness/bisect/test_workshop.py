"""Commits are built in a clone, at one path, and kept; the user's repository stays as it is."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analysis.errors import StoreError, UsageError
from harness.bisect.commits import commits_between, remove_tree
from harness.bisect.recipe import Built, NotBuilt, recipe_of
from harness.bisect.workshop import KeptTrees, Workshop, default_folder
from harness.campaign.resolve import load_campaign
from harness.errors import HostError, LaunchError
from harness.launch.matching import Interrupted, Interrupts

NOT_BUILT = "build step 1 failed with exit code 1"


def built_by(repository, step: str, *, program: str = "run.sh", timeout: str = "60s") -> None:
    """Write a campaign of one variant into the work tree, built by one text for the shell."""
    text = f"""\
name: app
variants: {{a: }}
build: {{shell: {json.dumps(step)}}}
benchmarks: {{run: {{command: [./{program}]}}}}
protocol: {{build_timeout: {timeout}}}
"""
    (repository.path / "campaign.yaml").write_text(text)


COPIED = "cp -L /bin/sh app"  # a program that needs no compiler


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "kept").iterdir())


def test_commits_are_built_and_kept(repository, open_workshop, tmp_path):
    workshop, commits, _ = open_workshop(repository)
    built = workshop.build(commits[0])
    assert isinstance(built, Built)
    assert built.tree.is_relative_to(tmp_path / "work" / "kept")
    assert list(built.programs) == ["app-plain"]
    # the variant that is the baseline is built, under its own name
    said = subprocess.run([built.tree / "app-plain"], capture_output=True, text=True, check=True)
    assert said.stdout == "one app.c\n"
    assert not (built.tree / ".git").exists()
    assert built.seconds > 0
    assert not built.reused
    assert not (repository.path / "app-plain").exists()


def test_a_commit_that_does_not_build_has_a_reason_and_a_log(repository, open_workshop):
    workshop, commits, _ = open_workshop(repository)
    broken = workshop.build(commits[2])
    assert isinstance(broken, NotBuilt)
    assert broken.why.startswith(f"{NOT_BUILT}: cc -O1")
    assert "error" in broken.log.read_text()
    assert isinstance(workshop.build(commits[3]), Built)


def test_equal_sources_are_one_program_though_it_holds_its_path(repository, open_workshop):
    # -g and __FILE__ hold the path of the build
    workshop, commits, _ = open_workshop(repository)
    identities = [workshop.build(commits[place]).identity for place in (0, 1, 3, 4)]
    assert identities[0] == identities[1] == identities[3]
    assert identities[2] != identities[0]


def test_a_program_that_holds_its_date_is_one_too(make_repository, open_workshop):
    repository = make_repository()
    source = "#include <stdio.h>\nint main(void) { puts(__DATE__ __TIME__); return 0; }\n"
    repository.commit("one", {"app.c": source})
    repository.commit("two", {"README": "words"})
    built_by(repository, "cc -o app app.c && sleep 1", program="app")
    workshop, commits, _ = open_workshop(repository)
    assert workshop.build(commits[0]).identity == workshop.build(commits[1]).identity


def test_every_build_begins_with_the_files_of_its_commit_alone(make_repository, open_workshop):
    repository = make_repository()
    repository.commit("one", {"run.sh": "#!/bin/sh\n", "gone": "1"})
    repository.commit("two", {"gone": None, ".gitignore": "left\nlisted\n"})
    built_by(repository, "ls > listed; mkdir -p locked/in; chmod 500 locked; touch left")
    workshop, commits, _ = open_workshop(repository)
    first, second = workshop.build(commits[0]), workshop.build(commits[1])
    assert (first.tree / "listed").read_text().split() == ["gone", "listed", "run.sh"]
    assert (second.tree / "listed").read_text().split() == ["listed", "run.sh"]


def test_the_repository_is_the_same_bytes_afterwards(repository, open_workshop, tmp_path):
    marker = tmp_path / "hook-was-here"
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        hook = repository.path / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
        hook.chmod(0o755)
    template = tmp_path / "home" / "template" / "hooks"
    template.mkdir(parents=True)
    (template / "post-checkout").write_text(f"#!/bin/sh\ntouch {marker}\n")
    (template / "post-checkout").chmod(0o755)
    (tmp_path / "home" / ".gitconfig").write_text(f"[init]\ntemplateDir = {template.parent}\n")
    (repository.path / "app.c").write_text("changed, and not committed")
    before = repository.bytes_of_git()
    status = repository.git("--no-optional-locks", "status", "--porcelain")
    workshop, commits, _ = open_workshop(repository)
    for commit in commits:
        workshop.build(commit)
    workshop.__exit__(None, None, None)
    assert repository.bytes_of_git() == before
    assert repository.git("--no-optional-locks", "status", "--porcelain") == status
    assert not marker.exists()
    assert not (tmp_path / "work" / "build").exists()
    assert len(kept(tmp_path / "work")) == 9  # four trees with records, one record of a failure


def test_hooks_would_leave_a_marker(repository, tmp_path):
    # negative control: a work tree beside, as git makes it, executes the user's hook
    marker = tmp_path / "hook-was-here"
    hook = repository.path / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
    hook.chmod(0o755)
    before = repository.bytes_of_git()
    repository.git("worktree", "add", "-q", "--detach", str(tmp_path / "beside"))
    assert marker.exists()
    assert repository.bytes_of_git() != before


def test_a_build_may_ask_git_and_reaches_the_clone_alone(
    make_repository, open_workshop, monkeypatch
):
    repository = make_repository()
    repository.commit("one", {"run.sh": "#!/bin/sh\n"})
    repository.git("tag", "v1")
    repository.commit("two", {"a": "1"})
    built_by(repository, "git describe --always --tags > version; git tag built-here")
    monkeypatch.setenv("GIT_DIR", str(repository.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(repository.path / ".git" / "index"))
    before = repository.bytes_of_git()
    workshop, commits, _ = open_workshop(repository)
    assert (workshop.build(commits[0]).tree / "version").read_text() == "v1\n"
    assert repository.bytes_of_git() == before


def test_what_is_kept_is_taken_again_while_it_is_as_it_was(repository, open_workshop, tmp_path):
    built_by(repository, COPIED, program="app")
    workshop, commits, _ = open_workshop(repository)
    first = workshop.build(commits[0])
    workshop.__exit__(None, None, None)
    workshop, commits, _ = open_workshop(repository)
    again = workshop.build(commits[0])
    assert (again.tree, again.identity, again.programs) == (
        first.tree,
        first.identity,
        first.programs,
    )
    assert again.reused
    assert again.seconds == first.seconds
    assert not (tmp_path / "work" / "build").exists()  # no clone was needed


def test_what_was_changed_or_has_no_record_is_built_anew(repository, open_workshop):
    built_by(repository, COPIED, program="app")
    workshop, commits, _ = open_workshop(repository)
    first = workshop.build(commits[0])
    (first.tree / "results.txt").write_text("of a run: it is no change")
    assert workshop.build(commits[0]).reused
    record = first.tree.with_name(f"{first.tree.name}.json")
    for changed in (first.tree / "app", first.tree / "app.c", record):
        with changed.open("ab") as file:
            file.write(b"\n\0")
        again = workshop.build(commits[0])
        assert not again.reused
        assert (again.tree, again.programs, again.identity) == (
            first.tree,
            first.programs,
            first.identity,
        )


KNOWN = '{"schema": 2, "commit": "c", "seconds": 1.0}'  # of a later version


@pytest.mark.parametrize("text", ["", "{", "[]", KNOWN, '{"schema": 1, "commit": 3}'])
def test_a_record_that_cannot_be_read_is_none(tmp_path, text):
    kept = KeptTrees(tmp_path)
    kept.make()
    (kept.folder / "key.json").write_text(text)
    assert kept.read("key") is None


def test_a_tree_without_a_record_is_deleted_at_the_next_beginning(repository, open_workshop):
    built_by(repository, COPIED, program="app")
    workshop, commits, _ = open_workshop(repository)
    first = workshop.build(commits[0])
    first.tree.with_name(f"{first.tree.name}.json").unlink()
    workshop.__exit__(None, None, None)
    open_workshop(repository)
    assert not first.tree.exists()


def test_a_failure_is_known_until_it_is_tried_again(repository, open_workshop, tmp_path):
    flag = tmp_path / "there"
    built_by(repository, f"test -e {flag} && {COPIED}", program="app")
    workshop, commits, _ = open_workshop(repository)
    assert isinstance(workshop.build(commits[0]), NotBuilt)
    flag.touch()
    assert isinstance(workshop.build(commits[0]), NotBuilt)
    assert isinstance(workshop.build(commits[0], again=True), Built)


def test_a_failure_is_known_to_its_own_bisection_alone(repository, tmp_path):
    tries = tmp_path / "tries"
    built_by(repository, f"echo >> {tries}; false")
    commits = commits_between(repository.path, "HEAD~1", "HEAD")
    recipe = recipe_of(load_campaign(repository.path / "campaign.yaml"), commits)
    for bisection, count in (("runs/one", 1), ("runs/one", 1), ("runs/two", 2)):
        with Workshop(
            commits, recipe, Interrupts(), folder=tmp_path / "work", bisection=bisection
        ) as workshop:
            assert isinstance(workshop.build(commits.commits[0]), NotBuilt)
        assert len(tries.read_text().splitlines()) == count


def test_other_compiler_flags_are_another_build(repository, open_workshop, monkeypatch):
    built_by(repository, COPIED, program="app")
    workshop, commits, _ = open_workshop(repository)
    first = workshop.build(commits[0])
    workshop.__exit__(None, None, None)
    monkeypatch.setenv("CFLAGS", "-O3")
    workshop, commits, _ = open_workshop(repository)
    second = workshop.build(commits[0])
    assert not second.reused
    assert second.tree != first.tree
    assert first.tree.exists()


def test_a_program_that_the_build_does_not_make(repository, open_workshop):
    text = (repository.path / "campaign.yaml").read_text()
    (repository.path / "campaign.yaml").write_text(text.replace("./app-{variant}", "./bin/app"))
    workshop, commits, _ = open_workshop(repository)
    missing = workshop.build(commits[0])
    assert isinstance(missing, NotBuilt)
    assert missing.why == "the build made no program './bin/app'"
    assert not list((workshop.folder / "kept").glob("*/"))


def test_a_build_that_never_ends_is_ended_with_its_children(repository, open_workshop):
    sleep = f"sleep 1000.{os.getpid()}"
    built_by(repository, f"setsid {sleep} & {sleep}; true", timeout="0.3s")
    workshop, commits, _ = open_workshop(repository)
    ended = workshop.build(commits[0])
    assert isinstance(ended, NotBuilt)
    assert ended.why == "build step 1 was ended after 0.3 s"
    assert not alive(sleep.split()[1])


def test_a_killed_launcher_is_no_property_of_a_commit(repository, open_workshop):
    built_by(repository, "kill -9 $PPID")  # as when memory runs out
    workshop, commits, _ = open_workshop(repository)
    with pytest.raises(LaunchError, match="was killed or crashed"):
        workshop.build(commits[0])
    assert kept(workshop.folder) == []


@pytest.mark.parametrize(
    "build",
    [
        "kill -9 $$",
        "sh -c 'kill -9 $$'",
        "echo gcc: fatal error: Killed signal terminated program cc1 >&2; exit 2",
    ],
)
def test_a_killed_build_is_no_property_of_a_commit(repository, open_workshop, build):
    built_by(repository, build)
    workshop, commits, _ = open_workshop(repository)
    with pytest.raises(HostError, match="killed") as told:
        workshop.build(commits[0])
    assert "--resume" in told.value.fix
    assert kept(workshop.folder) == []


def test_what_a_build_leaves_running_is_ended(repository, open_workshop):
    sleep = f"sleep 1001.{os.getpid()}"
    built_by(repository, f"{COPIED}; setsid {sleep} > /dev/null 2>&1 &", program="app")
    workshop, commits, _ = open_workshop(repository)
    workshop.build(commits[0])
    assert not alive(sleep.split()[1])


def alive(words: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words.encode() in path.read_bytes() and path.parent.name != str(os.getpid()):
                return True
        except OSError:
            continue
    return False


def test_a_signal_ends_a_build_and_the_clone_goes(repository, tmp_path):
    built_by(repository, f"kill -INT {os.getpid()}; sleep 1000")
    commits = commits_between(repository.path, "HEAD~1", "HEAD")
    recipe = recipe_of(load_campaign(repository.path / "campaign.yaml"), commits)
    folder = tmp_path / "work"
    with (
        Interrupts() as interrupts,
        pytest.raises(Interrupted),
        Workshop(commits, recipe, interrupts, folder=folder) as workshop,
    ):
        workshop.build(commits.commits[0])
    assert kept(folder) == []
    assert not (folder / "build").exists()


KILLED = """
import sys
from pathlib import Path
from harness.bisect.commits import commits_between
from harness.bisect.recipe import recipe_of
from harness.bisect.workshop import Workshop
from harness.campaign.resolve import load_campaign
from harness.errors import LaunchError
from harness.launch.matching import Interrupts
top, folder = map(Path, sys.argv[1:])
commits = commits_between(top, "HEAD~1", "HEAD")
recipe = recipe_of(load_campaign(top / "campaign.yaml"), commits)
with Workshop(commits, recipe, Interrupts(), folder=folder) as workshop:
    for commit in commits.commits:
        workshop.build(commit)
"""


def test_after_kill_9_the_repository_is_the_same_and_the_clone_goes_next_time(
    repository, open_workshop, tmp_path
):
    step = f"touch {tmp_path}/building; test -e {tmp_path}/go || sleep 1000; {COPIED}"
    built_by(repository, step, program="app")
    before = repository.bytes_of_git()
    folder = tmp_path / "work"
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(repository.path), str(folder)])
    while not (tmp_path / "building").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert (folder / "build" / ".git").is_dir()
    assert repository.bytes_of_git() == before
    (tmp_path / "go").touch()
    workshop, commits, _ = open_workshop(repository)
    assert not (folder / "build").exists()
    assert isinstance(workshop.build(commits[0]), Built)
    assert repository.bytes_of_git() == before


WRITES = (
    "n=0; while [ $n -lt 20000 ]; do n=$((n+1)); mkdir -p {place}/x/$n; : > {here}/writes; done"
)


@pytest.mark.parametrize("word", ["clone", "checkout", "build"])
def test_nothing_that_a_killed_bisection_started_writes_once_the_next_one_is_open(
    repository, open_workshop, monkeypatch, tmp_path, word
):
    (tmp_path / "bin").mkdir()
    place = tmp_path / "work" / "build"
    writes = f"if mkdir {tmp_path}/once; then {WRITES.format(place=place, here=tmp_path)}; fi"
    slow = f'#!/bin/sh\nfor word; do [ "$word" != {word} ] || {{ {writes}; }}; done\n'
    (tmp_path / "bin" / "git").write_text(f'{slow}exec {shutil.which("git")} "$@"\n')
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    built_by(repository, f"{writes if word == 'build' else ''}\n{COPIED}", program="app")
    words = [sys.executable, "-c", KILLED, str(repository.path), str(tmp_path / "work")]
    child = subprocess.Popen(words)
    while not (tmp_path / "writes").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    workshop, commits, _ = open_workshop(repository)
    assert not alive(f"{tmp_path}/bin/git" if word != "build" else f"{tmp_path}/once")
    assert not place.exists()
    assert isinstance(workshop.build(commits[0]), Built)


def test_one_bisection_at_a_time_uses_a_folder(repository, open_workshop):
    open_workshop(repository)
    with pytest.raises(StoreError, match="another bisection"):
        open_workshop(repository)


def test_the_folder_lies_outside_of_the_work_tree(repository, open_workshop, tmp_path, monkeypatch):
    for folder in (repository.path / "work", repository.path / ".git" / "work", repository.path):
        with pytest.raises(UsageError, match="cannot lie in the work tree"):
            open_workshop(repository, folder=folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(repository.path / "cache"))
    assert default_folder("app", repository.path).is_relative_to(repository.path / "cache")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_folder("app", repository.path).parent == tmp_path / "home/.cache/fairtrial"
    assert default_folder("app", Path("/a")).name != default_folder("app", Path("/b")).name


def test_a_folder_that_holds_something_else_is_refused(repository, open_workshop, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").write_text("dear")
    with pytest.raises(UsageError, match="holds something else"):
        open_workshop(repository, folder=tmp_path / "mine")
    with pytest.raises(UsageError, match="a file is in the place"):
        open_workshop(repository, folder=tmp_path / "mine" / "thesis")
    with pytest.raises(UsageError, match="colon"):
        open_workshop(repository, folder=tmp_path / "a:b")


def test_a_full_disk_is_no_property_of_a_commit(repository, open_workshop):
    built_by(repository, "echo cc: error writing to /tmp/x.s: No space left on device >&2; exit 1")
    workshop, commits, _ = open_workshop(repository)
    with pytest.raises(StoreError, match="full disk") as full:
        workshop.build(commits[0])
    assert "--work-dir" in full.value.fix
    assert kept(workshop.folder) == []


def test_what_cannot_be_stored_is_told_and_not_taken_for_whole(
    repository, open_workshop, monkeypatch
):
    built_by(repository, COPIED, program="app")
    workshop, commits, _ = open_workshop(repository)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(KeptTrees, "write", full)
        with pytest.raises(StoreError, match="No space left") as told:
            workshop.build(commits[0])
    assert "free some space" in told.value.fix
    assert not workshop.build(commits[0]).reused


@pytest.mark.powerless
@pytest.mark.usefixtures("unreadable_files")
def test_without_the_right_to_write_it_is_told(repository, open_workshop, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(StoreError, match="Permission denied") as told:
        open_workshop(repository, folder=tmp_path / "locked" / "work")
    assert "--work-dir" in told.value.fix


@pytest.mark.parametrize("name", ["lock", "workshop.json"])
def test_a_link_in_its_place_leads_nowhere(repository, open_workshop, tmp_path, name):
    foreign = tmp_path / "foreign"
    foreign.write_text("a text of somebody else")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / name).symlink_to(foreign)
    with pytest.raises(StoreError, match="symbolic link"):
        open_workshop(repository)
    assert foreign.read_text() == "a text of somebody else"


def test_a_campaign_without_build_measures_tracked_scripts(make_repository, open_workshop):
    repository = make_repository()
    campaign = "name: app\nvariants: {a: }\nbenchmarks: {run: {command: [./run.sh]}}\n"
    repository.commit("one", {"run.sh": "#!/bin/sh\n", "campaign.yaml": campaign})
    repository.commit("two", {"lib.sh": "1"})
    repository.commit("three", {"lib.sh": None})
    repository.commit("four", {"run.sh": None})
    workshop, commits, _ = open_workshop(repository)
    built = [workshop.build(commit) for commit in commits]
    # what a script reads cannot be seen: the program is the whole tree
    assert built[0].identity == f"tree:{commits[0].tree}" == built[2].identity
    assert built[1].identity != built[0].identity
    assert built[3].why == "there is no program './run.sh'"


# ---- A disk that is full is told, nothing half-built is taken for whole, and more space is all that is needed.


BUILD = """
import contextlib, os, sys
from pathlib import Path
from analysis.errors import StoreError
from harness.bisect.commits import commits_between
from harness.bisect.recipe import recipe_of
from harness.bisect.workshop import Workshop
from harness.campaign.resolve import load_campaign
from harness.launch.matching import Interrupts
top, folder = map(Path, sys.argv[1:])
commits = commits_between(top, "HEAD~1", "HEAD")
recipe = recipe_of(load_campaign(top / "campaign.yaml"), commits)
with contextlib.suppress(OSError), open("disk/ballast", "wb", buffering=0) as ballast:
    while ballast.write(bytes(1 << 16)): pass
for kilobytes in (16384, 13824, 12288, 0):
    os.truncate("disk/ballast", min(kilobytes << 10, os.stat("disk/ballast").st_size))
    try:
        with Workshop(commits, recipe, Interrupts(), folder=folder) as workshop:
            print([type(workshop.build(commit)).__name__ for commit in commits.commits])
    except StoreError as error:
        print(error)
    print(sorted(path.name for path in folder.glob("kept/*")), (folder / "build").exists())
"""
DISK = 'mount -t tmpfs -o size=16m none disk && exec "$@"'
CAMPAIGN = """\
name: app
variants: {a: }
build: {shell: "head -c 1500000 /dev/zero > large; head -c 1500000 /dev/zero > larger && chmod +x larger"}
benchmarks: {run: {command: [./larger]}}
"""


def test_a_full_disk(repository, tmp_path):
    if not (shutil.which("unshare") and shutil.which("mount")):
        pytest.skip("unshare or mount (util-linux) is not installed")
    (tmp_path / "disk").mkdir()
    (repository.path / "campaign.yaml").write_text(CAMPAIGN)
    command = [sys.executable, "-c", BUILD, str(repository.path), "disk/work"]
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", DISK, "sh", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 32 or "unshare failed" in done.stderr:
        pytest.skip(f"no user namespace with mounts is to be had here: {done.stderr.strip()}")
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert "what is built cannot be stored: No space left on device" in lines[0]
    assert "free some space, or name another folder: --work-dir DIR" in lines[1]
    assert lines[2] == "[] False"
    assert "a build failed on a full disk" in lines[3]
    assert lines[5] == "[] False"
    # there is room for one of the two: what was kept of it stays
    assert "a build failed on a full disk" in lines[6]
    assert lines[8].count(".json") == 1
    assert lines[8].endswith("False")
    assert lines[9] == "['Built', 'Built']"


# --- Clones of repositories with submodules and Git LFS, and of shallow, partial and other ones


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
