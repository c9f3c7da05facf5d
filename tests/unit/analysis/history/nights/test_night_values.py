"""What a night is worth: multilevel's own numbers are the authority, negative controls beside them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, UsageError
from analysis.history.night_values import missing_before
from analysis.history.nights import read_nights
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.values import means_of_one, means_of_pair
from analysis.record.manifest import judging_with
from tests.examples import examples

TOLERANCE = 1e-12  # of logs: the same sums in another order


def judged(path, metric="wall"):
    """Give minus the log of multilevel's speedup by benchmark."""
    trial = read_trial(path)
    sides = (trial.matrix(name, metric, carry_zeros=True) for name in ("tip", "v1"))
    return {line.name: -math.log(line.speedup) for line in multilevel(*sides).benchmarks}


def logs(nights):
    return {one.benchmark: one.logs for one in nights.series}


@pytest.mark.parametrize("sessions", [1, 2, 4])
def test_a_value_is_minus_the_log_of_the_speedup_that_multilevel_gives(night, tmp_path, sessions):
    # authority: multilevel, of the same runs
    paths = [night(k, tip=1 + k / 10, sessions=sessions) for k in (1, 2, 3)]
    found = read_nights([tmp_path / "runs"])
    for k, path in enumerate(paths):
        for bench, expected in judged(path).items():
            assert logs(found)[bench][k] == pytest.approx(expected, abs=TOLERANCE)
    one = found.series[0]
    assert (one.paired, one.baseline, one.metric, one.unit) == (True, "v1", "wall", "s")
    assert [n.sessions for n in one.values] == [sessions] * 3
    assert one.logs[2] > one.logs[0]  # larger is slower
    assert [n.started_at for n in one.values] == [f"2026-11-0{k}T03:10:00.5Z" for k in (1, 2, 3)]


@given(st.lists(st.lists(st.floats(0.01, 10), min_size=4, max_size=4), min_size=4, max_size=4))
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_values_are_multilevels_whatever_the_runs(synthetic, tmp_path_factory, runs):
    # authority: multilevel; a property of all positive times
    times = {"v1": {"x": runs[0], "y": runs[1]}, "tip": {"x": runs[2], "y": runs[3]}}
    path = synthetic(times, sessions=2).write(tmp_path_factory.mktemp("any") / "one")
    trial = read_trial(path)
    found = means_of_pair(trial.matrix("tip"), trial.matrix("v1"), [1, 2])
    for bench, value in zip(found.benchmarks, found.log.tolist(), strict=True):
        assert value == pytest.approx(judged(path)[bench], abs=1e-9)
    own = [means_of_one(trial.matrix(name), [1, 2]) for name in ("tip", "v1")]
    apart = own[0].log - own[1].log
    assert apart.tolist() == pytest.approx(found.log.tolist(), abs=1e-9)  # equal sessions, no gaps


def test_where_higher_is_better_a_lower_rate_is_slower(night, tmp_path):
    # authority: the sign, by hand; negative control: as times the same numbers are faster
    def rates(made):
        made.manifest = replace(
            made.manifest, metrics={"rate": {"unit": "1/s", "better": "higher"}}
        )
        made.rows[:] = [
            replace(row, metrics={"rate": (50.0 if row.variant == "tip" else 100.0,)})
            for row in made.rows
        ]

    for k in (1, 2):
        night(k, change=rates)
    found = read_nights([tmp_path / "runs"], metric="rate")
    assert found.series[0].logs == pytest.approx([math.log(2)] * 2, abs=TOLERANCE)
    assert found.series[0].better == "higher"
    plain = read_nights([tmp_path / "runs"], metric="rate", plain=True, variant="tip")
    assert plain.series[0].logs == pytest.approx([-math.log(50)] * 2, abs=TOLERANCE)


def test_plain_series_are_the_metric_itself(night, tmp_path):
    # authority: the mean over sessions of mean logs, by hand
    for k in (1, 2):
        night(k)
    found = read_nights([tmp_path / "runs"], plain=True, benchmarks=["x"])
    assert [(s.variant, s.paired, s.baseline) for s in found.series] == [
        ("v1", False, None),
        ("tip", False, None),
    ]
    by_hand = sum(map(math.log, (0.10, 0.11, 0.12, 0.13))) / 4
    assert found.series[0].logs == pytest.approx([by_hand] * 2, abs=TOLERANCE)
    paired = read_nights([tmp_path / "runs"], benchmarks=["x"]).series[0]
    assert paired.baseline_logs == pytest.approx([by_hand] * 2, abs=TOLERANCE)
    assert found.series[0].values[0].host_facts["targets"] == {}  # no program is its host


def test_a_trial_without_a_baseline_is_plain(night, tmp_path):
    for k in (1, 2):
        night(k, times={"tip": {"x": [0.1, 0.2]}})
    (one,) = read_nights([tmp_path / "runs"]).series
    assert (one.paired, one.variant) == (False, "tip")
    assert one.logs == pytest.approx([(math.log(0.1) + math.log(0.2)) / 2] * 2, abs=TOLERANCE)


def cut_after(count, status="interrupted"):
    """Leave the first rows, as of a trial that was stopped."""

    def change(made):
        made.rows[:] = made.rows[:count]
        made.manifest = replace(made.manifest, status=status)

    return change


@pytest.mark.parametrize("status", ["interrupted", "running"])
def test_of_an_incomplete_trial_the_complete_sessions_count(night, tmp_path, status):
    # authority: the same trial of one session
    night(1)
    night(2, change=cut_after(13, status))  # 8 runs a session
    night(3, times={v: {b: r[:2] for b, r in c.items()} for v, c in TIMES.items()}, sessions=1)
    found = read_nights([tmp_path / "runs" / f"night-0{k}" for k in (1, 2)])
    first = read_nights([tmp_path / "runs" / f"night-0{k}" for k in (1, 3)])
    assert logs(found)["x"][1] == pytest.approx(logs(first)["x"][-1], abs=TOLERANCE)
    assert found.series[0].values[1].sessions == 1
    assert "incomplete-nights" in [one.code for one in found.cautions]
    # negative control: a complete one is not said to be incomplete
    assert "incomplete-nights" not in [one.code for one in first.cautions]


def test_a_trial_without_a_complete_session_is_left_out_and_counted(night, tmp_path):
    night(1)
    night(2, change=cut_after(5))
    night(3)
    found = read_nights([tmp_path / "runs"])
    assert found.left_out == (("night-02", "none of its 2 sessions is complete"),)
    assert "nights-left-out" in [one.code for one in found.cautions]
    assert len(found.series[0].values) == 2


def test_one_night_is_refused_and_no_value_at_all_too(night, tmp_path):
    night(1, change=cut_after(5))
    with pytest.raises(UsageError, match="one night is no series"):
        read_nights([tmp_path / "runs"])
    night(2, change=cut_after(5))
    with pytest.raises(InsufficientDataError, match="no night has a value"):
        read_nights([tmp_path / "runs"])
    with pytest.raises(UsageError, match="there is no such trial"):
        read_nights([tmp_path / "none"])


def test_unknown_names_are_refused_with_those_that_are_there(night, tmp_path):
    for k in (1, 2):
        night(k)
    with pytest.raises(UsageError, match="there is no benchmark 'z'") as error:
        read_nights([tmp_path / "runs"], benchmarks=["z"])
    assert "x, y" in str(error.value)
    with pytest.raises(UsageError, match="--plain"):
        read_nights([tmp_path / "runs"], variant="v1")
    with pytest.raises(InsufficientDataError, match="no metric 'nothing'"):
        read_nights([tmp_path / "runs"], metric="nothing")


def test_the_metric_is_what_the_newest_campaign_asks(night, tmp_path):
    from analysis.record.trial_files import JudgedMetrics

    night(1)
    night(2, judge=(JudgedMetrics(at="t", metrics=("user",)),))
    found = read_nights([tmp_path / "runs"])
    assert {one.metric for one in found.series} == {"user"}
    assert [len(one.values) for one in found.series] == [2, 2]
    assert found.series == read_nights([tmp_path / "runs"], metric="user").series


def test_missing_nights_are_counted_by_the_usual_distance():
    # authority: the calendar
    days = [1, 2, 3, 4, 8, 9]
    starts = [f"2026-11-{day:02}T03:10:00Z" for day in days]
    assert missing_before(starts) == (0, 0, 0, 0, 3, 0)
    weekly = [f"2026-11-{day:02}" for day in (1, 8, 15, 29)]
    assert missing_before(weekly) == (0, 0, 0, 1)
    # negative controls: trials of one afternoon, two nights, and unknown times tell nothing
    assert missing_before([f"2026-11-01T0{h}:00:00Z" for h in (1, 2, 3, 7)]) == (0, 0, 0, 0)
    assert missing_before(["2026-11-01", "2026-11-09"]) == (0, 0)
    assert missing_before([None, None]) == (0, 0)
    assert missing_before([]) == ()


TIMES = {
    "v1": {"x": [0.10, 0.11, 0.12, 0.13], "y": [0.20, 0.21, 0.22, 0.23]},
    "tip": {"x": [0.12, 0.11, 0.13, 0.15], "y": [0.20, 0.25, 0.22, 0.21]},
}


def test_nights_whose_runs_keep_changing_are_told_and_kept_so(night, tmp_path):
    """Authority: runs of tip that change in their last iterations, in one night of two."""
    rng = np.random.default_rng(8)

    def printing(restless):
        def change(made):
            rows = []
            for row in made.rows:
                values = 1e-9 * row.wall_ns * np.exp(0.001 * rng.standard_normal(120))
                if restless and (row.benchmark, row.variant) == ("x", "tip"):
                    values[-15:] *= 1.3
                rows.append(replace(row, metrics={"t": tuple(values.tolist())}))
            made.rows[:] = rows
            made.manifest = replace(
                made.manifest, metrics={"t": {"unit": "s", "better": "lower"}}, judge=()
            )

        return change

    night(1, change=printing(False))
    night(2, change=printing(True))
    for _ in range(2):  # as read, and as kept
        with judging_with("auto"):
            found = read_nights([tmp_path / "runs"], metric="t")
        (told,) = [one for one in found.cautions if one.code == "no-steady-state"]
        assert told.about == ("x",)
        assert "x / tip in 1 night (night-02)" in told.text
    plain = read_nights([tmp_path / "runs"], metric="t")  # negative control: all are judged
    assert "no-steady-state" not in {one.code for one in plain.cautions}


def test_nights_whose_totals_disagree_are_told_among_the_newest(night, tmp_path):
    """Authority: rules-2, section 4: 3 of 30 runs of tip take 5 times as long, in the oldest and the newest of ten nights."""
    calm = (1 + 0.001 * np.random.default_rng(9).standard_normal(30)).tolist()
    tail = [x * (5.0 if k < 3 else 1.0) for k, x in enumerate(calm)]
    for number in range(1, 11):
        tip = tail if number in (1, 10) else calm
        night(number, times={"v1": {"x": calm}, "tip": {"x": tip}}, sessions=1)
    for _ in range(2):  # as read, and as kept
        found = read_nights([tmp_path / "runs"])
        (told,) = [one for one in found.cautions if one.code == "totals"]
        assert "x / tip in 1 night (night-10)" in told.text
