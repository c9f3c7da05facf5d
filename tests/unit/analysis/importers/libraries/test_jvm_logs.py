"""Logs of JMH and Renaissance. Authority: lines as both tools print them (JMH 1.21 to 1.37, Renaissance 0.10 to 0.15)."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError

HEAD = """# JMH version: 1.37
# VM version: JDK 17.0.2, OpenJDK 64-Bit Server VM, 17.0.2+8
# VM options: -Xmx1g
# Warmup: 2 iterations, 1 s each
# Measurement: 2 iterations, 1 s each
# Timeout: 10 min per iteration
# Threads: 1 thread, will synchronize iterations
# Benchmark mode: {mode}
# Benchmark: p.C.{name}
{parameters}
# Run progress: 0.00% complete, ETA 00:00:20
"""
FORK = """# Fork: {} of {}
# Warmup Iteration   1: 99.000 us/op
# Warmup Iteration   2: 98.000 us/op
Iteration   1: {} us/op
                 ·gc.alloc.rate: 12.000 MB/sec
Iteration   2: {} us/op

"""
END = """
Result "p.C.m":
  2.500 ±(99.9%) 1.000 us/op [Average]

# Run complete. Total time: 00:00:40

Benchmark  (n)  Mode  Cnt  Score   Error  Units
C.m         10  avgt    4  2.500 ± 1.000  us/op
"""


def head(
    mode="Average time, time/op", name="m", parameters="# Parameters: (n = 10, kind = a, b)\n"
):
    return HEAD.format(mode=mode, name=name, parameters=parameters)


LOG = (
    head()
    + FORK.format(1, 2, "1.000", "2.000")
    + FORK.format(2, 2, "3.000", "4.000")
    + END
    + head(name="n", parameters="")
    + FORK.format(1, 1, "5.500", "6.500")
)


@pytest.mark.parametrize("before", ["", "[info] ", "2026-01-02T03:04:05.678Z "])
def test_every_iteration_of_every_fork_of_jmh_is_read(foreign, before) -> None:
    found = foreign("".join(f"{before}{line}\n" for line in LOG.split("\n")), "jmh.log")
    assert found.format == "jmh-log"
    assert [
        (c.benchmark, c.metric, c.unit, c.better, c.processes, c.warmups, c.failed) for c in found.cells
    ] == [
        ("p.C.m n=10 kind=a, b", "time", "s", "lower", ((1e-6, 2e-6), (3e-6, 4e-6)), 4, 0),
        ("p.C.n", "time", "s", "lower", ((5.5e-6, 6.5e-6),), 2, 0),
    ]  # fmt: skip
    assert (found.cells[0].keys["n"], found.cells[0].keys["jmhVersion"]) == ("10", "1.37")
    assert "VM options=-Xmx1g" in found.cells[0].definition
    assert [loss.code for loss in found.losses] == ["means-of-operations", "no-sessions"]


@pytest.mark.parametrize(
    ("mode", "text", "cell"),
    [
        ("Throughput, ops/time", "9.112 ops/ms", ("throughput", "ops/ms", "higher", 9.112)),
        ("Average time, time/op", "9,112 ms/op", ("time", "s", "lower", 9.112e-3)),
        ("Average time, time/op", "9.112 ±(99.9%) 0.123 s/op", ("time", "s", "lower", 9.112)),
        ("Average time, time/op", "(*interrupt*) 9.112 s/op", ("time", "s", "lower", 9.112)),
        (
            "Sampling time",
            "n = 1005, mean = 12 ns/op, p{0.00, 0.50, 1.00} = 1, 12, 90 ns/op",
            ("sample_time", "s", "lower", 12e-9),
        ),
        ("Single shot invocation time", "3.500 ms/op", ("single_shot", "s", "lower", 3.5e-3)),
    ],
)
def test_modes_of_jmh(foreign, mode, text, cell) -> None:
    found = foreign(head(mode) + f"# Fork: 1 of 1\nIteration   1: {text}\n", "jmh.log").cells[0]
    assert (found.metric, found.unit, found.better) == cell[:3]
    assert found.values == pytest.approx((cell[3],), rel=1e-15)


def test_forks_that_fail_warm_up_or_are_none(foreign) -> None:
    failed = "# Fork: 2 of 2\n# Warmup Iteration   1: <failure>\n\njava.lang.Error\n"
    found = foreign(head() + FORK.format(1, 2, "1.000", "2.000") + failed, "jmh.log")
    assert [(len(c.processes), c.failed) for c in found.cells] == [(1, 1)]
    assert [note.code for note in found.notes] == ["forks-missing"]
    warm = "# Warmup Fork: 1 of 1\nIteration   1: 77.000 us/op\n"
    found = foreign(head() + warm + FORK.format(1, 1, "1.000", "2.000"), "jmh.log")
    assert found.cells[0].values == (1e-6, 2e-6)
    host = "# Fork: N/A, test runs in the host VM\nIteration   1: 7.000 us/op\n"
    found = foreign(head() + host, "jmh.log")
    assert (found.cells[0].values, found.cells[0].failed) == ((7e-6,), 0)
    assert "one-process" in {loss.code for loss in found.losses}


@pytest.mark.parametrize("text", ["≈ 10⁻⁴ ms/op", "<failure>"])
def test_a_log_without_digits_is_refused_with_the_option(foreign, text) -> None:
    lines = f"# Fork: 1 of 1\nIteration   1: {text}\n"
    with pytest.raises(AnalysisError, match=r"no iteration in the log has a value(?s:.*)-rf json"):
        foreign(head(parameters="") + lines, "r.log")
    found = foreign(head(parameters="") + lines + LOG, "r.log")
    assert [cell.benchmark for cell in found.cells if cell.values] == [
        "p.C.m n=10 kind=a, b",
        "p.C.n",
    ]
    told = {note.code: note.text for note in found.notes}
    assert text == "<failure>" or "line 13 has no digits, ≈ 10⁻⁴ ms/op" in told["left-out"]


def completed(name: str, k: int, ms: str, about: str = "(functional) [default]") -> str:
    return (
        f"====== {name} {about}, iteration {k} started ======\n"
        "GC before operation: completed in 12.6 ms, heap usage 61.8 MB -> 26.2 MB.\n"
        f"====== {name} {about}, iteration {k} completed ({ms} ms) ======\n"
    )


def test_every_iteration_of_renaissance_is_read(foreign) -> None:
    text = (
        completed("scrabble", 0, "1500.5") + completed("scrabble", 1, "500.25")
        + completed("dotty", 0, "2000", "(scala)") + completed("scrabble", 0, "1250")
        + completed("scrabble", 0, "10", "(functional) [test]")
    )  # fmt: skip
    found = foreign(text, "r.log")
    assert found.format == "renaissance-log"
    assert [(c.benchmark, c.unit, c.better, c.processes) for c in found.cells] == [
        ("scrabble", "s", "lower", ((1.5005, 0.50025), (1.25,))),
        ("dotty", "s", "lower", ((2.0,),)),
        ("scrabble [test]", "s", "lower", ((0.01,),)),
    ]
    assert "warm-ups-unknown" in {loss.code for loss in found.losses}
