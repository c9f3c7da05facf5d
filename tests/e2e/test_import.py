"""Import, direct reading and export by the command line, on files written in the tools' layouts.

Authority: the values written into the files.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis.importers.export import TARGETS
from harness.cli import main


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def call(*words, code=0):
    out, err = io.StringIO(), io.StringIO()
    found = main([str(word) for word in words], out, err)
    assert found == code, f"{found}: {err.getvalue()}"
    assert "Traceback" not in err.getvalue()
    return out.getvalue(), err.getvalue()


def refused(*words, code):
    text = call(*words, code=code)[1]
    assert "fix: " in text
    return text


def hyperfine(path, commands, codes=None):
    results = [
        {
            "command": name,
            "mean": sum(times) / len(times),
            "times": times,
            "exit_codes": codes or [0] * len(times),
        }
        for name, times in commands.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"results": results}))
    return path


def two(path, **more):
    return hyperfine(
        path, {"old": [0.5, 0.51, 0.52, 0.53, 0.54], "new": [0.25, 0.26, 0.27, 0.28, 0.29], **more}
    )


def test_a_dry_run_answers_what_is_in_the_file(tmp_path):
    path = hyperfine(tmp_path / "sort.json", {"a": [0.5, 9.0, 0.25]}, codes=[0, None, 0])
    found = json.loads(call("import", path, "--dry-run", "--json")[0])
    assert {"format", "cells", "cannot_recover", "cautions"} <= found.keys()
    assert found["format"] == "hyperfine"
    (cell,) = found["cells"]
    assert cell == {
        "benchmark": "sort",
        "variant": "a",
        "metric": "time",
        "unit": "s",
        "better": "lower",
        "values": 2,
        "first": 0.5,
        "last": 0.25,
        "sum": 0.75,
        "processes": 2,
        "iterations": 1,
        "warmups": None,
        "failed": 1,
        "source": str(path),
        "session": None,
    }
    assert found["cannot_recover"]
    assert sorted(tmp_path.iterdir()) == [path]  # nothing is written
    assert "sort" in call("import", path, "--dry-run")[0]


def test_an_imported_trial_is_judged_and_cannot_be_resumed(tmp_path):
    two(tmp_path / "monday" / "sort.json")
    two(tmp_path / "tuesday" / "sort.json", other=[0.5] * 5)
    out, err = call("import", "monday/sort.json", "tuesday/sort.json", "-o", "runs/x")
    assert "written: runs/x" in out
    assert (out.count("the variant is"), err) == (1, "")
    manifest = json.loads((tmp_path / "runs/x/manifest.json").read_text())
    assert (manifest["origin"], manifest["sessions"], manifest["planned"]) == ("imported", 2, 0)
    assert not (tmp_path / "runs/x/campaign.yaml").exists()
    answer = json.loads(call("verdict", "runs/x", "--json")[0])
    assert "imported" in answer["caution_codes"]
    assert (answer["baseline"], answer["metric"], answer["sessions"]) == ("old", "time", 2)
    refused("import", "monday/sort.json", "-o", "runs/x", code=2)  # something is there


def test_the_standard_input_and_packed_files_are_read(tmp_path, monkeypatch):
    path = two(tmp_path / "sort.json")
    data = path.read_bytes()
    (tmp_path / "sort.json.gz").write_bytes(gzip.compress(data))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    plain, packed, piped = (
        json.loads(call("import", source, "--dry-run", "--json")[0])["cells"]
        for source in ("sort.json", "sort.json.gz", "-")
    )
    assert len(plain) == len(packed) == len(piped) == 2
    for one, other, third in zip(plain, packed, piped, strict=True):
        assert (one["sum"], one["benchmark"]) == (other["sum"], other["benchmark"])
        assert (one["sum"], third["source"]) == (third["sum"], "-")


def test_what_cannot_be_read_is_said_with_a_remedy(tmp_path):
    (tmp_path / "what.bin").write_bytes(b"\x00\x01 nothing of ours")
    assert "long CSV" in refused("import", "what.bin", "--dry-run", code=2)
    path = two(tmp_path / "cut.json")
    path.write_text(path.read_text()[:-20])
    assert "cut" in refused("import", path, "--dry-run", code=6)
    (tmp_path / "nan.json").write_text(
        '{"results": [{"command": "a", "mean": 1, "times": [1, NaN], "exit_codes": [0, 0]}]}'
    )
    assert "times[1]" in refused("import", "nan.json", "--dry-run", code=6)
    (tmp_path / "sums.csv").write_text(
        "command,mean,stddev,median,user,system,min,max\na,1,1,1,1,1,1,1\n"
    )
    assert "--export-json" in refused("import", "sums.csv", "--dry-run", code=6)
    refused("import", "gone.json", "--dry-run", code=2)
    two(tmp_path / "sort.json")
    assert "runs/NAME" in refused("import", "sort.json", code=2)
    assert "old, new" in refused("import", "sort.json", "-o", "t", "--baseline", "x", code=2)
    assert "known" in refused("import", "sort.json", "--dry-run", "--format", "excel", code=2)
    assert "no key" in refused("import", "sort.json", "--dry-run", "--variant", "x", code=2)
    assert not (tmp_path / "t").exists()


def test_a_file_that_two_formats_know_is_refused_and_both_are_named(tmp_path):
    # hyperfine's keys and pyperf's in one object
    (tmp_path / "both.json").write_text(
        '{"results": [{"command": "a", "mean": 1, "times": [1]}], "benchmarks": [{"runs": [{"values": [1]}]}]}'
    )
    text = refused("import", "both.json", "--dry-run", code=2)
    assert "hyperfine" in text
    assert "pyperf" in text
    assert json.loads(
        call("import", "both.json", "--dry-run", "--json", "--format", "hyperfine")[0]
    )["cells"]


def test_export_says_what_cannot_be_held_and_strict_refuses(tmp_path):
    hyperfine(tmp_path / "sort.json", {"a": [0.5, 9.0, 0.25]}, codes=[0, 1, 0])
    words = ("export", "sort.json", "-o", "x.json", "--to", "pyperf")
    assert "cannot hold: 1 run that failed" in call(*words)[1]
    (tmp_path / "x.json").write_text("as it was")
    text = call(*words, "--strict", code=1)[1]
    assert "nothing was written" in text
    assert (tmp_path / "x.json").read_text() == "as it was"
    told = json.loads(call(*words, "--strict", "--json", code=1)[0])
    assert told["output"] is None
    assert told["cannot_hold_codes"] == ["failed-lost"]
    told = json.loads(call(*words, "--json")[0])
    assert (told["output"], told["format"]) == ("x.json", "pyperf")
    assert call("export", "sort.json", "-o", "x.csv", "--strict")[1].count("cannot hold") == 0


def test_export_to_the_standard_output_is_the_file_and_nothing_else(tmp_path):
    two(tmp_path / "sort.json")
    out, _ = call("export", "sort.json", "-o", "-", "--to", "go-bench")
    (tmp_path / "again.txt").write_text(out)
    cells = json.loads(call("import", "again.txt", "--dry-run", "--json")[0])["cells"]
    assert [(cell["variant"], cell["values"]) for cell in cells] == [("old", 5), ("new", 5)]
    assert "--to" in refused("export", "sort.json", "-o", "-", code=2)
    refused("export", "sort.json", "-o", "-", "--to", "hyperfine", "--json", code=2)
    refused("export", "sort.json", "-o", "-", "--to", "parquet", code=2)


def test_an_export_that_cannot_be_written_leaves_nothing(tmp_path):
    two(tmp_path / "sort.json")
    refused("export", "sort.json", "-o", "gone/x.csv", code=2)
    (tmp_path / "folder.csv").mkdir()
    refused("export", "sort.json", "-o", "folder.csv", code=2)
    refused("export", "sort.json", "-o", "x.json", "--to", "pyperf", code=2)  # two variants
    refused("export", "gone.json", "-o", "x.csv", code=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.csv", "sort.json"]


def test_a_packed_export_is_read_by_its_content(tmp_path):
    two(tmp_path / "sort.json")
    call("export", "sort.json", "-o", "x.csv.gz")
    assert gzip.decompress((tmp_path / "x.csv.gz").read_bytes()).startswith(b"benchmark,variant,")
    found = json.loads(call("import", "x.csv.gz", "--dry-run", "--json")[0])
    assert found["format"] == "long-csv"


def test_names_that_are_no_utf8_are_imported_and_exported(tmp_path):
    # a file name is any bytes
    path = os.fsdecode(b"s\xff\n.json")
    Path(path).write_text(
        json.dumps({"results": [{"command": "a", "mean": 1, "times": [0.5, 0.25]}]})
    )
    call("import", path, "-o", "t")
    call("verdict", "t")
    for target in TARGETS:
        call("export", path, "-o", "x", "--to", target.name)


def test_a_report_on_files_holds_no_time_of_its_making(tmp_path):
    """When a file was read says nothing of the measurement, and would change the bytes each time."""
    two(tmp_path / "sort.json")
    call("report", "sort.json", "-o", "a.html")
    call("report", "sort.json", "-o", "b.html")
    page = Path("a.html").read_text()
    assert page == Path("b.html").read_text()
    today = datetime.now(UTC).date()
    assert f"{today:%Y-%m-%d}" not in page
    assert f"{today.day} {today:%B %Y}" not in page
