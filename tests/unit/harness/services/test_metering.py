"""What becomes of what services used: metrics, disturbance, and words about what a hook left running.

Authority: the table of docs/trial-format.md; the readings are recorded, and counted by hand.
"""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest

from harness.launch import usage as metering
from harness.launch.usage import HookLeftovers, ServiceMeter, Used, disturbed, service_metrics
from tests.unit.harness.services.test_usage import MS, Tree

KNOWN = Used(
    cpu_s=0.5, wait_ns=3 * MS, others_ns=2 * MS, read_bytes=0, written_bytes=512, voluntary_switches=4,
    involuntary_switches=1, peak_bytes=2048, reset=True,
)  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def services(**pids):
    """Stand for services: one that all share, and one of each variant."""
    made = [SimpleNamespace(label=label, name=label.partition("/")[0]) for label in pids]
    serving = {v: [label for label in pids if label.endswith(("/" + v, "all"))] for v in "ab"}
    return SimpleNamespace(services=made, serving=serving.__getitem__, processes=lambda: pids)


def test_the_metrics_that_are_declared_are_those_of_a_row():
    campaign = SimpleNamespace(services=services(**{"s/a": (), "s/b": ()}).services)
    for resets in (True, False):
        meter = ServiceMeter(services(**{"s/a": ()}), resets=resets)
        found = meter.metrics({"s": Used(**{**_all(KNOWN), "reset": resets})})
        declared = service_metrics(campaign, resets=resets)
        assert list(found) == list(declared)
        assert {about["source"] for about in declared.values()} == {"services"}
        peak = "service.s.peak_memory" + ("" if resets else "_since_start")
        assert found[peak] == (2048.0,)
        assert found["service.s.wait"] == (0.003,)


def test_the_peak_of_a_group_is_a_metric_of_its_own():
    campaign = SimpleNamespace(services=services(s=()).services)
    declared = service_metrics(campaign, resets=True, grouped=True)
    meter = ServiceMeter(services(s=()), resets=True)
    found = meter.metrics({"s": dataclasses.replace(KNOWN, tree_peak_bytes=4096)})
    assert list(found) == list(declared)
    assert found["service.s.peak_memory_tree"] == (4096.0,)


def test_what_is_unknown_is_in_no_row_and_zero_is():
    meter = ServiceMeter(services(s=()), resets=True)
    assert meter.metrics({"s": Used()}) == {}
    not_reset = Used(**{**_all(KNOWN), "reset": False})
    assert "service.s.peak_memory" not in meter.metrics({"s": not_reset})
    assert meter.metrics({"s": Used(cpu_s=0.0)}) == {"service.s.cpu": (0.0,)}


def test_only_the_services_of_the_runs_variant_are_read(tree, monkeypatch):
    monkeypatch.setattr(metering, "read", lambda pids, *, reset: tree.read(*pids))
    for pid in (10, 11, 12):
        tree.write(pid)
    meter = ServiceMeter(services(**{"s/a": (10,), "s/b": (11,), "all": (12,)}), resets=False)
    meter.begin("a")
    for pid, ticks in ((10, 1), (11, 20), (12, 3)):
        tree.write(pid, ticks=ticks)
    found = meter.end("a")
    assert {name: one.cpu_s for name, one in found.items()} == {"s": 0.01, "all": 0.03}


def test_a_service_that_came_during_the_run_is_unknown(tree, monkeypatch):
    monkeypatch.setattr(metering, "read", lambda pids, *, reset: tree.read(*pids))
    tree.write(10)
    pids = {}
    there = services(s=())
    there.processes, there.serving = (lambda: pids), (lambda _: ["s"])
    meter = ServiceMeter(there, resets=False)
    meter.begin("a")
    pids["s"] = (10,)
    assert meter.end("a") == {"s": Used()}


def test_a_service_that_waited_for_others_disturbs_the_run():
    second = 1_000_000_000
    assert disturbed(second, {"s": KNOWN}) == [False]
    assert disturbed(second // 10, {"s": KNOWN, "t": Used()}) == [True, None]


def test_what_a_hook_left_running_is_named_where_it_used_processor_time(tree, monkeypatch):
    pids = [10, 11]
    for pid, name in ((10, "redis-server"), (11, "sleep")):
        tree.write(pid)
        (tree.folder / str(pid) / "comm").write_text(f"{name}\n")
    left = HookLeftovers(lambda: pids, tree.folder)
    monkeypatch.setattr(metering, "read", lambda pids, proc: tree.read(*pids))
    left.begin()
    left.end()
    assert left.findings() == ()
    for ticks in (20, 25):
        left.begin()
        tree.write(10, ticks=ticks)
        left.end()
        tree.write(10, ticks=ticks + 3)  # between two runs
    (found,) = left.findings()
    assert found.what == (
        "what a hook left running (redis-server) used 0.22 s of processor time during runs"
    )
    assert left.findings() == ()


def test_where_a_hook_left_nothing_nothing_is_read():
    left = HookLeftovers(lambda: (), proc=None)
    left.begin()
    left.end()
    assert left.findings() == ()


def _all(one: Used):
    return {name: getattr(one, name) for name in Used.__dataclass_fields__}
