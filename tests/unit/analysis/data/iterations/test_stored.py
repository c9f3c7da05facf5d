"""Values in files of ``samples/`` are judged as if they stood in their rows, and read only where somebody asks for them.

Authority: the same trial with all values in its rows, as an earlier version would have written it.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data import runs as stored_module
from analysis.data.iterations import judged_counts, judged_values, printed_counts, values_of_run
from analysis.data.merging import merge_trials
from analysis.data.runs import stored_together
from analysis.data.trial import read_trial
from analysis.errors import AnalysisError, StoreError
from analysis.history.night_values import trial_values
from analysis.importers.export import exported_trial
from analysis.importers.reader import Reading
from analysis.record.manifest import about_quantile, judging_with, quantile_metric, quantile_of
from analysis.record.shapes import StoredSamples, packed, sample_file
from analysis.verdict.comparison import compare_trials
from analysis.verdict.judging import judge_sources

MANY = 1100
SHARES = (0.5, 0.99)
TIMES = {"a": {"x": [1.0] * 4, "y": [1.0] * 4}, "b": {"x": [1.0] * 4, "y": [1.0] * 4}}


def printed(position: int) -> list[float]:
    """Give what a run prints: its first 40 values are slow; every third run has few."""
    rng = np.random.default_rng(position)
    values = rng.lognormal(position / 50, 0.1, 90 if position % 3 == 0 else MANY)
    values[:40] *= 5
    return values.tolist()


@pytest.fixture
def made(tmp_path, synthetic) -> Callable[..., Path]:
    """Write a trial of such runs, with all values in its rows or, where they are many, in files."""

    def make(name: str = "files", *, files: bool = True, kept: bool = True, **manifest) -> Path:
        about = {"unit": "ms", "better": "lower"}
        metrics = {"t": about} | {
            quantile_metric("t", q): about_quantile("ms", "lower", "t", q) for q in SHARES
        }
        trial = synthetic(TIMES, sessions=2, metrics=metrics, trial=name, **manifest)
        for k, row in enumerate(trial.rows):
            values = printed(row.position)
            few = {quantile_metric("t", q): quantile_of(sorted(values), q) for q in SHARES}
            told = {one: () if value is None else (value,) for one, value in few.items()}
            samples: dict[str, StoredSamples] = {}
            if files and len(values) > 1000:
                data, samples["t"] = packed(values)
                if kept:
                    trial.extra[sample_file(row.position, "t", warmup=row.warmup)] = data
                else:
                    samples["t"] = replace(samples["t"], sha256=None)
                first = values[0]
                values = [first + sum(value - first for value in values) / len(values)]
            trial.rows[k] = replace(row, metrics={"t": tuple(values), **told}, samples=samples)
        trial.extra["outputs/0003.stdout"] = b"said"
        return trial.write(tmp_path / name)

    return make


def judged(path: Path, metric: str, setting=None) -> np.ndarray:
    with judging_with(setting):
        return read_trial(path).values(metric)


def close(found: np.ndarray, wanted: np.ndarray) -> bool:
    return np.allclose(found, wanted, rtol=1e-12, atol=0, equal_nan=True)


@pytest.fixture
def unread(monkeypatch):
    """Let nobody read a file of samples."""

    def refuse(self):
        raise AssertionError(f"{self.path} was read")

    monkeypatch.setattr(stored_module.StoredRun, "values", refuse)


@pytest.mark.usefixtures("unread")
def test_runs_are_judged_by_what_the_row_says(made):
    files, rows = made(), made("rows", files=False)
    for metric in ("t", "t.p50", "t.p99"):
        assert close(judged(files, metric), judged(rows, metric))
    assert np.isnan(judged(files, "t.p99")[::3]).all()  # of 90 values
    matrix = read_trial(files).matrix("b", "t")
    told = {one.code: one.text for one in matrix.cautions}
    assert "--level iteration pools them" in told["process-means"]
    assert told.keys() == {one.code for one in read_trial(rows).matrix("b", "t").cautions}
    assert judged_counts(read_trial(files), "t").tolist() == [
        len(printed(k)) for k in range(len(read_trial(files)))
    ]


def test_warm_up_is_left_out_of_files_as_of_rows(made):
    files, rows = made(), made("rows", files=False)
    for setting in (1, 60, 100, 2000, "auto"):
        left_out_alike(files, rows, setting)


def left_out_alike(files, rows, setting):
    with judging_with(setting):
        one, other = read_trial(files), read_trial(rows)
        for metric in ("t", "t.p99"):
            assert close(one.values(metric), other.values(metric)), metric
        for metric in ("t", "t.p99"):
            assert (
                one.judged_iterations(metric).left_out.tolist()
                == other.judged_iterations(metric).left_out.tolist()
            )
        assert judged_counts(one, "t").tolist() == judged_counts(other, "t").tolist()
        counts = [len(printed(k)) for k in range(len(one))]
        assert (
            printed_counts(one, "t.p99").tolist() == printed_counts(other, "t").tolist() == counts
        )
        if setting != 2000:  # of which nothing is left
            said = [{c.code for c in x.matrix("b", "t").cautions} for x in (one, other)]
            assert said[0] == said[1]
            assert "no-iterations" not in said[0]


def test_a_quantile_is_that_of_the_judged_iterations(made):
    # independent computation: numpy, on the values that the programs printed
    found = judged(made(), "t.p99", 60)
    wanted = [
        np.quantile(printed(k)[60:], 0.99, method="inverted_cdf") if k % 3 else np.nan
        for k in range(found.size)
    ]
    assert np.array_equal(found, wanted, equal_nan=True)
    assert (found < judged(made(), "t.p99"))[
        np.isfinite(found)
    ].all()  # those of the beginning were slow


def test_iterations_are_pooled_run_by_run(made, monkeypatch):
    files, rows = (
        replace(read_trial(path), level="iteration") for path in (made(), made("rows", files=False))
    )
    one, other = files.matrix("a", "t"), rows.matrix("a", "t")
    assert all(np.array_equal(a, b) for a, b in zip(one.samples, other.samples, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(one.blocks, other.blocks, strict=True))
    assert [one.code for one in one.cautions] == [one.code for one in other.cautions]
    assert values_of_run(files, "t", 1).tolist() == printed(1)
    assert values_of_run(files, "t", 0).tolist() == printed(0)
    values, place = judged_values(files, "t", np.array([1, 0]))
    assert (values.tolist(), np.bincount(place).tolist()) == (printed(1) + printed(0), [MANY, 90])
    monkeypatch.setattr("analysis.data.iterations.MOST_AT_ONCE", 1000)
    with pytest.raises(AnalysisError, match="more than can be held together"):
        files.matrix("b", "t")


def test_damage_is_a_caution_until_the_values_are_needed(made):
    path = made()
    (path / "samples" / "0001-t.f64.gz").unlink()
    (path / "samples" / "0002-t.f64.gz").write_bytes(packed([1.0] * MANY)[0])
    trial = read_trial(path)
    told = {one.code: one.about for one in trial.cautions}
    assert told["samples-gone"] == ("samples/0001-t.f64.gz",)
    assert told["samples-changed"] == ("samples/0002-t.f64.gz",)
    assert close(trial.values("t"), judged(made("rows", files=False), "t"))
    for row, said in ((1, "is missing"), (2, "not the 1100 values")):
        with pytest.raises(StoreError, match=said):
            values_of_run(trial, "t", row)
    with pytest.raises(StoreError, match="restore the file"):
        judged(path, "t", 5)


def test_what_was_not_kept_has_mean_and_quantiles_alone(made):
    path = made(kept=False)
    assert close(judged(path, "t.p99"), judged(made("rows", files=False), "t.p99"))
    with pytest.raises(StoreError, match="were not kept") as caught:
        judged(path, "t", 5)
    assert "--warmup-iterations 0" in caught.value.fix


@pytest.mark.parametrize(
    "wrong", [[], {"t": {"count": 0}}, {"t": {"count": "x"}}, {"u": {"count": 1}}]
)
def test_a_row_that_says_nonsense_of_samples_is_damage(made, wrong, synthetic, monkeypatch):
    from analysis.record.run_numbers import Measurement

    usual = Measurement.to_dict
    monkeypatch.setattr(Measurement, "to_dict", lambda row: usual(row) | {"samples": wrong})
    with pytest.raises(StoreError, match="not one of schema"):
        read_trial(made("wrong", files=False))


def test_merged_trials_have_the_files_of_all_under_their_new_positions(made, tmp_path):
    environment = b'{"session": 1, "segment": 0, "host": {"name": "lab07"}}\n'

    def night(name: str, day: int) -> Path:
        path = made(name, started=f"2026-11-2{day}T04:12:00Z")
        (path / "environment.jsonl").write_bytes(environment)
        (path / "findings.jsonl").touch()
        return path

    parts = [night("one", 1), night("two", 2)]
    merge_trials(parts, tmp_path / "all")
    whole = read_trial(tmp_path / "all")
    assert not {one.code for one in whole.cautions} & {"samples-gone", "samples-changed"}
    for place, path in enumerate(parts):
        trial = read_trial(path)
        for row in range(len(trial)):
            behind = row + place * len(trial)
            assert (
                values_of_run(whole, "t", behind).tolist()
                == values_of_run(trial, "t", row).tolist()
            )
    assert len(list((tmp_path / "all" / "samples").iterdir())) == 2 * len(
        list((parts[0] / "samples").iterdir())
    )


@pytest.mark.usefixtures("unread")
def test_an_export_holds_means_and_says_so(made):
    exported = exported_trial(read_trial(made()))
    lost = {one.code: one.text for one in exported.beyond}
    assert "single values of 10 runs, which stand in samples/" in lost["single-values-lost"]


def test_hosts_of_a_fleet_read_their_own_files(made):
    one, two = (read_trial(made(name, host=name, host_id=name)) for name in ("one", "two"))
    both = stored_together([one, two])["t"]
    assert len(both) == 2 * len(one.stored["t"])
    behind = len(one) + 1
    assert both[behind].path.parent.parent == two.path
    assert both[behind].values().tolist() == printed(1)


def test_trials_beside_each_other_give_quantiles_of_one_kind(made):
    every, means = made("every"), made("means", kept=False)
    how = Reading(metric="t.p99")
    found = judge_sources(f"{means}:b", f"{every}:b", how).verdict
    assert [line.speedup for line in found.candidates[0].multilevel.benchmarks] == [1, 1]
    assert (found.quantile.level, found.quantile.why) == ("run", "not-kept")
    levels = compare_trials(read_trial(every), read_trial(means), metric="t.p99").levels
    assert levels
    assert {one.ratio for one in levels} == {1}
    first, second = (made(name) for name in ("one", "two"))  # negative control
    assert judge_sources(f"{second}:b", f"{first}:b", how).verdict.quantile.level == "session"


def test_nights_have_quantiles_of_one_kind_whatever_was_kept_of_them(made):
    one, other = (
        trial_values(path, "t.p99").values["b"] for path in (made("a"), made("b", kept=False))
    )
    assert [(cell.own, cell.log) for cell in one] == [(cell.own, cell.log) for cell in other]
