"""Draw the report on the sample trial as it looks in Chromium.

``python docs/draw_report.py`` writes ``docs/report.png``, the picture of docs/report.md.
"""

from __future__ import annotations

import io
import runpy
import tempfile
from pathlib import Path

from PIL import Image

from harness.cli import main as fairtrial

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "report.png"
WIDTH, HEIGHT = 1200, 1000  # px of the page: its first screen


def main() -> None:
    """Write the picture."""
    chromium = runpy.run_path(str(ROOT / "tests" / "nightly" / "browser" / "chromium.py"))
    with tempfile.TemporaryDirectory() as folder, chromium["Browser"]() as browser:
        page = Path(folder) / "report.html"
        said = io.StringIO()
        words = ["report", str(ROOT / "runs" / "sample"), "-o", str(page)]
        if fairtrial(words, io.StringIO(), said) != 0:
            raise SystemExit(said.getvalue())
        browser.width(WIDTH)
        browser.media()
        browser.open(page)
        picture = browser.picture(height=HEIGHT).convert("RGB")
    picture.quantize(64, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
