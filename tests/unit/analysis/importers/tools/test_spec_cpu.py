"""SPEC CPU: values by hand from three real runs; keys of raw files as runspec and runcpu write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.registry import read_foreign

DATASETS = Path(__file__).resolve().parents[6] / "shared" / "datasets" / "spec_cpu2017_three_runs"


def read(name: str):
    if not (DATASETS / name).exists():
        pytest.skip("the sample files of other tools are not beside this project")
    return read_foreign(open_foreign(str(DATASETS / name)))


def test_a_rate_report_value_by_value() -> None:
    file = read("cint2017-rates.csv")
    assert len(file.cells) == 20  # ten benchmarks, time and rate
    first, second = file.cells[:2]
    assert first.benchmark == "500.perlbench_r"
    assert first.processes == ((998.344268,), (996.814365,), (996.673647,))
    assert (first.variant, first.metric, first.unit, first.better) == ("base", "time", "s", "lower")
    assert (first.known, first.inner, first.warmups, first.failed) == (True, 1, 0, 0)
    assert second.values == (306.17088, 306.640896, 306.684096)
    assert (second.metric, second.unit, second.better) == ("rate", "score", "higher")
    last = file.cells[-2]
    assert (last.benchmark, last.values) == ("557.xz_r", (829.195383, 830.52499, 828.280642))
    assert file.facts == {"cpu_model": "Intel Xeon E7-8890 v4"}
    assert file.variant_rule == "the tuning (base or peak)"
    assert not file.notes


def test_a_speed_report_has_base_and_peak() -> None:
    file = read("cint2017-speed.csv")
    assert len(file.cells) == 40
    assert {(c.variant, c.metric) for c in file.cells} == {
        (tuning, metric) for tuning in ("base", "peak") for metric in ("time", "ratio")
    }
    assert all(len(c.values) == 3 for c in file.cells)
    peak = next(c for c in file.cells if c.variant == "peak")
    assert (peak.benchmark, peak.values[0], peak.values[2]) == (
        "600.perlbench_s", 298.235039, 295.221534,
    )  # fmt: skip


def csv_of(*rows: str, est: str = "", valid: str = "1") -> str:
    head = ",".join(
        f'"{est}{t} {c}"' for t in ("Base", "Peak") for c in ("Run Time", "Ratio", "Status")
    )
    table = "\n".join((f"Benchmark,{head},Description", *rows))
    return (
        f'valid,{valid}\n\n"SPEC CPU2006 Integer Result"\n\n"Full Results Table"\n\n{table}\n\n'
        f'"Selected Results Table"\n\n{table}\n'
    )


def test_failed_runs_are_counted_and_what_was_not_run_is_nothing(foreign) -> None:
    file = foreign(
        csv_of(
            '401.bzip2,10.5,2.0,S,,,NR,"ref iteration #1"',
            '401.bzip2,,,RE,,,NR,"ref iteration #2"',
            '401.bzip2,11.5,1.9,VE,,,NR,"ref iteration #3"',
            '403.gcc,,,CE,,,NR,"ref iteration #1"',
        ),
        "r.csv",
    )
    assert [(c.benchmark, c.variant, c.metric, c.values, c.failed) for c in file.cells] == [
        ("401.bzip2", "base", "time", (10.5,), 2),
        ("401.bzip2", "base", "ratio", (2.0,), 2),
        ("403.gcc", "base", "time", (), 1),
    ]


def test_invalid_and_estimated_results_are_read_and_told(foreign) -> None:
    text = csv_of("401.bzip2,10.5,2.0,S,,,NR,x", est="Est. ", valid="0")
    file = foreign(text, "r.csv")
    assert file.cells[0].values == (10.5,)
    assert [note.code for note in file.notes] == ["invalid-result", "estimated-result"]


def raw(version: str, bench: str, k: int, **more: str) -> str:
    return "".join(
        f"spec.{version}.results.{bench}.base.{k:03d}.{n}: {v}\n" for n, v in more.items()
    )


@pytest.mark.parametrize(
    ("version", "bench", "name"),
    [
        ("cpu2006", "462_libquantum", "462.libquantum"),
        ("cpu2017", "500_perlbench_r", "500.perlbench_r"),
    ],
)
def test_raw_files(foreign, version, bench, name) -> None:
    text = f"spec.{version}.hw_cpu_name: C 1\n" + "".join(
        (
            raw(version, bench, 1, reported_time="503.5", ratio="41.1", valid="S"),
            raw(
                version, bench, 0, reported_time="502.749075", ratio="41.2", valid="S", selected="1"
            ),
            raw(version, bench, 2, reported_time="--", valid="RE"),
            raw(version, bench, 3, reported_sec="504", reported_nsec="25", valid="S"),
        )
    )
    file = foreign(text, "r.rsf")
    assert [(c.benchmark, c.metric, c.values, c.failed) for c in file.cells] == [
        (name, "time", (502.749075, 503.5, 504.000000025), 1),
        (name, "ratio", (41.2, 41.1), 1),
    ]
    assert file.facts == {"cpu_model": "C 1"}


@pytest.mark.parametrize(
    ("text", "said", "at"),
    [
        (csv_of("401.bzip2,10.5"), "cut off", "r.x:8"),
        (csv_of("401.bzip2,nan,2.0,S,,,NR,x"), "not a finite number", "r.x:8"),
        (csv_of("401.bzip2,-3,2.0,S,,,NR,x"), "negative", "r.x:8"),
        (csv_of("401.bzip2,abc,2.0,S,,,NR,x"), "no number", "r.x:8"),
        (csv_of(), "no run", "r.x"),
        (raw("cpu2006", "1_a", 0, reported_time="-5", valid="S"), "negative", "1_a.base.000"),
    ],
)
def test_damage_is_an_error_with_its_place(foreign, text, said, at) -> None:
    with pytest.raises(AnalysisError, match=said) as told:
        foreign(text, "r.x")
    assert at in str(told.value)


def test_runs_keep_their_numbers(foreign) -> None:
    """The second run has no ratio, and the first one failed."""
    rows = ("401.bzip2,,,RE,,,NR,x", "401.bzip2,10.5,,S,,,NR,x", "401.bzip2,11.5,1.9,S,,,NR,x")
    time, ratio = foreign(csv_of(*rows), "r.csv").cells
    assert (time.labels, ratio.labels) == (("2", "3"), ("3",))
    raw = "spec.cpu2017.results.{}.base.{:03d}.{}: {}\n"
    text = "".join(
        raw.format("500_a_r", k, key, value)
        for k, key, value in (
            (0, "reported_time", "5"), (0, "valid", "1"), (1, "reported_time", "6"),
            (1, "valid", "1"), (1, "ratio", "2.5"),
        )
    )  # fmt: skip
    assert [c.labels for c in foreign(text, "r.rsf").cells] == [("0", "1"), ("1",)]
