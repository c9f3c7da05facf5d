"""Values of runs: in the row up to 1,000 of them, else exactly in a file that is there before the row."""

from __future__ import annotations

import dataclasses
import errno
import json
import os

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.record.shapes import StoredSamples, read_samples
from harness.campaign.model import Bound, Command, Expect, MetricRule

SHARES = (0.5, 0.99, 0.999)


def values_of(request) -> list[float]:
    count = int(request.argv[-1])
    return np.random.default_rng(count).lognormal(0, 1, count).tolist()


@pytest.fixture
def printing(stage, campaign, make_cell, isolation):
    """Make a campaign whose programs print so many values of `t`, a line each."""

    def make(*counts: int, kept: int = 10**9, bounds=(), **protocol):
        def target(request):
            request.stdout.write_text("".join(f"t {value!r}\n" for value in values_of(request)))

        stage.target = target
        rule = MetricRule(name="t", regex="^t (.*)$", unit="ms", better="lower", quantiles=SHARES)
        cells = tuple(
            make_cell(
                f"n{count}",
                variant,
                command=Command(argv=("true", str(count)), mark="campaign.yaml:1:1"),
                metrics=(rule,),
                expect=Expect(bounds=bounds),
            )
            for count in counts
            for variant in ("a", "b")
        )
        made = campaign(tuple(f"n{count}" for count in counts), cells=cells, **protocol)
        return dataclasses.replace(
            made, isolation=dataclasses.replace(made.isolation, kept_outputs_bytes=kept)
        )

    return make


def samples_of(stage) -> set[str]:
    folder = stage.trial / "samples"
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def test_many_values_go_into_a_file_and_few_into_the_row(stage, printing):
    stage.start(printing(1000, 1001))
    assert {path.split("-")[1] for path in samples_of(stage)} == {"t.f64.gz"}
    for row in stage.rows:
        count = int(row["benchmark"][1:])
        values = np.random.default_rng(count).lognormal(0, 1, count)
        quantiles = {
            f"t.p{q * 100:g}": [np.quantile(values, q, method="inverted_cdf")] for q in SHARES
        }
        if count == 1000:
            assert row["metrics"] == {"t": values.tolist(), **quantiles}
            assert "samples" not in row
            continue
        about = row["samples"]["t"]
        assert row["metrics"]["t"] == [pytest.approx(values.mean(), rel=1e-12)]
        assert {name: row["metrics"][name] for name in quantiles} == quantiles
        path = stage.trial / "samples" / f"{row['position']:04d}-t.f64.gz"
        stored = read_samples(path, StoredSamples(**about))
        assert np.frombuffer(stored, "<f8").tolist() == values.tolist()
    files = stage.manifest["files"]
    assert {f"samples/{name}" for name in samples_of(stage)} < files.keys()
    assert stage.manifest["metrics"]["t.p99.9"] == {
        "unit": "ms", "better": "lower", "source": "quantiles", "of": "t", "quantile": "0.999"}  # fmt: skip
    assert not stage.findings("quantiles")


def test_a_quantile_of_too_few_values_is_unknown_and_said_once(stage, printing):
    stage.start(printing(99, runs=3))
    for row in stage.rows:
        assert (row["metrics"]["t.p99"], row["metrics"]["t.p99.9"]) == ([], [])
        assert len(row["metrics"]["t.p50"]) == 1
    told = [found["what"] for found in stage.findings("quantiles")]
    assert len(told) == 4  # of two cells and two quantiles
    assert "n99 / a: t.p99 is unknown in 4 runs: it needs 100 values, and a run had 99" in told
    trial = read_trial(stage.trial)
    assert np.isnan(trial.values("t.p99")).all()
    assert "t.p99" not in trial.manifest.declared


def test_a_bound_on_an_unknown_quantile_is_not_kept_to(stage, printing):
    bound = (Bound(metric="t.p99", at_most=1e9),)
    stage.start(printing(99, 100, bounds=bound, never_ok="go_on"))
    outcomes = {(row["benchmark"], row["outcome"], row["detail"]) for row in stage.rows}
    assert outcomes == {
        ("n100", "ok", None),
        ("n99", "output-mismatch", "t.p99 is unknown, as the run has too few values"),
    }


def test_what_no_longer_fits_leaves_mean_and_quantiles(stage, printing):
    stage.start(printing(1500, kept=25_000))
    with_file = [row for row in stage.rows if row["samples"]["t"]["sha256"]]
    assert 0 < len(with_file) == len(samples_of(stage)) < len(stage.rows)
    assert {row["samples"]["t"]["count"] for row in stage.rows} == {1500}
    assert all(len(row["metrics"]["t.p99"]) == 1 for row in stage.rows)
    (told,) = stage.findings("kept-samples")
    lost = len(stage.rows) - len(with_file)
    assert told["what"].startswith(f"the values of {lost} runs")
    assert sum(path.stat().st_size for path in (stage.trial / "samples").iterdir()) <= 25_000
    assert (read_trial(stage.trial).values("t.p50") > 0).all()


def test_a_kill_between_file_and_row_is_mended_by_resuming(stage, printing):
    made = printing(1200)
    stage.start(made)
    whole, lines = samples_of(stage), (stage.trial / "measurements.jsonl").read_bytes()
    # as it lies there when the machine dies before the last row: its file is whole, or under way
    (stage.trial / "measurements.jsonl").write_bytes(lines[: lines[:-1].rindex(b"\n") + 1])
    manifest = stage.manifest | {"status": "running", "files": {}, "finished": None}
    (stage.trial / "manifest.json").write_text(json.dumps(manifest))
    (stage.trial / "samples" / "current.f64.gz").write_bytes(b"half")
    (stage.trial / "samples" / "0099-t.f64.gz").write_bytes(b"of a run without a row")
    assert len(read_trial(stage.trial)) == len(whole) - 1  # readable as it is
    stage.resume(made)
    again = {f"w{-row['position']}-t.f64.gz" for row in stage.rows if row["position"] < 0}
    assert samples_of(stage) == whole | again
    for row in stage.rows:
        label = f"{row['position']:04d}" if row["position"] >= 0 else f"w{-row['position']}"
        read_samples(
            stage.trial / "samples" / f"{label}-t.f64.gz", StoredSamples(**row["samples"]["t"])
        )


def test_the_file_is_there_before_the_row(stage, printing, monkeypatch):
    seen = []

    def looked(store, measurement):
        seen.append(samples_of(stage) >= {f"{measurement.position:04d}-t.f64.gz"})

    monkeypatch.setattr("harness.trial.writer.Store.append_measurement", looked)
    stage.start(printing(1200))
    assert seen
    assert all(seen)


def test_nothing_is_written_through_a_link(stage, printing, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    made = printing(1200)
    usual = stage.target

    def link(request):
        usual(request)
        if not (stage.trial / "samples").is_symlink():
            (stage.trial / "samples").symlink_to(tmp_path / "elsewhere")

    stage.target = link
    with pytest.raises(StoreError, match="symbolic link"):
        stage.start(made)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_full_disk_ends_the_trial_without_half_a_file_and_resuming_mends_it(
    stage, printing, monkeypatch
):
    made = printing(1200)
    usual, calls = os.write, iter(range(10**6))

    def full(fd, data):
        if len(data) > 1000 and next(calls) == 2 and bytes(data[:2]) == b"\x1f\x8b":
            usual(fd, data[:500])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return usual(fd, data)

    monkeypatch.setattr("harness.trial.run_files.os.write", full)
    with pytest.raises(StoreError, match="No space left") as caught:
        stage.start(made)
    assert "--resume" in caught.value.fix
    assert "current.f64.gz" not in samples_of(stage)
    assert stage.manifest["status"] == "stopped"
    stage.resume(made)
    assert stage.manifest["status"] == "complete"
    assert len(samples_of(stage)) == len(stage.rows)


def test_a_file_that_a_program_removed_is_told(stage, printing):
    made = printing(1200)
    usual = stage.target

    def remove(request):
        usual(request)
        for path in stage.trial.glob("samples/0000-*"):
            path.unlink()

    stage.target = remove
    stage.start(made)
    told = [one.text for one in read_trial(stage.trial).cautions if one.code == "samples-gone"]
    assert told == ["samples/0000-t.f64.gz is gone, though its row tells of it"]
