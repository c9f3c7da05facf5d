"""Which row of a repeated run is judged, and what readers see of it.

The authority is the rule as docs/trial-format.md has it, applied here run by run and by hand; the
golden trial of schema 2 was measured on a busy machine.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.data.columns import judged_rows
from analysis.data.merging import merge_trials
from analysis.data.trial import read_trial
from analysis.importers.export import TARGETS, exported_trial
from analysis.record.run_numbers import judged_row

SCHEMAS = Path(__file__).resolve().parents[3] / "golden" / "schemas"
REPEATS = SCHEMAS / "2" / "trial"
PLAIN = SCHEMAS / "1" / "trial"


def rows_of(trial=REPEATS):
    return [json.loads(line) for line in (trial / "measurements.jsonl").read_text().splitlines()]


def by_hand(rows):
    """Give the place of the judged row of each measured run."""
    runs = {}
    for place, row in enumerate(rows):
        if not row["warmup"]:
            of = row["position"] if row["repeats"] is None else row["repeats"]
            runs.setdefault(of, []).append(place)
    return {
        of: next((k for k in places if rows[k]["disturbed"] is False), places[0])
        for of, places in runs.items()
    }


# --- the rule -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "place"),
    [
        ([True], 0),
        ([False], 0),
        ([None], 0),
        ([True, False], 1),
        ([True, True], 0),
        ([True, True, False], 2),
        ([True, False, False], 1),
        ([True, None], 0),  # unknown is not undisturbed
        ([True, None, False], 2),
        ([None, False], 1),
    ],
)
def test_the_first_undisturbed_row_is_judged_else_the_first(flags, place):
    assert judged_row(flags) == place


@given(
    st.lists(
        st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=3),
        min_size=1,
        max_size=12,
    ),
    st.randoms(use_true_random=False),
)
def test_each_run_has_one_judged_row_wherever_its_rows_stand(runs, random):
    rows = [(place, k) for place, flags in enumerate(runs) for k in range(1, len(flags))]
    random.shuffle(rows)
    rows = sorted(rows, key=lambda row: row[1])  # a second repeat comes after the first
    position = [*range(len(runs)), *(-1 - k for k in range(len(rows)))]
    repeats = [*([-1] * len(runs)), *(place for place, _ in rows)]
    flags = [flags[0] for flags in runs] + [runs[place][k] for place, k in rows]
    code = {True: 1, False: 0, None: -1}
    judged = judged_rows(
        np.array(position), np.array(repeats), np.array([code[flag] for flag in flags])
    )
    assert int(judged.sum()) == len(runs)
    for place, of in enumerate(runs):
        mine = [place, *(len(runs) + k for k, row in enumerate(rows) if row[0] == place)]
        assert [k for k in mine if judged[k]] == [mine[judged_row(of)]]


# --- a measured trial -----------------------------------------------------------------------------


def test_the_reader_takes_the_judged_rows():
    trial, rows = read_trial(REPEATS), rows_of()
    chosen = by_hand(rows)
    assert sorted(chosen.values()) == np.flatnonzero(trial.candidates).tolist()
    assert int(trial.candidates.sum()) == 40
    assert sorted(chosen) == sorted(trial.planned_position[trial.candidates].tolist())
    for variant in trial.manifest.variants:
        matrix = trial.matrix(variant)
        for bench, values in zip(matrix.benchmarks, matrix.samples, strict=True):
            mine = sorted(
                k
                for k in chosen.values()
                if (rows[k]["benchmark"], rows[k]["variant"]) == (bench, variant)
            )
            assert values.tolist() == [rows[k]["wall_ns"] / 1e9 for k in mine]


def test_it_is_not_the_fastest_row_that_is_taken():
    # the negative control: the fastest row of each run is another choice
    rows = rows_of()
    chosen = by_hand(rows)
    fastest = {
        of: min(
            (k for k, row in enumerate(rows) if of in {row["position"], row["repeats"]}),
            key=lambda k: rows[k]["wall_ns"],
        )
        for of in chosen
    }
    assert fastest != chosen


def test_wall_is_on_cpu_and_waited_and_other():
    trial, rows = read_trial(REPEATS), rows_of()
    for k, row in enumerate(rows):
        waited = row["run_delay_ns"] + row["launcher_delay_ns"] - row["launcher_on_cpu_ns"]
        assert trial.waited_ns[k] == waited
        assert row["disturbed"] == (waited > max(0.005 * row["wall_ns"], 50_000))
    assert (trial.waited_ns < 0).any()  # and is not clipped


def test_an_earlier_trial_reads_as_before():
    trial = read_trial(PLAIN)
    assert (trial.repeats == -1).all()
    assert (trial.disturbed == -1).all()
    assert trial.chosen.all()
    assert np.isnan(trial.waited_ns).all()
    assert not trial.manifest.repeating


# --- where it goes on to --------------------------------------------------------------------------


def test_what_leaves_are_the_judged_rows_and_the_rest_is_told():
    trial = read_trial(REPEATS)
    leaving = exported_trial(trial)
    assert [one.text[:7] for one in leaving.beyond if one.code == "repeats-lost"] == ["20 runs"]
    values = [
        value for sample in leaving.samples for of in sample.processes("wall") for value in of
    ]
    assert sorted(values) == sorted(trial.values("wall")[trial.measured].tolist())
    for target in TARGETS:
        if target.name == "long-csv":
            lost = {one.code: one.text for one in target.write(leaving).lost}
            assert lost["repeats-lost"] == (
                "20 runs that no method takes, because disturbed ones were repeated: left out"
            )
            plain = target.write(exported_trial(read_trial(PLAIN)))
            assert "repeats-lost" not in {one.code for one in plain.lost}


def test_a_merged_trial_judges_the_same_rows(tmp_path):
    import shutil

    second = tmp_path / "second"
    shutil.copytree(REPEATS, second)
    manifest = json.loads((second / "manifest.json").read_text())
    manifest |= {"trial": "second", "started": "2027-01-01T00:00:00.000000Z"}
    (second / "manifest.json").write_text(json.dumps(manifest))
    merge_trials([REPEATS, second], tmp_path / "both")
    one, both = read_trial(REPEATS), read_trial(tmp_path / "both")
    assert both.manifest.schema == 2
    assert np.array_equal(both.chosen, np.concatenate([one.chosen, one.chosen]))
    assert len(set(both.position.tolist())) == len(both)
    again = both.repeats >= 0
    names = ("session", "block", "benchmark", "variant")
    first = {int(p): k for k, p in enumerate(both.position.tolist())}
    for k in np.flatnonzero(again).tolist():
        of = first[int(both.repeats[k])]
        assert [getattr(both, name)[k] for name in names] == [
            getattr(both, name)[of] for name in names
        ]
