"""Trials of any kind put together or read as a fleet: each run is the one that its own trial holds.

Authority: the same trials, read and judged one by one.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import tempfile
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from analysis.data.columns import judged_rows
from analysis.data.fleet import joined_trial, merge_hosts, named_trials, open_fleet
from analysis.data.merging import merge_trials
from analysis.data.trial import Trial, read_trial
from analysis.errors import AnalysisError, InsufficientDataError
from analysis.importers.export import TARGETS, exported_trial
from analysis.record.run_numbers import Measurement, judged_row
from analysis.record.trial_files import GivenUp
from tests.examples import examples

METRICS = {"ops": {"unit": "1/s", "better": "higher"}}
CAMPAIGN = {"name": "synthetic", "seed": 1}


class Kind(NamedTuple):
    """What a campaign's trials have in common, and how often something happens to their runs."""

    variants: str
    warmup: int
    runs: int
    failed: float
    disturbed: float
    every: int | None
    repeating: bool


class Night(NamedTuple):
    """One trial: what it drew, how many sessions it has, and after which part of them it was broken off."""

    seed: int
    sessions: int
    kept: float
    resumed: bool
    gives_up: bool


PLAIN = Night(seed=0, sessions=1, kept=1.0, resumed=False, gives_up=False)
KINDS = st.builds(
    Kind,
    variants=st.sampled_from(["ab", "abc"]),
    warmup=st.sampled_from([0, 1, 2]),
    runs=st.sampled_from([1, 2, 4]),
    failed=st.sampled_from([0.0, 0.1, 0.4]),
    disturbed=st.sampled_from([0.0, 0.3]),
    every=st.sampled_from([None, 2]),
    repeating=st.booleans(),
)


def nights(least: float) -> st.SearchStrategy[Night]:
    return st.builds(
        Night,
        seed=st.integers(0, 2**32),
        sessions=st.sampled_from([1, 2, 3]),
        kept=st.just(1.0) | st.floats(least, 1.0),
        resumed=st.booleans(),
        gives_up=st.booleans(),
    )


def rows_of(made: Any, kind: Kind, night: Night, draws: random.Random) -> Iterator[Measurement]:
    """Let something happen to the runs of a plan, and repeat the disturbed ones behind each block."""
    lower = itertools.count(-1, -1)
    for _, block in itertools.groupby(made.rows, key=lambda row: (row.session, row.block)):
        again: list[Measurement] = []
        for row in block:
            known = happened(row, kind, draws)
            yield known
            if night.resumed and row.warmup and draws.random() < 0.2:
                yield dataclasses.replace(happened(row, kind, draws), position=next(lower))
            if known.disturbed and known.outcome == "ok" and not row.warmup and kind.repeating:
                again.append(known)
        for row in again:
            for _ in range(draws.choice([1, 2])):
                more = happened(row, kind, draws)
                yield dataclasses.replace(more, position=next(lower), repeats=row.position)


def happened(row: Measurement, kind: Kind, draws: random.Random) -> Measurement:
    wall = int(row.wall_ns * (1 + draws.random()))
    counted = None if kind.every is None else row.block % kind.every == 1
    values = tuple(1 + draws.random() for _ in range(draws.choice([0, 1, 3])))
    changes: dict[str, Any] = {"wall_ns": wall, "metrics": {"ops": values}, "counted": counted}
    changes["disturbed"] = draws.random() < kind.disturbed
    if draws.random() < kind.failed:
        changes |= {"outcome": "exit", "exit_code": draws.randint(1, 99)}
    return dataclasses.replace(row, **changes)


def written(synthetic: Any, place: Path, kind: Kind, night: Night, number: int, host: str) -> Path:
    draws = random.Random(night.seed)
    blocks = kind.runs * night.sessions
    times = {v: {bench: [0.01] * blocks for bench in "xy"} for v in kind.variants}
    made = synthetic(
        times,
        sessions=night.sessions,
        warmup=kind.warmup,
        trial=f"t{number}",
        host=host,
        host_id=f"id of {host}",
        cpu_model="M",
        schema=2 if kind.repeating else 1,
        metrics=METRICS,
        started=f"2026-11-21T0{number}:00:00Z",
    )
    made.rows = list(rows_of(made, kind, night, draws))
    if night.gives_up:
        give_up(made, kind, night, draws)
    if night.kept < 1:
        made.rows = made.rows[: int(night.kept * len(made.rows))]
        made.manifest = dataclasses.replace(made.manifest, status="interrupted", reason="TERM")
    made.record({"host": {"name": host}}, CAMPAIGN)
    made.extra["findings.jsonl"] = b""
    return made.write(place)


def give_up(made: Any, kind: Kind, night: Night, draws: random.Random) -> None:
    """Leave out the rest of a session's runs of one cell."""
    session, variant = draws.randint(1, night.sessions), draws.choice(kind.variants)
    runs = draws.randint(1, kind.runs)
    mine = [
        row
        for row in made.rows
        if (row.session, row.variant, row.benchmark) == (session, variant, "x") and not row.warmup
    ]
    left = {id(row) for row in mine if row.block > runs}
    made.rows = [row for row in made.rows if id(row) not in left]
    last = [row for row in mine if id(row) not in left][-1]
    one = GivenUp(
        benchmark="x",
        variant=variant,
        session=session,
        position=last.position,
        runs=runs,
        why="2 runs in a row failed",
    )
    made.manifest = dataclasses.replace(made.manifest, given_up=(one,))


def judged(trial: Trial, variant: str, metric: str) -> dict[str, list[tuple[Any, ...]]]:
    """Give the value, the session and the iterations of each run that is judged, by benchmark."""
    try:
        matrix = trial.matrix(variant, metric)
    except InsufficientDataError:
        return {}
    found = {}
    for k, bench in enumerate(matrix.benchmarks):
        values, sessions = matrix.samples[k].tolist(), matrix.sessions[k].tolist()
        below: list[tuple[float, ...]] = [() for _ in values]
        if matrix.iterations is not None:
            for value, run in zip(matrix.iterations[k], matrix.run_of[k], strict=True):
                below[run] += (float(value),)
        told = [several or (value,) for value, several in zip(values, below, strict=True)]
        found[bench] = list(zip(values, sessions, told, strict=True))
        blocks = set(zip(sessions, matrix.blocks[k].tolist(), strict=True))
        assert len({block for _, block in blocks}) == len(blocks)
    return found


def failed(trial: Trial, variant: str) -> int:
    mine = trial.variant == trial.manifest.variants.index(variant)
    return int((trial.candidates & mine & (trial.outcome != 0)).sum())


def agrees(whole: Trial, parts: list[Trial], *, by_host: bool = False) -> None:
    """Hold what is judged of a whole against what is judged of its parts, run by run."""
    for variant, metric in itertools.product(whole.manifest.variants, ("wall", "ops")):
        expected: dict[str, list[tuple[Any, ...]]] = {}
        offset = 0
        for number, part in enumerate(parts, 1):
            for bench, runs in judged(part, variant, metric).items():
                expected.setdefault(bench, []).extend(
                    (value, number if by_host else session + offset, below)
                    for value, session, below in runs
                )
            offset += part.manifest.sessions
        assert judged(whole, variant, metric) == expected
        assert failed(whole, variant) == sum(failed(part, variant) for part in parts)


def exported(trial: Trial) -> list[Any]:
    try:
        leaving = exported_trial(trial)
    except AnalysisError:
        return []
    return [
        (s.variant, s.benchmark, r.session, r.block, r.ok, r.warmup, r.exit_code, dict(r.values))
        for s in leaving.samples
        for r in s.runs
    ]


def export_agrees(whole: Trial, parts: list[Trial]) -> None:
    """An export of the whole is that of the parts, one behind the other."""
    own = [exported(part) for part in parts]
    if not all(own):
        return  # a part without a value of every cell is refused by itself
    expected: list[Any] = []
    offset = 0
    for part, runs in zip(parts, own, strict=True):
        expected += [(v, b, s + offset, *rest) for v, b, s, *rest in runs]
        offset += part.manifest.sessions
    assert sorted(exported(whole), key=itemgetter(0, 1)) == sorted(expected, key=itemgetter(0, 1))


def fates(trial: Trial) -> list[Any]:
    """Give failed runs as a reader finds them by their positions."""
    row_of = {position: row for row, position in enumerate(trial.position.tolist())}
    assert len(row_of) == len(trial)
    return [
        (
            one.benchmark,
            one.variant,
            one.exit_code,
            trial.numbers["wall_ns"][row_of[one.position]],
            one.warmup,
        )
        for one in trial.failed
    ]


QUICK = settings(
    max_examples=examples(6),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[], Path]:
    return lambda: Path(tempfile.mkdtemp(dir=tmp_path))


def rows(trial: Path, name: str = "measurements.jsonl") -> list[Any]:
    return [json.loads(line) for line in (trial / name).read_text().splitlines()]


@QUICK
@given(
    kind=KINDS,
    several=st.lists(nights(1.0), min_size=2, max_size=4),
    order=st.randoms(use_true_random=False),
    cut=st.integers(2, 3),
)
# The second trial repeated a warm-up: it has no place in the plan.
@example(
    kind=Kind("ab", 1, 1, 0.0, 0.0, None, repeating=False),
    several=[PLAIN, PLAIN._replace(resumed=True)],
    order=random.Random(0),
    cut=2,
)
def test_sessions_that_are_put_together_are_those_of_the_trials(
    synthetic, folder, kind, several, order, cut
):
    root = folder()
    paths = [
        written(synthetic, root / f"n{k}", kind, night._replace(kept=1.0), k, "lab")
        for k, night in enumerate(several)
    ]
    parts = [read_trial(path) for path in paths]
    mixed = list(paths)
    order.shuffle(mixed)
    merge_trials(mixed, root / "all")
    whole = read_trial(root / "all")
    agrees(whole, parts)
    export_agrees(whole, parts)
    assert fates(whole) == [one for part in parts for one in fates(part)]
    if len(paths) > 2:
        cut = min(cut, len(paths) - 1)
        merge_trials(paths[:cut], root / "some")
        merge_trials([*paths[cut:], root / "some"], root / "steps")
        merge_trials(paths[cut - 1 :], root / "late")
        merge_trials([root / "late", *paths[: cut - 1]], root / "back")
        for name in ("steps", "back"):
            assert rows(root / name) == rows(root / "all")
            assert rows(root / name, "plan.jsonl") == rows(root / "all", "plan.jsonl")
            mine, theirs = (read_trial(root / one).manifest.to_dict() for one in (name, "all"))
            for one in (mine, theirs):
                del one["trial"], one["files"]
                one["appended"] = [(a["first"], a["last"]) for a in one["appended"]]
            assert mine == theirs


@QUICK
@given(kind=KINDS, several=st.lists(nights(0.0), min_size=1, max_size=4))
# Both hosts repeated runs, and some of these failed.
@example(
    kind=Kind("ab", 1, 4, 0.4, 0.3, None, repeating=True),
    several=[PLAIN._replace(sessions=3), PLAIN._replace(seed=1, sessions=3)],
)
def test_a_fleet_holds_the_runs_of_its_hosts(synthetic, folder, kind, several):
    root = folder()
    paths = [
        written(synthetic, root / f"n{k}", kind, night, k, f"lab{k}")
        for k, night in enumerate(several)
    ]
    merge_hosts(named_trials(paths), root / "fleet")
    trials = [read_trial(path) for path in paths]
    parts = [trial for trial in trials if trial.measured.any()]
    if not parts:
        with pytest.raises(InsufficientDataError):
            joined_trial(open_fleet(root / "fleet"))
        return
    whole = joined_trial(open_fleet(root / "fleet"), by="session")
    agrees(whole, parts)
    export_agrees(whole, parts)
    assert fates(whole) == [one for part in parts for one in fates(part)]
    if len(parts) > 1:
        agrees(joined_trial(open_fleet(root / "fleet")), parts, by_host=True)


# --- Which row of a repeated run is judged, and what readers see of it
#
# The authority is the rule as docs/trial-format.md has it, applied here run by run and by hand; the
# golden trial of schema 2 was measured on a busy machine.


SCHEMAS = Path(__file__).resolve().parents[3] / "golden" / "schemas"
REPEATS = SCHEMAS / "2" / "trial"
PLANNED_PLAIN = SCHEMAS / "1" / "trial"


def planned_rows_of(trial=REPEATS):
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
def test_each_run_has_one_judged_row_wherever_its_rows_stand(runs, draws):
    rows = [(place, k) for place, flags in enumerate(runs) for k in range(1, len(flags))]
    draws.shuffle(rows)
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
    trial, rows = read_trial(REPEATS), planned_rows_of()
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
    rows = planned_rows_of()
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
    trial, rows = read_trial(REPEATS), planned_rows_of()
    for k, row in enumerate(rows):
        waited = row["run_delay_ns"] + row["launcher_delay_ns"] - row["launcher_on_cpu_ns"]
        assert trial.waited_ns[k] == waited
        assert row["disturbed"] == (waited > max(0.005 * row["wall_ns"], 50_000))
    assert (trial.waited_ns < 0).any()  # and is not clipped


def test_an_earlier_trial_reads_as_before():
    trial = read_trial(PLANNED_PLAIN)
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
            plain = target.write(exported_trial(read_trial(PLANNED_PLAIN)))
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
