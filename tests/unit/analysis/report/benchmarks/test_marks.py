"""What was found in some sessions: which findings count, and the figure above each session."""

from __future__ import annotations

import dataclasses

import pytest

from analysis.data.host_record import HostNote, HostRecord
from analysis.diagnose.result import Diagnosis, FarRun, Finding
from analysis.report.benchmarks.benchmarks import marks_of, notes_of


@pytest.fixture
def diagnosis() -> Diagnosis:
    return Diagnosis(
        name="trial",
        metric="wall",
        unit="s",
        better="lower",
        confidence=0.95,
        variants=("a", "b"),
        benchmarks=("x", "y"),
        sessions=4,
        runs=100,
        tests=10,
        findings=(
            Finding(code="change-point", benchmark="x", variant="a", sessions=(2,), pvalue=1e-9,
                    size=-0.25, text="values fall by 25 %"),
            Finding(code="load", sessions=(1, 3), text="1.40 over 1 min"),
            Finding(code="steal", sessions=(1, 2, 3, 4), text="the hypervisor took 2.1 %"),
            Finding(code="order", benchmark="y", variant="a", sessions=(1,), pvalue=1e-9,
                    size=0.1, text="values rise"),
            Finding(code="lag-1", benchmark="x", variant="b", sessions=(1,), pvalue=0.01,
                    certain=False, text="perhaps"),
            Finding(code="disturbed-runs", benchmark="x", variant="a", sessions=(1,), text="1"),
        ),
        host=(),
        speeds=None,
        cells=(),
        not_tested=(),
        far_runs=(FarRun(benchmark="x", variant="a", session=2, run=3, ratio=1.9),),
    )  # fmt: skip


NOTES = notes_of(
    HostRecord(
        notes=tuple(
            HostNote(session=session, when="before", check=check, status=status, what=what)
            for session, check, status, what in (
                (1, "load", "warn", "0.74 over 1 min on 2 CPUs"),
                (2, "load", "ok", "0.01 over 1 min on 2 CPUs"),
                (3, "load", "warn", "0.97 over 1 min on 2 CPUs"),
                (4, "steal", "warn", "the hypervisor took 2.1 % of cpu1"),
            )
        )
    )
)


def test_certain_findings_of_the_benchmark_and_the_host_have_a_figure_in_each_session(
    diagnosis: Diagnosis,
) -> None:
    found = marks_of(diagnosis, "x", NOTES)
    assert [one.code for one in found] == ["load", "steal", "change-point"]
    assert [one.everywhere for one in found] == [False, True, False]
    load, steal, step = marks_of(diagnosis, "x", NOTES)
    assert load.figures == ("0.74", "0.97")
    assert load.text == "load 1.40 over 1 min"
    assert steal.figures == ("", "", "", "2.1\u00a0%")
    assert (step.word, step.figures) == ("step", ("\u221225\u00a0%",))


def test_without_a_diagnosis_nothing_is_marked(diagnosis: Diagnosis) -> None:
    assert marks_of(None, "x", {}) == ()
    assert marks_of(dataclasses.replace(diagnosis, findings=()), "x", NOTES) == ()
