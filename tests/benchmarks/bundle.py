"""Seconds and memory of packing a large trial and of checking the archive, without computing results.

    python tests/benchmarks/bundle.py [--runs 100000] [--outputs 0]

Asked for: each under 10 s and 300 MB at 100,000 runs. Results and report are computed on top, in their own
figures (read_trial.py, verdict.py, report.py). Each step is a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

PACK = """
import sys, resource, time
from pathlib import Path
import analysis.artifact.bundle
from analysis.artifact.bundle import pack_bundle
from analysis.artifact.describing import PackingRequest
from analysis.artifact.recomputing import Recomputed
analysis.artifact.bundle.recompute = lambda *_: Recomputed(stdout=b"{}", exit_code=0)
begin = time.perf_counter()
pack_bundle(PackingRequest(sources=(sys.argv[1],)), Path(sys.argv[2]))
took = time.perf_counter() - begin
print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
CHECK = """
import sys, resource, time
from pathlib import Path
from analysis.artifact.archive import open_archive
from analysis.artifact.reproduce import check_archive
begin = time.perf_counter()
with open_archive(Path(sys.argv[2])) as archive:
    check_archive(archive)
took = time.perf_counter() - begin
print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def write_trial(folder: Path, runs: int, outputs: int) -> None:
    """Write a trial of that many runs: the sample's rows again and again, with new positions."""
    import shutil
    import zlib

    sample = ROOT / "tests" / "data" / "sample-0.2.0"
    shutil.copytree(sample, folder)
    lines = (sample / "measurements.jsonl").read_bytes().splitlines()
    plan = (sample / "plan.jsonl").read_bytes().splitlines()
    with (
        (folder / "measurements.jsonl").open("wb") as file,
        (folder / "plan.jsonl").open("wb") as out,
    ):
        for k in range(runs):
            body = json.loads(lines[k % len(lines)])
            body.pop("crc32")
            body["position"] = k
            text = json.dumps(body, separators=(",", ":")).encode()
            file.write(text[:-1] + b',"crc32":%d}\n' % zlib.crc32(text))
            out.write(plan[k % len(plan)] + b"\n")
    for k in range(outputs):
        (folder / "outputs" / f"{k:04d}.stdout").write_bytes(b"x" * 1000)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"] = {}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--outputs", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        trial, archive = Path(place) / "trial", Path(place) / "a.zip"
        write_trial(trial, args.runs, args.outputs)
        for name, code in (("packing", PACK), ("checking every hash", CHECK)):
            words = [sys.executable, "-c", code, str(trial), str(archive)]
            done = subprocess.run(words, check=True, capture_output=True, text=True)
            seconds, mib = map(float, done.stdout.split())
            print(f"{name}: {seconds:.2f} s, {mib:.0f} MiB at most")
        print(f"{args.runs:,} runs, an archive of {archive.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
