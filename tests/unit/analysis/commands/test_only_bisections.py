"""Where only bisections lie in a folder, every command that wants trials there names them."""

from __future__ import annotations

import io

import pytest

from harness.cli import main


@pytest.mark.parametrize(
    "words",
    [("verdict", "runs"), ("verdict",), ("status", "runs"), ("history", "runs"), ("report",)],
)
def test_the_newest_bisection_is_named(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("bisect-a-20261101-010101-aa00", "bisect-b-20261102-010101-aa00"):
        folder = tmp_path / "runs" / name
        (folder / "step0").mkdir(parents=True)
        (folder / "bisect.json").write_text("{}")
    err = io.StringIO()
    assert main(list(words), io.StringIO(), err) == (
        5 if words in (("verdict", "runs"), ("status", "runs")) else 2
    )
    assert "fairtrial status runs/bisect-b-20261102-010101-aa00" in err.getvalue()
