"""Fleets as every reading command takes them: hosts separated, and never more claimed than they carry.

Authority: the hosts' own trials, read one by one, and docs/fleet.md.
"""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.fleet import joined_trial, open_fleet
from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, StoreError, UsageError
from analysis.importers.reader import open_trial
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.hosts import over_hosts
from analysis.verdict.fleet import judge_fleet
from harness.cli import main

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


def run(*words):
    out, err = io.StringIO(), io.StringIO()
    code = main([str(word) for word in words], out, err)
    return code, out.getvalue(), err.getvalue()


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
    hosts, _ = over_hosts(own)
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
)  # and bundle: tests/unit/analysis/artifact/packing/test_fleet.py, with what is in the archive


@pytest.mark.parametrize("command", COMMANDS)
def test_every_reading_command_takes_a_fleet(fleet, command):
    folder = fleet(runs=8)
    code, out, err = run(*(word.replace("{}", str(folder)) for word in command.split()))
    assert code == 0, err
    assert out or err


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
