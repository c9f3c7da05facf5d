"""The forms of `build`: once for the campaign or before each session, the files that it makes, and mistakes.

Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before; the
definition of layouts per session, for where `{layout_seed}` may stand.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.campaign.schema import identity_of, resolved_text
from harness.trial.plan import plan_session

TEXT = """\
name: built
build: %s
variants: {a: , b: }
benchmarks: {x: {command: ["run"]}}
"""
ALONE = "name: built\nvariants: {a: {%s}, b: }\nbenchmarks: {x: {command: [run]}}\n"


@pytest.mark.parametrize(
    ("run", "argv"),
    [
        ("make all", [("make", "all")]),
        ("{shell: make all}", [("/bin/sh", "-c", "make all")]),
        ("[[make, all], {shell: ls}]", [("make", "all"), ("/bin/sh", "-c", "ls")]),
    ],
)
@pytest.mark.parametrize("each", ["campaign", "session"])
def test_the_steps_have_the_forms_that_they_have_alone(load, run, argv, each):
    campaign = load(TEXT % f"{{run: {run}, each: {each}}}")
    for build, variant in zip(campaign.builds, "ab", strict=True):
        assert [step.argv for step in build.steps] == argv
        assert (build.variant, build.each) == (variant, each)
    assert [step.argv for step in load(TEXT % run).builds[0].steps] == argv


def test_a_mapping_with_a_shell_stays_one_command(load):
    (build, _) = load(TEXT % "{shell: 'make run each'}").builds
    assert [step.argv for step in build.steps] == [("/bin/sh", "-c", "make run each")]
    assert (build.each, build.artifacts) == ("campaign", ())


def test_files_that_are_made_lie_below_the_campaigns_folder(load, tmp_path):
    text = (
        TEXT % "{run: make, artifacts: ['build/{variant}/app', '{variant}.so', 'b.so', 3, /opt/x]}"
    )
    made = [build.artifacts for build in load(text).builds]
    shared = [tmp_path / "b.so", tmp_path / "3", Path("/opt/x")]
    assert list(made[0]) == [tmp_path / "build/a/app", tmp_path / "a.so", *shared]
    assert list(made[1]) == [tmp_path / "build/b/app", *shared]  # each file once
    stored = json.loads(resolved_text(load(text)))["campaign"]["builds"]
    assert stored[1]["artifacts"] == ["build/b/app", "b.so", "3", "/opt/x"]


def test_a_value_that_only_a_file_name_uses_is_used(load):
    text = ALONE % "out: bin, build: {run: make, artifacts: ['{out}/app']}"
    assert load(text).builds[0].artifacts[0].parts[-2:] == ("bin", "app")


def test_a_variants_build_takes_the_place_of_the_whole_mapping(load):
    text = TEXT % "{run: make, each: session, artifacts: [app]}"
    changed = load(text.replace("a: ,", "a: {build: {run: make}},")).builds
    assert [(build.each, len(build.artifacts)) for build in changed] == [
        ("campaign", 0),
        ("session", 1),
    ]
    assert [build.variant for build in load(text.replace("a: ,", "a: {build: []},")).builds] == [
        "b"
    ]


def test_what_a_build_leaves_unsaid_is_the_campaign_of_before(load):
    plain = load(TEXT % "make")
    for said in ("{run: make}", "{run: make, each: campaign}", "{run: make, artifacts: []}"):
        campaign = load(TEXT % said)
        assert identity_of(campaign) == identity_of(plain)
        assert campaign.to_dict() == plain.to_dict()
    # of the version before these keys, byte for byte
    kept = json.loads(resolved_text(plain))["campaign"]["builds"][0]
    assert list(kept) == ["variant", "steps", "cwd", "env"]
    defaults = json.loads(resolved_text(plain))["defaults"]
    assert (defaults["build.each"], defaults["build.artifacts"]) == ("campaign", [])


def test_a_build_of_its_own_is_another_experiment_with_the_same_plan(load):
    texts = [
        TEXT % said
        for said in (
            "make",
            "{run: make, each: session}",
            "{run: make, artifacts: [app]}",
            "{run: make, artifacts: [ape]}",
            "{run: 'make {layout_seed}', each: session}",
            "{run: 'make {{layout_seed}}', each: session}",
        )
    ]
    assert len({identity_of(load(text)) for text in texts}) == len(texts)
    plans = [list(plan_session(load(text), 7, 1, None)) for text in texts]
    assert all(plan == plans[0] for plan in plans)


def test_variables_with_a_seed_belong_to_builds_of_a_session_alone(load):
    env = "env: {S: '{layout_seed}', T: t}, build: {run: make, each: %s}"
    campaign = load(ALONE % (env % "campaign"))
    assert dict(campaign.builds[0].env) == {"T": "t"}
    assert [note for note in campaign.notes if "'S'" in note] == [
        "the build of 'a' is executed without the variable 'S': its value depends on the session"
    ]
    assert set(load(ALONE % (env % "session")).builds[0].env) == {"S", "T"}


MISPLACED = "'{layout_seed}' is the seed of a session, and cannot stand here"
ONCE = "'{layout_seed}' is the seed of a session, and this build is executed once for all of them"
WHERE = "it may stand in 'env', and in the 'run' of a build with 'each: session'"


@pytest.mark.parametrize(
    ("said", "column", "what", "fix"),
    [
        ("{each: session}", 1, "'run' is missing in build", "add it"),
        ("{}", 1, "'run' is missing in build", "add it"),
        ("{run: []}", 14, "'run' must not be empty", "give a value"),
        ("{run: [make, x]}", 14, "not a list", "[[make, x]]"),
        ("{shel: x}", 9, "unknown key 'shel'", "did you mean 'shell'?"),
        ("{rn: x}", 9, "unknown key 'rn'", "did you mean 'run'? Known here: run, each, artifacts"),
        ("{shell: x, each: session}", 9, "'shell' stands inside 'run' here", "run: {shell: TEXT}"),
        ("{run: x, eech: session}", 17, "unknown key 'eech'", "did you mean 'each'?"),
        ("{run: x, each: sesion}", 23, "must be campaign or session", "did you mean 'session'?"),
        ("{run: x, each: run}", 23, "'each' must be campaign or session, not 'run'", ""),
        ("{run: x, artifacts: app}", 28, "'artifacts' must be a list", "write [app]"),
        ("{run: x, artifacts: ['']}", 29, "must be the name of a file, not ''", ""),
        ("{run: x, artifacts: ['{nope}']}", 30, "unknown placeholder '{nope}'", "variant"),
        ("{run: x, each: session, artifacts: ['{layout_seed}']}", 45, MISPLACED, WHERE),
        ("'make {layout_seed}'", 14, ONCE, "write build: {each: session, run: ...}"),
        ("{run: 'make {layout_seed}'}", 20, ONCE, "write build: {each: session, run: ...}"),
        ("{run: 'm {layout_sed}', each: session}", 17, "'{layout_sed}'", "mean '{layout_seed}'?"),
    ],
)
def test_a_mistake_is_told_with_its_place(problem, said, column, what, fix):
    found = problem(TEXT % said)
    assert found.where.endswith(f"c.yaml:2:{column}")
    assert what in found.what
    assert fix in (found.fix or "")


@pytest.mark.parametrize(
    "key",
    [
        "command: [run, '{layout_seed}']",
        "cwd: '{layout_seed}'",
        "stdin: '{layout_seed}'",
        "inputs: ['{layout_seed}']",
        "expect: {file: '{layout_seed}'}",
    ],
)
def test_a_seed_has_no_meaning_in_what_is_measured(problem, key):
    found = problem(ALONE % key)
    assert (found.what, found.fix) == (MISPLACED, WHERE)
    assert found.where.endswith(f"c.yaml:2:{16 + key.index('{layout')}")


@pytest.mark.parametrize(
    "key",
    [
        "hooks: {setup: 'a {layout_seed}'}",
        "hooks: {before: '{layout_seed}'}",
        "commit: '{layout_seed}'",
    ],
)
def test_a_seed_has_no_meaning_in_hooks_and_commits(problem, key):
    found = problem(ALONE % "" + key + "\n")
    assert (found.what, found.fix) == (MISPLACED, WHERE)


@pytest.mark.parametrize("value", ["layout_seed: 5", "matrix: {layout_seed: [5, 6]}"])
def test_a_value_of_the_seeds_name_cannot_stand_beside_a_build_of_each_session(problem, value):
    found = problem(ALONE % (value + ", build: {each: session, run: 'make {layout_seed}'}"))
    assert found.what == "'layout_seed' is the seed of each session's build (each: session)"
    assert found.fix == "choose another name for the value"
    assert found.where.endswith(f"c.yaml:2:{16 + value.index('layout')}")


SHARED = "name: n\nbuild: {run: make, each: %s, artifacts: ['app%s']}\nvariants: {a: {%s}, b: , c: {build: []}}\n"


def test_two_variants_cannot_make_one_file_in_each_session(load, problem):
    text = SHARED + "benchmarks: {x: {command: [run]}}\n"
    found = problem(text % ("session", "", ""))
    assert found.where.endswith("c.yaml:2:46")
    assert found.what == "the builds of 'a' and 'b' make one file, 'app'"
    assert found.fix.endswith("put {variant} into its name")
    own = "build: {run: make, artifacts: [app]}"  # once, and each session overwrites it
    assert (
        problem(text % ("session", "", own)).what
        == "the builds of 'b' and 'a' make one file, 'app'"
    )
    load(text % ("session", "-{variant}", ""))
    load(text % ("campaign", "", ""))
