"""`fairtrial bisect` from commits to the culprit, on virtual times.

Authority: the step that was planted, and what git lists.
"""

from __future__ import annotations

import dataclasses
import json
import runpy
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

made = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "bisect_lab.py")))

STEP, BROKEN, DOCS = 27, (20, 31), range(11, 15)
COSTS = [0.100 if k < STEP else 0.105 for k in range(41)]


def repository(folder, costs, **kinds):
    """Make a repository of programs that take what they print, with a campaign that judges it."""
    shas = made.repository(folder, costs, source=made.TAKES, **kinds)
    made.campaign(folder, build=made.COPIES, metrics=None, judge="wall")
    return shas


def bisect(lab, *words, **own):
    return lab.run_fairtrial("bisect", *words, "--wait-for-lock", **own)


@pytest.fixture(scope="module")
def planted(make_lab, tmp_path_factory):
    """Give a lab with a repository in which commit 27 is 5 % slower, bisected once."""
    lab = make_lab(tmp_path_factory.mktemp("bisect") / "lab")
    lab.shas = repository(lab.folder / "app", COSTS, broken=BROKEN, docs=DOCS)
    lab.before = made.bytes_of(lab.folder / "app")
    lab.words = (
        *("HEAD~40", "HEAD", "--campaign", "app/campaign.yaml", "--dir", "runs"),
        *("--work-dir", "work"),
    )
    lab.done = bisect(lab, *lab.words, "--json")
    return lab


def test_the_planted_commit_is_named_and_proven(planted):
    assert planted.done.returncode == 0, planted.done.stderr
    found = json.loads(planted.done.stdout)
    (culprit,) = found["culprits"]
    assert (culprit["after"], culprit["upto"]) == (planted.shas[STEP - 1], planted.shas[STEP])
    assert (found["answer"], culprit["word"], culprit["proof"]) == ("proven", "slower", 1)
    assert culprit["low"] < 1 / 1.05 < culprit["high"]
    assert culprit["share"] == pytest.approx(1.0, abs=0.2)
    assert {one["commit"] for one in found["skipped"]} <= {planted.shas[k] for k in BROKEN}
    assert "install -m 755 app.c app" in planted.done.stderr or found["builds"] < 41
    assert "with your rights" in planted.done.stderr
    assert found["state"] == "ended"
    stored = json.loads((made.bisection(planted) / "bisect.json").read_text())
    assert stored["culprits"] == found["culprits"]


def test_its_trials_are_ordinary_ones_and_verdict_prints_the_claims_numbers(planted):
    folder = made.bisection(planted)
    (culprit,) = json.loads(planted.done.stdout)["culprits"]
    name = f"{STEP:04d}-{planted.shas[STEP][:7]}"
    words = ("verdict", folder / "proof-1", "--variant", name, "--json")
    told = planted.run_fairtrial(*words)
    assert told.returncode == 0, told.stderr
    (candidate,) = json.loads(told.stdout)["candidates"]
    (line,) = candidate["multilevel"]["benchmarks"]
    for key in ("speedup", "low", "high"):
        assert line[key] == pytest.approx(culprit[key], rel=1e-12)
    assert line["outcome"] == culprit["word"]
    for trial in made.trials(folder):
        planted.assert_complete_once_each(trial)
        assert planted.run_fairtrial("verdict", trial).returncode == 0
    sessions = made.listed(folder)
    assert len(sessions) == len(set(sessions)) == json.loads(planted.done.stdout)["sessions"]
    total = sum(planted.manifest(trial)["sessions"] for trial in made.trials(folder))
    assert total == len(sessions)


def test_the_users_repository_stays_as_it_was_and_no_clone_is_left(planted):
    assert made.bytes_of(planted.folder / "app") == planted.before
    made.nothing_is_left(planted)


def test_one_that_is_ended_is_told_again_without_a_session(planted):
    folder = made.bisection(planted)
    before = made.listed(folder)
    again = bisect(planted, "--resume", folder.relative_to(planted.folder), "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["culprits"] == json.loads(planted.done.stdout)["culprits"]
    markdown = bisect(planted, "--resume", folder.relative_to(planted.folder), "--format", "md")
    found = json.loads(again.stdout)
    assert markdown.returncode == 0, markdown.stderr
    assert markdown.stdout.startswith("### Bisection of HEAD\\~40..HEAD\n")
    assert found["sentence"] in markdown.stdout
    assert f"| proof | {found['culprits'][0]['sessions']} fresh sessions" in markdown.stdout
    assert made.listed(folder) == before


def test_a_dry_run_tells_what_is_to_be_expected_and_touches_nothing(planted):
    before = sorted(planted.folder.rglob("*"))
    done = bisect(planted, *planted.words, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "would take 18 to 24 sessions and about 9 builds" in done.stdout
    assert "install -m 755 app.c app" in done.stdout
    assert "with your rights" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    told = json.loads(bisect(planted, *planted.words, "--dry-run", "--json").stdout)
    assert (told["commits"], told["sessions"], told["runs"]) == (40, [18, 24], 2)
    (following,) = told["next"]
    ends = ("HEAD~40", "HEAD", "--campaign", "app/campaign.yaml", "--work-dir", "work")
    assert shlex.split(following) == ["fairtrial", "bisect", *ends]
    assert sorted(planted.folder.rglob("*")) == before


def test_what_is_advised_where_the_build_changed_meanwhile_can_be_done_here(lab):
    """It was --accept-drift, which bisect does not have, and 'run' of a campaign that is a part of the search."""
    repository(lab.folder / "app", [0.1, 0.2])
    words = ("HEAD~1", "HEAD", "--campaign", "app/campaign.yaml", "--work-dir", "work")
    assert bisect(lab, *words, "--risk", "0.1", "--sessions-max", "8").returncode == 7
    lab.environment["CFLAGS"] = "-O3"
    done = bisect(lab, "--resume", made.bisection(lab), "--sessions-max", "20")
    assert (done.returncode, "--accept-drift" in done.stderr) == (5, False), done.stderr
    told = " ".join(done.stderr.partition("next  ")[2].replace("\\\n", "").split())
    assert told.startswith("fairtrial bisect 'HEAD~1' HEAD --campaign ")
    assert "--risk 0.1 --sessions-max 20" in told


def test_a_folder_for_builds_that_is_refused_leaves_no_bisection(lab):
    repository(lab.folder / "app", COSTS[:2])
    words = ("HEAD~1", "HEAD", "--campaign", "app/campaign.yaml", "--work-dir", "app/work")
    done = bisect(lab, *words)
    assert (done.returncode, "outside of it: --work-dir DIR" in done.stderr) == (2, True)
    assert not list(lab.folder.glob("runs/*"))


def test_where_nothing_is_planted_there_is_no_difference(lab):  # the negative control
    repository(lab.folder / "app", [0.1] * 13)
    lab.virtual = dataclasses.replace(lab.virtual, spread=0.003, sessions=0.001)
    words = ("HEAD~12", "HEAD", "--campaign", "app/campaign.yaml", "--work-dir", "work", "--json")
    done = bisect(lab, *words)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["answer"], found["culprits"], found["open"]) == ("no-difference", [], [])
    assert "may-cancel" in found["caution_codes"]
    assert found["builds"] == 2


def test_ends_of_one_program_need_no_session(lab):
    made.repository(lab.folder / "app", [0.1] * 4, docs=(1, 2, 3))
    made.campaign(lab.folder / "app")
    words = ("HEAD~3", "HEAD", "--campaign", "app/campaign.yaml", "--work-dir", "work", "--json")
    done = bisect(lab, *words)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["one_program"], found["sessions"], found["builds"]) == (True, 0, 2)
    assert made.trials(made.bisection(lab)) == []


def test_where_the_recipe_builds_nothing_no_commit_is_built(lab):
    made.repository(lab.folder / "app", [0.1] * 2, source=made.TAKES, docs=(1,))
    campaign = made.campaign(lab.folder / "app", metrics=None, judge="wall")
    whole = json.loads(campaign.read_text()) | {"benchmarks": {"run": {"command": "sh app.c"}}}
    campaign.write_text(json.dumps({key: whole[key] for key in whole if key != "build"}))
    words = ("HEAD~1", "HEAD", "--campaign", "app/campaign.yaml", "--work-dir", "work", "--json")
    assert json.loads(bisect(lab, *words, "--dry-run").stdout)["builds"] == 0
    found = json.loads(bisect(lab, *words).stdout)
    assert (found["answer"], found["builds"]) == ("no-difference", 0)


def test_another_metric_of_the_same_programs_is_searched_too(planted):
    words = (*planted.words[:-4], "--dir", "of-cpu", *planted.words[-2:], "--metric", "tree_cpu")
    done = bisect(planted, *words, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["upto"] for one in found["culprits"]] == [planted.shas[STEP]]
    assert found["metric"] == "tree_cpu"


def test_status_tells_the_answer_and_a_trial_of_it_is_not_gone_on_with_by_run(planted):
    folder = made.bisection(planted).relative_to(planted.folder)
    listed = planted.run_fairtrial("status")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert planted.shas[STEP][:7] in listed.stdout
    whole = planted.run_fairtrial("status", folder)
    assert whole.stdout.startswith(f"{planted.shas[STEP][:7]} made it slower")
    for words in (("verdict", folder), ("report", folder, "-o", "page.html")):
        refused = " ".join(planted.run_fairtrial(*words).stderr.split())
        assert "this is a bisection, which holds several trials" in refused
        assert f"such as {folder}/step0; its answer: fairtrial status {folder}" in refused
    words = ("run", folder / "step0" / "campaign.yaml", "--resume", "--trial", folder / "step0")
    done = planted.run_fairtrial(*words)
    assert done.returncode == 5
    assert "belongs to a bisection" in " ".join(done.stderr.split())
