"""SPEC CPU: reports as three real runs wrote them; keys of raw files as runspec and runcpu write them."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError


def csv_of(*rows: str, est: str = "", valid: str = "1") -> str:
    head = ",".join(
        f'"{est}{t} {c}"' for t in ("Base", "Peak") for c in ("Run Time", "Ratio", "Status")
    )
    table = "\n".join((f"Benchmark,{head},Description", *rows))
    return (
        f'valid,{valid}\n\n"SPEC CPU2006 Integer Result"\n\n"Full Results Table"\n\n{table}\n\n'
        f'"Selected Results Table"\n\n{table}\n'
    )


def test_a_rate_report_of_base_alone(foreign) -> None:
    text = csv_of(
        '500.perlbench_r,998.5,306.25,S,,,,"refrate(ref) iteration #1"',
        '500.perlbench_r,996.75,306.5,S,,,,"refrate(ref) iteration #2"',
        '502.gcc_r,1136.5,239.25,S,,,,"refrate(ref) iteration #1"',
    )
    file = foreign(text.replace("Ratio", "Rate") + '\n"HARDWARE"\n"CPU Name","C 1"\n', "r.csv")
    time, rate, gcc, _ = file.cells
    assert (time.benchmark, time.processes) == ("500.perlbench_r", ((998.5,), (996.75,)))
    assert (time.variant, time.metric, time.unit, time.better) == ("base", "time", "s", "lower")
    assert (time.known, time.warmups, time.failed) == (True, 0, 0)
    assert (rate.metric, rate.unit, rate.better) == ("rate", "score", "higher")
    assert (rate.values, gcc.values) == ((306.25, 306.5), (1136.5,))
    assert file.facts == {"cpu_model": "C 1"}
    assert file.variant_rule == "the tuning (base or peak)"
    assert not file.notes


def test_a_speed_report_has_base_and_peak(foreign) -> None:
    rows = (f"600.perlbench_s,{k}.5,5.25,S,{k}.25,6.5,S,x" for k in (364, 362))
    assert {
        (c.variant, c.metric): c.values for c in foreign(csv_of(*rows), "r.csv").cells
    } == {
        ("base", "time"): (364.5, 362.5), ("base", "ratio"): (5.25, 5.25),
        ("peak", "time"): (364.25, 362.25), ("peak", "ratio"): (6.5, 6.5),
    }  # fmt: skip


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
        (csv_of("401.bzip2,10,5,2.0,S,,,NR,x"), "commas in its numbers", "r.x:8"),
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
