"""A Dask cluster: reached, refused in words, and the same numbers as here.

Authority: a plain loop, and a real scheduler with real workers on this host.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import distributed
import pytest

from analysis.errors import AnalysisError, UsageError
from analysis.stats.workers import Progress, dask_cluster, in_order

ANY_PORT = "127.0.0.1:0"  # without an address it is 8787, which others have


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for an answer longer than people do: how busy this machine is matters to no test."""
    monkeypatch.setattr("analysis.stats.workers._ANSWER_S", 60.0)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    known = dict(os.environ)
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=ANY_PORT,
        worker_dashboard_address=None,
        local_directory=str(tmp_path_factory.mktemp("dask")),
        silence_logs=50,
    ) as made:
        # it sets variables for its workers, which would make other commands of later tests
        os.environ.clear()
        os.environ.update(known)
        yield made


def test_the_workers_of_a_cluster_do_it(cluster: Any) -> None:
    def away(item: int, _going_on: Progress) -> tuple[int, int]:
        return item, os.getpid()

    cluster.wait_for_workers(
        2
    )  # a test may have killed one; with one alone joblib does the work here
    with dask_cluster(cluster.scheduler_address):
        found = list(in_order(away, range(9), workers=None, prefer="threads"))
        again = list(in_order(away, range(3), workers=None, prefer="processes"))
    assert [item for item, _ in found] == list(range(9))
    assert [item for item, _ in again] == list(range(3))
    assert os.getpid() not in {pid for _, pid in found + again}


def test_a_scheduler_file_will_do(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": cluster.scheduler_address}))
    with dask_cluster(str(file)):
        assert list(in_order(lambda item, _: item, [5], workers=None, prefer="threads")) == [5]


def test_our_errors_are_ours_there_too(cluster: Any) -> None:
    def fails(_item: int, _going_on: Progress) -> int:
        raise AnalysisError("cannot be fitted", "here")

    with (
        dask_cluster(cluster.scheduler_address),
        pytest.raises(AnalysisError, match="here: cannot be fitted"),
    ):
        list(in_order(fails, range(4), workers=None, prefer="threads"))


def test_a_worker_that_is_killed_is_replaced(cluster: Any, tmp_path: Path) -> None:
    once = tmp_path / "once"

    def dies_once(item: int, _going_on: Progress) -> int:
        if item == 3 and not once.exists():
            once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    with dask_cluster(cluster.scheduler_address):
        found = list(in_order(dies_once, range(8), workers=None, prefer="threads"))
    assert once.exists()
    assert found == list(range(8))


def test_work_that_kills_every_worker_ends(tmp_path: Path) -> None:
    # negative control of the above: joblib's backend would wait for it for ever
    here = os.getpid()

    def dies(_item: int, _going_on: Progress) -> None:
        assert os.getpid() != here
        os.kill(os.getpid(), signal.SIGKILL)

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),  # each is a new worker
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            dashboard_address=ANY_PORT,
            worker_dashboard_address=None,
            local_directory=str(tmp_path / "dask"),
            silence_logs=50,
        ) as small,
        pytest.raises(AnalysisError, match=r"the cluster did not answer: .*workers died"),
        reached(small.scheduler_address),
    ):
        list(in_order(dies, range(4), workers=None, prefer="threads"))


def test_a_scheduler_that_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.stats.workers._ANSWER_S", 10.0)  # so long it is looked for again
    begun = tmp_path / "begun"

    def slow(item: int, _going_on: Progress) -> int:
        begun.touch()
        time.sleep(0.2)
        return item

    with distributed.LocalCluster(
        n_workers=1,
        processes=False,
        protocol="tcp",
        dashboard_address=ANY_PORT,
        worker_dashboard_address=None,
        silence_logs=50,
    ) as going:
        ended = threading.Event()

        def leave() -> None:
            while not begun.exists() and not ended.wait(0.05):
                pass
            going.close()

        leaving = threading.Thread(target=leave)
        leaving.start()
        with (
            pytest.raises(AnalysisError, match="the cluster did not answer"),
            dask_cluster(going.scheduler_address),
        ):
            list(in_order(slow, range(999), workers=None, prefer="threads"))
        ended.set()
        leaving.join()


@pytest.mark.parametrize("text", ["nonsense", "http://host:1", "tcp://host", ""])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match="no Dask scheduler answers"), reached(text):
        pass


def reached(address: str) -> Any:
    return dask_cluster(address)


@pytest.mark.parametrize("text", ["", "[]", '{"address": 3}', "{", "\0"])
def test_what_is_no_scheduler_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="no Dask scheduler answers"), reached(str(file)):
        pass


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.stats.workers._ANSWER_S", 0.5)
    with (
        pytest.raises(UsageError, match=r"no Dask scheduler answers: .*after"),
        reached("127.0.0.1:1"),
    ):
        pass


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    waits = distributed.Client.wait_for_workers
    monkeypatch.setattr(
        distributed.Client,
        "wait_for_workers",
        lambda self, n, timeout: waits(self, n, timeout / 60),
    )
    with distributed.LocalCluster(
        n_workers=0, dashboard_address=ANY_PORT, silence_logs=50, processes=False, protocol="tcp"
    ) as empty:
        address = empty.scheduler_address
        with pytest.raises(UsageError, match="has no worker") as caught, reached(address):
            pass
    assert f"dask worker {address}" in str(caught.value)


def test_workers_with_other_versions_are_refused(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _name: "0.1")
    with (
        pytest.raises(UsageError, match=r"the worker has fairtrial .*, and this process has 0\.1"),
        reached(cluster.scheduler_address),
    ):
        pass


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(UsageError, match="not installed") as caught, reached("tcp://host:1"):
        pass
    assert "pip install 'fairtrial[dask]'" in str(caught.value)
