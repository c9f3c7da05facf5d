"""BenchmarkDotNet's JSON. Authority: two files that it wrote, and files by hand in their layout."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from analysis.errors import AnalysisError

GOLDEN = Path(__file__).resolve().parents[4] / "golden" / "foreign"
REAL = json.loads((GOLDEN / "benchmarkdotnet-0.15.json").read_text())


def row(stage: str, launch: int, ns: float, *, ops: int = 2, mode: str = "Workload") -> dict:
    return {
        "IterationMode": mode, "IterationStage": stage, "LaunchIndex": launch, "IterationIndex": 1,
        "Operations": ops, "Nanoseconds": ns,
    }  # fmt: skip


def bench(method: str = "M", job: str = "DefaultJob", *rows: dict, **more: object) -> dict:
    rows = rows or (row("Result", 1, 20), row("Result", 1, 24), row("Result", 2, 30))
    return {
        "DisplayInfo": f"T.{method}: {job} [N=10, S=a]", "Namespace": "P", "Type": "T",
        "Method": method, "MethodTitle": method, "Parameters": "N=10&S=a",
        "FullName": f'P.T.{method}(N: 10, S: "a")', "Statistics": {"OriginalValues": [10.0, 12.0]},
        "Measurements": list(rows),
    } | more  # fmt: skip


def whole(*benches: object) -> dict:
    host = {"BenchmarkDotNetVersion": "0.13.12", "ProcessorName": "C"}
    return {"Title": "T-20260102-030405", "HostEnvironmentInfo": host, "Benchmarks": list(benches)}


def codes(file) -> set[str]:
    return {loss.code for loss in (*file.losses, *file.notes)}


def test_launches_are_processes(foreign) -> None:
    file = foreign(whole(bench()))
    (cell,) = file.cells
    assert cell.processes == (pytest.approx((10e-9, 12e-9)), pytest.approx((15e-9,)))
    assert (cell.known, cell.warmups, cell.failed) == (True, 0, None)
    assert "mean of 2 operations" in str(file.losses)
    assert (cell.benchmark, cell.variant, cell.session) == (
        'P.T.M(N: 10, S: "a")',
        None,
        "20260102-030405",
    )
    assert (cell.keys["N"], cell.keys["S"], cell.keys["job"], cell.keys["type"]) == (
        "10",
        "a",
        "DefaultJob",
        "T",
    )
    assert file.facts == {"cpu_model": "C"}
    assert "one-process" not in codes(file)  # the negative control stands below


def test_a_brief_file_holds_the_same_values_but_no_launches(foreign, read_golden) -> None:
    brief = copy.deepcopy(REAL)
    del brief["Benchmarks"][0]["Measurements"]
    file = foreign(brief)
    (cell,), (full,) = file.cells, read_golden("benchmarkdotnet-0.15.json").cells
    assert cell.values == pytest.approx(full.values, rel=1e-12, abs=0)
    assert (len(cell.processes), cell.warmups) == (1, None)
    assert {"launches-unknown", "warm-ups-unknown", "one-process"} <= codes(file)


@pytest.mark.parametrize(
    ("jobs", "variants"),
    [
        (("DefaultJob", "DefaultJob"), (None, None)),
        ((".NET 8.0(Runtime=.NET 8.0)", ".NET 9.0(Runtime=.NET 9.0)"), (".NET 8.0", ".NET 9.0")),
        (("Job-ABCDEF(Server=True)", "Job-QWERTY(Server=False)"), ("Server=True", "Server=False")),
        (("Short(Jit=A)", "Short(Jit=B)"), ("Short(Jit=A)", "Short(Jit=B)")),
        (("Job-ABCDEF", "DefaultJob"), ("Job-ABCDEF", "DefaultJob")),
    ],
)
def test_several_jobs_are_variants(foreign, jobs, variants) -> None:
    first, second = bench("M", jobs[0]), bench("N" if variants[0] is None else "M", jobs[1])
    file = foreign(whole(first, second))
    assert tuple(cell.variant for cell in file.cells) == variants
    assert file.variant_rule == ("the file's name" if variants[0] is None else "the job")


def test_a_benchmark_that_failed_has_no_measurement(foreign) -> None:
    broken = bench("B", Statistics=None, Measurements=[])
    good, failed = foreign(whole(bench(), broken)).cells
    assert (good.failed, failed.failed, failed.processes) == (None, 1, ())


def test_words_of_versions_before_0_11(foreign) -> None:
    def old(mode: str, ns: float) -> dict:
        found = row("", 1, ns, mode=mode)
        del found["IterationStage"]
        return found

    rows = [old("IdleTarget", 1), old("MainWarmup", 90), old("MainTarget", 50), old("Result", 48)]
    (cell,) = foreign(whole(bench("M", "J", *rows))).cells
    assert (cell.values, cell.warmups) == (pytest.approx((24e-9,)), 1)


def test_without_results_iterations_are_taken_as_measured(foreign) -> None:
    file = foreign(
        whole(bench("M", "J", row("Actual", 1, 50), row("Actual", 1, 8, mode="Overhead")))
    )
    assert file.cells[0].values == pytest.approx((25e-9,))
    assert "overhead-included" in codes(file)


def test_a_result_may_be_zero_and_a_name_may_be_in_parts(foreign) -> None:
    zero = bench("M", "J", row("Result", 1, 0), row("Result", 1, 4))
    (cell,) = foreign(whole(zero | {"FullName": None, "Namespace": None})).cells
    assert (cell.benchmark, cell.values) == ("T.M N=10&S=a", pytest.approx((0.0, 2e-9)))


NAMELESS = {"FullName": None, "Method": None, "Type": None, "Namespace": None, "Parameters": None}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *(
            (whole(bench(), bench(**change)), said)
            for change, said in (
                ({"Measurements": [row("Result", 1, -1)]}, r"\[1\].Measurements\[0\].Nanoseconds: the value -1 is neg"),
                ({"Measurements": [row("Result", 1, 1, ops=0)]}, "a measurement of 0 operations"),
                ({"Measurements": [3]}, "as it should be"),
                ({"Measurements": 3}, "as it should be"),
                ({"Measurements": None, "Statistics": {"Mean": 1.0}}, "were not kept.*--exporters json"),
                (NAMELESS, "no name"),
            )
        ),
        (whole(), "no benchmark in the file"),
        ("Method;Job;N;Mean;Error;StdDev\nM;DefaultJob;10;1.5 ns;0.1 ns;0.1 ns\n", "--exporters json"),
        ("Method,Mean,Error,StdDev\nM,1.5 ns,0.1 ns,0.1 ns\n", "--exporters json"),
        ("```\nBenchmarkDotNet v0.13\n```\n| Method |     Mean |   Error |\n|------- |---------:|--------:|\n",
         "--exporters json"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(foreign, content, said) -> None:
    with pytest.raises(AnalysisError, match=f"(?s){said}"):
        foreign(content)
