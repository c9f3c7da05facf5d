"""Two trials compared, by what was put into them."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from analysis.data.trial import read_trial
from analysis.errors import AnalysisError, UsageError
from analysis.importers.reader import open_trial
from analysis.record.trial_files import MergedTrial
from analysis.verdict.comparison import compare_trials
from analysis.verdict.judging import judge

EFFECTS = {"base": {"x": 0.0, "y": 0.0}, "fast": {"x": 0.2, "y": 0.3}}


def codes(result):
    return [caution.code for caution in result.cautions]


def test_the_same_effects_are_reproduced_with_the_words_and_numbers_of_the_verdicts(night):
    old, new = night("one", EFFECTS, seed=1), night("two", EFFECTS, seed=2)
    found = compare_trials(old, new)
    (one,) = found.candidates
    assert (found.word, one.word, found.exit_code) == ("reproduced", "reproduced", 0)
    assert (one.variant, one.baseline, one.design_old) == ("fast", "base", "paired")
    assert [line.agreement for line in one.benchmarks] == ["agrees", "agrees"]
    assert (found.same_trial, found.same_campaign, found.same_host) == (False, True, True)
    assert (found.environment, found.campaign) == ((), ())
    for trial, side in ((old, "old"), (new, "new")):
        answer = judge(trial).candidates[0].multilevel
        for line, effect in [
            *zip(answer.benchmarks, (getattr(b, side) for b in one.benchmarks), strict=True),
            (answer.these, getattr(one.these, side)),
        ]:
            for name in ("speedup", "low", "high", "error", "freedom", "outcome"):
                assert getattr(line, name) == getattr(effect, name)


def test_a_lost_effect_is_not_reproduced(night):
    old = night("one", EFFECTS, seed=1)
    new = night("two", {"base": EFFECTS["base"], "fast": EFFECTS["base"]}, seed=2)
    found = compare_trials(old, new)
    assert (found.word, found.exit_code) == ("not", 1)
    assert {line.difference for line in found.candidates[0].benchmarks} == {"smaller"}
    assert "not reproduced" in str(found)


@pytest.mark.parametrize("noun", ["session", "host"])
def test_what_would_tell_is_more_of_what_is_outermost(night, noun):
    old = night("one", EFFECTS, seed=1)
    new = replace(night("two", EFFECTS, sessions=1, seed=2), outermost=noun)
    found = compare_trials(old, new)
    assert f"the second has fewer than two {noun}s" in str(found)
    assert f" more {noun}" in str(found)
    assert f" more {'host' if noun == 'session' else 'session'}" not in str(found)


def test_one_benchmark_that_turned_leaves_a_part(night):
    effects = {"base": dict.fromkeys("vwxyz", 0.0), "fast": dict.fromkeys("vwxyz", 0.3)}
    turned = {"base": effects["base"], "fast": effects["fast"] | {"z": 0.28}}
    old, new = night("one", effects, seed=1, noise=5e-4), night("two", turned, seed=2, noise=5e-4)
    found = compare_trials(old, new, margin=0.001)
    assert found.word == "partly"
    assert "1 differs (z)" in " ".join(str(found).split())


def test_trials_without_a_decided_word_tell_nothing(night):
    flat = {"base": {"x": 0.0}, "fast": {"x": 0.01}}
    old, new = (night(name, flat, seed=k, noise=0.2, sessions=3) for k, name in enumerate("ab"))
    found = compare_trials(old, new)
    assert (found.word, found.exit_code) == ("cannot tell", 7)
    assert found.candidates[0].benchmarks[0].reason == "nothing-concluded"
    assert "cannot tell: undecided" in str(found)


def test_a_trial_agrees_with_itself_whatever_it_says(night, tmp_path):
    flat = {"base": {"x": 0.0}, "fast": {"x": 0.01}}
    trial = night("one", flat, noise=0.2, sessions=2)
    shutil.copytree(trial.path, tmp_path / "copy")
    for other in (trial, read_trial(tmp_path / "copy")):
        found = compare_trials(trial, other)
        assert (found.word, found.same_trial) == ("reproduced", True)
        assert codes(found)[0] == "same-trial"
        assert found.candidates[0].benchmarks[0].ratio == 1.0


def test_runs_that_both_hold_are_told(night):
    old = night("one", EFFECTS, seed=1)
    begun = old.manifest.started
    part = MergedTrial(
        trial="one", first=1, last=4, seed=1, tool_version="0.1.0", started=begun, finished=None
    )
    new = night("all", EFFECTS, seed=1, origin="merged", merged_from=(part,))
    found = compare_trials(old, new)
    assert (found.same_trial, "runs-shared" in codes(found)) == (False, True)


def test_a_file_agrees_with_itself_and_shares_no_run_with_one_of_its_name(tmp_path):
    rows = [f"b,v{side},{session},{10 + side + session}\n" for side in (0, 1) for session in (0, 1)]
    files = [tmp_path / night / "bench.csv" for night in ("monday", "tuesday")]
    for path in files:
        path.parent.mkdir()
        path.write_text("benchmark,variant,session,value\n" + "".join(rows), "utf-8")
    first, again, other = (open_trial(x, "process", "lower") for x in (files[0], *files))
    itself, night = compare_trials(first, again), compare_trials(first, other)
    assert (itself.word, itself.same_trial) == ("reproduced", True)
    assert (night.same_trial, "runs-shared" in codes(night)) == (False, False)


def test_what_one_trial_has_only_is_named_and_takes_no_part(night):
    more = {
        variant: cells | {"z": cells["x"] + 5.0}
        for variant, cells in EFFECTS.items()  # would move the suite by far
    }
    old = night("one", EFFECTS, seed=1)
    new = night("two", {**more, "third": more["base"]}, seed=2)
    found = compare_trials(old, new)
    assert found.only_old == {"variants": (), "benchmarks": ()}
    assert found.only_new == {"variants": ("third",), "benchmarks": ("z",)}
    assert [one.about for one in found.cautions if one.code == "of-one-trial"] == [
        ("two", "third", "z")
    ]
    (one,) = found.candidates
    assert [line.name for line in one.benchmarks] == ["x", "y"]
    assert (found.word, one.these.old.outcome) == ("reproduced", "faster")
    assert found.same_campaign is True  # by the identity that both state


def test_a_benchmark_whose_runs_all_fail_in_one_trial_cannot_be_told(night):
    def fail(made):
        made.fail(lambda row: (row.benchmark, row.variant) == ("y", "fast"))

    old, new = night("one", EFFECTS, seed=1), night("two", EFFECTS, seed=2, change=fail)
    (one,) = compare_trials(old, new).candidates
    assert {line.name: line.reason for line in one.benchmarks} == {"x": None, "y": "fails-more-new"}
    assert one.these is None
    assert one.word == "reproduced"  # x leads: the only one of which both know an effect


def test_a_trial_without_runs_that_count_is_compared_in_everything_else(night):
    failed = night("two", EFFECTS, change=lambda made: made.fail())
    found = compare_trials(night("one", EFFECTS), failed)
    assert (found.word, found.candidates, found.levels) == ("cannot tell", (), ())
    assert "no-common-results" in codes(found)
    assert "No speedup of one trial has a partner" in str(found)


def test_variants_of_which_other_benchmarks_failed_tell_nothing(night):
    def fail(made):
        made.fail(lambda row: (row.benchmark, row.variant) in (("y", "fast"), ("x", "base")))

    sides = night("one", EFFECTS), night("two", EFFECTS, seed=2, change=fail)
    for old, new in (sides, sides[::-1]):
        found = compare_trials(old, new)
        assert (found.word, found.candidates) == ("cannot tell", ())
        assert "no-common-results" in codes(found)


@pytest.mark.parametrize("other", ["variant", "benchmark"])
def test_trials_of_other_things_tell_nothing(night, other):
    names = ("old", "new") if other == "variant" else ("base", "fast")
    bench = "x" if other == "variant" else "q"
    found = compare_trials(
        night("one", EFFECTS), night("two", {names[0]: {bench: 0.0}, names[1]: {bench: 0.2}})
    )
    assert found.word == "cannot tell"
    assert "no-common-results" in codes(found)
    str(found)


def test_one_variant_has_levels_only(night):
    old = night("one", {"base": {"x": 0.0, "y": 0.0}}, seed=1)
    new = night("two", {"base": {"x": 0.1, "y": 0.1}}, seed=2)
    found = compare_trials(old, new)
    assert (found.word, found.candidates) == ("cannot tell", ())
    assert [level.benchmark for level in found.levels] == ["x", "y", None]
    assert found.levels[2].ratio == pytest.approx(1.105, abs=0.01)
    assert found.levels[2].low > 1.05
    assert "levels-confounded" in codes(found)
    assert "levels of the runs; above 1 the second is better" in str(found)


def test_one_variant_of_another_name_is_taken_for_the_same(night):
    found = compare_trials(
        night("one", {"v1": {"x": 0.0}}, seed=1), night("two", {"v2": {"x": 0.1}}, seed=2)
    )
    assert [(level.variant, level.benchmark) for level in found.levels] == [("v2", "x")]
    assert found.levels[0].ratio == pytest.approx(1.105, abs=0.01)
    assert codes(found)[:2] == ["variants-renamed", "levels-confounded"]
    assert "v1 and v2" in str(found)


def test_imported_trials_had_no_campaign_and_no_known_machine(night):
    both = [night(name, EFFECTS, seed=k) for k, name in enumerate("ab")]
    found = compare_trials(
        *(replace(one, manifest=replace(one.manifest, origin="imported")) for one in both)
    )
    assert (found.same_campaign, found.same_host, found.environment) == (None, None, None)
    assert found.word == "reproduced"  # speedups they have all the same


def test_levels_of_one_session_have_no_interval(night):
    old, new = (night(n, {"base": {"x": 0.0}}, sessions=1, seed=k) for k, n in enumerate("ab"))
    (level,) = compare_trials(old, new).levels
    assert (level.low, level.high, level.outcome) == (None, None, "undecided")


def test_other_baselines_are_told_and_the_first_trials_is_taken(night):
    old, new = night("one", EFFECTS), night("two", EFFECTS, baseline="fast", seed=2)
    found = compare_trials(old, new)
    assert found.candidates[0].baseline == "base"
    assert "baselines-differ" in codes(found)
    assert [change.key for change in found.plan] == ["baseline"]


# --- what is around the results


def test_campaigns_are_compared_key_by_key(night, campaign):
    other = {**campaign, "protocol": {**campaign["protocol"], "runs": 7}, "cooldown": 1}
    old, new = (
        night("one", EFFECTS),
        night("two", EFFECTS, campaign=other, campaign_sha256="1" * 64),
    )
    found = compare_trials(old, new)
    assert found.same_campaign is False
    assert [(c.key, c.old, c.new, c.only) for c in found.campaign] == [
        ("protocol.runs", 3, 7, None),
        ("cooldown", None, 1, "new"),
    ]
    assert "protocol.runs: 3 -> 7" in str(found)


def test_a_key_at_its_default_in_a_newer_version_is_no_difference(night, campaign):
    old, new = night("one", EFFECTS), night("two", EFFECTS, campaign={**campaign, "later": 1})
    found = compare_trials(old, new)
    assert (found.same_campaign, found.campaign) == (True, ())


def test_seed_and_sessions_are_no_part_of_the_campaign(night, campaign):
    other = {**campaign, "seed": 2, "protocol": {**campaign["protocol"], "sessions": 2}}
    old = night("one", EFFECTS, campaign={**campaign, "seed": 1})
    new = night("two", EFFECTS, campaign=other, campaign_sha256="1" * 64, seed=2, sessions=2)
    found = compare_trials(old, new)
    assert found.same_campaign is True
    assert [change.key for change in found.campaign] == ["protocol.sessions", "seed"]


def test_hosts_environments_and_plans_are_compared(night, environment):
    other = {
        **environment,
        "host": {"name": "lab08", "machine_id_sha256": "xyz"},
        "kernel": {"release": "6.2"},
    }
    old = night("one", EFFECTS)
    new = night("two", EFFECTS, environment=other, host="lab08", host_id="xyz", sessions=5, seed=2)
    found = compare_trials(old, new)
    assert found.same_host is False
    assert {change.key for change in found.environment} >= {
        "host.machine_id_sha256",
        "kernel.release",
    }
    assert {"planned_sessions", "sessions", "executed"} <= {change.key for change in found.plan}
    told = " ".join(str(found).split())
    for text in ("two machines measured them (lab07, lab08)", "this is another machine", "6.1"):
        assert text in told
    (pair,) = found.to_dict()["pairs"]
    assert (pair["from"], pair["to"]) == ("one", "two")


@pytest.mark.parametrize(("commits", "keys"), [("aa", []), ("ab", ["targets.x/new.commit"])])
def test_what_each_session_builds_differs_by_its_commit(night, environment, commits, keys):
    # authority: docs/layouts.md; the bytes of two sessions are never the same
    trials = [
        night(
            f"t{k}",
            EFFECTS,
            seed=k,
            environment={
                **environment,
                "targets": {"x/new": {"sha256": f"{k}", "built": "session", "commit": commit}},
            },
        )
        for k, commit in enumerate(commits)
    ]
    assert [change.key for change in compare_trials(*trials).environment] == keys


def test_what_nobody_recorded_is_unknown_not_equal(night):
    one = night("one", EFFECTS)
    assert compare_trials(one, night("two", EFFECTS, campaign_identity=2)).same_campaign is None
    assert compare_trials(one, night("two", EFFECTS, host_id="unknown")).same_host is None
    found = compare_trials(one, night("two", EFFECTS, environment=None, seed=2))
    assert found.environment is None
    assert found.to_dict()["pairs"] == []
    assert "the environment of at least one is not known" in " ".join(str(found).split())


def test_one_machine_id_with_two_names_is_not_called_one_machine(night):
    # cloned images share their id; a machine may be renamed: nobody can tell from here
    found = compare_trials(night("one", EFFECTS), night("two", EFFECTS, host="lab08"))
    assert found.same_host is None
    assert (
        "whether one machine measured both is not known: one machine id has two names "
        "(lab07, lab08), as after renaming or cloning a machine"
    ) in " ".join(str(found).split())
    assert compare_trials(night("one", EFFECTS), night("two", EFFECTS)).same_host is True


def redacted(environment, tag, host="redacted-host-1"):
    place = {"name": host, "machine_id_sha256": f"redacted-machine-1-{tag}", "boot_id": "first"}
    return {**environment, "host": place}


def test_names_that_were_taken_out_tell_no_difference(night, environment):
    tag = "0123abcd"
    old = night(
        "one", EFFECTS, environment=redacted(environment, tag), host_id=f"redacted-machine-1-{tag}"
    )
    new = night("two", EFFECTS, environment=environment, seed=2)
    found = compare_trials(old, new)
    assert (found.same_host, found.environment) == (None, ())
    assert "environment-redacted" in codes(found)


@pytest.mark.parametrize(
    ("tags", "same"), [(("0123abcd",) * 2, True), (("0123abcd", "9" * 8), None)]
)
def test_only_one_redaction_tells_equal_machines(night, environment, tags, same):
    both = [
        night(
            name,
            EFFECTS,
            environment=redacted(environment, tag, host=f"redacted-host-{k}"),
            host_id=f"redacted-machine-1-{tag}",
            seed=k,
        )
        for k, (name, tag) in enumerate(zip(("one", "two"), tags, strict=True))
    ]
    found = compare_trials(*both)
    assert found.same_host is same
    assert [change.key for change in found.environment] == (["host.name"] if same else [])
    assert ("environment-redacted" in codes(found)) is (same is None)


# --- arguments


def test_another_metric_is_compared(night):
    found = compare_trials(night("one", EFFECTS), night("two", EFFECTS, seed=2), metric="user")
    assert (found.metric, found.unit, found.word) == ("user", "s", "reproduced")


def test_what_cannot_be_compared_is_refused(night):
    plain = night("one", EFFECTS)
    with pytest.raises(UsageError, match="no metric 'score'"):
        compare_trials(plain, plain, metric="score")
    with pytest.raises(UsageError, match="confidence"):
        compare_trials(plain, plain, confidence=1.5)
    with pytest.raises(UsageError, match="margin"):  # a crash, where no variant is in both
        compare_trials(plain, night("other", {"a": EFFECTS["base"]}), margin=-1)
    scored = [
        night(name, EFFECTS, metrics={"score": {"unit": "1", "better": better}})
        for name, better in (("up", "higher"), ("down", "lower"))
    ]
    with pytest.raises(AnalysisError, match="direction of 'score': 'higher' and 'lower'") as error:
        compare_trials(*scored, metric="score")
    assert error.value.where == " and ".join(str(one.path) for one in scored)
