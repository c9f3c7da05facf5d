"""What editors, terminals and packers do to a file changes no value in it."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.data.opening import open_foreign
from analysis.importers.registry import read_foreign

FILES = (
    "go-bench/old.txt",
    "go-bench/test-json.jsonl",
    "rebench/rebench.data",
    "benchexec/table.csv",
    "perf-stat/x-comma-r5.csv",
    "perf-stat/json-lines.jsonl",
    "criterion/fold/new/raw.csv",
    "criterion/fold/new/sample.json",
    "generic-csv/long.csv",
)
GOLDEN = ("r-bench-printed.csv", "microbenchmark.csv", "benchmarkdotnet.json", "mitata.json")
DISGUISES: dict[str, Callable[[bytes], bytes]] = {
    "windows lines": lambda data: data.replace(b"\n", b"\r\n"),
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "no last newline": lambda data: data.rstrip(b"\n"),
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("name", FILES + GOLDEN)
def test_a_file_in_disguise_holds_the_same(sample, golden, tmp_path, name, disguise) -> None:
    path = tmp_path / Path(name).name
    path.write_bytes(Path(golden(name) if name in GOLDEN else sample(name)).read_bytes())
    plain = read_foreign(open_foreign(str(path)))
    path.write_bytes(DISGUISES[disguise](path.read_bytes()))
    file = read_foreign(open_foreign(str(path)))
    assert file.format == plain.format
    assert file.cells == plain.cells
