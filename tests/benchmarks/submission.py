"""What a fleet of many hosts costs before anything is measured: submission, status, cancel.

python tests/benchmarks/submission.py [HOSTS]        with slurm-wlm and munge; default 1000

A private Slurm of this machine has so many nodes that never answer: their jobs wait, and are cancelled.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

TESTS = Path(__file__).resolve().parents[1]
private = SimpleNamespace(**runpy.run_path(str(TESTS / "private_slurm.py")))
CAMPAIGN = {
    "name": "many",
    "variants": {"a": {}, "b": {}},
    "benchmarks": {"one": {"command": ["/bin/true"]}},
}


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory(prefix="fairtrial-fleet-") as place:
        folder = Path(place)
        slurm = private.PrivateSlurm(folder / "slurm", count)
        try:
            measure(folder, slurm, count)
        finally:
            slurm.close()


def measure(folder: Path, slurm: SimpleNamespace, count: int) -> None:
    (folder / "many.yaml").write_text(json.dumps(CAMPAIGN))
    hosts = ("--hosts", f"absent[1-{count}]", "--partition", "absent", "--time", "10")

    def fairtrial(*words: str) -> None:
        began = time.perf_counter()
        command = [str(Path(sys.executable).with_name("fairtrial")), *words]
        subprocess.run(command, cwd=folder, env=slurm.environment, check=True, capture_output=True)
        seconds = time.perf_counter() - began
        name = " ".join(
            word for word in words if word in {"submit", "--dry-run", "status", "cancel"}
        )
        print(f"{name:<18} {seconds:6.2f} s   {1000 * seconds / count:6.2f} ms a host")

    print(f"{count} hosts, {os.cpu_count()} CPUs here")
    fairtrial("submit", "many.yaml", *hosts, "--dry-run")
    fairtrial("submit", "many.yaml", *hosts)
    (fleet,) = (folder / "runs").iterdir()
    fairtrial("status", str(fleet))
    fairtrial("cancel", str(fleet))
    size = sum(path.stat().st_size for path in fleet.iterdir())
    print(f"{len(list(fleet.iterdir()))} files, {size:,} bytes before any trial begins")


if __name__ == "__main__":
    main()
