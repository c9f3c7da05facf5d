"""The command ``export``: what goes to the standard output."""

from __future__ import annotations

import io

import pytest

from harness.cli import main


@pytest.mark.parametrize("target", ["long-csv", "hyperfine"])
def test_the_standard_output_gets_the_bytes_of_the_file(synthetic, tmp_path, target):
    times = {name: {"x": [1.0, 1.1, 0.9]} for name in ("old", "new")}
    trial = synthetic(times).write(tmp_path / "runs" / "one")
    words = ["export", f"{trial}:new", "--to", target]
    assert main([*words, "-o", str(tmp_path / "f")], io.StringIO(), io.StringIO()) == 0
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8")
    assert main([*words, "-o", "-"], out, io.StringIO()) == 0
    assert raw.getvalue() == (tmp_path / "f").read_bytes() != b""
