"""Small work needs no compiled kernels, and much work takes them."""

import subprocess
import sys
from pathlib import Path

from analysis.stats import workers
from analysis.stats.workers import Budget

ROOT = Path(__file__).parents[4]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
HEAVY = {"numba", "llvmlite", "scipy.stats", "matplotlib"}
PUT_OFF = {"numpy.f2py.crackfortran", "numpy.testing._private.utils"}
PROBE = """
import sys
{first}
sys.argv = ["fairtrial", *sys.argv[1:]]
from harness.cli import console
try:
    console()
except SystemExit as end:
    code = end.code
print(code or 0, *sys.modules, file=sys.stderr)
"""


def loaded(*arguments: str, first: str = "") -> set[str]:
    command = [sys.executable, "-c", PROBE.format(first=first), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    code, *modules = done.stderr.splitlines()[-1].split()
    assert code == "0"
    return set(modules)


def test_the_report_of_the_sample_loads_neither_compiler_nor_all_of_statistics(tmp_path):
    modules = loaded("report", str(SAMPLE), "-o", str(tmp_path / "report.html"))
    assert not (HEAVY | PUT_OFF) & modules
    assert "scipy.special" in modules  # the list is that of a process which judged


def test_a_budget_is_spent_once():
    budget = Budget(10)
    assert [budget.allows(work) for work in (4, 6, 1, 0)] == [True, True, False, False]


def test_more_is_spent_where_a_kernel_would_have_to_be_compiled(monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "cache", lambda: workers.Cache(folder=tmp_path))
    budget = Budget(10, 20, "fit")
    assert [budget.allows(work) for work in (4, 6, 10, 1)] == [True, True, True, False]
    (tmp_path / "fit-0f").touch()
    assert [Budget(10, 20, "fit").allows(work) for work in (10, 11)] == [True, False]


def test_what_was_put_off_comes_when_it_is_used():
    use = (
        "import analysis.stats.samples, numpy\n"
        "numpy.f2py.crackfortran\n"
        "from numpy.testing import assert_equal\n"
        "assert_equal(1, 1)"
    )
    assert loaded("--version", first=use) >= PUT_OFF
