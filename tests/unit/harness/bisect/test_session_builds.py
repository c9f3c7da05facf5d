"""Commits that each session builds anew: in their kept trees, with layouts that no two trials share.

Authority: with `each: session` a variant is known by its commit, since its bytes are others in each session; a proof is
made of fresh sessions, and so of fresh layouts.
"""

from __future__ import annotations

import json
import subprocess

import pytest

from harness.bisect.built import Built, NotBuilt
from harness.bisect.commit_campaign import campaign_of
from harness.campaign.layout_seed import layout_seed, with_layout_seed
from harness.campaign.model import LAYOUT_SEED

CAMPAIGN = """\
name: app
seed: 7
variants: {plain: {env: {NOTE: "a {layout_seed}", "ODD_NAME": "x=y {{z}}"}}}
build:
  each: session
  run:
    - {shell: "echo \\"$NOTE\\" > note; env | grep ODD_NAME > odd"}
    - [cc, "-DSEED={layout_seed}", -g, -o, app, app.c]
  artifacts: [note]
benchmarks:
  run: {command: ["./app"], env: {SEEN: "{layout_seed}"}}
protocol: {sessions: 2, runs: 3, warmup: 0, build_timeout: 60s}
"""
SOURCE = '#include <stdio.h>\nint main(void) {{ printf("{} %d {{}}\\n", SEED); return 0; }}\n'
ONCE = CAMPAIGN.replace("each: session", "each: campaign").replace(
    "-DSEED={layout_seed}", "-DSEED=1"
)


@pytest.fixture
def layouts(make_repository):
    """Three programs, of which the last is the first one once more, beside a commit of words alone."""
    made = make_repository("lay out")
    made.commit("one", {"app.c": SOURCE.format("one"), "campaign.yaml": CAMPAIGN})
    made.commit("words", {"README": "words\n"})
    made.commit("broken", {"app.c": "int main(void) { return }\n"})
    made.commit("two", {"app.c": SOURCE.format("two")})
    made.commit("back", {"app.c": SOURCE.format("one")})
    return made


def executed(built, name="app"):
    return subprocess.run([built.tree / name], capture_output=True, text=True, check=True).stdout


def test_a_commit_is_built_where_it_is_kept(layouts, open_workshop):
    workshop, commits, _ = open_workshop(layouts)
    built = workshop.build(commits[0])
    assert isinstance(built, Built)
    seed = layout_seed(7, 0, commits[0].name)
    assert executed(built) == f"one {seed} {{}}\n"
    assert (built.tree / "note").read_text() == f"a {seed}\n"
    assert built.made == ("app",)  # no file of the commit, as app.c is
    debug = subprocess.run(
        ["readelf", "--debug-dump=info", built.tree / "app"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(built.tree) in debug.stdout
    assert not (built.tree / ".git").exists()
    broken = workshop.build(commits[2])
    assert isinstance(broken, NotBuilt)
    assert broken.why.startswith("build step 2 failed with exit code 1")


def test_commits_are_one_program_where_their_files_are(layouts, open_workshop):
    workshop, commits, recipe = open_workshop(layouts)
    identities = [workshop.build(commits[place]).identity for place in (0, 1, 3, 4)]
    assert len(set(identities)) == 3  # words count, since nobody can tell what they do not change
    assert identities[1] == identities[3]
    assert "commits are one program only where their files are the same" in recipe.notes[-1]


def test_commits_of_equal_programs_are_one_where_they_are_built_once(layouts, open_workshop):
    # negative control: the same sources, and one build for all sessions
    (layouts.path / "campaign.yaml").write_text(ONCE)
    workshop, commits, recipe = open_workshop(layouts)
    identities = [workshop.build(commits[place]).identity for place in (0, 1, 3, 4)]
    assert len(set(identities)) == 2
    assert not any("each: session" in note for note in recipe.notes)


def test_what_sessions_made_is_no_reason_to_build_again(layouts, open_workshop, tmp_path):
    workshop, commits, _ = open_workshop(layouts)
    first = workshop.build(commits[0])
    (first.tree / "app").write_bytes((first.tree / "app").read_bytes() + b" of another session")
    again = workshop.build(commits[0])
    assert (again.reused, again.made) == (True, ("app",))
    (first.tree / "app").unlink()
    assert not workshop.build(commits[0]).reused
    (first.tree / "app.c").write_text("int main(void) { return 0; }")  # not what the commit has
    assert not workshop.build(commits[0]).reused


def test_a_session_builds_its_commits_in_their_trees(layouts, open_workshop, tmp_path, monkeypatch):
    workshop, commits, recipe = open_workshop(layouts)
    ends = [workshop.build(commits[place]) for place in (0, 3)]
    made = campaign_of(recipe, ends, tmp_path / "made.yaml", baseline=ends[0], trial="step0")
    assert made.built_each_session == tuple(one.commit.name for one in ends)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    for one, unfilled, word in zip(ends, made.builds, ("one", "two"), strict=True):
        seed = layout_seed(made.seed, 2, one.commit.name)
        build = with_layout_seed(unfilled, seed)
        assert build.artifacts == (one.tree / "note", one.tree / "app")
        for step in build.steps:
            subprocess.run(step.argv, cwd=tmp_path, check=True)
        assert executed(one) == f"{word} {seed} {{}}\n"
        assert (one.tree / "note").read_text() == f"a {seed}\n"
        assert (one.tree / "odd").read_text() == "ODD_NAME=x=y {z}\n"
    cell = made.cell("run", ends[0].commit.name)
    assert cell.env["SEEN"] == LAYOUT_SEED
    assert cell.env["NOTE"] == f"a {LAYOUT_SEED}"


def test_no_two_trials_of_a_bisection_have_the_same_layouts(layouts, open_workshop, tmp_path):
    workshop, commits, recipe = open_workshop(layouts)
    ends = [workshop.build(commits[place]) for place in (0, 3)]

    def seed(trial):
        file = tmp_path / "made.yaml"
        made = campaign_of(recipe, ends, file, baseline=ends[0], trial=trial)
        assert (
            f"\nseed: {made.seed}\n" in file.read_text()
        )  # whoever measures it again has them too
        return made.seed

    trials = ("step0", "search/0001-abc", "proof-1", "proof-2")
    seeds = [seed(trial) for trial in trials]
    assert len({*seeds, recipe.campaign.seed}) == 5
    assert [seed(trial) for trial in trials] == seeds


def test_where_nothing_is_drawn_the_seed_stays_the_campaigns(layouts, open_workshop, tmp_path):
    # negative control: trials of before this key keep their orders
    text = ONCE.replace("{layout_seed}", "1")
    (layouts.path / "campaign.yaml").write_text(text)
    workshop, commits, recipe = open_workshop(layouts)
    ends = [workshop.build(commits[place]) for place in (0, 3)]
    made = campaign_of(recipe, ends, tmp_path / "made.yaml", baseline=ends[0], trial="proof-1")
    assert (made.seed, made.builds) == (7, ())
    (layouts.path / "campaign.yaml").write_text(ONCE)  # a run's variable alone draws something
    workshop, commits, recipe = open_workshop(layouts, folder=tmp_path / "other")
    ends = [workshop.build(commits[place]) for place in (0, 3)]
    made = campaign_of(recipe, ends, tmp_path / "made.yaml", baseline=ends[0], trial="proof-1")
    assert made.seed != 7
    assert made.builds == ()
    assert json.loads(json.dumps(made.to_dict()))["cells"][0]["env"]["SEEN"] == "{layout_seed}"
