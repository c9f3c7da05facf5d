"""A certificate says what was counted, is kept whole, and speaks only of what it was made for."""

import json
import math
import os
import runpy
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from analysis.data.trial import read_trial
from analysis.errors import StoreError, UsageError
from analysis.plan.calibration import calibrate_trial
from analysis.plan.certificate import (
    METHOD_NAMES,
    METHODS,
    newest_for,
    read_certificate,
    read_certificates,
    write_certificate,
)

t_power = runpy.run_path(str(Path(__file__).parents[3] / "power.py"))["t_power"]


def rng():
    return np.random.default_rng(1)


_KNOWN = {}


def certified(path, **options):
    """Certify a trial, or give what was found for its equal before."""
    key = tuple((p.name, p.read_bytes()) for p in sorted(path.iterdir())), repr(options)
    if key not in _KNOWN:
        _KNOWN[key] = calibrate_trial(read_trial(path), rng=rng(), **options)
    return _KNOWN[key]


WELCH = ("welch",)  # where only one method's answer is looked at, or none


def test_what_a_certificate_holds(planted):
    found = certified(planted(), seed=3)
    assert found.variants == ("one", "two")
    assert (found.chosen, found.relabelled, found.relabellings) == ("identical", "session", 32)
    assert (found.design.kind, found.design.sessions, found.design.runs) == ("paired", 6, 4)
    assert (found.machine.kernel, found.machine.governor) == ("6.1.0", "performance")
    assert [(one.name, one.unit) for one in found.methods] == list(METHODS)
    for one in found.methods:
        assert (one.rate is None) == one.by_construction
        if one.rate is not None and one.low is not None:
            assert 0 <= one.low <= one.rate <= one.high <= 1
    assert [one.name for one in found.benchmarks] == ["b0", "b1", "b2"]
    assert {check.test for check in found.checks} == {"normality", "neighbours"}
    assert str(found).count("\n") < 45


def looks(*shares):
    rows = (
        {
            "at": "2026-01-01T00:00:00Z",
            "when": "before",
            "session": session,
            "check": "gaps",
            "status": "ok" if share < 1 else "warn",
            "what": f"cpu3 lost {share:.2f} % of 200 ms to others; busiest, in % of a CPU: x 9 %",
            "where": f"the clock on cpu3, time lost = {share:.2f} %",
        }
        for session, share in enumerate(shares, start=1)
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_a_certificate_holds_what_others_took_of_the_cpu(planted):
    quiet = certified(planted("quiet", findings=looks(0.1, 0.43, 0.2)), methods=WELCH)
    assert quiet.lost_share == pytest.approx(0.0043)
    assert "others took at most 0.43 % of a measured CPU" in str(quiet)
    assert all(one.code != "cpu-lost" for one in quiet.cautions)
    busy = certified(planted("busy", findings=looks(0.1, 12.5, 3.0)), methods=WELCH)
    (caution,) = (one for one in busy.cautions if one.code == "cpu-lost")
    assert "cpu3 lost 12.50 % of 200 ms to others before session 2" in caution.text
    held = planted("held", findings=looks(0.1, 12.5, 3.0))
    memory = certified(held, metric="max_rss", methods=WELCH)
    assert memory.lost_share == busy.lost_share  # known, and no part of the metric
    assert all(one.code != "cpu-lost" for one in memory.cautions)
    unknown = certified(planted("unknown"))
    assert unknown.lost_share is None
    assert "others took" not in str(unknown)


@pytest.mark.parametrize(
    ("there", "here", "told"),
    [
        (0.1, 12.5, True),
        (0.1, 0.9, False),
        (5.0, 12.5, False),
        (4.0, 12.5, True),
        (12.0, 0.1, False),
    ],
)
def test_a_certificate_of_a_quiet_host_is_cited_so_on_a_busy_one(
    planted, tmp_path, there, here, told
):
    write_certificate(replace(certified(planted()), lost_share=there / 100), tmp_path / "shelf")
    trial = read_trial(planted("here", findings=looks(here)))
    _, voids, warns = newest_for(trial, tmp_path / "shelf")
    assert voids == ()
    said = [text for text in warns if "of a CPU" in text]
    assert said == [f"others took {there:.2f} % of a CPU there, {here:.2f} % here"] * told


def test_a_certificate_of_an_earlier_version_says_nothing_of_it(planted, tmp_path):
    known = certified(planted(findings=looks(0.1)), methods=WELCH)
    path = write_certificate(known, tmp_path / "shelf")
    data = json.loads(path.read_text())
    assert data.pop("lost_share") == 0.001
    path.write_text(json.dumps(data))
    assert read_certificate(path).lost_share is None


def test_sessions_that_move_one_variant_are_seen(planted):
    # theory: a session sd of 3 run sds makes nearly every pooled test err
    (calm,) = certified(planted("calm"), methods=WELCH).methods
    (moved,) = certified(planted("moved", shift=0.03), methods=WELCH).methods
    assert calm.rate < 0.15
    assert moved.rate > 0.3


def test_the_detectable_effect_has_the_power(planted):
    found = certified(planted(), power=0.9, methods=WELCH)
    for one in found.benchmarks:
        shift = math.log(one.detectable) / (one.spread / math.sqrt(one.sessions))
        assert t_power(shift, one.sessions - 1, 0.05) == pytest.approx(0.9, abs=1e-6)


def test_speedups_are_those_of_the_first_against_the_second(planted):
    path = planted()
    one, two = (read_trial(path).matrix(name) for name in ("one", "two"))
    there = certified(path, methods=WELCH).benchmarks
    back = certified(path, pair=("two", "one"), methods=WELCH).benchmarks
    for k, (found, mirrored) in enumerate(zip(there, back, strict=True)):
        # balanced: the ratio of geometric means of all runs; shorter is better
        wanted = np.exp(np.log(two.samples[k]).mean() - np.log(one.samples[k]).mean())
        assert found.speedup == pytest.approx(wanted, rel=1e-12)
        assert found.speedup * mirrored.speedup == pytest.approx(1, rel=1e-12)
        assert found.detectable == pytest.approx(mirrored.detectable, rel=1e-12)


def test_methods_and_pair_may_be_chosen(planted):
    found = certified(planted(argv=lambda v: [v]), pair=("two", "one"), methods=["welch", "hpt"])
    assert [one.name for one in found.methods] == ["welch", "hpt"]
    assert found.chosen == "asked"
    assert "identity-not-shown" in {caution.code for caution in found.cautions}
    with pytest.raises(UsageError, match="there is no method 'anova'"):
        certified(planted("b"), methods=["anova"])
    assert set(METHOD_NAMES) >= {"welch", "hpt", "multilevel"}


@pytest.mark.parametrize("name", ["confidence", "power"])
@pytest.mark.parametrize("value", [0.5, 1.0])
def test_a_confidence_or_power_out_of_range_is_refused(planted, name, value):
    with pytest.raises(UsageError, match=f"{name} must lie between 0.5 and 1, not {value}"):
        certified(planted(), **{name: value})


def test_methods_that_could_not_conclude_are_said(planted):
    # sessions far apart: the runs of both are not normal, and a mean of few such runs has no test
    few = certified(planted(sessions=2, runs=8, shift=3.0), methods=["speedup-test mean"])
    assert [one.concluded < 0.5 for one in few.methods] == [True]
    (told,) = (one for one in few.cautions if one.code == "seldom-concluded")
    assert told.about == ("speedup-test mean",)
    many = certified(planted("many", sessions=2, runs=8), methods=WELCH)
    assert "seldom-concluded" not in {caution.code for caution in many.cautions}


def test_one_session_is_said(planted):
    found = certified(planted(sessions=1, runs=8))
    assert found.relabelled == "block"
    assert found.sound is None
    assert "one-session-swapped" in {caution.code for caution in found.cautions}
    assert "1 session x 8 runs" in found.sentence
    for one in found.methods:  # no session can be left out: an exact interval over 3 benchmarks
        if one.rate is not None and one.level == "benchmark":
            hits = 3 * one.rate
            wanted = scipy.stats.beta.ppf([0.025, 0.975], [hits, hits + 1], [4 - hits, 3 - hits])
            assert (one.low, one.high) == pytest.approx(tuple(wanted))


def test_there_and_back(planted, tmp_path):
    found = replace(certified(planted()), seed=1)
    path = write_certificate(found, tmp_path / "new" / "certificates")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert read_certificate(path).to_dict() == found.to_dict()
    assert json.loads(path.read_text()) == found.to_dict()
    again = write_certificate(found, path.parent)
    assert again != path
    assert sorted(p.name for p in path.parent.iterdir()) == sorted([path.name, again.name])


def test_damaged_files_hide_no_other(planted, tmp_path):
    folder = tmp_path / "certificates"
    path = write_certificate(certified(planted()), folder)
    (folder / "cut.json").write_text(path.read_text()[:200])
    (folder / "other.json").write_text('{"schema": 1, "method": "hpt"}')
    (folder / "newer.json").write_text(path.read_text().replace('"schema": 1', '"schema": 2'))
    (folder / "list.json").write_text("[]")
    (folder / "noise.json").write_bytes(bytes(range(256)))
    found, cautions = read_certificates(folder)
    assert len(found) == 1
    assert {caution.code for caution in cautions} == {"certificate-damaged"}
    assert len(cautions) == 5
    assert read_certificates(tmp_path / "nowhere") == ((), ())
    with pytest.raises(StoreError, match="there is no such certificate"):  # not: restore it
        read_certificate(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="not a readable certificate"):
        read_certificate(folder / "cut.json")


def test_what_cannot_be_written_is_said(planted, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        write_certificate(certified(planted()), tmp_path / "file")


def test_a_thousand_certificates_of_one_second_are_refused(planted, tmp_path, monkeypatch):
    found, folder = certified(planted()), tmp_path / "certificates"
    tried = []

    def link(part, path):
        tried.append(path.name)
        raise FileExistsError

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(StoreError, match="full of certificates of this second"):
        write_certificate(found, folder)
    assert len(tried) == len(set(tried)) == 999
    assert tried[-1].endswith("-999.json")
    assert list(folder.iterdir()) == []


def test_the_newest_that_holds_is_cited(planted, tmp_path):
    path = planted()
    trial, folder = read_trial(path), tmp_path / "certificates"
    assert newest_for(trial, folder)[0] is None
    found = certified(path)
    write_certificate(replace(found, created="2026-01-01T00:00:00Z"), folder)
    write_certificate(replace(found, created="2026-02-01T00:00:00Z"), folder)
    write_certificate(replace(found, created="2026-03-01T00:00:00Z", metric="user"), folder)
    now = datetime(2026, 3, 2, tzinfo=UTC)
    certificate, voids, warns = newest_for(trial, folder, now=now)
    assert certificate.created == "2026-02-01T00:00:00Z"
    assert (voids, warns) == ((), ())
    _, voids, _ = newest_for(trial, folder, metric="system", now=now)
    assert [text.partition(":")[0] for text in voids] == ["another metric"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"host_id": "other"}, "another machine"),
        ({"cpu_model": "Other CPU"}, "another CPU"),
        ({"sessions": 1, "runs": 24}, "another design"),
    ],
)
def test_what_voids(planted, tmp_path, change, said):
    folder = tmp_path / "certificates"
    write_certificate(certified(planted()), folder)
    runs = {"runs": change.pop("runs")} if "runs" in change else {}
    sessions = {"sessions": change.pop("sessions")} if "sessions" in change else {}
    other = read_trial(planted("other", **runs, **sessions, **change))
    certificate, voids, _ = newest_for(other, folder)
    assert certificate is not None
    assert [text.partition(":")[0] for text in voids] == [said]


def test_two_machines_without_an_id_are_not_one(planted, tmp_path):
    folder = tmp_path / "certificates"
    path = planted(host_id="unknown")
    write_certificate(certified(path, methods=WELCH), folder)
    assert newest_for(read_trial(path), folder)[1]


def test_what_warns(planted, tmp_path):
    folder = tmp_path / "certificates"
    write_certificate(certified(planted()), folder)
    host = {"cpu": {"governor": {"0": "powersave"}}, "kernel": {"release": "6.2.0"}}
    other = read_trial(planted("other", sessions=8, runs=5, benchmarks=4, host=host))
    later = datetime.now(UTC) + timedelta(days=100)
    _, voids, warns = newest_for(other, folder, now=later)
    assert voids == ()
    assert warns == (
        "another kernel: 6.1.0 there, 6.2.0 here",
        "another governor: performance there, powersave here",
        "it is 100 days old",
        "not in it: b3",
        "6 sessions there, 8 here",
        "4 runs a cell and session there, 5 here",
    )
