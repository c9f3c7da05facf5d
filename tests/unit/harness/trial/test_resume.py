from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from analysis.errors import CampaignError, StoreError, UsageError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import checksum_holds
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import (
    BEFORE,
    PROTOCOL,
    RULE,
    first_defaults,
    identity_of,
    resolved_text,
    todays_defaults,
)
from harness.launch.matching import Interrupted
from harness.trial.builds import drift, refuse, settle, target_drift
from harness.trial.execution import (
    campaign_drift,
    check_plan,
    defaults_of,
    host_drift,
    trial_begun,
    trial_to_resume,
)
from harness.trial.folder import is_written_now
from harness.trial.outcomes import still_to_do
from harness.trial.plan import PlannedSession, planned_runs
from harness.trial.progress import trials_in
from harness.trial.writer import Store


@pytest.fixture
def make_trial(tmp_path, make_manifest):
    """Make trials that no process writes any more."""

    def make(number, **changes):
        fields = {"trial": f"c-{number}", "started": f"2026-11-21T04:12:0{number}Z", **changes}
        store = Store.create(make_manifest(**fields), tmp_path / "runs", b"name: c\n")
        store.finish(fields.get("status", "running"), None)
        return store.path

    return make


# --- which trial ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statuses", "chosen"),
    [
        (("interrupted", "stopped", "complete"), 2),  # the newest that is not complete
        (("complete", "running"), 2),  # it was killed
        (("complete", "complete"), 2),
    ],
)
def test_which_trial_is_chosen(tmp_path, make_trial, statuses, chosen):
    made = [make_trial(number, status=status) for number, status in enumerate(statuses, 1)]
    path, manifest = trial_to_resume(tmp_path / "runs", "c", None)
    assert (path, manifest.status) == (made[chosen - 1], statuses[chosen - 1])


def test_named_trial_is_taken(tmp_path, make_trial):
    wanted = make_trial(1, status="interrupted")
    make_trial(2, status="interrupted")
    assert trial_to_resume(tmp_path / "elsewhere", "c", wanted)[0] == wanted


def test_trials_of_other_campaigns_and_damaged_ones_are_passed_over(tmp_path, make_trial):
    wanted = make_trial(1)
    make_trial(2, trial="c-other-2", campaign_name="c-other")
    (make_trial(3) / "manifest.json").write_text("{")
    trials = trials_in(tmp_path / "runs", "c")
    assert [path for path, _ in trials.found] == [wanted]
    assert [error.what[:31] for error in trials.unreadable] == ["the manifest cannot be read: it"]


def test_fleets_and_profiles_are_passed_over_and_the_trials_behind_them_are_found(
    tmp_path, make_trial
):
    wanted = make_trial(1)
    fleet = tmp_path / "runs" / "a-fleet"  # comes before the trial
    fleet.mkdir()
    (fleet / "fleet.json").write_text("{}")
    wanted.with_name(wanted.name + ".why").mkdir()
    trials = trials_in(tmp_path / "runs")
    assert [path for path, _ in trials.found] == [wanted]
    assert trials.unreadable == ()


def test_the_folders_that_cannot_be_resumed_are_named(tmp_path):
    # the attacks on 0.1.0, B14: a trial that died between its folder and its manifest
    (tmp_path / "c-20261121-041200-beef").mkdir()
    with pytest.raises(
        UsageError, match=r"to resume\n.*c-20261121-041200-beef: .*no manifest.json"
    ):
        trial_to_resume(tmp_path, "c", None)


def test_a_folder_of_trials_that_cannot_be_read_is_a_store_error(tmp_path):
    (tmp_path / "runs").touch()
    with pytest.raises(StoreError, match="the folder of trials cannot be read: Not a directory"):
        trials_in(tmp_path / "runs")


def test_no_trial_is_a_usage_error_with_the_folder(tmp_path):
    with pytest.raises(UsageError, match="no trial of campaign 'c' to resume") as caught:
        trial_to_resume(tmp_path, "c", None)
    assert caught.value.where == str(tmp_path)


def test_trial_that_is_being_written_is_refused(tmp_path, make_manifest):
    store = Store.create(make_manifest(), tmp_path, b"")
    try:
        with pytest.raises(StoreError, match="another process is writing this trial"):
            trial_to_resume(tmp_path, "c", None)
    finally:
        store.release()


def test_finished_session_leaves_nothing_not_even_warmups(make_campaign):
    runs = list(PlannedSession(make_campaign(runs=2, warmup=1), 7, 1))
    assert list(still_to_do(runs, {run.position: "ok" for run in runs})) == []


# --- whether it is the same -------------------------------------------------------------------


def test_unchanged_campaign_has_not_drifted(tmp_path, make_campaign, make_manifest):
    campaign = make_campaign()
    manifest = make_manifest(campaign_sha256=identity_of(campaign))
    assert campaign_drift(tmp_path, manifest, campaign) == []


def test_comment_does_not_change_the_campaign(make_campaign):
    assert identity_of(make_campaign(text=b"# x\n")) == identity_of(make_campaign(text=b"# y\n"))


def test_changed_campaign_shows_the_lines(tmp_path, make_campaign, make_manifest):
    (tmp_path / "campaign.yaml").write_text("name: c\nruns: 3\nseed: 1\n")
    campaign = make_campaign(text=b"name: c\nruns: 4\nseed: 1\n", runs=4)
    (found,) = campaign_drift(tmp_path, make_manifest(), campaign)
    assert "-runs: 3" in found.what
    assert "+runs: 4" in found.what
    assert "as the trial began" in found.what


def test_changed_target_names_the_file():
    (found,) = target_drift(
        {"/bin/a": "1" * 64, "/bin/b": "2"}, {"/bin/a": "3" * 64, "/bin/b": "2"}
    )
    assert "/bin/a has changed" in found.what
    assert "111111111111" in found.what
    assert "333333333333" in found.what


def test_target_that_came_or_went_is_a_drift():
    gone, new = target_drift({"/a": "1"}, {"/b": "1"})
    assert [gone.where, new.where] == ["1 -> not used", "not used -> 1"]
    assert gone.what == "the program /a was executed when the trial began, and is not now"
    assert new.what == "the program /b is executed now, and was not when the trial began"


def test_host_is_its_machine_id_and_its_processor(make_manifest):
    manifest = make_manifest()
    assert host_drift(manifest, "another name", "abc", "model 1") == []
    (machine,) = host_drift(manifest, "lab08", "other", "model 1")
    assert "lab07" in machine.what
    assert "lab08" in machine.what
    (processor,) = host_drift(manifest, "lab07", "abc", "model 2")
    assert "model 1" in processor.what
    assert "model 2" in processor.what


@pytest.fixture
def store(tmp_path, make_manifest):
    made = Store.create(make_manifest(), tmp_path / "runs", b"")
    yield made
    made.release()


def test_drift_is_refused_with_all_of_it(store, make_campaign):
    drifts = [drift("one changed", "1", "2"), drift("two", "3", "4")]
    with pytest.raises(StoreError) as caught:
        settle(store, drifts, make_campaign(runs=2, warmup=1), accept=False)
    said = str(caught.value).splitlines()
    assert said[:2] == ["not resumed: one changed", "    two"]
    # what is asked for now: where it lay when the trial began, nothing may lie any more
    anew = f"fairtrial run {store.path.parents[1]}/campaign.yaml"
    assert " ".join(" ".join(said).replace("\\", "").split()).endswith(f"next {anew} a new trial")
    assert "--accept-drift" in " ".join(said)
    assert max(map(len, said[:2])) <= 80
    assert (store.path / "findings.jsonl").read_text() == ""


def test_what_gives_another_plan_cannot_be_accepted(store, make_campaign):
    with pytest.raises(StoreError) as caught:
        refuse(store.path, [drift("one changed", "1", "2")], make_campaign(runs=3, warmup=1))
    assert "--accept-drift" not in str(caught.value)
    assert "next  fairtrial run" in str(caught.value)


def test_accepted_drift_is_recorded(store, make_campaign):
    settle(store, [drift("one changed", "1", "2")], make_campaign(), accept=True)
    (finding,) = map(json.loads, (store.path / "findings.jsonl").read_text().splitlines())
    said = tuple(finding[key] for key in ("check", "when", "what", "where"))
    assert said == ("drift", "resume", "one changed", "1 -> 2")


def test_another_host_of_the_same_name_is_told_apart(make_manifest):
    # the attacks on 0.1.0, B16: "it was vm, now it is vm"
    manifest = make_manifest(host="vm", host_id="abc", cpu_model="m")
    (found,) = host_drift(manifest, "vm", "def", "m")
    assert (
        found.what
        == "the host has changed: it is another one of the name vm, with another machine id"
    )


def test_plan_of_a_later_version_is_the_same_plan(store, make_campaign):
    campaign = make_campaign(runs=2)
    store.append_plan(PlannedSession(campaign, 7, 1))
    path = store.path / "plan.jsonl"
    path.write_text(path.read_text().replace('{"position"', '{"colour":[1],"position"'))
    check_plan(store, campaign)
    # the control: what the plan says is read
    path.write_text(path.read_text().replace('"block":1', '"block":2', 1))
    with pytest.raises(StoreError, match="not the one that this campaign gives"):
        check_plan(store, campaign)


@pytest.mark.parametrize(
    ("old", "new", "said", "line"),
    [
        ('"block":1,', "", "the line lacks block", ":7"),
        ('"variant":"a"', '"variant":"b"', "edited", ""),
        # the attacks on 0.1.0, B6: the plan was listed up to that session
        *(
            ('"session":1', f'"session":{number}', "not the one that this campaign gives", "")
            for number in (2**63 - 1, 0, -5)
        ),
    ],
)
def test_a_changed_plan_is_refused_at_once(store, make_campaign, old, new, said, line):
    campaign = make_campaign(runs=2)
    store.append_plan(PlannedSession(campaign, 7, 1))
    path = store.path / "plan.jsonl"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(StoreError, match=said) as error:
        check_plan(store, campaign)
    assert error.value.where.endswith(line)


# --- signals while a long trial is read (the runner under attack, B13) --------------------------


@pytest.mark.parametrize("place", ["checksum_holds", "PlannedSession", "append_plan"])
def test_a_signal_is_served_while_a_long_trial_is_read(stage, campaign, monkeypatch, place):
    c = campaign(sessions=2)
    stage.target = stage.at(15, stage.interrupt)
    stage.start(c)
    stage.target = lambda request: None
    rows, calls = len(stage.rows), []

    def then(original, number):
        def signalled(*given, **named):
            calls.append(place)
            if len(calls) == number:
                os.kill(os.getpid(), signal.SIGTERM)
            return original(*given, **named)

        return signalled

    if place == "append_plan":
        monkeypatch.setattr(Store, place, then(Store.append_plan, 1))
        stage.trial.joinpath("plan.jsonl").write_bytes(
            b"".join(stage.trial.joinpath("plan.jsonl").read_bytes().splitlines(keepends=True)[:12])
        )
    elif place == "PlannedSession":
        monkeypatch.setattr(PlannedSession, "__iter__", then(PlannedSession.__iter__, 3))
    else:
        monkeypatch.setattr("harness.trial.writer.checksum_holds", then(checksum_holds, 3))
    try:
        assert stage.resume(c).reason == "signal 15"
    except Interrupted:
        assert place == "checksum_holds"  # before anything of it was changed
    assert len(calls) == (1 if place == "append_plan" else 3)
    assert len(stage.rows) == rows
    assert not is_written_now(stage.trial)
    monkeypatch.undo()


# --- A trial goes on with the defaults that it began with


UNFINISHED = Path(__file__).resolve().parents[3] / "golden/schemas/1-unfinished"
CAMPAIGN = "name: c\nvariants: {a: , b: }\nbaseline: a\nbenchmarks: {x: {command: [p]}}\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN)
    return path


@pytest.fixture
def begin(tmp_path, file, make_manifest):
    """Begin a trial of the campaign file as it is, and stop it."""

    def make(**changes):
        campaign = load_campaign(file)
        fields = {
            "variants": campaign.variants,
            "benchmarks": campaign.benchmarks,
            "seed": campaign.seed,
            "sessions": campaign.protocol.sessions,
            "runs": campaign.protocol.runs,
            "warmup": campaign.protocol.warmup,
            "planned": planned_runs(campaign, campaign.protocol.sessions),
            "campaign_sha256": identity_of(campaign),
            "campaign_identity": RULE,
        }
        manifest = make_manifest(**fields | changes)
        store = Store.create(manifest, tmp_path / "runs", campaign.text, resolved_text(campaign))
        store.append_plan(PlannedSession(campaign, campaign.seed, 1))
        store.finish("stopped", "for the test")
        return store.path

    return make


@pytest.fixture
def five_sessions(monkeypatch):
    """Make the default of ``protocol.sessions`` 5, as another version could."""

    def change():
        key = dataclasses.replace(PROTOCOL.keys["sessions"], default=5)
        monkeypatch.setitem(PROTOCOL.keys, "sessions", key)

    return change


def begun_of(file, **options):
    return trial_begun(file, file.parent / "runs", **options)


def test_a_changed_default_changes_no_plan_under_way(tmp_path, file, begin, five_sessions):
    path = begin()
    five_sessions()
    assert load_campaign(file).protocol.sessions == 5
    begun = begun_of(file)
    assert (begun.path, begun.sessions, begun.campaign.protocol.sessions) == (path, 6, 6)
    assert campaign_drift(path, begun.manifest, begun.campaign) == []
    store = Store.reopen(path)
    check_plan(store, begun.campaign)
    store.release()


def test_writing_a_default_out_is_no_change_and_another_value_is_one(file, begin, five_sessions):
    path = begin()
    five_sessions()
    for sessions, changed in ((6, False), (5, True), (4, True)):
        file.write_text(f"{CAMPAIGN}protocol: {{sessions: {sessions}}}\n")
        begun = begun_of(file)
        assert bool(campaign_drift(path, begun.manifest, begun.campaign)) == changed


def test_a_key_that_is_taken_away_is_a_change(file, begin):
    file.write_text(f"{CAMPAIGN}protocol: {{sessions: 4}}\n")
    path = begin()
    file.write_text(CAMPAIGN)
    begun = begun_of(file)
    assert begun.campaign.protocol.sessions == 6  # the default of then, not what was there
    (drift,) = campaign_drift(path, begun.manifest, begun.campaign)
    assert "-protocol: {sessions: 4}" in drift.what


def test_sessions_are_the_trials_or_more(file, begin):
    begin(sessions=4)
    assert [begun_of(file, sessions=n).sessions for n in (None, 2, 6)] == [4, 4, 6]


def test_the_seed_is_the_trials_unless_one_is_given(file, begin):
    begin(seed=9)
    assert begun_of(file).campaign.seed == 9
    assert begun_of(file, seed=3).campaign.seed == 3


def test_a_mistake_under_todays_defaults_only_is_none(tmp_path, file, begin, monkeypatch):
    from harness.campaign.schema import STOP

    file.write_text(f"{CAMPAIGN}protocol: {{stop: {{width: 0.1, min_runs: 30}}}}\n")
    begin()
    key = dataclasses.replace(STOP.keys["max_runs"], default=20)
    monkeypatch.setitem(STOP.keys, "max_runs", key)
    with pytest.raises(CampaignError, match="30 runs more than the most, 20"):
        load_campaign(file)
    assert begun_of(file).campaign.protocol.runs == 50


def test_a_folder_that_may_be_a_newer_trial_is_named(file, begin):
    # the attacks on 0.1.0, B14: a trial that died before it had a manifest
    path = begin()
    (path.parent / "c-29991231-000000-beef").mkdir()
    begun = begun_of(file)
    assert begun.path == path
    assert [Path(reason.where).name for reason in begun.passed_over] == ["c-29991231-000000-beef"]


def test_without_a_trial_there_is_nothing_to_go_on_with(file):
    with pytest.raises(UsageError, match="no trial of campaign 'c'"):
        begun_of(file)


# --- a trial of the first version -------------------------------------------------------------


@pytest.fixture
def unfinished(tmp_path):
    """Copy a trial that the first version began, and the user interrupted in session 1 of 3."""
    path = tmp_path / "runs" / read_manifest(UNFINISHED).trial
    shutil.copytree(UNFINISHED, path)
    (path / "outputs").mkdir()
    return path


@pytest.mark.parametrize("changed", [False, True])
def test_a_trial_of_the_first_version_goes_on(unfinished, five_sessions, changed):
    if changed:
        five_sessions()
    begun = trial_begun(unfinished / "campaign.yaml", unfinished.parent)
    assert begun.path == unfinished
    assert begun.manifest.campaign_identity == 1
    protocol = begun.campaign.protocol
    assert (begun.sessions, protocol.sessions, protocol.runs, protocol.warmup) == (3, 3, 2, 1)
    assert campaign_drift(unfinished, begun.manifest, begun.campaign) == []
    store = Store.reopen(unfinished)
    check_plan(store, begun.campaign)
    assert (store.rows.counted, store.manifest.planned) == (6, 36)
    store.release()


def test_a_changed_campaign_of_the_first_version_is_told(unfinished):
    file = unfinished.parent / "campaign.yaml"
    text = (unfinished / "campaign.yaml").read_text()
    for old, new in (("level: 2", "level: 3"), ("cpus: none", "cpus: auto"), ("[load]", "[]")):
        file.write_text(text.replace(old, new))
        begun = trial_begun(file, unfinished.parent)
        (drift,) = campaign_drift(unfinished, begun.manifest, begun.campaign)
        assert old in drift.what
        assert drift.where.endswith(f" -> {identity_of(begun.campaign, 1)}")


def test_the_first_versions_defaults_are_not_stored_with_its_trials(unfinished):
    assert not (unfinished / "resolved.json").exists()
    known = {"defaults": {**BEFORE, **first_defaults()}, "own": {}}
    assert defaults_of(unfinished, read_manifest(unfinished)) == known


def test_a_trial_that_began_before_the_key_goes_on_with_cells_that_are_never_ok(
    unfinished, tmp_path
):
    # trials under way go on as they began, those of later versions by what their table says
    assert (
        trial_begun(unfinished / "campaign.yaml", unfinished.parent).campaign.protocol.never_ok
        == "go_on"
    )
    file = tmp_path / "c.yaml"
    file.write_bytes((unfinished / "campaign.yaml").read_bytes())
    now = load_campaign(file)
    assert now.protocol.never_ok == "skip"
    then = load_campaign(file, defaults={**todays_defaults(), **BEFORE})
    assert then.protocol.never_ok == "go_on"
    assert identity_of(now) == identity_of(then)  # neither says anything of it


# --- what can be wrong with it ----------------------------------------------------------------


def test_lost_defaults_are_told(file, begin):
    path = begin()
    (path / "resolved.json").unlink()
    with pytest.raises(StoreError, match="cannot be read: the file is missing") as caught:
        begun_of(file)
    assert caught.value.where == str(path / "resolved.json")


def test_damaged_defaults_are_told(file, begin):
    path = begin()
    (path / "resolved.json").write_text("{}")
    with pytest.raises(StoreError, match="cannot be read: it has changed since the trial ended"):
        begun_of(file)
    manifest = json.loads((path / "manifest.json").read_text()) | {"files": {}}  # it was killed
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="cannot be read: it holds no defaults"):
        begun_of(file)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("protocol.sessions", "x"),
        ("protocol.sessions", None),
        ("protocol.runs", True),
        ("protocol.runs", 2**80),
        ("expect.exit", 0),
        ("variants.*.env", {"A": 5}),
        ("isolation.cpus", {}),
        ("isolation.aslr", 1),
        ("hooks.timeout", [1]),
    ],
)
def test_a_default_that_no_key_could_have_is_told(file, begin, name, value):
    path = begin()
    stored = json.loads((path / "resolved.json").read_text())
    stored["defaults"][name] = value
    (path / "resolved.json").write_text(json.dumps(stored))
    manifest = json.loads((path / "manifest.json").read_text()) | {"files": {}}  # it was killed
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match=re.escape(f"{name} cannot have had the default")):
        begun_of(file)


def test_the_defaults_that_were_stored_can_be_read(file, begin):
    begin()
    assert begun_of(file).campaign.defaults == todays_defaults()


def test_a_later_rule_of_identity_is_refused(file, begin):
    path = begin()
    manifest = json.loads((path / "manifest.json").read_text()) | {"campaign_identity": RULE + 1}
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="by rule 3, and 2 is the newest known here"):
        begun_of(file)
