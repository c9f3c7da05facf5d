"""Pages of a history are HTML. Authority: the validator of the W3C (vnu).

It starts once for all of them, which is what takes long; those of the report are more, in its own tests.
"""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.report.history import history_html

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parents[1] / "data" / "sample-0.2.0"


def load(name: str) -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(HERE / name)))


def test_every_page_is_html(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("no Java is installed")
    texts = {f"history {k}": history_html(make()) for k, make in load("histories.py").KINDS.items()}
    pages = {kind: tmp_path / f"{kind}.html" for kind in texts}
    for kind, page in pages.items():
        page.write_text(texts[kind], encoding="utf-8")
    found = load("chromium.py").invalid(*pages.values())
    assert {kind: found[page] for kind, page in pages.items()} == {kind: [] for kind in pages}
