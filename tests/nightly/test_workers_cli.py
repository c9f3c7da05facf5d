"""`--workers`, `--backend` and `--dask` as people give them. Authority: the answer of one worker."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from analysis.stats.workers import available_cores
from harness.cli import main

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
STUDY = ("study", "type1", "many.csv", "--better", "lower", "--runs", "3", "--resamples", "29")


@pytest.fixture(scope="module")
def bench(make_lab, tmp_path_factory):
    made = make_lab(tmp_path_factory.mktemp("workers") / "lab")
    draws = np.random.default_rng(1).lognormal(0, 0.05, (6, 20))
    rows = "\n".join(f"b{k},{','.join(map(str, row))}" for k, row in enumerate(draws.tolist()))
    (made.folder / "many.csv").write_text(f"{rows}\n")
    return made


@pytest.mark.parametrize(
    "command",
    [
        (*STUDY, "--simulations", "6"),
        ("mixture", str(SAMPLE), "--resamples", "9"),
        ("calibrate", str(SAMPLE), "--pair", "gzip-1,gzip-6", "--no-certificate"),
        ("sources", str(SAMPLE), "--resamples", "99"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.usefixtures("processes_that_stay")
def test_the_same_answer_by_whomever(bench, command, monkeypatch):
    monkeypatch.chdir(bench.folder)
    alone = told_here(*command, "--workers", "1")
    for words in (("--workers", "8", "--backend", "threads"), ("--backend", "processes"), ()):
        assert told_here(*command, *words) == alone


@pytest.fixture(scope="module")
def processes_that_stay():
    """End the worker processes at last, which all commands in this process share."""
    from joblib.externals.loky import get_reusable_executor

    yield
    get_reusable_executor().shutdown(wait=True)


def told_here(*words):
    """Give what a command writes in this process, which has imported already what it needs."""
    out, err = io.StringIO(), io.StringIO()
    assert main(list(words), out, err) == 0, err.getvalue()
    return out.getvalue()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--workers", "0"), "--workers must lie between 1 and 1,024, and is 0"),
        (("--workers", "2", "--dask", "tcp://h:1"), "--workers is for this host"),
        (("--backend", "threads", "--dask", "tcp://h:1"), "--backend is for this host"),
        (("--dask", "nowhere"), "nowhere: no Dask scheduler answers"),
        (("--backend", "fibres"), "invalid choice: 'fibres'"),
    ],
)
def test_what_is_refused(bench, words, said):
    done = bench.run_fairtrial(*STUDY, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_two_metrics_together_have_no_workers(bench):
    done = bench.run_fairtrial("mixture", str(SAMPLE), "--and", "max_rss", "--workers", "2")
    assert done.returncode == 2
    assert "--workers is for one metric" in done.stderr


def test_one_worker_imports_no_joblib_and_is_the_default_on_one_processor(bench):
    code = (
        "import io, os, sys; from harness.cli import main\n"
        f"words = {[*STUDY, '--simulations', '2']!r}\n"
        "def told(*more):\n"
        "    out = io.StringIO()\n"
        "    return main([*words, *more], out, sys.stderr), 'joblib' in sys.modules, out.getvalue()\n"
        "one = told('--workers', '1')\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "print(one[:2], told() == one)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=bench.folder,
        env={**bench.environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(0, False) True\n"
    assert available_cores() >= 1


def _at_work(pid, backend):
    """Tell whether the command has its workers, and they have their work.

    In the instant in which joblib hands out the first work, an interrupt makes a thread of its own fail.
    """
    tasks = Path(f"/proc/{pid}/task")
    if backend == "threads":
        return len(list(tasks.iterdir())) > 4
    children = (tasks / f"{pid}/children").read_text().split()
    used = [sum(map(int, _stat(child)[11:13])) for child in children]  # of CPU, in ticks
    return sum(ticks > os.sysconf("SC_CLK_TCK") // 2 for ticks in used) == 2


def _stat(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_ctrl_c_ends_all_of_them_and_leaves_nothing(bench, backend, tmp_path, processes):
    known = set(Path("/dev/shm").iterdir())  # numbers of processes come again
    child = subprocess.Popen(
        [
            *(sys.executable, "-m", "harness", *STUDY, "--simulations", "100000"),
            *("--backend", backend, "--workers", "2"),
        ],
        cwd=bench.folder,
        env={
            **bench.environment,
            "PYTHONPATH": str(ROOT),
            "TMPDIR": str(tmp_path),
            "OPENBLAS_NUM_THREADS": "1",  # so that its threads are workers, however many cores
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    processes.wait_until(lambda: _at_work(child.pid, backend), "the command has its workers")
    assert child.poll() is None
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, ""), err
    assert "Traceback" not in err
    processes.wait_until(lambda: not processes.group_lives(child.pid), "none is left")
    assert not list(tmp_path.iterdir())
    assert not set(Path("/dev/shm").glob(f"*joblib*_{child.pid}_*")) - known
