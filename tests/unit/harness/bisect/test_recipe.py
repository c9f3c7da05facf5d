"""The campaign of commits is an ordinary one, whose cells are the template's in each commit's tree."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from analysis.errors import UsageError
from harness.bisect.commits import Commit, commits_between
from harness.bisect.recipe import Built, campaign_of, campaign_text, recipe_of
from harness.campaign.resolve import load_campaign

RICH = """\
name: rich
description: "braces {stay}, \\x7f \\u2028 too"
seed: 7
series: off
judge: [score, wall]
variants:
  left: {matrix: {level: [1, 2]}, mode: "a {b}", env: {MODE: "{mode}", BOTH: "{variant}"}}
  right: {level: 3, mode: c, command: [other]}
baseline: left-2
inputs: [data/shared.txt]
benchmarks:
  first:
    size: 10
    command: ["./tool-{level}", "{size}", "{{literal}}", "with space", "-{variant}"]
    cwd: ../bin
    stdin: data/in.txt
    inputs: ["data/{size}.txt", /etc/hostname]
    stdout: keep
    timeout: 1.5s
    env: {BENCH: "{benchmark}", "ODD: NAME": "x: {{y}}"}
    expect: {exit: [0, 3], regex: 'a{2}\\d', file: "data/out.txt"}
    metrics:
      score: {regex: '^s=(\\d{1,3})$', unit: points, better: higher}
      other: {json: "a[*].b", from: "out-{size}.json", unit: s, better: lower}
  second:
    size: 20
    command: {shell: "echo $HOME '{mode}' {{}}; echo s=1"}
    metrics: {score: {regex: 's=(.)', unit: points, better: higher, from: stderr}}
protocol: {sessions: 3, runs: 4, warmup: 1, order: alternating, cooldown: 0.1s, timeout: 20s}
isolation: {cpus: none, aslr: true, padding: off, limits: {nofile: 512}, environment: {keep: [PATH, "LC_*"]}}
checks: {warn: [load], probe: 0s}
hooks:
  setup: {shell: "echo {{setup}}"}
  before: [[touch, "{level}-{variant}-{benchmark}"], {shell: "echo {size} 2>/dev/null"}]
  cleanup: rm -f "a b"
  timeout: 5s
"""


def commit(place: int) -> Commit:
    sha = f"{place:x}" * 40
    return Commit(place=place, commit=sha, tree=sha, subject="s", author="a", date="2026-11-01")


def built(place: int, tree: Path, **changes: object) -> Built:
    made = Built(commit=commit(place), tree=tree, programs={}, identity="x", seconds=1.0)
    return dataclasses.replace(made, **changes)


@pytest.fixture
def make_recipe(make_repository):
    def make(text, *, place="bench", **chosen):
        repository = make_repository("my {odd} repository")
        repository.commit("one", {"bin/tool-2": "#!/bin/sh\n", "bench/data/in.txt": "in"})
        repository.commit("two", {"a": "1"})
        folder = repository.path / place
        folder.mkdir(exist_ok=True)
        path = folder / "the campaign.yaml"
        path.write_text(text)
        commits = commits_between(folder, "HEAD~1", "HEAD")
        return recipe_of(load_campaign(path), commits, **chosen)

    return make


def test_the_cells_are_the_templates_in_each_tree(make_recipe, tmp_path):
    recipe = make_recipe(RICH)
    trees = [tmp_path / "kept {x}" / str(number) for number in range(3)]
    ends = [built(number, tree) for number, tree in enumerate(trees)]
    file = tmp_path / "made.yaml"
    made = campaign_of(recipe, ends, file, baseline=ends[0])
    template = recipe.campaign
    assert made.variants == ("0000-0000000", "0001-1111111", "0002-2222222")
    assert made.baseline == "0000-0000000"
    assert dict(made.commit) == {one.commit.variant: one.commit.commit for one in ends}
    assert made.benchmarks == template.benchmarks
    assert not made.builds
    for name in ("description", "seed", "judge", "isolation", "checks", "counters", "name"):
        assert getattr(made, name) == getattr(template, name), name
    # a commit that fails is one of the answers
    assert made.protocol == dataclasses.replace(template.protocol, never_ok="go_on")
    root = recipe.root

    def move(path, tree):
        lexical = Path(str(path).replace("bench/../", ""))
        return tree / lexical.relative_to(root) if lexical.is_relative_to(root) else path

    for one, tree in zip(ends, trees, strict=True):
        for benchmark in template.benchmarks:
            cell, before = (
                made.cell(benchmark, one.commit.variant),
                template.cell(benchmark, "left-2"),
            )
            assert cell.command.argv == before.command.argv
            assert cell.cwd == move(before.cwd, tree)
            assert cell.stdin == (before.stdin and move(before.stdin, tree))
            assert cell.inputs == tuple(move(path, tree) for path in before.inputs)
            assert cell.expect.stdout_file == (
                before.expect.stdout_file and move(before.expect.stdout_file, tree)
            )
            for name in ("env", "stdout", "stderr", "timeout_s"):
                assert getattr(cell, name) == getattr(before, name), name
            assert cell.expect.exit_codes == before.expect.exit_codes
            assert cell.expect.stdout_regex == before.expect.stdout_regex
            assert [rule.name for rule in cell.metrics] == [rule.name for rule in before.metrics]
            for rule, old in zip(cell.metrics, before.metrics, strict=True):
                source = move(old.source, tree) if isinstance(old.source, Path) else old.source
                assert dataclasses.replace(rule, source=source) == dataclasses.replace(
                    old, source=source
                )
                assert rule.source == source
            # a hook of runs is executed in the commit's folder
            place = tree / "bench"
            wrapped = ("/bin/sh", "-c", 'cd "$0" && exec "$@"', str(place))
            assert [step.argv for step in cell.before] == [
                (*wrapped, *step.argv) for step in before.before
            ]
    folder = str(template.source.parent)
    wrapped = ("/bin/sh", "-c", 'cd "$0" && exec "$@"', folder)
    assert [step.argv for step in made.hooks.setup] == [(*wrapped, "/bin/sh", "-c", "echo {setup}")]
    assert [step.argv for step in made.hooks.cleanup] == [(*wrapped, "rm", "-f", "a b")]
    assert made.hooks.timeout_s == template.hooks.timeout_s


def test_matrices_are_written_out(make_recipe, tmp_path):
    text = RICH.replace("size: 10", "matrix: {size: [10, 20]}")
    recipe = make_recipe(text, variant="left-1", benchmarks=["first-20"])
    ends = [built(number, tmp_path / str(number)) for number in range(2)]
    made = campaign_of(recipe, ends, tmp_path / "made.yaml", baseline=ends[1])
    assert made.benchmarks == ("first-20",)
    assert made.baseline == "0001-1111111"
    cell = made.cells[0]
    assert cell.command.argv == ("./tool-1", "20", "{literal}", "with space", "-left-1")
    assert cell.before[0].argv[-1] == "1-left-1-first-20"
    assert recipe.notes[0] == "every commit is measured as the campaign's variant 'left-1'"


def test_another_variant_gives_other_cells(make_recipe, tmp_path):
    # negative control of the two above
    recipe = make_recipe(RICH, variant="left-1")
    ends = [built(0, tmp_path / "0")]
    cells = tuple(recipe.campaign.cell(name, "right") for name in recipe.campaign.benchmarks)
    other = dataclasses.replace(recipe, variant="right", cells=cells)
    texts = [campaign_text(one, ends, baseline=ends[0]) for one in (recipe, other)]
    assert texts[0] != texts[1]


def test_the_commits_own_libraries_are_searched(make_recipe, tmp_path, monkeypatch):
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    text = "name: a\nvariants: {a: }\nbenchmarks: {b: {command: [./x]}, c: {command: [./x], env: {LD_LIBRARY_PATH: /opt}}}\n"
    recipe = make_recipe(text)
    ends = [
        built(0, tmp_path / "0", libraries=(tmp_path / "0/lib", tmp_path / "0/l2")),
        built(1, tmp_path / "1"),
    ]
    made = campaign_of(recipe, ends, tmp_path / "made.yaml", baseline=ends[0])
    first = f"{tmp_path}/0/lib:{tmp_path}/0/l2"
    assert made.cell("b", "0000-0000000").env == {"LD_LIBRARY_PATH": first}
    assert made.cell("c", "0000-0000000").env == {"LD_LIBRARY_PATH": f"{first}:/opt"}
    assert made.cell("b", "0001-1111111").env == {"LD_LIBRARY_PATH": f"{tmp_path}/1"}
    monkeypatch.setenv("LD_LIBRARY_PATH", "/mine")
    made = campaign_of(recipe, ends, tmp_path / "made.yaml", baseline=ends[0])
    assert made.cell("b", "0001-1111111").env == {"LD_LIBRARY_PATH": f"{tmp_path}/1:/mine"}


SIMPLE = "name: a\nvariants: {a: }\nbenchmarks: {b: {command: [./tool], %s}}\n"


@pytest.mark.parametrize(
    ("more", "what"),
    [("cwd: /tmp", "outside of the repository"), ("cwd: ../..", "outside of the repository")],
)
def test_what_would_be_one_program_for_all_commits_is_refused(make_recipe, more, what):
    with pytest.raises(UsageError, match=what):
        make_recipe(SIMPLE % more)


def test_a_program_of_the_work_tree_by_an_absolute_path_is_refused(make_recipe, tmp_path):
    program = tmp_path / "my {odd} repository" / "bin" / "tool-2"
    text = (
        SIMPLE.replace("./tool", str(program).replace("{", "{{").replace("}", "}}")) % "timeout: 1s"
    )
    text = text.replace("[", '["').replace("],", '"],')
    with pytest.raises(UsageError, match="every commit would execute it"):
        make_recipe(text)


def test_an_absolute_path_outside_stays(make_recipe, tmp_path):
    recipe = make_recipe(SIMPLE % "inputs: [/etc/hostname]")
    ends = [built(0, tmp_path / "0")]
    made = campaign_of(recipe, ends, tmp_path / "made.yaml", baseline=ends[0])
    assert made.cells[0].inputs == (Path("/etc/hostname"),)
    assert not recipe.inputs


def test_texts_that_name_the_work_tree_are_told(make_recipe, tmp_path):
    top = str(tmp_path / "my {odd} repository").replace("{", "{{").replace("}", "}}")
    recipe = make_recipe(SIMPLE % f'env: {{DATA: "{top}/data"}}')
    (note,) = recipe.notes
    assert "variable DATA names your work tree" in note


def test_unknown_names_are_refused(make_recipe):
    with pytest.raises(UsageError, match="no variant 'lefty'"):
        make_recipe(RICH, variant="lefty")


def test_a_campaign_outside_of_the_repository_is_refused(repository, tmp_path):
    path = tmp_path / "campaign.yaml"
    path.write_text(SIMPLE % "timeout: 1s")
    commits = commits_between(repository.path, "HEAD~1", "HEAD")
    with pytest.raises(UsageError, match="outside of the repository"):
        recipe_of(load_campaign(path), commits)


def test_a_campaign_through_a_link_has_its_place(repository, tmp_path):
    (repository.path / "campaign.yaml").write_text(SIMPLE % "stdin: README")
    link = tmp_path / "link"
    link.symlink_to(repository.path)
    commits = commits_between(link, "HEAD~1", "HEAD")
    recipe = recipe_of(load_campaign(link / "campaign.yaml"), commits)
    assert recipe.place == PurePosixPath(".")
    assert recipe.in_repository(recipe.cells[0].stdin) == PurePosixPath("README")


def test_the_value_of_a_hook_that_is_named_like_ours_is_refused(make_recipe, tmp_path):
    text = (SIMPLE % "commit_tree: x") + 'hooks: {before: "touch {commit_tree}"}\n'
    with pytest.raises(UsageError, match="commit_tree"):
        campaign_text(make_recipe(text), [built(0, tmp_path)], baseline=built(0, tmp_path))


def test_inputs_that_an_end_does_not_hold_are_taken_from_the_work_tree(repository, open_workshop):
    text = (repository.path / "campaign.yaml").read_text()
    text = text.replace(
        '"./app-{variant}"]', '"./app-{variant}"], stdin: big.dat, inputs: [app.c, made]'
    )
    text = text.replace("build:\n", "build:\n  - [touch, made]\n")
    (repository.path / "campaign.yaml").write_text(text)
    (repository.path / "big.dat").write_text("large")
    (repository.path / "made").write_text("of the user's build")
    workshop, commits, recipe = open_workshop(repository)
    assert sorted(map(str, recipe.inputs)) == ["big.dat", "made"]
    told = [note for note in recipe.notes if note.startswith("big.dat is not in GOOD and BAD")]
    assert len(told) == 1
    first = workshop.build(commits[0])
    assert (first.tree / "big.dat").read_text() == "large"
    assert (first.tree / "made").read_text() == ""  # the build's own wins
    assert list(first.programs) == ["app-plain", "app.c", "big.dat", "made"]


def test_an_input_that_nobody_has_is_a_reason(repository, open_workshop):
    text = (repository.path / "campaign.yaml").read_text()
    text = text.replace('"./app-{variant}"]', '"./app-{variant}"], stdin: none.dat')
    (repository.path / "campaign.yaml").write_text(text)
    workshop, commits, _ = open_workshop(repository)
    assert workshop.build(commits[0]).why == (
        "neither the commit nor its build has the input 'none.dat'"
    )


def test_what_was_made_is_measured(repository, open_workshop, tmp_path):
    workshop, commits, recipe = open_workshop(repository)
    ends = [workshop.build(commits[place]) for place in (0, 3)]
    made = campaign_of(recipe, ends, tmp_path / "made.yaml", baseline=ends[0])
    said = [
        subprocess.run(cell.command.argv, cwd=cell.cwd, capture_output=True, text=True, check=True)
        for cell in made.cells
    ]
    assert [one.stdout for one in said] == ["one app.c\n", "two app.c\n"]


DRAWN = """\
name: app
seed: 7
variants: {plain: {}}
benchmarks:
  run: {command: ["./tool"], env: {SEEN: "{layout_seed}"}}
"""


def seed_of(recipe, trial, tmp_path):
    file, end = tmp_path / "made.yaml", built(0, tmp_path)
    return campaign_of(recipe, [end], file, baseline=end, trial=trial).seed


def test_no_two_trials_of_a_bisection_draw_the_same_layouts(make_recipe, tmp_path):
    recipe = make_recipe(DRAWN)
    trials = ("step0", "search/0001-abc", "proof-1", "proof-2")
    seeds = [seed_of(recipe, trial, tmp_path) for trial in trials]
    assert len({*seeds, recipe.campaign.seed}) == 5
    # whoever measures it again has them too
    assert f"\nseed: {seeds[-1]}\n" in (tmp_path / "made.yaml").read_text()
    assert [seed_of(recipe, trial, tmp_path) for trial in trials] == seeds


def test_trials_of_which_nothing_is_drawn_have_the_seed_of_the_campaign(make_recipe, tmp_path):
    recipe = make_recipe(DRAWN.replace("{layout_seed}", "1"))
    assert seed_of(recipe, "proof-1", tmp_path) == 7


def test_a_build_of_each_session_is_refused(make_recipe):
    text = (
        DRAWN
        + "build: {each: session, run: [[cc, '-DSEED={layout_seed}', -o, tool, tool.c]], artifacts: [tool]}\n"
    )
    with pytest.raises(UsageError, match="a bisection builds each commit once") as refused:
        make_recipe(text)
    assert "campaign.yaml:6:" in str(refused.value.where)
    assert "--variant" in str(refused.value.fix)


# --- Which commits a range has: git-rev-list(1), and what is told where it has none


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
        ("a\0b", "HEAD", "GOOD is no commit of this repository: 'a␀b'"),
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
    assert f"{last.subject}" == "␛]0;owned␇ a␉b"
    assert f"{last.author}" == "A␛[31mU+202Ebad"


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
    for place in (tmp_path, repository.path / ".git"):
        with pytest.raises(UsageError, match="no work tree of git"):
            commits_between(place, "a", "b")
    with pytest.raises(UsageError, match="no such folder"):
        commits_between(tmp_path / "none", "a", "b")
    moved = repository.path.rename(tmp_path / "two\nlines")  # git borrows no objects from there
    with pytest.raises(UsageError, match="line feed"):
        commits_between(moved, "HEAD~1", "HEAD")


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
