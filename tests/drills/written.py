"""Seeds and readers of what programs, tools and other people left, for the fuzzer."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import shutil
import struct
import zlib
from pathlib import Path
from unittest import mock

from seeds import seed_trial

from analysis.artifact import reproduce as reproduction
from analysis.artifact.recomputing import Recomputed
from analysis.data.trial import Trial, read_trial
from analysis.diagnose.explain import explain
from analysis.errors import FairtrialError
from analysis.history import kept_nights
from analysis.history.bisection import bisection_in
from analysis.history.nights import read_nights
from analysis.record.profiles import SampledChain, read_profile, write_profile
from analysis.record.shapes import ShapeError, encode_checked, parse
from analysis.record.trial_files import LOOKS, LooksPlan
from analysis.verdict.compare import answer_of
from analysis.verdict.judging import judge
from harness.bisect.journal import SESSIONS, Journal, MeasuredSession, Terms
from harness.campaign.distributions import (
    DistributionError,
    UnitError,
    decoded,
    number_in,
    read_log,
    read_percentiles,
)
from harness.commands.comparing import stored_commands
from harness.trial.perf import read_script
from harness.trial.writer import Store
from tests.handmade_bundle import manifest_of, sums_of, write_bundle

HDR = "HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI="
WRK = """\
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.44ms    0.6ms  12.34ms   80.00%
  Latency Distribution
     50%    1.20ms
     99%    4.01ms
  99383 requests in 1.00s, 9.00MB read
  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.110     0.000000            1         1.00
       1.160     0.999000        99000      1000.00
#[Mean    =        1.440, StdDeviation   =        0.600]
#[Max     =       12.340, Total count    =        99383]
"""
SCRIPT = """\
25459/25459 24621.893475486:      7f56f985a3e0 update_active.constprop.0 (/usr/lib/ld-linux-x86-64.so.2)
25528/25528 24622.000000000: PERF_RECORD_FORK(25530:25530):(25528:25528)
25528/25528 24622.200000000: PERF_RECORD_LOST_SAMPLES lost 200
25528/25528 24622.300000000:
\t    561a396e622e main (/tmp/a)
\t    7f56f985a3e0 __libc_start_call_main (/usr/lib/libc.so.6)

"""


def seed_written(folder: Path) -> None:
    """Write a histogram as it is unpacked, so that damage to it passes the packing, and texts."""
    packed = base64.b64decode(HDR)
    (folder / "a.hdr").write_bytes(zlib.decompress(packed[8:]))
    (folder / "a.hlog").write_text(f"#[x]\n0.127,1.007,2.769,{HDR}\n")
    (folder / "a.wrk").write_text(WRK)
    (folder / "a.perf").write_text(SCRIPT)
    (folder / "a.unit").write_text("1.23 ms\n980us\n12 %\n1e3 s\n")


def read_written(folder: Path, name: str) -> None:
    """Read a file as its kind; what is refused in words is no number."""
    path = folder / name
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        if path.suffix == ".hdr":
            body = zlib.compress(path.read_bytes())
            head = struct.pack(">Ii", 0x1C849314, len(body))
            decoded(base64.b64encode(head + body).decode())
        elif path.suffix == ".hlog":
            read_log(text)
        elif path.suffix == ".wrk":
            read_percentiles(text, "ms")
        elif path.suffix == ".perf":
            list(read_script(text.splitlines(keepends=True)))
        else:
            for line in text.splitlines():
                number_in(line, "s")
    except (DistributionError, UnitError) as error:
        raise FairtrialError(str(error)) from error


def seed_bisection(folder: Path) -> None:
    """Write a bisection that has an answer of each kind of part."""
    from tests.unit.analysis.history.made_bisections import answers

    asked = Terms(
        good="v1", bad="v2", good_sha="1" * 40, bad_sha="2" * 40, root="/r", campaign="/r/c.yaml",
        campaign_sha256="3" * 64, variant=None, benchmarks=("one",), metric="wall", margin=0.01,
        risk=0.05, looks=(6, 12), work_dir=None,
    )  # fmt: skip
    found = answers()
    for name in ("proven", "between", "no-difference"):
        with Journal.begin(folder / name, asked) as journal:
            journal.append(MeasuredSession(trial="search/0001-abc", session=1, places=(0, 7, 9)))
            journal.append(MeasuredSession(trial="step0", session=2, places=(0, 9)))
            journal.store(found[name].to_dict())


def checked_again(folder: Path, name: str) -> None:
    """Let the lines of a damaged list carry their right checksums."""
    path = folder / name
    if path.suffix != ".jsonl":
        return
    lines = []
    for line in path.read_bytes().splitlines():
        try:
            row = parse(line)
        except ShapeError:
            return
        if not isinstance(row, dict):
            return
        row.pop("crc32", None)
        try:
            lines.append(encode_checked(row) + b"\n")
        except ValueError:
            return
    path.write_bytes(b"".join(lines))


def read_bisection(folder: Path, name: str) -> None:
    """Go on with a bisection, and show it."""
    place = (folder / name).parent
    if (folder / name).name == SESSIONS:
        Journal.reopen(place).close()
        return
    errors = []
    try:
        Journal.reopen(place).close()
    except FairtrialError as error:
        errors.append(error)
    try:
        found = bisection_in(place)
        json.dumps(found.to_dict(), allow_nan=False)
        str(found).encode("utf-8", "backslashreplace")
    except FairtrialError as error:
        errors.append(error)
    if errors:
        raise errors[0]


def seed_profile(folder: Path) -> None:
    """Write a profile of six sessions, with chains."""
    from tests.unit.analysis.why.made_profiles import PROFILE, cell

    chains = (SampledChain(frames=(1, 0), samples=30), SampledChain(frames=(1,), samples=20))
    cells = [
        cell(session, variant, {"hot": 30 + k * session, "main/libc": 20}, chains=chains)
        for session in range(1, 7)
        for k, variant in enumerate(("v0", "v1"))
    ]
    write_profile(folder, dataclasses.replace(PROFILE, chains="fp"), cells)


@functools.cache
def _timed() -> Trial:
    from tests.unit.analysis.why.made_profiles import timed

    return timed([10.0] * 6, [12.0] * 6)


def read_damaged_profile(folder: Path, _name: str) -> None:
    """Say what a profile says."""
    stored = read_profile(folder)
    for one in stored.profile.benchmarks:
        told = explain(stored, timed=_timed(), benchmark=one, any_total=True)
        json.dumps(told.to_dict(), allow_nan=False)
        str(told).encode("utf-8", "backslashreplace")


def read_manifest_of(folder: Path, _name: str) -> None:
    """Judge a trial whose manifest is damaged."""
    trial = read_trial(folder / "runs" / "c-1")
    for metric in trial.judge or ("wall",):
        verdict = judge(trial, metric=metric)
        json.dumps(verdict.to_dict(), allow_nan=False)
        str(verdict).encode("utf-8", "backslashreplace")


COMPARED = """\
name: compare
description: "fairtrial compare --for 10 -n a -n b 'true 1' 'true 2'"
variants: {a: {word: "1"}, b: {word: "2"}}
benchmarks: {x: {command: ["true", "{word}"]}}
protocol: {sessions: 2, runs: 3, warmup: 0}
"""


def seed_compared(folder: Path) -> None:
    plan = LooksPlan(rule="repeated", looks=LOOKS, left={"b": 2})
    seed_trial(folder, text=COMPARED, looks_plan=plan)


def read_compared(folder: Path, _name: str) -> None:
    """Go on with a comparison, and show it."""
    trial = folder / "runs" / "c-1"
    answer = answer_of(read_trial(trial), stored_commands(trial), seconds=1.0)
    json.dumps(answer.to_dict(), allow_nan=False)
    str(answer).encode("utf-8", "backslashreplace")


def seed_nights(folder: Path) -> None:
    """Write two trials that have ended, and what is kept of them."""
    for trial in ("c-1", "c-2"):
        seed_trial(folder, trial)
        Store.reopen(folder / "runs" / trial).finish("complete", None)
    read_nights_of(folder, "")


def read_nights_of(folder: Path, _name: str) -> None:
    """Read the nights of a folder whose cache is damaged."""
    place = folder / "nights.jsonl"
    with mock.patch.object(kept_nights, "kept_file", return_value=place):
        nights = read_nights([folder / "runs"])
    str(nights).encode("utf-8", "backslashreplace")


CLAIM = {
    "text": "b is as fast as a", "command": ["verdict", "trials/sample", "--json"], "value": "/outcome",
    "is": "word", "expected": "x", "digits": None, "result": "analyses/verdict.json", "found": "x", "holds": True,
}  # fmt: skip


def seed_bundle(folder: Path) -> None:
    """Write the files of a bundle, unpacked, and what it says of itself."""
    seed_trial(folder, "sample")
    trial = folder / "trials" / "sample"
    trial.parent.mkdir()
    (folder / "runs" / "sample").rename(trial)
    shutil.rmtree(folder / "runs")
    Store.reopen(trial).finish("interrupted", None)
    for path in [one for one in trial.rglob("*") if one.is_dir()]:
        path.rmdir()
    place = folder / "campaigns" / "sample" / "campaign.yaml"
    place.parent.mkdir(parents=True)
    (folder / "c.yaml").rename(place)
    (folder / "analyses").mkdir()
    (folder / "analyses" / "verdict.json").write_bytes(_answer(trial))
    (folder / "claims.json").write_text(json.dumps({"schema": 1, "claims": [CLAIM]}))
    files = _files_of(folder)
    analysis = {"name": "verdict", "command": CLAIM["command"], "seed": None, "exit_code": 0}
    told = manifest_of(
        files, claims="claims.json", analyses=[analysis | {"result": CLAIM["result"]}]
    )
    (folder / "README.md").write_text("a bundle\n")
    (folder / "bundle.json").write_text(json.dumps({**told, "files": {}}))


def _answer(trial: Path) -> bytes:
    return json.dumps(judge(read_trial(trial), metric="wall").to_dict(), indent=2).encode() + b"\n"


def _files_of(folder: Path) -> dict[str, bytes]:
    files = (
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".zip" and ".made" not in path.parts
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def read_bundle(folder: Path, _name: str) -> None:
    """Pack what lies there with all hashes right, and compute it again; its commands are not executed."""
    files = _files_of(folder)
    try:
        about = parse(files.pop("bundle.json"))
    except ShapeError as error:
        raise FairtrialError(str(error)) from error
    if isinstance(about, dict) and "files" in about:
        about["files"] = manifest_of(files)["files"]
    whole = {**files, "bundle.json": json.dumps(about).encode("utf-8", "surrogatepass")}
    path = write_bundle(folder / "packed.zip", {**whole, "SHA256SUMS": sums_of(whole)})
    answer = Recomputed(stdout=files["analyses/verdict.json"], exit_code=0)
    made = folder / ".made"
    shutil.rmtree(made, ignore_errors=True)
    with mock.patch.object(reproduction, "recompute", return_value=answer):
        found = reproduction.reproduce(path, folder=made)
    json.dumps(found.to_dict(), allow_nan=False)
    str(found).encode("utf-8", "backslashreplace")
    read_trial(made / "trials" / "sample")
