"""Series of nights whatever the nights are: where they end, and that what is kept is what was read."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, strategies as st

from analysis.data.merging import StatedCampaign
from analysis.history.kept_nights import Cell, KeptTrial
from analysis.history.night_values import RawNight
from analysis.history.series import series_of

FIELDS = ("variants", "benchmarks", "baseline", "metrics", "runs", "warmup", "stop")


def kept(*, order="shuffled", seed=1, commit=None, program=None, entry=None, log=0.0, host="lab3"):
    base = Cell(own=0.0, own_sessions=1, program=program, commit=commit)
    tip = base._replace(log=log, baseline_log=0.0, sessions=1, program="9")
    return KeptTrial(
        trial="t",
        host=host,
        host_id=host,
        origin="measured",
        baseline="v1",
        variants=("v1", "tip"),
        benchmarks=("x",),
        metric="wall",
        unit="s",
        better="lower",
        complete=True,
        values={"v1": (base,), "tip": (tip,)},
        inputs=({} if entry is None else {"x.in": entry},),
        campaign=StatedCampaign(
            identity=(2, f"{seed}"),
            stated={"campaign_name": "suite", **dict.fromkeys(FIELDS)},
            settings={"protocol.order": order},
        ),
        host_record={"host": {"name": host}},
    )


NIGHT = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["shuffled"] * 6 + ["fixed"]),
        "seed": st.integers(1, 3),
        "commit": st.sampled_from([None, "a", "a", "b"]),
        "program": st.sampled_from([None, "1", "1", "2"]),
        "entry": st.sampled_from([None, "i", "i", "j"]),
        "log": st.floats(-1, 1),
    }
)


def ends(nights):
    """Tell at which nights a series begins: the rule of the page, written a second time."""
    begins = [0]
    commit, program, before = nights[0]["commit"], nights[0]["program"], nights[0]
    for k, now in enumerate(nights[1:], start=1):
        other = now["order"] != before["order"]
        other |= None not in (now["entry"], before["entry"]) and now["entry"] != before["entry"]
        if None not in (now["commit"], commit):
            same = now["program"] is not None and now["program"] == program
            other |= now["commit"] != commit and not same
        elif None not in (now["program"], program):
            other |= now["program"] != program
        if other:
            begins.append(k)
            commit = program = None
        commit, program, before = now["commit"] or commit, now["program"] or program, now
    return begins


def made(nights):
    parts = [{"lab3": kept(**night)} for night in nights]
    return series_of(
        [
            RawNight(name=f"n{k}", path=Path(f"n{k}"), kind="trial", campaign="suite", parts=one)
            for k, one in enumerate(parts)
        ]
    )[0]


@given(st.lists(NIGHT, min_size=1, max_size=12))
def test_a_series_begins_where_the_rule_says_and_no_night_is_lost(nights):
    series = made(nights)
    first = [one.values[0].trial for one in series]
    assert first == [f"n{k}" for k in ends(nights)]
    assert [n.trial for one in series for n in one.values] == [f"n{k}" for k in range(len(nights))]
    assert [log for one in series for log in one.logs] == [night["log"] for night in nights]
    assert [one.ends is None for one in series] == [False] * (len(series) - 1) + [True]
    assert all((one.ends is None) == (one.changed is None) for one in series)


@given(st.lists(NIGHT, min_size=2, max_size=12), st.data())
def test_what_came_before_does_not_depend_on_what_comes_later(nights, data):
    # tonight's trial must not change the series that were told yesterday
    count = data.draw(st.integers(1, len(nights) - 1))
    whole = [[n.trial for n in one.values] for one in made(nights)]
    early = [[n.trial for n in one.values] for one in made(nights[:count])]
    assert whole[: len(early) - 1] == early[:-1]
    assert whole[len(early) - 1][: len(early[-1])] == early[-1]


@given(NIGHT)
def test_what_is_kept_is_what_was_read(night):
    trial = kept(**night)
    assert KeptTrial.from_dict(json.loads(json.dumps(trial.to_dict()))) == trial


@given(st.dictionaries(st.sampled_from("abc"), st.floats(-1, 1), min_size=1))
def test_the_value_of_a_fleet_does_not_depend_on_the_order_of_its_hosts(logs):
    def value(hosts):
        parts = {host: kept(log=logs[host], host=host) for host in hosts}
        raw = RawNight(name="n", path=Path("n"), kind="fleet", campaign="suite", parts=parts)
        ((one,), _) = series_of([raw])
        return one.logs[0]

    forth, back = value(sorted(logs)), value(sorted(logs, reverse=True))
    assert abs(forth - back) <= 1e-15
    assert min(logs.values()) - 1e-15 <= forth <= max(logs.values()) + 1e-15
