"""A/A trials: one program under two names, with what shows that it is one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HOST = {"cpu": {"governor": {"0-1": "performance"}}, "kernel": {"release": "6.1.0"}}


def resolved(variants, benchmarks, argv) -> bytes:
    cells = [
        {"benchmark": bench, "variant": variant, "command": {"argv": argv(variant)}}
        | {"cwd": ".", "stdin": None, "inputs": [], "env": {}, "stdout": "file"}
        | {"before": [], "after": []}
        for bench in benchmarks
        for variant in variants
    ]
    return json.dumps({"defaults": {}, "campaign": {"cells": cells}}).encode()


def environment(variants, benchmarks, sessions, program, host=HOST) -> bytes:
    lines = [
        json.dumps(
            {"session": session, "segment": 0, **host}
            | {
                "targets": {
                    f"{bench}/{variant}": {"sha256": program(variant, session)}
                    for bench in benchmarks
                    for variant in variants
                }
            }
        )
        for session in range(1, sessions + 1)
    ]
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.fixture
def planted(synthetic, tmp_path) -> Callable[..., Path]:
    def write(
        name: str = "aa",
        *,
        variants=("one", "two"),
        sessions: int = 6,
        runs: int = 4,
        benchmarks: int = 3,
        shift: float = 0.0,
        argv=lambda _variant: ["work"],
        program=lambda _variant, _session: "f" * 64,
        host: Any = HOST,
        findings: bytes = b"",
        **manifest: Any,
    ) -> Path:
        rng = np.random.default_rng(7)
        names = [f"b{k}" for k in range(benchmarks)]
        times = {
            variant: {
                bench: np.exp(
                    0.01 * rng.normal(size=(sessions, runs))
                    + shift * rng.normal(size=(sessions, 1))
                ).ravel()
                for bench in names
            }
            for variant in variants
        }
        trial = synthetic(times, sessions=sessions, **manifest)
        trial.extra["resolved.json"] = resolved(variants, names, argv)
        if findings:
            trial.extra["findings.jsonl"] = findings
        trial.extra["environment.jsonl"] = environment(variants, names, sessions, program, host)
        return trial.write(tmp_path / "runs" / name)

    return write
