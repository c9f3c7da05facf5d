"""Seeds and readers of what programs, tools and other people's bisections left, for the fuzzer."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

from analysis.errors import FairtrialError
from analysis.history.bisection.reading import bisection_in
from analysis.record.shapes import ShapeError, encode_checked, parse
from harness.bisect.journal import SESSIONS, Asked, Journal, MeasuredSession
from harness.campaign.metrics.hdr_logs import HdrError, decoded, read_log
from harness.campaign.metrics.units import UnitError, number_in
from harness.campaign.metrics.wrk_tables import TableError, read_percentiles
from harness.why.script_reader import read_script

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
    except (HdrError, TableError, UnitError) as error:
        raise FairtrialError(str(error)) from error


def seed_bisection(folder: Path) -> None:
    """Write a bisection that has an answer of each kind of part."""
    from tests.unit.analysis.history.made_bisections import answers

    asked = Asked(
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
    if path.name != SESSIONS:
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
