from __future__ import annotations

import contextlib
import dataclasses
import resource
import runpy
import uuid
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.record.run_numbers import Measurement
from analysis.record.trial_files import Manifest, PlannedRun
from harness.campaign.model import (
    Campaign,
    Cell,
    CheckPolicy,
    Command,
    Expect,
    Hooks,
    Isolation,
    Protocol as CampaignProtocol,
)
from harness.campaign.schema import RULE
from tests.unit.analysis.conftest import measurement

_PROCESSES = Path(__file__).parents[2] / "processes.py"


@pytest.fixture(scope="session")
def processes():
    return SimpleNamespace(**runpy.run_path(str(_PROCESSES)))


@pytest.fixture
def full_disk():
    """Let a write end at a size of its file: a limit does what a full disk does."""

    @contextlib.contextmanager
    def limit(size=0):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:  # pytest's own output may be a file: the limit must not outlive the call
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limit


@pytest.fixture
def marker():
    """Give a unique argument that is a long time for ``sleep`` too: nothing escapes the search."""
    return f"9999.{uuid.uuid4().int % 10**15:015d}"


def cell_of(folder: Path, benchmark: str = "b", variant: str = "v", **changes: object) -> Cell:
    cell = Cell(
        benchmark=benchmark,
        variant=variant,
        command=Command(argv=("true",), mark="campaign.yaml:1:1"),
        cwd=folder,
        stdin=None,
        env={},
        stdout="file",
        stderr="file",
        timeout_s=None,
        expect=Expect(),
        metrics=(),
    )
    return dataclasses.replace(cell, **changes)


@pytest.fixture
def make_cell(tmp_path):
    def make(benchmark: str = "b", variant: str = "v", **changes: object) -> Cell:
        return cell_of(tmp_path, benchmark, variant, **changes)

    return make


@pytest.fixture
def make_campaign(tmp_path):
    def make(
        benchmarks: tuple[str, ...] = ("x", "y", "z"),
        variants: tuple[str, ...] = ("a", "b"),
        *,
        cells: tuple[Cell, ...] | None = None,
        text: bytes = b"name: c\n",
        isolation: Isolation | None = None,
        **protocol: object,
    ) -> Campaign:
        if cells is None:
            cells = tuple(cell_of(tmp_path, b, v) for b in benchmarks for v in variants)
        return Campaign(
            name="c",
            description="",
            seed=7,
            baseline=variants[0],
            variants=variants,
            benchmarks=benchmarks,
            cells=cells,
            builds=(),
            hooks=Hooks(),
            protocol=CampaignProtocol(**protocol),
            isolation=isolation or Isolation(cpus="none"),
            checks=CheckPolicy(),
            notes=(),
            source=tmp_path / "campaign.yaml",
            text=text,
        )

    return make


@pytest.fixture
def make_manifest():
    def make(**changes: object) -> Manifest:
        manifest = Manifest(
            trial="c-20261121-041200-beef",
            tool_version="0.1.0",
            campaign_name="c",
            campaign_sha256="0" * 64,
            campaign_identity=RULE,
            campaign_path="campaign.yaml",
            baseline="a",
            variants=("a", "b"),
            benchmarks=("x", "y", "z"),
            metrics={},
            seed=7,
            sessions=1,
            runs=2,
            warmup=1,
            planned=18,
            host="lab07",
            host_id="abc",
            cpu_model="model 1",
            targets={},
            started="2026-11-21T04:12:00Z",
            finished=None,
            status="running",
            reason=None,
            files={},
        )
        return dataclasses.replace(manifest, **changes)

    return make


@pytest.fixture
def make_measurement():
    def make(position: int = 0, **changes: object) -> Measurement:
        planned = PlannedRun(
            position=position, session=1, block=1, benchmark="x", variant="a", warmup=False
        )
        unknown = dict.fromkeys(("cpus", "steal_s"))
        return measurement(planned, 0.0015, **{"padding_bytes": 0, **unknown, **changes})

    return make
