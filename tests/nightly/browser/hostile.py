"""A trial in which every text that is not ours is hostile, made of the sample trial's numbers.

Names, outputs, standard error, the campaign's texts, paths, facts of the host: they carry markup
that would execute, ends of what they stand in, templates, overrides of the writing's direction,
controls, and names of 200 characters. Execute it by hand: ``python tests/nightly/browser/hostile.py FOLDER``.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.record.shapes import encode, encode_checked

SAMPLE = Path(__file__).resolve().parents[3] / "tests" / "data" / "sample-0.2.0"
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    "</script><script>alert(1)</script>",
    "]]></style></title></table><!--",
    "{{7*7}}{% raw %}${7*7}",
    "\u202egnp.live\u2066",
    "a\x00b\x1b[31mc\x07\nd\re\tf\x7f\x9b",
    "javascript:alert(1)//",
    "&lt;b&gt;&amp;&#0;",
)
ALL = " ".join(HOSTILE)
LONG = "n" * 96 + "{}" + "n" * 103  # 200 characters that differ in their middle only
BENCHMARKS = {
    "text": HOSTILE[0],
    "logs": HOSTILE[1],
    "json": HOSTILE[3] + HOSTILE[6],
    "table": HOSTILE[7] + HOSTILE[5],
    "binary": LONG.format(1),
    "random": LONG.format(2),
}
VARIANTS = {
    "gzip-6": HOSTILE[1] + HOSTILE[4],
    "gzip-1": "W" * 200,
    "again": HOSTILE[0] + HOSTILE[6],
}
_KEPT = {"at", "started_at", "when", "status", "outcome", "check", "containment", "crc32"}


def write(path: Path) -> None:
    """Write the trial; its rows have their sums, its manifest knows its files."""
    shutil.copytree(SAMPLE, path)
    (path / "plan.jsonl").write_bytes(
        b"".join(encode(row) + b"\n" for row in _doubled(path / "plan.jsonl"))
    )
    rows = list(_doubled(path / "measurements.jsonl"))
    for row in rows[60::41]:
        detail = f"exit code 3, expected 0; stderr: {ALL}"
        row.update(outcome="exit", exit_code=3, detail=detail)
        (path / "outputs" / f"{row['position']:04}.stderr").write_text(f"{ALL}\n{LONG * 3}\n" * 20)
    (path / "measurements.jsonl").write_bytes(b"".join(encode_checked(row) + b"\n" for row in rows))
    for name in ("environment.jsonl", "findings.jsonl"):
        lines = map(json.loads, (path / name).read_text().splitlines())
        changed = (json.dumps(_made_hostile(line)) + "\n" for line in lines)
        (path / name).write_text("".join(changed))
    (path / "campaign.yaml").write_text(
        f"# {LONG}\nname: {json.dumps(ALL)}\ndescription: {json.dumps(ALL)}\n", "utf-8"
    )
    manifest = json.loads((path / "manifest.json").read_text()) | {
        "campaign_name": ALL,
        "campaign_path": f"/tmp/{ALL}",
        "baseline": VARIANTS["gzip-6"],
        "variants": list(VARIANTS.values()),
        "benchmarks": list(BENCHMARKS.values()),
        "host": ALL,
        "cpu_model": ALL,
        "targets": {f"/tmp/{ALL}": "0" * 64},
        "arguments": {f"/tmp/{LONG}": "0" * 64},
        "planned": len(rows),
    }
    cells = [
        {
            "benchmark": benchmark,
            "variant": variant,
            "command": {"argv": [f"/tmp/{ALL}", LONG, ALL]},
            "cwd": f"/tmp/{ALL}",
            "stdin": f"/tmp/{ALL}",
            "env": {"HOSTILE": ALL},
            "timeout_s": 1.0,
        }
        for benchmark in manifest["benchmarks"]
        for variant in manifest["variants"]
    ]
    campaign = {"name": ALL, "description": ALL, "cells": cells}
    resolved = json.dumps({"defaults": {}, "campaign": campaign})
    (path / "resolved.json").write_text(resolved)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    manifest["files"] = {
        file.relative_to(path).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.name != "manifest.json"
    }
    (path / "manifest.json").write_text(json.dumps(manifest))


def _doubled(path: Path) -> Iterator[dict[str, Any]]:
    """Give the rows under their hostile names; one variant's runs count for two, one is slower."""
    position = 0
    for line in path.read_text().splitlines():
        row = json.loads(line)
        row.pop("crc32", None)
        benchmark = BENCHMARKS[row["benchmark"]]
        for variant in ("gzip-1", "again") if row["variant"] == "gzip-1" else ("gzip-6",):
            more = (
                {"wall_ns": row["wall_ns"] * 7 // 4}
                if variant == "again" and "wall_ns" in row
                else {}
            )
            names = {"position": position, "benchmark": benchmark, "variant": VARIANTS[variant]}
            yield row | more | names
            position += 1


def _made_hostile(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {k: _made_hostile(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_made_hostile(v, key) for v in value]
    long = isinstance(value, str) and key not in _KEPT and not key.endswith("sha256")
    return f"{value} {ALL}" if long else value


if __name__ == "__main__":
    write(Path(sys.argv[1]))
