"""Trials of several hosts put together: the fleet that is made, and what is refused.

Authority: the trials that went in, and docs/fleet.md.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.fleet import joined_trial, merge_hosts, named_trials, open_fleet, way_of
from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, StoreError, UsageError
from analysis.importers.reader import open_trial
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.hosts import over_hosts
from analysis.record.fleet import read_fleet, read_hosts
from analysis.verdict.fleet import judge_fleet
from tests.unit.analysis.commands.conftest import executed as run

CAMPAIGN = {"name": "synthetic", "seed": 1, "protocol": {"sessions": 2, "runs": 2}}


@pytest.fixture
def trial(tmp_path, synthetic):
    """Write a trial of a host."""

    def make(name, host="lab1", host_id="a", *, campaign=None, shift=0.0, program=None, **manifest):
        times = {
            "old": {"x": [0.010, 0.011, 0.012, 0.013]},
            "new": {"x": [t * (1 + shift) for t in (0.005, 0.006, 0.007, 0.008)]},
        }
        made = synthetic(
            times,
            sessions=2,
            **{"trial": name, "host": host, "host_id": host_id, "cpu_model": "M", **manifest},
        )
        record = {"host": {"name": host, "machine_id_sha256": host_id}, "cpu": {"model": "M"}}
        if program is not None:
            about = program if isinstance(program, dict) else {"sha256": program}
            record["targets"] = {"x/old": {"sha256": "1"}, "x/new": about}
        made.record(record, campaign or CAMPAIGN)
        made.extra |= {"findings.jsonl": b"", "outputs/0001.stdout": b"said"}
        return made.write(tmp_path / name)

    return make


def merge(*words, code=0):
    found, out, err = run("merge", *words)
    assert found == code
    return out or err


def states_of(folder):
    return [one.state for one in read_hosts(folder, read_fleet(folder))]


def test_trials_of_several_hosts_become_a_fleet_of_copies(trial, tmp_path):
    paths = [trial("one"), trial("two", "lab2", "b"), trial("three", "lab3", "c")]
    told = merge(*paths, "-o", tmp_path / "fleet")
    assert "a fleet of 3 hosts" in told
    fleet = read_fleet(tmp_path / "fleet")
    assert fleet.names == ("lab1", "lab2", "lab3")
    assert (fleet.identity, fleet.submitted_at) == ("0" * 64, None)
    for path, name in zip(paths, fleet.names, strict=True):
        for file in path.rglob("*"):
            if file.is_file():
                copy = tmp_path / "fleet" / name / file.relative_to(path)
                assert copy.read_bytes() == file.read_bytes()
    assert judge_fleet(tmp_path / "fleet").candidates[0].hosts.hosts == fleet.names


@pytest.mark.parametrize(("commits", "odd"), [("aaa", ()), ("aab", ("lab3",)), ((None,) * 3, ())])
def test_what_each_session_builds_is_told_apart_by_its_commit(trial, tmp_path, commits, odd):
    # authority: docs/layouts.md; the hashes differ on every host, as layouts do
    paths = [
        trial(
            f"t{k}",
            f"lab{k}",
            "abc"[k - 1],
            program={"sha256": f"{k}", "built": "session", "commit": commits[k - 1]},
        )
        for k in (1, 2, 3)
    ]
    fleet = merge_hosts(named_trials(paths), tmp_path / "fleet")
    told = [one for one in judge_fleet(fleet.fleet).cautions if one.code == "binary-differs"]
    assert [one.about for one in told] == ([odd] if odd else [])


def test_two_trials_of_a_host_become_its_sessions_in_the_fleet(trial, tmp_path):
    paths = [trial("one"), trial("two"), trial("three", "lab2", "b")]
    told = merge(*paths, "-o", tmp_path / "fleet", "--json")
    hosts = json.loads(told)["hosts"]
    assert [(one["host"], one["sessions"], len(one["trials"])) for one in hosts] == [
        ("lab1", 4, 2),
        ("lab2", 2, 1),
    ]
    assert states_of(tmp_path / "fleet") == ["complete", "complete"]


def test_one_id_with_two_names_is_decided_by_whoever_merges(trial, tmp_path):
    # cloned images share an id; a host may have been renamed
    paths = [trial("one", "lab1"), trial("two", "lab2")]
    err = merge(*paths, "-o", tmp_path / "all", code=2)
    assert "--as fleet" in err
    merge(*paths, "-o", tmp_path / "all", "--as", "sessions")
    merge(*paths, "-o", tmp_path / "fleet", "--as", "fleet")
    assert read_fleet(tmp_path / "fleet").names == ("lab1", "lab2")


def test_two_hosts_of_one_name_are_told_apart_by_their_ids(trial, tmp_path):
    paths = [trial("one", "node", "aaaaaaaaaa"), trial("two", "node", "bbbbbbbbbb")]
    merge_hosts(named_trials(paths), tmp_path / "fleet")
    assert read_fleet(tmp_path / "fleet").names == ("node-aaaaaaaa", "node-bbbbbbbb")


def test_hosts_without_an_id_are_told_apart_by_name_or_refused(trial, tmp_path):
    paths = [trial("one", "lab1", "unknown"), trial("two", "lab2", "unknown")]
    merge_hosts(named_trials(paths), tmp_path / "fleet")
    same = [trial("three", "lab3", "unknown"), trial("four", "lab3", "unknown")]
    with pytest.raises(StoreError, match="is unknown"):
        merge_hosts(named_trials(same), tmp_path / "other")
    err = merge(*same, "-o", tmp_path / "other", code=5)
    assert not (tmp_path / "other").exists()
    assert "machine id" in err


def test_several_hosts_are_no_sessions(trial, tmp_path):
    paths = [trial("one"), trial("two", "lab2", "b")]
    err = merge(*paths, "-o", tmp_path / "all", "--as", "sessions", code=5)
    assert "--as fleet" in err


def test_another_campaign_is_refused_with_what_differs(trial, tmp_path):
    other = {**CAMPAIGN, "protocol": {"sessions": 2, "runs": 3}}
    paths = [trial("one"), trial("two", "lab2", "b", campaign=other, campaign_sha256="1" * 64)]
    err = merge(*paths, "-o", tmp_path / "fleet", code=5)
    assert "protocol.runs is 2 and 3" in err
    assert list(tmp_path.glob("*fleet*")) == []


def test_another_seed_is_the_same_campaign_and_every_reader_knows(trial, tmp_path):
    other = trial("two", "lab2", "b", campaign={**CAMPAIGN, "seed": 2}, campaign_sha256="1" * 64)
    merge_hosts(named_trials([trial("one"), other]), tmp_path / "fleet")
    fleet = read_fleet(tmp_path / "fleet")
    assert fleet.identities == ("1" * 64,)
    assert states_of(tmp_path / "fleet") == ["complete"] * 2


def test_an_unfinished_trial_is_a_host_that_is_not_finished(trial, tmp_path):
    paths = [trial("one"), trial("two", "lab2", "b", status="interrupted")]
    merge(*paths, "-o", tmp_path / "fleet")
    assert states_of(tmp_path / "fleet") == ["complete", "partial"]


def test_a_fleet_grows_by_merging_it_with_a_trial(trial, tmp_path):
    merge(trial("one"), trial("two", "lab2", "b"), "-o", tmp_path / "small")
    merge(tmp_path / "small", trial("three", "lab3", "c"), "-o", tmp_path / "large")
    assert read_fleet(tmp_path / "large").names == ("lab1", "lab2", "lab3")
    err = merge(tmp_path / "small", tmp_path / "large", "-o", tmp_path / "twice", code=2)
    assert "name each trial once" in err


def test_one_trial_is_a_fleet_of_one_host_where_it_is_asked_for(trial, tmp_path):
    path = trial("one")
    merge(path, "-o", tmp_path / "all", code=2)
    merge(path, "-o", tmp_path / "fleet", "--as", "fleet")
    assert "one-host" in [c.code for c in judge_fleet(tmp_path / "fleet").cautions]


def test_links_stay_behind_and_names_become_folders(trial, tmp_path):
    path = trial("one", "../lab 1/x", "a")
    (path / "outputs" / "link").symlink_to("/etc/passwd")
    merge_hosts(named_trials([path, trial("two", "lab2", "b")]), tmp_path / "fleet")
    assert read_fleet(tmp_path / "fleet").names == ("lab-1-x", "lab2")
    assert not (tmp_path / "fleet" / "lab-1-x" / "outputs" / "link").exists()


def test_a_damaged_trial_leaves_nothing(trial, tmp_path):
    path = trial("one")
    file = path / "measurements.jsonl"
    file.write_bytes(file.read_bytes().replace(b"ok", b"OK", 1))
    with pytest.raises(StoreError):
        merge_hosts(named_trials([path, trial("two", "lab2", "b")]), tmp_path / "fleet")
    assert list(tmp_path.glob("*fleet*")) == []
    with pytest.raises(UsageError, match="there already"):
        merge_hosts(named_trials([trial("three")]), Path(path))


def test_fleets_make_a_fleet_whatever_their_ids(trial, tmp_path):
    merge(trial("one"), "-o", tmp_path / "a", "--as", "fleet")
    trials = named_trials([tmp_path / "a", trial("two")])
    assert way_of(trials, asked=None, fleets=True) == "fleet"
    assert way_of(trials, asked=None, fleets=False) == "sessions"


def test_nodes_of_one_machine_are_told_apart_by_the_names_that_the_scheduler_gives(trial, tmp_path):
    paths = [trial("one", node="n1"), trial("two", node="n2")]  # one host name, one id
    said = merge(*paths, "-o", tmp_path / "x", code=2)
    assert "the names n1, n2" in said
    assert "--as sessions" in said
    merge(*paths, "-o", tmp_path / "fleet", "--as", "fleet")
    assert read_fleet(tmp_path / "fleet").names == ("n1", "n2")
    merge(*paths, "-o", tmp_path / "trial", "--as", "sessions")


@pytest.mark.parametrize(
    ("host", "ids"),
    [("node", ("a" * 64, "b" * 64)), ("lab/1", ("a" * 64,)), ("lab/1", ("a" * 64, "b" * 64))],
)
def test_a_fleet_that_a_trial_is_put_to_later_is_the_one_of_all_at_once(trial, tmp_path, host, ids):
    # the folder of a host is named otherwise than it where names meet, or hold what no folder's may
    first = [trial(f"first-{k}", host, one) for k, one in enumerate((*ids, "c" * 64))]
    first[-1] = trial("else", "lab9", "c" * 64)
    later = trial("later", host, ids[0], started="2026-11-22T04:12:00Z")
    merge_hosts(named_trials([*first, later]), tmp_path / "all")
    merge_hosts(named_trials(first), tmp_path / "some")
    merge_hosts(named_trials([tmp_path / "some", later]), tmp_path / "steps")
    found, expected = (
        {one.host: one.done for one in read_hosts(folder, read_fleet(folder))}
        for folder in (tmp_path / "steps", tmp_path / "all")
    )
    assert found == expected
    assert len(found) == len(ids) + 1


def test_a_host_of_a_fleet_keeps_the_name_that_somebody_gave_it(trial, tmp_path):
    merge_hosts(named_trials([trial("one"), trial("two", "lab2", "b")]), tmp_path / "some")
    record = json.loads((tmp_path / "some" / "fleet.json").read_text())
    record["hosts"][0]["host"] = "left"
    (tmp_path / "some" / "fleet.json").write_text(json.dumps(record))
    merge_hosts(named_trials([tmp_path / "some", trial("three", "lab3", "c")]), tmp_path / "all")
    assert read_fleet(tmp_path / "all").names == ("left", "lab2", "lab3")


def test_no_host_takes_the_place_of_the_fleets_own_record(trial, tmp_path):
    paths = [trial("one", "fleet.json"), trial("two", "lab2", "b")]
    merge_hosts(named_trials(paths), tmp_path / "fleet")
    assert states_of(tmp_path / "fleet") == ["complete", "complete"]


def test_another_program_is_no_drift_that_is_accepted_unasked(trial, tmp_path):
    paths = [trial("one", program="1"), trial("two", program="2"), trial("three", "lab2", "b")]
    with pytest.raises(StoreError, match="x/new"):
        merge_hosts(named_trials(paths), tmp_path / "fleet")
    assert not (tmp_path / "fleet").exists()
    merge_hosts(named_trials(paths), tmp_path / "fleet", accept_drift=True)
    assert read_fleet(tmp_path / "fleet").names == ("lab1", "lab2")


@pytest.mark.parametrize("status", ["complete", "interrupted"])
def test_a_fleet_is_complete_where_each_host_is(trial, tmp_path, status):
    paths = [trial("one"), trial("two", "lab2", "b", status=status)]
    merge_hosts(named_trials(paths), tmp_path / "fleet")
    assert open_trial(tmp_path / "fleet").manifest.status == status


# --- Fleets as every reading command takes them: hosts separated, and never more claimed than they carry
#
# Authority: the hosts' own trials, read one by one, and docs/fleet.md.


HOSTS = ("lab1", "lab2", "lab3")


@pytest.fixture
def fleet(fleet_folder, synthetic):
    def make(change=None, *, hosts=HOSTS, effects=(0.1, 0.15, 0.12), runs=16):
        folder = fleet_folder((*hosts, "lab9"))
        for k, (name, effect) in enumerate(zip(hosts, effects, strict=True)):
            rng = np.random.default_rng(k)
            times = {
                variant: {
                    bench: (scale * np.exp(moved + rng.normal(0, 0.01, runs))).tolist()
                    for bench, scale in (("x", 0.02), ("y", 0.03))
                }
                for variant, moved in (("old", 0.0), ("new", -effect))
            }
            made = synthetic(times, sessions=4, warmup=1, host=name, trial=f"t-{name}")
            if change is not None:
                change(name, made)
            made.write(folder / name)
        return folder

    return make


def test_sessions_of_all_hosts_keep_apart_with_every_run(fleet):
    folder = fleet()
    whole = joined_trial(open_fleet(folder), by="session")
    parts = [read_trial(folder / name) for name in HOSTS]
    assert whole.sessions == 12
    assert len(whole) == sum(map(len, parts))
    for variant in ("old", "new"):
        found, own = whole.matrix(variant), [part.matrix(variant) for part in parts]
        for k in range(2):
            assert np.array_equal(found.samples[k], np.concatenate([m.samples[k] for m in own]))
            assert sorted(set(found.sessions[k].tolist())) == list(range(1, 13))
            assert len(set(found.blocks[k].tolist())) == sum(
                len(set(m.blocks[k].tolist())) for m in own
            )
    assert len(set(whole.position[whole.position >= 0].tolist())) == len(whole)
    assert [one.code for one in whole.cautions] == ["host-missing", "sessions-of-hosts"]


def test_a_host_is_one_session_where_sessions_carry_the_claim(fleet):
    folder = fleet()
    whole = open_trial(folder)
    assert whole.sessions == 3
    found = multilevel(whole.matrix("new"), whole.matrix("old"))
    # one block a host and a position in its sessions: the hosts' means, as over_hosts has them
    own = {
        name: multilevel(trial.matrix("new"), trial.matrix("old"))
        for name in HOSTS
        for trial in [read_trial(folder / name)]
    }
    hosts = over_hosts(own)
    for line, over in zip(found.benchmarks, hosts.benchmarks, strict=True):
        assert line.differences == pytest.approx(over.differences)
        assert over.low <= line.low  # which adds what sessions say
    assert "hosts-as-sessions" in [one.code for one in whole.cautions]


METHODS = (
    "hpt {}:new",
    "speedup-test {}:new",
    "resample {}:new --resamples 99",
    "mixture {} --benchmark x --resamples 99 --max-components 2",
    "biplot {}",
)


@pytest.mark.parametrize("command", METHODS)
def test_every_method_names_hosts_that_are_not_there_and_what_a_session_is(fleet, command):
    folder = fleet()
    code, out, err = run(*command.format(folder).split(), "--json")
    assert code == 0, err
    codes = set(json.loads(out)["caution_codes"])
    assert {"host-missing", "hosts-as-sessions"} <= codes


def test_pooled_sessions_would_claim_more(fleet):
    # the negative control: what a reader of pooled sessions would be told
    folder = fleet()
    pooled = open_trial(folder, by="session")
    narrow = multilevel(pooled.matrix("new"), pooled.matrix("old")).these
    wide = judge_fleet(folder).candidates[0].multilevel.these
    assert (narrow.high / narrow.low) < (wide.high / wide.low)


def test_one_host_keeps_its_own_sessions(fleet):
    folder = fleet(hosts=("lab1",), effects=(0.1,))
    assert open_trial(folder).sessions == 4
    assert "one-host" in [one.code for one in open_trial(folder).cautions]


def test_failed_runs_keep_their_place(fleet):
    def fail(name, made):
        if name == "lab2":
            made.rows[7] = replace(made.rows[7], outcome="exit", exit_code=3)

    folder = fleet(fail)
    whole = open_trial(folder, by="session")
    (failed,) = whole.failures()
    own = read_trial(folder / "lab2").failures()[0]
    assert failed.session == own.session + 4
    at = np.flatnonzero(whole.position == failed.position)
    assert whole.outcome[at] != 0


def test_metrics_with_iterations_stay_with_their_runs(fleet):
    def parsed(name, made):
        k = HOSTS.index(name) + 1
        made.rows = [
            replace(row, metrics={"ops": tuple(float(k * 100 + n) for n in range(1, k + 1))})
            for row in made.rows
        ]
        made.manifest = replace(made.manifest, metrics={"ops": {"unit": "1/s", "better": "higher"}})

    folder = fleet(parsed)
    whole = open_trial(folder, by="session")
    parts = [read_trial(folder / name) for name in HOSTS]
    assert np.array_equal(
        whole.values("ops"), np.concatenate([part.values("ops") for part in parts])
    )


def test_trials_of_other_programs_are_refused(fleet, tmp_path, synthetic):
    folder = fleet()
    other = synthetic({"old": {"z": [0.1, 0.2]}, "new": {"z": [0.1, 0.2]}})
    for file in (folder / "lab2").iterdir():
        file.unlink()
    other.write(folder / "lab2")
    with pytest.raises(StoreError, match="its benchmarks are others"):
        open_trial(folder)


def test_a_fleet_without_a_run_says_so(fleet):
    with pytest.raises(InsufficientDataError, match="lab9 is missing"):
        open_trial(fleet(hosts=(), effects=()))


COMMANDS = (
    "verdict {}",
    "verdict {}:new",
    "gate slower>50% {}",
    "gate slower>50% {}:new",
    "diagnose {}",
    "diagnose {}:new",
    "plan {} --width 0.5 --max-hosts 6",
    "plan {}:new --width 0.5 --max-hosts 6",
    "sources {} --resamples 99",
    "study power {}:new --simulations 10 --resamples 99",
    "report {} --format txt -o {}.txt",
    "report {} --format json",
    "export {} --to long-csv -o {}.csv",
    "plot forest {} -o {}.svg",
    "diff {} {}",
)  # and bundle: tests/unit/analysis/artifact/packing/test_describing.py, with what is in the archive


@pytest.mark.parametrize("command", COMMANDS)
def test_every_reading_command_takes_a_fleet(fleet, command):
    folder = fleet(runs=8)
    code, out, err = run(*(word.replace("{}", str(folder)) for word in command.split()))
    assert code == 0, err
    assert out or err


@pytest.mark.parametrize("how", ["copied", "linked", "cut"])
def test_what_is_synced_by_half_is_no_further_host(fleet, how):
    folder, why = fleet(), "a copy of that of lab1"
    one, two = folder / "lab1", folder / "lab2"
    if how == "cut":
        rows, why = two / "measurements.jsonl", "its SHA-256 is not the manifest's"
        rows.write_bytes(b"".join(rows.read_bytes().splitlines(keepends=True)[:5]))
    else:
        shutil.rmtree(two)
        shutil.copytree(one, two) if how == "copied" else two.symlink_to("lab1")
    assert states_of(folder) == ["complete", "failed", "complete", "missing"]
    answer = judge_fleet(folder)
    assert [one.host for one in answer.hosts if one.judged] == ["lab1", "lab3"]
    assert why in answer.hosts[1].why


def test_sources_tell_hosts_from_sessions(fleet):
    code, out, _ = run("sources", fleet(effects=(0.0, 0.3, 0.6)), "--resamples", "99")
    assert code == 0
    assert "between hosts" in out
    assert "missing: lab9" in out


def test_hosts_of_one_image_are_several_to_sources(fleet):
    def clone(_, made):
        made.manifest = replace(made.manifest, host="image", host_id="same")

    code, out, _ = run("sources", fleet(clone), "--resamples", "99")
    assert code == 0
    assert "between hosts" in out


def test_a_diagnosis_is_of_each_host(fleet):
    folder = fleet()
    code, out, _ = run("diagnose", folder, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["method"] == "diagnose-fleet"
    assert [(one["host"], one["state"], one["sessions"]) for one in found["hosts"]] == [
        ("lab1", "complete", 4),
        ("lab2", "complete", 4),
        ("lab3", "complete", 4),
        ("lab9", "missing", 0),
    ]
    assert found["caution_codes"] == ["host-missing"]
    assert "lab9" in run("diagnose", folder)[1]


def test_a_drift_on_one_host_is_found_there(fleet):
    def drift(name, made):
        if name == "lab2":
            made.rows = [
                replace(row, wall_ns=round(row.wall_ns * (1 + 0.01 * row.block)))
                for row in made.rows
            ]

    _, out, _ = run("diagnose", fleet(drift, runs=48), "--json")
    found = json.loads(out)
    codes = {one["host"]: one["codes"] for one in found["hosts"]}
    assert codes["lab2"]
    assert not codes["lab1"]
    assert found["findings"][0]["hosts"] == ["lab2"]


def test_an_exported_fleet_has_every_run(fleet, tmp_path):
    folder = fleet()
    code, _, _ = run("export", folder, "--to", "long-csv", "-o", tmp_path / "x.csv")
    assert code == 0
    rows = (tmp_path / "x.csv").read_text().splitlines()
    assert len(rows) - 1 >= 3 * 64


def test_a_repeated_run_is_one_position_and_one_value(fleet):
    def repeat(name, made):
        if name == "lab2":
            row = made.rows[8]
            made.rows[8] = replace(row, disturbed=True)
            again = replace(row, position=-1, repeats=row.position, disturbed=False, wall_ns=999)
            made.rows.insert(9, again)
            made.manifest = replace(made.manifest, schema=2)

    folder = fleet(repeat)
    own = read_trial(folder / "lab2")
    whole = open_trial(folder, by="session")
    assert int(whole.measured.sum()) == 3 * 64
    assert 999e-9 in whole.matrix(own.manifest.variants[0]).samples[0]
    standing = {one.host: one for one in judge_fleet(folder).hosts}
    assert (standing["lab2"].done, standing["lab2"].planned) == (80, 80)


def test_a_metric_that_one_host_lacks_is_none_of_the_whole(fleet):
    def counted(name, made):
        names = ("cycles", "misses") if name != "lab2" else ("cycles",)
        info = {"unit": "1", "better": "lower"}
        made.manifest = replace(made.manifest, metrics=dict.fromkeys(names, info))
        made.rows = [replace(row, metrics=dict.fromkeys(names, (7.0,))) for row in made.rows]

    folder = fleet(counted)
    whole = open_trial(folder)
    assert list(whole.manifest.metrics) == ["cycles"]
    assert whole.values("cycles").tolist() == [7.0] * len(whole)
    answer = judge_fleet(folder, metric="misses")
    assert answer.candidates[0].hosts.hosts == ("lab1", "lab3")
    caution = next(one for one in answer.cautions if one.code == "host-left-out")
    assert caution.about == ("lab2",)
    with pytest.raises(UsageError, match="no metric 'gone'"):
        judge_fleet(folder, metric="gone")
